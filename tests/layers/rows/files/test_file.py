# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import gzip
import hashlib
import io
import os
import pickle
import random
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from assay.core.errors import AssayError, EngineError, PlanError, RowsError
from assay.rows.engines.duckdb_engine import connect, quote_literal
from assay.rows.files import file
from assay.rows.files.csv_shape import Body
from assay.rows.files.file_digests import Digest
from assay.rows.files.file_set import open_files
from assay.rows.files.formats import Reading
from assay.rows.files.opened_file import check_scalar, translated
from tests.layers.rows.filing import parquet, refusal, rows_of, zstd


def test_a_missing_file_suggests_the_nearest_name(write):
    path = write("y\n1\n", "predictions.csv")
    error = refusal(path.with_name("predictons.csv"), "no-file", PlanError)
    assert "predictions.csv" in error.fix


@pytest.mark.parametrize("path", ["", "a\0b.csv", "no/such/folder/f.csv", "s3://bucket/f.csv"])
def test_a_path_that_cannot_be_is_no_file(path):
    with pytest.raises(PlanError) as caught:
        open_files(path)
    assert caught.value.code == "no-file"


def test_a_device_is_no_file():
    with pytest.raises(PlanError, match="not a regular file"):
        open_files(os.devnull)


def test_a_file_without_permission_is_no_file(write, monkeypatch):
    path = write("y\n1\n")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert refusal(path, "no-file", PlanError).found == "Permission denied"


@pytest.mark.parametrize("name", ["f.csv", "f.jsonl.gz"])
def test_a_read_that_fails_half_way_is_told(write, monkeypatch, name):
    class Failing(io.FileIO):
        def read(self, size=-1):
            if size > 16:
                raise OSError(5, "Input/output error")
            return super().read(size)

    path = write(gzip.compress(b'{"y":1}\n') if name.endswith("gz") else "y\n1\n", name)
    monkeypatch.setattr(Path, "open", lambda self, _: Failing(self))
    assert refusal(path, "no-file", PlanError).found == "Input/output error"


@pytest.mark.parametrize("name", ["a*.csv", "a[1].csv", "a?.csv", "it's;--.csv", "é ü\n.csv", '"q".csv'])
def test_a_file_name_is_taken_literally(write, name):
    write("a,b\n8,9\n", "a1.csv")
    assert rows_of(write("a,b\n1,2\n", name)) == [("1", "2")]


@pytest.mark.parametrize("name", ["f.csv", "f.jsonl", "f.parquet", "f.arrow"])
def test_a_folder_with_glob_characters_is_taken_literally(tmp_path, name):
    for folder, value in (("a[b]*?", 2), ("ab12", 3)):
        path = tmp_path / folder / name
        path.parent.mkdir()
        if name == "f.parquet":
            pq.write_table(pa.table({"a": [value]}), path)
        elif name == "f.arrow":
            feather.write_feather(pa.table({"a": [value]}), path)
        else:
            path.write_text(f"a\n{value}\n" if name == "f.csv" else f'{{"a":{value}}}\n')
    assert [int(value) for (value,) in open_files(tmp_path / "a[b]*?" / name).fetch("FROM rows")] == [2]


@pytest.mark.parametrize("name", ["f.csv", "f.jsonl", "f.parquet", "f.arrow"])
def test_a_folder_called_like_a_setting_adds_no_column(tmp_path, name):
    path = tmp_path / "y=1" / name
    path.parent.mkdir()
    if name == "f.parquet":
        pq.write_table(pa.table({"a": [2]}), path)
    elif name == "f.arrow":
        feather.write_feather(pa.table({"a": [2]}), path)
    else:
        path.write_text("a\n2\n" if name == "f.csv" else '{"a":2}\n')
    assert list(open_files(path).columns) == ["a"]


def test_a_file_name_that_is_not_utf8_must_be_renamed(tmp_path):
    path = str(tmp_path / os.fsdecode(b"\xff.csv"))
    Path(path).write_bytes(b"a\n1\n")
    with pytest.raises(PlanError, match="not UTF-8"):
        open_files(path)


@pytest.mark.parametrize(
    "name",
    [
        f"m.{e}"
        for e in [
            "pkl",
            "pickle",
            "joblib",
            "pt",
            "pth",
            "h5",
            "hdf5",
            "npy",
            "npz",
            "onnx",
            "xlsx",
            "xls",
            "zip",
            "PKL",
        ]
    ],
)
def test_a_model_or_archive_is_refused_by_its_name(write, name):
    refusal(write("y\n1\n", name), "refused-format")


