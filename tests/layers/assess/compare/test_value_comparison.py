# SPDX-License-Identifier: Apache-2.0
"""Values that were measured elsewhere: whatever form they are given in, the comparison is the same."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import assay
from assay.assess.record.verification import verify
from tests import flat

A = [0.81, 0.80, 0.84, 0.79, 0.83, 0.85, 0.80, 0.82, 0.78, 0.86]
B = [0.80, 0.79, 0.80, 0.78, 0.81, 0.80, 0.77, 0.79, 0.77, 0.80]
FOLD = [f"f{i}" for i in range(10)]
WIDE = {"fold": FOLD, "a": A, "b": B}
LONG = {"model": ["A"] * 10 + ["B"] * 10, "fold": FOLD + FOLD[::-1], "acc": A + B[::-1]}
FOLDS = {"per": "fold", "folds": 10}
PLAIN = flat.compare(values={"A": A, "B": B}, **FOLDS)


def paths(tmp_path, table, name="t"):
    pl.DataFrame(table).write_csv(tmp_path / f"{name}.csv")
    pl.DataFrame(table).write_parquet(tmp_path / f"{name}.parquet")
    return [tmp_path / f"{name}.csv", tmp_path / f"{name}.parquet"]


def test_values_of_any_form_give_the_same_findings(tmp_path):
    forms = [
        *({"data": one, "values": {"A": "a", "B": "b"}, "id": "fold"} for one in paths(tmp_path, WIDE)),
        *({"data": one, "values": "acc", "model": "model", "id": "fold"} for one in paths(tmp_path, LONG, "long")),
        *(
            {"data": frame(LONG), "values": "acc", "model": "model", "id": "fold"}
            for frame in (dict, pd.DataFrame, pl.DataFrame)
        ),
        {"data": pl.LazyFrame(WIDE), "values": {"A": "a", "B": "b"}},
        {"values": LONG["acc"], "model": LONG["model"], "id": LONG["fold"]},
        {"values": {"A": A, "B": np.array(B)}, "id": FOLD},
        {"data": {"A": {"f": FOLD, "v": A}, "B": {"f": FOLD[::-1], "v": B[::-1]}}, "values": "v", "id": "f"},
        {"data": {"A": {"v": A}, "B": {"v": B}}, "values": "v", "pairing": "position"},
    ]
    for form in forms:
        found = flat.compare(**form, **FOLDS)
        assert found.record["findings"] == PLAIN.record["findings"]
        assert found.record["tallies"] == PLAIN.record["tallies"]
        assert verify(found.record).holds
        assert (found.proof is None) == ("id" not in form and form.get("pairing") is None)


def test_a_file_of_values_is_known_by_its_digest(tmp_path):
    found = flat.compare(data=paths(tmp_path, WIDE)[0], values={"A": "a", "B": "b"}, **FOLDS)
    assert list(found.record["digests"]["files"]) == ["t.csv"]


def test_folds_of_several_rounds_are_named_by_two_columns():
    rounds = [1] * 5 + [2] * 5
    table = {"model": ["A"] * 10 + ["B"] * 10, "round": rounds * 2, "fold": [0, 1, 2, 3, 4] * 4, "acc": A + B}
    found = assay.compare_values(data=table, values="acc", model="model", id=["round", "fold"], per="fold", folds=5)
    assert found.findings[0].notes[0] == "variance times 1/10 + 0.25, because resamples share rows"
    assert "half_sample_t is at its level" in found.findings[0].notes[1]
    with pytest.raises(assay.RowsError) as error:
        assay.compare_values(data=table, values="acc", model="model", id="fold", per="fold", folds=5)
    assert error.value.code == "duplicate-id"
    assert error.value.found == "0 at index 0, 5; 1 at index 1, 6; 2 at index 2, 7 and 2 more"


def test_repeats_of_a_split_are_resamples_too():
    found = assay.compare_values(values={"A": A, "B": B}, per="repeat", test_over_train="1/4")
    assert found.findings[0].test == "corrected_resampled_t"
    with pytest.raises(assay.PlanError) as error:
        assay.compare_values(
            values={"A": A, "B": B},
            per="repeat",
            test_over_train="1/4",
            tests=assay.TestSettings(test="paired_t", because="habit"),
        )
    assert error.value.code == "test-refused"


def test_exact_values_stay_exact_in_a_table():
    exact = [Decimal("0.1"), Decimal("0.2"), Decimal("0.4")]
    found = assay.compare_values(data={"a": exact, "b": [0, 0, 0]}, values={"A": "a", "B": "b"})
    assert str(found.values.values[0].sum) == "7/10"


def test_subjects_of_a_table_are_matched_and_averaged():
    table = {"m": ["A"] * 3 + ["B"] * 3, "i": [1, 2, 3, 3, 2, 1], "who": ["x", "x", "y", "y", "x", "x"],
             "v": [1.0, 3.0, 5.0, 4.0, 1.0, 1.0]}  # fmt: skip
    found = assay.compare_values(data=table, values="v", model="m", id="i", subject="who")
    assert found.values.matrix().tolist() == [[2.0, 1.0], [5.0, 4.0]]
    with pytest.raises(assay.UnpairedRows, match="another subject"):
        assay.compare_values(data={**table, "who": list("xxyxxx")}, values="v", model="m", id="i", subject="who")


def test_different_items_are_of_any_number():
    table = {"m": ["A"] * 4 + ["B"] * 3, "v": [1.0, 2.0, 3.0, 5.0, 4.0, 7.0, 8.0]}
    found = assay.compare_values(data=table, values="v", model="m", tests=assay.TestSettings(independent=True))
    assert found.findings[0].test == "mann_whitney"
    assert found.values.sizes == (4, 3)


SHORT = {name: column[:-1] for name, column in LONG.items()}


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        ({"data": SHORT, "values": "acc", "model": "model", "id": "fold"}, "rows-unmatched", 'only in A: "f0"'),
        ({"data": LONG, "values": "acc", "model": "model"}, "comparison-needs", "id=COLUMN"),
        ({"data": LONG, "values": "acc", "model": "modle", "id": "fold"}, "missing-column", 'did you mean "model"'),
        ({"data": LONG, "values": {"A": "acc"}, "model": "model", "id": "fold"}, "role-clash", "name a column"),
        ({"data": {**LONG, "model": [None] + ["A"] * 9 + ["B"] * 10}, "values": "acc", "model": "model", "id": "fold"},
         "missing-label", "row 1 names no model"),
        ({"data": {**LONG, "fold": [None, *FOLD[1:], *FOLD[::-1]]}, "values": "acc", "model": "model", "id": "fold"},
         "duplicate-id", "first in row 1"),
        ({"data": {**LONG, "model": ["A"] * 20, "fold": range(20)}, "values": "acc", "model": "model", "id": "fold"},
         "comparison-needs", "needs two"),
        ({"data": {"a": [0.1, None, 0.3], "b": [0.1, 0.2, 0.3]}, "values": {"A": "a", "B": "b"}},
         "value-not-finite", "nothing in row 2"),
        ({"data": {"a": ["x", 0.2], "b": [0.1, 0.2]}, "values": {"A": "a", "B": "b"}}, "value-not-finite", "'x'"),
        ({"data": WIDE, "values": {"A": "a", "B": "c"}}, "missing-column", "column"),
        ({"data": {**WIDE, "fold": ["f0"] * 10}, "values": {"A": "a", "B": "b"}, "id": "fold"}, "duplicate-id", '"f0"'),
        ({"data": {"A": {"v": A}, "B": {"v": B}}, "values": "v"}, "comparison-needs", "pairing='position'"),
        (
            {"data": {"A": {"v": A, "i": range(len(A))}}, "values": "v", "id": "i", "pairing": "position"},
            "role-clash",
            "leave out id",
        ),
        ({"values": {"A": A, "B": B}, "id": FOLD[:-1]}, "rows-unmatched", "id 9"),
        ({"values": A}, "comparison-needs", "one column a model"),
        ({"values": {"A": A[:7], "B": B[:7]}}, "comparison-needs", "a round is not complete"),
        ({"values": {"A": A[:1], "B": B[:1]}}, "comparison-needs", "only 1 fold"),
        ({"values": {"A": A[:1], "B": B[:1]}, "per": "data-set", "folds": None}, "comparison-needs", "only 1 data set"),
        ({"data": LONG, "values": "acc", "model": "model", "id": "fold", "independent": True}, "role-clash", "no item"),
    ],
)  # fmt: skip
def test_values_that_make_no_table_are_refused(given, code, says):
    with pytest.raises(assay.AssayError) as error:
        flat.compare(**{**FOLDS, **given})
    assert error.value.code == code
    assert says in str(error.value)
    assert error.value.fix


def test_an_id_of_an_item_is_no_name_to_be_printed():
    twice = {"a": A, "b": B, "who": ["Ada"] * 10}
    with pytest.raises(assay.RowsError) as error:
        assay.compare_values(data=twice, values={"A": "a", "B": "b"}, id="who")
    assert "Ada" not in str(error.value)
    shown = assay.Reading(show_ids=True)
    with pytest.raises(assay.RowsError, match="Ada"):
        assay.compare_values(data=twice, values={"A": "a", "B": "b"}, id="who", reading=shown)
