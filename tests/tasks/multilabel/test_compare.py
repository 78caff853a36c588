# SPDX-License-Identifier: Apache-2.0
"""Models on the same rows: McNemar, sign flips, linearised differences, labels one by one."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar

import assay
from assay.assess.record.verification import verify
from tests.tasks.multilabel.test_laws import make_sets


def make_models(rows=400, seed=1):
    truth, first = make_sets(rows, seed)
    rng = np.random.default_rng(seed + 100)
    second = np.where(rng.random(truth.shape) < 0.3, 1 - truth, truth).astype(np.uint8)
    return truth, first, second


def compare(truth, first, second, **more):
    return assay.compare(task="multilabel", truth=truth, predicted={"A": first, "B": second}, **more)


def macro_f1(truth, predicted):
    both = (truth & predicted).sum(axis=0)
    return (2 * both / (truth.sum(axis=0) + predicted.sum(axis=0))).mean()


def test_exact_match_is_tested_by_mcnemar():
    truth, first, second = make_models(120)
    right = [(truth == called).all(axis=1) for called in (first, second)]
    only = (right[0] & ~right[1]).sum(), (~right[0] & right[1]).sum()
    finding = compare(truth, first, second)["exact_match_ratio"]
    assert finding.test == "mcnemar_midp"
    exact = mcnemar([[0, only[0]], [only[1], 0]], exact=True).pvalue
    assert finding.p <= exact
    assert finding.effect.value == pytest.approx((only[0] - only[1]) / 120)


def test_losses_are_tested_by_sign_flips_of_rows():
    truth, first, second = make_models(60)
    c = compare(truth, first, second)
    apart = (truth != first).mean(axis=1) - (truth != second).mean(axis=1)
    finding = c["hamming_loss"]
    assert finding.effect.value == pytest.approx(apart.mean())
    rng = np.random.default_rng(0)
    drawn = np.abs((rng.choice([-1, 1], (20000, 60)) * apart).mean(axis=1))
    assert finding.p == pytest.approx((drawn >= abs(apart.mean()) - 1e-12).mean(), abs=0.01)
    assert finding.effect.interval.low < apart.mean() < finding.effect.interval.high


def test_differences_of_averages_take_the_pairing_into_account():
    truth, first, second = make_models(2000)
    finding = compare(truth, first, second)["f1_macro"]
    rng = np.random.default_rng(5)
    values = []
    for _ in range(300):
        rows = rng.integers(0, 2000, 2000)
        values.append(macro_f1(truth[rows], first[rows]) - macro_f1(truth[rows], second[rows]))
    width = finding.effect.interval.high - finding.effect.interval.low
    assert width == pytest.approx(2 * 1.96 * np.std(values), rel=0.15)


def test_labels_are_compared_one_by_one_within_the_family():
    truth, first, second = make_models()
    c = compare(truth, first, second)
    labels = [finding for finding in c.findings if finding.about.startswith("accuracy of")]
    assert len(labels) == 4
    assert all(finding.adjusted.by == "Holm" and finding.adjusted.of == len(c.findings) for finding in labels)


def test_equal_models_have_no_p():
    truth, first, _ = make_models()
    c = compare(truth, first, first)
    assert c["hamming_loss"].p is None
    assert "same loss" in c["hamming_loss"].reason


def test_level_of_the_sign_flips_under_the_null():
    rejected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = (rng.random((80, 4)) < 0.4).astype(np.uint8)
        models = [np.where(rng.random(truth.shape) < 0.2, 1 - truth, truth).astype(np.uint8) for _ in range(2)]
        c = compare(truth, *models, measures=["jaccard_samples"], intervals=assay.IntervalSettings(draws=499))
        rejected += c["jaccard_samples"].p < 0.05
    assert rejected <= 8


def test_units_are_flipped_together():
    truth, first, second = make_models(50)
    thrice = [np.repeat(matrix, 3, axis=0) for matrix in (truth, first, second)]
    rows = compare(*thrice, measures=["hamming_loss"])["hamming_loss"]
    units = compare(*thrice, measures=["hamming_loss"], unit=np.repeat(np.arange(50), 3))["hamming_loss"]
    assert units.effect.value == pytest.approx(rows.effect.value)
    widths = [f.effect.interval.high - f.effect.interval.low for f in (units, rows)]
    assert widths[0] / widths[1] == pytest.approx(np.sqrt(3), rel=0.1)
    assert units.n == 50


def test_the_record_of_a_comparison_verifies(tmp_path):
    truth, first, second = make_models(100)
    c = compare(truth, first, second)
    again = assay.load(c.save(tmp_path / "c.json"))
    verification = verify(again.record)
    assert verification.holds, verification.mismatches
    assert [f.p for f in again.findings] == [f.p for f in c.findings]
