# SPDX-License-Identifier: Apache-2.0
"""Scores of many classes: curve areas averaged over classes or pairs of classes, and where the true class ranks."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import figure, quoted
from assay.core.traits import EXTENSION, HIGHER, LOWER, RAINIO, SCHLOSSER, TS4213, Task
from assay.core.values import NO_ROWS, Number, Raw, Share, Undefined, number, share
from assay.measures.averages import POLICIES, TREATED, Policy, averaged_values
from assay.measures.declare import Measure, measure
from assay.measures.discrimination import auroc
from assay.measures.gains import average_precision
from assay.measures.probabilities import clipped, infinite_note, not_probability
from assay.tally.ranks import Ranks
from assay.tally.scores import Scores

if TYPE_CHECKING:
    from assay.core.values import Amount
    from assay.tally.ranked import Ranked

Ties = Literal["expected", "pessimistic", "optimistic"]
TIES: tuple[Ties, ...] = ("expected", "pessimistic", "optimistic")


def _mean(base: Measure, tables: Sequence[tuple[str, Ranked]], weights: Sequence[float], undefined: Policy) -> Raw:
    """The mean of a measure over named tables; what an undefined one does is the plan's to say (E-XS-09)."""
    if undefined not in POLICIES:
        raise PlanError(
            "option-unknown",
            f"undefined = {undefined!r} is not a way to average",
            known=", ".join(POLICIES),
            fix="choose one of them",
        )
    found = [base(table) for _, table in tables]
    values = np.array([np.nan if isinstance(one, Undefined) else one.value for one in found])
    sizes = np.array(weights, dtype=np.float64)
    if not sizes.sum():
        return Undefined(reason=NO_ROWS, code="n=0")
    lost = [i for i in np.flatnonzero(np.isnan(values)).tolist() if sizes[i] > 0]
    if lost and undefined == "propagate":
        first = cast("Undefined", found[lost[0]])
        name = tables[lost[0]][0]
        why = first.named(positive=name, negative=f"anything but {name}").reason
        more = f" (and {len(lost) - 1} more without a value)" if len(lost) > 1 else ""
        as_zero, left = (averaged_values(values, sizes, policy) for policy in ("zero", "skip"))
        out = f"leaving it out: {figure(left)}" if left is not None else "leaving it out: nothing is left"
        zero = f"counting it as 0: {figure(as_zero or 0.0)}"
        return Undefined(reason=f"class {name} has no value: {why}{more}; {zero}; {out}", code="absent-class")
    mean = averaged_values(values, sizes, undefined)
    if mean is None:
        return Undefined(reason="no class has a value", code="absent-class")
    note = f"{', '.join(tables[i][0] for i in lost)}: no value, {TREATED[undefined]}" if lost else None
    return Number(cast("Amount", mean), note=note)


def _classes(t: Scores) -> list[tuple[str, Ranked]]:
    return [(quoted(label), t.one_vs_rest(label)) for label in t.scored]


def _ones(t: Scores) -> list[float]:
    return [1.0] * len(t.scored) if t.rows else [0.0] * len(t.scored)


def _sizes(t: Scores) -> list[float]:
    return [float(size) for label, size in zip(t.labels, t.sizes(), strict=True) if label in t.scored]


@measure(
    also=("macro AUROC", "AUROC one-vs-rest"),
    says="the area under the ROC curve of each class against the rest, averaged, each class counting the same",
    formula="sum(auroc(i) for i in classes) / K",
    range=(0, 1),
    better=HIGHER,
    family="curves",
    chance="0.5",
    only=Task.MULTICLASS,
    source=(TS4213("6.3.6"), SCHLOSSER("eq. 46")),
    spec="M-CUR-02",
    errata=("E-XS-09",),
)
def auroc_macro(t: Scores, *, undefined: Policy = "propagate") -> Number:
    return cast("Number", _mean(auroc, _classes(t), _ones(t), undefined))


@measure(
    also=("weighted AUROC",),
    says="the area under the ROC curve of each class against the rest, averaged by the true sizes of the classes",
    formula="sum(size[i] * auroc(i) for i in classes if size[i]) / n",
    range=(0, 1),
    better=HIGHER,
    family="curves",
    chance="0.5",
    only=Task.MULTICLASS,
    source=TS4213("6.3.6"),
    spec="M-CUR-02",
    errata=("E-XS-09",),
)
def auroc_weighted(t: Scores, *, undefined: Policy = "propagate") -> Number:
    return cast("Number", _mean(auroc, _classes(t), _sizes(t), undefined))


@measure(
    also=("micro AUROC",),
    says="the area under the ROC curve of all scores pooled, each counted positive for the true class of its row",
    formula="auroc(pooled)",
    range=(0, 1),
    better=HIGHER,
    family="curves",
    chance="0.5",
    only=Task.MULTICLASS,
    source=EXTENSION,
    spec="M-CUR-02",
)
def auroc_micro(t: Scores) -> Number:
    return cast("Number", auroc.raw(t.micro()))


