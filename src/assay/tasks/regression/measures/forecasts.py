# SPDX-License-Identifier: Apache-2.0
"""Measures of predicted quantiles and intervals, and skill against a stated baseline."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING

from assay.core.errors import PlanError
from assay.core.text import visible
from assay.core.traits import EXTENSION, HIGHER, LOWER, NEITHER, SCHLOSSER, Source
from assay.core.values import NO_ROWS, Number, Share, number, root, share
from assay.measures.declare import measure
from assay.tasks.regression.measures.error_sizes import ZERO, nonzero
from assay.tasks.regression.sums import Errors

if TYPE_CHECKING:
    from assay.core.values import Amount, Empty

SKILLS = ("mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "mean_absolute_percentage_error")
"""Errors for which skill can be asked."""
in_unit = partial(
    measure, range=(0, inf), better=LOWER, source=EXTENSION, family="prediction intervals", unit="as truth"
)


@in_unit(
    says="the loss that the quantile q minimises: missing above costs q, missing below costs 1 - q",
    formula="mean of max(q (truth - predicted), (q - 1) (truth - predicted))",
    source=(Source("Koenker and Bassett 1978", "check function"), EXTENSION),
    family="quantiles",
)
def pinball_loss(t: Errors, *, q: float) -> Number:
    return number(t.get(f"pinball {q!r}"), over=t.n, empty=NO_ROWS)


@measure(
    says="the share of rows at or below their predicted quantile; it should be q",
    formula="rows with truth <= predicted quantile, over n",
    range=(0, 1),
    better=NEITHER,
    source=EXTENSION,
    family="quantiles",
)
def quantile_coverage(t: Errors, *, q: float) -> Share:
    return share(t.get(f"under {q!r}"), of=t.n, empty=NO_ROWS)


@measure(
    also=("PICP",),
    says="the share of rows inside their predicted interval, ends included",
    formula="cover / n",
    range=(0, 1),
    better=NEITHER,
    source=EXTENSION,
    family="prediction intervals",
)
def interval_coverage(t: Errors) -> Share:
    return share(t.cover, of=t.n, empty=NO_ROWS)


@in_unit(
    also=("MPIW",),
    says="how wide predicted intervals are on average",
    formula="width / n",
)
def interval_width(t: Errors) -> Number:
    return number(t.width, over=t.n, empty=NO_ROWS)


@in_unit(
    also=("Winkler score",),
    says="the width of predicted intervals plus a penalty for rows outside, at the stated level",
    formula="interval_score / n",
    source=(Source("Gneiting and Raftery 2007", "eq. 43"), EXTENSION),
)
def interval_score(t: Errors) -> Number:
    return number(t.interval_score, over=t.n, empty=NO_ROWS)


@measure(
    symbol="SS",
    also=("Murphy skill",),
    says="the part of the baseline's error that the model removes: 0 is no better, below 0 is worse",
    formula="1 - error of the model / error of the baseline",
    range=(-inf, 1),
    better=HIGHER,
    source=SCHLOSSER("eq. 53"),
    spec="M-CHN-07",
    errata=("E-SCH-13",),
    family="skill",
)
def skill_score(t: Errors, *, error: str) -> Number:
    own, base = _errors(t, error)
    return number(base - own, over=base, empty=_lacking(t, error, "the baseline makes no error"))


@measure(
    symbol="RIF",
    says="how many times larger the baseline's error is",
    formula="error of the baseline / error of the model",
    range=(0, inf),
    better=HIGHER,
    source=SCHLOSSER("eq. 54"),
    spec="M-CHN-08",
    errata=("E-SCH-14",),
    family="skill",
)
def relative_improvement_factor(t: Errors, *, error: str) -> Number:
    own, base = _errors(t, error)
    return number(base, over=own, empty=_lacking(t, error, "the model makes no error"))


def _lacking(t: Errors, error: str, reason: str) -> Empty:
    """Why there is no skill: the reason given, or a truth of 0, of which there is no percentage."""
    if error != "mean_absolute_percentage_error":
        return reason
    return ((nonzero(t.zeros, t.n), ZERO), (t.zeros, reason))


def _errors(t: Errors, error: str) -> tuple[Amount, Amount]:
    """The error of the model and of the baseline, both multiplied by the same number of rows."""
    if error == "mean_absolute_error":
        return t.abs_e * t.base_n, t.base_abs * t.n
    if error == "mean_squared_error":
        return t.sq_e * t.base_n, t.base_sq * t.n
    if error == "root_mean_squared_error":
        return root(t.sq_e * t.base_n), root(t.base_sq * t.n)
    if error == "mean_absolute_percentage_error":
        defined = t.zeros == 0
        return t.abs_rel * t.base_n * defined, t.base_rel * t.n * defined
    raise PlanError(
        "measure-needs",
        f'skill is not defined for the error "{visible(error)}"',
        known=", ".join(SKILLS),
        fix=f'write skill_score(error="{SKILLS[0]}")',
    )
