"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { questionVerdict, questionTally } = require("./load.js")("questions");

test("a verdict has a sign and a word", () => {
  assert.equal(questionVerdict(true), "✓ Right.");
  assert.equal(questionVerdict(false), "✗ Not this one.");
});

test("the tally counts first tries", () => {
  assert.equal(questionTally([null, null]), "");
  assert.equal(questionTally([true, null, false]), "1 of 2 right at the first try, 1 to go.");
  assert.equal(questionTally([true, true]), "2 of 2 right at the first try.");
});
