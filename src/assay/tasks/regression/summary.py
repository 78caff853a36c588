# SPDX-License-Identifier: Apache-2.0
"""The tally of very many rows: exact sums for the values, counts on grids for spread, order and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.tally.exact_sums import Dyadic, sum_exactly, sum_products
from assay.tasks.regression.grid import ErrorGrid, ErrorHistogram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STEP: Final = 1 << 18
"""Rows that are counted on the grids at a time."""
NO_SQUARE: Final = ("abs_rel", "abs_y")
"""Means whose squares are known otherwise, or are not asked for."""


def own_columns(batch: Mapping[str, Floats], interval_level: float | None) -> dict[str, Floats]:
    """Quantities of each row whose means are measures: ratios, logarithms, quantiles, intervals, the reference."""
    truth, predicted = batch["truth"], batch["predicted"]
    error = truth - predicted
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.divide(error, truth, out=np.zeros(len(truth)), where=truth != 0)
        logs = np.log1p(truth) - np.log1p(predicted)
    columns = {"rel": ratio, "abs_rel": np.abs(ratio), "abs_y": np.abs(truth)}
    valid = (truth > -1) & (predicted > -1)
    columns["sq_log"] = np.where(valid, logs * logs, 0.0) if not valid.all() else logs * logs
    for name, values in batch.items():
        if name.startswith("quantile "):
            level = float(name.removeprefix("quantile "))
            above = truth - values
            columns[f"pinball {level!r}"] = np.maximum(level * above, (level - 1) * above)
            columns[f"under {level!r}"] = (truth <= values).astype(np.float64)
    if "lower" in batch:
        columns |= _interval_columns(truth, batch["lower"], batch["upper"], interval_level)
    return columns


def _interval_columns(truth: Floats, lower: Floats, upper: Floats, level: float | None) -> dict[str, Floats]:
    width = upper - lower
    columns = {"cover": ((truth >= lower) & (truth <= upper)).astype(np.float64), "width": width}
    if level is not None:
        outside = np.maximum(lower - truth, 0) + np.maximum(truth - upper, 0)
        columns["interval_score"] = width + 2 / (1 - level) * outside
    return columns


def base_columns(truth: Floats, baseline: Floats) -> dict[str, Floats]:
    """The errors of a baseline in the rows where it has a prediction."""
    known = ~np.isnan(baseline)
    apart = np.where(known, truth - baseline, 0.0)
    ratio = np.divide(np.abs(apart), np.abs(truth), out=np.zeros(len(truth)), where=truth != 0)
    with np.errstate(over="ignore"):
        return {
            "base_n": known.astype(np.float64), "base_abs": np.abs(apart), "base_sq": apart * apart, "base_rel": ratio
        }  # fmt: skip


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

    @classmethod
    def of(cls, batch: Mapping[str, Floats], interval_level: float | None = None) -> Summary:
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
        return total

    @classmethod
    def _of_part(cls, batch: Mapping[str, Floats], interval_level: float | None) -> Summary:
        truth, predicted = batch["truth"], batch["predicted"]
        error = truth - predicted
        sums = exact_sums(truth, predicted, error)
        means = own_columns(batch, interval_level)
        if "reference" in batch:
            means |= base_columns(truth, batch["reference"])
        for name, values in means.items():
            sums[name] = sum_exactly(values)
            if name not in NO_SQUARE:
                sums[f"{name}*"] = sum_exactly(values * values)
        ends = (float(truth.min()), float(truth.max()), float(error.min()), float(error.max()))
        return cls(
            rows=len(truth), sums=sums, zeros=int((truth == 0).sum()),
            below=int(((truth <= -1) | (predicted <= -1)).sum()) if min(ends[0], predicted.min()) <= -1 else 0,
            ends=ends, histogram=ErrorHistogram.of(error), grid=ErrorGrid.of(truth, error, ends[0], ends[1]),
        )  # fmt: skip

    def __add__(self, other: Summary) -> Summary:
        """Both together."""
        a, b = self.ends, other.ends
        ends = (min(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3]))
        return Summary(
            rows=self.rows + other.rows,
            sums={name: value + other.sums[name] for name, value in self.sums.items()},
            zeros=self.zeros + other.zeros, below=self.below + other.below, ends=ends,
            histogram=self.histogram + other.histogram, grid=self.grid.merge(other.grid, ends[0], ends[1]),
        )  # fmt: skip

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "rows": self.rows, "zeros": self.zeros, "below": self.below, "ends": list(self.ends),
            "sums": {name: value.to_json() for name, value in sorted(self.sums.items())},
            "histogram": self.histogram.to_json(), "grid": self.grid.to_json(),
        }  # fmt: skip

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Summary:
        """The inverse of `to_json`."""
        low, high, least, most = content["ends"]
        return cls(
            rows=content["rows"], zeros=content["zeros"], below=content["below"], ends=(low, high, least, most),
            sums={name: Dyadic.from_json(value) for name, value in content["sums"].items()},
            histogram=ErrorHistogram.from_json(content["histogram"]), grid=ErrorGrid.from_json(content["grid"]),
        )  # fmt: skip


def exact_sums(truth: Floats, predicted: Floats, error: Floats) -> dict[str, Dyadic]:
    """Sums of truth and prediction, of their products, and of absolute errors, without rounding."""
    (y, p), products = sum_products([truth, predicted])
    absolute = sum_exactly(np.abs(error)) + sum_exactly(np.sign(error) * rounding_of(truth, predicted, error))
    return {"y": y, "p": p, "yy": products[0][0], "yp": products[0][1], "pp": products[1][1], "abs_e": absolute}


def rounding_of(a: Floats, b: Floats, difference: Floats) -> Floats:
    """What rounding took from a - b (Knuth): the difference and this are exact together."""
    back = difference - a
    return (a - (difference - back)) - (b + back)
