# SPDX-License-Identifier: Apache-2.0
"""Measures of K classes: overall values, averages of class measures, agreement beyond chance, baselines to beat."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from math import inf
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import listed, quoted
from assay.core.traits import FUND, HIGHER, LOWER, NEITHER, RAINIO, SCHLOSSER, TS4213
from assay.core.values import NO_ROWS, Number, Share, number, quotient, root, share, undefined_number
from assay.measures.averages import macro, micro, weighted
from assay.measures.declare import measure
from assay.tally.labels.one_vs_rest import Multiclass
from assay.tasks.classification.measures import rates, ratios
from assay.tasks.classification.measures.ratios import beyond_chance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.labels import Label
    from assay.core.values import Amount, Empty

baseline = partial(
    measure, range=(0, 1), better=NEITHER, family="baselines", source=(TS4213("5.3.13"), FUND("heuristics")),
    spec="M-CHN-09",
)  # fmt: skip
"""The accuracy of a guess that looks at nothing but the classes."""


@measure(
    symbol="a",
    also=("overall accuracy", "Acc.", "proportion correct"),
    says="of all rows, the share that was classified rightly",
    formula="sum(TP) / n",
    range=(0, 1),
    better=HIGHER,
    family="rates",
    chance="no_information_rate",
    source=(TS4213("6.2.3"), RAINIO("eq. 1"), FUND("metrics"), SCHLOSSER("eq. 12")),
    spec=("M-BIN-04", "M-MC-02"),
    errata=("E-TS-07", "E-TS-24"),
)
def accuracy(t: Multiclass) -> Share:
    return share(t.correct, of=t.n, empty=NO_ROWS)


@measure(
    symbol="ER",
    also=("misclassification rate", "0-1 loss", "top-1 error"),
    says="of all rows, the share that was classified wrongly",
    formula="(n - sum(TP)) / n",
    range=(0, 1),
    better=LOWER,
    family="rates",
    source=SCHLOSSER("eq. 18"),
    spec=("M-BIN-05", "M-MC-23"),
)
def error_rate(t: Multiclass) -> Share:
    return share(t.n - t.correct, of=t.n, empty=NO_ROWS)


balanced_accuracy = macro(
    rates.recall,
    name="balanced_accuracy",
    also=("BA", "unweighted average recall", "UAR"),
    spec=("M-BIN-14", "M-MC-07"),
)
average_accuracy = macro(
    rates.binary_accuracy,
    name="average_accuracy",
    also=("AA", "binary_accuracy_macro", "binary_accuracy_micro"),
    spec=("M-MC-05",),
    through=lambda accuracy, k: 1 - 2 * (1 - accuracy) / k,
)
binary_accuracy_weighted = weighted(rates.binary_accuracy, spec=("M-MC-06",), also=("weighted binary accuracy",))


@measure(
    symbol="AER",
    says="one-vs-rest errors, averaged over the classes",
    formula="2*(n - sum(TP)) / (K*n)",
    range=(0, 1),
    better=LOWER,
    family="averages",
    source=SCHLOSSER("eq. 19"),
    spec="M-MC-21",
    through=lambda accuracy, k: 2 * (1 - accuracy) / k,
)
def average_error_rate(t: Multiclass) -> Number:
    return number(2 * (t.n - t.correct), over=t.k * t.n, empty=NO_ROWS)


@measure(
    symbol="BAW",
    says="class recalls, averaged with declared weights (costs, or the shares expected in use)",
    formula="sum(w[i]*TP[i]/R[i] for i in classes if w[i] > 0) / sum(w)",
    range=(0, 1),
    better=HIGHER,
    family="averages",
    source=SCHLOSSER("eq. 15"),
    spec="M-MC-08",
    errata=("E-SCH-03",),
)
def balanced_accuracy_weighted(t: Multiclass, *, weights: Mapping[Label, float]) -> Number:
    w = _class_weights(t, weights)
    if t.hits.dtype != object:
        return _weighted_draws(t, np.array([float(x) for x in w]))
    if lost := [label for label, x, r in zip(t.labels, w, t.actual, strict=True) if x and not r]:
        return undefined_number(f"no row is truly {listed(lost)}" if t.n else NO_ROWS)
    _refuse_class_sizes(t, w)
    shares = (x * Fraction(h) / r for x, h, r in zip(w, t.hits.tolist(), t.actual.tolist(), strict=True) if x)
    return number(cast("Amount", sum(shares)), over=cast("Amount", sum(w)), empty=NO_ROWS)


def _weighted_draws(t: Multiclass, w: NDArray[np.float64]) -> Number:
    """A draw in which a class vanished averages the classes that are left, as the other averages do."""
    values = quotient(t.hits, t.actual)
    kept = np.where(np.isnan(values), 0.0, w)
    return number((np.nan_to_num(values) * kept).sum(axis=-1), over=kept.sum(axis=-1), empty=NO_ROWS)


def _class_weights(t: Multiclass, weights: Mapping[Label, float]) -> list[Fraction]:
    unknown = [label for label in weights if label not in t.labels]
    absent = [label for label in t.labels if label not in weights]
    bad = [label for label, w in weights.items() if not ratios.is_number(w) or not 0 <= w < inf]
    if unknown or absent or bad or not sum(weights.values()):
        raise PlanError(
            "measure-needs",
            "balanced_accuracy_weighted needs one weight of 0 or above for each class, not all zero",
            found=listed(unknown or absent or bad or list(weights)),
            known=listed(t.labels),
            fix="weights={" + ", ".join(f"{quoted(label)}: ..." for label in t.labels[:3]) + "}",
        )
    return [Fraction(weights[label]) for label in t.labels]


def _refuse_class_sizes(t: Multiclass, w: list[Fraction]) -> None:
    total, n = sum(w), Fraction(cast("int", t.n))
    if t.k > 1 and all(x * n == total * Fraction(r) for x, r in zip(w, t.actual.tolist(), strict=True)):
        raise PlanError(
            "measure-needs",
            "balanced_accuracy_weighted got the class sizes as weights, which is plain accuracy",
            fix="give costs or the class shares expected in use; for accuracy ask for accuracy (errata E-SCH-03)",
        )


@measure(
    symbol="SS",
    also=("Murphy skill score",),
    says="how much of the reference's error is gone",
    formula="(sum(TP)/n - reference) / (1 - reference)",
    range=(-inf, 1),
    better=HIGHER,
    family="chance-corrected",
    chance="0",
    source=SCHLOSSER("eq. 53"),
    spec="M-CHN-07",
    errata=("E-SCH-13",),
)
def skill_score(t: Multiclass, *, reference: float | str) -> Number:
    ref = _reference(t, reference)
    return number(
        t.correct - ref * t.n,
        over=(1 - ref) * t.n,
        empty=((t.n, NO_ROWS), ((1 - ref) * t.n, "the reference makes no error, so there is none to save")),
    )


@measure(
    also=("RIF", "error ratio"),
    says="the reference's error divided by the model's",
    formula="(1 - reference) / (1 - sum(TP)/n)",
    range=(0, inf),
    better=HIGHER,
    infinite=True,
    family="ratios",
    chance="1",
    source=SCHLOSSER("eq. 54"),
    spec="M-CHN-08",
    errata=("E-SCH-14",),
)
def relative_improvement_factor(t: Multiclass, *, reference: float | str) -> Number:
    ref = _reference(t, reference)
    return number(
        (1 - ref) * t.n,
        over=t.n - t.correct,
        infinite=True,
        empty=((t.n, NO_ROWS), (t.n - t.correct, "neither the reference nor the model errs")),
    )


def _reference(t: Multiclass, reference: float | str) -> Amount:
    """The accuracy of the reference: a number, or the majority or stratified guess on the same rows; 0 without rows."""
    guesses = {"majority": (t.actual.max(axis=-1), t.n), "stratified": (_total(t.actual * t.actual), t.n * t.n)}
    if isinstance(reference, str) and reference in guesses:
        right, of = guesses[reference]
        if t.hits.dtype != object:
            return quotient(right, of)
        return cast("Amount", Fraction(cast("int", right), cast("int", of)) if of else 0)
    if isinstance(reference, (int, float)) and 0 <= reference <= 1:
        return ratios.declared(float(reference), t.hits)
    raise PlanError(
        "measure-needs",
        f"the reference {reference!r} is not an accuracy",
        known='0 to 1, "majority", "stratified"',
        fix="give the accuracy of the reference model, or name one of the two baselines",
    )


precision_macro = macro(rates.precision, spec=("M-MC-09",))
precision_micro = micro(rates.precision, spec=("M-MC-10",))
precision_weighted = weighted(rates.precision, spec=("M-MC-11",))
recall_macro = macro(rates.recall, spec=("M-MC-12",), also=("macro recall",))
recall_micro = micro(rates.recall, spec=("M-MC-13",))
recall_weighted = weighted(rates.recall, spec=("M-MC-14",), through=lambda accuracy, _: accuracy)
specificity_macro = macro(rates.specificity, spec=("M-MC-15",))
specificity_micro = micro(rates.specificity, spec=("M-MC-16",))
specificity_weighted = weighted(rates.specificity, spec=("M-MC-17",))
f1_macro = macro(ratios.f1, spec=("M-MC-18",), also=("macro-average F1", "f_macro"))
f1_micro = micro(ratios.f1, spec=("M-MC-19",), also=("micro-average F1", "f_micro"))
f1_weighted = weighted(ratios.f1, spec=("M-MC-20",), also=("weighted-average F1", "f_weighted_average"))
f_beta_macro = macro(ratios.f_beta, spec=("M-MC-18",))
f_beta_micro = micro(ratios.f_beta, spec=("M-MC-19",))
f_beta_weighted = weighted(ratios.f_beta, spec=("M-MC-20",))
youden_index_macro = macro(ratios.youden_index, spec=("M-MC-22",), also=("youden_macro",))
youden_index_micro = micro(ratios.youden_index, spec=("M-MC-22",))
false_discovery_rate_macro = macro(rates.false_discovery_rate, spec=("M-MC-25",), also=("fdr_macro",))
false_discovery_rate_micro = micro(rates.false_discovery_rate, spec=("M-MC-26",), also=("fdr_micro",))
false_discovery_rate_weighted = weighted(rates.false_discovery_rate, spec=("M-MC-27",), also=("fdr_weighted",))
false_negative_rate_macro = macro(rates.false_negative_rate, spec=("M-MC-28",), also=("fnr_macro",))
false_negative_rate_micro = micro(rates.false_negative_rate, spec=("M-MC-29",), also=("fnr_micro",))
false_negative_rate_weighted = weighted(
    rates.false_negative_rate, spec=("M-MC-30",), also=("fnr_weighted",), through=lambda accuracy, _: 1 - accuracy
)

for _base in (
    rates.negative_predictive_value,
    rates.false_positive_rate,
    rates.false_omission_rate,
    ratios.jaccard,
    ratios.f_0_5,
    ratios.f2,
):
    macro(_base)
    micro(_base)
    weighted(_base)
for _base in (ratios.fowlkes_mallows, ratios.p4, ratios.markedness):
    macro(_base)
    weighted(_base)


def _total(x: Amount) -> Amount:
    return cast("Amount", x.sum(axis=-1))


def _others(t: Multiclass, cells: Amount) -> Amount:
    """Rows outside each class; products with these keep the figures that n squared minus squares would lose."""
    return (t.n[..., np.newaxis] if isinstance(t.n, np.ndarray) else t.n) - cells


def _only_class(t: Multiclass, cells: Amount) -> str:
    """The label every row carries, for a table whose margin has one class."""
    if cells.ndim != 1:
        return "one class"
    return next((quoted(label) for label, count in zip(t.labels, cells, strict=True) if count), "no class")


@beyond_chance(
    symbol="κ",
    also=("Cohen's kappa", "kappa", "Cohen's kappa coefficient"),
    says="agreement beyond what the two class distributions give by chance",
    formula="(sum(TP)/n - sum(r*c for r, c in zip(R, C))/n**2) / (1 - sum(r*c for r, c in zip(R, C))/n**2)",
    source=(TS4213("5.3.9"), RAINIO("eq. 2"), SCHLOSSER("eq. 50")),
    spec="M-CHN-01",
    errata=("E-RAI-01", "E-RAI-02", "E-RAI-13", "E-SCH-21"),
)
def cohen_kappa(t: Multiclass) -> Number:
    n, chance, beyond = t.n, _total(t.actual * t.called), _total(t.actual * _others(t, t.called))
    empty = f"every row is truly {_only_class(t, t.actual)} and was predicted so, which chance explains fully"
    return number(n * t.correct - chance, over=beyond, empty=((n, NO_ROWS), (beyond, empty)))


@beyond_chance(
    symbol="MCC",
    also=("phi coefficient", "Matthews correlation coefficient", "Yule phi", "R_K"),
    says="correlation between what was true and what was called",
    formula="(n*sum(TP) - sum(r*c for r, c in zip(R, C)))"
    " / sqrt((n**2 - sum(c**2 for c in C)) * (n**2 - sum(r**2 for r in R)))",
    source=(RAINIO("eq. 3"), SCHLOSSER("eq. 44")),
    spec="M-CHN-02",
    errata=("E-RAI-01", "E-SCH-06", "E-RAI-20", "E-XS-12"),
)
def matthews_corrcoef(t: Multiclass) -> Number:
    n = t.n
    spread_true, spread_called = (_total(cells * _others(t, cells)) for cells in (t.actual, t.called))
    empty: Empty = (
        (n, NO_ROWS),
        (spread_true, f"every row is truly {_only_class(t, t.actual)}"),
        (spread_called, f"every row was predicted {_only_class(t, t.called)}"),
    )
    return number(n * t.correct - _total(t.actual * t.called), over=root(spread_true * spread_called), empty=empty)


@baseline(
    symbol="NIR",
    also=("majority-class accuracy", "trivial baseline", "prediction by mode"),
    says="the accuracy of always calling the most frequent class of these rows",
    formula="max(R) / n",
)
def no_information_rate(t: Multiclass) -> Share:
    return share(cast("Amount", t.actual.max(axis=-1)), of=t.n, empty=NO_ROWS)


@baseline(
    also=("prior-random accuracy",),
    says="the expected accuracy of guessing each class as often as it occurs",
    formula="sum(r**2 for r in R) / n**2",
)
def stratified_chance_accuracy(t: Multiclass) -> Number:
    return number(_total(t.actual * t.actual), over=t.n * t.n, empty=NO_ROWS)


@baseline(
    says="the expected accuracy of guessing every class equally often",
    formula="1 / K",
    family="constants",
    source=FUND("heuristics"),
)
def uniform_chance_accuracy(t: Multiclass) -> Number:
    one = np.ones_like(t.n) if isinstance(t.n, np.ndarray) else cast("Amount", 1)
    return number(one, over=t.k * one, empty=NO_ROWS)
