# SPDX-License-Identifier: Apache-2.0
"""Differences of two models on the same units; of the mean of one number a unit it is Student's paired t test."""

from __future__ import annotations

import math
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from assay.core.traits import Better
from assay.inference import unit_intervals
from assay.inference.power import least_student
from assay.inference.unit_intervals import check_margin, compare_measure
from assay.tally.unit_table import Sums, UnitModels


class Values(Sums):
    n: object
    x: object


MEAN = SimpleNamespace(
    title="mean", range=(0, 1), better=Better.HIGHER, values=lambda t: np.asarray(t.x) / np.asarray(t.n)
)


def drawn(units, seed=1):
    x = np.random.default_rng(seed).random((units, 2)) + np.array([0.2, 0.0])
    return x, UnitModels.build(("A", "B"), ("n", "x"), np.stack([np.ones_like(x), x], axis=2))


@pytest.mark.parametrize("units", [5, 12])
def test_the_interval_is_students_and_four_units_have_none(units):
    x, paired = drawn(units)
    found = compare_measure(MEAN, paired, Values, ("A", "B"), level=0.9, swaps=99)
    gap = x[:, 0] - x[:, 1]
    error = gap.std(ddof=1) / math.sqrt(units)
    ends = stats.t.interval(0.9, units - 1, gap.mean(), error)
    assert (found.effect.interval.low, found.effect.interval.high) == pytest.approx(ends, rel=1e-9)
    assert found.statistic == found.effect.value == pytest.approx(gap.mean())
    assert found.least == pytest.approx(least_student(error, units - 1, 0.9))
    few = compare_measure(MEAN, drawn(4)[1], Values, ("A", "B"), swaps=99)
    assert (few.effect.interval, few.effect.no_interval) == (None, "only 4 units; an interval needs 5 or more")
    assert few.least is None


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("margin", [0.01, 0.1, 0.4])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_margin_is_held_by_one_sided_t_tests(higher, margin, seed):
    x, paired = drawn(12, seed)
    found = compare_measure(MEAN, paired, Values, ("A", "B"), level=0.9, swaps=99)
    gap = x[:, 0] - x[:, 1] if higher else x[:, 1] - x[:, 0]
    above = stats.ttest_1samp(gap, -margin, alternative="greater").pvalue
    below = stats.ttest_1samp(gap, margin, alternative="less").pvalue
    for equivalence, p in ((False, above), (True, max(above, below))):
        held = check_margin(found, margin, equivalence=equivalence, higher_is_better=higher)
        assert held.p == pytest.approx(p, rel=1e-9)
        assert held.alternative == ("two-sided" if equivalence else "greater")


@pytest.mark.parametrize("equivalence", [True, False])
def test_a_difference_without_an_interval_is_held_to_no_margin_and_says_why(equivalence):
    few = compare_measure(MEAN, drawn(4)[1], Values, ("A", "B"), swaps=99)
    held = check_margin(few, 0.1, equivalence=equivalence, higher_is_better=True)
    assert (held.p, held.reason) == (None, "only 4 units; an interval needs 5 or more")


@pytest.mark.parametrize("held", [1 << 22, 8 * 100, 8 * 7000])
def test_swaps_count_those_as_far_in_as_many_parts_as_memory_takes(monkeypatch, held):
    monkeypatch.setattr(unit_intervals, "HELD", held)
    x, paired = drawn(8)
    gap = x[:, 0] - x[:, 1]
    exact = np.mean([abs(gap @ signs) >= abs(gap.sum()) - 1e-12 for signs in product((-1, 1), repeat=8)])
    found = compare_measure(MEAN, paired, Values, ("A", "B"), swaps=9999)
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact / 9999))
    assert found.p * 10_000 == pytest.approx(round(found.p * 10_000), abs=1e-6)


@pytest.mark.parametrize(("most", "test"), [(12, "unit_permutation"), (11, "unit_z")])
def test_more_units_than_are_swapped_take_the_z_form(monkeypatch, most, test):
    monkeypatch.setattr(unit_intervals, "MOST_UNITS", most)
    x, paired = drawn(12)
    found = compare_measure(MEAN, paired, Values, ("A", "B"), swaps=99)
    assert found.test == test
    z = stats.ttest_rel(x[:, 0], x[:, 1]).statistic
    assert test != "unit_z" or found.p == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)


def test_swaps_that_are_exactly_as_far_count_as_such():
    """One unit differs: each swap keeps the difference or turns it around."""
    x = np.full((9, 2), 0.3)
    x[4, 0] = 0.7
    paired = UnitModels.build(("A", "B"), ("n", "x"), np.stack([np.ones_like(x), x], axis=2))
    assert compare_measure(MEAN, paired, Values, ("A", "B"), swaps=99).p == 1.0
