/* The saddle of a reweighting: best weights are heights of one surface, cut off at zero. Move β: surface, hyperbola and weights follow. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, write, round, line, figure, slider, button, reading, leanBar, squared } = Whichbird;
  const LEVELS = [0, 0.5, 1, 1.5, 2, 3, 4]; // in multiples of a uniform weight

  /** The two curves on which (1−β)(a−μ_a)² − β(f−μ_f)² = c over a range [left, right, bottom, top], in data units, each with two corners far behind it. */
  function branches(beta, c, [ma, mf], [left, right, bottom, top]) {
    const far = 9 * (right - left);
    const along = (low, high) => Array.from({ length: 61 }, (_, n) => low + ((high - low) * n) / 60);
    return [-1, 1].map((sign) => (c > 0
      ? [...along(bottom, top).map((f) => [ma + sign * Math.sqrt((c + beta * (f - mf) ** 2) / (1 - beta)), f]), [ma + sign * far, top], [ma + sign * far, bottom]]
      : [...along(left, right).map((a) => [a, mf + sign * Math.sqrt(((1 - beta) * (a - ma) ** 2 - c) / beta)]), [right, mf + sign * far], [left, mf + sign * far]]));
  }

  Object.assign(Whichbird, { saddleBranches: branches });

  figure("saddle", (box, { systems, adequacy: a, fluency: f, low, high, beta: start }) => {
    const pool = Whichbird.pool(a, f);
    const K = a.length;
    const [span, middle] = [Math.max(...[a, f].map((x) => Math.max(...x) - Math.min(...x))), [a, f].map((x) => (Math.max(...x) + Math.min(...x)) / 2)];
    const range = middle.map((m) => [m - 0.58 * span, m + 0.58 * span]);
    let beta = start;
    let at = null;
    const node = svg("svg", { role: "img", "aria-label": "Systems in the plane of adequacy and fluency over a shaded saddle. The stronger the shade, the higher; where there is none the surface is below zero, and systems have no weight." });
    const text = reading();
    const dots = a.map((_, k) => svg("circle", {}, svg("title", {}, systems[k])));
    const dial = slider({ name: "Target balance β: fluency at the left, adequacy at the right", min: low, max: high, step: 0.005, value: beta,
                          told: (v) => `β = ${v.toFixed(3)}`, ends: ["fluency", "adequacy"], moved: (v) => { beta = v; update(); } });

    function update() {
      const best = Whichbird.reweight(pool, beta);
      const w = best.weights;
      const centre = [a, f].map((x) => Whichbird.moments(x, w)[0]);
      const whole = `M${at.left} ${at.top}h${at.size}v${at.size}h${-at.size}Z`;
      const shapes = (level) => (best.eta ? branches(beta, (-best.lam - level / K) / best.eta, centre, at.range) : [])
        .map((shape) => shape.map(([x, y]) => [at.x(x), at.y(y)]));
      // below the height of its middle a level leaves out two outer pieces of the plane; above, it has only these
      const region = (level) => {
        const outer = shapes(level).map((s) => `${line(s)}Z`).join("");
        if (!best.eta) return level <= 1 ? whole : "";
        return level / K <= -best.lam ? whole + outer : outer;
      };
      at.shades.forEach((shade, n) => shade.setAttribute("d", region(LEVELS[n])));
      at.zero.setAttribute("d", shapes(0).map((s) => line(s.slice(0, -2))).join(""));
      at.bar.replaceChildren(...leanBar(at.left, at.size, beta));
      dots.forEach((dot, k) => set(dot, { class: w[k] > 0 ? "wb-held" : "wb-held wb-none", r: round(w[k] > 0 ? 5.2 * Math.sqrt(K * w[k]) : 4), "data-w": w[k] }));
      set(box, { "data-beta": beta, "data-ess": best.ess });
      const held = w.filter((v) => v > 0).length;
      write(text, `β = ${beta.toFixed(3)}: ${held} of ${K} systems have weight, and effectively ${best.ess.toFixed(1)} take part. ` +
        (!best.eta ? "The surface is flat." : best.eta > 0 ? "The surface falls to the left and to the right: adequacy must shrink." : "The surface falls upwards and downwards: fluency must shrink."));
    }

    box.append(html("div", { class: "wb-pic" }, node), dial.row,
      html("div", { class: "wb-row" }, [text, button("β₀, equal weights", () => { beta = pool.natural; dial.show(beta); update(); })]),
      html("p", { class: "wb-hint" }, "Move β. The line is where the surface crosses zero, the hyperbola of the support: hollow systems lie beyond it."));
    return { draw(width) {
      at = squared(node, { side: Math.min(width, 400), across: range[0], up: range[1], names: ["adequacy, better →", "fluency, better →"] });
      at.shades = LEVELS.map(() => svg("path", { class: "wb-shade", "fill-rule": "evenodd" }));
      at.inside.append(...at.shades, (at.zero = svg("path", { class: "wb-zero-line" })), ...dots);
      node.append((at.bar = svg("g", { "aria-hidden": "true" })));
      dots.forEach((dot, k) => set(dot, { cx: round(at.x(a[k])), cy: round(at.y(f[k])) }));
      update();
    } };
  });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
