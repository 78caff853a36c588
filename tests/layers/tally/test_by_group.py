# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

import assay
from assay.core.errors import PlanError
from assay.tally.by_group import MISSING, Grouped, note_like_units
from assay.tally.labels.confusion import Confusion
from tests.strategies import confusion_of


def test_levels_are_merged_and_new_ones_appended():
    a = Grouped(factors={"site": {"n": confusion_of([[1]], "a"), "s": confusion_of([[2]], "a")}})
    b = Grouped(factors={"site": {"s": confusion_of([[5]], "a"), "w": confusion_of([[7]], "a")}})
    both = (a + b).factors["site"]
    assert {level: tally.total for level, tally in both.items()} == {"n": 1, "s": 7, "w": 7}


def test_merging_leaves_both_tallies_alone():
    a = Grouped(factors={"site": {"n": confusion_of([[1]], "a")}})
    before = a.to_json()
    _ = a + a
    assert a.to_json() == before


def test_different_factors_cannot_be_merged():
    with pytest.raises(PlanError) as refused:
        Grouped(factors={"site": {}}) + Grouped(factors={"shift": {}})
    assert refused.value.code == "tally-mismatch"
    assert '"site"' in refused.value.found
    assert '"shift"' in refused.value.found


def test_a_level_that_is_a_number_and_one_that_is_its_text_stay_apart_in_json():
    one = confusion_of([[1]], "a")
    grouped = Grouped(factors={"site": {1: one, "1": one}})
    assert list(Grouped.from_json(grouped.to_json(), Confusion.from_json).factors["site"]) == [1, "1"]


def test_rows_without_a_level_have_a_level_of_their_own():
    found = assay.assess(truth=[1, 0, 1], predicted=[1, 0, 0], group={"site": ["n", None, "n"]})
    assert list(found.grouped.factors["site"]) == ["n", MISSING]
    assert found.grouped.factors["site"][MISSING].rows == 1


def test_a_level_called_missing_is_not_mixed_with_rows_that_have_none():
    found = assay.assess(truth=[1, 0, 1], predicted=[1, 0, 0], group={"site": ["n", None, MISSING]})
    assert sum(tally.rows for tally in found.grouped.factors["site"].values()) == 3


def test_every_level_keeps_the_class_list_of_the_whole():
    found = assay.assess(truth=["a", "b", "c"], predicted=["a", "b", "c"], group={"site": ["n", "s", "s"]})
    assert {tally.labels for tally in found.grouped.factors["site"].values()} == {("a", "b", "c")}


@pytest.mark.parametrize(("rows", "noted"), [(1, False), (2, True)])
def test_twenty_levels_of_two_rows_look_like_units(rows, noted):
    levels = {f"p{i}": confusion_of([[rows]], "a") for i in range(20)}
    assert (note_like_units(Grouped(factors={"patient": levels}), 20 * rows) is not None) == noted
    fewer = dict(list(levels.items())[1:])
    assert note_like_units(Grouped(factors={"patient": fewer}), 19 * rows) is None
