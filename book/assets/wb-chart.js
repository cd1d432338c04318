/* Charts over β: the same axis everywhere, fluency to the left and adequacy to the right, and every one of them can be dragged. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, round, line, tickStep, ticks } = Whichbird;

  /** Where labels of a β axis stand, and what they say. */
  function betaTicks([from, to]) {
    if (from === 0 && to === 1) return [0, 0.25, 0.5, 0.75, 1].map((b) => [b, `${b}`]);
    const step = tickStep(to - from);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return ticks(from, to, step).map((b) => [b, b.toFixed(digits)]);
  }

  class Chart {
    constructor(figure, label, height, title) {
      Object.assign(this, { figure, height, left: 34, right: 10, top: 22, bottom: 20 });
      this.node = svg("svg", { role: "img", "aria-label": label, class: "wb-chart" });
      this.box = html("figure", {}, [html("figcaption", {}, title), this.node]);
      const move = (event) => {
        if (event.type === "pointermove" && !event.buttons) return;
        const at = this.node.getBoundingClientRect();
        const share = (event.clientX - at.left - this.left) / (at.width - this.left - this.right);
        figure.toBeta(this.window[0] + share * (this.window[1] - this.window[0]));
      };
      this.node.addEventListener("pointerdown", (event) => {
        this.node.setPointerCapture(event.pointerId);
        move(event);
      });
      this.node.addEventListener("pointermove", move);
    }

    x(beta) {
      const [from, to] = this.window;
      return this.left + ((beta - from) / (to - from)) * (this.width - this.left - this.right);
    }

    y(value) {
      return this.top + ((this.high - value) / (this.high - this.low)) * (this.height - this.top - this.bottom);
    }

    /** Axes, curves and bands of a contest inside a window [β, β]. `curves` are { name, values } with a value for every stop (or
     *  nothing, where none is known), `bands` are functions of a stop that give [lower, upper], or null where it was not tested. */
    draw(contest, window, { low, high, marks, curves, bands = [] }) {
      this.width = Math.max(200, this.box.clientWidth);
      Object.assign(this, { contest, window, low, high, curves });
      set(this.node, { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height });
      const [from, to] = window;
      const shown = contest.stops.map((_, n) => n).filter((n) => contest.stops[n] >= from && contest.stops[n] <= to);
      const inner = contest.reliable.map((n) => this.x(contest.stops[n]));
      const outer = this.height - this.bottom;
      const middle = (inner[0] + inner[1]) / 2;
      const half = Math.max(1.5, (inner[1] - inner[0]) / 2); // a very narrow interval stays visible
      const [end, foot] = [this.width - this.right, this.height - 5];
      const path = ({ values }) => {
        const known = shown.filter((n) => values[n] !== undefined);
        return known.length ? line(known.map((n) => [this.x(contest.stops[n]), this.y(values[n])])) : "";
      };
      const band = (edges) => {
        const both = shown.map((n) => [this.x(contest.stops[n]), edges(n)]).filter(([, ends]) => ends);
        const side = (which) => both.map(([x, ends]) => [x, this.y(ends[which])]);
        return both.length ? `${line([...side(1), ...side(0).reverse()])}Z` : "";
      };
      const natural = this.x(contest.beta0);
      this.node.replaceChildren(
        svg("rect", { class: "wb-reliable", x: round(middle - half), y: this.top,
                      width: round(2 * half), height: outer - this.top }),
        ...marks.map(([v]) => svg("line", { class: "wb-grid", x1: this.left, x2: end, y1: this.y(v), y2: this.y(v) })),
        ...marks.map(([v, text]) => svg("text", { x: this.left - 6, y: this.y(v) + 4, "text-anchor": "end" }, text)),
        ...betaTicks(window).map(([b, text]) => svg("text", { x: this.x(b), y: foot, "text-anchor": "middle" }, text)),
        svg("line", { class: "wb-natural", x1: natural, x2: natural, y1: this.top, y2: outer }),
        svg("text", { x: round(natural), y: this.top - 9, "text-anchor": "middle" }, "β₀"), // clear of a dot on the top line
        ...bands.map((edges) => svg("path", { class: "wb-band", d: band(edges) })),
        ...curves.map((curve) => svg("path", { class: `wb-curve ${curve.name}`, d: path(curve) })),
        (this.cursor = svg("line", { class: "wb-cursor", y1: this.top, y2: outer })),
        ...(this.dots = curves.map(({ name }) => svg("circle", { class: `wb-dot ${name}`, r: 4.5 }))));
    }

    update(stop) {
      const x = round(this.x(this.contest.stops[stop]));
      set(this.cursor, { x1: x, x2: x });
      this.dots.forEach((dot, n) => {
        const value = this.curves[n].values[stop];
        set(dot, value === undefined ? { visibility: "hidden" } : { visibility: "visible", cx: x, cy: round(this.y(value)) });
      });
    }
  }

  Object.assign(Whichbird, { Chart, betaTicks });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
