"""Segments that ship: everything a `Pool` holds on the rated segments, in one small file a dataset, without loss.

A file begins with `MAGIC`, the number of the format and a checksum of all that follows: a header in JSON, then blocks of
numbers. It holds no text but names: of systems, scorers, raters, documents, domains and error categories.

Scores are written as whole numbers, whichever way is smallest: decimals as multiples of a power of ten, what was a
32-bit float as its bits, few different values as places in a table, anything else as the bits of a 64-bit float. Where the first two
come out a unit or two in the last place beside the score (readers of decimals round in their own ways), the difference is kept too.
Systems often translate a segment alike, and then scorers mostly give the same number: the place of the first such system is kept once for all
scorers, and of the others only what differs. What is left goes byte by byte, high bytes together, through LZMA.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import lzma
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.check import DataError
from .archive import DAMAGE
from .digest import Digest, dataset_of, load
from .files import read_bytes, write_whole
from .manifest import folder, shipped
from .pool import Exclusion, Pool, Rating
from .protocol import ASPECTS, fingerprint
from .registry import FIELDS

if TYPE_CHECKING:
    import pandas as pd

MAGIC = b"whichbird segments\n"
SEGMENTS_FORMAT = 1
ENDING = ".seg"
MOST = (
    1 << 24
)  # numbers in a block, and bytes in a header: far above what ships, far below what a forged file may claim
DOUBLE_DIGITS = 15  # decimals of up to this many digits are looked for; 64-bit floats tell no more apart
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 20, "lc": 3, "lp": 0, "pb": 0}]
_PREFIX = struct.Struct("<H32sQ")  # format, checksum, length of the packed header
_PART = struct.Struct("<QQBBQ")  # least value, how many, bytes of each, those squeezed of them, length when squeezed
_MATRICES = ("adequacy", "fluency", "total")


class Alike(NamedTuple):
    """Which cells repeat another, in the order of segments, systems within: `own` (N·K,) marks those that do not, `source` says
    for each of the others which cell it repeats."""

    own: np.ndarray
    source: np.ndarray

    @classmethod
    def of(cls, first: np.ndarray) -> Alike:
        """From the place of the first like system, (N, K)."""
        n, k = first.shape
        own = (first == np.arange(k)).ravel()
        return cls(own, (np.arange(n)[:, None] * k + first).ravel()[~own])


# --- whole numbers


def pack(numbers: np.ndarray) -> bytes:
    """Whole numbers (n,), 64 bits each, as bytes.

    >>> unpack(pack(np.array([7, -3, 7])), 0)[0].tolist()
    [7, -3, 7]
    """
    if numbers.size > MOST:
        raise DataError(f"{numbers.size} numbers in one array, where {MOST} are the most that a file of segments holds")
    low = np.int64(numbers.min() if numbers.size else 0).view(np.uint64)
    rest = np.ascontiguousarray(numbers, dtype="<i8").view("<u8") - low  # modulo 2^64, so any range fits
    width = (int(rest.max(initial=0)).bit_length() + 7) // 8
    planes = [plane.tobytes() for plane in rest.view(np.uint8).reshape(-1, 8)[:, :width].T[::-1]]
    noise = 0  # the low bytes of most scores are noise: squeezing gains nothing, and costs time when they are read
    while noise < width and len(_squeeze(planes[width - 1 - noise])) > 0.98 * numbers.size:
        noise += 1
    squeezed = _squeeze(b"".join(planes[: width - noise]))
    head = _PART.pack(int(low), numbers.size, width, width - noise, len(squeezed))
    return b"".join([head, squeezed, *planes[width - noise :]])


def unpack(raw: bytes, at: int) -> tuple[np.ndarray, int]:
    """The numbers packed at a place, and the place behind them."""
    low, size, width, high, length = _PART.unpack_from(raw, at)
    if size > MOST or not high <= width <= 8:
        raise DataError(f"a block claims {size} numbers of {width} bytes, more than a file of segments holds")
    start = at + _PART.size
    end = start + length + (width - high) * size
    planes = _unsqueeze(raw[start : start + length], high * size) + raw[start + length : end]
    rest = np.zeros((size, 8), dtype=np.uint8)
    rest[:, :width] = np.frombuffer(planes, dtype=np.uint8).reshape(width, size)[::-1].T
    return (rest.view("<u8").ravel() + np.uint64(low)).view(np.int64), end


def _squeeze(raw: bytes) -> bytes:
    return lzma.compress(raw, format=lzma.FORMAT_RAW, filters=_FILTERS)


def _unsqueeze(raw: bytes, most: int) -> bytes:
    """What was squeezed, which has at most so many bytes: no more is unpacked."""
    packed = lzma.LZMADecompressor(format=lzma.FORMAT_RAW, filters=_FILTERS)
    out = packed.decompress(raw, max_length=most + 1)
    if len(out) > most or not packed.eof:
        raise DataError(f"a block unpacks to more than the {most} bytes that it may have")
    return out


def _pack_cells(numbers: np.ndarray, alike: Alike | None) -> bytes:
    """Numbers of cells: those of cells of their own, then by how much the others differ, its sign in the last bit."""
    if alike is None:
        return pack(numbers)
    rest = numbers[~alike.own] - numbers[alike.source]
    return pack(numbers[alike.own]) + pack((rest << 1) ^ (rest >> 63))


def _unpack_cells(raw: bytes, at: int, alike: Alike | None) -> tuple[np.ndarray, int]:
    numbers, at = unpack(raw, at)
    if alike is None:
        return numbers, at
    rest, at = unpack(raw, at)
    out = np.empty(alike.own.size, dtype=np.int64)
    out[alike.own] = numbers
    out[~alike.own] = out[alike.source] + ((rest.view(np.uint64) >> np.uint64(1)).view(np.int64) ^ -(rest & 1))
    return out, at


# --- floats


def encode(x: np.ndarray, alike: Alike | None = None) -> tuple[str, int, bytes]:
    """64-bit floats (n,) as the smallest of the forms that give them back bit for bit: its name, its digits, its bytes.

    >>> x = np.array([0.25, -0.0, np.nan, 0.25])
    >>> form, digits, raw = encode(x)
    >>> form, np.array_equal(decode(form, digits, raw).view(np.int64), x.view(np.int64))
    ('single', True)
    """
    bits = x.view(np.int64)
    tries = []
    table, place = np.unique(bits, return_inverse=True)
    if 2 * table.size < bits.size:
        tries.append(("table", 0, pack(table) + _pack_cells(place.astype(np.int64), alike)))
    for form, digits, numbers in (*_decimal(x), *_single(x)):
        off = bits - _made(form, digits, numbers).view(np.int64)
        if (np.abs(off + 0.0) <= 2).all():  # as floats: the least whole number of 64 bits has no absolute value
            tries.append((form, digits, pack(off if off.any() else off[:0]) + _pack_cells(numbers, alike)))
            break
    else:
        tries.append(("double", 0, _pack_cells(bits, alike)))
    return min(tries, key=lambda made: len(made[2]))


def decode(form: str, digits: int, raw: bytes, alike: Alike | None = None) -> np.ndarray:
    """The floats that `encode` was given."""
    if form == "double":
        return _unpack_cells(raw, 0, alike)[0].view(np.float64)
    first, at = unpack(raw, 0)
    numbers, _ = _unpack_cells(raw, at, alike)
    if form == "table":
        found: np.ndarray = first[numbers].view(np.float64)
        return found
    out = _made(form, digits, numbers).view(np.int64)
    return (out + first if first.size else out).view(np.float64)


def _decimal(x: np.ndarray) -> Iterable[tuple[str, int, np.ndarray]]:
    """The fewest digits behind the point that may do, and the scores as whole numbers of them."""
    if not np.isfinite(x).all():
        return
    size = np.abs(x).max(initial=0)
    for digits in range(DOUBLE_DIGITS + 1):
        if size * 10.0**digits >= 2**53:  # whole numbers are exact, and so is one division, up to there
            return
        numbers = np.rint(x * 10.0**digits)
        if (np.abs(numbers / 10.0**digits - x) <= 2 * np.spacing(np.abs(x))).all():
            yield "decimal", digits, numbers.astype(np.int64)
            return


def _single(x: np.ndarray) -> Iterable[tuple[str, int, np.ndarray]]:
    """The scores as bits of 32-bit floats."""
    with np.errstate(over="ignore"):
        yield "single", 0, x.astype(np.float32).view(np.int32).astype(np.int64)


def _made(form: str, digits: int, numbers: np.ndarray) -> np.ndarray:
    if form == "decimal":
        made: np.ndarray = numbers / 10.0**digits
    else:
        made = numbers.astype(np.int32).view(np.float32).astype(np.float64)
    return made


# --- pools


class _Blocks:
    """Arrays one behind the other, equal ones once: what is put in returns the record that finds it again."""

    def __init__(self) -> None:
        self.raw, self.found = bytearray(), dict[bytes, list[Any]]()

    def put(self, x: np.ndarray, alike: Alike | None = None) -> list[Any]:
        flat = np.ascontiguousarray(x.T).ravel()  # segments, systems within: neighbours are alike
        key = hashlib.sha256(flat.dtype.str.encode() + flat.tobytes()).digest()
        if key not in self.found:
            if flat.dtype.kind == "f":
                form, digits, raw = encode(flat.astype(np.float64), alike)
            else:
                form, digits, raw, alike = "whole", 0, pack(flat.astype(np.int64)), None
            self.found[key] = [form, digits, len(self.raw), len(raw), alike is not None]
            self.raw += raw
        return self.found[key]


def to_bytes(pool: Pool, *others: Pool) -> bytes:
    """A pool as the content of a file; `others` are the same pool read with another reference."""
    blocks = _Blocks()
    first = _first_alike([x for p in (pool, *others) for x in p.scorers.values()], len(pool.systems), len(pool.lines))
    alike = Alike.of(first)

    def names(values: tuple[str, ...] | None) -> dict[str, Any] | None:
        """Names with repetitions: those there are, and which is where."""
        if values is None:
            return None
        table = sorted(set(values))
        return {"names": table, "at": blocks.put(np.array([table.index(v) for v in values]))}

    header = {
        "name": pool.name,
        "systems": pool.systems,
        "source_lines": pool.source_lines,
        **({"exact": True} if pool.exact else {}),  # pools of the release are not
        **({"aspects": pool.aspect_names} if pool.aspect_names != ASPECTS else {}),
        **(
            {"criteria": {c: [blocks.put(x) for x in rated] for c, rated in pool.criteria.items()}}
            if pool.criteria
            else {}
        ),
        "lines": blocks.put(pool.lines),
        "alike": blocks.put(first.T),
        **{what: None if getattr(pool, what) is None else blocks.put(getattr(pool, what)) for what in _MATRICES},
        "segments": pool.segments,
        "raters": None if pool.raters is None else blocks.put(pool.raters),
        "rater_names": pool.rater_names,
        "documents": names(pool.documents),
        "domains": names(pool.domains),
        "ratings": [[blocks.put(x) for x in rating] for rating in pool.ratings],
        "errors": None
        if pool.errors is None
        else {
            **{c: names(tuple(pool.errors[c])) for c in ("system", "category", "severity")},
            **{c: blocks.put(pool.errors[c].to_numpy()) for c in ("count", "penalty")},
        },
        "readings": [
            {
                "reference": p.reference,
                "pool": fingerprint(p),
                "notes": p.notes,
                "left_out": p.left_out,
                **({"aliases": p.aliases} if p.aliases else {}),
                "scorers": {scorer: blocks.put(x, alike) for scorer, x in p.scorers.items()},
            }
            for p in (pool, *others)
        ],
    }
    text = json.dumps(header, ensure_ascii=False).encode()
    packed = _squeeze(text)
    body = packed + bytes(blocks.raw)
    return MAGIC + _PREFIX.pack(SEGMENTS_FORMAT, hashlib.sha256(body).digest(), len(packed)) + body


def _first_alike(scorers: list[np.ndarray], systems: int, segments: int) -> np.ndarray:
    """The place of the first system that most scorers with many different values score exactly alike: (N, K)."""
    first = np.tile(np.arange(systems), (segments, 1))
    telling = [x for x in scorers if np.unique(x).size > x.size / 5]
    if telling:
        x = np.stack(telling)
        for k in range(1, systems):
            for other in range(k - 1, -1, -1):
                alike = (x[:, k] == x[:, other]).mean(axis=0) >= 0.5
                first[alike, k] = first[alike, other]
    return first


class _File:
    """An opened file: its header, and its arrays by their records."""

    def __init__(self, raw: bytes) -> None:
        if not raw.startswith(MAGIC) or len(raw) < len(MAGIC) + _PREFIX.size:
            raise DataError("not a file of Whichbird segments")
        form, checksum, length = _PREFIX.unpack_from(raw, len(MAGIC))
        if form != SEGMENTS_FORMAT:
            raise DataError(f"the file has format {form}; this version reads format {SEGMENTS_FORMAT}")
        body = raw[len(MAGIC) + _PREFIX.size :]
        if hashlib.sha256(body).digest() != checksum:
            raise DataError("the file is cut or damaged, its checksum is another")
        self.header = json.loads(_unsqueeze(body[:length], MOST))
        self.blocks = body[length:]
        systems, lines = len(self.header["systems"]), self.whole(self.header["lines"])
        self.lines, self.shape = lines, (systems, lines.size)
        self.alike = Alike.of(self.whole(self.header["alike"]).reshape(lines.size, systems))

    def whole(self, record: list[Any]) -> np.ndarray:
        """Whole numbers (n,)."""
        return unpack(self.blocks, record[2])[0]

    def floats(self, record: list[Any]) -> np.ndarray:
        """Floats (n,)."""
        form, digits, at, length, alike = record
        return decode(form, digits, self.blocks[at : at + length], self.alike if alike else None)

    def matrix(self, record: list[Any] | None) -> Any:
        """A matrix (K, N), or None where there is none."""
        if record is None:
            return None
        flat = self.whole(record) if record[0] == "whole" else self.floats(record)
        return flat.reshape(self.shape[::-1]).T

    def names(self, record: dict[str, Any] | None) -> tuple[str, ...] | None:
        return None if record is None else tuple(record["names"][k] for k in self.whole(record["at"]))

    def errors(self) -> pd.DataFrame | None:
        table = self.header["errors"]
        if table is None:
            return None
        import pandas as pd

        named = {c: list(self.names(table[c]) or ()) for c in ("system", "category", "severity")}
        return pd.DataFrame({**named, "count": self.whole(table["count"]), "penalty": self.floats(table["penalty"])})

    def place(self, reference: str | None) -> int:
        """The place of the reading with a reference; the first if none is named."""
        there = [r["reference"] for r in self.header["readings"]]
        if reference is not None and reference not in there:
            name = self.header["name"]
            raise DataError(f"{name} ships segment scores with {' and '.join(there)}, not with {reference!r}")
        return 0 if reference is None else there.index(reference)

    def pool(self, place: int) -> Pool:
        """The pool, with the reading at a place."""
        h, reading = self.header, self.header["readings"][place]
        return Pool(
            name=h["name"],
            systems=tuple(h["systems"]),
            lines=self.lines,
            source_lines=h["source_lines"],
            **{what: self.matrix(h[what]) for what in _MATRICES},
            scorers={scorer: self.matrix(record) for scorer, record in reading["scorers"].items()},
            errors=self.errors(),
            reference=reading["reference"],
            notes=tuple(reading["notes"]),
            segments=None if h["segments"] is None else tuple(h["segments"]),
            raters=self.matrix(h["raters"]),
            rater_names=tuple(h["rater_names"]),
            documents=self.names(h["documents"]),
            domains=self.names(h["domains"]),
            ratings=tuple(Rating(*(self.matrix(x) for x in rating)) for rating in h["ratings"]),
            left_out=tuple(Exclusion(*x) for x in reading["left_out"]),
            aliases=reading.get("aliases", {}),
            exact=h.get("exact", False),
            aspect_names=tuple(h.get("aspects", ASPECTS)),
            criteria={c: np.array([self.matrix(x) for x in rated]) for c, rated in h.get("criteria", {}).items()},
        )


def save(path: str | Path, pool: Pool, *others: Pool) -> None:
    """Write a pool, and its readings with other references; a file is replaced only once the new one is complete."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, to_bytes(pool, *others), force=True)


