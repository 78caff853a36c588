# SPDX-License-Identifier: Apache-2.0
"""Differences of two models by cross-validating one data set, and by doing the same with halves of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from assay.core.errors import PlanError
from assay.tally.real_values import Pairs

LEAST: Final = 2
"""Splits into halves below which their spread says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Halved:
    """A - B of all rows, and of the two halves of every random split; each by the same cross-validation."""

    whole: Fraction
    halves: tuple[tuple[Fraction, Fraction], ...]
    models: tuple[str, str] = ("A", "B")
    about: str = ""

    @classmethod
    def of(cls, pairs: Pairs) -> Halved:
        """From one value a model of all rows, followed by those of both halves, split by split.

        >>> Halved.of(Pairs.of([0.9, 0.9, 0.8, 0.9, 1.0], [0.8, 0.9, 0.9, 0.6, 0.9])).splits
        2
        """
        gap = pairs.difference.fractions()
        splits, odd = divmod(len(gap) - 1, 2)
        if odd or splits < LEAST:
            raise PlanError(
                "comparison-needs",
                f"values of all rows and of halves come as one, and two for every split, not {len(gap):,} in all",
                known="5, 7, 9, ... values a model",
                fix="give the value of all rows first, then those of both halves, split by split",
            )
        both = tuple((gap[i], gap[i + 1]) for i in range(1, len(gap), 2))
        return cls(whole=gap[0], halves=both, models=pairs.models, about=pairs.about)

    @property
    def splits(self) -> int:
        """How often all rows were split into halves."""
        return len(self.halves)

    @property
    def variance(self) -> Fraction:
        """Of the difference of all rows: half the variance of the difference of a half."""
        return sum(((a - b) ** 2 for a, b in self.halves), Fraction(0)) / (4 * self.splits)
