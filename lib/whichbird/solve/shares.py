"""Shares of any number of aspects: the most even weighting that has them, with a proof that none is more even.

The share of an aspect is its variance over the sum of all variances. With the A means fixed, variances are linear in the
weights. So the box of possible means is cut into smaller boxes. In each, m² lies between its tangents and its chord, which
leaves a convex quadratic programme: its value bounds Σw² from below (`_relaxed`). Newton's method on its solution finds
weightings (`_climbed`). The box with the lowest bound is cut until that bound is within the gap of the best weighting.
The programme is a least-distance problem, solved by scipy's `nnls`; what it returns is checked by `verify_shares`.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
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
    ...     reweight_shares([[0, 1, 2], [0, 1, 2], [0, 2, 1]], [.5, .3, .2])
    ... except NotReachable as error:
    ...     verify_shares(error.proof)
    0.0
    """

    def __init__(self, sentence: str, proof: dict[str, Any]) -> None:
        super().__init__(sentence)
        self.proof = proof


@dataclass(frozen=True, eq=False)
class Shared(Reweighting):
    """A `Reweighting` for shares of A aspects: `shares` (A,) are those of its weights, `asked` (A,) the target.

    `beta` and `target` are the first of each. `gap` was measured by `verify_shares` before the result was returned; the
    weights are rounded, so their shares miss the target by up to 1e-9. `boxes` counts the leaves of the proof.
    """

    shares: Array = field(default_factory=lambda: np.zeros(0))
    asked: Array = field(default_factory=lambda: np.zeros(0))
    boxes: int = 0
    written: dict[str, Any] | None = field(default=None, repr=False)

    @property
    def proof(self) -> dict[str, Any] | None:
        """Plain numbers, ready for JSON, that `verify_shares` checks; None where nothing was proven."""
        return self.written

    @property
    def gap(self) -> float:
        """How far Σw² is, at most, above the least possible, relative to itself."""
        return self.claimed


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

    >>> share_grid(3, 2)
    array([[0. , 0. , 1. ],
           [0. , 0.5, 0.5],
           [0. , 1. , 0. ],
           [0.5, 0. , 0.5],
           [0.5, 0.5, 0. ],
           [1. , 0. , 0. ]])
    """
    check.whole(aspects, "aspects", 2)
    check.whole(steps, "steps")
    counts = np.stack(np.meshgrid(*[np.arange(steps + 1)] * (aspects - 1), indexing="ij"), -1).reshape(-1, aspects - 1)
    counts = counts[counts.sum(axis=1) <= steps]
    return np.column_stack([counts, steps - counts.sum(axis=1)]) / steps


def reweight_shares(x: ArrayLike, target: ArrayLike, gap: float = GAP, boxes: int = BOXES) -> Shared:
    """The most even weighting whose shares are the target (A,), from scores x (A, K), one row an aspect.

    NotReachable, with a proof, if no weighting has these shares. NotProven if `boxes` boxes did not decide.

    >>> r = reweight_shares([[0, 1, 2, 3, 1], [0, 2, 1, 1, 3], [1, 0, 0, 2, 2]], [.4, .3, .3])
    >>> r.weights.round(3), round(r.ess, 3), r.certificate, r.gap < 1e-6
    (array([0.173, 0.214, 0.227, 0.253, 0.132]), 4.784, 'boxes', True)
    >>> shares([[0, 1, 2, 3, 1], [0, 2, 1, 1, 3], [1, 0, 0, 2, 2]], r.weights).round(9)
    array([0.4, 0.3, 0.3])
    """
    scores = _scores(x)
    asked = _target(target, len(scores))
    return _answer(scores, asked, gap, boxes)


def reweight_shares_sweep(x: ArrayLike, targets: ArrayLike, gap: float = GAP, boxes: int = BOXES) -> Sweep:
    """`reweight_shares` for T targets (T, A), along a segment or over `share_grid`; nothing is raised.

    Where no weighting has the shares the certificate is "out of reach", with its proof; where that was not decided,
    "unproven". Both have NaN for weights.

    >>> x = [[0, 1, 2, 3, 1], [0, 2, 1, 1, 3], [1, 0, 0, 2, 2]]
    >>> found = reweight_shares_sweep(x, share_grid(3, 3))
    >>> [r.certificate for r in found].count("boxes"), found.unproven.size, round(float(found.ess[5]), 2)
    (1, 0, 4.74)
    """
    scores = _scores(x)
    results: list[Reweighting] = []
    for row in check.matrix(targets, "targets"):
        asked = _target(row, len(scores))
        try:
            results.append(_answer(scores, asked, gap, boxes))
        except NotReachable as error:
            results.append(_nothing(scores, asked, OUT, error.proof))
        except NotProven:
            results.append(_nothing(scores, asked, UNPROVEN, None))
    return Sweep(results, scores.shape[1])


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


def _nothing(x: Array, asked: Array, why: str, proof: dict[str, Any] | None) -> Shared:
    nan = math.nan
    none, no = np.full(x.shape[1], nan), np.full(len(x), nan)
    return Shared(none, nan, float(asked[0]), why, nan, nan, nan, shares=no, asked=asked, written=proof)


def _answer(given: Array, asked: Array, gap: float, boxes: int) -> Shared:
    """Search, write the proof, and verify it; what cannot be verified is not returned."""
    unit = 2.0 ** -np.round(np.log2(np.ptp(given, axis=1).max()))  # a power of two: nothing is rounded
    claim = {"scores": given.tolist(), "shares": asked.tolist()}
    if (way := _hull(given * unit, asked)) is not None:
        proof, w, leaves = {**claim, "hull": way.tolist()}, None, 0
    else:
        tree, w, leaves = _Search(given * unit, asked, gap, boxes).run()
        proof = {**claim, **({} if w is None else {"weights": w.tolist()}), "tree": _written(tree, unit)}
    try:
        proven = verify_shares(proof)
    except ValueError as error:
        raise NotProven(f"the proof for the shares {asked.tolist()} does not hold: {error}") from None
    if w is None:
        raise NotReachable(f"no weighting of these systems has the shares {', '.join(f'{s:g}' for s in asked)}", proof)
    own = shares(given, w)
    multipliers = math.nan, math.nan
    found = w, float(own[0]), float(asked[0]), "boxes", proven, *multipliers
    return Shared(*found, shares=own, asked=asked, boxes=leaves, written=proof)


def _hull(x: Array, s: Array) -> Array | None:
    """A direction that parts the target from the shares of all pairs, None if it lies in their convex hull."""
    i, k = np.triu_indices(x.shape[1], 1)
    d = (x[:, i] - x[:, k]) ** 2
    total = d.sum(axis=0)
    pairs = d[:, total > 0] / total[total > 0]
    theta, rest = nnls(pairs, s)
    if rest < 1e-9:
        return None
    away = pairs @ theta - s
    return np.asarray(away + rest**2 / 2)


@dataclass
class _Node:
    """A box of means with its bound: `rows` (A, 5) are the leaf's numbers, `w` the solution of its programme."""

    low: Array
    high: Array
    bound: float
    rows: Array
    w: Array
    T: float
    cut: tuple[int, float] | None = None
    parts: tuple[_Node, ...] = ()


