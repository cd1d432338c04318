"""Shares of any number of aspects: the most even weighting that has them, with a proof that none is more even.

The share of an aspect is its variance over the sum of all variances. Newton's method finds a weighting (`_climbed`). Where
its Lagrange function is convex, that is the proof: its multipliers. Elsewhere the box of possible means is cut into smaller
ones. With the A means fixed, variances are linear in the weights; in a box, m² lies between its tangents and its chord,
which leaves a convex quadratic programme whose value bounds Σw² (`_relaxed`). The box with the lowest bound is cut until
that bound is within the gap of the best weighting. The programme is a least-distance problem, solved by scipy's `nnls`.
Nothing is returned that `verify_shares` did not accept.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from ..core import check
from ..core.check import Array
from .result import OUT, UNPROVEN, NotProven, Reweighting, Sweep
from .verify_shares import verify_shares

GAP, BOXES = 1e-6, 2000  # the relative gap to reach, and the boxes to look at before giving up
EXACT = 1e-12  # how closely a weighting found must have its shares
STIFF = 1e5  # weight of the row that holds the total variance free


class NotReachable(ValueError):
    """No weighting has these shares; `proof` shows it, for `verify_shares` to check.

    >>> try:
    ...     reweight_shares([[0, 1, 2], [0, 2, 4], [0, 1, 0]], [0.5, 0.4, 0.1])  # the second is twice the first
    ... except NotReachable as refusal:
    ...     print(verify_shares(refusal.proof))
    0.0
    """

    def __init__(self, sentence: str, proof: dict[str, Any]) -> None:
        super().__init__(sentence)
        self.proof = proof


@dataclass(frozen=True, eq=False)
class Shared(Reweighting):
    """A `Reweighting` for shares of A aspects: `shares` (A,) are those of its weights, `asked` (A,) the target.

    `beta` and `target` are the first of each. `gap` was measured by `verify_shares`, which bounds Σw² of all weightings with
    the target; the weights themselves are rounded, so their shares miss it by up to 1e-9. `boxes` counts the programmes
    solved, 0 where the multipliers alone are the proof. `proof` is plain numbers, ready for JSON.

    >>> found = reweight_shares([[0, 2, 0, 1], [0, 1, 3, 0], [0, 1, 0, 2]], [0.3, 0.5, 0.2])
    >>> found.asked, found.shares.round(6), found.gap <= 1e-9
    (array([0.3, 0.5, 0.2]), array([0.3, 0.5, 0.2]), True)
    """

    shares: Array = field(default_factory=lambda: np.zeros(0))
    asked: Array = field(default_factory=lambda: np.zeros(0))
    boxes: int = 0
    proof: dict[str, Any] | None = field(default=None, repr=False)
    gap: float = math.nan


def shares(x: ArrayLike, w: ArrayLike | None = None) -> Array:
    """Share of each aspect in the sum of the weighted variances, from scores x (A, K) and weights (K,): shape (A,).

    >>> shares([[0, 2, 0], [0, 1, 0], [0, 1, 0]]).round(3)
    array([0.667, 0.167, 0.167])
    """
    x = _scores(x)
    w = check.weights(w, x.shape[1])
    spread = _variances(x, w)
    if not (np.ptp(x[:, w > 0], axis=1) > 0).any() or not spread.sum() > 0:
        raise ValueError("all the weight lies on systems with the same scores; their shares are not defined")
    return np.asarray(spread / spread.sum())


def share_grid(aspects: int, steps: int) -> Array:
    """All share vectors whose entries are multiples of 1/steps: shape (T, aspects).

    >>> share_grid(3, 2).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.5, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]
    """
    check.whole(aspects, "aspects", 2)
    check.whole(steps, "steps")
    return np.array([c for c in product(range(steps + 1), repeat=aspects) if sum(c) == steps]) / steps


def reweight_shares(x: ArrayLike, target: ArrayLike, gap: float = GAP, boxes: int = BOXES) -> Shared:
    """The most even weighting whose shares are the target (A,), from scores x (A, K), one row an aspect.

    NotReachable, with a proof, if no weighting has these shares. NotProven if `boxes` boxes did not decide.

    >>> r = reweight_shares([[0, 1, 2, 3, 1], [0, 2, 1, 1, 3], [1, 0, 0, 2, 2]], [.4, .3, .3])
    >>> r.weights.round(3), round(r.ess, 3), r.certificate, r.gap < 1e-6
    (array([0.173, 0.214, 0.227, 0.253, 0.132]), 4.784, 'dual', True)
    >>> shares([[0, 1, 2, 3, 1], [0, 2, 1, 1, 3], [1, 0, 0, 2, 2]], r.weights).round(9)
    array([0.4, 0.3, 0.3])
    """
    scores = _scores(x)
    return _answer(scores, _target(target, len(scores)), gap, boxes, [])


def reweight_shares_sweep(x: ArrayLike, targets: ArrayLike, gap: float = GAP, boxes: int = BOXES) -> Sweep:
    """`reweight_shares` for T targets (T, A), along a segment or over `share_grid`; nothing is raised.

    Each target starts from the weights of the nearest one before it, from the natural shares outwards. Where no weighting
    has the shares the certificate is "out of reach", with its proof; where that was not decided, "unproven". Both have NaN
    for weights.

    >>> x = [[0, 1, 2, 3, 1], [0, 2, 1, 1, 3], [1, 0, 0, 2, 2]]
    >>> found = reweight_shares_sweep(x, share_grid(3, 3))
    >>> [r.certificate == "out of reach" for r in found].count(True), found.unproven.size, round(float(found.ess[5]), 2)
    (9, 0, 4.74)
    """
    scores = _scores(x)
    asked = np.array([_target(row, len(scores)) for row in check.matrix(targets, "targets")])
    found: dict[int, Shared] = {}
    for t in np.argsort(((asked - shares(scores)) ** 2).sum(axis=1), kind="stable").tolist():
        done = [n for n in found if found[n].certificate not in (OUT, UNPROVEN)]
        near = min(done, key=lambda n: float(((asked[n] - asked[t]) ** 2).sum()), default=None)
        try:
            found[t] = _answer(scores, asked[t], gap, boxes, [] if near is None else [found[near].weights])
        except (NotReachable, NotProven) as error:
            proof, nan = getattr(error, "proof", None), math.nan
            none, nothing = np.full(scores.shape[1], nan), np.full(len(scores), nan)
            why = UNPROVEN if proof is None else OUT
            found[t] = Shared(
                none, nan, float(asked[t, 0]), why, nan, nan, nan, shares=nothing, asked=asked[t], proof=proof
            )
    return Sweep([found[t] for t in range(len(asked))], scores.shape[1])


def _scores(x: ArrayLike) -> Array:
    x = check.matrix(x, "x")
    A, K = x.shape
    if A < 2:
        raise ValueError(f"x has {A} row; a row of system means for each of at least two aspects is expected")
    if A > K:
        raise ValueError(f"x has {A} aspects of {K} systems; there must be at least as many systems as aspects")
    for j, spread in enumerate(np.ptp(x, axis=1)):
        if not spread > 0:
            raise ValueError(f"aspect {j} is the same for all systems; its share is always 0, leave it out")
    if np.abs(x).max() > 1e100 or np.ptp(x, axis=1).max() < 1e-100:
        raise ValueError("x has values above 1e100 or differences below 1e-100; another unit is needed")
    return x


def _target(target: ArrayLike, aspects: int) -> Array:
    asked = check.vector(target, "shares", aspects)
    if (asked < 0).any():
        raise ValueError(f"a share is {asked.min():g}; a share cannot be negative")
    if abs(asked.sum() - 1) > 1e-9:
        raise ValueError(f"the shares sum to {asked.sum():.12g}; their sum must be 1")
    return asked


def _variances(x: Array, w: Array) -> Array:
    return np.asarray(((x - (x @ w)[:, None]) ** 2) @ w)


def _answer(given: Array, asked: Array, gap: float, boxes: int, starts: list[Array]) -> Shared:
    """Search, write the proof, and verify it; what cannot be verified is not returned."""
    unit = 2.0 ** -np.round(np.log2(np.ptp(given, axis=1).max()))  # a power of two: nothing is rounded
    search = _Search(given * unit, asked, gap, boxes)
    proof = {"scores": given.tolist(), "shares": asked.tolist(), **search.run(starts, unit)}
    w = search.best
    try:
        proven = verify_shares(proof)
    except ValueError as error:
        raise NotProven(f"the proof for the shares {asked.tolist()} does not hold: {error}") from None
    if w is None:
        raise NotReachable(f"no weighting of these systems has the shares {', '.join(f'{s:g}' for s in asked)}", proof)
    own, name = shares(given, w), "dual" if "multipliers" in proof else "boxes"
    found = w, float(own[0]), float(asked[0]), name, proven, math.nan, math.nan
    return Shared(*found, shares=own, asked=asked, boxes=search.count, proof=proof, gap=proven)


@dataclass
class _Box:
    """A box of means: its programme's bound on Σw², leaf numbers (A, 5), solution, and what each mean may cost the bound."""

    low: Array
    high: Array
    bound: float
    rows: Array
    w: Array
    off: Array
    parts: tuple[int, float, _Box, _Box] | None = None

    def written(self, unit: float) -> list[Any]:
        """The tree below, in the units of the scores, as lists."""
        if self.parts is not None:
            j, at, below, above = self.parts
            return [j, at / unit, below.written(unit), above.written(unit)]
        return list((self.rows * np.array([unit**2, unit**2, 1 / unit, unit, unit])).tolist())


