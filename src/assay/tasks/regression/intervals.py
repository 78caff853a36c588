# SPDX-License-Identifier: Apache-2.0
"""Intervals of the measures of regression: jackknife t on the scale of the measure, t limits, order statistics.

Coverage of each: `docs/why/regression-coverage.md`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.text import counted
from assay.core.values import Share, Undefined
from assay.inference.estimates import Interval
from assay.inference.intervals.proportion import student_quantile
from assay.inference.unit_intervals import FEW, FEWEST, jackknife_error, scale_of
from assay.tasks.regression.summary import SummaryView
from assay.tasks.regression.sums import Errors, LackingColumnError, as_double
from assay.tasks.regression.views import ORDER, RowView, View

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.core.arrays import Floats
    from assay.inference.unit_intervals import Scale
    from assay.measures.declare import Measure


HEAVY: Final = 9.0
"""Kurtosis of the errors above which no interval of squared errors holds its level."""
SKEWED: Final = 2.0
SQUARED: Final = (
    "root_mean_squared_error", "mean_squared_error", "sum_squared_error", "r2", "explained_variance", "pearson_r",
    "concordance_correlation", "bland_altman_sd", "bland_altman_low", "bland_altman_high", "nrmse_mean", "nrmse_sd",
    "nrmse_euclid",
)  # fmt: skip
"""Measures that squared errors dominate."""
NONE: Final = {
    "max_absolute_error": "the largest error of a sample says nothing certain about larger ones to come",
    "nrmse_range": "the range of the truth grows with the number of rows, so it is not a property of the population",
    "nrmse_iqr": "the jackknife does not hold for quartiles; nrmse_sd has an interval",
    "error_skewness": "an interval of the skewness would need sixth moments",
    "error_kurtosis": "an interval of the kurtosis would need eighth moments",
}
SUMS: Final = {"sum_absolute_error": "mean_absolute_error", "sum_squared_error": "mean_squared_error"}
"""Sums whose interval is that of the mean, times the rows."""
LIMITS: Final = ("bland_altman_low", "bland_altman_high")
FARTHEST: Final = 12
"""Standard deviations around its mode beyond which a binomial chance is below 1e-30."""


def find_interval(measure: Measure, view: View, level: float) -> Interval | str:
    """The interval of a measure of one output, or the reason why there is none."""
    if measure.name in NONE:
        return NONE[measure.name]
    if measure.name in SUMS:
        return _sum_interval(measure, view, level)
    if view.units < FEWEST:
        return f"only {counted(view.units, 'unit')}; an interval needs {FEWEST} or more"
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite spread is told as such
        return _choose_method(measure, view)(measure, cast("Any", view), level)


def _choose_method(measure: Measure, view: View) -> Callable[[Measure, Any, float], Interval | str]:
    if measure.name in ORDER:
        return order_interval
    if measure.gives is Share and not view.by_unit:
        return _share_interval
    if measure.name in LIMITS and not view.by_unit:
        return _limit_interval
    return _jackknife_alone if view.by_unit or isinstance(view, RowView) else _cell_interval


def mean_interval(measure: Measure, views: Sequence[View], level: float) -> Interval | str:
    """The interval of the mean of a measure over outputs, which share their rows."""
    if measure.name in (*NONE, *ORDER, *SUMS) or not all(isinstance(view, RowView) for view in views):
        return "an interval of the mean over outputs needs a measure of sums and rows that are held"
    if views[0].units < FEWEST:
        return f"only {counted(views[0].units, 'unit')}; an interval needs {FEWEST} or more"
    return _jackknife(measure, views, level)


def warn(measure: Measure, view: View) -> tuple[str, ...]:
    """What a reader must know of an interval before using it."""
    skewness, kurtosis = view.shape()
    notes = [f"only {counted(view.units, 'unit')}: the interval may be too narrow"] if view.units < FEW else []
    if measure.name in SQUARED and kurtosis > HEAVY:
        notes.append(
            f"the kurtosis of the errors is {kurtosis:.3g} (above {HEAVY:g}): no interval of squared errors holds its "
            "level; read the mean absolute error instead"
        )
    elif abs(skewness) > SKEWED and measure.name not in (*ORDER, "spearman_r"):
        notes.append(f"the skewness of the errors is {skewness:.3g}: the interval may miss on one side")
    if measure.name in LIMITS and (abs(skewness) > 1 or kurtosis > 2 * 3):
        notes.append("the errors are not normal: error_quantile(q=0.025) and error_quantile(q=0.975) need no normality")
    return tuple(notes)


def _finish(scale: Scale, value: float, error: float, *, df: float, level: float, method: str) -> Interval | str:
    if not math.isfinite(error):
        return "the spread is too large to be computed"
    if not error:
        return "no unit differs from the others, so the spread is unknown"
    reach = student_quantile((1 + level) / 2, df) * error
    try:
        low, high = scale.back(value - reach), scale.back(value + reach)
    except OverflowError:
        return "an end of the interval is too large to be computed"
    return Interval(low=low, high=high, level=level, method=method)


def _jackknife_alone(measure: Measure, view: View, level: float) -> Interval | str:
    return _jackknife(measure, [view], level)


def _jackknife(measure: Measure, views: Sequence[View], level: float) -> Interval | str:
    """Without each unit in turn, on the scale of the measure; the mean over several outputs."""
    scale, units, by_row = scale_of(measure), views[0].units, isinstance(views[0], RowView)
    method = f"jackknife of {units:,} {'units' if views[0].by_unit else 'rows'}, {scale.name} scale, Student's t"
    if measure.name == "spearman_r" and by_row:
        return _rank_interval(cast("Sequence[RowView]", views), scale, level)
    try:
        with np.errstate(all="ignore"):
            parts = [measure.values(cast("Any", Errors(view.stack))) for view in views]
    except LackingColumnError as lacking:
        return str(lacking) if by_row else f"rows beyond what is held give no interval of {measure.name} by unit"
    values = _mean_over(parts, views)
    if not np.isfinite(values).all():
        return "the value is undefined, or infinite, without one of the units"
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = scale.to(values)
    if not np.isfinite(scaled).all():
        return "the value, or that without one unit, is at an end of its range"
    error = jackknife_error(scaled[0], scaled[1:])
    return _finish(scale, float(scaled[0]), error, df=views[0].freedom, level=level, method=method)


def _mean_over(parts: Sequence[Floats], views: Sequence[View]) -> Floats:
    """The mean over outputs, by their weights."""
    shares = views[0].facts.shares if len(views) > 1 else (1.0,)
    return np.asarray(sum(share * part for share, part in zip(shares, parts, strict=True)), dtype=np.float64)


def _rank_interval(views: Sequence[RowView], scale: Scale, level: float) -> Interval | str:
    """From the influence of each row on Spearman's correlation."""
    values = [view.ranks[0] for view in views]
    if any(value is None or abs(value) >= 1 for value in values):
        return "the value is at an end of its range"
    value = float(_mean_over([np.array(value) for value in values], views))
    influence = _mean_over([_centred_influence(view) for view in views], views)
    units = views[0].units
    error = math.sqrt(units / (units - 1) * math.fsum((influence**2).tolist())) / (1 - value * value)
    method = f"influence of {units:,} {'units' if views[0].by_unit else 'rows'}, {scale.name} scale, Student's t"
    return _finish(scale, math.atanh(value), error, df=views[0].freedom, level=level, method=method)


