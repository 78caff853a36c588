# SPDX-License-Identifier: Apache-2.0
"""Averages over classes, pairs of classes and pooled classes from rounded scores."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import polars as pl
import pytest

import assay
from assay.assess.record.record import Record, schema, sealed
from assay.assess.record.verification import verify
from assay.measures import REGISTRY
from assay.tally.scores import engine_scores as scoring
from assay.tally.scores.score_tally import Scores
from tests import flat

rng = np.random.default_rng(21)
NAMES = np.array(["ant", "bee", "cow"])
KIND = rng.choice(3, 300, p=[0.5, 0.3, 0.2])
LOGIT = rng.normal(size=(300, 3)) + 1.5 * np.eye(3)[KIND]
CHANCE = np.exp(LOGIT) / np.exp(LOGIT).sum(axis=1, keepdims=True)
EVERY = [one.name for one in REGISTRY if one.takes is Scores]
SITE = np.array(["n", "s"])[np.arange(300) % 2]


def frame(columns=CHANCE, rows=slice(None)):
    named = {f"p_{name}": columns[rows, i] for i, name in enumerate(NAMES)}
    return pl.DataFrame({"y": NAMES[KIND[rows]], "site": SITE[rows], **named})


def found(limit, rows=slice(None), columns=CHANCE, **more):
    given = {"scores": "probability", "measures": EVERY, "group": "site", **more}
    score = {name: f"p_{name}" for name in NAMES.tolist()}
    return flat.assess(data=frame(columns, rows), truth="y", score=score, exact_scores=limit, **given)


@pytest.fixture(scope="module")
def both():
    return found(50), found(10**6)


def test_every_value_of_all_classes_comes_near_the_exact_one(both):
    rounded, exact = both
    assert rounded.scores.whole.rounding.bits == 13
    assert "scores rounded to 13 significant bits" in rounded.record["notes"]
    for name in EVERY:
        one, other = rounded[name], exact[name]
        assert one.value == pytest.approx(other.value, rel=5e-3), name
        assert (one.low is None) == (other.low is None), name
        assert one.no_interval == other.no_interval
        if one.low is not None:
            assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=5e-3)
    for level in ("n", "s"):
        mine, theirs = (a.by_group["site"][level]["auroc_one_vs_one"].value for a in both)
        assert mine == pytest.approx(theirs, abs=1e-4)


def test_the_pooled_curve_is_drawn_from_rounded_scores(both):
    rough, exact = (one.record["curves"][-1] for one in both)
    assert rough["average"] == "micro"
    assert (rough["positives"], rough["negatives"]) == (exact["positives"], exact["negatives"]) == (300, 600)


def test_a_record_of_rounded_scores_reads_merges_and_verifies(tmp_path):
    few = {"measures": ["auroc_one_vs_one", "auroc_micro"]}
    rough, exact = found(50, **few), found(10**6, **few)
    path = rough.save(tmp_path / "a.json")
    jsonschema.validate(json.loads(path.read_text()), schema())
    assert verify(assay.load(path).record).holds
    for record in (rough.record, exact.record):
        content = json.loads(record.to_text())
        one = next(e for e in content["estimates"] if e["measure"] == "auroc_one_vs_one" and e["slice"] is None)
        one["value"] += 0.01
        assert not verify(Record(sealed(content))).holds
    parts = [found(50, rows, **few) for rows in (slice(100), slice(100, None))]
    parts[0].save(tmp_path / "b.json")
    merged = assay.merge(tmp_path / "b.json", parts[1])
    assert merged.scores.whole == rough.scores.whole
    assert merged["auroc_one_vs_one"].value == rough["auroc_one_vs_one"].value


def test_rounded_log_odds_are_read_as_probabilities():
    rough, exact = (found(limit, columns=LOGIT, scores="logit") for limit in (50, 10**6))
    for name in EVERY:
        assert rough[name].value == pytest.approx(exact[name].value, rel=5e-3), name
    assert rough["auroc_one_vs_one"].value == pytest.approx(exact["auroc_one_vs_one"].value, abs=1e-4)


def test_scores_of_too_many_classes_are_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(scoring, "MOST_CLASSES", 2)
    with pytest.raises(assay.PlanError, match="for up to 2 classes, and there are 3") as told:
        found(50)
    assert "exact_scores" in told.value.fix
