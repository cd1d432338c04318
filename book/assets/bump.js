/* A bump chart: the ranks of scorers over β, as lines that cross. Plain SVG, one classic script, no dependency; it works from disk.
 *
 *   const chart = Whichbird.bump(box, data, options);
 *
 * `box` is an element of the page, which the chart fills. `data` has, for B balances in rising order and M scorers:
 *   betas     [B]      the balances
 *   scorers   [M]      names
 *   ranks     [B][M]   1 is best; or instead `spa` [B][M], from which they are ranked (equal within 1e-9: one rank)
 *   low, high [B][M]   best and worst rank that the data allow, for the band; may be missing, and a row may be null (not tested)
 *   natural   number   β₀, marked by a dotted line; may be missing
 *   reliable  [2]      ends of the reliable interval; may be missing
 * `options`, all of which may be missing:
 *   named     [name]   lines drawn out, with labels at both ends; the others stay faint. Default: none
 *   chosen    name     the line drawn heaviest, with its band. Default: the first of `named`
 *   labels    {name: text}   shorter names for labels
 *   range     [2]      ends of the x-axis. Default: the reliable interval, else all of `betas`
 *   turns     (i, j, from, to) => bool    does the order of two scorers, given by place in `scorers`, turn, if they change places between
 *                      two places in `betas`? Such a crossing gets a full dot, all others an open one. Default: none does
 *   height    number   pixels; default: 13 for each rank, at least 220
 *   beta      number   where the cursor stands at first. Default: β₀, else the middle of the range
 *   animate   bool     sweep the cursor once over the range when the chart comes into sight; never where reduced motion is asked for
 *   cursor    (beta, n) => void     called when the cursor moves, with the balance and its place in `betas`
 *   choose    (name) => void        called when a reader clicks a line, or presses Enter on it
 *   readout   bool     a line of text below the chart that says what the cursor shows. Default: true
 * `chart` has `node` (the SVG), `moveTo(beta)`, `follow(name)` (makes it the chosen line), `name(list)` (replaces the named lines), `play()`,
 * `stop()`, `show(data, { range, named, chosen })` (other data) and `draw()` (call it when the box changed without a change of its width).
 *
 * Fluency is at the left end and adequacy at the right. Moving over a line, or Up and Down when the chart has the focus, names it;
 * Left and Right move the cursor. Colours come from whichbird.css and bump.css; no line is blue or orange.
 *
 * Node can load the file: it then exports the pure parts, `ranks`, `crossings`, `spread`, `at` and `places`. */
