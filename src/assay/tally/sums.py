# SPDX-License-Identifier: Apache-2.0
"""Exact numbers by the million: whole numbers in digits of 32 bits, all of one unit.

A sum of doubles is a whole number times a power of two; as a Fraction it takes ten times the memory of its digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import RecordError
from assay.tally.base import count_from_json, count_to_json
from assay.tally.packing import packed_bytes, unpacked_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Digits: TypeAlias = NDArray[np.uint32]
    Whole: TypeAlias = NDArray[np.int64]
    Index: TypeAlias = NDArray[np.int64] | NDArray[np.bool_] | slice[int, int, None]

BITS: Final = 32
_DIGIT: Final = (1 << BITS) - 1
_LEAST, _MOST = -1020, 1023
"""Powers of two between which a double holds all of its 53 bits."""
_BLOCK: Final = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Numbers from zero on: row after row the digits of each, lowest first, and what the whole numbers count."""

    digits: Digits
    unit: Fraction

    @classmethod
    def zeros(cls, size: int) -> Sums:
        """So many zeros."""
        return cls(np.zeros((0, size), dtype=np.uint32), Fraction(1))

    @classmethod
    def of(cls, numbers: Sequence[Fraction]) -> Sums:
        """From Fractions.

        >>> Sums.of([Fraction(1, 3), Fraction(2)]).tolist()
        [Fraction(1, 3), Fraction(2, 1)]
        """
        scale = math.lcm(*{one.denominator for one in numbers})
        return cls(_digits([one.numerator * (scale // one.denominator) for one in numbers]), Fraction(1, scale))

    @classmethod
    def of_parts(cls, parts: Sequence[Whole], bits: int, unit: Fraction) -> Sums:
        """From parts from zero on, lowest first, each of which counts 2**bits times what the one before does.

        >>> Sums.of_parts([np.array([3]), np.array([1])], 40, Fraction(1)).tolist() == [2**40 + 3]
        True
        """
        held = [np.zeros(len(parts[0]), dtype=np.int64) for _ in range(len(parts) * bits // BITS + 3)]
        for place, part in enumerate(parts):
            word, shift = divmod(place * bits, BITS)
            for at, half in ((word, part & _DIGIT), (word + 1, part >> BITS)):
                moved = half.astype(np.uint64) << np.uint64(shift)
                held[at] += (moved & np.uint64(_DIGIT)).astype(np.int64)
                held[at + 1] += (moved >> np.uint64(BITS)).astype(np.int64)
        return cls(_carried(held), unit)

    def __len__(self) -> int:
        """How many numbers there are."""
        return int(self.digits.shape[1])

    def __getitem__(self, index: Index) -> Sums:
        """Some of them."""
        return Sums(self.digits[:, index], self.unit)

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which of them are not zero."""
        return cast("NDArray[np.bool_]", self.digits.any(axis=0))

    def gathered(self, at: Whole, size: int) -> Sums:
        """The sums of the numbers that go to each of `size` places.

        >>> Sums.of([Fraction(1, 2)] * 3).gathered(np.array([0, 1, 1]), 2).tolist()
        [Fraction(1, 2), Fraction(1, 1)]
        """
        held = [np.zeros(size, dtype=np.int64) for _ in self.digits]
        for sums, digit in zip(held, self.digits, strict=True):
            np.add.at(sums, at, digit.astype(np.int64))
        return Sums(_carried(held, size), self.unit)

    def runs(self, first: Whole) -> Sums:
        """The sums from each of some places up to the next of them."""
        if not len(first):
            return self
        held = [np.add.reduceat(digit.astype(np.int64), first) for digit in self.digits]
        return Sums(_carried(held, len(first)), self.unit)

    def beside(self, other: Sums) -> Sums:
        """The numbers of both, one after the other."""
        unit = _shared(self.unit, other.unit)
        both = [_times(one.digits, int(one.unit / unit)) for one in (self, other)]
        size = max(len(one) for one in both)
        return Sums(np.concatenate([_padded(one, size) for one in both], axis=1), unit)

    def total(self) -> Fraction:
        """The exact sum."""
        return sum(int(digit.sum(dtype=np.uint64)) << (BITS * i) for i, digit in enumerate(self.digits)) * self.unit

    def tolist(self) -> list[Fraction]:
        """As Fractions."""
        return [one * self.unit for one in _whole(self.digits)]

    def doubles(self) -> NDArray[np.float64]:
        """Each rounded to the nearest double, so that no unit leaves a trace."""
        odd, power = _parted(self.unit)
        size = BITS * (len(self.digits) + 1) + odd.numerator.bit_length()
        if odd.denominator != 1 or power < _LEAST or power + size > _MOST:
            return np.array([float(one) for one in self.tolist()], dtype=np.float64)
        return _rounded(_times(self.digits, odd.numerator), power)

    def to_json(self) -> dict[str, object]:
        """As in a Record: the largest unit of which all are whole numbers, and these in bytes of one width."""
        digits, unit = self._reduced()
        wide = np.ascontiguousarray(digits.T, dtype="<u4").view(np.uint8).reshape(len(self), 4 * len(digits))
        held = np.flatnonzero(wide.any(axis=0)) if len(self) else np.zeros(0, dtype=np.int64)
        width = int(held[-1]) + 1 if len(held) else 0
        return {"unit": count_to_json(unit), "width": width, "numbers": packed_bytes(wide[:, :width])}

    @classmethod
    def from_json(cls, content: Mapping[str, object], size: int) -> Sums:
        """The inverse of `to_json`."""
        width, unit = content["width"], Fraction(count_from_json(content["unit"]))
        if type(width) is not int or width < 0 or unit <= 0:
            raise RecordError(
                "record-unreadable",
                "exact sums of the Record are damaged",
                found=f"a width of {width!r}, a unit of {unit}",
                fix="restore the file from its source",
            )
        wide = np.zeros((size, -(-width // 4) * 4), dtype=np.uint8)
        wide[:, :width] = unpacked_bytes(cast("str", content["numbers"]), size, width)
        return cls(np.ascontiguousarray(wide.view("<u4").astype(np.uint32).T).reshape(-(-width // 4), size), unit)

    def _reduced(self) -> tuple[Digits, Fraction]:
        """The digits in the largest unit that all numbers are multiples of."""
        every = np.bitwise_or.reduce(self.digits, axis=1) if len(self) else np.zeros(0, dtype=np.uint32)
        if not every.any():
            return np.zeros((0, len(self)), dtype=np.uint32), Fraction(1)
        whole = sum(int(one) << (BITS * i) for i, one in enumerate(every.tolist()))
        twos = (whole & -whole).bit_length() - 1
        digits, unit = _shifted(self.digits, twos), self.unit * 2**twos
        odd = 0
        for one in _whole(digits):
            odd = math.gcd(odd, one)
            if odd & (odd - 1) == 0 and odd:
                return digits, unit  # powers of two are gone already
        odd >>= (odd & -odd).bit_length() - 1
        return _digits([one // odd for one in _whole(digits)]), unit * odd


def _digits(whole: Sequence[int]) -> Digits:
    words = -(-max((one.bit_length() for one in whole), default=0) // BITS)
    held = np.frombuffer(b"".join(one.to_bytes(4 * words, "little") for one in whole), dtype="<u4")
    return np.ascontiguousarray(held.reshape(len(whole), words).T.astype(np.uint32))


def _whole(digits: Digits) -> Iterator[int]:
    """The inverse of `_digits`."""
    words, size = digits.shape
    for start in range(0, size, _BLOCK):
        block = np.ascontiguousarray(digits[:, start : start + _BLOCK].T, dtype="<u4").tobytes()
        some = min(_BLOCK, size - start)
        yield from (int.from_bytes(block[4 * i * words : 4 * (i + 1) * words], "little") for i in range(some))


def _carried(held: Sequence[Whole], size: int = 0) -> Digits:
    """Sums of digits, each below 2**62, as digits; no more of them than the largest number has."""
    found, carry = [], np.zeros(len(held[0]) if held else size, dtype=np.int64)
    for row in held:
        carry = carry + row
        found.append((carry & _DIGIT).astype(np.uint32))
        carry >>= BITS
    found.append(carry.astype(np.uint32))
    while found and not found[-1].any():
        found.pop()
    return np.stack(found) if found else np.zeros((0, len(carry)), dtype=np.uint32)


def _padded(digits: Digits, size: int) -> Digits:
    return np.concatenate([digits, np.zeros((size - len(digits), digits.shape[1]), dtype=np.uint32)])


def _shared(a: Fraction, b: Fraction) -> Fraction:
    """The largest unit of which both are multiples."""
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)


def _parted(unit: Fraction) -> tuple[Fraction, int]:
    """A unit as a fraction of odd numbers and a power of two."""
    up, down = ((one & -one).bit_length() - 1 for one in (unit.numerator, unit.denominator))
    return Fraction(unit.numerator >> up, unit.denominator >> down), up - down


def _times(digits: Digits, factor: int) -> Digits:
    if factor == 1 or not len(digits):
        return digits
    parts = [(factor >> (BITS * i)) & _DIGIT for i in range(-(-factor.bit_length() // BITS))]
    held = np.zeros((len(digits) + len(parts), digits.shape[1]), dtype=np.uint64)
    for i, part in enumerate(parts):
        carry = np.zeros(digits.shape[1], dtype=np.uint64)
        for j, digit in enumerate(digits):  # a product of two digits and two more digits fit 64 bits
            carry += digit.astype(np.uint64) * np.uint64(part) + held[i + j]
            held[i + j] = carry & np.uint64(_DIGIT)
            carry >>= np.uint64(BITS)
        held[i + len(digits)] = carry
    return _carried([row.astype(np.int64) for row in held])


def _shifted(digits: Digits, down: int) -> Digits:
    """Without so many bits at the lower end, which are zero."""
    words, bits = divmod(down, BITS)
    kept = digits[words:]
    if not bits:
        return kept
    above = np.concatenate([kept[1:], np.zeros((1, kept.shape[1]), dtype=np.uint32)])
    return (kept >> np.uint32(bits)) | (above << np.uint32(BITS - bits))


def _rounded(digits: Digits, power: int) -> NDArray[np.float64]:
    """Whole numbers times a power of two, to the nearest double, halves to the even one."""
    if not len(digits):
        return np.zeros(digits.shape[1])
    some = digits != 0
    high, low = len(digits) - 1 - some[::-1].argmax(axis=0), some.argmax(axis=0)
    padded = np.concatenate([np.zeros((2, digits.shape[1]), dtype=np.uint32), digits])
    first, second, third = (
        np.take_along_axis(padded, (high + i)[np.newaxis], axis=0)[0].astype(np.uint64) for i in (2, 1, 0)
    )
    free = (BITS - np.frexp(first.astype(np.float64))[1]).astype(np.uint64)
    # The 64 leading bits, the last of which also tells that anything follows: eleven more than a double takes.
    top = (((first << np.uint64(BITS)) | second) << free) | (third >> (np.uint64(BITS) - free))
    more = ((third << free) & np.uint64(_DIGIT) != 0) | (low < high - 2)
    exponent = (high - 1) * BITS - free.astype(np.int64) + power
    return np.where(first > 0, np.ldexp((top | more.astype(np.uint64)).astype(np.float64), exponent), 0.0)
