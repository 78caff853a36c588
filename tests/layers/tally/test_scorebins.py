# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import AssayError, PlanError, RecordError
from assay.tally import bincounting, binmaps
from assay.tally.binmaps import PROBABILITY, REAL, BinMap
from assay.tally.binned import binned
from assay.tally.scorebins import ScoreBins
from assay.tally.scores import Scores

chances = st.floats(0, 1) | st.sampled_from([0.0, 5e-324, 1e-30, 0.5, np.nextafter(0.5, 0), np.nextafter(1, 0), 1.0])
reals = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([-0.0, 0.0, 1e-300, -1e-300, 2.0**32])
rows = st.lists(st.tuples(chances, st.booleans()), max_size=40)


def of(some, by=PROBABILITY):
    return ScoreBins.of([s for s, _ in some], [y for _, y in some], by)


def small(monkeypatch):
    """Chunks and blocks of a few rows, so that hundreds of rows go through all of them."""
    for module in (binmaps, bincounting):
        monkeypatch.setattr(module, "CHUNK", 16)
    for name, size in {"LEAST": 32, "LARGEST": 64}.items():
        monkeypatch.setattr(bincounting, name, size)


@given(st.lists(chances, min_size=1, max_size=50))
def test_a_higher_probability_never_falls_into_a_lower_bin(some):
    ordered = np.sort(np.array(some))
    place = PROBABILITY.place(ordered)
    assert (np.diff(place) >= 0).all()
    assert place[0] >= 0
    assert place[-1] < PROBABILITY.size


@given(st.lists(reals, min_size=1, max_size=50))
def test_a_higher_score_never_falls_into_a_lower_bin(some):
    ordered = np.sort(np.array(some))
    for by in (REAL, BinMap.quantile(some, 8)):
        place = by.place(ordered)
        assert (np.diff(place) >= 0).all()
        assert place[0] >= 0
        assert place[-1] < by.size


@given(st.lists(chances, min_size=1, max_size=20))
def test_the_floor_of_a_bin_is_its_lowest_score(some):
    for by in (PROBABILITY, REAL):
        place = np.unique(by.place(np.array(some)))
        floor = by.floor(place)
        assert (by.place(floor) == place).all()
        inside = floor > (0 if by is PROBABILITY else -1e308)
        assert (by.place(np.nextafter(floor[inside], -np.inf)) < place[inside]).all()


@given(rows, rows, st.sampled_from([PROBABILITY, REAL, BinMap.quantile([0.1, 0.2, 0.5, 0.9], 4)]))
def test_merging_equals_counting_the_union(a, b, by):
    assert of(a, by) + of(b, by) == of(a + b, by)


@given(rows)
def test_json_brings_back_the_same_tally(some):
    tally = of(some, BinMap.quantile([0.1, 0.5], 4))
    again = ScoreBins.from_json(json.loads(json.dumps(tally.to_json())))
    assert again == tally
    assert np.array_equal(again.only, tally.only, equal_nan=True)


weighted = st.lists(
    st.tuples(st.floats(0, 1), st.booleans(), st.floats(0, 1e6) | st.fractions(0, 5, max_denominator=7)), max_size=20
)


def weighing(some, by):
    return binned(Scores.binary([s for s, *_ in some], [y for _, y, _ in some], [w for *_, w in some]), by)


def test_bins_with_and_without_weights_are_not_added():
    plain = binned(Scores.binary([0.1, 0.9], [False, True]), PROBABILITY)
    with pytest.raises(PlanError, match="one tally is weighted and the other is not"):
        _ = plain + weighing([(0.1, True, 0.5)], PROBABILITY)


def test_bins_that_hold_one_score_are_known_to_be_tied_through_blocks_and_merging(monkeypatch):
    small(monkeypatch)
    rng = np.random.default_rng(1)
    scores, truth = rng.integers(0, 10, 500) / 10, rng.random(500) < 0.5
    for by in (PROBABILITY, REAL, BinMap.quantile(scores, 64)):
        tally = ScoreBins.of(scores, truth, by)
        assert sorted(tally.only) == sorted(np.unique(scores))
        assert tally.best() == tally.worst()
        assert sorted((tally + tally).only) == sorted(np.unique(scores))
    near = ScoreBins.of(scores, truth, PROBABILITY) + ScoreBins.of(scores + 1e-14, truth, PROBABILITY)
    assert np.isnan(near.only).any()


