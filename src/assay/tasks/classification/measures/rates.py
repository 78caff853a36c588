# SPDX-License-Identifier: Apache-2.0
"""Rates of one class against the rest; for K classes each is computed per class."""

from __future__ import annotations

from functools import partial

from assay.core.traits import FUND, HIGHER, LOWER, NEITHER, RAINIO, SCHLOSSER, TS4213, Task
from assay.core.values import NO_ROWS, Share, share
from assay.measures.declare import measure
from assay.tally.labels.one_vs_rest import Binary
from assay.tasks.classification.measures.counts import NO_ACTUAL, NO_ACTUAL_NEGATIVE, NO_CALLED, NO_CALLED_NEGATIVE

rate = partial(measure, range=(0, 1), family="rates")


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
