# SPDX-License-Identifier: Apache-2.0
"""Curves of several classes: bands, reliability, decisions, the pooled curve and the largest probability."""

from __future__ import annotations

import json

import duckdb
import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import metrics as sk

import assay
from assay.assess.record.record import schema
from assay.assess.record.verification import verify
from assay.tally.scores.row_probabilities import RIGHT
from tests import flat

rng = np.random.default_rng(11)
NAMES = np.array(["ant", "bee", "cow"])
KIND = rng.choice(3, 180, p=[0.5, 0.3, 0.2])
LOGIT = rng.normal(size=(180, 3)) + 1.5 * np.eye(3)[KIND]
CHANCE = np.round(np.exp(LOGIT) / np.exp(LOGIT).sum(axis=1, keepdims=True), 7)
CHANCE[:, 2] = 1 - CHANCE[:, 0] - CHANCE[:, 1]
GIVEN = {"truth": NAMES[KIND], "score": dict(zip(NAMES.tolist(), CHANCE.T, strict=True)), "scores": "probability"}
FEW = ["auroc_macro", "auroc_micro", "auroc", "spherical_score_multiclass", "top_label_calibration_error"]


@pytest.fixture(scope="module")
def found():
    return flat.assess(**GIVEN, measures=FEW, operating_points=[0.3, 0.6])


def test_every_class_has_a_curve_with_bands_reliability_and_decisions(found):
    curves = found.record["curves"]
    assert [one["class"] for one in curves] == ["ant", "bee", "cow", None]
    for one in curves[:3]:
        for place, low, high, all_low, all_high in [*one["band"]["roc"], *one["band"]["pr"]]:
            assert 0 <= all_low <= low <= high <= all_high <= 1
            assert 0 <= place <= 1
        assert sum(row[2] for row in one["reliability"]["bins"]) == 180
        at, model, everyone = one["decision"][9]
        own = NAMES.tolist().index(one["class"]) == KIND
        called = CHANCE[:, NAMES.tolist().index(one["class"])] >= at
        net = ((called & own).sum() - at / (1 - at) * (called & ~own).sum()) / 180
        assert model == pytest.approx(net)
        assert everyone == pytest.approx(own.mean() - at / (1 - at) * (1 - own.mean()))


def test_the_pooled_curve_is_that_of_all_scores(found):
    pooled = found.record["curves"][-1]
    assert (pooled["average"], pooled["positives"], pooled["negatives"]) == ("micro", 180, 360)
    assert "band" not in pooled
    area = sk.roc_auc_score(np.eye(3)[KIND].ravel(), CHANCE.ravel())
    assert found["auroc_micro"].value == pytest.approx(area, abs=1e-12)


def test_the_largest_probability_is_held_against_how_often_its_class_is_right(found):
    top, right = CHANCE.max(axis=1), CHANCE.argmax(axis=1) == KIND
    bins = found.record["scores"]["top_label"]["bins"]
    for low, high, rows, score, share, share_low, share_high in bins:
        inside = (top >= low) & ((top < high) | (high == 1))
        assert rows == inside.sum()
        assert score == pytest.approx(top[inside].mean())
        assert share == pytest.approx(right[inside].mean())
        assert share_low <= share <= share_high
    place = np.minimum((top * 15).astype(int), 14)
    gaps = [abs(right[place == i].sum() - top[place == i].sum()) for i in range(15)]
    error = found["top_label_calibration_error"]
    assert error.value == pytest.approx(sum(gaps) / 180)
    assert error.low <= error.value <= error.high


def test_the_spherical_score_of_many_classes_is_a_mean_over_rows(found):
    each = CHANCE[np.arange(180), KIND] / np.linalg.norm(CHANCE, axis=1)
    score = found["spherical_score_multiclass"]
    assert score.value == pytest.approx(each.mean(), abs=1e-12)
    assert score.high - score.low == pytest.approx(2 * 1.96 * each.std(ddof=1) / 180**0.5, rel=0.02)


def test_operating_points_are_listed_class_by_class(found):
    points = found.record["operating_points"]
    assert [(one["class"], one["threshold"]) for one in points[:3]] == [("ant", 0.3), ("ant", 0.6), ("bee", 0.3)]
    called, own = CHANCE[:, 0] >= 0.3, KIND == 0
    assert [points[0][cell] for cell in ("tp", "fp", "fn", "tn")] == [
        (called & own).sum(), (called & ~own).sum(), (~called & own).sum(), (~called & ~own).sum(),
    ]  # fmt: skip
    assert not any(one["in_force"] for one in points)


def test_the_record_verifies_and_every_report_shows_the_classes(found, tmp_path):
    path = found.save(tmp_path / "a.json")
    jsonschema.validate(json.loads(path.read_text()), schema())
    assert verify(assay.load(path).record).holds
    page = found.report(tmp_path / "a.html").read_text()
    for piece in (
        "all classes pooled",
        "Reliability of the top class",
        "Decision curve",
        "<th scope=col>class",
    ):
        assert piece in page
    assert page.count("<details") == page.count("</details>")
    assert "share that is right" in found.report(tmp_path / "a.md").read_text()
    assert "bee" in str(found)


@pytest.mark.parametrize(
    "made",
    [pd.DataFrame, pl.DataFrame, lambda x: pl.DataFrame(x).lazy(), lambda x: duckdb.from_arrow(pa.table(x))],
    ids=["pandas", "polars", "lazy", "duckdb"],
)
def test_every_engine_looks_at_rows_alike(made, found):
    frame = made({"y": NAMES[KIND], **{f"p_{name}": CHANCE[:, i] for i, name in enumerate(NAMES)}})
    columns = [f"p_{name}" for name in NAMES]
    other = assay.assess(
        data=frame, truth="y", score=columns, scores=assay.ScoreSettings(kind="probability"), measures=FEW
    )
    assert other.scores.by_row == found.scores.by_row
    rough = assay.assess(
        data=frame,
        truth="y",
        score=columns,
        scores=assay.ScoreSettings(kind="probability", exact_scores=9),
        measures=FEW,
    )
    if rough.scores.by_row.top.rounding is not None:
        table = rough.scores.by_row.top.one_vs_rest(RIGHT)
        assert (table.positives, table.n) == ((CHANCE.argmax(axis=1) == KIND).sum(), 180)
        assert rough["spherical_score_multiclass"].value == pytest.approx(
            found["spherical_score_multiclass"].value, abs=1e-3
        )


def test_parts_add_up(found):
    some = [{**GIVEN, "truth": NAMES[KIND[s]], "score": {k: v[s] for k, v in GIVEN["score"].items()}}
            for s in (slice(70), slice(70, None))]  # fmt: skip
    whole = assay.merge(*(flat.assess(**one, measures=FEW) for one in some))
    assert whole.scores.by_row == found.scores.by_row
    assert whole["top_label_calibration_error"].value == found["top_label_calibration_error"].value
