/* The solver: the most even weighting of a pool at a target balance, for one target at a time, small enough to answer a dragging hand.
 *
 * It is `whichbird.solve.reweight` without arrays of targets and without exact arithmetic; the reasons stand there and in the
 * chapter "Certified reweighting". In short: stretch the aspect whose share must grow, so that the target says var_u ≥ var_v.
 * Optimal weights are a clipped saddle, in proportion to max(0, z_k) with z_k = h + (u_k − p)² − (v_k − q)²: three numbers.
 * And any three numbers bound every weighting w that meets the target: (mean_v(w) − q)² ≥ h − √P ‖z₊‖ if Σw² ≤ P.
 *
 *   const pool = Whichbird.pool(adequacy, fluency);   // null if the systems do not differ, or are fewer than two
 *   pool.low, pool.high, pool.natural                 // the range of balances, and that of equal weights
 *   Whichbird.reweight(pool, 0.6)                     // { weights, beta, ess, eta, lam, certificate }
 *   Whichbird.reliable(pool)                          // [from, to]: the balances that keep an ESS of 0.9 K
 *
 * `certificate` is "uniform", "pair" (an end of the range), "dual" (one saddle proves it), "interval" (several do), FOUND: the best
 * that was found, without a proof, or MISSED: no weighting with this balance was found, and all weights are zero. Proofs are in doubles,
 * with their rounding allowed for; where systems or target are too delicate for that, nothing is claimed. Nothing here touches the page. */
