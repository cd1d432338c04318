/* Which differences are more than noise, for scorers of your own, in the page: the closed forms of the chapter on that.
 *
 * Two questions, as in `whichbird.study`. *Clusters*: PERM-BOTH between your scorer and every other; in each resample the two
 * are swapped in half of the cells, and the lead is computed again with p-values in closed form. The swaps are the library's
 * own, bit by bit, but for those that it adds where a p-value is near .05: there a cluster may differ. *Rank interval*: documents are drawn again, whole contests are computed from sums over them, and
 * ranks that no lead rules out are kept. The draws here are not numpy's, so an end may differ by a place.
 *
 * All of it runs in a worker, made from this file's own text; nothing in here touches the page. Arrays are flat, row by row;
 * K systems, P pairs of them, N segments, M scorers, G documents, R resamples. */
(function install(Whichbird) {
  "use strict";

  const SAME = 1e-12; // a pair's Σd² below this share of its systems' size is rounding: they differ nowhere

  // --- the normal law: a table of Φ with its slope at both ends of each step, cubic in between: to about 1e-14 ------------
  const STEP = 1 / 512, REACH = 9, CELLS = Math.round((2 * REACH) / STEP);
  const density = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  const grid = (f) => Float64Array.from({ length: CELLS + 2 }, (_, n) => f(-REACH + n * STEP));
  const values = grid(tail), slopes = grid((x) => STEP * density(x));

  /** Φ by its own series near the middle, by a continued fraction in the tails. */
  function tail(x) {
    if (x > 0) return 1 - tail(-x);
    if (x > -3) {
      let term = x, sum = x;
      for (let n = 1; n < 200 && Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
        term *= (x * x) / (2 * n + 1);
        sum += term;
      }
      return 0.5 + density(x) * sum;
    }
    let fraction = 0;
    for (let n = 200; n >= 1; n--) fraction = n / (-x + fraction);
    return density(x) / (-x + fraction);
  }

  function phi(x) {
    if (x <= -REACH) return 0;
    if (x >= REACH) return 1;
    const at = (x + REACH) / STEP, n = Math.floor(at), t = at - n;
    const rise = values[n + 1] - values[n], s0 = slopes[n], s1 = slopes[n + 1];
    return values[n] + t * (s0 + t * (3 * rise - 2 * s0 - s1 + t * (s0 + s1 - 2 * rise)));
  }

  const pairCount = (K) => (K * (K - 1)) / 2;

  /** P-values of all pairs in closed form from scores x (K·N); NaN marks a missing one. p = 1 where two systems differ nowhere. */
  function closedP(x, K, N) {
    const out = new Float64Array(pairCount(K));
    for (let k = 0, pair = 0; k < K; k++) {
      for (let l = k + 1; l < K; l++, pair++) {
        let gap = 0, square = 0, size = 0;
        for (let n = 0; n < N; n++) {
          const a = x[k * N + n], b = x[l * N + n], d = a - b;
          if (d !== d) continue;
          gap += d;
          square += d * d;
          size += a * a + b * b;
        }
        out[pair] = square > SAME * size ? phi(-gap / Math.sqrt(square)) : 1;
      }
    }
    return out;
  }

  /** Scores with mean 0 and variance 1 over all cells. */
  function standard(x) {
    let mean = 0, square = 0;
    for (const v of x) mean += v;
    mean /= x.length;
    for (const v of x) square += (v - mean) * (v - mean);
    const scale = Math.sqrt(square / x.length);
    return Float64Array.from(x, (v) => (v - mean) / scale);
  }

  /** Products of all rows of x (K·N) with all rows of y: out (K·K). Two rows by two at a time, so that each number is read half as often. */
  function products(x, y, K, N, out) {
    for (let k = 0; k < K; k += 2) {
      const a = k * N, b = Math.min(k + 1, K - 1) * N;
      for (let l = 0; l < K; l += 2) {
        const c = l * N, d = Math.min(l + 1, K - 1) * N;
        let ac = 0, ad = 0, bc = 0, bd = 0;
        for (let n = 0; n < N; n++) {
          const xa = x[a + n], xb = x[b + n], yc = y[c + n], yd = y[d + n];
          ac += xa * yc;
          ad += xa * yd;
          bc += xb * yc;
          bd += xb * yd;
        }
        out[k * K + l] = ac;
        if (l + 1 < K) out[k * K + l + 1] = ad;
        if (k + 1 < K) out[(k + 1) * K + l] = bc;
        if (k + 1 < K && l + 1 < K) out[(k + 1) * K + l + 1] = bd;
      }
    }
  }

  /** PERM-BOTH of `own` against each of `others` (standard scores, K·N each): for every resample and pair of systems, how much closer
   * to people `own` comes than the other when the two are swapped in the cells that `random` picks. Each answer is
   * {observed (P), lead (R·P)}: any weighting of pairs makes a test of it. With u, v half the sum and half the difference
   * of the two scorers, and ε the signs, Σd and Σd² of a pair of systems follow from the products of the rows of εv with
   * each other and with those of u (see `whichbird.core.swap`). */
  function swaps(own, others, human, K, N, resamples, random, progress) {
    const P = pairCount(K), p = closedP(own, K, N), signs = new Float64Array(K * N), turned = new Float64Array(K * N);
    const [tt, tu] = [new Float64Array(K * K), new Float64Array(K * K)], swing = new Float64Array(K);
    const tests = others.map((other) => {
      const u = Float64Array.from(own, (x, n) => (x + other[n]) / 2), v = Float64Array.from(own, (x, n) => (x - other[n]) / 2);
      const uu = new Float64Array(K * K), vv = new Float64Array(K), sum = new Float64Array(K), q = closedP(other, K, N);
      products(u, u, K, N, uu);
      for (let k = 0; k < K; k++) {
        for (let n = k * N; n < (k + 1) * N; n++) {
          sum[k] += u[n];
          vv[k] += v[n] * v[n];
        }
      }
      const observed = Float64Array.from(p, (x, pair) => Math.abs(human[pair] - q[pair]) - Math.abs(human[pair] - x));
      return { u, v, uu, vv, sum, observed, lead: new Float32Array(resamples * P) };
    });
    for (let r = 0; r < resamples; r++) {
      for (let n = 0; n < K * N; n++) signs[n] = random.bit() ? 1 : -1;
      for (const { u, v, uu, vv, sum, lead } of tests) {
        for (let k = 0; k < K; k++) {
          let all = 0;
          for (let n = k * N; n < (k + 1) * N; n++) all += turned[n] = signs[n] * v[n];
          swing[k] = all;
        }
        products(turned, turned, K, N, tt);
        products(turned, u, K, N, tu);
        for (let k = 0, pair = r * P, at = 0; k < K; k++) {
          for (let l = k + 1; l < K; l++, pair++, at++) {
            const even = uu[k * K + k] + uu[l * K + l] - 2 * uu[k * K + l] + vv[k] + vv[l] - 2 * tt[k * K + l];
            const odd = 2 * (tu[k * K + k] - tu[k * K + l] - tu[l * K + k] + tu[l * K + l]);
            const gap = sum[k] - sum[l], turn = swing[k] - swing[l];
            const least = SAME * (uu[k * K + k] + uu[l * K + l] + vv[k] + vv[l]);
            const plus = even + odd > least ? phi(-(gap + turn) / Math.sqrt(even + odd)) : 1;
            const minus = even - odd > least ? phi(-(gap - turn) / Math.sqrt(even - odd)) : 1;
            lead[pair] = Math.abs(minus - human[at]) - Math.abs(plus - human[at]);
          }
        }
      }
      if (progress && r % 20 === 19) progress((r + 1) / resamples);
    }
    return tests.map(({ observed, lead }) => ({ observed, lead }));
  }

  /** Shares of resamples whose weighted lead is at least, and at most, the observed one. `pi` (P) are pair weights. */
  function shares(test, pi) {
    const P = pi.length, R = test.lead.length / P;
    let seen = 0, above = 0, below = 0;
    for (let n = 0; n < P; n++) seen += pi[n] * test.observed[n];
    for (let r = 0; r < R; r++) {
      let sum = 0;
      for (let n = 0; n < P; n++) sum += pi[n] * test.lead[r * P + n];
      // leads of resamples are kept in single precision, so equal means equal to its rounding
      if (sum >= seen - 1e-7) above++;
      if (sum <= seen + 1e-7) below++;
    }
    return [above / R, below / R];
  }

  /** Sums over documents: what a resample needs. `judges` are people first, then scorers, (K·N) each; `document` (N) from 0. `more` are
   *  segments that only have errors: { N, adequacy, fluency, document }. */
  function evidence(judges, adequacy, fluency, document, K, N, more = { N: 0, document: [] }) {
    const G = Math.max(...document, ...more.document) + 1, P = pairCount(K), J = judges.length;
    const gap = new Float64Array(G * J * P), square = new Float64Array(G * J * P), size = new Float64Array(G);
    const sums = ["a", "f", "rated"].map(() => new Float64Array(G * K));
    for (let n = 0; n < N; n++) size[document[n]]++;
    judges.forEach((x, j) => {
      for (let k = 0, pair = 0; k < K; k++) {
        for (let l = k + 1; l < K; l++, pair++) {
          for (let n = 0; n < N; n++) {
            const d = x[k * N + n] - x[l * N + n];
            if (d !== d) continue;
            const at = (document[n] * J + j) * P + pair;
            gap[at] += d;
            square[at] += d * d;
          }
        }
      }
    });
    for (const part of [{ N, adequacy, fluency, document }, more]) {
      for (let k = 0; k < K; k++) {
        for (let n = 0; n < part.N; n++) {
          const at = part.document[n] * K + k, a = part.adequacy[k * part.N + n], f = part.fluency[k * part.N + n];
          if (a !== a) continue;
          sums[0][at] += a;
          sums[1][at] += f;
          sums[2][at]++;
        }
      }
    }
    return { G, P, J, K, gap, square, size, adequacy: sums[0], fluency: sums[1], rated: sums[2] };
  }

  /** A contest drawn anew: `counts` (G) says how often each document is in it. Distances |p_human − p_scorer| (M·P), and system means. */
  function contest(e, counts) {
    const { G, P, J, K } = e, gap = new Float64Array(J * P), square = new Float64Array(J * P);
    let all = 0, drawn = 0;
    for (let g = 0; g < G; g++) {
      all += e.size[g];
      drawn += counts[g] * e.size[g];
    }
    for (let g = 0; g < G; g++) {
      if (!counts[g]) continue;
      const c = (counts[g] * all) / drawn, from = g * J * P; // evidence of as many segments as there are
      for (let n = 0; n < J * P; n++) {
        gap[n] += c * e.gap[from + n];
        square[n] += c * e.square[from + n];
      }
    }
    const p = (n) => (square[n] > 0 ? phi(-gap[n] / Math.sqrt(square[n])) : 1);
    const far = new Float32Array((J - 1) * P);
    for (let n = 0; n < P; n++) {
      const human = p(n);
      for (let j = 1; j < J; j++) far[(j - 1) * P + n] = Math.abs(human - p(j * P + n));
    }
    const means = [e.adequacy, e.fluency].map((x) => {
      const out = new Float64Array(K);
      for (let k = 0; k < K; k++) {
        let sum = 0, rated = 0;
        for (let g = 0; g < G; g++) {
          sum += counts[g] * x[g * K + k];
          rated += counts[g] * e.rated[g * K + k];
        }
        out[k] = rated ? sum / rated : NaN; // nobody rated this system on these documents
      }
      return out;
    });
    return { far, adequacy: means[0], fluency: means[1] };
  }

  /** SPA of all scorers from distances (M·P) and pair weights (P), which sum to one. */
  function spa(far, pi) {
    const P = pi.length;
    return Float64Array.from({ length: far.length / P }, (_, m) => {
      let sum = 0;
      for (let n = 0; n < P; n++) sum += pi[n] * far[m * P + n];
      return 1 - sum;
    });
  }

  /** Weights of pairs from weights of systems: w_k w_l over their sum. */
  function pairWeights(w) {
    const out = [];
    for (let k = 0; k < w.length; k++) for (let l = k + 1; l < w.length; l++) out.push(w[k] * w[l]);
    const all = out.reduce((sum, x) => sum + x, 0);
    return Float64Array.from(out, (x) => x / all);
  }

  /** Best and worst rank of every scorer that go with the data, and standard errors of SPA. `estimate` (M) is SPA in closed form, `drawn` a list
   * of resampled SPAs (M each), `wider` Student's quantile for the documents over the normal one, `factor` √(G / (G − 1)).
   * A scorer is surely behind another where its lead is negative by more than its critical value: a quantile of the largest
   * error among all its leads, simulated from the normal law with the covariance of what was drawn. */
  function ranks(estimate, drawn, wider, factor, random, level = 0.05, draws = 1000) {
    const M = estimate.length, R = drawn.length, mean = new Float64Array(M);
    for (const x of drawn) for (let m = 0; m < M; m++) mean[m] += x[m] / R;
    const error = drawn.map((x) => Float64Array.from(x, (v, m) => (factor * (v - mean[m])) / Math.sqrt(R)));
    const covariance = new Float64Array(M * M);
    for (const x of error) for (let i = 0; i < M; i++) for (let j = 0; j < M; j++) covariance[i * M + j] += x[i] * x[j];
    const se = (i, j) => Math.sqrt(Math.max(covariance[i * M + i] + covariance[j * M + j] - 2 * covariance[i * M + j], 0));
    const errors = Float64Array.from({ length: M * M }, (_, n) => se(Math.floor(n / M), n % M));
    const largest = Array.from({ length: M }, () => new Float64Array(draws)), noise = new Float64Array(M);
    for (let n = 0; n < draws; n++) {
      noise.fill(0); // a mixture of the resampled errors with normal weights has exactly their covariance
      for (const x of error) {
        const z = random.normal();
        for (let m = 0; m < M; m++) noise[m] += z * x[m];
      }
      for (let i = 0; i < M; i++) {
        for (let j = 0; j < M; j++) {
          const e = errors[i * M + j];
          if (e > 1e-9) largest[i][n] = Math.max(largest[i][n], Math.abs(noise[i] - noise[j]) / e);
        }
      }
    }
    return Array.from(estimate, (spa, i) => {
      const sorted = largest[i].sort(), at = (1 - level) * (draws - 1), low = Math.floor(at);
      const critical = wider * (sorted[low] + (at - low) * (sorted[Math.min(low + 1, draws - 1)] - sorted[low]));
      let best = 1, worst = M;
      for (let j = 0; j < M; j++) {
        const e = errors[i * M + j], lead = e > 1e-9 ? (spa - estimate[j]) / e : 0;
        if (lead < -critical) best++;
        if (lead > critical) worst--;
      }
      return { low: best, high: worst, se: Math.sqrt(covariance[i * M + i]) };
    });
  }

  /** The cluster of every scorer, from 1, by WMT's rule: best first, a new one where any member of the current is surely better. `p`(i, j) is the test of i over j. */
  function clusters(spas, p, level = 0.05) {
    const order = Array.from(spas, (_, m) => m).sort((a, b) => spas[b] - spas[a] || a - b);
    const out = new Array(spas.length);
    let members = [], number = 1;
    for (const m of order) {
      if (members.some((i) => p(i, m) <= level)) {
        members = [];
        number++;
      }
      members.push(m);
      out[m] = number;
    }
    return out;
  }

  Whichbird.verdict = { phi, closedP, standard, swaps, shares, evidence, contest, spa, pairWeights, ranks, clusters };
  (Whichbird.installs = Whichbird.installs || {}).verdict = install; // a worker is made from the text of its modules
})((globalThis.Whichbird = globalThis.Whichbird || {}));
