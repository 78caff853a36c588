# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import mpmath as mp
import pytest
from scipy.stats import binomtest

from assay.inference import tail_probabilities as tails

mp.mp.dps = 40
near = pytest.approx


def same(tail, exact):
    """Twelve digits of p while a double holds it, and of its logarithm beyond."""
    assert tail.log10 == near(float(mp.log10(exact)), rel=1e-12, abs=1e-15)
    if exact > 1e-299:
        assert tail.p == near(float(exact), rel=1e-12)
    elif exact < 1e-300:
        assert tail.p == tails.SMALLEST
        assert str(tail) == "< 1e-300"


@pytest.mark.parametrize("z", [0.0, 0.5, 2, 8, 37, 40, 600])
def test_normal_tails(z):
    same(tails.normal(z), mp.erfc(mp.mpf(z) / mp.sqrt(2)))
    same(tails.normal(z, "greater"), mp.erfc(mp.mpf(z) / mp.sqrt(2)) / 2)


@pytest.mark.parametrize(
    ("x", "df"), [(0.1, 1), (3, 1), (50, 4), (1400, 2), (2000, 3), (5000, 10), (5000, 1000), (9000, 1000)]
)
def test_chi_squared_tails(x, df):
    same(tails.chi_squared(x, df), mp.gammainc(mp.mpf(df) / 2, mp.mpf(x) / 2, regularized=True))


@pytest.mark.parametrize(("t", "df"), [(0.2, 3), (2, 9), (30, 50), (60, 2000), (200, 1000), (1e80, 9)])
def test_student_tails(t, df):
    x = mp.mpf(df) / (df + mp.mpf(t) ** 2)
    same(tails.student(t, df), mp.betainc(mp.mpf(df) / 2, mp.mpf("0.5"), 0, x, regularized=True))
    assert tails.student(t, df, "greater").p + tails.student(t, df, "less").p == near(1)
    assert tails.student(-t, df, "greater").p == tails.student(t, df, "less").p


@pytest.mark.parametrize(("f", "above", "below"), [(0.5, 2, 10), (3, 2, 10), (1e6, 3, 400), (900, 3, 3000)])
def test_f_tails(f, above, below):
    x = mp.mpf(below) / (below + above * mp.mpf(f))
    same(tails.fisher_f(f, above, below), mp.betainc(mp.mpf(below) / 2, mp.mpf(above) / 2, 0, x, regularized=True))


@pytest.mark.parametrize(("k", "n"), [(0, 1), (5, 24), (19, 73), (0, 1024), (10, 1024), (100, 3000), (1200, 3000)])
def test_binomial_tails(k, n):
    exact = 2 * sum(mp.binomial(n, i) for i in range(k + 1)) / mp.mpf(2) ** n
    same(tails.binomial(k, n), min(exact, mp.mpf(1)))
    same(tails.mid_binomial(k, n), exact - mp.binomial(n, k) / mp.mpf(2) ** n)


@pytest.mark.parametrize(("k", "n"), [(1, 4), (5, 24), (12, 20)])
def test_one_sided_binomial_tails(k, n):
    for alternative in ("less", "greater"):
        assert tails.binomial(k, n, alternative).p == near(binomtest(k, n, alternative=alternative).pvalue)


def test_a_two_sided_binomial_is_never_above_one():
    """E-RAI-16: twice the tail at 10 of 20 would be 1.18."""
    assert tails.binomial(10, 20).p == 1.0


def test_the_studentised_range_meets_its_bound_far_out_and_scipy_nearby():
    from scipy.stats import studentized_range

    assert tails.studentised_range(3.5, 4).p == near(float(studentized_range.sf(3.5, 4, math.inf)), rel=1e-6)
    assert 0 < tails.studentised_range(60, 4).p == tails.SMALLEST
    assert tails.studentised_range(60, 4).log10 < -300


def test_p_is_printed_with_three_digits_and_never_as_zero_or_a_false_one():
    shown = [tails.shown(p) for p in (0.0066123, 5.0622e-5, 0.5, 1.0, 0.99999)]
    assert shown == ["= 0.00661", "= 5.06e-05", "= 0.5", "= 1", "> 0.999"]


@pytest.mark.parametrize("df", [7, math.inf])
@pytest.mark.parametrize("q", [0.5, 3, 8, 60])
def test_the_range_of_two_means_is_their_difference(q, df):
    single = tails.normal(q / math.sqrt(2)) if df == math.inf else tails.student(q / math.sqrt(2), df)
    found = tails.studentised_range(q, 2, df)
    assert (found.p, found.log10) == near((single.p, single.log10), rel=1e-14)


@pytest.mark.parametrize("groups", [3, 4, 10])
def test_far_out_the_range_of_means_is_that_of_any_pair(groups):
    same(tails.studentised_range(40, groups), math.comb(groups, 2) * mp.erfc(mp.mpf(20)))
