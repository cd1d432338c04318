/* The systems in the plane of adequacy and fluency, with the cross and the hyperbola of the support. In a large figure a system can be left out
 * (click, Enter) and moved (drag, arrow keys), and one added (double click). */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, clamp, round, line, tickStep, ticks, moments } = Whichbird;
  const [LEFT, BOTTOM, EDGE] = [48, 36, 4];
  const SLIP = 4; // pixels a finger may slip on a click
  const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  let planes = 0;

  class Plane {
    constructor(figure, title) {
      planes += 1;
      this.figure = figure;
      [this.clip, this.hatch] = [`wb-clip-${planes}`, `wb-hatch-${planes}`];
      this.node = svg("svg", { role: figure.mini ? "img" : "group", class: "wb-plane", "aria-label":
        "The systems in the plane of the two aspects. The area of a dot is its weight; a ring has none. " +
        "Hatched: the part of the plane where systems get no weight." });
      this.box = html("figure", { class: "wb-planar" }, [html("figcaption", {}, title), this.node]);
      if (!figure.mini) this.node.addEventListener("dblclick", (event) => {
        if (!event.target.closest("[data-k]")) figure.add(...this.placeOf(event));
      });
    }

    /** Axes, and a mark for every system. */
    draw(contest) {
      const side = (this.side = clamp(this.box.clientWidth, 200, 420));
      const size = (this.size = side - LEFT - EDGE);
      this.range = Whichbird.frame(contest.page);
      const [left, right, bottom, top] = this.range;
      const span = right - left;
      this.scale = size / span; // one scale for both axes: a pool that spreads to the sides leans to adequacy
      this.x = (v) => LEFT + (v - left) * this.scale;
      this.y = (v) => EDGE + size - (v - bottom) * this.scale;
      set(this.node, { viewBox: `0 0 ${side} ${size + EDGE + BOTTOM}`, width: side, height: size + EDGE + BOTTOM });
      const step = tickStep(span);
      const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      const text = (v) => (Math.abs(v) < step / 2 ? "0" : v.toFixed(digits).replace("-", "−"));
      const [across, up] = [ticks(left, right, step), ticks(bottom, top, step)];
      const rule = (x1, x2, y1, y2) => svg("line", { class: "wb-grid", x1, x2, y1, y2 });
      const inner = svg("g", { "clip-path": `url(#${this.clip})` }, [
        ...across.map((v) => rule(this.x(v), this.x(v), EDGE, EDGE + size)),
        ...up.map((v) => rule(LEFT, LEFT + size, this.y(v), this.y(v))),
        (this.beyond = svg("path", { class: "wb-beyond", fill: `url(#${this.hatch})` })),
        (this.hyperbola = svg("path", { class: "wb-hyperbola" })),
        (this.marks = svg("g")),
        (this.armA = svg("line", { class: "wb-arm wb-adequacy" })),
        (this.armF = svg("line", { class: "wb-arm wb-fluency" })),
        (this.name = svg("text", { class: "wb-name" })),
      ]);
      const axis = (name, transform, words) =>
        svg("text", { class: `wb-label ${name}`, "text-anchor": "middle", transform }, words);
      this.node.replaceChildren(
        svg("clipPath", { id: this.clip }, svg("rect", { x: LEFT, y: EDGE, width: size, height: size })),
        svg("pattern", { id: this.hatch, width: 7, height: 7, patternUnits: "userSpaceOnUse",
                         patternTransform: "rotate(45)" }, svg("line", { x1: 0.5, x2: 0.5, y1: 0, y2: 7 })),
        inner,
        svg("rect", { class: "wb-frame", x: LEFT, y: EDGE, width: size, height: size }),
        ...across.filter((v) => this.x(v) > LEFT + 8 && this.x(v) < LEFT + size - 8)
          .map((v) => svg("text", { x: this.x(v), y: EDGE + size + 14, "text-anchor": "middle" }, text(v))),
        ...up.filter((v) => this.y(v) > EDGE + 6 && this.y(v) < EDGE + size - 4)
          .map((v) => svg("text", { x: LEFT - 5, y: this.y(v) + 4, "text-anchor": "end" }, text(v))),
        axis("wb-adequacy", `translate(${LEFT + size / 2} ${EDGE + size + 31})`, `${contest.page.aspects[0]}, better →`),
        axis("wb-fluency", `translate(11 ${EDGE + size / 2}) rotate(-90)`, `${contest.page.aspects[1]}, better →`));
      this.dots = new Map();
      this.populate(contest);
    }

    /** A dot for every system, where it is now. Dots that are there stay: one of them may be under a finger. */
    populate(contest) {
      this.contest = contest;
      const names = new Set(contest.systems.map((s) => s.name));
      this.dots.forEach((dot, name) => {
        if (names.has(name)) return;
        dot.remove();
        this.dots.delete(name);
      });
      this.marks.querySelectorAll(".wb-from").forEach((node) => node.remove());
      for (const s of contest.systems) {
        if (!this.dots.has(s.name)) {
          this.dots.set(s.name, this.dot(s.name));
          this.marks.append(this.dots.get(s.name));
        }
        const [cx, cy] = [round(this.x(s.a)), round(this.y(s.f))];
        set(this.dots.get(s.name), { cx, cy, "data-k": s.k === null ? s.name : s.k });
        if (s.from) { // a thread to where it was rated
          const [x1, y1] = [round(this.x(s.from[0])), round(this.y(s.from[1]))];
          this.marks.prepend(svg("line", { class: "wb-from", x1, y1, x2: cx, y2: cy }),
            svg("circle", { class: "wb-from", cx: x1, cy: y1, r: 2.5 }));
        }
      }
    }

    dot(name) {
      const { figure } = this;
      const dot = svg("circle", figure.mini ? {} : { tabindex: 0, role: "button" }, svg("title", {}, name));
      dot.addEventListener("pointerenter", () => figure.point(name));
      dot.addEventListener("pointerleave", () => figure.point(null));
      if (figure.mini) return dot;
      dot.addEventListener("focus", () => figure.point(name));
      dot.addEventListener("blur", () => figure.point(null));
      let from = null;
      let moving = false;
      dot.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        dot.setPointerCapture(event.pointerId);
        [from, moving] = [[event.clientX, event.clientY], false];
      });
      dot.addEventListener("pointermove", (event) => {
        if (!from) return;
        moving = moving || Math.hypot(event.clientX - from[0], event.clientY - from[1]) > SLIP;
        if (moving) figure.move(name, ...this.placeOf(event), false);
      });
      const end = (event) => {
        if (!from) return;
        from = null;
        if (moving) figure.move(name, ...this.placeOf(event), true);
        else if (event.type === "pointerup") figure.toggle(name);
      };
      dot.addEventListener("pointerup", end);
      dot.addEventListener("pointercancel", end);
      dot.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        if (event.key === "Enter" || event.key === " ") figure.toggle(name);
        else if (event.key in KEYS) {
          const s = this.contest.systems.find((other) => other.name === name);
          const by = ((this.range[1] - this.range[0]) / 100) * (event.shiftKey ? 5 : 1);
          figure.move(name, ...this.inside(s.a + by * KEYS[event.key][0], s.f + by * KEYS[event.key][1]), true);
        } else return;
        event.preventDefault();
      });
      return dot;
    }

    /** Adequacy and fluency, kept inside the frame. */
    inside(a, f) {
      const [left, right, bottom, top] = this.range;
      const room = 0.01 * (right - left);
      return [clamp(a, left + room, right - room), clamp(f, bottom + room, top - room)];
    }

    placeOf(event) {
      const at = this.node.getBoundingClientRect();
      return this.inside(this.range[0] + (event.clientX - at.left - LEFT) / this.scale,
        this.range[2] + (EDGE + this.size - (event.clientY - at.top)) / this.scale);
    }

    update(now) {
      const { contest } = this;
      const uniform = (6.2 * this.side) / 320;
      for (const s of contest.systems) {
        const share = s.out ? 0 : now.w[s.place];
        const dot = this.dots.get(s.name);
        const kind = ["wb-system", s.out ? "wb-out" : share > 0 ? "" : "wb-none", s.real ? "" : "wb-made"].filter(Boolean).join(" ");
        set(dot, { class: dot.classList.contains("wb-pointed") ? `${kind} wb-pointed` : kind,
                   r: round(share > 0 ? uniform * Math.sqrt(share * contest.K) : uniform * 0.72) });
        if (!this.figure.mini) set(dot, { "aria-label": spoken(s, share, contest.page.aspects), "aria-pressed": !s.out });
      }
      const [a, f] = [contest.active.map((s) => s.a), contest.active.map((s) => s.f)];
      const known = now.w.some((share) => share > 0); // else no weighting was found, and there is neither cross nor curve
      [this.armA, this.armF].forEach((arm) => set(arm, { visibility: known ? "visible" : "hidden" }));
      const [[ma, sa], [mf, sf]] = [moments(a, now.w), moments(f, now.w)];
      const [x, y] = [(v) => round(this.x(v)), (v) => round(this.y(v))];
      if (known) {
        set(this.armA, { x1: x(ma - sa), x2: x(ma + sa), y1: y(mf), y2: y(mf) });
        set(this.armF, { x1: x(ma), x2: x(ma), y1: y(mf - sf), y2: y(mf + sf) });
      }
      const branches = this.branches(now.beta, now.eta, now.lam, ma, mf);
      this.hyperbola.setAttribute("d", branches.map(([curve]) => line(curve)).join(""));
      this.beyond.setAttribute("d", branches.map(([curve, corners]) => line([...curve, ...corners]) + "Z").join(""));
    }

    /** Where −λ − η((1−β)(a−μ_a)² − β(f−μ_f)²) is zero: two curves, each with the two corners beyond it. */
    branches(beta, eta, lam, ma, mf) {
      if (!eta || !Number.isFinite(eta)) return []; // uniform weights, or an end of the range: nothing is cut
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

    point(name) {
      this.dots.forEach((dot, other) => dot.classList.toggle("wb-pointed", other === name));
      this.name.textContent = name === null ? "" : name;
      const s = this.contest.systems.find((other) => other.name === name);
      if (!s) return;
      const [x, y] = [this.x(s.a), this.y(s.f)];
      const anchor = x > this.side * 0.68 ? "end" : x < this.side * 0.36 ? "start" : "middle"; // the name stays inside
      set(this.name, { x: round(x), y: round(y < 40 ? y + 26 : y - 14), "text-anchor": anchor });
    }
  }

  /** What a screen reader says of a dot. */
  function spoken(s, share, [first, second]) {
    const state = s.out ? "left out" : `weight ${(100 * share).toFixed(1)} %`;
    const kind = s.invented ? ", invented" : s.real ? "" : ", moved";
    return `${s.name}${kind}: ${first} ${s.a.toFixed(2)}, ${second} ${s.f.toFixed(2)}, ${state}`;
  }

  Object.assign(Whichbird, { Plane });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
