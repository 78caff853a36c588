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

    Floats: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]
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


def packed_reals(numbers: Floats) -> str:
    """Eight bytes a number."""
    return _text(np.ascontiguousarray(numbers, dtype="<f8").tobytes())


def unpacked_reals(text: str, size: int) -> Floats:
    """The inverse of `packed_reals`."""
    return _bytes(text, size, 8).view("<f8").astype(np.float64)


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _bytes(text: str, size: int, width: int) -> NDArray[np.uint8]:
    try:
        found = np.frombuffer(base64.b64decode(text, validate=True), dtype=np.uint8)
    except binascii.Error as error:
        told = "no base64 text"
        raise _unreadable(told) from error
    if len(found) != size * width:
        told = f"{len(found)} bytes instead of {size * width}"
        raise _unreadable(told)
    return found


def _unreadable(found: str) -> RecordError:
    return RecordError(
        "record-unreadable", "a column of the Record is damaged", found=found, fix="restore the file from its source"
    )
