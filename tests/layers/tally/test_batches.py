# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pytest

from assay.core.errors import AssayError
from assay.core.task import Request
from assay.tally.batches import Column, open_batches
from tests.layers.tally.test_kernels import Total

FRAME = pd.DataFrame({"y": [1.0, 2.0, None, 4.0], "p": [1, 2, 3, 4], "q": ["a", "b", "a", None]})
COLUMNS = {
    "truth": Column("y", missing="drop"),
    "predicted": Column("p"),
    "query": Column("q", "label", "keep"),
}


@pytest.fixture(params=["pandas", "polars", "lazy", "mapping", "csv", "parquet", "sqlite"])
def data(request, tmp_path):
    if request.param == "csv":
        FRAME.to_csv(tmp_path / "t.csv", index=False)
        return str(tmp_path / "t.csv")
    if request.param == "parquet":
        pl.from_pandas(FRAME).write_parquet(tmp_path / "t.parquet")
        return str(tmp_path / "t.parquet")
    if request.param == "sqlite":
        with sqlite3.connect(tmp_path / "t.db") as connection:
            FRAME.to_sql("t", connection, index=False)
        connection.close()
        return str(tmp_path / "t.db")
    return {
        "pandas": FRAME,
        "polars": pl.from_pandas(FRAME),
        "lazy": pl.from_pandas(FRAME).lazy(),
        "mapping": {name: FRAME[name] for name in FRAME},
    }[request.param]


def read(data, columns):
    with open_batches(Request(given={}, data=data), columns) as batches:
        parts = list(batches)
        return {role: [value for part in parts for value in part[role].tolist()] for role in columns}, batches


def test_every_table_gives_the_same_columns_and_accounts_for_its_rows(data):
    columns, batches = read(data, COLUMNS)
    assert columns == {"truth": [1.0, 2.0, 4.0], "predicted": [1.0, 2.0, 4.0], "query": ["a", "b", None]}
    assert batches.census.read == 4
    assert batches.census.excluded == {"truth is missing": 1}


def test_a_missing_number_is_refused_with_its_place(data):
    with pytest.raises(AssayError, match="truth is missing") as caught:
        read(data, {"truth": Column("y")})
    assert caught.value.code == "value-not-finite"
    assert caught.value.exit_code == 4


def test_all_unfit_rows_are_gathered():
    truth = np.zeros(600_000)
    truth[[5, 599_999]] = np.nan
    truth[7] = np.inf
    with pytest.raises(AssayError) as caught:
        read({"y": truth}, {"truth": Column("y")})
    assert "2 rows: truth is missing (index 5, 599,999)" in str(caught.value)
    assert "truth is infinite (index 7)" in str(caught.value)


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (["1", "2"], "column-not-numeric"),
        ([2**60 + 1, 3], "column-not-numeric"),
        ([[1.0], [2.0]], "column-not-numeric"),
        (np.ones((2, 2)), "column-not-scalar"),
    ],
)
def test_what_is_not_a_number_is_refused(column, code):
    with pytest.raises(AssayError) as caught:
        read({"y": column}, {"truth": Column("y")})
    assert caught.value.code == code


def test_columns_of_different_length_and_unknown_columns_are_refused():
    with pytest.raises(AssayError, match=r"truth has .* rows?, predicted has"):
        read({"y": [1.0], "p": [1.0, 2.0]}, {"truth": Column("y"), "predicted": Column("p")})
    with pytest.raises(AssayError, match="yy"):
        read(FRAME, {"truth": Column("yy")})


def sizes(batch):
    return Total(len(set(batch["unit"].tolist())), len(batch["unit"]))


def test_a_kernel_sees_all_rows_of_a_unit_at_once():
    units = np.random.default_rng(1).integers(0, 1000, 600_000)
    with open_batches(Request(given={}, data={"u": units}), {"unit": Column("u", "label")}) as batches:
        assert batches.run(sizes, Total, unit="unit") == Total(1000, 600_000)
        assert batches.census.scored == 600_000


def test_series_with_other_row_names_are_never_matched_by_luck():
    truth = pd.Series([1.0, 2.0], index=[0, 1])
    with pytest.raises(AssayError, match="different row names"):
        read({"y": truth, "p": truth[::-1]}, {"truth": Column("y"), "predicted": Column("p")})


@pytest.mark.parametrize("kind", ["parquet", "polars"])
@pytest.mark.parametrize(("units", "rows"), [([1.2, 1.4, 2.0], 0), ([1.0, np.inf, 2.0], 0), ([1.0, np.nan, 2.0], 2)])
def test_real_numbers_name_units_only_where_they_are_whole(tmp_path, kind, units, rows):
    """Of 1.2 and 1.4 no file makes the one unit 1."""
    frame = pl.DataFrame({"y": [1.0, 2.0, 3.0], "u": units})
    frame.write_parquet(tmp_path / "t.parquet")
    data = str(tmp_path / "t.parquet") if kind == "parquet" else frame
    columns = {"truth": Column("y"), "unit": Column("u", "label", "drop")}
    if rows:
        with open_batches(Request(given={}, data=data), columns) as batches:
            assert [value for batch in batches for value in batch["unit"]] == [1, 2]
        assert batches.census.excluded == {"unit is missing": 1}
        return
    with pytest.raises(AssayError, match="numbers with fractions, which cannot name anything") as caught:
        open_batches(Request(given={}, data=data), columns)
    assert caught.value.code == "column-type"
