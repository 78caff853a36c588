# SPDX-License-Identifier: Apache-2.0
"""Rounded scores: order is kept, rounding twice changes nothing, parts merge, both ends are as near."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from assay.core.errors import PlanError
from assay.measures import parse
from assay.tally.scores.rounded_scores import MOST_CLASSES, Rounding, round_scores
from assay.tally.scores.score_tally import Scores

PROBABILITIES = arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1))
REALS = arrays(np.float64, st.integers(1, 40), elements=st.floats(allow_nan=False, allow_infinity=False))
BITS = st.integers(4, 20)


def checked(scores, bits, *, probability):
    found = round_scores(scores, bits, probability=probability)
    order = np.argsort(scores, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    np.testing.assert_array_equal(round_scores(found, bits, probability=probability), found)
    return found


@given(PROBABILITIES, BITS)
def test_probabilities_stay_probabilities_in_their_order(scores, bits):
    found = checked(scores, bits, probability=True)
    assert found.min() >= 0
    assert found.max() <= 1
    near = np.minimum(scores, 1 - scores)  # how far from the nearer end
    np.testing.assert_array_less(np.abs(found - scores), near * 2.0**-bits + 5e-324)
    np.testing.assert_array_equal(found == 0, scores == 0)
    np.testing.assert_array_equal(found == 1, scores == 1)


@given(REALS, BITS)
def test_other_scores_keep_sign_order_and_size(scores, bits):
    found = checked(scores, bits, probability=False)
    np.testing.assert_array_equal(np.sign(found), np.sign(scores))
    assert (np.abs(found - scores) <= np.abs(scores) * 2.0**-bits).all()
    np.testing.assert_array_equal(round_scores(-scores, bits, probability=False), -found)


@pytest.mark.parametrize("low", [0.0, 1 - 1e-6])
def test_over_confident_scores_are_as_near_at_both_ends(low):
    rng = np.random.default_rng(4)
    scores = low + 1e-6 * rng.random(100_000)
    found = checked(scores, 13, probability=True)
    near = np.minimum(scores, 1 - scores)
    assert (np.abs(found - scores) <= near * 2.0**-13).all()
    assert len(np.unique(found)) > 10_000


TABLES = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def tally(rows):
    return Scores.binary([score for score, _ in rows], [hit for _, hit in rows])


@given(TABLES, TABLES, BITS)
def test_merging_rounded_tallies_equals_rounding_the_union(first, second, bits):
    rounding = Rounding(bits=bits, probability=True)
    whole = tally([*first, *second]).rounded(rounding)
    assert tally(first).rounded(rounding) + tally(second).rounded(rounding) == whole
    assert tally(first) + tally(second).rounded(rounding) == whole


@given(TABLES, BITS)
def test_a_rounded_tally_is_read_as_it_was_written(rows, bits):
    held = tally(rows).rounded(Rounding(bits=bits, probability=True))
    assert Scores.from_json(json.loads(json.dumps(held.to_json()))) == held
    assert held.sizes() == tally(rows).sizes()


def test_real_scores_of_both_signs_and_several_classes_are_read_as_they_were_written():
    rng = np.random.default_rng(2)
    scores = Scores.per_class(rng.standard_cauchy((400, 3)), rng.choice(3, 400, p=[0.6, 0.4, 0]), "abc")
    held = scores.rounded(Rounding(bits=9, probability=False))
    assert Scores.from_json(json.loads(json.dumps(held.to_json()))) == held
    assert held.columns[0].value.min() < 0 < held.columns[0].value.max()


def test_tallies_rounded_in_two_ways_are_not_merged():
    rows = [(0.25, True), (0.75, False)]
    with pytest.raises(PlanError, match="rounded as probabilities"):
        tally(rows).rounded(Rounding(bits=13, probability=True)) + tally(rows).rounded(
            Rounding(bits=13, probability=False)
        )


@pytest.mark.parametrize("name", ["auroc", "average_precision", "brier_score", "log_loss"])
def test_a_measure_of_rounded_scores_is_that_of_the_rounded_rows(name):
    rng = np.random.default_rng(1)
    truth = rng.random(3000) < 0.3
    scores = 1 / (1 + np.exp(-rng.normal(size=3000) - truth))
    found = Scores.binary(scores, truth).rounded(Rounding(bits=7, probability=True)).one_vs_rest(1)
    rounded = round_scores(scores, 7, probability=True)
    assert parse(name)(found) == parse(name)(Scores.binary(rounded, truth).one_vs_rest(1))


def test_cells_are_bounded_by_fewer_bits_for_more_classes():
    bits = [Rounding.of_classes(k, probability=True).bits for k in range(2, 300)]
    assert bits == sorted(bits, reverse=True)
    assert (bits[0], bits[-1]) == (13, 7)
    assert MOST_CLASSES**2 * 16 * 2**6 <= 2**25 < (MOST_CLASSES + 1) ** 2 * 16 * 2**6
