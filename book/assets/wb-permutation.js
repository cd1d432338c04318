/* The paired-permutation test, bit for bit as the library does it.
 *
 * For systems i < j a permutation swaps their scores on a random half of the segments, which flips signs; its count is how
 * many permutations give at least the observed gap. Ties decide some of them, and in binary a tie depends on the order of
 * summation. So each system's signed sum runs over the segments from first to last in doubles, as in
 * `whichbird.core.permutation`; signs are the bits of numpy's generator, permutation by permutation. */
(function install(Whichbird) {
  "use strict";

  /** Counts of all pairs i < j, row by row, from scores x: K rows of N numbers. `random` gives the signs; `progress`(share) is told now and then. */
  function counts(x, permutations, random, progress) {
    const K = x.length, N = x[0].length;
    const rows = x.map((row) => Float64Array.from(row));
    const sign = new Float64Array(N), sums = new Float64Array(K);
    const plain = rows.map((row) => {
      let sum = 0;
      for (let n = 0; n < N; n++) sum += row[n];
      return sum;
    });
    const gaps = [], out = new Int32Array((K * (K - 1)) / 2);
    for (let i = 0; i < K; i++) for (let j = i + 1; j < K; j++) gaps.push(plain[i] - plain[j]);
    for (let b = 0; b < permutations; b++) {
      for (let n = 0; n < N; n++) sign[n] = random.bit() ? 1 : -1;
      for (let k = 0; k < K; k++) {
        const row = rows[k];
        let sum = 0;
        for (let n = 0; n < N; n++) sum += row[n] * sign[n];
        sums[k] = sum;
      }
      for (let i = 0, pair = 0; i < K; i++) {
        for (let j = i + 1; j < K; j++, pair++) if (sums[i] - sums[j] >= gaps[pair]) out[pair]++;
      }
      if (progress && b % 50 === 49) progress((b + 1) / permutations);
    }
    return out;
  }
  Whichbird.permutation = { counts };
  (Whichbird.installs = Whichbird.installs || {}).permutation = install; // a worker is made from the text of its modules
})((globalThis.Whichbird = globalThis.Whichbird || {}));
