/* Small live figures inside chapters: what they share. Each has a script of its own, live-<name>.js, which hands in how it is built;
 * `whichbird_book.live` puts both into a page, with data. A figure is a box, redrawn when its width changes:
 *
 *   Whichbird.figure("cross", (box, data) => ({ draw(width) { … } }))
 */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, clamp, round, tickStep, ticks } = Whichbird;
  const [LEFT, BOTTOM, TOP, RIGHT] = [44, 36, 16, 8];
  let frames = 0;

  /** Builds every box of this name that the page has so far. */
  function figure(name, build) {
    if (typeof document === "undefined") return;
    document.querySelectorAll(`.wb-small[data-figure="${name}"]:not([data-drawn])`).forEach((box) => {
      const data = JSON.parse(box.parentNode.querySelector("script.wb-small-data").textContent);
      box.setAttribute("data-drawn", "");
      box.closest(".output, .cell_output")?.classList.add("wb-cell");
      const { draw } = build(box, data);
      let drawn = 0;
      const fit = () => {
        const width = Math.floor(box.clientWidth);
        if (width && width !== drawn) draw((drawn = width));
      };
      fit();
      if (typeof ResizeObserver !== "undefined") new ResizeObserver(fit).observe(box);
    });
  }

  /** A slider with its name; `told`(value) is what a screen reader says, `moved`(value) what happens. `track` colours it from fluency to adequacy. */
  function slider({ name, min, max, step, value, told, moved, ends = ["", ""], track = true }) {
    const input = html("input", { type: "range", min, max, step, "aria-label": name, class: track ? "wb-shares-track" : null });
    const row = html("div", { class: "wb-slide" }, [
      html("div", { class: "wb-ends" }, [html("span", { class: track ? "wb-f" : null }, ends[0]), html("span", { class: track ? "wb-a" : null }, ends[1])]), input]);
    const show = (v) => {
      if (Number(input.value) !== v) input.value = v;
      set(input, { "aria-valuetext": told(v) });
    };
    input.addEventListener("input", () => {
      moved(Number(input.value));
      set(input, { "aria-valuetext": told(Number(input.value)) });
    });
    input.value = value;
    set(input, { "aria-valuetext": told(value) });
    return { row, input, show };
  }

  function button(text, pressed) {
    const node = html("button", { type: "button" }, text);
    node.addEventListener("click", pressed);
    return node;
  }

  /** Words about the figure as it stands, which a screen reader hears when they change. */
  const reading = () => html("p", { class: "wb-reading", role: "status" });

  /** A share of 0 to 1 as a bar: adequacy's is blue, at the left, as in the book's still figures. */
  function leanBar(x, width, beta) {
    const cut = round(width * clamp(beta, 0, 1));
    return [svg("rect", { class: "wb-fill-f", x, y: 2, width, height: 7 }), svg("rect", { class: "wb-fill-a", x, y: 2, width: cut, height: 7 })];
  }

  /** A square piece of plane with axes and ticks: { x, y, size, inside } with `inside` the group that is cut off at its edges. */
  function squared(node, { side, across: [left, right], up: [bottom, top], names, plain = false }) {
    const size = side - LEFT - RIGHT;
    const scale = [size / (right - left), size / (top - bottom)];
    const x = (v) => LEFT + (v - left) * scale[0];
    const y = (v) => TOP + size - (v - bottom) * scale[1];
    const id = `wb-inside-${(frames += 1)}`;
    const inside = svg("g", { "clip-path": `url(#${id})` });
    const labels = (low, high) => {
      const step = tickStep(high - low);
      const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      return ticks(low, high, step).map((v) => [v, (Math.abs(v) < step / 2 ? "0" : v.toFixed(digits)).replace("-", "−")]);
    };
    set(node, { viewBox: `0 0 ${side} ${TOP + size + BOTTOM}`, width: side, height: TOP + size + BOTTOM });
    const [flat, steep] = [labels(left, right), labels(bottom, top)];
    node.replaceChildren(
      svg("clipPath", { id }, svg("rect", { x: LEFT, y: TOP, width: size, height: size })),
      ...flat.map(([v]) => svg("line", { class: "wb-grid", x1: x(v), x2: x(v), y1: TOP, y2: TOP + size })),
      ...steep.map(([v]) => svg("line", { class: "wb-grid", x1: LEFT, x2: LEFT + size, y1: y(v), y2: y(v) })),
      inside,
      svg("rect", { class: "wb-frame", x: LEFT, y: TOP, width: size, height: size }),
      ...flat.map(([v, text]) => svg("text", { x: round(x(v)), y: TOP + size + 14, "text-anchor": "middle" }, text)),
      ...steep.map(([v, text]) => svg("text", { x: LEFT - 5, y: round(y(v) + 4), "text-anchor": "end" }, text)),
      svg("text", { class: plain ? "wb-label" : "wb-label wb-a", "text-anchor": "middle", x: LEFT + size / 2, y: TOP + size + 31 }, names[0]),
      svg("text", { class: plain ? "wb-label" : "wb-label wb-f", "text-anchor": "middle", transform: `translate(11 ${TOP + size / 2}) rotate(-90)` }, names[1]));
    return { x, y, size, inside, left: LEFT, top: TOP, range: [left, right, bottom, top] };
  }

  /** The weighted cross of a pool: one standard deviation each way, about the mean. */
  function arms({ x, y }, [ma, sa], [mf, sf]) {
    return [svg("line", { class: "wb-arm wb-a", x1: round(x(ma - sa)), x2: round(x(ma + sa)), y1: round(y(mf)), y2: round(y(mf)) }),
            svg("line", { class: "wb-arm wb-f", x1: round(x(ma)), x2: round(x(ma)), y1: round(y(mf - sf)), y2: round(y(mf + sf)) })];
  }

  /** β, effective number and both arms of weights that sum to one. */
  function stand(a, f, w) {
    const [flat, upright] = [Whichbird.moments(a, w), Whichbird.moments(f, w)];
    const [va, vf] = [flat[1] ** 2, upright[1] ** 2];
    return { flat, upright, beta: va / (va + vf), ess: 1 / w.reduce((sum, v) => sum + v * v, 0) };
  }

  const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;

  Object.assign(Whichbird, { figure, slider, button, reading, leanBar, squared, arms, stand, percent });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
