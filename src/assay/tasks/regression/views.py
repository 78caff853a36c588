# SPDX-License-Identifier: Apache-2.0
"""What measures and intervals ask of one output: exact totals, sums by unit or by cell, and order statistics."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.tasks.regression.digit_sums import Dyadic, sum_exactly, sum_products
from assay.tasks.regression.row_totals import exact_sums
from assay.tasks.regression.sums import (
    Errors,
    add_by_code,
    base_columns,
    central_moments,
    own_columns,
    rank_correlation,
    row_sums,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.core.arrays import Floats
    from assay.measures.declare import Measure
    from assay.tasks.regression.tally import Facts


LAST: Final = "last"
CONSTANTS: Final = ("mean", "median")
"""Baselines that predict the same number for every row."""
ORDER: Final = ("error_quantile", "absolute_error_quantile", "median_absolute_error")
"""Measures that are quantiles of errors."""


class View(ABC):
    """One output: its rows, or cells of truth and error that stand for many rows each."""

    facts: Facts
    output: str
    rows: int
    by_unit: bool
    truth: Floats
    predicted: Floats
    error: Floats
    counts: Floats
    """How many rows each row or cell stands for."""
    zeros: int
    """Rows whose truth is 0."""
    below: int
    """Rows with a truth or prediction of -1 or less."""
    exact: Mapping[str, Dyadic]
    """Exact sums of truth and predictions, at least."""
    units: int
    """How many units there are."""

    @abstractmethod
    def find_sums(self) -> Mapping[str, Dyadic]:
        """All exact sums that measures read."""

    @abstractmethod
    def find_spreads(self) -> dict[str, Any]:
        """Distances of the truth from its mean, its range and quartiles, the largest error, those of the baseline."""

    @abstractmethod
    def sum_units(self) -> dict[str, Floats] | None:
        """What each unit adds to every sum; None where units are neither named nor held."""

    @abstractmethod
    def find_baseline(self) -> float | Floats | None:
        """What the stated baseline predicts, for all rows or for each; NaN where it has nothing to say."""

    @abstractmethod
    def quantile(self, share: float, *, absolute: bool) -> tuple[float, float, float]:
        """A quantile of the errors, and the ends of the bin it was found in."""

    @abstractmethod
    def ordered(self, rank: int, *, absolute: bool, upper: bool) -> float:
        """The error of a rank, counted from 1, or the upper or lower end of its bin."""

    @abstractmethod
    def count_above(self, size: float) -> int:
        """Rows with a larger absolute error."""

    @cached_property
    def total(self) -> dict[str, Any]:
        """The sums of all rows, exact where they are sums of truth and predictions."""
        central = central_moments(self.error, self.counts)
        total = exact_totals(self.rows, self.find_sums(), zeros=self.zeros, below=self.below) | self.find_spreads()
        if self.scale is not None:
            total["scale"] = Fraction(self.scale)
        return total | {
            "median_abs": self.quantile(0.5, absolute=True)[0],
            "rank_r": self.ranks[0],
            "central": central,
            "de3": central[1],
            "de4": central[2],
        }

    @cached_property
    def centres(self) -> tuple[float, float]:
        """The means of truth and error."""
        y, p = self.exact["y"].fraction, self.exact["p"].fraction
        return float(y / self.rows), float((y - p) / self.rows)

    @cached_property
    def baseline(self) -> Floats | None:
        """What the baseline predicts for each row or cell."""
        found = self.find_baseline()
        return np.full(len(self.truth), found) if isinstance(found, float) else found

    @cached_property
    def added(self) -> dict[str, Floats]:
        """What a row, or a row of each cell, adds to every sum."""
        sums = row_sums(self.truth, self.error, self.centres, self.counts)
        if self.baseline is not None:
            sums |= base_columns(self.truth, self.baseline)
            if self.facts.baseline == "mean":
                sums["base_abs"] = sums["dev"]
        return sums

    @cached_property
    def ranks(self) -> tuple[float | None, Floats]:
        """Spearman's correlation and the influence of each row or cell."""
        return rank_correlation(self.truth, self.predicted, self.counts)

    @cached_property
    def per_unit(self) -> dict[str, Floats] | None:
        """What each unit adds to every sum."""
        return self.sum_units()

    @cached_property
    def stack(self) -> dict[str, Floats]:
        """The sums of all units, and those without each unit."""
        stack = {}
        for name, values in (self.per_unit or {}).items():
            total = values.sum()
            stack[name] = np.concatenate([[total], total - values])
        for name in ("span", "iqr", "median_abs", "max_abs", "scale"):
            if name in self.total:
                stack[name] = np.full(len(stack["n"]), float(self.total[name]))
        return stack

    @property
    def scale(self) -> float | None:
        """What scales the mean absolute error."""
        scales = self.facts.scales
        return scales[self.facts.outputs.index(self.output)] if scales else None

    @property
    def freedom(self) -> float:
        """Degrees of freedom of a t interval: units of unequal size count as fewer (Kish)."""
        if not self.by_unit or self.per_unit is None:
            return self.units - 1
        sizes = self.per_unit["n"]
        return max(min(self.units, float(sizes.sum() ** 2 / (sizes**2).sum())) - 1, 1.0)

    def errors(self, measure: Measure) -> Errors:
        """The sums that a measure reads, its own quantiles included."""
        own: dict[str, Any] = {}
        share, size = measure.given.get("q"), measure.given.get("size")
        if measure.name == "error_quantile":
            own[f"error {share!r}"] = self.quantile(cast("float", share), absolute=False)[0]
        elif measure.name == "absolute_error_quantile":
            own[f"size {share!r}"] = self.quantile(cast("float", share), absolute=True)[0]
        elif measure.name == "share_above":
            own[f"above {size!r}"] = self.count_above(cast("float", size))
        return Errors({**self.total, **own})

    def shape(self) -> tuple[float, float]:
        """Skewness and kurtosis of the errors; 0 and 3 where they do not vary."""
        second, third, fourth = (self.total["central"][power] for power in range(3))
        if not (second > 0 and np.isfinite(fourth) and second * second > 0):
            return 0.0, 3.0
        return third * self.rows**0.5 / second**1.5, fourth * self.rows / second**2


