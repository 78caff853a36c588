# SPDX-License-Identifier: Apache-2.0
"""Long columns as text of a Record: the same bytes on every machine, as few of them as the numbers need."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.core.errors import RecordError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole

    Flags: TypeAlias = NDArray[np.bool_]


def packed_flags(flags: Flags) -> str:
    """One bit a flag."""
    return _text(np.packbits(flags).tobytes())


def unpacked_flags(text: str, size: int) -> Flags:
    """The inverse of `packed_flags`."""
    return np.unpackbits(_bytes(text, -(-size // 8), 1), count=size).astype(bool)


def packed_whole(numbers: Whole) -> str:
    """Numbers from 0 on, each in as many bytes as the largest one needs; the first character says how many.

    >>> packed_whole(np.array([0, 1, 300]))
    '2AAAAAQEs'
    """
    width = max(1, -(-int(numbers.max(initial=0)).bit_length() // 8))
    wide = np.ascontiguousarray(numbers, dtype=">u8").view(np.uint8).reshape(-1, 8)
    return f"{width}{_text(wide[:, 8 - width :].tobytes())}"


def unpacked_whole(text: str, size: int) -> Whole:
    """The inverse of `packed_whole`."""
    width = int(text[:1]) if text[:1] in tuple("12345678") else 0
    if not width:
        told = "it does not say how wide its numbers are"
        raise _unreadable(told)
    wide = np.zeros((size, 8), dtype=np.uint8)
    wide[:, 8 - width :] = _bytes(text[1:], size * width, 1).reshape(size, width)
    return wide.view(">u8").reshape(size).astype(np.int64)


def packed_steps(numbers: Whole) -> str:
    """Numbers from 0 on, most of them small: seven bits a byte, lowest first, the eighth says that more follow.

    >>> packed_steps(np.array([0, 127, 128, 300]))
    'AH+AAawC'
    """
    width = np.maximum(1, -(-np.frexp(numbers.astype(np.float64))[1] // 7)) if len(numbers) else np.zeros(0, np.int64)
    ends = np.cumsum(width)
    found = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    for place in range(int(width.max(initial=0))):
        there = width > place
        more = np.where(width[there] > place + 1, 128, 0)
        found[(ends - width)[there] + place] = ((numbers[there] >> (7 * place)) & 127) | more
    return _text(found.tobytes())


def unpacked_steps(text: str, size: int) -> Whole:
    """The inverse of `packed_steps`."""
    found = _bytes(text)
    last = np.flatnonzero(found < 128)  # noqa: PLR2004  the eighth bit
    first = np.concatenate([[0], last[:-1] + 1]) if len(last) else last
    if len(last) != size or (size and int(last[-1]) + 1 != len(found)) or (not size and len(found)):
        told = f"{len(last)} numbers instead of {size}"
        raise _unreadable(told)
    place = np.arange(len(found)) - np.repeat(first, last - first + 1)
    if place.max(initial=0) > 8:  # noqa: PLR2004  nine groups of seven bits fill a whole number
        told = "a number above 2^63"
        raise _unreadable(told)
    parts = (found & 127).astype(np.int64) << (7 * place)
    return np.add.reduceat(parts, first) if size else np.zeros(0, dtype=np.int64)


def packed_reals(numbers: Floats) -> str:
    """Eight bytes a number."""
    return _text(np.ascontiguousarray(numbers, dtype="<f8").tobytes())


def unpacked_reals(text: str, size: int) -> Floats:
    """The inverse of `packed_reals`."""
    return _bytes(text, size, 8).view("<f8").astype(np.float64)


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _bytes(text: str, size: int | None = None, width: int = 1) -> NDArray[np.uint8]:
    try:
        found = np.frombuffer(base64.b64decode(text, validate=True), dtype=np.uint8)
    except binascii.Error as error:
        told = "no base64 text"
        raise _unreadable(told) from error
    if size is not None and len(found) != size * width:
        told = f"{len(found)} bytes instead of {size * width}"
        raise _unreadable(told)
    return found


def _unreadable(found: str) -> RecordError:
    return RecordError(
        "record-unreadable", "a column of the Record is damaged", found=found, fix="restore the file from its source"
    )
