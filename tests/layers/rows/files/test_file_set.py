# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gzip
import hashlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import assay
from assay.core.errors import AssayError, EngineError, MissingColumn, RowsError
from assay.rows.files.file_set import open_files
from assay.rows.files.formats import Reading
from assay.rows.files.opened_file import check_scalar, locate, number_column
from assay.rows.limits import Limits
from assay.rows.row_positions import Row
from tests.layers.rows.filing import zstd


def refusal(data, code, kind=RowsError, **reading):
    with pytest.raises(AssayError) as caught:
        open_files(data, Reading(**reading))
    assert caught.value.code == code
    assert type(caught.value) is kind
    assert caught.value.fix
    return caught.value


def rows(opened):
    found = opened.fetch("SELECT * FROM rows ORDER BY ALL")
    opened.confirm(len(found))
    return found


@pytest.fixture
def parts(tmp_path):
    """Three rows in two files of every format, by format."""
    tables = [pa.table({"y": ["a", "b"], "n": [1, 2]}), pa.table({"y": ["c"], "n": [3]})]
    for number, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{number}.parquet")
        feather.write_feather(table, str(tmp_path / f"{number}.arrow"))
        lines = "".join(f'{{"y": "{y}", "n": {n}}}\n' for y, n in zip(*table.to_pydict().values(), strict=True))
        text = "y,n\n" + "".join(f"{y},{n}\n" for y, n in zip(*table.to_pydict().values(), strict=True))
        for ending, content in (("jsonl", lines), ("csv", text), ("tsv", text.replace(",", "\t"))):
            (tmp_path / f"{number}.{ending}").write_text(content, encoding="utf-8")
            (tmp_path / f"{number}.{ending}.gz").write_bytes(gzip.compress(content.encode()))
            (tmp_path / f"{number}.{ending}.zst").write_bytes(zstd(content.encode()))
    return tmp_path


@pytest.mark.parametrize(
    "ending", ["parquet", "arrow", "jsonl", "csv", "tsv", "jsonl.gz", "csv.gz", "tsv.zst", "csv.zst"]
)
def test_files_of_every_format_are_read_as_one_table(parts, ending):
    opened = open_files(parts / f"*.{ending}")
    typed = int if ending.startswith(("parquet", "arrow", "jsonl")) else str
    assert rows(opened) == [("a", typed(1)), ("b", typed(2)), ("c", typed(3))]
    assert opened.rows == 3
    assert opened.files == {
        f"{n}.{ending}": hashlib.sha256((parts / f"{n}.{ending}").read_bytes()).hexdigest() for n in (0, 1)
    }
    assert opened.notes[0] == "2 files read as one table"


def test_formats_may_be_mixed_where_the_types_are_equal(parts, tmp_path):
    opened = open_files([parts / "0.csv", parts / "1.tsv.gz"])
    assert len(rows(opened)) == 3
    assert opened.format == "csv"
    error = refusal([parts / "0.csv", parts / "1.parquet"], "column-type-differs")
    assert error.what == 'column "n" is VARCHAR in 0.csv and BIGINT in 1.parquet'
    pq.write_table(pa.table({"n": ["4"], "y": ["d"]}), tmp_path / "t.parquet")
    assert open_files([parts / "0.csv", tmp_path / "t.parquet"]).format == "csv and parquet"


@pytest.mark.parametrize("order", [1, -1])
def test_a_column_of_two_types_is_refused_with_both_files_and_both_types(tmp_path, order):
    pq.write_table(pa.table({"s": pa.array([1], pa.int64())}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"s": [2.5]}), tmp_path / "b.parquet")
    error = refusal([tmp_path / "a.parquet", tmp_path / "b.parquet"][::order], "column-type-differs")
    assert error.what == 'column "s" is BIGINT in a.parquet and DOUBLE in b.parquet'