(function install(Whichbird) {
  "use strict";

  const EPS = 2 ** -52;
  const FOUND = "best found";
  const MISSED = "not found";
  const DUAL_GAP = 1e-11; // the relative gap one saddle proves
  const INTERVAL_GAP = 5e-10; // what intervals prove
  const OFF = 1e-12; // how exactly a target is met, for a proof
  const SEEN = 1e-7; // and at all: four decimals are shown
  const GRID = 8; // starting centres spread evenly over the range of v, and as many spread as the systems are
  const SPREAD = 4; // ratio of successive distances of the intervals from the best mean
  const ROUNDS = 60; // of gap splitting
  const ROWS = 600; // saddles before a proof is given up; thirty are usual
  const STEPS = 60; // of Newton's method in one climb; most take under ten
  const TRIES = 15; // of Newton's method from the uniform weighting
  const CLOSE = 1e-5; // systems this near to each other, relative to the spread, are too delicate for a proof in doubles;
  const NEAR = 1e-6; // so are targets this near, relatively, to an end of the range or to the balance of two systems in use,
  const EXTREME = 1e-3; // and those this near to 0 or 1

  // --- sums over systems ---------------------------------------------------------------------------------------------

  function dot(x, y) {
    let sum = 0;
    for (let k = 0; k < x.length; k++) sum += x[k] * y[k];
    return sum;
  }
  const total = (x) => x.reduce((sum, v) => sum + v, 0);
  const most = (x) => x.reduce((best, v) => Math.max(best, v), -Infinity);
  const least = (x) => x.reduce((best, v) => Math.min(best, v), Infinity);
  const places = (x) => x.map((_, k) => k);

  function variance(x, w) {
    const mean = dot(x, w);
    return x.reduce((sum, v, k) => sum + w[k] * (v - mean) ** 2, 0);
  }

  /** β of weights that sum to one; scores are taken from the heaviest system, around which close ones keep their differences. */
  function balanceOf(a, f, w) {
    const k = w.indexOf(most(w));
    const [va, vf] = [a, f].map((x) => variance(x.map((v) => v - x[k]), w));
    return va / (va + vf);
  }

  /** β of a pair with these gaps; NaN where both are zero. */
  function gapBalance(da, df) {
    const big = Math.max(Math.abs(da), Math.abs(df)); // dividing first keeps tiny gaps from squaring to zero
    const [x, y] = [da / big, df / big];
    return (x * x) / (x * x + y * y);
  }

  // --- pools ---------------------------------------------------------------------------------------------------------

  /** Values that differ by no more than their rounding, made equal: the smallest of a group stands for it. */
  function snapped(x) {
    const noise = 4 * EPS * most(x.map(Math.abs));
    const out = x.slice();
    let first = -Infinity;
    places(x).sort((k, l) => x[k] - x[l]).forEach((k) => {
      if (x[k] - first > noise) first = x[k];
      out[k] = first;
    });
    return out;
  }

  /** A pool brought to the origin and to unit spread by one scale, with its range and its natural balance. */
  function pool(adequacy, fluency) {
    const K = adequacy.length;
    if (K < 2 || fluency.length !== K || ![...adequacy, ...fluency].every(Number.isFinite)) return null;
    const spread = (x) => most(x) - least(x);
    const scale = Math.max(spread(adequacy), spread(fluency));
    if (!(scale > 4 * EPS * most([...adequacy, ...fluency].map(Math.abs)))) return null;
    const given = [adequacy, fluency].map((x) => snapped([...x]));
    const [a, f] = given.map((x) => {
      const mean = total(x) / K;
      return x.map((v) => (v - mean) / scale);
    });
    const sorted = (x, y) => places(x).sort((k, l) => x[k] - x[l] || y[k] - y[l]);
    const steps = (order) => order.slice(1).map((k, n) => gapBalance(...given.map((x) => x[k] - x[order[n]])))
      .filter((b) => !Number.isNaN(b)); // copies have no balance
    // the slope between two systems is a mean of the slopes of the steps between them: extremes are among neighbours
    const low = least(steps(sorted(given[0], given[1])));
    const high = most(steps(sorted(given[1], given[0])));
    const natural = Math.min(Math.max(balanceOf(a, f, a.map(() => 1 / K)), low), high); // on a line all three are one, but for rounding
    return { K, a, f, scale, given, low, high, natural, delicate: delicate(a, f) };
  }

  /** Whether doubles may be too coarse for a pool: near-copies, nearly all in one place, or all next to a line. */
  function delicate(a, f) {
    const [aa, ff, af] = [[a, a], [f, f], [a, f]].map(([x, y]) => dot(x, y)); // both are centred
    if (!(aa * ff > 0) || 1 - (af * af) / (aa * ff) < EXTREME) return true;
    const quarter = Math.floor(a.length / 4);
    const core = [a, f].map((x) => {
      const sort = [...x].sort((s, t) => s - t);
      return sort[sort.length - 1 - quarter] - sort[quarter];
    });
    if (most(core) < EXTREME) return true;
    return a.some((_, k) => a.some((_x, l) => {
      const gap = Math.max(Math.abs(a[k] - a[l]), Math.abs(f[k] - f[l]));
      return gap > 0 && gap < CLOSE;
    }));
  }

  /** The number of each system's point, points sorted by (y, x), and the gaps from point to point. */
  function points(x, y) {
    const order = places(x).sort((k, l) => y[k] - y[l] || x[k] - x[l]);
    const [point, gaps] = [[], []];
    order.forEach((k, n) => {
      const gap = n ? [x[k] - x[order[n - 1]], y[k] - y[order[n - 1]]] : [0, 0];
      if (gap[0] || gap[1]) gaps.push(gap);
      point[k] = gaps.length;
    });
    return { point, gaps };
  }

  /** Uniform weights on the fullest line of points whose pairs have the largest share of x. */
  function endLine(x, y) {
    const { point, gaps } = points(x, y);
    const slopes = gaps.map(([dx, dy]) => Math.abs(dy) / Math.abs(dx));
    const flat = least(slopes) * (1 + 16 * EPS);
    const signs = gaps.map(([dx, dy], n) => (slopes[n] <= flat ? (dy === 0 || (dx < 0) === (dy < 0) ? 1 : -1) : 0));
    let best = null;
    for (let from = 0; from < signs.length; from++) {
      if (!signs[from] || (from && signs[from - 1] === signs[from])) continue;
      let to = from;
      while (signs[to + 1] === signs[from]) to++;
      const on = point.map((n) => n >= from && n <= to + 1);
      const full = on.filter(Boolean).length;
      if (!best || full > best.full) best = { full, weights: on.map((yes) => (yes ? 1 / full : 0)) };
    }
    return best.weights;
  }

  // --- saddles: what they exclude ------------------------------------------------------------------------------------

  /** h − √P ‖z₊‖, the square of the half-width a saddle excludes, less a bound on its rounding error; and ‖z₊‖ / √P. */
  function excluded(u, v, { h, p, q }, P) {
    let [nn, tt] = [0, 0];
    for (let k = 0; k < u.length; k++) {
      const [du2, dv2] = [(u[k] - p) ** 2, (v[k] - q) ** 2];
      const z = h + du2 - dv2;
      if (z > 0) {
        nn += z * z;
        tt += (Math.abs(h) + du2 + dv2) ** 2;
      }
    }
    const [n, root] = [Math.sqrt(nn), Math.sqrt(P)];
    const slack = EPS * (4 * Math.abs(h) + root * (8 * Math.sqrt(tt) + u.length * n));
    return { square: h - root * n - slack, s: n / root };
  }

  /** Whether a saddle alone excludes every mean at the level P: the dual test. */
  function alone(u, v, saddle, P) {
    const { h, p, q } = saddle;
    const { square, s } = excluded(u, v, saddle, P);
    const own = u.map((_, k) => Math.max(0, h + (u[k] - p) ** 2 - (v[k] - q) ** 2) / (s || 1));
    const [offU, offV] = [dot(own, u) - p, dot(own, v) - q];
    const [uu, uv, vv] = [dot(u, u), dot(u, v), dot(v, v)];
    const den = 2 * (uu * vv - uv * uv) + s * vv;
    // for every y = q′ − own mean of v:  (y + offV)² < square + s [(uu + s/2) y² + 2 offU uv y + offU² vv] / den
    const a = (s * (uu + s / 2)) / den - 1;
    const b = (s * offU * uv) / den - offV;
    const c = square + (s * offU * offU * vv) / den - offV * offV;
    return a > 1e-9 && c > 0 && b * b < a * c; // a is known to fewer digits where the pool is nearly a line
  }

  /** |β(w) − β̂|; NaN where all weight is in one place. */
  function offBalance(u, v, w, stretch) {
    const [vu, vv] = [variance(u, w), variance(v, w)];
    return Math.abs(vu - vv) / ((1 / stretch ** 2 + 1) * (vu + stretch ** 2 * vv));
  }

  // --- saddles: the way to the best ----------------------------------------------------------------------------------

  const solve2 = (aa, ab, bb, a, b) => {
    const det = aa * bb - ab * ab;
    return [(bb * a - ab * b) / det, (aa * b - ab * a) / det];
  };
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const far = (miss) => Math.max(Math.abs(miss[0]), Math.abs(miss[1]));

  /** The weights of a saddle; how far p, q are from their means and these from the constraint; and Newton's step in (h, p, q). */
  function stationarity(u, v, { h, p, q }, margin = 0) {
    const K = u.length;
    const w = new Array(K);
    let [sum, f0, f1, f2, m, mu, mv, uu, uv, vv, mg, ug, vg] = Array(13).fill(0);
    for (let k = 0; k < K; k++) {
      const [du, dv] = [u[k] - p, v[k] - q];
      const g = (du - dv) * (du + dv);
      const z = h + g;
      w[k] = 0;
      if (z > -margin * h) { // with a margin, a step can bring a system in
        w[k] = z;
        sum += z; f0 += z * du; f1 += z * dv; f2 += z * g;
        m += 1; mu += du; mv += dv; uu += du * du; uv += du * dv; vv += dv * dv;
        mg += g; ug += du * g; vg += dv * g;
      }
    }
    const rows = [[mu, -2 * uu - sum, 2 * uv], [mv, -2 * uv, 2 * vv - sum], [mg, -2 * ug - 2 * f0, 2 * vg + 2 * f1]];
    const over = [cross(rows[1], rows[2]), cross(rows[2], rows[0]), cross(rows[0], rows[1])]; // cofactors
    const det = dot(rows[0], over[0]);
    const step = [0, 1, 2].map((n) => -(f0 * over[0][n] + f1 * over[1][n] + f2 * over[2][n]) / det);
    return { w: w.map((z) => z / sum), miss: [f0 / sum, f1 / sum, f2 / sum], step };
  }

  /** How far a saddle is from a local optimum: its means in units of √h, its balance as it is. */
  const errorOf = (u, v, stretch, h, { w, miss }) => Math.max(far(miss) / Math.sqrt(h), offBalance(u, v, w, stretch));

  /** Newton's method from the uniform weighting. Near the natural balance five or six steps settle all digits; else it is a guess. */
  function ascend(u, v, stretch) {
    let [p, q] = [total(u) / u.length, total(v) / v.length];
    const g = u.map((_, k) => (u[k] - p) ** 2 - (v[k] - q) ** 2);
    let h = -dot(g, g) / total(g); // the constraint met to first order, were p and q to stay
    let [best, before] = [{ error: Infinity }, Infinity];
    for (let n = 0; n < TRIES; n++) {
      const found = stationarity(u, v, { h, p, q });
      const error = errorOf(u, v, stretch, h, found);
      if (error < best.error) best = { error, h, p, q, w: found.w };
      // far away an error may grow once in a while; one that does not halve near the end is rounding
      if (!(error > 1e-15 && (error <= 0.5 * before || (error > 1e-9 && Number.isFinite(error))))) break;
      const cut = Math.min(1, (0.5 * h) / Math.abs(found.step[0]));
      [h, p, q] = [h + cut * found.step[0], p + cut * found.step[1], q + cut * found.step[2]];
      before = error;
    }
    return best;
  }

  /** Move (h, p) uphill with the centre q fixed. With P the hill is h − √P ‖z₊‖, the square of the half-width excluded; without, it
   *  is h / ‖z₊‖, whose maximum is the root of the least collision that this q allows. Returns h, p, q and the height reached.
   *
   *  A norm has a sharp tip, where Newton's method is lost. So climb h − ½ s P − ½ ‖z₊‖² / s, smooth, with s > 0 an unknown too: its
   *  best value ‖z₊‖ / √P gives the hill back. */
  function climb(u, v, q, h, p, P = null) {
    const fixed = P !== null;
    const level = fixed ? P : 1;
    const v2 = v.map((x) => (x - q) ** 2);
    let [s, failed, top] = [NaN, 0, -Infinity];
    let [best, way] = [[s, h, p], [0, 0, 0]];
    for (let n = 0; n < STEPS; n++) {
      let [nn, sz, szu, m, mu, muu, peak] = [0, 0, 0, 0, 0, 0, -Infinity];
      for (let k = 0; k < u.length; k++) {
        const du = u[k] - p;
        const lift = du * du - v2[k];
        const z = h + lift;
        if (lift > peak) peak = lift;
        if (z > 0) { nn += z * z; sz += z; szu += z * du; m += 1; mu += du; muu += du * du; }
      }
      if (!fixed) s = nn / h;
      else if (n === 0) s = nn > 0 ? Math.sqrt(nn / level) : most(v2);
      const height = fixed ? h - 0.5 * (s * level + nn / s) : h / Math.sqrt(nn);
      // minus the second derivatives, times s, in (relative change of s, change of z at u = p, change of p)
      const [hh, hp, pp, sh, sp] = [m, -2 * mu, 4 * muu + 2 * s, -sz, 2 * szu];
      const [gs, gh, gp] = [fixed ? 0.5 * (nn - level * s * s) : 0, s - sz, 2 * szu];
      const [th, tp] = [sh / nn, sp / nn]; // eliminate s; equal weights would make what remains singular
      let [dh, dp] = solve2(hh - sh * th * (1 - 1e-12), hp - sh * tp, pp - sp * tp, gh - th * gs, gp - tp * gs);
      let ds = (gs - sh * dh - sp * dp) / nn;
      let gain = (gs * ds + gh * dh + gp * dp) / s; // twice the rise Newton expects
      if (fixed && !(Math.abs(ds - 1) < 1.75)) { // first the best (h, p) for this s, then another s, not too far away
        const [ch, cp] = solve2(hh, hp, pp, gh, gp);
        const [rh, rp] = solve2(hh, hp, pp, -sh, -sp);
        const cs = gh * ch + gp * cp > 0.1 * level * s * s ? 0 : ds > 0 ? 2.75 : -0.75;
        // where z₊ has vanished, go up until a system is in use
        [ds, dh, dp] = nn > 0 ? [cs, ch + cs * rh, cp + cs * rp] : [0, s - h - peak, 0];
        gain = Infinity;
      }
      dh -= dp * dp;
      if (!fixed) {
        const cut = Math.min(1, (0.8 * h) / Math.abs(dh));
        [dh, dp] = [cut * dh, cut * dp];
      }
      ds *= s;
      const better = height > top;
      // this close to its widest an interval is wide enough; above √½ no two systems reach the target with this q
      const done = (better && gain <= 1e-13 * Math.abs(h)) || (fixed ? better && gain < 0.02 * height : height > 0.75);
      failed = better ? 0 : failed + 1;
      if (better) [top, best, way] = [height, [s, h, p], [ds, dh, dp]];
      if (done) break;
      // beyond a kink the step from the failed point often lands right; if not, go back and step shorter
      if (better || (failed % 2 === 1 && Number.isFinite(dh + dp))) [s, h, p] = [s + ds, h + dh, p + dp];
      else {
        const short = 0.25 ** Math.floor((failed + 1) / 2);
        [s, h, p] = best.map((x, i) => x + short * way[i]);
      }
    }
    return { h: best[1], p: best[2], q, height: top };
  }

  /** From q down to the bottom of its valley of least collision, inside (left, right), to all digits: h, p, q and weights. */
  function descend(u, v, stretch, start, left, right) {
    let at = start;
    if (at.height === undefined) {
      at = climb(u, v, at.q, at.h > 0 ? at.h : 0.5 * most(v.map((x) => (x - at.q) ** 2)), at.p);
    }
    let found = stationarity(u, v, at);
    for (let n = 0; n < 60; n++) {
      const { miss, step } = found;
      if (Math.min(miss[1] ** 2, step[2] ** 2) <= 1e-14 * at.h) break; // near enough for Newton's last steps
      // the curve falls towards the weights' own mean of v, so that side of q brackets the bottom
      if (miss[1] > 0) left = at.q;
      if (miss[1] < 0) right = at.q;
      const inside = at.q + step[2] > left && at.q + step[2] < right;
      const trial = inside ? at.q + step[2] : 0.5 * (left + right);
      const close = inside && Math.abs(step[0]) < 0.5 * at.h;
      const next = climb(u, v, trial, close ? at.h + step[0] : at.h, close ? at.p + step[1] : at.p);
      if (next.height <= at.height * (1 + 1e-14)) {
        at = next;
        found = stationarity(u, v, at);
      } else if (trial < at.q) left = trial;
      else right = trial;
    }
    let error = errorOf(u, v, stretch, at.h, found);
    for (const margin of [0, 0, 1e-4, 1e-6, 0, 0]) {
      if (error <= 1e-15) break;
      const { step } = margin ? stationarity(u, v, at, margin) : found;
      const next = { h: at.h + step[0], p: at.p + step[1], q: at.q + step[2] };
      const then = stationarity(u, v, next);
      const left_ = errorOf(u, v, stretch, next.h, then);
      if (left_ < error) [at, found, error] = [next, then, left_];
    }
    if (!(offBalance(u, v, found.w, stretch) <= 1e-13)) return repair(u, v, found.w);
    return { h: at.h, p: at.p, q: at.q, w: found.w };
  }

  /** Move a little weight to one system, the one that leaves the least collision, so that var_u = var_v. */
  function repair(u, v, w) {
    const [p, q, ww] = [dot(w, u), dot(w, v), dot(w, w)];
    const g = u.map((_, k) => (u[k] - p) ** 2 - (v[k] - q) ** 2);
    const off = dot(w, g);
    let best = { collision: Infinity };
    g.forEach((gk, k) => {
      const share = -off / gk;
      if (!(share >= 0 && share < 1)) return;
      const collision = (1 - share) ** 2 * ww + 2 * share * (1 - share) * w[k] + share ** 2;
      if (collision < best.collision) best = { collision, share, k };
    });
    if (best.k === undefined) return { h: NaN, p, q, w: w.map(() => NaN) };
    return { h: Math.max(0, -g[best.k]), p, q,
             w: w.map((x, k) => x * (1 - best.share) + (k === best.k ? best.share : 0)) };
  }

  // --- one target ----------------------------------------------------------------------------------------------------

  /** The search for one target: saddles that exclude means of v, and the best weighting they have led to. */
  class Search {
    constructor(x, v, stretch) {
      Object.assign(this, { x, v, stretch, u: x.map((value) => stretch * value), rows: [], best: null });
      this.point = points(x, v).point;
      [this.bottom, this.top] = [least(v), most(v)];
    }

    /** Take note of a weighting, if it is feasible. */
    offer({ h, p, q, w }) {
      if (!(offBalance(this.u, this.v, w, this.stretch) <= OFF / 2)) return;
      const held = [];
      w.forEach((share, k) => { held[this.point[k]] = (held[this.point[k]] || 0) + share; });
      if (most(held) > 1 - 1e-9) return; // all weight on copies of one system has no balance, whatever rounding says
      const o = { h, p, q, w: w.map((share) => share + 0), P: dot(w, w) };
      if (!this.best || o.P < this.best.P) this.best = o;
      this.rows.push(o);
    }

    descend(start, left, right) { this.offer(descend(this.u, this.v, this.stretch, start, left, right)); }

    /** The optimum at the end of the range, and the valleys of least collision as a grid of q shows them. */
    start() {
      const { u, v } = this;
      const line = endLine(this.x, v);
      this.offer(repair(u, v, line));
      this.lines();
      const sort = [...v].sort((s, t) => s - t);
      const shares = Array.from({ length: GRID }, (_, n) => (n + 0.5) / GRID);
      const centres = [...shares.map((share) => this.bottom + share * (this.top - this.bottom)),
        ...shares.map((share) => sort[Math.floor(share * v.length)]), dot(line, v)];
      const grid = [...new Set(centres)].sort((s, t) => s - t)
        .map((q) => climb(u, v, q, 0.5 * most(v.map((y) => (y - q) ** 2)), 0)); // high enough for most systems to be in use
      this.rows.push(...grid);
      const low = least(grid.map((row) => row.height));
      grid.forEach((row, n) => {
        const [before, after] = [grid[n - 1], grid[n + 1]];
        if ((before && row.height > before.height) || (after && row.height > after.height) || row.height > 1.1 * low) return;
        this.descend(row, before ? before.q : this.bottom, after ? after.q : this.top);
      });
    }

    /** Uniform weights on systems of one line with exactly the target's slope: any weights on them have the balance, and no
     *  saddle leads there. In stretched scores u + v or u − v is constant. */
    lines() {
      const { u, v, point } = this;
      for (const sign of [1, -1]) {
        const e = u.map((x, k) => x + sign * v[k]);
        const tolerance = 8 * EPS * most(e.map(Math.abs));
        const order = places(e).sort((k, l) => e[k] - e[l]);
        for (let from = 0, to; from < order.length; from = to + 1) {
          to = from;
          while (to + 1 < order.length && e[order[to + 1]] - e[order[to]] <= tolerance) to++;
          const on = order.slice(from, to + 1);
          if (new Set(on.map((k) => point[k])).size < 2) continue; // one system, or copies
          const w = u.map((_, k) => (on.includes(k) ? 1 / on.length : 0));
          this.offer({ h: 0, p: dot(w, u), q: dot(w, v), w });
        }
      }
    }

    /** Parts of [min v, max v] that no saddle excludes, each with a row that ends there. */
    gaps() {
      const { u, v } = this;
      const level = this.level();
      const cover = this.rows.map((row) => {
        const half = Math.max(0, Math.sqrt(Math.max(0, excluded(u, v, row, level).square)) - 4 * EPS);
        return { from: row.q - half, to: row.q + half, row };
      }).concat(this.copies()).sort((s, t) => s.from - t.from);
      const out = [];
      let [end, last] = [this.bottom, this.best];
      for (const { from, to, row } of [...cover, { from: Infinity, to: Infinity }]) {
        const next = Math.min(from, this.top);
        if (end < next) out.push({ left: end, right: next, row: row || last });
        if (to > end) end = to;
        last = row || last;
      }
      return out;
    }

    level() { return this.best.P * (1 - INTERVAL_GAP); }

    /** Intervals around systems with many copies that hold no mean but that of all weight on the copies, which has no balance. */
    copies() {
      const { u, v, point, best } = this;
      return [...new Set(point)].flatMap((n) => {
        const count = point.filter((other) => other === n).length;
        if (count * best.P < 1 - 1e-6) return [];
        const k = point.indexOf(n);
        const away = least(places(u).filter((l) => point[l] !== n).map((l) => {
          const [du, dv] = [Math.abs(u[l] - u[k]), Math.abs(v[l] - v[k])];
          return (dv - du) * (1 + du / dv);
        }));
        const half = Math.max(0, away * (1 - 8 * EPS) - 4 * EPS);
        return half > 0 ? [{ from: v[k] - half, to: v[k] + half }] : [];
      });
    }

    /** Exclude what can be from new centres in the gaps; where nothing can, descend: a better weighting is near. */
    fill(gaps) {
      const { u, v } = this;
      for (const { left, right, row } of gaps) {
        const origin = this.best.q;
        let [near, end] = [left - origin, right - origin];
        if (Math.abs(near) > Math.abs(end)) [near, end] = [end, near];
        const apart = near * end > 0; // the gap lies on one side of the best mean: geometric steps; else its middle
        const ratio = apart ? end / near : 1;
        const count = Math.max(1, Math.ceil(Math.log(ratio) / Math.log(SPREAD)));
        for (let n = 0; n < count; n++) {
          const q = apart ? origin + near * ratio ** ((n + 0.5) / count) : 0.5 * (left + right);
          const level = this.level();
          const found = climb(u, v, q, row.h, row.p, level);
          this.rows.push(found);
          if (excluded(u, v, found, level).square <= 0) this.descend({ h: found.h, p: found.p, q }, left, right);
        }
      }
    }

    /** The name of the proof, or FOUND. */
    prove() {
      const { best } = this;
      if (alone(this.u, this.v, best, best.P * (1 - DUAL_GAP))) return "dual";
      for (let n = 0; n < ROUNDS && this.rows.length <= ROWS; n++) {
        const gaps = this.gaps();
        if (!gaps.length) return "interval";
        this.fill(gaps);
      }
      return FOUND;
    }
  }

  /** Weights on the way from uniform to the end of the range, where the balance passes the target; far outliers may hide the place from doubles. */
  function onTheWay({ K, a, f }, target, line) {
    const mix = (t) => line.map((x) => t * x + (1 - t) / K);
    const sign = Math.sign(balanceOf(a, f, line) - target);
    let [from, to] = [0, 1];
    for (let n = 0; n < 60; n++) {
      const t = 0.5 * (from + to);
      if (Math.sign(balanceOf(a, f, mix(t)) - target) === sign) to = t;
      else from = t;
    }
    return mix(to);
  }

  function result(p, target, w, certificate, eta, lam) {
    return { weights: w, beta: balanceOf(p.a, p.f, w), target, ess: 1 / dot(w, w), certificate, eta, lam };
  }

  /** The most even weighting at a target, which is taken into the pool's range. η and λ are in the units of the scores given, NaN at
   *  an end of the range. */
  function reweight(p, beta) {
    const { K, a, f } = p;
    const target = Math.min(Math.max(beta, p.low), p.high);
    const same = (x, y) => Math.abs(x - y) <= 16 * EPS * Math.abs(y);
    if (same(target, p.natural)) return result(p, target, a.map(() => 1 / K), "uniform", 0, -1 / K);
    const bottom = same(target, p.low) || target < 1e-100;
    if (bottom || same(target, p.high)) {
      // every two points in use attain the end, so all lie on one line; the fullest such line wins
      const w = bottom ? endLine(p.given[1], p.given[0]) : endLine(p.given[0], p.given[1]);
      return result(p, target, w, "pair", NaN, NaN);
    }
    const above = target > p.natural;
    const [x, v] = above ? [a, f] : [f, a];
    const stretch = Math.sqrt(above ? (1 - target) / target : target / (1 - target));
    const u = x.map((value) => stretch * value);
    let [found, name] = [ascend(u, v, stretch), "dual"];
    const settled = found.w && offBalance(u, v, found.w, stretch) <= OFF / 2 &&
      // next to no variance left: all weight on copies of one system, whose balance is rounding
      variance(u, found.w) + variance(v, found.w) > (1e-6 * dot(v, v)) / K &&
      alone(u, v, found, dot(found.w, found.w) * (1 - DUAL_GAP));
    if (!settled) {
      const search = new Search(x, v, stretch);
      search.start();
      if (search.best) {
        name = search.prove();
        found = search.best;
      } else {
        found = { w: onTheWay(p, target, above ? endLine(...p.given) : endLine(p.given[1], p.given[0])) };
        name = FOUND;
      }
    }
    const { w } = found;
    const P = dot(w, w);
    const g = u.map((_, k) => (u[k] - dot(w, u)) ** 2 - (v[k] - dot(w, v)) ** 2);
    const used = g.map((value, k) => (w[k] > 0 ? value : 0));
    // w = max(0, Σw² + slope·g), fitted. Where no g is left the systems are on one line: every slope steep enough will do
    const flat = most(used.map(Math.abs)) <= 1e-12 * most(g.map(Math.abs));
    const slope = flat ? P / -most(g.filter((_, k) => !(w[k] > 0))) : dot(used, w.map((share) => share - P)) / dot(used, used);
    const out = result(p, target, w, name, (above ? -slope / target : slope / (1 - target)) / p.scale ** 2, -P);
    if (!(Math.abs(out.beta - target) <= SEEN)) {
      return { weights: w.map(() => 0), beta: NaN, target, ess: NaN, certificate: MISSED, eta: NaN, lam: NaN };
    }
    if (!(Math.abs(out.beta - target) <= OFF) || tooFine(p, target, w)) out.certificate = FOUND;
    return out;
  }

  /** Whether pool, target or weights are too delicate for a proof in doubles. */
  function tooFine(p, target, w) {
    const near = Math.min(target, 1 - target);
    if (p.delicate || near < EXTREME || Math.min(target - p.low, p.high - target) < NEAR * near) return true;
    const k = w.indexOf(most(w));
    return w.some((share, l) => {
      const [x, y] = [(1 - target) * (p.a[l] - p.a[k]) ** 2, target * (p.f[l] - p.f[k]) ** 2];
      return share > NEAR && Math.abs(x - y) < NEAR * (x + y); // a line of systems may only seem to have the balance
    });
  }

  // --- the reliable interval and the slider's stops ------------------------------------------------------------------

  /** From where to where the best weighting keeps an ESS of `share` of the K systems: Newton's method in a bracket, to each side. */
  function reliable(p, share = 0.9) {
    const goal = Math.sqrt(Math.max(0, 1 / Math.max(1, share * p.K) - 1 / p.K));
    return [p.low, p.high].map((end) => edge(p, end, goal));
  }

  function edge(p, end, goal) {
    let [inner, outer, beta] = [p.natural, end, end];
    for (let n = 0; n < 200 && goal > 0; n++) {
      const r = reweight(p, beta);
      const w = r.weights;
      const height = r.certificate === MISSED ? Infinity : Math.sqrt(Math.max(0, dot(w, w) - 1 / p.K));
      if (height <= goal) inner = beta;
      else outer = beta;
      if ((height <= goal && (n === 0 || height >= goal * (1 - 1e-12))) || Math.abs(outer - inner) <= 1e-13) return inner;
      const aim = goal * (1 - 5e-13) - height;
      const spread = (variance(p.a, w) + variance(p.f, w)) * p.scale ** 2;
      // nearly straight from the natural balance on; then d(½Σw²)/dβ̂ = −η (σ(a; w)² + σ(f; w)²), the envelope theorem
      beta += n === 0 ? ((outer - inner) * aim) / height : (aim * height) / (-r.eta * spread);
      if (!(Math.min(inner, outer) < beta && beta < Math.max(inner, outer))) beta = 0.5 * (inner + outer);
      if (n > 6) { // Newton's method takes four or five: this may be a jump, and jumps are at balances of pairs
        const jumps = pairBalances(p).filter((b) => b > Math.min(inner, outer) && b < Math.max(inner, outer));
        if (jumps.length) beta = jumps.reduce((best, b) => (Math.abs(b - beta) < Math.abs(best - beta) ? b : best));
        else if (Math.abs(outer - inner) < 1e-6 && pairBalances(p).includes(inner)) return inner;
      }
    }
    return inner;
  }

  function pairBalances({ K, given: [a, f] }) {
    const out = [];
    for (let k = 0; k < K; k++) for (let l = k + 1; l < K; l++) out.push(gapBalance(a[k] - a[l], f[k] - f[l]));
    return out;
  }

  /** Where the slider stops: multiples of `step`, finer in a narrow reliable interval, its ends, those of the range, β₀, and `extra` if it
   *  can be reached and is not one of them (to six digits, as addresses write it); with the places of β₀ and of the reliable interval among them. */
  function stops(p, step = 0.005, extra = null) {
    const inner = reliable(p);
    const multiples = (by, low, high) => {
      const out = [];
      for (let n = Math.floor(low / by); n <= Math.ceil(high / by); n++) {
        const beta = +(n * by).toFixed(10);
        if (beta > low && beta < high) out.push(beta);
      }
      return out;
    };
    const finer = inner[1] - inner[0] < 20 * step ? multiples(step / 5, ...inner) : [];
    const all = [...multiples(step, p.low, p.high), ...finer, p.natural, p.low, p.high, ...inner];
    if (extra > p.low && extra < p.high && all.every((b) => Math.abs(b - extra) > 1e-6)) all.push(extra);
    const values = [...new Set(all)].sort((s, t) => s - t);
    return { stops: values, natural: values.indexOf(p.natural), reliable: inner.map((b) => values.indexOf(b)) };
  }

  Object.assign(Whichbird, { pool, reweight, reliable, stops, FOUND, MISSED });
  (Whichbird.installs = Whichbird.installs || {}).solve = install; // a worker is made from the text of its modules
})((globalThis.Whichbird = globalThis.Whichbird || {}));
