# SPDX-License-Identifier: Apache-2.0
"""What the rows of each bin of scores weigh, as exact sums: positives, negatives, and the squared weights of both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.tally.base import count_from_json, count_to_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    # Four rows of Fractions, a column for each bin.
    BinWeights: TypeAlias = NDArray[np.object_]
    Floats: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.int64]

POS, NEG, POS_SQUARES, NEG_SQUARES = range(4)
NAMES: Final = ("pos", "neg", "pos_squares", "neg_squares")


def gathered(at: Places, size: int, weight: BinWeights) -> BinWeights:
    """The sums of the columns that go to each of `size` places.

    >>> half = np.full((4, 3), Fraction(1, 2), dtype=object)
    >>> gathered(np.array([0, 1, 1]), 2, half)[0].tolist()
    [Fraction(1, 2), Fraction(1, 1)]
    """
    sums = np.full((len(NAMES), size), Fraction(0), dtype=object)
    for row, held in zip(sums, weight, strict=True):
        whole, scale = _whole(held)
        found = np.zeros(size, dtype=object)
        np.add.at(found, at, whole)
        there = np.flatnonzero(found)
        row[there] = [Fraction(one, scale) for one in found[there].tolist()]
    return sums


def _whole(held: NDArray[np.object_]) -> tuple[NDArray[np.object_], int]:
    """Fractions over one denominator, and that: whole numbers are added ten times as fast."""
    scale = math.lcm(*{one.denominator for one in held.tolist()})
    whole = np.zeros(len(held), dtype=object)
    whole[:] = [one.numerator * (scale // one.denominator) for one in held.tolist()]
    return whole, scale


def by_class(at: Places, size: int, weight: NDArray[np.object_], *, positive: NDArray[np.bool_]) -> BinWeights:
    """The same of cells that hold one class each: two rows, the weight of a cell and its squares."""
    sides = np.full((len(NAMES), len(at)), Fraction(0), dtype=object)
    for sums, row in ((POS, 0), (POS_SQUARES, 1)):
        sides[sums, positive], sides[sums + 1, ~positive] = weight[row, positive], weight[row, ~positive]
    return gathered(at, size, sides)


def doubles(weight: BinWeights) -> tuple[Floats, Floats]:
    """Positives and negatives as measures read them."""
    pos, neg = (weight[side].astype(np.float64) for side in (POS, NEG))
    return pos, neg


def total(held: NDArray[np.object_]) -> Fraction:
    """The exact sum."""
    whole, scale = _whole(held)
    return Fraction(sum(whole.tolist()), scale)


def weights_to_json(weight: BinWeights) -> dict[str, object]:
    """As in a Record."""
    return {name: [count_to_json(one) for one in row] for name, row in zip(NAMES, weight.tolist(), strict=True)}


def weights_from_json(content: Mapping[str, object]) -> BinWeights:
    """The inverse of `weights_to_json`."""
    rows = [cast("Sequence[object]", content[name]) for name in NAMES]
    held = np.empty((len(NAMES), len(rows[0])), dtype=object)
    for place, row in enumerate(rows):
        held[place] = [Fraction(count_from_json(one)) for one in row]
    return held
