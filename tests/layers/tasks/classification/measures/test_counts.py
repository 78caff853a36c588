# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import pytest

from assay.measures import parse
from assay.tally.labels.one_vs_rest import Binary

EXPECTED = {"TP": 4, "FP": 3, "FN": 2, "TN": 1, "P": 6, "N": 4, "PP": 7, "PN": 3}


@pytest.mark.parametrize(("name", "count"), EXPECTED.items())
def test_a_count_is_the_count(name, count):
    assert parse(name)(Binary.of(tp=4, fp=3, fn=2, tn=1)).value == count


@pytest.mark.parametrize("name", EXPECTED)
def test_counts_of_no_rows_are_zero(name):
    assert parse(name)(Binary.of(tp=0, fp=0, fn=0, tn=0)).value == 0


@pytest.mark.parametrize("name", EXPECTED)
def test_a_count_of_weighted_rows_is_their_weight(name):
    half = Fraction(1, 2)
    assert parse(name)(Binary.of(tp=4 * half, fp=3 * half, fn=2 * half, tn=half)).value == EXPECTED[name] / 2


def test_true_negatives_of_a_class_are_not_the_hits_of_the_others():
    # E-RAI-06: a row of b called c is a true negative of a, though nobody's hit.
    assert parse("TN")(Binary.of(tp=1, fp=0, fn=0, tn=5)).value == 5
