# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime as dt
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from assay.rows.joins.mismatch_errors import Join
from assay.rows.open import open_source
from assay.rows.score_columns import score_columns
from assay.rows.scored_source import sound
from assay.rows.source import Roles
from tests import flat

PREDICTIONS = "case,guess,reader\nc1,a,x\nc2,b,y\nc3,a,x\n"
TRUTH = "case,label,site\nc3,b,n\nc1,a,n\nc2,b,s\n"


@pytest.fixture
def files(tmp_path):
    """Write predictions and truth, and give back what assess needs to join them."""

    def written(ours=PREDICTIONS, theirs=TRUTH, **changed):
        (tmp_path / "p.csv").write_text(ours, encoding="utf-8")
        (tmp_path / "t.csv").write_text(theirs, encoding="utf-8")
        given = {
            "data": tmp_path / "p.csv",
            "truth_data": tmp_path / "t.csv",
            "id": "case",
            "truth": "label",
            "predicted": "guess",
            "positive": "b",
        }
        return given | changed

    return written


def refusal(given, code, kind=assay.RowsError):
    with pytest.raises(assay.AssayError) as caught:
        flat.assess(**{"reading": assay.Reading(show_ids=True), **given})
    assert caught.value.code == code, caught.value
    assert type(caught.value) is kind
    assert caught.value.fix
    return caught.value


def cells(found):
    return found.confusion.to_json()["cells"]


def test_rows_meet_by_id_whatever_their_order(files):
    found = flat.assess(**files(), group=["site", "reader"])
    assert cells(found) == [[0, 0, 1], [1, 0, 1], [1, 1, 1]]
    assert list(found.by_group["site"]) == ["n", "s"]
    assert list(found.by_group["reader"]) == ["x", "y"]
    assert found.census.said() == "3 rows read = 3 scored + 0 excluded + 0 unmatched"


def test_the_record_tells_where_both_came_from_and_holds_no_id(files):
    record = flat.assess(**files()).record
    data = record["plan"]["data"]
    assert list(record["digests"]["files"]) == ["p.csv", "t.csv"]
    assert data["from"] == "2 files"
    assert data["columns"] == {"truth": "label", "predicted": "guess", "id": "case"}
    side = {"read": 3, "matched": 3, "unmatched": 0}
    assert data["join"] == {"id": ["case"], "predictions": side, "truth": side}
    assert not any(f'"{name}"' in record.to_text() for name in ("c1", "c2", "c3"))  # a digest may hold the letters


def test_a_label_column_of_one_name_on_both_sides_is_told_apart(files):
    given = files(PREDICTIONS.replace("guess", "Label"), TRUTH, predicted="Label")
    assert cells(flat.assess(**given)) == [[0, 0, 1], [1, 0, 1], [1, 1, 1]]
    given = files(PREDICTIONS.replace("guess", "label").replace("c2,b", "c2,"), TRUTH, predicted="label")
    error = refusal(given, "missing-label")
    assert error.found == "1 row without predicted in row 2 of p.csv"


@pytest.mark.parametrize("unmatched", ["error", "count"])
@pytest.mark.parametrize("side", ["p.csv", "t.csv"])
def test_an_id_in_several_rows_is_counted_and_located(files, side, unmatched):
    given = files(unmatched=unmatched)
    path = given["data"].parent / side
    line = path.read_text(encoding="utf-8").splitlines()[1:3]
    path.write_text(path.read_text(encoding="utf-8") + f"{line[0]}\n{line[1]}\n{line[0]}\n", encoding="utf-8")
    error = refusal(given, "duplicate-id")
    assert error.what == "2 ids stand in more than one row, 5 rows in all"
    assert side in error.where
    first, second = (one.partition(",")[0] for one in sorted(line))
    rows = {line[0][:2]: "1, 4, 6", line[1][:2]: "2, 5"}
    assert error.found == f'"{first}" in rows {rows[first]}; "{second}" in rows {rows[second]}'


@pytest.mark.parametrize("side", ["p.csv", "t.csv"])
def test_a_row_without_an_id_is_located(files, side):
    given = files()
    path = given["data"].parent / side
    path.write_text(path.read_text(encoding="utf-8").replace("c2,", ","), encoding="utf-8")
    error = refusal(given, "missing-id")
    assert error.what == "1 row has no id"
    assert side in error.where
    assert error.found == f"in row {2 if side == 'p.csv' else 3}"


