# SPDX-License-Identifier: Apache-2.0
"""Batches of numbers from an Arrow stream, as numpy arrays in the engine's own memory and without any package.

The layout is that of the Arrow C stream and data interfaces, which do not change.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import EngineError
from assay.core.text import visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAME: Final = b"arrow_array_stream"
_TYPES: Final = {b"g": "=f8", b"c": "=i1", b"s": "=i2", b"i": "=i4", b"l": "=i8"}
"""Formats of the interface that are handed over as numbers; bits are not."""
_TEXT: Final = {b"u": "text"}


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", _Release),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", _Release),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
    ("release", _Release),
    ("private_data", ctypes.c_void_p),
]


def batches(relation: Any, *, text: bool = False) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401  what gives a stream
    """The columns of each batch, arrays of numbers or also texts; a batch lives as long as any of its columns."""
    capsule = relation.__arrow_c_stream__()
    stream = _stream(capsule)
    try:
        types = _formats(stream, _TYPES | _TEXT if text else _TYPES)
        while (batch := _Batch.next(stream)) is not None:
            if len(batch):
                yield tuple(batch.column(place, kind) for place, kind in enumerate(types))
    finally:  # at once, not when the capsule goes: an error that is being told holds on to it
        if stream.release:
            stream.release(ctypes.addressof(stream))


def _stream(capsule: object) -> _Stream:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return _Stream.from_address(cast("int", pointer(capsule, _NAME)))


def _asked(stream: _Stream, code: int) -> None:
    if code:
        told = stream.get_last_error(ctypes.addressof(stream))
        raise OSError(code, told.decode("utf-8", "replace") if told else "the stream broke off")


def _formats(stream: _Stream, known: Mapping[bytes, str]) -> list[str]:
    schema = _Schema()
    _asked(stream, stream.get_schema(ctypes.addressof(stream), ctypes.addressof(schema)))
    try:
        formats = [schema.children[place].contents.format for place in range(schema.n_children)]
    finally:
        schema.release(ctypes.addressof(schema))
    if strange := [one for one in formats if one not in known]:
        raise _strange(found=f"a column of format {visible(strange[0].decode('utf-8', 'replace'))}")
    return [known[one] for one in formats]


def _strange(*, found: str) -> EngineError:
    return EngineError(
        "engine-failed",
        "the engine handed over other data than was asked for",
        found=found,
        fix="install the version of duckdb that assay asks for",
    )


class Texts:
    """A column of text in the engine's memory, of which some rows are read."""

    def __init__(self, ends: NDArray[np.int32], address: int | None) -> None:
        self._ends, self._address = ends, address or 0
        self._first = int(ends[0])

    @cached_property
    def _bytes(self) -> bytes:
        return ctypes.string_at(self._address + self._first, int(self._ends[-1]) - self._first)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._ends) - 1

    def read(self, rows: NDArray[np.intp]) -> list[str]:
        """The texts of some rows."""
        text, ends = self._bytes, self._ends - self._first
        pairs = zip(ends[rows].tolist(), ends[rows + 1].tolist(), strict=True)
        return [text[start:end].decode() for start, end in pairs]


class _Batch:
    """Some rows in the engine's memory, given back when nobody holds them any more."""

    def __init__(self) -> None:
        self._array = _Array()

    @classmethod
    def next(cls, stream: _Stream) -> _Batch | None:
        """The next rows; None after the last."""
        batch = cls()
        _asked(stream, stream.get_next(ctypes.addressof(stream), ctypes.addressof(batch._array)))
        return batch if batch._array.release else None

    def __len__(self) -> int:
        return int(self._array.length)

    def column(self, place: int, kind: str) -> Any:  # noqa: ANN401  an array or texts
        """The values of a column, none of them missing."""
        child = self._array.children[place].contents
        if child.null_count and child.buffers[0] and not self._complete(child):
            raise _strange(found="a missing value")
        first = self._array.offset + child.offset
        if kind == "text":
            return Texts(self._memory(child.buffers[1], "=i4", first, len(self) + 1), child.buffers[2])
        return self._memory(child.buffers[1], kind, first, len(self))

    def _memory(self, address: int, kind: str, first: int, rows: int) -> NDArray[Any]:
        size = np.dtype(kind).itemsize
        memory = (ctypes.c_char * (rows * size)).from_address(address + first * size)
        setattr(memory, "batch", self)  # noqa: B010  the array holds its memory, and the memory the batch
        return np.frombuffer(memoryview(memory), dtype=kind)

    def _complete(self, child: _Array) -> bool:
        """Whether every row has a value, by the bits that say so."""
        first = self._array.offset + child.offset
        bits = (ctypes.c_uint8 * ((first + len(self) + 7) // 8)).from_address(child.buffers[0])
        there = np.unpackbits(np.frombuffer(memoryview(bits), dtype=np.uint8), bitorder="little")
        return bool(there[first : first + len(self)].all())

    def __del__(self) -> None:
        if self._array.release:
            self._array.release(ctypes.addressof(self._array))