class _Search:
    """Branch and bound over boxes of means for one target."""

    def __init__(self, x: Array, s: Array, gap: float, boxes: int) -> None:
        self.x, self.s, self.gap, self.boxes = x, s, gap, boxes
        self.best: Array | None = None  # the best weighting found,
        self.least = 1.0  # and its Σw²

    def run(self) -> tuple[_Node, Array | None, int]:
        """The tree, the best weighting or None if there is none, and the number of leaves."""
        root = self._node(self.x.min(axis=1), self.x.max(axis=1))
        self._try(np.full(self.x.shape[1], 1 / self.x.shape[1]))
        heap, seen, framed = [(root.bound, 0, root)], 0, False
        while heap and heap[0][0] < self._enough():
            if seen > self.boxes:
                raise NotProven(f"{self.boxes} boxes did not decide how well the shares {self.s.tolist()} can be had")
            _, _, node = heapq.heappop(heap)
            self._try(node.w)
            if self.best is not None and not framed:
                framed, heap = True, []
                for part in self._frame(root):
                    heapq.heappush(heap, (part.bound, seen := seen + 1, part))
                continue
            for part in self._split(node, *self._where(node)):
                heapq.heappush(heap, (part.bound, seen := seen + 1, part))
        return root, self.best, seen

    def _enough(self) -> float:
        return self.least * (1 - self.gap / 2) if self.best is not None else 1.5

    def _try(self, w: Array) -> None:
        found = _climbed(self.x, self.s, w)
        if found is not None and found @ found < self.least:
            self.best, self.least = found, float(found @ found)

    def _frame(self, root: _Node) -> list[_Node]:
        """Cut off the means that only weightings less even than the best have."""
        K, node, parts = self.x.shape[1], root, []
        reach = self.x.std(axis=1) * math.sqrt(max(0.0, K * self.least * (1 + 1e-9) - 1))
        for j, (middle, r) in enumerate(zip(self.x.mean(axis=1), reach, strict=True)):
            for side, at in ((0, middle - r), (1, middle + r)):
                if node.low[j] < at < node.high[j]:
                    two = self._split(node, j, float(at))
                    parts.append(two[side])
                    node = two[1 - side]
        return [*parts, node]

    def _split(self, node: _Node, j: int, at: float) -> tuple[_Node, _Node]:
        high, low = node.high.copy(), node.low.copy()
        high[j] = low[j] = at
        node.cut, node.parts = (j, at), (self._node(node.low, high), self._node(low, node.high))
        return node.parts

    def _where(self, node: _Node) -> tuple[int, float]:
        """The mean to cut, and where: at a system that has all the weight, else between tangents and chord."""
        x, wide = self.x, node.high - node.low
        k = int(node.w.argmax())
        if node.w[k] > 1 - 1e-3:  # near one point all variances vanish: make it a corner
            inside = (node.low < x[:, k]) & (x[:, k] < node.high)
            if inside.any():
                j = int(np.argmax(inside * wide))
                return j, float(x[j, k])
            off = wide / np.ptp(x, axis=1)
        else:
            off = np.minimum(
                np.abs(_variances(x, node.w) - self.s * node.T), wide**2 / 4
            )  # |y − m²|, as far as it can be
            off = off if off.max() > 0 else wide
        j = int(off.argmax())
        m, middle = float(x[j] @ node.w), (node.low[j] + node.high[j]) / 2
        return j, float(m if abs(m - middle) < 0.2 * wide[j] else middle)

    def _node(self, low: Array, high: Array) -> _Node:
        bound, rows, w, T = _relaxed(self.x, self.s, low, high)
        if 1 - 1e-5 < bound < 1.5 and self.least > 1 - 1e-5:
            corner = _cornered(self.x, self.s, low, high, int(w.argmax()))
            if corner is not None:
                bound, rows = 2.0, corner
        return _Node(low, high, bound, rows, w, T)


