# SPDX-License-Identifier: Apache-2.0
"""Scores in bins with each true class apart."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import AssayError, RecordError
from assay.tally import truthbins
from assay.tally.binmaps import PROBABILITY, REAL
from assay.tally.binned import Binned, binned, pairs_classes
from assay.tally.packing import packed_steps, unpacked_steps
from assay.tally.scorebins import ScoreBins
from assay.tally.truthbins import CELLS, MOST_PAIRED, count_classes, paired_map
from tests.scorecases import classes, matrix, scores

MAPS = [PROBABILITY, PROBABILITY.coarser(16), REAL]


@given(classes, classes, st.sampled_from(MAPS))
@settings(max_examples=30)
def test_merging_bins_of_classes_equals_counting_the_union(a, b, by):
    both = binned(scores(a + b), by)
    assert binned(scores(a), by) + binned(scores(b), by) == both
    assert binned(scores(a), by) + scores(b) == both
    assert Binned.from_json(json.loads(json.dumps(both.to_json()))) == both


@given(classes, st.sampled_from(MAPS))
@settings(max_examples=30)
def test_a_pair_of_classes_is_that_of_its_rows_alone(some, by):
    held, parts = binned(scores(some), by), matrix(some)
    truth = np.array([y for _, y in some], dtype=np.int64)
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    for a, b in pairs:
        rows = np.isin(truth, [a, b])
        assert held.pair("abc"[a], "abc"[b]) == ScoreBins.of(parts[rows, a], truth[rows] == a, by)
    assert held.pooled() == ScoreBins.of(parts.T.ravel(), np.concatenate([truth == i for i in range(3)]), by)
    assert held.of_truth().total == len(some)


def test_rows_that_come_in_parts_are_counted_as_those_that_are_there(monkeypatch):
    monkeypatch.setattr(truthbins, "CELLS", 9 * 1000)  # coarser than the columns
    rng = np.random.default_rng(3)
    some = [(tuple(rng.integers(0, 9, 3)), int(rng.integers(0, 3))) for _ in range(200)]
    parts, truth, expected = (
        matrix(some),
        np.array([y for _, y in some], dtype=np.int8),
        binned(scores(some), PROBABILITY),
    )
    assert 0 < expected.paired[0].map.size <= 1000
    for own in range(3):
        score = np.concatenate([parts[:, own], [0.5]])
        codes = np.concatenate([truth, [np.int8(-1)]])  # a row of no class
        blocks = [(score[i : i + 30], codes[i : i + 30]) for i in range(0, 201, 30)]
        column, apart = count_classes(blocks, PROBABILITY, own, 3)
        assert column == expected.columns[own]
        np.testing.assert_array_equal(column.only, expected.columns[own].only)
        assert apart.to_json() == expected.paired[own].to_json()
    with pytest.raises(AssayError, match="no probability"):
        count_classes([(np.array([1.5]), np.array([0], dtype=np.int8))], PROBABILITY, 0, 3)


def test_the_table_of_classes_and_bins_is_bounded():
    for finest in (PROBABILITY, REAL):
        for k in (3, 5, 7, 10, 20, 50, MOST_PAIRED):
            by = paired_map(finest, k)
            assert k * k * by.size <= CELLS
            assert by.halvings == 0 or 2 * k * k * by.size > CELLS * 0.99  # no coarser than it must be
    assert paired_map(PROBABILITY, MOST_PAIRED).size == 2561
    assert not pairs_classes(range(2))
    assert not pairs_classes(range(MOST_PAIRED + 1))


@given(st.lists(st.integers(0, 300) | st.integers(0, 2**62)))
def test_steps_are_packed_and_come_back(numbers):
    held = np.array(numbers, dtype=np.int64)
    np.testing.assert_array_equal(unpacked_steps(packed_steps(held), len(held)), held)


@pytest.mark.parametrize(("text", "size"), [("AAAA", 2), ("gA==", 1), ("gICAgICAgICAAQ==", 1), ("?", 1), ("AA==", 0)])
def test_damaged_steps_are_refused(text, size):
    with pytest.raises(RecordError, match="damaged"):
        unpacked_steps(text, size)
