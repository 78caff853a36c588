# SPDX-License-Identifier: Apache-2.0
"""Measures of the size of errors. An error is truth minus prediction; a bias is prediction minus truth."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING

from assay.core.traits import EXTENSION, LOWER, NEITHER, RAINIO, SCHLOSSER
from assay.core.values import NO_ROWS, Number, Share, number, root, share
from assay.measures.declare import measure
from assay.tasks.regression.sums import Errors

if TYPE_CHECKING:
    from assay.core.values import Amount

ZERO = "the truth is 0 in some rows, where a percentage is not defined"
CONSTANT = "the truth is constant"
in_unit = partial(measure, range=(0, inf), better=LOWER, family="size of errors", unit="as truth")
relative_error = partial(measure, range=(0, inf), better=LOWER, family="relative errors")
bias = partial(measure, range=(-inf, inf), better=NEITHER, family="bias")
of_shape = partial(measure, range=(-inf, inf), better=NEITHER, source=EXTENSION, family="shape of errors")


def nonzero(zeros: Amount, n: Amount) -> Amount:
    """The number of rows where no truth is 0, and 0 where one is."""
    rows: Amount = n * (zeros == 0)
    return rows


@in_unit(
    symbol="MAE",
    says="how far predictions are from the truth on average, in the unit of the truth",
    formula="abs_e / n",
    source=(RAINIO("MAE"), SCHLOSSER("eq. 60")),
    spec="M-REG-06",
    errata=("E-RAI-10",),
)
def mean_absolute_error(t: Errors) -> Number:
    return number(t.abs_e, over=t.n, empty=NO_ROWS)


@in_unit(
    symbol="RMSE",
    says="a typical error that counts large errors more, in the unit of the truth",
    formula="sqrt(sq_e / n)",
    source=SCHLOSSER("eq. 67"),
    spec="M-REG-13",
    errata=("E-SCH-23",),
)
def root_mean_squared_error(t: Errors) -> Number:
    return number(root(t.sq_e / t.n), empty=NO_ROWS)


@in_unit(
    symbol="MSE",
    says="the mean of the squared errors",
    formula="sq_e / n",
    source=(RAINIO("MSE"), SCHLOSSER("eq. 66")),
    spec="M-REG-12",
    errata=("E-RAI-10",),
    unit="truth²",
)
def mean_squared_error(t: Errors) -> Number:
    return number(t.sq_e, over=t.n, empty=NO_ROWS)


@bias(
    symbol="ME",
    says="the mean of truth minus prediction: above 0 where predictions are too low",
    formula="e / n",
    source=SCHLOSSER("eq. 58"),
    spec="M-REG-04",
    unit="as truth",
)
def mean_error(t: Errors) -> Number:
    return number(t.e, over=t.n, empty=NO_ROWS)


@in_unit(
    symbol="AE",
    also=("absolute error",),
    says="all absolute errors added up",
    formula="abs_e",
    source=SCHLOSSER("eq. 56"),
    spec="M-REG-02",
    errata=("E-RAI-10",),
)
def sum_absolute_error(t: Errors) -> Number:
    return number(t.abs_e, empty=NO_ROWS)


@in_unit(
    symbol="SSE",
    also=("SE", "squared error"),
    says="all squared errors added up",
    formula="sq_e",
    source=SCHLOSSER("eq. 65"),
    spec="M-REG-11",
    unit="truth²",
)
def sum_squared_error(t: Errors) -> Number:
    return number(t.sq_e, empty=NO_ROWS)


@in_unit(
    symbol="MdAE",
    says="half of the errors are smaller, half are larger; outliers do not move it",
    formula="median of |truth - predicted|",
    source=EXTENSION,
)
def median_absolute_error(t: Errors) -> Number:
    return number(t.median_abs, empty=NO_ROWS)


@in_unit(
    also=("max error",),
    says="the largest error of all rows",
    formula="max of |truth - predicted|",
    source=EXTENSION,
)
def max_absolute_error(t: Errors) -> Number:
    return number(t.max_abs, empty=NO_ROWS)


@in_unit(
    says="the error (truth minus prediction) that a share q of the rows stays below",
    formula="quantile q of truth - predicted",
    range=(-inf, inf),
    better=NEITHER,
    source=SCHLOSSER("eq. 55"),
    spec="M-REG-01",
)
def error_quantile(t: Errors, *, q: float) -> Number:
    return number(t.get(f"error {q!r}"), empty=NO_ROWS)


@in_unit(
    says="the absolute error that a share q of the rows stays below",
    formula="quantile q of |truth - predicted|",
    source=EXTENSION,
)
def absolute_error_quantile(t: Errors, *, q: float) -> Number:
    return number(t.get(f"size {q!r}"), empty=NO_ROWS)


@measure(
    says="the share of rows whose absolute error is larger than a stated size",
    formula="rows with |truth - predicted| > size, over n",
    range=(0, 1),
    better=LOWER,
    source=EXTENSION,
    family="size of errors",
)
def share_above(t: Errors, *, size: float) -> Share:
    return share(t.get(f"above {size!r}"), of=t.n, empty=NO_ROWS)


@bias(
    symbol="MPE",
    says="the mean error in per cent of the truth: above 0 where predictions are too low",
    formula="100 * rel / n",
    source=SCHLOSSER("eq. 59"),
    spec="M-REG-05",
)
def mean_percentage_error(t: Errors) -> Number:
    return number(100 * t.rel, over=nonzero(t.zeros, t.n), empty=ZERO)


@relative_error(
    symbol="MAPE",
    says="the mean absolute error in per cent of the truth",
    formula="100 * abs_rel / n",
    source=SCHLOSSER("eq. 61"),
    spec="M-REG-07",
    errata=("E-SCH-17",),
)
def mean_absolute_percentage_error(t: Errors) -> Number:
    return number(100 * t.abs_rel, over=nonzero(t.zeros, t.n), empty=ZERO)


@relative_error(
    symbol="WAPE",
    also=("weighted absolute percentage error",),
    says="all absolute errors in per cent of all absolute truth; a zero truth does no harm",
    formula="100 * abs_e / abs_y",
    source=EXTENSION,
)
def pooled_absolute_percentage_error(t: Errors) -> Number:
    return number(100 * t.abs_e, over=t.abs_y, empty="the truth is 0 in all rows")


@bias(
    symbol="MNB",
    says="the mean of (prediction - truth) / truth: above 0 where predictions are too high",
    formula="-rel / n",
    source=SCHLOSSER("eq. 63"),
    spec="M-REG-09",
    errata=("E-SCH-16",),
)
def mean_normalized_bias(t: Errors) -> Number:
    return number(-t.rel, over=nonzero(t.zeros, t.n), empty=ZERO)


@bias(
    symbol="NMB",
    says="all of prediction minus truth over all truth: above 0 where predictions are too high",
    formula="-e / y",
    source=SCHLOSSER("eq. 64"),
    spec="M-REG-10",
    errata=("E-SCH-16",),
)
def normalized_mean_bias(t: Errors) -> Number:
    return number(-t.e, over=t.y, empty="the truth adds up to 0")


@relative_error(
    symbol="RMSLE",
    says="a typical error of logarithms; a prediction that is too low costs more than one too high",
    formula="sqrt(sq_log / n)",
    source=SCHLOSSER("eq. 69"),
    spec="M-REG-15",
)
def root_mean_squared_log_error(t: Errors) -> Number:
    valid = t.n * (t.below == 0)
    return number(root(t.sq_log * t.n), over=valid, empty="truth or prediction is -1 or less in some rows")


@relative_error(
    symbol="RAE",
    says="all absolute errors over those of always predicting the mean of the truth: 1 is no better than that",
    formula="abs_e / dev",
    source=SCHLOSSER("eq. 57"),
    spec="M-REG-03",
    errata=("E-SCH-22",),
)
def relative_absolute_error(t: Errors) -> Number:
    return number(t.abs_e, over=t.dev, empty=CONSTANT)


@measure(
    symbol="MASE",
    says="the mean absolute error over that of the naive forecast on the training series: below 1 is better",
    formula="abs_e / n / scale",
    range=(0, inf),
    better=LOWER,
    source=SCHLOSSER("eq. 62"),
    spec="M-REG-08",
    errata=("E-SCH-15",),
    family="skill",
)
def mean_absolute_scaled_error(t: Errors) -> Number:
    return number(t.abs_e, over=t.n * t.scale, empty="the series that gives the scale is constant or too short")


@relative_error(
    says="RMSE over the mean of the truth (negative for a negative mean)",
    formula="sqrt(sq_e / n) / (y / n)",
    range=(-inf, inf),
    source=SCHLOSSER("eq. 68"),
    spec="M-REG-14",
    errata=("E-SCH-18",),
)
def nrmse_mean(t: Errors) -> Number:
    return number(root(t.sq_e * t.n), over=t.y, empty="the mean of the truth is 0")


@relative_error(
    says="RMSE over the range of the truth in these rows",
    formula="sqrt(sq_e / n) / span",
    source=SCHLOSSER("2.2, introduction"),
    spec="M-REG-14",
    errata=("E-SCH-18",),
)
def nrmse_range(t: Errors) -> Number:
    return number(root(t.sq_e / t.n), over=t.span, empty=CONSTANT)


@relative_error(
    says="RMSE over the standard deviation of the truth (over n - 1)",
    formula="sqrt(sq_e / n) / sqrt((dydy - dy * dy / n) / (n - 1))",
    source=EXTENSION,
    spec="M-REG-14",
    errata=("E-SCH-18",),
)
def nrmse_sd(t: Errors) -> Number:
    spread = t.dydy - t.dy * t.dy / t.n
    return number(root(t.sq_e * (t.n - 1)), over=root(spread * t.n), empty=CONSTANT)


@relative_error(
    says="RMSE over the interquartile range of the truth (quartiles of type 7)",
    formula="sqrt(sq_e / n) / iqr",
    source=EXTENSION,
    spec="M-REG-14",
    errata=("E-SCH-18",),
)
def nrmse_iqr(t: Errors) -> Number:
    return number(root(t.sq_e / t.n), over=t.iqr, empty="the quartiles of the truth are equal")


@relative_error(
    says="the length of the errors over the length of the truth, as vectors",
    formula="sqrt(sq_e / sq_y)",
    source=EXTENSION,
    spec="M-REG-14",
    errata=("E-SCH-18",),
)
def nrmse_euclid(t: Errors) -> Number:
    return number(root(t.sq_e), over=root(t.sq_y), empty="the truth is 0 in all rows")


@of_shape(
    says="how unequal the errors lie on both sides of their mean; 0 for a normal distribution",
    formula="sqrt(n) * de3 / (dede - de * de / n) ** 1.5",
)
def error_skewness(t: Errors) -> Number:
    spread = t.dede - t.de * t.de / t.n
    return number(t.de3 * root(t.n), over=spread * root(spread), empty="all errors are equal")


@of_shape(
    says="how much a few large errors dominate: 3 for a normal distribution, above 9 squared errors have no valid "
    "interval",
    formula="n * de4 / (dede - de * de / n) ** 2",
    range=(1, inf),
)
def error_kurtosis(t: Errors) -> Number:
    spread = t.dede - t.de * t.de / t.n
    return number(t.de4 * t.n, over=spread * spread, empty="all errors are equal")