def test_i29_a_pickle_called_csv_is_refused_and_never_run(write, tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "pwned"),)

    array = io.BytesIO()
    np.save(array, np.zeros(3))
    archive = io.BytesIO()
    np.savez(archive, y=np.zeros(10), p=np.zeros(9))
    for content in (
        pickle.dumps(Bomb()),
        array.getvalue(),
        archive.getvalue(),
        b"\x89HDF\r\n\x1a\n",
        b"\xd0\xcf\x11\xe0",
    ):
        refusal(write(content), "refused-format")
        refusal(write(gzip.compress(content + b"\n"), "m.csv.gz"), "refused-format")
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("name", ["f", "f.dat", "f.csv.bz2", "f.parquet.gz", "f.gz", "f.arrow.zst"])
def test_an_unknown_ending_lists_the_known_ones(write, name):
    assert ".parquet" in refusal(write("y\n1\n", name), "refused-format").known


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.csv", b"PAR1...."),
        ("f.csv", b"ARROW1.."),
        ("f.jsonl", gzip.compress(b"{}", mtime=0)),
        ("f.csv", b"\x28\xb5\x2f\xfd...."),
        ("f.parquet", b"ARROW1.."),
        ("f.csv.gz", b"PAR1"),
        ("f.feather", b"FEA1"),
        ("f.parquet", b"PARE"),
    ],
)
def test_a_name_that_contradicts_the_bytes_is_refused(write, name, content):
    assert "disagree" in refusal(write(content, name), "file-unreadable").what


@pytest.mark.parametrize("name", ["f.csv.gz", "f.csv.zst", "f.parquet", "f.arrow"])
@pytest.mark.parametrize("content", [b"", b"id,y\n1,2\n"])
def test_a_binary_format_without_its_mark_is_no_complete_file(write, name, content):
    refusal(write(content, name), "file-truncated")


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": ""},
        {"delimiter": ",,"},
        {"delimiter": '"'},
        {"delimiter": "\n"},
        {"delimiter": "é"},
        {"decimal": "x"},
        {"max_rows": 0},
        {"max_bytes": 0},
        {"max_ratio": -1},
        {"sha256": "abc"},
    ],
)
def test_an_option_no_file_can_be_read_with_is_refused(options):
    with pytest.raises(PlanError) as caught:
        Reading(**options)
    assert caught.value.code == "option-unknown"


@pytest.mark.own_engine
def test_the_engine_reads_the_one_file_and_nothing_else(write, tmp_path):
    other = write("a\n1\n", "other.csv")
    opened = open_files(write("a\n1\n"))
    for query in (
        f"FROM read_csv({quote_literal(str(other))})",
        f"COPY (SELECT 1) TO {quote_literal(str(tmp_path / 'out.csv'))}",
        f"ATTACH {quote_literal(str(tmp_path / 'x.db'))}",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        f"SET allowed_paths = [{quote_literal(str(other))}]",
        "SELECT * FROM other",
    ):
        with pytest.raises(EngineError) as caught:
            opened.fetch(query)
        assert caught.value.code == "engine-failed"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.csv", "other.csv"]


