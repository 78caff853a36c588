# SPDX-License-Identifier: Apache-2.0
"""No value lies outside the range its measure declares, and only measures that say so can be infinite."""

from __future__ import annotations

from math import isinf, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import CASES, SOME, amounts, corners, plain, refuses, tables


def assert_in_range(case, table):
    ready = case.ready(getattr(table, "k", 2))
    if refuses(ready, table):
        return
    value, (low, high) = plain(ready(table)), case.measure.range
    if value is not None:
        assert not isnan(value)
        assert low <= value <= high
        assert case.measure.infinite or not isinf(value)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_value_of_a_small_table_lies_in_the_declared_range(case):
    for table in corners(case):
        assert_in_range(case, table)


@pytest.mark.parametrize("case", CASES, ids=str)
@SOME
@given(data=st.data())
def test_every_value_lies_in_the_declared_range(case, data):
    assert_in_range(case, data.draw(tables(case, amounts)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_declared_range_runs_from_low_to_high_and_can_be_told(case):
    low, high = case.measure.range
    assert low < high
    assert " to " in case.measure.range_shown
