# SPDX-License-Identifier: Apache-2.0
"""Numbers hold to 12 digits where the elementary functions of another processor differ in their last bit."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.assess.record.record import Record
from assay.assess.record.verification import verify
from tests.lastbits import FUNCTIONS, unsettled
from tests.layers.assess.recorded import KEPT

rng = np.random.default_rng(16)
TRUTH = rng.random(300) < 0.4
SCORE = np.clip(0.4 * TRUTH + 0.6 * rng.random(300), 0.001, 0.999)
LOGIT = np.log(SCORE / (1 - SCORE))
OTHER = np.clip(0.3 * TRUTH + 0.7 * rng.random(300), 0.001, 0.999)
KINDS = rng.integers(0, 3, 300)
CHANCES = rng.dirichlet(np.ones(3), 300)
CALLED = np.where(rng.random(300) < 0.7, KINDS, CHANCES.argmax(axis=1))
WEIGHT = rng.random(300)
SUBJECT = np.arange(300) // 4


@pytest.fixture
def another_processor(monkeypatch):
    def change():
        for name in FUNCTIONS:
            monkeypatch.setattr(np, name, unsettled(getattr(np, name)))

    return change


MADE = {
    "two classes": lambda: assay.assess(
        truth=TRUTH,
        score=SCORE,
        scores=assay.ScoreSettings(kind="probability"),
        threshold=0.5,
        intervals=assay.IntervalSettings(draws=300),
    ),
    "logits": lambda: assay.assess(
        truth=TRUTH,
        score=LOGIT,
        scores=assay.ScoreSettings(kind="logit"),
        threshold=0.0,
        intervals=assay.IntervalSettings(draws=300),
    ),
    "several classes": lambda: assay.assess(
        truth=KINDS,
        score=CHANCES,
        scores=assay.ScoreSettings(kind="probability"),
        intervals=assay.IntervalSettings(draws=300),
    ),
    "bca": lambda: assay.assess(
        truth=KINDS, predicted=CALLED, intervals=assay.IntervalSettings(cells="bca", draws=300)
    ),
    "delta": lambda: assay.assess(truth=KINDS, predicted=CALLED, intervals=assay.IntervalSettings(cells="delta")),
    "weighted": lambda: assay.assess(
        truth=KINDS, predicted=CALLED, weight=WEIGHT, intervals=assay.IntervalSettings(draws=300)
    ),
    "areas compared": lambda: assay.compare(truth=TRUTH, score={"A": SCORE, "B": OTHER}, positive=True),
    "labels compared": lambda: assay.compare(
        truth=KINDS,
        predicted={"A": CALLED, "B": KINDS[::-1]},
        measures=["f1_macro", "jensen_shannon"],
        intervals=assay.IntervalSettings(draws=300),
    ),
    "subjects compared": lambda: assay.compare(
        truth=TRUTH,
        score={"A": SCORE, "B": OTHER},
        positive=True,
        subject=SUBJECT,
        measures=["auroc", "log_loss"],
        intervals=assay.IntervalSettings(draws=300),
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_a_record_is_verified_where_last_bits_differ(name, another_processor):
    record = MADE[name]().record
    another_processor()
    found = verify(record)
    assert found.mismatches == ()
    assert sum(found.checked.values()) > 10


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_a_kept_record_is_verified_where_last_bits_differ(path, another_processor):
    another_processor()
    assert verify(Record.load(path)).mismatches == ()


def test_the_last_bits_of_a_line_do_differ(another_processor):
    first = MADE["two classes"]()["calibration_slope"].value
    another_processor()
    second = MADE["two classes"]()["calibration_slope"].value
    assert first != second
    assert first == pytest.approx(second, rel=1e-12)
