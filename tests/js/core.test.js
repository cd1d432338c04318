"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { tickStep, ticks, brief, named, show, clamp } = require("./load.js")("wb-core");

test("a step cuts a span into two to six parts, and is round", () => {
  for (let n = 0; n < 400; n++) {
    const span = 10 ** (-3 + n / 60);
    const step = tickStep(span);
    assert.ok(span / step >= 2.4 && span / step <= 6.01, `${span}: ${step}`);
    assert.ok([1, 2, 5].some((m) => Math.abs(step / (m * 10 ** Math.floor(Math.log10(step) + 1e-9)) - 1) < 1e-9));
  }
});

test("ticks are the multiples inside, ends included", () => {
  assert.deepEqual(ticks(0, 1, 0.25), [0, 0.25, 0.5, 0.75, 1]);
  assert.deepEqual(ticks(0.1, 0.9, 0.5), [0.5]);
});

test("a scorer is called as people read it, if it is called so", () => {
  const page = { scorers: ["gemba_esa", "BLEU", "mine"], names: { gemba_esa: "GEMBA-ESA" } };
  assert.deepEqual([0, 1, 2].map((m) => named(page, m)), ["GEMBA-ESA", "BLEU", "mine"]);
  assert.equal(named({ scorers: ["a"] }, 0), "a");
});

test("long names keep both ends, β as many digits as it needs", () => {
  assert.equal(brief("short"), "short");
  assert.equal(brief("MetricX-24-Hybrid-wth-a-long-tail"), "MetricX-2…th-a-long-tail");
  assert.equal(show(0.605), "0.605");
  assert.equal(show(0.0073558), "0.0074");
  assert.equal(clamp(7, 0, 3), 3);
});
