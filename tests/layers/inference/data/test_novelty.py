# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ncx2

from assay.inference.data_chance import outside_by_chance, unseen_by_chance
from assay.inference.tests.contingency import chi_squared_association, noncentral_ends
from assay.tally.contingency_tables import Table


@pytest.mark.parametrize(("earlier", "later"), [(2, 3), (3, 4), (5, 2)])
def test_the_chance_of_values_outside_is_that_of_all_orders(earlier, later):
    """Every way to choose which of the ranks came earlier, counted one by one."""
    ways = list(combinations(range(earlier + later), earlier))
    new = [
        sum(not chosen[0] < rank < chosen[-1] for rank in set(range(earlier + later)) - set(chosen)) for chosen in ways
    ]
    for k in range(1, later + 1):
        assert outside_by_chance(k, later, earlier) == pytest.approx(sum(n >= k for n in new) / len(ways))


def test_few_unseen_categories_are_no_surprise_among_rare_ones():
    rare = {f"word {i}": 1 for i in range(300)}
    later = {f"word {i}": 1 for i in range(250, 400)}
    unseen, p = unseen_by_chance(rare, later)
    assert unseen == 100
    assert p > 0.2
    assert unseen_by_chance({"a": 10}, {"a": 3}) == (0, 1.0)
    assert unseen_by_chance({}, {"a": 3}) == (3, 1.0)


@given(st.floats(0.01, 500), st.integers(1, 30))
def test_noncentral_ends_put_the_statistic_at_the_tails_of_scipys_distribution(value, df):
    low, high = noncentral_ends(value, df, 0.95)
    assert low <= high
    if low > 0:
        assert ncx2.sf(value, df, low) == pytest.approx(0.025, abs=1e-6)
    if high > 0:
        assert ncx2.cdf(value, df, high) == pytest.approx(0.025, abs=1e-6)


@given(st.lists(st.lists(st.integers(0, 60), min_size=3, max_size=3), min_size=2, max_size=4))
def test_the_interval_of_cramers_v_holds_it_and_stays_within_its_range(rows):
    cells = np.array(rows)
    if (cells.sum(axis=0) > 0).sum() < 2 or (cells.sum(axis=1) > 0).sum() < 2:
        return
    one = chi_squared_association(Table(rows=tuple(map(tuple, rows)))).more[0]
    if one.interval is not None:
        assert 0 <= one.interval.low <= one.value <= one.interval.high
        assert one.interval.low <= 1
