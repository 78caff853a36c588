# SPDX-License-Identifier: Apache-2.0
"""Truth and predictions of which one side or both are tables of a database meet by id as two files do."""

from __future__ import annotations

import sqlite3
from itertools import product

import duckdb
import polars as pl
import pytest

import assay
from assay.app.cli import cli
from tests import flat

PREDICTIONS = [("c1", "a", 0.2), ("c2", "b", 0.9), ("c3", "a", 0.4)]
TRUTH = [("c3", "b", "n"), ("c1", "a", "n"), ("c2", "b", "s")]
COLUMNS = {"preds": "case_id TEXT, guess TEXT, score DOUBLE PRECISION", "labels": "case_id TEXT, label TEXT, site TEXT"}
NAMES = ("file", "duckdb", "sqlite", "postgres")
CELLS = [[0, 0, 1], [1, 0, 1], [1, 1, 1]]


def statements(table, rows, mark):
    marks = ", ".join([mark] * 3)
    return f"CREATE TABLE {table} ({COLUMNS[table]})", f"INSERT INTO {table} VALUES ({marks})", rows  # noqa: S608


@pytest.fixture
def put(tmp_path, request):
    """Put rows into a table of a kind of place; back come the arguments that name it."""

    def made(kind, table, rows, name="results"):
        own = "table" if table == "preds" else "truth_table"
        if kind == "file":
            head = ",".join(one.split()[0] for one in COLUMNS[table].split(", "))
            lines = [head, *(",".join("" if x is None else str(x) for x in row) for row in rows)]
            (tmp_path / f"{table}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
            return tmp_path / f"{table}.csv", {}
        if kind == "postgres":
            psycopg = pytest.importorskip("psycopg")
            address = request.getfixturevalue("server").address()
            with psycopg.connect(address) as connection:
                create, insert, some = statements(table, rows, "%s")
                connection.execute(f"DROP TABLE IF EXISTS {table}_met; {create.replace(table, f'{table}_met', 1)}")
                connection.cursor().executemany(insert.replace(table, f"{table}_met", 1), some)
            return address, {own: f"{table}_met"}
        path = tmp_path / f"{name}.{kind}"
        create, insert, some = statements(table, rows, "?")
        connection = (sqlite3 if kind == "sqlite" else duckdb).connect(str(path))
        connection.execute(f"DROP TABLE IF EXISTS {table}")
        connection.execute(create)
        connection.executemany(insert, some)
        connection.commit()
        connection.close()
        return path, {own: table}

    return made


@pytest.fixture
def given(put):
    def both(kinds, predictions=PREDICTIONS, truth=TRUTH, **more):
        (data, ours), (truth_data, theirs) = put(kinds[0], "preds", predictions), put(kinds[1], "labels", truth)
        return {
            "data": data,
            "truth_data": truth_data,
            "reading": assay.Reading(**ours, **theirs, show_ids=True),
            "id": "case_id",
            "truth": "label",
            "predicted": "guess",
            "positive": "b",
            "measures": "recall",
            **more,
        }

    return both


def refusal(arguments):
    with pytest.raises(assay.AssayError) as caught:
        flat.assess(**arguments)
    assert caught.value.fix
    return caught.value


PAIRS = [pair for pair in product(NAMES, repeat=2) if pair != ("file", "file")]


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_a_table_and_a_file_or_two_tables_meet_by_id(given, kinds):
    found = flat.assess(**given(kinds, group="site", score="score", scores="probability"))
    assert found.confusion.to_json()["cells"] == CELLS
    assert list(found.by_group["site"]) == ["n", "s"]
    assert found.scores.whole.rows == 3
    data = found.record["plan"]["data"]
    side = {"read": 3, "matched": 3, "unmatched": 0}
    assert data["join"] == {"id": ["case_id"], "predictions": side, "truth": side}
    assert sorted(name for name in data if "table" in name) == [
        name for name, kind in zip(("table", "truth_table"), kinds, strict=True) if kind != "file"
    ]
    assert len(found.record["digests"].get("files", ())) == len({kind for kind in kinds if kind != "postgres"})


@pytest.mark.parametrize("kind", NAMES[1:])
def test_ids_are_refused_and_located_as_in_files(given, kind):
    numbered = kind != "postgres"  # rows of a table on a server have no numbers
    error = refusal(given((kind, "file"), [*PREDICTIONS, PREDICTIONS[0]]))
    assert (error.code, error.found) == ("duplicate-id", '"c1" in rows 1, 4' if numbered else '"c1"')
    assert ('table "preds' in error.where) is True
    error = refusal(given(("file", kind), truth=[*TRUTH, (None, "a", "n")]))
    assert (error.code, error.found) == ("missing-id", "in row 4" if numbered else "1 row")
    error = refusal(given((kind, kind), truth=[*TRUTH[1:], ("c9", "a", "n")]))
    assert error.code == "rows-unmatched"
    assert ('"c3" in row 3' in error.found) is ('"c9" in row 3' in error.found) is numbered
    found = flat.assess(**given((kind, "file"), [*PREDICTIONS, ("c9", "a", 0.1)], unmatched="count"))
    assert found.census.said() == "4 rows read = 3 scored + 0 excluded + 1 unmatched"


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_faults_of_values_are_located_in_their_own_table(given, kind):
    given_ = given((kind, "file"), [("c1", "a", 0.2), ("c2", "b", 7.0), ("c3", "a", 0.4)], score="score")
    error = refusal(given_ | {"scores": "probability"})
    assert error.code == "score-out-of-range"
    assert f'7.0 in row 2 of {given_["data"]}, table "preds"' in error.found
    error = refusal(given(("file", kind), truth=[*TRUTH[:2], ("c2", None, "n")]))
    assert error.code == "missing-label"


def test_queries_on_two_databases_mean_the_tables_of_their_own(put):
    (ours, _), (theirs, _) = put("duckdb", "preds", PREDICTIONS), put("duckdb", "labels", TRUTH, name="other")
    with duckdb.connect(str(theirs)) as connection:  # a table of the same name, and a view of it
        connection.execute("CREATE TABLE preds AS SELECT 'zz' AS case_id, 'zz' AS guess")
        connection.execute("CREATE VIEW seen AS SELECT * FROM labels")
    with duckdb.connect(str(ours)) as connection:
        connection.execute("CREATE TABLE labels AS SELECT 'zz' AS case_id, 'zz' AS label")
        connection.execute("CREATE VIEW seen AS SELECT * FROM preds")
    wanted = {"id": "case_id", "truth": "label", "predicted": "guess", "positive": "b", "measures": "recall"}
    for reading in (
        assay.Reading(query="SELECT * FROM preds", truth_query="SELECT case_id, label FROM labels"),
        assay.Reading(table="seen", truth_table="seen"),
        assay.Reading(table="seen", truth_query="SELECT case_id, label FROM seen"),
    ):
        found = flat.assess(data=ours, truth_data=theirs, reading=reading, **wanted)
        assert found.confusion.to_json()["cells"] == CELLS
        assert len(found.record["digests"]["files"]) == 2


def test_what_is_asked_of_the_wrong_side_is_refused(given, tmp_path):
    both = given(("file", "sqlite"))
    for options, said in (
        ({"table": "labels"}, "table is given, but data is not a database"),
        ({"truth_table": "labels", "truth_query": "SELECT 1"}, "both truth_table and truth_query"),
        ({"truth_query": "DELETE FROM labels"}, "not a SELECT"),
        ({"truth_table": "lables"}, 'no table "lables"'),
    ):
        error = refusal(both | {"reading": assay.Reading(**options)})
        assert said in str(error), error
    alone = {"data": both["truth_data"], "truth": "label", "predicted": "site"}
    asked = {"reading": assay.Reading(truth_table="labels")}
    assert refusal(alone | asked).code == "role-clash"
    frames = {
        name: pl.DataFrame({"case_id": ["c1"], column: ["a"]})
        for name, column in (("data", "guess"), ("truth_data", "label"))
    }
    assert "no database" in str(refusal(both | asked | frames))
    assert refusal(both | {"truth_data": tmp_path / "none.duckdb"}).code == "no-file"
    assert "cluster does not read" in str(refusal(both | {"engine": "spark://localhost:1"}))
    assert "no engine" in str(refusal(both | {"engine": "polars"}))


def test_limits_and_pins_hold_on_both_sides(given):
    both = given(("duckdb", "sqlite"))
    assert flat.assess(**both, limits=assay.Limits(memory="100MB", threads=1)).census.read == 3
    digests = flat.assess(**both).record["digests"]["files"]
    reading = {"table": "preds", "truth_table": "labels"}
    assert flat.assess(**both | {"reading": assay.Reading(**reading, sha256=digests)}).census.read == 3
    wrong = {**digests, "results.sqlite": "0" * 64}
    for changed, code in (
        ({"sha256": wrong}, "digest-mismatch"),
        ({"sha256": {**digests, "x.csv": "0" * 64}}, "digest-mismatch"),
        ({"sha256": "0" * 64}, "option-unknown"),
        ({"max_rows": 2}, "too-many-rows"),
    ):
        assert refusal(both | {"reading": assay.Reading(**reading, **changed)}).code == code


def test_the_command_line_joins_a_table_and_a_file(given, tmp_path, monkeypatch, capsys):
    both = given(("file", "sqlite"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli(
            [
                "run",
                "preds.csv",
                *("--truth-file", "results.sqlite", "--truth-table", "labels", "--id", "case_id"),
                *("--truth", "label", "--predicted", "guess", "--positive", "b", "--measure", "recall"),
            ]
        )
    assert ended.value.code == 0
    assert "3 rows read = 3 scored" in capsys.readouterr().out
    assert both["id"] == "case_id"
