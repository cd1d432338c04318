"""Which systems a scorer's SPA, and the lead of one scorer over another, are made of.

`core.contributions` has the mathematics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core import check
from ..core.check import Array, near
from ..core.contributions import contributions_from_p, without_each
from ..data.digest import Digest
from ..data.pool import Pool
from .contest import Contest, Scores, contest


class Profile(NamedTuple):
    """The lead of one scorer over another in SPA, as a sum over K systems.

    `parts` (K,) are the systems' contributions, which sum to `lead`; `without` (K,) is the lead in the pool without each,
    of the other sign if the system contributes more than half of it. `most` is the system that contributes most in the
    direction of the lead; `effective` the number of systems that would share the parts, if all were of one size:
    (Σ|part|)² / Σ part².

    >>> found = profile("ende22", "COMET-22", "SEScore")
    >>> round(found.lead, 3), found.most, round(float(found.parts.max()), 3), round(float(found.without.min()), 3)
    (0.053, 'OpenNMT', 0.047, -0.049)
    """

    lead: float
    systems: tuple[str, ...]
    parts: Array
    without: Array
    most: str
    effective: float

    @property
    def sentence(self) -> str:
        """Say which system contributes most to the lead, and what the lead is without it.

        >>> profile("ende22", "COMET-22", "SEScore").sentence
        'Unweighted, OpenNMT contributes most to the lead: 0.047 of 0.053; without it the lead is -0.049.'
        """
        at, ahead = self.systems.index(self.most), 1 if self.lead >= 0 else -1  # seen from the one ahead
        part, lead, left = (ahead * float(x) for x in (self.parts[at], self.lead, self.without[at]))
        return (
            f"Unweighted, {self.most} contributes most to the lead: {part:.3f} of {lead:.3f}; "
            f"without it the lead is {left:.3f}."
        )


def contributions(
    source: Contest | Digest | Pool | str, w: ArrayLike | None = None, scores: Scores | None = None
) -> Array:
    """What each scorer loses on the pairs of each system, half of each pair's weighted loss: (M, K); rows sum to 1 − SPA.

    `w`: weights of the systems (None: uniform); `scores` as `rank` takes them, after the scorers of `source`.

    >>> from whichbird import spa_from_p
    >>> c, d = contributions("ende24"), contest("ende24")
    >>> c.shape, bool(np.allclose(1 - c.sum(axis=1), spa_from_p(d.human, d.p)))
    ((30, 16), True)
    """
    c = source if isinstance(source, Contest) else contest(source, scores)
    _enough(c)
    return contributions_from_p(c.human, c.p, None if w is None else check.weights(w, len(c.systems)))


def profile(
    source: Contest | Digest | Pool | str, first: str, second: str, w: ArrayLike | None = None,
    scores: Scores | None = None,
) -> Profile:  # fmt: skip
    """Take the lead of the first scorer over the second apart, system by system; `w` and `scores` as `contributions`.

    >>> round(profile("jazh24", "XCOMET", "BLEU").effective, 1)
    6.0
    """
    c = source if isinstance(source, Contest) else contest(source, scores)
    _enough(c)
    for name in (first, second):
        if name not in c.scorers:
            raise ValueError(f"{c.name} has no scorer {name!r}" + near(name, c.scorers))
    if first == second:
        raise ValueError(f"{first} is given twice; a pair of scorers is expected")
    w = None if w is None else check.weights(w, len(c.systems))
    two = contributions_from_p(c.human, c.p[[c.scorers.index(second), c.scorers.index(first)]], w)
    parts = two[0] - two[1]  # what the second loses more than the first
    if not parts.any():
        raise ValueError(f"{first} and {second} lose the same on every system; there is no lead to take apart")
    lead = float(parts.sum())
    most = int((parts * (1 if lead >= 0 else -1)).argmax())
    effective = float(np.abs(parts).sum() ** 2 / (parts**2).sum())
    return Profile(lead, c.systems, parts, without_each(parts, w), c.systems[most], effective)


def _enough(c: Contest) -> None:
    if len(c.systems) < 3:
        raise ValueError(
            f"{c.name} has {len(c.systems)} systems; at least three are needed to tell their contributions"
        )
