# SPDX-License-Identifier: Apache-2.0
"""Calibration bins: rows, positives and the exact sum of scores in each bin of probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from assay.core.errors import OutOfRange, PlanError
from assay.tally.base import Count
from assay.tally.fixed_point import exact_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.tally.scores.ranked_table import Ranked

Binning: TypeAlias = Literal["width", "mass"]
BINNINGS: tuple[Binning, ...] = ("width", "mass")
BINS: Final = 15
"""Bins of calibration errors where nobody says how many, and of the diagram beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBins:
    """Rows, positives and sums of scores between neighbouring edges; a bin holds its lower edge, the last one both."""

    edges: tuple[float, ...]
    count: tuple[Count, ...]
    positive: tuple[Count, ...]
    total: tuple[Fraction, ...]

    @classmethod
    def of(cls, table: Ranked, bins: int, binning: Binning = "width") -> CalibrationBins:
        """From exact scores: edges of equal width, or edges that put equally many rows into each bin."""
        edges = equal_width(bins) if binning == "width" else equal_mass(table, bins)
        place, size = placed(table.score, edges), len(edges) - 1
        pos, both = table.pos, table.pos + table.neg
        if table.exact:
            count, positive = (np.bincount(place, weights=one, minlength=size) for one in (both, pos))
            rows, right = (one.astype(np.int64).tolist() for one in (count, positive))
            total = exact_sums(table.score, both.astype(np.int64), place, size)
        else:
            rows, right = (_fractions(map(Fraction, one.tolist()), place, size) for one in (both, pos))
            pairs = zip(table.score.tolist(), both.tolist(), strict=True)
            total = _fractions((Fraction(score) * Fraction(weight) for score, weight in pairs), place, size)
        return cls(edges=tuple(edges.tolist()), count=tuple(rows), positive=tuple(right), total=tuple(total))

    @property
    def mean_score(self) -> list[float | None]:
        """The mean score of each bin; None where it is empty."""
        return [float(s / n) if n else None for s, n in zip(self.total, self.count, strict=True)]

    @property
    def positive_share(self) -> list[float | None]:
        """The share of positives of each bin; None where it is empty."""
        return [float(Fraction(p) / n) if n else None for p, n in zip(self.positive, self.count, strict=True)]


def equal_width(bins: int) -> Floats:
    """Edges that cut 0 to 1 into equal parts, each rounded once.

    >>> equal_width(4).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return np.array([i / bins for i in range(bins + 1)])


def equal_mass(table: Ranked, bins: int) -> Floats:
    """Edges at scores, so that each bin holds about equally many rows; rows with one score stay together."""
    both = table.pos + table.neg
    sums = np.cumsum(both)
    # A score belongs where the middle of its rows falls, so that a score many rows share does not empty its neighbours.
    place = np.minimum((2 * sums - both) * bins // (2 * sums[-1]), bins - 1) if len(sums) else sums
    first = np.flatnonzero(np.diff(place)) + 1
    return np.unique(np.concatenate([[0.0], table.score[first], [1.0]]))


def placed(score: Floats, edges: Floats) -> NDArray[np.int64]:
    """The bin of each score: a bin holds its lower edge, the last one both."""
    if len(score) and (score[0] < edges[0] or score[-1] > edges[-1]):
        raise OutOfRange(
            "score-out-of-range",
            f"a score of {score[0] if score[0] < edges[0] else score[-1]:g} is not a probability",
            known=f"{edges[0]:g} to {edges[-1]:g}",
            fix="give probabilities, or ask for measures of ranks only",
        )
    return np.clip(np.searchsorted(edges, score, side="right") - 1, 0, len(edges) - 2)


def _fractions(values: Iterable[Fraction], place: NDArray[np.int64], size: int) -> list[Fraction]:
    sums = [Fraction(0)] * size
    for i, value in zip(place.tolist(), values, strict=True):
        sums[i] += value
    return sums


def gaps(t: Ranked, bins: int, binning: Binning) -> tuple[Floats, Floats]:
    """In each bin, positives minus the sum of probabilities, and rows; bins on the last axis."""
    if not isinstance(bins, int) or isinstance(bins, bool) or bins < 1:
        raise PlanError("measure-needs", f"bins = {bins!r}", known="1, 2, ...", fix="give a whole number of bins")
    if binning not in BINNINGS:
        raise PlanError("option-unknown", f"unknown binning {binning!r}", known=", ".join(BINNINGS), fix="choose one")
    edges = equal_width(bins) if binning == "width" else equal_mass(_one(t), bins)
    place = placed(t.score, edges)
    start = np.flatnonzero(np.diff(place, prepend=-1))
    rows = np.asarray(t.pos + t.neg, dtype=np.float64)
    off = t.pos - rows * t.score
    return np.add.reduceat(off, start, axis=-1), np.add.reduceat(rows, start, axis=-1)


def _one(t: Ranked) -> Ranked:
    """Of a stack, the mean table, so that all draws are cut at the same edges."""
    if np.ndim(t.pos) == 1:
        return t
    axes = tuple(range(np.ndim(t.pos) - 1))
    return t.drawn(t.pos.mean(axis=axes), t.neg.mean(axis=axes))