def _centred_influence(view: RowView) -> Floats:
    """What each unit moves Spearman's correlation by, with the effect on the spread of tied ranks left out."""
    _, influence = view.ranks
    return view.by_units(influence - influence.mean()) / view.rows


def _cell_interval(measure: Measure, view: SummaryView, level: float) -> Interval | str:
    """By the influence of each cell of truth and error; ratios and other means by their sums of squares."""
    scale, n = scale_of(measure), view.rows
    plain = view.plain
    if measure.name == "spearman_r":
        value, influence = view.ranks
        if value is None or abs(value) >= 1:
            return "the value is at an end of its range"
        centred = influence - view.add_cells(influence) / n
        error = math.sqrt(view.add_cells(centred**2)) / n / (1 - value * value)
        method = f"influence of cells, {scale.name} scale"
        return _finish(scale, math.atanh(value), error, df=n - 1, level=level, method=method)
    gradient = _gradient(measure, plain, scale)
    if isinstance(gradient, str):
        return gradient
    value, slopes = gradient
    influence, rest = np.zeros(len(view.counts)), 0.0
    for name, slope in slopes.items():
        if name in view.added:
            influence += slope * view.added[name]
        elif (starred := "rel*" if name == "abs_rel" else f"{name}*") in view.summary.sums:
            square = view.summary.sums[starred].fraction
            total = view.summary.sums[name].fraction
            rest += slope * slope * float(square - total * total / n)
        elif name not in ("zeros", "below", "scale", "base_n"):
            return f"beyond {n:,} rows there is no interval of {measure.name}: its rows are not held"
    influence -= view.add_cells(influence) / n
    variance = max(rest or view.add_cells(influence**2), 0.0)  # rounded squares of equal values may fall below 0
    method = f"linearised over cells of truth and error, {scale.name} scale, Student's t"
    return _finish(scale, value, math.sqrt(variance), df=n - 1, level=level, method=method)


