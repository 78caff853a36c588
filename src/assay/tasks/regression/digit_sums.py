# SPDX-License-Identifier: Apache-2.0
"""Sums of doubles, and of products of doubles, without any rounding: the same in any order and on any engine.

A double is cut into digits of a few bits on a common grid. Sums of digits and of products of digits are whole numbers
that float64 or int64 hold exactly, so they are added in any order; Python integers put the digits together again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CHUNK: Final = 1 << 13
"""Rows of a step: they stay in the cache of a processor, and are too few for OpenBLAS to start threads of its own."""
SUM_BITS: Final = 40
"""Bits of values that float64 adds: 2**40 times 2**13 rows is 2**53."""
FOLD_BITS: Final = 49
"""Bits of a digit that int64 adds: 2**49 times 2**13 rows stays below 2**63."""
PRODUCT_BITS: Final = 21
"""Bits of a digit that is multiplied: (2**20)**2 times 2**13 rows is 2**53, which float64 still holds."""
WIDEST: Final = 900
"""Powers of two between the largest and the smallest value of a step, above which Python integers add."""
SAFE_SHIFT: Final = 900
SIGNIFICAND: Final = 53


class Dyadic(NamedTuple):
    """A whole number times a power of two.

    >>> Dyadic.of(Fraction(3, 8)) + Dyadic.of(Fraction(1, 8))
    Dyadic(significand=4, exponent=-3)
    """

    significand: int = 0
    exponent: int = 0

    @classmethod
    def of(cls, value: Fraction) -> Dyadic:
        """From a fraction whose denominator is a power of two."""
        return cls(value.numerator, 1 - value.denominator.bit_length()).reduced()

    def reduced(self) -> Dyadic:
        """The same with an odd significand, so that equal sums are equal."""
        if not self.significand:
            return Dyadic()
        zeros = (self.significand & -self.significand).bit_length() - 1
        return Dyadic(self.significand >> zeros, self.exponent + zeros)

    def __add__(self, other: object) -> Dyadic:
        """Both together, exactly."""
        a, b = self, cast("Dyadic", other)
        low = min(a.exponent, b.exponent)
        return Dyadic((a.significand << (a.exponent - low)) + (b.significand << (b.exponent - low)), low)

    def __sub__(self, other: Dyadic) -> Dyadic:
        """The difference, exactly."""
        return self + Dyadic(-other.significand, other.exponent)

    @property
    def fraction(self) -> Fraction:
        """As a fraction."""
        return Fraction(self.significand) * Fraction(2) ** self.exponent

    def to_json(self) -> list[str | int]:
        """As in a Record."""
        significand, exponent = self.reduced()
        return [str(significand), exponent]

    @classmethod
    def from_json(cls, content: object) -> Dyadic:
        """The inverse of `to_json`."""
        significand, exponent = cast("Sequence[str | int]", content)
        return cls(int(significand), int(exponent)).reduced()


class Cut(NamedTuple):
    """How values are cut into digits, highest first."""

    shift: int
    """The power of two by which the highest digit is found."""
    size: int
    """How many digits there are."""
    bits: int

    @property
    def low(self) -> int:
        """The power of two of the lowest digit."""
        return -self.shift - self.bits * (self.size - 1)

    def fill(self, values: Floats, rows: Floats) -> None:
        """Write the digits, one row each."""
        grid, rest = 2.0**self.bits, np.multiply(values, 2.0**self.shift, out=rows[-1])
        for row in rows[:-1]:
            np.rint(rest, out=row)
            rest -= row
            rest *= grid


class DigitSums:
    """Sums of columns and of products of any two, chunk by chunk, on one grid for each column."""

    def __init__(self, cuts: Sequence[Cut], chunk: int = CHUNK) -> None:
        self.cuts, self.starts = cuts, [1]
        for cut in cuts:
            self.starts.append(self.starts[-1] + cut.size)
        self.stack = np.empty((self.starts[-1], chunk))
        self.stack[0] = 1.0
        self.products = np.zeros((self.starts[-1], self.starts[-1]), dtype=np.int64)
        self.signed = np.zeros(self.starts[-1], dtype=np.int64)

    def add(self, columns: Sequence[Floats], sign: Floats | None = None) -> None:
        """Add some rows, at most a chunk; `sign` holds -1, 0 or 1 for each."""
        stack = self.stack[:, : len(columns[0])]
        for place, (cut, column) in enumerate(zip(self.cuts, columns, strict=True)):
            cut.fill(column, stack[self.starts[place] : self.starts[place + 1]])
        for place, row in enumerate(stack):
            after = max(place, 1)
            self.products[place, after:] += np.vecdot(stack[after:], row).astype(np.int64)
        if sign is not None:
            self.signed[1:] += np.vecdot(stack[1:], sign).astype(np.int64)

    def sum(self, place: int, *, signed: bool = False) -> Dyadic:
        """The sum of a column, or that of its values times the signs."""
        cut, total = self.cuts[place], 0
        row = self.signed if signed else self.products[0]
        for value in row[self.starts[place] : self.starts[place + 1]].tolist():
            total = (total << cut.bits) + value
        return Dyadic(total, cut.low)

    def sum_products(self, first: int, second: int) -> Dyadic:
        """The sum of the products of two columns, the first not behind the second."""
        a, b, total = self.cuts[first], self.cuts[second], 0
        for place in range(a.size):
            for other in range(b.size):
                row, column = sorted((self.starts[first] + place, self.starts[second] + other))
                shift = a.bits * (a.size - 1 - place) + b.bits * (b.size - 1 - other)
                total += int(self.products[row, column]) << shift
        return Dyadic(total, a.low + b.low)


def cut_range(smallest: float, largest: float, bits: int) -> Cut | None:
    """How to cut multiples of the last bit of the smallest size, up to the largest; None where digits are too many."""
    top, end = math.frexp(largest)[1], math.frexp(smallest)[1] - SIGNIFICAND
    shift = bits - 1 - top
    if top - end > WIDEST or abs(shift) > SAFE_SHIFT:
        return None
    return Cut(shift, 1 + max(0, -(-(-shift - end) // bits)), bits)


def find_range(values: Floats) -> tuple[float, float]:
    """The smallest size above 0, and the largest; 0 for both where all values are 0."""
    smallest, largest = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    if smallest <= 0:
        sizes = np.abs(values)
        smallest, largest = float(sizes.min(initial=largest)), max(-smallest, largest)
        if largest and not smallest:
            smallest = float(sizes[sizes > 0].min())
    return smallest, largest


def sum_exactly(values: Floats) -> Dyadic:
    """The sum of finite doubles.

    >>> float(sum_exactly(np.array([1e100, 1.0, -1e100])).fraction)
    1.0
    """
    total = Dyadic()
    for start in range(0, len(values), CHUNK):
        part = values[start : start + CHUNK]
        total += sum_range(part, *find_range(part))
    return total


def sum_range(values: Floats, smallest: float, largest: float) -> Dyadic:
    """The sum of at most `CHUNK` doubles of known range.

    A constant added to a value pushes what is below its last bit out of the significand; the significands are added
    as whole numbers, and what was pushed out is treated likewise until float64 adds it exactly.
    """
    if not largest:
        return Dyadic()
    top, end = math.frexp(largest)[1], math.frexp(smallest)[1] - SIGNIFICAND
    if top - end > WIDEST or not -SAFE_SHIFT < top < SAFE_SHIFT:
        return _sum_fractions(map(Fraction, values.tolist()))
    total, rest, (high, spare) = Dyadic(), values, np.empty((2, len(values)))
    while top - end > SUM_BITS:
        unit = top - FOLD_BITS
        constant = np.float64(1.5 * 2.0 ** (unit + SIGNIFICAND - 1))
        np.add(rest, constant, out=high)
        whole = int(np.add.reduce(high.view(np.int64))) - len(values) * int(constant.view(np.int64))
        total += Dyadic((whole + (1 << 63)) % (1 << 64) - (1 << 63), unit)  # int64 wraps around, and back
        high -= constant
        rest = np.subtract(rest, high, out=spare)
        top = unit - 1
    whole, power = math.frexp(float(np.add.reduce(rest)))
    return total + Dyadic(int(whole * 2.0**SIGNIFICAND), power - SIGNIFICAND)


def sum_with_sizes(values: Floats, sign: Floats) -> tuple[Dyadic, Dyadic]:
    """The sum of at most `CHUNK` doubles and that of their absolute values, given their signs."""
    cut = cut_range(*find_range(values), SUM_BITS)
    if cut is None:
        return sum_exactly(values), sum_exactly(np.abs(values))
    rows = np.empty((cut.size, len(values)))
    cut.fill(values, rows)
    totals = [0, 0]
    for row in rows:
        totals = [(total << SUM_BITS) + int(part) for total, part in zip(totals, (row.sum(), row @ sign), strict=True)]
    return Dyadic(totals[0], cut.low), Dyadic(totals[1], cut.low)


def sum_products(a: Floats, b: Floats) -> Dyadic:
    """The sum of products of finite doubles.

    >>> float(sum_products(np.array([1e8, 1.0]), np.array([1e8, -1e8])).fraction)
    9999999900000000.0
    """
    total = Dyadic()
    for start in range(0, len(a), CHUNK):
        first, second = a[start : start + CHUNK], b[start : start + CHUNK]
        ranges = find_range(first), find_range(second)
        if not (ranges[0][1] and ranges[1][1]):
            continue
        cuts = [cut_range(*part, PRODUCT_BITS) for part in ranges]
        if None in cuts:
            pairs = zip(first.tolist(), second.tolist(), strict=True)
            total += _sum_fractions(Fraction(x) * Fraction(y) for x, y in pairs)
        else:
            sums = DigitSums(cast("list[Cut]", cuts), len(first))
            sums.add((first, second))
            total += sums.sum_products(0, 1)
    return total


def _sum_fractions(values: Iterable[Fraction]) -> Dyadic:
    return Dyadic.of(sum(values, Fraction()))
