# SPDX-License-Identifier: Apache-2.0
"""Sums in fixed point: exact in any order, in any unit, and through JSON."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.core.errors import OutOfRange, RecordError
from assay.tally.fixed_point import LONGEST, Sums, Weights, exact_dot

whole = st.lists(st.one_of(st.integers(0, 9), st.integers(0, 2**60), st.integers(0, 2**100)), min_size=1, max_size=20)
exponents = st.integers(-80, 20)
weights = st.lists(st.one_of(st.just(0.0), st.floats(1e-9, 1e9)), min_size=1, max_size=40).filter(any)


@given(whole, exponents)
@example([2**54], 0)
def test_whole_numbers_come_back_as_they_are(numbers, exponent):
    sums = Sums.of_whole(numbers, exponent)
    assert sums.tolist() == [one * Fraction(2) ** exponent for one in numbers]
    assert sums.total() == sum(sums.tolist())
    assert sums.doubles().tolist() == pytest.approx([float(one) for one in sums.tolist()], rel=2**-52)
    assert sums.occupied.tolist() == [bool(one) for one in numbers]
    again = Sums.from_json(json.loads(json.dumps(sums.to_json())))
    assert again.tolist() == sums.tolist()
    assert again.to_bytes() == sums.to_bytes()


@given(whole, exponents, st.data())
def test_runs_are_added_without_rounding(numbers, exponent, data):
    first = sorted({0, *data.draw(st.lists(st.integers(0, len(numbers) - 1)))})
    sums = Sums.of_whole(numbers, exponent).added_in_runs(np.array(first))
    ends = [*first[1:], len(numbers)]
    assert sums.whole() == [sum(numbers[a:b]) for a, b in zip(first, ends, strict=True)]


@given(whole, whole, st.integers(0, 15))
def test_sums_of_different_units_stand_behind_each_other_unchanged(a, b, apart):
    coarse, fine = Sums.of_whole(a, apart), Sums.of_whole(b, 0)
    assert (coarse + fine).tolist() == [*coarse.tolist(), *fine.tolist()]
    assert (fine + coarse).to_bytes() == Sums.of_whole([*b, *(one << apart for one in a)], 0).to_bytes()


@given(weights, st.data())
def test_weights_are_added_alike_by_place_and_in_runs_and_in_any_order(given_weights, data):
    held = Weights.of(given_weights)
    place = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(held), max_size=len(held))))
    order = np.argsort(place, kind="stable")
    kept, first = np.unique(place[order], return_index=True)
    by_place, in_runs = held.added_by(place, 4), held[order].added_in_runs(first)
    for one, other in zip(by_place, in_runs, strict=True):
        assert one[kept].tolist() == other.tolist()
    shuffled = np.array(data.draw(st.permutations(range(len(held)))))
    for one, other in zip(by_place, held[shuffled].added_by(place[shuffled], 4), strict=True):
        assert one.tolist() == other.tolist()


def test_numbers_that_are_too_long_are_refused():
    with pytest.raises(OutOfRange, match="differ too much"):
        Sums.of_whole([1 << LONGEST], 0)


@pytest.mark.parametrize("content", [{"exponent": "1", "numbers": [1]}, {"exponent": 0, "numbers": [-1, "1/2"]}])
def test_damaged_sums_are_not_read(content):
    with pytest.raises(RecordError):
        Sums.from_json(content)


@given(st.lists(st.tuples(*[st.integers(0, 2**31) | st.integers(0, 2**62)] * 2), max_size=20))
@example([(2**31, 2**31)] * 2)
@example([(2**30, 2**31)] * 4)
@example([(2**62, 2)])
def test_products_of_whole_numbers_are_added_without_end(pairs):
    a, b = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    assert exact_dot(a, b) == sum(x * y for x, y in pairs)