class _Search:
    """The best weighting for one target, and what proves it."""

    def __init__(self, x: Array, s: Array, gap: float, boxes: int) -> None:
        self.x, self.s, self.gap, self.boxes = x, s, gap, boxes
        self.best: Array | None = None  # the best weighting found,
        self.least = 1.0  # its Σw²,
        self.slopes = 1 / np.ptp(x, axis=1) ** 2  # and its multipliers
        self.count = 0

    def run(self, starts: list[Array], unit: float) -> dict[str, Any]:
        """The proof; `best` is the best weighting then, None if there is none."""
        K = self.x.shape[1]
        way, pairs = _hull(self.x, self.s)
        if way is not None:
            return {"hull": way.tolist()}
        for w in [*starts, np.full(K, 1 / K)]:
            self._try(w)
        if self.best is None:
            self._try(pairs)
        if self.best is not None and self._convex():
            return {"weights": self.best.tolist(), "multipliers": (self.slopes * unit**2).tolist()}
        found, low, high, root = self._covered()
        if self.best is not None and not found:  # with a weighting in hand the box is smaller
            _, low, high, root = self._covered()
        claim = {"box": [(low / unit).tolist(), (high / unit).tolist()], "tree": root.written(unit)}
        return claim if self.best is None else {**claim, "weights": self.best.tolist()}

    def _covered(self) -> tuple[bool, Array, Array, _Box]:
        """Cut boxes until all are closed, or the first weighting is found."""
        found, (low, high) = self.best is not None, self._frame()
        root = self._box(low, high, (low + high) / 2)
        heap = [(root.bound, self.count, root)]
        while heap and heap[0][0] < (self.least * (1 - 0.9 * self.gap) if found else 1.5):
            box = heapq.heappop(heap)[2]
            if not found or self.count & (self.count - 1) == 0:
                self._try(box.w)
            if self.best is not None and not found:
                break
            if self.count > self.boxes:
                raise NotProven(f"{self.boxes} boxes did not decide how well the shares {self.s.tolist()} can be had")
            j, at = self._where(box)
            high, low, m = box.high.copy(), box.low.copy(), self.x @ box.w
            high[j] = low[j] = at
            box.parts = j, at, self._box(box.low, high, m), self._box(low, box.high, m)
            for part in box.parts[2:]:
                heapq.heappush(heap, (part.bound, self.count, part))
                self.count += 1
        return found, root.low, root.high, root

    def _try(self, w: Array) -> None:
        found = _climbed(self.x, self.s, w)
        if found is not None and found[0] @ found[0] < self.least:
            self.best, self.slopes, self.least = *found, float(found[0] @ found[0])

    def _convex(self) -> bool:
        """Whether the Lagrange function is convex: by Sylvester's law, from matrices of the size of the aspects."""
        j = int(self.s.argmax())
        over = float(self.s @ self.slopes) + 1e-14 * float(self.s @ np.abs(self.slopes))
        self.slopes[j] -= max(0.0, over / self.s[j])  # Σ s slopes ≤ 0 survives rounding
        used = self.slopes != 0
        around = (self.x - self.x.mean(axis=1, keepdims=True))[used]
        signs = np.linalg.eigvalsh(np.diag(1 / self.slopes[used]) - around @ around.T)
        return bool((signs < 0).sum() == (self.slopes < 0).sum())

    def _frame(self) -> tuple[Array, Array]:
        """The means of weightings as even as the best; without one, of all."""
        low, high, K = self.x.min(axis=1), self.x.max(axis=1), self.x.shape[1]
        reach = self.x.std(axis=1) * math.sqrt(max(0.0, K * self.least * (1 + 1e-9) - 1))
        middle = self.x.mean(axis=1)
        return np.maximum(low, middle - reach), np.minimum(high, middle + reach)

    def _box(self, low: Array, high: Array, touch: Array) -> _Box:
        """Solve a box; where tangents cost more than chords, once more with tangents where the solution lies."""
        known = (low + high) / 2 if self.best is None else self.x @ self.best
        for _ in range(3):
            tangents = np.stack([low, high, np.clip(touch, low, high), np.clip(known, low, high)], axis=1)
            bound, rows, w = _relaxed(self.x, self.s, low, high, tangents)
            touch, spread, (a, b, c) = self.x @ w, _variances(self.x, w), rows[:, :3].T
            parts = a @ (spread - (touch - low) * (high - touch)) + b @ (spread + (touch - c) ** 2)
            total = parts / (self.s @ (a + b)) if self.s @ (a + b) > 0 else spread.sum()
            most = (high - low) ** 2 / 4
            error = np.clip(spread - self.s * total, -most, most)  # of y as m²: above it cut, below it touch
            off = error * np.maximum(np.abs(self.slopes) / (2 * self.least), rows[:, :2].max(axis=1))
            if bound > self.least or -off.min() <= off.max():
                break
        if 1 - 1e-5 < bound < 1.5 and self.best is None:
            corner = _cornered(self.x, self.s, low, high, int(w.argmax()))
            bound, rows = (bound, rows) if corner is None else (2.0, corner)
        return _Box(low, high, bound, rows, w, off if off.max() > 0 else -off)

    def _where(self, box: _Box) -> tuple[int, float]:
        """The mean to cut, and where: at a system that has all the weight, else where the solution lies."""
        x, wide, k = self.x, box.high - box.low, int(box.w.argmax())
        j, at = int((box.off if box.off.max() > 0 else wide).argmax()), None
        if box.w[k] > 1 - 1e-3:  # near one point all variances vanish: make it a corner
            inside = (box.low < x[:, k]) & (x[:, k] < box.high)
            j = int((inside * wide if inside.any() else wide / np.ptp(x, axis=1)).argmax())
            at = float(x[j, k]) if inside.any() else None
        m, middle = float(x[j] @ box.w), float(box.low[j] + box.high[j]) / 2
        return j, at if at is not None else m if abs(m - middle) < 0.2 * wide[j] else middle


