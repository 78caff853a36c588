# SPDX-License-Identifier: Apache-2.0
"""Scores stated to be logits: probabilities come from them where a measure needs such, careful at both ends."""

from __future__ import annotations

import json
import math

import duckdb
import jsonschema
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, log_softmax, softmax
from sklearn import metrics as sk

import assay
from assay.app.cli import cli
from assay.assess.record.record import schema
from assay.assess.record.verification import verify
from assay.core.arrays import chance
from assay.core.errors import PlanError
from assay.report.render.markdown import render as markdown
from assay.rows.scored_source import against_rest
from tests import flat
from tests.strategies import FEW

rng = np.random.default_rng(8)
TRUTH = rng.random(160) < 0.4
LOGIT = rng.normal(size=160) * 2 + 2 * TRUTH
KIND = rng.integers(0, 3, 150)
LOGITS = rng.normal(size=(150, 3)) + 1.5 * np.eye(3)[KIND]
NAMES = np.array(list("abc"))
SOME = ["auroc", "log_loss", "brier_score", "expected_calibration_error", "calibration_slope", "spherical_score"]
MANY = ["log_loss_multiclass", "brier_score_multiclass", "spherical_score_multiclass", "top_label_calibration_error",
        "auroc_macro", "expected_calibration_error_macro", "log_loss"]  # fmt: skip


def of_two(scores, kind, threshold, **more):
    return flat.assess(truth=TRUTH * 1, score=scores, scores=kind, threshold=threshold, measures=SOME, **more)


def of_three(matrix, kind, **more):
    columns = dict(zip("abc", matrix.T, strict=True))
    return flat.assess(truth=NAMES[KIND], score=columns, scores=kind, measures=MANY, **more)


@pytest.fixture(scope="module")
def two():
    return of_two(LOGIT, "logit", 0.0)


@pytest.fixture(scope="module")
def three():
    return of_three(LOGITS, "logit", operating_points=[0.0])


def test_one_column_means_what_the_logistic_function_makes_of_it(two):
    same = of_two(expit(LOGIT), "probability", 0.5)
    assert list(two) == list(same)
    for name in same:
        assert two[name].value == pytest.approx(same[name].value, rel=1e-9)
        assert (two[name].low, two[name].high) == pytest.approx((same[name].low, same[name].high), rel=1e-6)
    assert two["log_loss"].value == pytest.approx(sk.log_loss(TRUTH, expit(LOGIT)), rel=1e-12)
    assert two.confusion == same.confusion
    found, wanted = (a.record["curves"][0] for a in (two, same))
    assert np.allclose(np.array(found["decision"]), np.array(wanted["decision"]))
    assert [row[2] for row in found["reliability"]["bins"]] == [row[2] for row in wanted["reliability"]["bins"]]
    assert found["histogram"]["edges"][0] < 0 < found["histogram"]["edges"][-1]


def test_columns_of_all_classes_mean_what_the_softmax_makes_of_them(three):
    same = of_three(softmax(LOGITS, axis=1), "probability")
    for name in same:
        assert three[name].value == pytest.approx(same[name].value, rel=1e-9), name
    for label in "abc":
        assert three.by_class[label]["log_loss"].value == pytest.approx(same.by_class[label]["log_loss"].value)
    own = log_softmax(LOGITS, axis=1)[np.arange(150), KIND]
    assert three["log_loss_multiclass"].value == pytest.approx(-own.mean(), rel=1e-12)
    assert three.confusion == same.confusion
    moved = of_three(LOGITS + rng.normal(size=(150, 1)), "logit")
    assert moved["log_loss_multiclass"].value == pytest.approx(three["log_loss_multiclass"].value, rel=1e-12)


def test_what_was_done_stands_in_record_notes_and_reports(two, three):
    for a, by, rows, words in ((two, "logistic", 160, "logistic function"), (three, "softmax", 150, "softmax")):
        assert a.record["scores"]["linked"] == {"by": by, "rows": rows}
        assert a.record["plan"]["scores"]["link"] == by
        assert any(words in note for note in a.notes)
        assert f"Probabilities of {rows} rows come from them by the {words}" in markdown(a.record)
        jsonschema.validate(json.loads(a.record.to_text()), schema())
        assert verify(a.record).holds


def test_a_kept_record_of_logits_without_a_link_stays_what_it_was(two):
    content = json.loads(two.record.to_text())
    del content["plan"]["scores"]["link"]
    content["estimates"] = [one for one in content["estimates"] if one["measure"] == "auroc"]
    content["plan"]["measures"] = ["auroc"]
    old = assay.assess(
        truth=TRUTH * 1, score=LOGIT, scores=assay.ScoreSettings(kind="any"), threshold=0.0, measures=["auroc"]
    )
    again = type(old).from_record(assay.Record(content))
    assert list(again) == ["auroc"]
    with pytest.raises(PlanError, match="not stated to be such"):
        again["brier_score"]