def test_a_column_that_one_file_lacks_is_refused_with_both_files(tmp_path):
    (tmp_path / "a.csv").write_text("y,p\n1,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("y\n1\n", encoding="utf-8")
    error = refusal(tmp_path, "missing-column", MissingColumn)
    assert error.what == 'b.csv has no column "p", which a.csv has'
    (tmp_path / "b.csv").write_text("y,p,Q\n1,1,1\n", encoding="utf-8")
    assert refusal(tmp_path, "missing-column", MissingColumn).what == 'a.csv has no column "Q", which b.csv has'


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_columns_may_stand_in_another_order(tmp_path, ending):
    for number, table in enumerate([{"y": ["a"], "p": ["1"]}, {"p": ["2"], "y": ["b"]}]):
        path = tmp_path / f"{number}.{ending}"
        if ending == "parquet":
            pq.write_table(pa.table(table), path)
        elif ending == "csv":
            path.write_text(f"{','.join(table)}\n{','.join(v[0] for v in table.values())}\n", encoding="utf-8")
        else:
            body = ", ".join(f'"{name}": "{values[0]}"' for name, values in table.items())
            path.write_text(f"{{{body}}}\n", encoding="utf-8")
    opened = open_files(tmp_path)
    assert opened.fetch("SELECT y, p FROM rows ORDER BY y") == [("a", "1"), ("b", "2")]


def test_files_with_other_line_ends_quotes_and_delimiters_are_each_read_in_their_way(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfy,p\r\na,1\r\n")
    (tmp_path / "b.csv").write_bytes(b'y,p\n"b\nb","2,5"\n')
    (tmp_path / "c.csv").write_bytes(b'p;y\n3;"c;""c"\n')
    assert open_files(tmp_path).fetch("SELECT y, p FROM rows ORDER BY p") == [
        ("a", "1"),
        ("b\nb", "2,5"),
        ('c;"c', "3"),
    ]


def test_a_json_column_without_values_takes_the_type_it_has_elsewhere(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"y": null}\n', encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"y": 7}\n', encoding="utf-8")
    opened = open_files(tmp_path)
    assert opened.columns == {"y": "BIGINT"}
    assert sorted(rows(opened), key=str) == [(7,), (None,)]


def test_an_unfit_column_is_refused_only_when_asked_for(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"y": 1, "z": 1}\n{"y": 2, "z": "1"}\n', encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"y": 3, "z": 2}\n', encoding="utf-8")
    opened = open_files(tmp_path)
    assert [y for y, _ in rows(opened)] == [1, 2, 3]
    with pytest.raises(RowsError) as caught:
        check_scalar(opened, "z")
    assert caught.value.code == "mixed-types-in-column"
    assert "a.jsonl" in caught.value.where


def test_numbered_texts_of_arrow_files_are_texts(tmp_path):
    for name, values in (("a", ["x", "y"]), ("b", ["z"])):
        feather.write_feather(pa.table({"y": pa.array(values).dictionary_encode()}), str(tmp_path / f"{name}.feather"))
    opened = open_files(tmp_path)
    assert opened.columns == {"y": "VARCHAR"}
    assert rows(opened) == [("x",), ("y",), ("z",)]


def test_folders_give_text_columns(tmp_path):
    for site, text in (("01", "y\na\n"), ("02", "y\nb\n"), ("__HIVE_DEFAULT_PARTITION__", "y\nc\n")):
        (tmp_path / f"site={site}").mkdir()
        (tmp_path / f"site={site}" / "p.csv").write_text(text, encoding="utf-8")
    opened = open_files(tmp_path)
    assert opened.columns == {"y": "VARCHAR", "site": "VARCHAR"}
    assert rows(opened) == [("a", "01"), ("b", "02"), ("c", None)]


@pytest.mark.parametrize("name", ["site", "SITE"])
def test_a_folder_that_gives_a_column_of_the_file_is_refused(tmp_path, name):
    (tmp_path / "site=01").mkdir()
    (tmp_path / "site=01/p.csv").write_text(f"y,{name}\n1,01\n", encoding="utf-8")
    error = refusal(tmp_path, "duplicate-column")
    assert f'the file has a column "{name}"' in error.found
    assert open_files(tmp_path / "site=01/p.csv").rows == 1


def test_a_folder_name_cannot_leave_its_quotes(tmp_path):
    odd = "s';x=it's ]["
    (tmp_path / odd).mkdir()
    (tmp_path / odd / "p.csv").write_text("y\na\n", encoding="utf-8")
    opened = open_files(tmp_path)
    assert rows(opened) == [("a", "it's ][")]
    assert list(opened.columns) == ["y", "s';x"]


