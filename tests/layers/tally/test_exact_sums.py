# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.tally.fixed_point import exact_dot, exact_sums

values = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(st.lists(st.tuples(values, st.integers(1, 2**30), st.integers(0, 2)), max_size=30))
def test_sums_of_doubles_are_exact(some):
    columns = ([row[i] for row in some] for i in range(3))
    value, count, group = (np.array(c, dtype=t) for c, t in zip(columns, (float, np.int64, np.int64), strict=True))
    expected = [sum((Fraction(v) * c for v, c, g in some if g == i), Fraction(0)) for i in range(3)]
    assert exact_sums(value, count, group, 3) == expected


@given(st.lists(st.tuples(st.integers(0, 2**61), st.integers(0, 2**61)), max_size=20))
def test_a_sum_of_products_never_wraps_around(some):
    a, b = (np.array([pair[i] for pair in some], dtype=np.int64) for i in range(2))
    assert exact_dot(a, b) == sum(x * y for x, y in some)
