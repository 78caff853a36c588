# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from tests import flat
from tests.engines.test_same_weights import EDGES, counted, expected, table_of
from tests.waiting import LIMIT


@pytest.fixture
def make(tmp_path):
    """Make a database from statements and return its path."""

    def made(*statements, name="f.sqlite", rows=()):
        path = tmp_path / name
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path)
        for statement in statements:
            connection.execute(statement)
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)  # noqa: S608
        connection.commit()
        connection.close()
        return path

    return made


def refused(path, code, exit_code=4, **given):
    given = {"truth": "y", "predicted": "p", **given}
    with pytest.raises(assay.AssayError) as caught:
        flat.assess(data=path, **given)
    assert caught.value.code == code, caught.value
    assert caught.value.exit_code == exit_code
    assert caught.value.fix
    return caught.value


LABELS = st.one_of(st.none(), st.sampled_from(["a", "A", "ć", "", "1", "it's", "x\0y"]))


@given(st.lists(st.tuples(LABELS, LABELS, st.sampled_from([None, 1, 2])), min_size=1, max_size=30))
def test_a_table_gives_the_tally_of_the_arrays_or_the_same_error(rows):
    columns = dict(zip("ypg", map(list, zip(*rows, strict=True)), strict=True))

    def outcome(**given):
        try:
            found = flat.assess(**given, unknown="own", missing="drop")
        except assay.AssayError as error:
            return error.code
        return found.confusion.digest(), {k: v.digest() for k, v in found.grouped.factors["g"].items()}, found.census

    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/f.db"
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE t (y TEXT COLLATE NOCASE, p TEXT COLLATE RTRIM, g)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        connection.commit()
        connection.close()
        by_file = outcome(data=path, truth="y", predicted="p", group="g")
    by_arrays = outcome(data=columns, truth="y", predicted="p", group="g")
    assert by_file == by_arrays


def test_a_column_that_mixes_types_is_refused_with_its_rows(make):
    path = make("CREATE TABLE t (y, p)", rows=[(1, 1), ("1", 1), (0, 0), ("0", 0), (None, 1)])
    error = refused(path, "mixed-types-in-column", missing="drop")
    assert error.found == "integer in rows 1, 3; text in rows 2, 4"
    path = make("CREATE TABLE t (y, p)", rows=[(1, 1), (1.0, 1), (0, 0)])
    assert refused(path, "mixed-types-in-column").found == "integer in rows 1, 3; real in row 2"
    path = make("CREATE TABLE t (y, p)", rows=[(1, 1), (b"1", 1)])
    assert "row 2" in refused(path, "column-type").found


def test_whole_reals_are_labels_and_fractions_are_not(make):
    path = make("CREATE TABLE t (y REAL, p REAL)", rows=[(1, 1), (0, 1)])
    assert assay.assess(data=path, truth="y", predicted="p").labels == (0, 1)
    path = make("CREATE TABLE t (y REAL, p REAL)", rows=[(0.5, 1), (0, 1)])
    refused(path, "label-precision")


def test_weights_may_mix_whole_numbers_and_reals_but_no_text(make):
    path = make("CREATE TABLE t (y, p, w)", rows=[(1, 1, 2), (0, 1, 0.5)])
    found = assay.assess(data=path, truth="y", predicted="p", weight="w")
    assert sum(found.confusion.count) == 2.5
    path = make("CREATE TABLE t (y, p, w)", rows=[(1, 1, 2), (0, 1, "0.5")])
    assert refused(path, "column-not-numeric", weight="w").found == "text in row 2"
    path = make("CREATE TABLE t (y, p, w)", rows=[(1, 1, 2), (0, 1, -1)])
    assert "first in row 2" in refused(path, "weight-negative", weight="w").found


def test_missing_labels_are_located(make):
    path = make("CREATE TABLE t (y, p)", rows=[("a", "a"), (None, "a"), ("b", None)])
    error = refused(path, "missing-label", positive="a")
    assert "without truth in row 2" in error.found
    assert "without predicted in row 3" in error.found


def test_tables_are_chosen_by_name_or_by_being_the_only_one(make):
    one = make("CREATE TABLE t (y, p)", rows=[(1, 1), (0, 1)])
    assert assay.assess(data=one, truth="y", predicted="p").record["samples"] == 2
    two = make("CREATE TABLE t (y, p)", "CREATE VIEW it AS SELECT y, p AS p2 FROM t", rows=[(1, 1), (0, 1)])
    assert '"it", "t"' in refused(two, "role-missing", 2).known
    assert '"it"' in refused(two, "no-table", 2, table="itt").fix
    assert (
        assay.assess(data=two, reading=assay.Reading(table="it"), truth="y", predicted="p2").record["plan"]["data"][
            "table"
        ]
        == "it"
    )
    refused(two, "role-clash", 2, table="t", query="SELECT 1")
    assert '"p2"' in refused(two, "missing-column", table="it", predicted="p").fix


