# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.tests.delong import in_order

TINY = 2.0**-52


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=80))
def test_the_order_is_that_of_a_stable_sort_and_runs_begin_where_scores_change(found):
    scores = np.array(found, dtype=np.float64)
    order, starts = in_order(scores)
    want = np.argsort(scores, kind="stable")
    assert order.tolist() == want.tolist()
    ordered = scores[want]  # compared, for the difference of two scores may be more than a double holds
    changes = [0, *(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist()] if found else []
    assert (list(range(len(found))) if starts is None else starts.tolist()) == changes


@pytest.mark.parametrize(
    "scores",
    [
        1 + TINY * np.arange(5000)[::-1],
        -1 - TINY * np.random.default_rng(1).integers(0, 900, 5000),
        np.random.default_rng(2).permutation(
            np.r_[np.full(3000, 0.5), 0.5 + TINY * np.arange(2000), [-0.0, 0.0, -0.5]]
        ),
    ],
    ids=["descending", "below zero, tied", "one long run"],
)
def test_scores_that_differ_in_their_last_bits_are_told_apart(scores):
    order, starts = in_order(scores)
    assert order.tolist() == np.argsort(scores, kind="stable").tolist()
    assert (len(scores) if starts is None else len(starts)) == len(np.unique(scores))
