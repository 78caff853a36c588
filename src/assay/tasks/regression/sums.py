# SPDX-License-Identifier: Apache-2.0
"""What the measures of regression read: sums over rows, and a few statistics of their order.

The same names hold exact fractions for one table, and arrays for a stack of tables (without each unit, draws).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from assay.core.registry import Declared, Registry

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.core.values import Amount


NOT_GIVEN: Final = {
    "base": "no baseline is stated: baseline='mean', 'median' or 'last', or a column reference=...",
    "cover": "no prediction intervals are given: lower=... and upper=...",
    "width": "no prediction intervals are given: lower=... and upper=...",
    "interval": "no prediction intervals are given: lower=... and upper=...",
    "scale": "no scale is given: training=[...] holds the training series, or training='truth' takes the test series",
    "pinball": "there is no predicted quantile of this level: quantile={level: column}",
    "under": "there is no predicted quantile of this level: quantile={level: column}",
}
"""What a measure lacks, by the first word of a sum."""


class LackingColumnError(Exception):
    """A measure asked for a sum of a column that was not given."""


class Errors:
    """Named sums of one output.

    `n` rows; `y` truth; `e` truth minus prediction; `abs_e`, `sq_e` of it; `dy`, `de` the same about a centre that
    loses no digits, `dydy`, `dyde`, `dede` their products; `dev` distances of truth from its mean.
    """

    MEASURES: ClassVar[Registry[Declared]] = Registry("measure", {})

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)

    def __getattr__(self, name: str) -> Amount:
        """The sum of a name."""
        if name.startswith("__") or name == "values":
            raise AttributeError(name)
        try:
            amount: Amount = self.values[name]
        except KeyError:
            word = name.replace(" ", "_").partition("_")[0]
            raise LackingColumnError(NOT_GIVEN.get(word, f"{name} is not known of these rows")) from None
        return amount

    def get(self, name: str) -> Amount:
        """The sum of a name that is not an identifier, such as one of a quantile."""
        return self.__getattr__(name)


def row_sums(truth: Floats, error: Floats, centres: tuple[float, float], counts: Floats) -> dict[str, Floats]:
    """What each row, or each cell of truth and error that stands for so many rows, adds to the sums.

    `centres` are the means of truth and error. The share of rows above the mean, minus that below, makes `dev` right
    to first order without one row.
    """
    away, apart = truth - centres[0], error - centres[1]
    balance = float((np.sign(away) * counts).sum() / counts.sum())
    with np.errstate(over="ignore", invalid="ignore"):
        return {
            "n": np.ones(len(truth)),
            "y": truth,
            "e": error,
            "abs_e": np.abs(error),
            "sq_e": error * error,
            "sq_y": truth * truth,
            "abs_y": np.abs(truth),
            "dy": away,
            "dydy": away * away,
            "de": apart,
            "dede": apart * apart,
            "dyde": away * apart,
            "de3": apart**3,
            "de4": apart**4,
            "dev": np.abs(away) - balance * away,
        }


def as_double(value: float | Fraction) -> float:
    """An exact sum as a double, infinite where none is so large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def add_by_code(codes: NDArray[np.intp] | None, values: Floats) -> Floats:
    """Values of rows added up by the code of their unit; as they are where every row is a unit."""
    return values if codes is None else np.asarray(np.bincount(codes, weights=values), dtype=np.float64)


