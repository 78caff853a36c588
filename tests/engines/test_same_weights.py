# SPDX-License-Identifier: Apache-2.0
"""Weights add up to the same fractions on every engine, and only a few sums of them come back."""

from __future__ import annotations

import math
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction

import dask.dataframe as dd
import duckdb
import ibis
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import AssayError
from assay.rows.opening import Roles, open_source
from assay.rows.reading import Reading
from assay.tally import weighing
from assay.tally.base import Weight
from assay.tally.counting import count

LAZY = {
    "polars lazy": lambda table: pl.from_arrow(table).lazy(),
    "duckdb": lambda table: duckdb.connect().from_arrow(table),
    "dask": lambda table: dd.from_pandas(table.to_pandas(), npartitions=2),
    "ibis": ibis.memtable,
}
EDGES = [
    *(x for p in (-1074, -1022, -540, -511, -505, -504, -73, -72, -64, -8, 0, 8, 53, 64, 72, 504, 505, 511, 1000)
      for x in (2.0**p, math.nextafter(2.0**p, 0), math.nextafter(2.0**p, math.inf))),
    0.0, -0.0, 0.1, 1e-300, 1e300, 1.7976931348623157e308, 5e-324,
]  # fmt: skip
USUAL = st.floats(2.0**-30, 2.0**30)
REALS = st.lists(st.one_of(USUAL, st.floats(0, allow_infinity=False), st.sampled_from(EDGES)), min_size=1, max_size=30)
LARGE = st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1])
WHOLE = st.lists(st.one_of(st.integers(0, 9), st.integers(0, 2**62), LARGE), min_size=1, max_size=30)


