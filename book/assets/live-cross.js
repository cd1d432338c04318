/* Six systems on a cross. Weight moves between the arms with the slider, and to or from one system by dragging it up and down. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, clamp, round, write, figure, slider, button, reading, leanBar, squared, arms, stand, percent } = Whichbird;
  const [LEAST, MOST] = [0.002, 0.95]; // of one system: with all weight on it there would be no balance
  const KEYS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 5, PageDown: -5 };

  /** System k gets the weight v, the others share the rest as they did. */
  function giveTo(w, k, v) {
    const to = clamp(v, LEAST, MOST);
    return w.map((x, n) => (n === k ? to : (x * (1 - to)) / (1 - w[k])));
  }

  /** The systems that `arm` names get this share of all weight; inside the arms nothing changes. */
  function giveArm(w, arm, share) {
    const has = w.reduce((sum, x, k) => sum + (arm[k] ? x : 0), 0);
    return w.map((x, k) => (arm[k] ? (x * share) / has : (x * (1 - share)) / (1 - has)));
  }
  const armShare = (w, arm) => w.reduce((sum, x, k) => sum + (arm[k] ? x : 0), 0);

  Object.assign(Whichbird, { giveTo, giveArm });

  figure("cross", (box, { adequacy: a, fluency: f, arm }) => {
    const K = a.length;
    const equal = a.map(() => 1 / K);
    let w = equal;
    let at = null;
    const node = svg("svg", { role: "group", "aria-label": "Six systems on a cross; the area of a dot is its weight. Blue and orange: one standard deviation of adequacy and of fluency." });
    const text = reading();
    const told = (v) => `${percent(v)} of all weight on the flat arm, β = ${stand(a, f, w).beta.toFixed(2)}`;
    const dial = slider({ name: "Share of weight on the flat arm, where adequacy differs", min: 0.01, max: 0.99, step: 0.01, value: armShare(w, arm), told,
                          ends: ["weight on the upright arm", "on the flat arm"], moved: (v) => { w = giveArm(w, arm, v); update(); } });
    const dots = a.map((_, k) => {
      const dot = svg("circle", { class: "wb-weight", tabindex: 0, role: "slider", "aria-valuemin": 0, "aria-valuemax": 100,
                                  "aria-label": `System at adequacy ${a[k]}, fluency ${f[k]}: its weight in percent` });
      let from = null;
      dot.addEventListener("pointerdown", (event) => {
        dot.setPointerCapture(event.pointerId);
        from = [event.clientY, w[k]];
      });
      dot.addEventListener("pointermove", (event) => {
        if (!from) return;
        w = giveTo(w, k, from[1] + (from[0] - event.clientY) / 200);
        update();
      });
      ["pointerup", "pointercancel"].forEach((kind) => dot.addEventListener(kind, () => { from = null; }));
      dot.addEventListener("keydown", (event) => {
        if (!(event.key in KEYS) || event.altKey || event.ctrlKey || event.metaKey) return;
        w = giveTo(w, k, w[k] + 0.02 * KEYS[event.key]);
        update();
        event.preventDefault();
      });
      return dot;
    });

    function update() {
      const now = stand(a, f, w);
      at.cross.replaceChildren(...arms(at, now.flat, now.upright));
      at.bar.replaceChildren(...leanBar(at.left, at.size, now.beta));
      dots.forEach((dot, k) => set(dot, { r: round(2 + at.size * 0.1 * Math.sqrt(w[k])), "aria-valuenow": (100 * w[k]).toFixed(1), "data-w": w[k] }));
      dial.show(Math.round(100 * armShare(w, arm)) / 100);
      set(box, { "data-beta": now.beta, "data-flat": now.flat[1], "data-upright": now.upright[1] });
      write(text, `β = ${now.beta.toFixed(2)}. Spread: ${now.flat[1].toFixed(2)} in adequacy, ${now.upright[1].toFixed(2)} in fluency. ` +
        `Effectively ${now.ess.toFixed(1)} of ${K} systems take part.`);
    }

    box.append(html("div", { class: "wb-pic" }, node), dial.row, html("div", { class: "wb-row" }, [text, button("Equal weights", () => { w = equal; update(); })]),
      html("p", { class: "wb-hint" }, "Move the slider, or drag a dot up or down (arrow keys, when it has the focus)."));
    return { draw(width) {
      at = squared(node, { side: Math.min(width, 340), across: [-2.6, 2.6], up: [-2.6, 2.6], names: ["adequacy, better →", "fluency, better →"] });
      at.inside.append(...a.map((_, k) => svg("circle", { class: "wb-ring", cx: round(at.x(a[k])), cy: round(at.y(f[k])), r: 4 })), (at.cross = svg("g")), ...dots);
      dots.forEach((dot, k) => set(dot, { cx: round(at.x(a[k])), cy: round(at.y(f[k])) }));
      node.append((at.bar = svg("g", { "aria-hidden": "true" })));
      update();
    } };
  });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
