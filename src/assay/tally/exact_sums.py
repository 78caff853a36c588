# SPDX-License-Identifier: Apache-2.0
"""Sums of doubles, and of products of doubles, without any rounding: the same in any order and on any engine.

A double is cut into digits of a few bits on a common grid. Sums of digits and of products of digits are whole numbers
that float64 holds exactly, so NumPy and BLAS add them in any order; Python integers put the digits together again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CHUNK: Final = 1 << 14
"""Rows of a step, which stay in the cache of a processor."""
SUM_BITS: Final = 38
"""Bits of a digit that is only added: 2**37 times 2**14 rows stays below 2**53."""
PRODUCT_BITS: Final = 20
"""Bits of a digit that is multiplied: (2**19)**2 times 2**14 rows stays below 2**53."""
WIDEST: Final = 900
"""Powers of two between the largest and the smallest value of a step, above which Python integers add."""
SAFE_SHIFT: Final = 1000
EXPONENT_AT: Final = 53
"""Where the exponent of a double begins once its sign is shifted out."""
BIAS: Final = 1022
"""What is taken from a stored exponent, so that a value is below two to the power of the rest."""


class Dyadic(NamedTuple):
    """A whole number times a power of two.

    >>> Dyadic.of(Fraction(3, 8)) + Dyadic.of(Fraction(1, 8))
    Dyadic(significand=1, exponent=-1)
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
        return Dyadic((a.significand << (a.exponent - low)) + (b.significand << (b.exponent - low)), low).reduced()

    @property
    def fraction(self) -> Fraction:
        """As a fraction."""
        return Fraction(self.significand) * Fraction(2) ** self.exponent

    def to_json(self) -> list[str | int]:
        """As in a Record."""
        return [str(self.significand), self.exponent]

    @classmethod
    def from_json(cls, content: object) -> Dyadic:
        """The inverse of `to_json`."""
        significand, exponent = cast("Sequence[str | int]", content)
        return cls(int(significand), int(exponent)).reduced()


def sum_exactly(values: Floats) -> Dyadic:
    """The sum of finite doubles.

    >>> float(sum_exactly(np.array([1e100, 1.0, -1e100])).fraction)
    1.0
    """
    total = Dyadic()
    for start in range(0, len(values), CHUNK):
        part = values[start : start + CHUNK]
        digits, low = _cut(part, SUM_BITS)
        if digits is None:
            total += _sum_as_integers(_as_integers(part))
            continue
        whole = 0
        for digit in digits:
            whole = (whole << SUM_BITS) + int(digit.sum())
        total += Dyadic(whole, low)
    return total


def sum_products(columns: Sequence[Floats]) -> tuple[list[Dyadic], list[list[Dyadic]]]:
    """The sums of columns of finite doubles, and the sums of the products of every two of them.

    >>> sums, products = sum_products([np.array([1e8, 1.0]), np.array([1e8, -1e8])])
    >>> float(products[0][1].fraction)
    9999999900000000.0
    """
    size = len(columns)
    sums = [Dyadic()] * size
    products = [[Dyadic()] * size for _ in columns]
    for start in range(0, len(columns[0]), CHUNK):
        part = [column[start : start + CHUNK] for column in columns]
        added, multiplied = _products_of_chunk(part)
        for a in range(size):
            sums[a] += added[a]
            for b in range(a, size):
                products[a][b] += multiplied[a, b]
                products[b][a] = products[a][b]
    return sums, products


def _products_of_chunk(part: list[Floats]) -> tuple[list[Dyadic], dict[tuple[int, int], Dyadic]]:
    size, pairs = len(part), [(a, b) for a in range(len(part)) for b in range(a, len(part))]
    cut = [_cut(column, PRODUCT_BITS) for column in part]
    if any(digits is None for digits, _ in cut):
        whole = [_as_integers(column) for column in part]
        both = {(a, b): _sum_as_integers(x * y for x, y in zip(whole[a], whole[b], strict=True)) for a, b in pairs}
        return [_sum_as_integers(column) for column in whole], both
    rows = [digit for digits, _ in cut for digit in digits or ()]
    matrix = np.vstack([*rows, np.ones((1, len(part[0])))])
    table = (matrix @ matrix.T).astype(np.int64).tolist()
    first, ends = 0, []
    for digits, _ in cut:
        ends.append((first, first + len(digits or ())))
        first = ends[-1][1]
    sums = []
    for a in range(size):
        whole_sum = 0
        for row in range(*ends[a]):
            whole_sum = (whole_sum << PRODUCT_BITS) + table[row][-1]
        sums.append(Dyadic(whole_sum, cut[a][1]))
    both = {}
    for a, b in pairs:
        total = 0
        for row in range(*ends[a]):
            inner = 0
            for column in range(*ends[b]):
                inner = (inner << PRODUCT_BITS) + table[row][column]
            total = (total << PRODUCT_BITS) + inner
        both[a, b] = Dyadic(total, cut[a][1] + cut[b][1])
    return sums, both


def _cut(values: Floats, bits: int) -> tuple[list[Floats] | None, int]:
    """The digits of some values, highest first, and the power of two of the lowest; None where there are too many."""
    magnitudes = np.ascontiguousarray(values).view(np.uint64) << np.uint64(1)  # without the sign
    largest = int(magnitudes.max()) if len(values) else 0
    if not largest:
        return [], 0
    smallest = int((magnitudes - np.uint64(1)).min()) + 1  # zeros wrap around and are passed over
    top = max(largest >> EXPONENT_AT, 1) - BIAS
    if top - (smallest >> EXPONENT_AT) + BIAS > WIDEST:
        return None, 0
    shift = bits - 1 - top
    rest = values * 2.0**shift if abs(shift) < SAFE_SHIFT else np.ldexp(values, shift)
    digits, grid = [], 2.0**bits
    while True:
        digit = np.rint(rest)
        digits.append(digit)
        rest = rest - digit
        if not rest.any():
            return digits, -shift - bits * (len(digits) - 1)
        rest *= grid


def _as_integers(values: Floats) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]


def _sum_as_integers(values: Iterable[Fraction]) -> Dyadic:
    return Dyadic.of(sum(values, Fraction()))
