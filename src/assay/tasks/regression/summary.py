# SPDX-License-Identifier: Apache-2.0
"""The tally of very many rows: exact sums for the values, counts on grids for spread, order and pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.tasks.regression.digit_sums import DESK, Dyadic
from assay.tasks.regression.grid import ErrorGrid, ErrorHistogram, count_bins
from assay.tasks.regression.row_totals import STEP, sum_batch
from assay.tasks.regression.sums import as_double
from assay.tasks.regression.unit_moments import UnitMoments
from assay.tasks.regression.views import CONSTANTS, RowView, View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.tasks.regression.tally import Facts, Residuals


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summary:
    """Sums and counts of the rows of one output."""

    rows: int
    sums: dict[str, Dyadic]
    """Exact sums: y, p, yy, yp, pp, abs_e, the means of `own_columns` and, with a star, of their squares."""
    zeros: int
    """Rows whose truth is 0."""
    below: int
    """Rows with a truth or prediction of -1 or less."""
    ends: tuple[float, float, float, float]
    """Smallest and largest truth, smallest and largest error."""
    histogram: ErrorHistogram
    grid: ErrorGrid
    moments: UnitMoments | None = None
    """By unit, where units are named."""

    @classmethod
    def of(
        cls, batch: Mapping[str, Floats], interval_level: float | None = None, units: Sequence[str] | None = None
    ) -> Summary:
        """Count the rows of a batch, some at a time."""
        size = len(batch["truth"])
        total: Summary | None = None
        for start in range(0, size, STEP):
            part = {name: np.ascontiguousarray(values[start : start + STEP]) for name, values in batch.items()}
            counted = cls._of_part(part, interval_level)
            total = counted if total is None else total + counted
        if total is None:
            msg = "a summary needs rows"
            raise ValueError(msg)
        return total if units is None else replace(total, moments=UnitMoments.of(batch, units, interval_level))

    @classmethod
    def _of_part(cls, batch: Mapping[str, Floats], interval_level: float | None) -> Summary:
        truth, predicted = batch["truth"], batch["predicted"]
        error = np.subtract(truth, predicted, out=DESK.lend("error", 1, len(truth))[0])
        ends = (float(truth.min()), float(truth.max()), float(error.min()), float(error.max()))
        histogram, grid = count_bins(truth, error, ends)
        return cls(
            rows=len(truth), sums=sum_batch(batch, error, ends, interval_level),
            zeros=0 if ends[0] > 0 else len(truth) - int(np.count_nonzero(truth)),
            below=int(((truth <= -1) | (predicted <= -1)).sum()) if min(ends[0], predicted.min()) <= -1 else 0,
            ends=ends, histogram=histogram, grid=grid,
        )  # fmt: skip

    def __add__(self, other: Summary) -> Summary:
        """Both together."""
        a, b = self.ends, other.ends
        ends = (min(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3]))
        return Summary(
            rows=self.rows + other.rows,
            sums={name: value + other.sums[name] for name, value in self.sums.items() if name in other.sums},
            zeros=self.zeros + other.zeros, below=self.below + other.below, ends=ends,
            histogram=self.histogram + other.histogram, grid=self.grid.merge(other.grid, ends[0], ends[1]),
            moments=None if self.moments is None or other.moments is None else self.moments + other.moments,
        )  # fmt: skip

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "rows": self.rows, "zeros": self.zeros, "below": self.below, "ends": list(self.ends),
            "sums": {name: value.to_json() for name, value in sorted(self.sums.items())},
            "histogram": self.histogram.to_json(), "grid": self.grid.to_json(),
        }  # fmt: skip

    @classmethod
    def from_json(cls, content: Mapping[str, Any], moments: Mapping[str, Any] | None = None) -> Summary:
        """The inverse of `to_json`; the moments of units stand beside it."""
        low, high, least, most = content["ends"]
        return cls(
            rows=content["rows"], zeros=content["zeros"], below=content["below"], ends=(low, high, least, most),
            sums={name: Dyadic.from_json(value) for name, value in content["sums"].items()},
            histogram=ErrorHistogram.from_json(content["histogram"]), grid=ErrorGrid.from_json(content["grid"]),
            moments=None if moments is None else UnitMoments.from_json(moments),
        )  # fmt: skip


class SummaryView(View):
    """An output of very many rows: exact sums, and cells of truth and error."""

    def __init__(self, summary: Summary, facts: Facts, output: str = "") -> None:
        self.summary, self.moments, self.facts, self.output = summary, summary.moments, facts, output
        self.rows, self.by_unit = summary.rows, summary.moments is not None
        self.zeros, self.below = summary.zeros, summary.below
        self.units = self.rows if self.moments is None else len(self.moments.ids)
        self.truth, self.error, self.counts = summary.grid.cells()
        self.predicted, self.exact = self.truth - self.error, summary.sums

    def find_sums(self) -> dict[str, Dyadic]:
        """Those of the rows, without the sums of squares."""
        return {name: value for name, value in self.exact.items() if not name.endswith("*")}

    def find_spreads(self) -> dict[str, Any]:
        """What needs order or distances from a mean comes from the cells."""
        low, high, least, most = self.summary.ends
        spreads: dict[str, Any] = {
            "dev": self.add_cells(np.abs(self.truth - self.centres[0])),
            "span": Fraction(high) - Fraction(low),
            "iqr": self._truth_quantile(0.75) - self._truth_quantile(0.25),
            "max_abs": max(abs(least), abs(most)),
        }
        if isinstance(centre := self.find_baseline(), float):
            exact = Fraction(centre)
            squares = self.exact["yy"].fraction - 2 * exact * self.exact["y"].fraction + self.rows * exact * exact
            away = self.add_cells(np.abs(self.truth - centre))
            spreads |= {"base_n": self.rows, "base_sq": squares, "base_abs": away}
        return spreads

    def find_baseline(self) -> float | None:
        """A constant; that of a reference is among the sums, and no order of rows is kept."""
        if self.facts.baseline not in CONSTANTS:
            return None
        return self.centres[0] if self.facts.baseline == "mean" else self._truth_quantile(0.5)

    def _truth_quantile(self, share: float) -> float:
        low, high, counts = self.summary.grid.by_truth()
        running = np.cumsum(counts)
        place = int(np.searchsorted(running, share * self.rows))
        part = (share * self.rows - (running[place] - counts[place])) / counts[place]
        return float(low[place] + part * (high[place] - low[place]))

    def add_cells(self, values: Floats) -> float:
        """Values of cells, each counted as often as it has rows."""
        return float((values * self.counts).sum())  # without BLAS, which would start threads for so little

    @cached_property
    def plain(self) -> dict[str, float]:
        """The sums of all rows as doubles; those about a centre are about the mean."""
        names = [name for name, value in self.total.items() if name not in ("central", "rank_r") and value is not None]
        plain = {name: value for name in names if math.isfinite(value := as_double(self.total[name]))}
        return plain | {name: self.add_cells(values) for name, values in self.added.items() if name[0] == "d"}

    def sum_units(self) -> dict[str, Floats] | None:
        """What each unit adds to every sum, where units are named."""
        return None if self.moments is None else self.moments.sums(*self.centres)

    @cached_property
    def _bins(self) -> dict[bool, tuple[Floats, Floats, NDArray[np.int64]]]:
        """Ends and running counts of the bins of errors, and of absolute errors."""
        histogram = self.summary.histogram
        low, high = histogram.edges()
        middle = len(histogram.counts) // 2
        folded = histogram.counts[middle:].copy()
        folded[1:] += histogram.counts[:middle][::-1]
        sizes = np.maximum(low[middle:], 0.0), high[middle:]
        return {False: (low, high, np.cumsum(histogram.counts)), True: (*sizes, np.cumsum(folded))}

    def quantile(self, share: float, *, absolute: bool) -> tuple[float, float, float]:
        """The middle of the bin that holds a quantile, and its ends."""
        low, high, running = self._bins[absolute]
        place = int(np.searchsorted(running, share * (self.rows - 1) + 1))
        return float(low[place] + high[place]) / 2, float(low[place]), float(high[place])

    def ordered(self, rank: int, *, absolute: bool, upper: bool) -> float:
        """An end of the bin that holds a rank."""
        low, high, running = self._bins[absolute]
        return float((high if upper else low)[int(np.searchsorted(running, rank))])

    def count_above(self, size: float) -> int:
        """Rows in bins above a size; the bin that holds the size is shared out evenly."""
        low, high, running = self._bins[True]
        place = int(np.clip(np.searchsorted(high, size, side="right"), 0, len(high) - 1))
        inside = running[place] - (running[place - 1] if place else 0)
        part = min(1.0, max(0.0, (size - low[place]) / (high[place] - low[place])))
        return round(float(self.rows - running[place] + inside * (1 - part)))


def view_of(tally: Residuals, output: str) -> View:
    """The view of an output of a tally, made once."""
    if output not in tally.cache:
        final = tally.final()
        if final.table is not None:
            tally.cache[output] = RowView(final.table.columns(output), final.table.units, tally.facts, output)
        else:
            summary = (final.summaries or ())[tally.facts.outputs.index(output)]
            tally.cache[output] = SummaryView(summary, tally.facts, output)
    view: View = tally.cache[output]
    return view
