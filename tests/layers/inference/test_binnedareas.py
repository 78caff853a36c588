# SPDX-License-Identifier: Apache-2.0
"""DeLong from bins beside DeLong from every score."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.inference.areas import _told
from assay.inference.binnedareas import _dot
from assay.inference.delong import areas, delong, delong_many, delong_pairs
from assay.inference.equivalence import auroc_equivalence, auroc_non_inferiority
from assay.inference.nearperfect import area_difference
from assay.tally.pairedbins import PairedBins
from assay.tally.pairedscores import PairedScores

ROWS = 30_000
SHAPES = {
    "smooth": lambda s, _: 1 / (1 + np.exp(-s)),
    "confident": lambda s, _: 1 / (1 + np.exp(-12 * (s - 0.5))),
    "heavy-tailed": lambda s, _: np.sinh(3 * s),
    "tied": lambda s, _: np.round(1 / (1 + np.exp(-s)), 2),
    "partly tied": lambda s, rng: np.where(rng.random(len(s)) < 0.3, np.round(s), s),
}
NEAR = {0.5: 1e-4, 0.9: 1e-4, 0.99: 5e-4, 0.9999: 1e-2}
"""By correlation of the scores: how far a standard error from bins may lie from the exact one."""


def made(shape, likeness, seed=4, prevalence=0.3, rows=ROWS):
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < prevalence
    base = rng.normal(size=rows) + truth
    other = likeness * base + math.sqrt(1 - likeness**2) * rng.normal(size=rows)
    scores = {name: SHAPES[shape](one, rng) for name, one in (("A", base), ("B", other))}
    return PairedScores.of(truth, scores), PairedBins.of(truth, scores)


def inside(ends, value, slack=1e-12):
    return ends[0] - slack <= value <= ends[1] + slack


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("likeness", NEAR)
def test_areas_errors_and_p_are_those_of_every_score(shape, likeness):
    scores, bins = made(shape, likeness)
    exact, rough = areas(scores), areas(bins)
    assert np.abs(exact.area - rough.area).max() <= 0.02 * math.sqrt(exact.covariance.max())
    error = math.sqrt(exact.gaps[0, 1])
    assert math.sqrt(rough.gaps[0, 1]) == pytest.approx(error, rel=NEAR[likeness])
    # A bin in which a heavily shared score stands beside others counts them all as tied.
    own = 2e-5 if shape == "partly tied" else 1e-6
    assert np.sqrt(np.diag(rough.covariance)) == pytest.approx(np.sqrt(np.diag(exact.covariance)), rel=own)
    assert rough.open.low[0, 1] <= error <= rough.open.high[0, 1]
    one, two = delong(scores), delong(bins)
    assert two.log10_p == pytest.approx(one.log10_p, rel=2e-2, abs=2e-2)
    assert inside(two.within["p"], one.p)
    assert inside(two.effect.bracket, one.effect.value)
    for whole, rough_one in zip(one.more, two.more, strict=True):
        assert inside(rough_one.bracket, whole.value)


@pytest.mark.parametrize("prevalence", [0.002, 0.998])
def test_a_rare_class_is_told_apart_as_finely(prevalence):
    scores, bins = made("smooth", 0.99, prevalence=prevalence, rows=100_000)
    assert math.sqrt(areas(bins).gaps[0, 1]) == pytest.approx(math.sqrt(areas(scores).gaps[0, 1]), rel=1e-3)


values = st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.25 + 1e-9, 0.5, 1.0])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), values, values), min_size=4, max_size=40), st.integers(1, 6))
@example([(True, 0.25, 0.25 + 1e-9), (False, 0.25 + 1e-9, 0.25), (True, 0.5, 0.5), (False, 0.0, 0.0)], 1)
def test_brackets_hold_whatever_the_scores_and_however_coarse_the_table(some, most):
    truth, a, b = (list(column) for column in zip(*some, strict=True))
    if min(sum(truth), len(truth) - sum(truth)) < 2:
        return
    columns = {"A": a, "B": b}
    plain = PairedBins.of(truth, columns)
    coarser = replace(plain, starts=tuple(np.append(0, one.place[most::most]) for one in plain.margins))
    exact, rough = areas(PairedScores.of(truth, columns)), areas(PairedBins.of(truth, columns, like=coarser))
    for i in range(2):
        assert inside(rough.bracket(i), float(exact.area[i]))
    assert inside(rough.gap_bracket(0, 1), exact.gap(0, 1)[0])
    error = math.sqrt(exact.gaps[0, 1])
    assert inside((rough.open.low[0, 1], rough.open.high[0, 1]), error, 1e-7)
    assert inside((rough.open.low[0, 1], rough.open.high[0, 1]), math.sqrt(rough.gaps[0, 1]), 1e-7)


def test_bins_of_one_score_each_give_the_exact_test():
    scores, bins = made("tied", 0.9)
    one, two = delong(scores), delong(bins)
    assert two.p == pytest.approx(one.p, rel=1e-9)
    assert two.effect.value == one.effect.value
    assert two.effect.bracket == (one.effect.value, one.effect.value)
    assert "nothing is open" in two.notes[0]


def test_a_model_against_itself_is_p_1():
    rng = np.random.default_rng(1)
    truth, score = rng.random(30_000) < 0.5, rng.normal(size=30_000)
    for column in (score, np.round(score)):
        found = delong(PairedBins.of(truth, {"A": column, "B": column}))
        assert found.p == 1
        assert found.effect.value == 0
        assert "identical as far as bins tell" in found.notes[0]


def test_bins_that_leave_the_answer_open_say_so():
    rng = np.random.default_rng(2)
    truth = rng.random(50_000) < 0.5
    base = rng.normal(size=50_000) + truth
    nearly = np.where(rng.random(50_000) < 1e-4, rng.normal(size=50_000), base)
    found = delong(PairedBins.of(truth, {"A": base, "B": nearly}), level=0.7)
    low, high = found.within["p"]
    assert low < 0.3 < high
    assert any("open whether p is below 0.3: count the scores one by one" in note for note in found.notes)
    assert not any("leave open" in note for note in delong(PairedBins.of(truth, {"A": base, "B": nearly})).notes)


def test_several_models_and_their_pairs_are_those_of_every_score():
    rng = np.random.default_rng(5)
    truth = rng.random(20_000) < 0.4
    base = rng.normal(size=20_000) + truth
    columns = {"A": base, "B": base + 0.3 * rng.normal(size=20_000), "C": rng.normal(size=20_000) + truth}
    scores, bins = PairedScores.of(truth, columns), PairedBins.of(truth, columns)
    one, two = delong_many(scores), delong_many(bins)
    assert two.df == one.df
    assert two.notes[0].startswith("scores were counted in bins: AUROC of A lies between 0.")
    assert two.statistic == pytest.approx(one.statistic, rel=1e-3)
    for exact, rough in zip(delong_pairs.pairs(scores), delong_pairs.pairs(bins), strict=True):
        assert rough.models == exact.models
        assert rough.log10_p == pytest.approx(exact.log10_p, rel=1e-2, abs=1e-2)
        assert inside(rough.within["p"], exact.p)
    same = PairedBins.of(truth, {"A": base, "B": base, "C": columns["C"]})
    assert delong_many(same).df == (1,)


def test_areas_near_1_tell_what_bins_leave_open():
    rng = np.random.default_rng(7)
    truth = rng.random(20_000) < 0.5
    columns = {"A": rng.normal(size=20_000) + 12 * truth, "B": rng.normal(size=20_000) + 1e-5 * rng.random(20_000)}
    scores, bins = PairedScores.of(truth, columns), PairedBins.of(truth, columns)
    one, two = area_difference(scores), area_difference(bins)
    assert two.effect.bracket[0] <= one.effect.value <= two.effect.bracket[1]
    assert any("counted in bins: AUROC of A lies between" in note for note in two.notes)


def test_margins_are_those_of_every_score():
    scores, bins = made("smooth", 0.9)
    for test in (auroc_non_inferiority, auroc_equivalence):
        for margin in (0.001, 0.06):
            one, two = (test(tally, margin=margin) for tally in (scores, bins))
            assert two.log10_p == pytest.approx(one.log10_p, rel=1e-2, abs=1e-2)
            assert inside(two.within["p"], one.p)
            assert any("counted in bins" in note for note in two.notes)


def test_too_few_of_a_class_is_undefined_with_the_reason():
    found = delong(PairedBins.of([True, False, False], {"A": [1, 2, 3], "B": [3, 1, 2]}))
    assert found.p is None
    assert found.reason == "two of each are needed, and there are 1 positive and 2 negatives"


@settings(max_examples=50)
@given(st.floats(-1, 1), st.floats(0, 1))
def test_ends_hold_as_printed(low, width):
    told = [float(text) for text in _told(low, low + width).split(" and ")]
    slack = 1e-15 if width == 0 else 1e-300  # what is nearer to 0 is told as 0
    assert told[0] - slack <= low
    assert low + width <= told[1] + slack


def test_sums_of_products_of_counts_do_not_wrap_around():
    a, b = np.array([2**40, 3]), np.array([2**41, 5])
    assert _dot(a, b) == 2**81 + 15
