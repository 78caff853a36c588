# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from assay.inference.estimates import Interval
from assay.inference.unit_intervals import jackknife_interval, scale_of
from assay.tally.unit_table import Sums, UnitTable


class Values(Sums):
    n: object
    x: object


def mean(low, high):
    """A stand-in for a declared measure: the mean of x, with a range."""

    def values(t):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(t.x) / np.asarray(t.n)

    return SimpleNamespace(range=(low, high), values=values)


def table(x):
    return UnitTable.build(("n", "x"), np.column_stack([np.ones(len(x)), x]))


def test_an_unbounded_mean_gets_students_interval():
    x = np.random.default_rng(1).normal(3, 2, 40)
    interval = jackknife_interval(mean(-math.inf, math.inf), table(x), Values, 0.95)
    low, high = stats.t.interval(0.95, 39, x.mean(), x.std(ddof=1) / math.sqrt(40))
    assert (interval.low, interval.high) == (pytest.approx(low, rel=1e-9), pytest.approx(high, rel=1e-9))


@pytest.mark.parametrize("ends", [(0, 1), (-1, 1), (0, math.inf), (-math.inf, 1)])
def test_an_interval_stays_inside_the_range_and_holds_the_value(ends):
    x = np.clip(np.random.default_rng(2).beta(20, 1, 30), 1e-6, 1 - 1e-6)
    interval = jackknife_interval(mean(*ends), table(x), Values, 0.95)
    assert isinstance(interval, Interval)
    assert ends[0] < interval.low < x.mean() < interval.high < ends[1]


def test_scales_and_their_inverses_agree():
    for ends in [(0, 1), (-1, 1), (0, math.inf), (-math.inf, 1), (-math.inf, math.inf)]:
        scale = scale_of(mean(*ends))
        assert scale.back(float(scale.to(np.array([0.3]))[0])) == pytest.approx(0.3, rel=1e-12)


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        ([0.2, 0.3], "only 2 units"),
        ([1.0] * 10, "at an end of its range"),
        ([0.5] * 10, "no unit differs"),
    ],
)
def test_no_interval_has_a_reason(x, reason):
    assert reason in jackknife_interval(mean(0, 1), table(np.array(x)), Values, 0.95)


def test_coverage_of_a_mean_of_skewed_values_is_near_its_level():
    rng, hits, runs = np.random.default_rng(3), 0, 400
    for _ in range(runs):
        interval = jackknife_interval(mean(0, math.inf), table(rng.gamma(2.0, 1.0, 50)), Values, 0.95)
        hits += interval.low <= 2.0 <= interval.high
    assert 0.92 <= hits / runs <= 0.98
