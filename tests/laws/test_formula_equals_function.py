# SPDX-License-Identifier: Apache-2.0
"""What a measure prints as its formula is what it computes, and has no value in the same places."""

from __future__ import annotations

import ast
from math import inf

import pytest
from hypothesis import given

from assay.core.values import Undefined
from assay.tally.labels.one_vs_rest import Multiclass
from tests.laws.formulas import formula_value
from tests.strategies import CASES, MANY, amounts, four, matrices, on_every_corner, on_every_measure, table_size

ROUNDED_ONCE = {
    case.measure.name
    for case in CASES
    if case.measure.average in (None, "micro")
    and case.measure.name != "balanced_accuracy_weighted"  # a mean of rounded class values
    and not any(word in case.measure.formula for word in ("ln(", "exp(", "sqrt("))
}


def assert_formula_and_function_agree(case, table):
    ready = case.ready(table_size(table))
    expected, found = formula_value(ready, table), ready(table)
    if expected is None:
        assert isinstance(found, Undefined), f"{found.value} where the formula divides by zero"
        return
    assert not isinstance(found, Undefined), f"{found.reason}; the formula gives {float(expected)}"
    if expected == inf or case.measure.name in ROUNDED_ONCE:
        assert found.value == float(expected)
    else:
        assert abs(found.value - float(expected)) <= 1e-14 * max(1.0, abs(expected))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_printed_formula_is_the_function_on_every_small_table(case):
    on_every_corner(assert_formula_and_function_agree, case)


@MANY
@given(cells=four(amounts), matrix=matrices(amounts))
def test_the_printed_formula_is_the_function_on_any_table(cells, matrix):
    on_every_measure(assert_formula_and_function_agree, cells, matrix)


def test_a_formula_uses_the_names_of_cells_margins_and_parameters_only():
    cells = {"TP", "FP", "FN", "TN", "n"}
    margins = {"K", "R", "C", "classes", "shares", "w", "i", "r", "c", "t", "p"}
    functions = {"sum", "max", "min", "abs", "zip", "ln", "exp", "sqrt"}
    for case in CASES:
        used = {node.id for node in ast.walk(ast.parse(case.measure.formula)) if isinstance(node, ast.Name)}
        allowed = (
            cells | functions | set(case.measure.parameters) | (margins if case.measure.takes is Multiclass else set())
        )
        assert used <= allowed, f"{case}: {used - allowed}"


def test_most_measures_are_rounded_once():
    assert len(ROUNDED_ONCE) > 45
    assert {"accuracy", "f1", "cohen_kappa", "csmf_accuracy", "youden_index_micro"} <= ROUNDED_ONCE
