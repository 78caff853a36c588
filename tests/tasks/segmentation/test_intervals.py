# SPDX-License-Identifier: Apache-2.0
"""Hurdle draws of means of values between 0 and 1, and thresholds chosen on other images."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.core.errors import AssayError
from assay.inference.intervals.bounded_means import hurdle_interval
from assay.tasks.segmentation.intervals import NEAR_ONE
from assay.tasks.segmentation.thresholds import choose_threshold
from tests.tasks.segmentation.masks import random_masks


def test_the_interval_holds_the_mean_nests_with_the_level_and_shrinks_with_n():
    rng = np.random.default_rng(1)
    values = np.where(rng.uniform(size=400) < 0.1, 0.0, rng.beta(9, 2, size=400))
    few, many = hurdle_interval(values[:40], 0.95), hurdle_interval(values, 0.95)
    wide = hurdle_interval(values[:40], 0.99)
    assert few.low <= values[:40].mean() <= few.high
    assert wide.low < few.low < few.high < wide.high
    assert many.high - many.low < few.high - few.low


@pytest.mark.parametrize("values", [np.ones(12), np.zeros(12), np.r_[np.ones(11), 0.5], np.full(12, 0.7)])
def test_values_at_the_ends_have_an_interval_inside_the_range(values):
    interval = hurdle_interval(values, 0.95)
    assert 0 <= interval.low <= values.mean() <= interval.high <= 1
    assert interval.high - interval.low > 0.01
    assert f"{int((values == 1).sum())} of 1" in interval.method


def test_order_does_not_matter_and_fewer_than_ten_values_are_refused():
    values = np.random.default_rng(2).beta(5, 2, size=30)
    assert hurdle_interval(values, 0.95) == hurdle_interval(values[::-1].copy(), 0.95)
    assert hurdle_interval(values[:9], 0.95) == "only 9 images with a value; an interval of this mean needs 10 or more"


def test_coverage_with_misses_is_near_its_level():
    """8 % misses at 0, 25 images: 95.7 % over 1,500 data sets in bench/segmentation_coverage.py."""
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(300):
        values = np.where(rng.uniform(size=25) < 0.08, 0.0, rng.beta(7, 1, size=25))
        interval = hurdle_interval(values, 0.95, draws=2000)
        hits += interval.low <= 0.92 * 0.875 <= interval.high
    assert 0.92 <= hits / 300 <= 0.99


def test_a_threshold_is_chosen_by_the_highest_median_dice():
    truth, _ = random_masks(5, classes=1)
    rng = np.random.default_rng(4)
    soft = {k: np.clip(v * 0.35 + rng.uniform(0, 0.2, v.shape), 0, 1) for k, v in truth.items()}
    chosen = choose_threshold(truth, soft)
    assert chosen == 0.2  # the noise ends there, and of equal thresholds the lowest is taken
    dice = {
        cut: np.median([2 * ((v == 1) & (soft[k] >= cut)).sum() / ((v == 1).sum() + (soft[k] >= cut).sum())
                        for k, v in truth.items() if v.any()])
        for cut in (0.1, 0.15, chosen, 0.4, 0.5)
    }  # fmt: skip
    assert max(dice, key=dice.get) == chosen
    assert assay.segmentation(truth=truth, predicted=soft, threshold=chosen)["dice"].value > 0.9
    with pytest.raises(AssayError, match="no training mask"):
        choose_threshold([np.zeros((3, 3))], [np.zeros((3, 3))])


def test_nothing_is_added_at_one_where_no_image_comes_near_it():
    low = np.linspace(0.4, 0.8, 12)
    plain, bounded = (hurdle_interval(low, 0.95, near=near) for near in (0.0, NEAR_ONE))
    assert bounded.high < plain.high
    assert bounded.low < low.mean() < bounded.high
    high = np.append(low, 0.96)
    assert hurdle_interval(high, 0.95, near=NEAR_ONE) == hurdle_interval(high, 0.95)
