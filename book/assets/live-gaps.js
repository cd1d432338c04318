/* The cloud of pair gaps of a pool at any balance. A dot is a pair of systems, its area the product of their two weights; the spread of the cloud, one root
 * mean square each way, is that of the pool. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, write, round, figure, slider, button, reading, leanBar, squared, percent } = Whichbird;

  /** Pairs i < j as { i, j, da, df }, better one minus worse one by the sum of both gaps. */
  function pairGaps(a, f) {
    const out = [];
    for (let i = 0; i < a.length; i++) {
      for (let j = i + 1; j < a.length; j++) {
        const [da, df] = [a[i] - a[j], f[i] - f[j]];
        const sign = da + df < 0 ? -1 : 1;
        out.push({ i, j, da: sign * da, df: sign * df });
      }
    }
    return out;
  }

  /** What weights make of the pairs: each one's w_i·w_j, the sums of squared gaps (the two variances), and the shares of chance that fluency, or adequacy, is outvoted. */
  function cloud(pairs, w) {
    const weight = pairs.map(({ i, j }) => w[i] * w[j]);
    const sum = (of) => pairs.reduce((s, pair, n) => s + weight[n] * of(pair), 0);
    const [va, vf, all] = [sum(({ da }) => da * da), sum(({ df }) => df * df), sum(() => 1)];
    return { weight, va, vf, beta: va / (va + vf), blue: sum(({ df }) => (df < 0 ? 1 : 0)) / all, orange: sum(({ da }) => (da < 0 ? 1 : 0)) / all };
  }

  Object.assign(Whichbird, { pairGaps, cloud });

  figure("gaps", (box, { pools }) => {
    const all = pools.map(({ name, adequacy: a, fluency: f }) => {
      const pool = Whichbird.pool(a, f);
      const pairs = pairGaps(a, f);
      return { name, pool, pairs, reach: 1.06 * Math.max(...pairs.flatMap(({ da, df }) => [da, df])) };
    });
    let [now, beta, at, dots] = [all[0], all[0].pool.natural, null, []];
    const node = svg("svg", { role: "img", "aria-label": "A cloud of dots, one for each pair of systems, by its gap in adequacy and its gap in fluency. Blue: adequacy decides against fluency. Orange: fluency decides against adequacy." });
    const text = reading();
    const dial = slider({ name: "Balance β: fluency at the left, adequacy at the right", min: 0, max: 1, step: 0.005, value: beta, told: (v) => `β = ${v.toFixed(3)}`,
                          ends: ["fluency", "adequacy"], moved: (v) => { beta = v; update(); } });
    const choose = all.map((one) => button(one.name, () => {
      [now, beta] = [one, one.pool.natural];
      fit();
      draw();
    }));

    /** The slider goes as far as four fifths of the systems still take part. */
    function fit() {
      const [low, high] = Whichbird.reliable(now.pool, 0.8);
      set(dial.input, { min: (Math.ceil(low * 200) / 200).toFixed(3), max: (Math.floor(high * 200) / 200).toFixed(3) });
      dial.show(beta);
    }
    function update() {
      const { pool, pairs, name } = now;
      const best = Whichbird.reweight(pool, beta);
      const made = cloud(pairs, best.weights);
      const most = (pool.K * (pool.K - 1)) / 2;
      const whole = made.weight.reduce((sum, v) => sum + v, 0);
      dots.forEach((dot, n) => set(dot, { r: round(3.2 * Math.sqrt((most * made.weight[n]) / whole)) }));
      const [sa, sf] = [made.va, made.vf].map((v) => Math.sqrt(v / whole)); // root mean square gap of a pair
      const arm = (kind, x1, x2, y1, y2) => svg("line", { class: `wb-arm ${kind}`, x1: round(at.x(x1)), x2: round(at.x(x2)), y1: round(at.y(y1)), y2: round(at.y(y2)) });
      at.cross.replaceChildren(arm("wb-a", 0, sa, 0, 0), arm("wb-f", 0, 0, 0, sf));
      at.bar.replaceChildren(...leanBar(at.left, at.size, made.beta));
      choose.forEach((b, n) => set(b, { "aria-pressed": all[n] === now }));
      set(box, { "data-beta": made.beta, "data-target": beta, "data-va": made.va, "data-vf": made.vf, "data-blue": made.blue, "data-orange": made.orange, "data-name": name });
      write(text, `${name}, β = ${made.beta.toFixed(3)}${Math.abs(beta - pool.natural) < 1e-9 ? ", as collected" : ""}. By weight, adequacy outvotes fluency in ${percent(made.blue)} of pairs, fluency outvotes adequacy in ${percent(made.orange)}.`);
    }

    let wide = 0;
    function draw(width = wide) {
      wide = width;
      const range = [-0.55 * now.reach, now.reach];
      at = squared(node, { side: Math.min(width, 340), across: range, up: range, names: ["gap in adequacy", "gap in fluency"] });
      const rule = (x1, y1, x2, y2) => svg("line", { class: "wb-zero", x1: round(at.x(x1)), y1: round(at.y(y1)), x2: round(at.x(x2)), y2: round(at.y(y2)) });
      dots = now.pairs.map(({ da, df }) => svg("circle", { class: `wb-gap ${df < 0 ? "wb-a" : da < 0 ? "wb-f" : ""}`, cx: round(at.x(da)), cy: round(at.y(df)) }));
      at.inside.append(rule(-now.reach, now.reach, now.reach, -now.reach), rule(range[0], 0, range[1], 0), rule(0, range[0], 0, range[1]), ...dots, (at.cross = svg("g")));
      node.append((at.bar = svg("g", { "aria-hidden": "true" })));
      update();
    }
    box.append(html("div", { class: "wb-row", role: "group", "aria-label": "Dataset" }, html("span", { class: "wb-group" }, choose)), html("div", { class: "wb-pic" }, node), dial.row,
      html("div", { class: "wb-row" }, [text, button("As collected", () => { beta = now.pool.natural; dial.show(beta); update(); })]),
      html("p", { class: "wb-hint" }, "Move β: no dot moves, but its weight does. The arms are root mean square gaps; β is blue's share of their squares."));
    fit();
    return { draw };
  });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
