# SPDX-License-Identifier: Apache-2.0
"""Scores mended as the plan says: ranked last, renormalised, widened; stated in the Record and in every output."""

from __future__ import annotations

import json

import duckdb
import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from sklearn import metrics as sk

import assay
from assay.app.cli import cli
from assay.assess.record.record import schema
from assay.assess.record.verification import verify
from tests import flat
from tests.scorecases import refused

rng = np.random.default_rng(7)
TRUTH = rng.integers(0, 2, 60)
SCORE = np.where(rng.random(60) < 0.15, np.nan, np.round(rng.normal(size=60) + TRUTH, 2))
LOST = int(np.isnan(SCORE).sum())
FEW = ["recall", "auroc", "average_precision", "log_loss_multiclass"]
LAST = {"truth": TRUTH, "score": SCORE, "threshold": 0.5, "missing_score": "worst", "measures": FEW[:3]}
KIND = rng.integers(0, 3, 40)
ODD = rng.dirichlet(np.ones(3), 40) * np.where(np.arange(40) % 4 == 0, 0.8, 1.0)[:, None]
SCALED = {"truth": KIND, "score": ODD, "scores": "probability", "renormalise": True, "measures": FEW[3:]}


def test_rows_without_a_score_rank_below_all_others():
    a = flat.assess(**LAST)
    ranked = np.where(np.isnan(SCORE), -1e9, SCORE)
    assert a["auroc"].value == pytest.approx(sk.roc_auc_score(TRUTH, ranked), abs=1e-15)
    assert a["average_precision"].value == pytest.approx(sk.average_precision_score(TRUTH, ranked), abs=1e-12)
    assert a["recall"].numerator == int(((SCORE >= 0.5) & (TRUTH == 1)).sum())
    assert (a.census.read, a.census.scored) == (60, 60)


def test_the_record_and_every_output_say_how_many_rank_last(tmp_path):
    a = flat.assess(**LAST)
    assert a.record["scores"]["ranked_last"] == LOST
    assert a.record["plan"]["scores"]["missing_score"] == "worst"
    assert any(f"{LOST} rows have no score and rank below all others" in note for note in a.notes)
    for name in ("r.html", "r.md", "r.txt"):
        text = a.report(tmp_path / name).read_text() if name != "r.txt" else str(a)
        assert f"{LOST} rows" in " ".join(text.split()), name
        assert "e+288" not in text, name
    assert a.record["curves"][0]["points"][-1][0] == "-inf"
    assert "every row" in a.report(tmp_path / "r.html").read_text()
    low = a.record["curves"][0]["histogram"]["edges"][0]
    assert low == np.nanmin(SCORE)


def test_a_record_with_mended_scores_verifies_loads_and_merges(tmp_path):
    whole = flat.assess(**LAST)
    parts = [flat.assess(**{**LAST, "truth": TRUTH[s], "score": SCORE[s]}) for s in (slice(25), slice(25, None))]
    merged = assay.merge(*parts)
    assert merged.record["scores"]["ranked_last"] == LOST
    assert merged["auroc"].value == whole["auroc"].value
    path = whole.save(tmp_path / "a.json")
    assert verify(assay.load(path).record).holds
    jsonschema.validate(json.loads(path.read_text()), schema())
    assert assay.load(path).record["curves"] == whole.record["curves"]
    scaled = [flat.assess(**{**SCALED, "truth": KIND[s], "score": ODD[s]}) for s in (slice(20), slice(20, None))]
    merged = assay.merge(*scaled)
    assert merged.record["scores"]["rescaled"]["rows"] == 10
    jsonschema.validate(json.loads(merged.save(tmp_path / "b.json").read_text()), schema())


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": lambda held: pl.DataFrame(held).lazy(),
    "arrow": pa.table,
    "duckdb": lambda held: duckdb.from_arrow(pa.table(held)),
}


@pytest.mark.parametrize("engine", FRAMES)
def test_every_engine_mends_alike(engine):
    made = FRAMES[engine]({"y": TRUTH, "s": SCORE})
    found = assay.assess(data=made, truth="y", score="s", threshold=0.5, scores=assay.ScoreSettings(missing="worst"))
    whole = flat.assess(**LAST)
    assert found.scores.whole.digest() == whole.scores.whole.digest()
    assert found.scores.last == LOST
    columns = {f"p_{i}": ODD[:, i] for i in range(3)}
    given = {"truth": "y", "score": list(columns), "scores": "probability", "renormalise": True}
    by_class = flat.assess(data=FRAMES[engine]({"y": KIND, **columns}), **given)
    assert by_class.scores.rescaled == flat.assess(**SCALED).scores.rescaled
    assert by_class.scores.whole.digest() == flat.assess(**SCALED).scores.whole.digest()


