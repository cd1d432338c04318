"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { otherReference } = require("./load.js")("wb-core", "wb-desk");

test("a file whose name says another reference than the dataset has is doubted, and no other", () => {
  const page = { name: "ende24", reference: "refA" };
  for (const file of ["mine-refB.seg.score", "refb.tsv", "ref_C-mine.txt"]) assert.match(otherReference(file, page), /^Mind the reference: .* refA/);
  for (const file of ["mine-refA.seg.score", "refined.tsv", "prefB2.txt", "mine.seg.score", "src.tsv"]) assert.equal(otherReference(file, page), "");
});
