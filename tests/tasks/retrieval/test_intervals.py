# SPDX-License-Identifier: Apache-2.0
"""Intervals of means over queries: which method is taken, and that it holds the mean as often as it says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from assay.inference.intervals.proportion import wilson
from assay.tasks.retrieval.intervals import query_interval


def ends(values, **more):
    interval = query_interval(np.asarray(values, dtype=float), more.pop("ends", (0, 1)), level=0.95, seed=1)
    return interval.low, interval.high, interval.method


def test_student_on_the_logit_scale():
    values = np.linspace(0.1, 0.6, 30)
    mean, error = values.mean(), values.std(ddof=1) / math.sqrt(30)
    reach = stats.t.ppf(0.975, 29) * error / (mean * (1 - mean))
    low, high, method = ends(values)
    assert (low, high) == pytest.approx(
        stats.logistic.cdf([stats.logistic.ppf(mean) - reach, stats.logistic.ppf(mean) + reach])
    )
    assert method == "Student's t over 30 queries, logit scale"


def test_values_of_0_and_1_alone_are_shares():
    assert ends([1] * 20 + [0] * 10)[:2] == pytest.approx(wilson(20, 30, 0.95))


def test_high_values_with_rare_zeros_are_drawn():
    low, high, method = ends([*np.linspace(0.9, 0.99, 29), 0.0])
    assert low < np.mean([*np.linspace(0.9, 0.99, 29), 0.0]) < high
    assert method.startswith("hurdle draws over 30 queries, 1 of them 0")
    assert ends([1.0] * 28 + [0.5, 0.0])[2].startswith("hurdle")


def test_gains_without_an_upper_end_use_the_log_scale():
    assert ends(np.linspace(1, 9, 40), ends=(0, math.inf))[2].endswith("log scale")


@pytest.mark.parametrize("values", [[0.3] * 30, [0.3, 0.4]])
def test_no_interval_without_spread_or_with_few_queries(values):
    assert isinstance(query_interval(np.array(values), (0, 1), level=0.95, seed=1), str)


def test_few_queries_carry_a_note():
    assert query_interval(np.linspace(0.1, 0.6, 12), (0, 1), level=0.95, seed=1).notes


@pytest.mark.parametrize(
    ("draw", "mean"),
    [
        (lambda rng: rng.beta(1, 3, 50), 0.25),
        (lambda rng: rng.beta(40, 1.5, 50) * (rng.random(50) >= 0.02), 40 / 41.5 * 0.98),
    ],
)
def test_intervals_hold_the_mean_in_nineteen_of_twenty_samples(draw, mean):
    rng, held = np.random.default_rng(3), 0
    for _ in range(300):
        interval = query_interval(draw(rng), (0, 1), level=0.95, seed=1)
        held += interval.low <= mean <= interval.high
    assert 0.91 <= held / 300 <= 0.995
