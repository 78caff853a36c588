# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import assay
from assay.rows.open import open_source
from assay.rows.score_columns import score_columns
from assay.rows.scored_source import sound
from assay.rows.source import Roles
from tests import flat

LIBRARIES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: ENGINE.from_arrow(pa.table(columns)),
}
ENGINE = duckdb.connect()
ORDERED = ("pandas", "polars", "pyarrow")
PREDICTIONS = {"case": ["c1", "c2", "c3"], "guess": ["a", "b", "a"], "reader": ["x", "y", "x"]}
TRUTH = {"case": ["c3", "c1", "c2"], "label": ["b", "a", "b"], "site": ["n", "n", "s"]}
ROLES = {"id": "case", "truth": "label", "predicted": "guess", "positive": "b"}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return request.param


def given(library, predictions=PREDICTIONS, truth=TRUTH, **more):
    make = LIBRARIES[library]
    return {"data": make(predictions), "truth_data": make(truth), **ROLES, **more}


def refusal(arguments, code, kind=assay.RowsError):
    with pytest.raises(assay.AssayError) as caught:
        flat.assess(**{"reading": assay.Reading(show_ids=True), **arguments})
    assert caught.value.code == code, caught.value
    assert type(caught.value) is kind
    assert caught.value.fix
    return caught.value


def test_frames_of_every_library_meet_by_id(library):
    found = flat.assess(**given(library, group=["site", "reader"]))
    assert found.confusion.to_json()["cells"] == [[0, 0, 1], [1, 0, 1], [1, 1, 1]]
    assert list(found.by_group["reader"]) == ["x", "y"]
    assert list(found.by_group["site"]) == ["n", "s"]
    side = {"read": 3, "matched": 3, "unmatched": 0}
    assert found.record["plan"]["data"]["join"] == {"id": ["case"], "predictions": side, "truth": side}
    assert '"c1"' not in found.record.to_text()  # a digest may hold the letters


def test_weights_of_either_frame_are_taken_along(library):
    found = flat.assess(**given(library, PREDICTIONS | {"w": [0.5, 1.0, 0.25]}, weight="w"))
    assert [cell[2] for cell in found.confusion.to_json()["cells"]] == ["1/2", "1/4", 1]


def test_an_id_in_several_rows_is_counted_and_located_in_any_frame(library):
    doubled = {name: [*values, values[0], values[0]] for name, values in PREDICTIONS.items()}
    error = refusal(given(library, doubled, unmatched="count"), "duplicate-id")
    assert error.what == "1 id stands in more than one row, 3 rows in all"
    assert error.where == 'data, column "case"'
    assert error.found == '"c1"' + (" at index 0, 3, 4" if library in ORDERED else "")
    doubled = {name: [*values, values[0]] for name, values in TRUTH.items()}
    assert refusal(given(library, truth=doubled), "duplicate-id").where == 'truth_data, column "case"'


def test_a_row_without_an_id_is_refused_in_any_frame(library):
    error = refusal(given(library, truth=TRUTH | {"case": ["c3", None, "c2"]}), "missing-id")
    assert error.where == 'truth_data, column "case"'
    assert error.found == ("at index 1" if library in ORDERED else "1 row")


def test_unmatched_ids_are_told_or_counted_in_any_frame(library):
    lone = {name: [*values, values[0]] for name, values in PREDICTIONS.items()} | {"case": ["c1", "c2", "c4", "c5"]}
    error = refusal(given(library, lone), "rows-unmatched", assay.UnpairedRows)
    assert error.what == "2 rows of data without truth and 1 row of truth_data without prediction; 2 matched"
    if library in ORDERED:
        assert 'data without truth: "c4" at index 2, "c5" at index 3' in error.found
    found = flat.assess(**given(library, lone, unmatched="count"))
    assert found.census.said() == "5 rows read = 2 scored + 0 excluded + 3 unmatched"


def test_a_missing_label_is_located_by_its_row_in_data(library):
    ours = {"case": ["c9", "c3", "c2", "c1"], "guess": ["a", "a", None, "b"]}
    error = refusal(given(library, ours, unmatched="count"), "missing-label")
    assert error.found == "1 row without predicted" + (" at index 2" if library in ORDERED else "")


def test_ids_of_two_kinds_are_refused_in_any_frame(library):
    error = refusal(given(library, truth=TRUTH | {"case": [3, 1, 2]}), "column-type-differs")
    assert error.what == 'the id "case" is text in data and whole number in truth_data'
    error = refusal(given(library, truth=TRUTH | {"case": [3.0, 1.0, 2.0]}), "column-type")
    assert "float64" in error.what if library == "pandas" else "DOUBLE" in error.what