def test_unmatched_ids_are_told_on_both_sides(files):
    given = files(PREDICTIONS.replace("c3", "c4") + "D,a,x\n", TRUTH.replace("c2", "c2 ") + "d,a,s\n")
    error = refusal(given, "rows-unmatched", assay.UnpairedRows)
    assert "3 rows of" in error.what
    assert "1 matched" in error.what
    assert 'p.csv without truth: "D" in row 4, "c2" in row 2, "c4" in row 3' in error.found
    assert 't.csv without prediction: "c2 " in row 3, "c3" in row 1, "d" in row 4' in error.found
    assert error.known == 'ids are compared byte for byte: "D" and "d" differ'


def test_unmatched_rows_are_counted_if_asked_for(files):
    given = files(PREDICTIONS + "c4,a,x\nc5,a,x\n", TRUTH + "c6,a,s\n", unmatched="count")
    found = flat.assess(**given)
    assert found.census.said() == "6 rows read = 3 scored + 0 excluded + 3 unmatched"
    assert found.record["rows"] == {"read": 6, "scored": 3, "excluded": {}, "unmatched": 3}
    assert found.record["plan"]["unmatched"] == "count"
    join = found.record["plan"]["data"]["join"]
    assert join["predictions"] == {"read": 5, "matched": 3, "unmatched": 2}
    assert join["truth"] == {"read": 4, "matched": 3, "unmatched": 1}
    again = assay.Assessment.from_record(assay.Record(json.loads(found.record.to_text())))
    assert again.record["rows"] == found.record["rows"]
    assert again.settings.unmatched == "count"
    assert "3 rows" in str(found)


def test_no_match_at_all_is_an_error_in_any_case(files):
    given = files(PREDICTIONS.replace("c", "d").replace("dase", "case"), unmatched="count")
    assert "0 matched" in refusal(given, "rows-unmatched", assay.UnpairedRows).what


def test_missing_labels_among_the_matched_are_left_out_and_counted(files):
    given = files(PREDICTIONS + "c9,,x\n", TRUTH.replace("c2,b", "c2,"), unmatched="count", missing="drop")
    found = flat.assess(**given)
    assert found.census.said() == "4 rows read = 2 scored + 1 excluded (truth is missing) + 1 unmatched"
    error = refusal(given | {"missing": "error"}, "missing-label")
    assert error.found == "1 row without truth in row 3 of t.csv"  # not the unmatched row 4 of the predictions


def test_ids_of_two_kinds_are_refused_with_both(files, tmp_path):
    pq.write_table(pa.table({"case": [1, 2, 3], "label": ["a", "b", "b"]}), tmp_path / "t.parquet")
    given = files(PREDICTIONS.replace("\nc", "\n"), truth_data=tmp_path / "t.parquet")
    error = refusal(given, "column-type-differs")
    assert "text in" in error.what
    assert "whole number in" in error.what


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.int32()])
def test_whole_numbers_of_any_width_are_ids(tmp_path, kind):
    pq.write_table(pa.table({"i": pa.array([1, 2], kind), "y": ["a", "b"]}), tmp_path / "t.parquet")
    pq.write_table(pa.table({"i": pa.array([2, 1], pa.int64()), "p": ["b", "b"]}), tmp_path / "p.parquet")
    found = assay.assess(
        data=tmp_path / "p.parquet",
        reading=assay.Reading(truth_data=tmp_path / "t.parquet"),
        id="i",
        truth="y",
        predicted="p",
        positive="b",
    )
    assert cells(found) == [[0, 1, 1], [1, 1, 1]]


def test_ids_stay_as_they_are_written(files):
    given = files("case,guess\n007,a\n7,b\n9007199254740993,a\n", "case,label\n7,b\n9007199254740993,b\n007,a\n")
    assert cells(flat.assess(**given)) == [[0, 0, 1], [1, 0, 1], [1, 1, 1]]


