# SPDX-License-Identifier: Apache-2.0
"""Rows on a Spark cluster give the tally that numpy counts from the same rows, bit for bit."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from tests import flat
from tests.engines.test_same_weights import counted, expected

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

ROWS = 4000


def drawn(values, seed, rows=ROWS):
    rng = np.random.default_rng(seed)
    return [values[i] for i in rng.integers(0, len(values), rows)]


def weights(rows=ROWS):
    """Weights whose float sum depends on the order: tenths, a tiny one, a huge one."""
    return drawn([0.1, 0.2, 0.3, 1e-300, 1e15, 2.5], 9, rows)


def without_place(record):
    """All that a Record says, but when, on what machine and from where the rows were counted."""
    plan = {key: value for key, value in record["plan"].items() if key not in ("data", "digest")}
    digests = {name: one for name, one in record["digests"].items() if name != "record"}  # it covers the time too
    return {**record, "plan": plan, "environment": None, "digests": digests}


CASES = {
    "binary text, groups and missing ones": (
        {"y": drawn(["yes", "no"], 1), "p": drawn(["yes", "no"], 2), "g": drawn(["f", "m", None], 3)},
        {"positive": "yes", "group": "g"},
    ),
    "many classes, weights, two factors": (
        {
            "y": drawn(list(range(12)), 1),
            "p": drawn(list(range(12)), 2),
            "g": drawn(["f", "m"], 3),
            "h": drawn([1, 2, None], 4),
            "w": weights(),
        },
        {"group": ["g", "h"], "weight": "w"},
    ),
    "booleans": ({"y": drawn([True, False], 1), "p": drawn([True, False], 2)}, {}),
    "whole doubles and NaN": (
        {"y": drawn([0.0, 1.0, -0.0, float("nan")], 1), "p": drawn([0.0, 1.0, 2.0], 2)},
        {"missing": "drop", "unknown": "own"},
    ),
    "decimals": (
        {"y": drawn([Decimal("1.00"), Decimal("2.00")], 1), "p": drawn([Decimal("1.00"), Decimal("3.00")], 2)},
        {"unknown": "own", "labels": [1, 2, 3]},
    ),
    "missing labels left out": (
        {"y": drawn(["a", "b", "c", None], 1), "p": drawn(["a", "b", "c", None], 2)},
        {"missing": "drop"},
    ),
    "names that Spark would take apart": (
        {"a.b": drawn(["x", "y", "z"], 1), "A.B": drawn(["x", "y", "z"], 2), "g`": drawn(["f", "m"], 3)},
        {"truth": "a.b", "predicted": "A.B", "group": "g`"},
    ),
}


def options_of(case):
    return {"truth": "y", "predicted": "p", "draws": 100, **CASES[case][1]}


@cache
def counted_here(case):
    """The assessment of the arrays, which is the same whichever way Spark is spoken to."""
    return flat.assess(data=CASES[case][0], **options_of(case))


@pytest.mark.parametrize(
    ("way", "case"),
    [*(("classic", case) for case in CASES), *(("connect", case) for case in list(CASES)[1::2])],
)
def test_a_frame_on_the_cluster_gives_the_assessment_of_its_arrays(way, case, request, tmp_path):
    spark = request.getfixturevalue(way)
    columns = CASES[case][0]
    spark.conf.set("spark.sql.caseSensitive", "true")  # or Spark would not read both a.b and A.B from one file
    for part in range(3):
        pl.DataFrame({name: column[part::3] for name, column in columns.items()}).write_parquet(
            tmp_path / f"{part}.parquet"
        )
    counted = flat.assess(data=spark.read.parquet(str(tmp_path)), **options_of(case))
    expected = counted_here(case)
    assert counted.confusion == expected.confusion
    assert without_place(counted.record) == without_place(expected.record)


def test_only_cells_come_back_and_never_a_row(classic, monkeypatch):
    frame = classic.range(0, 100_000, 1, 8).selectExpr("id % 4 AS y", "id % 3 AS p")
    seen = []
    collect = type(frame).collect
    monkeypatch.setattr(type(frame), "collect", lambda self: seen.append(rows := collect(self)) or rows)
    monkeypatch.setattr(type(frame), "toPandas", lambda _: pytest.fail("the rows were fetched"))
    assert assay.assess(data=frame, truth="y", predicted="p").census.read == 100_000
    assert [len(rows) for rows in seen] == [12]


def test_labels_that_the_cluster_would_merge_are_refused(spark):
    frame = spark.sql("SELECT 'a' COLLATE UTF8_LCASE AS y, 'A' AS p")
    with pytest.raises(assay.RowsError, match="UTF8_LCASE"):
        assay.assess(data=frame, truth="y", predicted="p")


UNFIT = {
    "missing-column": ("SELECT 1 AS y, 1 AS q", {}),
    "duplicate-column": ("SELECT 1 AS y, 1 AS p, 2 AS p", {}),
    "column-not-scalar": ("SELECT 1 AS y, map('a', 1) AS p", {}),
    "column-type": ("SELECT 1 AS y, interval '1' day AS p", {}),
    "column-not-numeric": ("SELECT 1 AS y, 1 AS p, 'heavy' AS w", {"weight": "w"}),
    "weight-not-finite": ("SELECT 1 AS y, 1 AS p, double('NaN') AS w", {"weight": "w"}),
    "weight-negative": ("SELECT 1 AS y, 1 AS p, -1 AS w", {"weight": "w"}),
    "missing-label": ("SELECT * FROM VALUES (1, 1), (null, 1), (2, 2), (3, 3) AS t(y, p)", {}),
    "label-precision": ("SELECT 1.5 AS y, 1 AS p", {}),
    "label-types-differ": ("SELECT 'a' AS y, 1 AS p", {}),
    "no-rows": ("SELECT 1 AS y, 1 AS p WHERE false", {}),
    "engine-failed": ("SELECT raise_error('the disk is on fire') AS y, 1 AS p", {}),
}


@pytest.mark.parametrize(
    ("way", "code"),
    [*(("connect", code) for code in UNFIT), *(("classic", code) for code in ("weight-negative", "engine-failed"))],
)
def test_a_frame_that_is_unfit_is_refused_by_the_same_code_as_anywhere(way, code, request):
    spark = request.getfixturevalue(way)
    query, options = UNFIT[code]
    with pytest.raises(assay.AssayError) as refused:
        flat.assess(data=spark.sql(query), truth="y", predicted="p", **options)
    assert refused.value.code == code
    assert not any("Exception" in line or "\tat " in line for line in refused.value.lines().values())


def table(labels):
    rows = st.tuples(labels, labels, st.sampled_from(["x", "y", None]), st.sampled_from([0.1, 0.2, 3.0, 0.0]))
    return st.lists(rows, min_size=1, max_size=30)


TABLES = {
    "string": st.sampled_from(["a", "b", "ć", "d e", "", "NA", "0", None]),
    "bigint": st.one_of(st.integers(-3, 3), st.none()),
    "boolean": st.sampled_from([True, False, None]),
    "double": st.sampled_from([0.0, -0.0, 1.0, 2.0, 1.5, float("nan"), float("inf"), None]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_made_up_tables_give_the_same_tally_or_the_same_error(kind, classic, connect):
    @settings(max_examples=5)
    @given(table(TABLES[kind]), st.booleans(), st.sampled_from(["drop", "error"]), st.sampled_from([classic, connect]))
    def holds(rows, weighted, missing, spark):
        options = {"weight": "w"} if weighted else {}
        schema = f"y {kind}, p {kind}, g string, w double"
        named = dict(zip("ypgw", map(list, zip(*rows, strict=True)), strict=True))
        here = outcome(named, missing=missing, **options)
        there = outcome(spark.createDataFrame(rows, schema), missing=missing, **options)
        assert repr(there) == repr(here)

    holds()


def outcome(data, **options):
    try:
        found = flat.assess(data=data, truth="y", predicted="p", group="g", unknown="own", draws=100, **options)
    except assay.AssayError as error:
        return error.code
    return found.confusion.digest(), found.grouped.to_json(), found.census


@pytest.mark.parametrize("kind", ["double", "bigint", "decimal(30,10)"])
def test_weights_are_added_on_the_cluster_without_rounding(spark, kind):
    real = [0.1, 0.0, 2.0**-8, 2.0**8, 1e-20, 1e20, 1e-90, 1e300] if kind == "double" else [1, 0, 2**40, 3]
    large = [2**53, 2**53 + 1, 2**62] if kind == "bigint" else []
    held = [Decimal(f"{one}.0000001") if kind.startswith("decimal") else one for one in real] + large
    ids = range(len(held))
    table = pa.table({"y": [i % 2 for i in ids], "p": [0 for _ in ids], "g": ["n" for _ in ids], "w": held})
    frame = spark.createDataFrame(table.to_pylist(), f"y int, p int, g string, w {kind}")
    assert counted(frame) == expected(table)
