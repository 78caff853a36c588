# SPDX-License-Identifier: Apache-2.0
"""Frames of Dask and Ibis are counted by their own engine, to the tally that numpy counts or to its error."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from functools import cache

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from tests import flat

dd = pytest.importorskip("dask.dataframe", reason="the Dask tests need dask: pip install 'dask[dataframe]'")
dask = pytest.importorskip("dask")
ibis = pytest.importorskip("ibis", reason="the Ibis tests need ibis: pip install 'ibis-framework[duckdb]'")

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis on a newer DuckDB

ROLES = {"truth": "y", "predicted": "p", "draws": 100}


def dask_frame(columns):
    with dask.config.set({"dataframe.convert-string": False}):  # or Dask itself would make text of every object
        return dd.from_pandas(pd.DataFrame(columns), npartitions=3)


def dask_frame_of_text(columns):
    return dd.from_pandas(pd.DataFrame(columns), npartitions=3)


@cache
def database():
    """A database of DuckDB that all tests share, one after the other."""
    return ibis.duckdb.from_connection(duckdb.connect())


def ibis_table(columns):
    """A table of a database that DuckDB holds, asked through Ibis; the next one takes its place."""
    connection = database().con
    connection.register("arrow", pa.table(columns))
    connection.execute("CREATE OR REPLACE TABLE rows AS FROM arrow")
    connection.unregister("arrow")
    return database().table("rows")


def ibis_in_memory(columns):
    return ibis.memtable(pa.table(columns))


FRAMES = [dask_frame, ibis_table, ibis_in_memory]
each_frame = pytest.mark.parametrize("frame", FRAMES, ids=[one.__name__ for one in FRAMES])


def outcome(data, **options):
    try:
        found = flat.assess(data=data, **ROLES, group="g", unknown="own", **options)
    except assay.AssayError as error:
        return error.code
    return found.confusion.to_json(), found.grouped.to_json(), found.census


def table(labels):
    # Weights of very different sizes, which take an engine seconds to plan for, are those of test_same_weights.
    rows = st.tuples(labels, labels, st.sampled_from(["x", "y", None]), st.sampled_from([0.1, 0.2, 3.0, 0.0]))
    return st.lists(rows, min_size=1, max_size=30)


TABLES = {
    "text": st.sampled_from(["a", "b", "ć", "d e", "", "NA", "0", None]),
    "numbers": st.integers(-3, 3),
    "numbers, some missing": st.one_of(st.integers(-3, 3), st.none()),
    "booleans": st.booleans(),
    "fractions": st.sampled_from([0.0, -0.0, 1.0, 2.0, 1.5, float("inf")]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_made_up_tables_give_the_same_tally_or_the_same_error(kind):
    @settings(max_examples=6)
    @given(table(TABLES[kind]), st.booleans(), st.sampled_from(["drop", "error"]))
    def holds(rows, weighted, missing):
        options = {"missing": missing, **({"weight": "w"} if weighted else {})}
        columns = dict(zip("ypgw", map(list, zip(*rows, strict=True)), strict=True))
        # Text is where frames of one engine differ: Dask may make it of objects, Ibis may hold it in memory.
        frames = [dict, *FRAMES, dask_frame_of_text] if kind == "text" else [dict, dask_frame, ibis_table]
        with dask.config.set(scheduler="sync"):  # threads take longer to start than such parts to add
            found = {one.__name__: outcome(one(columns), **options) for one in frames}
        assert len({repr(one) for one in found.values()}) == 1, found

    holds()


def record_of(frame):
    """The Record of 600 rows in two groups, held in a frame."""
    rng = np.random.default_rng(6)
    columns = {
        "y": rng.choice(["cat", "dog", "eel"], 600).tolist(),
        "p": rng.choice(["cat", "dog", "eel"], 600).tolist(),
        "a.b": rng.choice(["x", "y"], 600).tolist(),
        "h": rng.choice([1, 2], 600).tolist(),
    }
    return flat.assess(data=frame(columns), **ROLES, group=["a.b", "h"]).record


@pytest.fixture(scope="module")
def record_of_arrays():
    return record_of(dict)


@each_frame
def test_the_whole_record_is_that_of_the_arrays(frame, record_of_arrays):
    found = record_of(frame)
    for part in ("rows", "labels", "estimates", "tallies", "findings"):
        assert found[part] == record_of_arrays[part], part


@each_frame
def test_only_cells_come_back_and_never_a_row(frame, monkeypatch):
    ids = np.arange(10_000)
    data = frame({"y": ids % 4, "p": ids % 3, "g": ids % 2, "w": ids / 100})
    collect, sizes = nw.LazyFrame.collect, []

    def counted(self, *args, **options):
        eager = collect(self, *args, **options)
        sizes.append(len(eager))
        return eager

    monkeypatch.setattr(nw.LazyFrame, "collect", counted)
    assert flat.assess(data=data, **ROLES).census.read == 10_000
    assert flat.assess(data=data, **ROLES, group="g", weight="w").census.read == 10_000
    assert sizes == [12, 1, 12]  # counts, the largest weight, and sums of weights


def test_a_dask_frame_is_gone_through_part_by_part_and_once():
    seen = []

    def part(number):
        seen.append(number)
        return pd.DataFrame({"y": [number % 2, 1], "p": [1, 0]})

    frame = dd.from_map(part, range(5), meta=pd.DataFrame({"y": [0], "p": [0]}))
    seen.clear()
    assert flat.assess(data=frame, positive=1, **ROLES).census.read == 10
    assert sorted(seen) == list(range(5))


UNFIT = {
    "missing-column": ({"y": [1, 0], "q": [1, 0]}, {}),
    "column-type": ({"y": [1, 0], "p": [date(2026, 1, 1)] * 2}, {}),
    "column-not-scalar": ({"y": [1, 0], "p": [[1], [0]]}, {}),
    "column-not-numeric": ({"y": [1, 0], "p": [1, 0], "w": ["heavy", "1"]}, {"weight": "w"}),
    "weight-not-finite": ({"y": [1, 0], "p": [1, 0], "w": [None, 1.5]}, {"weight": "w"}),
    "weight-negative": ({"y": [1, 0], "p": [1, 0], "w": [-1, 1]}, {"weight": "w"}),
    "missing-label": ({"y": [1, None], "p": [1, 0]}, {}),
    "label-precision": ({"y": [1.5, 0.0], "p": [1, 0]}, {}),
    "label-types-differ": ({"y": ["a", "b"], "p": [1, 0]}, {}),
    "no-rows": ({"y": pa.array([], pa.int64()), "p": pa.array([], pa.int64())}, {}),
}


@each_frame
@pytest.mark.parametrize("code", UNFIT)
def test_a_frame_that_is_unfit_is_refused_by_the_same_code_as_anywhere(code, frame):
    columns, options = UNFIT[code]
    with pytest.raises(assay.AssayError) as refused:
        flat.assess(data=frame(columns), **ROLES, **options)
    assert refused.value.code == code
    assert "Implementation" not in str(refused.value)


def test_labels_of_several_types_in_one_column_of_dask_are_refused():
    with pytest.raises(assay.RowsError, match="different labels") as refused:
        flat.assess(data=dask_frame({"y": [1, "1"], "p": [1, 1]}), **ROLES)
    assert refused.value.code == "mixed-types-in-column"


def test_true_and_one_are_not_merged_by_dask():
    for truth in ([1, True], [True, 1.0], [np.True_, 0]):
        with pytest.raises(assay.RowsError, match='"y" mixes "bool') as refused:
            flat.assess(data=dask_frame({"y": pd.Series(truth, dtype=object), "p": [1, 0]}), **ROLES)
        assert refused.value.code == "mixed-types-in-column"
    found = flat.assess(data=dask_frame({"y": [True, None, False], "p": [True, True, False]}), **ROLES, missing="drop")
    assert found.labels == (False, True)


def test_columns_of_dask_that_cannot_be_named_are_refused():
    twice = pd.DataFrame({"y": [1, 0], "p": [1, 0]}).set_axis(["y", "y"], axis=1)
    numbered = pd.DataFrame({0: [1, 0], 1: [1, 0]})
    for frame, code in ((twice, "duplicate-column"), (numbered, "missing-column")):
        for data in (frame, dd.from_pandas(frame, npartitions=1)):
            with pytest.raises(assay.RowsError) as refused:
                flat.assess(data=data, **ROLES)
            assert refused.value.code == code


@each_frame
def test_decimals_that_are_whole_are_labels(frame):
    columns = {"y": [Decimal(1), Decimal(2)], "p": [Decimal(1), Decimal(3)]}
    found, expected = (
        flat.assess(data=data, **ROLES, unknown="own").confusion.to_json() for data in (frame(columns), columns)
    )
    assert found == expected


def test_a_part_that_cannot_be_computed_is_an_error_of_ours():
    def part(_):
        msg = "the disk is on fire"
        raise OSError(msg)

    frame = dd.from_map(part, range(2), meta=pd.DataFrame({"y": [0], "p": [0]}))
    with pytest.raises(assay.EngineError, match="the disk is on fire") as refused:
        flat.assess(data=frame, **ROLES)
    assert refused.value.code == "engine-failed"
