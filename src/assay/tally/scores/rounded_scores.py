# SPDX-License-Identifier: Apache-2.0
"""Scores rounded to a few significant bits, the same double on every engine.

A product and two differences round a number to the nearest one of fewer bits (Veltkamp 1968; Boldo 2006 has the proof).
IEEE 754 rounds each of the three once, so no engine and no order of rows can change the result.
Probabilities above 1/2 are rounded by their distance from 1, which a double holds exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from assay.core.arrays import Floats, Whole

Real = TypeVar("Real", "Floats", "nw.Expr")

CHUNK: Final = 1 << 16
"""Scores that are rounded at a time, so that what is drawn up beside them stays in the cache."""
LISTED: Final = 50_000
"""Distinct scores up to which a Record lists them with all digits, about a megabyte; beyond, they are rounded."""
SIGNIFICANT: Final = 13
"""Bits of a rounded score: measured values move by less than 0.05 standard errors (bench/rounding.py)."""
JOINT: Final = (9, 7)
"""Bits of the scores of several models, counted jointly; the second where the first give more than 2**20 cells."""
FEWEST: Final = 7
"""Bits below which scores are not rounded: neighbours then differ by more than 1 part in 128."""
CELLS: Final = 1 << 25
"""Cells of columns, true classes and scores that a tally may hold, at about 16 bytes a cell."""
RESOLVED: Final = 2_000
"""Scores that should hold half of the rows at least; scores that lie close together need more bits for that."""
MOST_CLASSES: Final = 181
"""Classes whose scores an engine rounds and counts: with more, fewer than FEWEST bits would be left."""
OCTAVES: Final = 16
"""Powers of two over which the scores of a column usually spread."""
DOUBLE: Final = 53
LARGEST: Final = 2.0**900
"""Scores beyond this keep their digits: the product would overflow."""
MIDDLE: Final = 0.5


def describe_rounding(bits: int) -> str:
    """The note that stands beside values from rounded scores.

    >>> describe_rounding(13)
    'scores rounded to 13 significant bits'
    """
    return f"scores rounded to {bits} significant bits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """How the scores of a tally were rounded: significant bits, and whether near 1 as near 0."""

    bits: int
    probability: bool

    @classmethod
    def of_classes(cls, classes: int, *, probability: bool) -> Rounding:
        """With bits that keep the cells of so many classes, true and scored, below CELLS.

        >>> [Rounding.of_classes(classes, probability=True).bits for classes in (2, 22, 100)]
        [13, 13, 8]
        """
        bits = SIGNIFICANT
        while bits > FEWEST and classes * classes * OCTAVES << (bits - 1) > CELLS:
            bits -= 1
        return cls(bits=bits, probability=probability)

    def apply(self, scores: Floats) -> Floats:
        """Rounds scores."""
        return round_scores(scores, self.bits, probability=self.probability)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"bits": self.bits, "probability": self.probability}

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Rounding:
        """The inverse of `to_json`."""
        return cls(bits=cast("int", content["bits"]), probability=bool(content["probability"]))

    def keys(self, scores: Floats) -> Whole:
        """Whole numbers in the order of rounded scores, small steps apart; `scores_at` is the inverse.

        >>> rounding = Rounding(bits=13, probability=True)
        >>> np.diff(rounding.keys(rounding.apply(np.array([0.25, 0.2501, 0.9998, 1.0])))).tolist()
        [2, 50631, 4139575]
        """
        if not self.probability:
            size = (np.abs(scores) + 0.0).view(np.int64) >> (DOUBLE - self.bits)
            return np.where(scores < 0, -size, size)
        upper = scores >= MIDDLE
        size = np.where(upper, 1.0 - scores, scores).view(np.int64) >> (DOUBLE - self.bits)
        return np.where(upper, 2 * self._middle - size, size)

    def scores_at(self, keys: Whole) -> Floats:
        """The rounded score of each key; of scores nearer to 0 than a normal double digits are lost."""
        size = np.where(keys > self._middle, 2 * self._middle - keys, keys) if self.probability else np.abs(keys)
        magnitudes = (size << (DOUBLE - self.bits)).view(np.float64)
        if self.probability:
            return np.where(keys > self._middle, 1.0 - magnitudes, magnitudes)
        return np.where(keys < 0, -magnitudes, magnitudes)

    @property
    def _middle(self) -> int:
        return int(np.float64(MIDDLE).view(np.int64)) >> (DOUBLE - self.bits)


def round_scores(scores: Floats, bits: int = SIGNIFICANT, *, probability: bool) -> Floats:
    """Rounds scores to so many significant bits, keeping their order.

    >>> round_scores(np.array([0.1, 0.5, 1 - 1e-9]), 4, probability=True).tolist()
    [0.1015625, 0.5, 0.9999999989522621]
    """
    rounded = np.empty(len(scores))
    for start in range(0, len(scores), CHUNK):
        part = scores[start : start + CHUNK]
        if probability:
            upper = part >= MIDDLE
            if upper.all() or not upper.any():  # so it is of nearly every part of scores in order
                nearest = 1.0 - _nearest(1.0 - part, bits) if upper[0] else _nearest(part, bits)
            else:
                nearest = np.where(upper, 1.0 - _nearest(1.0 - part, bits), _nearest(part, bits))
        else:
            far = np.abs(part) > LARGEST
            nearest = (
                np.where(far, part, _nearest(np.where(far, 0.0, part), bits)) if far.any() else _nearest(part, bits)
            )
        np.add(nearest, 0.0, out=rounded[start : start + CHUNK])  # minus zero and zero are one score
    return rounded


def round_column(score: nw.Expr, bits: int = SIGNIFICANT, *, probability: bool) -> nw.Expr:
    """The same as an expression of an engine."""
    import narwhals.stable.v2 as nw

    if probability:
        return nw.when(score >= MIDDLE).then(1.0 - _nearest(1.0 - score, bits)).otherwise(_nearest(score, bits))
    return nw.when(score.abs() > LARGEST).then(score).otherwise(_nearest(score, bits))


def _nearest(number: Real, bits: int) -> Real:
    product = number * float((1 << (DOUBLE - bits)) + 1)
    return product - (product - number)
