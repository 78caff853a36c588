# SPDX-License-Identifier: Apache-2.0
"""The same rows through every engine give the identical tally, or the same error."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from tests import flat

TEXT = st.lists(st.tuples(*[st.sampled_from(["a", "b", "ć", "d e", "", "NA", "0"])] * 2), min_size=1, max_size=40)
NUMBERS = st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=1, max_size=40)


def engines(truth, predicted, group):
    columns = {"y": truth, "p": predicted, "g": group}
    frame = pl.DataFrame(columns)
    yield "polars", frame
    yield "polars lazy", frame.lazy()
    yield "pandas", pd.DataFrame(columns)
    yield "pyarrow", pa.table(columns)
    yield "duckdb", duckdb.connect().from_arrow(pa.table(columns))
    yield "mapping", columns


def outcome(data, **options):
    try:
        found = flat.assess(data=data, truth="y", predicted="p", group="g", unknown="own", **options)
    except assay.AssayError as error:
        return error.code
    return found.confusion.digest(), {k: v.digest() for k, v in found.grouped.factors["g"].items()}, found.census


@pytest.mark.parametrize("rows", [TEXT, NUMBERS], ids=["text", "numbers"])
def test_every_engine_gives_the_same_tally_or_the_same_error(rows):
    @given(rows, st.data())
    def holds(pairs, data):
        truth, predicted = (list(column) for column in zip(*pairs, strict=True))
        group = data.draw(st.lists(st.sampled_from(["x", "y", None]), min_size=len(pairs), max_size=len(pairs)))
        found = {name: outcome(frame) for name, frame in engines(truth, predicted, group)}
        assert len({repr(one) for one in found.values()}) == 1, found

    holds()


@pytest.mark.parametrize("missing", ["error", "drop"])
def test_missing_labels_are_treated_alike_on_every_engine(missing):
    truth, predicted, group = ["a", None, "b", "a"], ["a", "b", None, "b"], ["x", "y", "x", None]
    found = {name: outcome(frame, missing=missing, positive="b") for name, frame in engines(truth, predicted, group)}
    assert len({repr(one) for one in found.values()}) == 1, found
    assert ("missing-label" in found.values()) == (missing == "error")


def test_files_of_every_format_give_the_tally_of_the_arrays(tmp_path):
    rng = np.random.default_rng(3)
    truth, predicted = (rng.choice(["cat", "dog", "eel"], 500).tolist() for _ in range(2))
    frame = pl.DataFrame({"y": truth, "p": predicted})
    frame.write_csv(tmp_path / "a.csv")
    frame.write_csv(tmp_path / "a.tsv", separator="\t")
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ndjson(tmp_path / "a.jsonl")
    frame.write_ipc(tmp_path / "a.arrow")
    expected = assay.assess(truth=truth, predicted=predicted).confusion
    for path in sorted(tmp_path.iterdir()):
        assert assay.assess(data=path, truth="y", predicted="p").confusion == expected, path.name


def test_weights_add_up_exactly_on_every_engine():
    weight = [0.1, 0.2, 0.3, 1e-300, 1e15]
    columns = {"y": [0, 1, 1, 0, 1], "p": [0, 1, 0, 0, 1], "w": weight}
    frame = pl.DataFrame(columns)
    frames = [
        columns,
        frame,
        frame.lazy(),
        pd.DataFrame(columns),
        pa.table(columns),
        duckdb.connect().from_arrow(pa.table(columns)),
    ]
    found = {assay.assess(data=one, truth="y", predicted="p", weight="w").confusion.digest() for one in frames}
    assert len(found) == 1


def test_i34_engines_threads_and_the_order_of_rows_leave_no_trace(tmp_path):
    rng = np.random.default_rng(34)
    size = 20_000
    labels = np.array(["no", "yes"])
    frame = pl.DataFrame(
        {
            "y": labels[rng.integers(0, 2, size)],
            "p": labels[rng.integers(0, 2, size)],
            "w": rng.choice(rng.random(50) * 10.0 ** rng.integers(-9, 9, 50), size),  # whose sum depends on the order
            "s": rng.random(size).round(3),
        }
    )
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    for name, one in {"a": frame, "b": frame.reverse(), "c": shuffled}.items():
        one.write_parquet(tmp_path / f"{name}.parquet", row_group_size=1_000)
    given = {"truth": "y", "predicted": "p", "weight": "w", "score": "s", "positive": "yes", "measures": "recall"}

    def told(data, **more):
        return flat.assess(data=data, **given, **more).record["tallies"]

    expected = told(frame.to_pandas())
    for name, threads in (("a", 1), ("b", 2), ("c", 2)):
        assert told(tmp_path / f"{name}.parquet", limits=assay.Limits(threads=threads)) == expected
    assert told(pl.scan_parquet(tmp_path / "c.parquet")) == expected
    assert told(shuffled) == expected
