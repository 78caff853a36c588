# SPDX-License-Identifier: Apache-2.0
"""Times by run and section."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import AssayError
from assay.tally.data.durations import FAILED, Durations, _floor_bins, add_runs, count_run, find_bins
from tests.timed import count_durations

TIMES = st.lists(st.integers(0, 10**11) | st.just(FAILED), max_size=80)


@given(st.lists(st.integers(0, 2**52), min_size=2, max_size=40))
def test_bins_ascend_and_are_narrow(times):
    ordered = np.sort(np.array(times))
    bins = find_bins(ordered)
    assert (np.diff(bins) >= 0).all()
    for first, last in pairwise(ordered):
        if find_bins(np.array([first])) == find_bins(np.array([last])):
            assert last - first <= first / 128


@given(TIMES, TIMES)
def test_json_and_merging_keep_everything(first, second):
    parts = [count_run(name, np.array(times, dtype=np.int64), [10**9]) for name, times in (("a", first), ("b", second))]
    both = parts[0] + parts[1]
    assert both == parts[1] + parts[0] == add_runs(parts, [10**9])
    assert Durations.from_json(json.loads(json.dumps(both.to_json()))) == both
    assert both.rows == len(first) + len(second)
    assert both.within() == sum(0 <= time <= 10**9 for time in (*first, *second))
    assert both.failed == [*first, *second].count(FAILED)


@given(TIMES.filter(len), st.floats(0.01, 1.0))
def test_a_percentile_is_a_time_that_occurred(times, share):
    tally = count_run("", np.array(times, dtype=np.int64))
    value = tally.at(share)
    rank = int(np.ceil(share * len(times)))
    ranked = sorted(time if time != FAILED else 2**60 for time in times)
    if ranked[rank - 1] == 2**60:
        assert value is None
    else:
        assert value in [time / 1e9 for time in times]
        assert ranked[rank - 1] / 1e9 <= value <= ranked[rank - 1] * (1 + 2**-7) / 1e9


def test_sections_keep_the_order():
    tally = count_durations(np.r_[np.full(100, 0.01), np.full(100, 0.03)], bounds=[0.02])
    late = [section.over[0] for section in tally.runs[0].sections]
    assert late == [0] * 10 + [10] * 10
    assert tally.episodes() == 1
    assert tally.runs[0].halves == (100, 100, 2)


def test_a_stretch_of_late_answers_is_one_episode():
    tally = count_durations(np.array([1, 9, 9, 1, np.nan, 9, 1, 9]), bounds=[5.0])
    assert tally.episodes() == 3
    assert tally.failed == 1


def test_runs_of_one_name_are_added_in_any_order():
    first, second = (count_durations(times) for times in ([5, 7], [3, 4, 900]))
    assert first.runs[0].name == second.runs[0].name
    assert (first + second).to_json() == (second + first).to_json()


def test_a_tally_with_other_bounds_is_not_added():
    with pytest.raises(AssayError, match="different latency bounds"):
        count_durations(np.ones(3), bounds=[1.0]) + count_durations(np.ones(3), bounds=[2.0])


def test_bins_of_a_run_without_an_answer_are_written_from_0():
    written = count_run("a", np.full(3, FAILED)).to_json()
    assert '"first": 0, "size": 0' in json.dumps(written)


@given(st.lists(st.integers(0, 2**52), min_size=1, max_size=40))
def test_the_floor_of_a_bin_is_the_shortest_time_in_it(times):
    bins = find_bins(np.array(times))
    floors = _floor_bins(bins)
    assert (find_bins(floors) == bins).all()
    assert (find_bins(np.maximum(floors - 1, 0))[floors > 0] < bins[floors > 0]).all()