@pytest.mark.parametrize(("value", "kind"), [(1.5, "DOUBLE"), ([1], "BIGINT[]"), (b"x", "BLOB")])
def test_what_cannot_name_a_row_is_no_id(tmp_path, value, kind):
    pq.write_table(pa.table({"i": [value], "y": ["a"], "p": ["a"]}), tmp_path / "t.parquet")
    given = {"data": tmp_path / "t.parquet", "truth": "y", "predicted": "p", "id": "i"}
    with pytest.raises(assay.RowsError) as caught:
        flat.assess(**given)
    assert caught.value.code in ("column-type", "column-not-scalar")
    assert kind in caught.value.what


def test_dates_and_several_columns_make_an_id(tmp_path):
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 2)]
    pq.write_table(pa.table({"d": days * 2, "i": [1, 1, 2, 2], "y": list("aabb")}), tmp_path / "t.parquet")
    pq.write_table(
        pa.table({"i": [2, 1, 2, 1], "d": [*days, dt.date(2025, 1, 1), days[0]], "p": list("abba")}),
        tmp_path / "p.parquet",
    )
    given = {
        "data": tmp_path / "p.parquet",
        "truth_data": tmp_path / "t.parquet",
        "truth": "y",
        "predicted": "p",
        "positive": "b",
        "group": "i",
    }
    error = refusal(given | {"id": "i"}, "duplicate-id")
    assert error.found == "1 in rows 2, 4; 2 in rows 1, 3"
    given |= {"id": ["i", "d"]}
    error = refusal(given, "rows-unmatched", assay.UnpairedRows)
    assert "without truth: (2, 2025-01-01) in row 3" in error.found
    assert "without prediction: (2, 2024-01-02) in row 4" in error.found
    pq.write_table(pa.table({"i": [2, 1, 2, 1], "d": [*days[::-1], *days], "p": list("abba")}), tmp_path / "p.parquet")
    found = flat.assess(**given)
    assert found.census.scored == 4
    assert found.record["plan"]["data"]["columns"]["id 2"] == "d"
    assert list(found.by_group["i"]) == [1, 2]


def test_a_column_on_both_sides_is_ambiguous_but_for_the_id(files):
    given = files(PREDICTIONS.replace("reader", "site"), group="site")
    error = refusal(given, "column-ambiguous")
    assert "p.csv" in error.what
    assert "t.csv" in error.what
    assert len(flat.assess(**files(group="case")).by_group["case"]) == 3


def test_a_column_that_is_nowhere_is_told_with_those_that_are(files):
    error = refusal(files(group="sit"), "missing-column", assay.MissingColumn)
    assert error.fix == 'did you mean "site"?'
    error = refusal(files(truth="guess"), "missing-column", assay.MissingColumn)
    assert "t.csv" in error.where
    refusal(files(id="cas"), "missing-column", assay.MissingColumn)


def test_weights_may_come_from_either_side(files):
    weighted = TRUTH.replace("site", "w").replace(",n\n", ",0.5\n").replace(",s\n", ",2\n")
    weights = [cell[2] for cell in cells(flat.assess(**files(PREDICTIONS, weighted), weight="w"))]
    assert weights == ["1/2", "1/2", 2]
    error = refusal(files(PREDICTIONS, weighted.replace(",2\n", ",x\n"), weight="w"), "column-not-numeric")
    assert error.found == '"x" in row 3 of t.csv'
    error = refusal(
        files(PREDICTIONS.replace(",y\n", ",-1\n").replace(",x\n", ",1\n"), weight="reader"),
        "weight-negative",
        assay.OutOfRange,
    )
    assert "first in row 2 of p.csv" in error.found