def test_losses_of_extreme_logits_are_finite_and_right():
    a = assay.assess(
        truth=[1, 0, 1, 0],
        score=[800.0, -800.0, -800.0, 700.0],
        scores=assay.ScoreSettings(kind="logit"),
        threshold=0.0,
    )
    assert a["log_loss"].value == (800 + 700) / 4
    assert a["brier_score"].value == 0.5
    columns = {"a": [800.0, -800.0, 0.0], "b": [0.0, 0.0, 0.0], "c": [0.0, 0.0, -800.0]}
    b = assay.assess(truth=list("aaa"), score=columns, scores=assay.ScoreSettings(kind="logit"), labels=list("abc"))
    assert b["log_loss_multiclass"].value == pytest.approx((0 + 800 + math.log(2) + math.log(2)) / 3)
    assert b.by_class["b"]["log_loss"].value == pytest.approx((0 + 2 * math.log(2)) / 3)


def test_without_the_statement_the_error_stays_and_says_what_to_state():
    with pytest.raises(PlanError, match="not stated to be such") as told:
        of_two(LOGIT, "any", 0.0)["brier_score"]
    assert 'scores="logit"' in told.value.fix
    last = assay.assess(
        truth=[1, 0, 1],
        score=[1.0, None, 2.0],
        scores=assay.ScoreSettings(kind="logit", missing="worst"),
        threshold=0.0,
    )
    with pytest.raises(PlanError, match="not stated to be such"):
        last["log_loss"]


def test_engines_and_the_command_line_come_to_the_same(three, two, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"y": NAMES[KIND], **{name: LOGITS[:, i] for i, name in enumerate("abc")}})
    for data in (frame.lazy(), duckdb.sql("select * from frame")):
        a = assay.assess(
            data=data, truth="y", score=list("abc"), scores=assay.ScoreSettings(kind="logit"), measures=MANY
        )
        for name in three:
            assert a[name].value == pytest.approx(three[name].value, rel=1e-12), name
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"y": TRUTH * 1, "z": LOGIT}).write_parquet(path)
    words = [
        "run",
        str(path),
        "--truth",
        "y",
        "--score",
        "z",
        "--scores",
        "logit",
        "--threshold",
        "0",
        "--positive",
        "1",
    ]
    done = CliRunner().invoke(cli, [*words, "--measure", "log_loss", "--json", "--quiet"], catch_exceptions=False)
    assert json.loads(done.stdout)["estimates"][0]["value"] == two["log_loss"].value
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[task]\npositive = "1"\n[columns]\ntruth = "y"\n[metrics]\nmeasures = ["log_loss"]\n'
        '[data.test]\npath = "rows.parquet"\n[models.A]\nscore = "z"\nscores = "logit"\nthreshold = 0.0\n'
    )
    done = CliRunner().invoke(cli, ["run", str(plan), "--json", "--quiet"], catch_exceptions=False)
    assert json.loads(done.stdout)["estimates"][0]["value"] == two["log_loss"].value


def test_merged_parts_are_those_of_all_rows(two):
    given = {"scores": "logit", "threshold": 0.0, "measures": ["log_loss"]}
    parts = [flat.assess(truth=TRUTH[i::2] * 1, score=LOGIT[i::2], **given) for i in (0, 1)]
    merged = assay.merge(*parts)
    assert merged["log_loss"].value == pytest.approx(two["log_loss"].value, rel=1e-12)
    assert merged.record["scores"]["linked"]["rows"] == 160


@FEW
@given(st.lists(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), min_size=1, max_size=5))
def test_log_odds_are_those_of_the_softmax(rows):
    matrix = np.array(rows)
    found = np.column_stack(against_rest(list(matrix.T)))
    assert np.allclose(chance(found), softmax(matrix, axis=1), atol=1e-15)
    assert np.allclose(-np.logaddexp(0, -found), log_softmax(matrix, axis=1), rtol=1e-12, atol=1e-12)


def test_every_draw_of_a_calibration_slope_is_fitted(two):
    from assay.inference.intervals.interval_choice import Wanted
    from assay.inference.intervals.score_intervals import ScoreUncertainty
    from assay.measures import parse
    from assay.tally.scores.score_tally import Scores

    measure, table = parse("calibration_slope"), Scores.binary(expit(LOGIT), TRUTH).one_vs_rest(1)
    now = ScoreUncertainty(table, Wanted()).interval(measure, measure(table))
    assert not now.notes
    assert (now.low, now.high) == pytest.approx((two["calibration_slope"].low, two["calibration_slope"].high))
