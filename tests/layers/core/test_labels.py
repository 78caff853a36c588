# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.labels import in_order


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        ([10, 9, -1], (-1, 9, 10)),
        (["b", "a", "B", "ä", "10", "9"], ("10", "9", "B", "a", "b", "ä")),
        ([True, False], (False, True)),
        ([], ()),
        (["one"], ("one",)),
    ],
    ids=["numbers by size", "text by code point", "False before True", "nothing", "one"],
)
def test_labels_have_a_natural_order(labels, order):
    assert in_order(labels) == order


@given(st.one_of(st.sets(st.text(max_size=5)), st.sets(st.integers())))
def test_the_natural_order_does_not_depend_on_where_one_starts(labels):
    assert in_order(labels) == in_order(in_order(labels)) == in_order(sorted(labels, key=repr))
    assert set(in_order(labels)) == labels
