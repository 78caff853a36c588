# SPDX-License-Identifier: Apache-2.0
"""Subjects and weights summed up through every engine give the identical tally, and the answers of held rows."""

from __future__ import annotations

import sqlite3

import duckdb
import jsonschema
import numpy as np
import polars as pl
import pytest

import assay
from assay.assess.record.record import schema
from assay.assess.record.verification import verify
from assay.tally.paired import unit_batches as unitstream
from assay.tally.paired.unit_sums import UnitSums
from tests import flat

ibis = pytest.importorskip("ibis", reason="the Ibis tests need ibis: pip install 'ibis-framework[duckdb]'")

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis on a newer DuckDB

N = 3000
GIVEN = {"truth": "y", "predicted": {"A": "a", "B": "b"}, "exact_scores": 2000, "positive": "yes"}


def written(frame, path):
    getattr(frame, f"write_{path.suffix[1:]}")(path)
    return path


ENGINES = {
    "polars": lambda frame, _: frame,
    "pandas": lambda frame, _: frame.to_pandas(),
    "pyarrow": lambda frame, _: frame.to_arrow(),
    "lazy": lambda frame, _: frame.lazy(),
    "duckdb": lambda frame, _: duckdb.connect().from_arrow(frame.to_arrow()),
    "parquet": lambda frame, folder: written(frame, folder / "rows.parquet"),
    "csv": lambda frame, folder: written(frame, folder / "rows.csv"),
    "ibis": lambda frame, _: ibis.memtable(frame.to_arrow()),
}


def rows(*, number=False):
    rng = np.random.default_rng(3)
    y = rng.random(N) < 0.4
    who = rng.integers(0, 900, N)
    a, b = (np.where(rng.random(N) < share, y, ~y) for share in (0.85, 0.8))
    told = {name: np.where(one, "yes", "no") for name, one in (("y", y), ("a", a), ("b", b))}
    return pl.DataFrame(
        {**told, "who": who if number else [f"s{i}" for i in who], "w": rng.integers(1, 4096, N) / 1024}
    )


def arrays(frame, **more):
    columns = {name: frame[column].to_numpy() for name, column in more.items()}
    given = {"truth": frame["y"].to_numpy(), "predicted": {"A": frame["a"].to_numpy(), "B": frame["b"].to_numpy()}}
    return flat.compare(**{**GIVEN, **given}, **columns)


@pytest.mark.parametrize("more", [{"subject": "who"}, {"weight": "w"}], ids=["subject", "weight"])
@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_sums_up_what_arrays_do(kind, more, tmp_path):
    frame = rows()
    found, expected = flat.compare(data=ENGINES[kind](frame, tmp_path), **GIVEN, **more), arrays(frame, **more)
    assert isinstance(found.rows, UnitSums)
    assert found.rows == expected.rows
    assert found.record["findings"] == expected.record["findings"]
    assert {one.test for one in found.findings} == {"unit_z"}


@pytest.mark.parametrize("kind", ["polars", "parquet", "csv"])
def test_weighted_rows_of_subjects_are_summed_up_in_memory_and_from_files(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(unitstream, "AT_ONCE", 100)
    frame, both = rows(), {"subject": "who", "weight": "w"}
    found, expected = flat.compare(data=ENGINES[kind](frame, tmp_path), **GIVEN, **both), arrays(frame, **both)
    assert found.rows == expected.rows
    assert found.rows.units == frame["who"].n_unique()
    assert {one.test for one in found.findings} == {"unit_z"}


def test_weighted_rows_of_subjects_that_an_engine_does_not_hand_over_are_held_as_far_as_is_allowed():
    given = {**GIVEN, "exact_scores": N}
    held = flat.compare(data=rows().lazy(), **given, subject="who", weight="w", draws=199)
    assert {one.test for one in held.findings} == {"subject_permutation"}
    with pytest.raises(assay.PlanError, match="3,000 of them would have to be held in memory"):
        flat.compare(data=rows().lazy(), **GIVEN, subject="who", weight="w")


def test_subjects_are_cut_at_the_end_of_a_batch_and_never_within(monkeypatch):
    monkeypatch.setattr(unitstream, "AT_ONCE", 3)
    unit = np.array([1, 1, 2, 2, 2, 2, 3, 4, 4, 5])
    whole = unit, np.arange(10), np.arange(10) / 2
    parts = [tuple(one[i : i + 2] for one in whole) for i in range(0, 10, 2)]
    found = list(unitstream.whole_units(iter(parts)))
    for one, column in zip(whole, zip(*found, strict=True), strict=True):
        np.testing.assert_array_equal(np.concatenate(column), one)
    ends = [set(part[0].tolist()) for part in found]
    assert all(not a & b for i, a in enumerate(ends) for b in ends[i + 1 :])
    assert len(found) > 1


@pytest.mark.parametrize("more", [{"subject": "who"}, {"weight": "w"}, {"subject": "who", "weight": "w"}])
def test_tables_of_a_database_are_summed_up(more, tmp_path):
    path = tmp_path / "rows.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE rows (y TEXT, a TEXT, b TEXT, who TEXT, w REAL)")
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", rows().rows())
    connection.close()
    found = flat.compare(data=str(path), table="rows", **GIVEN, **more)
    assert found.rows == arrays(rows(), **more).rows
    few = flat.compare(data=str(path), table="rows", **{**GIVEN, "exact_scores": N}, subject="a", draws=199)
    assert len(few.rows.labels) == 2
    assert not few.findings
    with pytest.raises(assay.PlanError, match="3,000 of them would have to be held in memory"):
        flat.compare(data=str(path), table="rows", **GIVEN, subject="a")


