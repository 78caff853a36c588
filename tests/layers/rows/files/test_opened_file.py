# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gzip
import hashlib
import json
import threading

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather

import assay
from assay.core.errors import EngineError, MissingColumn, RowsError
from assay.rows.engines.duckdb_engine import quote_identifier, quote_literal
from assay.rows.files.file_set import open_files
from assay.rows.files.formats import Reading
from assay.rows.files.json_lines import pointer
from assay.rows.files.opened_file import check_scalar, locate, number_column
from tests.layers.rows.filing import column, parquet


def test_an_opened_file_knows_what_it_is(write):
    content = b"id,y\n1,2\n"
    path = write(content)
    opened = open_files(str(path))
    assert (opened.path, opened.format, opened.bytes, opened.rows, opened.first_line) == (str(path), "csv", 9, 1, 2)
    assert opened.sha256 == hashlib.sha256(content).hexdigest()
    assert opened.relation.fetchall() == [("1", "2")]
    assert opened.arrays("SELECT y FROM rows")["y"].tolist() == ["2"]
    assert opened.fetch(opened.relation.aggregate("count(*)")) == [(1,)]


@pytest.mark.parametrize("name", ["f.csv", "f.csv.gz", "f.jsonl", "f.parquet", "f.arrow"])
def test_progress_is_told_in_bytes_up_to_the_end(tmp_path, name):
    path = tmp_path / name
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"y": np.random.default_rng(0).random(500_000)}), path)
    elif name.endswith(".arrow"):
        feather.write_feather(pa.table({"y": np.random.default_rng(0).random(500_000)}), path)
    else:
        content = b'{"y":1}\n' * 300_000 if "jsonl" in name else b"y,z\n" + b"1,2\n" * 800_000
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    told = []
    opened = open_files(path, progress=lambda done, total: told.append((done, total)))
    opened.fetch("SELECT count(*) FROM rows")
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_rows_are_located_in_file_order(write):
    opened = open_files(
        write("id,y\n" + "".join(f"{i},{'bad' if i % 100_000 == 7 else 'ok'}\n" for i in range(1, 1_000_001)))
    )
    assert locate(opened, "y = 'bad'", ["id", "y"]) == [
        (7, {"id": "7", "y": "bad"}),
        (100_007, {"id": "100007", "y": "bad"}),
        (200_007, {"id": "200007", "y": "bad"}),
    ]
    assert [row for row, _ in locate(opened, "y = 'bad'", [], limit=20)] == list(range(7, 1_000_000, 100_000))


def test_a_column_called_row_is_no_hindrance_to_locating(write):
    opened = open_files(write("row,ROW_\nx,y\n"))
    assert locate(opened, "\"row\" = 'x'", ["row", "ROW_"]) == [(1, {"row": "x", "ROW_": "y"})]


def test_rows_with_a_label_are_found_by_its_type(tmp_path, write):
    opened = open_files(write('y\na\nit\'s\n""\na\n'))
    assert opened.rows_with("y", "a") == [1, 4]
    assert opened.rows_with("y", "it's") == [2]
    assert opened.rows_with("y", "") == [3]
    assert opened.rows_with("y", object()) == []
    table = pa.table({"i": [3, None, 5], "b": [True, False, None], "f": [0.5, 2.0, None]})
    opened = open_files(parquet(tmp_path / "f.parquet", table))
    assert opened.rows_with("i", 5) == [3]
    assert opened.rows_with("i", None) == [2]
    assert opened.rows_with("b", label=True) == [1]
    assert opened.rows_with("f", 0.5) == [1]


@pytest.mark.parametrize("text", ["1", "-1.5", "+.5", "1.", "1e-5", "1E+5", "007", "0.1234567890123456789"])
def test_a_number_is_read_as_written(write, text):
    opened = open_files(write(f"id,w\n1,{text}\n2,\n"))
    assert column(opened, number_column(opened, "w")) == [float(text), None]


@pytest.mark.parametrize(
    "text", ["x", "NA", "nan", "inf", "1_000", " 1", "1 ", "1,5", "0x10", "1e999", '""', "--1", "1e", "."]
)
def test_what_is_not_a_number_is_counted_and_located(write, text):
    opened = open_files(write(f"id;w\n1;1\n2;{text}\n3;2\n4;{text}\n"))
    with pytest.raises(RowsError) as caught:
        number_column(opened, "w")
    error = caught.value
    assert error.code == "column-not-numeric"
    assert error.what.startswith("2 values")
    assert "in row 2" in error.found
    assert "in row 4" in error.found


def test_a_decimal_comma_is_read_only_when_stated(write):
    path = write("id;w\n1;0,95\n2;-1,5e1\n3;\n")
    opened = open_files(path, Reading(decimal=","))
    assert column(opened, number_column(opened, "w")) == [0.95, -15.0, None]
    with pytest.raises(RowsError, match="2 values"):
        number_column(open_files(path), "w")
    with pytest.raises(RowsError, match="1 value"):
        number_column(open_files(write("id;w\n1;0.95\n"), Reading(decimal=",")), "w")