def central_moments(values: Floats, weights: Floats) -> tuple[float, float, float]:
    """Second, third and fourth sums of powers about the mean."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(np.sum(values * weights) / np.sum(weights))
        apart = values - mean
        second, third, fourth = (float(np.sum(weights * apart**power)) for power in (2, 3, 4))
    return second, third, fourth


def number_values(values: Floats) -> NDArray[np.intp]:
    """The place of each value among the distinct ones, as `np.unique` finds it, which imports `numpy.ma`.

    >>> number_values(np.array([2.5, 1.0, 2.5])).tolist()
    [1, 0, 1]
    """
    order = np.argsort(values)
    places = np.zeros(len(values), dtype=np.intp)
    places[order[1:]] = np.cumsum(values[order[1:]] != values[order[:-1]])
    return places


def midranks(place: NDArray[np.intp], counts: Floats) -> Floats:
    """Mean rank of every entry, as a share of all rows; entries with the same place are tied."""
    sizes = np.bincount(place, weights=counts)
    before = np.concatenate([[0.0], np.cumsum(sizes)[:-1]])
    return np.asarray((before + sizes / 2)[place] / counts.sum(), dtype=np.float64)


def rank_correlation(truth: Floats, predicted: Floats, counts: Floats) -> tuple[float | None, Floats]:
    """Spearman's correlation, and what each entry does to it (its influence, up to a constant).

    >>> rank_correlation(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]), np.ones(3))[0]
    0.5
    """
    places = number_values(truth), number_values(predicted)
    first, second = (midranks(place, counts) - 0.5 for place in places)
    rows = counts.sum()
    spreads = [float((counts * ranks * ranks).sum()) for ranks in (first, second)]
    if not (spreads[0] and spreads[1]):
        return None, np.zeros(len(truth))
    size = np.sqrt(spreads[0] * spreads[1])
    value = float((counts * first * second).sum() / size)
    above = _mass_above(places[0], counts * second) + _mass_above(places[1], counts * first)
    return min(1.0, max(-1.0, value)), (first * second + above / rows) * (rows / size)


def _mass_above(place: NDArray[np.intp], mass: Floats) -> Floats:
    """The mass of all entries at a larger place, half of that of equal ones."""
    sizes = np.bincount(place, weights=mass)
    behind = np.concatenate([np.cumsum(sizes[::-1])[::-1][1:], [0.0]])
    return np.asarray((behind + sizes / 2)[place], dtype=np.float64)


def log_ratios(truth: Floats, predicted: Floats, error: Floats, out: Floats) -> Floats:
    """ln(1 + truth) - ln(1 + predicted), which loses no digits of small errors nor of very large predictions.

    >>> log_ratios(np.array([0.0]), np.array([1e18]), np.array([-1e18]), np.empty(1)).round(3).tolist()
    [-41.447]
    """
    np.divide(error, np.add(predicted, 1.0, out=out), out=out)
    least = -0.9  # from here on digits would be lost, but not the other way round
    if out.min(initial=0.0) >= least:
        return np.log1p(out, out=out)
    low = np.flatnonzero(out < least)
    out[low] = -error[low] / (1 + truth[low])
    np.log1p(out, out=out)
    out[low] *= -1
    return out


def own_columns(batch: Mapping[str, Floats], interval_level: float | None) -> dict[str, Floats]:
    """Quantities of each row whose means are measures: ratios, logarithms, quantiles, intervals.

    Ratios are left out where the truth is 0 in some row, logarithms where something is -1 or less: no measure has a
    value there.
    """
    truth, predicted = batch["truth"], batch["predicted"]
    error = truth - predicted
    columns: dict[str, Floats] = {}
    least = float(truth.min()) if len(truth) else 0.0
    with np.errstate(over="ignore"):
        if least > 0 or np.all(truth):
            columns["rel"] = error / truth
            columns["abs_rel"] = np.abs(columns["rel"])
        if min(least, float(predicted.min())) > -1:
            columns["sq_log"] = log_ratios(truth, predicted, error, np.empty(len(truth))) ** 2
    if "rel" in columns and not np.isfinite(columns["abs_rel"].max()):
        del columns["rel"], columns["abs_rel"]
    if "sq_log" in columns and not np.isfinite(columns["sq_log"].max()):
        del columns["sq_log"]
    return columns | forecast_columns(batch, interval_level)


def forecast_columns(batch: Mapping[str, Floats], interval_level: float | None) -> dict[str, Floats]:
    """Quantities of each row that judge predicted quantiles, intervals and a reference."""
    truth = batch["truth"]
    columns: dict[str, Floats] = {}
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
