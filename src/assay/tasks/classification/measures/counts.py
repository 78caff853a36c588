# SPDX-License-Identifier: Apache-2.0
"""The four counts and their margins, as measures; and the words for what is empty."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Final

from assay.core.traits import FUND, HIGHER, LOWER, NEITHER, RAINIO, SCHLOSSER, TS4213
from assay.core.values import NO_ROWS, Number, number
from assay.measures.declare import measure
from assay.tally.labels.one_vs_rest import Binary

cell = partial(measure, range=(0, inf), family="counts", spec=("M-BIN-01", "M-MC-01"))
"""One of the four counts of a class."""
margin = partial(
    measure, range=(0, inf), better=NEITHER, family="counts", source=(FUND("marginals"), SCHLOSSER("Table 1")),
    spec="M-BIN-02",
)  # fmt: skip
"""A sum of two of them."""
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
