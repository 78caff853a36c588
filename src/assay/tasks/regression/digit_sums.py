# SPDX-License-Identifier: Apache-2.0
"""Sums of doubles, and of products of doubles, without any rounding: the same in any order and on any engine.

A double is cut into digits of a few bits on a common grid. Sums of digits and of products of digits are whole numbers
that float64 holds exactly, so NumPy and BLAS add them in any order; Python integers put the digits together again.
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
"""Bits of a digit that is only added: 2**39 times 2**13 rows stays below 2**53."""
PRODUCT_BITS: Final = 21
"""Bits of a digit that is multiplied: (2**20)**2 times 2**13 rows is 2**53, which float64 still holds."""
WIDEST: Final = 900
"""Powers of two between the largest and the smallest value of a step, above which Python integers add."""
SAFE_SHIFT: Final = 1000
GRAM_ROWS: Final = 12
"""Rows of digits up to which one matrix product gives all products."""
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
    """How some values are cut into digits, highest first."""

    values: Floats
    shift: int
    """The power of two by which the highest digit is found."""
    size: int
    """How many digits there are."""
    bits: int

    @property
    def low(self) -> int:
        """The power of two of the lowest digit."""
        return -self.shift - self.bits * (self.size - 1)

    def fill(self, rows: Floats) -> None:
        """Write the digits, one row each."""
        if not self.size:
            return
        grid, rest = 2.0**self.bits, np.multiply(self.values, 2.0**self.shift, out=rows[-1])
        for row in rows[:-1]:
            np.rint(rest, out=row)
            rest -= row
            rest *= grid


class DigitSums:
    """Sums over rows of digits, and of products of any two of them, from one matrix product."""

    def __init__(self, plain: Sequence[Floats | float], cuts: Sequence[Cut]) -> None:
        """Multiply all rows with each other: rows of -1, 0 and 1 first, then the digits of each cut."""
        self.cuts, self.starts = cuts, [len(plain)]
        for cut in cuts:
            self.starts.append(self.starts[-1] + cut.size)
        stack = np.empty((self.starts[-1], len(cuts[0].values)))
        for place, row in enumerate(plain):
            stack[place] = row
        for place, cut in enumerate(cuts):
            cut.fill(stack[self.starts[place] : self.starts[place + 1]])
        if len(stack) <= GRAM_ROWS:
            self.products = (stack @ stack.T).tolist()
        else:  # OpenBLAS would start threads of its own, which wait for each other
            self.products = [[float(first @ second) for second in stack] for first in stack]

    def sum(self, place: int, times: int = 0) -> Dyadic:
        """The sum of a cut, each value times that of a plain row."""
        cut, total = self.cuts[place], 0
        for value in self.products[times][self.starts[place] : self.starts[place + 1]]:
            total = (total << cut.bits) + int(value)
        return Dyadic(total, cut.low)

    def sum_products(self, first: int, second: int) -> Dyadic:
        """The sum of the products of two cuts."""
        a, b, total = self.cuts[first], self.cuts[second], 0
        columns = slice(self.starts[second], self.starts[second + 1])
        for row in self.products[self.starts[first] : self.starts[first + 1]]:
            inner = 0
            for value in row[columns]:
                inner = (inner << b.bits) + int(value)
            total = (total << a.bits) + inner
        return Dyadic(total, a.low + b.low)


def cut_digits(values: Floats, bits: int) -> Cut | None:
    """How to cut at most `CHUNK` finite doubles into digits; None where these would be too many."""
    smallest, largest = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    if smallest <= 0:
        sizes = np.abs(values)
        smallest, largest = float(sizes.min(initial=largest)), max(-smallest, largest)
        if not largest:
            return Cut(values, 0, 0, bits)
        smallest = smallest or float(sizes[sizes > 0].min())
    top, end = math.frexp(largest)[1], math.frexp(smallest)[1] - SIGNIFICAND
    shift = bits - 1 - top
    if top - end > WIDEST or abs(shift) > SAFE_SHIFT:
        return None
    return Cut(values, shift, 1 + max(0, -(-(-shift - end) // bits)), bits)


def sum_exactly(values: Floats) -> Dyadic:
    """The sum of finite doubles.

    >>> float(sum_exactly(np.array([1e100, 1.0, -1e100])).fraction)
    1.0
    """
    total = Dyadic()
    for start in range(0, len(values), CHUNK):
        part = values[start : start + CHUNK]
        cut = cut_digits(part, SUM_BITS)
        total += _sum_fractions(map(Fraction, part.tolist())) if cut is None else DigitSums([1.0], [cut]).sum(0)
    return total


def sum_products(a: Floats, b: Floats) -> Dyadic:
    """The sum of products of finite doubles.

    >>> float(sum_products(np.array([1e8, 1.0]), np.array([1e8, -1e8])).fraction)
    9999999900000000.0
    """
    total = Dyadic()
    for start in range(0, len(a), CHUNK):
        first, second = a[start : start + CHUNK], b[start : start + CHUNK]
        cuts = cut_digits(first, PRODUCT_BITS), cut_digits(second, PRODUCT_BITS)
        if cuts[0] is None or cuts[1] is None:
            pairs = zip(first.tolist(), second.tolist(), strict=True)
            total += _sum_fractions(Fraction(x) * Fraction(y) for x, y in pairs)
        else:
            total += DigitSums([], [cuts[0], cuts[1]]).sum_products(0, 1)
    return total


def _sum_fractions(values: Iterable[Fraction]) -> Dyadic:
    return Dyadic.of(sum(values, Fraction()))
