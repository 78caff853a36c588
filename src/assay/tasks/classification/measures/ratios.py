# SPDX-License-Identifier: Apache-2.0
"""F-scores, likelihood ratios and other combinations of the four counts of one class."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import inf
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.traits import FUND, HIGHER, LOWER, RAINIO, SCHLOSSER, TS4213, Task
from assay.core.values import Number, Share, number, root, share
from assay.measures.declare import measure
from assay.tally.labels.one_vs_rest import Binary
from assay.tasks.classification.measures.rates import (
    NO_ACTUAL,
    NO_ACTUAL_NEGATIVE,
    NO_CALLED,
    NO_CALLED_NEGATIVE,
    NO_MENTION,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.core.values import Amount

f_score = partial(measure, range=(0, 1), better=HIGHER, family="F")
odds = partial(measure, range=(0, inf), infinite=True, family="ratios", chance="1")
beyond_chance = partial(measure, range=(-1, 1), better=HIGHER, family="chance-corrected", chance="0")


def is_number(x: object) -> bool:
    """Whether a parameter is a plain number."""
    return isinstance(x, (int, float, Fraction)) and not isinstance(x, bool)


def demand_number(of: str, name: str, value: float, known: str, fits: Callable[[float], bool]) -> None:
    """Refuse a parameter that is not a number, or not one of those known."""
    if not is_number(value) or not fits(value):
        raise PlanError("measure-needs", f"{of} got {name} = {value!r}", known=known, fix=f"give {name} as {known}")


def demand_at_least_zero(of: str, **given: float) -> None:
    """Refuse parameters below 0, and infinite ones."""
    for name, value in given.items():
        demand_number(of, name, value, "a number of 0 or above", lambda x: 0 <= x < inf)


def declared(x: float, like: Amount) -> Amount:
    """A declared number in the arithmetic of the cells: exact beside exact cells, float beside a stack of draws."""
    drawn = isinstance(like, np.ndarray) and like.dtype != object
    return cast("Amount", x if drawn else Fraction(x))


def sides_of_truth(t: Binary) -> tuple[tuple[Amount, str], ...]:
    """Why a measure of both true sides of a class has no value."""
    return ((t.actual, NO_ACTUAL), (t.actual_negative, NO_ACTUAL_NEGATIVE))


def sides_called(t: Binary) -> tuple[tuple[Amount, str], ...]:
    """The same of both predicted sides."""
    return ((t.called, NO_CALLED), (t.called_negative, NO_CALLED_NEGATIVE))


@f_score(
    symbol="F0",
    also=("F0-score",),
    says="the F-score that ignores recall: precision",
    formula="TP / (TP + FP)",
    source=SCHLOSSER("eq. 24"),
    spec="M-BIN-17",
    errata=("E-SCH-02",),
)
def f_0(t: Binary) -> Share:
    return share(t.tp, of=t.called, empty=NO_CALLED)


@f_score(
    symbol="F0.5",
    also=("F0.5-score",),
    says="F-score in which precision weighs more than recall",
    formula="1.25*TP / (1.25*TP + 0.25*FN + FP)",
    source=SCHLOSSER("eq. 25"),
    spec="M-BIN-16",
    errata=("E-SCH-02",),
)
def f_0_5(t: Binary) -> Number:
    return number(5 * t.tp, over=5 * t.tp + t.fn + 4 * t.fp, empty=NO_MENTION)


@f_score(
    symbol="F1",
    also=("F-score", "F-measure", "F1-score", "F1-measure", "Dice of labels"),
    says="precision and recall in one: their harmonic mean, by counts",
    formula="2*TP / (2*TP + FP + FN)",
    source=(TS4213("6.2.5"), RAINIO("eq. 2"), FUND("metrics"), SCHLOSSER("eq. 26")),
    spec="M-BIN-18",
    errata=("E-XS-05", "E-RAI-01"),
)
def f1(t: Binary) -> Number:
    return number(2 * t.tp, over=2 * t.tp + t.fp + t.fn, empty=NO_MENTION)


@f_score(
    symbol="F2",
    also=("F2-score",),
    says="F-score in which recall weighs more than precision",
    formula="5*TP / (5*TP + 4*FN + FP)",
    source=SCHLOSSER("eq. 27"),
    spec="M-BIN-20",
    errata=("E-SCH-02",),
)
def f2(t: Binary) -> Number:
    return number(5 * t.tp, over=5 * t.tp + 4 * t.fn + t.fp, empty=NO_MENTION)


@f_score(
    symbol="Fβ",
    also=("F-beta", "Fβ-score"),
    says="F-score in which recall weighs beta squared times as much as precision",
    formula="(1 + beta**2)*TP / ((1 + beta**2)*TP + beta**2*FN + FP)",
    source=(TS4213("6.2.6"), SCHLOSSER("eq. 20")),
    spec="M-BIN-19",
    errata=("E-TS-11", "E-SCH-01"),
)
def f_beta(t: Binary, *, beta: float) -> Number:
    demand_at_least_zero("f_beta", beta=beta)
    square = declared(beta, t.tp) ** 2
    top = (1 + square) * t.tp
    return number(top, over=top + square * t.fn + t.fp, empty=NO_MENTION if beta else NO_CALLED)


@f_score(
    symbol="F(αp, βr)",
    says="harmonic mean of precision and recall with linear weights",
    formula="(w_precision + w_recall)*TP / ((w_precision + w_recall)*TP + w_precision*FP + w_recall*FN)",
    source=TS4213("6.2.6"),
    spec="M-BIN-21",
    errata=("E-TS-11",),
)
def f_weighted(t: Binary, *, w_precision: float, w_recall: float) -> Number:
    demand_at_least_zero("f_weighted", w_precision=w_precision, w_recall=w_recall)
    p, r = declared(w_precision, t.tp), declared(w_recall, t.tp)
    if not p + r:
        raise PlanError("measure-needs", "f_weighted got two zero weights", fix="give at least one weight above zero")
    empty = NO_CALLED if not w_recall else NO_ACTUAL if not w_precision else NO_MENTION
    return number((p + r) * t.tp, over=(p + r) * t.tp + p * t.fp + r * t.fn, empty=empty)


@beyond_chance(
    symbol="J",
    also=("informedness", "bookmaker informedness", "BM", "Youden's J"),
    says="how much better than chance: recall plus specificity minus one",
    formula="TP/(TP + FN) + TN/(TN + FP) - 1",
    source=(RAINIO("Youden index"), SCHLOSSER("eq. 42")),
    spec="M-BIN-22",
)
def youden_index(t: Binary) -> Number:
    p, n = t.actual, t.actual_negative
    return number(t.tp * n + t.tn * p - p * n, over=p * n, empty=sides_of_truth(t))


@beyond_chance(
    symbol="MK",
    also=("delta p",),
    says="how far a call can be trusted: precision plus negative predictive value minus one",
    formula="TP/(TP + FP) + TN/(TN + FN) - 1",
    source=SCHLOSSER("eq. 43"),
    spec="M-BIN-23",
)
def markedness(t: Binary) -> Number:
    p, n = t.called, t.called_negative
    return number(t.tp * n + t.tn * p - p * n, over=p * n, empty=sides_called(t))


@odds(
    symbol="LR+",
    also=("positive likelihood ratio",),
    says="how many times likelier a positive call is for a true member than for an outsider",
    formula="(TP/(TP + FN)) / (FP/(FP + TN))",
    better=HIGHER,
    source=SCHLOSSER("eq. 38"),
    spec="M-BIN-24",
    errata=("E-SCH-05",),
)
def likelihood_ratio_positive(t: Binary) -> Number:
    empty = (*sides_of_truth(t), (t.called, NO_CALLED))
    return number(t.tp * t.actual_negative, over=t.fp * t.actual, infinite=True, empty=empty)


@odds(
    symbol="LR-",
    also=("negative likelihood ratio",),
    says="how many times likelier a negative call is for a true member than for an outsider",
    formula="(FN/(FN + TP)) / (TN/(TN + FP))",
    better=LOWER,
    source=SCHLOSSER("eq. 39"),
    spec="M-BIN-25",
    errata=("E-SCH-05",),
)
def likelihood_ratio_negative(t: Binary) -> Number:
    empty = (*sides_of_truth(t), (t.called_negative, NO_CALLED_NEGATIVE))
    return number(t.fn * t.actual_negative, over=t.tn * t.actual, infinite=True, empty=empty)


@odds(
    symbol="DOR",
    says="the odds of a positive call for true members over those for outsiders",
    formula="(TP*TN) / (FP*FN)",
    better=HIGHER,
    source=SCHLOSSER("eq. 40"),
    spec="M-BIN-26",
    errata=("E-SCH-05",),
)
def diagnostic_odds_ratio(t: Binary) -> Number:
    return number(t.tp * t.tn, over=t.fp * t.fn, infinite=True, empty=(*sides_of_truth(t), *sides_called(t)))


@f_score(
    symbol="FM",
    also=("geometric mean of precision and recall", "G-measure"),
    says="geometric mean of precision and recall",
    formula="sqrt((TP/(TP + FP)) * (TP/(TP + FN)))",
    source=SCHLOSSER("eq. 41"),
    spec="M-BIN-27",
    errata=("E-SCH-12",),
)
def fowlkes_mallows(t: Binary) -> Number:
    return number(t.tp, over=root(t.called * t.actual), empty=((t.called, NO_CALLED), (t.actual, NO_ACTUAL)))


@f_score(
    symbol="JI",
    also=("Jaccard index", "threat score", "critical success index", "IoU of labels"),
    says="of the rows that are or were called the class, the share that is both",
    formula="TP / (TP + FP + FN)",
    source=(SCHLOSSER("eq. 45"), RAINIO("eq. 6")),
    spec="M-BIN-28",
    errata=("E-XS-05",),
)
def jaccard(t: Binary) -> Share:
    return share(t.tp, of=t.tp + t.fp + t.fn, empty=NO_MENTION)


@f_score(
    symbol="P4",
    also=("P4 metric",),
    says="harmonic mean of precision, recall, specificity and negative predictive value",
    formula="0 if TP + TN == 0 < FP + FN else 4*TP*TN / (4*TP*TN + (TP + TN)*(FP + FN))",
    source=SCHLOSSER("eq. 52"),
    spec="M-BIN-29",
    errata=("E-XS-05",),
)
def p4(t: Binary) -> Number:
    top, errors = 4 * t.tp * t.tn, t.fp + t.fn
    # With nothing right at all both terms vanish; the four rates are then 0 or empty, and so is their mean: 0, not 0/0.
    nothing_right = (t.tp + t.tn == 0) * errors
    return number(top, over=top + (t.tp + t.tn) * errors + nothing_right, empty=sides_of_truth(t))


@measure(
    symbol="ACA",
    says="recall and specificity, averaged with a declared weight",
    formula="weight*TP/(TP + FN) + (1 - weight)*TN/(TN + FP)",
    range=(0, 1),
    better=HIGHER,
    family="rates",
    only=Task.BINARY,
    source=SCHLOSSER("eq. 17"),
    spec="M-BIN-30",
)
def average_class_accuracy(t: Binary, *, weight: float) -> Number:
    demand_number("average_class_accuracy", "weight", weight, "a number from 0 to 1", lambda x: 0 <= x <= 1)
    w, p, n = declared(weight, t.tp), t.actual, t.actual_negative
    return number(w * t.tp * n + (1 - w) * t.tn * p, over=p * n, empty=sides_of_truth(t))
