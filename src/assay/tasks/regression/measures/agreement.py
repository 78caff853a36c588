# SPDX-License-Identifier: Apache-2.0
"""Measures of association and agreement: R2, correlations, limits of agreement."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import inf
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.traits import EXTENSION, HIGHER, NEITHER, RAINIO, SCHLOSSER, Source
from assay.core.values import NO_ROWS, Number, number, root, undefined_number
from assay.measures.declare import measure
from assay.tasks.regression.measures.error_sizes import CONSTANT
from assay.tasks.regression.sums import Errors

if TYPE_CHECKING:
    from assay.core.values import Amount, Empty

BLAND = Source("Bland and Altman 1986", "limits of agreement")
LIMIT = Fraction(49, 25)
"""1.96, as Bland and Altman print it."""
association = partial(measure, better=HIGHER, family="association")
agreement_limit = partial(
    measure, range=(-inf, inf), better=NEITHER, source=(BLAND, EXTENSION), family="limits of agreement", unit="as truth"
)


def truth_spread(t: Errors) -> Amount:
    """The squared distances of the truth from its mean."""
    return t.dydy - t.dy * t.dy / t.n


def error_spread(t: Errors) -> Amount:
    """The squared distances of the errors from their mean."""
    return t.dede - t.de * t.de / t.n


def shared_spread(t: Errors) -> Amount:
    """The products of the distances of truth and errors from their means."""
    return t.dyde - t.dy * t.de / t.n


def predicted_spread(t: Errors) -> Amount:
    """The squared distances of the predictions from their mean."""
    return truth_spread(t) - 2 * shared_spread(t) + error_spread(t)


def several_rows(t: Errors, *spreads: tuple[Amount, str]) -> Empty:
    """Reasons why there is no value: one row, or something constant."""
    return ((t.n - 1, "there is only one row"), *spreads)


@association(
    symbol="R2",
    also=("R²", "coefficient of determination"),
    says="the part of the squared distances from the mean that the model removes: 0 is no better than the mean",
    formula="1 - sq_e / (dydy - dy * dy / n)",
    range=(-inf, 1),
    source=(SCHLOSSER("eq. 53"), EXTENSION),
    spec="M-REG-18",
    errata=("E-SCH-13",),
)
def r2(t: Errors) -> Number:
    spread = truth_spread(t)
    return number(spread - t.sq_e, over=spread, empty=several_rows(t, (spread, CONSTANT)))


@association(
    says="the part of the variance of the truth that the model removes, a constant bias forgiven",
    formula="1 - (dede - de * de / n) / (dydy - dy * dy / n)",
    range=(-inf, 1),
    source=EXTENSION,
)
def explained_variance(t: Errors) -> Number:
    spread = truth_spread(t)
    return number(spread - error_spread(t), over=spread, empty=several_rows(t, (spread, CONSTANT)))


@association(
    symbol="r",
    also=("Pearson correlation", "Pearson's correlation coefficient"),
    says="how close truth and prediction are to a straight line; blind to scale and bias",
    formula="(dydy - dyde - dy * (dy - de) / n) / sqrt((dydy - dy * dy / n) * "
    "(dydy - 2 * dyde + dede - (dy - de) * (dy - de) / n))",
    range=(-1, 1),
    source=RAINIO("eq. 4"),
    spec="M-REG-16",
)
def pearson_r(t: Errors) -> Number:
    truth, predicted = truth_spread(t), predicted_spread(t)
    empty = several_rows(t, (truth, CONSTANT), (predicted, "the predictions are constant"))
    return number(truth - shared_spread(t), over=root(truth * predicted), empty=empty)


@association(
    also=("Spearman correlation", "Spearman's correlation coefficient"),
    says="how well predictions keep the order of the truth; ties take their mean rank",
    formula="pearson_r of midranks",
    range=(-1, 1),
    source=RAINIO("Spearman"),
    spec="M-REG-17",
)
def spearman_r(t: Errors) -> Number:
    value = cast("object", t.rank_r)
    constant = "truth or predictions are constant"
    if value is None:
        return undefined_number(constant)
    return number(t.rank_r, empty=constant)


@association(
    symbol="CCC",
    also=("Lin's concordance correlation coefficient",),
    says="agreement with the line of equality: correlation, lowered by differences of mean and scale (over n)",
    formula="2 * (dydy - dyde - dy * (dy - de) / n) / (dydy - dy * dy / n + dydy - 2 * dyde + dede"
    " - (dy - de) * (dy - de) / n + e * e / n)",
    range=(-1, 1),
    source=(Source("Lin 1989", "concordance correlation"), EXTENSION),
)
def concordance_correlation(t: Errors) -> Number:
    truth = truth_spread(t)
    over = truth + predicted_spread(t) + t.e * t.e / t.n
    return number(2 * (truth - shared_spread(t)), over=over, empty="truth and predictions are one constant")


@agreement_limit(
    says="the mean of prediction minus truth: above 0 where predictions are too high",
    formula="-e / n",
)
def bland_altman_bias(t: Errors) -> Number:
    return number(-t.e, over=t.n, empty=NO_ROWS)


@agreement_limit(
    says="the standard deviation of prediction minus truth (over n - 1)",
    formula="sqrt((dede - de * de / n) / (n - 1))",
    range=(0, inf),
)
def bland_altman_sd(t: Errors) -> Number:
    return _sd_part(t, 0, 1)


@agreement_limit(
    says="predictions are at least this much above the truth in about 97.5 % of the rows, if errors are normal",
    formula="-e / n - 1.96 * sqrt((dede - de * de / n) / (n - 1))",
)
def bland_altman_low(t: Errors) -> Number:
    return _sd_part(t, 1, -LIMIT)


@agreement_limit(
    says="predictions are at most this much above the truth in about 97.5 % of the rows, if errors are normal",
    formula="-e / n + 1.96 * sqrt((dede - de * de / n) / (n - 1))",
)
def bland_altman_high(t: Errors) -> Number:
    return _sd_part(t, 1, LIMIT)


def _sd_part(t: Errors, bias: int, deviations: Fraction | int) -> Number:
    """The bias plus some standard deviations, over one denominator: n root(n - 1)."""
    rows = root(t.n - 1)
    factor = cast("int", float(deviations) if isinstance(t.n, np.ndarray) else deviations)
    top = -t.e * rows * bias + factor * t.n * root(error_spread(t))
    return number(top, over=t.n * rows, empty="there is only one row")
