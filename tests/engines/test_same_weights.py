# SPDX-License-Identifier: Apache-2.0
"""Weights add up to the same sums on every engine, and only one sum a cell comes back."""

from __future__ import annotations

import math
import sqlite3
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

import assay
from assay.core.errors import AssayError
from assay.rows.engines import score_expressions as scoreframes
from assay.rows.files.formats import Reading
from assay.rows.open import open_source
from assay.rows.source import Roles
from assay.tally.base import Weight
from assay.tally.labels import engine_counts
from assay.tally.labels.array_counts import count

LAZY = {
    "polars lazy": lambda table: pl.from_arrow(table).lazy(),
    "duckdb": lambda table: duckdb.connect().from_arrow(table),
    "dask": lambda table: dd.from_pandas(table.to_pandas(), npartitions=2),
    "ibis": ibis.memtable,
}
IN_MEMORY = {"arrow": lambda table: table, "pandas": lambda table: table.to_pandas(), "polars": pl.from_arrow}
EDGES = [0.0, -0.0, 0.1, 1.0, 1e-20, 5e-324, 2.0**-53, 2.0**53, math.nextafter(2.0**53, 0), 1e15, 3.0**30]
REALS = st.lists(st.one_of(st.floats(0, 2.0**50), st.sampled_from(EDGES)), min_size=1, max_size=30)
WHOLE = st.lists(st.one_of(st.integers(0, 9), st.integers(0, 2**53)), min_size=1, max_size=30)