def test_the_engine_spills_into_its_own_folder_and_cleans_up(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    connection = connect(["/nowhere"])
    connection.execute("SET memory_limit = '150MB'")
    assert connection.sql("SELECT count(*) FROM (SELECT i FROM range(10_000_000) t(i) GROUP BY i)").fetchall() == [
        (10_000_000,)
    ]
    connection.close()
    del connection
    assert not list(tmp_path.iterdir())


def test_a_file_that_changes_after_opening_is_noticed(write):
    opened = open_files(write("id,y\n1,2\n"))
    write("id,y\n1,2\n3,4\n")
    with pytest.raises(RowsError) as caught:
        opened.fetch("SELECT * FROM rows")
    assert caught.value.code == "digest-mismatch"


def test_a_file_that_vanishes_after_opening_is_noticed(write):
    path = write("id,y\n1,2\n")
    opened = open_files(path)
    path.unlink()
    with pytest.raises(PlanError) as caught:
        opened.fetch("SELECT * FROM rows")
    assert caught.value.code == "no-file"


def test_another_number_of_rows_than_the_file_has_is_an_engine_fault(write, tmp_path):
    with pytest.raises(EngineError, match="another number of rows"):
        open_files(write("id,y\n1,2\n")).confirm(2)
    with pytest.raises(RowsError, match="footer"):
        open_files(parquet(tmp_path / "f.parquet", pa.table({"a": [1]}))).confirm(2)


def test_a_small_file_is_counted_by_the_engine_at_once(write, monkeypatch):
    feed = Body.feed

    def miscount(self, block):
        feed(self, block)
        self.rows += 1

    monkeypatch.setattr(Body, "feed", miscount)
    with pytest.raises(EngineError, match="another number of rows"):
        open_files(write("id,y\n1,2\n"))


def test_an_interrupted_query_is_an_interrupt(write):
    opened = open_files(write("id,y\n1,2\n"))
    with pytest.raises(KeyboardInterrupt), translated(opened):
        raise duckdb.InterruptException


def test_memory_running_out_in_the_engine_is_told(write):
    opened = open_files(write("id,y\n1,2\n"))
    with pytest.raises(EngineError, match="memory"), translated(opened):
        raise duckdb.OutOfMemoryException


def test_no_thread_of_ours_outlives_opening_or_refusing(write):
    def ours():
        return [thread.name for thread in threading.enumerate() if thread.name.startswith("ThreadPool")]

    before = ours()
    opened = open_files(write("id,y\n1,2\n"))
    errors = [refusal(write(f"id,y\n1,{'x' * 3_000_000}\n2\n"), "ragged-row") for _ in range(3)]
    assert ours() == before
    assert opened.rows == 1
    assert len(errors) == 3


def test_importing_the_module_loads_no_engine():

    code = "import sys, assay.rows.files.file; print({'duckdb', 'numpy', 'pyarrow', 'polars'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def samples():
    csv = b'id,y,"s"\n1,a,0.5\n2,"b\n""c""",\n3,\xc3\xa9,1e3\n'
    jsonl = b'{"id": 1, "y": "a", "s": 0.5}\n{"id": 2, "y": "\\u00e9", "s": null}\n{"id": 3, "y": "c", "s": 1e3}\n'
    table = pa.table({"id": [1, 2, 3], "y": ["a", "b", None], "s": [0.5, None, 1e3]})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="snappy")
    arrow = io.BytesIO()
    feather.write_feather(table, arrow, compression="lz4")
    return {
        "f.csv": csv,
        "f.csv.gz": gzip.compress(csv, mtime=0),
        "f.csv.zst": zstd(csv),
        "f.jsonl": jsonl,
        "f.parquet": sink.getvalue(),
        "f.arrow": arrow.getvalue(),
    }


def whole_or_refused(path, content):
    """Read a damaged file: every row, or one of our errors; anything else fails the test."""
    path.write_bytes(content)
    try:
        opened = open_files(path)
        rows = opened.fetch("SELECT * FROM rows")
        opened.confirm(len(rows))
        for column in opened.columns:
            check_scalar(opened, column)
    except AssayError:
        return None
    return rows


@pytest.mark.parametrize("name", samples())
def test_a_file_cut_at_any_byte_is_read_in_part_by_whole_rows_or_refused(tmp_path, name):
    content = samples()[name]
    whole = whole_or_refused(tmp_path / name, content)
    assert len(whole) == 3
    step = 1 if len(content) < 500 else 7
    for cut in range(0, len(content), step):
        rows = whole_or_refused(tmp_path / name, content[:cut])
        if rows is not None:
            assert name in {"f.csv", "f.jsonl"}
            assert rows[:-1] == whole[: len(rows) - 1]


@pytest.mark.parametrize("name", samples())
def test_a_file_with_flipped_bits_is_read_or_refused_and_always_noticed_by_its_pin(tmp_path, name):
    content = samples()[name]
    pin = hashlib.sha256(content).hexdigest()
    dice = random.Random(4213)
    for flips in (1,) * 40 + (4,) * 20:
        damaged = bytearray(content)
        for place in dice.sample(range(len(damaged)), flips):
            damaged[place] ^= 1 << dice.randrange(8)
        whole_or_refused(tmp_path / name, bytes(damaged))
        if flips > 1:
            with pytest.raises(AssayError) as caught:
                open_files(tmp_path / name, Reading(sha256=pin))
            assert caught.value.code == "digest-mismatch"


def test_a_file_that_is_refused_is_not_hashed_to_its_end(tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr(file, "begin_digest", lambda path, *_, **__: begun.append(Digest(path)) or begun[-1])
    (tmp_path / "f.csv").write_text("y,y\n1,1\n")
    with pytest.raises(AssayError):
        open_files(tmp_path / "f.csv")
    (tmp_path / "g.csv").write_text("y,p\n1,1\n")
    opened = open_files(tmp_path / "g.csv")
    refused, taken = begun
    assert refused() == ""
    assert opened.sha256 == taken() == hashlib.sha256(b"y,p\n1,1\n").hexdigest()
    del opened
    gc.collect()
    assert taken.stopped
