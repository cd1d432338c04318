"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { giveTo, giveArm, stand, triangleMet, triangleStrands } = require("./load.js")("wb-core", "live", "live-cross", "live-triangle");

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
