# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.data_chance import (
    Relabelled,
    even_errors,
    fewest_to_lose_significance,
    fewest_to_reverse,
    mcnemar_p,
)
from assay.inference.tests.mcnemar import mcnemar_midp
from assay.tally.contingency_tables import Outcomes

COUNTS = st.integers(0, 80)


@given(COUNTS, COUNTS)
def test_many_tables_at_once_have_the_p_of_the_declared_test(a, b):
    p = mcnemar_midp(Outcomes(both=5, only_a=a, only_b=b, neither=5)).p
    assert mcnemar_p(np.array([a]), np.array([b]))[0] == pytest.approx(p, rel=1e-9)


@given(COUNTS, COUNTS)
def test_one_label_fewer_does_not_turn_the_conclusion(ahead, behind):
    reverse = fewest_to_reverse(ahead, behind)
    if reverse is not None:
        assert ahead - reverse < behind + reverse
        assert ahead - (reverse - 1) >= behind + reverse - 1
    lose = fewest_to_lose_significance(ahead, behind, 0.05) if ahead >= behind else None
    if lose is not None:
        at = [mcnemar_p(np.array([ahead - k]), np.array([behind + k]))[0] for k in (lose - 1, lose)]
        assert at[0] < 0.05 <= at[1]


def test_relabelling_keeps_the_rows_and_what_was_called():
    codes = np.array([[0, 0, 1], [0, 1, 0], [1, 1, 1], [1, 0, 0]])
    drawn = Relabelled(labels=("a", "b"), codes=codes, count=np.array([40, 7, 50, 3]), error=even_errors(0.1, 2))
    tables = drawn.tables(0)
    assert (tables.actual.sum(axis=1) == 100).all()
    assert (tables.called == [43, 57]).all()
    # Of 43 called a, 40 are a: 40 * 0.9 + 3 * 0.1 stay so.
    assert tables.hits[:, 0].mean() == pytest.approx(36.3, abs=0.3)
    only_a, only_b = drawn.disputes(0, 1)
    assert ((only_a + only_b) == 47).all()
    assert only_a.mean() == pytest.approx(40 * 0.9 + 7 * 0.1, abs=0.3)
    again = Relabelled(labels=("a", "b"), codes=codes, count=np.array([40, 7, 50, 3]), error=even_errors(0.1, 2))
    assert (again.tables(0).hits == tables.hits).all()


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.5])
def test_significance_is_lost_at_the_first_move_that_passes_the_level(alpha):
    for ahead in range(1, 20):
        for behind in range(ahead + 1):
            moved = np.arange((ahead - behind) // 2 + 1)
            passed = mcnemar_p(ahead - moved, behind + moved) >= alpha
            want = None if passed[0] else int(np.argmax(passed))
            assert fewest_to_lose_significance(ahead, behind, alpha) == want