def _hull(x: Array, s: Array) -> tuple[Array | None, Array]:
    """A direction that parts the target from the shares of all pairs, None if it lies in their hull; and a start of pairs."""
    i, k = np.triu_indices(x.shape[1], 1)
    d = (x[:, i] - x[:, k]) ** 2
    total = d.sum(axis=0)
    pairs = d / np.where(total > 0, total, math.inf)
    theta, rest = nnls(pairs, s)
    start = np.bincount(i, theta, x.shape[1]) + np.bincount(k, theta, x.shape[1])
    return None if rest < 1e-9 else pairs @ theta - s + rest**2 / 2, start / start.sum()


def _columns(x: Array, low: Array, high: Array, tangents: Array) -> Array:
    """The parts of h, (A, 3 + C, K): chord, tangents at (A, C), and the two sides of the box."""
    l, u = x - low[:, None], x - high[:, None]
    touch = -((x[:, None, :] - tangents[:, :, None]) ** 2)
    return np.concatenate([(l * u)[:, None], touch, -l[:, None], u[:, None]], axis=1)


def _relaxed(
    x: Array, s: Array, low: Array, high: Array, tangents: Array, sides: ArrayLike = True
) -> tuple[float, Array, Array]:
    """A bound on Σw² in a box, the leaf's numbers that show it, and the programme's solution.

    Least Σw² subject to Σ w h ≤ 0 for non-negative multiples of the columns is the distance of a cone from the vector of
    ones: min |1 − h + r|² over multiples and r ≥ 0. A bound above 1.5 says that the box is empty.
    """
    (A, K), C = x.shape, tangents.shape[1]
    parts = _columns(x, low, high, tangents)
    parts[:, -2:] *= np.broadcast_to(sides, (A, 2))[..., None]
    total = np.zeros(parts.shape[:2])
    total[:, 0], total[:, 1 : 1 + C] = s, -s[:, None]
    size = np.sqrt((parts**2).sum(axis=2)) + 1e-300
    n = size.size
    matrix, ones = np.zeros((K + 1, n + 1 + K)), np.ones(K + 1)
    matrix[:K, :n] = (parts / size[..., None]).reshape(n, K).T
    matrix[K, :n] = STIFF * (total / size).ravel()
    matrix[K, n], ones[K] = STIFF, 0
    matrix[range(K), range(n + 1, n + 1 + K)] = -1
    try:
        much, _ = nnls(matrix, ones, maxiter=30 * matrix.shape[1])
    except RuntimeError:
        much = np.zeros(matrix.shape[1])
    rest = ones - matrix @ much
    rows = _rows(much[:n].reshape(A, C + 3) / size, tangents, s)
    z = np.maximum(0, 1 - _height(x, low, high, rows))
    w = np.maximum(rest[:K], 0)
    w = w / w.sum() if w.sum() > 1e-12 else np.full(K, 1 / K)
    room = float(z @ z)
    bound = 1 / room if room > 0.999999 else 2.0
    return bound, rows, w


