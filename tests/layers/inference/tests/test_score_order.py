# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.tests.delong import in_order

TINY = 2.0**-52


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=80))
def test_rows_are_in_the_order_of_their_scores_and_runs_begin_where_scores_change(found):
    scores = np.array(found, dtype=np.float64)
    order, starts = in_order(scores)
    ordered = np.sort(scores)
    assert sorted(order.tolist()) == list(range(len(found)))
    assert scores[order].tolist() == ordered.tolist()
    changes = [0, *(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist()] if found else []
    assert starts.tolist() == changes


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
    assert scores[order].tolist() == np.sort(scores).tolist()
    assert len(np.unique(order)) == len(scores)
    assert len(starts) == len(np.unique(scores))
