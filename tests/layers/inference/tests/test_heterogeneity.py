# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from assay import from_confusion_matrix
from assay.inference.tests.strata import heterogeneity


def recalls(*tables):
    """Estimates of recall and others from (tp, fn, fp, tn) of each part."""
    return [
        from_confusion_matrix([[tn, fp], [fn, tp]], orientation="rows=truth", labels=[0, 1])
        for tp, fn, fp, tn in tables
    ]


@pytest.mark.parametrize(
    "tables", [[(80, 20, 5, 95), (60, 40, 7, 93)], [(50, 10, 9, 9), (40, 20, 8, 10), (30, 25, 9, 9)]]
)
def test_shares_are_tested_as_the_table_of_parts_and_outcomes(tables):
    found = heterogeneity([a["recall"] for a in recalls(*tables)])
    expected = chi2_contingency([[tp, fn] for tp, fn, _, _ in tables], correction=False)
    assert found.method == "chi-squared"
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.freedom == expected.dof
    assert found.beyond_chance == pytest.approx(max(0, 1 - expected.dof / expected.statistic))


def test_small_expectations_are_drawn_with_the_margins_kept_and_agree_with_fisher():
    from scipy.stats import fisher_exact

    tables = [(9, 1, 5, 5), (2, 8, 5, 5)]
    found = heterogeneity([a["recall"] for a in recalls(*tables)])
    assert found.method == "10,000 tables with the same margins"
    # With equal row sums the order by probability is the order by Pearson's statistic, so both tests are one.
    exact = fisher_exact([[9, 1], [2, 8]]).pvalue
    assert found.p == pytest.approx(exact, abs=4 * np.sqrt(exact / 10_000))


def test_equal_parts_have_nothing_beyond_chance():
    found = heterogeneity([a["recall"] for a in recalls((10, 0, 1, 9), (20, 0, 3, 7))])
    assert (found.p, found.beyond_chance, found.statistic) == (1.0, 0.0, 0.0)


def test_the_table_itself_is_one_of_those_drawn_so_that_p_is_never_zero():
    found = heterogeneity([a["recall"] for a in recalls((200, 1, 5, 5), (1, 200, 5, 5), (3, 0, 5, 5))])
    assert found.p == 1 / 10_000


def test_measures_that_are_no_shares_are_weighted_by_their_intervals():
    estimates = [a["matthews_corrcoef"] for a in recalls((80, 20, 5, 95), (60, 40, 30, 70), (75, 25, 10, 90))]
    found = heterogeneity(estimates)
    assert found.method.startswith("Cochran's Q")
    assert (found.lowest, found.highest) == (1, 0)
    assert 0 < found.p < 0.05


def test_parts_without_a_value_are_left_out_and_named():
    estimates = [a["recall"] for a in recalls((5, 5, 1, 9), (0, 0, 3, 7), (9, 1, 1, 9))]
    found = heterogeneity(estimates)
    assert (found.parts, found.left_out) == (2, (1,))
    assert heterogeneity(estimates[:2]) is None


@pytest.mark.parametrize("width", [0.0, np.inf])
def test_a_value_whose_interval_has_no_width_or_no_end_has_no_weight_and_is_left_out(width):
    first, second, third = (
        a["matthews_corrcoef"] for a in recalls((80, 20, 5, 95), (60, 40, 30, 70), (75, 25, 10, 90))
    )
    ends = replace(second.interval, low=second.value, high=second.value + width)
    found = heterogeneity([first, replace(second, interval=ends), third])
    assert (found.parts, found.left_out, found.measure) == (2, (1,), "matthews_corrcoef")
    assert found.p == heterogeneity([first, third]).p


def test_its_level_is_held_when_the_parts_share_one_truth():
    rng = np.random.default_rng(4213)
    tables = [[(tp, 40 - tp, 5, 5) for tp in rng.binomial(40, 0.8, size=4)] for _ in range(150)]
    ps = [heterogeneity([a["recall"] for a in recalls(*one)]).p for one in tables]
    assert 0.0 <= np.mean(np.array(ps) < 0.05) < 0.10
