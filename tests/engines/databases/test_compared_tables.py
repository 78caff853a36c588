# SPDX-License-Identifier: Apache-2.0
"""Models in tables of databases, alone or beside files, are compared as models in files are."""

from __future__ import annotations

import json
import sqlite3

import duckdb
import polars as pl
import pytest
from click.testing import CliRunner

import assay
from assay.app.cli import cli
from assay.assess.compare import comparison as comparing
from tests import flat

N = 30
Y = ["xy"[i % 2] for i in range(N)]
OLD = {
    "id": [f"r{i}" for i in range(N)],
    "y": Y,
    "p": ["xyy"[i % 3] for i in range(N)],
    "s": [i % 7 / 7 for i in range(N)],
}
NEW = {**OLD, "p": ["xyyxy"[i % 5] for i in range(N)], "s": [i % 11 / 11 for i in range(N)]}
UNITS = {"who": [i // 3 for i in range(N)], "w": [1.0, 2.5] * (N // 2)}
GIVEN = {"truth": "y", "id": "id", "positive": "x"}
WANTED = {
    "labels": {"predicted": "p"},
    "both": {"predicted": "p", "score": "s"},
    "subjects": {"predicted": "p", "subject": "who", "weight": "w"},
}


@pytest.fixture(autouse=True)
def untested(monkeypatch):
    """Findings are functions of the tallies, and take longer than these."""
    monkeypatch.setattr(comparing, "_answered", lambda *_: ())


@pytest.fixture
def places(tmp_path, request):
    """Where the two models lie, by kind of place: paths or addresses, and the tables there."""
    frames = {"old": pl.DataFrame({**OLD, **UNITS}), "new": pl.DataFrame({**NEW, **UNITS})[::-1]}

    def made(kind):
        if kind == "files":
            for name, frame in frames.items():
                frame.write_parquet(tmp_path / f"{name}.parquet")
            return {name: tmp_path / f"{name}.parquet" for name in frames}, {}
        if kind == "mixed":
            (files, _), (data, table) = made("files"), made("sqlite")
            return {"old": files["old"], "new": data["new"]}, {"new": table["new"]}
        if kind == "postgres":
            psycopg = pytest.importorskip("psycopg")
            place = request.getfixturevalue("server").address()
            connection, mark, real = psycopg.connect(place), "%s", "DOUBLE PRECISION"
        else:
            place = tmp_path / f"results.{kind}"
            connection, mark, real = (sqlite3 if kind == "sqlite" else duckdb).connect(str(place)), "?", "DOUBLE"
        kinds = f"id TEXT, y TEXT, p TEXT, s {real}, who INTEGER, w {real}"
        for name, frame in frames.items():
            connection.execute(f"DROP TABLE IF EXISTS preds_{name}")
            connection.execute(f"CREATE TABLE preds_{name} ({kinds})")
            cursor = connection.cursor()
            cursor.executemany(f"INSERT INTO preds_{name} VALUES ({', '.join([mark] * 6)})", frame.rows())  # noqa: S608
        connection.commit()
        connection.close()
        return dict.fromkeys(frames, place), {name: f"preds_{name}" for name in frames}

    return made


def kept(found):
    record = found.record
    return {name: record[name] for name in ("tallies", "labels", "samples")} | {"proof": record["test_data"]["digest"]}


@pytest.mark.parametrize("kind", ["duckdb", "sqlite", "postgres", "mixed"])
def test_a_table_a_model_is_matched_by_id_as_files_are(places, kind):
    files, _ = places("files")
    data, table = places(kind)
    for wanted in WANTED.values():
        expected = kept(flat.compare(data=files, **GIVEN, **wanted))
        found = flat.compare(data=data, table=table, limits=assay.Limits(memory="200MB"), **GIVEN, **wanted)
        assert kept(found) == expected
        assert found.record["plan"]["data"]["table"] == table
    ours = {name: f"SELECT * FROM {one} WHERE y = y" for name, one in table.items()}  # noqa: S608
    asked = flat.compare(data=data, query=ours, **GIVEN, **WANTED["both"])
    assert kept(asked) == kept(flat.compare(data=files, **GIVEN, **WANTED["both"]))


def test_one_database_holds_all_models_by_the_names_of_their_tables(places, tmp_path):
    data, table = places("duckdb")
    words = ["compare", str(data["old"]), "--truth", "y", "--predicted", "p", "--positive", "x", "-q", "--json"]
    words += ["-o", str(tmp_path / "out"), "--id", "id"]
    tables = [word for name, one in table.items() for word in ("--table", f"{name}={one}")]
    done = CliRunner().invoke(cli, [*words, *tables], catch_exceptions=False)
    record = json.loads(done.stdout)
    assert record["models"] == ["old", "new"]
    assert record["plan"]["data"]["table"] == table
    queries = [w for name, one in table.items() for w in ("--query", f"{name}=FROM {one} WHERE s >= 0")]
    again = json.loads(CliRunner().invoke(cli, [*words, *queries], catch_exceptions=False).stdout)
    assert again["tallies"] == record["tallies"]
    for wrong in (["--table", "old=preds_old", "--table", "preds_new"], ["--table", "old=preds_old"]):
        with pytest.raises(assay.AssayError):
            CliRunner().invoke(cli, [*words, *wrong], catch_exceptions=False)


@pytest.mark.parametrize("kind", ["duckdb", "sqlite", "postgres"])
def test_a_column_a_model_in_one_table_of_a_database(places, kind, tmp_path):
    data, _ = places(kind)
    both = (
        "SELECT o.y, o.p AS a, n.p AS b, o.s AS sa, n.s AS sb, o.who, o.w"
        " FROM preds_old o JOIN preds_new n ON o.id = n.id"
    )
    columns = {"predicted": {"old": "a", "new": "b"}, "truth": "y", "positive": "x"}
    files, _ = places("files")
    for more, wanted in {(): "labels", ("score",): "both", ("subject", "weight"): "subjects"}.items():
        units = {"score": {"old": "sa", "new": "sb"}, "subject": "who", "weight": "w"}
        found = flat.compare(data=data["old"], query=both, **columns, **{name: units[name] for name in more})
        expected = flat.compare(data=files, **GIVEN, **WANTED[wanted])
        assert found.record["tallies"] == expected.record["tallies"]
    words = ["compare", str(data["old"]), "--query", both, "--truth", "y", "--predicted", "A=a", "--predicted", "B=b"]
    done = CliRunner().invoke(
        cli, [*words, "--positive", "x", "-q", "--json", "-o", str(tmp_path / "out")], catch_exceptions=False
    )
    assert json.loads(done.stdout)["plan"]["data"]["query"] == both


def test_tables_that_are_not_there_and_models_that_are_not_are_told(places):
    data, table = places("duckdb")
    for wrong, code in (
        ({"table": {**table, "new": "preds_newer"}}, "no-table"),
        ({"table": {**table, "newer": "preds_new"}}, "comparison-needs"),
        ({"table": table, "query": {"old": "SELECT 1"}}, "role-clash"),
        ({"query": {"old": "SELECT 1 AS id", "new": "DROP TABLE preds_new"}}, "query-refused"),
        ({}, "role-missing"),
    ):
        with pytest.raises(assay.AssayError) as error:
            flat.compare(data=data, **GIVEN, predicted="p", **wrong)
        assert error.value.code == code, wrong
    with pytest.raises(assay.AssayError) as error:
        flat.compare(data=places("files")[0], table="preds", **GIVEN, predicted="p")
    assert error.value.code == "role-clash"
