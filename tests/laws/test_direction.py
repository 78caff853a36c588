# SPDX-License-Identifier: Apache-2.0
"""A perfect table reaches the best end, no table with the same classes beats it, and righting a wrong never harms."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.traits import HIGHER, LOWER, NEITHER
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from tests.strategies import (
    BINARY_CASES,
    CASES,
    FEW,
    FOUR_CORNERS,
    MANY,
    binary,
    counts,
    four,
    matrices,
    on_every_measure,
    plain,
    refuses,
)  # fmt: skip

DIRECTED = [case for case in CASES if case.measure.better is not NEITHER]
RANKED = [case for case in BINARY_CASES if case.measure.better is not NEITHER]
present = st.integers(1, 2**40)


def best_end(measure):
    return measure.range[1] if measure.better is HIGHER else measure.range[0]


def at_least_as_good(measure, a, b):
    return a >= b if measure.better is HIGHER else a <= b


def perfect_value(case, sizes):
    """The value when every row of these class sizes is classified rightly; None where that is undefined."""
    if case.measure.takes is Binary:
        return plain(case(binary((sizes[0], 0, 0, sizes[1]))))
    table = Multiclass.of([[n if i == j else 0 for j in range(len(sizes))] for i, n in enumerate(sizes)])
    return None if refuses(case.ready(table.k), table) else plain(case(table))


@pytest.mark.parametrize("case", [case for case in DIRECTED if case.measure.family != "counts"], ids=str)
@FEW
@given(sizes=st.lists(present, min_size=2, max_size=8))
def test_a_perfect_table_reaches_the_best_end(case, sizes):
    value = perfect_value(case, sizes)
    no_errors_left = ("reference", 1) in case.given
    # A reference that never errs leaves nothing to gain: the skill over it and the ratio of errors are undefined.
    assert value == best_end(case.measure) or (no_errors_left and value is None)


@MANY
@given(cells=four(counts), matrix=matrices(counts, least=2))
def test_no_table_of_the_same_classes_is_better_than_the_perfect_one(cells, matrix):
    def assert_perfect_is_best(case, table):
        sizes = [table.actual, table.actual_negative] if isinstance(table, Binary) else table.actual.tolist()
        value, perfect = plain(case(table)), perfect_value(case, sizes)
        if value is not None and perfect is not None and case in DIRECTED:
            assert at_least_as_good(case.measure, perfect, value)

    on_every_measure(assert_perfect_is_best, cells, matrix)


def righted(cells):
    """The same table with one more row of each kind of error put right."""
    tp, fp, fn, tn = cells
    if fn:
        yield (tp + 1, fp, fn - 1, tn)
    if fp:
        yield (tp, fp - 1, fn, tn + 1)


@pytest.mark.parametrize("case", RANKED, ids=str)
def test_putting_an_error_right_never_makes_a_class_measure_worse(case):
    compared = 0
    for cells in FOUR_CORNERS:
        before = plain(case(binary(cells)))
        for better in righted(cells):
            after = plain(case(binary(better)))
            if before is not None and after is not None:
                assert at_least_as_good(case.measure, after, before), f"{cells} -> {better}: {before} -> {after}"
                compared += 1
    assert compared > 200


@pytest.mark.parametrize("case", [case for case in CASES if case.measure.better is NEITHER], ids=str)
def test_a_measure_without_a_direction_describes_the_data_only(case):
    truth_only = {"prevalence", "actual_positives", "actual_negatives", "gini_impurity", "no_information_rate"}
    truth_only |= {"stratified_chance_accuracy", "uniform_chance_accuracy"}
    called_only = {"predicted_positives", "predicted_negatives", "predicted_positive_rate"}
    assert case.measure.name in truth_only | called_only


def test_both_directions_and_infinity_are_covered():
    assert {case.measure.better for case in DIRECTED} == {HIGHER, LOWER}
    assert inf in {best_end(case.measure) for case in DIRECTED}