def exact_totals(rows: int, sums: Mapping[str, Dyadic], *, zeros: int, below: int) -> dict[str, Any]:
    """Sums that measures read, as fractions, from the exact sums of truth and predictions.

    A ratio that is not defined in some row has no sum; one that has none though it is defined did overflow.
    """
    none = {"rel": zeros, "abs_rel": zeros, "sq_log": below}
    exact: dict[str, Any] = {name: 0 if rows_without else math.inf for name, rows_without in none.items()}
    exact |= {name: value.fraction for name, value in sums.items()}
    y, p = exact.pop("y"), exact.pop("p")
    yy, yp, pp = (exact.pop(name) for name in ("yy", "yp", "pp"))
    squares = yy - 2 * yp + pp
    return exact | {
        "n": rows, "zeros": zeros, "below": below, "y": y, "e": y - p, "sq_e": squares, "sq_y": yy,
        "dy": y, "dydy": yy, "de": y - p, "dede": squares, "dyde": yy - yp,
    }  # fmt: skip


class RowView(View):
    """An output whose rows are held."""

    def __init__(
        self, columns: Mapping[str, Floats], units: tuple[str, ...] | None, facts: Facts, output: str = ""
    ) -> None:
        self.columns, self.facts, self.output = columns, facts, output
        self.truth, self.predicted = columns["truth"], columns["predicted"]
        self.error, self.counts = self.truth - self.predicted, np.ones(len(self.truth))
        self.rows, self.by_unit = len(self.truth), units is not None
        self.zeros = self.rows - int(np.count_nonzero(self.truth))
        self.below = int(((self.truth <= -1) | (self.predicted <= -1)).sum())
        self.exact = exact_sums(self.truth, self.predicted)
        self.codes = None if units is None else np.unique(np.array(units), return_inverse=True)[1]
        self.units = self.rows if self.codes is None else int(self.codes.max(initial=-1)) + 1

    @cached_property
    def sorted_errors(self) -> dict[bool, Floats]:
        """Errors in ascending order, and absolute errors."""
        return {False: np.sort(self.error), True: np.sort(np.abs(self.error))}

    def find_baseline(self) -> float | Floats | None:
        """A constant, a column, or the truth of the row before."""
        stated = self.facts.baseline
        if stated in CONSTANTS:
            return self.centres[0] if stated == "mean" else float(np.median(self.truth))
        return self._last_values() if stated == LAST else self.columns["reference"] if stated else None

    def _last_values(self) -> Floats:
        """The truth of the row before, by time and within the unit."""
        codes = np.zeros(self.rows, dtype=np.intp) if self.codes is None else self.codes
        order = np.lexsort((self.truth, self.columns["time"], codes))
        before = np.full(self.rows, np.nan)
        same = codes[order][1:] == codes[order][:-1]
        before[order[1:][same]] = self.truth[order[:-1][same]]
        return before

    @cached_property
    def own(self) -> dict[str, Floats]:
        """Quantities of each row whose means are measures."""
        base = {name: values for name, values in self.added.items() if name.startswith("base_")}
        return own_columns(self.columns, self.facts.interval_level) | base

    def find_sums(self) -> dict[str, Dyadic]:
        """Those, and the exact sums of what each row adds to other measures."""
        return {**self.exact} | {name: sum_exactly(values) for name, values in self.own.items()}

    def find_spreads(self) -> dict[str, Any]:
        """Without rounding."""
        quartiles = np.quantile(self.truth, [0.25, 0.75])
        spreads: dict[str, Any] = {
            "dev": self._exact_distances(),
            "span": Fraction(float(self.truth.max())) - Fraction(float(self.truth.min())),
            "iqr": Fraction(float(quartiles[1])) - Fraction(float(quartiles[0])),
            "max_abs": float(self.sorted_errors[True][-1]),
        }
        if self.baseline is not None:
            known = ~np.isnan(self.baseline)
            y, b = self.truth[known], self.baseline[known]
            squares = sum_products(y, y).fraction - 2 * sum_products(y, b).fraction + sum_products(b, b).fraction
            spreads |= {"base_n": int(known.sum()), "base_sq": squares}
            spreads |= {"base_abs": spreads["dev"]} if self.facts.baseline == "mean" else {}
        return spreads

    def _exact_distances(self) -> Fraction:
        """The distances of the truth from its mean, added up without rounding."""
        above = self.truth > self.centres[0]
        high = sum_exactly(self.truth[above]).fraction
        y, count = self.exact["y"].fraction, int(above.sum())
        return high - (y - high) + y / self.rows * (self.rows - 2 * count)

    def sum_units(self) -> dict[str, Floats]:
        """What each unit adds to every sum."""
        none = np.zeros(self.rows)  # a measure that these rows leave undefined has no interval
        by_row = self.added | self.own | {"zeros": none, "below": none}
        return {name: self.by_units(values) for name, values in by_row.items()}

    def by_units(self, values: Floats) -> Floats:
        """Values of rows, added up by unit."""
        return add_by_code(self.codes, values)

    def quantile(self, share: float, *, absolute: bool) -> tuple[float, float, float]:
        """A quantile of type 7."""
        value = float(np.quantile(self.sorted_errors[absolute], share))
        return value, value, value

    def ordered(self, rank: int, *, absolute: bool, upper: bool) -> float:  # noqa: ARG002  rows need no bins
        """The error of a rank."""
        return float(self.sorted_errors[absolute][rank - 1])

    def count_above(self, size: float) -> int:
        """Rows with a larger absolute error."""
        return int((np.abs(self.error) > size).sum())
