/* Who wins: SPA from weights and p-values, ranks, clusters, at every stop of a dataset. Nothing here touches the page. */
(function (Whichbird) {
  "use strict";

  const TIE = 1e-9; // SPA values this close are one value: a sum over some hundred pairs errs by far less

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

  Object.assign(Whichbird, { prepare, moments, nearest });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
