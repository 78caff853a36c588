# SPDX-License-Identifier: Apache-2.0
"""Intervals with runs as units."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom, t

from assay.inference.units.run_intervals import find_units, percentile_interval, runs_test, share_interval
from tests.timed import count_durations


def queue(seed, runs, size, load):
    """Times in an M/M/1 queue, with service times of 10 ms on average."""
    rng = np.random.default_rng(seed)
    service, gaps = rng.exponential(0.01, (runs, size)), rng.exponential(0.01 / load, (runs, size))
    walk = np.concatenate([np.zeros((runs, 1)), np.cumsum(service[:, :-1] - gaps[:, 1:], axis=1)], axis=1)
    return (walk - np.minimum.accumulate(walk, axis=1) + service).ravel(), np.repeat(np.arange(runs), size)


def test_the_share_within_a_bound_is_jackknifed_over_runs():
    times, runs = queue(1, 10, 2000, 0.5)
    tally = count_durations(times, runs, bounds=[0.05])
    interval = share_interval(tally, 0, 0.95)
    within = np.array([(times[runs == run] <= 0.05).sum() for run in range(10)])
    logit = [math.log(k / (n - k)) for k, n in [(within.sum(), 20000), *((within.sum() - w, 18000) for w in within)]]
    reach = t.ppf(0.975, 9) * math.sqrt(0.9 * sum((value - logit[0]) ** 2 for value in logit[1:]))
    assert interval.low == pytest.approx(1 / (1 + math.exp(-(logit[0] - reach))))
    assert interval.high == pytest.approx(1 / (1 + math.exp(-(logit[0] + reach))))


def test_without_late_answers_the_limit_is_that_of_the_answers_they_are_worth():
    times, runs = queue(2, 10, 500, 0.5)
    tally = count_durations(times, runs, bounds=[100.0])
    units = find_units(tally)
    assert units.inflation > 2  # answers wait for each other
    interval = share_interval(tally, 0, 0.95)
    assert interval.low == pytest.approx(beta.ppf(0.025, 5000 / units.inflation, 1))
    assert interval.high == 1.0


def test_independent_answers_are_worth_as_many():
    times = np.random.default_rng(3).exponential(0.01, 20000)
    assert find_units(count_durations(times, np.repeat(np.arange(10), 2000))).inflation < 3


def test_sections_of_a_busy_queue_are_too_short():
    times, _ = queue(4, 1, 4000, 0.9)
    tally = count_durations(times, bounds=[0.3])
    assert find_units(tally).dependent
    assert share_interval(tally, 0, 0.95).startswith("answers depend on each other")


def test_a_percentile_is_the_share_interval_turned_round():
    times, runs = queue(5, 10, 3000, 0.5)
    tally = count_durations(times, runs)
    interval = percentile_interval(tally, 0.9, 0.95, waits=True)
    assert interval.low < tally.at(0.9) < interval.high
    exact = np.quantile(times, 0.9)
    assert interval.low < -math.log(0.1) / 0.5 * 0.01 < interval.high
    assert interval.high / interval.low < 1.6
    assert exact == pytest.approx(tally.at(0.9), rel=0.01)


def test_order_statistics_are_those_of_the_binomial_distribution():
    times = np.random.default_rng(6).exponential(0.01, 1000)
    tally = count_durations(times)
    interval = percentile_interval(tally, 0.5, 0.95, waits=False)
    ordered = np.sort(np.rint(times * 1e9)) / 1e9
    low, high = ordered[int(binom.ppf(0.025, 1000, 0.5)) - 1], ordered[int(binom.ppf(0.975, 1000, 0.5))]
    assert low <= interval.low <= low * (1 + 2**-7)
    assert high <= interval.high <= high * (1 + 2**-7)
    assert isinstance(percentile_interval(tally, 0.5, 0.95, waits=True), str)


def test_the_runs_test_agrees_with_statsmodels():
    from statsmodels.sandbox.stats.runs import runstest_1samp

    times = np.random.default_rng(7).exponential(0.01, 301)
    tally = count_durations(times)
    above = times > np.sort(times)[150]
    assert runs_test(tally) == pytest.approx(runstest_1samp(above.astype(int), cutoff=0.5, correction=False)[1])


def test_too_few_answers_beyond_a_percentile_leave_it_open_above():
    times, runs = queue(8, 5, 120, 0.9)
    interval = percentile_interval(count_durations(times, runs), 0.99, 0.95, waits=True)
    assert interval.high == math.inf
    assert interval.notes == ("too few answers for an upper end",)
