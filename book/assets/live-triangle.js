/* Three systems: all weightings are a triangle. The curve of one β, circles of equal Σw², and the circle that touches the curve first. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, write, round, line, figure, slider, button, reading, percent } = Whichbird;
  const HIGH = Math.sqrt(3) / 2;
  const RAYS = 720;

  /** Where a weighting lies in the triangle with corners (0, 0), (1, 0), (½, √¾). */
  const place = (w) => [w[1] + w[2] / 2, w[2] * HIGH];

  /** Weightings where (1 − β) var_a − β var_f = 0, on rays from the uniform one: a list for each of `rays` directions of a full turn, nearest first. */
  function met(a, f, beta, rays = RAYS) {
    const [ca, cf] = [a, f].map((x) => x.map((v) => v - (x[0] + x[1] + x[2]) / 3));
    const g = ca.map((v, k) => (1 - beta) * v * v - beta * cf[k] * cf[k]);
    const dot = (x, y) => x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    const level = (g[0] + g[1] + g[2]) / 3;
    return Array.from({ length: rays }, (_, n) => {
      const turn = (2 * Math.PI * n) / rays;
      const [c, s] = [Math.cos(turn) / Math.SQRT2, Math.sin(turn) / Math.sqrt(6)];
      const way = [c + s, s - c, -2 * s]; // of length one, and its parts sum to zero
      const end = Math.min(...way.map((v) => (v < 0 ? -1 / (3 * v) : Infinity)));
      // along w = ⅓ + t·way: level + t·(way·g) − t²·((1 − β)(way·a)² − β(way·f)²)
      const bend = beta * dot(way, cf) ** 2 - (1 - beta) * dot(way, ca) ** 2;
      const slope = dot(way, g);
      const root = slope * slope - 4 * bend * level;
      if (root < 0) return [];
      const both = -(slope + Math.sign(slope || 1) * Math.sqrt(root)) / 2; // without a difference of like numbers
      return [both / bend, level / both].filter((t) => t >= 0 && t <= end * (1 + 1e-12)).sort((x, y) => x - y)
        .map((t) => way.map((v) => Math.max(0, 1 / 3 + t * v)));
    });
  }

  /** The points of all rays as lines: neighbours on neighbouring rays belong together. */
  function strands(found) {
    const far = 0.12; // of the triangle's side
    const out = [];
    let open = [];
    [...found, ...found.slice(0, 1)].forEach((points) => {
      const next = [];
      points.map(place).forEach((at) => {
        const near = open.filter((s) => !next.includes(s))
          .map((s) => [Math.hypot(s[s.length - 1][0] - at[0], s[s.length - 1][1] - at[1]), s]).sort((x, y) => x[0] - y[0])[0];
        const strand = near && near[0] < far ? near[1] : [];
        if (!strand.length) out.push(strand);
        strand.push(at);
        next.push(strand);
      });
      open = next;
    });
    return out;
  }

  Object.assign(Whichbird, { trianglePlace: place, triangleMet: met, triangleStrands: strands });

  figure("triangle", (box, { adequacy: a, fluency: f, names, beta: start }) => {
    const pool = Whichbird.pool(a, f);
    const [low, high] = [Math.ceil(pool.low * 1000 + 1e-9) / 1000, Math.floor(pool.high * 1000 - 1e-9) / 1000];
    let beta = start;
    const node = svg("svg", { role: "img", "aria-label": "The triangle of all weightings of three systems, a curve where the balance is met, and a circle around the centre that touches it at the best weighting." });
    const text = reading();
    let at = null;
    const told = (v) => `β = ${v.toFixed(3)}`;
    const dial = slider({ name: "Target balance β: fluency at the left, adequacy at the right", min: low, max: high, step: 0.001, value: beta, told,
                          ends: ["fluency", "adequacy"], moved: (v) => { beta = v; update(); } });
    function update() {
      const best = Whichbird.reweight(pool, beta);
      const w = best.weights;
      const P = w.reduce((sum, v) => sum + v * v, 0);
      const [cx, cy] = at.to(place([1 / 3, 1 / 3, 1 / 3]));
      const [x, y] = at.to(place(w));
      at.curve.setAttribute("d", strands(met(a, f, beta)).map((s) => line(s.map(at.to))).join(""));
      set(at.touch, { cx: round(cx), cy: round(cy), r: round(at.unit * Math.sqrt(Math.max(0, P - 1 / 3) / 2)) });
      set(at.star, { transform: `translate(${round(x)} ${round(y)})` });
      set(box, { "data-beta": beta, "data-p": P, "data-weights": w.join(" ") });
      write(text, `β = ${beta.toFixed(3)}: ${w.map((v, k) => `${names[k]} ${percent(v)}`).join(", ")}. Σw² = ${P.toFixed(3)}, effectively ${best.ess.toFixed(2)} of 3 systems.`);
    }
    box.append(html("div", { class: "wb-pic" }, node), dial.row,
      html("div", { class: "wb-row" }, [text, button("β₀, equal weights", () => { beta = pool.natural; dial.show(beta); update(); })]),
      html("p", { class: "wb-hint" }, "Move β. Heavy: weightings that have it. Circles: equal Σw², and the full one is the first to touch. Star: the optimum."));
    return { draw(width) {
      const side = Math.min(width - 24, 380);
      const [left, top] = [12, 22];
      const to = ([x, y]) => [left + x * side, top + (HIGH - y) * side];
      const corner = [[0, 0], [1, 0], [0.5, HIGH]].map(to);
      const [cx, cy] = to(place([1 / 3, 1 / 3, 1 / 3]));
      const label = (n, dy, anchor, dx = 0) => svg("text", { x: round(corner[n][0] + dx), y: round(corner[n][1] + dy), "text-anchor": anchor }, names[n]);
      set(node, { viewBox: `0 0 ${side + 24} ${round(top + HIGH * side + 24)}`, width: side + 24, height: round(top + HIGH * side + 24) });
      at = { to, unit: side };
      node.replaceChildren(
        svg("path", { class: "wb-frame", d: `${line(corner)}Z` }),
        ...[0.08, 0.16, 0.24].map((r) => svg("circle", { class: "wb-even", cx: round(cx), cy: round(cy), r: round(r * side) })),
        (at.touch = svg("circle", { class: "wb-touch" })),
        (at.curve = svg("path", { class: "wb-met" })),
        svg("path", { class: "wb-centre", d: `M${round(cx - 5)} ${round(cy)}h10M${round(cx)} ${round(cy - 5)}v10` }),
        (at.star = svg("path", { class: "wb-star", d: star(9) })),
        label(0, 17, "start", -10), label(1, 17, "end", 10), label(2, -8, "middle"));
      update();
    } };
  });

  /** Five points. */
  function star(r) {
    const points = Array.from({ length: 10 }, (_, n) => {
      const [turn, far] = [(Math.PI * n) / 5, n % 2 ? 0.42 * r : r];
      return [far * Math.sin(turn), -far * Math.cos(turn)];
    });
    return `${line(points)}Z`;
  }
})((globalThis.Whichbird = globalThis.Whichbird || {}));
