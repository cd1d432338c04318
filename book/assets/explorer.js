/* The live figure: plain SVG and HTML. It reads its data from the page, so it works from disk.
 *
 * One object per figure holds its state: the dataset, what was changed in its pool, the stop of the slider, the scorers that are followed, and
 * whether the axis shows the reliable interval or the whole range. `wb-solve.js` finds weights, `wb-rank.js` adds up SPA and ranks, the
 * others draw; tests, intervals and measures come with the data and hold for the pool as it ships. */
(function (Whichbird) {
  "use strict";

<<<<<<< HEAD
  const { html, svg, set, titled, write, clamp, scorers, show, sure, tickStep, ticks, Contest, Chart, Plane, Ranking, METAS } = Whichbird;
=======
  const { html, svg, set, titled, write, clamp, named, scorers, show, sure, tickStep, ticks, Contest, Chart, Plane, Ranking } = Whichbird;
>>>>>>> main
  const MARKS = "Places won or lost against β₀. ▲▼: with some scorer the order turns, so that both orders are beyond noise. △▽: it does not, or was " +
    "not tested; in ink, some lead moves. " +
    "Bar: the ranks that the data allow. Rules part clusters.";
  const MOST_PINS = 6;
  const SLICE = 10; // milliseconds of solving before the page may draw
  const SWEEP = 9000; // milliseconds of play from end to end
  const COARSE = 0.025; // step of the stops while a system is dragged
  let figures = 0;

  class Live {
    constructor(root, pages) {
      figures += 1;
      Object.assign(this, { root, pages, mini: root.dataset.mode === "mini", pins: [], edit: Whichbird.WHOLE, past: [], wide: false });
      const id = (name) => `wb-${name}-${figures}`;
      const button = (text, more) => html("button", { type: "button", ...more }, text);

      const option = (p) => html("option", { value: p.name },
        `${p.name}: ${p.title}, β₀ = ${p.stops[p.natural].toFixed(3)}${p.paper || p.field ? "" : ", not in the paper"}`);
      const fields = [...new Set(pages.map((p) => p.field).filter(Boolean))]; // each under a heading, after WMT's own
      this.select = html("select", { id: id("dataset") }, [...pages.filter((p) => !p.field).map(option),
        ...fields.map((field) => html("optgroup", { label: field }, pages.filter((p) => p.field === field).map(option)))]);
      this.field = html("input", { id: id("beta"), type: "number", step: "any", inputmode: "decimal" });
      this.slider = html("input", { id: id("slider"), type: "range", min: 0, max: 1, step: "any",
                                    "aria-label": "Balance β, from fluency at the left to adequacy at the right" });
      this.home = button("Natural balance");
      this.player = button("Play", { class: "wb-play", "aria-pressed": "false" });
      this.zoom = button("Whole range", { class: "wb-zoom", "aria-pressed": "false",
                                          title: "The axis runs over the reliable interval, or over all balances" });
      this.shares = [html("span", { class: "wb-fluency" }), html("span", { class: "wb-adequacy" })];
      this.strip = html("div", { class: "wb-strip", "aria-hidden": "true" });
      this.summary = html("p", { class: "wb-summary", "aria-hidden": "true" });
      this.spoken = html("p", { class: "wb-spoken", role: "status", "aria-live": "polite" });
      this.note = html("span", { class: "wb-note", role: "status" });
      this.text = html("textarea", { class: "wb-text", readonly: "", rows: 6, hidden: "", "aria-label": "Text to copy" });
      this.plane = new Plane(this, titled("The systems", " Dot area: weight. Rings, in the hatched part, have none." +
        (this.mini ? "" : " Cross: one standard deviation each way. Click a system to leave it out, drag it to see what if.")));
      this.ranking = new Ranking(this.mini ? 5 : Infinity, this.mini ? null : (m) => this.pin(m));

      const controls = html("div", { class: "wb-controls" }, [
        html("span", {}, [html("label", { for: id("dataset") }, "Dataset"), this.select]),
        html("span", {}, [html("label", { for: id("beta") }, "β"), this.field]),
        this.home, ...(this.mini ? [] : [this.player, this.zoom]), this.note]);
      const shares = html("div", { class: "wb-shares" }, this.shares);
      const dial = html("div", { class: "wb-dial" }, [shares, this.slider, this.strip]);
      const panels = this.mini ? this.small() : this.large(id, button);
      this.root.replaceChildren(controls, dial, this.summary, this.spoken, panels, this.text);
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
        this.ranking.columns, this.ranking.list, this.more])]);
    }

    large(id, button) {
      this.bars = html("ul", { class: "wb-bars" });
      this.carriers = html("ul", { class: "wb-carriers" });
      this.parts = html("figure", { class: "wb-parts", hidden: "" }, [html("figcaption"), html("ul")]);
      [this.essTitle, this.spaTitle] = [html("span"), html("span")];
      this.adder = button("Add a system");
      this.undo = button("Undo");
      set(this.undo, { title: "Ctrl+Z", "aria-keyshortcuts": "Control+Z Meta+Z" });
      this.reset = button("Reset the pool");
      this.pool = html("p", { class: "wb-pool", role: "status" });
      this.plane.box.append(html("div", { class: "wb-buttons" }, [this.adder, this.undo, this.reset]), this.pool);
      const caption = titled("Their weights", ` In the order of people's total. Line: equal weights; what has less than ${this.pages[0].vanishing} of that vanishes.`);
      const weights = html("figure", { class: "wb-weights" }, [html("figcaption", {}, caption), this.bars, this.carriers, this.parts]);
      this.essChart = new Chart(this, "Largest effective sample size over the balance", 134, this.essTitle);
      this.measureChart = new Chart(this, "The measures over the balance", 134,
        titled("Measures", " of what this meta-evaluation rewards"));
      this.families = Object.keys(this.pages[0].titles); // the measures that the data hold
      this.values = this.families.map(() => html("b"));
      this.measureChart.box.append(html("ul", { class: "wb-legend" }, this.families.map((family, n) =>
        html("li", {}, [svg("svg", { width: 26, height: 8, "aria-hidden": "true" },
          svg("path", { class: `wb-curve wb-${family}`, d: "M0 4H26" })),
          ` ${this.pages[0].titles[family]} `, this.values[n]]))));
      this.spaChart = new Chart(this, "SPA of the followed scorers over the balance", 150, this.spaTitle);
      this.legend = html("ul", { class: "wb-legend wb-pins" });
      this.meetings = html("ul", { class: "wb-meetings" });
      this.spaChart.box.append(this.legend, this.meetings);
      this.search = html("input", { id: id("search"), type: "search", list: id("scorers"), autocomplete: "off",
                                    placeholder: "name of a scorer" });
      this.names = html("datalist", { id: id("scorers") });
      this.metas = html("select", { id: id("metas") }, Object.entries(METAS).map(([value, [name]]) => html("option", { value }, name)));
      this.metas.addEventListener("change", () => this.ranking.show(this.metas.value));
      this.ceiling = html("p", { class: "wb-note" });
      this.found = html("span", { class: "wb-note", role: "status" });
      this.signature = html("p", { class: "signature" });
      this.bumpBox = html("div", { class: "wb-bump-box", "data-drawn": "yes" });
      this.bumpTitle = html("span");
      const bump = html("figure", { class: "wb-bumps" }, [html("figcaption", {}, this.bumpTitle), this.bumpBox]);
      this.takers = { link: button("Copy link"), copy: button("Copy as CSV"), csv: button("Save CSV"), svg: button("Save SVG"),
                      png: button("Save PNG") };
      this.taken = html("span", { class: "wb-note", role: "status" });
      this.desk = new Whichbird.Desk(this);
      return html("div", { class: "wb-panels" }, [
        this.plane.box,
        html("div", { class: "wb-rank" }, [
          html("p", { class: "wb-head" }, titled("All scorers by SPA at this β", ` ${MARKS} Click to follow some.`)),
          html("p", { class: "wb-find" },
<<<<<<< HEAD
            [html("label", { for: id("search") }, "Follow"), this.search, this.names, this.found,
              html("label", { for: id("metas") }, "Values"), this.metas]),
          this.ranking.columns, this.ranking.list, this.ceiling, this.desk.box]),
=======
            [html("label", { for: id("search") }, "Follow"), this.search, this.names, this.found]),
          this.desk.working, this.ranking.columns, this.ranking.list, this.desk.box]),
