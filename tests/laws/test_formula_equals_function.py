# SPDX-License-Identifier: Apache-2.0
"""What a measure prints as its formula is what it computes, and has no value in the same places."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import PlanError
from assay.core.values import Undefined
from tests.laws.formulas import formula_value
from tests.strategies import CASES, SOME, amounts, corners, refuses, tables

ROUNDED_ONCE = {
    case.measure.name
    for case in CASES
    if case.measure.average in (None, "micro")
    and case.measure.name != "balanced_accuracy_weighted"  # a mean of rounded class values
    and not any(word in case.measure.formula for word in ("ln(", "exp(", "sqrt("))
}


def assert_formula_and_function_agree(case, table):
    ready = case.ready(getattr(table, "k", 2))
    if refuses(ready, table):
        with pytest.raises(PlanError, match="class sizes as weights"):
            ready(table)
        return
    expected, found = formula_value(ready, table), ready(table)
    if expected is None:
        assert isinstance(found, Undefined), f"{ready.title} gives {found.value} where its formula divides by zero"
        return
    assert not isinstance(found, Undefined), f"{ready.title}: {found.reason}; its formula gives {float(expected)}"
    if expected == inf or case.measure.name in ROUNDED_ONCE:
        assert found.value == float(expected)
    else:
        assert abs(found.value - float(expected)) <= 1e-14 * max(1.0, abs(expected))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_printed_formula_is_the_function_on_every_small_table(case):
    for table in corners(case):
        assert_formula_and_function_agree(case, table)


@pytest.mark.parametrize("case", CASES, ids=str)
@SOME
@given(data=st.data())
def test_the_printed_formula_is_the_function_on_any_table(case, data):
    assert_formula_and_function_agree(case, data.draw(tables(case, amounts)))


def test_most_measures_are_rounded_once():
    assert len(ROUNDED_ONCE) > 45
    assert {"accuracy", "f1", "cohen_kappa", "csmf_accuracy", "youden_index_micro"} <= ROUNDED_ONCE
