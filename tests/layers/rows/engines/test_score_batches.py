# SPDX-License-Identifier: Apache-2.0
"""Scores of files: looked at, rounded and counted by the embedded engine; batches of an Arrow stream."""

from __future__ import annotations

import gc

import duckdb
import numpy as np
import polars as pl
import pytest

import assay
from assay.core.errors import AssayError, EngineError
from assay.rows.engines import duckdb_engine
from assay.rows.open import open_source
from assay.rows.score_columns import score_columns
from assay.rows.scored_source import sound
from assay.rows.source import Roles
from assay.tally.scores.rounded_scores import Rounding
from assay.tally.scores.score_aggregation import count_scores
from assay.tally.scores.score_tally import Scores, Wanted
from tests import flat

KINDS = {
    "text": (["no", "yes"], pl.String),
    "quotes": (["it's", 'say "no"'], pl.String),
    "numbers": ([0, 1], pl.Int8),
    "reals": ([0, 1], pl.Float64),
    "truth": ([False, True], pl.Boolean),
    "large": ([-(2**62), 2**62], pl.Int64),
}


def scored(path, labels, *, probability=True):
    source = open_source(path, Roles(truth="y", predicted="p", score=score_columns("s")))
    source, _ = sound(source, "probability" if probability else "any", single=True, drop=True)
    wanted = Wanted(labels=labels, scored=labels[1:], columns=(0,), probability=probability, exact=10)
    return count_scores(source, wanted).whole


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_every_type_are_counted_with_rounded_scores(kind, tmp_path):
    labels, stored = KINDS[kind]
    rng = np.random.default_rng(3)
    codes, scores = rng.integers(0, 2, 5000), rng.random(5000)
    scores[::2] = scores[::2].round(2)
    scores[:40] = [0.0, 1.0, 0.5, -0.0] * 10
    frame = pl.DataFrame({"y": [labels[i] for i in codes], "s": scores}, schema={"y": stored, "s": pl.Float64})
    frame = frame.with_columns(p=pl.col("y"))
    gaps = pl.DataFrame({"y": [labels[0], None, labels[1]], "s": [None, 0.5, 0.5], "p": [labels[0], labels[0], None]})
    path = tmp_path / "rows.parquet"
    pl.concat([frame, gaps.cast({"y": stored, "p": stored, "s": pl.Float64}).select(frame.columns)]).write_parquet(path)
    for probability in (True, False):
        found = scored(path, tuple(labels), probability=probability)
        expected = Scores.binary(scores, codes == 1, labels=tuple(labels))
        assert found.rows == 5000
        assert found == expected.rounded(Rounding(bits=13, probability=probability))


def test_a_class_that_is_left_out_is_not_counted(tmp_path):
    path = tmp_path / "rows.parquet"
    frame = pl.DataFrame({"y": ["a", "b", "c"] * 40, "s": np.linspace(0, 1, 120)})
    frame.with_columns(p=pl.col("y")).write_parquet(path)
    assert scored(path, ("a", "b")).rows == 80


@pytest.mark.parametrize("exact", [4_000_000, 10])  # more distinct scores than that are rounded
@pytest.mark.parametrize("writer", ["duckdb", "pyarrow"])
@pytest.mark.parametrize("fault", [float("nan"), float("inf"), -0.1, 1.5, None])
def test_no_fault_is_overlooked_by_the_quick_look(exact, writer, fault, tmp_path):
    path = tmp_path / "rows.parquet"
    frame = pl.DataFrame({"y": [0, 1] * 50, "s": [*np.linspace(0, 1, 99), fault]})
    if writer == "duckdb":
        connection = duckdb.connect()
        connection.register("made", frame.to_arrow())
        connection.execute(f"COPY made TO '{path}' (FORMAT parquet)")
    else:
        frame.write_parquet(path, use_pyarrow=True)
    with pytest.raises(AssayError) as refused:
        assay.assess(
            data=path,
            truth="y",
            score="s",
            scores=assay.ScoreSettings(kind="probability", exact_scores=exact),
            threshold=0.5,
        )
    finite = fault is not None and np.isfinite(fault)
    assert refused.value.code == ("score-out-of-range" if finite else "score-not-finite")
    assert "row 100" in str(refused.value)


@pytest.mark.parametrize("gap", ["y", "p"])
def test_an_unfit_score_is_found_in_a_row_that_is_not_counted(gap, tmp_path):
    frame = pl.DataFrame({"y": ["a", "b"] * 50, "p": ["a", "b"] * 50, "s": [*np.linspace(0, 1, 99), 1.5]})
    row = pl.int_range(pl.len())
    frame.with_columns(pl.when(row < 99).then(pl.col(gap)).alias(gap)).write_parquet(tmp_path / "rows.parquet")
    given = {"truth": "y", "predicted": "p", "score": "s", "positive": "b", "missing": "drop", "missing_score": "error"}
    for exact in (4_000_000, 10):
        with pytest.raises(AssayError) as refused:
            flat.assess(data=tmp_path / "rows.parquet", scores="probability", exact_scores=exact, **given)
        assert refused.value.code == "score-out-of-range"
    found = flat.assess(data=tmp_path / "rows.parquet", scores="logit", exact_scores=10, **given)
    assert found.scores.whole.rows == 99


@pytest.fixture(params=["pyarrow", "without it"])
def reader(request, monkeypatch):
    """Batches by either way: a stream of PyArrow's, or a temporary table."""
    if request.param != "pyarrow":
        monkeypatch.setattr(duckdb_engine, "optional", lambda _: None)
    return duckdb_engine.query_batches


def test_a_batch_lives_as_long_as_its_arrays(reader):
    query = "SELECT i::DOUBLE AS x, (i % 7)::TINYINT AS k FROM range(300000) t(i)"
    held = list(reader(duckdb.connect(), query))
    gc.collect()
    assert len(held) > 1
    assert np.array_equal(np.concatenate([x for x, _ in held]), np.arange(300000.0))
    assert np.array_equal(np.concatenate([k for _, k in held]), np.arange(300000) % 7)


def test_a_stream_that_is_left_in_the_middle_is_let_go(reader):
    connection = duckdb.connect()
    some = reader(connection, "SELECT i::DOUBLE AS x FROM range(3000000) t(i)")
    assert len(next(some)) == 1
    some.close()
    assert connection.sql("SELECT 42").fetchall() == [(42,)]


def test_what_is_no_number_or_missing_is_not_handed_over(reader):
    for query in ("SELECT 'a' AS x", "SELECT CASE WHEN i < 9 THEN i::DOUBLE END AS x FROM range(20) t(i)"):
        with pytest.raises(EngineError, match="other data than was asked for"):
            list(reader(duckdb.connect(), query))


def test_a_query_that_fails_on_the_way_is_told(reader):
    query = "SELECT CASE WHEN i = 900000 THEN error('it broke') ELSE i END::DOUBLE AS x FROM range(1000000) t(i)"
    with pytest.raises((duckdb.Error, OSError), match="it broke"):
        list(reader(duckdb.connect(), query))
