# SPDX-License-Identifier: Apache-2.0
"""Scores of the same rows, in arrays, frames of every library and files, are checked and decided alike."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest

from assay.core.errors import AssayError
from assay.rows.open import open_source
from assay.rows.score_columns import score_columns
from assay.rows.scored_source import by_largest, by_threshold, sound
from assay.rows.source import Roles
from assay.tally.labels.array_counts import count

KINDS = ["mapping", "polars", "lazy", "pandas", "pyarrow", "duckdb", "csv", "parquet", "jsonl"]
NUMBERED = {"polars", "pyarrow", "csv", "parquet", "jsonl"}


def given(kind, columns, folder):
    if kind == "mapping":
        return columns
    frame = pl.DataFrame(columns, strict=False)
    if kind in ("csv", "parquet", "jsonl"):
        path = folder / f"rows.{kind}"
        {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[kind](path)
        return path
    return {
        "polars": lambda: frame,
        "lazy": frame.lazy,
        "pandas": frame.to_pandas,
        "pyarrow": frame.to_arrow,
        "duckdb": lambda: duckdb.connect().from_arrow(frame.to_arrow()),
    }[kind]()


def opened(kind, columns, folder, score):
    return open_source(given(kind, columns, folder), Roles(truth="y", predicted=None, score=score_columns(score)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_score_is_an_error_or_left_out(kind, tmp_path):
    columns = {"y": ["a", "b", "a", "b", "b"], "s": [0.1, 0.9, 0.4, None, 0.4]}
    with pytest.raises(AssayError, match="the scores of 1 row of 5 are missing or NaN") as caught:
        sound(opened(kind, columns, tmp_path, "s"), "any", single=True, drop=False)
    assert caught.value.code == "score-not-finite"
    if kind in NUMBERED:
        assert caught.value.found == "nothing in row 4"
    if kind in ("mapping", "pandas"):
        assert caught.value.found == "nan at index 3"
    source, lost = sound(opened(kind, columns, tmp_path, "s"), "any", single=True, drop=True)
    assert lost == 1
    counted = count(by_threshold(source, 0.4))
    assert counted.rows == 4
    assert {cell: rows for cell, (rows, _) in counted.cells.items()} == {("a", 0): 1, ("a", 1): 1, ("b", 1): 2}


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_lie_between_0_and_1_and_add_up(kind, tmp_path):
    columns = {"y": ["a", "b"], "a": [0.7, 0.5], "b": [0.3, 0.6]}
    source = opened(kind, columns, tmp_path, ["a", "b"])
    sound(source, "any", single=False, drop=False)
    with pytest.raises(AssayError, match="1 row of 2 does not add up to 1") as caught:
        sound(source, "probability", single=False, drop=False)
    assert caught.value.code == "probabilities-not-normalised"
    columns["b"] = [0.3, 1.5]
    with pytest.raises(AssayError, match="1 row of 2 are outside 0 to 1") as caught:
        sound(opened(kind, columns, tmp_path, ["a", "b"]), "probability", single=False, drop=False)
    assert caught.value.code == "score-out-of-range"


def test_probabilities_may_add_up_to_1_within_a_millionth():
    columns = {"y": [0, 1], "a": [0.5, 0.5], "b": [0.5 + 9e-7, 0.5]}
    sound(opened("mapping", columns, None, ["a", "b"]), "probability", single=False, drop=False)
    columns["b"] = [0.5 + 2e-6, 0.5]
    with pytest.raises(AssayError, match="add up"):
        sound(opened("mapping", columns, None, ["a", "b"]), "probability", single=False, drop=False)


@pytest.mark.parametrize("kind", ["mapping", "polars", "lazy", "pandas", "pyarrow", "duckdb", "parquet"])
def test_an_infinite_score_is_always_an_error(kind, tmp_path):
    columns = {"y": ["a", "b"], "s": [0.1, float("inf")]}
    for drop in (True, False):
        with pytest.raises(AssayError, match="1 row of 2 are infinite") as caught:
            sound(opened(kind, columns, tmp_path, "s"), "any", single=True, drop=drop)
        assert caught.value.code == "score-not-finite"


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_score_calls_the_class_and_ties_are_counted(kind, tmp_path):
    columns = {"y": ["a", "b", "c"], "a": [0.5, 0.2, 0.4], "b": [0.5, 0.5, 0.4], "c": [0.0, 0.3, 0.2]}
    source, ties = by_largest(opened(kind, columns, tmp_path, ["a", "b", "c"]))
    assert ties == 2
    assert set(count(source).cells) == {("a", 0), ("b", 1), ("c", 0)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_score_equal_to_the_threshold_is_called_positive(kind, tmp_path):
    columns = {"y": [0, 1, 1], "s": [0.1, 0.3, np.nextafter(0.3, 0)]}
    cells = count(by_threshold(opened(kind, columns, tmp_path, "s"), 0.3)).cells
    assert {(str(truth), called) for truth, called in cells} == {("0", 0), ("1", 1), ("1", 0)}


def test_rows_left_out_do_not_move_the_index_errors_tell():
    columns = {"y": [0, 1, 1, "x"], "s": [None, 0.3, 0.1, 0.2]}
    with pytest.raises(AssayError, match="mixes") as caught:
        opened("mapping", columns, None, "s")
    assert "index 3" in caught.value.found
    source, _ = sound(
        opened("mapping", {"y": ["a", "b", "c"], "s": [None, 0.3, 0.1]}, None, "s"), "any", single=True, drop=True
    )
    assert source.locate("truth", "c") == "at index 2"


def test_text_is_no_score_in_a_frame_but_is_read_from_a_file(tmp_path):
    frame = pl.DataFrame({"y": [0, 1], "s": ["0.1", "0.9"]})
    with pytest.raises(AssayError, match="scores are numbers") as caught:
        opened("polars", {"y": [0, 1], "s": ["0.1", "0.9"]}, None, "s")
    assert caught.value.code == "column-not-numeric"
    frame.write_csv(tmp_path / "a.csv")
    source = open_source(tmp_path / "a.csv", Roles(truth="y", predicted=None, score=score_columns("s")))
    assert set(count(by_threshold(source, 0.5)).cells) == {("0", 0), ("1", 1)}
    (tmp_path / "b.csv").write_text("y,s\n0,0.1\n1,high\n")
    with pytest.raises(AssayError, match="cannot be read as a number"):
        open_source(tmp_path / "b.csv", Roles(truth="y", predicted=None, score=score_columns("s")))


def test_a_score_column_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(AssayError, match='no column "scroe"') as caught:
        opened("polars", {"y": [0], "score": [0.5]}, None, "scroe")
    assert 'did you mean "score"?' in caught.value.fix
