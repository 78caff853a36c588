# SPDX-License-Identifier: Apache-2.0
"""Scores in bins with each true class apart."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import AssayError, RecordError
from assay.measures import REGISTRY
from assay.measures.brackets import bracketed
from assay.tally import truthbins
from assay.tally.base import count_to_json
from assay.tally.binmaps import PROBABILITY, REAL
from assay.tally.binned import Binned, binned, pairs_classes
from assay.tally.packing import packed_steps, unpacked_steps
from assay.tally.scorebins import ScoreBins
from assay.tally.scores import Scores
from assay.tally.truthbins import CELLS, MOST_PAIRED, WEIGHED, count_classes, paired_map
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


heavy = st.floats(0, 1e6) | st.integers(0, 3).map(float) | st.fractions(0, 5, max_denominator=7)
weighed = st.lists(st.tuples(st.tuples(*[st.integers(0, 8)] * 3), st.integers(0, 2), heavy), max_size=12)


def weighing(some, weight=None):
    held = [w for *_, w in some] if weight is None else weight
    return Scores.per_class(matrix([(row, y) for row, y, _ in some]), [y for _, y, _ in some], ("a", "b", "c"), held)


whole = st.lists(st.tuples(st.tuples(*[st.integers(0, 8)] * 3), st.integers(0, 2), st.integers(0, 3)), max_size=12)


OF_CLASSES = [one.name for one in REGISTRY if one.takes is Scores and bracketed(one)]


def test_bins_of_classes_with_and_without_weights_are_not_added():
    some = [((1, 2, 3), 0, 0.5), ((3, 2, 1), 1, 2.0)]
    plain = binned(scores([(row, y) for row, y, _ in some]), PROBABILITY)
    for a, b in ((plain, weighing(some)), (binned(weighing(some), PROBABILITY), plain)):
        with pytest.raises(AssayError, match="one tally is weighted and the other is not"):
            _ = a + b


def test_the_rows_of_an_older_record_are_read_as_they_were_written():
    held = binned(weighing([((1, 2, 3), 0, 0.5), ((3, 2, 1), 1, 0.1)]), PROBABILITY)
    content = held.to_json()
    for column, one in zip(content["columns"], held.columns, strict=True):
        for name in ("pos", "neg", "pos_squares", "neg_squares"):
            column[name] = [count_to_json(sum_) for sum_ in getattr(one.weight, name).tolist()]
    assert Binned.from_json(json.loads(json.dumps(content))) == held


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
        column, apart, _ = count_classes(blocks, PROBABILITY, own, 3)
        assert column == expected.columns[own]
        np.testing.assert_array_equal(column.only, expected.columns[own].only)
        assert apart.to_json() == expected.paired[own].to_json()
    with pytest.raises(AssayError, match="no probability"):
        count_classes([(np.array([1.5]), np.array([0], dtype=np.int8))], PROBABILITY, 0, 3)


def test_the_table_of_classes_and_bins_is_bounded():
    for weighted, most in ((False, CELLS), (True, WEIGHED)):
        for finest in (PROBABILITY, REAL):
            for k in (3, 5, 7, 10, 20, 50, MOST_PAIRED):
                by = paired_map(finest, k, weighted=weighted)
                assert k * k * by.size <= most
                assert by.halvings == 0 or 2 * k * k * by.size > most * 0.99  # no coarser than it must be
    assert paired_map(PROBABILITY, MOST_PAIRED).size == 2561
    assert paired_map(PROBABILITY, MOST_PAIRED, weighted=True).size == 1281
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
