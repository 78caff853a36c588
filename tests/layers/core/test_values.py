# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.values import (
    Number,
    Share,
    Undefined,
    exact_cells,
    floats,
    number,
    pick,
    quotient,
    root,
    share,
)  # fmt: skip


def test_a_share_keeps_both_parts_and_rounds_once():
    found = share(231, of=258, empty="nobody").settled()
    assert (found.numerator, found.denominator) == (231, 258)
    assert found.value == 231 / 258


@given(st.integers(0, 2**300), st.integers(1, 2**300))
def test_integers_of_any_size_divide_with_one_rounding(a, b):
    if Fraction(a, b) < 2**1000:
        assert Share(a, b).value == float(Fraction(a, b))


@given(st.fractions(0, 10**6), st.fractions(Fraction(1, 10**6), 10**6))
def test_fractions_divide_with_one_rounding(a, b):
    assert Share(a, b).value == Number(a, b).value == float(a / b)


def test_a_share_of_nothing_is_undefined_with_its_reason():
    found = share(0, of=0, empty="no row is truly {positive}").settled()
    assert found == Undefined(reason="no row is truly {positive}")
    assert found.named(positive='"cat"', negative='"dog"').reason == 'no row is truly "cat"'


def test_only_the_margins_that_vanish_are_told():
    found = number(0, over=0, empty=((0, "no positives"), (5, "no negatives"), (0, "no calls"))).settled()
    assert found.reason == "no positives; no calls"


def test_a_zero_denominator_that_no_margin_explains_still_has_a_reason():
    found = number(0, over=0, empty=((1, "never"),)).settled()
    assert isinstance(found, Undefined)
    assert found.reason


@pytest.mark.parametrize(
    ("top", "infinite", "value"), [(3, True, math.inf), (0, True, None), (3, False, None), (-3, True, None)]
)
def test_a_number_over_zero_is_infinite_only_where_declared_and_positive(top, infinite, value):
    found = number(top, over=0, empty="nothing", infinite=infinite).settled()
    assert (None if isinstance(found, Undefined) else found.value) == value


def test_a_stack_has_nan_where_one_table_would_have_no_value():
    found = Share(np.array([1.0, 0.0]), np.array([2.0, 0.0])).values
    assert found[0] == 0.5
    assert math.isnan(found[1])


def test_a_stack_is_infinite_where_declared():
    found = Number(np.array([1.0, 0.0, 2.0]), np.array([0.0, 0.0, 4.0]), infinite=True).values
    assert found[0] == math.inf
    assert math.isnan(found[1])
    assert found[2] == 0.5


@pytest.mark.parametrize("kind", [Share, Number])
def test_an_entry_of_a_stack_is_a_value_of_its_own(kind):
    stack = kind(
        np.array([1, 0], dtype=object), np.array([3, 0], dtype=object), ((np.array([4, 0], dtype=object), "none"),)
    )
    assert stack.at(0).settled().value == 1 / 3
    assert stack.at(1).settled() == Undefined(reason="none", code="zero-margin")


@given(st.integers(0, 2**250))
def test_the_root_of_a_square_is_exact(x):
    assert root(x * x) == x


@given(st.fractions(Fraction(1, 2**40), 2**200))
def test_the_root_of_a_fraction_is_good_to_a_hundred_bits(x):
    assert abs(root(x) ** 2 / x - 1) < Fraction(1, 2**100)


@pytest.mark.parametrize("power", [-100, -300, -600, -2000], ids="2**{}".format)
def test_the_root_of_a_tiny_fraction_is_good_to_a_hundred_bits_too(power):
    x = 3 * Fraction(2) ** power
    assert abs(root(x) ** 2 / x - 1) < Fraction(1, 2**100)


def test_the_root_works_on_arrays_of_either_kind():
    assert root(np.array([4.0, 9.0])).tolist() == [2.0, 3.0]
    assert root(np.array([4, 10**40], dtype=object)).tolist() == [2, 10**20]


@given(st.lists(st.one_of(st.integers(0, 2**70), st.fractions(0, 2**70)), min_size=1))
def test_exact_amounts_become_floats_with_one_rounding_each(values):
    assert floats(np.array(values, dtype=object)).tolist() == [float(v) for v in values]


def test_a_quotient_is_exact_for_exact_entries_and_elementwise_for_floats():
    assert quotient(np.array([1, 2**80], dtype=object), np.array([3, 2**81], dtype=object)).tolist() == [1 / 3, 0.5]
    found = quotient(np.array([1.0, 1.0]), np.array([4.0, 0.0]))
    assert found[0] == 0.25
    assert math.isnan(found[1])


def test_an_amount_that_is_one_for_all_is_picked_whole():
    assert pick(7, 3) == 7
    assert pick(np.array([1, 2, 3]), 1) == 2
    assert pick(np.array(5.0), 0) == 5.0


def test_cells_are_python_integers_that_never_overflow():
    found = exact_cells(np.array([2**62, 2**62]))
    assert found.sum() == 2**63
    assert exact_cells([Fraction(1, 3), 2]).tolist() == [Fraction(1, 3), 2]