>>>>>>> main
        weights, html("div", { class: "wb-over wb-curves" }, [this.essChart.box, this.measureChart.box]),
        html("div", { class: "wb-over wb-beside" }, [this.spaChart.box]), bump,
        html("div", { class: "wb-buttons wb-take" }, [...Object.values(this.takers), this.taken]), this.signature]);
    }

    /** What another person would earn, where people rated each translation several times. */
    tellCeiling(found) {
      this.ceiling.hidden = !found;
      if (!found) return;
      const [value, low, high, best] = found.map((x) => x.toFixed(3));
      write(this.ceiling, `Another person's ratings, as a scorer: SPA ${value} (${low}–${high}, 95 %) at β₀, where one rating is the gold standard; ` +
        `the best scorer has ${best} against the same rating.`);
    }

    listen() {
      this.select.addEventListener("change", () => { this.open(this.select.value); this.touched(true); });
      this.field.addEventListener("change", () => this.typed());
      this.home.addEventListener("click", () => this.to(this.contest.natural));
      let dragging = false;
      this.slider.addEventListener("pointerdown", () => { dragging = true; this.pause(); });
      window.addEventListener("pointerup", () => { dragging = false; });
      this.slider.addEventListener("input", () => {
        const stop = this.contest.nearest(+this.slider.value);
        const way = Math.sign(+this.slider.value - this.contest.stops[this.stop]);
        // assistive tools nudge the value by less than a stop: take that as one stop that way
        this.to(stop === this.stop && !dragging ? this.within(stop + way) : stop);
      });
      const keys = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1,
                     PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity };
      this.slider.addEventListener("keydown", (event) => {
        if (!(event.key in keys) || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        this.pause();
        this.to(this.within(this.stop + keys[event.key]));
      });
      new ResizeObserver(() => { if (this.root.clientWidth !== this.width) this.layout(); }).observe(this.root);
      if (this.mini) return;
      this.player.addEventListener("click", () => (this.playing ? this.pause() : this.play()));
      this.zoom.addEventListener("click", () => this.widen(!this.wide));
      this.adder.addEventListener("click", () => this.addOne());
      this.undo.addEventListener("click", () => this.undone());
      this.reset.addEventListener("click", () => this.change(Whichbird.WHOLE));
      this.search.addEventListener("input", () => this.searched());
      document.addEventListener("keydown", (event) => { // as everywhere; text fields undo what was typed in them
        if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || !this.past.length) return;
        if (event.target.closest && event.target.closest("input:not([type=range]), textarea, select")) return;
        event.preventDefault();
        this.undone();
      });
      this.takers.link.addEventListener("click", () => this.copied(location.href.split("#")[0].split("?")[0] + this.address(), "the link"));
      this.takers.copy.addEventListener("click", () => this.copied(this.csv()));
      this.takers.csv.addEventListener("click", () => this.saved("csv", () => new Blob([this.csv()], { type: "text/csv" })));
      this.takers.svg.addEventListener("click", () =>
        this.saved("svg", () => new Blob([Whichbird.serialised(this.picture())], { type: "image/svg+xml" })));
      this.takers.png.addEventListener("click", () => this.saved("png", () => Whichbird.png(this.picture())));
      window.addEventListener("hashchange", () => {
        if (this.restore(location.hash)) this.inSight();
      });
      document.querySelectorAll("button[data-go]").forEach((go) => go.addEventListener("click", () => {
        this.restore(go.dataset.go);
        this.touched(true);
        this.root.scrollIntoView({ block: "start" });
      }));
    }

    /** Scroll to the figure, unless some of it is in sight. */
    inSight() {
      const { top, bottom } = this.root.getBoundingClientRect();
      if (bottom < 80 || top > window.innerHeight - 80) this.root.scrollIntoView({ block: "start" });
    }

    // --- state

    /** A dataset, as `asked` reads it from an address, or as it comes. */
    open(name, { beta = null, follow = [], edit = Whichbird.WHOLE, whole = this.mini } = {}) {
      this.pause();
      this.page = this.pages.find((p) => p.name === name) || this.pages[0];
      this.select.value = this.page.name;
      const kept = this.pins.filter((pin) => this.page.scorers.includes(pin));
      [this.pins, this.past, this.wide] = [follow.length ? follow.slice(0, MOST_PINS) : kept, [], whole];
      let contest = new Contest(this.page, edit, undefined, beta);
      if (!contest.pool || contest.K > Whichbird.MOST) [contest, edit] = [new Contest(this.page), Whichbird.WHOLE];
      [this.contest, this.edit] = [contest, edit];
      this.stop = beta === null ? contest.natural : contest.nearest(beta);
      this.ranking.open(this.page);
      if (this.ceiling) this.tellCeiling(this.page.ceiling);
      this.note.textContent = "";
      if (!this.mini) {
        this.names.replaceChildren(...this.page.scorers.map((_, m) => html("option", { value: named(this.page, m) })));
        this.found.textContent = "";
        this.taken.textContent = "";
        this.signature.textContent = `${this.page.signature}|${this.page.verdict.signature}`;
      }
      this.listed = null;
      this.layout();
      this.finish();
    }

    /** The balances of the axis: those of the reliable interval, or all. */
    get window() {
      const [from, to] = this.contest.reliable.map((n) => this.contest.stops[n]);
      return this.wide || !(to > from) ? [0, 1] : [from, to]; // systems on one line have one balance, which makes no axis
    }

    /** A stop kept inside the axis. */
    within(stop) {
      return this.wide ? clamp(stop, 0, this.contest.G - 1) : clamp(stop, ...this.contest.reliable);
    }

    /** Scorers that are followed, by place: those chosen, else the winner at β₀. The last is drawn heaviest. */
    get followed() {
      const chosen = this.pins.map((name) => this.page.scorers.indexOf(name));
      const first = this.contest.at(this.contest.natural).order;
      return chosen.length ? chosen : [first ? first[0] : 0];
    }

    to(stop) {
      this.stop = clamp(stop, 0, this.contest.G - 1);
      this.note.textContent = "";
      const [from, last] = this.contest.reliable;
      if (!this.wide && (this.stop < from || this.stop > last)) this.widen(true);
      else this.update();
      this.touched();
    }

    toBeta(beta) { this.to(this.contest.nearest(beta)); }

    typed() {
      const wanted = parseFloat(this.field.value);
      if (Number.isNaN(wanted)) { this.update(); return; }
      if (!this.contest.whole) this.rebuild(this.edit, wanted);
      this.toBeta(wanted);
      const { stops, G } = this.contest;
      const got = stops[this.stop];
      if (wanted < stops[0] || wanted > stops[G - 1]) {
        this.note.textContent = `This pool reaches ${show(stops[0])} to ${show(stops[G - 1])}; shown is ${show(got)}.`;
      } else if (show(got) !== show(wanted)) {
        this.note.textContent = `Shown is the nearest computed value, ${show(got)}.`;
      }
    }

    widen(wide) {
      this.wide = wide;
      if (!wide) this.stop = this.within(this.stop);
      this.layout();
      this.touched();
    }

    // --- play

    play() {
      const [from, to] = this.window;
      const ends = [from, to].map((beta) => this.contest.nearest(beta));
      let beta = this.stop >= ends[1] ? from : this.contest.stops[this.stop];
      let last = null;
      const step = (time) => {
        beta += last === null ? 0 : ((time - last) / SWEEP) * (to - from);
        last = time;
        this.to(this.within(this.contest.nearest(beta)));
        if (beta >= to || this.stop >= ends[1]) this.pause();
        else this.playing = requestAnimationFrame(step);
      };
      this.playing = requestAnimationFrame(step);
      write(this.player, "Pause");
      set(this.player, { "aria-pressed": "true" });
    }

    pause() {
      if (!this.playing) return;
      cancelAnimationFrame(this.playing);
      this.playing = 0;
      write(this.player, "Play");
      set(this.player, { "aria-pressed": "false" });
    }

    // --- the pool

    /** Another pool, shown at once. At β₀ one stays at β₀, elsewhere at the same β. False if it is none. */
    rebuild(edit, beta = null, step = undefined) {
      const natural = this.stop === this.contest.natural && beta === null;
      const at = beta === null ? this.contest.stops[this.stop] : beta;
      const contest = new Contest(this.page, edit, step, natural ? null : at);
      if (!contest.pool) return false;
      [this.contest, this.edit] = [contest, edit];
      this.stop = natural ? contest.natural : contest.nearest(at);
      if (!this.wide && this.within(this.stop) !== this.stop) this.wide = true;
      return true;
    }

    /** A new pool for good: it can be undone, and has an address. */
    change(edit, from = this.edit) {
      this.pause();
      const before = this.edit;
      if (!this.rebuild(edit)) {
        write(this.pool, "A balance needs two systems that differ; that one stays.");
        if (before !== from) this.rebuild(from);
        return;
      }
      this.past.push(from);
      this.settle();
    }

    /** Draw a pool that is new. The plane stays, and with it the dot that has the focus. */
    settle() {
      this.plane.populate(this.contest);
      this.axes();
      this.curves();
      this.update();
      this.finish();
      this.touched(true);
    }

    toggle(name) { this.change(Whichbird.toggled(this.edit, name)); }

    /** A system is dragged, or was: while it is, stops are few, so that all of them answer at once. */
    move(name, a, f, final) {
      if (!this.grabbed) this.grabbed = this.edit;
      const edit = Whichbird.movedTo(this.edit, name, a, f);
      if (final) {
        const from = this.grabbed;
        this.grabbed = null;
        this.change(edit, from);
      } else if (this.rebuild(edit, null, COARSE)) {
        this.plane.populate(this.contest);
        this.axes();
        this.update();
        this.finish();
      }
    }

    add(a, f) {
      const { systems } = this.contest;
      if (systems.length >= Whichbird.MOST) { write(this.pool, `At most ${Whichbird.MOST} systems.`); return; }
      this.change(Whichbird.addedTo(this.edit, a, f));
      this.plane.dots.get(this.contest.systems[this.contest.systems.length - 1].name).focus();
    }

    /** One at the side of the cloud, each a little further: never on top of another. */
    addOne() {
      const [left, right, bottom, top] = this.plane.range;
      const n = this.edit.added.length;
      this.add(left + (0.25 + 0.06 * (n % 9)) * (right - left), top - (0.2 + 0.05 * (n % 7)) * (top - bottom));
    }

    undone() {
      if (!this.past.length) return;
      this.rebuild(this.past.pop());
      this.settle();
    }

    /** What stays true of a pool that was changed. */
    sayPool() {
      const { contest, edit, page } = this;
      const made = contest.systems.some((s) => !s.real && !s.out);
      const what = Whichbird.described(page, edit);
      const { stops, reliable, G } = contest;
      const range = (ends) => ends.map((n) => stops[n].toFixed(3)).join(" to ");
      write(this.pool, contest.whole ? "" : `Your pool: ${contest.K} systems (${what}). ` +
        `β₀ ${contest.beta0.toFixed(3)}, reliable ${range(reliable)}, reachable ${range([0, G - 1])}. ` +
        (made ? "Scorers have no scores for what is moved or invented: it counts for β and the weights, not for SPA. " :
          "Leaving out is exact: β, weights and SPA are those of the systems that remain. ") +
        "Tests, intervals and measures are of the pool as it ships, and are not shown.");
      [[this.undo, !this.past.length], [this.reset, contest.whole]].forEach(([node, off]) => { if (node.disabled !== off) node.disabled = off; });
    }

    // --- scorers

    /** Follow a scorer, or no longer. */
    pin(m) {
      const name = this.page.scorers[m];
      this.pins = this.pins.includes(name) ? this.pins.filter((pin) => pin !== name) : [...this.pins, name].slice(-MOST_PINS);
      this.found.textContent = "";
      this.drawFollowed();
      this.update();
      this.touched(true);
    }

    searched() {
      const text = this.search.value.trim().toLowerCase();
      if (!text) { this.found.textContent = ""; return; }
      const spelled = this.page.scorers.map((s, m) => [named(this.page, m), s].map((name) => name.toLowerCase())); // either name will do
      const hits = spelled.map((_, m) => m).filter((m) => spelled[m].some((name) => name.includes(text)));
      if (!hits.length) { this.found.textContent = "No scorer has this in its name."; return; }
      const exact = spelled.findIndex((both) => both.includes(text));
      const name = this.page.scorers[exact >= 0 ? exact : hits[0]];
      // while one types, the last guess gives way to the next
      const others = this.pins.filter((pin) => pin !== name && pin !== this.guess);
      this.guess = this.pins.includes(name) && this.guess !== name ? null : name;
      this.pins = [...others, name].slice(-MOST_PINS);
      this.drawFollowed();
      this.update();
      this.touched();
      this.found.textContent = hits.length > 1 && exact < 0 ? `${hits.length} names match; following the first.` : "";
    }

    point(name) {
      this.plane.point(name);
      if (this.barRows) this.barRows.forEach((row, other) => row.item.classList.toggle("wb-pointed", other === name));
    }

    // --- the address

    address() {
      const [from, to] = this.contest.reliable;
      const inside = this.stop >= from && this.stop <= to;
      return Whichbird.address({ dataset: this.page.name, beta: this.contest.stops[this.stop], follow: this.pins, edit: this.edit,
                                 whole: !this.mini && this.wide && inside });
    }

    /** Write the address: with `push` it is a new place, to which the back button returns; else the place has changed. */
    touched(push = false) {
      if (this.mini) return;
      const write_ = (how) => {
        clearTimeout(this.late);
        this.late = null;
        try { history[how](null, "", this.address()); } catch (refused) { /* the figure works without */ }
      };
      if (push) write_(this.address() === location.hash ? "replaceState" : "pushState");
      else {
        clearTimeout(this.late); // browsers refuse more than some hundred changes of the address in half a minute
        this.late = setTimeout(() => write_("replaceState"), 150);
      }
    }

    restore(address) {
      const state = Whichbird.asked(address, this.pages);
      if (!state) return false;
      clearTimeout(this.late);
      this.pins = [];
      this.open(state.dataset, state);
      return true;
    }

    // --- drawing

    /** Everything, for the present width. */
    layout() {
      this.width = this.root.clientWidth;
      const [from, last] = this.contest.reliable;
      if (this.stop < from || this.stop > last) this.wide = true; // an axis without the place shown would be none
      this.axes();
      this.plane.draw(this.contest);
      this.curves();
      this.update();
    }

    /** The slider and the strip below it. */
    axes() {
      const { contest, page } = this;
      const [from, to] = this.window;
      const { stops, G, reliable } = contest;
      const at = (beta) => clamp((beta - from) / (to - from), 0, 1);
      const mark = (name, low, high) => html("i", { class: name, style: `--from:${at(low)};--to:${at(high)}` });
      const natural = contest.beta0;
      set(this.slider, { min: from, max: to });
      set(this.field, { min: stops[0], max: stops[G - 1] });
      Object.entries({ "--low": from, "--high": to }).forEach(([name, v]) => this.slider.style.setProperty(name, v));
      this.strip.replaceChildren(
        mark("wb-reach", stops[0], stops[G - 1]), mark("wb-safe", stops[reliable[0]], stops[reliable[1]]),
        ...(contest.whole ? [mark("wb-sure", page.beta0_low, page.beta0_high)] : []), mark("wb-home", natural, natural),
        html("span", { style: `--from:${at(natural)}` }, `β₀ ${natural.toFixed(3)}`));
      if (this.mini) return;
      write(this.zoom, this.wide ? "Reliable interval" : "Whole range");
      set(this.zoom, { "aria-pressed": this.wide });
    }

    /** Solve what the curves need, a slice at a time, and draw them. */
    finish() {
      clearTimeout(this.working);
      const { contest } = this;
      if (this.mini) return;
      const work = () => {
        if (contest !== this.contest) return;
        if (!contest.finish(performance.now() + SLICE)) { this.working = setTimeout(work, 0); return; }
        contest.complete = true;
        this.curves();
        this.updateLarge(contest.at(this.stop));
        this.root.dataset.complete = `${this.page.name} ${contest.K}`;
      };
      delete this.root.dataset.complete;
      this.working = setTimeout(work, 0);
    }

    charts() { return [this.essChart, ...(this.contest.whole ? [this.measureChart] : []), this.spaChart]; }

    /** A value for every stop that is known. */
    column(value) { return this.contest.stops.map((_, stop) => (this.contest.cache[stop] ? value(this.contest.at(stop)) : undefined)); }

    curves() {
      if (this.mini) return;
      const { contest, page } = this;
      contest.at(this.stop); // so that there is something to draw
      const step = tickStep(contest.K);
      this.essChart.draw(contest, this.window, { low: 0, high: contest.K, marks: ticks(0, contest.K, step).map((v) => [v, String(v)]),
                                                 curves: [{ name: "wb-ink", values: this.column((now) => (now.ess > 0 ? now.ess : undefined)) }] });
      this.measureChart.box.hidden = !contest.whole;
      if (contest.whole) {
        this.measureChart.draw(contest, this.window, { low: 0, high: 1, marks: [[0, "0"], [0.5, "½"], [1, "1"]],
          curves: this.families.map((family) => ({ name: `wb-${family}`, values: page.measures[family] })) });
      }
      this.drawFollowed();
    }

    /** The look of a followed scorer: the last is heaviest, the others as bump.css has them. */
    look(n, of) { return n === of - 1 ? "wb-chosen" : `wb-look-${n}`; }

    drawFollowed() {
      const { contest, page, followed } = this;
      const spa = followed.map((m) => this.column((now) => (now.spa ? now.spa[m] : undefined)));
      const around = (m) => (stop) => {
        const now = contest.cache[stop];
        return now && now.tested ? [-1, 1].map((s) => clamp(now.spa[m] + s * now.tested.margin[m], 0, 1)) : null;
      };
      const [from, to] = this.window;
      const inside = contest.stops.map((_, n) => n).filter((n) => contest.stops[n] >= from && contest.stops[n] <= to);
      const heaviest = around(followed[followed.length - 1]);
      const all = inside.flatMap((n) => [...spa.map((values) => values[n]), ...(heaviest(n) || [])]).filter((v) => v !== undefined);
      const [low, high] = all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
      const pad = Math.max(0.01, 0.08 * (high - low));
      const marks = ticks(low - pad, Math.min(1, high + pad), tickStep(Math.max(0.02, high - low)));
      this.spaChart.draw(contest, this.window, { low: low - pad, high: high + pad, marks: marks.map((v) => [v, v.toFixed(2)]),
        curves: followed.map((_, n) => ({ name: this.look(n, followed.length), values: spa[n] })), bands: [heaviest] });
      this.legend.replaceChildren(...(followed.length > 1 ? followed.map((m, n) => html("li", {}, [
        svg("svg", { width: 26, height: 8, "aria-hidden": "true" }, svg("path", { class: `wb-curve ${this.look(n, followed.length)}`, d: "M0 4H26" })),
        html("span", {}, named(page, m)), html("b")])) : []));
      this.meetings.replaceChildren(...(contest.complete ? this.meet().map((text) => html("li", {}, text)) : []));
      if (contest.complete) this.drawBump();
    }

    /** Where followed scorers cross, and what the tests say of the two from one end of the reliable interval to the other. */
    meet() {
      const { contest, page, followed } = this;
      const out = [];
      followed.forEach((m, i) => followed.slice(i + 1).forEach((n) => {
        const pair = `${named(page, m)} and ${named(page, n)}`;
        const all = contest.crossings(m, n);
        const list = (some) => some.map(({ beta }) => beta.toFixed(3)).join(", ");
        const [inner, outer] = [all.filter((c) => c.inside), all.filter((c) => !c.inside)];
        const told = contest.between(m, n);
        const trust = told === null ? "not tested with this pool" : told.few ? `${page.verdict.documents} documents are too few to judge that` :
          `from one end of the reliable interval to the other ${told.turns ? "the order turns" : told.moves ? "the lead moves, the order does not turn" :
            "the lead does not move significantly, and the order does not turn"}`;
        const first = inner.length ? `${pair} cross at β = ${list(inner)}: ${trust}` : `${pair} do not cross in the reliable interval`;
        out.push(`${first}${outer.length ? `; outside it, untested, at ${list(outer.slice(0, 4))}${outer.length > 4 ? " …" : ""}` : ""}.`);
      }));
      return out;
    }

    /** The ranks of all scorers over β. */
    drawBump() {
      const { contest, page, followed } = this;
      const rows = contest.stops.map((_, stop) => contest.at(stop));
      const known = rows.filter((now) => now.rank);
      this.bumpBox.hidden = known.length < 2;
      this.bumpTitle.replaceChildren(...titled("All ranks over β", known.length < 2 ? " No two real systems have weight." :
        " Followed scorers are drawn out; a full dot is a crossing of two whose order turns. Click a line to follow it."));
      if (known.length < 2) return;
      const data = { betas: known.map((now) => now.beta), scorers: page.scorers, ranks: known.map((now) => now.rank),
                     low: known.map((now) => now.tested && now.tested.low), high: known.map((now) => now.tested && now.tested.high),
                     natural: contest.beta0, reliable: contest.reliable.map((n) => contest.stops[n]) };
      const reach = [contest.stops[0], contest.stops[contest.G - 1]];
      const names = followed.map((m) => page.scorers[m]);
      const look = { range: this.wide ? reach : this.window, labels: page.names, named: names, chosen: names[names.length - 1] };
      const tested = new Set(known.filter((now) => now.tested).map((now) => now.beta));
      this.turns = (i, j, from, to) => tested.has(data.betas[from]) && tested.has(data.betas[to]) && Boolean(contest.between(i, j)?.turns);
      if (this.bump) this.bump.show(data, look);
      else {
        this.bump = Whichbird.bump(this.bumpBox, data, { ...look, readout: false, height: 330, turns: (...pair) => this.turns(...pair),
          choose: (name) => this.pin(this.page.scorers.indexOf(name)),
          cursor: (beta) => { if (this.keyed) this.toBeta(beta); } });
        const { node } = this.bump;
        // the pointer reads, keys move β: a hand on its way over the page should not
        node.addEventListener("keydown", () => { this.keyed = true; }, true);
        node.addEventListener("keyup", () => { this.keyed = false; });
        node.addEventListener("pointermove", () => { this.keyed = false; }, true);
        node.addEventListener("pointerleave", () => this.bump.place(this.contest.stops[this.stop]));
      }
      this.bump.place(contest.stops[this.stop]);
    }

    update() {
      const { contest, stop, root } = this;
      const now = contest.at(stop);
      Object.assign(root.dataset, { dataset: this.page.name, beta: now.beta, ess: now.ess, proof: now.certificate });
      this.slider.value = now.beta;
      if (document.activeElement !== this.field || +this.field.value !== now.beta) this.field.value = show(now.beta);
      const [first, second] = this.page.aspects;
      write(this.shares[0], `${second} ${(100 * (1 - now.beta)).toFixed(1)} %`);
      write(this.shares[1], `${first} ${(100 * now.beta).toFixed(1)} %`);
      set(this.slider, { "aria-label": `Balance β, from ${second} at the left to ${first} at the right`, "aria-valuetext": `β ${show(now.beta)}, ${now.ess > 0 ? `effective sample size ${now.ess.toFixed(1)} of ${contest.K}` : "no weighting found"}` });
      this.plane.update(now);
      this.ranking.update(now, contest.at(contest.natural), this.mini ? [] : this.followed);
      if (!this.mini) {
        this.updateLarge(now);
        this.desk.rest();
      }
      this.say(now);
    }

    updateLarge(now) {
      const { contest, page, followed } = this;
      if (this.listed !== contest) this.listSystems();
      const most = Math.max(2.5 / contest.K, ...now.w);
      this.bars.style.setProperty("--equal", 1 / contest.K / most);
      const gone = new Set(contest.vanishing(this.stop));
      this.barRows.forEach(({ s, item, fill, value, vanishes }) => {
        vanishes.hidden = !gone.has(s);
        const share = s.out ? 0 : now.w[s.place];
        item.dataset.weight = share;
        item.classList.toggle("wb-zero", share === 0);
        fill.style.transform = `scaleX(${share / most})`;
        write(value, s.out ? "out" : share ? `${(100 * share).toFixed(1)} %` : "0");
      });
      const trust = { [Whichbird.FOUND]: ", the most that was found; a proof is missing.", [Whichbird.MISSED]: ": no weighting with this β was found." };
      this.essTitle.replaceChildren(...titled(`ESS ${now.ess > 0 ? now.ess.toFixed(1) : "–"} of ${contest.K}`,
        `${trust[now.certificate] || ", the most that this β allows."} Grey band: reliable interval.`));
      if (contest.whole) {
        this.values.forEach((node, n) => { node.textContent = page.measures[this.families[n]][this.stop].toFixed(3); });
      }
      const told = (m) => (!now.spa ? "SPA –" : `SPA ${now.spa[m].toFixed(3)}${now.tested ? ` ± ${now.tested.margin[m].toFixed(3)}` : ""}`);
      if (followed.length > 1) {
        this.spaTitle.replaceChildren(...titled("SPA of the scorers you follow", now.tested ? " ± at 95 %; band: the last one's." : ""));
        [...this.legend.children].forEach((node, n) => write(node.lastChild, told(followed[n]).replace("SPA ", "")));
      } else {
        const [m] = followed;
        const then = contest.at(contest.natural);
        const allowed = now.tested ? `, ${now.tested.low[m]} to ${now.tested.high[m]} allowed` : "";
        const places = now.rank && then.rank ? `. Rank ${now.rank[m]} of ${page.M}${allowed}; ${then.rank[m]} at β₀` : "";
        this.spaTitle.replaceChildren(...titled(named(page, m), ` ${told(m)}${places}`));
      }
      this.charts().forEach((chart) => chart.update(this.stop));
      if (this.bump && contest.complete) this.bump.place(now.beta);
      this.sayCarriers();
      this.sayParts(now);
      this.sayPool();
    }

    /** Next to the system that carries the change: a way to leave it out. */
    sayCarriers() {
      const found = this.contest.carried(this.pins.map((name) => this.page.scorers.indexOf(name)));
      const texts = [...new Set(found.map(({ text }) => text))];
      if (texts.join() !== [...this.carriers.children].map((node) => node.textContent).join()) {
        this.carriers.replaceChildren(...texts.map((text) => html("li", {}, text)));
      }
      this.barRows.forEach(({ without, item }, name) => {
        const carries = found.some(({ system }) => system === name);
        item.classList.toggle("wb-carrier", carries);
        if (!carries) without.remove();
        else if (!without.isConnected) item.append(without);
      });
    }

    /** With two scorers followed: what each system contributes to the lead of one over the other at this β, a bar each. */
    sayParts(now) {
      const { contest, page, parts } = this, pair = this.pins.map((name) => page.scorers.indexOf(name));
      const found = pair.length === 2 && now.spa ? contest.contributions(...pair, this.stop) : null;
      parts.hidden = !found;
      if (!found) return;
      const lead = now.spa[pair[0]] - now.spa[pair[1]], most = Math.max(...found.map(Math.abs), 1e-12);
      const [ahead, behind] = lead < 0 ? [...this.pins].reverse() : this.pins, way = lead < 0 ? -1 : 1;
      parts.firstChild.replaceChildren(...titled("Who makes the lead", ` of ${Math.abs(lead).toFixed(3)} that ${ahead} has over ${behind}: what each system contributes. ` +
        "Right: for it; left: against it. Without a system marked *, the others keeping their proportions, the other scorer would lead."));
      parts.lastChild.replaceChildren(...[...this.barRows.values()].filter(({ s }) => !s.out && s.real).map(({ s }) => {
        const part = way * found[s.place], turns = part > way * lead / 2 + 1e-9;
        const fill = html("i", { style: `width:${(50 * Math.abs(part)) / most}%;${part < 0 ? "right" : "left"}:50%` });
        return html("li", { "data-part": part }, [html("span", { class: "wb-system-name", title: s.name }, s.name), html("span", { class: "wb-bar" }, fill),
          html("span", { class: "wb-value" }, `${part < 0 ? "−" : ""}${Math.abs(part).toFixed(3)}${turns ? " *" : ""}`)]);
      }));
    }

    /** The list of weights, with a button for each system: in the order of people's total, invented ones last. */
    listSystems() {
      const { contest, page } = this;
      this.listed = contest;
      const focus = [...(this.barRows || new Map())].find(([, row]) => row.item.contains(document.activeElement));
      const order = [...page.byQuality.map((k) => contest.systems[k]), ...contest.systems.filter((s) => s.invented)];
      const before = this.barRows || new Map();
      this.barRows = new Map(order.map((s) => {
        const kind = s.out ? "" : s.invented ? "" : s.real ? "" : " (moved)";
        const old = before.get(s.name);
        const row = old && old.page === page ? old : this.barRow(s.name, page);
        row.s = s;
        write(row.name, s.name + kind);
        set(row.name, { title: s.name, "aria-pressed": !s.out, "aria-label": `${s.name}${kind}: ${s.out ? "bring back" : "leave out"}` });
        row.item.classList.toggle("wb-left-out", s.out);
        row.item.classList.toggle("wb-made", !s.real);
        return [s.name, row];
      }));
      const items = [...this.barRows.values()].map((row) => row.item);
      if (items.length !== this.bars.children.length || items.some((item, n) => item !== this.bars.children[n])) {
        this.bars.replaceChildren(...items);
        if (focus && this.barRows.has(focus[0])) this.barRows.get(focus[0]).name.focus();
      }
    }

    barRow(systemName, page) {
      const name = html("button", { type: "button", class: "wb-system-name" });
      const [fill, value, vanishes] = [html("i"), html("span", { class: "wb-value" }), html("em", { hidden: "" }, "vanishes")];
      const item = html("li", {}, [name, html("span", { class: "wb-bar" }, [fill, vanishes]), value]);
      const without = html("button", { type: "button", class: "wb-without", "aria-label": `leave this one out: ${systemName}, which carries a change` }, "leave this one out");
      without.addEventListener("click", () => { this.toggle(systemName); name.focus(); });
      name.addEventListener("click", () => this.toggle(systemName));
      item.addEventListener("pointerenter", () => this.point(systemName));
      item.addEventListener("pointerleave", () => this.point(null));
      return { item, name, fill, value, vanishes, without, page };
    }

    /** Other scorers take part: everything anew, at the same place. */
    company() {
      this.open(this.page.name, { beta: this.contest.stops[this.stop], follow: this.pins, edit: this.edit, whole: this.wide });
      this.touched();
    }

    /** What the worker found is known now: show it, if the place is still the same. */
    heard(contest) {
      if (contest !== this.contest) return;
      this.curves();
      this.update();
    }

    say(now) {
      const { contest, page, stop } = this;
      const then = contest.at(contest.natural);
      const used = now.w.filter((x) => x > 0).length;
      const [from, to] = contest.reliable;
      const other = contest.whole ? ` (with other text ${sure(page)})` : "";
      const named = { 0: ", the least this pool reaches,", [contest.G - 1]: ", the most this pool reaches,",
                      [contest.natural]: `, the natural balance${other},` };
      const { tested } = now;
      const place = `At β = ${show(now.beta)}${named[stop] || ""} in ${contest.whole ? "" : "your pool of "}${page.name}, `;
      if (now.certificate === Whichbird.MISSED) {
        this.tell(`${place}no weighting was found: some systems are too far from the others for the arithmetic of this page.`);
        return;
      }
      const start = place +
        `${used === contest.K ? "all" : `${used} of`} ${contest.K} systems carry weight${this.sayVanishing()}. ` +
        `ESS ${now.ess.toFixed(1)} of ${contest.K}, ${stop >= from && stop <= to ? "inside" : "outside"} the reliable interval. `;
      this.tell((start + (now.spa ? this.sayRanks(now, then, tested) : "No two real systems have weight, so scorers cannot be compared.")).trim());
    }

    sayVanishing() {
      const gone = this.contest.vanishing(this.stop).map(({ name }) => name);
      if (!gone.length) return "";
      return gone.length > 2 ? `; ${gone.length} vanish, with less than ${this.page.vanishing} of an equal weight` :
        `; ${gone.join(" and ")} vanish${gone.length > 1 ? "" : "es"}, with less than ${this.page.vanishing} of an equal weight`;
    }

    sayRanks(now, then, tested) {
      const { contest, page, stop } = this;
      const best = page.scorers.filter((_, m) => now.rank[m] === 1);
      const was = then.rank ? then.rank[page.scorers.indexOf(best[0])] : 1;
      const before = stop === contest.natural ? "" : `, ${was > 1 ? `number ${was}` : "as"} at β₀`;
      const first = best.length > 1 ? `${best.length} scorers share the first place` : `First: ${named(page, page.scorers.indexOf(best[0]))}${before}`;
      const moved = page.scorers.map((_, m) => m).filter((m) => then.rank && now.rank[m] !== then.rank[m]);
      const [shifted, turned] = ["moved", "turned"].map((what) => (tested ? moved.filter((m) => tested[what][m]).length : 0));
      const shared = tested ? tested.size[now.order[0]] : 0;
      const cluster = !tested ? "" : shared > 1 ? `, in a cluster of ${shared}` : ", in a cluster of its own";
      const many = moved.length !== 1;
      const trust = many ? `with ${shifted || "none"} of them a lead moves, with ${turned || "none"} an order turns` :
        `${shifted ? "a" : "no"} lead moves, ${turned ? "an" : "no"} order turns`;
      const changes = stop === contest.natural ? "" : !moved.length ? "No scorer changes place" :
        `${moved.length} of ${scorers(page.M)} change${many ? "" : "s"} place${tested ? `; ${trust}` : ""}`;
      const inside = stop >= contest.reliable[0] && stop <= contest.reliable[1];
      const why = tested || !contest.whole ? "" : inside ? "yours is being tested among them" : "outside that interval no tests ship";
      const rest = [changes, why].filter(Boolean).join("; ");
      return `${first}${cluster}.${rest && ` ${rest[0].toUpperCase()}${rest.slice(1)}.`}`;
    }

    tell(text) {
      write(this.summary, text);
      clearTimeout(this.saying);
      // spoken when the slider rests, not at each step
      this.saying = setTimeout(() => { this.spoken.textContent = text; }, 400);
    }

    // --- to take away

    csv() { return Whichbird.csv(this.contest, this.stop, this.edit); }

    picture() {
      const pool = this.contest.whole ? "" : `, your pool (${Whichbird.described(this.page, this.edit)})`;
      return Whichbird.picture(this.root, this.contest, this.stop,
        { plane: this.plane.node, bump: this.bump.node, title: `${this.page.name}: ${this.page.title}${pool}` });
    }

    async saved(kind, make) {
      try {
        if (!this.contest.complete) { this.contest.finish(Infinity); this.contest.complete = true; this.curves(); this.update(); }
        const blob = await make();
        const name = `whichbird-${this.page.name}-${show(this.contest.stops[this.stop])}.${kind}`;
        Whichbird.save(name, blob);
        this.taken.textContent = `Saved as ${name}.`;
      } catch (refused) {
        this.taken.textContent = "The browser refuses to make this file.";
      }
    }

    async copied(text, what = null) {
      this.text.value = text;
      this.text.hidden = true;
      try {
        await navigator.clipboard.writeText(text);
        this.taken.textContent = `Copied ${what || `${text.trim().split("\n").length} lines`}.`;
      } catch (refused) {
        this.text.hidden = false;
        this.text.select();
        let done = false;
        try { done = document.execCommand("copy"); } catch (unsupported) { /* then by hand */ }
        this.taken.textContent = done ? "Copied; the text is below too." :
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
      const first = !live.mini && live.pages.some((p) => p.name === "ende24") ? "ende24" : undefined; // a small one opens on the dataset of its page, the first
      // a page that links here says ?dataset=…: the theme's own script trips over such a fragment in a link
      if (live.mini || !(live.restore(location.hash) || live.restore(location.search))) live.open(first);
    });
  }

  Whichbird.Live = Live;
  if (typeof document === "undefined") return; // in Node
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})((globalThis.Whichbird = globalThis.Whichbird || {}));
