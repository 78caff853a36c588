# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.intervals.auc import area_interval, delong_variance, newcombe
from assay.measures import parse
from assay.tally.scores.score_tally import Scores

rows = st.lists(st.tuples(st.integers(0, 8).map(float), st.booleans()), min_size=6, max_size=40)


def table(some):
    return Scores.binary([s for s, _ in some], [y for _, y in some]).one_vs_rest(1)


def by_pairs(some):
    """DeLong's variance from all pairs."""
    x, y = (np.array([s for s, own in some if own is which]) for which in (True, False))
    wins = (x[:, np.newaxis] > y) + 0.5 * (x[:, np.newaxis] == y)
    return wins.mean(axis=1).var(ddof=1) / len(x) + wins.mean(axis=0).var(ddof=1) / len(y)


@given(rows)
def test_the_variance_from_ranks_is_that_from_pairs(some):
    if 2 <= sum(y for _, y in some) <= len(some) - 2:
        assert delong_variance(table(some)) == pytest.approx(by_pairs(some), abs=1e-14)


@given(rows, st.sampled_from([0.5, 0.9, 0.99]))
def test_the_interval_holds_the_area_and_stays_inside_its_range(some, level):
    t = table(some)
    if t.positives and t.negatives:
        area = parse("auroc")(t).value
        low, high, _ = area_interval(t, area, level)
        assert 0 <= low <= area <= high <= 1
        assert low < high


def test_a_perfect_ranking_has_an_interval_with_width():
    t = table([(0.0, False)] * 10 + [(1.0, True)] * 10)
    low, high, method = area_interval(t, 1.0, 0.95)
    assert (round(low, 3), high, method) == (0.8, 1.0, "newcombe score")
    assert newcombe(0.0, 10, 10, 0.95)[0] == 0


def test_many_rows_of_both_classes_need_no_borrowed_ones():
    rng = np.random.default_rng(1)
    truth = rng.random(400) < 0.4
    t = Scores.binary(rng.normal(size=400) + truth, truth).one_vs_rest(1)
    area = parse("auroc")(t).value
    low, high, method = area_interval(t, area, 0.95)
    assert method == "delong-logit"
    logit, error = np.log(area / (1 - area)), np.sqrt(delong_variance(t)) / (area * (1 - area))
    ends = 1 / (1 + np.exp(-(logit + np.array([-1, 1]) * 1.959963984540054 * error)))
    assert (low, high) == pytest.approx(tuple(ends), abs=1e-14)


def test_a_million_rows_lose_no_figure():
    rng = np.random.default_rng(1)
    truth = rng.random(200_000) < 0.5
    held = np.round(rng.normal(size=200_000) + truth, 1)
    t = Scores.binary(held, truth).one_vs_rest(1)
    pos, neg = t.pos.tolist(), t.neg.tolist()
    p, n = sum(pos), sum(neg)
    from fractions import Fraction

    below, ranks = 0, []
    for q in neg:
        ranks.append(2 * below + q)
        below += q
    mean = Fraction(sum(a * b for a, b in zip(pos, ranks, strict=True)), p)
    first = sum(c * (r - mean) ** 2 for c, r in zip(pos, ranks, strict=True)) / ((p - 1) * p * 4 * n * n)
    below, ranks = 0, []
    for q in pos:
        ranks.append(2 * below + q)
        below += q
    mean = Fraction(sum(a * b for a, b in zip(neg, ranks, strict=True)), n)
    second = sum(c * (r - mean) ** 2 for c, r in zip(neg, ranks, strict=True)) / ((n - 1) * n * 4 * p * p)
    assert delong_variance(t) == pytest.approx(float(first + second), rel=1e-13)


def test_area_and_variance_of_two_million_rows_are_exact_to_the_last_digits():
    """Midranks doubled are whole numbers, so nothing is rounded before the end, as float32 midranks would (B13)."""
    rng = np.random.default_rng(1)
    truth = rng.random(2_000_000) < 0.5
    score = np.round(rng.normal(size=2_000_000) + truth, 5)  # with ties
    t = Scores.binary(score, truth).one_vs_rest(1)
    x, y = np.sort(score[truth]), np.sort(score[~truth])
    spread = Fraction(0)
    for own, other in ((x, y), (y, x)):
        rank = np.searchsorted(other, own) + np.searchsorted(other, own, side="right")  # twice the midrank
        total, m, n = int(rank.sum()), len(own), len(other)
        off = m * sum(int(part.sum()) for part in np.array_split(rank * rank, 64)) - total * total
        spread += Fraction(off, m * m * (m - 1) * 4 * n * n)
        if own is x:
            assert parse("auroc")(t).value == total / (2 * m * n)
    assert delong_variance(t) == pytest.approx(float(spread), rel=1e-12)
