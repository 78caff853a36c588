# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import binom
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from assay.inference.intervals.proportion import (
    FEWEST,
    SHARES,
    clopper_pearson,
    fitting,
    jeffreys,
    koopman,
    of_share,
    of_shares,
    student_quantile,
    wilson,
)

NAMES = {"wilson": "wilson", "clopper-pearson": "beta", "jeffreys": "jeffreys"}
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])


@st.composite
def shares(draw, most=100_000):
    of = draw(st.integers(1, most))
    return draw(st.integers(0, of)), of


@pytest.mark.parametrize("method", SHARES)
@given(share=shares(), level=levels)
def test_a_share_gets_the_interval_statsmodels_gives(method, share, level):
    successes, of = share
    theirs = proportion_confint(successes, of, 1 - level, NAMES[method])
    ours = SHARES[method](successes, of, level)
    # At the ends statsmodels closes Jeffreys; Brown, Cai and DasGupta (2001) leave it open, as we do.
    expected = (0.0 if successes == 0 else theirs[0]), (1.0 if successes == of else theirs[1])
    assert ours == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(share=shares(), level=levels)
def test_a_share_lies_in_each_of_its_intervals_and_the_exact_one_holds_the_bayesian_one(share, level):
    successes, of = share
    for method in SHARES.values():
        low, high = method(successes, of, level)
        assert 0 <= low <= successes / of <= high <= 1
        assert low < high
    exact, bayesian = clopper_pearson(successes, of, level), jeffreys(successes, of, level)
    assert exact[0] <= bayesian[0] + 1e-12
    assert bayesian[1] <= exact[1] + 1e-12


@given(share=shares(), level=st.sampled_from([0.5, 0.9, 0.95]))
def test_a_higher_level_gives_an_interval_that_holds_the_lower_one(share, level):
    for method in SHARES.values():
        inner, outer = method(*share, level), method(*share, (1 + level) / 2)
        assert outer[0] <= inner[0] + 1e-15
        assert inner[1] <= outer[1] + 1e-15


@given(share=shares(), level=levels)
def test_counting_the_others_mirrors_the_interval(share, level):
    successes, of = share
    for method in SHARES.values():
        low, high = method(successes, of, level)
        mirrored = method(of - successes, of, level)
        assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-12)


def coverage(method, n, p, level=0.95):
    """The exact chance that the interval of n rows holds each p."""
    counts = np.arange(n + 1)
    low, high = np.array([method(int(x), n, level) for x in counts]).T
    held = (low[:, np.newaxis] <= p) & (p <= high[:, np.newaxis])
    return (held * binom.pmf(counts[:, np.newaxis], n, p)).sum(axis=0)


P = np.linspace(0.0005, 0.9995, 1999)


@pytest.mark.parametrize("n", [*range(5, 61, 5), 7, 23, 51])
def test_clopper_pearson_never_covers_less_than_its_level(n):
    for level in (0.9, 0.95):
        found = coverage(clopper_pearson, n, P, level)
        assert found.min() >= level - 1e-12
        assert found.mean() > level + 0.01


@pytest.mark.parametrize("n", range(5, 61, 5))
def test_wilson_covers_its_level_on_average_and_nowhere_less_than_known(n):
    found = coverage(wilson, n, P)
    # Brown, Cai and DasGupta 2001: close to nominal on average, with dips only near 0 and 1.
    assert 0.95 <= found.mean() <= 0.957
    assert found.min() > 0.82
    assert found[(P > 0.15) & (P < 0.85)].min() > 0.88 + 0.0008 * n


@pytest.mark.parametrize("n", range(1, FEWEST))
def test_with_very_few_rows_the_exact_interval_stands_in_for_wilson(n):
    assert coverage(wilson, n, P).min() < 0.84
    assert fitting("wilson", n) == "clopper-pearson"
    assert fitting("jeffreys", n) == "jeffreys"
    for x in range(n + 1):
        assert of_share(x, n, 0.95, "wilson") == clopper_pearson(x, n, 0.95)
    assert coverage(lambda x, of, level: of_share(x, of, level, "wilson"), n, P).min() >= 0.95


def test_one_right_row_gives_the_exact_interval_of_the_acceptance_list():
    low, high = of_share(1, 1, 0.95, "wilson")
    assert low == pytest.approx(0.025, abs=1e-15)
    assert high == 1


@pytest.mark.parametrize("method", SHARES)
@given(many=st.lists(shares(500), min_size=1, max_size=20), level=levels)
def test_a_stack_of_shares_gets_the_intervals_of_its_members(method, many, level):
    successes, of = np.array(many, dtype=float).T
    low, high = of_shares(successes, of, level, method)
    for i, (x, n) in enumerate(many):
        assert (low[i], high[i]) == of_share(x, n, level, method)


def test_a_share_of_nothing_in_a_stack_has_no_interval():
    low, high = of_shares(np.array([0.0, 3.0]), np.array([0.0, 9.0]), 0.95, "wilson")
    assert isnan(low[0])
    assert isnan(high[0])
    assert 0 < low[1] < 1 / 3 < high[1] < 1


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_a_ratio_of_shares_gets_the_score_interval_statsmodels_gives(level):
    rng = np.random.default_rng(1)
    for _ in range(60):
        first_of, second_of = rng.integers(2, 400, 2)
        first, second = int(rng.integers(1, first_of)), int(rng.integers(1, second_of))
        low, high = koopman(*(np.array([float(x)]) for x in (first, first_of, second, second_of)), level)
        theirs = confint_proportions_2indep(
            first, first_of, second, second_of, compare="ratio", method="score", correction=False, alpha=1 - level
        )
        assert (low[0], high[0]) == pytest.approx(theirs, rel=1e-6)


def test_a_ratio_is_open_where_a_share_is_zero_and_holds_what_was_seen():
    first, first_of = np.array([5.0, 0.0, 5.0, 40.0]), np.array([5.0, 5.0, 5.0, 40.0])
    second, second_of = np.array([0.0, 3.0, 5.0, 2.0]), np.array([7.0, 7.0, 5.0, 900.0])
    low, high = koopman(first, first_of, second, second_of, 0.95)
    assert high[0] == inf
    assert low[1] == 0
    with np.errstate(divide="ignore"):
        seen = (first / first_of) / (second / second_of)
    assert ((low <= seen) & (seen <= high)).all()


def test_a_ratio_of_ten_thousand_million_rows_is_still_found():
    low, high = koopman(*(np.array([x]) for x in (5e9, 1e10, 3e9, 1e10)), 0.95)
    assert low[0] < 5 / 3 < high[0]
    assert high[0] - low[0] == pytest.approx(2 * 1.96 * 5 / 3 * np.sqrt(0.5 / 5e9 + 0.7 / 3e9), rel=1e-3)


@pytest.mark.parametrize("share", [0.75, 0.975, 0.995, 0.99999, 0.025])
@pytest.mark.parametrize("freedom", [3, 1999, 2000, 2500.5, 1e5, 1e9])
def test_a_quantile_of_student_is_that_of_scipy(freedom, share):
    assert student_quantile(share, freedom) == pytest.approx(stdtrit(freedom, share), rel=2e-14)


@pytest.mark.parametrize("method", SHARES)
def test_shares_of_a_stack_are_those_of_single_ones_at_few_rows(method):
    of = np.arange(1, FEWEST + 3)
    low, high = of_shares(np.ones(len(of)), of.astype(float), 0.95, method)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [of_share(1, int(n), 0.95, method) for n in of]