(function (home) {
  "use strict";

  const TIE = 1e-9; // SPA values this close are one value
  const LOOKS = 6; // lines of bump.css: wb-look-0 to wb-look-5
  const SWEEP = 5000; // milliseconds

  // --- numbers: nothing here knows of a page ---------------------------------------------------------------------------

  /** Ranks of SPA values, 1 for the largest; equal values share the better rank. [M] → [M] */
  const ranks = (spa) => spa.map((mine) => 1 + spa.filter((other) => other > mine + TIE).length);

  /** Where lines of `named` (places of scorers) cross, from left to right. Between two balances a line is straight, and a tie at a
   *  balance is a crossing if the order is another one after it. Each is { i, j, beta, rank, from, to }: before `beta` i is better, after it j;
   *  `from` and `to` are the places in `betas` between which the order changes. */
  function crossings(betas, rows, named) {
    const out = [];
    named.forEach((a, n) => named.slice(n + 1).forEach((b) => {
      let last = -1; // the last balance at which the two have different ranks
      rows.forEach((row, at) => {
        const gap = row[a] - row[b];
        if (!gap) return;
        const before = last < 0 ? 0 : rows[last][a] - rows[last][b];
        if (before * gap < 0) {
          // With ties between, the lines meet at the first of them; else where two straight pieces do.
          const tied = at - last > 1;
          const t = tied ? 1 : before / (before - gap);
          const to = last + 1;
          const mix = (x, y) => x + t * (y - x);
          const [i, j] = before < 0 ? [a, b] : [b, a];
          out.push({ i, j, beta: mix(betas[last], betas[to]), rank: mix(rows[last][i], rows[to][i]), from: last, to: at });
        }
        last = at;
      });
    }));
    return out.sort((x, y) => x.beta - y.beta || x.rank - y.rank);
  }

  /** Positions next to those wished for, in their order, at least `gap` apart and inside [low, high] if that is possible. */
  function spread(wished, gap, low, high) {
    const order = wished.map((_, n) => n).sort((m, n) => wished[m] - wished[n] || m - n);
    const room = Math.min(gap, order.length > 1 ? (high - low) / (order.length - 1) : gap);
    const out = [];
    let floor = low;
    order.forEach((n) => { out[n] = Math.max(floor, wished[n]); floor = out[n] + room; });
    let ceiling = high;
    order.reverse().forEach((n) => { out[n] = Math.min(ceiling, out[n]); ceiling = out[n] - room; });
    return out;
  }

  /** The value of a line at x: straight between its points, level beyond them. */
  function at(xs, ys, x) {
    const n = xs.findIndex((there) => there >= x);
    if (n <= 0) return n === 0 ? ys[0] : ys[ys.length - 1];
    return ys[n - 1] + ((x - xs[n - 1]) / (xs[n] - xs[n - 1])) * (ys[n] - ys[n - 1]);
  }

  /** The places in `betas` that lie in [low, high], give or take rounding. */
  const places = (betas, [low, high]) => betas.map((_, n) => n).filter((n) => betas[n] >= low - TIE && betas[n] <= high + TIE);

  /** A round step that cuts `span` into about three to seven parts. */
  function tickStep(span) {
    const unit = 10 ** Math.floor(Math.log10(span / 3));
    return unit * [5, 2, 1].find((m) => span / (m * unit) >= 3);
  }

  const pure = { ranks, crossings, spread, at, places, tickStep };
  if (typeof module !== "undefined" && module.exports) module.exports = pure;
  if (typeof document === "undefined") return;

  // --- the chart -------------------------------------------------------------------------------------------------------

  const SVG = "http://www.w3.org/2000/svg";
  let charts = 0;

  function make(space, tag, attributes, children) {
    const node = space ? document.createElementNS(space, tag) : document.createElement(tag);
    set(node, attributes || {});
    node.append(...[].concat(children === undefined ? [] : children));
    return node;
  }
  function set(node, attributes) {
    Object.entries(attributes).forEach(([name, value]) => {
      if (value !== null && value !== undefined) node.setAttribute(name, value);
    });
  }
  const svg = (tag, attributes, children) => make(SVG, tag, attributes, children);
  const html = (tag, attributes, children) => make("", tag, attributes, children);
  const round = (x) => Number(x).toFixed(1);
  const line = (points) => "M" + points.map(([x, y]) => `${round(x)} ${round(y)}`).join("L");
  const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
  const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  class Bump {
    constructor(box, data, options) {
      this.data = data;
      this.options = options || {};
      this.box = box;
      this.id = `wb-bump-${charts++}`;
      this.betas = data.betas;
      this.ranks = data.ranks || data.spa.map(ranks);
      this.M = data.scorers.length;
      this.labels = this.options.labels || {};
      const all = [this.betas[0], this.betas[this.betas.length - 1]];
      this.range = this.options.range || data.reliable || all;
      this.named = this.indices(this.options.named || []);
      const first = this.options.chosen === undefined ? data.scorers[this.named[0]] : this.options.chosen;
      this.chosen = data.scorers.indexOf(first);
      this.beta = this.options.beta !== undefined ? this.options.beta :
        (data.natural !== undefined ? data.natural : (this.range[0] + this.range[1]) / 2);
      this.pointed = null;
      this.node = svg("svg", { class: "wb-bump", tabindex: 0, role: "group", "aria-roledescription": "chart" });
      this.text = html("p", { class: "wb-bump-read", "aria-live": "polite" });
      box.replaceChildren(this.node, ...(this.options.readout === false ? [] : [this.text]));
      this.listen();
      this.draw();
      if (window.ResizeObserver) {
        new ResizeObserver(() => { if (Math.abs(box.clientWidth - this.width) > 1) this.draw(); }).observe(box);
      }
      if (this.options.animate) this.whenSeen();
    }

    indices(names) { return names.map((name) => this.data.scorers.indexOf(name)).filter((m) => m >= 0); }
    label(m) { return this.labels[this.data.scorers[m]] || this.data.scorers[m]; }
    x(beta) { return this.left + ((beta - this.range[0]) / (this.range[1] - this.range[0])) * (this.width - this.left - this.right); }
    y(rank) { return this.top + ((rank - 1) / Math.max(1, this.M - 1)) * (this.height - this.top - this.bottom); }
    column(m) { return this.shown.map((n) => this.ranks[n][m]); }

    draw() {
      this.width = Math.max(260, this.box.clientWidth || 640);
      const narrow = this.width < 480;
      this.height = this.options.height || Math.max(220, 60 + 13 * this.M);
      this.shown = places(this.betas, this.range);
      this.xs = this.shown.map((n) => this.betas[n]);
      const letter = narrow ? 6.1 : 6.9;
      const longest = Math.max(2, ...this.named.concat(this.chosen < 0 ? [] : this.chosen).map((m) => this.label(m).length));
      this.left = this.right = Math.min(longest * letter + 34, this.width * 0.32);
      Object.assign(this, { top: 26, bottom: 40, narrow });
      set(this.node, { viewBox: `0 0 ${round(this.width)} ${this.height}`, width: round(this.width), height: this.height,
                       class: narrow ? "wb-bump wb-narrow" : "wb-bump", "aria-label": this.summary() });
      const [start, end, floor] = [this.x(this.range[0]), this.x(this.range[1]), this.height - this.bottom];
      const inside = (beta) => beta >= this.range[0] - TIE && beta <= this.range[1] + TIE;
      const drawn = [...this.named, ...(this.chosen < 0 || this.named.includes(this.chosen) ? [] : [this.chosen])];
      const path = (m, name) => svg("path", { class: name, d: line(this.column(m).map((r, n) => [this.x(this.xs[n]), this.y(r)])) });
      const { natural, reliable } = this.data;
      const whole = reliable && reliable[0] <= this.range[0] + TIE && reliable[1] >= this.range[1] - TIE;
      const inner = reliable && !whole ? reliable.map((b) => this.x(clamp(b, ...this.range))) : null;
      const step = tickStep(this.range[1] - this.range[0]);
      const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      const ticks = [];
      for (let n = Math.ceil(this.range[0] / step - 1e-9); n * step <= this.range[1] + 1e-9; n++) ticks.push(n * step);

      this.paths = this.data.scorers.map((_, m) => path(m, this.look(m, drawn)));
      this.marks = crossings(this.xs, this.shown.map((n) => this.ranks[n]), drawn).map((c) => {
        const turns = this.options.turns ? this.options.turns(c.i, c.j, this.shown[c.from], this.shown[c.to]) : false;
        return svg("circle", { class: `wb-crossing ${turns ? "wb-sure" : ""}`, cx: round(this.x(c.beta)), cy: round(this.y(c.rank)),
                               r: turns ? 3.6 : 3 }, svg("title", {}, `β = ${c.beta.toFixed(3)}: ${this.label(c.j)} passes ${this.label(c.i)}, ` +
                               (turns ? "and the order turns" : "but the order does not turn, or was not tested")));
      });
      this.node.replaceChildren(
        svg("clipPath", { id: this.id }, svg("rect", { x: round(start), y: 0, width: round(end - start), height: this.height })),
        ...(inner ? [svg("rect", { class: "wb-reliable", x: round(inner[0]), y: this.top - 8, width: round(Math.max(3, inner[1] - inner[0])),
                                   height: floor - this.top + 16 })] : []),
        ...ticks.map((b) => svg("line", { class: "wb-grid", x1: round(this.x(b)), x2: round(this.x(b)), y1: this.top - 8, y2: floor + 8 })),
        ...ticks.map((b) => svg("text", { x: round(this.x(b)), y: floor + 21, "text-anchor": "middle" }, b.toFixed(digits))),
        svg("text", { class: "wb-end wb-fluency", x: round(narrow ? 0 : start), y: this.height - 3, "text-anchor": "start" }, "← more fluency"),
        svg("text", { class: "wb-end wb-adequacy", x: round(narrow ? this.width : end), y: this.height - 3, "text-anchor": "end" }, "more adequacy →"),
        svg("text", { class: "wb-axis-name", x: round((start + end) / 2), y: this.height - 3, "text-anchor": "middle" }, narrow ? "β" : "balance β"),
        ...(natural !== undefined && inside(natural) ? [
          svg("line", { class: "wb-natural", x1: round(this.x(natural)), x2: round(this.x(natural)), y1: this.top - 8, y2: floor + 8 }),
          svg("text", { x: round(this.x(natural)), y: 12, "text-anchor": "middle" }, narrow ? "β₀" : "β₀, as collected")] : []),
        svg("g", { "clip-path": `url(#${this.id})` }, [
          (this.band = svg("path", { class: "wb-band", d: this.bandPath() })),
          ...this.data.scorers.map((_, m) => m).filter((m) => !drawn.includes(m)).map((m) => this.paths[m]),
          ...drawn.filter((m) => m !== this.chosen).map((m) => this.paths[m]),
          ...(this.chosen < 0 ? [] : [this.paths[this.chosen]])]),
        ...this.marks,
        (this.veil = svg("rect", { class: "wb-veil", y: 0, height: floor + 9, width: 0 })),
        (this.stick = svg("line", { class: "wb-cursor", y1: this.top - 8, y2: floor + 8 })),
        ...(this.dots = drawn.map((m) => svg("circle", { class: `wb-dot ${this.look(m, drawn)}`, r: m === this.chosen ? 4.6 : 3.4 }))),
        ...this.ends(drawn),
        (this.tag = svg("text", { class: "wb-name" })));
      this.drawn = drawn;
      this.place(this.beta);
      this.point(this.pointed);
    }

    /** The class of a line: faint, or one of the looks, in the order of `drawn`; the chosen one is heavy. */
    look(m, drawn) {
      if (m === this.chosen) return "wb-line wb-chosen";
      const others = drawn.filter((n) => n !== this.chosen);
      return others.includes(m) ? `wb-line wb-look-${others.indexOf(m) % LOOKS}` : "wb-line wb-faint";
    }

    /** Rank and name at both ends of every line that is drawn out. */
    ends(drawn) {
      const out = [];
      [[0, -1, "end"], [this.shown.length - 1, 1, "start"]].forEach(([n, side, anchor]) => {
        const row = this.ranks[this.shown[n]];
        const wished = drawn.map((m) => this.y(row[m]));
        const settled = spread(wished, this.narrow ? 11 : 13, this.top - 6, this.height - this.bottom + 6);
        const x = this.x(this.xs[n]);
        drawn.forEach((m, d) => {
          const room = (side < 0 ? this.left : this.right) - 34;
          const letters = Math.max(3, Math.floor(room / (this.narrow ? 6.1 : 6.9)));
          const name = this.label(m).length > letters + 1 ? this.label(m).slice(0, letters) + "…" : this.label(m);
          const rank = svg("tspan", { class: "wb-rank-number" }, `${row[m]}`);
          out.push(svg("text", { class: `wb-tip ${this.look(m, drawn)}`, x: round(x + side * 8), y: round(settled[d] + 4), "text-anchor": anchor,
                                 "data-m": m }, side < 0 ? [`${name} `, rank] : [rank, ` ${name}`]));
        });
      });
      return out;
    }

    bandPath() {
      const { low, high } = this.data;
      if (this.chosen < 0 || !low || !high) return "";
      const tested = this.shown.filter((n) => low[n] && high[n] && low[n][this.chosen] !== null && low[n][this.chosen] !== undefined);
      if (!tested.length) return "";
      const edge = (side) => tested.map((n) => [this.x(this.betas[n]), this.y(side[n][this.chosen])]);
      return `${line([...edge(high), ...edge(low).reverse()])}Z`;
    }

    /** What a reader who does not see the chart is told of it. */
    summary() {
      const from = this.ranks[this.shown[0]], to = this.ranks[this.shown[this.shown.length - 1]];
      const told = [...new Set([this.chosen, ...this.named])].filter((m) => m >= 0)
        .map((m) => `${this.label(m)} from ${from[m]} to ${to[m]}`);
      return `Ranks of ${this.M} scorers over the balance β, from ${this.range[0].toFixed(3)}, more fluency, to ` +
        `${this.range[1].toFixed(3)}, more adequacy. ${told.length ? `From left to right: ${told.join("; ")}. ` : ""}` +
        "Left and Right move β, Up and Down go from line to line, Enter follows one.";
    }

    // --- cursor and pointing -------------------------------------------------------------------------------------------

    nearest(beta) {
      return this.shown.reduce((best, n) => (Math.abs(this.betas[n] - beta) < Math.abs(this.betas[best] - beta) ? n : best), this.shown[0]);
    }

    /** Put the cursor on a balance, without a word to anyone else. */
    place(beta) {
      this.beta = clamp(beta, ...this.range);
      const x = round(this.x(this.beta));
      set(this.stick, { x1: x, x2: x });
      this.dots.forEach((dot, n) => set(dot, { cx: x, cy: round(this.y(at(this.xs, this.column(this.drawn[n]), this.beta))) }));
      const playing = this.frame !== undefined;
      set(this.veil, playing ? { x, width: round(Math.max(0, this.x(this.range[1]) - x + 1)) } : { width: 0 });
      this.read();
    }

    moveTo(beta) {
      this.place(beta);
      if (this.options.cursor) this.options.cursor(this.beta, this.nearest(this.beta));
    }

    follow(name) {
      this.chosen = this.data.scorers.indexOf(name);
      this.draw();
    }

    /** Other data, and what else changes with them: range, named, chosen (a name). */
    show(data, { range, named, chosen }) {
      Object.assign(this, { data, betas: data.betas, ranks: data.ranks || data.spa.map(ranks), M: data.scorers.length, range,
                            pointed: null, named: named.map((name) => data.scorers.indexOf(name)) });
      this.chosen = data.scorers.indexOf(chosen);
      this.draw();
    }

    name(list) {
      this.named = this.indices(list);
      this.draw();
    }

    /** Name a line, by place in `scorers`; null names none. */
    point(m) {
      if (this.pointed !== null) this.paths[this.pointed].classList.remove("wb-pointed");
      this.pointed = m;
      this.node.classList.toggle("wb-pointing", m !== null);
      this.tag.textContent = "";
      if (m !== null) {
        this.paths[m].classList.add("wb-pointed");
        const [x, y] = [this.x(this.beta), this.y(at(this.xs, this.column(m), this.beta))];
        const right = x < this.width / 2;
        set(this.tag, { x: round(x + (right ? 9 : -9)), y: round(y < this.top + 10 ? y + 17 : y - 7), "text-anchor": right ? "start" : "end" });
        this.tag.textContent = `${this.ranks[this.nearest(this.beta)][m]} ${this.label(m)}`;
      }
      this.read();
    }

    read() {
      const n = this.nearest(this.beta);
      const m = this.pointed !== null ? this.pointed : this.chosen;
      const parts = [`β = ${this.betas[n].toFixed(3)}`];
      if (m >= 0) {
        const { low, high } = this.data;
        const tested = low && low[n] && low[n][m] !== null && low[n][m] !== undefined;
        parts.push(`: ${this.label(m)} is number ${this.ranks[n][m]} of ${this.M}` +
          (tested ? `; the data allow ${low[n][m]} to ${high[n][m]}` : ""));
      }
      this.text.setAttribute("aria-live", this.frame === undefined ? "polite" : "off");
      const text = `${parts.join("")}.`;
      if (this.text.textContent !== text) this.text.textContent = text;
    }

    listen() {
      const where = (event) => {
        const box = this.node.getBoundingClientRect();
        const x = ((event.clientX - box.left) * this.width) / box.width, y = ((event.clientY - box.top) * this.height) / box.height;
        const share = (x - this.left) / (this.width - this.left - this.right);
        const beta = clamp(this.range[0] + share * (this.range[1] - this.range[0]), ...this.range);
        const tip = event.target.closest && event.target.closest("[data-m]");
        if (tip) return [beta, Number(tip.dataset.m), true];
        const far = this.data.scorers.map((_, m) => Math.abs(this.y(at(this.xs, this.column(m), beta)) - y));
        const m = far.indexOf(Math.min(...far));
        return [beta, far[m] < 14 ? m : null, share < -0.02 || share > 1.02];
      };
      const move = (event) => {
        const [beta, m, outside] = where(event);
        this.stop();
        if (!outside) this.moveTo(beta);
        this.point(m);
      };
      this.node.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch" || event.buttons) move(event); });
      this.node.addEventListener("pointerdown", move);
      this.node.addEventListener("pointerleave", () => this.point(null));
      this.node.addEventListener("blur", () => this.point(null));
      this.node.addEventListener("click", () => this.take());
      this.node.addEventListener("keydown", (event) => {
        const sideways = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
        const upwards = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (!sideways && !upwards && event.key !== "Enter" && event.key !== "Home" && event.key !== "End" && event.key !== "Escape") return;
        event.preventDefault();
        this.stop();
        const here = this.shown.indexOf(this.nearest(this.beta)), last = this.shown.length - 1;
        if (sideways) this.moveTo(this.xs[clamp(here + sideways, 0, last)]);
        if (event.key === "Home") this.moveTo(this.xs[0]);
        if (event.key === "End") this.moveTo(this.xs[last]);
        if (upwards) {
          const row = this.ranks[this.nearest(this.beta)];
          const order = row.map((_, m) => m).sort((m, n) => row[m] - row[n] || m - n);
          const from = order.indexOf(this.pointed !== null ? this.pointed : this.chosen);
          this.point(order[clamp(from < 0 ? 0 : from + upwards, 0, this.M - 1)]);
        } else if (event.key === "Escape") this.point(null);
        else if (event.key === "Enter") this.take();
        else this.point(this.pointed);
      });
    }

    take() {
      if (this.pointed !== null && this.options.choose) this.options.choose(this.data.scorers[this.pointed]);
    }

    // --- moving once by itself -----------------------------------------------------------------------------------------

    whenSeen() {
      if (still() || !window.IntersectionObserver || !window.requestAnimationFrame) return;
      const seen = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        seen.disconnect();
        this.play();
      }, { threshold: 0.5 });
      seen.observe(this.node);
    }

    /** One sweep over the range, then back to where the cursor stood; nothing moves where reduced motion is asked for. */
    play() {
      if (still()) return;
      this.stop();
      const home = this.beta;
      this.home = home;
      let start;
      const step = (now) => {
        if (start === undefined) start = now;
        const t = Math.min(1, (now - start) / SWEEP);
        const ease = t * t * (3 - 2 * t);
        if (t < 1) {
          this.frame = window.requestAnimationFrame(step);
          this.place(this.range[0] + ease * (this.range[1] - this.range[0]));
        } else this.stop();
      };
      this.frame = window.requestAnimationFrame(step);
    }

    stop() {
      if (this.frame === undefined) return;
      window.cancelAnimationFrame(this.frame);
      this.frame = undefined;
      this.place(this.home);
    }
  }

  home.Whichbird = Object.assign(home.Whichbird || {}, { bump: (box, data, options) => new Bump(box, data, options), bumpParts: pure });
})(typeof window === "undefined" ? globalThis : window);