def read(path: str | Path, reference: str | None = None) -> Pool:
    """The pool in a file of segments, with the scores that one reference gave."""
    path = Path(path)
    raw = read_bytes(path, _hint(path.stem))
    with _about(path):
        file = _File(raw)
    place = file.place(reference)
    with _about(path):
        return file.pool(place)


def _hint(name: str) -> str:
    return f"make it with 'make data ONLY={name}'"


@contextlib.contextmanager
def _about(path: Path) -> Iterator[None]:
    """A refusal of what the file holds names the file, and what to do."""
    again = f"restore it or rebuild it with 'make data ONLY={path.stem}'"
    try:
        yield
    except DataError as error:
        raise DataError(f"{path}: {error}; {again}") from None
    except DAMAGE:
        raise DataError(f"{path}: the file says nothing that this version understands; {again}") from None


def load_pool(name: str, reference: str | None = None) -> Pool:
    """The segment scores of a shipped dataset, the very numbers that `read_mtme` reads from the release.

    `reference` is the paper's unless you name the one WMT used, or "standard" for that.

    >>> pool = load_pool("ende24")
    >>> pool.adequacy.shape, len(pool.scorers), pool.domains[1]
    ((16, 487), 30, 'news')

    The names of pools of other fields are those of `datasets(field=...)`.
    """
    d = load(name)
    name = d.name
    shelf = Path("fields" if name in FIELDS else "segments", f"{name}{ENDING}")
    path, raw = folder() / shelf, shipped(shelf, _hint(name))
    with _about(path):
        file = _File(raw)
    h, again = file.header, f"rebuild both with 'make data ONLY={name}'"
    if h["name"] != name:
        raise DataError(f"{path}: it holds the segments of {h['name']}, not of {name}; {again}")
    same = tuple(h["systems"]) == d.systems and np.array_equal(file.lines, d.lines)
    if not same or d.info.get("pool") not in (None, h["readings"][0]["pool"]):
        raise DataError(
            f"{path}: it does not belong to the digest {name}.npz, which was made from other scores; {again}"
        )
    place = file.place(d.info["standard"] if reference == "standard" else reference)
    with _about(path):
        return file.pool(place)


def pool_of(source: Pool | Digest | str, reference: str | None = None) -> Pool:
    """Segment scores of a source: a pool is one; a digest or a name leads to the segments that ship, with a `reference`.

    >>> pool_of(load("ende24").without("IKUN-C")).name
    'ende24 without IKUN-C'
    """
    found = dataset_of(source)
    if isinstance(found, Pool):
        return found
    return load_pool(found.info.get("of", found.name), reference).without(*found.dropped)
