# SPDX-License-Identifier: Apache-2.0
"""Average precision and lift with few positives, an average precision of 1, and intervals that say next to nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import assay
from assay.inference.intervals.auc import newcombe
from assay.inference.intervals.proportion import wilson

LIFT = "lift_at(share=0.2)"


def scored(positives, rows=50, seed=1, gain=1.5):
    y = np.arange(rows) < positives
    return {"truth": y.astype(int), "score": np.random.default_rng(seed).normal(size=rows) + gain * y}


@pytest.mark.parametrize("positives", [2, 3])
def test_two_positives_have_an_interval(positives):
    a = assay.assess(**scored(positives), positive=1, measures=["average_precision", LIFT])
    for name in ("average_precision", LIFT):
        assert a[name].low < a[name].value <= a[name].high


def test_one_positive_has_none_and_the_reason_is_said():
    a = assay.assess(**scored(1), positive=1, measures=["average_precision", LIFT])
    assert all("one row has no spread" in a[name].no_interval for name in ("average_precision", LIFT))


def test_an_average_precision_of_one_reaches_down_as_far_as_the_area_does():
    a = assay.assess(**scored(8, gain=20), positive=1, measures=["auroc", "average_precision"])
    low, _ = newcombe(1.0, 8, 42, 0.95)
    assert a["auroc"].low == pytest.approx(low)
    # Reference: precision of two normal classes, drawn.
    rng = np.random.default_rng(0)
    cut = rng.normal(size=200_000) + np.sqrt(2) * norm.ppf(low)
    share, alarms, found = 8 / 50, norm.sf(cut), norm.sf(cut - np.sqrt(2) * norm.ppf(low))
    assert a["average_precision"].low == pytest.approx(
        (share * found / (share * found + (1 - share) * alarms)).mean(), abs=2e-3
    )
    assert a["average_precision"].high == 1


def test_lift_of_few_positives_is_the_share_of_them_that_is_called():
    a = assay.assess(**scored(5), positive=1, measures=[LIFT])
    called = round(a[LIFT].value * 0.2 * 5)
    assert (a[LIFT].low, a[LIFT].high) == pytest.approx([end / 0.2 for end in wilson(called, 5, 0.95)])


def test_an_interval_of_most_of_the_range_says_next_to_nothing():
    a = assay.assess(truth=[1, 1, 0, 0], predicted=[1, 0, 0, 0], positive=1)
    assert any("next to nothing" in note for note in a["recall"].notes)
    many = assay.assess(truth=[1, 1, 0, 0] * 20, predicted=[1, 0, 0, 0] * 20, positive=1)
    assert not any("next to nothing" in note for note in many["recall"].notes)


@pytest.mark.parametrize(("positives", "called"), [(9, True), (10, False)])
def test_ten_positives_are_drawn_and_nine_counted(positives, called):
    a = assay.assess(**scored(positives), positive=1, measures=[LIFT])
    assert (a[LIFT].interval.draws is None) is called
