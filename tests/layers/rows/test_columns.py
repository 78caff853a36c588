# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from assay.core.errors import RowsError
from assay.rows.columns import all_text, coded
from assay.rows.number_columns import weights


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Dlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **given):
        return self.array.__dlpack__(**given)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Arrayed:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class Streamed:
    def __init__(self, column):
        self.column = column

    def __arrow_c_stream__(self, schema=None):
        return self.column.__arrow_c_stream__(schema)


def labels_by_row(column):
    found = coded(column, "truth")
    missing = np.zeros(len(found), bool) if found.missing is None else found.missing
    return [None if gone else found.label(int(c) - found.offset) for c, gone in zip(found.codes, missing, strict=True)]


COLUMNS = {
    "a list of text": (["a", "b", "a"], ["a", "b", "a"]),
    "a tuple": ((1, 2), [1, 2]),
    "a range": (range(3), [0, 1, 2]),
    "a generator": ((c for c in "ab"), ["a", "b"]),
    "booleans": ([True, False], [True, False]),
    "whole floats": ([1.0, 2.0, float("nan")], [1, 2, None]),
    "float32": (np.float32([1, 2]), [1, 2]),
    "int8 from end to end": (np.array([127, -128], np.int8), [127, -128]),
    "uint64 beyond int64": (np.array([2**64 - 1, 0], np.uint64), [2**64 - 1, 0]),
    "int64 from end to end": (np.array([2**63 - 1, -(2**63)]), [2**63 - 1, -(2**63)]),
    "integers beyond 64 bits": ([10**30, 5], [10**30, 5]),
    "fixed-width text": (np.array(["ab", "", "abcdefghijkl"]), ["ab", "", "abcdefghijkl"]),
    "text beyond Latin-1": (np.array(["é", "中", "é"]), ["é", "中", "é"]),
    "variable-width text": (np.array(["x", "y"], dtype=np.dtypes.StringDType()), ["x", "y"]),
    "objects with None and NaN": ([float("nan"), None, "x"], [None, None, "x"]),
    "numpy scalars": ([np.int64(1), np.int64(2)], [1, 2]),
    "numpy text beside Python text": ([np.str_("a"), "a"], ["a", "a"]),
    "1 and 1.0": ([1, 1.0, 2], [1, 1, 2]),
    "enum members": ([Colour.RED, Colour.BLUE], ["red", "blue"]),
    "a masked array": (np.ma.array([1, 2], mask=[False, True]), [1, None]),
    "DLPack": (Dlpack(np.array([3, 4])), [3, 4]),
    "__array__": (Arrayed(np.array(["p", "q"])), ["p", "q"]),
    "an Arrow stream": (Streamed(pa.chunked_array([["a", None]])), ["a", None]),
    "pandas text with a missing one": (pd.Series(["a", None]), ["a", None]),
    "pandas string dtype": (pd.Series(["a", None], dtype="string"), ["a", None]),
    "pandas boolean dtype": (pd.Series([True, None], dtype="boolean"), [True, None]),
    "pandas Int64 beyond 2^53": (pd.Series([2**53 + 1, None], dtype="Int64"), [2**53 + 1, None]),
    "pandas categories with unused levels": (
        pd.Series(pd.Categorical(["b", None, "a"], categories=["c", "b", "a"])),
        ["b", None, "a"],
    ),
    "pandas Index": (pd.Index(["a", "b"]), ["a", "b"]),
    "Polars integers beyond 2^53 with a null": (pl.Series([2**53 + 1, None]), [2**53 + 1, None]),
    "Polars Enum": (pl.Series(["a", "b"], dtype=pl.Enum(["b", "a", "c"])), ["a", "b"]),
    "Polars Categorical": (pl.Series(["a", "b"], dtype=pl.Categorical), ["a", "b"]),
    "PyArrow dictionary": (pa.array(["a", None]).dictionary_encode(), ["a", None]),
    "PyArrow booleans": (pa.array([True, False]), [True, False]),
}


@pytest.mark.parametrize(("column", "expected"), COLUMNS.values(), ids=COLUMNS)
def test_a_column_of_any_kind_keeps_its_labels_row_by_row(column, expected):
    found = labels_by_row(column)
    assert found == expected
    assert [type(x) for x in found] == [type(x) for x in expected]


UNFIT = {
    "a fraction": ([0.5, 1.0], "label-precision"),
    "an infinity": ([float("inf"), 1.0], "label-precision"),
    "a float that may have been rounded": (np.array([2.0**53]), "label-precision"),
    "bytes": (np.array([b"a"]), "column-type"),
    "complex numbers": (np.array([1j]), "column-type"),
    "times": (np.array(["2020-01-01"], "M8[D]"), "column-type"),
    "lists": ([[1], [2]], "column-not-scalar"),
    "two dimensions": (np.zeros((2, 2)), "column-not-scalar"),
    "one text": ("abc", "column-not-scalar"),
    "a mapping": ({"a": 1}, "column-not-scalar"),
    "a number": (5, "column-not-scalar"),
    "a megabyte of text": (["x" * 5000], "name-too-long"),
}


@pytest.mark.parametrize(("column", "code"), UNFIT.values(), ids=UNFIT)
def test_what_cannot_be_labels_is_refused_by_name(column, code):
    with pytest.raises(RowsError) as caught:
        coded(column, "truth")
    assert caught.value.code == code
    assert "truth" in caught.value.where


def test_rows_of_a_label_are_found_by_value_and_type():
    column = coded(["a", "b", None, "b", "b", "b"], "truth")
    assert column.rows_of("b") == [1, 3, 4]
    assert column.rows_of(None) == [2]
    assert coded([True, False], "truth").rows_of(1) == []


def test_codes_are_the_same_for_any_chunk(monkeypatch):
    words = np.array([f"name-{i % 7}" + "x" * (i % 3) for i in range(100)])
    whole = labels_by_row(words)
    monkeypatch.setattr("assay.rows.columns.CHUNK", 3)
    assert labels_by_row(words) == whole == words.tolist()
    assert labels_by_row(words.astype(object)) == whole


def test_text_is_told_from_other_objects():
    assert all_text(np.array(["a", None], dtype=object))
    assert not all_text(np.array(["a", 1], dtype=object))
    assert not all_text(np.array([1, 2]))


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ([1, -1], "weight-negative"),
        ([1, float("nan")], "weight-not-finite"),
        ([1, float("inf")], "weight-not-finite"),
        ([1, None], "weight-not-finite"),
        (["1", "2"], "column-not-numeric"),
        ([1], "rows-unmatched"),
        ([1, 2**53 + 1], "weight-not-finite"),
    ],
)
def test_weights_are_finite_not_negative_and_one_a_row(given, code):
    with pytest.raises(RowsError) as caught:
        weights(given, 2)
    assert caught.value.code == code
