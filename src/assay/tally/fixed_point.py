# SPDX-License-Identifier: Apache-2.0
"""Exact sums: weights in fixed point, whose sums are the same in any order and on any engine, and sums of doubles.

A weight counts floor(weight / quantum) quanta, a whole number below 2**53. Its square is rounded up to a multiple of
2**53 squared quanta, again below 2**53. The quantum is a power of two, so sums of different quanta add exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.arrays import BITS, quantum_exponent
from assay.core.errors import OutOfRange, damaged_record
from assay.tally.base import count_from_json, count_to_json

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from assay.core.arrays import Floats, Whole

    Index: TypeAlias = Whole | NDArray[np.bool_] | slice[int, int, None]

HALF: Final = 27
"""Bits of the lower half of a whole number below 2**53; the sum of 2**36 halves fits 63 bits."""
LONGEST: Final = 116
"""Bits of a sum at most."""
BLOCK: Final = 1 << 22
"""Rows added at a time, so that sums of halves are exact in doubles."""


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Many exact sums, each of them (high * 2**53 + low) * 2**exponent."""

    high: Whole
    low: Whole
    exponent: int

    @classmethod
    def of_halves(cls, halves: Sequence[Whole], exponent: int) -> Sums:
        """From lower and upper halves, of which the upper ones count 2**27 times as much.

        >>> Sums.of_halves([np.array([5]), np.array([1])], 0).tolist()
        [Fraction(134217733, 1)]
        """
        low, high = halves
        high = high + (low >> HALF)
        return cls(high >> (BITS - HALF), ((high & _mask(BITS - HALF)) << HALF) | (low & _mask(HALF)), exponent)

    @classmethod
    def of_whole(cls, whole: Sequence[int], exponent: int) -> Sums:
        """From whole numbers of 2**exponent.

        >>> Sums.of_whole([2**60 + 1, 3], -1).tolist() == [Fraction(2**60 + 1, 2), Fraction(3, 2)]
        True
        """
        if max(whole, default=0) >> LONGEST:
            raise OutOfRange(
                "count-overflow",
                "the weights that are added differ too much in size",
                fix="rescale the weights of one part, so that all parts have weights of about one size",
            )
        high, low = ([one >> BITS for one in whole], [one & _mask(BITS) for one in whole])
        return cls(np.array(high, dtype=np.int64), np.array(low, dtype=np.int64), exponent)

    def __len__(self) -> int:
        """How many sums there are."""
        return len(self.high)

    def __getitem__(self, index: Index) -> Sums:
        """Some of the sums."""
        return Sums(self.high[index], self.low[index], self.exponent)

    def __add__(self, other: Sums) -> Sums:
        """Two lists of sums, one behind the other, in the smaller of their two units."""
        exponent = min(self.exponent, other.exponent)
        a, b = (one.in_smaller_unit(exponent) for one in (self, other))
        return Sums(np.concatenate([a.high, b.high]), np.concatenate([a.low, b.low]), exponent)

    def in_smaller_unit(self, exponent: int) -> Sums:
        """The same sums as multiples of a smaller power of two."""
        if exponent == self.exponent or not self.occupied.any():
            return Sums(self.high, self.low, exponent)
        return Sums.of_whole([one << (self.exponent - exponent) for one in self.whole()], exponent)

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """Which sums are not zero."""
        return cast("NDArray[np.bool_]", (self.high | self.low) != 0)

    def added_in_runs(self, first: Whole) -> Sums:
        """The sum from each of some places up to the next of them."""
        if not len(first):
            return self
        low, middle, high = (
            np.add.reduceat(part, first) for part in (self.low & _mask(HALF), self.low >> HALF, self.high)
        )
        carried = Sums.of_halves([low, middle], self.exponent)
        return Sums(carried.high + high, carried.low, self.exponent)

    def whole(self) -> list[int]:
        """The sums as whole numbers of 2**exponent."""
        return [(high << BITS) + low for high, low in zip(self.high.tolist(), self.low.tolist(), strict=True)]

    def tolist(self) -> list[Fraction]:
        """The sums as Fractions."""
        unit = Fraction(2) ** self.exponent
        return [one * unit for one in self.whole()]

    def total(self) -> Fraction:
        """The sum of all."""
        return sum(self.added_in_runs(np.zeros(1, dtype=np.int64)).tolist(), Fraction(0)) if len(self) else Fraction(0)

    def doubles(self) -> Floats:
        """The sums as doubles."""
        return cast("Floats", np.ldexp(self.high * 2.0**BITS + self.low, self.exponent))

    def reduced(self) -> Sums:
        """The same sums in the largest power of two that divides all of them, so that equal sums have one form."""
        all_bits = (int(np.bitwise_or.reduce(self.high)) << BITS) | int(np.bitwise_or.reduce(self.low))
        if not all_bits:
            return Sums(self.high, self.low, 0)
        down = (all_bits & -all_bits).bit_length() - 1
        if down >= BITS:
            return Sums(np.zeros_like(self.high), self.high >> (down - BITS), self.exponent + down)
        low = (self.low >> down) | ((self.high & _mask(down)) << (BITS - down))
        return Sums(self.high >> down, low, self.exponent + down)

    def to_bytes(self) -> bytes:
        """The canonical form, for digests."""
        least = self.reduced()
        return b"".join(
            np.ascontiguousarray(part, dtype="<i8").tobytes() for part in (least.high, least.low, [least.exponent])
        )

    def to_json(self) -> dict[str, object]:
        """As in a Record: whole numbers of a power of two."""
        least = self.reduced()
        return {"exponent": least.exponent, "numbers": [count_to_json(one) for one in least.whole()]}

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Sums:
        """The inverse of `to_json`."""
        exponent = content["exponent"]
        numbers = [count_from_json(one) for one in cast("list[object]", content["numbers"])]
        if type(exponent) is not int or not all(isinstance(one, int) and one >= 0 for one in numbers):
            raise damaged_record(what="sums of weights in the Record are damaged")
        return cls.of_whole(cast("list[int]", numbers), exponent)


