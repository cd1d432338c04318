/* The SPA plane: how well a scorer ranks by fluency, and how well by adequacy, as a dial is turned. All values come from Python; the page moves along them. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, write, round, line, figure, slider, button, reading, squared } = Whichbird;
  const NAMED = { tradeoff: ["trade-off", 0.75, 8, 0, "start"], adequacy: ["knows adequacy", 0.9, -8, 0, "end"], fluency: ["knows fluency", 0.6, 6, 16, "middle"] };
  const signed = (d) => (d > 0 ? "+" : "") + String(d).replace("-", "−");

  figure("dial", (box, { scorers }) => {
    let [who, which, stop, at] = [0, 0, 0, null];
    const family = () => scorers[who].families[which];
    const zero = () => family().dials.reduce((best, d, n, all) => (Math.abs(d) < Math.abs(all[best]) ? n : best), 0);
    stop = zero();
    const node = svg("svg", { role: "img", "aria-label": "The plane of SPA against fluency and SPA against adequacy, with a scorer as a dot on the path that a dial leads it along." });
    const text = reading();
    const dial = slider({ name: "The dial", min: 0, max: 1, step: 1, value: 0, told: (n) => `dial ${signed(family().dials[n] ?? 0)}`, track: false,
                          ends: ["dial down", "dial up"], moved: (n) => { stop = n; update(); } });
    const reset = () => {
      stop = zero();
      set(dial.input, { max: family().dials.length - 1 });
      dial.show(stop);
    };
    const turn = scorers[0].families.map(({ name }, n) => button(name, () => { which = n; reset(); draw(); }));
    const take = scorers.map(({ title }, n) => button(title, () => { who = n; reset(); draw(); }));

    function update() {
      const { name, dials, fluency, adequacy } = family();
      const home = zero();
      set(at.dot, { cx: round(at.x(fluency[stop])), cy: round(at.y(adequacy[stop])) });
      take.forEach((b, n) => set(b, { "aria-pressed": n === who }));
      turn.forEach((b, n) => set(b, { "aria-pressed": n === which }));
      set(box, { "data-dial": dials[stop], "data-fluency": fluency[stop], "data-adequacy": adequacy[stop] });
      const change = (x) => `${x[stop].toFixed(3)}${stop === home ? "" : ` (${signed(Number((x[stop] - x[home]).toFixed(3)))})`}`;
      write(text, `${name}, dial ${signed(dials[stop])}: SPA against fluency ${change(fluency)}, against adequacy ${change(adequacy)}.${stop === home ? " This is the scorer itself." : ""}`);
    }
    let wide = 0;
    function draw(width = wide) {
      wide = width;
      at = squared(node, { side: Math.min(width, 360), across: [0.62, 1.01], up: [0.62, 1.01], names: ["SPA against fluency, better →", "SPA against adequacy, better →"], plain: true });
      const to = ([x, y]) => [at.x(x), at.y(y)];
      const { families, landmarks } = scorers[who];
      const kind = { adequacy: "wb-a", fluency: "wb-f", tradeoff: "" };
      const path = ({ fluency, adequacy }) => line(fluency.map((x, n) => to([x, adequacy[n]])));
      const home = zero();
      at.inside.append(
        ...Object.entries(landmarks).map(([name, points]) => svg("path", { class: `wb-mark ${kind[name]}`, d: line(points.map(to)) })),
        ...Object.entries(landmarks).map(([name, points]) => {
          const [words, share, dx, dy, anchor] = NAMED[name];
          const [x, y] = to(points[Math.round(share * (points.length - 1))]);
          return svg("text", { class: kind[name], x: round(x + dx), y: round(y + dy), "text-anchor": anchor }, words);
        }),
        ...families.map((one, n) => svg("path", { class: n === which ? "wb-path wb-on" : "wb-path", d: path(one) })),
        svg("circle", { class: "wb-home", cx: round(at.x(family().fluency[home])), cy: round(at.y(family().adequacy[home])), r: 6.5 }),
        (at.dot = svg("circle", { class: "wb-now", r: 5.5 })));
      update();
    }
    box.append(html("div", { class: "wb-row", role: "group", "aria-label": "Scorer" }, html("span", { class: "wb-group" }, take)),
      html("div", { class: "wb-row", role: "group", "aria-label": "Which dial" }, html("span", { class: "wb-group" }, turn)),
      html("div", { class: "wb-pic" }, node), dial.row, html("div", { class: "wb-row" }, text),
      html("p", { class: "wb-hint" }, "Turn the dial. The ring is the scorer as it is; faint paths are the other two dials."));
    reset();
    return { draw };
  });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
