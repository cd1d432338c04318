"""A digest: what ships of a dataset. Small derived arrays, no text, no ratings; made from a `Pool`, saved, loaded, verified.

The file is a NumPy archive without pickles. P-values are stored as whole numbers of permutations, so they are exact.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..core.augment import FAMILIES, PAPER_FAMILIES, offsets, shifts
from ..core.check import DataError, near
from ..core.permutation import PERMUTATIONS, PUBLISHED_SEED, p_counts, p_curve_counts
from .archive import DAMAGE, Archive
from .files import read_bytes, write_whole
from .manifest import folder as folder, shipped, ships
from .pool import Pool, system_means, two_names
from .protocol import ASPECTS as LABELS, Dataset, Tested, fingerprint, remaining, renamed, signature
from .registry import DATASETS, FIELDS, IN_TREE

if TYPE_CHECKING:
    import pandas as pd  # loaded where a table is made: it takes longer than all the rest

D = TypeVar("D", bound=Dataset)
DIGEST_FORMAT = 2  # 1 held the curves of the paper's families, and did not say which
RELEASE = "mt-metrics-eval-v2"
HUMAN = ("total", "adequacy", "fluency")
MEMBERS = {"info", "systems", "lines", "rated", "scorers", "total", "covariance", "means", "p_total", "p_scorers"}
P_MEMBERS = ("p_total", "p_adequacy", "p_fluency", "p_scorers", "p_standard")  # last axis: pairs of systems
ASPECTS = {"adequacy", "fluency", "offsets", "p_adequacy", "p_fluency"}  # all there, or none where errors are not known


class Digest:
    """One dataset: K systems, P = K(K−1)/2 pairs k < k′ in the order of numpy.triu_indices, M scorers.

    Arrays are decoded when first asked for. `adequacy` and `fluency` (and what follows from them) are None where the
    release has no per-error ratings. `families` names the families of augmented scorers whose curves it holds.

    >>> d = load("ende24")
    >>> len(d.systems), d.adequacy.shape, d.human_p.shape, d.scorer_p.shape, d.reference
    (16, (16,), (120,), (30, 120), 'refA')
    >>> float(d.adequacy[d.systems.index("GPT-4")].round(2))
    -0.65
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        """`arrays` maps member names to arrays: a dict, or an open archive."""
        self._arrays = arrays
        try:
            self.info = json.loads(bytes(arrays["info"]).decode("utf-8"))
            form = self.info["format"]
        except DAMAGE:
            raise DataError("not a Whichbird digest: it has no readable 'info' record") from None
        if form not in (1, DIGEST_FORMAT):
            raise DataError(
                f"the digest has format {form}; this version reads formats 1 and {DIGEST_FORMAT}: rebuild it with 'make data'"
            )
        for record in ("name", "reference", "release", "source_lines", "permutations", "seed"):
            if record not in self.info:
                raise DataError(f"the digest's 'info' has no {record!r}; restore it or rebuild it with 'make data'")
        members = set(arrays)
        self.families: tuple[str, ...] = tuple(
            self.info.get("families", PAPER_FAMILIES if form == 1 and "adequacy" in members else ())
        )
        need = MEMBERS | {f"curves_{family}" for family in self.families}
        missing = sorted(need - members) or sorted(ASPECTS - members if ASPECTS & members else ())
        if self.dropped:  # what rests on all systems of the dataset is not kept
            missing = [member for member in missing if member != "offsets"]
        if missing:
            raise DataError(f"the digest of {self.name} has no {missing[0]!r}; rebuild it with 'make data'")
        k, m = len(self.systems), len(self.scorers)
        for member, shape in {"total": (k,), "rated": (k,), "means": (m, k)}.items():
            if self[member].shape != shape:
                raise DataError(f"the digest's {member!r} has shape {self[member].shape} where {shape} is expected")

    def __getitem__(self, member: str) -> np.ndarray:
        try:
            return self._arrays[member]
        except KeyError:
            raise DataError(f"the digest of {self.name} has no {member!r}") from None
        except DAMAGE:
            raise DataError(
                f"the digest of {self.name} is damaged at {member!r}; restore it or rebuild it with 'make data'"
            ) from None

    def __contains__(self, member: object) -> bool:
        return member in self._arrays

    def __repr__(self) -> str:
        return f"<Digest {self.signature}>"

    @property
    def name(self) -> str:
        return str(self.info["name"])

    @property
    def reference(self) -> str:
        """The reference that the scorers saw."""
        return str(self.info["reference"])

    @property
    def aspects(self) -> tuple[np.ndarray, np.ndarray] | None:
        """System means of adequacy and fluency, (K,) each; None where the release has no per-error ratings."""
        return None if self.adequacy is None or self.fluency is None else (self.adequacy, self.fluency)

    @property
    def aspect_names(self) -> tuple[str, str]:
        """What the two aspects are called: adequacy and fluency, unless its record says otherwise."""
        return two_names(self.info.get("aspects", LABELS))

    @property
    def dropped(self) -> tuple[str, ...]:
        """The systems that `without` left out."""
        return tuple(self.info.get("dropped", ()))

    def without(self, *names: str) -> Digest:
        """The same digest with some systems left out, by name; its name and signature say so.

        A p-value is of one pair of systems, so those of the others stay as they are. Augmented scorers and offsets rest
        on all systems, so they are not kept.

        >>> d = load("ende24").without("IKUN-C")
        >>> d.name, d.adequacy.shape, d.scorer_p.shape, d.families
        ('ende24 without IKUN-C', (15,), (30, 105), ())
        """
        if not names:
            return self
        keep = remaining(self, names)
        i, j = np.triu_indices(len(keep), 1)
        pairs = keep[i] & keep[j]
        several = np.tile(keep, len(self.covariance) // len(keep))
        arrays = {member: self[member] for member in ("lines", "scorers", "official", "annotated") if member in self}
        arrays |= {m: self[m][keep] for m in ("systems", "rated", *HUMAN) if m in self}
        arrays |= {"means": self.means[:, keep], "covariance": self.covariance[np.ix_(several, several)]}
        arrays |= {m: self[m][..., pairs] for m in P_MEMBERS if m in self}
        info = self.info | {"name": renamed(self, names), "families": [], "dropped": [*self.dropped, *names]}
        info["of"] = self.info.get("of", self.name)
        info.pop("pool", None)
        arrays["info"] = np.frombuffer(json.dumps(info, sort_keys=True, ensure_ascii=True).encode(), dtype=np.uint8)
        return Digest(arrays)

    @property
    def signature(self) -> str:
        """One line that says what a number rests on.

        >>> load("ende24").signature
        'ende24|sys:16|seg:487|ref:refA|perm:1000|seed:4|mt-metrics-eval-v2|whichbird:...'
        """
        i = self.info
        return signature(self, i["permutations"], i["seed"], i["release"])

    @cached_property
    def systems(self) -> tuple[str, ...]:
        return tuple(str(s) for s in self["systems"])

    @cached_property
    def scorers(self) -> tuple[str, ...]:
        return tuple(str(s) for s in self["scorers"])

    @cached_property
    def lines(self) -> np.ndarray:
        """The rated source lines, from 0: shape (N,)."""
        return self["lines"]

    @cached_property
    def official(self) -> NDArray[np.bool_]:
        """Which of these lines have an official total, so that p-values rest on them: shape (N,)."""
        return self["official"] if "official" in self else np.ones(len(self.lines), dtype=bool)

    @cached_property
    def annotated(self) -> NDArray[np.bool_]:
        """Which of them have ratings of errors, so that adequacy, fluency and β rest on them: shape (N,)."""
        return self["annotated"] if "annotated" in self else np.full(len(self.lines), "adequacy" in self)

    @property
    def aliases(self) -> dict[str, str]:
        """Other names of scorers, for the same scores: the name in `scorers` by each.

        >>> load("jazh24").aliases["XLsimDA"]
        'XLsimMqm'
        """
        return dict(self.info.get("aliases", {}))

    @property
    def source_lines(self) -> int:
        return int(self.info["source_lines"])

    @cached_property
    def rated(self) -> np.ndarray:
        """How many segments of each system are rated: shape (K,)."""
        return self["rated"]

    @cached_property
    def adequacy(self) -> np.ndarray | None:
        """System means of adequacy, MQM points per segment, ≤ 0: shape (K,)."""
        return self["adequacy"] if "adequacy" in self else None

    @cached_property
    def fluency(self) -> np.ndarray | None:
        """System means of fluency, MQM points per segment, ≤ 0: shape (K,)."""
        return self["fluency"] if "fluency" in self else None

    @cached_property
    def total(self) -> np.ndarray:
        """System means of the official MQM total: shape (K,). Not adequacy + fluency: it holds errors of neither aspect too."""
        return self["total"]

    @cached_property
    def covariance(self) -> np.ndarray:
        """Sampling covariance of (total, adequacy, fluency) stacked, over segments: shape (3K, 3K), or (K, K) of total alone."""
        return self["covariance"]

    @cached_property
    def means(self) -> np.ndarray:
        """System means of every scorer: shape (M, K)."""
        return self["means"]

    @cached_property
    def offsets(self) -> np.ndarray | None:
        """What (adequacy, fluency) do not explain of a scorer's system means: shape (M, K)."""
        return self["offsets"] if "offsets" in self else None

    def counts(self, which: str) -> np.ndarray:
        """P-values as whole numbers of permutations: "total", "adequacy", "fluency" (P,), "scorers" or "standard" (M, P)."""
        if which == "standard" and "p_standard" not in self:
            which = "scorers"  # the WMT standard reference is the one the paper used
        counts: np.ndarray = self[f"p_{which}"].astype(np.int64)
        return counts

    def _p(self, which: str) -> np.ndarray:
        p: np.ndarray = self.counts(which) / self.info["permutations"]
        return p

    @cached_property
    def human_p(self) -> np.ndarray:
        """P-values of people's official total: shape (P,)."""
        return self._p("total")

    @cached_property
    def adequacy_p(self) -> np.ndarray | None:
        """P-values of adequacy alone: shape (P,)."""
        return self._p("adequacy") if "p_adequacy" in self else None

    @cached_property
    def fluency_p(self) -> np.ndarray | None:
        """P-values of fluency alone: shape (P,)."""
        return self._p("fluency") if "p_fluency" in self else None

    @cached_property
    def scorer_p(self) -> np.ndarray:
        """P-values of every scorer, with the reference the paper used: shape (M, P)."""
        return self._p("scorers")

    @cached_property
    def standard_p(self) -> np.ndarray:
        """P-values of every scorer, with the reference WMT used: shape (M, P)."""
        return self._p("standard")

    def check_reference(self, reference: str | None) -> None:
        """Refuse a reference that no scorers ship with."""
        paper, standard = self.reference, self.info["standard"]
        if reference not in (None, paper, standard):
            known = f"{paper} (the paper's) and {standard} (WMT's)" if standard != paper else paper
            raise DataError(f"{self.name} ships scorers with {known}, not with {reference!r}")

    def tested(self, reference: str | None = None) -> Tested:
        """The p-values it holds, and what they rest on; `reference` is the paper's unless you name the one WMT used."""
        paper = self.reference
        self.check_reference(reference)
        return Tested(
            self.human_p,
            self.scorer_p if reference in (None, paper) else self.standard_p,
            self.info["permutations"],
            self.info["seed"],
            self.signature.replace(f"|ref:{paper}|", f"|ref:{reference or paper}|"),
            self.info.get("exact", False),
        )

    def curve_counts(self, family: str) -> np.ndarray:
        """P-values of every scorer along a family's dials, as whole numbers of permutations: (M, dials, P)."""
        if family not in self.families:
            if family not in FAMILIES:
                raise ValueError(f"unknown family {family!r}; one of {', '.join(FAMILIES)} is expected")
            if not FAMILIES[family].possible(self):
                raise DataError(
                    f"{self.name} has no augmented scorers of the family {family!r}: they need adequacy and fluency, "
                    "and the release has no ratings of its errors"
                )
            if self.dropped:
                raise DataError(
                    f"{self.name} has no augmented scorers: they rest on all systems; take them of {self.info['of']}"
                )
            raise DataError(
                f"the digest of {self.name} holds no curves of the family {family!r}; "
                f"'make data ONLY={self.name}' adds them"
            )
        step = self[f"curves_{family}"]
        if self.info["format"] == 1:  # dials before pairs
            return np.cumsum(step, axis=1, dtype=step.dtype)
        return np.ascontiguousarray(np.cumsum(step, axis=2, dtype=step.dtype).swapaxes(1, 2))

    def curves(self, family: str) -> np.ndarray:
        """P-values of every scorer along the dials of one of `families`: (M, dials, P)."""
        p: np.ndarray = self.curve_counts(family) / self.info["permutations"]
        return p

    def save(self, path: str | Path) -> None:
        """Write the digest; an existing file is replaced only once the new one is complete."""
        out = io.BytesIO()
        np.savez_compressed(out, **{member: self[member] for member in self._arrays})  # type: ignore[arg-type]
        write_whole(path, out.getvalue(), force=True)

    def differences(self, other: Digest) -> list[str]:
        """The members in which two digests differ: whole numbers and names in anything, means beyond summation order.

        The version that wrote them does not count.
        """
        out = sorted(set(self._arrays) ^ set(other._arrays))
        out += [m for m in self._arrays if m in other and m != "info" and not _same(self[m], other[m])]
        ours, theirs = ({k: v for k, v in d.info.items() if k != "version"} for d in (self, other))
        return out + (["info"] if ours != theirs else [])


def make(
    pool: Pool, standard: Pool | None = None, permutations: int = PERMUTATIONS, seed: int = PUBLISHED_SEED
) -> Digest:
    """Boil a pool down to its digest; `standard` is the same pool read with the WMT standard reference, where that differs."""
    human = {h: getattr(pool, h) for h in HUMAN if getattr(pool, h) is not None}
    info: dict[str, Any] = {
        "format": DIGEST_FORMAT,
        "name": pool.name,
        "release": "" if pool.name in FIELDS else RELEASE,
        "reference": pool.reference,
        "standard": DATASETS[pool.name].standard if pool.name in DATASETS else pool.reference,
        "source_lines": int(pool.source_lines),
        "permutations": permutations,
        "seed": seed,
        "version": __version__,
        "notes": list(pool.notes),
        "families": [name for name, family in FAMILIES.items() if family.possible(human)],
        "pool": fingerprint(pool),
    }
    if pool.exact:
        info["exact"] = True
    if pool.aspect_names != LABELS:
        info["aspects"] = list(pool.aspect_names)
    if pool.aliases:
        info["aliases"] = dict(sorted(pool.aliases.items()))
    x, k = list(pool.scored.values()), len(pool.systems)
    count = partial(p_counts, permutations=permutations, seed=seed, exact=pool.exact)
    stored = np.min_scalar_type(permutations)  # the smallest whole-number type that holds every count
    arrays = {
        "info": np.frombuffer(json.dumps(info, sort_keys=True, ensure_ascii=True).encode(), dtype=np.uint8),
        "systems": np.array(pool.systems),
        "lines": pool.lines.astype(np.int32),
        "rated": pool.rated.astype(np.int32),
        "scorers": np.array(list(pool.scorers), dtype=np.str_),
        **{h: system_means(v) for h, v in human.items()},
        "covariance": _covariance(np.concatenate(list(human.values()))),
        "means": _rows([system_means(v) for v in x], k),
        **{f"p_{h}": count(v).astype(stored) for h, v in human.items()},
        "p_scorers": _rows([count(v) for v in x], k * (k - 1) // 2).astype(stored),
    }
    if pool.adequacy is not None and pool.fluency is not None:
        arrays["offsets"] = _rows([offsets(v, pool.adequacy, pool.fluency) for v in pool.scorers.values()], k)
        if not (pool.official & pool.annotated).all():
            arrays |= {"official": pool.official, "annotated": pool.annotated}
    for family in info["families"]:
        total, a, f = arrays["total"], arrays.get("adequacy"), arrays.get("fluency")
        offset = arrays.get("offsets", [None] * len(x))
        moved = [shifts(family, m, total, a, f, o) for m, o in zip(arrays["means"], offset, strict=True)]
        counts = np.array([p_curve_counts(v, c, permutations, seed) for v, c in zip(x, moved, strict=True)])
        counts = counts.reshape(len(x), FAMILIES[family].dials.size, k * (k - 1) // 2)
        # neighbouring dials differ little, so what is stored is the step from one to the next, dials together: mostly zeros
        step = np.diff(counts, axis=1, prepend=0).astype(np.min_scalar_type(-permutations))
        arrays[f"curves_{family}"] = np.ascontiguousarray(step.swapaxes(1, 2))
    if standard is not None:
        lacking = [s for s in pool.scorers if s not in standard.scorers]
        if lacking or standard.systems != pool.systems:
            raise DataError(
                f"{pool.name}: read with {standard.reference}, "
                + (f"scorer {lacking[0]!r} is left out" if lacking else "the systems are others")
                + f"; both readings must have the systems and scorers of {pool.reference}"
            )
        arrays["p_standard"] = _rows([count(standard.scored[s]) for s in pool.scorers], k * (k - 1) // 2).astype(stored)
    return Digest(arrays)


def read(path: str | Path) -> Digest:
    """Load a digest from a file."""
    return _opened(Path(path), read_bytes(path, "rebuild it with 'make data'"))


def _opened(path: Path, raw: bytes) -> Digest:
    try:
        return Digest(Archive(raw))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except DAMAGE:
        raise DataError(f"{path}: not a readable digest; restore it or rebuild it with 'make data'") from None


def datasets(paper: bool | None = None, aspects: bool | None = None, field: str | None = None) -> list[str]:
    """The names of the datasets that ship, oldest first; only those of the paper, or only those with ratings of errors
    (and so with a balance), or only the others, where `paper` or `aspects` say so.

    `field` names another field, "biomedical" or "stories": all its pools have two aspects, and none is the paper's.

    >>> datasets()[-3:], "heen23" in datasets(aspects=True)
    (['ende24', 'enes24', 'jazh24'], False)
    >>> datasets(field="stories")
    ['hanna']
    """
    if field is not None:
        if field not in FIELDS.values():
            raise ValueError(f"unknown field {field!r}; one of {', '.join(sorted(set(FIELDS.values())))} is expected")
        if paper or aspects is False:
            return []
        return [name for name, of in FIELDS.items() if of == field and ships(f"fields/{name}.seg")]
    there = [name for name in DATASETS if ships(f"{name}.npz")]
    chosen = [name for name in there if paper is None or DATASETS[name].paper == paper]
    return [name for name in chosen if aspects is None or ("adequacy" in load(name)) == aspects]


def load(name: str) -> Digest:
    """The digest of a shipped dataset, by its name here or by that of mt-metrics-eval, set and pair.

    >>> d = load("ende24")
    >>> len(d.systems), d.adequacy.shape, d.scorer_p.shape
    (16, (16,), (30, 120))
    >>> load("wmt24/en-de").name
    'ende24'
    """
    name = known(name)
    file = f"fields/{name}.npz" if name in FIELDS else f"{name}.npz"
    d = _opened(folder() / file, shipped(file))
    if d.name != name:
        raise DataError(
            f"{folder() / file}: it holds the digest of {d.name}, not of {name}; rebuild it with 'make data ONLY={name}'"
        )
    return d


@overload
def dataset_of(source: str) -> Digest: ...
@overload
def dataset_of(source: D) -> D: ...
def dataset_of(source: str | D) -> Digest | D:
    """A digest, a pool or anything alike as it is; the digest that ships under a name.

    >>> dataset_of("ende24").name
    'ende24'
    """
    if isinstance(source, str):
        return load(source)
    if not hasattr(source, "systems"):
        raise ValueError(f"{source!r} is no dataset; a name, or what load or load_pool gives, is expected")
    return source


def load_errors(name: str | None = None) -> pd.DataFrame:
    """The error counts behind adequacy and fluency: columns dataset, system, category, severity, count, penalty.

    >>> bool(load_errors("ende24")["category"].str.startswith("accuracy/").any())
    True
    """
    table = read_table("errors.csv", keep_default_na=False)
    return table if name is None else table[table["dataset"] == known(name)].reset_index(drop=True)


def read_table(name: str, **options: Any) -> pd.DataFrame:
    """A table that ships beside the digests, its numbers as they are written; `options` go to pandas.read_csv."""
    import pandas as pd

    from .quick import EXACT

    path = folder() / name
    if not ships(name):
        tables = ", ".join(sorted(p.stem for p in path.parent.glob("*.csv"))) or "no table at all"
        raise DataError(f"{path}: no such file; there is {tables}")
    raw = shipped(name)
    try:
        table: pd.DataFrame = pd.read_csv(io.BytesIO(raw), **EXACT | options)
        return table
    except ValueError as error:  # pandas' own are some
        raise DataError(f"{path}: not a readable table ({error}); restore it or rebuild it with 'make data'") from None


def known(name: str) -> str:
    """The name here of a dataset that ships, which may be called as mt-metrics-eval does; any other is refused.

    >>> known("wmt24/en-de"), known("ende24")
    ('ende24', 'ende24')
    """
    there = datasets()
    if not there:
        raise DataError(f"{folder()}: no dataset is there; run 'make data'")
    name = IN_TREE.get(name, name)
    if name not in there and not (name in FIELDS and ships(f"fields/{name}.npz")):
        alike = [tree for tree, ours in IN_TREE.items() if ours in there] if "/" in str(name) else there
        raise DataError(f"unknown dataset {name!r}" + (near(name, alike) or f"; there are {', '.join(there)}"))
    return name


def _covariance(x: np.ndarray) -> np.ndarray:
    """Covariance of the row means of x (R, N), NaN where missing: what resampling segments would make of them."""
    rated = ~np.isnan(x)
    deviation = np.where(rated, x - np.nanmean(x, axis=1, keepdims=True), 0.0)
    n = rated.sum(axis=1)
    return deviation @ deviation.T / np.outer(n, n)


def _same(x: np.ndarray, y: np.ndarray) -> bool:
    if x.shape != y.shape or x.dtype.kind != y.dtype.kind:
        return False
    if x.dtype.kind != "f":
        return np.array_equal(x, y)
    return bool(np.abs(x - y).max(initial=0) <= 1e-12 * np.abs(x).max(initial=0))


def _rows(rows: list[np.ndarray], width: int) -> np.ndarray:
    return np.array(rows).reshape(-1, width)
