# SPDX-License-Identifier: Apache-2.0
"""Models in files of their own are matched by id in the engine to the very Record that rows in memory give."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import assay
from assay.assess import pairing
from assay.tally import pairedfiles

IDS = {
    "whole numbers": lambda n: [-7, 10, 1, 100, *range(200, 196 + n)],
    "texts": lambda n: ["ab", "ab!", "a b", "a", "A", "ab#", *(f"c{i}" for i in range(n - 6))],
    "texts that are written otherwise": lambda n: ["it's", "é", "a\\b", *(f"c{i}" for i in range(n - 3))],
}
N = 40


@pytest.fixture
def files(tmp_path):
    """Three models on the same rows, each in an order of its own; `change` may spoil the table of one of them."""
    rng = np.random.default_rng(8)
    truth = rng.choice(["x", "y", "z"], N)

    def made(ids=IDS["texts"], ending="parquet", change=lambda _, table: table):
        paths = []
        for name in "abc":
            calls = np.where(rng.random(N) < 0.7, truth, rng.choice(["x", "y", "z"], N))
            table = pl.DataFrame({"id": ids(N), "y": truth, "p": calls}).sample(
                fraction=1.0, shuffle=True, seed=ord(name)
            )
            table = change(name, table)
            paths.append(tmp_path / f"{name}.{ending}")
            table.write_csv(paths[-1]) if ending == "csv" else table.write_parquet(paths[-1])
        return paths

    return made


def compared(paths):
    try:
        found = assay.compare(*paths, id="id", truth="y", predicted="p")
    except assay.AssayError as error:
        return error.code, error.what, error.where
    kept = {name: found.record[name] for name in ("plan", "tallies", "findings", "samples")}
    return kept | {"digests": {**found.record["digests"], "record": None}}  # which holds the time


def in_memory(paths, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(pairedfiles, "matched_files", lambda *_, **__: None)
        return compared(paths)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("ids", IDS)
def test_the_engine_and_the_memory_match_rows_to_one_record(files, ids, ending, monkeypatch):
    paths = files(IDS[ids], ending)
    expected = in_memory(paths, monkeypatch)
    assert expected["findings"]
    if "otherwise" not in ids:  # these the engine could not put into the order of the proof
        monkeypatch.delattr(pairing, "answers")
    assert compared(paths) == expected


def spoiled(name, table, how):
    if name != "b":
        return table
    return {
        "twice": lambda: table.vstack(table[:1]),
        "lost": lambda: table[1:],
        "no id": lambda: table.with_columns(
            pl.when(pl.col("id") == "a").then(None).otherwise(pl.col("id")).alias("id")
        ),
        "another truth": lambda: table.with_columns(y=pl.when(pl.col("id") == "a").then(pl.lit("w")).otherwise("y")),
        "another name": lambda: table.rename({"y": "truth"}),
    }[how]()


@pytest.mark.parametrize("how", ["twice", "lost", "no id", "another truth", "another name"])
def test_what_does_not_match_is_told_as_in_memory(files, how, monkeypatch):
    paths = files(change=lambda name, table: spoiled(name, table, how))
    found = compared(paths)
    assert isinstance(found, tuple)
    assert found == in_memory(paths, monkeypatch)
