/* Who decides: the lead of one scorer over another at the natural balance, with all systems and with each left out. All values come from Python. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, write, round, figure, slider, button, reading, brief, tickStep, ticks } = Whichbird;
  const [ROW, TOP, BOTTOM, RIGHT] = [19, 6, 36, 12];
  const signed = (v) => `${v < 0 ? "−" : "+"}${Math.abs(v).toFixed(3)}`;

  /** What is left of a lead without one system, in words; row 0 is the whole pool. */
  function withoutSaid({ name, pair: [one, two], systems, beta0, lead, half }, row) {
    const whom = row ? `Without ${systems[row - 1]}` : `${name}, all ${systems.length} systems`;
    const [low, high] = [lead[row] - half[row], lead[row] + half[row]];
    const sure = low > 0 ? `${one} is ahead` : high < 0 ? `${two} is ahead` : "neither is ahead beyond noise";
    return `${whom}: β₀ = ${beta0[row].toFixed(3)}; lead of ${one} over ${two} ${signed(lead[row])} (95 % interval ${signed(low)} to ${signed(high)}): ${sure}.`;
  }

  figure("without", (box, { cases }) => {
    let [who, row, at] = [0, 0, null];
    const node = svg("svg", { role: "img", "aria-label": "One row for the whole pool and one for each system left out, with the lead of one scorer over another as a dot and its interval as a bar." });
    const text = reading();
    const turn = slider({ name: "System left out", min: 0, max: 1, step: 1, value: 0, told: (n) => withoutSaid(cases[who], n), track: false,
                          ends: ["all systems", "leave one out"], moved: (n) => { row = n; update(); } });
    const take = cases.map(({ name, pair }, n) => button(`${name}: ${pair.join(" and ")}`, () => { who = n; row = 0; draw(); }));

    function update() {
      at.rows.forEach((g, n) => set(g, { class: n === row ? "wb-left wb-on" : "wb-left" }));
      take.forEach((b, n) => set(b, { "aria-pressed": n === who }));
      set(box, { "data-case": cases[who].name, "data-row": row, "data-lead": cases[who].lead[row] });
      turn.show(row);
      write(text, withoutSaid(cases[who], row));
    }
    let wide = 0;
    function draw(width = wide) {
      wide = width;
      const { pair, systems, lead, half } = cases[who];
      const side = Math.min(width, 560);
      const names = ["all systems", ...systems.map((s) => `without ${brief(s)}`)];
      const left = Math.min(190, side * 0.48);
      const low = Math.min(0, ...lead.map((v, n) => v - half[n]));
      const high = Math.max(0, ...lead.map((v, n) => v + half[n]));
      const x = (v) => left + ((v - low) / (high - low)) * (side - left - RIGHT);
      const y = (n) => TOP + (n + 0.5) * ROW;
      const bottom = TOP + names.length * ROW;
      set(node, { viewBox: `0 0 ${side} ${bottom + BOTTOM}`, width: side, height: bottom + BOTTOM });
      set(turn.input, { max: systems.length });
      const step = tickStep(high - low);
      at = { rows: names.map((name, n) => {
        const g = svg("g", {}, [
          svg("rect", { class: "wb-hit", x: 0, y: round(y(n) - ROW / 2), width: side, height: ROW }),
          svg("text", { x: left - 8, y: round(y(n) + 4), "text-anchor": "end" }, name),
          svg("line", { class: "wb-bar", x1: round(x(lead[n] - half[n])), x2: round(x(lead[n] + half[n])), y1: round(y(n)), y2: round(y(n)) }),
          svg("circle", { cx: round(x(lead[n])), cy: round(y(n)), r: 4 })]);
        g.addEventListener("click", () => { row = n; update(); });
        return g;
      }) };
      node.replaceChildren(
        ...ticks(low, high, step).flatMap((v) => [
          svg("line", { class: Math.abs(v) < step / 2 ? "wb-axis" : "wb-grid", x1: round(x(v)), x2: round(x(v)), y1: TOP, y2: bottom }),
          svg("text", { x: round(x(v)), y: bottom + 14, "text-anchor": "middle" }, Math.abs(v) < step / 2 ? "0" : v.toFixed(2).replace("-", "−"))]),
        ...at.rows,
        svg("text", { class: "wb-label", x: side < 460 ? 4 : left, y: bottom + 31 }, `← ${pair[1]} ahead`),
        svg("text", { class: "wb-label", x: side - RIGHT, y: bottom + 31, "text-anchor": "end" }, `${pair[0]} ahead →`));
      update();
    }
    box.append(html("div", { class: "wb-row", role: "group", "aria-label": "Example" }, html("span", { class: "wb-group" }, take)),
      html("div", { class: "wb-pic" }, node), turn.row, html("div", { class: "wb-row" }, text));
    return { draw };
  });

  Object.assign(Whichbird, { withoutSaid });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
