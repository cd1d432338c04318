"""The three measures: how often a meta-evaluation tells apart two neighbours on a dial, in the right direction.

For a base scorer and two adjacent dials the meta-evaluation answers 1 if the larger dial gets the better SPA, 0 if the
smaller one does, ½ if they tie. A measure is the mean over adjacent dials, then over base scorers. Only signs of
differences of SPA matter, and

    SPA(d+1) − SPA(d) = Σ_pairs π · (|p_h − p_d| − |p_h − p_{d+1}|),

so all there is to know about a dataset is one table of *steps*, whole numbers once p-values are counted in
permutations, and a weighting answers by a matrix product.
"""

from __future__ import annotations

import numpy as np

from .metametrics import pair_weights

TIE = 1e-9  # in permutations. Float64 sums of whole numbers up to 1000 over all pairs err by less than 1e-10.


def steps(human: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """How much nearer each dial comes to people than the one before: (M, D, P) counts → (M, D−1, P), whole numbers.

    >>> steps(np.array([10]), np.array([[[4], [7], [14]]]))[..., 0]
    array([[ 3, -1]])
    """
    distance = np.abs(curves - human.astype(curves.dtype))
    return distance[:, :-1] - distance[:, 1:]


def preference(step: np.ndarray, w=None, chunk: int = 1024, single: bool = False) -> np.ndarray | float:
    """A measure for one weighting w (K,), for many (W, K), or for none (uniform): a share from 0 to 1, or an array (W,).

    `step` is (M, D−1, P). Weightings are taken `chunk` at a time, so memory stays bounded. With `single` the product
    runs in float32, and every sign its rounding could have changed is decided again in float64: the result is the same,
    only faster.

    >>> step = steps(np.array([10, 0, 5]), np.array([[[4, 0, 5], [7, 0, 5], [14, 0, 5], [14, 0, 5]]]))
    >>> preference(step), preference(step, [1, 0, 1])
    (0.5, 0.5)
    """
    table = step.reshape(-1, step.shape[-1]).astype(np.float64)
    pairs = step.shape[-1]
    systems = round((1 + np.sqrt(1 + 8 * pairs)) / 2)
    w = np.ones(systems) if w is None else np.asarray(w, dtype=np.float64)
    if w.shape[-1] * (w.shape[-1] - 1) // 2 != pairs:
        raise ValueError(f"{w.shape[-1]} weights make {w.shape[-1] * (w.shape[-1] - 1) // 2} pairs, but the table has {pairs}")
    many = np.atleast_2d(w)
    answer = _InSingle(table) if single else lambda pi: _answers(table @ pi.T)
    out = np.empty(len(many))
    for start in range(0, len(many), chunk):
        out[start:start + chunk] = answer(pair_weights(many[start:start + chunk])) / len(table)
    return out if w.ndim == 2 else float(out[0])


def _answers(change: np.ndarray) -> np.ndarray:
    """Sum of the answers per column: 1 for a gain, ½ for a tie."""
    return _ones(change > TIE) / 2 + _ones(change >= -TIE) / 2


def _ones(yes: np.ndarray) -> np.ndarray:
    """How many rows are true, per column. Bytes are added in blocks that cannot overflow, several times faster than a sum."""
    blocks = range(0, len(yes), 255)
    return sum(np.add.reduce(yes[b:b + 255].view(np.uint8), axis=0, dtype=np.uint8).astype(np.int64) for b in blocks)


class _InSingle:
    """`_answers` through float32, with every doubtful entry decided in float64."""

    def __init__(self, table: np.ndarray):
        # Rounding π and summing P products in float32 errs by at most (P + 2) · 2⁻²⁴ times the largest step of the row, as Σπ = 1.
        # Rows are scaled so that this bound is one.
        slack = 1.01 * (table.shape[1] + 2) * 2.0**-24 * np.maximum(np.abs(table).max(axis=1, keepdims=True), 1) + TIE
        self.table, self.scaled = table, (table / slack).astype(np.float32)

    def __call__(self, pi: np.ndarray) -> np.ndarray:
        change = self.scaled @ pi.T.astype(np.float32)
        gain, no_loss = change > 1, change >= -1
        answers = _ones(gain).astype(np.float64)
        row, column = np.nonzero(gain != no_loss)
        for part in np.array_split(np.arange(row.size), 1 + row.size // 30_000):
            exact = np.einsum("np,np->n", self.table[row[part]], pi[column[part]])
            answers += np.bincount(column[part], weights=(exact > TIE) / 2 + (exact >= -TIE) / 2, minlength=answers.size)
        return answers
