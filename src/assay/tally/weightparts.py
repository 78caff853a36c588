# SPDX-License-Identifier: Apache-2.0
"""Weights cut into whole numbers that add up without rounding, in an engine or here, in as many parts as they need.

All weights of a column are whole multiples of one power of two. Their bits from there up to the largest weight are cut
into parts, each of which is added as a whole number; so a cell takes as many sums as there are parts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np

from assay.rows.scoreframes import Frame
from assay.tally.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]

IN_ENGINE: Final = 27
"""Bits of a part in an engine: 2**35 rows of one cell do not overflow."""
HERE: Final = 40
"""Bits of a part that is added here, where sums are carried on in time."""
_CARRIED: Final = 1 << (62 - HERE)
"""Rows after which they are."""
_ROOM: Final = 26
"""Bits of a part that 2**36 rows do not fill."""
_SIGNIFICANT: Final = 53


@dataclass(frozen=True, slots=True)
class Cut:
    """Parts of numbers between two doubles: the power of two of the lowest bit, how many parts, and bits of each."""

    lowest: int
    size: int
    bits: int
    last: int
    """Bits of the highest part, which may be fewer."""

    @classmethod
    def between(cls, least: float, most: float, bits: int) -> Cut:
        """For numbers from the least, which is not zero, to the most.

        >>> Cut.between(0.5, 1.0, 27)
        Cut(lowest=-53, size=2, bits=27, last=27)
        """
        lowest = math.frexp(least)[1] - _SIGNIFICANT
        every = math.frexp(most)[1] - lowest
        size = -(-every // bits)
        return cls(lowest, size, bits, every - (size - 1) * bits)

    @property
    def unit(self) -> Fraction:
        """What the lowest bit stands for."""
        return Fraction(2) ** self.lowest

    def scale(self, part: int) -> float:
        """What a part counts."""
        return 2.0 ** (self.lowest + part * self.bits)

    def split(self, numbers: Floats) -> list[Whole]:
        """The parts of each number, lowest first."""
        found, rest = [], numbers
        for part in range(self.size - 1, 0, -1):
            whole = np.floor(rest * (1 / self.scale(part)))
            rest = rest - whole * self.scale(part)
            found.append(whole.astype(np.int64))
        found.append((rest * (1 / self.scale(0))).astype(np.int64))
        return found[::-1]

    def parts(self, number: nw.Expr, name: str) -> list[nw.Expr]:
        """The same in an engine, as columns of a name and the number of the part.

        Each is what is whole of the number without what the next part takes: products with powers of two, floors and
        a difference that a double holds. None needs the part before, which an engine might compute again and again.
        """
        whole = [_floor(number * (1 / self.scale(part))) for part in range(self.size)]
        above = [one * float(1 << self.bits) for one in whole[1:]]
        every = [*(one - more for one, more in zip(whole[:-1], above, strict=True)), whole[-1]]
        return [one.cast(nw.Int64).alias(column) for one, column in zip(every, self.names(name), strict=True)]

    def names(self, name: str) -> list[str]:
        """The columns that hold the parts."""
        return [f"{name}{part}" for part in range(self.size)]


def _floor(number: nw.Expr) -> nw.Expr:
    """The floor as a double; Spark's is a whole number of 63 bits, which a larger double, whole already, is not."""
    large = float(1 << _SIGNIFICANT)
    return nw.when(number >= large).then(number).otherwise(number.floor())


@dataclass(frozen=True, slots=True)
class WeightParts:
    """How the weights `w` of some rows and their squares are cut; a square is what a double has of it."""

    weights: Cut
    squares: Cut

    @classmethod
    def between(cls, ends: tuple[float, float], bits: int) -> WeightParts:
        """For weights between two ends; the ones that are zero count nothing."""
        least, most = ends
        return cls(Cut.between(least, most, bits), Cut.between(least * least, most * most, bits))

    @property
    def names(self) -> list[str]:
        """The columns that hold the parts of weights and of squares."""
        return [*self.weights.names("wp"), *self.squares.names("wq")]

    def with_parts(self, rows: Frame) -> Frame:
        """The parts of each weight `w`, a double, and of its square."""
        rows = rows.with_columns(wq=nw.col("w") * nw.col("w"))
        return rows.with_columns(*self.weights.parts(nw.col("w"), "wp"), *self.squares.parts(nw.col("wq"), "wq"))

    def joined(self, found: Mapping[str, NDArray[np.object_]]) -> tuple[Sums, Sums]:
        """The weight of each cell and that of its squares, from the sums of the parts."""
        weights, squares = (
            Sums.of_parts([found[one].astype(np.int64) for one in cut.names(name)], cut.bits, cut.unit)
            for cut, name in ((self.weights, "wp"), (self.squares, "wq"))
        )
        return weights, squares


class Weighing:
    """Weights added up cell by cell while rows come in, in the memory of the cells."""

    def __init__(self, parts: WeightParts, cells: int) -> None:
        self._cuts = (parts.weights, parts.squares)
        # The last part is never carried on: where it is nearly full already, one more takes what it cannot.
        self._held = [np.zeros((cut.size + (cut.last > _ROOM), cells), dtype=np.int64) for cut in self._cuts]
        self._added = 0

    def add(self, cell: Whole, weight: Floats) -> None:
        """Some rows: the cell of each and its weight, no more of them at a time than sums hold."""
        if self._added + len(cell) > _CARRIED:
            self._carry()
        self._added += len(cell)
        for cut, held, numbers in zip(self._cuts, self._held, (weight, weight * weight), strict=True):
            for sums, part in zip(held, cut.split(numbers), strict=False):
                np.add.at(sums, cell, part)

    def _carry(self) -> None:
        """Bring what a part holds beyond its bits to the next; the last one keeps what it has."""
        for cut, held in zip(self._cuts, self._held, strict=True):
            for part in range(len(held) - 1):
                held[part + 1] += held[part] >> cut.bits
                held[part] &= (1 << cut.bits) - 1
        self._added = 1  # what is left of each

    def occupied(self) -> Whole:
        """The cells that hold any weight."""
        return np.flatnonzero(self._held[0].any(axis=0))

    def sums(self, cell: Whole) -> tuple[Sums, Sums]:
        """What some cells weigh, and their squares."""
        weights, squares = (
            Sums.of_parts([part[cell] for part in held], cut.bits, cut.unit)
            for cut, held in zip(self._cuts, self._held, strict=True)
        )
        return weights, squares
