# SPDX-License-Identifier: Apache-2.0
"""Exact numbers in digits are the Fractions they stand for, and so are sums of weights in parts."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import RecordError
from assay.tally import weightparts
from assay.tally.sums import Sums
from assay.tally.weightparts import HERE, Cut, Weighing, WeightParts

doubles = st.floats(0, 1e40) | st.floats(0, 1) | st.sampled_from([0.0, 5e-324, 1e300, 1.0, 3.0])
numbers = st.lists(
    doubles.map(Fraction)
    | st.integers(0, 2**200).map(Fraction)
    | st.fractions(0, 9, max_denominator=9)
    | st.builds(lambda high, low: Fraction((high << 60) | low), st.integers(0, 2**54), st.integers(0, 2)),
    max_size=6,
)


@given(numbers, numbers, st.data())
def test_digits_are_added_joined_and_rounded_as_fractions_are(a, b, data):
    held, more = Sums.of(a), Sums.of(b)
    assert held.tolist() == a
    assert held.doubles().tolist() == [float(one) for one in a]
    assert held.there.tolist() == [bool(one) for one in a]
    assert held.total() == sum(a, Fraction(0))
    both = held.beside(more)
    assert both.tolist() == a + b
    at = np.array([data.draw(st.integers(0, 2)) for _ in a], dtype=np.int64)
    expected = [sum((one for one, to in zip(a, at, strict=True) if to == place), Fraction(0)) for place in range(3)]
    assert held.gathered(at, 3).tolist() == expected
    if a:
        assert held.runs(np.array([0, len(a) // 2][: len(a)])).total() == sum(a, Fraction(0))
    # The unit that numbers were counted in leaves no trace.
    assert both[np.arange(len(a))].to_json() == held.to_json()
    assert Sums.from_json(json.loads(json.dumps(held.to_json())), len(a)).tolist() == a


def test_a_record_holds_no_more_bytes_than_the_numbers_need():
    text = Sums.of([Fraction(3, 8)] * 3 + [Fraction(9, 4)]).to_json()
    assert text == {"unit": "3/8", "width": 1, "numbers": "AQEBBg=="}
    assert Sums.of([]).to_json() == {"unit": 1, "width": 0, "numbers": ""}


@pytest.mark.parametrize("change", [{"width": -1}, {"width": "1"}, {"unit": 0}, {"unit": "x"}, {"numbers": "AQ"}])
def test_damaged_sums_are_refused(change):
    content = Sums.of([Fraction(1), Fraction(2)]).to_json()
    with pytest.raises(RecordError, match=r"damaged|count is written"):
        Sums.from_json({**content, **change}, 2)


weights = st.lists(
    st.floats(2.0**-60, 2.0**60) | st.sampled_from([1.0, 0.1, 2.0**-64, 2.0**64]), min_size=1, max_size=9
)


@given(weights, st.sampled_from([27, HERE]))
def test_parts_of_weights_are_whole_numbers_that_bring_back_the_weight(some, bits):
    cut = Cut.between(min(some), max(some), bits)
    parts = cut.split(np.array(some))
    assert len(parts) == cut.size
    assert all(0 <= int(one) < 2**bits for part in parts for one in part)
    assert Sums.of_parts(parts, bits, cut.unit).tolist() == [Fraction(one) for one in some]


@given(weights, st.data())
def test_weights_that_come_in_parts_are_summed_exactly_however_often_they_are_carried(some, data):
    held = np.array(some)
    cells = np.array([data.draw(st.integers(0, 1)) for _ in some], dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weightparts, "_CARRIED", 2)
        found = Weighing(WeightParts.between((held.min(), held.max()), HERE), 2)
        for cell, weight in zip(cells, held, strict=True):
            found.add(np.array([cell]), np.array([weight]))
    assert found.occupied().tolist() == sorted(set(cells.tolist()))
    for sums, each in zip(found.sums(np.arange(2)), (held, held * held), strict=True):
        assert sums.tolist() == [sum(map(Fraction, each[cells == cell]), Fraction(0)) for cell in range(2)]


def test_parts_that_are_full_have_room_above_them():
    parts = WeightParts.between((2.0**-28, np.nextafter(2.0**40, 0)), HERE)
    assert parts.weights.last == HERE
    found = Weighing(parts, 1)
    row = np.nextafter(2.0**40, 0)
    for _ in range(3):
        found._held[0][:-1] = (1 << 62) - (1 << HERE)  # as if a million rows had been added
        found._carry()
        found.add(np.zeros(1, dtype=np.int64), np.array([row]))
    assert (found._held[0] >= 0).all()
