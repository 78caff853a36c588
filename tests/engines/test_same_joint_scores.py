# SPDX-License-Identifier: Apache-2.0
"""Rounded scores of several models, counted jointly through every engine, give the identical tally."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest

from assay.core.errors import PlanError
from assay.rows.open import open_source
from assay.rows.score_columns import ScoreColumns
from assay.rows.scored_source import sound
from assay.rows.source import Roles
from assay.tally.paired import joint_counts as jointscores
from assay.tally.paired.joint_counts import joint_scores
from assay.tally.paired.joint_scores import PairedScores
from tests.scorecases import rounded_pair

ibis = pytest.importorskip("ibis", reason="the Ibis tests need ibis: pip install 'ibis-framework[duckdb]'")

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis on a newer DuckDB

ENGINES = {
    "polars": lambda frame, _: frame,
    "lazy": lambda frame, _: frame.lazy(),
    "pyarrow": lambda frame, _: frame.to_arrow(),
    "duckdb": lambda frame, _: duckdb.connect().from_arrow(frame.to_arrow()),
    "enum in duckdb": lambda frame, _: (
        duckdb.connect().from_arrow(frame.to_arrow()).project("* REPLACE (CAST(ill AS ENUM('no', 'yes')) AS ill)")
    ),
    "parquet": lambda frame, folder: written(frame, folder / "rows.parquet"),
    "csv": lambda frame, folder: written(frame, folder / "rows.csv"),
    "ibis": lambda frame, _: ibis.memtable(frame.to_arrow()),
}
MODELS = {"A": "a", "B": "b", "C": "c"}


def written(frame, path):
    getattr(frame, f"write_{path.suffix[1:]}")(path)
    return path


def rows(n=3000):
    rng = np.random.default_rng(6)
    ill = rng.random(n) < 0.3
    base = rng.normal(size=n) + ill
    return pl.DataFrame(
        {
            "ill": np.where(ill, "yes", "no"),
            "a": 1 / (1 + np.exp(-9 * base)),
            "b": np.sinh(3 * (base + rng.normal(size=n))),
            "c": np.round(base, 1) + 0.0,
        }
    )


def counted(data, models, positive="yes"):
    roles = Roles(truth="ill", predicted="ill", score=ScoreColumns(columns=tuple(models.values())))
    source = open_source(data, roles)
    try:
        source, _ = sound(source, "any", single=False, drop=False)
        return joint_scores(source, tuple(models), positive)
    finally:
        source.close()


def in_numpy(frame, models):
    columns = {model: frame[name].to_numpy() for model, name in models.items()}
    return PairedScores.of((frame["ill"] == "yes").to_numpy(), columns)


@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_counts_the_tally_of_arrays(kind, tmp_path):
    models = MODELS if kind in ("polars", "parquet") else {"A": "a", "B": "b"}
    frame = rows()
    assert counted(ENGINES[kind](frame, tmp_path), models) == rounded_pair(in_numpy(frame, models), 9)


def test_fewer_bits_are_kept_where_there_are_more_cells(monkeypatch):
    monkeypatch.setattr(jointscores, "FEW_CELLS", 2000)
    frame = rows()
    assert counted(frame, MODELS) == rounded_pair(in_numpy(frame, MODELS), 7)
    monkeypatch.setattr(jointscores, "MOST_CELLS", 100)
    with pytest.raises(PlanError, match="meet in more than 100 cells") as told:
        counted(frame, MODELS)
    assert "two models at a time" in told.value.fix


def test_the_other_class_as_the_positive_one_is_the_same_tally_swapped():
    frame = rows(500)
    assert counted(frame, MODELS, "no") == rounded_pair(in_numpy(frame, MODELS), 9).swapped()
