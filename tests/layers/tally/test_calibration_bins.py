# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import AssayError
from assay.tally.calibration_bins import CalibrationBins, equal_mass, equal_width
from assay.tally.scores.score_tally import Scores

rows = st.lists(st.tuples(st.floats(0, 1) | st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.booleans()), max_size=40)


def table(some, weight=None):
    return Scores.binary([s for s, _ in some], [y for _, y in some], weight).one_vs_rest(1)


@given(rows, st.integers(1, 7))
def test_a_bin_holds_its_lower_edge_and_the_last_one_both(some, bins):
    found = CalibrationBins.of(table(some), bins)
    edges = [i / bins for i in range(bins + 1)]
    for i in range(bins):
        inside = [(s, y) for s, y in some if edges[i] <= s < edges[i + 1] or (s == 1 and i == bins - 1)]
        assert found.count[i] == len(inside)
        assert found.positive[i] == sum(y for _, y in inside)
        assert found.total[i] == sum(Fraction(s) for s, _ in inside)


def test_bins_of_equal_mass_hold_equally_many_rows_and_keep_ties_together():
    even = table([(i / 100, i % 3 == 0) for i in range(100)])
    assert CalibrationBins.of(even, 10, "mass").count == (10,) * 10
    heavy = table([(0.5, True)] * 97 + [(0.1, False), (0.2, True), (0.9, True)])
    assert sum(CalibrationBins.of(heavy, 10, "mass").count) == 100
    assert 97 in CalibrationBins.of(heavy, 10, "mass").count


def test_means_of_an_empty_bin_are_none():
    found = CalibrationBins.of(table([(0.1, True), (0.3, False)]), 2)
    assert found.mean_score == [0.2, None]
    assert found.positive_share == [0.5, None]


@given(rows)
def test_weights_count_as_rows(some):
    plain, weighted = table(some + some), table(some, [2] * len(some))
    assert CalibrationBins.of(plain, 5) == CalibrationBins.of(weighted, 5)


def test_what_is_no_probability_is_refused():
    with pytest.raises(AssayError) as refused:
        CalibrationBins.of(table([(1.5, True)]), 5)
    assert refused.value.code == "score-out-of-range"


def test_edges_of_equal_width_are_rounded_once():
    assert equal_width(3).tolist() == [0.0, 1 / 3, 2 / 3, 1.0]
    assert equal_mass(table([]), 3).tolist() == [0.0, 1.0]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 6))
def test_equal_masses_begin_where_the_middle_of_the_rows_of_a_score_passes_a_part(counts, bins):
    scores = [(1 + i) / (1 + len(counts)) for i in range(len(counts))]
    ranked = table([(score, i % 2 == 0) for score, n in zip(scores, counts, strict=True) for i in range(n)])
    places = [min(bins * (2 * sum(counts[:i]) + n) // (2 * sum(counts)), bins - 1) for i, n in enumerate(counts)]
    begins = [scores[i] for i in range(1, len(counts)) if places[i] != places[i - 1]]
    assert equal_mass(ranked, bins).tolist() == [0.0, *begins, 1.0]
