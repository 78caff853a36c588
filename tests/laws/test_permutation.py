# SPDX-License-Identifier: Apache-2.0
"""The order in which classes are listed changes no overall value, and only reorders the values of the classes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.tally.tables import Multiclass
from tests.strategies import BINARY_CASES, MULTICLASS_CASES, SOME, amounts, matrices, plain, refuses, same


def listed_otherwise(matrix, order):
    return Multiclass.of([[matrix[i][j] for j in order] for i in order], labels=tuple(order))


@pytest.mark.parametrize("case", MULTICLASS_CASES, ids=str)
@SOME
@given(data=st.data())
def test_the_order_of_the_classes_does_not_move_an_overall_value(case, data):
    matrix = data.draw(matrices(amounts, least=2))
    order = data.draw(st.permutations(range(len(matrix))))
    ready, table = case.ready(len(matrix)), Multiclass.of(matrix)
    if not refuses(ready, table):
        assert same(plain(ready(table)), plain(ready(listed_otherwise(matrix, order))))


@pytest.mark.parametrize("case", BINARY_CASES, ids=str)
@SOME
@given(data=st.data())
def test_the_order_of_the_classes_reorders_the_class_values(case, data):
    matrix = data.draw(matrices(amounts, least=2))
    order = data.draw(st.permutations(range(len(matrix))))
    before, after = Multiclass.of(matrix).one_vs_rest(), listed_otherwise(matrix, order).one_vs_rest()
    for place, label in enumerate(order):
        assert plain(case(after.at(place))) == plain(case(before.at(label)))