def test_rounded_scores_hold_rows_ranked_last():
    made = pl.DataFrame({"y": TRUTH, "s": SCORE}).lazy()
    found = assay.assess(
        data=made, truth="y", score="s", threshold=0.5, scores=assay.ScoreSettings(missing="worst", exact_scores=5)
    )
    assert found["auroc"].value == pytest.approx(flat.assess(**LAST)["auroc"].value, abs=1e-5)
    assert found.scores.whole.rounding is not None


def test_probabilities_are_divided_by_their_sum_and_counted():
    a = flat.assess(**SCALED)
    whole = ODD.sum(axis=1)
    right = np.where(np.abs(whole - 1)[:, None] > 1e-6, ODD / whole[:, None], ODD)
    assert a["log_loss_multiclass"].value == pytest.approx(sk.log_loss(KIND, right, labels=[0, 1, 2]), rel=1e-12)
    assert a.record["scores"]["rescaled"] == {"rows": 10, "farthest": pytest.approx(0.2)}
    assert a.record["plan"]["scores"]["renormalise"] is True
    assert any("10 rows did not add up to 1 (off by 0.2 at most)" in note for note in a.notes)


def test_an_error_names_the_largest_deviation():
    found = refused("probabilities-not-normalised", **{**SCALED, "renormalise": False})
    assert "0.2 from 1 at most" in found.found
    table = pl.DataFrame({"y": KIND, **{f"p_{i}": ODD[:, i] for i in range(3)}})
    found = refused(
        "probabilities-not-normalised", data=table, truth="y", score=["p_0", "p_1", "p_2"], scores="probability"
    )
    assert "0.2 from 1 at most" in found.found


def test_what_cannot_be_mended_is_refused():
    nothing = np.where(np.arange(40)[:, None] == 3, 0.0, ODD)
    refused("probabilities-not-normalised", **{**SCALED, "score": nothing})
    refused("score-out-of-range", **{**SCALED, "score": ODD * 2})
    refused("role-clash", **{**SCALED, "scores": "any"})
    refused("role-clash", **{**LAST, "scores": "probability"})
    refused("role-clash", truth=KIND, score=ODD, missing_score="worst")
    refused("option-unknown", **{**LAST, "missing_score": "wurst"})
    refused("role-missing", truth=TRUTH, predicted=TRUTH, missing_score="worst")
    refused("score-out-of-range", **{**LAST, "score": np.where(np.arange(60) == 2, -1e300, SCORE)})
    refused("score-not-finite", **{**LAST, "score": np.where(np.arange(60) == 2, np.inf, SCORE)})


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int64"])
def test_the_stored_precision_is_stated(kind):
    held = np.round(np.nan_to_num(SCORE) * 4).astype(kind)
    said = assay.assess(truth=TRUTH, score=held, threshold=0).scores.stored
    assert said == (kind,)
    if kind != "float16":
        framed = assay.assess(data=pl.DataFrame({"y": TRUTH, "s": held}), truth="y", score="s", threshold=0)
        assert framed.scores.stored == (kind,)


def test_the_command_line_mends_too(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"y": TRUTH, "s": SCORE}).to_csv(path, index=False)
    options = ["--truth", "y", "--score", "s", "--threshold", "0.5", "--missing-score", "worst", "--json"]
    done = CliRunner().invoke(cli, ["run", str(path), *options, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    assert record["scores"]["ranked_last"] == LOST
    assert record["scores"]["stored"] == ["text"]
    wide = tmp_path / "wide.csv"
    pd.DataFrame({"y": KIND, **{f"p_{i}": ODD[:, i] for i in range(3)}}).to_csv(wide, index=False)
    options = ["--truth", "y", "--score", "p_0", "--score", "p_1", "--score", "p_2", "--scores", "probability"]
    done = CliRunner().invoke(cli, ["run", str(wide), *options, "--renormalise", "--out", str(tmp_path / "two")])
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "two" / "record.json").read_text())["scores"]["rescaled"]["rows"] == 10
