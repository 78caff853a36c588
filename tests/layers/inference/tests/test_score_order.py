# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.tests.delong import components

TINY = 2.0**-52


def holds(positives, negatives):
    """Twice the negatives below each positive, and twice the positives above each negative; a tie is half."""
    (above,), (below,) = components(positives[np.newaxis], negatives[np.newaxis])
    pairs = (positives[:, np.newaxis] > negatives) * 2 + (positives[:, np.newaxis] == negatives)
    return above.tolist() == pairs.sum(axis=1).tolist() and below.tolist() == pairs.sum(axis=0).tolist()


SIDE = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40).map(np.array)


@given(SIDE, SIDE)
def test_rows_are_placed_as_every_pair_says(positives, negatives):
    assert holds(positives, negatives)


@pytest.mark.parametrize(
    "scores",
    [
        1 + TINY * np.arange(900)[::-1],
        -1 - TINY * np.random.default_rng(1).integers(0, 300, 900),
        np.random.default_rng(2).permutation(np.r_[np.full(500, 0.5), 0.5 + TINY * np.arange(300), [-0.0, 0.0, -0.5]]),
    ],
    ids=["descending", "below zero, tied", "one long run"],
)
def test_scores_that_differ_in_their_last_bits_are_told_apart(scores):
    assert holds(scores[::2], scores[1::2])
