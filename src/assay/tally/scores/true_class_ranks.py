# SPDX-License-Identifier: Apache-2.0
"""Where the true class stands among the scores of its row: how many classes are above it and how many are tied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.tally.base import VERSION, Count, count_from_json, count_to_json, demand_kind
from assay.tally.fixed_point import Weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Cells: TypeAlias = dict[tuple[int, int], Count]

BLOCK = 1 << 16
"""Rows compared at a time, so that the comparisons of many classes stay small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """Rows by (classes with a higher score than the true one, other classes with the same score), of K classes."""

    READS: ClassVar = "scores"
    k: int
    cells: Cells
    rows: int
    weighted: bool = False

    @classmethod
    def of(cls, matrix: ArrayLike, truth: ArrayLike, weight: ArrayLike | Weights | None = None) -> Ranks:
        """From a matrix of scores, one column a class, and class numbers.

        >>> Ranks.of([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2]], [0, 1]).cells
        {(0, 0): 1, (0, 1): 1}
        """
        scores, codes = np.asarray(matrix, dtype=np.float64), np.asarray(truth, dtype=np.int64)
        rows, k = scores.shape
        key = np.empty(rows, dtype=np.int64)
        for start in range(0, rows, BLOCK):
            part = slice(start, start + BLOCK)
            own = np.take_along_axis(scores[part], codes[part, np.newaxis], axis=1)
            above, tied = (scores[part] > own).sum(axis=1), (scores[part] == own).sum(axis=1) - 1
            key[part] = above * k + tied
        keys, place, counts = np.unique(key, return_inverse=True, return_counts=True)
        sums: list[Count] = counts.tolist()
        if weight is not None:
            sums = list(Weights.of(weight).added_by(place, len(keys))[0].tolist())
        cells = {divmod(one, k): count for one, count in zip(keys.tolist(), sums, strict=True) if count}
        return cls(k=k, cells=cells, rows=rows, weighted=weight is not None)

    @property
    def n(self) -> Count:
        """All rows, or their weight."""
        total: Count = sum(self.cells.values())
        return total

    def within(self, k: int) -> tuple[Count, Count, Count]:
        """Rows whose true class is among the k highest scores: if ties go against it, on average, and for it."""
        worst = mean = best = cast("Count", 0)
        for (above, tied), count in self.cells.items():
            room = k - above
            worst += count if tied < room else 0
            best += count if room > 0 else 0
            mean += count * min(Fraction(max(room, 0), tied + 1), Fraction(1))
        return worst, mean if mean.denominator > 1 else int(mean), best

    def __add__(self, other: Ranks) -> Ranks:
        """Both tallies together."""
        if (self.k, self.weighted) != (other.k, other.weighted):
            raise PlanError(
                "tally-mismatch",
                "the two tallies of ranks differ in classes or weights",
                found=f"{self.k} and {other.k} classes",
                fix="count both alike",
            )
        both = {*self.cells, *other.cells}
        cells = {cell: self.cells.get(cell, 0) + other.cells.get(cell, 0) for cell in sorted(both)}
        return Ranks(k=self.k, cells=cells, rows=self.rows + other.rows, weighted=self.weighted)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "kind": "ranks",
            "version": VERSION,
            "k": self.k,
            "rows": self.rows,
            "weighted": self.weighted,
            "cells": [[above, tied, count_to_json(count)] for (above, tied), count in self.cells.items()],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Ranks:
        """The inverse of `to_json`."""
        demand_kind(content, "ranks", "a tally of ranks")
        weighted = bool(content["weighted"])
        cells: Cells = {}
        for above, tied, count in cast("list[list[object]]", content["cells"]):
            exact = count_from_json(count)
            cells[cast("int", above), cast("int", tied)] = Fraction(exact) if weighted else exact
        return cls(k=cast("int", content["k"]), cells=cells, rows=cast("int", content["rows"]), weighted=weighted)
