"""The three measures: how often a meta-evaluation tells apart two neighbours on a dial, in the right direction.

For a base scorer and two adjacent dials the meta-evaluation answers 1 if the larger dial gets the better SPA, 0 if the
smaller one does, ½ if they tie. A measure is the mean over adjacent dials, then over base scorers. Only signs of
differences of SPA matter, and

    SPA(d+1) − SPA(d) = Σ_pairs π · (|p_h − p_d| − |p_h − p_{d+1}|),

so all there is to know about a dataset is one table of *steps*, whole numbers once p-values are counted in
permutations, and a weighting answers by a matrix product.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core import check
from ..core.metametrics import pair_weights


def steps(human: ArrayLike, curves: ArrayLike) -> np.ndarray:
    """How much nearer each dial comes to people than the one before: (M, D, P) counts → (M, D−1, P), whole numbers.

    `human` (P,) and `curves` are p-values as whole numbers of permutations, so that ties are exact.

    >>> steps(np.array([10]), np.array([[[4], [7], [14]]]))[..., 0]
    array([[ 3, -1]])
    """
    human, curves = check.counts(human, "human"), check.counts(curves, "curves")
    if curves.ndim != 3 or curves.shape[1] < 2 or curves.shape[2:] != human.shape:
        raise ValueError(f"human has shape {human.shape} and curves {curves.shape}; (P,) and (M, D > 1, P) are needed")
    signed = np.promote_types(curves.dtype, np.int16)  # where differences of counts fit
    distance = np.abs(curves.astype(signed, copy=False) - human.astype(signed))
    nearer: np.ndarray = distance[:, :-1] - distance[:, 1:]
    return nearer


def preference(
    step: np.ndarray, w: ArrayLike | None = None, chunk: int = 1024, single: bool = False
) -> np.ndarray | float:
    """A measure for one weighting w (K,), many (W, K), or none (uniform): a share from 0 to 1, or an array (W,).

    `step` is (M, D−1, P). Weightings are taken `chunk` at a time, so memory stays bounded. With `single` the product
    runs in float32, and every sign its rounding could have changed is decided again in float64: the result is the same,
    only faster.

    >>> step = steps(np.array([10, 0, 5]), np.array([[[4, 0, 5], [7, 0, 5], [14, 0, 5], [14, 0, 5]]]))
    >>> preference(step), preference(step, [1, 0, 1])
    (0.5, 0.5)
    """
    pairs = step.shape[-1]
    table = step.reshape(-1, pairs).astype(np.float64)
    if table.size == 0:
        raise ValueError(f"the table has shape {step.shape}; at least one scorer, step and pair is needed")
    w = np.ones(round((1 + np.sqrt(1 + 8 * pairs)) / 2)) if w is None else np.asarray(w, dtype=np.float64)
    many = np.atleast_2d(w)
    made = many.shape[-1] * (many.shape[-1] - 1) // 2
    if many.ndim != 2 or made != pairs:
        raise ValueError(f"weights of shape {w.shape} make {made} pairs; (K,) or (W, K) with {pairs} pairs is expected")
    answers = _Answers(table, np.float32 if single else np.float64)
    out = np.empty(len(many))
    for start in range(0, len(many), chunk):
        out[start : start + chunk] = answers(pair_weights(many[start : start + chunk])) / len(table)
    return out if w.ndim == 2 else float(out[0])


class _Answers:
    """The sum of a table's answers, 1 for a gain and ½ for a tie, under each of many weightings.

    The sign of a sum that rounding cannot have changed is believed; all others are decided one by one.
    """

    def __init__(self, table: np.ndarray, dtype: type[np.floating[Any]]) -> None:
        moving = table[table.any(axis=1)]
        self.ties = (len(table) - len(moving)) / 2  # a row of zeros ties under any weighting
        # π, a row, their P products and the sum err together by at most P + 8 roundings of the row's largest step, as
        # Σπ = 1. Rows are scaled so that one is this error in `dtype` and three times it in float64: for the sum that
        # decides, in its own order, and for the tie it looks for. So both precisions give the same answers.
        unit = (table.shape[1] + 8) / 2
        self.tie = unit * np.finfo(np.float64).eps
        slack = (1.01 * unit * np.finfo(dtype).eps + 3 * self.tie) * np.abs(moving).max(axis=1, keepdims=True)
        self.table, self.scaled = moving, (moving / slack).astype(dtype)

    def __call__(self, pi: np.ndarray) -> np.ndarray:
        change = self.scaled @ pi.T.astype(self.scaled.dtype, copy=False)
        gain, no_loss = change > 1, change >= -1
        out = self.ties + _ones(gain)
        row, column = np.divmod(np.flatnonzero(gain ^ no_loss), len(pi))
        for part in np.array_split(np.arange(row.size), 1 + row.size // 30_000):
            terms = self.table[row[part]] * pi[column[part]]
            total, size = terms.sum(axis=1), np.abs(terms).sum(axis=1)
            # a tie is zero up to the rounding of its own terms, however little the pairs that differ may weigh
            answer = np.where(np.abs(total) <= self.tie * size, 0.5, total > 0)
            out += np.bincount(column[part], weights=answer, minlength=out.size)
        return out


def _ones(yes: np.ndarray) -> np.ndarray:
    """How many rows are true, per column: bytes added in blocks that cannot overflow, far faster than a sum."""
    out = np.zeros(yes.shape[1])
    for start in range(0, len(yes), 255):
        out += np.add.reduce(yes[start : start + 255].view(np.uint8), axis=0, dtype=np.uint8)
    return out