def test_a_query_is_one_select_and_nothing_is_written(make, tmp_path):
    path = make("CREATE TABLE t (y, p)", rows=[(1, 1), (0, 1), (0, 0)])
    before = path.read_bytes()
    found = assay.assess(
        data=path, reading=assay.Reading(query="SELECT y, p FROM t WHERE p = 1 -- all;"), truth="y", predicted="p"
    )
    assert found.record["samples"] == 2
    for query in (
        "DELETE FROM t",
        "SELECT y, p FROM t; DELETE FROM t",
        "SELECT y, p FROM t) AS asked; DELETE FROM t; --",
        "WITH x AS (SELECT 1) DELETE FROM t",
        f"ATTACH '{tmp_path}/new.db' AS new",
        "PRAGMA user_version = 3",
        "SELECT nosuch FROM t",
        "SELECT load_extension('x') AS y, 1 AS p",
        "",
    ):
        refused(path, "query-refused", 2, query=query)
    refused(path, "duplicate-column", query="SELECT y, y, p FROM t")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["f.sqlite"]


def test_the_digest_is_recorded_and_can_be_pinned(make):
    path = make("CREATE TABLE t (y, p)", rows=[(1, 1), (0, 1)])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    found = assay.assess(data=path, truth="y", predicted="p", reading=assay.Reading(sha256=digest))
    assert found.record["digests"]["files"] == {"f.sqlite": digest}
    refused(path, "digest-mismatch", reading=assay.Reading(sha256="0" * 64))


def test_more_rows_than_allowed_are_refused(make):
    path = make("CREATE TABLE t (y, p)", rows=[(1, 1)] * 5)
    refused(path, "too-many-rows", reading=assay.Reading(max_rows=4))


def test_a_database_in_wal_mode_leaves_no_files_behind(make, tmp_path):
    path = make("PRAGMA journal_mode = wal", "CREATE TABLE t (y, p)", rows=[(1, 1), (0, 1)])
    assert assay.assess(data=path, truth="y", predicted="p").record["samples"] == 2
    assert [file.name for file in tmp_path.iterdir()] == ["f.sqlite"]


def test_what_waits_in_a_log_is_read_and_noted(make, tmp_path):
    path = make("PRAGMA journal_mode = wal", "CREATE TABLE t (y, p)", rows=[(1, 1), (0, 1)])
    writer = sqlite3.connect(path)
    writer.execute("INSERT INTO t VALUES (1, 0)")
    writer.commit()
    found = assay.assess(data=path, truth="y", predicted="p")
    assert found.record["samples"] == 3
    assert any("-wal" in note for note in found.record["notes"])
    writer.close()
    assert [file.name for file in tmp_path.iterdir()] == ["f.sqlite"]


def test_damaged_files_are_refused(make, tmp_path):
    path = make("CREATE TABLE t (y, p)", rows=[("label" * 20, "x")] * 2000)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(path, "file-truncated")
    path.write_bytes(whole[:8192] + bytes(4096) + whole[12288:])
    refused(path, "file-unreadable")
    path.write_bytes(b"y,p\n1,1\n")
    refused(path, "file-unreadable")
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    refused(path, "refused-format")
    path.write_bytes(whole)
    path.rename(tmp_path / "f.duckdb")
    refused(tmp_path / "f.duckdb", "file-unreadable")
    refused(tmp_path / "none.sqlite", "no-file", 2)


def test_text_that_is_not_utf8_is_refused(make):
    path = make("CREATE TABLE t (y, p)", "INSERT INTO t VALUES (CAST(x'ff' AS TEXT), 'a')")
    refused(path, "encoding")


@pytest.mark.parametrize("name", ["it's; --.sqlite", "a?b#c%20d.sqlite", "we[i]rd*.sqlite"])
def test_any_name_may_be_read(make, name):
    path = make('CREATE TABLE "a ""b"" c" (y, p)', 'INSERT INTO "a ""b"" c" VALUES (1, 1), (0, 1)', name=name)
    assert (
        assay.assess(data=path, reading=assay.Reading(table='a "b" c'), truth="y", predicted="p").record["samples"] == 2
    )


