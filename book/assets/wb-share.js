/* What a reader takes away: the numbers as CSV, the figure as one SVG or PNG. */
(function (Whichbird) {
  "use strict";

  const { svg, set, round, show } = Whichbird;

  /** Weights and ranking of a contest at a stop. Nothing is known of clusters and ranks where no tests ship. */
  function csv(contest, stop, edit) {
    const { page } = contest;
    const [now, then] = [contest.at(stop), contest.at(contest.natural)];
    const cell = (x) => (/[",\n]/.test(x) ? `"${String(x).replace(/"/g, '""')}"` : x);
    const { tested } = now;
    const verdict = (m) => (tested ? [tested.cluster[m], tested.low[m], tested.high[m],
      ...["moved", "turned"].map((what) => (tested[what][m] ? "yes" : "no"))] : Array(5).fill(""));
    const quality = new Map(page.byQuality.map((k, n) => [k, n]));
    const systems = [...contest.active].sort((s, t) => (s.k === null ? Infinity : quality.get(s.k)) - (t.k === null ? Infinity : quality.get(t.k)));
    const kind = (s) => (s.invented ? "invented system" : s.real ? "system" : "moved system");
    const rows = [["kind", "name", "weight", "spa", "rank", "rank_at_natural_balance",
      "cluster", "rank_low", "rank_high", "lead_moves", "order_turns"],
      ...systems.map((s) => [kind(s), s.name, +now.w[s.place].toFixed(8), ...Array(8).fill("")]),
      ...(now.order || []).map((m) => [m < page.shipped ? "scorer" : "your scorer", page.scorers[m], "",
        now.spa[m].toFixed(6), now.rank[m], then.rank ? then.rank[m] : "", ...verdict(m)])];
    const pool = contest.whole ? "" : `|pool:${Whichbird.described(page, edit).replace(/, /g, " and ")}`;
    const head = `# ${page.signature}${pool}|beta:${+now.beta.toFixed(6)}|ess:${now.ess > 0 ? now.ess.toFixed(4) : Whichbird.MISSED}`;
    return [head + (tested ? `|${page.verdict.signature}` : ""), ...rows.map((row) => row.map(cell).join(","))].join("\n") + "\n";
  }

  const LOOK = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
    "opacity", "font-size", "font-weight", "paint-order", "visibility", "r"];

  /** A copy of a drawing that needs no stylesheet. */
  function standalone(node) {
    const copy = node.cloneNode(true);
    const [from, to] = [[node, ...node.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
    from.forEach((source, n) => {
      const style = getComputedStyle(source);
      LOOK.forEach((name) => { if (name !== "r" || source.tagName === "circle") to[n].style.setProperty(name, style.getPropertyValue(name)); });
      ["class", "tabindex", "role", "aria-pressed", "aria-label"].forEach((name) => to[n].removeAttribute(name));
    });
    return copy;
  }

  /** The figure as one drawing: what it is of, the systems, the ranking with its intervals, the ranks over β, and the signature. */
  function picture(root, contest, stop, { plane, bump, title }) {
    const { page } = contest;
    const now = contest.at(stop);
    const style = getComputedStyle(root);
    const colour = (name) => style.getPropertyValue(name).trim();
    const [ink, soft, paper] = [style.color, colour("--wb-soft"), colour("--pst-color-background") || "white"];
    const text = (x, y, words, more = {}) => svg("text", { x, y, fill: ink, "font-size": 12, ...more }, words);
    const then = contest.at(contest.natural);
    const order = now.order || [];
    const [top, row, left, wide] = [64, 17, 470, 960];
    const rows = order.flatMap((m, n) => {
      const y = top + 20 + row * n;
      const { tested } = now;
      const at = (rank) => left + 285 + (110 * rank) / page.M;
      const up = then.rank[m] - now.rank[m];
      const [moved, turned] = tested ? [tested.moved[m], tested.turned[m]] : [false, false];
      const sign = up > 0 ? `${turned ? "▲" : "△"} ${up}` : up < 0 ? `${turned ? "▼" : "▽"} ${-up}` : "–";
      return [text(left + 20, y, `${now.rank[m]}`, { "text-anchor": "end", fill: soft }), text(left + 30, y, Whichbird.named(page, m)),
        text(left + 245, y, sign, { fill: moved || turned ? ink : soft }), text(wide - 24, y, now.spa[m].toFixed(3), { "text-anchor": "end" }),
        ...(tested ? [svg("line", { x1: at(tested.low[m] - 1), x2: at(tested.high[m]), y1: y - 4, y2: y - 4, stroke: soft, "stroke-width": 2 }),
          svg("line", { x1: at(now.rank[m] - 0.5), x2: at(now.rank[m] - 0.5), y1: y - 9, y2: y + 1, stroke: ink, "stroke-width": 3 })] : []),
        ...(tested && n && tested.first[m] ? [svg("line", { x1: left, x2: wide - 24, y1: y - 13, y2: y - 13, stroke: soft })] : [])];
    });
    /** A copy of a drawing at a place, as wide as there is room; its texts may stand out at the sides. */
    const placed = (node, x, y, width) => {
      const height = (width * +node.getAttribute("height")) / +node.getAttribute("width");
      const copy = standalone(node);
      set(copy, { x, y, width, height, overflow: "visible" });
      return [copy, y + height];
    };
    const [drawing, foot] = placed(plane, 16, top, left - 50);
    const [below, end] = placed(bump, 24, Math.max(foot, top + 20 + row * order.length) + 34, wide - 48);
    const high = end + 40;
    return svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${wide} ${round(high)}`, width: wide, height: round(high),
                        "font-family": style.fontFamily }, [
      svg("rect", { width: wide, height: round(high), fill: paper }),
      text(20, 28, title, { "font-size": 17, "font-weight": 600 }),
      text(20, 48, `β = ${show(now.beta)}, ESS ${now.ess > 0 ? now.ess.toFixed(1) : "–"} of ${contest.K} systems`, { fill: soft }),
      text(left, top, "Scorers by SPA", { "font-weight": 600 }),
      drawing, ...rows, below,
      text(20, high - 16, `${page.signature}|beta:${+now.beta.toFixed(6)}${now.tested ? `|${page.verdict.signature}` : ""}`,
        { fill: soft, "font-size": 9 })]);
  }

  const serialised = (drawing) => `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(drawing)}\n`;

  /** A drawing as a PNG, twice its size. */
  function png(drawing) {
    return new Promise((done, failed) => {
      const image = new Image();
      image.onload = () => {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png");
      };
      image.onerror = () => failed(new Error("no picture"));
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(serialised(drawing))}`;
    });
  }

  /** Give a file to the reader. */
  function save(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  Object.assign(Whichbird, { csv, picture, serialised, png, save });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
