# SPDX-License-Identifier: Apache-2.0
"""Scores in bins with each true class apart."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.core.errors import AssayError, RecordError
from assay.core.values import Undefined
from assay.measures import REGISTRY, parse
from assay.measures.brackets import bracket_of_classes, bracketed
from assay.tally import truthbins
from assay.tally.base import count_to_json
from assay.tally.binmaps import PROBABILITY, REAL
from assay.tally.binned import Binned, binned, pairs_classes
from assay.tally.packing import packed_steps, unpacked_steps
from assay.tally.scorebins import ScoreBins
from assay.tally.scores import Scores
from assay.tally.truthbins import CELLS, MOST_PAIRED, WEIGHED, count_classes, paired_map
from assay.tally.weightedbins import weigh_classes
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


@given(weighed, weighed, st.sampled_from(MAPS))
@settings(max_examples=40)
def test_weighted_bins_of_classes_merge_and_come_back_from_json_without_rounding(a, b, by):
    both = binned(weighing(a + b), by)
    assert both.weighted
    assert len(both.paired) == 3
    assert binned(weighing(a), by) + binned(weighing(b), by) == both
    assert binned(weighing(a), by) + weighing(b) == both
    again = Binned.from_json(json.loads(json.dumps(both.to_json())))
    assert again == both
    assert again.pooled() == both.pooled()


@given(weighed, st.sampled_from(MAPS))
@settings(max_examples=40)
def test_a_pair_of_weighted_classes_is_that_of_its_rows_alone(some, by):
    held = binned(weighing(some), by)
    for a, b in [(a, b) for a in range(3) for b in range(3) if a != b]:
        few = [one for one in some if one[1] in (a, b)]
        score, truth = matrix([(row, y) for row, y, _ in few])[:, a], [y == a for _, y, _ in few]
        pair = held.pair("abc"[a], "abc"[b])
        (alone,) = binned(Scores.binary(score, truth, [w for *_, w in few]), by).columns
        assert replace(pair, rows=alone.rows) == alone.coarser(paired_map(by, 3, weighted=True))
        assert pair.rows == len(some)


whole = st.lists(st.tuples(st.tuples(*[st.integers(0, 8)] * 3), st.integers(0, 2), st.integers(0, 3)), max_size=12)


@given(whole, st.sampled_from(MAPS[:2]))  # in which pairs of rows and of weighted rows have the same bins
@settings(max_examples=40)
def test_a_whole_weight_is_a_row_repeated_as_often(some, by):
    weighted = binned(weighing(some), by)
    repeated = binned(scores([(row, y) for row, y, w in some for _ in range(w)]), by)
    pairs = [(a, b) for a in "abc" for b in "abc" if a != b]
    tables = [(weighted.pooled(), repeated.pooled()), (weighted.own(), repeated.own())]
    tables += [(weighted.bins(a), repeated.bins(a)) for a in "abc"]
    tables += [(weighted.pair(*pair), repeated.pair(*pair)) for pair in pairs]
    for one, other in tables:
        assert one.place.tolist() == other.place.tolist()
        assert one.weight.pos.tolist() == other.pos.tolist()
        assert one.weight.neg.tolist() == other.neg.tolist()
        np.testing.assert_array_equal(one.only, other.only)


OF_CLASSES = [one.name for one in REGISTRY if one.takes is Scores and bracketed(one)]


@given(weighed, st.sampled_from([PROBABILITY, PROBABILITY.coarser(16), PROBABILITY.coarser(4)]))
@example([((0, 0, 0), 0, Fraction(4, 5)), ((0, 0, 1), 2, 3.0), ((1, 0, 0), 0, 2.0)], PROBABILITY)  # rounds past 1
@settings(max_examples=60)
def test_brackets_of_weighted_classes_hold_the_exact_value(some, by):
    # Products of weights that are next to nothing are not normal doubles, of which the exact value is rounded too.
    some = [(row, y, w if w > 1e-100 else 0.0) for row, y, w in some]
    exact, bins = weighing(some), binned(weighing(some), by)
    for name in OF_CLASSES:
        value, ends = parse(name)(exact), bracket_of_classes(parse(name), bins)
        if isinstance(value, Undefined):
            assert isinstance(ends, Undefined), name
        else:
            assert ends[0] <= value.value <= ends[1], (name, value, ends)


def test_bins_of_classes_with_and_without_weights_are_not_added():
    some = [((1, 2, 3), 0, 0.5), ((3, 2, 1), 1, 2.0)]
    plain = binned(scores([(row, y) for row, y, _ in some]), PROBABILITY)
    for a, b in ((plain, weighing(some)), (binned(weighing(some), PROBABILITY), plain)):
        with pytest.raises(AssayError, match="one tally is weighted and the other is not"):
            _ = a + b


def test_weighted_rows_that_come_in_parts_are_counted_as_those_that_are_there(monkeypatch):
    rng = np.random.default_rng(4)
    some = [(tuple(rng.integers(0, 9, 3)), int(rng.integers(0, 3)), w) for w in 2.0 ** rng.normal(size=200) * 0.7]
    some[::9] = [(row, y, 0.0) for row, y, _ in some[::9]]
    weight = np.array([w for *_, w in some])
    score, truth = matrix([(row, y) for row, y, _ in some]), np.array([y for _, y, _ in some], dtype=np.int8)
    ends = (weight[weight > 0].min(), weight.max())
    for most in (truthbins.WEIGHED, 9 * 1000):  # as fine as the columns, and coarser
        monkeypatch.setattr(truthbins, "WEIGHED", most)
        expected = binned(weighing(some), PROBABILITY)
        by = paired_map(PROBABILITY, 3, weighted=True)
        assert (by == PROBABILITY) == (most > 9 * 1000)
        for own in range(3):
            codes = np.concatenate([truth, [np.int8(-1)]])  # a row of no class
            rows = (codes, np.append(score[:, own], 0.5), np.append(weight, 3.0))
            blocks = [tuple(one[i : i + 30] for one in rows) for i in range(0, 201, 30)]
            column, apart, _ = weigh_classes(blocks, (PROBABILITY, by), own, 3, ends=ends)
            assert column == expected.columns[own]
            np.testing.assert_array_equal(column.only, expected.columns[own].only)
            assert apart.to_json() == expected.paired[own].to_json()


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
