# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.tally.labels.one_vs_rest import Binary
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.score_tally import Scores

rows = st.lists(st.tuples(st.integers(-3, 6).map(float), st.booleans()), max_size=40)


def both(some):
    """One table merged at once, the other held apart until it is asked."""
    apart = Scores.binary([s for s, _ in some], [y for _, y in some]).one_vs_rest(1)
    again = Scores.binary([s for s, _ in some], [y for _, y in some]).one_vs_rest(1)
    return Ranked(score=again.score, pos=again.pos, neg=again.neg), apart


def side(found):
    """A side without the scores at which the class has no rows."""
    kept = found.count > 0
    return [part[kept].tolist() for part in (found.count, found.below, found.tied)]


@given(rows)
def test_both_forms_of_a_table_say_the_same(some):
    merged, apart = both(some)
    assert side(merged.by_positive) == side(apart.by_positive)
    assert side(merged.by_negative) == side(apart.by_negative)
    assert (merged.positives, merged.negatives, merged.n) == (apart.positives, apart.negatives, apart.n)
    for threshold in (-4.0, 0.0, 2.5, 7.0):
        assert merged.at(threshold) == apart.at(threshold)
    assert merged == apart


@given(rows, st.integers(-4, 7))
def test_a_row_is_called_positive_when_its_score_reaches_the_threshold(some, threshold):
    _, table = both(some)
    called = [(y, s >= threshold) for s, y in some]
    tp, fp, fn, tn = (called.count(cell) for cell in ((True, True), (False, True), (True, False), (False, False)))
    assert table.at(threshold) == Binary.of(tp=tp, fp=fp, fn=fn, tn=tn)


@given(rows)
def test_counts_from_the_top_are_those_at_each_score_as_a_threshold(some):
    table, _ = both(some)
    for i, score in enumerate(table.score.tolist()):
        cells = table.at(score)
        assert (table.tp[i], table.fp[i]) == (cells.tp, cells.fp)


def test_a_stack_has_a_table_on_each_row():
    table, _ = both([(0.0, False), (1.0, True), (1.0, False)])
    stack = table.drawn(np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [3.0, 0.0]]))
    assert stack.tp.tolist() == [[2, 2], [0, 0]]
    assert stack.positives.tolist() == [2, 0]
    assert stack.by_positive.below.tolist() == [[0, 1], [0, 3]]
    assert not stack.exact
    assert table.exact
