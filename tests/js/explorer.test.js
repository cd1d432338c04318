"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { Live } = require("./load.js")("wb-core", "wb-solve", "wb-pool", "wb-rank", "wb-chart", "wb-plane", "wb-ranking", "explorer");

const page = { scorers: ["x", "y", "z"], M: 3 };
const then = { rank: [1, 2, 3] };
const tested = { size: [1, 2, 2], moved: [false, true, true], turned: [false, false, true] };

/** What is said of ranks, at stop 2, inside the reliable interval or not. */
const said = (rank, { whole = true, natural = 2, inside = true, tests = null } = {}) =>
  Live.prototype.sayRanks.call({ contest: { natural, whole, reliable: inside ? [1, 3] : [3, 4] }, page, stop: 2 },
    { rank, order: [...rank.keys()].sort((m, n) => rank[m] - rank[n]) }, then, tests);

test("sentences on ranks are whole, whatever is known", () => {
  for (const rank of [[1, 2, 3], [1, 3, 2], [3, 1, 2], [1, 1, 3]]) {
    for (const whole of [true, false]) {
      for (const natural of [2, 1]) {
        for (const inside of [true, false]) {
          for (const tests of [null, tested]) {
            const text = said(rank, { whole, natural, inside, tests });
            assert.match(text, /^(First: |\d scorers share)/);
            for (const sentence of text.split(". ")) assert.match(sentence, /^[A-Z0-9][^.]*[a-z0-9₀]\.?$/, text);
            assert.doesNotMatch(text, /[.,;:] ?[.,;:]|undefined|NaN/, text);
          }
        }
      }
    }
  }
});

test("while tests of the reader's scorer run, that is said, also where nobody can have moved", () => {
  assert.match(said([1, 2, 3]), /being tested/);
  assert.match(said([1, 3, 2], { natural: 1 }), /2 of 3 scorers change place; yours is being tested/);
});

test("the axis has two ends, also where the reliable interval has one balance", () => {
  const { get } = Object.getOwnPropertyDescriptor(Live.prototype, "window");
  const axis = (reliable, wide) => get.call({ wide, contest: { stops: [0.2, 0.4, 0.6], reliable } });
  assert.deepEqual([axis([0, 1], false), axis([0, 1], true), axis([1, 1], false)], [[0.2, 0.4], [0, 1], [0, 1]]);
});

test("what vanishes is named, or counted", () => {
  const said = (...names) => Live.prototype.sayVanishing.call({ stop: 0, page: { vanishing: 0.02 }, contest: { vanishing: () => names.map((name) => ({ name })) } });
  assert.equal(said(), "");
  assert.match(said("A"), /^; A vanishes, .* 0\.02 /);
  assert.match(said("A", "B"), /^; A and B vanish,/);
  assert.match(said("A", "B", "C"), /^; 3 vanish,/);
});
