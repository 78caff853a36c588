# SPDX-License-Identifier: Apache-2.0
"""The order in which classes are listed changes no overall value, and only reorders the values of the classes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.tally.labels.one_vs_rest import Multiclass
from tests.strategies import BINARY_CASES, MANY, MULTICLASS_CASES, amounts, matrices, plain, refuses, same


@st.composite
def listed_twice(draw):
    """A matrix, another order of its classes, and the matrix in that order."""
    matrix = draw(matrices(amounts, least=2))
    order = draw(st.permutations(range(len(matrix))))
    return matrix, order, [[matrix[i][j] for j in order] for i in order]


@MANY
@given(listed_twice())
def test_the_order_of_the_classes_moves_no_overall_value(drawn):
    matrix, order, other = drawn
    first, second = Multiclass.of(matrix), Multiclass.of(other, labels=tuple(order))
    readies = [case.ready(len(matrix)) for case in MULTICLASS_CASES]
    values = {m.title: (plain(m(first)), plain(m(second))) for m in readies if not refuses(m, first)}
    assert len(values) > 60
    assert not {title: pair for title, pair in values.items() if not same(*pair)}


@MANY
@given(listed_twice())
def test_the_order_of_the_classes_reorders_the_class_values(drawn):
    matrix, order, other = drawn
    before, after = Multiclass.of(matrix).one_vs_rest(), Multiclass.of(other).one_vs_rest()
    for case in BINARY_CASES:
        for place, label in enumerate(order):
            assert plain(case(after.at(place))) == plain(case(before.at(label))), case
