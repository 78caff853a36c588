# SPDX-License-Identifier: Apache-2.0
"""Rows of a plan wherever they lie, groups without small cells, and no ids in any Record."""

from __future__ import annotations

import json

import duckdb
import pytest

from assay.assess.conformity.plan_run import run_planned
from assay.assess.plan.checked_plan import load_plan
from assay.assess.record.record import Record
from assay.assess.record.verification import verify
from assay.core.errors import PlanError, UnpairedRows
from tests.layers.assess.compare.test_plan_comparison import HEAD, ONE, planned, rows, save

pytestmark = pytest.mark.usefixtures("one_engine")
ALONE = '[data.test]\npath = "test.csv"\n[models.A]\npredicted = "a"\n'


@pytest.fixture
def table(tmp_path):
    found = rows(90)
    for i, row in enumerate(found):
        row["sex"] = "fm"[i % 2]
        row["site"] = "north" if i < 6 else "east" if i < 40 else "south"
    save(tmp_path / "test.csv", found)
    return found


def counts(record):
    return record["samples"], record["tallies"]["confusion"]["cells"]


def test_truth_may_be_in_the_split_and_predictions_in_files_of_their_own(table, tmp_path):
    whole = planned(tmp_path, ONE)
    save(tmp_path / "a.csv", table[::-1], "id", "a")
    save(tmp_path / "b.csv", table, "id", "b")
    text = '[data.test]\npath = "test.csv"\n'
    for name in "ab":
        text += f'[models.{name.upper()}]\npredictions = "{name}.csv"\njoined = true\npredicted = "{name}"\n'
    save(tmp_path / "test.csv", table, "id", "truth", "sex")
    found = planned(tmp_path, text)
    for name in "AB":
        assert counts(found[name].record) == counts(whole[name].record)
        assert found[name].record["findings"] == whole[name].record["findings"]
        same = next(one for one in found[name].record["controls"] if one["check"] == "CHK-TESTSET-SAME")
        assert same["verdict"] == "pass", same["says"]


def test_rows_without_a_partner_are_refused_or_counted_as_the_plan_says(table, tmp_path):
    save(tmp_path / "a.csv", table[5:], "id", "a")
    text = '[data.test]\npath = "test.csv"\n[models.A]\npredictions = "a.csv"\njoined = true\npredicted = "a"\n'
    save(tmp_path / "test.csv", table, "id", "truth")
    with pytest.raises(UnpairedRows):
        planned(tmp_path, text)
    record = planned(tmp_path, text + '[reading]\nunmatched = "count"\n')[""].record
    assert record["rows"]["unmatched"] == 5


def test_several_files_patterns_and_folders_are_one_data_set(table, tmp_path):
    whole = planned(tmp_path, ALONE)[""].record
    (tmp_path / "parts").mkdir()
    save(tmp_path / "parts" / "one.csv", table[:50])
    save(tmp_path / "parts" / "two.csv", table[50:])
    for path in ('["parts/one.csv", "parts/two.csv"]', '"parts/*.csv"', '"parts"'):
        record = planned(tmp_path, ALONE.replace('"test.csv"', path))[""].record
        assert counts(record) == counts(whole)
        manifest = next(one for one in record["controls"] if one["part"] == "test" and one["check"] == "CHK-MANIFEST")
        assert manifest["facts"]["test"]["rows"] == 90
        assert len(record["digests"]["files"]) == 2
    with pytest.raises(PlanError) as error:
        planned(tmp_path, ALONE.replace('"test.csv"', '"parts/*.parquet"'))
    assert 'there is no file "parts/*.parquet"' in error.value.found


def test_truth_in_a_table_meets_predictions_in_a_file(table, tmp_path):
    whole = planned(tmp_path, ALONE)[""].record
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as base:
        base.execute("CREATE TABLE other (x int)")
        base.execute(
            "CREATE TABLE held AS SELECT id, truth FROM read_csv(?, all_varchar=true)", [str(tmp_path / "test.csv")]
        )
    save(tmp_path / "a.csv", table[::-1], "id", "a")
    text = '[data.test]\npath = "rows.duckdb"\ntable = "held"\n'
    text += '[models.A]\npredictions = "a.csv"\njoined = true\npredicted = "a"\n'
    record = planned(tmp_path, text)[""].record
    assert counts(record) == counts(whole)
    assert record["rows"] == whole["rows"]


