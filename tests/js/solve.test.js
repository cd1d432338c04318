"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { pool, reweight, reliable, stops, FOUND, MISSED } = require("./load.js")("wb-solve");

// the example of the library's own docstring: an optimum that needs intervals
const A = [0.5574, 0.9883, 1.4687, 3.0894];
const F = [0.4012, 0.5353, 1.4986, 1.2467];
const near = (x, y, by = 1e-9) => assert.ok(Math.abs(x - y) <= by, `${x} is not ${y}`);

test("the docstring's example", () => {
  const r = reweight(pool(A, F), 0.9095);
  [0.0088, 0.0861, 0.4245, 0.4806].forEach((w, k) => near(r.weights[k], w, 5e-5));
  near(r.ess, 2.389, 5e-4);
  assert.equal(r.certificate, "interval");
});

test("three systems by hand", () => {
  const p = pool([0, 2, 0], [0, 1, 3]);
  assert.deepEqual([p.low, p.high], [0, 0.8]);
  near(p.natural, 4 / 11);
  near(reweight(p, 0.5).ess, 2.6);
  assert.deepEqual(reweight(p, 0).weights, [0.5, 0, 0.5]);
  assert.deepEqual(reweight(p, 0.9).weights, [0.5, 0.5, 0], "beyond the range is its end");
  assert.equal(reweight(p, p.natural).certificate, "uniform");
});

test("the fullest line wins at an end", () => {
  const r = reweight(pool([0, 1, 2, 3, 0], [0, 0, 0, 0, 1]), 1);
  assert.deepEqual([r.weights, r.certificate], [[0.25, 0.25, 0.25, 0.25, 0], "pair"]);
});

test("what is no pool is none", () => {
  assert.equal(pool([1], [1]), null);
  assert.equal(pool([1, 1], [2, 2]), null);
  assert.equal(pool([1, NaN], [2, 3]), null);
  assert.equal(pool([1, 2], [2]), null);
});

test("shifts and a common scale change nothing", () => {
  const moved = pool(A.map((x) => 1000 * x - 7), F.map((x) => 1000 * x + 3));
  const [r, s] = [reweight(pool(A, F), 0.8), reweight(moved, 0.8)];
  r.weights.forEach((w, k) => near(w, s.weights[k]));
  near(r.eta, s.eta * 1e6, 1e-6 * Math.abs(r.eta));
});

test("weights are the clipped saddle of η and λ, in the scores' own units", () => {
  const p = pool(A, F);
  for (const beta of [0.55, 0.62, 0.8, 0.9]) {
    const { weights: w, eta, lam } = reweight(p, beta);
    const mean = (x) => x.reduce((sum, v, k) => sum + w[k] * v, 0);
    const [ma, mf] = [mean(A), mean(F)];
    w.forEach((share, k) => near(share, Math.max(0, -lam - eta * ((1 - beta) * (A[k] - ma) ** 2 - beta * (F[k] - mf) ** 2))));
  }
});

test("near-copies are answered, and nothing is claimed", () => {
  const p = pool([0, 1e-7, 1, 2, 0.3], [0, 0, 2, 1, 0.9]);
  const r = reweight(p, 0.5);
  assert.equal(r.certificate, FOUND);
  near(r.beta, 0.5);
});

test("a target that no weighting found meets is not found, and not answered with another balance", () => {
  const p = pool([...A, 1e9], [...F, -3e8]);
  let missed = 0;
  for (let n = 1; n < 50; n++) {
    const beta = p.low + (n / 50) * (p.high - p.low);
    const r = reweight(p, beta);
    if (r.certificate === MISSED) {
      missed += 1;
      assert.ok(r.weights.every((w) => w === 0) && Number.isNaN(r.ess), "nothing to be taken for an answer");
    } else near(r.beta, beta, 1e-6);
  }
  assert.ok(missed > 0);
  const [from, to] = reliable(p); // what is not found is not reliable
  assert.ok(p.low <= from && from <= p.natural && p.natural <= to && to <= p.high);
});

test("systems on one line have one balance, which is their range and their only stop", () => {
  for (let n = 1; n < 200; n++) {
    const [dx, dy, x] = [1 + (n % 7), n / 13, [0, 1, 1, 1, 0.3]];
    const p = pool(x.map((v) => v * dx - 2), x.map((v) => v * dy + 5));
    assert.ok(p.low <= p.natural && p.natural <= p.high, `${[p.low, p.natural, p.high]}`);
    const { stops: all, natural, reliable: at } = stops(p);
    assert.ok([natural, ...at].every((place) => place >= 0 && place < all.length));
  }
});

test("stops: the ends, β₀, the reliable interval and the multiples between", () => {
  const p = pool([0, 1, 2, 3], [0, 2, 1, 1]);
  const { stops: all, natural, reliable: at } = stops(p, 0.2);
  [0.2, 0.4, 0.6, 0.607, 0.64, 0.68].forEach((b, n) => near(all[n], b, 5e-4)); // as in the library's docstring
  assert.deepEqual([all[natural], all[0], all[all.length - 1]], [p.natural, p.low, p.high]);
  assert.deepEqual(at.map((n) => all[n]), reliable(p));
});
