/* Scorers of your own, in the page: files are read, tested and put among the others by a worker. Nothing leaves the machine.
 *
 * The worker is made from the text of the modules it needs, so it works from disk. What the tests of other scorers need, their
 * segment scores, lies beside the page in one script for each dataset, asked for when the first file is dropped on it.
 *
 *   const own = Whichbird.own(root, generators);      // root: where `segments/<dataset>.js` lie; generators: numpy's states
 *   own.add(page, files, progress)                    // → promise of [{name, counts} or {refused}, …] with notes
 *   own.verdict(page, stop, progress)                 // → promise of {cluster, low, high, se} for shipped scorers and yours
 *   own.fits(pages, file)                             // → promise of the names of datasets that would take it
 *   own.remove(page, name); own.close()
 *
 * `page` is a dataset as `explorer.page_data` writes it; `generators` has {state, inc} for "permutation", "swap" and "draw". */
(function install(Whichbird) {
  "use strict";

  const NEEDS = ["random", "permutation", "python", "scorefile", "solve", "verdict", "desk"];

  /** What the worker does: one desk for each dataset, with the scores that were handed in. */
  function desk(Whichbird) {
    const RESAMPLES = 1000, FEWEST = 8, NORMAL = 1.959963984540054;
    const { random, permutation, scorefile, verdict } = Whichbird;
    const desks = new Map();
    let generators = null;
    const numbers = (name) => random(generators[name].state, generators[name].inc);

    function open(page) {
      if (!desks.has(page.name)) desks.set(page.name, { page, own: new Map(), segments: null, tests: new Map(), drawn: null });
      return desks.get(page.name);
    }

    function add({ page, files }, progress) {
      const d = open(page), out = [];
      files.forEach(({ name, bytes }, n) => {
        try {
          const source = { ...page, scorers: [...page.scorers, ...d.own.keys()] };
          const { scorers, notes } = scorefile.read(name, new Uint8Array(bytes), source);
          const every = Object.entries(scorers);
          every.forEach(([scorer, x], m) => {
            const share = (s) => progress((n + (m + s) / every.length) / files.length);
            const counts = permutation.counts(x, page.permutations, numbers("permutation"), share);
            const scores = Float64Array.from(x.flat());
            keep({ page, name: scorer, scores });
            out.push({ file: name, name: scorer, counts, scores, notes: m ? [] : notes });
          });
        } catch (error) {
          if (!(error instanceof scorefile.Refusal)) throw error;
          out.push({ file: name, refused: error.message });
        }
      });
      return out;
    }

    function keep({ page, name, scores }) {
      const d = open(page);
      d.own.set(name, scores);
      d.drawn = null;
      return null;
    }

    function remove({ page, name }) {
      const d = open(page);
      d.own.delete(name);
      for (const key of [...d.tests.keys()]) if (JSON.parse(key).includes(name)) d.tests.delete(key);
      d.drawn = null;
      return null;
    }

    /** Datasets that take a file as it is: for one that was handed to another. */
    function fits({ pages, file }) {
      return pages.filter((page) => {
        try { scorefile.read(file.name, new Uint8Array(file.bytes), page); return true; } catch (error) { return false; }
      }).map((page) => page.name);
    }

    function segments({ page, values }) {
      open(page).segments = values;
      return null;
    }

    /** PERM-BOTH of each own scorer against every other; a test that was made is kept. */
    function testAll(d, progress) {
      const { K, N, scorers, human } = d.segments, names = d.page.scorers, own = [...d.own.keys()];
      const scores = (name) => d.own.get(name) || scorers[names.indexOf(name)];
      own.forEach((mine, n) => {
        const rivals = [...names, ...own.slice(0, n)].filter((other) => !d.tests.has(JSON.stringify([mine, other])));
        if (!rivals.length) return;
        const standard = (name) => verdict.standard(scores(name));
        const done = verdict.swaps(standard(mine), rivals.map(standard), human, K, N, RESAMPLES, numbers("swap"),
          (s) => progress((0.85 * (n + s)) / own.length));
        rivals.forEach((other, m) => d.tests.set(JSON.stringify([mine, other]), done[m]));
      });
    }

    /** Contests of documents drawn anew, with all scorers in them. */
    function drawAll(d, progress) {
      if (d.drawn) return;
      const { K, N, scorers, total, adequacy, fluency, document, more } = d.segments;
      const e = verdict.evidence([total, ...scorers, ...d.own.values()], adequacy, fluency, document, K, N, more);
      const r = numbers("draw"), contests = [];
      for (let n = 0; n < RESAMPLES; n++) {
        const counts = new Float64Array(e.G);
        for (let g = 0; g < e.G; g++) counts[r.below(e.G)]++;
        contests.push(verdict.contest(e, counts));
        if (n % 20 === 19) progress(0.85 + (0.1 * n) / RESAMPLES);
      }
      d.drawn = { observed: verdict.contest(e, new Float64Array(e.G).fill(1)), contests, G: e.G, solved: new Map() };
    }

    /** Weights of pairs in a contest at a target; null where it is not reached. No target: all systems count the same. */
    function weigh(contest, beta) {
      const K = contest.adequacy.length;
      if (beta === null) return verdict.pairWeights(new Float64Array(K).fill(1 / K));
      const [a, f] = [Array.from(contest.adequacy), Array.from(contest.fluency)];
      const pool = [...a, ...f].some(Number.isNaN) ? null : Whichbird.pool(a, f);
      if (!pool || beta < pool.low || beta > pool.high) return null;
      return verdict.pairWeights(Whichbird.reweight(pool, beta).weights);
    }

    /** Clusters and rank intervals at a stop. `weights` are the page's there, `spa` what it ranks by, `row` the stop's place among the tests that ship. */
    function judge({ page, beta, weights, spa, row, spaNatural }, progress) {
      const d = open(page), names = page.scorers, own = [...d.own.keys()], M = names.length + own.length;
      testAll(d, progress);
      drawAll(d, progress);
      const pi = verdict.pairWeights(weights);
      const p = Array.from({ length: M }, () => new Float64Array(M).fill(1));
      for (let i = 0; i < names.length; i++) for (let j = 0; j < names.length; j++) if (d.segments.better(row, i, j)) p[i][j] = 0;
      own.forEach((mine, n) => [...names, ...own.slice(0, n)].forEach((other, j) => {
        const at = names.length + n;
        [p[at][j], p[j][at]] = verdict.shares(d.tests.get(JSON.stringify([mine, other])), pi);
      }));
      const { contests, observed, G } = d.drawn;
      const drawn = [], before = [], since = []; // resampled SPAs at this balance, at the natural one, and the difference
      contests.forEach((c, n) => {
        const w = weigh(c, beta);
        if (n % 20 === 19) progress(0.95 + (0.05 * n) / contests.length);
        if (!w) return;
        before.push(verdict.spa(c.far, weigh(c, null)));
        drawn.push(verdict.spa(c.far, w));
        since.push(drawn.at(-1).map((x, m) => x - before.at(-1)[m]));
      });
      const enough = 2 * drawn.length >= contests.length;
      const found = enough
        ? verdict.ranks(verdict.spa(observed.far, weigh(observed, beta)), drawn, d.segments.wider, Math.sqrt(G / (G - 1)), numbers("draw"))
        : Array.from({ length: M }, () => ({ low: 1, high: M, se: NaN }));
      const factor = Math.sqrt(G / (G - 1)), t = d.segments.wider * NORMAL;
      const [moved, turned] = [new Array(M).fill(false), new Array(M).fill(false)];
      const scatter = (list, i, j) => { // the standard error of a lead, or of its change
        const x = list.map((s) => s[i] - s[j]), mean = x.reduce((sum, v) => sum + v, 0) / x.length;
        return factor * Math.sqrt(x.reduce((sum, v) => sum + (v - mean) ** 2, 0) / x.length);
      };
      if (enough && G >= FEWEST) {
        own.forEach((mine, n) => [...names, ...own.slice(0, n)].forEach((other, j) => {
          const at = names.length + n, then = spaNatural[at] - spaNatural[j], now = spa[at] - spa[j];
          if (!(then * now < 0)) return;
          if (Math.abs(now - then) > t * scatter(since, at, j)) moved[at] = moved[j] = true;
          if (Math.abs(now) > t * scatter(drawn, at, j) && Math.abs(then) > t * scatter(before, at, j)) turned[at] = turned[j] = true;
        }));
      }
      return {
        scorers: [...names, ...own],
        cluster: verdict.clusters(spa, (i, j) => p[i][j]),
        low: found.map((x) => x.low), high: found.map((x) => x.high), se: found.map((x) => x.se), margin: found.map((x) => t * x.se), moved, turned,
        p: own.map((_, n) => [Array.from(p[names.length + n]), Array.from(p, (line) => line[names.length + n])]),
        reached: drawn.length,
      };
    }

    const jobs = { add, keep, remove, fits, segments, judge };
    globalThis.onmessage = ({ data: { id, job, what } }) => {
      if (job === "generators") { generators = what; return; }
      let last = 0;
      const progress = (share) => {
        const now = Date.now();
        if (now - last > 80) { last = now; globalThis.postMessage({ id, progress: share }); }
      };
      try {
        if (job === "segments") what.values = unpack(what.values, what.page, verdict);
        globalThis.postMessage({ id, done: jobs[job](what, progress) });
      } catch (error) {
        globalThis.postMessage({ id, failed: String((error && error.message) || error) });
      }
    };

    /** Numbers from the bytes of a script of segments; see `laboratory.segment_script` for their order. */
    function unpack({ bytes, info }, page, verdict) {
      const { K, N, M, low, high, wider } = info, cells = K * N;
      const view = new DataView(bytes.buffer, bytes.byteOffset);
      const fine = M * cells, ints = fine + Math.ceil(fine / 2);
      const scorers = Array.from({ length: M }, (_, m) => {
        const out = new Float64Array(cells), step = (high[m] - low[m]) / 4095;
        for (let n = 0, at = m * cells; n < cells; n++, at++) {
          const nibble = (bytes[fine + (at >> 1)] >> (at & 1 ? 4 : 0)) & 15;
          out[n] = low[m] + step * (bytes[at] * 16 + nibble);
        }
        return out;
      });
      let at = ints; // where the next numbers are
      const people = (size) => Float64Array.from({ length: size }, () => {
        const value = view.getInt32(at, true);
        at += 4;
        return value === -2147483648 ? NaN : value / info.unit;
      });
      const documents = (size) => Int32Array.from({ length: size }, () => view.getUint16((at += 2) - 2, true));
      const total = people(cells), adequacy = people(cells), fluency = people(cells), document = documents(N);
      const E = info.more || 0; // segments with errors and no total: they count for balances, not for scorers
      const more = { N: E, adequacy: people(K * E), fluency: people(K * E), document: documents(E) };
      const bits = at;
      const better = (row, i, j) => {
        const bit = (row * M + i) * M + j;
        return ((bytes[bits + (bit >> 3)] >> (bit & 7)) & 1) === 1;
      };
      return { K, N, M, scorers, total, adequacy, fluency, document, more, wider, better, human: verdict.closedP(total, K, N) };
    }
  }

  /** The worker, from the texts of the modules. */
  function start() {
    const installs = { ...Whichbird.installs, desk };
    const text = `"use strict";globalThis.Whichbird={};${NEEDS.map((name) => `(${installs[name]})(globalThis.Whichbird);`).join("\n")}`;
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const worker = new Worker(address);
    URL.revokeObjectURL(address);
    return worker;
  }

  async function inflate(text) {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  const waiting = new Map(); // for scripts of segments, by dataset
  /** Called by a script of segments. */
  Whichbird.receive = (name, info, text) => waiting.get(name)?.({ info, text });

  /** The segment scores of a dataset: a script beside the page, which works from disk where a request would not. */
  function fetchSegments(root, name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      waiting.set(name, (found) => { waiting.delete(name); resolve(found); });
      script.src = `${root}/segments/${encodeURIComponent(name)}.js`;
      script.onerror = () => reject(new Error(`the segment scores of ${name} are not beside this page, so your scorer is ranked without tests`));
      document.head.append(script);
    });
  }

  Whichbird.own = function (root, generators) {
    const workers = new Map(), asked = new Map(), loaded = new Map();
    let number = 0;

    /** Two workers: a clerk who reads files and runs permutation tests at once, and a judge, who may be busy for a while. */
    function ask(who, job, what, progress, transfer = []) {
      if (!workers.has(who)) {
        const worker = start();
        workers.set(who, worker);
        worker.onmessage = ({ data }) => {
          const { resolve, reject, progress } = asked.get(data.id);
          if ("progress" in data) { if (progress) progress(data.progress); return; }
          asked.delete(data.id);
          if ("failed" in data) reject(new Error(data.failed)); else resolve(data.done);
        };
        worker.postMessage({ job: "generators", what: generators });
      }
      return new Promise((resolve, reject) => {
        asked.set(++number, { resolve, reject, progress });
        workers.get(who).postMessage({ id: number, job, what }, transfer);
      });
    }

    async function add(page, files, progress) {
      const read = await Promise.all(Array.from(files, async (file) => ({ name: file.name, bytes: await file.arrayBuffer() })));
      const source = Whichbird.source(page);
      const found = await ask("clerk", "add", { page: source, files: read }, progress, read.map((file) => file.bytes));
      for (const { name, scores } of found) if (scores) ask("judge", "keep", { page: source, name, scores });
      return found;
    }

    async function fits(pages, file) {
      const bytes = await file.arrayBuffer();
      return ask("clerk", "fits", { pages: pages.map(Whichbird.source), file: { name: file.name, bytes } }, null, [bytes]);
    }

    async function verdict(page, stop, progress) {
      if (!loaded.has(page.name)) {
        loaded.set(page.name, (async () => {
          const { info, text } = await fetchSegments(root, page.name);
          const bytes = await inflate(text);
          await ask("judge", "segments", { page: Whichbird.source(page), values: { info, bytes } }, null, [bytes.buffer]);
        })());
        loaded.get(page.name).catch(() => loaded.delete(page.name));
      }
      await loaded.get(page.name);
      return ask("judge", "judge", { page: Whichbird.source(page), ...stop }, progress);
    }

    return {
      add, fits, verdict,
      remove(page, name) { for (const who of workers.keys()) ask(who, "remove", { page: Whichbird.source(page), name }); },
      close() { workers.forEach((worker) => worker.terminate()); workers.clear(); asked.clear(); loaded.clear(); },
    };
  };
  (Whichbird.installs = Whichbird.installs || {}).desk = desk;
})((globalThis.Whichbird = globalThis.Whichbird || {}));