def test_two_files_matched_by_id_are_summed_up_and_verified(tmp_path):
    frame = rows(number=True).with_row_index("id")
    for name, own in (("one", "a"), ("two", "b")):
        frame.select("id", "y", "who", "w", p=own).sample(fraction=1.0, shuffle=True, seed=1).write_parquet(
            tmp_path / f"{name}.parquet"
        )
    data = {"A": tmp_path / "one.parquet", "B": tmp_path / "two.parquet"}
    for more in ({"subject": "who"}, {"weight": "w"}):
        found = flat.compare(data=data, **{**GIVEN, "predicted": "p"}, id="id", **more)
        assert found.rows == arrays(frame, **more).rows
        record = found.save(tmp_path / "c.json")
        jsonschema.validate(dict(found.record), schema("comparison"))
        assert not verify(assay.load(record).record).mismatches


def test_up_to_the_limit_rows_are_held_and_those_of_few_subjects_in_memory_always():
    frame = rows()
    found = flat.compare(data=frame.lazy(), **{**GIVEN, "exact_scores": N}, subject="who", draws=199)
    assert {one.test for one in found.findings} == {"subject_permutation"}
    few = frame.with_columns(who=pl.int_range(N) % 150)
    found = flat.compare(data=few, **GIVEN, subject="who", draws=199)
    assert {one.test for one in found.findings} == {"subject_permutation"}
    with pytest.raises(assay.PlanError, match="3,000 of them would have to be held in memory"):
        flat.compare(data=few.lazy(), **GIVEN, subject="who")


@pytest.mark.parametrize("kind", ["polars", "lazy", "parquet"])
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"who": pl.when(pl.int_range(N) == 7).then(None).otherwise(pl.int_range(N))}, "1 row has no subject"),
        ({"who": pl.when(pl.int_range(N) == 7).then(float("nan")).otherwise(1.0 * pl.int_range(N))}, "no subject"),
        ({"who": pl.int_range(N) + 0.5}, "cannot be a label"),
        ({"who": pl.when(pl.int_range(N) == 7).then(float("inf")).otherwise(1.0)}, "cannot be a label"),
        ({"who": pl.when(pl.int_range(N) == 7).then(pl.lit("x" * 5000)).otherwise(pl.lit("s"))}, "characters long"),
    ],
)
def test_subjects_that_are_none_are_refused(kind, wrong, says, tmp_path):
    frame = rows().with_columns(**wrong)
    with pytest.raises(assay.RowsError, match=says):
        flat.compare(data=ENGINES[kind](frame, tmp_path), **GIVEN, subject="who")


@pytest.mark.parametrize("kind", ["polars", "lazy", "parquet"])
@pytest.mark.parametrize("wrong", [-1.0, float("nan"), None])
def test_weights_that_are_none_are_refused(kind, wrong, tmp_path):
    frame = rows().with_columns(w=pl.when(pl.int_range(N) == 7).then(pl.lit(wrong)).otherwise(pl.col("w")))
    with pytest.raises(assay.RowsError):
        flat.compare(data=ENGINES[kind](frame, tmp_path), **GIVEN, weight="w")
    nothing = rows().with_columns(w=pl.lit(0.0))
    with pytest.raises(assay.RowsError, match="all weights are zero"):
        flat.compare(data=ENGINES[kind](nothing, tmp_path), **GIVEN, weight="w")
