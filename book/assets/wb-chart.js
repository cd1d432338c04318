/* Charts over β: the same axis everywhere, and every one of them can be dragged. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, round, line } = Whichbird;

  class Chart {
    constructor(figure, label, height, title) {
      Object.assign(this, { figure, height, left: 34, right: 10, top: 22, bottom: 20 });
      this.node = svg("svg", { role: "img", "aria-label": label, class: "wb-chart" });
      this.box = html("figure", {}, [html("figcaption", {}, title), this.node]);
      const move = (event) => {
        if (event.type === "pointermove" && !event.buttons) return;
        const at = this.node.getBoundingClientRect();
        figure.toBeta((event.clientX - at.left - this.left) / (at.width - this.left - this.right));
      };
      this.node.addEventListener("pointerdown", (event) => {
        this.node.setPointerCapture(event.pointerId);
        move(event);
      });
      this.node.addEventListener("pointermove", move);
    }

    x(beta) { return this.left + beta * (this.width - this.left - this.right); }

    y(value) {
      return this.top + ((this.high - value) / (this.high - this.low)) * (this.height - this.top - this.bottom);
    }

    /** Axes and curves for a dataset; `curves` are [class, values over the stops], `band` is [lower, upper] for every stop
     *  that was tested. */
    draw(page, low, high, marks, curves, band) {
      this.width = Math.max(200, this.box.clientWidth);
      Object.assign(this, { page, low, high, curves });
      set(this.node, { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height });
      const [inner, outer] = [page.reliable.map((n) => this.x(page.stops[n])), this.height - this.bottom];
      const middle = (inner[0] + inner[1]) / 2;
      const half = Math.max(1.5, (inner[1] - inner[0]) / 2); // a very narrow interval stays visible
      const natural = this.x(page.stops[page.natural]);
      const [end, foot] = [this.width - this.right, this.height - 5];
      const path = (values) => line(values.map((v, n) => [this.x(page.stops[n]), this.y(v)]));
      const edge = (side) => band.map((ends, n) => [this.x(page.stops[page.reliable[0] + n]), this.y(ends[side])]);
      this.node.replaceChildren(
        svg("rect", { class: "wb-reliable", x: round(middle - half), y: this.top,
                      width: round(2 * half), height: outer - this.top }),
        ...marks.map(([v]) => svg("line", { class: "wb-grid", x1: this.left, x2: end, y1: this.y(v), y2: this.y(v) })),
        ...marks.map(([v, text]) => svg("text", { x: this.left - 6, y: this.y(v) + 4, "text-anchor": "end" }, text)),
        ...[0, 0.25, 0.5, 0.75, 1].map((b) => svg("text", { x: this.x(b), y: foot, "text-anchor": "middle" }, `${b}`)),
        svg("line", { class: "wb-natural", x1: natural, x2: natural, y1: this.top, y2: outer }),
        svg("text", { x: round(natural), y: this.top - 9, "text-anchor": "middle" }, "β₀"), // clear of a dot on the top line
        ...(band ? [svg("path", { class: "wb-band", d: `${line([...edge(1), ...edge(0).reverse()])}Z` })] : []),
        ...curves.map(([name, values]) => svg("path", { class: `wb-curve ${name}`, d: path(values) })),
        (this.cursor = svg("line", { class: "wb-cursor", y1: this.top, y2: outer })),
        ...(this.dots = curves.map(([name]) => svg("circle", { class: `wb-dot ${name}`, r: 4.5 }))));
    }

    update(stop) {
      const x = round(this.x(this.page.stops[stop]));
      set(this.cursor, { x1: x, x2: x });
      this.dots.forEach((dot, n) => set(dot, { cx: x, cy: round(this.y(this.curves[n][1][stop])) }));
    }
  }

  Object.assign(Whichbird, { Chart });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
