# SPDX-License-Identifier: Apache-2.0
"""Sums of doubles, and of products of doubles, without any rounding: the same in any order and on any engine.

A double is cut into digits of a few bits on a common grid. Sums of digits and of products of digits are whole numbers
that float64 or int64 hold exactly, so they are added in any order; Python integers put the digits together again.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats


CHUNK: Final = 1 << 15
"""Rows of a step: they stay in the cache of a processor, and are enough to make calls of NumPy cheap."""
DOT: Final = 1 << 13
"""Rows of one product of BLAS: too few for OpenBLAS to start threads of its own."""
SUM_BITS: Final = 38
"""Bits of values that float64 adds: 2**38 times 2**15 rows is 2**53, which it still holds."""
FOLD_BITS: Final = 47
"""Bits of a digit that int64 adds: 2**47 times 2**15 rows stays below 2**63."""
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
    """Sums of columns and of products of any two, step by step, on one grid for each column."""

    def __init__(self, cuts: Sequence[Cut], rows: int) -> None:
        self.cuts, self.starts = cuts, [0]
        for cut in cuts:
            self.starts.append(self.starts[-1] + cut.size)
        size = self.starts[-1]
        self.stack = DESK.lend("digits", size, min(CHUNK, rows))
        self.pairs = {pair: i for i, pair in enumerate(combinations_with_replacement(range(size), 2), start=size)}
        self.parts = np.empty((size + len(self.pairs), CHUNK // DOT))
        self.sums = np.zeros(len(self.parts), dtype=np.int64)
        """Those of the digits, then those of the products of pairs of them."""

    def add(self, columns: Sequence[Floats]) -> None:
        """Add the rows of a step."""
        rows = len(columns[0])
        stack = self.stack[:, :rows]
        for place, (cut, column) in enumerate(zip(self.cuts, columns, strict=True)):
            cut.fill(column, stack[self.starts[place] : self.starts[place + 1]])
        digits = stack.reshape(len(stack), -1, min(rows, DOT))
        parts = self.parts[:, : digits.shape[1]]
        np.add.reduce(digits, axis=2, out=parts[: len(stack)])
        for place, row in enumerate(digits):
            first = self.pairs[place, place]
            np.vecdot(digits[place:], row, out=parts[first : first + len(stack) - place])
        self.sums += parts.astype(np.int64).sum(axis=1)

    def sum(self, place: int) -> Dyadic:
        """The sum of a column."""
        cut, total = self.cuts[place], 0
        for value in self.sums[self.starts[place] : self.starts[place + 1]].tolist():
            total = (total << cut.bits) + value
        return Dyadic(total, cut.low)

    def sum_products(self, first: int, second: int) -> Dyadic:
        """The sum of the products of two columns."""
        a, b, total = self.cuts[first], self.cuts[second], 0
        for place in range(a.size):
            for other in range(b.size):
                row, column = sorted((self.starts[first] + place, self.starts[second] + other))
                shift = a.bits * (a.size - 1 - place) + b.bits * (b.size - 1 - other)
                total += int(self.sums[self.pairs[row, column]]) << shift
        return Dyadic(total, a.low + b.low)


class _Desk(threading.local):
    """Memory of one thread to work in: fresh memory for every batch would cost as much as the work."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[np.float64]] = {}

    def lend(self, use: str, rows: int, size: int) -> Floats:
        """Rows for a use; what they held for it before is gone."""
        if use not in self.arrays or self.arrays[use].size < rows * size:
            self.arrays[use] = np.empty(rows * size)
        return self.arrays[use][: rows * size].reshape(rows, size)


DESK: Final = _Desk()


def steps(rows: int) -> Iterator[slice]:
    """Parts of at most `CHUNK` rows, of which `DOT` is a divisor, and a last one of fewer than `DOT`.

    >>> [(part.start, part.stop) for part in steps(42_000)]
    [(0, 32768), (32768, 40960), (40960, 42000)]
    """
    whole = rows - rows % DOT
    for start in range(0, whole, CHUNK):
        yield slice(start, min(start + CHUNK, whole))
    if whole < rows:
        yield slice(whole, rows)


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
    total, spare = Dyadic(), np.empty((2, min(CHUNK, len(values))))
    for rows in steps(len(values)):
        total += sum_range(values[rows], find_range(values[rows]), spare)
    return total


def sum_range(values: Floats, reach: tuple[float, float], spare: Floats) -> Dyadic:
    """The sum of at most `CHUNK` doubles of known range, with two spare rows to work in.

    A constant added to a value pushes what is below its last bit out of the significand; the significands are added
    as whole numbers, and what was pushed out is treated likewise until float64 adds it exactly.
    """
    smallest, largest = reach
    if not largest:
        return Dyadic()
    top, end = math.frexp(largest)[1], math.frexp(smallest)[1] - SIGNIFICAND
    if top - end > WIDEST or not -SAFE_SHIFT < top < SAFE_SHIFT:
        return _sum_fractions(map(Fraction, values.tolist()))
    total, exponent, rest = 0, top, values
    high, low = spare[:, : len(values)]
    while top - end > SUM_BITS:
        unit = max(top - FOLD_BITS, end)
        constant = 1.5 * 2.0 ** (unit + SIGNIFICAND - 1)
        bits = ((unit + SIGNIFICAND - 1 + 1023) << 52) | (1 << 51)  # of the constant as int64
        np.add(rest, constant, out=high)
        whole = int(np.add.reduce(high.view(np.int64))) - len(values) * bits
        whole = (whole + (1 << 63)) % (1 << 64) - (1 << 63)  # int64 wraps around, and back
        total, exponent = (total << (exponent - unit)) + whole, unit
        high -= constant
        rest, top = np.subtract(rest, high, out=low), unit - 1
    return Dyadic((total << (exponent - end)) + int(math.ldexp(np.add.reduce(rest), -end)), end)


def sum_products(a: Floats, b: Floats) -> Dyadic:
    """The sum of products of finite doubles.

    >>> float(sum_products(np.array([1e8, 1.0]), np.array([1e8, -1e8])).fraction)
    9999999900000000.0
    """
    total = Dyadic()
    for rows in steps(len(a)):
        first, second = a[rows], b[rows]
        cuts = [cut_range(*find_range(column), PRODUCT_BITS) for column in (first, second)]
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