def _columns(x: Array, low: Array, high: Array, tangents: Array) -> Array:
    """The parts of h, (A, 3 + C, K): chord, tangents at (A, C), and the two sides of the box."""
    l, u = x - low[:, None], x - high[:, None]
    touch = -((x[:, None, :] - tangents[:, :, None]) ** 2)
    return np.concatenate([(l * u)[:, None], touch, -l[:, None], u[:, None]], axis=1)


def _relaxed(x: Array, s: Array, low: Array, high: Array) -> tuple[float, Array, Array, float]:
    """A bound on Σw² in a box, the leaf's numbers that show it, the programme's solution and its total variance.

    Least Σw² subject to Σ w h ≤ 0 for non-negative multiples of the columns is the distance of a cone from the vector of
    ones: min |1 − h + r|² over multiples and r ≥ 0. A bound above 1.5 says that the box is empty.
    """
    A, K = x.shape
    tangents = np.stack([low, (low + high) / 2, high], axis=1)
    parts = _columns(x, low, high, tangents)
    total = np.zeros(parts.shape[:2])
    total[:, 0], total[:, 1:4] = s, -s[:, None]
    size = np.sqrt((parts**2).sum(axis=2)) + 1e-300
    matrix = np.zeros((K + 1, 6 * A + 1 + K))
    matrix[:K, : 6 * A] = (parts / size[..., None]).reshape(-1, K).T
    matrix[K, : 6 * A] = STIFF * (total / size).ravel()
    matrix[K, 6 * A] = STIFF
    matrix[range(K), range(6 * A + 1, 6 * A + 1 + K)] = -1
    try:
        much, _ = nnls(matrix, np.r_[np.ones(K), 0.0], maxiter=30 * matrix.shape[1])
    except RuntimeError:
        much = np.zeros(matrix.shape[1])
    rest = np.r_[np.ones(K), 0.0] - matrix @ much
    rows = _rows(much[: 6 * A].reshape(A, 6) / size, tangents, s)
    z = np.maximum(0, 1 - _height(x, low, high, rows))
    w = np.maximum(rest[:K], 0)
    w = w / w.sum() if w.sum() > 1e-12 else np.full(K, 1 / K)
    room = float(z @ z)
    bound = 1 / room if room > 0.999999 else 2.0
    return bound, rows, w, max(0.0, float(-STIFF * rest[K] / max(rest[:K].sum(), 1e-12)))


