/* Answers of the page's solver to cases on standard input, as JSON: for tests/test_javascript.py. */
"use strict";

const { pool, reweight, reliable } = require("./load.js")("wb-solve");

const cases = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const answers = cases.map(({ a, f, targets }) => {
  const p = pool(a, f);
  return { natural: p.natural, range: [p.low, p.high], reliable: reliable(p),
           results: targets.map((beta) => reweight(p, beta)) };
});
process.stdout.write(JSON.stringify(answers));
