/* What β steers: how often the copy of a scorer that was nudged towards adequacy is preferred, over the reliable interval, above a band of placebos.
 * All values come from Python; the page picks a dataset and a place. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, write, round, line, figure, slider, reading, percent, show } = Whichbird;
  const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [250, 46, 10, 8, 22];

  /** A dataset at one of its stops, in words. */
  function steerSaid({ name, beta, line: found, low, high }, stop) {
    const middle = (found.length - 1) / 2;
    const place = beta ? `${name}, β = ${show(Number(beta[stop].toFixed(4)))}` :
      `${name}, ${stop === middle ? "natural balance" : `${percent(Math.abs(stop - middle) / middle)} of the way to the ${stop < middle ? "low" : "high"} end`}`;
    const others = stop === middle ? " Here all systems count alike." :
      ` With the same weights on other systems: ${percent(low[stop])} to ${percent(high[stop])} in 95 of 100 draws.`;
    return `${place}: the copy nudged towards adequacy is preferred in ${percent(found[stop])} of the comparisons.${others}`;
  }

  figure("steer", (box, { sets }) => {
    let [who, stop] = [0, sets[0].line.length - 1];
    let at = null;
    const node = svg("svg", { role: "img", "aria-label": "A line that rises with the balance, and a grey band of placebos around the level of the natural balance." });
    const text = reading();
    const pick = html("select", { "aria-label": "Dataset" }, sets.map(({ name }, n) => html("option", { value: n }, name)));
    pick.addEventListener("change", () => { who = Number(pick.value); draw(); });
    const turn = slider({ name: "Balance", min: 0, max: stop, step: 1, value: stop, told: (n) => steerSaid(sets[who], n),
                          ends: ["more fluency", "more adequacy"], moved: (n) => { stop = n; update(); } });

    function update() {
      set(at.dot, { cx: round(at.x(stop)), cy: round(at.y(sets[who].line[stop])) });
      set(box, { "data-set": sets[who].name, "data-stop": stop, "data-share": sets[who].line[stop] });
      write(text, steerSaid(sets[who], stop));
    }
    let wide = 0;
    function draw(width = wide) {
      wide = width;
      const { line: found, low, high } = sets[who];
      const side = Math.min(width, 560);
      const x = (n) => LEFT + (n / (found.length - 1)) * (side - LEFT - RIGHT);
      const y = (v) => TOP + (1 - v) * (HEIGHT - TOP - BOTTOM);
      const middle = (found.length - 1) / 2;
      set(node, { viewBox: `0 0 ${side} ${HEIGHT}`, width: side, height: HEIGHT });
      at = { x, y, dot: svg("circle", { class: "wb-now", r: 5.5 }) };
      node.replaceChildren(
        ...[0, 0.25, 0.5, 0.75, 1].flatMap((v) => [
          svg("line", { class: "wb-grid", x1: LEFT, x2: side - RIGHT, y1: round(y(v)), y2: round(y(v)) }),
          svg("text", { x: LEFT - 6, y: round(y(v) + 4), "text-anchor": "end" }, percent(v))]),
        svg("path", { class: "wb-placebo", d: `${line([...low.map((v, n) => [x(n), y(v)]), ...high.map((v, n) => [x(n), y(v)]).reverse()])}Z` }),
        svg("line", { class: "wb-middle", x1: round(x(middle)), x2: round(x(middle)), y1: TOP, y2: HEIGHT - BOTTOM }),
        svg("text", { x: round(x(middle)), y: HEIGHT - 5, "text-anchor": "middle" }, "β₀"),
        svg("text", { x: LEFT, y: HEIGHT - 5 }, "low end"),
        svg("text", { x: side - RIGHT, y: HEIGHT - 5, "text-anchor": "end" }, "high end"),
        svg("path", { class: "wb-path wb-on", d: line(found.map((v, n) => [x(n), y(v)])) }), at.dot);
      update();
    }
    box.append(html("div", { class: "wb-row" }, html("label", {}, ["Dataset ", pick])), html("div", { class: "wb-pic" }, node), turn.row,
      html("div", { class: "wb-row" }, text));
    return { draw };
  });

  Object.assign(Whichbird, { steerSaid });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