def test_folders_on_some_paths_only_are_a_missing_column(tmp_path):
    (tmp_path / "site=1").mkdir()
    (tmp_path / "site=1/a.csv").write_text("y\na\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("y\na\n", encoding="utf-8")
    assert 'b.csv has no column "site"' in refusal(tmp_path, "missing-column", MissingColumn).what


def test_a_row_is_located_with_its_file(tmp_path):
    (tmp_path / "a.csv").write_text("y,w\na,1\nb,2\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("y,w\nb,x\na,1\nb,z\n", encoding="utf-8")
    opened = open_files(tmp_path)
    found = locate(opened, "y = 'b'", ["w"], 2)
    assert [(row, row.file, values) for row, values in found] == [(2, "a.csv", {"w": "2"}), (1, "b.csv", {"w": "x"})]
    assert isinstance(found[0][0], Row)
    with pytest.raises(RowsError) as caught:
        number_column(opened, "w")
    assert caught.value.found == '"x" in row 1 of b.csv, "z" in row 3 of b.csv'


@pytest.mark.parametrize("bad", ["y,p\n1\n", "y,p\n1,1\n\n1,1\n", 'y,p\n"1,1\n', "y,p\n1,\x00\n", "y,p\n"])
def test_a_fault_in_any_file_is_told_with_its_name(tmp_path, bad):
    (tmp_path / "a.csv").write_text("y,p\n1,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text(bad, encoding="utf-8")
    with pytest.raises(RowsError) as caught:
        open_files(tmp_path)
    assert "b.csv" in caught.value.where


def test_a_file_of_no_known_format_in_the_folder_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("y,p\n1,1\n", encoding="utf-8")
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04.")
    assert "model.pkl" in refusal(tmp_path, "refused-format").where
    assert open_files(tmp_path / "*.csv").rows == 1


def test_the_row_limit_holds_for_all_files_together(parts):
    assert open_files(parts / "*.csv", Reading(max_rows=3)).rows == 3
    error = refusal(parts / "*.csv", "too-many-rows", max_rows=2)
    assert error.known == "at most 2"


def test_digests_pin_every_file_or_none(parts):
    pins = open_files(parts / "*.csv").files
    assert open_files(parts / "*.csv", Reading(sha256=pins)).rows == 3
    assert "0.csv" in refusal(parts / "*.csv", "digest-mismatch", sha256={**pins, "0.csv": "0" * 64}).where
    assert "not pinned" in refusal(parts / "*.csv", "digest-mismatch", sha256={"0.csv": pins["0.csv"]}).what
    assert "not there" in refusal(parts / "*.csv", "digest-mismatch", sha256={**pins, "2.csv": "0" * 64}).what
    refusal(parts / "*.csv", "option-unknown", assay.PlanError, sha256="0" * 64)
    with pytest.raises(assay.PlanError, match="64"):
        Reading(sha256={"a": "b"})


def test_progress_counts_the_bytes_of_all_files(parts):
    heard = []
    opened = open_files(parts / "?.csv", progress=lambda done, total: heard.append((done, total)))
    assert {total for _, total in heard} == {opened.bytes}
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)
    assert heard[-1][0] == opened.bytes


def test_a_file_that_changes_after_it_was_opened_is_noticed(parts):
    opened = open_files(parts / "?.parquet", limits=Limits(threads=1))
    table = pa.table({"y": ["x"] * 50, "n": [9] * 50})
    pq.write_table(table, parts / "1.parquet")
    with pytest.raises(RowsError) as caught:
        opened.fetch("SELECT y, count(*) FROM rows GROUP BY y")
    assert caught.value.code == "digest-mismatch"
    assert "1.parquet" in caught.value.where


def test_a_wrong_number_of_rows_is_a_fault_of_the_engine(parts):
    with pytest.raises(EngineError, match="another number of rows"):
        open_files(parts / "?.csv").confirm(2)


def test_notes_say_which_files_they_are_about(tmp_path):
    (tmp_path / "a.csv").write_text("y,p\n1,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("y,p\n1,2", encoding="utf-8")
    (tmp_path / "c.csv").write_text("y,p\n1,1\n", encoding="utf-8")
    assert open_files(tmp_path).notes == (
        "3 files read as one table",
        "delimiter ',' (detected)",
        "b.csv: the file does not end with a newline: it may be cut short",
        "a.csv, c.csv: the same bytes, so their rows are counted 2 times",
    )


def test_files_read_alike_are_read_by_one_scan(tmp_path):
    for number in range(40):
        (tmp_path / f"{number:02}.csv").write_text(f"y\n{number}\n", encoding="utf-8")
    opened = open_files(tmp_path)
    [(sql,)] = opened.fetch("SELECT sql FROM duckdb_views() WHERE view_name = 'rows'")
    assert sql.count("read_csv") == 1
    assert len(rows(opened)) == 40
