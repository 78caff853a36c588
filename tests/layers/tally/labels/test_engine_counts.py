# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import assay
from assay.core.errors import AssayError
from assay.rows.open import open_source
from assay.rows.source import Roles
from assay.tally.base import Weight
from assay.tally.labels.array_counts import count

ROWS = {"t": ["a", "b", "a", None], "p": ["a", "a", "b", "b"], "w": [0.1, 0.1, 2.5, 1.0], "g": ["n", "s", None, "n"]}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "arrow": pa.table,
    "duckdb": lambda rows: duckdb.from_arrow(pa.table(rows)),
}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]


def test_a_frame_is_counted_where_it_lives(frame):
    found = assay.assess(data=frame(ROWS), truth="t", predicted="p", positive="a", missing="drop")
    assert found.confusion.cells() == {("a", "a"): 1, ("b", "a"): 1, ("a", "b"): 1}
    assert found.census.to_json() == {"read": 4, "scored": 3, "excluded": {"truth is missing": 1}, "unmatched": 0}


def test_weights_in_a_frame_are_summed_in_fixed_point(frame):
    found = assay.assess(data=frame(ROWS), truth="t", predicted="p", weight="w", positive="a", missing="drop")
    quantum = Fraction(2) ** (math.frexp(max(w for w in ROWS["w"]))[1] - 53)
    tenth = Fraction(0.1) // quantum * quantum
    assert found.confusion.cells() == {("a", "a"): tenth, ("b", "a"): tenth, ("a", "b"): Fraction(2.5)}


def test_groups_in_a_frame_are_counted(frame):
    found = assay.assess(data=frame(ROWS), truth="t", predicted="p", group="g", positive="a", missing="drop")
    assert {level: tally.rows for level, tally in found.grouped.factors["g"].items()} == {
        "n": 1,
        "s": 1,
        "(missing)": 1,
    }


@pytest.mark.parametrize(
    ("weight", "code"),
    [
        (-1.0, "weight-negative"),
        (float("nan"), "weight-not-finite"),
        (float("inf"), "weight-not-finite"),
        (None, "weight-not-finite"),
    ],
    ids=["negative", "NaN", "infinite", "missing"],
)
def test_a_weight_that_is_none_is_refused(frame, weight, code):
    rows = {"t": [1, 0], "p": [1, 0], "w": [1.0, weight]}
    with pytest.raises(AssayError) as refused:
        assay.assess(data=frame(rows), truth="t", predicted="p", weight="w")
    assert refused.value.code == code
    assert refused.value.fix


def test_decimal_weights_are_doubles_in_every_library(frame):
    rows = {"t": [1, 0], "p": [1, 0], "w": pa.array([Decimal("0.1"), Decimal("0.2")], pa.decimal128(5, 2))}
    if frame is FRAMES["pandas"]:
        data = pa.table(rows).to_pandas()
    elif frame in (FRAMES["polars"], FRAMES["polars lazy"]):
        data = frame({**rows, "w": pl.from_arrow(rows["w"])})
    else:
        data = frame(rows)
    found = assay.assess(data=data, truth="t", predicted="p", weight="w")
    assert found.confusion == assay.assess(truth=[1, 0], predicted=[1, 0], weight=[0.1, 0.2]).confusion


def test_whole_weights_are_whole(frame):
    rows = {"t": [1, 0, 1], "p": [1, 0, 1], "w": [1, 2, 3]}
    assert assay.assess(data=frame(rows), truth="t", predicted="p", weight="w").confusion.total == 6


def test_one_column_may_not_play_two_parts(frame):
    rows = {"t": [1, 0, 1], "p": [1, 1, 0]}
    with pytest.raises(assay.PlanError, match="truth and group at once"):
        assay.assess(data=frame(rows), truth="t", predicted="p", group="t")


def test_a_frame_and_its_columns_give_the_same_digest(frame):
    rows = {"t": ["a", "b", "a", "b"] * 9, "p": ["a", "a", "b", "b"] * 9}
    by_frame = assay.assess(data=frame(rows), truth="t", predicted="p", positive="a").confusion
    assert by_frame.digest() == assay.assess(truth=rows["t"], predicted=rows["p"], positive="a").confusion.digest()


@pytest.mark.parametrize("weight", [None, "w"])
def test_nan_and_a_missing_label_are_one_whatever_the_rows_weigh(weight):
    rows = {"t": [1.0, math.nan, None, 2.0, None], "p": [1.0, 1.0, 1.0, 2.0, 1.0], "w": [0.5, 1.5, 2.0, 1.0, 4.0]}
    source = open_source(pl.LazyFrame(rows), Roles(truth="t", predicted="p", weight=weight))
    cells = count(source).cells
    assert {pair: rows for pair, (rows, _) in cells.items()} == {(1, 1): 1, (None, 1): 3, (2, 2): 1}
    weights = cells[None, 1][1]
    assert weights == (3 if weight is None else Weight(total=Fraction(15, 2), squares=Fraction(89, 4)))
