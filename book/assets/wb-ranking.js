/* The ranking: a row for every scorer, in the order of SPA; rows glide when places change. */
(function (Whichbird) {
  "use strict";

  const { html, set, write, brief, named, places, scorers, still } = Whichbird;
  const GLIDE = 150; // milliseconds
  const METAS = { // what the last column may show
    spa: ["SPA", "agreement with experts on systems, 0 to 1"],
    acc_eq: ["acc_eq", "share of translations of one sentence ordered or tied as experts do"],
    pdp: ["PDP", "correlation of differences between translations of one sentence"],
  };

  class Ranking {
    /** `shown` rows at most; `choose` is called with a scorer's place when a reader clicks its row. */
    constructor(shown, choose) {
      Object.assign(this, { shown, choose });
      this.list = html("ol", { class: "wb-ranking" });
      this.axis = [html("span"), html("span")];
      this.meta = "spa"; // whose values are shown; the order is SPA's always
      this.value = html("abbr", {});
      this.columns = html("p", { class: "wb-columns" }, [html("span", { class: "wb-since" }, "since β₀"),
        html("span", { class: "wb-axis", "aria-hidden": "true" }, this.axis),
        html("span", { class: "wb-ranks" }, html("abbr", { title: "the ranks that the data allow" }, "ranks")),
        html("span", { class: "wb-spa" }, this.value)]);
      this.name();
      if (choose) this.list.addEventListener("click", (event) => {
        const row = event.target.closest("li");
        if (row) choose(+row.dataset.m);
      });
    }

    /** Values of another meta-metric. */
    show(meta) {
      this.meta = meta;
      this.name();
      if (this.last) this.update(...this.last);
    }

    name() {
      const [short, long] = METAS[this.meta];
      write(this.value, short);
      set(this.value, { title: long });
    }

    open(page) {
      this.page = page;
      this.order = [];
      this.rows = page.scorers.map((name, m) => {
        const cells = ["wb-place", "wb-scorer", "wb-change", "wb-whisker", "wb-ranks", "wb-spa"]
          .map((c) => html(c === "wb-scorer" && this.choose ? "button" : "span", { class: c }));
        [cells[2], cells[4]].forEach((cell) => cell.setAttribute("role", "img")); // signs: what they say is in a label
        set(cells[1], { title: name, ...(this.choose ? { type: "button" } : {}) });
        cells[1].textContent = brief(named(page, m));
        const rule = html("span", { class: "wb-rule" }); // above the first of a cluster, with the cluster's name
        const bar = [html("i"), html("b")]; // from the best compatible rank to the worst, and a tick at its own
        cells[3].append(...bar);
        set(cells[3], { "aria-hidden": "true" });
        return { item: html("li", { "data-m": m }, [rule, ...cells]), cells, rule, bar };
      });
      this.axis.forEach((node, n) => write(node, [1, page.M][n]));
      this.list.replaceChildren();
    }

    /** `now` and `then` are what a contest says at the stop shown and at the natural balance; `pins` are followed scorers. */
    update(now, then, pins) {
      this.last = [now, then, pins];
      const order = (now.order || this.page.scorers.map((_, m) => m)).slice(0, this.shown);
      const before = this.order;
      this.arrange(order);
      order.forEach((m) => this.row(m, now, then, pins));
      if (before.length && before !== this.order && !still()) this.glide(before);
    }

    /** Rows in this order, moving as few as a walk down the list finds out of place. */
    arrange(order) {
      if (order.length === this.order.length && order.every((m, n) => m === this.order[n])) return;
      const focus = document.activeElement;
      const nodes = order.map((m) => this.rows[m].item);
      nodes.forEach((node, n) => {
        const there = this.list.children[n];
        if (there !== node) this.list.insertBefore(node, there || null);
      });
      while (this.list.children.length > nodes.length) this.list.lastChild.remove();
      if (focus !== document.activeElement && this.list.contains(focus)) focus.focus({ preventScroll: true }); // moving a node takes it
      this.order = order;
    }

    /** From where rows were to where they are, by the height of a row: asking the page would cost a layout. */
    glide(before) {
      const rowHeight = 1.4 * 16; // of .wb-ranking li in explorer.css
      this.order.forEach((m, place) => {
        const was = before.indexOf(m);
        if (was < 0 || was === place) return;
        this.rows[m].item.animate([{ transform: `translateY(${(was - place) * rowHeight}px)` }, { transform: "none" }],
          { duration: GLIDE, easing: "ease-out" });
      });
    }

    row(m, now, then, pins) {
      const { page } = this;
      const { item, cells, rule, bar } = this.rows[m];
      const { tested } = now;
      const ranked = now.spa && then.spa;
      const [rank, up] = ranked ? [now.rank[m], then.rank[m] - now.rank[m]] : ["–", 0];
      const [moved, turned] = tested ? [tested.moved[m], tested.turned[m]] : [false, false];
      const opens = tested !== null && tested.first[m];
      if (now.spa) item.dataset.spa = now.spa[m];
      const kind = `${pins.includes(m) ? "wb-followed" : ""} ${opens ? "wb-opens" : ""}`.trim();
      if (item.className !== kind) item.className = kind;
      if (this.choose) set(cells[1], { "aria-pressed": pins.includes(m) });
      if (rule.hidden === opens) rule.hidden = !opens;
      if (opens) write(rule, `cluster ${tested.cluster[m]}: ${scorers(tested.size[m])}`);
      write(cells[0], rank);
      write(cells[2], up > 0 ? `${turned ? "▲" : "△"} ${up}` : up < 0 ? `${turned ? "▼" : "▽"} ${-up}` : "–");
      set(cells[2], { class: `wb-change ${up && turned ? "wb-turned" : up && moved ? "wb-moved" : ""}`.trim() });
      const trust = !tested ? "not tested" : turned ? "an order turns" : moved ? "a lead moves, no order turns" : "no lead moves";
      set(cells[2], { "aria-label": up ? `${up > 0 ? "up" : "down"} ${places(Math.abs(up))}, ${trust}` : "same place" });
      const share = (x) => `${((100 * x) / page.M).toFixed(2)}%`;
      if (bar[0].hidden === Boolean(tested)) bar.forEach((part) => { part.hidden = !tested; });
      const span = (dash) => [...new Set([tested.low[m], tested.high[m]])].join(dash);
      write(cells[4], tested ? span("–") : "");
      set(cells[4], { "aria-label": tested ? `allowed: rank ${span(" to ")}` : "not tested" });
      if (tested) {
        Object.assign(bar[0].style, { left: share(tested.low[m] - 1), width: share(tested.high[m] - tested.low[m] + 1) });
        bar[1].style.left = share(rank - 0.5);
      }
      const values = this.meta === "spa" ? now.spa : now.segmental && now.segmental[this.meta];
      write(cells[5], values && m in values ? values[m].toFixed(3) : "–");
    }
  }

  Object.assign(Whichbird, { Ranking, METAS });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
