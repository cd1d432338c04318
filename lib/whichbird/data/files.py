"""Files of the reader: read as text with a sentence for everything that can be wrong, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from ..core.check import DataError

FILE_BYTES = 1 << 30  # bytes that are read of a file: some have no end, as /dev/zero or a pipe
READ_BYTES = 1 << 20
_ENDED = 128 + signal.SIGTERM  # the exit code that a shell would show


def read_bytes(path: str | os.PathLike[str], hint: str = "", text: bool = False) -> bytes:
    """The content of a file, or a refusal of one that cannot be read or has more than `FILE_BYTES` bytes.

    `hint` helps whoever has no such file. What should be `text` is read up to the first zero byte, since it is none, unless its size is known.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            there = os.fstat(file.fileno())
            if not stat.S_ISREG(there.st_mode):  # a pipe, a device: nobody knows its size
                out = bytearray()
                while len(out) <= FILE_BYTES and (block := file.read(READ_BYTES)):
                    out += block
                    if text and b"\0" in block:
                        del out[out.index(0) + 1 :]
                        break
                size, raw = len(out), bytes(out)
            else:
                size, raw = there.st_size, file.read() if there.st_size <= FILE_BYTES else b""
    except FileNotFoundError:
        raise DataError(f"{path}: no such file" + (f"; {hint}" if hint else "")) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except MemoryError:
        raise DataError(f"{path}: too large for the memory of this machine") from None
    if size > FILE_BYTES:
        raise DataError(
            f"{path}: more than {FILE_BYTES >> 20} MB, which is more than is read of one file; cut it in parts"
        )
    return raw


def read_text(path: str | os.PathLike[str], hint: str = "") -> str:
    """The text of a UTF-8 file, its CRLF and byte-order mark removed. `hint` helps whoever has no such file."""
    return as_text(path, read_bytes(path, hint, text=True))


def as_text(path: str | os.PathLike[str], raw: bytes) -> str:
    """The content of a UTF-8 file as text, its CRLF and byte-order mark removed; `path` is named in refusals."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DataError(f"{path}: line {line}: byte {error.start} is not UTF-8 text; save the file as UTF-8") from None
    if not text or text.isspace():
        raise DataError(f"{path}: the file is empty")
    if "\0" in text:  # UTF-16 without a mark at its start, or no text at all
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
    part = target.with_name(f".{os.urandom(8).hex()}.part")  # no other process has it: numbers of processes come again
    with tidy_end():
        try:
            with open(part, "xb") as out:
                out.write(content)
            os.replace(part, target)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None  # the reader knows of no part
        finally:
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def tidy_end() -> Iterator[None]:
    """Inside it a SIGTERM ends the program as an exception does, so that what is half made is removed.

    Where somebody handles the signal, or in another thread than the first, nothing changes.
    """
    mine = False
    with contextlib.suppress(ValueError):  # another thread
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(_ENDED))
            mine = True
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
