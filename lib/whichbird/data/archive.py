"""NumPy archives, their sizes looked at first: one that is forged or damaged is refused before it fills the memory."""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from lzma import LZMAError

import numpy as np

from ..core.check import DataError

UNPACKED = 1 << 28  # bytes that an archive may hold when unpacked; the largest that ships holds 8 MB
# What reading a damaged file can raise: RuntimeError for an archive that seems encrypted or JSON that is too deep, NotImplementedError (one
# of them) for a compression nobody knows.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, LZMAError, struct.error, EOFError, OSError, ValueError, KeyError, TypeError, IndexError,
    AttributeError, RuntimeError, MemoryError, OverflowError,
)  # fmt: skip


class Archive(Mapping[str, np.ndarray]):
    """The arrays of an .npz file without pickles, by name, each decoded when it is asked for.

    >>> out = io.BytesIO()
    >>> np.savez_compressed(out, x=np.arange(3))
    >>> dict(Archive(out.getvalue()))
    {'x': array([0, 1, 2])}
    """

    def __init__(self, raw: bytes) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(raw))
        entries = self._zip.infolist()
        size = sum(entry.file_size for entry in entries)  # no more than this is unpacked, whatever the entries hold
        if size > UNPACKED:
            raise DataError(f"it would unpack to {size / 1e6:.0f} MB, where {UNPACKED / 1e6:.0f} are the most")
        self._entries = {entry.filename.removesuffix(".npy"): entry for entry in entries}

    def __getitem__(self, name: str) -> np.ndarray:
        entry = self._entries[name]
        with self._zip.open(entry) as member:
            if np.lib.format.read_magic(member) != (1, 0):  # what is written for all but the oddest types
                raise DataError(f"{name!r} has a header that this version does not read")
            shape, by_column, dtype = np.lib.format.read_array_header_1_0(member)
            if dtype.hasobject or math.prod(shape) * dtype.itemsize != entry.file_size - member.tell():
                raise DataError(f"{name!r} is not what its header says")
            flat = np.frombuffer(bytearray(member.read()), dtype=dtype)
        return flat.reshape(shape, order="F" if by_column else "C")

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
