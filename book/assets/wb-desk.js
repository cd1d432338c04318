/* The desk for scores of your own: files are dropped on the figure or chosen, and their scorers join the others. */
(function (Whichbird) {
  "use strict";

  const { html, write } = Whichbird;
  const REST = 350; // milliseconds without a move before the worker is asked about a place

  /** A sentence where a file's name says another reference than the dataset's scorers were given; else an empty one. */
  function otherReference(file, page) {
    const [, letter] = /(?:^|[^a-z])ref[-_]?([a-z])(?![a-z])/i.exec(file) || [];
    const said = letter && `ref${letter.toUpperCase()}`;
    return !said || !page.reference || said === page.reference ? "" :
      `Mind the reference: the name ${file} says ${said}, and the scorers of ${page.name} were given ${page.reference}. ` +
      "If yours compares with a reference, it should have seen the same one.";
  }

  class Desk {
    constructor(live) {
      this.live = live;
      const { root, generators } = live.root.dataset;
      this.own = Whichbird.own(root, JSON.parse(generators));
      this.input = html("input", { type: "file", multiple: "", class: "wb-files", "aria-label": "Score files of your own" });
      this.choose = html("button", { type: "button" }, "Choose files");
      this.bar = html("progress", { max: 1, value: 0, hidden: "", "aria-label": "How far your scores are tested" });
      this.status = html("span", { class: "wb-note", role: "status" });
      this.list = html("ul", { class: "wb-own" });
      this.said = html("ul", { class: "wb-said", role: "status" });
      this.box = html("div", { class: "wb-desk" }, [
        html("p", { class: "wb-head" }, [html("b", {}, "Your scores"), " Drop score files here: lines of system, tab, score, or a table. They are read and tested in " +
          "this page; nothing leaves your machine."]),
        html("p", { class: "wb-buttons" }, [this.choose, this.input]), this.list, this.said]);
      this.working = html("p", { class: "wb-working" }, [this.bar, this.status]); // above the ranking, which is what waits for it
      this.choose.addEventListener("click", () => this.input.click());
      this.input.addEventListener("change", () => { this.take([...this.input.files]); this.input.value = ""; });
      const { root: figure } = live;
      figure.addEventListener("dragover", (event) => {
        if (![...event.dataTransfer.types].includes("Files")) return;
        event.preventDefault();
        figure.classList.add("wb-dropping");
      });
      figure.addEventListener("dragleave", (event) => { if (!figure.contains(event.relatedTarget)) figure.classList.remove("wb-dropping"); });
      figure.addEventListener("drop", (event) => {
        figure.classList.remove("wb-dropping");
        if (!event.dataTransfer.files.length) return;
        event.preventDefault();
        this.take([...event.dataTransfer.files]);
      });
    }

    get page() { return this.live.page; }

    /** How far a piece of work is; null when it is done. */
    progress(share, text = "") {
      this.bar.hidden = share === null;
      if (share !== null) this.bar.value = share;
      write(this.status, text);
    }

    async take(files) {
      const { page, live } = this;
      this.progress(0, `reading ${files.length === 1 ? files[0].name : `${files.length} files`}`);
      const said = [];
      let names = [];
      try {
        const found = await this.own.add(page, files, (share) => this.progress(share, "permutation test"));
        for (const one of found) {
          if (one.refused) said.push([one.refused, await this.elsewhere(one, files)]);
          else {
            Whichbird.join(page, one.name, one.counts);
            names.push(one.name);
            one.notes.forEach((note) => said.push([note, null]));
            const doubt = Whichbird.otherReference(one.file, page);
            if (doubt) said.push([doubt, null]);
          }
        }
      } catch (broken) {
        said.push([`The page could not test these files: ${broken.message}.`, null]);
        names = [];
      }
      this.progress(null);
      this.said.replaceChildren(...said.map(([text, more]) => html("li", {}, more ? [text, more] : text)));
      if (names.length && page === live.page) {
        live.pins = [...live.pins.filter((pin) => !names.includes(pin)), ...names].slice(-6);
        live.company();
      }
      this.show();
      live.root.dataset.own = page.scorers.slice(page.shipped).join(" ");
    }

    /** A button for the dataset whose systems a refused file has, if there is one. */
    async elsewhere({ file }, files) {
      const given = files.find((one) => one.name === file);
      const others = this.live.pages.filter((page) => page !== this.page);
      const [name] = given ? await this.own.fits(others, given) : [];
      if (!name) return null;
      const go = html("button", { type: "button" }, `It fits ${name}: put it there`);
      go.addEventListener("click", () => {
        this.live.open(name);
        this.live.touched(true);
        this.take([given]);
      });
      return html("span", {}, [" ", go]);
    }

    /** The reader's own scorers of this dataset, each with a button that takes it away. */
    show() {
      const { page } = this;
      this.list.replaceChildren(...page.scorers.slice(page.shipped).map((name) => {
        const away = html("button", { type: "button", "aria-label": `Take ${name} away` }, "take away");
        away.addEventListener("click", () => {
          this.own.remove(page, name);
          Whichbird.leave(page, name);
          this.live.pins = this.live.pins.filter((pin) => pin !== name);
          this.live.company();
          this.show();
        });
        return html("li", {}, [html("b", {}, name), " ", away]);
      }));
    }

    /** The slider rests: if scorers of the reader's take part, ask what the tests say here. */
    rest() {
      clearTimeout(this.waiting);
      const { page, live } = this;
      if (this.listed !== page) { this.listed = page; this.show(); }
      if (page.M === page.shipped) return;
      this.waiting = setTimeout(() => this.ask(live.contest, live.stop), REST);
    }

    async ask(contest, stop) {
      const { page } = contest;
      const question = page.judged.has(stop) || this.busy ? null : contest.question(stop);
      if (!question) return;
      const { company } = page;
      this.busy = true;
      try {
        const found = await this.own.verdict(page, question, (share) => this.progress(share, "clusters and rank intervals"));
        if (page.company === company) {
          contest.answer(stop, found);
          this.live.heard(contest);
          this.live.root.dataset.judged = `${page.name} ${stop}`;
        }
        this.progress(null);
      } catch (missing) {
        this.progress(null, `${missing.message}.`);
        if (page.company === company) page.judged.set(stop, null); // not asked again
      }
      this.busy = false;
      if (this.live.stop !== stop || this.live.contest !== contest || page.company !== company) this.rest();
    }
  }

  Object.assign(Whichbird, { Desk, otherReference });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
