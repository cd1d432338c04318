"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { Contest, WHOLE, counts, rows, spaOf, ranksOf, orderOf, pairAt, toggled, movedTo, addedTo, join } =
  require("./load.js")("wb-core", "wb-solve", "wb-pool", "wb-rank");
const near = (x, y, by = 1e-12) => assert.ok(Math.abs(x - y) <= by, `${x} is not ${y}`);

test("pairs run as numpy.triu_indices has them", () => {
  const pairs = [];
  for (let k = 0; k < 5; k++) for (let l = k + 1; l < 5; l++) pairs.push(pairAt(k, l, 5));
  assert.deepEqual(pairs, pairs.map((_, n) => n));
});

test("digits and steps, as the library writes them in its docstrings", () => {
  assert.deepEqual(counts("000z10rs"), [0, 35, 36, 1000]);
  assert.deepEqual(rows([[3, 4, 5], [], [1, 2, 2, -1]]), [[3, 4, 5], [3, 4, 5], [3, 6, 4]]);
});

test("SPA, ranks and order by hand", () => {
  const pairs = [[0, 1, 0], [0, 2, 1], [1, 2, 2]];
  // weights ½, ¼, ¼: pairs weigh ⅛, ⅛, 1/16
  const spa = spaOf([[0, 0, 0], [1, 0, 0.5], [0, 0, 0]], pairs, [0.5, 0.25, 0.25]);
  near(spa[1], 1 - (1 / 8 + 1 / 32) / (5 / 16));
  assert.deepEqual([ranksOf(spa), orderOf(spa)], [[1, 3, 1], [0, 2, 1]]);
  assert.equal(spaOf([[0, 0, 0]], pairs, [1, 0, 0]), null);
});

/** Four systems, two scorers: the first agrees with people on the pair of systems 0 and 1 only, the second on all others. */
function made() {
  return { name: "made", systems: ["A", "B", "C", "D"], adequacy: [0, 1, 2, 3], fluency: [0, 2, 1, 1], total: [1, 2, 3, 4],
           scorers: ["one", "two"], permutations: 10, human: "000000000000", p: ["000a0a0a0a0a", "0a0000000000"],
           stops: [0.5, 0.6, 0.714285], natural: 2, reliable: [1, 2],
           verdict: { fine: 1e4, low: [[1, 1], [1, 1]], high: [[2, 2], []], margin: [[100, 200], []], opens: [[], [1]], moved: [[0, 1], []], turned: [[1], []],
                      documents: 9, moves: [1], turns: [] },
           segmental: { betas: [0.6, 0.7], thousandths: { acc_eq: [[400, 500], [500, 480]], pdp: [[100, 0], [200, -100]] } } };
}

test("meta-metrics of segments lie on lines between their stops, and nowhere else", () => {
  const contest = new Contest({ ...made(), stops: [0.5, 0.6, 0.65], natural: 2 });
  assert.equal(contest.at(0).segmental, null);
  assert.deepEqual(contest.at(1).segmental, { acc_eq: [0.4, 0.5], pdp: [0.1, 0] });
  contest.at(2).segmental.acc_eq.forEach((x, m) => near(x, [0.45, 0.49][m]));
  contest.at(2).segmental.pdp.forEach((x, m) => near(x, [0.15, -0.05][m]));
  assert.equal(new Contest(made(), { ...WHOLE, out: [0] }).at(0).segmental, null, "of the pool as it ships alone");
});

test("a contest as it ships has tests where they ship", () => {
  const contest = new Contest(made());
  assert.equal(contest.at(0).tested, null);
  const now = contest.at(2);
  assert.deepEqual([now.tested.low, now.tested.high, now.tested.cluster], [[1, 2], [2, 2], [2, 1]]);
  near(now.tested.margin[1], 0.02);
  assert.deepEqual(contest.at(1).tested.moved, [true, true]);
  assert.deepEqual(contest.at(1).tested.turned, [false, true]);
  assert.deepEqual(contest.between(1, 0), { moves: true, turns: false, few: false });
  const page = made();
  Object.assign(page.verdict, { moves: null, turns: null, documents: 5 });
  assert.deepEqual(new Contest(page).between(0, 1), { moves: false, turns: false, few: true });
  assert.ok(contest.finish(Infinity) && contest.cache.every(Boolean));
  assert.equal(contest.finish(-1, () => 0), true, "nothing is left to do");
  assert.equal(new Contest(made()).finish(-1, () => 0), false);
});

test("contributions to a lead: by hand, and they sum to it", () => {
  const contest = new Contest(made()), { w, spa } = contest.at(2);
  const found = contest.contributions(0, 1, 2);
  near(found.reduce((sum, c) => sum + c, 0), spa[0] - spa[1]);
  const all = (1 - w.reduce((sum, x) => sum + x * x, 0)) / 2;
  near(found[3], -(w[3] * (1 - w[3])) / (2 * all), 1e-9); // on pairs with D only the second scorer agrees with people
  contest.contributions(1, 0, 2).forEach((c, k) => near(c, -found[k]));
});