def _mask(bits: int) -> int:
    return (1 << bits) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Weights of rows in memory, each a whole number of quanta of 2**exponent."""

    quanta: Floats
    exponent: int

    @classmethod
    def of(cls, weight: ArrayLike | Weights, exponent: int | None = None) -> Weights:
        """From doubles; without an exponent the largest weight gives it.

        >>> Weights.of([0.5, 1.0]).quanta.tolist() == [2.0**51, 2.0**52]
        True
        """
        if isinstance(weight, Weights):
            return weight
        real = np.asarray(weight, dtype=np.float64)
        if exponent is None:
            exponent = quantum_exponent(float(real.max())) if len(real) else 0
        return cls(np.floor(np.ldexp(real, -exponent)), exponent)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.quanta)

    def __getitem__(self, index: Index) -> Weights:
        """The weights of some rows."""
        return Weights(self.quanta[index], self.exponent)

    def added_by(self, place: Whole, size: int) -> tuple[Sums, Sums]:
        """Sums of the weights, and of their squares, that go to each of `size` places."""
        halves = np.zeros((4, size), dtype=np.int64)
        for start in range(0, len(self), BLOCK):
            rows = slice(start, start + BLOCK)
            for i, half in enumerate(_halves(self.quanta[rows])):
                halves[i] += np.bincount(place[rows], weights=half, minlength=size).astype(np.int64)
        return of_halves(list(halves), self.exponent)

    def added_in_runs(self, first: Whole) -> tuple[Sums, Sums]:
        """Sums of the weights, and of their squares, from each of some rows up to the next of them."""
        halves = [half.astype(np.int64) for half in _halves(self.quanta)]
        return of_halves([np.add.reduceat(half, first) for half in halves] if len(first) else halves, self.exponent)


def of_halves(halves: Sequence[Whole], exponent: int) -> tuple[Sums, Sums]:
    """Sums of weights and of squares, from their halves."""
    return Sums.of_halves(halves[:2], exponent), Sums.of_halves(halves[2:], square_unit(exponent))


def _halves(quanta: Floats) -> list[Floats]:
    """Lower and upper halves of weights and of their squares."""
    halves: list[Floats] = []
    for whole in (quanta, np.ceil(quanta * quanta * 2.0**-BITS)):
        high = np.floor(whole * 2.0**-HALF)
        halves += [whole - high * 2.0**HALF, high]
    return halves


def square_unit(exponent: int) -> int:
    """The unit of squares, as a power of two."""
    return 2 * exponent + BITS


def exact_sums(
    values: NDArray[np.float64], count: NDArray[np.int64], group: NDArray[np.int64], size: int
) -> list[Fraction]:
    """The sum of value * count in each of `size` groups, exact in any order of the rows.

    >>> exact_sums(np.array([0.1, 0.2, 4.0]), np.array([3, 1, 1]), np.array([0, 0, 1]), 2)[1]
    Fraction(4, 1)
    """
    significand, exponent = np.frexp(values)
    whole = np.ldexp(significand, 53).astype(np.int64)
    powers, power = np.unique(exponent, return_inverse=True)
    place = group * len(powers) + power
    low, high = (np.zeros(size * len(powers), dtype=np.int64) for _ in range(2))
    np.add.at(low, place, (whole & ((1 << HALF) - 1)) * count)
    np.add.at(high, place, (whole >> HALF) * count)
    sums = [Fraction(0)] * size
    for i in np.flatnonzero((low != 0) | (high != 0)).tolist():
        scale = Fraction(2) ** (int(powers[i % len(powers)]) - 53)
        sums[i // len(powers)] += ((int(high[i]) << HALF) + int(low[i])) * scale
    return sums


def exact_dot(a: NDArray[np.int64], b: NDArray[np.int64]) -> int:
    """The sum of products of non-negative whole numbers, never wrapped around.

    >>> exact_dot(np.array([2**40]), np.array([2**40])) == 2**80
    True
    """
    step = max(1, ((1 << 63) - 1) // max(1, int(a.max(initial=0)) * int(b.max(initial=0))))
    if step == 1:  # a product may not fit 63 bits
        return int(np.dot(a.astype(object), b))
    return sum(int(np.dot(a[i : i + step], b[i : i + step])) for i in range(0, len(a), step))