def _rows(parts: Array, tangents: Array, s: Array) -> Array:
    """Leaf numbers (A, 5) from multiples (A, 6): tangents become one, and Σ s(a − b) ≤ 0 survives rounding."""
    b = parts[:, 1:4].sum(axis=1)
    own = np.divide((parts[:, 1:4] * tangents).sum(axis=1), b, out=tangents[:, 1].copy(), where=b > 0)
    lone = (parts[:, 1:4] > 0).sum(axis=1) == 1  # exactly a side of the box, if it is one
    own[lone] = tangents[lone, parts[lone, 1:4].argmax(axis=1)]
    rows = np.column_stack([parts[:, 0], b, own, parts[:, 4], parts[:, 5]])
    j = int(s.argmax())
    over = float(s @ (rows[:, 0] - rows[:, 1])) + 1e-14 * float(s @ (rows[:, 0] + rows[:, 1]))
    rows[j, 1] += max(0.0, over / s[j])
    return rows


def _height(x: Array, low: Array, high: Array, rows: Array) -> Array:
    """h (K,) of a leaf."""
    parts = _columns(x, low, high, rows[:, 2:3])
    return np.asarray(np.einsum("jc,jck->k", rows[:, [0, 1, 3, 4]], parts))


def _cornered(x: Array, s: Array, low: Array, high: Array, k: int) -> Array | None:
    """Numbers that leave nothing but system k of a box of which it is a corner, None if there are none."""
    corner = x[:, k]
    below, above = corner == low, corner == high
    others = (x != corner[:, None]).any(axis=0)
    if not (below | above).all():
        return None
    parts = _columns(x, low, high, corner[:, None])[:, :, others]
    parts[~below, 2], parts[~above, 3] = 0, 0  # what is not zero at the corner
    total = np.zeros(parts.shape[:2])
    total[:, 0], total[:, 1] = s, -s
    scale = np.abs(parts).max(axis=(0, 1)) + 1e-300  # of each system: only signs count
    matrix = np.concatenate([(parts / scale).reshape(-1, others.sum()).T, STIFF * total.reshape(1, -1)])
    size = np.sqrt((matrix**2).sum(axis=0)) + 1e-300
    slack = np.zeros((len(matrix), len(matrix)))
    slack[range(len(matrix)), range(len(matrix))] = -1.0
    slack[-1, -1] = STIFF
    try:
        much, rest = nnls(np.column_stack([matrix / size, slack]), np.r_[np.ones(others.sum()), 0.0])
    except RuntimeError:
        return None
    if rest > 0.5:
        return None
    a, b, p, q = (much[: matrix.shape[1]] / size).reshape(len(x), 4).T
    three = np.zeros((len(x), 3))
    three[:, 0] = b
    rows = _rows(np.column_stack([a, three, p * below, q * above]), np.stack([corner] * 3, axis=1), s)
    return rows if (_height(x, low, high, rows)[others] > 0).all() else None


