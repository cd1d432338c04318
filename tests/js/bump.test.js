"use strict";
const { test } = require("node:test");
const assert = require("node:assert/strict");
const path = require("node:path");
const bump = require(path.join(__dirname, "..", "..", "book", "assets", "bump.js"));

test("the largest SPA has rank 1, and equal values share the better rank", () => {
  assert.deepEqual(bump.ranks([0.7, 0.9, 0.8]), [3, 1, 2]);
  assert.deepEqual(bump.ranks([0.7, 0.7 + 1e-12, 0.8]), [2, 2, 1]);
});

test("ranks agree with sorting on many random rows", () => {
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  for (let round = 0; round < 200; round++) {
    const row = Array.from({ length: 12 }, random);
    const sorted = [...row].sort((x, y) => y - x);
    assert.deepEqual(bump.ranks(row), row.map((x) => 1 + sorted.indexOf(x)));
  }
});

test("two lines that change order cross once, where the straight pieces meet", () => {
  const found = bump.crossings([0.2, 0.4], [[1, 4], [3, 2]], [0, 1]);
  assert.equal(found.length, 1);
  const [c] = found;
  assert.equal(c.i, 0); // better before
  assert.equal(c.j, 1); // better after
  assert.ok(Math.abs(c.beta - 0.35) < 1e-12); // 1 + 2t = 4 − 2t
  assert.ok(Math.abs(c.rank - 2.5) < 1e-12);
  assert.deepEqual([c.from, c.to], [0, 1]);
});

test("a touch is no crossing, and a tie between two orders is one, at the tie", () => {
  assert.equal(bump.crossings([0, 1, 2], [[1, 2], [1, 1], [1, 2]], [0, 1]).length, 0);
  const found = bump.crossings([0, 1, 2, 3], [[1, 2], [1, 1], [1, 1], [2, 1]], [0, 1]);
  assert.equal(found.length, 1);
  assert.deepEqual([found[0].beta, found[0].rank, found[0].from, found[0].to], [1, 1, 0, 3]);
});

test("only named lines count, and every change of order between the ends shows", () => {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const betas = [0, 1, 2, 3, 4, 5];
  const rows = betas.map(() => bump.ranks(Array.from({ length: 8 }, random)));
  const named = [1, 4, 6];
  const found = bump.crossings(betas, rows, named);
  assert.ok(found.length > 0);
  for (const c of found) assert.ok(named.includes(c.i) && named.includes(c.j));
  for (const a of named) {
    for (const b of named.filter((other) => other > a)) {
      const changes = found.filter((c) => (c.i === a && c.j === b) || (c.i === b && c.j === a)).length;
      const ends = Math.sign(rows[0][a] - rows[0][b]) !== Math.sign(rows[5][a] - rows[5][b]);
      assert.equal(changes % 2 === 1, ends);
    }
  }
  assert.deepEqual([...found].sort((x, y) => x.beta - y.beta), found);
});

test("labels keep their order and their distance, and stay inside where there is room", () => {
  const placed = bump.spread([10, 11, 12, 90, 99], 12, 0, 100);
  const sorted = [...placed].sort((x, y) => x - y);
  assert.deepEqual(placed, sorted);
  for (let n = 1; n < placed.length; n++) assert.ok(placed[n] - placed[n - 1] >= 12 - 1e-9);
  assert.ok(placed[0] >= 0 && placed[4] <= 100);
  assert.deepEqual(bump.spread([30, 10], 12, 0, 100), [30, 10]); // no need to move
  const tight = bump.spread([5, 5, 5], 60, 0, 100); // not enough room: evenly
  assert.deepEqual(tight, [0, 50, 100]);
});

test("a line is straight between its points and level beyond them", () => {
  assert.equal(bump.at([0, 1, 3], [1, 5, 5], 0.5), 3);
  assert.equal(bump.at([0, 1, 3], [1, 5, 7], 2), 6);
  assert.equal(bump.at([0, 1], [1, 5], -1), 1);
  assert.equal(bump.at([0, 1], [1, 5], 9), 5);
});

test("places keep the ends of the range", () => {
  assert.deepEqual(bump.places([0.1, 0.2, 0.3, 0.4], [0.2, 0.3]), [1, 2]);
});

test("ticks cut a span into three to eight parts", () => {
  for (const span of [0.008, 0.0717, 0.1, 0.25, 0.31, 0.5, 1]) {
    const parts = span / bump.tickStep(span);
    assert.ok(parts >= 3 - 1e-9 && parts < 8, `${span}: ${parts}`);
  }
});
