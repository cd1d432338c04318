"""Files of the reader: read as text with a sentence for everything that can be wrong, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from ..core.check import DataError


def read_text(path: str | os.PathLike[str], hint: str = "") -> str:
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
        line = raw[: error.start].count(b"\n") + 1
        raise DataError(f"{path}: line {line}: byte {error.start} is not UTF-8 text; save the file as UTF-8") from None
    if not text or text.isspace():
        raise DataError(f"{path}: the file is empty")
    if "\0" in text:  # UTF-16 without a mark at its start
        line = text[: text.index("\0")].count("\n") + 1
        raise DataError(f"{path}: line {line} has a zero byte, so it is not UTF-8 text; save the file as UTF-8")
    return text.replace("\r\n", "\n") if b"\r" in raw else text


def check_output(path: str | os.PathLike[str], force: bool) -> Path:
    """Where a file may be written, links followed, or a refusal; asked before long work starts."""
    if os.fspath(path).endswith(os.sep):
        raise DataError(f"{path}: names a folder; a file name is expected")
    path = Path(path)
    try:
        there = _is_there(path)  # asked first: from Python 3.13 on, resolve has nothing against a loop of links
        target = path.resolve()  # where a link leads
    except OSError as error:  # no current folder, a loop of links, a name too long
        raise DataError(f"{path}: cannot be written ({error.strerror})") from None
    for folder in (path.parent, target.parent):
        if not folder.is_dir():
            raise DataError(f"{path}: there is no folder {str(folder)!r}")
    if there and not target.is_file():
        raise DataError(f"{path}: is there already and no file; name another")
    if there and not force:
        raise DataError(f"{path}: is there already; --force replaces it")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise DataError(f"{path}: its folder cannot be written to (Permission denied)")
    return target


def _is_there(path: Path) -> bool:
    """Whether a file or a folder is there, links followed. Raises OSError where the system cannot tell, as with links in a loop."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def write_whole(path: str | os.PathLike[str], content: bytes, force: bool) -> None:
    """Write beside the target first, then put it in place in one step: an interruption leaves the old file or none."""
    target = check_output(path, force)
    part = target.with_name(f".{os.getpid()}.part")
    try:
        with open(part, "xb") as out:
            out.write(content)
        os.replace(part, target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # the reader knows of no part
    finally:
        part.unlink(missing_ok=True)
