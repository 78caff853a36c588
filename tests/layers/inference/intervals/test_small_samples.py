# SPDX-License-Identifier: Apache-2.0
"""Intervals of areas, bounded means and agreement with few rows: formulas by hand, and where each begins."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import expit

from assay.inference.intervals.auc import area_ends, freedom, near_an_end, newcombe, smooth_variance
from assay.inference.intervals.bounded_means import hurdle_interval, score_ends, worth
from assay.inference.intervals.proportion import recovered, wilson
from assay.inference.intervals.rater_agreement import agreement_interval, standard_error, told

LEVEL = 0.9
Z = stats.norm.ppf(0.95)


def hanley(area, m, n):
    """Newcombe's form of Hanley and McNeil's variance: the mean of both sizes in place of either."""
    q1, q2, size = area / (2 - area), 2 * area**2 / (1 + area), (m + n) / 2
    return (area * (1 - area) + (size - 1) * (q1 - area**2) + (size - 1) * (q2 - area**2)) / (m * n)


@pytest.mark.parametrize(("area", "m", "n"), [(0.7, 10, 30), (0.95, 4, 4), (0.5, 100, 7)])
def test_the_smooth_variance_is_that_of_hanley_and_mcneil(area, m, n):
    assert smooth_variance(area, m, n) == pytest.approx(hanley(area, m, n), rel=1e-12)


@pytest.mark.parametrize("area", [0.0, 0.2, 0.8, 1.0])
def test_newcombes_ends_are_where_their_own_error_reaches_the_area(area):
    low, high = newcombe(area, 12, 20, LEVEL)
    for end in (low, high):
        if 0 < end < 1:
            assert abs(area - end) == pytest.approx(Z * math.sqrt(hanley(end, 12, 20)), rel=1e-9)
    assert (low == 0) == (area == 0)
    assert (high == 1) == (area == 1)


def by_hand(area, variance, m, n, known=None):
    fewest = min(m, n)
    quantile = Z
    if fewest < 50 or fewest * min(area, 1 - area) < 2:
        rows = min(5, max((fewest / 20) ** 2, 0.2 / (fewest * min(area, 1 - area))))
        quantile = stats.t.ppf(0.95, (fewest - 1 if known is None else known) + rows)
        variance = (fewest * variance + rows * hanley(area, m, n)) / (fewest + rows)
    logit, reach = math.log(area / (1 - area)), quantile * math.sqrt(variance) / (area * (1 - area))
    return 1 / (1 + math.exp(reach - logit)), 1 / (1 + math.exp(-reach - logit))


@pytest.mark.parametrize("known", [None, 30.5])
@pytest.mark.parametrize("area", [0.6, 0.9, 0.97, 0.961, 0.03, 0.995])
@pytest.mark.parametrize(("m", "n"), [(5, 9), (20, 400), (44, 30), (49, 49), (49, 80), (50, 50), (50, 60), (70, 51)])
def test_areas_of_few_rows_borrow_from_the_smooth_variance(m, n, area, known):
    low, high, method = area_ends(area, 0.002, m, n, LEVEL, known)
    assert (low, high) == pytest.approx(by_hand(area, 0.002, m, n, known), rel=1e-9)
    few = min(m, n) < 50 or min(m, n) * min(area, 1 - area) < 2
    assert (method == "delong-logit with Student's quantile") == few


def test_two_rows_on_the_wrong_side_are_not_near_an_end():
    assert not near_an_end(0.75, 8)
    assert near_an_end(0.75, 7.99)
    assert near_an_end(0.1, 19)
    assert not near_an_end(0.75, 4, 1)


def test_an_area_at_an_end_or_without_variance_takes_newcombes():
    for area, variance in ((1.0, 0.1), (0.0, 0.1), (0.7, 0.0)):
        assert area_ends(area, variance, 10, 10, LEVEL)[2] == "newcombe score"
    low, high, _ = area_ends(0.5, 1e9, 10, 10, LEVEL)
    assert 0 <= low < 1e-9
    assert high == pytest.approx(1)


def test_satterthwaites_degrees_of_freedom():
    assert freedom((0.02, 0.03), (11, 31)) == pytest.approx(0.05**2 / (0.02**2 / 10 + 0.03**2 / 30))
    assert freedom((0.0, 0.03), (1, 31)) == pytest.approx(30)
    assert freedom((0.0, 0.0), (5, 5)) == 0.0


def test_correlated_values_are_recovered_with_their_correlation():
    low, high = recovered(0.8, (0.7, 0.9), 0.6, (0.45, 0.65), 0.5)
    assert low == pytest.approx(0.2 - math.sqrt(0.1**2 + 0.05**2 - 0.1 * 0.05))
    assert high == pytest.approx(0.2 + math.sqrt(0.1**2 + 0.15**2 - 0.1 * 0.15))
    low, high = recovered(0.8, (0.7, 0.9), 0.6, (0.5, 0.7), 1.0)
    assert (low, high) == pytest.approx((0.2, 0.2))


def likeliest(cost, rows, at):
    """Shares under which the rows are most likely, with a given mean, by a search over all shares."""

    def loss(share):
        return -float(rows @ np.log(np.maximum(share, 1e-300)))

    ways = ({"type": "eq", "fun": lambda s: s.sum() - 1}, {"type": "eq", "fun": lambda s: s @ cost - at})
    found = optimize.minimize(
        loss, np.full(len(cost), 1 / len(cost)), method="SLSQP", bounds=[(1e-9, 1)] * len(cost), constraints=ways,
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    return found.x


@pytest.mark.parametrize(
    ("cost", "rows"),
    [([0.0, 1, 5], [60.0, 8, 4]), ([0.0, 1, 5], [60.0, 8, 0]), ([-2.0, 0, 3], [0.0, 20, 5])],
)
def test_the_ends_of_a_mean_cost_are_as_surprising_as_the_level_allows(cost, rows):
    cost, rows = np.array(cost), np.array(rows, dtype=float)
    low, high = score_ends(cost, rows, LEVEL)
    mean, n = rows @ cost / rows.sum(), rows.sum()
    for end in (low, high):
        share = likeliest(cost, rows, end)
        assert abs(mean - end) == pytest.approx(Z * math.sqrt(share @ (cost - end) ** 2 / n), rel=2e-3)
    assert low < mean < high


@pytest.mark.parametrize(("rows", "ends"), [([9.0, 0, 0], "low"), ([0, 0, 9.0], "high")])
def test_rows_that_all_cost_the_least_or_the_most_have_one_end_there(rows, ends):
    low, high = score_ends(np.array([0.0, 1, 4]), np.array(rows), LEVEL)
    assert (low == 0.0) == (ends == "low")
    assert (high == 4.0) == (ends == "high")
    assert low < high


def test_weighted_rows_are_worth_as_many_as_tell_the_mean_as_surely():
    count, cost = np.array([3.0, 5]), np.array([0.0, 1])
    assert worth(count, None, cost, 5 / 8) == 8
    squares = np.array([2.0, 9])
    spread, error = 3 * (5 / 8) ** 2 + 5 * (3 / 8) ** 2, 2 * (5 / 8) ** 2 + 9 * (3 / 8) ** 2
    assert worth(count, squares, cost, 5 / 8) == pytest.approx(8 * spread / error)
    assert worth(np.array([0.0, 5]), np.array([0.0, 7]), cost, 1.0) == pytest.approx(25 / 7)


def drawn_by_hand(zeros, ones, rest, *, near=True, draws=100_000):
    rng = np.random.default_rng(77)
    parts = [zeros + 0.5, ones + 0.5 * near, len(rest)]
    gammas = np.stack([rng.standard_gamma(part, draws) if part else np.zeros(draws) for part in parts])
    shares = gammas / gammas.sum(axis=0)
    middle = np.zeros(draws)
    if len(rest) == 1:
        middle = rng.random(draws)
    elif len(rest):
        mean = np.mean(rest)
        scale = stats.sem(rest) / (mean * (1 - mean))
        middle = expit(np.log(mean / (1 - mean)) + rng.standard_t(len(rest) - 1, draws) * scale)
    return np.quantile(shares[1] + shares[2] * middle, [0.05, 0.95])


@pytest.mark.parametrize(
    ("zeros", "ones", "rest"),
    [(0, 0, 12), (3, 4, 8), (0, 10, 0), (10, 0, 0), (5, 4, 1), (0, 9, 2), (0, 30, 6)],
)
def test_a_mean_with_values_at_its_ends_is_drawn_from_three_shares(zeros, ones, rest):
    between = np.random.default_rng(rest).beta(4, 2, rest)
    values = np.concatenate([np.zeros(zeros), np.ones(ones), between])
    interval = hurdle_interval(values, LEVEL)
    assert (interval.low, interval.high) == pytest.approx(drawn_by_hand(zeros, ones, between).tolist(), abs=0.008)
    assert interval.method.endswith(f"{ones} of 1, {rest} between")
    assert interval.low <= values.mean() <= interval.high


@pytest.mark.parametrize(("near", "added"), [(0.0, True), (0.6, True), (0.61, False)])
def test_nothing_is_added_at_one_where_all_values_are_far_below(near, added):
    values = np.r_[0.0, 0.0, 0.6, np.full(9, 0.5)]
    interval = hurdle_interval(values, LEVEL, near=near)
    want = drawn_by_hand(2, 0, values[2:], near=added)
    assert (interval.low, interval.high) == pytest.approx(want.tolist(), abs=0.004)


@pytest.mark.parametrize(("n", "enough"), [(9, False), (10, True)])
def test_ten_values_are_needed(n, enough):
    interval = hurdle_interval(np.full(n, 0.5) + np.arange(n) / 100, LEVEL, what="picture")
    assert isinstance(interval, str) != enough
    assert enough or interval.startswith("only 9 pictures with a value")


def agreement(influence, count, value=0.5):
    return SimpleNamespace(
        value=value,
        observed=0.8,
        chance=0.4,
        items=int(np.sum(count)),
        count=np.array(count),
        influence=np.array(influence),
    )


def test_the_error_of_agreement_divides_by_one_less_for_more_than_two_raters():
    one = agreement([0.5, -0.25], [10, 20])
    total = 10 * 0.25 + 20 * 0.0625
    assert standard_error(one, raters=2) == pytest.approx(math.sqrt(total) / 30)
    assert standard_error(one, raters=3) == pytest.approx(math.sqrt(total / (30 * 29)))
    two, three = (agreement_interval(one, LEVEL, raters=raters) for raters in (2, 3))
    assert two.high - 0.5 == pytest.approx(Z * math.sqrt(total) / 30)
    assert 0.5 - three.low == pytest.approx(stats.t.ppf(0.95, 29) * math.sqrt(total / (30 * 29)))
    assert (two.method, three.method) == ("fleiss-cohen-everitt", "gwet")


def test_agreement_stays_between_minus_one_and_one():
    for value in (0.95, -0.95):
        interval = agreement_interval(agreement([3.0, -3.0], [5, 5], value), LEVEL, raters=2)
        assert (interval.high == 1.0, interval.low == -1.0) == (value > 0, value < 0)


def test_one_item_or_no_spread_has_no_interval_of_agreement():
    assert agreement_interval(agreement([1.0], [1]), LEVEL, raters=3) == "one item has no spread"
    assert agreement_interval(agreement([1.0, -1.0], [1, 1]), LEVEL, raters=3).method == "gwet"
    assert agreement_interval(agreement([1.0], [1]), LEVEL, raters=2).method == "fleiss-cohen-everitt"
    assert "no way" in agreement_interval(agreement([1e-14], [9]), LEVEL, raters=2)
    facts = told(agreement([0.5, -0.25], [10, 20]), LEVEL, raters=2)
    assert facts["items"] == 30
    assert facts["low"] < facts["value"] < facts["high"]


@pytest.mark.parametrize("n", [10.0, 1e3, 1e6, 1e9, 1e11, 1e13, 1e15])
@pytest.mark.parametrize("wrong", [0, 1, 3])
def test_of_two_costs_the_interval_is_wilsons_for_any_number_of_rows(n, wrong):
    ends = np.array(wilson(wrong, n, LEVEL))
    assert score_ends(np.array([0.0, 1]), np.array([n - wrong, wrong]), LEVEL) == pytest.approx(
        ends, rel=1e-6, abs=2e-10
    )
    turned = score_ends(np.array([0.0, 1]), np.array([wrong, n - wrong]), LEVEL)
    assert turned == pytest.approx(1 - ends[::-1], rel=1e-6, abs=2e-10)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("weight", [1e-9, 1e-12, 1e-14, 1e-18])
def test_a_row_of_next_to_no_weight_moves_no_interval_of_a_cost(place, weight):
    rows = np.array([40.0, 30, 20])
    rows[place] = 0.0
    without = score_ends(np.array([0.0, 1, 4]), rows, LEVEL)
    rows[place] = weight
    assert score_ends(np.array([0.0, 1, 4]), rows, LEVEL) == pytest.approx(without, rel=1e-5)


@pytest.mark.parametrize("rows", [[20.0, 0.0, 0.0], [0.0, 0.0, 20.0], [9.0, 2.0, 9.0], [3.0, 0.0, 17.0]])
def test_costs_in_another_unit_and_from_another_zero_have_the_same_interval(rows):
    cost, counted = np.array([0.0, 0.25, 1.0]), np.array(rows)
    low, high = score_ends(cost, counted, LEVEL)
    assert score_ends(2 * cost - 1, counted, LEVEL) == pytest.approx((2 * low - 1, 2 * high - 1), abs=1e-6)
