/* Who wins: a contest is a pool of systems and the scorers of a dataset. At each stop of the slider it has weights (from wb-solve.js), SPA,
 * ranks, and what the tests say. A stop is computed when it is first asked for. Nothing here touches the page. */
(function (Whichbird) {
  "use strict";

  const TIE = 1e-9; // SPA values this close are one value: a sum over some hundred pairs errs by far less

  /** Whole numbers from their digits, two of base 36 for each. */
  const counts = (digits) => (digits.match(/../g) || []).map((two) => parseInt(two, 36));

  /** Rows of numbers from the first of them, and for each later one the places that change, with their steps. */
  function rows([first, ...later]) {
    let at = first;
    return [first, ...later.map((steps) => {
      at = at.slice();
      for (let n = 0; n < steps.length; n += 2) at[steps[n]] += steps[n + 1];
      return at;
    })];
  }

  /** What a dataset's data say in a form that is quick to read: |p − p′| of every scorer for every pair, and the tests row by row. */
  function prepare(page) {
    if (page.distance) return page;
    const { low, high, margin } = page.verdict;
    const human = counts(page.human);
    return Object.assign(page, {
      distance: page.p.map((row) => Float64Array.from(counts(row), (p, n) => Math.abs(p - human[n]) / page.permutations)),
      allowed: { low: rows(low), high: rows(high), margin: rows(margin) },
      byQuality: page.total.map((_, k) => k).sort((k, l) => page.total[l] - page.total[k]),
      moves: new Set(page.verdict.moves || []),
      turns: new Set(page.verdict.turns || []),
      M: page.scorers.length,
      shipped: page.scorers.length, // scorers after these are the reader's own
      judged: new Map(), // what the worker says of all scorers together, by stop
      company: 0, // how often scorers joined or left
    });
  }

  /** A scorer of the reader's joins: its counts of permutations, one for each pair. What was said of the others' company holds no more. */
  function join(page, name, p) {
    prepare(page);
    const human = counts(page.human);
    page.scorers.push(name);
    page.distance.push(Float64Array.from(p, (x, n) => Math.abs(x - human[n]) / page.permutations));
    page.M += 1;
    page.company += 1;
    page.judged.clear();
  }

  function leave(page, name) {
    const m = page.scorers.indexOf(name, page.shipped);
    if (m < 0) return;
    page.scorers.splice(m, 1);
    page.distance.splice(m, 1);
    page.M -= 1;
    page.company += 1;
    page.judged.clear();
  }

  /** A dataset as a reader of files must know it: `runs` are its rated source lines, [first, length, …]. */
  function source(page) {
    const { name, systems, source_lines, permutations } = prepare(page);
    const lines = [];
    for (let n = 0; n < page.runs.length; n += 2) for (let k = 0; k < page.runs[n + 1]; k++) lines.push(page.runs[n] + k);
    return { name, systems, source_lines, permutations, lines, scorers: page.scorers.slice(0, page.shipped) };
  }

  /** The place of a pair k < l among all pairs of K, in the order of numpy.triu_indices. */
  const pairAt = (k, l, K) => k * K - (k * (k + 1)) / 2 + (l - k - 1);

  /** SPA of every scorer. `pairs` are [i, j, n]: two places in w, and the pair's place in each row of `distance`. Null if no pair has
   *  weight. */
  function spaOf(distance, pairs, w) {
    const share = pairs.map(([i, j]) => w[i] * w[j]);
    const all = share.reduce((sum, x) => sum + x, 0);
    if (!(all > 0)) return null;
    return distance.map((row) => 1 - pairs.reduce((sum, [, , n], at) => sum + share[at] * row[n], 0) / all);
  }

  /** Places, from 1; scorers with the same SPA share the better one. */
  const ranksOf = (spa) => spa.map((mine) => 1 + spa.filter((other) => other > mine + TIE).length);

  /** Scorers from the best to the worst; ties go by the order of names in the data. */
  const orderOf = (spa) => spa.map((_, m) => m).sort((m, n) => (Math.abs(spa[m] - spa[n]) > TIE ? spa[n] - spa[m] : m - n));

  /** Meta-metrics of segments at a balance, { acc_eq, pdp }: a value for each shipped scorer, on straight lines between the stops at which they
   *  ship; null outside. */
  function segmental(page, beta) {
    const { betas, thousandths } = page.segmental, last = betas.length - 1;
    if (beta < betas[0] - 1e-6 || beta > betas[last] + 1e-6) return null;
    const next = Math.max(1, betas.findIndex((b, n) => b >= beta || n === last)), [low, high] = [betas[next - 1], betas[next]];
    const share = Math.min(Math.max((beta - low) / (high - low), 0), 1);
    const between = (x) => x[next].map((v, m) => (x[next - 1][m] + share * (v - x[next - 1][m])) / 1000);
    return Object.fromEntries(Object.entries(thousandths).map(([name, x]) => [name, between(x)]));
  }

  class Contest {
    /** `edit` says what is changed in the pool (wb-pool.js), `step` how fine the stops are, `extra` is a balance that must be one. */
    constructor(page, edit = null, step = 0.005, extra = null) {
      prepare(page);
      this.page = page;
      this.systems = Whichbird.roster(page, edit);
      this.active = this.systems.filter((s) => !s.out);
      this.active.forEach((s, place) => { s.place = place; });
      this.pool = Whichbird.pool(this.active.map((s) => s.a), this.active.map((s) => s.f));
      this.whole = !edit || Whichbird.isWhole(edit); // the pool as it ships: tests and measures are of that one
      this.K = this.active.length;
      this.M = page.M;
      if (!this.pool) return; // nothing to balance
      const found = this.whole ? page : Whichbird.stops(this.pool, step, extra);
      [this.stops, this.natural, this.reliable] = [found.stops, found.natural, found.reliable];
      this.G = this.stops.length;
      this.cache = new Array(this.G);
      this.pairs = [];
      const real = this.active.filter((s) => s.real); // scorers have no scores for what was moved or invented
      for (let i = 0; i < real.length; i++) {
        for (let j = i + 1; j < real.length; j++) {
          this.pairs.push([real[i].place, real[j].place, pairAt(real[i].k, real[j].k, page.systems.length)]);
        }
      }
    }

    /** All that is known at a stop: beta, w, ess, eta, lam, certificate; spa, rank, order (null without a pair); segmental; tested. */
    at(stop) {
      if (this.cache[stop]) return this.cache[stop];
      const { weights, ess, eta, lam, certificate } = Whichbird.reweight(this.pool, this.stops[stop]);
      const spa = spaOf(this.page.distance, this.pairs, weights);
      const order = spa && orderOf(spa);
      const out = { stop, beta: this.stops[stop], w: weights, ess, eta, lam, certificate, spa, order, rank: spa && ranksOf(spa) };
      out.segmental = this.whole ? segmental(this.page, out.beta) : null;
      out.tested = this.whole ? (this.page.M > this.page.shipped ? judged : tested)(this.page, stop, order) : null;
      return (this.cache[stop] = out);
    }

    /** Compute stops that nobody has asked for, those of the reliable interval first, until `until` (a time); true when none is left. */
    finish(until, now = () => performance.now()) {
      for (let n = 0; n < this.G; n++) {
        const stop = (this.reliable[0] + n) % this.G;
        if (this.cache[stop]) continue;
        if (now() > until) return false;
        this.at(stop);
      }
      return true;
    }

    nearest(beta) {
      return this.stops.reduce((best, stop, n) => (Math.abs(stop - beta) < Math.abs(this.stops[best] - beta) ? n : best), 0);
    }

    get beta0() { return this.stops[this.natural]; }

    /** Where two scorers change order, on straight lines between stops: [{ beta, inside }], `inside` the reliable interval. */
    crossings(m, n) {
      const out = [];
      let last = null;
      for (let stop = 0; stop < this.G; stop++) {
        const { spa } = this.at(stop);
        const lead = spa ? spa[m] - spa[n] : 0;
        if (Math.abs(lead) <= TIE) continue; // a tie is no order
        if (last && lead * last.lead < 0) {
          const share = last.lead / (last.lead - lead);
          const beta = this.stops[last.stop] + share * (this.stops[stop] - this.stops[last.stop]);
          out.push({ beta, inside: last.stop >= this.reliable[0] && stop <= this.reliable[1] });
        }
        last = { stop, lead };
      }
      return out;
    }

    /** Whether the lead of one scorer over another moves, and whether their order turns, from one end of the reliable interval to the
     *  other; null: not tested, and `few` where documents are too few to judge by. */
    between(m, n) {
      const { shipped, moves, turns, verdict } = this.page, pair = Math.min(m, n) * shipped + Math.max(m, n);
      if (!this.whole || Math.max(m, n) >= shipped) return null;
      return { moves: moves.has(pair), turns: turns.has(pair), few: verdict.turns === null };
    }

    /** What each active system contributes to the lead of scorer m over n at a stop: half of what each of its pairs does, so that they sum to the
     *  lead. Null without a pair that has weight. */
    contributions(m, n, stop) {
      const { w } = this.at(stop), { distance } = this.page, out = this.active.map(() => 0);
      const all = this.pairs.reduce((sum, [i, j]) => sum + w[i] * w[j], 0);
      if (!(all > 0)) return null;
      this.pairs.forEach(([i, j, at]) => {
        const half = (w[i] * w[j] * (distance[n][at] - distance[m][at])) / (2 * all);
        out[i] += half;
        out[j] += half;
      });
      return out;
    }

    /** Systems that are as good as left out at a stop. */
    vanishing(stop) {
      const { w } = this.at(stop);
      return this.active.filter((s) => w[s.place] * this.K < this.page.vanishing);
    }

    /** Who carries what changes from one end of the reliable interval to the other, with a sentence: for the pair or pairs among the scorers
     *  chosen, for a single one, or if none is chosen for all pairs of scorers. [{ system, text }]; known of the pool as it ships. */
    carried(chosen) {
      const { page, reliable } = this, { carriers, systems, scorers, shipped } = page;
      if (!this.whole || !carriers || chosen.some((m) => m >= shipped)) return [];
      const [low, high] = reliable.map((stop) => this.at(stop));
      if (!low.spa || !high.spa) return [];
      if (!chosen.length) {
        const [k, kept, of] = carriers.pool || [];
        return k === undefined ? [] : [{ system: systems[k], text: `${of} pairs of scorers change places between the ends of the reliable interval. ` +
          `Without ${systems[k]} ${kept || "none"} of them still ${kept === 1 ? "does" : "do"} so in the same direction; no other system undoes more.` }];
      }
      if (chosen.length === 1) {
        const [m] = chosen, found = carriers.scorers[m];
        return found ? [{ system: systems[found[0]], text: `${Whichbird.named(this.page, m)} has rank ${low.rank[m]} at the lower end of the reliable interval and ${high.rank[m]} ` +
          `at the upper end; without ${systems[found[0]]}, ${found[1]} and ${found[2]}.` }] : [];
      }
      const lead = ({ spa }, m, n) => (Math.abs(spa[m] - spa[n]) > TIE ? Math.sign(spa[m] - spa[n]) : 0);
      return chosen.flatMap((m, at) => chosen.slice(at + 1).flatMap((n) => {
        const system = systems[parseInt(carriers.pairs[pairAt(Math.min(m, n), Math.max(m, n), shipped)], 36) - 1];
        const swapped = lead(low, m, n) * lead(high, m, n) < 0;
        if (system === undefined || !(swapped || this.between(m, n).moves)) return [];
        return [{ system, text: `${Whichbird.named(this.page, m)} and ${Whichbird.named(this.page, n)}: ${swapped ? "they change places" : "the lead moves"} between the ends of the reliable ` +
          `interval; without ${system} that is undone.` }];
      }));
    }

    /** What the worker needs to judge all scorers at a stop; null where no tests ship. `row` is the stop's place among those tests. */
    question(stop) {
      const n = stop - this.reliable[0];
      if (!this.whole || n < 0 || n >= this.page.verdict.opens.length) return null;
      const { beta, w, spa } = this.at(stop);
      const natural = stop === this.natural;
      return { beta: natural ? null : beta, weights: w, spa, row: natural ? 0 : 1 + n, spaNatural: this.at(this.natural).spa };
    }

    /** The worker's answer. */
    answer(stop, found) {
      this.page.judged.set(stop, found);
      const now = this.cache[stop];
      if (now) now.tested = judged(this.page, stop, now.order);
    }
  }

  /** The same with scorers of the reader's among them, as far as the worker has said. */
  function judged(page, stop, order) {
    const found = page.judged.get(stop);
    if (!found) return null;
    const also = (what) => found[what].map((yes, m) => yes || page.verdict[what][stop - page.reliable[0]].includes(m));
    const sizes = found.cluster.reduce((all, c) => all.set(c, (all.get(c) || 0) + 1), new Map());
    const first = found.cluster.map(() => false);
    order.forEach((m, place) => { first[m] = place === 0 || found.cluster[m] !== found.cluster[order[place - 1]]; });
    return { low: found.low, high: found.high, margin: found.margin, cluster: found.cluster, first, size: found.cluster.map((c) => sizes.get(c)),
             moved: also("moved"), turned: also("turned") };
  }

  /** What the tests say at a stop: null outside the reliable interval, else for every scorer its compatible ranks, the margin of its
   *  SPA, its cluster, whether it opens it, how many share it, and since β₀: whether it changed places with anyone so that the lead
   *  moved, and whether its order with anyone turned. */
  function tested(page, stop, order) {
    const { opens, fine } = page.verdict;
    const n = stop - page.reliable[0];
    if (n < 0 || n >= opens.length) return null;
    const starts = [0, ...opens[n], page.scorers.length];
    const [cluster, first, size] = [[], [], []];
    order.forEach((m, place) => {
      const c = starts.filter((start) => start <= place).length;
      [cluster[m], first[m], size[m]] = [c, place === starts[c - 1], starts[c] - starts[c - 1]];
    });
    const { low, high, margin } = page.allowed;
    return { low: low[n], high: high[n], margin: margin[n].map((x) => x / fine), cluster, first, size,
             moved: page.scorers.map((_, m) => page.verdict.moved[n].includes(m)),
             turned: page.scorers.map((_, m) => page.verdict.turned[n].includes(m)) };
  }

  Object.assign(Whichbird, { Contest, join, leave, source, counts, rows, spaOf, ranksOf, orderOf, pairAt });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
