/* Random numbers as numpy draws them: PCG64, whose state comes from Python.
 *
 * `Whichbird.random(state, inc)` takes the two 128-bit numbers of `numpy.random.default_rng(seed).bit_generator.state` as
 * hexadecimal text, so seeding stays numpy's own business. `bit()` is then what `integers(0, 2)` gives next, number by
 * number, for any shape: numpy takes the top bit of each half of a 64-bit output, the low half first. The rest
 * (`uniform`, `normal`, `below`) is for resampling, where another draw is as good; it is not numpy's order.
 *
 * A 128-bit number is eight digits of 16 bits, lowest first: products of two digits are exact in a double. */
(function install(Whichbird) {
  "use strict";

  const LIMBS = 8;
  const digits = (hex) => {
    const out = new Uint32Array(LIMBS);
    const text = hex.padStart(4 * LIMBS, "0");
    for (let n = 0; n < LIMBS; n++) out[n] = parseInt(text.slice(4 * (LIMBS - 1 - n), 4 * (LIMBS - n)), 16);
    return out;
  };
  const MULTIPLIER = digits("2360ed051fc65da44385df649fccf645"); // of PCG64, XSL-RR 128/64

  Whichbird.random = function random(state, inc) {
    const s = digits(state), c = digits(inc), next = new Uint32Array(LIMBS);
    let held = false, high = 0, spare = null;

    /** state ← state · multiplier + inc, modulo 2¹²⁸. */
    function step() {
      let carry = 0; // below 2³⁶, so sums stay exact
      for (let n = 0; n < LIMBS; n++) {
        let sum = carry + c[n];
        for (let k = 0; k <= n; k++) sum += s[k] * MULTIPLIER[n - k];
        next[n] = sum & 0xffff; // & takes the sum modulo 2³², which keeps the low digit
        carry = Math.floor(sum / 65536);
      }
      s.set(next);
    }

    /** The next 32 bits: each step gives 64, the low half first. */
    function bits32() {
      if (held) {
        held = false;
        return high;
      }
      step();
      // the two halves of the state, exclusive-or, turned right by its top six bits
      const low = ((s[0] ^ s[4]) | ((s[1] ^ s[5]) << 16)) >>> 0;
      const top = ((s[2] ^ s[6]) | ((s[3] ^ s[7]) << 16)) >>> 0;
      const turn = s[7] >>> 10, by = turn & 31;
      const [a, b] = turn < 32 ? [low, top] : [top, low];
      held = true;
      high = by ? ((b >>> by) | (a << (32 - by))) >>> 0 : b;
      return by ? ((a >>> by) | (b << (32 - by))) >>> 0 : a;
    }

    /** 53 random bits as a number in [0, 1). */
    const uniform = () => ((bits32() >>> 5) * 67108864 + (bits32() >>> 6)) / 9007199254740992;

    /** Normal, mean 0 and variance 1, by the polar method: two at a time. */
    function normal() {
      if (spare !== null) {
        const out = spare;
        spare = null;
        return out;
      }
      for (;;) {
        const x = 2 * uniform() - 1, y = 2 * uniform() - 1, r = x * x + y * y;
        if (r > 0 && r < 1) {
          const scale = Math.sqrt((-2 * Math.log(r)) / r);
          spare = y * scale;
          return x * scale;
        }
      }
    }

    return { bits32, bit: () => bits32() >>> 31, uniform, normal, below: (n) => Math.floor(uniform() * n) };
  };
  (Whichbird.installs = Whichbird.installs || {}).random = install; // a worker is made from the text of its modules
})((globalThis.Whichbird = globalThis.Whichbird || {}));
