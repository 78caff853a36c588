# SPDX-License-Identifier: Apache-2.0
"""Measures of label sets: over all label slots, over rows, over labels, and of label frequencies.

Rows or labels without a value are never counted as 0 or 1 unaided: `undefined` says what becomes of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import figure, listed
from assay.core.traits import EXTENSION, HIGHER, LOWER, RAINIO, TS4213
from assay.core.values import Number, Share, number, share, undefined_number
from assay.measures.declare import Measure, measure
from assay.tasks.multilabel.table import LabelTable

if TYPE_CHECKING:
    from assay.core.values import Amount

NO_ROWS: Final = "there are no rows"
NO_SCORES: Final = "there are no scores"
READINGS: Final = ("skip", "zero", "one")
OF_LABELS: Final = ("propagate", *READINGS)
SETS, SAMPLES, POOLED, LABELS, FREQUENCIES, ORDER = (
    "whole label sets", "row by row", "all label slots", "label by label", "label frequencies", "order of scores",
)  # fmt: skip
Parts = tuple[tuple[str, ...], tuple[str, ...]]
CELLS: Final[dict[str, Parts]] = {
    "precision": (("tp",), ("tp", "fp")),
    "recall": (("tp",), ("tp", "fn")),
    "f1": (("tp", "tp"), ("tp", "tp", "fp", "fn")),
    "jaccard": (("tp",), ("tp", "fp", "fn")),
}
"""Counts that are added up above and below the line."""
of_order = partial(measure, range=(0, 1), better=HIGHER, source=EXTENSION, family=ORDER)


@measure(
    symbol="H_L",
    also=("total Hamming loss", "hamming_loss_sample"),
    says="the share of label slots that are wrong; of one row it is the Hamming loss of that sample",
    formula="wrong / (n * L)",
    range=(0, 1),
    better=LOWER,
    source=(TS4213("6.5.2"), RAINIO("multi-label")),
    spec=("M-ML-02", "M-ML-01"),
    errata=("E-RAI-17",),
    family=SETS,
)
def hamming_loss(t: LabelTable) -> Number:
    return Number(t.wrong, t.n * cast("Any", t.size), NO_ROWS, note=_unused_labels(t))


@measure(
    symbol="E_MR",
    also=("subset accuracy", "EMR"),
    says="the share of rows whose predicted set is exactly the true one",
    formula="exact / n",
    range=(0, 1),
    better=HIGHER,
    source=TS4213("6.5.3"),
    spec="M-ML-03",
    family=SETS,
)
def exact_match_ratio(t: LabelTable) -> Share:
    return share(t.exact, of=t.n, empty=NO_ROWS)


@measure(
    also=("IoU at dataset level", "micro Jaccard", "jaccard_micro"),
    says="labels in both sets, of those in either, added up over all rows",
    formula="both / (true + called - both)",
    range=(0, 1),
    better=HIGHER,
    source=TS4213("6.5.4"),
    spec="M-ML-04",
    errata=("E-TS-27",),
    family=POOLED,
)
def jaccard_dataset(t: LabelTable) -> Number:
    return number(t.both, over=t.true + t.called - t.both, empty="no row has a true or a predicted label")


def _unused_labels(t: LabelTable) -> str | None:
    """The reading of 6.5.2 that counts the labels present alone, where it differs from that of the declared ones."""
    if t.stacked or not t.n:
        return None
    used = sum(bool(tp + fp + fn) for tp, fp, fn in zip(t.tp, t.fp, t.fn, strict=True))
    if used in (0, t.size):
        return None
    other = float(t.wrong) / (float(t.n) * used)
    return f"{t.size} declared labels, of which {used} occur; over those alone: {figure(other)}"


def _declare(name: str, formula: Callable[..., Number], text: str, **facts: Any) -> Measure:  # noqa: ANN401  of `measure`
    """A measure of a family, whose function was made for it."""
    formula.__name__ = name
    return measure(formula=text, range=(0, 1), better=HIGHER, **facts)(formula)


def _declare_samples(kind: str, spec: str, source: Any, errata: tuple[str, ...]) -> Measure:  # noqa: ANN401
    def formula(t: LabelTable, *, undefined: str = "skip") -> Number:
        return _mean_of_rows(t, kind, undefined)

    says = f"{SAYS[kind]}, averaged over rows; rows where it has no value are left out and counted, unless stated"
    text = f"{kind} / {kind}_rows"
    return _declare(
        f"{kind}_samples", formula, text, says=says, source=source, spec=spec, errata=errata, family=SAMPLES
    )


def _declare_micro(kind: str, top: str, below: str) -> Measure:
    """Counts pooled over labels are sums over rows: `both`, `true` and `called`."""

    def formula(t: LabelTable) -> Number:
        over = t.true + t.called if kind == "f1" else t.sum_of(below)
        return number(t.both + t.both if kind == "f1" else t.both, over=over, empty=EMPTY[kind])

    says = f"{SAYS[kind]}, from counts pooled over all labels"
    return _declare(
        f"{kind}_micro", formula, f"{top} / {below}", says=says, source=AVERAGED, spec="M-ML-06", family=POOLED
    )


def _declare_over_labels(kind: str, how: str) -> Measure:
    def formula(t: LabelTable, *, undefined: str = "propagate") -> Number:
        return _mean_of_labels(t, kind, how, undefined)

    top, below = CELLS[kind]
    ratio = f"({' + '.join(top)}) / ({' + '.join(below)})"
    weight = "mean over labels of " if how == "macro" else "mean, weighted by true labels, of "
    says = f"{SAYS[kind]}, averaged over labels" + ("" if how == "macro" else " by how often they are true")
    source, spec = (EXTENSION, "M-ML-08") if kind == "jaccard" else (AVERAGED, "M-ML-07")
    return _declare(f"{kind}_{how}", formula, weight + ratio, says=says, source=source, spec=spec, family=LABELS)


AVERAGED: Final = (RAINIO("multi-label"), TS4213("6.5.1"))
SAYS: Final = {
    "precision": "of the predicted labels, the share that is true",
    "recall": "of the true labels, the share that was predicted",
    "f1": "the harmonic mean of precision and recall",
    "jaccard": "labels in both sets, of those in either",
}
EMPTY: Final = {
    "precision": "no row has a predicted label",
    "recall": "no row has a true label",
    "f1": "no row has a true or a predicted label",
}
POOLS: Final = {"precision": ("both", "called"), "recall": ("both", "true"), "f1": ("2 * both", "(true + called)")}
jaccard_samples = _declare_samples("jaccard", "M-ML-05", TS4213("6.5.4"), ("E-TS-27", "E-XS-09"))
for _kind in ("precision", "recall", "f1"):
    _declare_micro(_kind, *POOLS[_kind])
    _declare_over_labels(_kind, "macro")
    _declare_over_labels(_kind, "weighted")
    _declare_samples(_kind, "M-ML-09", EXTENSION, ("E-XS-09",))
jaccard_macro = _declare_over_labels("jaccard", "macro")


@measure(
    also=("accuracy_micro", "micro accuracy over label slots"),
    says="the share of label slots that are right: one minus the Hamming loss",
    formula="1 - wrong / (n * L)",
    range=(0, 1),
    better=HIGHER,
    source=RAINIO("multi-label"),
    spec="M-ML-06",
    family=POOLED,
)
def slot_accuracy(t: LabelTable) -> Number:
    slots = t.n * cast("Any", t.size)
    return number(slots - t.wrong, over=slots, empty=NO_ROWS)


def _mean_of_rows(t: LabelTable, kind: str, undefined: str) -> Number:
    _check(undefined, READINGS)
    total, rows = t.sum_of(kind), t.sum_of(f"{kind}_rows")
    if undefined == "skip":
        empty = f"no row has a {kind}: every set is empty"
        note = None if t.stacked or not t.n - rows else _rows_left_out(t, kind, total, rows)
        return Number(total, rows, empty, note=note)
    filled = total + (t.n - rows if undefined == "one" else 0 * t.n)
    return number(filled, over=t.n, empty=NO_ROWS)


def _rows_left_out(t: LabelTable, kind: str, total: Amount, rows: Amount) -> str:
    left, n = int(t.n - rows), int(t.n)
    zero, one = float(total) / n, float(total + (t.n - rows)) / n
    return f"{left:,} of {n:,} rows have no {kind} and are left out; as 0: {figure(zero)}, as 1: {figure(one)}"


def _mean_of_labels(t: LabelTable, kind: str, how: str, undefined: str) -> Number:
    """Values of labels averaged; one without a value makes the mean undefined, unless stated."""
    _check(undefined, OF_LABELS)
    top, below = CELLS[kind]
    tops = sum(getattr(t, cell) for cell in top)
    belows = sum(getattr(t, cell) for cell in below)
    weights = t.tp + t.fn if how == "weighted" else np.ones_like(t.tp)
    if not t.stacked:
        return _exact_mean(t, tops, belows, weights, undefined)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(belows > 0, tops / belows, np.nan)
    lost = np.isnan(values) & (weights > 0)
    if undefined == "skip":
        weights = np.where(lost, 0.0, weights)
    filled = np.where(np.isnan(values), 1.0 if undefined == "one" else 0.0, values)
    over = weights.sum(axis=-1)
    if undefined == "propagate":
        over = np.where(lost.any(axis=-1), 0.0, over)
    return number(cast("Amount", (weights * filled).sum(axis=-1)), over=over, empty="a label has no value")


def _exact_mean(t: LabelTable, tops: Any, belows: Any, weights: Any, undefined: str) -> Number:  # noqa: ANN401
    lost = [label for label, below, weight in zip(t.labels, belows, weights, strict=True) if not below and weight]
    known = [(Fraction(top, below), w) for top, below, w in zip(tops, belows, weights, strict=True) if below]
    total, weight = sum((value * w for value, w in known), Fraction(0)), sum(w for _, w in known)
    total_weight = sum(weights)
    readings = (
        ""
        if not weight
        else f"; left out: {figure(float(total / weight))}, as 0: {figure(float(total / total_weight))}"
    )
    if undefined == "propagate" and lost:
        # A note cannot carry the reason: the value itself is undefined.
        return undefined_number(f"no value for {listed(lost)}{readings}")
    if undefined in ("zero", "one"):
        filled = total + (sum(w for b, w in zip(belows, weights, strict=True) if not b) if undefined == "one" else 0)
        return Number(cast("Amount", filled), cast("Amount", total_weight), NO_ROWS)
    return Number(cast("Amount", total), cast("Amount", weight), "no label has a value")


def _check(undefined: str, known: tuple[str, ...]) -> None:
    if undefined not in known:
        raise PlanError(
            "measure-needs",
            f"undefined={undefined!r} is not a reading of sets without a value",
            known=", ".join(known),
            fix="choose one of them",
        )


def _divergence(shares: Callable[[LabelTable], tuple[Any, Any]], t: LabelTable) -> Number:
    """The Kullback-Leibler divergence of two vectors of shares; infinite where the second lacks a label."""
    first, second = shares(t)
    a, b = (np.asarray(side, dtype=np.float64) for side in (first, second))
    totals = a.sum(axis=-1), b.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = a / totals[0][..., np.newaxis], b / totals[1][..., np.newaxis]
        parts = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)
    value = parts.sum(axis=-1) if t.stacked else math.fsum(parts.tolist())
    some = (totals[0] > 0) & (totals[1] > 0)
    if t.stacked:
        return Number(np.where(some, value, 0.0), np.where(some, 1.0, 0.0), NO_LABELS, infinite=True)
    note = f"{int(totals[0]):,} against {int(totals[1]):,} labels"
    if some and math.isinf(cast("float", value)):
        return Number(cast("Amount", 1), cast("Amount", 0), NO_LABELS, infinite=True, note=note)
    over = 1 if some else 0
    return Number(cast("Amount", value if some else 0), cast("Amount", over), NO_LABELS, infinite=False, note=note)


NO_LABELS: Final = "no row has a true label, or none has a predicted one"


@measure(
    symbol="D_KL",
    also=("KL of label frequencies, 6.5.5 direction",),
    says="how far the frequencies of predicted labels are from those of true labels",
    formula="sum(P/T_p * ln((P/T_p) / (T/T_t)))",
    range=(0, math.inf),
    better=LOWER,
    source=TS4213("6.5.5"),
    spec="M-DIS-04",
    errata=("E-TS-01", "E-TS-03"),
    infinite=True,
    family=FREQUENCIES,
)
def kl_pred_truth_multilabel(t: LabelTable) -> Number:
    return _divergence(lambda t: (t.tp + t.fp, t.tp + t.fn), t)


@measure(
    says="how far the frequencies of true labels are from those of predicted labels",
    formula="sum(T/T_t * ln((T/T_t) / (P/T_p)))",
    range=(0, math.inf),
    better=LOWER,
    source=TS4213("6.2.7"),
    spec="M-DIS-01",
    errata=("E-TS-01", "E-TS-04"),
    infinite=True,
    family=FREQUENCIES,
)
def kl_truth_pred(t: LabelTable) -> Number:
    return _divergence(lambda t: (t.tp + t.fn, t.tp + t.fp), t)


@of_order(
    also=("LRAP",),
    says="of the labels ranked at least as high as a true one, the share that is true; mean over labels, then rows",
    formula="lrap / lrap_rows",
)
def label_ranking_average_precision(t: LabelTable) -> Number:
    return _mean_of_ranks(t, "lrap")


@of_order(
    says="how far down the ranked labels one must go to meet every true label of a row",
    formula="coverage / coverage_rows",
    range=(0, math.inf),
    better=LOWER,
)
def coverage_error(t: LabelTable) -> Number:
    return _mean_of_ranks(t, "coverage")


@of_order(
    says="the share of pairs of a true and another label of a row that are in the wrong order, ties as wrong",
    formula="ranking_loss / ranking_loss_rows",
    better=LOWER,
)
def label_ranking_loss(t: LabelTable) -> Number:
    return _mean_of_ranks(t, "ranking_loss")


def _mean_of_ranks(t: LabelTable, name: str) -> Number:
    total, rows = t.sum_of(name), t.sum_of(f"{name}_rows")
    note = None
    if not t.stacked and rows and t.n - rows:
        left = int(t.n - rows)
        zero = figure(float(total) / int(t.n))
        note = f"{left:,} of {int(t.n):,} rows have nothing to rank and are left out; as 0: {zero}"
    return Number(total, rows, NO_SCORES, note=note)