@pytest.mark.usefixtures("table")
def test_a_table_of_a_database_is_a_data_set(tmp_path):
    whole = planned(tmp_path, ONE)["A"].record
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as base:
        base.read_csv(str(tmp_path / "test.csv"), all_varchar=True).create("held")
    stored = ONE.replace('"test.csv"', '"rows.duckdb"\ntable = "held"')
    record = planned(tmp_path, stored)["A"].record
    assert counts(record) == counts(whole)
    assert [one["p"] for one in record["findings"]] == [one["p"] for one in whole["findings"]]
    asked = ALONE.replace('"test.csv"', '"rows.duckdb"\nquery = "SELECT * FROM held LIMIT 40"')
    assert planned(tmp_path, asked)[""].record["samples"] == 40


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('[data.test]\npath = "postgresql://me:secret@host/db"\n', "a password stands in the plan"),
        ('[data.test]\npath = "https://host/x.csv"\n', "does not lie in the folder"),
        ('[data.test]\npath = ["x.csv", "../y.csv"]\n', "data.test.path.1"),
        ('[models.A]\njoined = true\npredicted = "a"\n', "nothing is joined"),
        ('[data.test]\npath = "plan.toml"\ntable = "a"\nquery = "b"\n', "contradict"),
    ],
)
def test_places_that_make_no_sense_are_told(tmp_path, text, word):
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    with pytest.raises(PlanError) as error:
        load_plan(tmp_path / "plan.toml")
    assert word in error.value.found


@pytest.mark.usefixtures("table")
def test_the_address_of_a_server_is_a_place_without_its_password(tmp_path):
    (tmp_path / "plan.toml").write_text(
        '[data.test]\npath = "postgresql://me@host/db"\ntable = "t"\n', encoding="utf-8"
    )
    assert load_plan(tmp_path / "plan.toml").plan.data["test"].table == "t"


@pytest.mark.usefixtures("table")
def test_small_cells_of_groups_are_pooled_where_the_plan_says_so(tmp_path):
    text = ALONE + '[fairness]\ngroups = ["site"]\n[use]\nstrata = [{column = "site", level = "north", minimum = 3}]\n'
    open_ = planned(tmp_path, text)[""].record
    assert [one["level"] for one in open_["tallies"]["groups"]["site"]] == ["east", "north", "south"]
    record = planned(tmp_path, text.replace('["site"]', '["site"]\nsmallest_cell = 5'))[""].record
    for level in record["tallies"]["groups"]["site"]:
        assert level["level"] != "north"
        assert all(cell[-1] >= 5 for cell in level["confusion"]["cells"])
    assert sum(one["confusion"]["rows"] for one in record["tallies"]["groups"]["site"]) == 90
    assert "counted together" in " ".join(record["notes"])
    cover = next(one for one in record["controls"] if one["check"] == "CHK-COVERAGE")
    assert cover["verdict"] == "pass"
    assert "north" not in json.dumps(record["estimates"])
    assert verify(Record(json.loads(record.to_text()))).mismatches == ()


def test_no_id_stands_in_any_record_report_or_ledger(tmp_path):
    train, test = rows(40, seed=1), rows(60, seed=2)
    for i, row in enumerate([*train, *test]):
        row |= {"id": f"SECRET-{i:03}", "patient": f"PERSON-{i // 2:03}", "note": f"TEXT-{i:03}", "site": "ab"[i % 2]}
    test[0] |= {name: train[0][name] for name in ("id", "patient", "note")}
    save(tmp_path / "train.csv", train)
    save(tmp_path / "test.csv", test)
    save(tmp_path / "b.csv", test[1:])
    text = f"""{HEAD}subject = "patient"
features = ["note"]
[metrics]
measures = ["accuracy"]
[data.train]
path = "train.csv"
[data.test]
path = "test.csv"
[models.A]
predicted = "a"
trained_on = "train"
[models.B]
predictions = "b.csv"
predicted = "b"
[fairness]
groups = ["site"]
"""
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    import assay.report  # noqa: F401  it introduces the kinds
    from assay.assess.record.report_formats import rendered

    found = run_planned(load_plan(tmp_path / "plan.toml"))
    assert len(found) == 2
    written = [one.record.to_text() + rendered(one.record, "r.html").decode() for _, one in found]
    written.append((tmp_path / "assay-ledger.jsonl").read_text(encoding="utf-8"))
    for content in written:
        for word in ("SECRET", "PERSON", "TEXT-"):
            assert word not in content
    overlap = [one for one in found[0][1].record["controls"] if one["check"] in ("CHK-OVERLAP", "CHK-GROUP")]
    assert any(one["verdict"] == "fail" for one in overlap), "the fault was found without naming anybody"