@measure(
    symbol="M",
    also=("Hand-Till AUROC", "AUROC one-vs-one", "MAUC"),
    says="the area under the ROC curve of each pair of classes, both ways, averaged (Hand and Till 2001)",
    formula="sum(auroc(i, j) for i in classes for j in classes if i != j) / (K*(K - 1))",
    range=(0, 1),
    better=HIGHER,
    family="curves",
    chance="0.5",
    only=Task.MULTICLASS,
    source=EXTENSION,
    spec="M-CUR-02",
    errata=("E-XS-09",),
)
def auroc_one_vs_one(t: Scores, *, undefined: Policy = "propagate") -> Number:
    pairs = [(a, b) for a in t.scored for b in t.scored if a != b]
    tables = [(f"{quoted(a)} against {quoted(b)}", t.one_vs_one(a, b)) for a, b in pairs]
    return cast("Number", _mean(auroc, tables, [1.0 if t.rows else 0.0] * len(pairs), undefined))


@measure(
    also=("mean average precision over classes", "macro average precision"),
    says="average precision of each class against the rest, averaged, each class counting the same",
    formula="sum(average_precision(i) for i in classes) / K",
    range=(0, 1),
    better=HIGHER,
    family="curves",
    only=Task.MULTICLASS,
    source=SCHLOSSER("eq. 48"),
    spec="M-CUR-07",
    errata=("E-XS-07", "E-XS-09"),
)
def mean_average_precision(t: Scores, *, undefined: Policy = "propagate") -> Number:
    return cast("Number", _mean(average_precision, _classes(t), _ones(t), undefined))


@measure(
    also=("weighted average precision",),
    says="average precision of each class against the rest, averaged by the true sizes of the classes",
    formula="sum(size[i] * average_precision(i) for i in classes if size[i]) / n",
    range=(0, 1),
    better=HIGHER,
    family="curves",
    only=Task.MULTICLASS,
    source=EXTENSION,
    spec="M-CUR-07",
    errata=("E-XS-09",),
)
def average_precision_weighted(t: Scores, *, undefined: Policy = "propagate") -> Number:
    return cast("Number", _mean(average_precision, _classes(t), _sizes(t), undefined))


@measure(
    also=("micro average precision",),
    says="average precision of all scores pooled, each counted positive for the true class of its row",
    formula="average_precision(pooled)",
    range=(0, 1),
    better=HIGHER,
    family="curves",
    only=Task.MULTICLASS,
    source=EXTENSION,
    spec="M-CUR-07",
)
def average_precision_micro(t: Scores) -> Number:
    return cast("Number", average_precision.raw(t.micro()))


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
    held = {"expected": mean, "pessimistic": worst, "optimistic": best}[ties]
    found = share(cast("Amount", held), of=cast("Amount", t.n), empty=NO_ROWS)
    if worst == best:
        return found
    low, high = (figure(float(Fraction(one) / t.n)) for one in (worst, best))
    return Share(found.numerator, found.denominator, found.empty, note=f"ties at the cut: {low} against, {high} for")


@measure(
    also=("categorical cross-entropy", "multi-class log loss"),
    says="minus the logarithm of the probability given to the true class, averaged over the rows, in nats",
    formula="-sum(ln(q) for q in own) / n",
    range=(0, inf),
    better=LOWER,
    infinite=True,
    family="probabilities",
    chance="ln K for equal probabilities",
    only=Task.MULTICLASS,
    source=RAINIO("cross-entropy"),
    spec="M-PRB-02",
    errata=("E-RAI-07",),
)
def log_loss_multiclass(t: Scores, *, clip: float | None = None) -> Number:
    own = t.of_truth()
    if wrong := not_probability(own.value):
        return cast("Number", wrong)
    chance = clipped(own.value, clip)
    with np.errstate(divide="ignore"):
        total = -(own.count * np.log(chance)).sum()
    zero = int(own.count[chance == 0].sum()) if len(chance) else 0
    return Number(
        cast("Amount", float(total)), cast("Amount", float(own.count.sum())), NO_ROWS, note=infinite_note(zero)
    )


@measure(
    also=("multi-class Brier score",),
    says="squared distance between the probabilities and the truth, summed over the classes, averaged over the rows",
    formula="(sum((1 - q)**2 for q in own) + sum(q**2 for q in others)) / n",
    range=(0, 2),
    better=LOWER,
    family="probabilities",
    only=Task.MULTICLASS,
    source=EXTENSION,
    spec="M-PRB-03",
)
def brier_score_multiclass(t: Scores) -> Number:
    pooled, size = t.micro(), sum(t.sizes())
    if wrong := not_probability(pooled.score):
        return cast("Number", wrong)
    total = (pooled.pos * (1 - pooled.score) ** 2 + pooled.neg * pooled.score**2).sum()
    return number(cast("Amount", float(total)), over=cast("Amount", float(size)), empty=NO_ROWS)
