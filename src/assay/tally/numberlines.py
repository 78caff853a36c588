# SPDX-License-Identifier: Apache-2.0
"""Lines of whole-number ids in the order of their texts, written by columns and hashed: no row becomes an object."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole: TypeAlias = NDArray[np.int64]

HEAD: Final = b"int "
CHUNK: Final = 1 << 19
"""Lines written at a time."""
MOST: Final = 32_000_000
"""Ids that are sorted in memory, in 8 bytes each; more are sorted by the engine, which spills."""
LONGEST: Final = 16
"""Digits that four groups of four hold."""
_FOUR: Final = 10_000
_COUNT: Final = 5
"""Bits for how many digits an id has."""


def fits(rows: int, low: int, high: int, endings: int) -> bool:
    """Whether as many ids between two ends, each with one of some endings, are sorted in 64 bits each.

    >>> fits(10, 0, 10**6, 2), fits(10, -1, 5, 2), fits(10, 0, 2**62, 2)
    (True, False, False)
    """
    digits = len(str(high))
    bits = (10**digits).bit_length() + _COUNT + (endings - 1).bit_length()
    return low >= 0 and rows <= MOST and digits <= LONGEST and bits <= 64  # noqa: PLR2004


def digest_of_lines(batches: Iterable[tuple[Whole, Whole]], rows: int, high: int, endings: Sequence[str]) -> str:
    r"""SHA-256 over `int ID ENDING` of every row, in the order of the texts; batches hold ids and their endings.

    >>> ids, endings = np.array([10, 9, 1]), np.array([0, 1, 0])
    >>> found = digest_of_lines([(ids, endings)], 3, 10, [" a\n", " bc\n"])
    >>> found == hashlib.sha256(b"int 1 a\nint 10 a\nint 9 bc\n").hexdigest()
    True
    """
    digits = len(str(high))
    shift = (len(endings) - 1).bit_length()
    packed = np.empty(rows, dtype=np.uint64)
    at = 0
    for ids, ends in batches:
        packed[at : at + len(ids)] = _packed(ids, ends, digits, shift)
        at += len(ids)
    if at != rows:
        msg = f"{at:,} ids came, and there are {rows:,}"
        raise ArithmeticError(msg)
    packed.sort()
    sha = hashlib.sha256()
    lines = _Lines(digits, shift, [text.encode("utf-8", "surrogatepass") for text in endings])
    for start in range(0, rows, CHUNK):
        sha.update(lines.written(packed[start : start + CHUNK]).data)
    return sha.hexdigest()


def _packed(ids: Whole, ends: Whole, digits: int, shift: int) -> NDArray[np.uint64]:
    """An id as its text is ordered: its digits from the left, then how many there are; its ending beside it."""
    size = np.ones(len(ids), dtype=np.uint8)
    for power in range(1, digits):
        size += ids >= 10**power
    left = np.array([10 ** (digits - n) for n in range(1, digits + 1)], dtype=np.uint64)
    found = ids.astype(np.uint64) * left[size - 1]
    found = (found << np.uint64(_COUNT)) | size
    return (found << np.uint64(shift)) | ends.astype(np.uint64)


class _Lines:
    """Writes packed ids as lines."""

    def __init__(self, digits: int, shift: int, endings: Sequence[bytes]) -> None:
        self._shift, self._groups = np.uint64(shift), -(-digits // 4)
        self._more = np.uint64(10 ** (4 * self._groups - digits))
        every = np.arange(_FOUR)
        figures = np.stack([every // 1000, every // 100 % 10, every // 10 % 10, every % 10], axis=1) + ord("0")
        self._four = figures.astype(np.uint8)
        longest, wide = max(map(len, endings)), 4 * self._groups
        self._endings = np.array([list(one.ljust(longest)) for one in endings], dtype=np.uint8)
        sizes = np.arange(1 << _COUNT)[:, None] > np.arange(wide)[None, :]
        tails = np.array([len(one) for one in endings])[:, None] > np.arange(longest)[None, :]
        self._many, self._width = len(endings), len(HEAD) + wide + longest
        self._there = np.concatenate(
            [
                np.ones(((1 << _COUNT) * self._many, len(HEAD)), dtype=np.bool_),
                np.repeat(sizes, self._many, axis=0),
                np.tile(tails, (1 << _COUNT, 1)),
            ],
            axis=1,
        )

    def written(self, packed: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """The lines one behind the other."""
        mask = (np.uint64(1) << self._shift) - np.uint64(1)
        ends = (packed & mask).astype(np.intp)
        rest = packed >> self._shift
        size = (rest & np.uint64((1 << _COUNT) - 1)).astype(np.intp)
        value = (rest >> np.uint64(_COUNT)) * self._more
        out = np.empty((len(packed), self._width), dtype=np.uint8)
        out[:, : len(HEAD)] = np.frombuffer(HEAD, dtype=np.uint8)
        for group in reversed(range(self._groups)):
            value, last = np.divmod(value, np.uint64(_FOUR))
            at = len(HEAD) + 4 * group
            out[:, at : at + 4] = self._four[last]
        out[:, len(HEAD) + 4 * self._groups :] = self._endings[ends]
        there: NDArray[np.bool_] = self._there[size * self._many + ends]
        lines: NDArray[np.uint8] = out[there]
        return lines
