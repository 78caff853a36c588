# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.core.errors import RowsError
from assay.rows.files import csv_shape
from assay.rows.files import text_blocks as textfiles
from assay.rows.files.file_set import open_files
from assay.rows.files.opened_file import locate, number_column
from tests.layers.rows.filing import column, refusal, rows_of


def test_i01_a_utf8_byte_order_mark_is_taken_off(write):
    path = write(b"\xef\xbb\xbfid,y\n1,0\n2,1\n")
    assert list(open_files(path).columns) == ["id", "y"]
    assert rows_of(path) == [("1", "0"), ("2", "1")]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_i01_utf16_is_refused(write, encoding):
    content = "\ufeffid,y\n1,0\n".encode(encoding)
    assert "byte 0" in refusal(write(content), "encoding").found


def test_bytes_that_are_not_utf8_are_refused_with_offset_and_line(write):
    error = refusal(write(b"id,y\n1,a\n2,caf\xe9\n"), "encoding")
    assert "line 3" in error.where
    assert "0xe9 at byte 14" in error.found


def test_the_offset_counts_a_byte_order_mark(write):
    assert "at byte 10" in refusal(write(b"\xef\xbb\xbfid,y\n1,\xff\n"), "encoding").found


@pytest.mark.parametrize("cut", [b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98"])
def test_a_character_cut_in_half_at_the_end_is_refused(write, cut):
    refusal(write(b"id,y\n1," + cut), "encoding")


def test_i04_only_the_empty_unquoted_field_is_missing(write):
    words = ["NA", "None", "null", "nan", "N/A", "NULL", "NaN", "-", "cat"]
    content = "id,y\n" + "".join(f"{i},{word}\n" for i, word in enumerate(words)) + '9,\n10,""\n'
    assert [y for _, y in rows_of(write(content))] == [*words, None, ""]


def test_i05_leading_zeros_and_spaces_stay(write):
    assert rows_of(write("id,y\n007,0\n7,1\n 08 ,1.0\n")) == [("007", "0"), ("7", "1"), (" 08 ", "1.0")]


def test_i07_a_decimal_comma_makes_a_ragged_row_with_a_hint(write):
    error = refusal(write("id,y,score\n1,0,0,95\n2,1,0,10\n"), "ragged-row")
    assert "line 2 has 4 fields" in error.found
    assert "the header has 3" in error.found
    assert "decimal comma" in error.fix


def test_i10_a_quoted_newline_belongs_to_its_field(write):
    assert rows_of(write('id,y\n1,"a\nb"\n2,c\n')) == [("1", "a\nb"), ("2", "c")]


def test_i11_an_unclosed_quote_is_refused_with_its_line(write):
    error = refusal(write('id,y\n1,"a\n2,b\n3,c\n4,d\n'), "quote-not-closed")
    assert "line 2" in error.what


def test_an_unclosed_quote_is_found_where_the_next_quoted_field_begins(write):
    error = refusal(write('id,y\n1,"a\n2,b\n3,"c"\n'), "quote-not-closed")
    assert "line 2" in error.what
    assert "line 4" in error.found


def test_an_unclosed_quote_far_before_the_end_keeps_its_line(write):
    content = 'id,y\n1,ok\n2,"open ""and\n' + "3,b\n" * 600_000
    assert "line 3" in refusal(write(content), "quote-not-closed").what


def test_an_unclosed_quote_in_the_header_is_refused(write):
    assert "line 1" in refusal(write('id,"y\n1,2\n3,4\n'), "quote-not-closed").what
    assert "line 1" in refusal(write('id,"y\n' + "1,2\n" * 1_100_000), "quote-not-closed").what


@pytest.mark.parametrize("row", ['1,5" pipe', '1, "x"', '1,a"b"', '5",2'])
def test_a_quote_inside_an_unquoted_field_is_refused_with_its_line(write, row):
    assert "line 3" in refusal(write(f"id,y\n1,2\n{row}\n"), "file-unreadable").where


@pytest.mark.parametrize("row", ['1,"x"y', '"1" ,2', '1,"x" "y"'])
def test_text_behind_a_closing_quote_is_refused_with_its_line(write, row):
    assert "line 3" in refusal(write(f"id,y\n1,2\n{row}\n"), "quote-not-closed").where


def test_i12_a_file_without_a_last_newline_is_noted(write):
    opened = open_files(write("id,y,score\n1,0,0.12\n2,1,0.98"))
    assert "the file does not end with a newline: it may be cut short" in opened.notes
    assert opened.fetch("SELECT score FROM rows") == [("0.12",), ("0.98",)]


def test_i12_a_short_last_row_is_ragged(write):
    assert "line 3 has 2 fields" in refusal(write("id,y,score\n1,0,0.12\n2,1"), "ragged-row").found


def test_i12_a_cut_file_does_not_match_its_pin(write):
    whole = b"id,y,score\n1,0,0.12\n2,1,0.98\n"
    pin = hashlib.sha256(whole).hexdigest()
    assert rows_of(write(whole), sha256=pin.upper())
    for cut in (whole[:-1], whole[:-5], whole[:-10], whole[:3], b""):
        assert refusal(write(cut), "digest-mismatch", sha256=pin).known == f"sha256 {pin}"


def test_i13_a_duplicate_column_is_refused(write):
    error = refusal(write("id,score,score\n1,0.1,0.9\n"), "duplicate-column")
    assert "column 2" in error.found
    assert "column 3" in error.found


def test_columns_that_differ_only_in_case_are_refused_because_the_engine_does_not_tell_them_apart(write):
    assert "case" in refusal(write("id,ID\n1,2\n"), "duplicate-column").what
    assert list(open_files(write("É,é\n1,2\n")).columns) == ["É", "é"]


def test_a_quoted_name_may_hold_the_delimiter_a_quote_and_a_line_break(write):
    opened = open_files(write('"a,b","c ""d""","e\nf"\n1,2,3\n'))
    assert list(opened.columns) == ["a,b", 'c "d"', "e\nf"]
    assert opened.first_line == 3
    assert rows_of(opened.path) == [("1", "2", "3")]


@pytest.mark.parametrize("header", ['"a"b,c', 'a"b,c', '"a" ,c'])
def test_a_header_with_misplaced_quotes_is_refused(write, header):
    with pytest.raises(RowsError):
        open_files(write(f"{header}\n1,2\n"))


def test_a_line_break_in_a_name_behind_a_byte_order_mark_is_refused(write):
    refusal(write(b'\xef\xbb\xbf"a\nb",c\n1,2\n'), "file-unreadable")
    refusal(write(b'\xef\xbb\xbf"a\rb",c\n1,2\n'), "file-unreadable")
    assert rows_of(write(b'\xef\xbb\xbf"a","c"\n"1","2\n"\n')) == [("1", "2\n")]


def test_a_column_without_a_name_gets_one_and_a_note(write):
    opened = open_files(write(",y\n0,a\n"))
    assert list(opened.columns) == ["column 1", "y"]
    assert any("no name" in note for note in opened.notes)
    refusal(write(",column 1\n0,a\n"), "duplicate-column")


def test_numbers_as_a_header_are_a_header(write):
    assert rows_of(write("1,2\n3,4\n")) == [("3", "4")]


def test_too_many_columns_are_no_table(write):
    header = ",".join(f"c{i}" for i in range(10_001))
    refusal(write(f"{header}\n{header}\n"), "file-unreadable")


def test_a_name_that_is_too_long_to_be_one_is_refused(write):
    refusal(write("x" * 200_000 + ",y\n1,2\n"), "file-unreadable")


def test_i16_a_nul_is_refused_with_its_line(write):
    error = refusal(write(b"id,y\n1,a\x00b\n2,c\n"), "control-character")
    assert "line 2" in error.where
    assert "NUL at byte 8" in error.found


@pytest.mark.parametrize("byte", sorted(set(range(1, 32)) - {9, 10, 13}))
@pytest.mark.parametrize("field", [b"a%cb", b'"a%cb"', b'"a\n%cb"'])
def test_other_control_characters_are_refused_inside_quotes_too(write, byte, field):
    error = refusal(write(b"id,y\n1,x\n2," + field.replace(b"%c", bytes([byte])) + b"\n"), "control-character")
    assert f"line {4 if b'a' + bytes([10]) in field else 3}" in error.where


def test_a_tab_in_a_field_is_text(write):
    assert rows_of(write("id,y\n1,a\tb\n")) == [("1", "a\tb")]


def test_i17_one_more_field_than_the_header_is_ragged(write):
    assert "3 rows of 3" in refusal(write("y,p\n1,0,1\n2,1,1\n3,0,0\n"), "ragged-row").what


@pytest.mark.parametrize("row", ["1", "1,2,3", "1,2,", ",,", "1,2,,", '"1,2"', '1,"2",'])
@pytest.mark.parametrize("before", [0, 1, 200_000])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_ragged_row_is_found_with_its_line_anywhere(write, row, before, end):
    content = f"a,b{end}" + f"1,2{end}" * before + row + end + f'3,"4"{end}'
    error = refusal(write(content), "ragged-row")
    assert error.where.endswith(f"line {before + 2:,}")
    assert f"1 row of {before + 2:,}" in error.what


def test_all_ragged_rows_are_counted_and_three_are_shown(write):
    content = "a,b\n" + "1,2\n3\n" * 50_000
    error = refusal(write(content), "ragged-row")
    assert "50,000 rows of 100,000" in error.what
    assert "lines 3, 5, 7 and 49,997 more" in error.where


def test_line_numbers_count_line_breaks_inside_quotes(write):
    content = 'a,b\n1,"x\ny\n\nz"\n2,3,4\n'
    assert "line 6" in refusal(write(content), "ragged-row").where


def test_i18_a_blank_line_between_rows_is_refused_with_its_line_number(write):
    assert "line 3" in refusal(write("id,y\n1,0\n\n#x,1\n2,1\n"), "blank-line").where


def test_i18_there_is_no_comment_syntax(write):
    assert rows_of(write("id,y\n1,0\n#x,1\n2,1\n")) == [("1", "0"), ("#x", "1"), ("2", "1")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_at_the_end_are_no_rows(write, end):
    assert rows_of(write(end.join(["a,b", "1,2", "", "", ""]))) == [("1", "2")]


def test_blank_lines_before_the_header_and_across_blocks_are_refused(write):
    assert "line 1" in refusal(write("\n\na,b\n1,2\n"), "blank-line").where
    content = "a,b\n" + "1,2\n" * 500_000 + "\n" * 200_000 + "3,4\n"  # a block of 1 MiB ends among the blank lines
    error = refusal(write(content), "blank-line")
    assert "line 500,002" in error.where.replace("lines", "line")
    assert "200,000 blank lines" in error.what


def test_a_blank_line_inside_quotes_is_text(write):
    assert rows_of(write('a,b\n1,"x\n\n\ny"\n')) == [("1", "x\n\n\ny")]
    assert rows_of(write('a\n"x\n\ny"\n')) == [("x\n\ny",)]


@pytest.mark.parametrize("content", ["a\n1\n\n2\n", "a\n1\n\n", "a\n\n", "a\r\n1\r\n\r\n2\r\n", 'a\n"x\n\ny"\n\n1\n'])
def test_a_blank_line_in_a_single_column_could_be_a_missing_value_and_is_refused(write, content):
    refusal(write(content), "blank-line")


def test_an_empty_text_in_a_single_column_is_written_as_quotes(write):
    assert rows_of(write('a\n""\n1\n')) == [("",), ("1",)]


@pytest.mark.parametrize("content", ["", "a,b\n", "a,b", "a,b\r\n", "\n", "\n\n", "a,b\n\n\n"])
def test_a_file_without_rows_is_refused(write, content):
    refusal(write(content), "no-rows")


def test_lines_may_end_in_crlf(write):
    assert rows_of(write('id,y\r\n1,"a\r\nb"\r\n2,""\r\n3,c')) == [("1", "a\r\nb"), ("2", ""), ("3", "c")]
    assert rows_of(write("id\r\n1\r\n2\r\n")) == [("1",), ("2",)]


@pytest.mark.parametrize(
    ("content", "line"),
    [("a,b\r\n1,2\n3,4\r\n", 2), ("a,b\n1,2\n3,4\r\n", 3), ("a,b\n1,2\r3,4\n", 2), ("a,b\r1,2\r", 1)],
)
def test_mixed_or_lone_line_ends_are_refused_with_their_line(write, content, line):
    assert f"line {line}" in refusal(write(content), "file-unreadable").where


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_header_and_shown(write, mark):
    opened = open_files(write(f"id{mark}y\n1{mark}2\n"))
    assert opened.fetch("SELECT y FROM rows") == [("2",)]
    assert opened.notes == (f"delimiter {'tab' if mark == chr(9) else repr(mark)} (detected)",)


def test_a_header_with_two_kinds_of_delimiters_is_settled_by_the_first_row_or_refused(write):
    assert rows_of(write("id;name, first;y\n1;x;2\n")) == [("1", "x", "2")]
    assert "delimiter=" in refusal(write("a,b|c\n1,2|3\n"), "file-unreadable").fix
    assert rows_of(write("a,b|c\n1,2|3\n"), delimiter="|") == [("1,2", "3")]


def test_a_delimiter_inside_quotes_does_not_count(write):
    assert rows_of(write('"a;b","c;d;e"\n1,2\n')) == [("1", "2")]


def test_a_tsv_file_states_its_delimiter(write):
    opened = open_files(write("a,b\tc\n1\t2\n", "f.tsv"))
    assert list(opened.columns) == ["a,b", "c"]
    assert opened.notes == ()


def test_max_rows_stops_a_text_file(write):
    path = write("a,b\n" + "1,2\n" * 10)
    assert len(rows_of(path, max_rows=10)) == 10
    refusal(path, "too-many-rows", max_rows=9)


def test_i37_a_missing_value_leaves_the_others_as_they_are_written(write):
    assert rows_of(write("id,y\n1,1\n2,\n3,0\n")) == [("1", "1"), ("2", None), ("3", "0")]


def test_i39_numbers_are_read_whole_wherever_they_stand(write):
    content = (
        "id,score\n" + "".join(f"{i},{i % 2}\n" for i in range(30000)) + "".join(f"{i},0.{i}\n" for i in range(1, 10))
    )
    opened = open_files(write(content))
    assert sum(x for x in column(opened, number_column(opened, "score")) if x not in (0, 1)) == pytest.approx(4.5)
    assert opened.columns["score"] == "VARCHAR"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_breaks_inside_quotes_are_read_right_in_a_large_file(write, end):
    rows = 400_000
    path = write(f"id,y{end}" + "".join(f'{i},"{end}7,8{end}7,8{end}"""{end}' for i in range(rows)))
    opened = open_files(path)
    assert opened.rows == rows
    assert opened.fetch("SELECT count(*), sum(id::BIGINT), count(DISTINCT y) FROM rows") == [
        (rows, rows * (rows - 1) // 2, 1)
    ]
    assert locate(opened, "id = '399999'", ["id"]) == [(rows, {"id": "399999"})]


def test_long_rows_are_read_and_endless_ones_refused(write, monkeypatch):
    assert len(rows_of(write('a,b\n1,"' + "x\n" * 1_500_000 + '"\n2,3\n'))[0][1]) == 3_000_000
    assert len(rows_of(write("a,b\n1," + "x" * 3_000_000 + "\n2,3\n"))[0][1]) == 3_000_000
    assert textfiles.FREE == 64 << 20
    for module in (textfiles, csv_shape):  # smaller, but still several blocks
        monkeypatch.setattr(module, "FREE", 4 << 20)
    assert "64 MiB" in refusal(write("a,b\n1," + "x" * (5 << 20) + "\n2,3\n"), "file-unreadable").what
    assert "64 MiB" in refusal(write('a,b\n1,"' + "x\n" * (5 << 19) + '"\n2,3\n'), "file-unreadable").what


FIELD = st.text(alphabet=st.sampled_from('a1 é😀,"\n\r#;\t'), max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=st.integers(1, 4).flatmap(
        lambda k: st.lists(st.lists(st.none() | FIELD, min_size=k, max_size=k), min_size=1)
    ),
    end=st.sampled_from(["\n", "\r\n"]),
    always=st.booleans(),
    block=st.sampled_from([1, 3, 7, 64, 1 << 20]),
)
def test_any_table_written_by_the_rules_is_read_back(write, monkeypatch, *, table, end, always, block):
    def spelled(field):
        if field is None:
            return "" if len(table[0]) > 1 else '""'
        plain = field and not set(field) & set(',"\r\n')
        return field if plain and not always else '"' + field.replace('"', '""') + '"'

    monkeypatch.setattr(textfiles, "BLOCK", block)
    header = [f"c{i}" for i in range(len(table[0]))]
    path = write(end.join(",".join(row) for row in [header, *(map(spelled, row) for row in table)]) + end)
    expected = [tuple("" if field is None and len(row) == 1 else field for field in row) for row in table]
    assert rows_of(path) == expected


@pytest.mark.parametrize("field", ["a", '"a"', '"a,b"', '"a\nb"', '"a""b"'])
def test_blocks_of_any_size_give_the_same_rows(write, monkeypatch, field):
    path = write("id,y\n" + "".join(f"{i},{field}\n" for i in range(50)))
    whole = rows_of(path)
    for block in (1, 2, 5, 11, 100):
        monkeypatch.setattr(textfiles, "BLOCK", block)
        assert rows_of(path) == whole


def test_the_scan_is_not_slower_than_it_was_built_to_be(write):
    path = write("id,y,p,s\n" + "123456,cat,dog,0.123456\n" * 2_000_000)
    began = time.thread_time()
    open_files(path)
    assert path.stat().st_size / (time.thread_time() - began) > 100e6  # a third of the target, for loaded machines


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bad", ['a"b', 'a""b"', '"a" ,b', 'a,"b" c', '"a""b",c', '"a,b",c', '"a', '" "x,b', ',""'])
def test_one_odd_row_among_many_that_quote_alike_is_judged_as_it_is_alone(write, bad, end):
    def judged(rows):
        try:
            return rows_of(write(f"a,b{end}" + "".join(f"{row}{end}" for row in rows)))[-1]
        except RowsError as error:
            return error.code

    alike = ['"x","y"'] * 20_000
    assert judged([*alike, bad]) == judged([bad])
    assert judged([*alike, bad, *alike]) == (judged([bad, alike[0]]))
