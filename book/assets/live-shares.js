/* Three shares: a triangle of targets. Each dot is one; its size is what the most even weights keep of the systems. All values come from Python. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, write, round, line, figure, slider, reading, percent } = Whichbird;
  const HIGH = Math.sqrt(3) / 2;

  /** The corner of the first aspect on top, of the second at the left, of the third at the right. */
  const place = ([p, q, r]) => [(r - q + 1) / 2, p * HIGH];

  /** A pool at one of its targets, in words. */
  function sharesSaid({ aspects, targets, ess, first, scorers, systems }, n) {
    const asked = aspects.map((name, i) => `${name} ${percent(targets[n][i])}`).join(", ");
    if (ess[n] === null) return `${asked}: proven to be out of reach.`;
    if (ess[n] === 0) return `${asked}: not decided.`;
    const best = first[n].map(([who, spa]) => `${scorers[who]} (${spa.toFixed(3)})`).join(", ");
    return `${asked}: the most even weights count for ${ess[n].toFixed(1)} of ${systems} systems. First by SPA: ${best}.`;
  }

  /** The target nearest to three shares. */
  function nearest(targets, shares) {
    const far = targets.map((t) => t.reduce((sum, v, i) => sum + (v - shares[i]) ** 2, 0));
    return far.indexOf(Math.min(...far));
  }

  Object.assign(Whichbird, { sharesPlace: place, sharesSaid, sharesNearest: nearest });

  figure("shares", (box, { pools }) => {
    let who = 0;
    let now = nearest(pools[0].targets, pools[0].natural);
    let at = null;
    const node = svg("svg", { role: "img", "aria-label": "A triangle of targets with an aspect at each corner. Dots shrink away from the natural shares, crosses are out of reach, a ring marks the target chosen." });
    const text = reading();
    const pick = html("select", { "aria-label": "Pool" }, pools.map(({ name }, n) => html("option", { value: n }, name)));
    pick.addEventListener("change", () => { who = Number(pick.value); now = nearest(pools[who].targets, pools[who].natural); draw(); });
    const steps = pools[0].steps;
    const told = (i) => (v) => `${pools[who].aspects[i]} ${percent(v / steps)}`;
    // the share of one aspect moves; what is left is parted between the others as before
    const moved = (i) => (v) => {
      const old = pools[who].targets[now];
      const rest = 1 - old[i];
      choose(nearest(pools[who].targets, old.map((s, j) => (j === i ? v / steps : rest > 0 ? (s / rest) * (1 - v / steps) : (1 - v / steps) / 2))));
    };
    const dials = [0, 1].map((i) => slider({ name: `Share of the ${["first", "second"][i]} aspect`, min: 0, max: steps, step: 1, value: 0, told: told(i), track: false, moved: moved(i) }));

    function choose(n) {
      now = n;
      const pool = pools[who];
      const [x, y] = at(place(pool.targets[n]));
      set(node.querySelector(".wb-home"), { cx: round(x), cy: round(y) });
      dials.forEach((dial, i) => {
        dial.row.querySelector(".wb-ends").firstChild.textContent = pool.aspects[i];
        dial.show(Math.round(pool.targets[n][i] * steps));
      });
      set(box, { "data-set": pool.name, "data-target": pool.targets[n].join(" "), "data-ess": pool.ess[n] });
      write(text, sharesSaid(pool, n));
    }

    let wide = 0;
    function draw(width = wide) {
      wide = width;
      const side = Math.min(width - 40, 400);
      const [left, top] = [20, 22];
      const pool = pools[who];
      at = ([x, y]) => [left + x * side, top + (HIGH - y) * side];
      set(node, { viewBox: `0 0 ${side + 40} ${round(top + HIGH * side + 24)}`, width: side + 40, height: round(top + HIGH * side + 24) });
      const corners = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((s) => at(place(s)));
      const dot = (t, n) => {
        const [x, y] = at(place(t)).map((v) => Number(round(v)));
        if (!pool.ess[n]) return svg("path", { class: pool.ess[n] === null ? "wb-out" : "wb-open", d: `M${x - 2.5} ${y - 2.5}l5 5M${x - 2.5} ${y + 2.5}l5 -5` });
        return svg("circle", { class: "wb-held", cx: x, cy: y, r: round(1 + (side / 60) * (pool.ess[n] / pool.systems) ** 1.5) });
      };
      const [sx, sy] = at(place(pool.natural));
      node.replaceChildren(svg("path", { class: "wb-frame", d: `${line(corners)}Z` }), ...pool.targets.map(dot),
        svg("path", { class: "wb-centre", d: `M${round(sx - 6)} ${round(sy)}h12M${round(sx)} ${round(sy - 6)}v12` }),
        svg("circle", { class: "wb-home", r: 8 }),
        svg("text", { x: round(corners[0][0]), y: round(corners[0][1] - 8), "text-anchor": "middle" }, pool.aspects[0]),
        svg("text", { x: round(corners[1][0] - 12), y: round(corners[1][1] + 17), "text-anchor": "start" }, pool.aspects[1]),
        svg("text", { x: round(corners[2][0] + 12), y: round(corners[2][1] + 17), "text-anchor": "end" }, pool.aspects[2]));
      choose(now);
    }
    node.addEventListener("pointermove", (event) => { if (event.buttons) point(event); });
    node.addEventListener("pointerdown", point);
    function point(event) {
      const frame = node.getBoundingClientRect();
      const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
      const far = pools[who].targets.map((t) => Math.hypot(at(place(t))[0] - x, at(place(t))[1] - y));
      choose(far.indexOf(Math.min(...far)));
    }
    box.append(html("div", { class: "wb-row" }, html("label", {}, ["Pool ", pick])), html("div", { class: "wb-pic" }, node), ...dials.map((dial) => dial.row),
      html("div", { class: "wb-row" }, text),
      html("p", { class: "wb-hint" }, "Click or drag in the triangle, or move the two shares. Dots: targets with their most even weights, larger where more systems count. Grey crosses: out of reach, proven. Upright cross: the natural shares."));
    return { draw };
  });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