def _gradient(measure: Measure, plain: dict[str, float], scale: Scale) -> tuple[float, dict[str, float]] | str:
    """The value on its scale, and how fast it changes with each sum."""
    names = [name for name in plain if name not in ("span", "iqr", "median_abs", "max_abs", "de3", "de4")]
    size = 2 * len(names) + 1
    stack = {name: np.full(size, value) for name, value in plain.items()}
    steps = {}
    for place, name in enumerate(names):
        steps[name] = 1e-6 * (abs(plain[name]) or plain["n"] * 1e-6) if name not in ("zeros", "below") else 0.0
        stack[name][2 * place + 1] += steps[name]
        stack[name][2 * place + 2] -= steps[name]
    try:
        with np.errstate(all="ignore"):
            values = measure.values(cast("Any", Errors(stack)))
            scaled = scale.to(values)
    except LackingColumnError as lacking:
        return str(lacking)
    if not np.isfinite(scaled).all():
        return "the value is at an end of its range"
    slopes = {
        name: float(scaled[2 * place + 1] - scaled[2 * place + 2]) / (2 * steps[name])
        for place, name in enumerate(names)
        if steps[name]
    }
    top = max((abs(slope * plain[name]) for name, slope in slopes.items()), default=0.0)
    return float(scaled[0]), {n: s for n, s in slopes.items() if abs(s * (abs(plain[n]) or plain["n"])) > 1e-9 * top}


def _sum_interval(measure: Measure, view: View, level: float) -> Interval | str:
    from assay.measures.declare import parse

    mean = find_interval(parse(SUMS[measure.name], cast("Any", Errors.MEASURES)), view, level)
    if isinstance(mean, str):
        return mean
    method = f"{mean.method}, times {view.rows:,} rows"
    return Interval(low=mean.low * view.rows, high=mean.high * view.rows, level=level, method=method)


def _limit_interval(measure: Measure, view: View, level: float) -> Interval | str:
    """Bland and Altman's interval of a limit of agreement, exact enough for normal errors."""
    value, n = measure(cast("Any", view.errors(measure))), view.rows
    second = as_double(view.total["dede"] - view.total["de"] ** 2 / n)
    if isinstance(value, Undefined) or not second > 0:
        return "all errors are equal, so the spread is unknown"
    if math.isinf(second):
        return "the spread is too large to be computed"
    error = math.sqrt(second / (n - 1) * (1 / n + 1.96**2 / (2 * (n - 1))))
    reach = student_quantile((1 + level) / 2, n - 1) * error
    method = "Bland and Altman, Student's t, for normal errors"
    return Interval(low=value.value - reach, high=value.value + reach, level=level, method=method)


def _share_interval(measure: Measure, view: View, level: float) -> Interval | str:
    from assay.inference.intervals.proportion import wilson

    part = cast("Share", measure(cast("Any", view.errors(measure))))
    low, high = wilson(int(part.numerator), view.rows, level)
    return Interval(low=low, high=high, level=level, method="wilson")


def order_interval(measure: Measure, view: View, level: float) -> Interval | str:
    """The interval of a quantile between two order statistics; with units, widened by how these vary (Woodruff)."""
    share = float(cast("float", measure.given.get("q", 0.5)))
    absolute, n = measure.name != "error_quantile", view.rows
    if not view.by_unit:
        low, high = _rank_ends(n, share, level)
        method = f"order statistics {low:,} and {high:,} of {n:,}"
    elif isinstance(view, RowView):
        low, high = _unit_rank_ends(view, share, level, absolute=absolute)
        method = f"order statistics {low:,} and {high:,} of {n:,}, by {view.units:,} units (Woodruff)"
    else:
        return "rows beyond what is held give no interval of a quantile by unit"
    if low < 1 or high > n:
        return f"{counted(n, 'row')} are too few for an interval of this quantile"
    return Interval(
        low=view.ordered(low, absolute=absolute, upper=False), high=view.ordered(high, absolute=absolute, upper=True),
        level=level, method=method,
    )  # fmt: skip


def _unit_rank_ends(view: RowView, share: float, level: float, *, absolute: bool) -> tuple[int, int]:
    """Ranks around a quantile, as far as the share of rows below it varies by unit."""
    values = np.abs(view.error) if absolute else view.error
    below = values <= view.quantile(share, absolute=absolute)[0]
    units, n = view.units, view.rows
    apart = view.by_units(below - below.mean())
    error = math.sqrt(units / (units - 1) * float((apart**2).sum())) / n
    reach = student_quantile((1 + level) / 2, view.freedom) * error
    return math.floor(n * (share - reach)), math.ceil(n * (share + reach)) + 1


def _rank_ends(n: int, share: float, level: float) -> tuple[int, int]:
    """The ranks between which a quantile lies with at least the level; 0 or n + 1 where there is no such rank."""
    mode, reach = min(int((n + 1) * share), n), FARTHEST * math.ceil(math.sqrt(n * share * (1 - share)) + 1)
    lower, upper = np.arange(mode, max(mode - reach, 0), -1.0), np.arange(mode, min(mode + reach, n), 1.0)
    falling = np.cumprod(lower * (1 - share) / ((n + 1 - lower) * share))  # chances, each by its neighbour
    rising = np.cumprod((n - upper) * share / ((upper + 1) * (1 - share)))
    running = np.cumsum(np.concatenate([falling[::-1], [1.0], rising]))
    tail, first = (1 - level) / 2, mode - len(lower)
    low, high = running.searchsorted(tail * running[-1], "right"), running.searchsorted((1 - tail) * running[-1])
    return first + int(low), first + int(high) + 1
