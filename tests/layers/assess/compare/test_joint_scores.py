# SPDX-License-Identifier: Apache-2.0
"""Comparisons of more scores than are held row by row."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import assay
from assay.app.cli import cli
from assay.assess.record.record import Record
from assay.assess.record.verification import verify
from assay.core.errors import PlanError, RowsError
from tests import flat

SCORES = {"A": "a", "B": "b"}


def rows(n=4000, seed=3):
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.3
    base = rng.normal(size=n) + ill
    return pl.DataFrame(
        {
            "ill": np.where(ill, "yes", "no"),
            "a": 1 / (1 + np.exp(-base)),
            "b": 1 / (1 + np.exp(-base - 0.5 * rng.normal(size=n))),
            "c": rng.normal(size=n) + ill,
            "said_a": np.where(base > 0.5, "yes", "no"),
            "said_b": np.where(base > 0.7, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def frame():
    return rows()


@pytest.fixture(scope="module")
def path(frame, tmp_path_factory):
    made = tmp_path_factory.mktemp("rows") / "rows.parquet"
    frame.write_parquet(made)
    return made


def compared(data, exact=100, **given):
    return flat.compare(data=data, truth="ill", score=SCORES, positive="yes", exact_scores=exact, **given)


@pytest.fixture(scope="module")
def both(path):
    return compared(path), compared(path, 10**6)


def test_more_distinct_scores_than_stated_are_rounded_and_counted(both):
    rounded, exact = both
    assert (rounded.scores.bits, exact.scores.bits) == (9, None)
    one, two = exact["delong"], rounded["delong"]
    assert two.log10_p == pytest.approx(one.log10_p, rel=1e-2)
    half = (one.effect.interval.high - one.effect.interval.low) / 2
    assert two.effect.value == pytest.approx(one.effect.value, abs=0.02 * half)
    assert [place.model for place in rounded.ranking] == [place.model for place in exact.ranking]


def test_the_other_class_may_be_the_positive_one(path):
    found, exact = (
        assay.compare(
            data=path, truth="ill", score=SCORES, positive="no", scores=assay.ScoreSettings(exact_scores=limit)
        )
        for limit in (100, 10**6)
    )
    expected = exact["delong"].effect
    half = (expected.interval.high - expected.interval.low) / 2
    assert found["delong"].effect.value == pytest.approx(expected.value, abs=0.02 * half)


def test_a_record_of_joint_counts_is_read_checked_and_written_again(both, tmp_path):
    rounded, _ = both
    where = rounded.save(tmp_path / "record.json")
    again = assay.load(where)
    assert again.record["findings"] == rounded.record["findings"]
    assert verify(again.record).holds
    content = json.loads(where.read_text())
    content["findings"][0]["effect"]["value"] += 1e-3
    assert any("effect" in one.path for one in verify(Record(content)).mismatches)


def test_reports_tell_the_rounding(both, tmp_path):
    rounded, exact = both
    told = "scores rounded to 9 significant bits"
    assert told in str(rounded)
    assert told not in str(exact)
    for ending in ("html", "md"):
        assert told in rounded.report(tmp_path / f"report.{ending}").read_text()


def test_measures_that_need_rows_are_refused_with_what_to_do(path):
    for measures in (["average_precision"], ["brier_score"]):
        with pytest.raises(PlanError, match="compared row by row") as told:
            compared(path, measures=measures)
        assert "--exact-scores" in told.value.typed
    assert compared(path, measures=["auroc"])["delong"].p is not None
    with pytest.raises(PlanError, match="reads scores row by row"):
        compared(path, test="score_permutation", because="we are used to it")


def test_labels_and_margins_are_compared_beside_rounded_scores(path):
    given = {"predicted": {"A": "said_a", "B": "said_b"}, "margin": 0.05}
    rough, exact = (compared(path, limit, **given) for limit in (100, 10**6))
    assert rough["mcnemar"].p == exact["mcnemar"].p
    one, two = (next(x for x in held.findings if x.test == "auroc_non_inferiority") for held in (rough, exact))
    assert one.statistic == pytest.approx(two.statistic, abs=0.01)


def test_three_models_are_compared_from_joint_counts(path):
    scores = {"A": "a", "B": "b", "C": "c"}
    rough, exact = (
        assay.compare(
            data=path, truth="ill", score=scores, positive="yes", scores=assay.ScoreSettings(exact_scores=limit)
        )
        for limit in (9, 10**6)
    )
    assert rough["delong_many"].statistic == pytest.approx(exact["delong_many"].statistic, rel=1e-2)
    assert rough["delong_pairs", "A", "C"].p == pytest.approx(exact["delong_pairs", "A", "C"].p, rel=0.1)


def test_models_in_files_of_their_own_are_matched_by_id_and_counted_jointly(frame, both, tmp_path):
    keyed = frame.with_row_index("case")
    for model, column in SCORES.items():
        part = keyed.select("case", "ill", pl.col(column).alias("s")).sample(fraction=1, shuffle=True, seed=1)
        part.write_parquet(tmp_path / f"{model}.parquet")
    data = {model: tmp_path / f"{model}.parquet" for model in SCORES}
    found = assay.compare(
        data=data, truth="ill", score="s", id="case", positive="yes", scores=assay.ScoreSettings(exact_scores=100)
    )
    assert found.scores == both[0].scores
    assert found.proof is not None


def test_rows_without_truth_and_more_classes_are_refused_as_ever(frame, tmp_path):
    lost = frame.with_columns(ill=pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise("ill"))
    lost.write_parquet(tmp_path / "lost.parquet")
    with pytest.raises(RowsError, match="3 rows have no label"):
        compared(tmp_path / "lost.parquet")
    more = frame.with_columns(ill=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("maybe")).otherwise("ill"))
    more.write_parquet(tmp_path / "more.parquet")
    with pytest.raises(PlanError, match="one score a row, and there are 3 classes"):
        assay.compare(
            data=tmp_path / "more.parquet", truth="ill", score=SCORES, scores=assay.ScoreSettings(exact_scores=9)
        )


def test_one_class_alone_is_undefined_with_the_reason(frame):
    only = frame.filter(pl.col("ill") == "yes")
    found = assay.compare(
        data=only,
        truth="ill",
        score=SCORES,
        labels=["no", "yes"],
        positive="yes",
        scores=assay.ScoreSettings(exact_scores=9),
    )
    assert found["delong"].p is None
    assert "0 negatives" in found["delong"].reason


def test_the_command_takes_the_limit(path, tmp_path):
    given = ["--truth", "ill", "--score", "A=a", "--score", "B=b", "--positive", "yes", "--out", str(tmp_path)]
    result = CliRunner().invoke(cli, ["compare", str(path), *given, "--exact-scores", "100"])
    assert result.exit_code == 0, result.output
    assert "scores rounded to 9 significant bits" in result.output
