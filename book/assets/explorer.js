/* The live figure: plain SVG and HTML, one classic script. It reads its data from the page, so it works from disk.
 *
 * Nothing is solved or resampled here. The weights at every stop of the slider come from the library, and so do tests and
 * intervals inside the reliable interval; this script adds up SPA from weights and p-values, ranks, and draws. One object per
 * figure holds its state: the dataset, the stop of the slider, and the scorer that is followed. */
(function () {
  "use strict";

  const TIE = 1e-9; // SPA values this close are one value: a sum over some hundred pairs errs by far less
  const MARKS = "Places won or lost against β₀: ▲▼ beyond noise; △▽, grey, inside noise or not tested. " +
    "Bar: the ranks that the data allow. Rules part clusters.";
  let figures = 0;

  // --- small tools ---------------------------------------------------------------------------------------------------

  function make(space, tag, attributes, children) {
    const node = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...[].concat(children === undefined ? [] : children));
    return node;
  }
  const html = (tag, attributes, children) => make("", tag, attributes, children);
  const svg = (tag, attributes, children) => make("http://www.w3.org/2000/svg", tag, attributes, children);
  const set = (node, attributes) => Object.entries(attributes).forEach(([name, v]) => node.setAttribute(name, v));
  const titled = (title, text) => [html("b", {}, title), text];
  const write = (node, text) => { // writing an equal text would cost a layout
    if (node.textContent !== String(text)) node.textContent = text;
  };
  const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
  const round = (x) => x.toFixed(1);
  const line = (points) => "M" + points.map(([x, y]) => `${round(x)} ${round(y)}`).join("L");
  /** Long names keep their beginning and their end, which is where they differ. */
  const brief = (name) => (name.length > 25 ? `${name.slice(0, 9)}…${name.slice(-14)}` : name);
  const places = (n) => `${n} place${n === 1 ? "" : "s"}`;
  const scorers = (n) => `${n} scorer${n === 1 ? "" : "s"}`;

  /** β with three decimals, or four where three would not name the stop. */
  const show = (beta) => (Math.abs(beta * 1000 - Math.round(beta * 1000)) < 1e-6 ? beta.toFixed(3) : beta.toFixed(4));
  /** What goes with the ratings as the natural balance of endless text, 95 %. */
  const sure = (page) => `${page.beta0_low.toFixed(3)} to ${page.beta0_high.toFixed(3)}`;

  /** A round step that cuts `span` into about two to six parts. */
  function tickStep(span) {
    const unit = 10 ** Math.floor(Math.log10(span / 2.4));
    return unit * [5, 2, 1].find((m) => span / (m * unit) >= 2.4);
  }

  function ticks(low, high, step) {
    const out = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) out.push(n * step);
    return out;
  }

  // --- numbers -------------------------------------------------------------------------------------------------------

  /** Everything the figure shows of one dataset, at every stop. */
  function prepare(page) {
    if (page.ready) return page;
    const [K, M, G] = [page.systems.length, page.scorers.length, page.stops.length];
    const distance = page.p.map((row) => row.map((p, n) => Math.abs(p - page.human[n]) / page.permutations));
    page.w = page.weights.map((row) => row.map((count) => count / page.unit));
    page.ess = page.w.map((w) => 1 / w.reduce((sum, x) => sum + x * x, 0));
    page.spa = page.w.map((w) => {
      const pairs = [];
      let all = 0;
      for (let k = 0; k < K; k++) for (let l = k + 1; l < K; l++) all += pairs[pairs.push(w[k] * w[l]) - 1];
      return distance.map((row) => {
        let far = 0;
        for (let n = 0; n < row.length; n++) far += pairs[n] * row[n];
        return 1 - far / all;
      });
    });
    page.rank = page.spa.map((spa) => spa.map((mine) => 1 + spa.filter((other) => other > mine + TIE).length));
    page.order = page.spa.map((spa) => spa.map((_, m) => m).sort((m, n) =>
      (Math.abs(spa[m] - spa[n]) > TIE ? spa[n] - spa[m] : m - n)));
    page.tested = testedStops(page);
    page.byQuality = page.total.map((_, k) => k).sort((k, l) => page.total[l] - page.total[k]);
    Object.assign(page, { K, M, G, ready: true });
    return page;
  }

  /** What the tests say, for every stop: nothing outside the reliable interval, else for every scorer its compatible ranks,
   *  the margin of its SPA, its cluster, whether it opens it, how many share it, and whether its place changed for real. */
  function testedStops(page) {
    const { low, high, margin, opens, moved, fine } = page.verdict;
    const rows = (steps) => { // the first row, then steps from row to row
      let at = steps[0].map(() => 0);
      return steps.map((row) => (at = at.map((x, m) => x + row[m])));
    };
    const [lows, highs, margins] = [low, high, margin].map(rows);
    return page.stops.map((_, stop) => {
      const n = stop - page.reliable[0];
      if (n < 0 || n >= opens.length) return null;
      const starts = [0, ...opens[n], page.scorers.length];
      const [cluster, first, size] = [[], [], []];
      page.order[stop].forEach((m, place) => {
        const c = starts.filter((start) => start <= place).length;
        [cluster[m], first[m], size[m]] = [c, place === starts[c - 1], starts[c] - starts[c - 1]];
      });
      return { low: lows[n], high: highs[n], margin: margins[n].map((x) => x / fine), cluster, first, size,
               moved: page.scorers.map((_s, m) => moved[n].includes(m)) };
    });
  }

  /** Weighted mean and standard deviation. */
  function moments(x, w) {
    const total = w.reduce((sum, v) => sum + v, 0);
    const mean = x.reduce((sum, v, k) => sum + w[k] * v, 0) / total;
    return [mean, Math.sqrt(x.reduce((sum, v, k) => sum + w[k] * (v - mean) ** 2, 0) / total)];
  }

  function nearest(stops, beta) {
    return stops.reduce((best, stop, n) => (Math.abs(stop - beta) < Math.abs(stops[best] - beta) ? n : best), 0);
  }

  // --- charts over β: the same axis everywhere, and every one of them can be dragged ---------------------------------

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

  // --- the plane -----------------------------------------------------------------------------------------------------

  class Plane {
    constructor(figure, title) {
      this.figure = figure;
      [this.clip, this.hatch] = [`wb-clip-${figures}`, `wb-hatch-${figures}`];
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

  // --- the figure ----------------------------------------------------------------------------------------------------

  class Live {
    constructor(root, pages) {
      figures += 1;
      Object.assign(this, { root, pages, mini: root.dataset.mode === "mini", followed: null, pointed: null });
      const id = (name) => `wb-${name}-${figures}`;

      this.select = html("select", { id: id("dataset") }, pages.map((p) => html("option", { value: p.name },
        `${p.name}: ${p.title}, β₀ = ${p.stops[p.natural].toFixed(3)}${p.paper ? "" : ", not in the paper"}`)));
      this.field = html("input", { id: id("beta"), type: "number", step: "any", inputmode: "decimal" });
      this.slider = html("input", { id: id("slider"), type: "range", min: 0, max: 1, step: 0.001,
                                    "aria-label": "Balance β, from all fluency to all adequacy" });
      this.home = html("button", { type: "button" }, "Natural balance");
      this.copy = html("button", { type: "button" }, "Copy as CSV");
      this.shares = [html("span", { class: "wb-adequacy" }), html("span", { class: "wb-fluency" })];
      this.strip = html("div", { class: "wb-strip", "aria-hidden": "true" });
      this.summary = html("p", { class: "wb-summary", "aria-hidden": "true" });
      this.spoken = html("p", { class: "wb-spoken", role: "status", "aria-live": "polite" });
      this.note = html("span", { class: "wb-note", role: "status" });
      this.text = html("textarea", { class: "wb-text", readonly: "", rows: 6, hidden: "",
                                     "aria-label": "Weights and ranking as CSV" });
      this.plane = new Plane(this, titled("The systems", " Dot area: weight. Rings, in the hatched part, have none." +
        (this.mini ? "" : " Cross: one standard deviation each way.")));
      this.list = html("ol", { class: "wb-ranking" });

      const controls = html("div", { class: "wb-controls" }, [
        html("span", {}, [html("label", { for: id("dataset") }, "Dataset"), this.select]),
        html("span", {}, [html("label", { for: id("beta") }, "β"), this.field]),
        this.home, ...(this.mini ? [] : [this.copy]), this.note]);
      const shares = html("div", { class: "wb-shares" }, this.shares);
      const dial = html("div", { class: "wb-dial" }, [shares, this.slider, this.strip]);
      const panels = this.mini ? this.small() : this.large(id);
      this.root.replaceChildren(controls, dial, this.summary, this.spoken, this.text, panels);
      this.root.classList.add("wb-ready");
      // marked from here, as :has() in a stylesheet would make every change of the figure a question to the whole page
      for (const [around, mark] of [[".output", "wb-cell"], [".bd-article-container", this.mini ? "" : "wb-wide"]]) {
        if (mark && root.closest(around)) root.closest(around).classList.add(mark);
      }
      this.listen();
    }

    small() {
      // on loading, the theme's script takes every address with a # for a place in this page: ours gets it when used
      this.more = html("a", { href: this.root.dataset.more }, "Open this in the explorer →");
      const complete = () => { this.more.href = this.root.dataset.more + this.address(); };
      ["pointerdown", "focus", "click"].forEach((kind) => this.more.addEventListener(kind, complete));
      return html("div", { class: "wb-panels" }, [this.plane.box, html("div", { class: "wb-side" }, [
        html("p", { class: "wb-head" }, titled("The five best scorers", ` ${MARKS}`)),
        this.columns(), this.list, this.more])]);
    }

    /** What the columns of the ranking are. */
    columns() {
      this.axis = [html("span"), html("span")];
      return html("p", { class: "wb-columns" }, [html("span", { class: "wb-since" }, "since β₀"),
        html("span", { class: "wb-axis", "aria-hidden": "true" }, this.axis),
        html("span", { class: "wb-ranks" }, html("abbr", { title: "the ranks that the data allow" }, "ranks")),
        html("span", { class: "wb-spa" }, html("abbr", { title: "agreement with experts, 0 to 1" }, "SPA"))]);
    }

    large(id) {
      this.bars = html("ul", { class: "wb-bars" });
      [this.essTitle, this.spaTitle, this.rankTitle] = [html("span"), html("span"), html("span")];
      const caption = titled("Their weights", " In the order of people's total. Line: equal weights.");
      const weights = html("figure", {}, [html("figcaption", {}, caption), this.bars]);
      this.essChart = new Chart(this, "Largest effective sample size over the balance", 134, this.essTitle);
      this.measureChart = new Chart(this, "The measures over the balance", 134,
        titled("Measures", " of what this contest rewards"));
      this.families = Object.keys(this.pages[0].titles); // the measures that the data hold
      this.values = this.families.map(() => html("b"));
      this.measureChart.box.append(html("ul", { class: "wb-legend" }, this.families.map((family, n) =>
        html("li", {}, [svg("svg", { width: 26, height: 8, "aria-hidden": "true" },
          svg("path", { class: `wb-curve wb-${family}`, d: "M0 4H26" })), 
          ` ${this.pages[0].titles[family]} `, this.values[n]]))));
      this.spaChart = new Chart(this, "SPA of the followed scorer over the balance", 120, this.spaTitle);
      this.rankChart = new Chart(this, "Rank of the followed scorer over the balance", 112, this.rankTitle);
      this.search = html("input", { id: id("search"), type: "search", list: id("scorers"), autocomplete: "off",
                                    placeholder: "name of a scorer" });
      this.names = html("datalist", { id: id("scorers") });
      this.found = html("span", { class: "wb-note", role: "status" });
      this.signature = html("p", { class: "signature" });
      return html("div", { class: "wb-panels" }, [
        this.plane.box, weights, html("div", { class: "wb-over" }, [this.essChart.box, this.measureChart.box]),
        html("div", { class: "wb-rank" }, [
          html("p", { class: "wb-head" }, titled("All scorers by SPA at this β", ` ${MARKS} Click one to follow it.`)),
          html("p", { class: "wb-find" },
            [html("label", { for: id("search") }, "Follow"), this.search, this.names, this.found]),
          this.columns(), this.list]),
        html("div", { class: "wb-over wb-beside" }, [this.spaChart.box, this.rankChart.box]), this.signature]);
    }

    listen() {
      this.select.addEventListener("change", () => { this.open(this.select.value); this.touched(); });
      this.field.addEventListener("change", () => this.typed());
      this.home.addEventListener("click", () => this.to(this.page.natural));
      this.copy.addEventListener("click", () => this.copied());
      let dragging = false;
      this.slider.addEventListener("pointerdown", () => { dragging = true; });
      window.addEventListener("pointerup", () => { dragging = false; });
      this.slider.addEventListener("input", () => {
        const stop = nearest(this.page.stops, +this.slider.value);
        const way = Math.sign(+this.slider.value - this.page.stops[this.stop]);
        // assistive tools nudge the value by less than a stop: take that as one stop that way
        this.to(stop === this.stop && !dragging ? stop + way : stop);
      });
      const keys = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1,
                     PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity };
      this.slider.addEventListener("keydown", (event) => {
        if (!(event.key in keys) || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        this.to(this.stop + keys[event.key]);
      });
      this.list.addEventListener("click", (event) => {
        const row = event.target.closest("li");
        if (row && !this.mini) this.follow(+row.dataset.m);
      });
      if (!this.mini) {
        this.search.addEventListener("input", () => this.searched());
        window.addEventListener("hashchange", () => {
          if (this.restore(location.hash)) this.root.scrollIntoView({ block: "start" });
        });
        document.querySelectorAll("button[data-go]").forEach((button) => button.addEventListener("click", () => {
          this.restore(button.dataset.go);
          this.touched();
          this.root.scrollIntoView({ block: "start" });
        }));
      }
      new ResizeObserver(() => { if (this.root.clientWidth !== this.width) this.layout(); }).observe(this.root);
    }

    // --- state

    open(name, beta) {
      this.page = prepare(this.pages.find((p) => p.name === name) || this.pages[0]);
      const page = this.page;
      this.select.value = page.name;
      set(this.field, { min: page.stops[0], max: page.stops[page.G - 1] });
      this.stop = beta === undefined ? page.natural : nearest(page.stops, beta);
      const at = (n) => page.stops[n];
      const mark = (name_, from, to) => html("i", { class: name_, style: `--from:${from};--to:${to}` });
      const natural = at(page.natural);
      this.strip.replaceChildren(
        mark("wb-reach", at(0), at(page.G - 1)), mark("wb-safe", at(page.reliable[0]), at(page.reliable[1])),
        mark("wb-sure", page.beta0_low, page.beta0_high), mark("wb-home", natural, natural),
        html("span", { style: `--from:${natural}` }, `β₀ ${natural.toFixed(3)}`));
      const shown = this.mini ? 5 : page.M;
      this.rows = Array.from({ length: shown }, () => {
        const cells = ["wb-place", "wb-scorer", "wb-change", "wb-whisker", "wb-ranks", "wb-spa"]
          .map((c) => html("span", { class: c }));
        [cells[2], cells[4]].forEach((cell) => cell.setAttribute("role", "img")); // signs: what they say is in a label
        const rule = html("span", { class: "wb-rule" }); // above the first of a cluster, with the cluster's name
        const bar = [html("i"), html("b")]; // from the best compatible rank to the worst, and a tick at its own
        cells[3].append(...bar);
        set(cells[3], { "aria-hidden": "true" });
        return { item: html("li", {}, [rule, ...cells]), cells, rule, bar };
      });
      this.axis.forEach((node, n) => write(node, [1, page.M][n]));
      this.list.replaceChildren(...this.rows.map((r) => r.item));
      this.note.textContent = "";
      if (!this.mini) {
        const kept = page.scorers.indexOf(this.followedName);
        this.followed = kept >= 0 ? kept : page.order[page.natural][0];
        this.names.replaceChildren(...page.scorers.map((s) => html("option", { value: s })));
        this.found.textContent = "";
        this.signature.textContent = `${page.signature}|${page.verdict.signature}`;
        this.barRows = page.byQuality.map((k) => {
          const parts = [html("span", { class: "wb-system-name", title: page.systems[k] }, page.systems[k]),
            html("span", { class: "wb-bar" }, html("i")), html("span", { class: "wb-value" })];
          const item = html("li", { "data-k": k }, parts);
          item.addEventListener("pointerenter", () => this.point(k));
          item.addEventListener("pointerleave", () => this.point(null));
          return { k, item, fill: parts[1].firstChild, value: parts[2] };
        });
        this.bars.replaceChildren(...this.barRows.map((r) => r.item));
      }
      this.layout();
    }

    to(stop) {
      this.stop = clamp(stop, 0, this.page.G - 1);
      this.note.textContent = "";
      this.update();
      this.touched();
    }

    toBeta(beta) { this.to(nearest(this.page.stops, beta)); }

    typed() {
      const asked = parseFloat(this.field.value);
      if (Number.isNaN(asked)) { this.update(); return; }
      this.toBeta(asked);
      const { stops, G } = this.page;
      const got = stops[this.stop];
      if (asked < stops[0] || asked > stops[G - 1]) {
        this.note.textContent = `This pool reaches ${show(stops[0])} to ${show(stops[G - 1])}; shown is ${show(got)}.`;
      } else if (show(got) !== show(asked)) {
        this.note.textContent = `Shown is the nearest computed value, ${show(got)}.`;
      }
    }

    follow(m) {
      this.followed = m;
      this.followedName = this.page.scorers[m];
      this.found.textContent = "";
      this.drawFollowed();
      this.update();
    }

    searched() {
      const text = this.search.value.trim().toLowerCase();
      if (!text) { this.found.textContent = ""; return; }
      const names = this.page.scorers.map((s) => s.toLowerCase());
      const hits = names.map((_, m) => m).filter((m) => names[m].includes(text));
      if (!hits.length) { this.found.textContent = "No scorer has this in its name."; return; }
      const exact = names.indexOf(text);
      this.follow(exact >= 0 ? exact : hits[0]);
      if (hits.length > 1 && exact < 0) this.found.textContent = `${hits.length} names match; following the first.`;
    }

    point(k) {
      this.plane.point(k);
      if (this.barRows) this.barRows.forEach((r) => r.item.classList.toggle("wb-pointed", r.k === k));
    }

    // --- the address

    address() {
      return `#dataset=${encodeURIComponent(this.page.name)}&beta=${+this.page.stops[this.stop].toFixed(6)}`;
    }

    touched() {
      if (this.mini) return;
      clearTimeout(this.late); // browsers refuse more than some hundred changes of the address in half a minute
      this.late = setTimeout(() => {
        try { history.replaceState(null, "", this.address()); } catch (refused) { /* the figure works without */ }
      }, 150);
    }

    restore(address) {
      const asked = new URLSearchParams(address.slice(1));
      const name = asked.get("dataset");
      if (!this.pages.some((p) => p.name === name)) return false;
      const beta = parseFloat(asked.get("beta"));
      this.open(name, Number.isNaN(beta) ? undefined : beta);
      return true;
    }

    // --- drawing

    layout() {
      this.width = this.root.clientWidth;
      this.plane.draw(this.page);
      if (!this.mini) {
        const { page } = this;
        const step = tickStep(page.K);
        this.essChart.draw(page, 0, page.K, ticks(0, page.K, step).map((v) => [v, String(v)]), [["wb-ink", page.ess]]);
        this.measureChart.draw(page, 0, 1, [[0, "0"], [0.5, "½"], [1, "1"]],
          this.families.map((family) => [`wb-${family}`, page.measures[family]]));
        this.drawFollowed();
      }
      this.update();
    }

    drawFollowed() {
      const { page, followed } = this;
      const [spa, rank] = [page.spa, page.rank].map((table) => table.map((row) => row[followed]));
      const between = (ends) => page.tested.flatMap((t, stop) => (t ? [ends(t, stop)] : []));
      const around = between((t, stop) => [-1, 1].map((s) => clamp(spa[stop] + s * t.margin[followed], 0, 1)));
      const all = [...spa, ...around.flat()];
      const [low, high] = [Math.min(...all), Math.max(...all)];
      const pad = Math.max(0.01, 0.08 * (high - low));
      const marks = ticks(low - pad, Math.min(1, high + pad), tickStep(Math.max(0.02, high - low)));
      this.spaChart.draw(page, low - pad, high + pad, marks.map((v) => [v, v.toFixed(2)]), [["wb-ink", spa]], around);
      const ranks = [1, Math.round((1 + page.M) / 2), page.M].map((v) => [v, String(v)]);
      this.rankChart.draw(page, page.M, 1, ranks, [["wb-ink", rank]], between((t) => [t.high[followed], t.low[followed]]));
    }

    update() {
      const { page, stop, root } = this;
      const beta = page.stops[stop];
      const w = page.w[stop];
      const ess = page.ess[stop];
      this.slider.style.setProperty("--beta", beta);
      Object.assign(root.dataset, { dataset: page.name, beta, ess });
      this.slider.value = beta;
      if (document.activeElement !== this.field || +this.field.value !== beta) this.field.value = show(beta);
      this.shares[0].textContent = `adequacy ${(100 * beta).toFixed(1)} %`;
      this.shares[1].textContent = `fluency ${(100 * (1 - beta)).toFixed(1)} %`;
      set(this.slider, { "aria-valuetext": `β ${show(beta)}, effective sample size ${ess.toFixed(1)} of ${page.K}` });
      this.plane.update(stop);
      this.rows.forEach((row, n) => this.updateRow(row, page.order[stop][n]));
      if (!this.mini) this.updateLarge(stop, w, ess);
      this.say(beta, w, ess);
    }

    updateRow({ item, cells, rule, bar }, m) {
      const { page, stop } = this;
      const [rank, up, tested] = [page.rank[stop][m], page.rank[page.natural][m] - page.rank[stop][m], page.tested[stop]];
      const real = tested !== null && tested.moved[m];
      const opens = tested !== null && tested.first[m];
      Object.assign(item.dataset, { m, spa: page.spa[stop][m] });
      item.className = `${m === this.followed ? "wb-followed" : ""} ${opens ? "wb-opens" : ""}`.trim();
      rule.hidden = !opens;
      if (opens) write(rule, `cluster ${tested.cluster[m]}: ${scorers(tested.size[m])}`);
      write(cells[0], rank);
      write(cells[1], brief(page.scorers[m]));
      cells[1].title = page.scorers[m];
      write(cells[2], up > 0 ? `${real ? "▲" : "△"} ${up}` : up < 0 ? `${real ? "▼" : "▽"} ${-up}` : "–");
      cells[2].className = `wb-change ${up && real ? "wb-real" : ""}`.trim();
      const trust = !tested ? "not tested" : real ? "beyond noise" : "inside noise";
      set(cells[2], { "aria-label": up ? `${up > 0 ? "up" : "down"} ${places(Math.abs(up))}, ${trust}` : "same place" });
      const share = (x) => `${((100 * x) / page.M).toFixed(2)}%`;
      bar.forEach((part) => { part.hidden = !tested; });
      const span = (dash) => [...new Set([tested.low[m], tested.high[m]])].join(dash);
      write(cells[4], tested ? span("–") : "");
      set(cells[4], { "aria-label": tested ? `allowed: rank ${span(" to ")}` : "not tested" });
      if (tested) {
        Object.assign(bar[0].style, { left: share(tested.low[m] - 1), width: share(tested.high[m] - tested.low[m] + 1) });
        bar[1].style.left = share(rank - 0.5);
      }
      write(cells[5], page.spa[stop][m].toFixed(3));
    }

    updateLarge(stop, w, ess) {
      const { page } = this;
      const most = Math.max(2.5 / page.K, ...w);
      this.bars.style.setProperty("--equal", 1 / page.K / most);
      this.barRows.forEach(({ k, item, fill, value }) => {
        item.dataset.weight = w[k];
        item.classList.toggle("wb-zero", w[k] === 0);
        fill.style.width = `${(100 * w[k]) / most}%`;
        write(value, w[k] ? `${(100 * w[k]).toFixed(1)} %` : "0");
      });
      const size = `ESS ${ess.toFixed(1)} of ${page.K}`;
      this.essTitle.replaceChildren(...titled(size, ", the most that this β allows. Grey band: reliable interval."));
      this.values.forEach((node, n) => { node.textContent = page.measures[this.families[n]][stop].toFixed(3); });
      const m = this.followed;
      const [now, then] = [page.rank[stop][m], page.rank[page.natural][m]];
      const tested = page.tested[stop];
      const give = tested ? ` ± ${tested.margin[m].toFixed(3)}` : "";
      const allowed = tested ? `, ${tested.low[m]} to ${tested.high[m]} allowed` : "";
      this.spaTitle.replaceChildren(...titled(page.scorers[m], ` SPA ${page.spa[stop][m].toFixed(3)}${give}`));
      this.rankTitle.replaceChildren(...titled(`Rank ${now} of ${page.M}`, `${allowed}; ${then} at β₀`));
      [this.essChart, this.measureChart, this.spaChart, this.rankChart].forEach((chart) => chart.update(stop));
    }

    say(beta, w, ess) {
      const { page, stop } = this;
      const used = w.filter((x) => x > 0).length;
      const [from, to] = page.reliable;
      const named = { 0: ", the least this pool reaches,", [page.G - 1]: ", the most this pool reaches,",
                      [page.natural]: `, the natural balance (with other text ${sure(page)}),` };
      const best = page.scorers.filter((_, m) => page.rank[stop][m] === 1);
      const top = best[0];
      const was = page.rank[page.natural][page.scorers.indexOf(top)];
      const then = stop === page.natural ? "" : `, ${was > 1 ? `number ${was}` : "as"} at β₀`;
      const first = best.length > 1 ? `${best.length} scorers share the first place` : `First: ${top}${then}`;
      const tested = page.tested[stop];
      const moved = page.scorers.map((_, m) => m).filter((m) => page.rank[stop][m] !== page.rank[page.natural][m]);
      const real = tested ? moved.filter((m) => tested.moved[m]).length : 0;
      const shared = tested ? tested.size[page.order[stop][0]] : 0;
      const cluster = !tested ? "" : shared > 1 ? `, in a cluster of ${shared}` : ", in a cluster of its own";
      const many = moved.length !== 1;
      const trust = many ? `${real || "none"} of them beyond noise` : `${real ? "" : "not "}beyond noise`;
      const changes = stop === page.natural ? "" : !moved.length ? "No scorer changes place" :
        `${moved.length} of ${scorers(page.M)} change${many ? "" : "s"} place${tested ? `, ${trust}` : ""}`;
      const end = tested ? changes && `${changes}.` : `${changes}; outside that interval no tests ship.`;
      const text = `At β = ${show(beta)}${named[stop] || ""} in ${page.name}, ` +
        `${used === page.K ? "all" : `${used} of`} ${page.K} systems carry weight. ` +
        `ESS ${ess.toFixed(1)} of ${page.K}, ${stop >= from && stop <= to ? "inside" : "outside"} ` +
        `the reliable interval. ${first}${cluster}. ${end}`;
      this.summary.textContent = text.trim();
      clearTimeout(this.saying);
      // spoken when the slider rests, not at each step
      this.saying = setTimeout(() => { this.spoken.textContent = text.trim(); }, 400);
    }

    // --- CSV

    csv() {
      const { page, stop } = this;
      const cell = (x) => (/[",\n]/.test(x) ? `"${String(x).replace(/"/g, '""')}"` : x);
      const tested = page.tested[stop];
      const verdict = (m) => (tested ? [tested.cluster[m], tested.low[m], tested.high[m], tested.moved[m] ? "yes" : "no"] :
        Array(4).fill("")); // nothing is known outside the reliable interval
      const rows = [["kind", "name", "weight", "spa", "rank", "rank_at_natural_balance",
        "cluster", "rank_low", "rank_high", "beyond_noise"],
        ...page.byQuality.map((k) => ["system", page.systems[k], +page.w[stop][k].toFixed(8), ...Array(7).fill("")]),
        ...page.order[stop].map((m) => ["scorer", page.scorers[m], "",
          page.spa[stop][m].toFixed(6), page.rank[stop][m], page.rank[page.natural][m], ...verdict(m)])];
      const signature = `# ${page.signature}|beta:${+page.stops[stop].toFixed(6)}|ess:${page.ess[stop].toFixed(4)}`;
      return [signature + (tested ? `|${page.verdict.signature}` : ""), ...rows.map((row) => row.map(cell).join(","))].join("\n") + "\n";
    }

    async copied() {
      const text = this.csv();
      this.text.value = text;
      this.text.hidden = true;
      try {
        await navigator.clipboard.writeText(text);
        this.note.textContent = `Copied ${text.trim().split("\n").length} lines.`;
      } catch (refused) {
        this.text.hidden = false;
        this.text.select();
        let done = false;
        try { done = document.execCommand("copy"); } catch (unsupported) { /* then by hand */ }
        this.note.textContent = done ? "Copied; the text is below too." :
          "The browser refuses; copy the selected text below.";
      }
    }
  }

  function start() {
    const data = [...document.querySelectorAll("script.wb-data")];
    document.querySelectorAll(".wb-live:not(.wb-ready)").forEach((root, n) => {
      const live = new Live(root, JSON.parse(data[n].textContent));
      const standIn = root.dataset.standIn && document.getElementById(root.dataset.standIn);
      if (standIn) (standIn.closest(".cell") || standIn).hidden = true;
      const first = live.pages.some((p) => p.name === "ende24") ? "ende24" : undefined;
      // a page that links here says ?dataset=…: the theme's own script trips over such a fragment in a link
      if (live.mini || !(live.restore(location.hash) || live.restore(location.search))) live.open(first);
    });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
