"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { WHOLE, MOST, isWhole, roster, toggled, movedTo, addedTo, frame, described, address, asked } = require("./load.js")("wb-core", "wb-pool");

const page = { name: "made", systems: ["A", "B&C", "d,e:f"], adequacy: [0, 1, 2], fluency: [0, 2, 1], scorers: ["x", "y z", "__proto__"] };
const edit = addedTo(movedTo(toggled(WHOLE, "A"), "d,e:f", 1.23456, 0.5), 0.1, 0.2);

test("what was changed, and what it is called", () => {
  assert.ok(isWhole(WHOLE) && !isWhole(edit));
  assert.equal(described(page, edit), "1 left out, 1 moved, 1 invented");
  const systems = roster(page, edit);
  assert.deepEqual(systems.map((s) => [s.name, s.out, s.real, s.k]),
    [["A", true, true, 0], ["B&C", false, true, 1], ["d,e:f", false, false, 2], ["invented 1", false, false, null]]);
  assert.deepEqual([systems[2].a, systems[2].from], [1.2346, [2, 1]]);
});

test("an edit is replaced, never changed; twice is back", () => {
  assert.ok(isWhole(WHOLE));
  assert.deepEqual(toggled(toggled(edit, "B&C"), "B&C"), edit);
  assert.deepEqual(toggled(edit, "invented 1").added, []);
});

test("an address brings back what was written into it", () => {
  const state = { dataset: "made", beta: 0.123456789, follow: ["y z", "__proto__"], edit, whole: true };
  const text = address(state);
  assert.match(text, /^#[\w=&%.,:+-]+$/);
  assert.deepEqual(asked(text, [page]), { ...state, beta: 0.123457 });
  assert.equal(address({ dataset: "made", beta: 0.5 }), "#dataset=made&beta=0.5");
});

test("a query is read as a fragment is", () => {
  assert.equal(asked("?dataset=made&beta=0.4", [page]).beta, 0.4);
});

test("what makes no sense is passed over", () => {
  const plain = asked("#dataset=made", [page]);
  for (const junk of ["&beta=NaN", "&beta=Infinity", "&beta=2", "&beta=-1", "&beta=0x1", "&beta=%", "&beta=", "&out=nobody", "&out=%E0%A4%A", "&follow=<b>",
    "&move=A:1", "&move=A:1:2:3", "&move=A:99:0", "&move=A:1e999:0", "&move=__proto__:1:1", "&move=:", "&add=1", "&add=1:x", "&add=1:1e9", "&range=all",
    "&constructor=1", "&__proto__=1", "&&&==", "&toString"]) {
    assert.deepEqual(asked(`#dataset=made${junk}`, [page]), plain, junk);
  }
  for (const none of ["", "#", "#dataset=", "#dataset=other", "#dataset=%E0%A4%A", "#%", "#dataset", `#dataset=made&x=${"a".repeat(9000)}`]) {
    assert.equal(asked(none, [page]), null, none.slice(0, 30));
  }
  const many = asked(`#dataset=made&add=${Array(200).fill("1:1").join(",")}`, [page]);
  assert.equal(many.edit.added.length, MOST - 3);
});

test("the frame has one scale, and room around the systems", () => {
  const [left, right, bottom, top] = frame(page);
  assert.ok(Math.abs(right - left - (top - bottom)) < 1e-12 && left < 0 && right > 2);
});
