# SPDX-License-Identifier: Apache-2.0
"""Counting every row several times, or giving all rows one weight, moves counts and nothing else."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.measures import parse
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.score_tally import Scores
from tests.scorecases import RANKED_CASES
from tests.strategies import CASES, MANY, counts, four, matrices, on_every_measure, plain, same

RATES = [case for case in CASES if case.measure.family != "counts"]
factors = st.one_of(st.integers(2, 2**20), st.builds(Fraction, st.integers(1, 1000), st.integers(1, 1000)))


def scaled(table, factor):
    if isinstance(table, Binary):
        return Binary.of(tp=table.tp * factor, fp=table.fp * factor, fn=table.fn * factor, tn=table.tn * factor)
    parts = {name: getattr(table, name) * factor for name in ("hits", "actual", "called")}
    return Multiclass(**parts, labels=table.labels)


@MANY
@given(cells=four(counts), matrix=matrices(counts), factor=factors)
def test_multiplying_all_counts_multiplies_counts_and_moves_no_rate(cells, matrix, factor):
    def assert_law(case, table):
        before, after = case(table), case(scaled(table, factor))
        if case in RATES:
            assert same(plain(before), plain(after)), f"{plain(before)} became {plain(after)}"
        else:
            assert after.value == float(Fraction(before.top) * factor)

    on_every_measure(assert_law, cells, matrix)


@pytest.mark.parametrize("case", RATES, ids=str)
@pytest.mark.parametrize("power", [-20, -80, -160, -400], ids="2**{}".format)
def test_weights_may_be_tiny(case, power):
    cells = [[40, 3, 2], [5, 60, 1], [0, 7, 9]]
    table = Multiclass.of(cells) if case.measure.takes is Multiclass else Binary.of(tp=40, fp=3, fn=5, tn=60)
    assert same(plain(case(table)), plain(case(scaled(table, Fraction(2) ** power))))


def test_there_are_counts_and_rates():
    assert 0 < len(RATES) < len(CASES)


@pytest.mark.parametrize("case", RANKED_CASES, ids=str)
@pytest.mark.parametrize("power", [-3, -9], ids="2**{}".format)
def test_weights_of_scores_may_be_small(case, power):
    score = np.array([0.1, 0.2, 0.3, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    truth = np.array([0, 0, 1, 0, 1, 0, 1, 1, 0, 1], dtype=bool)
    weight = np.array([1, 2, 1, 3, 1, 1, 2, 1, 1, 2]) / 2
    before, after = (case.ready(2)(Scores.binary(score, truth, weight * by).one_vs_rest(1)) for by in (1, 2.0**power))
    if case.measure.name == "spiegelhalter_z":  # in standard errors of rows, which weights are not
        assert (before.code, after.code) == ("weighted", "weighted")
    else:
        assert plain(after) == pytest.approx(plain(before), rel=1e-9)


@pytest.mark.parametrize("power", [0, 40, 60, 80])
def test_a_heavy_negative_below_all_others_takes_nothing_from_average_precision(power):
    score = np.array([0.1, 0.5, 0.6, 0.7, 0.8, 0.9])
    pos, neg = np.array([0, 1, 0, 2, 0, 0.5]), np.array([2.0**power, 0, 0.25, 0, 1, 0])
    found = parse("average_precision")(Ranked(score=score, pos=pos, neg=neg)).value
    assert found == pytest.approx((0.5 * 1 + 2 * 2.5 / 3.5 + 1 * 3.5 / 4.75) / 3.5, rel=1e-12)


@pytest.mark.parametrize("power", [0, -9])
def test_one_score_errs_on_half_of_each_class_whatever_it_weighs(power):
    one = Ranked(score=np.array([0.5]), pos=np.array([2.0**power]), neg=np.array([2.0**power]))
    assert parse("equal_error_rate")(one).value == 0.5
