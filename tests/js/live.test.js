"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { giveTo, giveArm, stand, triangleMet, triangleStrands, steerSaid, withoutSaid, sharesNearest, sharesPlace, sharesSaid } = require("./load.js")(
  "wb-core", "live", "live-cross", "live-triangle", "live-steer", "live-without", "live-shares");

const near = (x, y) => assert.ok(Math.abs(x - y) < 1e-12, `${x}, ${y}`);
const sum = (x) => x.reduce((s, v) => s + v, 0);

test("weight given to one system comes from the others in proportion", () => {
  const w = giveTo([0.1, 0.2, 0.3, 0.4], 1, 0.6);
  near(sum(w), 1);
  near(w[1], 0.6);
  near(w[3] / w[0], 4);
  near(giveTo(w, 2, 7)[2], 0.95); // never all of it
  near(giveTo(w, 2, -7)[2], 0.002);
});

test("weight moves between arms and leaves them as they are", () => {
  const w = giveArm([0.1, 0.2, 0.3, 0.4], [true, true, false, false], 0.9);
  near(w[0] + w[1], 0.9);
  near(w[1] / w[0], 2);
  near(w[3] / w[2], 4 / 3);
});

test("a pool stands at the share of its variances", () => {
  const { beta, ess, flat, upright } = stand([0, 2, 1, 1], [1, 1, 0, 4], [0.25, 0.25, 0.25, 0.25]);
  near(flat[1] ** 2, 0.5);
  near(upright[1] ** 2, 2.25);
  near(beta, 0.5 / 2.75);
  near(ess, 4);
});

test("on the curve of a triangle the target is met, and no weight is negative", () => {
  const [a, f] = [[0, 5, 4], [7, 6, 2]];
  for (const beta of [0.1, 0.4, 0.6, 0.9]) {
    const points = triangleMet(a, f, beta, 360).flat();
    assert.ok(points.length > 50);
    for (const w of points) {
      near(sum(w), 1);
      assert.ok(Math.min(...w) > -1e-12);
      const { flat, upright } = stand(a, f, w);
      near((1 - beta) * flat[1] ** 2, beta * upright[1] ** 2);
    }
    assert.ok(triangleStrands(triangleMet(a, f, beta)).length <= 6); // a few lines, not dust
  }
});

test("a dataset at its natural balance has no placebo to speak of, and each end has its own", () => {
  const set = { name: "x", beta: [0.2, 0.5, 0.9], line: [0.1, 0.4, 0.8], low: [0.3, 0.4, 0.35], high: [0.5, 0.4, 0.45] };
  assert.match(steerSaid(set, 1), /β = 0\.500.* 40 %.*alike/);
  assert.match(steerSaid(set, 2), /β = 0\.900.* 80 %.*35 % to 45 %/);
  assert.match(steerSaid({ ...set, beta: undefined }, 0), /100 % of the way to the low end/);
});

test("who is ahead without a system is said only where the interval leaves zero", () => {
  const made = { name: "x", pair: ["A", "B"], systems: ["s", "t"], beta0: [0.9, 0.8, 0.9], lead: [0.05, -0.05, 0.01], half: [0.02, 0.02, 0.02] };
  assert.match(withoutSaid(made, 0), /all 2 systems: β₀ = 0\.900.*A is ahead/);
  assert.match(withoutSaid(made, 1), /Without s: β₀ = 0\.800.*−0\.050.*B is ahead/);
  assert.match(withoutSaid(made, 2), /Without t.*neither/);
});

test("three shares have a place in a triangle, a nearest target and a sentence", () => {
  assert.deepEqual([[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(sharesPlace), [[0.5, Math.sqrt(3) / 2], [0, 0], [1, 0]]);
  const targets = [[1, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]];
  assert.equal(sharesNearest(targets, [0.6, 0.3, 0.1]), 1);
  const pool = { aspects: ["a", "b", "c"], targets, ess: [null, 3.21, 0], first: [[], [[1, 0.98765]], []], scorers: ["x", "y"], systems: 5 };
  assert.match(sharesSaid(pool, 0), /^a 100 %, b 0 %, c 0 %: proven to be out of reach/);
  assert.match(sharesSaid(pool, 1), /3\.2 of 5 systems\. First by SPA: y \(0\.988\)/);
  assert.match(sharesSaid(pool, 2), /not decided/);
});
