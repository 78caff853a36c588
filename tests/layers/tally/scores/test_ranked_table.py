# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.tally.labels.one_vs_rest import Binary
from assay.tally.scores.score_tally import Scores

rows = st.lists(st.tuples(st.integers(-3, 6).map(float), st.booleans()), max_size=40)


def ranked(some):
    return Scores.binary([s for s, _ in some], [y for _, y in some]).one_vs_rest(1)


@given(rows)
def test_at_each_score_stand_the_rows_of_a_class_and_those_of_the_other_below_and_tied(some):
    table = ranked(some)
    assert table.score.tolist() == sorted({s for s, _ in some})
    for own, side in ((True, table.by_positive), (False, table.by_negative)):
        others = [s for s, y in some if y is not own]
        expected = [(some.count((x, own)), sum(s < x for s in others), others.count(x)) for x in table.score.tolist()]
        assert list(zip(*(part.tolist() for part in (side.count, side.below, side.tied)), strict=True)) == expected
    assert (table.positives, table.n) == (sum(y for _, y in some), len(some))


@given(rows, st.integers(-4, 7))
def test_a_row_is_called_positive_when_its_score_reaches_the_threshold(some, threshold):
    table = ranked(some)
    called = [(y, s >= threshold) for s, y in some]
    tp, fp, fn, tn = (called.count(cell) for cell in ((True, True), (False, True), (True, False), (False, False)))
    assert table.at(threshold) == Binary.of(tp=tp, fp=fp, fn=fn, tn=tn)


@given(rows)
def test_counts_from_the_top_are_those_at_each_score_as_a_threshold(some):
    table = ranked(some)
    for i, score in enumerate(table.score.tolist()):
        cells = table.at(score)
        assert (table.tp[i], table.fp[i]) == (cells.tp, cells.fp)


def test_a_stack_has_a_table_on_each_row():
    table = ranked([(0.0, False), (1.0, True), (1.0, False)])
    stack = table.drawn(np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [3.0, 0.0]]))
    assert stack.tp.tolist() == [[2, 2], [0, 0]]
    assert stack.positives.tolist() == [2, 0]
    assert stack.by_positive.below.tolist() == [[0, 1], [0, 3]]
    assert not stack.exact
    assert table.exact


def test_reversing_turns_the_ranking_round():
    table = ranked([(0.0, False), (2.0, True)])
    assert table.reversed().score.tolist() == [-2, 0]
    assert table.reversed().pos.tolist() == [1, 0]
