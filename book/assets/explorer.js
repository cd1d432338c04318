/* The live figure: plain SVG and HTML. It reads its data from the page, so it works from disk.
 *
 * Nothing is solved or resampled here. The weights at every stop of the slider come from the library, and so do tests and
 * intervals inside the reliable interval; `wb-rank.js` adds up SPA and ranks, this file draws. One object per
 * figure holds its state: the dataset, the stop of the slider, and the scorer that is followed. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, titled, write, clamp, brief, places, scorers, show, sure, tickStep, ticks,
          prepare, nearest, Chart, Plane } = Whichbird;
  const MARKS = "Places won or lost against β₀: ▲▼ beyond noise; △▽, grey, inside noise or not tested. " +
    "Bar: the ranks that the data allow. Rules part clusters.";
  let figures = 0;

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

  Whichbird.Live = Live;
  if (typeof document === "undefined") return; // in Node
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})((globalThis.Whichbird = globalThis.Whichbird || {}));
