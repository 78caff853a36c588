# SPDX-License-Identifier: Apache-2.0
"""Sums of doubles without rounding: significands are added as whole numbers, one sum for each exponent."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

HALF: Final = 27
"""A 53-bit significand is added in two halves; each sum stays below 2^63 for 2^36 rows."""


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
    if not a.size:
        return 0
    if int(a.max()) * int(b.max()) * a.size < 1 << 63:
        return int(np.dot(a, b))
    total = 0
    for x, shift_x in ((a & 0x7FFFFFFF, 0), (a >> 31, 31)):
        for y, shift_y in ((b & 0x7FFFFFFF, 0), (b >> 31, 31)):
            product = x * y  # below 2^62 while both counts stay below 2^62
            total += (int((product >> 31).sum()) << (31 + shift_x + shift_y)) + (
                int((product & 0x7FFFFFFF).sum()) << (shift_x + shift_y)
            )
    return total