def test_the_number_of_threads_leaves_no_trace(monkeypatch):
    small(monkeypatch)
    rng = np.random.default_rng(2)
    truth = rng.random(500) < 0.4
    some = rng.random(500)
    shapes = [
        some,
        some.round(1),
        np.where(some < 0.8, some, 0.5),
        np.where(some < 0.2, some, 0.25),
        np.where(truth, 0.0, -0.0),
        np.sort(some.round(3)),
    ]
    for scores in (*shapes, some.astype(np.float32)):
        for by in (PROBABILITY, REAL, BinMap.quantile(scores, 64)):
            one, many = (ScoreBins.of(scores, truth, by, threads) for threads in (1, 3))
            assert json.dumps(one.to_json()) == json.dumps(many.to_json())
            place, at = np.unique(by.place(scores.astype(np.float64)), return_inverse=True)
            assert (one.place == place).all()
            assert (one.pos == np.bincount(at, truth)).all()
            assert (one.neg == np.bincount(at, ~truth)).all()
            low, high = (np.array([f(scores[at == i]) for i in range(len(place))]) for f in (np.min, np.max))
            assert np.array_equal(one.only, np.where(low == high, low, np.nan), equal_nan=True)


@pytest.mark.parametrize("full", [40, 100, 499, 500])
def test_narrow_counts_are_made_wide_before_they_are_full(full, monkeypatch):
    small(monkeypatch)
    scores, truth = np.random.default_rng(3).random(500).round(1), np.arange(500) % 3 == 0
    plain = [ScoreBins.of(scores, truth, by) for by in (PROBABILITY, REAL)]
    monkeypatch.setattr(bincounting, "_FULL", full)
    for threads in (1, 3):
        assert [ScoreBins.of(scores, truth, by, threads) for by in (PROBABILITY, REAL)] == plain


def test_scores_without_a_bin_are_counted_in_all_rows_whatever_the_threads(monkeypatch):
    small(monkeypatch)
    scores, truth = np.full(1000, 0.5), np.arange(1000) % 3 == 0
    scores[[70, 500, 999]] = np.nan
    for by in (PROBABILITY, REAL, BinMap.quantile([0.2, 0.8], 4)):
        for threads in (1, 3):
            with pytest.raises(AssayError, match=": 3 scores are NaN or infinite"):
                ScoreBins.of(scores, truth, by, threads)
    with pytest.raises(AssayError, match="threads cannot be 0"):
        ScoreBins.of(scores, truth, REAL, 0)


def test_many_scores_in_a_bin_are_not_called_tied():
    rng = np.random.default_rng(1)
    scores, truth = rng.random(5000), rng.random(5000) < 0.5
    tally = ScoreBins.of(scores, truth, BinMap.quantile(scores, 16))
    assert np.isnan(tally.only).all()
    best, worst = tally.best(), tally.worst()
    assert (best.by_positive.count * best.by_positive.below).sum() > (
        worst.by_positive.count * worst.by_positive.below
    ).sum()


def test_what_is_no_probability_or_no_number_is_refused():
    for bad in (1.5, -1e-9):
        with pytest.raises(AssayError) as refused:
            of([(bad, True)])
        assert refused.value.code == "score-out-of-range"
    for by in (PROBABILITY, REAL):
        with pytest.raises(AssayError) as refused:
            of([(float("nan"), True)], by)
        assert refused.value.code == "score-not-finite"
    with pytest.raises(PlanError):
        ScoreBins.of([0.1], [True, False], REAL)


def test_other_bins_are_not_merged_and_other_content_is_not_read():
    with pytest.raises(PlanError, match="different score bins"):
        of([(0.1, True)]) + of([(0.1, True)], REAL)
    with pytest.raises(RecordError):
        ScoreBins.from_json({"kind": "scores"})
