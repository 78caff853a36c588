# SPDX-License-Identifier: Apache-2.0
"""Counts, margins and rates of one class against the rest, and the words for what is empty; for K classes by class."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Final

from assay.core.traits import FUND, HIGHER, LOWER, NEITHER, RAINIO, SCHLOSSER, TS4213, Task
from assay.core.values import NO_ROWS, Number, Share, number, share
from assay.measures.declare import measure
from assay.tally.labels.one_vs_rest import Binary

cell = partial(measure, range=(0, inf), family="counts", spec=("M-BIN-01", "M-MC-01"))
"""One of the four counts of a class."""
margin = partial(
    measure, range=(0, inf), better=NEITHER, family="counts", source=(FUND("marginals"), SCHLOSSER("Table 1")),
    spec="M-BIN-02",
)  # fmt: skip
"""A sum of two of them."""
rate = partial(measure, range=(0, 1), family="rates")
NO_ACTUAL: Final = "no row is truly {positive}"
NO_ACTUAL_NEGATIVE: Final = "no row is truly {negative}"
NO_CALLED: Final = "no row was predicted {positive}"
NO_CALLED_NEGATIVE: Final = "no row was predicted {negative}"
NO_MENTION: Final = "no row is truly {positive} and none was predicted so"


@cell(
    symbol="TP",
    also=("hits",),
    says="rows of the class that were found",
    formula="TP",
    better=HIGHER,
    source=(TS4213("3.2.2"), RAINIO("Table 1"), SCHLOSSER("Table 1")),
    errata=("E-XS-03",),
)
def true_positives(t: Binary) -> Number:
    return number(t.tp, empty=NO_ROWS)


@cell(
    symbol="FP",
    also=("false alarms", "type I errors"),
    says="rows called the class that are not",
    formula="FP",
    better=LOWER,
    source=(TS4213("3.2.4"), RAINIO("Table 1"), SCHLOSSER("Table 1")),
    errata=("E-XS-03",),
)
def false_positives(t: Binary) -> Number:
    return number(t.fp, empty=NO_ROWS)


@cell(
    symbol="FN",
    also=("misses", "type II errors"),
    says="rows of the class that were not found",
    formula="FN",
    better=LOWER,
    source=(TS4213("3.2.5"), RAINIO("Table 1"), SCHLOSSER("Table 1")),
    errata=("E-XS-03",),
)
def false_negatives(t: Binary) -> Number:
    return number(t.fn, empty=NO_ROWS)


@cell(
    symbol="TN",
    also=("correct rejections",),
    says="rows outside the class that were left there",
    formula="TN",
    better=HIGHER,
    source=(TS4213("3.2.3"), RAINIO("Table 1"), SCHLOSSER("Table 1")),
    errata=("E-XS-03", "E-RAI-06"),
)
def true_negatives(t: Binary) -> Number:
    return number(t.tn, empty=NO_ROWS)


@margin(
    symbol="P",
    also=("class size", "support"),
    says="rows that truly belong to the class",
    formula="TP + FN",
)
def actual_positives(t: Binary) -> Number:
    return number(t.actual, empty=NO_ROWS)


@margin(
    symbol="N",
    says="rows that truly lie outside the class",
    formula="FP + TN",
)
def actual_negatives(t: Binary) -> Number:
    return number(t.actual_negative, empty=NO_ROWS)


@margin(
    symbol="PP",
    says="rows called the class",
    formula="TP + FP",
)
def predicted_positives(t: Binary) -> Number:
    return number(t.called, empty=NO_ROWS)


@margin(
    symbol="PN",
    says="rows not called the class",
    formula="FN + TN",
)
def predicted_negatives(t: Binary) -> Number:
    return number(t.called_negative, empty=NO_ROWS)


@rate(
    symbol="π",
    also=("base rate", "true class share"),
    says="the share of rows that truly belong to the class",
    formula="(TP + FN) / n",
    better=NEITHER,
    source=(SCHLOSSER("eq. 11"), TS4213("6.4.4")),
    spec=("M-BIN-03", "M-DIS-05", "M-CHN-04"),
)
def prevalence(t: Binary) -> Share:
    return share(t.actual, of=t.n, empty=NO_ROWS)


@rate(
    also=("selection rate", "acceptance rate", "share of positive predictions", "predicted class share"),
    says="the share of rows called the class",
    formula="(TP + FP) / n",
    better=NEITHER,
    source=(TS4213("6.3.8"), FUND("statistical parity")),
    spec=("M-BIN-15", "M-DIS-05", "M-CHN-04"),
)
def predicted_positive_rate(t: Binary) -> Share:
    return share(t.called, of=t.n, empty=NO_ROWS)


@rate(
    also=("one-vs-rest accuracy",),
    says="of all rows, the share put on the right side of the class",
    formula="(TP + TN) / n",
    better=HIGHER,
    only=Task.MULTICLASS,
    source=(TS4213("Table A.3"), SCHLOSSER("eq. 16")),
    spec="M-MC-04",
    errata=("E-TS-07",),
)
def binary_accuracy(t: Binary) -> Share:
    return share(t.tp + t.tn, of=t.n, empty=NO_ROWS)


@rate(
    symbol="PPV",
    also=("positive predictive value", "Pre."),
    says="of the rows called the class, the share that truly is",
    formula="TP / (TP + FP)",
    better=HIGHER,
    chance="the prevalence",
    source=(TS4213("6.2.4"), RAINIO("eq. 1"), FUND("metrics"), SCHLOSSER("eq. 1")),
    spec="M-BIN-06",
    errata=("E-TS-10",),
)
def precision(t: Binary) -> Share:
    return share(t.tp, of=t.called, empty=NO_CALLED)


@rate(
    symbol="TPR",
    also=("sensitivity", "true positive rate", "hit rate", "per-class accuracy", "class accuracy", "Sen.", "Rec."),
    says="of the rows that truly are the class, the share that was found",
    formula="TP / (TP + FN)",
    better=HIGHER,
    chance="the share of rows called the class",
    source=(TS4213("6.2.4"), RAINIO("eq. 1"), FUND("metrics"), SCHLOSSER("eq. 6")),
    spec=("M-BIN-07", "M-MC-03"),
    errata=("E-TS-07", "E-FUN-04"),
)
def recall(t: Binary) -> Share:
    return share(t.tp, of=t.actual, empty=NO_ACTUAL)


@rate(
    symbol="TNR",
    also=("selectivity", "true negative rate", "Spe."),
    says="of the rows outside the class, the share left there",
    formula="TN / (TN + FP)",
    better=HIGHER,
    source=(TS4213("6.2.4"), RAINIO("eq. 1"), FUND("metrics"), SCHLOSSER("eq. 10")),
    spec="M-BIN-08",
)
def specificity(t: Binary) -> Share:
    return share(t.tn, of=t.actual_negative, empty=NO_ACTUAL_NEGATIVE)


@rate(
    symbol="NPV",
    says="of the rows not called the class, the share that truly is not",
    formula="TN / (TN + FN)",
    better=HIGHER,
    source=(FUND("metrics"), SCHLOSSER("eq. 5")),
    spec="M-BIN-09",
)
def negative_predictive_value(t: Binary) -> Share:
    return share(t.tn, of=t.called_negative, empty=NO_CALLED_NEGATIVE)


@rate(
    symbol="FPR",
    also=("fall-out",),
    says="of the rows outside the class, the share called the class",
    formula="FP / (FP + TN)",
    better=LOWER,
    source=(TS4213("3.2.12"), FUND("metrics"), SCHLOSSER("eq. 33")),
    spec="M-BIN-10",
    errata=("E-SCH-08",),
)
def false_positive_rate(t: Binary) -> Share:
    return share(t.fp, of=t.actual_negative, empty=NO_ACTUAL_NEGATIVE)


@rate(
    symbol="FNR",
    also=("miss rate",),
    says="of the rows that truly are the class, the share that was missed",
    formula="FN / (FN + TP)",
    better=LOWER,
    source=(FUND("metrics"), SCHLOSSER("eq. 34")),
    spec="M-BIN-11",
)
def false_negative_rate(t: Binary) -> Share:
    return share(t.fn, of=t.actual, empty=NO_ACTUAL)


@rate(
    says="of the rows called the class, the share that is not",
    formula="FP / (FP + TP)",
    better=LOWER,
    source=(FUND("metrics"), SCHLOSSER("eq. 28")),
    spec="M-BIN-12",
    errata=("E-SCH-04",),
)
def false_discovery_rate(t: Binary) -> Share:
    return share(t.fp, of=t.called, empty=NO_CALLED)


@rate(
    symbol="FOR",
    says="of the rows not called the class, the share that is",
    formula="FN / (FN + TN)",
    better=LOWER,
    source=(FUND("metrics"), SCHLOSSER("eq. 32")),
    spec="M-BIN-13",
    errata=("E-FUN-01",),
)
def false_omission_rate(t: Binary) -> Share:
    return share(t.fn, of=t.called_negative, empty=NO_CALLED_NEGATIVE)