def test_tables_and_queries_are_for_databases_only(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("y,p\n1,1\n")
    refused(path, "role-clash", 2, table="t")
    with pytest.raises(assay.PlanError):
        assay.assess(truth=[1], predicted=[1], reading=assay.Reading(query="SELECT 1"))


def test_progress_is_told_in_bytes(make):
    path = make("CREATE TABLE t (y, p)", rows=[(i % 2, 1) for i in range(25_000)])
    told = []
    assay.assess(data=path, truth="y", predicted="p", reading=assay.Reading(progress=lambda *both: told.append(both)))
    size = path.stat().st_size
    assert told == [(size * 2 // 5, size), (size * 4 // 5, size), (size, size)]


TELLING = """
import sys

sys.addaudithook(lambda event, _: event == "sqlite3.connect" and print("open", flush=True))
from assay.app.cli import main

main()
"""


def test_ctrl_c_ends_a_long_query(make, tmp_path):
    path = make("CREATE TABLE t (y, p)", rows=[(1, 1), (0, 1)])
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 1 AS y, 1 AS p FROM n WHERE i < 0"
    words = ["run", str(path), "--query", endless, "--truth", "y", "--predicted", "p", "-o", str(tmp_path / "out")]
    command = [sys.executable, "-c", TELLING, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout.readline() == b"open\n"
            time.sleep(1)  # the query has begun then, unless the machine is very busy; Ctrl-C works before, too
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(LIMIT) == 130
        finally:
            process.kill()
    assert [file.name for file in tmp_path.iterdir()] == ["f.sqlite"]


def test_scores_are_fetched_and_counted_as_those_of_arrays(make):
    rows = [(i % 2, (i * 37 % 101) / 101 if i % 7 else i % 2, "ab"[i % 3 > 0]) for i in range(120_000)]
    path = make("CREATE TABLE t (y, s, g)", rows=rows)
    given = {"positive": 1, "threshold": 0.5, "measures": ["auroc", "average_precision", "recall", "precision"]}
    found = assay.assess(data=path, truth="y", score="s", group="g", **given)
    y, s, g = (list(column) for column in zip(*rows, strict=True))
    expected = assay.assess(truth=y, score=[float(x) for x in s], group={"g": g}, **given)
    assert found.record["estimates"] == expected.record["estimates"]
    assert any("fetched" in note for note in found.record["notes"])
    assert found.record["digests"]["files"]
    refused(
        path, "too-many-rows", predicted=None, score="s", reading=assay.Reading(max_rows=100), positive=1, threshold=0.5
    )


@pytest.mark.parametrize(("score", "code"), [("x", "column-not-numeric"), (b"1", "column-not-numeric"), (2.0, None)])
def test_scores_must_be_numbers(make, score, code):
    path = make("CREATE TABLE t (y, s)", rows=[(1, 0.5), (0, score)])
    if code:
        assert "row 2" in refused(path, code, predicted=None, score="s", positive=1, threshold=1).found
    else:
        assert assay.assess(data=path, truth="y", score="s", positive=1, threshold=1.0).record["samples"] == 2


def test_weights_are_added_as_the_rows_come_and_without_rounding(make, monkeypatch):
    monkeypatch.setattr("assay.rows.databases.sqlite.BATCH", 10)
    for one in (table_of([*EDGES, 0.1]), table_of([2**53, 2**52 + 1, 3])):
        path = make("CREATE TABLE t (y, p, g, w)", rows=[tuple(row.values()) for row in one.to_pylist()])
        assert counted(path) == expected(one)
    path = make("CREATE TABLE t (y, p, w)", rows=[(1, 1, 2), (0, 1, 2**53 + 1)])
    assert "in row 2" in refused(path, "column-not-numeric", weight="w").found


def test_of_several_faults_types_are_told_before_weights(make, monkeypatch):
    monkeypatch.setattr("assay.rows.databases.sqlite.BATCH", 2)
    statement = "CREATE TABLE t (y, p, w)"
    rows = [(0, 0, 1.0), (1, 1, -2.5), (0, 1, 1.0), (1, 0, None)]
    found = refused(make(statement, rows=rows), "weight-negative", weight="w")
    assert found.found == "-2.5, first in row 2"
    refused(make(statement, rows=[*rows, (0, 0, "x")]), "column-not-numeric", weight="w")
    refused(make(statement, rows=[*rows, ("a", 0, 1.0)]), "mixed-types-in-column", weight="w")
