# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from assay.core.errors import PlanError, RowsError
from assay.rows.files import parquet as columnar
from assay.rows.files.file_set import open_files
from assay.rows.files.opened_file import check_scalar, locate
from tests.layers.rows.filing import parquet, refusal


def test_i20_a_truncated_parquet_file_is_refused_wherever_it_is_cut(write, tmp_path):
    path = parquet(tmp_path / "f.parquet", pa.table({"id": range(1000), "y": [0, 1] * 500}))
    content = path.read_bytes()
    for cut in (0, 3, 4, 8, 11, 12, len(content) // 2, len(content) - 1):
        refusal(write(content[:cut], "f.parquet"), "file-truncated")


def flipped(path):
    content = bytearray(path.read_bytes())
    content[content.find(struct.pack("<q", 500)) + 1] ^= 0x10
    path.write_bytes(content)


def test_i21_a_flipped_bit_is_found_by_the_pin(tmp_path):
    table = pa.table({"y": np.arange(1000, dtype=np.int64)})
    plain = {"compression": "none", "use_dictionary": False}
    path = parquet(tmp_path / "plain.parquet", table, **plain)
    pin = open_files(path).sha256
    flipped(path)
    assert open_files(path).sha256 != pin
    assert open_files(path).notes == ()
    refusal(path, "digest-mismatch", sha256=pin)


def test_i22_parquet_columns_keep_their_types_and_nested_ones_are_refused_when_asked_for(tmp_path):
    table = pa.table(
        {
            "y": [1.0, 0.0],
            "d": pa.array([1, None], pa.int8()),
            "ts": pa.array([0, 1], pa.timestamp("ns")),
            "l": [[1], [0]],
            "s": [{"a": 1}] * 2,
        }
    )
    opened = open_files(parquet(tmp_path / "f.parquet", table))
    assert [opened.columns[c] for c in ("y", "d", "ts")] == ["DOUBLE", "TINYINT", "TIMESTAMP_NS"]
    for column in ("y", "d", "ts"):
        check_scalar(opened, column)
    for column in ("l", "s"):
        with pytest.raises(RowsError) as caught:
            check_scalar(opened, column)
        assert caught.value.code == "column-not-scalar"
        assert f'"{column}"' in caught.value.where


def test_i23_a_parquet_bomb_is_refused_by_its_footer(tmp_path):
    path = tmp_path / "bomb.parquet"
    with pq.ParquetWriter(path, pa.schema([("y", pa.int64())]), compression="zstd") as writer:
        for _ in range(4):
            writer.write_table(pa.table({"y": np.zeros(5_000_000, np.int64)}))
    assert open_files(path).rows == 20_000_000
    whole = path.read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    path.write_bytes(whole[:4] + bytes(len(whole) - 4 - footer) + whole[-footer:])  # no page can be read any more
    error = refusal(path, "too-many-rows", max_rows=1_000_000)
    assert "20,000,000" in error.found


def test_duplicate_names_in_parquet_are_refused_and_not_renamed(tmp_path):
    columns = [pa.array([1]), pa.array([[1]]), pa.array([2])]
    refusal(
        parquet(tmp_path / "f.parquet", pa.Table.from_arrays(columns, names=["a", "list", "a"])), "duplicate-column"
    )
    refusal(parquet(tmp_path / "f.parquet", pa.Table.from_arrays(columns, names=["a", "b", "A"])), "duplicate-column")
    assert (
        open_files(parquet(tmp_path / "f.parquet", pa.Table.from_arrays(columns, names=["a", "list", "element"]))).rows
        == 1
    )


def test_a_parquet_file_without_rows_is_refused(tmp_path):
    refusal(parquet(tmp_path / "f.parquet", pa.table({"a": pa.array([], pa.int64())})), "no-rows")


def test_a_corrupt_parquet_page_is_unreadable(tmp_path):
    path = parquet(tmp_path / "f.parquet", pa.table({"y": [f"text {i}" for i in range(5000)]}), use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[60:2000] = bytes(1940)
    path.write_bytes(content)
    opened = open_files(path)
    with pytest.raises(RowsError) as caught:
        opened.fetch("SELECT count(DISTINCT y) FROM rows")
    assert caught.value.code == "file-unreadable"


def test_text_in_parquet_that_is_not_utf8_is_refused(tmp_path):
    path = parquet(tmp_path / "f.parquet", pa.table({"y": ["cafe", "b"]}), compression="none", use_dictionary=False)
    path.write_bytes(path.read_bytes().replace(b"cafe", b"caf\xe9"))
    with pytest.raises(RowsError) as caught:
        open_files(path).fetch("SELECT y FROM rows")
    assert caught.value.code in {"encoding", "file-unreadable"}


@pytest.mark.parametrize("name", ["f.arrow", "f.feather", "f.ipc"])
@pytest.mark.parametrize("stream", [False, True])
def test_arrow_files_and_streams_are_read_and_refused_when_cut(tmp_path, name, stream):
    table = pa.table({"id": range(3), "y": ["a", "b", None], "b": [True, False, None], "l": [[1]] * 3})
    path = tmp_path / name
    writer = pa.ipc.new_stream if stream else pa.ipc.new_file
    with writer(path, table.schema) as out:
        out.write_table(table, max_chunksize=2)
    opened = open_files(path)
    assert opened.format == "arrow"
    assert opened.rows == 3
    assert opened.fetch("SELECT id, y, b FROM rows") == [(0, "a", True), (1, "b", False), (2, None, None)]
    assert opened.fetch("SELECT count(*) FROM rows") == [(3,)]
    with pytest.raises(RowsError) as caught:
        check_scalar(opened, "l")
    assert caught.value.code == "column-not-scalar"
    refusal(path, "too-many-rows", max_rows=2)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(RowsError) as caught:
        open_files(path)
    assert caught.value.code == "file-truncated"


def test_an_arrow_stream_without_its_end_mark_is_noted(tmp_path):
    table = pa.table({"id": range(3)})
    path = tmp_path / "f.arrow"
    with pa.ipc.new_stream(path, table.schema) as out:
        out.write_table(table)
    path.write_bytes(path.read_bytes()[:-8])
    assert "end mark" in open_files(path).notes[0]


def test_a_compressed_feather_file_keeps_its_order(tmp_path):
    path = tmp_path / "f.feather"
    feather.write_feather(pa.table({"id": range(300_000)}), path, compression="zstd", chunksize=1000)
    opened = open_files(path)
    assert locate(opened, "id <> row_", ["id"], 1) if "row_" in opened.columns else True
    assert opened.fetch("SELECT count(*) FROM (SELECT row_number() OVER () - 1 AS n, id FROM rows) WHERE n <> id") == [
        (0,)
    ]


def test_arrow_without_a_reader_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "f.arrow"
    feather.write_feather(pa.table({"a": [1]}), path)
    monkeypatch.setattr(columnar, "optional", lambda _: None)
    with pytest.raises(PlanError) as caught:
        open_files(path)
    assert caught.value.code == "missing-extra"
    assert "pip install" in caught.value.fix


def test_arrow_files_without_rows_or_with_duplicate_names_are_refused(tmp_path):
    path = tmp_path / "f.arrow"
    feather.write_feather(pa.table({"a": pa.array([], pa.int64())}), path)
    refusal(path, "no-rows")
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pa.ipc.new_file(path, table.schema) as out:
        out.write_table(table)
    refusal(path, "duplicate-column")
