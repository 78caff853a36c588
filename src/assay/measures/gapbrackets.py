# SPDX-License-Identifier: Apache-2.0
"""What a calibration error can be at least and at most when only the bins of the scores are known.

A score bin that lies inside one calibration bin says how many of its rows are positive, and to a hair what their
probabilities add up to. One across an edge leaves open which of its rows stand on which side; each of them can widen
or narrow the gap of either side by what it is off itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.tally.calibration import equal_width, placed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.calibration import Binning

    Floats: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.int64]

SPARE: Final = 1e-9
"""How far a share of all rows may be off by rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Rows of both classes whose probabilities lie between two ends, cell by cell, ascending."""

    low: Floats
    high: Floats
    pos: Floats
    neg: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The rows of one calibration bin: those that are in it for certain, and those that may be."""

    rows: float
    off: tuple[float, float]
    """Least and most that positives exceed probabilities by, among those that are in it for certain."""
    may: Cells

    @property
    def least(self) -> float:
        """The smallest gap, times rows."""
        low = self.off[0] - float((self.may.neg * self.may.high).sum())
        high = self.off[1] + float((self.may.pos * (1 - self.may.low)).sum())
        return max(low, -high, 0.0)

    @property
    def most(self) -> float:
        """The largest gap, times rows."""
        low = self.off[0] - float((self.may.neg * self.may.high).sum())
        high = self.off[1] + float((self.may.pos * (1 - self.may.low)).sum())
        return max(-low, high)

    @property
    def least_mean(self) -> float:
        """The smallest gap of its rows on average."""
        return self.least / (self.rows + float((self.may.pos + self.may.neg).sum())) if self.rows else 0.0

    @property
    def most_mean(self) -> float:
        """The largest."""
        up = _raised(self.off[1], self.rows, self.may.pos, 1 - self.may.low)
        return max(up, _raised(-self.off[0], self.rows, self.may.neg, self.may.high))


def _raised(off: float, rows: float, more: Floats, by: Floats) -> float:
    """The largest mean that some rows have with any of further ones, each of which is off by so much."""
    for i in np.argsort(-by, kind="stable"):
        if more[i] and (not rows or by[i] * rows > off):
            off, rows = off + float(more[i] * by[i]), rows + float(more[i])
    return max(off / rows, 0.0) if rows else 0.0


def gap_ends(cells: Cells, bins: int, binning: Binning, *, largest: bool) -> tuple[float, float]:
    """The least and the largest calibration error: of the bins the mean by their rows, or the largest."""
    groups, unsure = _groups(cells, bins, binning)
    sure = groups[: len(groups) - unsure]
    if largest:
        return max((one.least_mean for one in sure), default=0.0), max(one.most_mean for one in groups)
    rows = float((cells.pos + cells.neg).sum())
    return sum(one.least for one in sure) / rows, sum(one.most for one in groups) / rows


def _groups(cells: Cells, bins: int, binning: Binning) -> tuple[list[_Group], int]:
    """The calibration bins, and how many of the last ones may be one: a last edge at 1 is no edge."""
    both = cells.pos + cells.neg
    if binning == "width":
        edges = equal_width(bins)
        first, last = placed(cells.low, edges), placed(cells.high, edges)
    else:
        first, last = _by_rank(cells, both, bins)
    inside = first == last
    sums = [
        np.bincount(first[inside], weights=one[inside], minlength=bins)
        for one in (both, cells.pos - both * cells.high, cells.pos - both * cells.low)
    ]
    groups = []
    for group in range(bins):
        may = ~inside & (first <= group) & (group <= last)
        open_ = Cells(low=cells.low[may], high=cells.high[may], pos=cells.pos[may], neg=cells.neg[may])
        rows, low, high = (float(one[group]) for one in sums)
        groups.append(_Group(rows=rows, off=(low, high), may=open_))
    if binning == "width" or cells.high[-1] < 1:
        return groups, 0
    before = [i for i in range(int(first[-1])) if groups[i].rows]
    return groups, bins - (before[-1] if before else 0)


def _by_rank(cells: Cells, both: Floats, bins: int) -> tuple[Places, Places]:
    """The first and the last bin of equal mass that rows of a cell may fall into, by the middle of their ties."""
    sums = np.cumsum(both)
    middle = (2 * sums - both) / 2
    known = cells.low == cells.high
    ends = (np.where(known, middle, sums - both), np.where(known, middle, sums))
    first, last = (
        np.clip(np.floor(end * (bins / sums[-1]) + spare), 0, bins - 1).astype(np.int64)
        for end, spare in zip(ends, (-SPARE, SPARE), strict=True)
    )
    return cast("Places", first), cast("Places", last)
