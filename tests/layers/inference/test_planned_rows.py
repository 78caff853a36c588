# SPDX-License-Identifier: Apache-2.0
"""Numbers of rows and detectable differences, by solving the equation that they are the answer of."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import PlanError
from assay.core.values import Undefined
from assay.inference import power
from assay.inference.intervals.difference_of_two import apart_from_zero, one_sided, rooms
from assay.inference.intervals.proportion import wilson
from assay.inference.multiplicity import adjust, adjusted, family_wise_error, sidak, stepped
from assay.inference.tests.mcnemar import mcnemar_exact
from assay.tally.contingency_tables import Outcomes

LEVELS = [0.8, 0.95]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("chance", [0.8, 0.9])
def test_a_difference_is_detectable_where_the_test_finds_it_with_the_power_asked_for(level, chance):
    a, b = stats.norm.ppf([(1 + level) / 2, chance])
    assert power.least_normal(0.02, level, chance) == pytest.approx(0.02 * (a + b))
    a, b = stats.t.ppf([(1 + level) / 2, chance], 7)
    assert power.least_student(0.02, 7, level, chance) == pytest.approx(0.02 * (a + b))
    w = power.least_chi_squared(3, 150, level, chance)
    edge = stats.chi2.ppf(level, 3)
    assert stats.ncx2.sf(edge, 3, 150 * w**2) == pytest.approx(chance, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("disagree", "n"), [(40, 200), (12, 1000), (150, 200)])
def test_a_detectable_disagreement_solves_connors_equation(disagree, n, level):
    d, share = power.least_disagreement(disagree, n, level), disagree / n
    a, b = stats.norm.ppf([(1 + level) / 2, 0.8])
    assert d * math.sqrt(n) == pytest.approx(a * math.sqrt(share) + b * math.sqrt(share - d * d))


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_no_fewer_rows_in_dispute_could_be_significant(level):
    fewest = next(
        k for k in range(1, 20) if mcnemar_exact(Outcomes(both=0, only_a=k, only_b=0, neither=0)).p <= 1 - level + 1e-12
    )
    for disagree in (0, fewest - 1, fewest):
        least = power.least_disagreement(disagree, 400, level)
        assert least == power.least_disagreement(fewest, 400, level) >= fewest / 400
    assert power.least_disagreement(fewest + 1, 400, level) > least
    assert power.least_disagreement(0, 3, level) == 1.0
    assert power.least_disagreement(0, 10**6, 0.95) == pytest.approx(6e-6, rel=0.5)
    assert isinstance(power.least_disagreement(1, 0, level), Undefined)
    assert not isinstance(power.least_disagreement(1, 1, level), Undefined)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("difference", "disagree"), [(0.05, 0.15), (0.1, 0.1), (0.2, 1.0)])
def test_rows_for_mcnemar_are_those_with_which_the_difference_is_detectable(difference, disagree, level):
    n = power.rows_for_mcnemar(difference, disagree, level)
    a, b = stats.norm.ppf([(1 + level) / 2, 0.8])
    need = a * math.sqrt(disagree) + b * math.sqrt(disagree - difference**2)
    assert difference * math.sqrt(n - 1) < need <= difference * math.sqrt(n)


@pytest.mark.parametrize("bad", [(0, 0.1), (1, 1), (-0.1, 0.1), (0.1, 1.01), (0.1, 0.0999)])
def test_impossible_disagreements_are_refused(bad):
    with pytest.raises(PlanError):
        power.rows_for_mcnemar(*bad)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("share", "limit"), [(0.9, 0.85), (0.85, 0.9), (0.5, 0.4), (0.03, 0.01)])
def test_rows_for_a_limit_part_the_share_from_it(share, limit, level):
    n = power.rows_for_limit(share, limit, level)
    a, b = stats.norm.ppf([(1 + level) / 2, 0.8])
    need = a * math.sqrt(limit * (1 - limit)) + b * math.sqrt(share * (1 - share))
    assert abs(share - limit) * math.sqrt(n - 1) < need <= abs(share - limit) * math.sqrt(n)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("limit", [0.7, 0.9, 0.99])
def test_a_share_without_errors_passes_a_limit_as_soon_as_wilsons_end_does(limit, level):
    n = power.rows_for_limit(1, limit, level)
    assert wilson(n, n, level)[0] >= limit > wilson(n - 1, n - 1, level)[0]
    assert power.rows_for_limit(0, 1 - limit, level) == pytest.approx(n, abs=1)
    low = wilson(0, power.rows_for_limit(0, 1 - limit, level), level)[1]
    assert low <= 1 - limit + 1e-12


def test_limits_at_the_ends_of_the_range():
    for limit in (0, 1):
        assert power.rows_for_limit(1 - limit, limit) >= 0
        assert power.rows_for_limit(0.5, limit) >= 1
    for share, limit in ((0.9, 0.9), (1.1, 0.5), (0.5, -0.1), (-0.1, 0.5), (0.5, 1.01)):
        with pytest.raises(PlanError):
            power.rows_for_limit(share, limit)


@pytest.mark.parametrize("level", LEVELS)
def test_an_interval_that_reaches_too_far_needs_the_square_of_the_ratio(level):
    a, b = stats.norm.ppf([(1 + level) / 2, 0.8])
    assert power.times_the_rows(0.06, 0.02, level) == pytest.approx((3 * (a + b) / a) ** 2)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("share", "width"), [(0.9, 0.05), (0.5, 0.2), (0.0, 0.1), (1.0, 0.01), (0.3, 0.9)])
def test_rows_for_a_width_are_the_fewest_that_wilson_needs(share, width, level):
    def wide(n):
        low, high = wilson(share * n, n, level)
        return high - low

    n = power.plan_size(expected=share, width=width, level=level)
    assert wide(n) <= width + 1e-12
    assert n == 1 or wide(n - 1) > width


@pytest.mark.parametrize(
    "bad",
    [
        {"expected": 0.9, "width": 0}, {"expected": 0.9, "width": 1}, {"expected": -0.1, "width": 0.1},
        {"expected": 1.1, "width": 0.1}, {"expected": True, "limit": 0.5}, {"expected": 0.9, "limit": 0.8, "level": 1},
        {"expected": 0.9, "limit": 0.8, "power": 0}, {"expected": 0.9}, {"expected": 0.9, "limit": 0.8, "level": 0},
        {"expected": 0.9, "limit": 0.8, "width": 0.1}, {}, {"expected": 0.9, "limit": 0.8, "power": 1},
    ],
    ids=str,
)  # fmt: skip
def test_plans_that_make_no_sense_are_refused(bad):
    with pytest.raises(PlanError):
        power.plan_size(**bad)


@pytest.mark.parametrize("level", LEVELS)
def test_a_difference_is_judged_by_the_side_of_its_interval_that_faces_zero(level):
    z = stats.norm.ppf((1 + level) / 2)
    ahead, behind = (apart_from_zero(gap, (gap - 0.1, gap + 0.3), level) for gap in (0.2, -0.2))
    assert ahead["statistic"] == pytest.approx(0.2 / (0.1 / z))
    assert behind["statistic"] == pytest.approx(-0.2 / (0.3 / z))
    assert ahead["chance"].p == pytest.approx(2 * stats.norm.sf(2 * z))
    assert ahead["least"] == behind["least"] == pytest.approx(power.least_normal(0.2 / z, level))
    none = apart_from_zero(0.0, (0.0, 0.0), level)
    assert none["chance"].p == 1.0
    assert isinstance(none["statistic"], Undefined)
    assert isinstance(apart_from_zero(0.1, (0.1, 0.3), level)["chance"], Undefined)


def test_a_margin_is_held_by_bounds_at_the_level_each_alone():
    assert one_sided(0.95) == pytest.approx(0.9)
    assert one_sided(0.75) == 0.5
    with pytest.raises(PlanError):
        one_sided(0.7499)
    z = stats.norm.ppf(0.95)
    above, below, least = rooms(0.02, (-0.04, 0.1), 0.05, 0.95)
    assert above == pytest.approx(0.07 / (0.06 / z))
    assert below == pytest.approx(0.03 / (0.08 / z))
    assert least == pytest.approx(power.least_normal(0.07 / z, 0.9))
    flat = rooms(0.02, (0.02, 0.02), 0.05, 0.95)
    assert isinstance(flat[0], Undefined)
    assert isinstance(flat[1], Undefined)


@pytest.mark.parametrize("method", ["holm", "bonferroni", "sidak", "fdr_bh", "fdr_by"])
def test_corrections_are_those_of_statsmodels(method):
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(8)
    for size in (1, 2, 7, 30):
        p = np.round(rng.random(size) ** 3, 4)
        assert adjust(p, method) == pytest.approx(multipletests(p, method=method)[1].tolist(), rel=1e-12)
    assert adjust([0.0, 1.0], method) == [0.0, 1.0]
    assert adjust([], method) == []


def test_questions_without_a_p_value_count_and_one_alone_is_not_corrected():
    found = [mcnemar_exact(Outcomes(both=5, only_a=k, only_b=1, neither=3)) for k in (9, 12)]
    lost = mcnemar_exact(Outcomes(both=0, only_a=0, only_b=0, neither=0))
    assert adjusted(found[:1])[0].adjusted is None
    three = adjusted([*found, lost], "bonferroni") if lost.p is None else adjusted([*found, found[0]], "bonferroni")
    assert [one.adjusted.of for one in three[:2]] == [3, 3]
    assert three[0].adjusted.p == pytest.approx(min(1, 3 * found[0].p))
    assert [one.adjusted.of for one in adjusted(found)] == [2, 2]


def test_error_rates_pile_up():
    assert family_wise_error(0.1, 3) == pytest.approx(1 - 0.9**3)
    assert sidak([0.1, 1.0]) == pytest.approx([1 - 0.9**2, 1.0])


def test_criteria_that_settle_leave_the_family_and_the_rest_is_judged_at_a_lower_level():
    asked = []

    def judge(level, open_):
        asked.append((round(1 - level, 10), tuple(open_)))
        return {place: place <= len(asked) for place in open_}

    assert stepped([1, 2, 3], 0.94, "holm", judge, bool) == {1: True, 2: True, 3: True}
    assert asked == [(0.02, (1, 2, 3)), (0.03, (2, 3)), (0.06, (3,))]
    asked.clear()
    stepped([5, 6], 0.94, "none", judge, bool)
    assert asked == [(0.06, (5, 6))]


@pytest.mark.parametrize(("share", "limit"), [(1.0, 0.9), (0.0, 0.1), (1.0, 0.5)])
def test_rows_without_a_mistake_are_those_from_which_wilsons_interval_leaves_the_limit_out(share, limit):
    rows = power.rows_for_limit(share, limit)
    inside = [low < limit < high for low, high in (wilson(share * n, n, 0.95) for n in (rows - 1, rows))]
    assert inside == [True, False]


def test_a_certain_share_is_told_from_its_opposite_by_one_row():
    assert power.rows_for_limit(1.0, 0.0) == power.rows_for_limit(0.0, 1.0) == 1
