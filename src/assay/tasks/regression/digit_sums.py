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


class Digits(NamedTuple):
    """Some values cut into digits, highest first."""

    digits: list[Floats]
    low: int
    """The power of two of the lowest digit."""
    bits: int

    def sum(self, signs: Floats | None = None) -> Dyadic:
        """The sum of the values, or of the values times -1, 0 or 1."""
        total = 0
        for digit in self.digits:
            total = (total << self.bits) + int(digit.sum() if signs is None else digit @ signs)
        return Dyadic(total, self.low)

    def sum_squares(self) -> Dyadic:
        """The sum of the squares of the values."""
        total, last = 0, len(self.digits) - 1
        for i, digit in enumerate(self.digits):
            total += int(digit @ digit) << (self.bits * 2 * (last - i))
            for j in range(i):
                total += int(digit @ self.digits[j]) << (self.bits * (2 * last - i - j) + 1)
        return Dyadic(total, 2 * self.low)

    def sum_products(self, other: Digits) -> Dyadic:
        """The sum of the products with other values."""
        total = 0
        for digit in self.digits:
            inner = 0
            for second in other.digits:
                inner = (inner << self.bits) + int(digit @ second)
            total = (total << self.bits) + inner
        return Dyadic(total, self.low + other.low)


def cut_digits(values: Floats, bits: int) -> Digits | None:
    """Cut at most `CHUNK` finite doubles into digits; None where these would be too many."""
    sizes = np.abs(values)
    largest, smallest = (float(sizes.max()), float(sizes.min())) if len(values) else (0.0, 0.0)
    if not largest:
        return Digits([], 0, bits)
    if not smallest:
        smallest = float(sizes[sizes > 0].min())
    top, end = math.frexp(largest)[1], math.frexp(smallest)[1] - SIGNIFICAND
    shift = bits - 1 - top
    if top - end > WIDEST or abs(shift) > SAFE_SHIFT:
        return None
    more = max(0, -(-(-shift - end) // bits))
    rest, digits, grid = values * 2.0**shift, [], 2.0**bits
    for _ in range(more):
        digit = np.rint(rest)
        digits.append(digit)
        rest = rest - digit
        rest *= grid
    return Digits([*digits, rest], -shift - bits * more, bits)


def sum_exactly(values: Floats) -> Dyadic:
    """The sum of finite doubles.

    >>> float(sum_exactly(np.array([1e100, 1.0, -1e100])).fraction)
    1.0
    """
    total = Dyadic()
    for start in range(0, len(values), CHUNK):
        part = values[start : start + CHUNK]
        cut = cut_digits(part, SUM_BITS)
        total += _sum_fractions(map(Fraction, part.tolist())) if cut is None else cut.sum()
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
            total += cuts[0].sum_products(cuts[1])
    return total


def _sum_fractions(values: Iterable[Fraction]) -> Dyadic:
    return Dyadic.of(sum(values, Fraction()))
