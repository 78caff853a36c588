# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import subprocess
import sys

import duckdb
import pytest

import assay
from tests import flat


@pytest.fixture
def make(tmp_path):
    """Make a database from statements and return its path."""

    def made(*statements, name="f.duckdb"):
        path = tmp_path / name
        with duckdb.connect(path) as connection:
            for statement in statements or ["CREATE TABLE t AS SELECT i % 3 AS y, i % 2 AS p FROM range(60) r(i)"]:
                connection.execute(statement)
        return path

    return made


def refused(data, code, exit_code=4, **given):
    given = {"truth": "y", "predicted": "p", **given}
    with pytest.raises(assay.AssayError) as caught:
        flat.assess(data=data, **given)
    assert caught.value.code == code, caught.value
    assert caught.value.exit_code == exit_code
    assert caught.value.fix
    return caught.value


def test_a_table_a_view_and_a_query_are_counted_and_the_file_is_left_alone(make, tmp_path):
    path = make(
        "CREATE TABLE t AS SELECT i % 3 AS y, i % 2 AS p, chr(65 + (i % 2)::INT) AS g, i AS w FROM range(60) r(i)",
        "CREATE VIEW v AS SELECT * FROM t WHERE y < 2",
        "CREATE SCHEMA s",
        "CREATE TABLE s.t AS SELECT 1 AS y, 1 AS p",
    )
    before = path.read_bytes()
    y, p = [i % 3 for i in range(60)], [i % 2 for i in range(60)]
    expected = assay.assess(truth=y, predicted=p, group={"g": ["AB"[i % 2] for i in range(60)]}, weight=list(range(60)))
    found = assay.assess(data=path, reading=assay.Reading(table="t"), truth="y", predicted="p", group="g", weight="w")
    assert (found.confusion, found.grouped, found.census) == (expected.confusion, expected.grouped, expected.census)
    assert assay.assess(data=path, reading=assay.Reading(table="v"), truth="y", predicted="p").record["samples"] == 40
    assert (
        assay.assess(data=path, reading=assay.Reading(table="s.t"), truth="y", predicted="p", labels=[0, 1]).record[
            "samples"
        ]
        == 1
    )
    queried = assay.assess(data=path, reading=assay.Reading(query="FROM t WHERE w < 30"), truth="y", predicted="p")
    assert queried.record["samples"] == 30
    assert queried.record["plan"]["data"]["query"] == "FROM t WHERE w < 30"
    digest = hashlib.sha256(before).hexdigest()
    assert queried.record["digests"]["files"] == {"f.duckdb": digest}
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["f.duckdb"]


def test_tables_must_be_named_where_there_are_several(make):
    path = make("CREATE TABLE preds (y INT, p INT)", "CREATE TABLE truth (y INT)")
    assert '"preds", "truth"' in refused(path, "role-missing", 2).known
    assert '"preds"' in refused(path, "no-table", 2, table="pred").fix
    assert refused(path, "no-rows", table="preds")


@pytest.mark.parametrize(
    "query",
    [
        "DROP TABLE t",
        "SELECT 1; DROP TABLE t",
        "SELECT y, p FROM t) AS asked; DROP TABLE t; --",
        "COPY t TO 'out.csv'",
        "SELECT * FROM read_csv('/etc/hostname')",
        "SELECT nosuch FROM t",
        "FROM nosuch",
        "ATTACH 'x.duckdb'",
        "INSTALL httpfs",
        "",
    ],
)
def test_a_query_that_is_not_one_select_on_the_database_is_refused(make, query):
    path = make()
    before = path.read_bytes()
    refused(path, "query-refused", 2, query=query)
    assert path.read_bytes() == before


def test_a_table_called_as_our_view_can_be_read(make):
    path = make("CREATE TABLE rows AS SELECT 1 AS y, 1 AS p UNION ALL SELECT 0, 1")
    assert assay.assess(data=path, truth="y", predicted="p").record["samples"] == 2
    assert "source.main.rows" in refused(path, "query-refused", 2, query="FROM rows").found
    assert (
        assay.assess(data=path, reading=assay.Reading(query="FROM source.main.rows"), truth="y", predicted="p").record[
            "samples"
        ]
        == 2
    )


def test_columns_are_judged_as_in_a_file(make):
    path = make("CREATE TABLE t AS SELECT [1] AS y, 'a' AS p, 'a' AS q, DATE '2026-01-01' AS d, 'x' AS w")
    refused(path, "column-not-scalar")
    refused(path, "column-type", truth="d")
    refused(path, "missing-column", truth="yy")
    refused(path, "column-not-numeric", truth="q", weight="w")
    refused(path, "duplicate-column", truth="q", query="SELECT p, p, q FROM t")


def test_missing_labels_are_located(make):
    path = make("CREATE TABLE t AS SELECT * FROM (VALUES ('a', 'a'), (NULL, 'a'), ('b', NULL)) v(y, p)")
    assert "in row 2" in refused(path, "missing-label", positive="a").found


def test_limits_rows_and_digests_hold_for_databases(make):
    path = make()
    found = assay.assess(data=path, truth="y", predicted="p", limits=assay.Limits(memory="100MB", threads=1))
    assert found.record["environment"]["limits"]["threads"] == 1
    refused(path, "too-many-rows", reading=assay.Reading(max_rows=59))
    refused(path, "digest-mismatch", reading=assay.Reading(sha256="0" * 64))
    refused(path, "role-clash", 2, engine="spark://localhost:1")


def test_damaged_and_absent_files_are_refused(make, tmp_path):
    path = make()
    whole = path.read_bytes()
    path.write_bytes(whole[:5000])
    refused(path, "file-unreadable")
    flipped = bytearray(whole)
    flipped[12288 + 50] ^= 0xFF
    flipped[2 * 12288 + 50] ^= 0xFF
    path.write_bytes(flipped)
    refused(path, "file-unreadable")
    path.write_bytes(b"")
    refused(path, "file-unreadable")
    path.write_bytes(whole)
    path.rename(tmp_path / "f.sqlite")
    refused(tmp_path / "f.sqlite", "file-unreadable")
    assert '"' in refused(tmp_path / "f.sqlit.db", "no-file", 2).known
    (tmp_path / "f.sqlite").rename(tmp_path / "f.db")
    assert assay.assess(data=tmp_path / "f.db", truth="y", predicted="p").record["samples"] == 60
    (tmp_path / "f.db").rename(tmp_path / "f[1].db")
    refused(tmp_path / "f[1].db", "no-file", 2)


def test_a_database_somebody_writes_to_is_told(make):
    path = make()
    code = f"import duckdb; c = duckdb.connect({str(path)!r}); print('ready', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == b"ready\n"
        refused(path, "no-database", 2)
        writer.communicate(b"\n")


def test_what_waits_in_the_log_is_read_and_noted(make):
    path = make()
    code = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute('INSERT INTO t VALUES (1, 1)'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    found = assay.assess(data=path, truth="y", predicted="p")
    assert found.record["samples"] == 61
    assert any("write-ahead log" in note for note in found.record["notes"])


def test_of_an_open_connection_a_relation_is_read_and_the_connection_itself_refused():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT i % 3 AS y, i % 2 AS p FROM range(60) r(i)")
    assert assay.assess(data=connection.table("t"), truth="y", predicted="p").record["samples"] == 60
    refused(connection, "role-clash", 2, table="t")
    refused(connection.table("t"), "role-clash", 2, table="t")
    with pytest.raises(assay.RowsError) as caught:
        assay.assess(data=connection, truth="y", predicted="p")
    assert caught.value.fix == "give the relation: data=connection.table('NAME')"