def test_both_sides_may_be_many_files(tmp_path):
    for name, text in {
        "preds/a.csv": "i,p\n1,a\n2,b\n",
        "preds/b.csv": "i,p\n3,b\n",
        "labels/site=n/a.csv": "i,y\n3,b\n",
        "labels/site=s/a.csv": "i,y\n2,a\n1,a\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    given = {
        "data": tmp_path / "preds",
        "truth_data": f"{tmp_path}/labels/*/a.csv",
        "id": "i",
        "truth": "y",
        "predicted": "p",
        "positive": "b",
        "group": "site",
    }
    found = flat.assess(**given)
    assert cells(found) == [[0, 0, 1], [0, 1, 1], [1, 1, 1]]
    files = found.record["digests"]["files"]
    assert list(files) == ["a.csv", "b.csv", "site=n/a.csv", "site=s/a.csv"]
    assert flat.assess(**given, reading=assay.Reading(sha256=files)).census.scored == 3
    refusal(given | {"reading": assay.Reading(sha256="0" * 64)}, "option-unknown", assay.PlanError)
    (tmp_path / "preds/b.csv").write_text("i,p\n3,b\n1,a\n", encoding="utf-8")
    error = refusal(given, "duplicate-id")
    assert error.found == '"1" in row 1 of a.csv, row 2 of b.csv'


def test_names_that_both_sides_share_are_told_apart_in_the_record(tmp_path):
    for side, text in {"preds": "i,p\n1,a\n2,b\n", "truth": "i,y\n1,a\n2,b\n"}.items():
        (tmp_path / side).mkdir()
        (tmp_path / side / "x.csv").write_text(text, encoding="utf-8")
    found = assay.assess(
        data=tmp_path / "preds/x.csv",
        reading=assay.Reading(truth_data=tmp_path / "truth/x.csv"),
        id="i",
        truth="y",
        predicted="p",
        positive="b",
    )
    assert list(found.record["digests"]["files"]) == ["preds/x.csv", "truth/x.csv"]


def test_one_file_may_name_its_id_and_then_every_row_is_named_once(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("i,y,p\n1,a,a\n2,b,b\n1,b,b\n", encoding="utf-8")
    given = {"data": path, "truth": "y", "predicted": "p", "positive": "b", "id": "i"}
    assert refusal(given, "duplicate-id").found == '"1" in rows 1, 3'
    path.write_text("i,y,p\n1,a,a\n,b,b\n", encoding="utf-8")
    assert refusal(given, "missing-id").found == "in row 2"
    path.write_text("i,y,p\n1,a,a\n2,b,b\n", encoding="utf-8")
    found = flat.assess(**given)
    assert found.record["plan"]["data"]["columns"]["id"] == "i"
    assert "join" not in found.record["plan"]["data"]


def test_what_cannot_be_joined_is_refused_before_anything_is_read(files, tmp_path):
    for changed in (
        {"id": None},
        {"data": None},
        {"engine": "abacus"},
        {"engine": "spark://localhost:1", "data": ["a.parquet", "b.parquet"]},
        {"engine": "spark://localhost:1", "truth_data": tmp_path / "x.duckdb"},
    ):
        with pytest.raises(assay.PlanError) as caught:
            flat.assess(**files() | changed)
        assert caught.value.code in ("role-missing", "role-clash", "option-unknown")
    refusal(files(unmatched="drop"), "option-unknown", assay.PlanError)
    refusal(files(id=["case", "case"]), "role-clash", assay.PlanError)
    refusal(files(id=[1]), "role-clash", assay.PlanError)


def test_a_join_says_how_many_of_each_side_were_alone():
    join = Join(by=("i",), predictions=5, truth=4, matched=3)
    assert join.unmatched == 3


def test_an_unfit_score_is_located_in_its_own_file(tmp_path):
    for name, text in {"p/a.csv": "i,s\n1,0.5\n9,\n2,0.3\n", "p/b.csv": "i,s\n3,7\n4,0.9\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "t.csv").write_text("i,s\n1,a\n2,b\n3,a\n4,b\n", encoding="utf-8")
    roles = Roles(truth="s", predicted=None, score=score_columns("s"), id="i")
    source = open_source(tmp_path / "p", roles, assay.Reading(unmatched="count"), truth_data=tmp_path / "t.csv")
    with pytest.raises(assay.AssayError) as caught:
        sound(source, "probability", single=True, drop=False)
    assert caught.value.found == "7.0 in row 1 of b.csv"  # the missing score of the unmatched row is not asked for
    roles = Roles(truth="i", predicted=None, score=score_columns("s"))
    with pytest.raises(assay.AssayError) as caught:
        sound(open_source(tmp_path / "p", roles), "any", single=True, drop=False)
    assert caught.value.found == "nothing in row 2 of a.csv"
