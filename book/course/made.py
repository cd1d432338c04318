"""Folders that programs make anew: what somebody put there, or changed, is never lost.

Beside a folder `x` lies `.x.made`, with the hash of each file that was made. A folder that holds anything else, hidden files aside, is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path


def _files(folder: Path) -> dict[str, str]:
    """Hash of each file below a folder, by its path in it."""
    there = {p.relative_to(folder): p for p in sorted(folder.rglob("*")) if p.is_file()}
    return {
        name.as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for name, p in there.items()
        if not any(part.startswith(".") for part in name.parts)
    }


def _note(target: Path) -> Path:
    return target.with_name(f".{target.name}.made")


def refuse(target: Path) -> None:
    """Raise ValueError if something stands at a target that was not made for it."""
    if not target.exists():
        return
    if not target.is_dir():
        raise ValueError(f"{target} is a file, and a folder is to be made there; move it away")
    note = _note(target)
    before = json.loads(note.read_text("utf-8")) if note.exists() else {}
    if odd := [name for name, digest in _files(target).items() if before.get(name) != digest]:
        more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
        raise ValueError(
            f"{target} holds {odd[0]}{more}, which was not made here or has been changed; move it away, or delete it"
        )


def put(folder: Path, target: Path) -> None:
    """Move a folder that was just made to its place, and remember what it holds."""
    refuse(target)
    now = _files(folder)
    shutil.rmtree(target, ignore_errors=True)
    os.replace(folder, target)
    _note(target).write_text(json.dumps(now), "utf-8")
