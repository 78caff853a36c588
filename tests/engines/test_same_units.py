# SPDX-License-Identifier: Apache-2.0
"""Units counted by every engine give the identical tally and the identical answers."""

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
from assay.inference import decision_words
from assay.tally.paired import joint_counts
from tests import flat

ibis = pytest.importorskip("ibis", reason="the Ibis tests need ibis: pip install 'ibis-framework[duckdb]'")

pytestmark = [
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),  # Ibis on a newer DuckDB
]

N = 3000
GIVEN = {"truth": "y", "predicted": {"A": "a", "B": "b"}, "positive": "yes", "draws": 100}


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


def arrays(frame, draws=100, **more):
    columns = {name: frame[column].to_numpy() for name, column in more.items()}
    given = {"truth": frame["y"].to_numpy(), "predicted": {"A": frame["a"].to_numpy(), "B": frame["b"].to_numpy()}}
    return flat.compare(**{**GIVEN, **given, "draws": draws}, **columns)


WAYS = ({"subject": "who"}, {"weight": "w"}, {"subject": "who", "weight": "w"})


@pytest.mark.parametrize("more", WAYS, ids=["subject", "weight", "both"])
@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_counts_what_arrays_do(kind, more, tmp_path, monkeypatch):
    monkeypatch.setattr(decision_words, "MANY_UNITS", 500)
    frame = rows()
    found, expected = flat.compare(data=ENGINES[kind](frame, tmp_path), **GIVEN, **more), arrays(frame, **more)
    assert found.rows == expected.rows
    assert found.record["findings"] == expected.record["findings"]
    assert {one.test for one in found.findings} == {"unit_z"}
    assert found.rows.units == (frame["who"].n_unique() if "subject" in more else N)
    assert found.rows.n == N


def test_the_large_sample_form_is_near_the_swaps(monkeypatch):
    frame = rows()
    swaps = arrays(frame, subject="who", draws=1999)
    monkeypatch.setattr(decision_words, "MANY_UNITS", 500)
    z = arrays(frame, subject="who")
    for name in ("accuracy", "recall", "specificity"):
        assert z[name].effect.value == swaps[name].effect.value
        assert z[name].p == pytest.approx(swaps[name].p, abs=0.02)
        assert z[name].effect.interval.low == pytest.approx(swaps[name].effect.interval.low, abs=0.004)


def test_too_many_combinations_are_refused(monkeypatch):
    monkeypatch.setattr(joint_counts, "MOST_ENTRIES", 100)
    with pytest.raises(assay.PlanError, match="more than 100 combinations"):
        flat.compare(data=rows().lazy(), **GIVEN, subject="who")


@pytest.mark.parametrize("more", WAYS)
def test_tables_of_a_database_are_summed_up(more, tmp_path):
    path = tmp_path / "rows.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE rows (y TEXT, a TEXT, b TEXT, who TEXT, w REAL)")
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", rows().rows())
    connection.close()
    found = flat.compare(data=str(path), table="rows", **GIVEN, **more)
    assert found.rows == arrays(rows(), **more).rows


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
