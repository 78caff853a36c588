# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib

import pytest

from assay.core.errors import MissingColumn
from assay.rows.files.formats import Reading
from assay.tally.data.split_counts import SplitRows


def opened(folder, text, name="a.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return SplitRows.of(str(path), reading=Reading())


def test_the_same_rows_in_any_order_have_the_same_digest(tmp_path):
    a = opened(tmp_path, "id,x\n1,a\n2,b\n3,c\n")
    b = opened(tmp_path, "x,id\nc,3\na,1\nb,2\n", "b.csv")
    assert a.hashes("id", "x").digest == b.hashes("id", "x").digest
    assert a.hashes("id").digest != b.hashes("x").digest
    assert a.sha256 != b.sha256


def test_hashes_count_repeats_and_shared_rows(tmp_path):
    a = opened(tmp_path, "id\n1\n1\n2\n3\n").hashes("id")
    b = opened(tmp_path, "id\n1\n9\n", "b.csv").hashes("id")
    assert (len(a), len(a.distinct())) == (4, 3)
    assert (a.found_in(b), b.found_in(a), a.distinct().found_in(b)) == (2, 1, 1)


def test_values_of_neighbouring_columns_are_not_confused(tmp_path):
    rows = opened(tmp_path, "a,b\n1,23\n12,3\n,x\nx,\n")
    assert len(rows.hashes("a", "b").distinct()) == 4


def test_near_duplicates_differ_in_case_spaces_or_late_digits_only(tmp_path):
    a = opened(tmp_path, "x,t\n1.0000001,Ab  c\n2.5,q\n")
    b = opened(tmp_path, "x,t\n1,ab c\n2.6,q\n", "b.csv")
    assert a.hashes("x", "t").found_in(b.hashes("x", "t")) == 0
    assert a.hashes("x", "t", nearly=True).found_in(b.hashes("x", "t", nearly=True)) == 1


def test_conflicts_are_rows_alike_with_different_labels(tmp_path):
    found = opened(tmp_path, "x,y\n1,a\n1,a\n1,b\n2,a\n3,b\n3,b\n").conflicts(["x"], "y")
    assert (found.groups, found.rows, found.least_errors, found.distinct) == (1, 3, 1, 3)


def test_tables_missing_values_and_spans(tmp_path):
    rows = opened(tmp_path, "y,t,w\na,2024-01-02,\nb,2024-03-01T10:00:00,1\na,2024-02-01,2\n")
    assert rows.table("y") == {("a",): 2, ("b",): 1}
    assert rows.missing() == {"y": 0, "t": 0, "w": 1}
    assert rows.span("t") == ("2024-01-02T00:00:00", "2024-03-01T10:00:00")
    assert rows.span("y") is None
    assert rows.rows() == 3


def test_a_column_that_is_not_there_is_an_error_of_ours(tmp_path):
    rows = opened(tmp_path, "y\na\n")
    assert not rows.has("x")
    assert not rows.has(None)
    with pytest.raises(MissingColumn):
        rows.hashes("x")


def test_shared_rows_are_counted_exactly_although_the_quick_hash_collides(tmp_path):
    """Texts on which the engine's hash of duckdb 2.0 collides: counted as Python's own sets count them."""
    texts = [[f"{i * step / 7.0:.10f},{i % 97}" for i in range(20_000)] for step in (3, 5)]
    a, b = (opened(tmp_path, "x,z\n" + "\n".join(rows) + "\n", f"{i}.csv") for i, rows in enumerate(texts))
    both = set(texts[0]) & set(texts[1])
    found = a.shared(b, "x", "z")
    assert (found.rows, found.distinct) == (len(both), len(both))
    assert a.shared(a, "x", "z").rows == 20_000
    assert a.distinct("x", "z") == 20_000


def test_an_empty_side_shares_nothing(tmp_path):
    a = opened(tmp_path, "id\n1\n").hashes("id")
    none = a.__class__(low=a.low[:0], high=a.high[:0])
    assert (none.found_in(a), a.found_in(none), len(none.distinct())) == (0, 0, 0)


def test_data_sets_without_a_row_in_common_share_nothing(tmp_path):
    shared = opened(tmp_path, "id\n1\n2\n").shared(opened(tmp_path, "id\n7\n8\n", "b.csv"), "id")
    assert (shared.rows, shared.distinct) == (0, 0)


def test_the_digest_of_one_file_is_its_sha_256(tmp_path):
    assert opened(tmp_path, "id\n1\n").sha256 == hashlib.sha256(b"id\n1\n").hexdigest()
