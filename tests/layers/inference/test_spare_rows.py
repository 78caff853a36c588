# SPDX-License-Identifier: Apache-2.0
"""Parts of the tables that are drawn, and what changes with how many numbers are held at a time: nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from assay.core.errors import AssayError
from assay.core.values import Undefined
from assay.inference.data_chance import kruskal_wallis_screen
from assay.inference.intervals import functions_of_counts, proportion, smooth_functions
from assay.inference.intervals.proportion import koopman
from assay.inference.intervals.smooth_functions import Ordered, bca
from assay.inference.resampling import Spare
from assay.inference.tests.independent_models import delong_unpaired
from assay.inference.tests.mcnemar import mcnemar_exact, paired_shares
from assay.inference.tests.ranks import wilcoxon
from assay.tally.contingency_tables import Calls, Outcomes
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.real_values import Pairs
from assay.tally.scores.score_tally import Scores, clipped
from assay.tasks.classification.measures.expected_costs import decision_curve
from tests import flat
from tests.strategies import confusion_of
from tests.timed import count_durations

MATRIX = [[30, 4, 1], [6, 20, 3], [2, 5, 12]]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "matrix",
    [MATRIX, [[5, 1, 0], [2, 7, 0], [1, 1, 0]], [[0, 4, 0], [0, 0, 0], [0, 0, 0]], [[4, 0, 0], [0, 0, 0], [0, 0, 0]]],
    ids=["full", "a class never called", "one cell, wrong", "one cell, right"],
)
def test_moments_of_the_spare_rows_are_means_over_all_places_they_may_take(matrix, strict):
    cells = np.array(matrix)
    true = [i for i in range(3) if cells[i].sum() or (not strict and cells[:, i].sum())]
    named = [i for i in range(3) if cells[:, i].sum() or (not strict and cells[i].sum())]
    on, row, column = np.random.default_rng(1).normal(size=(3, 3))
    right = [on[i] for i in true if i in named]
    wrong = [row[i] + column[j] for i, j in itertools.product(true, named) if i != j]
    parts = [part for part in (right, wrong) if part]
    want = (len(parts), sum(np.mean(part) for part in parts), sum(np.mean(np.square(part)) for part in parts))
    assert Spare(confusion_of(matrix), strict=strict).moments(on, row, column) == pytest.approx(want)


@pytest.mark.parametrize("cells", ["delta", "bca", "auto"])
def test_how_many_numbers_are_held_moves_no_end(cells, monkeypatch):
    given = {"confusion": MATRIX, "orientation": "rows=truth", "cells": cells, "draws": 300, "measures": ["f1_macro"]}
    wide = flat.assess(**given)
    for module in (smooth_functions, functions_of_counts):
        if hasattr(module, "HELD"):
            monkeypatch.setattr(module, "HELD", 12)
    narrow = flat.assess(**given)
    for one, other in zip(wide.estimates, narrow.estimates, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-12) or one.interval is None


def test_ratios_are_solved_part_by_part_alike(monkeypatch):
    rng = np.random.default_rng(2)
    of = rng.integers(5, 90, (2, 40)).astype(float)
    hits = np.floor(of * rng.random((2, 40)))
    whole = koopman(hits[0], of[0], hits[1], of[1], 0.9)
    monkeypatch.setattr(proportion, "TOGETHER", 7)
    assert np.array_equal(whole, koopman(hits[0], of[0], hits[1], of[1], 0.9))


def test_efrons_interval_from_cells_is_that_of_his_formula():
    rng = np.random.default_rng(3)
    values = np.sort(rng.gamma(3.0, size=2001))[np.newaxis]
    count, influence = np.array([[5.0, 9, 2]]), np.array([[0.4, -0.3, 1.1]])
    low, high = bca(np.array([2.4]), Ordered(values, 0.9), influence, count, 0.9)
    bias = norm.ppf((values < 2.4).mean())
    skew = (count * influence**3).sum() / (6 * (count * influence**2).sum() ** 1.5)
    for end, tail in ((low, 0.05), (high, 0.95)):
        z = bias + norm.ppf(tail)
        assert end[0] == pytest.approx(np.quantile(values, norm.cdf(bias + z / (1 - skew * z))), abs=0.01)


def test_every_row_in_dispute_on_one_side_has_no_variance():
    found = paired_shares(Outcomes(both=0, only_a=5, only_b=0, neither=0))
    assert isinstance(found.statistic, Undefined)
    assert found.reason == "every row is in dispute"
    assert paired_shares(Outcomes(both=5, only_a=0, only_b=0, neither=0)).p == 1.0


@pytest.mark.parametrize("n", [1999, 2000, 2001, 2100])
def test_the_middle_difference_of_very_many_pairs_is_that_of_all_means_of_two(n):
    gap = np.round(np.random.default_rng(n).normal(0.1, 1.0, n), 6)
    means = (gap[:, np.newaxis] + gap)[np.triu_indices(n)] / 2
    assert wilcoxon(Pairs.of(gap, np.zeros(n))).effect.value == pytest.approx(np.median(means), abs=1e-9)


def test_the_share_of_ranks_between_groups_is_epsilon_squared():
    from scipy.stats import kruskal

    groups = [np.array([1.0, 4, 6]), np.array([2.0, 8, 9, 9]), np.zeros(0)]
    share, chance = kruskal_wallis_screen(groups)
    assert share == pytest.approx(kruskal(*groups[:2]).statistic / 6)
    assert chance == pytest.approx(kruskal(*groups[:2]).pvalue)
    assert kruskal_wallis_screen([np.array([1.0, 1]), np.array([1.0])]) == (0.0, 1.0)
    assert kruskal_wallis_screen([np.array([1.0, 2])]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("rows", "labels"), [(((1, 2), (3, 4)), "abc"), (((1, 2, 3), (3, 4, 5)), "ab"), (((1, 2), (3, 4, 5)), "ab")]
)
def test_a_table_of_calls_is_as_wide_as_its_labels(rows, labels):
    with pytest.raises(AssayError):
        Calls(rows=rows, labels=tuple(labels))


def test_tallies_of_other_bounds_are_named_by_their_bounds():
    with pytest.raises(AssayError, match=r"0.5 s, 1 s and no bound"):
        count_durations([0.1], bounds=[0.5, 1.0]) + count_durations([0.1])


def test_an_exact_chance_needs_rows_in_dispute():
    assert mcnemar_exact(Outcomes(both=1, only_a=0, only_b=0, neither=0)).p == 1.0


def test_a_check_of_symmetry_does_not_move_with_the_differences():
    from scipy.stats import skew

    gap = np.round(np.random.default_rng(4).gamma(1.0, size=30), 3)
    seen = {wilcoxon(Pairs.of(gap + shift, np.zeros(30))).checks[0].seen for shift in (-1.0, 0.0, 5.0)}
    assert seen == {f"skewness {skew(gap):.2f}"}
    assert [wilcoxon(Pairs.of(x, np.zeros(30))).checks[0].holds for x in (gap, np.sqrt(gap) + 1)] == [False, True]


@pytest.mark.parametrize(("n", "noted"), [(5, True), (6, False)])
def test_fewer_than_six_differences_are_told_that_they_cannot_be_significant(n, noted):
    notes = wilcoxon(Pairs.of(np.arange(1.0, n + 1), np.zeros(n))).notes
    assert [note.endswith("p below 0.0625") for note in notes if "no result can have" in note] == [True] * noted


def test_a_decision_curve_is_the_net_benefit_at_each_threshold():
    score, truth = np.array([0.1, 0.35, 0.35, 0.6, 0.8, 0.9]), np.array([0, 1, 0, 0, 1, 1], dtype=bool)
    thresholds = np.array([0.05, 0.1, 0.35, 0.5, 0.8, 0.95])
    own, everyone = decision_curve(Scores.binary(score, truth).one_vs_rest(1), thresholds)
    for at, benefit, all_positive in zip(thresholds, own, everyone, strict=True):
        called, odds = score >= at, at / (1 - at)
        assert benefit == pytest.approx(((called & truth).sum() - odds * (called & ~truth).sum()) / 6)
        assert all_positive == pytest.approx(0.5 - odds * 0.5)


@pytest.mark.parametrize(("clip", "fits"), [(0, False), (1e-15, True), (0.49, True), (0.5, False), (True, False)])
def test_probabilities_are_kept_from_their_ends_by_less_than_half(clip, fits):
    if not fits:
        with pytest.raises(AssayError):
            clipped(np.array([0.0, 1.0]), clip)
        return
    assert clipped(np.array([0.0, 0.5, 1.0]), clip).tolist() == [clip, 0.5, 1 - clip]


def test_an_interval_of_two_areas_on_different_rows_stays_within_its_range():
    y = np.array([1, 1, 0, 0, 0])
    good, bad = np.array([0.9, 0.4, 0.5, 0.1, 0.2]), np.array([0.1, 0.5, 0.4, 0.9, 0.8])
    scores = tuple(PairedScores.of(y == 1, {name: s}) for name, s in (("A", good), ("B", bad)))
    found = delong_unpaired(Apart(models=("A", "B"), labels=(0, 1), confusions=None, scores=scores))
    assert found.effect.interval.high == 1.0
    turned = delong_unpaired(Apart(models=("B", "A"), labels=(0, 1), confusions=None, scores=scores[::-1]))
    assert turned.effect.interval.low == -1.0
