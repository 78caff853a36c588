# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gzip
import json

import pytest

import assay
from assay.core.errors import RowsError
from assay.rows.files.file_set import open_files
from assay.rows.files.opened_file import check_scalar
from tests.layers.rows.filing import refusal, rows_of, zstd


def test_json_keeps_numbers_text_and_booleans_apart(write):
    path = write(
        '{"i": 1, "t": "1", "b": true, "f": 0.5, "n": null}\n{"i": -2, "t": "x", "b": null, "f": 1, "n": null}\n',
        "f.jsonl",
    )
    opened = open_files(path)
    assert opened.columns == {"i": "BIGINT", "t": "VARCHAR", "b": "BOOLEAN", "f": "DOUBLE", "n": "VARCHAR"}
    assert rows_of(path) == [(1, "1", True, 0.5, None), (-2, "x", None, 1.0, None)]
    for column in opened.columns:
        check_scalar(opened, column)


def test_i35_a_line_that_is_no_json_is_refused_with_its_number(write):
    path = write('{"id":1,"y":0}\n{"id":2}\n{"id":3,"y":"1"}\n{bad\n', "f.jsonl")
    error = refusal(path, "file-unreadable")
    assert error.where.endswith("line 4")


@pytest.mark.parametrize(
    "line",
    [
        *('{"a":1}{"a":2}', '{"a":1,}', '{"a":NaN}', '{"a":-Infinity}', '{"a":inf}', '{"a":01}', '{"a":1e999}', "{"),
        *("[1]", "5", "null", '"x"', "  ", '{"a":"\\ud800"}', '{"a":1,"a":2}', '{"a":"x\ty"}', '{"a":[1,]}'),
        *('{"a":' + "[" * depth + "]" * depth + "}" for depth in (200, 100_000)),
    ],
)
def test_a_line_that_is_not_one_strict_object_is_refused_with_its_number(write, line):
    path = write('{"a":1}\n{"a":2}\n' + line + '\n{"a":3}\n', "f.jsonl")
    assert refusal(path, "file-unreadable").where.endswith("line 3")


def test_a_json_array_is_told_how_to_become_lines(write):
    assert "array" in refusal(write('[{"a":1},\n{"a":2}]\n', "f.json"), "file-unreadable").fix


def test_a_key_that_is_missing_on_a_line_matters_when_it_is_asked_for(write):
    opened = open_files(write('{"id":1,"y":0}\n{"id":2}\n{"id":3,"y":1}\n', "f.jsonl"))
    check_scalar(opened, "id")
    with pytest.raises(RowsError) as caught:
        check_scalar(opened, "y")
    assert caught.value.code == "ragged-row"
    assert caught.value.where.endswith("line 2")


@pytest.mark.parametrize("other", ['"1"', "true"])
def test_mixed_types_are_refused_with_their_lines_when_asked_for(write, other):
    opened = open_files(write(f'{{"y":1}}\n{{"y":2}}\n{{"y":{other}}}\n', "f.ndjson"))
    with pytest.raises(RowsError) as caught:
        check_scalar(opened, "y")
    assert caught.value.code == "mixed-types-in-column"
    assert "lines 1, 2" in caught.value.found
    assert "line 3" in caught.value.found


@pytest.mark.parametrize("value", ["[1]", '{"a":1}', "[]", "{}"])
def test_nested_values_are_refused_when_asked_for(write, value):
    opened = open_files(write(f'{{"id":1,"y":1}}\n{{"id":2,"y":{value}}}\n', "f.jsonl"))
    check_scalar(opened, "id")
    with pytest.raises(RowsError) as caught:
        check_scalar(opened, "y")
    assert caught.value.code == "column-not-scalar"
    assert caught.value.where.endswith("line 2")


def test_whole_numbers_are_exact_or_refused(write):
    opened = open_files(
        write('{"a":18446744073709551615,"b":-1,"c":1,"d":9007199254740993}\n'
              '{"a":0,"b":18446744073709551615,"c":123456789012345678901234567890,"d":0.5}\n', "f.jsonl")
    )  # fmt: skip
    assert opened.fetch("SELECT a FROM rows") == [(18446744073709551615,), (0,)]
    check_scalar(opened, "a")
    for column in "bcd":
        with pytest.raises(RowsError) as caught:
            check_scalar(opened, column)
        assert caught.value.code == "label-precision"


def test_text_that_only_looks_odd_is_fine_json(write):
    lines = ['{"y":"a, nan"}', '{"y":",]"}', '{"y":": 12345678901234567890"}', '{"y":"e999"}']
    assert rows_of(write("\n".join(lines) + "\n", "f.jsonl")) == [(json.loads(line)["y"],) for line in lines]


def test_blank_lines_in_json_are_refused_but_at_the_end(write):
    error = refusal(write('{"a":1}\n\n{"a":2}\n', "f.jsonl"), "blank-line")
    assert error.where.endswith("line 2")
    assert rows_of(write('{"a":1}\r\n{"a":2}\r\n\r\n\n', "f.jsonl")) == [(1,), (2,)]


def test_json_files_share_the_rules_of_text(write):
    refusal(write("", "f.jsonl"), "no-rows")
    refusal(write("\n\n", "f.jsonl"), "no-rows")
    refusal(write(b'\xef\xbb\xbf{"a":1}\n', "f.jsonl"), "encoding")
    refusal(write(b'{"a":"\xe9"}\n', "f.jsonl"), "encoding")
    assert refusal(write(b'{"a":1}\n{"a":"\x00"}\n', "f.jsonl"), "control-character").where.endswith("line 2")
    refusal(write('{"a":1}\n{"a":2}\n', "f.jsonl"), "too-many-rows", max_rows=1)
    assert "newline" in open_files(write('{"a":1}', "f.jsonl")).notes[0]
    assert rows_of(write(gzip.compress(b'{"a":1}\n'), "f.jsonl.gz")) == [(1,)]
    assert rows_of(write(zstd(b'{"a":1}\n'), "f.ndjson.zst")) == [(1,)]


def test_keys_are_columns_as_they_are_written(write):
    keys = ["é", "q\"/~'", "a b", "$x", "select", "0"]
    path = write(json.dumps({key: i for i, key in enumerate(keys)}) + "\n", "f.jsonl")
    assert list(open_files(path).columns) == keys
    assert rows_of(path) == [tuple(range(len(keys)))]
    refusal(write('{"a":1,"A":2}\n', "f.jsonl"), "duplicate-column")
    refusal(write('{"a\\u0000b":1}\n', "f.jsonl"), "file-unreadable")
    assert "left out" in open_files(write('{"":1,"a":2}\n', "f.jsonl")).notes[0]


def test_a_long_json_line_is_read(write):
    path = write('{"a":"' + "x" * 17_000_000 + '"}\n{"a":"y"}\n', "f.jsonl")
    assert [len(a) for (a,) in rows_of(path)] == [17_000_000, 1]


def test_of_two_faulty_columns_the_same_one_is_told_whatever_order_cells_come_in(tmp_path):
    path = tmp_path / "f.jsonl"
    path.write_text('{"y": 9007199254740992, "p": 1, "g": -1}\n{"y": 0.0, "p": 0.5, "g": 1.0}\n', encoding="utf-8")
    for _ in range(12):
        with pytest.raises(assay.RowsError) as caught:
            assay.assess(data=path, truth="y", predicted="p", group="g")
        assert (caught.value.code, caught.value.found) == ("label-precision", "9007199254740992.0")