def test_several_columns_make_an_id_in_any_frame(library):
    ours = {"a": [1, 1, 2], "b": ["x", "y", "x"], "label": ["a", "b", "b"]}
    theirs = {"b": ["x", "x", "y"], "a": [2, 1, 1], "label": ["b", "a", "a"]}
    make = LIBRARIES[library]
    arguments = {
        "data": make(ours),
        "truth_data": make(theirs),
        "id": ("a", "b"),
        "truth": "label",
        "predicted": "label",
        "positive": "b",
    }
    found = flat.assess(**arguments)
    assert found.confusion.to_json()["cells"] == [[0, 0, 1], [0, 1, 1], [1, 1, 1]]
    assert refusal(arguments | {"id": "a"}, "duplicate-id").found.startswith("1")


def test_a_column_in_both_frames_is_ambiguous(library):
    refusal(given(library, PREDICTIONS | {"site": ["n"] * 3}, group="site"), "column-ambiguous")
    refusal(given(library, group="sitee"), "missing-column", assay.MissingColumn)


def test_frames_of_two_libraries_files_and_columns_meet_by_id(tmp_path):
    pl.DataFrame(TRUTH).write_csv(tmp_path / "truth.csv")
    for data, truth in (
        (pd.DataFrame(PREDICTIONS), pl.DataFrame(TRUTH)),
        (pl.DataFrame(PREDICTIONS), pl.LazyFrame(TRUTH)),
        (pl.DataFrame(PREDICTIONS), tmp_path / "truth.csv"),
        (PREDICTIONS, pa.table(TRUTH)),
    ):
        found = flat.assess(data=data, truth_data=truth, **ROLES)
        assert found.confusion.to_json()["cells"] == [[0, 0, 1], [1, 0, 1], [1, 1, 1]]


def test_categories_and_texts_are_the_same_ids():
    ours = pd.DataFrame(PREDICTIONS | {"case": pd.Categorical(["c1", "c2", "c3"], categories=["c3", "c2", "c1", "z"])})
    found = flat.assess(data=ours, truth_data=pd.DataFrame(TRUTH), **ROLES)
    assert found.confusion.to_json()["cells"] == [[0, 0, 1], [1, 0, 1], [1, 1, 1]]


def test_an_object_column_that_mixes_kinds_is_no_id():
    ours = pd.DataFrame(PREDICTIONS | {"case": pd.Series(["c1", 2, "c3"], dtype=object)})
    refusal({"data": ours, "truth_data": pd.DataFrame(TRUTH), **ROLES}, "column-type")


@pytest.mark.parametrize(
    "column",
    [
        ["a", "b", "a"],
        np.array([1, 2, 1]),
        np.array(["a", "b", "a"]),
        pd.Series(["a", "b", "a"]),
        pl.Series(["a", "b", "a"]),
    ],
    ids=["list", "numbers", "text", "pandas", "polars"],
)
def test_ids_in_memory_name_every_row_once(column):
    error = refusal({"truth": [1, 0, 1], "predicted": [1, 0, 1], "id": column}, "duplicate-id")
    assert error.found.endswith("at index 0, 2")
    assert assay.assess(truth=[1, 0, 1], predicted=[1, 0, 1], id=["7", "a", "b"]).census.scored == 3


def test_unfit_ids_in_memory_are_refused():
    rows = {"truth": [1, 0], "predicted": [1, 0]}
    assert refusal(rows | {"id": ["a", None]}, "missing-id").found == "at index 1"
    refusal(rows | {"id": ["a"]}, "rows-unmatched", assay.UnpairedRows)
    refusal(rows | {"id": [0.5, 1.5]}, "column-type")
    refusal(rows | {"id": ["a", 1.5]}, "column-type")
    refusal(rows | {"id": [7, "7"]}, "column-type")


def test_a_mapping_and_a_frame_may_name_their_id(library):
    columns = {"y": [1, 0, 1], "p": [1, 0, 1], "i": ["a", "b", "a"], "j": [1, 1, 2]}
    for data in (columns, LIBRARIES[library](columns)):
        roles = {"data": data, "truth": "y", "predicted": "p"}
        refusal(roles | {"id": "i"}, "duplicate-id")
        assert flat.assess(**roles, id=["i", "j"]).census.scored == 3
        refusal(roles | {"id": "k"}, "missing-column", assay.MissingColumn)


def test_ids_beside_columns_that_an_engine_counts_are_looked_at_too():
    series = pl.Series(["a", "b", "a"])
    refusal({"truth": series, "predicted": series, "positive": "b", "id": series}, "duplicate-id")


def test_an_unfit_score_is_located_by_its_row_in_data(library):
    make = LIBRARIES[library]
    ours, theirs = make({"i": [9, 1, 2], "s": [0.1, 0.2, 1.5]}), make({"i": [1, 2], "y": ["a", "b"]})
    roles = Roles(truth="y", predicted=None, score=score_columns("s"), id="i")
    with pytest.raises(assay.AssayError) as caught:
        sound(
            open_source(ours, roles, assay.Reading(unmatched="count"), truth_data=theirs),
            "probability",
            single=True,
            drop=False,
        )
    assert caught.value.found == "1.5" + (" at index 2" if library in ORDERED else "")
