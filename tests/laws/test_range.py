# SPDX-License-Identifier: Apache-2.0
"""No value lies outside the range its measure declares, and only measures that say so can be infinite."""

from __future__ import annotations

from math import isinf, isnan

import pytest
from hypothesis import given

from tests.strategies import CASES, MANY, amounts, four, matrices, on_every_corner, on_every_measure, plain


def assert_in_range(case, table):
    value, (low, high) = plain(case(table)), case.measure.range
    if value is not None:
        assert not isnan(value)
        assert low <= value <= high
        assert case.measure.infinite or not isinf(value)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_value_of_a_small_table_lies_in_the_declared_range(case):
    on_every_corner(assert_in_range, case)


@MANY
@given(cells=four(amounts), matrix=matrices(amounts))
def test_every_value_lies_in_the_declared_range(cells, matrix):
    on_every_measure(assert_in_range, cells, matrix)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_declared_range_runs_from_low_to_high_and_can_be_told(case):
    low, high = case.measure.range
    assert low < high
    assert " to " in case.measure.range_shown