def _climbed(x: Array, s: Array, w: Array) -> Array | None:
    """A weighting with these shares near w that is stationary for Σw² on its support, None if none is found."""
    way = np.linalg.svd(s[None])[2][1:]  # (A − 1, A): V is a multiple of s where these vanish
    free = w > 1e-7
    for _ in range(12):
        found = _newton(x[:, free], s, way, w[free] / w[free].sum())
        if found is None:
            return None
        v, slope = found
        w = np.zeros(w.size)
        w[free] = v
        if v.min() < 0:
            free[np.flatnonzero(free)[v < 0]] = False
            w = np.maximum(w, 0)
            if free.sum() < 2:
                return None
            continue
        reduced = slope[0] + ((x - (x @ w)[:, None]) ** 2).T @ slope[1:]
        wrong = ~free & (reduced < -1e-9)  # would be better with weight
        if not wrong.any():
            break
        free |= wrong
    if w.min() < 0:
        return None
    w = w / w.sum()
    spread = _variances(x, w)
    return w if spread.sum() > 1e-12 and np.abs(spread / spread.sum() - s).max() < EXACT else None


def _newton(x: Array, s: Array, way: Array, w: Array) -> tuple[Array, Array] | None:
    """A zero of the Lagrange conditions on all systems of x, weights of any sign; and the multipliers (1 + A,)."""
    K = w.size
    eta: Array = np.zeros(0)
    for _ in range(25):
        around = x - (x @ w)[:, None]
        slopes = np.vstack([np.ones(K), way @ around**2])
        if not eta.size:
            eta = np.asarray(-np.linalg.lstsq(slopes.T, 2 * w, rcond=None)[0], np.float64)
        lam = way.T @ eta[1:]
        curved = 2 * np.eye(K) - 2 * (around.T * lam) @ around
        n = len(slopes)
        matrix = np.block([[curved, slopes.T], [slopes, np.zeros((n, n))]])
        miss = np.r_[2 * w + slopes.T @ eta, w.sum() - 1, way @ (around**2 @ w)]
        try:
            step = np.linalg.solve(matrix, -miss)
        except np.linalg.LinAlgError:
            step = np.linalg.lstsq(matrix, -miss, rcond=None)[0]
        shorter = min(1.0, 0.5 / max(np.abs(step[:K]).max(), 1e-300))
        w, eta = w + shorter * step[:K], eta + shorter * step[K:]
        if not np.isfinite(w).all() or np.abs(w).max() > 10:
            return None
        if np.abs(step[:K]).max() < 1e-14:
            break
    if np.abs(step[:K]).max() > 1e-9:
        return None
    return w, np.r_[eta[0], way.T @ eta[1:]]


def _written(node: _Node, unit: float) -> list[Any]:
    """A tree in the units of the scores, as lists."""
    if node.cut is not None:
        return [node.cut[0], node.cut[1] / unit, *(_written(part, unit) for part in node.parts)]
    return [[a * unit**2, b * unit**2, c / unit, p * unit, q * unit] for a, b, c, p, q in node.rows.tolist()]
