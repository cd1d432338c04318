/* The systems in the plane of adequacy and fluency, with the cross and the hyperbola of the support. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, clamp, round, line, tickStep, ticks, moments } = Whichbird;
  let planes = 0;

  class Plane {
    constructor(figure, title) {
      this.figure = figure;
      planes += 1;
      [this.clip, this.hatch] = [`wb-clip-${planes}`, `wb-hatch-${planes}`];
      this.node = svg("svg", { role: "img", class: "wb-plane", "aria-label":
        "The systems in the plane of adequacy and fluency. The area of a dot is its weight; a ring has none. " +
        "Hatched: the part of the plane where systems get no weight." });
      this.box = html("figure", {}, [html("figcaption", {}, title), this.node]);
    }

    draw(page) {
      const side = (this.side = clamp(this.box.clientWidth, 200, 420));
      const [left, bottom, edge] = [48, 36, 4];
      const size = (this.size = side - left - edge);
      const [a, f] = [page.adequacy, page.fluency];
      const span = 1.24 * Math.max(Math.max(...a) - Math.min(...a), Math.max(...f) - Math.min(...f));
      const low = [a, f].map((x) => (Math.max(...x) + Math.min(...x) - span) / 2);
      this.scale = size / span; // one scale for both axes: a pool that spreads to the sides leans to adequacy
      this.x = (v) => left + (v - low[0]) * this.scale;
      this.y = (v) => edge + size - (v - low[1]) * this.scale;
      this.range = [low[0], low[0] + span, low[1], low[1] + span];
      this.page = page;
      set(this.node, { viewBox: `0 0 ${side} ${size + edge + bottom}`, width: side, height: size + edge + bottom });
      const step = tickStep(span);
      const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      const label = (v) => (Math.abs(v) < step / 2 ? "0" : v.toFixed(digits).replace("-", "−"));
      const [across, up] = [ticks(low[0], low[0] + span, step), ticks(low[1], low[1] + span, step)];
      const rule = (x1, x2, y1, y2) => svg("line", { class: "wb-grid", x1, x2, y1, y2 });
      const inner = svg("g", { "clip-path": `url(#${this.clip})` }, [
        ...across.map((v) => rule(this.x(v), this.x(v), edge, edge + size)),
        ...up.map((v) => rule(left, left + size, this.y(v), this.y(v))),
        (this.beyond = svg("path", { class: "wb-beyond", fill: `url(#${this.hatch})` })),
        (this.hyperbola = svg("path", { class: "wb-hyperbola" })),
        ...(this.dots = page.systems.map((name, k) => {
          const at = { cx: round(this.x(a[k])), cy: round(this.y(f[k])), "data-k": k };
          const dot = svg("circle", at, svg("title", {}, name));
          dot.addEventListener("pointerenter", () => this.figure.point(k));
          dot.addEventListener("pointerleave", () => this.figure.point(null));
          return dot;
        })),
        (this.armA = svg("line", { class: "wb-arm wb-adequacy" })),
        (this.armF = svg("line", { class: "wb-arm wb-fluency" })),
        (this.name = svg("text", { class: "wb-name" })),
      ]);
      const axis = (name, transform, text) =>
        svg("text", { class: `wb-label ${name}`, "text-anchor": "middle", transform }, text);
      this.node.replaceChildren(
        svg("clipPath", { id: this.clip }, svg("rect", { x: left, y: edge, width: size, height: size })),
        svg("pattern", { id: this.hatch, width: 7, height: 7, patternUnits: "userSpaceOnUse",
                         patternTransform: "rotate(45)" }, svg("line", { x1: 0.5, x2: 0.5, y1: 0, y2: 7 })),
        inner,
        svg("rect", { class: "wb-frame", x: left, y: edge, width: size, height: size }),
        ...across.filter((v) => this.x(v) > left + 8 && this.x(v) < left + size - 8)
          .map((v) => svg("text", { x: this.x(v), y: edge + size + 14, "text-anchor": "middle" }, label(v))),
        ...up.filter((v) => this.y(v) > edge + 6 && this.y(v) < edge + size - 4)
          .map((v) => svg("text", { x: left - 5, y: this.y(v) + 4, "text-anchor": "end" }, label(v))),
        axis("wb-adequacy", `translate(${left + size / 2} ${edge + size + 31})`, "adequacy, better →"),
        axis("wb-fluency", `translate(11 ${edge + size / 2}) rotate(-90)`, "fluency, better →"));
    }

    update(stop) {
      const page = this.page;
      const w = page.w[stop];
      const uniform = (6.2 * this.side) / 320;
      this.dots.forEach((dot, k) => set(dot, w[k] > 0 ?
        { class: "wb-system", r: round(uniform * Math.sqrt(w[k] * page.K)) } :
        { class: "wb-system wb-none", r: round(uniform * 0.72) }));
      const [[ma, sa], [mf, sf]] = [moments(page.adequacy, w), moments(page.fluency, w)];
      const [x, y] = [(v) => round(this.x(v)), (v) => round(this.y(v))];
      set(this.armA, { x1: x(ma - sa), x2: x(ma + sa), y1: y(mf), y2: y(mf) });
      set(this.armF, { x1: x(ma), x2: x(ma), y1: y(mf - sf), y2: y(mf + sf) });
      const branches = this.branches(page.stops[stop], page.eta[stop], page.lam[stop], ma, mf);
      this.hyperbola.setAttribute("d", branches.map(([curve]) => line(curve)).join(""));
      this.beyond.setAttribute("d", branches.map(([curve, corners]) => line([...curve, ...corners]) + "Z").join(""));
    }

    /** Where −λ − η((1−β)(a−μ_a)² − β(f−μ_f)²) is zero: two curves, each with the two corners beyond it. */
    branches(beta, eta, lam, ma, mf) {
      if (!eta) return []; // uniform weights, or an end of the range: nothing is cut
      const [left, right, bottom, top] = this.range;
      const c = -lam / eta;
      const along = (low, high) => Array.from({ length: 61 }, (_, n) => low + ((high - low) * n) / 60);
      return [-1, 1].map((sign) => {
        if (c > 0) {
          const out = this.x(sign < 0 ? left : right) + sign * 4 * this.side;
          const at = (f) => ma + sign * Math.sqrt((c + beta * (f - mf) ** 2) / (1 - beta));
          const curve = along(bottom, top).map((f) => [this.x(at(f)), this.y(f)]);
          return [curve, [[out, this.y(top)], [out, this.y(bottom)]]];
        }
        const out = this.y(sign < 0 ? bottom : top) - sign * 4 * this.side;
        const at = (a) => mf + sign * Math.sqrt(((1 - beta) * (a - ma) ** 2 - c) / beta);
        const curve = along(left, right).map((a) => [this.x(a), this.y(at(a))]);
        return [curve, [[this.x(right), out], [this.x(left), out]]];
      });
    }

    point(k) {
      this.dots.forEach((dot, n) => dot.classList.toggle("wb-pointed", n === k));
      this.name.textContent = k === null ? "" : this.page.systems[k];
      if (k === null) return;
      const [x, y] = [this.x(this.page.adequacy[k]), this.y(this.page.fluency[k])];
      const anchor = x > this.side * 0.68 ? "end" : x < this.side * 0.36 ? "start" : "middle"; // the name stays inside
      set(this.name, { x: round(x), y: round(y < 40 ? y + 26 : y - 14), "text-anchor": anchor });
    }
  }

  Object.assign(Whichbird, { Plane });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
