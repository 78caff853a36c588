# SPDX-License-Identifier: Apache-2.0
"""Scores of many classes: curve areas averaged over classes or pairs of classes, and where the true class ranks."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import figure
from assay.core.traits import EXTENSION, HIGHER, LOWER, RAINIO, SCHLOSSER, TS4213, Task
from assay.core.values import NO_ROWS, Number, Share, number
from assay.measures.declare import measure
from assay.measures.score_averages import macro, micro, one_vs_one, weighted
from assay.tally.calibration_bins import BINS
from assay.tally.scores.row_probabilities import RIGHT, RowScores
from assay.tally.scores.score_tally import Scores, own_losses
from assay.tally.scores.true_class_ranks import Ranks
from assay.tasks.classification.measures.probabilities import (
    expected_calibration_error,
    gap_error,
    infinite_note,
    not_probability,
)
from assay.tasks.classification.measures.score_curves import auroc, average_precision

if TYPE_CHECKING:
    from assay.core.values import Amount
    from assay.tally.calibration_bins import Binning

probability_score = partial(measure, better=LOWER, family="probabilities", only=Task.MULTICLASS)
Ties = Literal["expected", "pessimistic", "optimistic"]
TIES: tuple[Ties, ...] = ("expected", "pessimistic", "optimistic")


AREA = "the area under the ROC curve"
MEAN_PRECISION = "average precision"

auroc_macro = macro(
    auroc,
    of=AREA,
    also=("macro AUROC", "AUROC one-vs-rest"),
    spec=("M-CUR-02",),
    source=(TS4213("6.3.6"), SCHLOSSER("eq. 46")),
)
auroc_weighted = weighted(auroc, of=AREA, also=("weighted AUROC",), spec=("M-CUR-02",), source=(TS4213("6.3.6"),))
auroc_micro = micro(auroc, of=AREA, also=("micro AUROC",), spec=("M-CUR-02",), source=(EXTENSION,))
auroc_one_vs_one = one_vs_one(
    auroc,
    of=AREA,
    symbol="M",
    also=("Hand-Till AUROC", "AUROC one-vs-one", "MAUC"),
    spec=("M-CUR-02",),
    source=(EXTENSION,),
)
mean_average_precision = macro(
    average_precision,
    of=MEAN_PRECISION,
    name="mean_average_precision",
    also=("mean average precision over classes", "macro average precision"),
    spec=("M-CUR-07",),
    source=(SCHLOSSER("eq. 48"),),
    errata=("E-XS-07",),
)
average_precision_weighted = weighted(
    average_precision, of=MEAN_PRECISION, also=("weighted average precision",), spec=("M-CUR-07",), source=(EXTENSION,)
)
average_precision_micro = micro(
    average_precision, of=MEAN_PRECISION, also=("micro average precision",), spec=("M-CUR-07",), source=(EXTENSION,)
)
expected_calibration_error_macro = macro(
    expected_calibration_error,
    of="the expected calibration error",
    also=("class-wise ECE", "static calibration error"),
    spec=("M-PRB-04",),
    source=(EXTENSION,),
)


@measure(
    also=("top-k accuracy",),
    says="of all rows, the share whose true class is among the k highest scores; tied classes share the places left",
    formula="sum(min(max((k - above) / (tied + 1), 0), 1) for above, tied in ranks) / n",
    range=(0, 1),
    better=HIGHER,
    family="curves",
    only=Task.MULTICLASS,
    source=TS4213("Annex C"),
    spec="M-MC-24",
    errata=("E-TS-14",),
)
def top_k_accuracy(t: Ranks, *, k: int, ties: Ties = "expected") -> Share:
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k < t.k:
        raise PlanError(
            "measure-needs",
            f"top_k_accuracy got k = {k!r}",
            known=f"1 to {t.k - 1}",
            fix="give a whole number below the number of classes",
        )
    if ties not in TIES:
        raise PlanError(
            "option-unknown", f"ties = {ties!r} is not a choice", known=", ".join(TIES), fix="choose one of them"
        )
    worst, mean, best = t.within(k)
    within = {"expected": mean, "pessimistic": worst, "optimistic": best}[ties]
    low, high = (figure(float(Fraction(rows) / (t.n or 1))) for rows in (worst, best))
    note = None if worst == best else f"ties at the cut: {low} against, {high} for"
    return Share(cast("Amount", within), cast("Amount", t.n), NO_ROWS, note=note)


@probability_score(
    also=("categorical cross-entropy", "multi-class log loss"),
    says="minus the logarithm of the probability given to the true class, averaged over the rows, in nats",
    formula="-sum(ln(q) for q in own) / n",
    range=(0, inf),
    infinite=True,
    chance="ln K for equal probabilities",
    source=RAINIO("cross-entropy"),
    spec="M-PRB-02",
    errata=("E-RAI-07",),
)
def log_loss_multiclass(t: Scores, *, clip: float | None = None) -> Number:
    own = t.of_truth()
    if wrong := not_probability(own.value):
        return cast("Number", wrong)
    lost = own_losses(t, clip)
    note = infinite_note(int(lost.count[np.isinf(lost.value)].sum()))
    total, rows = float((lost.count * lost.value).sum()), float(own.count.sum())
    return Number(cast("Amount", total), cast("Amount", rows), NO_ROWS, note=note)


@probability_score(
    also=("multi-class Brier score",),
    says="squared distance between the probabilities and the truth, summed over the classes, averaged over the rows",
    formula="(sum((1 - q)**2 for q in own) + sum(q**2 for q in others)) / n",
    range=(0, 2),
    source=EXTENSION,
    spec="M-PRB-03",
)
def brier_score_multiclass(t: Scores) -> Number:
    pooled, size = t.micro(), sum(t.sizes())
    if wrong := not_probability(pooled.score):
        return cast("Number", wrong)
    total = (pooled.pos * (1 - pooled.score) ** 2 + pooled.neg * pooled.score**2).sum()
    return number(cast("Amount", float(total)), over=cast("Amount", float(size)), empty=NO_ROWS)


@probability_score(
    also=("multi-class spherical score",),
    says="the probability given to the true class over the length of all probabilities of the row, averaged",
    formula="sum(q / sqrt(length2) for q, length2 in directions) / n",
    range=(0, 1),
    better=HIGHER,
    chance="1 / sqrt(K) for equal probabilities",
    source=EXTENSION,
    spec="M-PRB-01",
)
def spherical_score_multiclass(t: RowScores) -> Number:
    table = t.direction.one_vs_rest(RIGHT)
    total = (table.score * (table.pos + table.neg)).sum()
    return number(cast("Amount", float(total)), over=cast("Amount", float(table.n)), empty=NO_ROWS)


@measure(
    also=("top-label ECE", "confidence calibration error"),
    says="the gap between the largest probability of a row and how often its class is the true one, averaged over bins",
    formula="sum(abs(p - s) for p, s, m in top(bins, binning)) / n",
    range=(0, 1),
    better=LOWER,
    family="calibration",
    only=Task.MULTICLASS,
    source=EXTENSION,
    spec="M-PRB-04",
)
def top_label_calibration_error(t: RowScores, *, bins: int = BINS, binning: Binning = "width") -> Number:
    return gap_error(t.top.one_vs_rest(RIGHT), bins, binning)
