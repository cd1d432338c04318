"""The manifest of what ships: name, size and SHA-256 of every file of data/. Whatever is read from there passes `shipped`.

So neither a damaged file nor that of another dataset under the right name is taken for what it is called. `data/build.py` writes the
manifest at the end of a build, and alone with `make data TABLES=manifest`.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import lru_cache
from pathlib import Path

from ..core.check import DataError
from .files import as_text, read_bytes, write_whole

FILE = "manifest.json"
MANIFEST_FORMAT = 1
PATTERNS = (  # what ships, and so what is listed
    "*.npz", "*.csv", "segments/*.seg", "fields/*.seg", "fields/*.npz", "significance/*.npz", "guests/*.npz", "guests/*.json", "humans/*.npz",
    "published/*.csv", "taxonomies/*.toml",
)  # fmt: skip
BY_HAND = (
    "published/claims.csv"  # written by hand, and read when pages are built alone: a change of it concerns no figure
)
MAKE = "make data TABLES=manifest"
_PACKED = Path(__file__).resolve().parents[1] / "shipped"
_BESIDE = Path(__file__).resolve().parents[3] / "data"
_seen: set[tuple[object, ...]] = set()  # files that were found right, each as it was then


def folder() -> Path:
    """Where the shipped figures lie: $WHICHBIRD_DATA if set, else in the installed package, else data/ beside the library."""
    return Path(os.environ.get("WHICHBIRD_DATA") or (_PACKED if _PACKED.is_dir() else _BESIDE))


def shipped(name: str | os.PathLike[str], hint: str = "") -> bytes:
    """The content of a file below `folder()`, or a refusal of one that is not what the manifest lists under this name.

    Its size is looked at every time, its hash once for each process and state of the file. A folder of your own ($WHICHBIRD_DATA) may
    have no manifest: then nothing is compared. `hint` helps whoever has no such file.

    >>> shipped("reliable.csv").partition(b"\\n")[0]
    b'dataset,low,high'
    """
    name, here = Path(name).as_posix(), folder()
    path, listed = here / name, entries(here)
    state = _state(path)
    raw = read_bytes(path, hint or _again(here))
    if listed is None or name == BY_HAND:
        return raw
    if name not in listed:
        raise DataError(f"{path}: {FILE} does not list it; if it belongs there, run '{MAKE}'")
    size, checksum = listed[name]
    if len(raw) != size:
        raise DataError(f"{path}: {len(raw)} bytes where the file that ships has {size}; {_again(here)}")
    if (state, checksum) not in _seen:
        if hashlib.sha256(raw).hexdigest() != checksum:
            raise DataError(f"{path}: damaged, or another file under this name: its SHA-256 is another; {_again(here)}")
        _seen.add((state, checksum))
    return raw


def shipped_text(name: str | os.PathLike[str], hint: str = "") -> str:
    """The text of a file below `folder()`, as `shipped` finds it."""
    return as_text(folder() / name, shipped(name, hint))


def ships(name: str) -> bool:
    """Whether a file is below `folder()`, or should be there by the manifest.

    >>> ships("ende24.npz"), ships("ende42.npz")
    (True, False)
    """
    return (folder() / name).exists() or name in (entries() or {})


def entries(here: Path | None = None) -> dict[str, tuple[int, str]] | None:
    """Size and SHA-256 of each file by its name below the folder; None where a folder of your own has no manifest.

    >>> entries()["reliable.csv"][0] == len(shipped("reliable.csv"))
    True
    """
    here = folder() if here is None else here
    path = here / FILE
    if os.environ.get("WHICHBIRD_DATA") and not path.exists():
        return None
    return _entries(path, _state(path))


@lru_cache(maxsize=8)
def _entries(path: Path, _: tuple[object, ...]) -> dict[str, tuple[int, str]]:
    again = _again(path.parent)
    raw = read_bytes(path, again)
    try:
        content = json.loads(raw)
        form = content["format"]
        found = {str(name): (int(size), str(checksum)) for name, (size, checksum) in content["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise DataError(f"{path}: not a readable manifest; {again}") from None
    if form != MANIFEST_FORMAT:
        raise DataError(f"{path}: format {form}; this version reads format {MANIFEST_FORMAT}; {again}")
    return found


def made(here: Path) -> dict[str, tuple[int, str]]:
    """What a manifest of a folder lists, sorted by name."""
    paths = (path for pattern in PATTERNS for path in here.glob(pattern))
    content = {path.relative_to(here).as_posix(): path.read_bytes() for path in paths}
    return {n: (len(raw), hashlib.sha256(raw).hexdigest()) for n, raw in sorted(content.items()) if n != BY_HAND}


def write_manifest(here: Path) -> None:
    """List what lies in a folder: one line a file, so that changes of different files can be merged."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in made(here).items())
    write_whole(here / FILE, f'{{"format": {MANIFEST_FORMAT}, "files": {{\n{lines}\n}}}}\n'.encode(), force=True)


def differences(here: Path | None = None) -> list[str]:
    """The names of files that were added, dropped or changed since the manifest was written.

    >>> differences()
    []
    """
    here = folder() if here is None else here
    old, new = entries(here) or {}, made(here)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _again(here: Path) -> str:
    """What helps where a file is missing or another."""
    if here == _PACKED:
        return "install whichbird again"
    return f"restore it or rebuild it with 'make data'; after a change that is meant, run '{MAKE}'"


def _state(path: Path) -> tuple[object, ...]:
    try:
        found = path.stat()
    except OSError:
        return (str(path),)
    return str(path), found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
