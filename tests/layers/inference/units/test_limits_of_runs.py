# SPDX-License-Identifier: Apache-2.0
"""Intervals with runs as units, at the limits of what counts as enough runs, sections, answers and late stretches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom, norm, t

from assay.inference.units.run_intervals import (
    _jackknife_logit,
    find_units,
    percentile_interval,
    runs_test,
    share_interval,
)
from tests.timed import count_durations


def inflation_by_hand(units):
    """The variance of sums of some lists of times, over that of sums of as many independent times."""
    times = np.concatenate(units)
    gaps = [(np.array(unit) - times.mean()).sum() for unit in units]
    between = sum(gap**2 for gap in gaps) / (len(units) - 1)
    return max(1.0, between / (times.var() * len(times) / len(units)))


def drawn(runs, size, seed=0, tied=0.0):
    """Times of some runs, each with a level of its own where they are tied."""
    rng = np.random.default_rng(seed)
    return rng.exponential(0.01, (runs, size)) * np.exp(tied * rng.normal(size=(runs, 1)))


def counted(times, **more):
    return count_durations(times.ravel(), np.repeat(np.arange(len(times)), times.shape[1]), **more)


@pytest.mark.parametrize("tied", [0.0, 0.5])
def test_answers_are_inflated_by_the_larger_of_the_spread_of_runs_and_of_their_sections(tied):
    times = drawn(6, 200, seed=1, tied=tied)
    sections = [part for run in times for part in np.split(run, 20)]
    want = max(inflation_by_hand(list(times)), inflation_by_hand(sections))
    units = find_units(counted(times))
    assert units.inflation == pytest.approx(want, rel=1e-6)
    assert (units.kind, units.described, units.dependent) == ("run", "6 runs", False)
    assert units.seconds == pytest.approx(times.sum(axis=1), rel=1e-6)
    assert units.answered.tolist() == units.asked.tolist() == [200.0] * 6


@pytest.mark.parametrize(("runs", "described"), [(1, "10 sections"), (4, "40 sections"), (5, "5 runs"), (6, "6 runs")])
def test_five_runs_are_units_and_fewer_are_cut_into_ten_sections(runs, described):
    assert find_units(counted(drawn(runs, 100))).described == described


def test_few_runs_are_inflated_by_the_larger_of_twenty_and_ten_sections():
    times = drawn(1, 400, seed=5)
    want = max(inflation_by_hand(np.split(times[0], 20)), inflation_by_hand(np.split(times[0], 10)))
    assert find_units(counted(times)).inflation == pytest.approx(want, rel=1e-6)
    slow = np.repeat([0.01, 0.03], 200).reshape(1, -1) + drawn(1, 400) / 10
    want = inflation_by_hand(np.split(slow[0], 10))
    assert want > inflation_by_hand(np.split(slow[0], 20)) > 1
    assert find_units(counted(slow)).inflation == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(("size", "dependent"), [(199, True), (200, False), (201, False)])
def test_a_section_must_be_worth_twenty_independent_answers(size, dependent):
    units = find_units(counted(np.full((1, size), 0.01)))  # equal times: each answer is worth one
    assert units.inflation == 1.0
    assert units.dependent == dependent


@pytest.mark.parametrize("runs", [1, 5])
def test_answers_that_all_failed_have_no_spread(runs):
    tally = counted(np.full((runs, 20), np.nan), bounds=[0.05])
    assert find_units(tally).inflation == 1.0
    interval = share_interval(tally, 0, 0.95)
    if runs == 5:  # they failed, so all are late
        assert (interval.low, interval.high) == (0.0, pytest.approx(beta.ppf(0.975, 1, 100)))
    assert isinstance(percentile_interval(tally, 0.5, 0.95, waits=False), str) == (runs < 5)


def test_two_sections_are_enough_for_a_spread():
    times = np.array([[0.01, 0.02, 0.01, 0.02, 0.01, 0.05, 0.06, 0.05, 0.06, 0.05]])
    assert find_units(counted(times)).inflation == pytest.approx(inflation_by_hand(np.split(times[0], 2)))
    assert find_units(counted(times[:, :9])).inflation == 1.0


def spaced(late, runs=5, size=200):
    """Runs in which some answers are late, never two in a row, spread evenly over the runs."""
    times = np.full((runs, size), 0.01)
    for i in range(late):
        times[i % runs, 2 * (i // runs)] = 0.09
    return times


def by_jackknife(within, asked, level):
    whole = [(within.sum(), asked.sum()), *zip(within.sum() - within, asked.sum() - asked, strict=True)]
    logit = [math.log(k / (n - k)) for k, n in whole]
    reach = math.sqrt((len(within) - 1) / len(within) * sum((one - logit[0]) ** 2 for one in logit[1:]))
    reach *= t.ppf((1 + level) / 2, len(within) - 1)
    return [1 / (1 + math.exp(-(logit[0] + sign * reach))) for sign in (-1, 1)]


def by_beta(share, size, level):
    hits, tail = share * size, (1 - level) / 2
    return beta.ppf(tail, hits, size - hits + 1), beta.ppf(1 - tail, hits + 1, size - hits)


@pytest.mark.parametrize("late", [97, 99, 100, 101, 103])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_fewer_than_a_hundred_late_stretches_widen_the_interval_and_are_noted(late, level):
    times = spaced(late)
    tally = counted(times, bounds=[0.05])
    assert tally.episodes(0) == late
    interval = share_interval(tally, 0, level)
    low, high = by_jackknife((times < 0.05).sum(axis=1), np.full(5, 200), level)
    if late < 100:
        exact = by_beta(1 - late / 1000, 1000 / find_units(tally).inflation, level)
        low, high = min(low, exact[0]), max(high, exact[1])
        assert interval.notes == (f"only {late} stretches of late answers",)
        assert interval.method.startswith("Clopper-Pearson, answers of 5 runs worth")
    else:
        assert interval.notes == ()
        assert interval.method == "jackknife of 5 runs, logit scale, Student's t"
    assert (interval.low, interval.high) == (pytest.approx(low, rel=1e-9), pytest.approx(high, rel=1e-9))


def test_the_wider_of_both_is_taken_at_either_end():
    times = np.full((5, 200), 0.01)
    times[0, ::10] = 0.09  # one run is much worse: the jackknife is the wider one
    times[1, 0] = 0.09
    tally = counted(times, bounds=[0.05])
    interval = share_interval(tally, 0, 0.95)
    assert [interval.low, interval.high] == pytest.approx(
        by_jackknife((times < 0.05).sum(axis=1), np.full(5, 200), 0.95)
    )


def test_late_answers_of_one_run_alone_are_not_jackknifed():
    times = np.full((5, 20), 0.01)
    times[2, 3] = 0.09
    tally = counted(times, bounds=[0.05])
    interval = share_interval(tally, 0, 0.95)
    assert (interval.low, interval.high) == pytest.approx(by_beta(0.99, 100 / find_units(tally).inflation, 0.95))
    assert interval.notes == ("only 1 stretch of late answers",)


def test_each_bound_has_an_interval_of_its_own():
    tally = counted(spaced(100), bounds=[0.001, 0.05, 1.0])
    assert share_interval(tally, 0, 0.95).low == 0.0
    assert 0.8 < share_interval(tally, 1, 0.95).low < 0.9 < share_interval(tally, 1, 0.95).high
    assert share_interval(tally, 2, 0.95).high == 1.0
    assert share_interval(tally, 2, 0.95).notes == ()


@pytest.mark.parametrize("share", [0.5, 0.9, 0.989, 0.991])
def test_a_percentile_is_where_the_share_interval_of_its_own_bin_ends(share):
    rng = np.random.default_rng(9)
    times = rng.integers(1, 250, (5, 200)) / 1e9  # every time is a bin of its own
    tally = counted(times)
    interval = percentile_interval(tally, share, 0.9, waits=True)
    ordered = np.sort(times.ravel())
    bound = ordered[math.ceil(share * 1000) - 1]
    within, inflation = (times <= bound).sum(axis=1), find_units(tally).inflation
    low, high = by_jackknife(within, np.full(5, 200), 0.9)
    if (1 - share) * 1000 / inflation < 10:
        exact = by_beta(within.sum() / 1000, 1000 / inflation, 0.9)
        low, high = min(low, exact[0]), max(high, exact[1])
        assert interval.method.startswith("Clopper-Pearson")
    else:
        assert interval.method == "inverted jackknife of 5 runs, logit scale, Student's t"
    assert interval.low == pytest.approx(ordered[math.floor(low * 1000) - 1], rel=1e-9)
    assert interval.high == pytest.approx(ordered[math.ceil(high * 1000 + 1) - 1], rel=1e-9)
    assert interval.notes == ()


def test_ranks_of_a_single_stream_stay_within_it():
    times = np.array([1, 4, 2, 3, 5, 0.5]) / 1e8
    tally = count_durations(times)
    interval = percentile_interval(tally, 0.5, 0.95, waits=False)
    assert binom.ppf(0.025, 6, 0.5) == 1
    assert (interval.low, interval.high) == pytest.approx((0.5e-8, 5e-8))
    interval = percentile_interval(tally, 0.2, 0.95, waits=False)
    assert binom.ppf(0.025, 6, 0.2) == 0  # there is no rank 0
    assert (interval.low, interval.high) == pytest.approx((0.5e-8, 3e-8))
    assert percentile_interval(tally, 0.9, 0.95, waits=False).high == math.inf


def test_an_ordered_stream_has_no_order_statistics():
    told = percentile_interval(count_durations(np.arange(1, 21) / 1e3), 0.5, 0.95, waits=False)
    assert told == "only 1 run; an interval needs 5 or more, because answers depend on each other"
    told = percentile_interval(count_durations(np.full(20, 0.01)), 0.5, 0.95, waits=False)
    assert told.endswith("because answers depend on each other")
    assert percentile_interval(count_durations([]), 0.5, 0.95, waits=False).startswith("only ")


def test_stretches_of_several_runs_are_added_up():
    runs = [[1, 9, 2, 8, 3, 7, 4], [5, 5, 5], [1, 2, 3, 4, 5, 6], [3]]
    excess = variance = 0.0
    for a, b, stretches in ((3, 4, 7), (3, 3, 2)):  # equal times and a single one say nothing
        n = a + b
        excess += stretches - (2 * a * b / n + 1)
        variance += 2 * a * b * (2 * a * b - n) / (n**2 * (n - 1))
    names = np.repeat(np.arange(4), [len(run) for run in runs])
    tally = count_durations(np.concatenate(runs) / 1e3, names)
    assert runs_test(tally) == pytest.approx(2 * norm.sf(abs(excess) / math.sqrt(variance)), rel=1e-9)
    assert runs_test(count_durations([0.01] * 5)) is None
    assert runs_test(count_durations([0.01, 0.02])) is None  # two answers always alternate


def test_a_stream_at_the_level_of_the_test_for_dependence():
    rng = np.random.default_rng(2)
    chances = []
    for _ in range(40):
        tally = count_durations(np.sort(rng.random(30)).reshape(3, 10).T.ravel()[rng.permutation(30)])
        chances.append(runs_test(tally))
        assert isinstance(percentile_interval(tally, 0.5, 0.95, waits=False), str) == (chances[-1] < 0.05)
    assert min(chances) < 0.05 < max(chances)


def test_four_answers_are_enough_for_the_runs_test():
    variance = 8 * (8 - 4) / (16 * 3)  # two above and two below the median
    assert runs_test(count_durations([0.01, 0.09, 0.02, 0.08])) == pytest.approx(2 * norm.sf(1 / math.sqrt(variance)))


@pytest.mark.parametrize(("within", "known"), [((1, 1, 0, 0, 0), True), ((1, 0, 0, 0, 0), False)])
def test_a_share_of_runs_has_a_logit_while_an_answer_is_left_without_any_run(within, known):
    interval = _jackknife_logit(np.array(within, dtype=float), np.full(5, 10.0), 0.9)
    assert (interval is not None) == known
