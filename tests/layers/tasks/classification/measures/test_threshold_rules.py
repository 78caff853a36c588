# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import inf

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.core.errors import AssayError
from assay.measures import parse
from assay.tasks.classification.measures import threshold_rules as thresholds
from tests.scorecases import ranked, rows

EXAMPLE = [(0.9, True), (0.8, True), (0.7, False), (0.6, True), (0.5, False), (0.4, False), (0.3, True), (0.2, False)]


def cells(some, threshold):
    return ranked(some).at(threshold)


def both(some):
    return any(y for _, y in some) and not all(y for _, y in some)


def every(some):
    return [inf, *{s for s, _ in some}]


@given(rows)
def test_youden_finds_the_largest_index_and_every_threshold_of_its_range_reaches_it(some):
    assume(both(some))
    found = thresholds.youden(ranked(some))
    index = parse("youden_index")
    best = max(index(cells(some, t)).value for t in every(some))
    assert found.reached == pytest.approx(best, abs=1e-12)
    assert index(cells(some, found.threshold)).value == pytest.approx(best, abs=1e-12)
    assert found.low <= found.threshold <= found.high
    if found.high < inf:
        assert index(cells(some, found.high)).value == pytest.approx(best, abs=1e-12)


@given(rows, st.sampled_from([(1, 1), (1, 10), (5, 1), (0, 1)]))
def test_the_cost_ratio_finds_the_lowest_cost(some, costs):
    assume(both(some))
    fp, fn = costs
    cost = parse("expected_cost").with_(cost_fp=fp, cost_fn=fn)
    found = thresholds.cost_ratio(ranked(some), cost_fp=fp, cost_fn=fn)
    best = min(cost(cells(some, t)).value for t in every(some))
    assert cost(cells(some, found.threshold)).value == pytest.approx(best, abs=1e-12)
    assert found.reached == pytest.approx(best, abs=1e-12)


@given(rows, st.sampled_from([0.1, 0.5, 0.9, 1]))
def test_targets_are_reached_at_the_best_threshold_that_reaches_them(some, share):
    assume(both(some))
    t = ranked(some)
    found = thresholds.target_recall(t, recall=share).threshold
    recall, specificity, precision = (parse(name) for name in ("recall", "specificity", "precision"))
    assert recall(t.at(found)).value >= share
    assert all(recall(t.at(s)).value < share for s in every(some) if s > found)
    found = thresholds.target_specificity(t, specificity=share).threshold
    assert specificity(t.at(found)).value >= share
    assert all(specificity(t.at(s)).value < share for s in every(some) if s < found)
    reachable = [s for s, _ in some if precision(t.at(s)).value >= share]
    if reachable:
        assert thresholds.target_precision(t, precision=share).threshold == min(reachable)
    else:
        with pytest.raises(AssayError) as refused:
            thresholds.target_precision(t, precision=share)
        assert refused.value.code == "target-not-reached"


@given(rows)
def test_the_largest_f_and_the_equal_error_are_found(some):
    assume(both(some))
    t, f1 = ranked(some), parse("f1")
    best = max(f1(t.at(s)).value for s, _ in some)
    assert f1(t.at(thresholds.largest_f(t).threshold)).value == pytest.approx(best, abs=1e-12)
    for beta in (0.5, 2, 3):
        wider = parse(f"f_beta(beta={beta})")
        best = max(wider(t.at(s)).value for s, _ in some)
        found = thresholds.largest_f(t, beta=beta)
        assert (wider(t.at(found.threshold)).value, found.reached) == pytest.approx((best, best), abs=1e-12)
    gap = {s: abs(parse("fpr")(t.at(s)).value - parse("fnr")(t.at(s)).value) for s in every(some)}
    found = thresholds.equal_error(t).threshold
    at = t.at(found)
    assert abs(parse("fpr")(at).value - parse("fnr")(at).value) == pytest.approx(min(gap.values()), abs=1e-12)


def test_a_reason_says_how_a_threshold_was_chosen():
    found = thresholds.youden(ranked(EXAMPLE))
    assert found.reason == "the Youden index is largest"
    assert (found.low, found.high) == (0.7, 0.8)
    assert found.threshold == 0.75
    assert thresholds.target_recall(ranked(EXAMPLE), recall=0.75).threshold == 0.6


def test_neighbouring_scores_that_do_equally_well_are_one_range():
    """Half of the positives are found at 0.9, all of them and half of the negatives at 0.7: the index is a half."""
    found = thresholds.youden(ranked([(0.9, True), (0.7, True), (0.7, False), (0.1, False)]))
    assert (found.low, found.high, found.threshold, found.reached) == (0.1, 0.9, 0.5, 0.5)


def test_one_class_and_bad_targets_are_refused():
    for choose in (thresholds.youden, thresholds.equal_error, thresholds.largest_f):
        with pytest.raises(AssayError) as refused:
            choose(ranked([(0.1, True)]))
        assert refused.value.code == "one-class"
    with pytest.raises(AssayError):
        thresholds.target_recall(ranked(EXAMPLE), recall=1.5)
    with pytest.raises(AssayError):
        thresholds.cost_ratio(ranked(EXAMPLE), cost_fp=-1, cost_fn=1)
    with pytest.raises(AssayError):
        thresholds.largest_f(ranked(EXAMPLE), beta=0)


def test_a_specificity_that_is_reached_exactly_counts_as_reached():
    some = [(0.1, False), *[(0.2, False)] * 9, (0.9, True)]
    assert thresholds.target_specificity(ranked(some), specificity=0.1).threshold == 0.2