def table_of(weight):
    return pa.table({
        "y": [i % 2 for i in range(len(weight))],
        "p": [i // 2 % 2 for i in range(len(weight))],
        "g": [("n", "s", None)[i % 3] for i in range(len(weight))],
        "w": weight,
    })  # fmt: skip


def summed(table, columns):
    """Row by row, in fractions."""
    cells = defaultdict(lambda: (0, Weight.of(Fraction(0))))
    for row in table.to_pylist():
        key = tuple(row[column] for column in columns)
        rows, weight = cells[key]
        cells[key] = rows + 1, weight + Weight.of(Fraction(row["w"]))
    return dict(cells)


def counted(data, **more):
    source = open_source(data, Roles(truth="y", predicted="p", group={"g": "g"}, weight="w"), **more)
    try:
        found = count(source)
    finally:
        source.close()
    return found.cells, found.by_factor["g"]


def expected(table):
    return summed(table, ["y", "p"]), summed(table, ["g", "y", "p"])


@pytest.mark.parametrize("weights", [REALS, WHOLE], ids=["doubles", "whole numbers"])
def test_weights_of_any_size_add_up_without_rounding(weights):
    @settings(max_examples=20)
    @given(weights)
    def holds(weights):
        table = table_of(weights)
        assert counted(LAZY["polars lazy"](table)) == expected(table)

    holds()


@pytest.mark.parametrize(
    ("engine", "weights"),
    [
        ("polars lazy", EDGES),
        ("duckdb", EDGES),
        ("duckdb", [0, 1, 2**53 - 1, 2**53, 2**53 + 1, 2**62]),
        ("dask", [0.1, 0.0, 2.0**-8, 2.0**8, 1e-20, 1e20]),
        ("ibis", [0.1, 0.0, 2.0**-8, 2.0**8, 1e-20, 1e20]),
    ],
)
def test_weights_at_the_edges_of_bands_add_up_without_rounding(engine, weights):
    table = table_of(weights)
    assert counted(LAZY[engine](table)) == expected(table)


def test_weights_in_files_add_up_without_rounding(tmp_path):
    rng = np.random.default_rng(5)
    table = table_of((rng.gamma(0.5, 2.0, 2_000) * 2.0 ** rng.integers(-80, 80, 2_000)).tolist())
    pl.from_arrow(table).write_parquet(tmp_path / "a.parquet", row_group_size=500)
    assert counted(tmp_path / "a.parquet") == expected(table)
    assert counted(pl.scan_parquet(tmp_path / "a.parquet")) == expected(table)


TEXTS = ["0.1", "1", "+.5", "5.", "1e-05", "2.5E+3", "0.8444218515250481", "0.00987654321098765432", "0", "00.50"]
ODD = ["123456789012345678901234567", "1234567890123456789012345678", "0e5", "1e-99", "1e99", "-0", "1e-500", "٣"]


@pytest.mark.parametrize("engine", ["polars lazy", "duckdb"])
@pytest.mark.parametrize(
    "weights",
    [[*TEXTS, *ODD], pa.array([Decimal("0.10"), Decimal("123456789012.34"), Decimal(0)], pa.decimal128(20, 2))],
    ids=["text", "decimals"],
)
def test_decimals_add_up_as_they_are_written(engine, weights):
    table = table_of(weights)
    assert counted(LAZY[engine](table)) == expected(table)


DECIMALS = st.from_regex(r"[0-9]{1,12}(\.[0-9]{0,14})?([eE][+-]?[0-9]{1,2})?", fullmatch=True)


@settings(max_examples=15)
@given(st.lists(DECIMALS, min_size=1, max_size=20))
def test_any_decimals_add_up_as_they_are_written(weights):
    table = table_of(weights)
    assert counted(LAZY["polars lazy"](table)) == expected(table)


@pytest.mark.parametrize("mark", [".", ","])
def test_weights_in_text_files_add_up_as_they_are_written(mark, tmp_path):
    shown = table_of(TEXTS).set_column(3, "w", pa.array([text.replace(".", mark) for text in TEXTS]))
    pl.from_arrow(shown).write_csv(tmp_path / "a.csv", separator=";")
    found, _ = counted(tmp_path / "a.csv", reading=Reading(delimiter=";", decimal=mark))
    assert found == {tuple(map(str, key)): cell for key, cell in expected(table_of(TEXTS))[0].items()}


@pytest.mark.parametrize("engine", ["polars lazy", "duckdb"])
def test_a_text_that_is_no_weight_is_refused(engine, back):
    weight = [f"{one:.3f}" for one in np.random.default_rng(8).random(500).tolist()]
    for bad, code in (("x", "column-not-numeric"), ("-1", "weight-negative"), (None, "weight-not-finite")):
        with pytest.raises(AssayError) as refused:
            counted(LAZY[engine](table_of([*weight, bad])))
        assert refused.value.code == code
        assert sum(back) < 200
        back.clear()


@pytest.fixture
def back(monkeypatch):
    """How many rows came back, query by query."""
    rows = []

    def watched(source, frame, really=weighing.fetched):
        found = really(source, frame)
        rows.append(len(found))
        return found

    monkeypatch.setattr(weighing, "fetched", watched)
    return rows


@pytest.mark.parametrize("engine", ["polars lazy", "duckdb"])
@pytest.mark.parametrize("kind", [pa.string(), pa.decimal128(20, 6)], ids=str)
def test_no_more_sums_of_decimals_come_back_than_cells(engine, kind, back):
    weights = [f"{one:.6f}" for one in (np.random.default_rng(6).random(2_000) * 255 + 0.01).tolist()]
    table = table_of(pa.array(weights).cast(kind))
    assert counted(LAZY[engine](table)) == expected(table)
    assert back == [1, 12]  # a look at the first rows, and the sums


@pytest.mark.parametrize("engine", LAZY)
def test_no_more_sums_come_back_than_cells_and_bands(engine, back):
    table = table_of((np.random.default_rng(6).random(2_000) * 255 + 0.01).tolist())
    assert counted(LAZY[engine](table)) == expected(table)
    # One query for all, since levels add up to the whole; Dask's is of its two parts, others look at first rows before.
    assert back == ([24] if engine == "dask" else [1, 12])


@pytest.mark.parametrize(
    ("engine", "bad", "code"),
    [
        ("polars lazy", -1.0, "weight-negative"),
        ("duckdb", -1e-300, "weight-negative"),
        ("dask", -1.0, "weight-negative"),
        ("polars lazy", math.nan, "weight-not-finite"),
        ("duckdb", math.nan, "weight-not-finite"),
        ("dask", math.nan, "weight-not-finite"),
        ("ibis", math.nan, "weight-not-finite"),
        ("polars lazy", math.inf, "weight-not-finite"),
        ("duckdb", -math.inf, "weight-not-finite"),
        ("polars lazy", None, "weight-not-finite"),
        ("duckdb", None, "weight-not-finite"),
        ("ibis", None, "weight-not-finite"),
    ],
)
def test_a_weight_that_is_none_is_found_without_fetching_the_others(engine, bad, code, back):
    weight = np.random.default_rng(7).random(500).tolist()
    with pytest.raises(AssayError) as refused:
        counted(LAZY[engine](table_of([*weight, bad])))
    assert refused.value.code == code
    assert sum(back) < 100


def test_a_weight_in_a_file_that_is_nan_is_refused_with_its_row(tmp_path):
    pl.from_arrow(table_of([1.0, 0.5, math.nan])).write_parquet(tmp_path / "a.parquet")  # whose statistics have no NaN
    with pytest.raises(AssayError) as refused:
        counted(tmp_path / "a.parquet")
    assert (refused.value.code, refused.value.found) == ("weight-not-finite", "nan, first in row 3")


def test_a_negative_whole_weight_is_refused_however_large_others_are():
    with pytest.raises(AssayError, match="below zero"):
        counted(duckdb.connect().from_arrow(table_of([2**60, -1, 2**61])))


def test_weights_that_only_begin_alike_are_added_up_all_the_same(back, monkeypatch):
    monkeypatch.setattr(weighing, "CELLS", 30)
    table = table_of([*[0.5, 0.25] * 600, *np.random.default_rng(6).random(800).tolist()])
    assert counted(LAZY["duckdb"](table)) == expected(table)
    assert back[:2] == [1, 31]  # by weight, until there are too many
    assert sum(back[2:]) < 100
