# SPDX-License-Identifier: Apache-2.0
"""An interval holds its estimate and lies in the measure's range; an estimate without one says why."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.measures import parse
from tests.strategies import matrices

counts = st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 400), st.integers(0, 2**40))
with_rows = matrices(counts, 3, 5).filter(lambda m: sum(map(sum, m)))


def assert_sound(estimate, level):
    measure = parse(estimate.measure)
    if estimate.interval is None:
        assert estimate.no_interval
        return
    low, high = estimate.low, estimate.high
    assert not isnan(low)
    assert not isnan(high)
    assert measure.range[0] <= low <= estimate.value <= high <= measure.range[1], estimate
    assert estimate.level == level
    assert estimate.interval.method
    assert (estimate.interval.draws is None) == (estimate.interval.seed is None)


@settings(max_examples=25)
@given(st.tuples(*[counts] * 4).filter(any), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_the_intervals_of_a_binary_assessment_hold_their_estimates(cells, level):
    tp, fp, fn, tn = cells
    found = assay.from_confusion_matrix(
        confusion=[[tn, fp], [fn, tp]],
        orientation="rows=truth",
        positive=1,
        level=level,
        intervals=assay.IntervalSettings(draws=400),
    )
    assert len(found.estimates) > 40
    for estimate in found.estimates:
        assert_sound(estimate, level)


@pytest.mark.parametrize("method", ["auto", "percentile", "delta"])
@settings(max_examples=12)
@given(matrix=with_rows)
def test_the_intervals_of_a_multiclass_assessment_hold_their_estimates(method, matrix):
    found = assay.from_confusion_matrix(
        confusion=matrix, orientation="rows=truth", intervals=assay.IntervalSettings(draws=400, cells=method)
    )
    assert len(found.estimates) > 150
    for estimate in found.estimates:
        assert_sound(estimate, 0.95)


@pytest.mark.parametrize("shares", ["wilson", "clopper-pearson", "jeffreys"])
@settings(max_examples=15)
@given(cells=st.tuples(*[counts] * 4).filter(any))
def test_every_method_for_shares_holds_the_share(shares, cells):
    tp, fp, fn, tn = cells
    found = assay.from_confusion_matrix(
        confusion=[[tn, fp], [fn, tp]],
        orientation="rows=truth",
        positive=1,
        intervals=assay.IntervalSettings(shares=shares, draws=100),
        measures="rates",
    )
    for estimate in found.estimates:
        assert_sound(estimate, 0.95)
        if estimate.denominator and estimate.interval:
            # A handful of rows is too few for Wilson's approximation; the exact interval stands in, by its own name.
            few = shares == "wilson" and estimate.denominator < 4
            assert estimate.interval.method == ("clopper-pearson" if few else shares)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_rows_gives_intervals_or_reasons(n):
    for predicted in (["a"] * n, ["b"] * n, ["a", "b", "c"][:n]):
        found = assay.assess(
            truth=["a"] * n, predicted=predicted, labels=["a", "b", "c"], intervals=assay.IntervalSettings(draws=400)
        )
        for estimate in found.estimates:
            assert_sound(estimate, 0.95)


DEGENERATE = {
    "one row, wrong": [[0, 0, 0], [0, 0, 0], [0, 1, 0]],
    "one class true, two called": [[0, 0, 0], [0, 0, 0], [0, 1, 1]],
    "a class that vanishes in most draws": [[0, 0, 0], [0, 0, 1], [0, 40, 9]],
    "a million rows, all wrong but for the names": [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 999_999, 0]],
    "two million rows, two of them wrong": [[0, 0, 0], [0, 0, 1], [0, 1, 1_999_998]],
    "a class never called": [[5, 1, 0], [2, 7, 0], [1, 1, 0]],
    "a class never true": [[5, 1, 1], [2, 7, 2], [0, 0, 0]],
    "all right": [[5, 0, 0], [0, 7, 0], [0, 0, 1]],
}


@pytest.mark.parametrize("method", ["auto", "percentile", "delta"])
@pytest.mark.parametrize("matrix", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_tables_give_intervals_or_reasons_and_no_warning(matrix, method):
    found = assay.from_confusion_matrix(
        confusion=matrix, orientation="rows=truth", intervals=assay.IntervalSettings(draws=400, cells=method)
    )
    for estimate in found.estimates:
        assert_sound(estimate, 0.95)


def test_an_interval_from_draws_that_can_be_undefined_is_not_the_whole_range():
    # Some draws hold one class only and have no kappa; the others spread over much less than -1 to 1.
    found = assay.from_confusion_matrix(
        confusion=[[30, 2, 0], [1, 1, 0], [0, 0, 0]],
        orientation="rows=truth",
        intervals=assay.IntervalSettings(draws=2000),
    )
    for name in ("cohen_kappa", "matthews_corrcoef"):
        assert (found[name].low, found[name].high) != (-1, 1)


def test_every_measure_of_weighted_rows_has_an_interval_around_its_value_or_the_reason_why_not():
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, 90)
    predicted = np.where(rng.random(90) < 0.7, truth, rng.integers(0, 3, 90))
    found = assay.assess(truth=truth, predicted=predicted, weight=rng.gamma(2, 1, 90))
    with_interval = [e for e in found.estimates if e.interval is not None]
    assert len(with_interval) > 100
    assert all(e.low <= e.value <= e.high for e in with_interval)
    assert all(e.no_interval for e in found.estimates if e.interval is None)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    def interval(seed):
        matrix = [[30, 5, 2], [4, 20, 3], [1, 6, 25]]
        found = assay.from_confusion_matrix(
            confusion=matrix, orientation="rows=truth", intervals=assay.IntervalSettings(seed=seed, draws=400)
        )["cohen_kappa"]
        assert found.interval.seed == seed
        return found.low, found.high

    assert interval(1) == interval(1) != interval(2)