/** What is said of carriers in the made contest, whose first scorer is behind at the lower end and ahead at the upper one. */
function carrying(carriers, { edit = WHOLE, moves = [1] } = {}) {
  const page = Object.assign(made(), { carriers, vanishing: 0.02 });
  page.verdict.moves = moves;
  return new Contest(page, edit);
}

test("the carrier of a pair, of a scorer and of the pool, each with its sentence", () => {
  const contest = carrying({ pool: [1, 0, 4], scorers: [[2, 1, 2], null], pairs: "4" });
  const [pool, one, two, pair] = [[], [0], [1], [0, 1]].map((chosen) => contest.carried(chosen));
  assert.deepEqual([pool, one, pair].map(([found]) => found.system), ["B", "C", "D"]);
  assert.match(pool[0].text, /^4 pairs .* Without B none of them still do /);
  const [low, high] = contest.reliable.map((stop) => contest.at(stop).rank[0]);
  assert.match(one[0].text, new RegExp(`one has rank ${low} at the lower .* ${high} at the upper end; without C, 1 and 2`));
  assert.match(pair[0].text, /one and two: (they change places|the lead moves) .*without D/);
  assert.deepEqual(two, []);
});

test("no carrier where nothing changes, and none in a pool that is not the one that ships", () => {
  const known = { pool: [1, 0, 4], scorers: [[2, 1, 2], null], pairs: "4" };
  const still = carrying(known, { moves: [] });
  const [low, high] = still.reliable.map((stop) => still.at(stop).spa);
  assert.equal((low[0] - low[1]) * (high[0] - high[1]) > 0, true, "the two keep their places");
  assert.deepEqual(still.carried([0, 1]), []);
  assert.deepEqual(carrying({ pool: null, scorers: [null, null], pairs: "0" }).carried([]), []);
  assert.deepEqual(carrying({ ...known, pairs: "0" }).carried([0, 1]), []);
  for (const chosen of [[], [0], [0, 1]]) assert.deepEqual(carrying(known, { edit: toggled(WHOLE, "D") }).carried(chosen), []);
  const own = carrying(known);
  join(own.page, "mine", [0, 0, 0, 0, 0, 0]);
  assert.deepEqual(own.carried([0, 2]), [], "of the reader's own scorer no carrier is known");
});

test("a system vanishes below the share that the data name", () => {
  const contest = carrying(null);
  const shares = contest.at(0).w.map((w) => w * contest.K);
  const least = Math.min(...shares);
  for (const vanishing of [least, least + 1e-9]) {
    contest.page.vanishing = vanishing;
    assert.deepEqual(contest.vanishing(0).map(({ place }) => place), shares.flatMap((x, k) => (x < vanishing ? [k] : [])));
  }
  assert.equal(contest.vanishing(0).length, 1);
  assert.deepEqual(contest.vanishing(contest.natural), []);
});

test("leaving out is exact: the contest of those that remain", () => {
  const contest = new Contest(made(), toggled(WHOLE, "D"));
  const { spa } = contest.at(contest.natural);
  near(spa[0], 1 / 3);
  near(spa[1], 2 / 3);
  assert.deepEqual([contest.K, contest.whole, contest.at(contest.natural).tested, contest.between(0, 1)], [3, false, null, null]);
  near(contest.beta0, 0.5);
});

test("what is moved or invented counts for β and weights, not for SPA", () => {
  const edit = addedTo(movedTo(WHOLE, "D", 2.5, 0.5), 1.5, 1.5);
  const contest = new Contest(made(), edit);
  assert.equal(contest.K, 5);
  assert.equal(contest.pairs.length, 3, "of A, B and C");
  near(contest.at(contest.natural).spa[0], 1 / 3);
});

test("without two systems that differ there is no contest", () => {
  const edit = ["A", "B", "C"].reduce(toggled, WHOLE);
  assert.equal(new Contest(made(), edit).pool, null);
});

test("without two real systems with weight there is no SPA", () => {
  const edit = addedTo(addedTo(["A", "B", "C"].reduce(toggled, WHOLE), 1, 1), 2, 0);
  const contest = new Contest(made(), edit);
  assert.deepEqual([contest.K, contest.at(contest.natural).spa, contest.at(contest.natural).order], [3, null, null]);
});

test("crossings lie between the stops where the order changes", () => {
  const contest = new Contest(made());
  contest.cache = [[0.9, 0.8], [0.8, 0.8], [0.7, 0.9]].map((spa) => ({ spa }));
  const [{ beta, inside }, ...others] = contest.crossings(0, 1);
  near(beta, 0.5 + (0.714285 - 0.5) / 3);
  assert.deepEqual([inside, others], [false, []], "the first stop is outside");
  assert.deepEqual(contest.crossings(0, 0), []);
});
