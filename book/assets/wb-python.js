/* A few of Python's habits, so that a refusal on the page is the same sentence as at the command line:
 * how it strips, quotes and prints, and how difflib finds a name that was probably meant. */
(function install(Whichbird) {
  "use strict";

  const SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
  const ENDS = new RegExp(`^[${SPACE}]+|[${SPACE}]+$`, "g");
  const strip = (text) => text.replace(ENDS, "");

  /** repr() of a string. */
  function repr(text) {
    const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
    const named = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
    const out = Array.from(text, (c) => {
      if (c === quote) return "\\" + c;
      if (named[c]) return named[c];
      if (c === " " || !/[\p{C}\p{Z}]/u.test(c)) return c;
      const code = c.codePointAt(0), hex = code.toString(16);
      return code < 0x100 ? "\\x" + hex.padStart(2, "0") : code < 0x10000 ? "\\u" + hex.padStart(4, "0") : "\\U" + hex.padStart(8, "0");
    });
    return quote + out.join("") + quote;
  }

  /** A text in quotes, cut where it is long: `sheet.short`. */
  function short(text) {
    const letters = Array.from(text);
    return repr(letters.length <= 40 ? text : letters.slice(0, 37).join("") + "...");
  }

  /** format(x, ".6g"). JavaScript rounds an exact half up, Python to the even digit. */
  function general(x, digits = 6) {
    if (x === 0) return Object.is(x, -0) ? "-0" : "0";
    const [all, power] = x.toExponential(60).split("e"); // as many digits as any exact half has at these sizes
    const half = /^50*$/.test(all.replace(/^-?(\d)\./, "$1").slice(digits));
    let [mantissa, at] = x.toExponential(digits - 1).split("e");
    if (half && Number(mantissa.at(-1)) % 2) [mantissa, at] = [all.slice(0, mantissa.length), power];
    at = Number(at);
    const trim = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
    if (at < -4 || at >= digits) return `${trim(mantissa)}e${at < 0 ? "-" : "+"}${String(Math.abs(at)).padStart(2, "0")}`;
    return trim(Number(`${mantissa}e${at}`).toFixed(Math.max(digits - 1 - at, 0)));
  }

  /** The number that float() reads in a text, or NaN. Digits other than 0 to 9, which float() knows too, are not read. */
  function float(text) {
    const plain = strip(text);
    return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(plain) ? Number(plain) : NaN;
  }

  /** difflib's ratio: twice the letters in common blocks, over all letters. Longest common block first, then on both sides of it. */
  function ratio(a, b) {
    const places = new Map();
    b.forEach((c, j) => (places.has(c) ? places.get(c).push(j) : places.set(c, [j])));
    if (b.length >= 200) {
      const popular = Math.floor(b.length / 100) + 1;
      for (const [c, at] of places) if (at.length > popular) places.delete(c);
    }
    function longest(alo, ahi, blo, bhi) {
      let besti = alo, bestj = blo, size = 0, lengths = new Map();
      for (let i = alo; i < ahi; i++) {
        const next = new Map();
        for (const j of places.get(a[i]) || []) {
          if (j < blo) continue;
          if (j >= bhi) break;
          const k = (lengths.get(j - 1) || 0) + 1;
          next.set(j, k);
          if (k > size) [besti, bestj, size] = [i - k + 1, j - k + 1, k];
        }
        lengths = next;
      }
      while (besti > alo && bestj > blo && a[besti - 1] === b[bestj - 1]) [besti, bestj, size] = [besti - 1, bestj - 1, size + 1];
      while (besti + size < ahi && bestj + size < bhi && a[besti + size] === b[bestj + size]) size++;
      return [besti, bestj, size];
    }
    let common = 0;
    const todo = [[0, a.length, 0, b.length]];
    while (todo.length) {
      const [alo, ahi, blo, bhi] = todo.pop();
      const [i, j, size] = longest(alo, ahi, blo, bhi);
      if (!size) continue;
      common += size;
      if (alo < i && blo < j) todo.push([alo, i, blo, j]);
      if (i + size < ahi && j + size < bhi) todo.push([i + size, ahi, j + size, bhi]);
    }
    return a.length + b.length ? (2 * common) / (a.length + b.length) : 1;
  }

  /** A question that names the closest of `others`, three at most, to end a refusal with; or nothing: `check.near`. */
  function near(name, others, ask = "did you mean") {
    const small = new Map();
    for (const other of others) if (!small.has(other.toLowerCase())) small.set(other.toLowerCase(), other);
    const word = Array.from(name.toLowerCase());
    const points = (text) => Array.from(text, (c) => c.codePointAt(0));
    const before = (x, y) => { // as Python compares strings, by code points
      const [p, q] = [points(x), points(y)];
      for (let n = 0; n < Math.min(p.length, q.length); n++) if (p[n] !== q[n]) return p[n] - q[n];
      return p.length - q.length;
    };
    const close = [...small.keys()]
      .map((key) => [ratio(Array.from(key), word), key])
      .filter(([score]) => score >= 0.5)
      .sort((x, y) => y[0] - x[0] || before(y[1], x[1]))
      .slice(0, 3)
      .map(([, key]) => repr(small.get(key)));
    return close.length ? `; ${ask} ${close.join(" or ")}?` : "";
  }

  Whichbird.python = { strip, repr, short, general, float, ratio, near };
  (Whichbird.installs = Whichbird.installs || {}).python = install; // a worker is made from the text of its modules
})((globalThis.Whichbird = globalThis.Whichbird || {}));
