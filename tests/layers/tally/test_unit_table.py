# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import PlanError, RecordError, UnpairedRows
from assay.tally.unit_table import Sums, UnitModels, UnitTable

NAMES = ("n", "error")
numbers = st.floats(-1e9, 1e9, allow_nan=False)
tables = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30)


class Errors(Sums):
    n: object
    error: object


@given(tables, st.randoms(use_true_random=False))
def test_order_of_units_leaves_no_trace(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert UnitTable.build(NAMES, np.array(rows)) == UnitTable.build(NAMES, np.array(shuffled))


@given(tables, tables)
def test_merging_equals_counting_the_union(first, second):
    both = UnitTable.build(NAMES, np.array(first)) + UnitTable.build(NAMES, np.array(second))
    assert both == UnitTable.build(NAMES, np.array(first + second))
    assert both.rows == len(first) + len(second)


@given(tables)
def test_json_round_trip_is_identity(rows):
    table = UnitTable.build(NAMES, np.array(rows), ids=[f"u{i}" for i in range(len(rows))])
    assert UnitTable.from_json(table.to_json()) == table


def test_a_unit_in_both_parts_is_added_up():
    a = UnitTable.build(NAMES, np.array([[1.0, 2.0], [1.0, 3.0]]), ids=["p1", "p2"])
    b = UnitTable.build(NAMES, np.array([[1.0, 5.0]]), ids=["p2"])
    both = a + b
    assert (both.ids, both.units, both.rows) == (("p1", "p2"), 2, 3)
    assert both.select(["p2"]).sums.tolist() == [[2.0, 8.0]]


def test_the_total_is_rounded_once():
    table = UnitTable.build(("x",), np.array([[1e16], [1.0], [-1e16], [1.0]]))
    assert table.total().tolist() == [2.0]


def test_sums_are_numbers_of_one_table_and_arrays_of_a_stack():
    table = UnitTable.build(NAMES, np.array([[1.0, 2.0], [1.0, 4.0]]))
    assert (Errors(table.total()).n, Errors(table.total()).error) == (2.0, 6.0)
    assert Errors(table.without_each()).error.tolist() == [4.0, 2.0]


def test_tables_of_different_sums_do_not_merge():
    with pytest.raises(PlanError, match="different sums"):
        UnitTable.build(NAMES, np.zeros((1, 2))) + UnitTable.build(("n",), np.zeros((1, 1)))


def test_another_kind_of_tally_is_refused():
    with pytest.raises(RecordError, match="not a table of units"):
        UnitTable.from_json({"kind": "confusion", "version": "1"})


def test_models_on_the_same_units_are_joined_by_name_merged_and_written_like_one_table():
    rng = np.random.default_rng(1)
    names = [f"u{i}" for i in range(6)]
    sums = {model: rng.integers(0, 9, (6, 2)).astype(float) for model in "AB"}

    def of(some, order):
        at = [names.index(name) for name in some]
        tables = {model: UnitTable.build(NAMES, sums[model][at], ids=some) for model in order}
        return UnitModels.join(tables)

    whole = of(names, "AB")
    assert of(names[:2], "AB") + of(names[2:], "AB") == whole
    twice = whole + whole
    assert (twice.units, twice.rows) == (6, 12)
    assert UnitModels.from_json(json.loads(json.dumps(whole.to_json()))) == whole
    for model in "AB":
        assert whole.table(model).select(["u3"]).sums.tolist() == [sums[model][3].tolist()]
        assert twice.table(model).select(["u3"]).sums.tolist() == [(2 * sums[model][3]).tolist()]
    with pytest.raises(PlanError, match="other models or sums"):
        whole + of(names, "BA")
    with pytest.raises(UnpairedRows, match="2 units differ"):
        UnitModels.join({"A": whole.table("A"), "B": UnitTable.build(NAMES, sums["B"], ids=[*names[:5], "v"])})
    with pytest.raises(PlanError, match="units of B have no names"):
        UnitModels.join({"A": whole.table("A"), "B": UnitTable.build(NAMES, sums["B"])})