def test_numbers_of_typed_files_are_exact_or_refused(tmp_path):
    table = pa.table({"i": [1, 2**53], "big": [1, 2**53 + 1], "f": [0.5, None], "t": ["1", "2"], "b": [True, False]})
    opened = open_files(parquet(tmp_path / "f.parquet", table))
    for name, first in (("i", 1.0), ("f", 0.5), ("t", 1.0)):
        assert column(opened, number_column(opened, name))[0] == first
    for name in ("big", "b"):
        with pytest.raises(RowsError) as caught:
            number_column(opened, name)
        assert caught.value.code == "column-not-numeric"


def test_a_missing_column_suggests_the_nearest_one(write):
    opened = open_files(write("id,weight\n1,2\n"))
    with pytest.raises(MissingColumn) as caught:
        check_scalar(opened, "wieght")
    assert '"weight"' in caught.value.fix
    with pytest.raises(MissingColumn):
        number_column(opened, "ID")


def test_i33_names_with_sql_in_them_are_names(write):
    name = 'a" ; drop table t; --'
    spelled = '"' + name.replace('"', '""') + '"'
    opened = open_files(write(f"{spelled},y\nx,'; drop view rows; --\n"))
    assert list(opened.columns) == [name, "y"]
    assert column(opened, quote_identifier(name)) == ["x"]
    assert opened.rows_with(name, "x") == [1]
    assert opened.rows_with("y", "'; drop view rows; --") == [1]


NAME = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1) | st.sampled_from(
    ['"', '""', "a;b", "a\nb", "'", "\\", "select", " ", "--", "/*", "é", "$1", "?", "{x}", "%s"]
)


@given(name=NAME, text=NAME | st.just(""))
def test_any_name_and_text_comes_back_from_the_engine_as_it_went_in(name, text):
    relation = duckdb.sql(f"SELECT {quote_literal(text)} AS {quote_identifier(name)}")
    assert relation.columns == [name]
    assert relation.fetchall() == [(text,)]
    assert duckdb.sql(
        f"SELECT t.{quote_identifier(name)} FROM (VALUES (1)) t({quote_identifier(name)})"  # noqa: S608  under test
    ).fetchall() == [(1,)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    names=st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1),
        min_size=2,
        max_size=4,
        unique_by=str.casefold,
    )
)
def test_any_column_names_come_back_from_a_file(write, names):
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    opened = open_files(write(f"{header}\n" + ",".join(map(str, range(len(names)))) + "\n"))
    assert list(opened.columns) == names
    assert [column(opened, quote_identifier(name))[0] for name in names] == list(map(str, range(len(names))))


@given(key=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_any_key_is_found_by_its_pointer(key):
    document = quote_literal(json.dumps({key: 1, "other": "x"}, ensure_ascii=False))
    assert duckdb.sql(f"SELECT json_type({document}, [{quote_literal(pointer(key))}])").fetchall() == [
        (["UBIGINT" if key != "other" else "VARCHAR"],)
    ]


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800"])
def test_a_name_no_column_can_have_is_refused(name):
    with pytest.raises(MissingColumn):
        quote_identifier(name)
    with pytest.raises(EngineError):
        quote_literal(name + "\0")


@pytest.mark.parametrize("name", ["f.csv", "f.parquet"])
def test_a_digest_can_be_left_out_and_the_record_says_so(tmp_path, name):
    path = tmp_path / name
    if name.endswith("csv"):
        path.write_text("y,p\n1,1\n0,1\n")
    else:
        pq.write_table(pa.table({"y": [1, 0], "p": [1, 1]}), path)
    record = assay.assess(data=path, truth="y", predicted="p", reading=assay.Reading(digest=False)).record
    assert record["digests"]["files"] == {}
    assert any("no digest was taken" in note for note in record["notes"])
    with pytest.raises(assay.PlanError, match="pinned"):
        assay.Reading(digest=False, sha256="0" * 64)


def test_a_digest_is_taken_while_the_engine_counts(tmp_path, monkeypatch):
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"y": [1, 0], "p": [1, 1]}), path)
    go = threading.Event()
    monkeypatch.setattr("assay.rows.files.file_digests.digest_of", lambda *_: go.wait(20) and "f" * 64)
    opened = open_files(path)
    assert opened.fetch("SELECT count(*) FROM rows") == [(2,)]
    go.set()
    assert opened.sha256 == "f" * 64


def test_a_file_that_cannot_be_hashed_is_told_when_its_digest_is_asked_for(tmp_path, monkeypatch):
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"y": [1, 0], "p": [1, 1]}), path)

    def fail(where, *_):
        raise assay.PlanError("no-file", "the file cannot be read", where=where, fix="try again")

    monkeypatch.setattr("assay.rows.files.file_digests.digest_of", fail)
    with pytest.raises(assay.PlanError, match="cannot be read"):
        open_files(path).confirm(2)
