# SPDX-License-Identifier: Apache-2.0
"""Counting every row several times, or giving all rows one weight, moves counts and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.tally.tables import Binary, Multiclass
from tests.strategies import CASES, SOME, counts, plain, refuses, same, tables

RATES = [case for case in CASES if case.measure.family != "counts"]
COUNTS = [case for case in CASES if case.measure.family == "counts"]
factors = st.one_of(st.integers(2, 2**20), st.builds(Fraction, st.integers(1, 1000), st.integers(1, 1000)))


def scaled(table, factor):
    if isinstance(table, Binary):
        return Binary.of(tp=table.tp * factor, fp=table.fp * factor, fn=table.fn * factor, tn=table.tn * factor)
    parts = {name: getattr(table, name) * factor for name in ("hits", "actual", "called")}
    return Multiclass(**parts, labels=table.labels)


def assert_unmoved(case, table, factor):
    if not refuses(case.ready(getattr(table, "k", 2)), table):
        assert same(plain(case(table)), plain(case(scaled(table, factor))))


@pytest.mark.parametrize("case", RATES, ids=str)
@SOME
@given(data=st.data(), factor=factors)
def test_multiplying_all_counts_does_not_move_a_rate(case, data, factor):
    assert_unmoved(case, data.draw(tables(case, counts)), factor)


@pytest.mark.parametrize("case", RATES, ids=str)
@pytest.mark.parametrize("power", [-20, -80, -160, -400], ids="2**{}".format)
def test_weights_may_be_tiny(case, power):
    cells = [[40, 3, 2], [5, 60, 1], [0, 7, 9]]
    table = Multiclass.of(cells) if case.measure.takes is Multiclass else Binary.of(tp=40, fp=3, fn=5, tn=60)
    assert_unmoved(case, table, Fraction(2) ** power)


@pytest.mark.parametrize("case", COUNTS, ids=str)
@SOME
@given(data=st.data(), factor=factors)
def test_multiplying_all_counts_multiplies_a_count(case, data, factor):
    table = data.draw(tables(case, counts))
    assert plain(case(scaled(table, factor))) == float(Fraction(case(table).top) * factor)