def table_of(weight):
    return pa.table({
        "y": [i % 2 for i in range(len(weight))],
        "p": [i // 2 % 2 for i in range(len(weight))],
        "g": [("n", "s", None)[i % 3] for i in range(len(weight))],
        "w": weight,
    })  # fmt: skip


def in_quanta(table, columns, quantum=None):
    """Row by row, by the definition: floor(weight / quantum), and its square rounded up to 2**53 squared quanta."""
    weights = [float(weight) for weight in table["w"].to_pylist()]
    quantum = Fraction(2) ** (math.frexp(max(weights))[1] - 53) if quantum is None else Fraction(quantum)
    cells = defaultdict(lambda: (0, Weight(total=Fraction(0), squares=Fraction(0))))
    for row, weight in zip(table.to_pylist(), weights, strict=True):
        key = tuple(row[column] for column in columns)
        quanta = math.floor(Fraction(weight) / quantum)
        square = math.ceil(Fraction(float(quanta) * float(quanta)) / 2**53)
        rows, before = cells[key]
        cells[key] = rows + 1, before + Weight(total=quanta * quantum, squares=square * quantum**2 * 2**53)
    return dict(cells)


def counted(data, **more):
    source = open_source(data, Roles(truth="y", predicted="p", group={"g": "g"}, weight="w"), **more)
    try:
        found = count(source)
    finally:
        source.close()
    return found.cells, found.by_factor["g"]


def expected(table, quantum=None):
    return in_quanta(table, ["y", "p"], quantum), in_quanta(table, ["g", "y", "p"], quantum)


@pytest.mark.parametrize("weights", [REALS, WHOLE], ids=["doubles", "whole numbers"])
def test_a_weight_is_the_whole_number_of_quanta_below_it(weights):
    @settings(max_examples=20)
    @given(weights.filter(lambda some: max(some) > 1e-100))
    def holds(weights):
        table = table_of(weights)
        assert counted(LAZY["polars lazy"](table)) == expected(table)
        assert counted(table) == expected(table)

    holds()


@pytest.mark.parametrize("engine", [*LAZY, *IN_MEMORY])
@pytest.mark.parametrize("kind", ["edges", "log-normal", "small", "whole"])
def test_every_engine_adds_the_same_weights(engine, kind):
    rng = np.random.default_rng(5)
    weights = {
        "edges": EDGES,
        "log-normal": rng.lognormal(0, 3, 500).tolist(),
        "small": (rng.random(500) / 1e6).tolist(),
        "whole": rng.integers(0, 2**40, 500).tolist(),
    }[kind]
    table = table_of(weights)
    assert counted((LAZY | IN_MEMORY)[engine](table)) == expected(table)


def test_whole_weights_are_exact():
    table = table_of([1, 2, 3, 2**52, 5, 6, 7, 8])
    cells, _ = counted(LAZY["duckdb"](table))
    assert sum(weight.total for _, weight in cells.values()) == 2**52 + 32
    small = table_of([1, 2, 3, 4, 5, 6, 7, 8])
    cells, _ = counted(LAZY["duckdb"](small))
    assert sum(weight.squares for _, weight in cells.values()) == 204


@pytest.mark.parametrize("ending", ["parquet", "csv", "sqlite"])
def test_files_add_the_same_weights(ending, tmp_path):
    rng = np.random.default_rng(5)
    table = table_of(rng.lognormal(0, 3, 2_000).tolist())
    path = tmp_path / f"a.{ending}"
    frame = pl.from_arrow(table)
    reading = None
    if ending == "parquet":
        frame.write_parquet(path, row_group_size=500)
    elif ending == "csv":
        frame.write_csv(path)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE rows (y INTEGER, p INTEGER, g TEXT, w REAL)")
            connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", frame.rows())
        connection.close()
        reading = Reading(table="rows")
    cells, _ = counted(path, reading=reading)
    named = {tuple(map(str, key)): cell for key, cell in cells.items()}
    assert named == {tuple(map(str, key)): cell for key, cell in expected(table)[0].items()}


def test_threads_and_order_of_the_rows_do_not_move_a_sum(tmp_path):
    weights = np.random.default_rng(6).lognormal(0, 3, 20_000)
    table = table_of(weights.tolist())
    pl.from_arrow(table).write_parquet(tmp_path / "a.parquet", row_group_size=2_000)
    shuffled = table.take(np.random.default_rng(7).permutation(len(weights)))
    pl.from_arrow(shuffled).write_parquet(tmp_path / "b.parquet", row_group_size=3_000)
    found = [
        counted(tmp_path / name, limits=assay.Limits(threads=threads))
        for name in ("a.parquet", "b.parquet")
        for threads in (1, 4)
    ]
    assert all(one == found[0] for one in found)


TEXTS = ["0.1", "1", "+.5", "5.", "1e-05", "2.5E+3", "0.8444218515250481", "0.00987654321098765432", "0", "00.50"]


@pytest.mark.parametrize("engine", ["polars lazy", "duckdb", "ibis"])
@pytest.mark.parametrize(
    "weights",
    [TEXTS, pa.array([Decimal("0.10"), Decimal("123456789012.34"), Decimal(0)], pa.decimal128(20, 2))],
    ids=["text", "decimals"],
)
def test_text_and_decimals_are_read_as_doubles(engine, weights):
    table = table_of(weights)
    assert counted(LAZY[engine](table)) == expected(table)


@pytest.mark.parametrize("mark", [".", ","])
def test_weights_in_text_files_are_read_as_doubles(mark, tmp_path):
    shown = table_of(TEXTS).set_column(3, "w", pa.array([text.replace(".", mark) for text in TEXTS]))
    pl.from_arrow(shown).write_csv(tmp_path / "a.csv", separator=";")
    found, _ = counted(tmp_path / "a.csv", reading=Reading(delimiter=";", decimal=mark))
    assert found == {tuple(map(str, key)): cell for key, cell in expected(table_of(TEXTS))[0].items()}


@pytest.fixture
def back(monkeypatch):
    """How many rows came back, query by query."""
    rows = []

    def watched(source, frame, really=scoreframes.fetched):
        found = really(source, frame)
        rows.append(len(found))
        return found

    for module in (scoreframes, engine_counts):
        monkeypatch.setattr(module, "fetched", watched)
    return rows


@pytest.mark.parametrize("engine", LAZY)
def test_one_sum_a_cell_comes_back(engine, back):
    table = table_of((np.random.default_rng(6).random(2_000) * 255 + 0.01).tolist())
    assert counted(LAZY[engine](table)) == expected(table)
    assert back == [1, 12]  # the largest weight, then one query: the levels of a factor add up to the whole


@pytest.mark.parametrize("engine", ["polars lazy", "duckdb"])
def test_a_text_that_is_not_a_weight_is_refused(engine):
    weight = [f"{one:.3f}" for one in np.random.default_rng(8).random(500).tolist()]
    for bad, code in (("x", "column-not-numeric"), ("-1", "weight-negative"), (None, "weight-not-finite")):
        with pytest.raises(AssayError) as refused:
            counted(LAZY[engine](table_of([*weight, bad])))
        assert refused.value.code == code


UNFIT = [
    (-1.0, "weight-negative"),
    (-1e300, "weight-negative"),
    (math.nan, "weight-not-finite"),
    (math.inf, "weight-not-finite"),
    (-math.inf, "weight-not-finite"),
    (None, "weight-not-finite"),
]


@pytest.mark.parametrize(
    ("engine", "bad", "code"),
    # Dask takes a second for each, and is asked for one of a kind.
    [(engine, *unfit) for engine in LAZY for unfit in UNFIT if engine != "dask" or unfit[0] not in (-1e300, -math.inf)],
    ids=repr,
)
def test_an_unfit_weight_is_refused_by_every_engine(engine, bad, code):
    weight = (np.random.default_rng(7).random(500) / 1e6).tolist()
    with pytest.raises(AssayError) as refused:
        counted(LAZY[engine](table_of([*weight, bad])))
    assert refused.value.code == code


def test_a_weight_in_a_file_that_is_nan_is_refused_with_its_row(tmp_path):
    pl.from_arrow(table_of([1.0, 0.5, math.nan])).write_parquet(tmp_path / "a.parquet")  # whose statistics have no NaN
    with pytest.raises(AssayError) as refused:
        counted(tmp_path / "a.parquet")
    assert (refused.value.code, refused.value.found) == ("weight-not-finite", "nan, first in row 3")


@pytest.mark.parametrize("engine", [*LAZY, *IN_MEMORY])
def test_weights_that_are_all_zero_are_refused(engine):
    with pytest.raises(AssayError, match="all weights are zero"):
        counted((LAZY | IN_MEMORY)[engine](table_of([0.0] * 5)))


def test_weights_too_small_for_a_square_are_refused():
    with pytest.raises(AssayError, match="below 2"):
        counted(table_of([1e-200, 1e-300]))


@pytest.mark.parametrize("engine", [*LAZY, *IN_MEMORY])
def test_a_stated_quantum_holds_on_every_engine(engine):
    table = table_of(np.random.default_rng(6).random(100).tolist())
    data = (LAZY | IN_MEMORY)[engine](table)
    assert counted(data, reading=Reading(weight_quantum=2.0**-45)) == expected(table, 2.0**-45)


@pytest.mark.parametrize("quantum", [0.3, 0.0, -1.0, math.inf, 2.0**-60, 2.0**-30])
def test_a_quantum_that_does_not_suit_the_weights_is_refused(quantum):
    with pytest.raises(AssayError, match="weight_quantum"):
        counted(table_of([0.5, 1.0]), reading=Reading(weight_quantum=quantum))
