# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from assay.tally.labels.one_vs_rest import Binary, Multiclass

TABLE = Binary.of(tp=231, fp=32, fn=27, tn=54)


def test_the_margins_of_four_cells():
    assert (TABLE.actual, TABLE.actual_negative, TABLE.called, TABLE.called_negative) == (258, 86, 263, 81)
    assert TABLE.n == 344


def test_four_cells_add_up_and_compare():
    assert Binary.of(tp=462, fp=64, fn=54, tn=108) == TABLE + TABLE
    assert Binary.of(tp=1, fp=0, fn=0, tn=0) != Binary.of(tp=1, fp=0, fn=0, tn=1)
    assert TABLE != 344
    with pytest.raises(TypeError, match="unhashable"):
        hash(TABLE)


def test_a_matrix_has_its_rows_for_truth():
    found = Multiclass.of([[4, 1], [0, 5]])
    assert found.actual.tolist() == [5, 5]
    assert found.called.tolist() == [4, 6]
    assert found.hits.tolist() == [4, 5]
    assert (found.k, found.n, found.correct, found.labels) == (2, 10, 9, (0, 1))


def test_true_negatives_are_all_rows_that_touch_neither_row_nor_column():
    matrix = [[120, 7, 9, 4], [15, 116, 3, 6], [12, 13, 115, 0], [2, 96, 4, 38]]
    stack = Multiclass.of(matrix).one_vs_rest()
    for i in range(4):
        others = [j for j in range(4) if j != i]
        assert stack.at(i).tn == sum(matrix[j][m] for j in others for m in others)
        assert stack.at(i).n == 560


def test_the_pooled_table_adds_the_classes_up():
    pooled = Multiclass.of([[4, 1, 0], [0, 5, 2], [3, 0, 0]]).pooled()
    assert (pooled.tp, pooled.fp, pooled.fn) == (9, 6, 6)
    assert pooled.n == 3 * 15


def test_cells_may_be_fractions_and_huge():
    found = Multiclass.of([[Fraction(1, 3), 2**70], [0, Fraction(2, 3)]])
    assert found.n == 2**70 + 1
    assert found.one_vs_rest().at(0).tn == Fraction(2, 3)


def test_a_stack_of_matrices_becomes_a_stack_of_classes():
    matrix = np.arange(18, dtype=float).reshape(2, 3, 3)
    parts = (matrix.diagonal(axis1=1, axis2=2), matrix.sum(axis=2), matrix.sum(axis=1))
    stack = Multiclass(hits=parts[0], actual=parts[1], called=parts[2], labels=(0, 1, 2))
    assert stack.n.tolist() == [36, 117]
    assert stack.one_vs_rest().tn.shape == (2, 3)
    assert stack.pooled().n.tolist() == [3 * 36, 3 * 117]
    one = Multiclass.of(matrix[1].astype(int).tolist()).one_vs_rest()
    assert stack.one_vs_rest().fp[1].tolist() == one.fp.tolist()