def _rows(parts: Array, tangents: Array, s: Array) -> Array:
    """Leaf numbers (A, 5) from multiples (A, 3 + C): tangents become one, and Σ s(a − b) ≤ 0 survives rounding."""
    each = parts[:, 1:-2]
    b = each.sum(axis=1)
    own = np.divide((each * tangents).sum(axis=1), b, out=tangents[:, 0].copy(), where=b > 0)
    lone = (each > 0).sum(axis=1) == 1  # exactly a side of the box, if it is one
    own[lone] = tangents[lone, each[lone].argmax(axis=1)]
    rows = np.column_stack([parts[:, 0], b, own, parts[:, -2], parts[:, -1]])
    j = int(s.argmax())
    over = float(s @ (rows[:, 0] - rows[:, 1])) + 1e-14 * float(s @ (rows[:, 0] + rows[:, 1]))
    rows[j, 1] += max(0.0, over / s[j])
    return rows


def _height(x: Array, low: Array, high: Array, rows: Array) -> Array:
    """h (K,) of a leaf."""
    return rows[:, [0, 1, 3, 4]].ravel() @ _columns(x, low, high, rows[:, 2:3]).reshape(-1, x.shape[1])


def _cornered(x: Array, s: Array, low: Array, high: Array, k: int) -> Array | None:
    """Numbers that leave nothing but system k of a box of which it is a corner, None if there are none."""
    corner, others = x[:, k], (x != x[:, [k]]).any(axis=0)
    sides = np.stack([corner == low, corner == high], axis=1)
    if not sides.any(axis=1).all():
        return None
    _, rows, _ = _relaxed(x[:, others], s, low, high, corner[:, None], sides)
    return rows if (_height(x, low, high, rows)[others] > 0).all() else None


