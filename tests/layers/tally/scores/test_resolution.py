# SPDX-License-Identifier: Apache-2.0
"""How many scores hold half of the rows, and how rounded scores are written."""

from __future__ import annotations

import numpy as np
import pytest

from assay.tally.scores.rounded_scores import CHUNK, LARGEST, Rounding, round_scores
from assay.tally.scores.score_tally import Scores


@pytest.mark.parametrize(
    ("counts", "resolution"),
    [
        ([1], 1),
        ([5, 1, 1], 1),
        ([3, 3], 1),
        ([4, 3, 3], 2),
        ([2, 2, 2, 2], 2),
        ([2, 2, 2, 2, 2], 3),
        ([1, 1, 1, 1, 1], 3),
    ],
)
def test_the_commonest_scores_that_hold_half_of_the_rows_are_counted(counts, resolution):
    score = np.repeat(np.arange(len(counts)) / 10, counts)
    tally = Scores.binary(score, np.zeros(len(score), dtype=bool))
    assert tally.resolution == resolution


def test_half_of_distinct_scores_is_rounded_up():
    for n in (1, 2, 3, 10, 11):
        assert Scores.binary(np.arange(n) / 16, np.ones(n, dtype=bool)).resolution == (n + 1) // 2


@pytest.mark.parametrize(
    ("classes", "bits"), [(2, 13), (22, 13), (23, 12), (32, 12), (45, 11), (46, 10), (181, 7), (400, 7)]
)
def test_bits_keep_the_cells_below_their_bound(classes, bits):
    assert Rounding.of_classes(classes, probability=True).bits == bits
    assert bits == 7 or classes**2 * 16 * 2 ** (bits - 1) <= 2**25
    assert bits == 13 or classes**2 * 16 * 2**bits > 2**25


@pytest.mark.parametrize("bits", [4, 9, 13])
def test_scores_are_rounded_to_the_nearest_of_so_many_bits(bits):
    rng = np.random.default_rng(bits)
    score = rng.normal(size=200) * 10.0 ** rng.integers(-9, 9, 200)
    significand, exponent = np.frexp(score)
    want = np.ldexp(np.rint(significand * 2**bits) / 2**bits, exponent)
    assert np.array_equal(round_scores(score, bits, probability=False), want)
    share = rng.random(200)
    near = np.where(share >= 0.5, 1 - share, share)
    significand, exponent = np.frexp(near)
    near = np.ldexp(np.rint(significand * 2**bits) / 2**bits, exponent)
    assert np.array_equal(round_scores(share, bits, probability=True), np.where(share >= 0.5, 1 - near, near))


def test_scores_are_rounded_part_by_part_alike():
    score = np.sort(np.random.default_rng(1).random(CHUNK + 7))
    whole = round_scores(score, 6, probability=True)
    assert np.array_equal(whole[CHUNK - 3 :], round_scores(score[CHUNK - 3 :], 6, probability=True))
    assert len(round_scores(np.zeros(0), 6, probability=True)) == 0


def test_scores_too_large_to_round_keep_their_digits():
    score = np.array([LARGEST, -LARGEST, np.nextafter(LARGEST, np.inf), -1.2345e300, 1.2345])
    rounded = round_scores(score, 4, probability=False)
    assert rounded[2:4].tolist() == score[2:4].tolist()
    assert rounded[4] == 1.25
    assert not np.signbit(round_scores(np.array([-0.0]), 4, probability=False))[0]


@pytest.mark.parametrize("probability", [False, True])
def test_keys_are_whole_numbers_in_the_order_of_scores(probability):
    rounding = Rounding(bits=5, probability=probability)
    grid = np.arange(0, 33) / 32
    score = rounding.apply(grid if probability else np.r_[-grid[:0:-1] * 100, grid * 100])
    keys = rounding.keys(score)
    assert np.array_equal(rounding.scores_at(keys), score)
    assert (np.diff(keys[np.unique(score, return_index=True)[1]]) > 0).all()
    assert keys[score == 0].tolist() == [0] * int((score == 0).sum())


def test_steps_of_rounded_probabilities_begin_at_zero():
    score = round_scores(np.array([0.3, 0.4, 0.9, 0.95]), 5, probability=True)
    tally = Scores.binary(score, np.array([True, False, True, True])).rounded(Rounding(bits=5, probability=True))
    column = tally.to_json()["columns"][0]
    assert column["scores"]["lowest"] == 0
    assert Scores.from_json(tally.to_json()) == tally
