# SPDX-License-Identifier: Apache-2.0
"""Paths through Polars: the tally of the embedded engine, or its error."""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import assay
from assay.app.cli import cli


def outcome(path, engine, **options):
    given = {"truth": "y", "predicted": "p", "unknown": "own", "missing": "drop", "measures": ["accuracy"], **options}
    try:
        found = assay.assess(data=path, engine=engine, **given)
    except assay.AssayError as error:
        return error.code, error.found if error.code != "engine-failed" else ""
    groups = {name: {k: v.digest() for k, v in levels.items()} for name, levels in found.grouped.factors.items()}
    return found.confusion.digest(), groups, found.census, found.record["digests"]["files"]


def alike(path, **options):
    by_duckdb, by_polars = outcome(path, "duckdb", **options), outcome(path, "polars", **options)
    assert by_polars == by_duckdb, path
    return by_polars


TEXTS = st.sampled_from(["a", "b", "A", "ć", " a", "NA", "null", "1", "", 'q"r', "x,y", "l1\nl2", "l\r\nm", "#c", None])
VALUES = st.one_of(
    st.tuples(*[TEXTS] * 3),
    st.tuples(*[st.sampled_from([0, 1, 2**53, -1, None])] * 3),
    st.tuples(*[st.sampled_from([True, False, None])] * 3),
    st.tuples(*[st.sampled_from([0.0, 1.0, 0.5, None])] * 3),
)
ROWS = st.lists(VALUES, min_size=1, max_size=12)


