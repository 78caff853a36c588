# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from assay.inference.intervals.interval_choice import Wanted
from assay.inference.intervals.score_draws import band
from assay.tally.scores.score_tally import Scores


def table(n=200, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    return Scores.binary(rng.normal(size=n) + 1.5 * truth, truth).one_vs_rest(1)


roc_band, pr_band = partial(band, "roc"), partial(band, "pr")


@pytest.mark.parametrize("of_curve", [roc_band, pr_band])
def test_the_band_of_all_places_holds_the_band_of_each_and_the_curve(of_curve):
    found = of_curve(table(), Wanted())
    for outer, inner, curve in (
        (found.all_low, found.low, found.value),
        (-found.all_high, -found.high, -found.value),
    ):
        assert (outer <= inner).all()
        assert (inner <= curve).all()
    assert found.all_low.min() >= 0
    assert found.all_high.max() <= 1
    assert (found.low < found.high).all()
    assert (found.place[0] == 0, found.place[-1]) == (of_curve is roc_band, 1), "nothing found has no precision"


def test_a_roc_band_stands_on_the_curve_and_a_pr_band_on_precision():
    t = Scores.binary([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]).one_vs_rest(1)
    assert roc_band(t, Wanted(), [0.0, 0.5, 1.0]).value.tolist() == [0.5, 1.0, 1.0]
    assert pr_band(t, Wanted(), [0.5, 1.0]).value.tolist() == [1.0, 2 / 3]


@pytest.mark.parametrize("seed", range(4))
def test_the_roc_band_of_all_places_never_falls_because_the_curve_never_does(seed):
    found = roc_band(table(seed=seed), Wanted())
    assert (np.diff(found.all_low) >= 0).all()
    assert (np.diff(found.all_high) >= 0).all()


def test_the_same_seed_gives_the_same_band():
    first, second = (roc_band(table(), Wanted(seed=5)) for _ in range(2))
    assert np.array_equal(first.all_low, second.all_low)


def test_one_class_has_no_curve():
    with pytest.raises(ValueError, match="both classes"):
        roc_band(Scores.binary([0.1, 0.2], [1, 1]).one_vs_rest(1), Wanted())


def test_the_band_of_all_places_holds_the_whole_true_curve_most_of_the_time():
    from scipy.stats import norm

    places = np.linspace(0.05, 0.95, 19)
    true = norm.sf(norm.isf(places) - 1.5)
    held = []
    for seed in range(40):
        found = roc_band(table(200, seed), Wanted(), places)
        held.append(bool(((found.all_low <= true) & (true <= found.all_high)).all()))
    assert sum(held) >= 34


def test_a_curve_goes_straight_to_the_next_corner_and_rises_there():
    scores, truth = [5, 4, 3, 3, 2, 1], [True, False, True, True, False, False]
    found = roc_band(Scores.binary(scores, truth).one_vs_rest(1), Wanted(), [0, 1 / 6, 1 / 3, 0.5, 1])
    # One negative, then two positives at once: flat until the false positive rate is a third, up, and flat again.
    assert found.value == pytest.approx([1 / 3, 1 / 3, 1, 1, 1])


def test_precision_is_a_share_of_what_is_called_even_of_less_than_one_row():
    t = Scores.binary([0.9, 0.9, 0.5, 0.5, 0.1], [1, 0, 1, 1, 0]).one_vs_rest(1)
    # A positive and a negative have the highest score: half of any part of them is right.
    assert pr_band(t, Wanted(), [0.1, 0.3, 1 / 3, 1.0]).value == pytest.approx([0.5, 0.5, 0.5, 0.75])


def test_false_positives_grow_evenly_from_none_to_the_first_positive():
    t = Scores.binary([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], [0, 0, 1, 0, 1, 0]).one_vs_rest(1)
    # Half of the positives are found with 2 false positives, a quarter with 1: half a row of one and a half is right.
    found = pr_band(t, Wanted(), [0.25, 0.5, 0.75, 1.0]).value
    assert found == pytest.approx([0.5 / 1.5, 1 / 3, 1.5 / 4, 2 / 5])
