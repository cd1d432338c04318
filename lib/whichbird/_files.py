"""Files of the reader: read as text with a sentence for everything that can be wrong, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from ._check import DataError


def read_text(path, hint: str = "") -> str:
    """The text of a UTF-8 file, its CRLF and byte-order mark removed. `hint` helps whoever has no such file."""
    path = Path(path)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file" + (f"; {hint}" if hint else "")) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[:error.start].count(b"\n") + 1
        raise DataError(f"{path}: line {line}: byte {error.start} is not UTF-8 text; save the file as UTF-8") from None
    if not text.strip():
        raise DataError(f"{path}: the file is empty")
    return text.replace("\r\n", "\n")


def check_output(path, force: bool) -> Path:
    """The path if a file may be written there, or a refusal; asked before long work starts."""
    path = Path(path)
    if not path.parent.is_dir():
        raise DataError(f"{path}: there is no folder {str(path.parent)!r}")
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: is there already and no file; name another")
    if path.exists() and not force:
        raise DataError(f"{path}: is there already; --force replaces it")
    return path


def write_whole(path, content: bytes, force: bool) -> None:
    """Write beside the target first, then put it in place in one step: an interruption leaves the old file or none."""
    path = check_output(path, force).resolve()
    part = path.with_name(f".{os.getpid()}.part")
    try:
        with open(part, "xb") as out:
            out.write(content)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
