# SPDX-License-Identifier: Apache-2.0
"""The rows of the decision table for a stated margin: not worse by it, or equal within it."""

from __future__ import annotations

from typing import Final

from assay.inference.decision_words import ALWAYS, NEAR_PERFECT, SUMMED, Condition, Kind, Question, Row, Way

HARDLY_ERRS: Final = (
    "a model ranks nearly every pair right, or nearly every pair wrong, so DeLong's variance is too small or 0"
)
IN_PLACE: Final = " a large-sample test of sums over the units stands in place of swaps and draws"
BOTH_INTERVALS: Final = ", and the rows differ: the interval of the difference follows from those of both"
MANY_ROWS: Final = ": with more than {facts.held_up_to:,} rows" + IN_PLACE
NEAR_AN_END: Final = f", and {HARDLY_ERRS}: the interval of both areas against "
OF_UNITS: Final = " its spread from draws of whole units"


def _rows(kinds: tuple[Kind, ...], *ways: tuple[str, Condition, str, str]) -> tuple[Row, Row]:
    """Rows of both questions; a way is a difference, when it is taken, and why for each question."""
    why = "a margin is stated"
    not_worse = tuple(Way(f"{name}_non_inferiority", when, why + one) for name, when, one, _ in ways)
    alike = tuple(Way(f"{name}_equivalence", when, why + both) for name, when, _, both in ways)
    return (
        Row(number=25, kinds=kinds, models=(2, 2), questions=(Question.NON_INFERIORITY,), ways=not_worse),
        Row(number=25, kinds=kinds, models=(2, 2), questions=(Question.EQUIVALENCE,), ways=alike),
    )


MARGINS: Final[tuple[Row, ...]] = (
    *_rows((Kind.APART,), ("apart", ALWAYS, BOTH_INTERVALS, BOTH_INTERVALS)),
    *_rows(
        (Kind.SUBJECTS, Kind.WEIGHTED, Kind.CLASS_SCORES),
        ("unit_z", SUMMED, MANY_ROWS, MANY_ROWS),
        ("unit", ALWAYS, f": the difference against it,{OF_UNITS}", f": the difference against both ends of it,{OF_UNITS}"),
    ),
    *_rows(
        (Kind.LABELS,),
        ("share", ALWAYS, ": the score test of two shares on the same rows", ": two one-sided score tests on the same rows"),
    ),
    *_rows(
        (Kind.SCORES,),
        ("area", NEAR_PERFECT, f"{NEAR_AN_END}the margin", f"{NEAR_AN_END}both ends of it"),
        ("auroc", ALWAYS, ": DeLong's test against the margin", ": DeLong's test against both ends of it"),
    ),
    *_rows(
        (Kind.ITEMS, Kind.DATA_SETS),
        ("mean", ALWAYS, ": the t test against the margin", ": two one-sided t tests"),
    ),
)  # fmt: skip
