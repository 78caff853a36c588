# SPDX-License-Identifier: Apache-2.0
"""Models in frames of their own, of any library, are matched by id in the engine as rows in memory are."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import assay
from assay.assess import comparing, meeting
from assay.rows import framesides
from tests import flat

N = 60
rng = np.random.default_rng(5)
Y = rng.choice(["x", "y"], N)
MADE = {
    "pandas": lambda table: table.to_pandas(),
    "pandas texts": lambda table: table.to_pandas().astype({"y": "category", "id": "string"}),
    "polars": lambda table: table,
    "polars lazy": lambda table: table.lazy(),
    "pyarrow": lambda table: table.to_arrow(),
    "duckdb": lambda table: duckdb.from_arrow(table.to_arrow()),
    "columns": lambda table: {name: table[name].to_numpy() for name in table.columns},
    "dask": lambda table: pytest.importorskip("dask.dataframe").from_pandas(table.to_pandas(), npartitions=2),
    "ibis": lambda table: pytest.importorskip("ibis").memtable(table.to_arrow()),
}
WANTED = {
    "labels": {"predicted": "p"},
    "both": {"predicted": "p", "score": "s"},
    "all": {"predicted": "p", "subject": "who", "weight": "w"},
}


@pytest.fixture(autouse=True)
def engine(monkeypatch):
    """However few rows there are, the engine matches them; findings are functions of the tallies, and take longer."""
    monkeypatch.setattr(framesides, "ENGINE_FROM", 0)
    monkeypatch.setattr(comparing, "answered", lambda *_: ())


def tables():
    out = {}
    for model in "AB":
        calls = np.where(rng.random(N) < 0.7, Y, rng.choice(["x", "y"], N))
        units = {"who": [i // 4 for i in range(N)], "w": [1.5, 2.0] * (N // 2)}
        table = pl.DataFrame({"id": [f"r{i}" for i in range(N)], "y": Y, "p": calls, "s": rng.random(N), **units})
        out[model] = table.sample(fraction=1.0, shuffle=True, seed=ord(model))
    return out


def compared(data, **wanted):
    given = {"id": "id", "truth": "y", "positive": "x", "reading": assay.Reading(show_ids=True)}
    try:
        record = flat.compare(data=data, **given, **wanted).record
    except assay.AssayError as error:
        return error.code, error.what, error.where, error.found, error.fix
    return {name: record[name] for name in ("plan", "tallies", "samples", "test_data", "labels")}


def in_memory(monkeypatch, data, **wanted):
    with monkeypatch.context() as patched:
        patched.setattr(meeting, "_for_engine", lambda *_, **__: False)
        return compared(data, **wanted)


@pytest.mark.parametrize("kind", MADE)
def test_frames_are_matched_in_the_engine_to_one_record(kind, monkeypatch):
    data = {model: MADE[kind](table) for model, table in tables().items()}
    wanted = list(WANTED.values())[: 1 if kind in {"dask", "ibis"} else None]
    expected = [in_memory(monkeypatch, data, **one) for one in wanted]
    assert all(isinstance(one, dict) for one in expected), expected
    monkeypatch.delattr(meeting, "answers")
    assert [compared(data, **one) for one in wanted] == expected


def test_a_frame_meets_a_file_and_a_frame_of_another_library(tmp_path, monkeypatch):
    both = tables()
    both["B"].write_parquet(tmp_path / "B.parquet")
    expected = in_memory(monkeypatch, both, **WANTED["both"])
    monkeypatch.delattr(meeting, "answers")
    for other in (tmp_path / "B.parquet", both["B"].to_pandas(), both["B"].to_arrow()):
        found = compared({"A": both["A"], "B": other}, **WANTED["both"])
        assert {name: found[name] for name in ("tallies", "samples")} == {
            n: expected[n] for n in ("tallies", "samples")
        }
        assert found["test_data"]["digest"] == expected["test_data"]["digest"]


SPOILED = {
    "twice": lambda t: t.vstack(t[:2]),
    "lost": lambda t: t[1:],
    "another truth": lambda t: t.with_columns(y=pl.when(pl.col("id") == "r3").then(pl.lit("w")).otherwise("y")),
    "another subject": lambda t: t.with_columns(who=pl.col("who") + 1),
    "endless": lambda t: t.with_columns(s=pl.lit(float("inf"))),
    "no such column": lambda t: t.drop("p"),
}


@pytest.mark.parametrize("kind", ["pandas", "polars", "columns"])
@pytest.mark.parametrize("how", SPOILED)
def test_what_does_not_match_is_told_as_in_memory(how, kind, monkeypatch):
    both = tables()
    data = {"A": MADE[kind](both["A"]), "B": MADE[kind](SPOILED[how](both["B"]))}
    wanted = WANTED["both"] if how == "endless" else WANTED["all"]
    expected = in_memory(monkeypatch, data, **wanted)
    assert isinstance(expected, tuple)
    monkeypatch.delattr(meeting, "answers")
    assert compared(data, **wanted) == expected


def test_objects_that_the_engine_would_guess_at_are_matched_in_memory():
    frame = pd.DataFrame({"id": [1, 2, 3, 4], "y": pd.Series([1, 0, 1, 0], dtype=object), "p": [1, 0, 0, 0]})
    mixed = frame.assign(y=pd.Series([1, "0", 1, 0], dtype=object))
    found = assay.compare(data={"A": frame, "B": frame}, id="id", truth="y", predicted="p")
    assert found.record["samples"] == 4
    with pytest.raises(assay.AssayError) as error:
        assay.compare(data={"A": frame, "B": mixed}, id="id", truth="y", predicted="p")
    assert error.value.code == "mixed-types-in-column"