def field(value):
    if value is None:
        return ""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if text in ("", "#c") or any(c in text for c in '",\n\r') else text


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(ROWS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n", "\n\n"]), st.booleans())
def test_csv_is_counted_alike(rows, end, tail, marked):
    lines = ["y,p,g", *(",".join(map(field, row)) for row in rows)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.csv"
        path.write_bytes((b"\xef\xbb\xbf" if marked else b"") + (end.join(lines) + end + tail).encode())
        alike(path, group="g")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(ROWS, st.booleans())
def test_json_lines_are_counted_alike(rows, sparse):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.jsonl"
        objects = [dict(zip("ypg", row, strict=True)) for row in rows]
        kept = [{k: v for k, v in one.items() if v is not None or not sparse} for one in objects]
        path.write_text("".join(json.dumps(one) + "\n" for one in kept), encoding="utf-8")
        alike(path, group="g")


def test_of_two_faulty_columns_the_same_one_is_told_whatever_order_cells_come_in(tmp_path):
    path = tmp_path / "f.jsonl"
    path.write_text('{"y": 9007199254740992, "p": 1, "g": -1}\n{"y": 0.0, "p": 0.5, "g": 1.0}\n', encoding="utf-8")
    found = {alike(path, group="g") for _ in range(12)}
    assert found == {("label-precision", "9007199254740992.0")}


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_columnar_files_are_counted_alike(ending):
    @settings(suppress_health_check=[HealthCheck.too_slow], max_examples=40)
    @given(ROWS.filter(lambda rows: len({type(x) for row in rows for x in row if x is not None}) < 2), st.booleans())
    def holds(rows, coded):
        columns = {name: pa.array(values) for name, values in zip("ypg", zip(*rows, strict=True), strict=True)}
        if coded:
            columns = {n: c.dictionary_encode() if pa.types.is_string(c.type) else c for n, c in columns.items()}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"f.{ending}"
            table = pa.table(columns)
            if ending == "parquet":
                pq.write_table(table, path)
            else:
                with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                    writer.write_table(table)
            alike(path, group="g")

    holds()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ragged.csv", b"y,p\n1,1\n1\n"),
        ("open.csv", b'y,p\n1,"1\n'),
        ("nul.csv", b"y,p\n1,\0\n"),
        ("latin.csv", b"y,p\n1,\xe9\n"),
        ("blank.csv", b"y,p\n1,1\n\n1,1\n"),
        ("twice.csv", b"y,y\n1,1\n"),
        ("none.csv", b"y,p\n"),
        ("no.csv", b"y,q\n1,1\n"),
        ("two.csv", b"y;p,q\n1;2,3\n"),
        ("semi.csv", b"y;p\n1;1\n0;1\n"),
        ("tab.tsv", b"y\tp\n1\t1\n0\t1\n"),
        ("a[1]*.csv", b"y,p\n1,1\n0,1\n"),
        ("a[1]*.jsonl", b'{"y":1,"p":1}\n{"y":0,"p":1}\n'),
        ("mixed.jsonl", b'{"y":1,"p":1}\n{"y":"1","p":1}\n'),
        ("nested.jsonl", b'{"y":[1],"p":1}\n'),
        ("bad.jsonl", b'{"y":1,"p":1}\n{bad\n'),
        ("cut.parquet", b"PAR1xxxx"),
        ("pickle.pkl", b"\x80\x04"),
        ("f.csv.gz", gzip.compress(b"y,p\n1,1\n0,1\n", mtime=0)),
        ("cut.csv.gz", gzip.compress(b"y,p\n1,1\n0,1\n", mtime=0)[:-4]),
    ],
)
def test_odd_and_unfit_files_are_judged_alike(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    alike(path)


def test_damaged_pages_are_judged_alike(tmp_path):
    path = tmp_path / "f.parquet"
    rng = np.random.default_rng(0)
    table = pa.table({name: [f"class {i}" for i in rng.integers(0, 3, 3000)] for name in "yp"})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    whole = path.read_bytes()
    for place in range(200, len(whole) // 2, len(whole) // 9):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        by_duckdb, by_polars = outcome(path, "duckdb"), outcome(path, "polars")
        assert by_duckdb[0] == by_polars[0]


def test_several_files_folders_and_weights_are_counted_alike(tmp_path):
    rng = np.random.default_rng(0)
    for site in ("a", "b"):
        (tmp_path / f"site={site}").mkdir()
        frame = pl.DataFrame({"y": rng.integers(0, 2, 500), "p": rng.integers(0, 2, 500), "w": rng.random(500)})
        frame.write_csv(tmp_path / f"site={site}" / "f.csv")
        frame.write_parquet(tmp_path / f"site={site}" / "f.parquet")
    for ending in ("csv", "parquet"):
        path = str(tmp_path / "*" / f"*.{ending}")
        assert len(alike(path, group="site", weight="w")[1]["site"]) == 2


def test_the_record_says_who_counted_and_limits_are_refused(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("y,p\n1,1\n0,1\n")
    found = assay.assess(data=path, truth="y", predicted="p", engine="polars")
    assert "counted by Polars" in found.record["notes"]
    with pytest.raises(assay.PlanError, match="limits"):
        assay.assess(data=path, truth="y", predicted="p", engine="polars", limits=assay.Limits(threads=1))
    missing = [option.help for option in cli.commands["run"].params if option.name == "engine"]
    assert "polars" in missing[0]


def test_without_polars_the_extra_is_named(tmp_path, monkeypatch):
    path = tmp_path / "f.csv"
    path.write_text("y,p\n1,1\n0,1\n")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(assay.PlanError) as caught:
        assay.assess(data=path, truth="y", predicted="p", engine="polars")
    assert caught.value.code == "missing-extra"


def test_a_file_that_changes_while_polars_counts_is_noticed(tmp_path, monkeypatch):
    path = tmp_path / "f.csv"
    path.write_text("y,p\n1,1\n0,1\n")
    inner = pl.LazyFrame.collect

    def changing(frame, *given, **named):
        path.write_text("y,p\n1,1\n0,1\n1,0\n")
        return inner(frame, *given, **named)

    monkeypatch.setattr(pl.LazyFrame, "collect", changing)
    with pytest.raises(assay.RowsError) as caught:
        assay.assess(data=path, truth="y", predicted="p", engine="polars")
    assert caught.value.code == "digest-mismatch"