def _climbed(x: Array, s: Array, w: Array) -> tuple[Array, Array] | None:
    """A weighting with these shares near w that is stationary for Σw², and its multipliers (A,); None if none is found."""
    way = np.linalg.svd(s[None])[2][1:]  # (A − 1, A): V is a multiple of s where these vanish
    free = w > 1e-7
    for _ in range(12):
        found = _newton(x[:, free], way, w[free] / w[free].sum())
        if found is None:
            return None
        v, base, slopes = found
        w = np.zeros(w.size)
        w[free] = np.maximum(v, 0)
        if v.min() < 0:
            free[np.flatnonzero(free)[v < 0]] = False
            if free.sum() < 2:
                return None
            continue
        wrong = ~free & (base + slopes @ (x - (x @ w)[:, None]) ** 2 < -1e-9)  # would be better with weight
        if not wrong.any():
            break
        free |= wrong
    else:
        return None
    w = w / w.sum()
    spread = _variances(x, w)
    good = spread.sum() > 1e-12 and np.abs(spread / spread.sum() - s).max() < EXACT
    return (w, slopes) if good else None


def _newton(x: Array, way: Array, w: Array) -> tuple[Array, float, Array] | None:
    """A zero of the Lagrange conditions on all systems of x, weights of any sign; and the multipliers: of Σw, and (A,)."""
    A, n = len(x), len(way) + 1
    eta: Array = np.zeros(0)
    slopes = np.ones((n, w.size))
    for _ in range(25):
        around = x - (x @ w)[:, None]
        slopes[1:] = way @ around**2
        if not eta.size:
            eta = np.asarray(-np.linalg.lstsq(slopes.T, 2 * w, rcond=None)[0], np.float64)
        # The step is `part.T @ z + base`, where z holds around @ step and the step of η: a system of the size of the aspects
        part = np.vstack([(eta[1:] @ way)[:, None] * around, -slopes / 2])
        base = -w - eta @ slopes / 2
        matrix, miss = np.vstack([-around, slopes]) @ part.T, np.r_[around, -slopes] @ base
        matrix[:A, :A] += np.eye(A)
        miss[A:] -= slopes @ w
        miss[A] += 1
        try:
            z = np.linalg.solve(matrix, miss)
        except np.linalg.LinAlgError:
            z = np.linalg.lstsq(matrix, miss, rcond=None)[0]
        step = part.T @ z + base
        far = np.abs(step).max()
        shorter = min(1.0, 0.5 / max(far, 1e-300))
        w, eta = w + shorter * step, eta + shorter * z[A:]
        if not np.isfinite(w).all() or np.abs(w).max() > 10:
            return None
        if far < 1e-14:
            break
    return (w, float(eta[0]), eta[1:] @ way) if far < 1e-9 else None
