# SPDX-License-Identifier: Apache-2.0
"""Pooled scores of many classes in bins finer than those of their columns."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.values import Undefined
from assay.measures import parse
from assay.measures.brackets import bracket_of_classes
from assay.tally.binmaps import PROBABILITY, REAL
from assay.tally.binned import Binned, binned
from assay.tally.pooledbins import pooled_map
from assay.tally.scorebins import ScoreBins
from assay.tally.scores import Scores
from assay.tally.truthbins import count_classes

LABELS = ("a", "b", "c", "d")
rows = st.lists(st.tuples(st.tuples(*[st.floats(0.001, 1) | st.sampled_from([0.5, 0.25])] * 4), st.integers(0, 3)))
FINER = pooled_map(PROBABILITY, 4)


def matrix(some):
    parts = np.array([row for row, _ in some], dtype=np.float64).reshape(-1, 4)
    return parts / parts.sum(axis=1, keepdims=True)


def scores(some):
    return Scores.per_class(matrix(some), [y for _, y in some], LABELS)


@given(st.lists(st.floats(0, 1) | st.integers(0, 2**20).map(lambda i: i / 2**20), min_size=1, max_size=50))
def test_finer_bins_keep_order_lie_in_those_of_the_columns_and_know_their_lowest_score(some):
    ordered = np.sort(np.concatenate([some, np.nextafter(some, 0), np.minimum(np.nextafter(some, 2), 1)]))
    place = FINER.place(ordered)
    assert (np.diff(place) >= 0).all()
    assert (place >> 2 == PROBABILITY.place(ordered)).all()
    assert place[-1] < FINER.size
    held = np.unique(place)
    floor = FINER.floor(held)
    assert (FINER.place(floor) == held).all()
    assert (FINER.place(np.nextafter(floor[floor > 0], 0)) < held[floor > 0]).all()
    after = FINER.floor(np.minimum(place + 1, FINER.size - 1))
    assert ((ordered < after) | (place + 1 == FINER.size)).all()


@given(rows, rows)
@settings(max_examples=30)
def test_pooled_bins_merge_come_back_from_json_and_are_the_columns_when_made_coarse(a, b):
    both = binned(scores(a + b), PROBABILITY)
    assert binned(scores(a), PROBABILITY) + binned(scores(b), PROBABILITY) == both
    assert binned(scores(a), PROBABILITY) + scores(b) == both
    again = Binned.from_json(json.loads(json.dumps(both.to_json())))
    assert again == both
    pooled = again.pooled()
    assert pooled.map == FINER
    assert pooled.coarser(PROBABILITY) == reduce(add, both.columns)
    every = np.concatenate([matrix(a + b)[:, i] for i in range(4)])
    truth = np.array([y for _, y in a + b], dtype=np.int64)
    own = np.concatenate([truth == i for i in range(4)])
    place, at = np.unique(FINER.place(every), return_inverse=True)
    assert pooled.place.tolist() == place.tolist()
    assert pooled.pos.tolist() == np.bincount(at, own, len(place)).tolist()
    for i, only in enumerate(pooled.only):
        assert np.isnan(only) or set(every[at == i]) == {only}
    assert both.own().pos.sum() == len(truth)


@given(rows)
@settings(max_examples=40)
def test_brackets_of_finer_bins_hold_the_exact_value_and_lie_within_those_of_the_columns(some):
    exact, bins = scores(some), binned(scores(some), PROBABILITY)
    older = replace(bins, pool=None)
    for name in ("auroc_micro", "average_precision_micro", "brier_score_multiclass", "log_loss_multiclass"):
        measure = parse(name)
        value, ends, wider = measure(exact), bracket_of_classes(measure, bins), bracket_of_classes(measure, older)
        if isinstance(value, Undefined):
            assert isinstance(ends, Undefined)
            continue
        assert ends[0] <= value.value <= ends[1], name
        assert wider[0] - 1e-12 <= ends[0]
        assert ends[1] <= wider[1] + 1e-12


def test_pooled_areas_of_four_classes_are_four_times_as_sharp():
    rng = np.random.default_rng(5)
    bins = binned(Scores.per_class(rng.dirichlet(np.ones(4), 20_000), rng.integers(0, 4, 20_000), LABELS), PROBABILITY)
    ends, wider = (bracket_of_classes(parse("auroc_micro"), one) for one in (bins, replace(bins, pool=None)))
    assert ends[1] - ends[0] < 0.3 * (wider[1] - wider[0])


def test_pooled_bins_are_held_of_many_classes_of_probabilities_without_weights():
    assert pooled_map(REAL, 10) is None
    assert pooled_map(PROBABILITY, 3) is None
    some = [((0.1, 0.2, 0.3, 0.4), 1)]
    assert binned(scores(some), REAL).pool is None
    assert binned(Scores.per_class(matrix(some), [1], LABELS, [2.0]), PROBABILITY).pool is None
    assert "pooled" not in binned(scores(some), REAL).to_json()


def test_rows_that_come_in_parts_add_what_those_that_are_there_do():
    rng = np.random.default_rng(3)
    some = [(tuple(rng.random(4)), int(rng.integers(0, 4))) for _ in range(100)]
    expected, codes = binned(scores(some), PROBABILITY), np.array([y for _, y in some], dtype=np.int8)
    pools = []
    for own in range(4):
        score = np.append(matrix(some)[:, own], 0.5)
        truth = np.append(codes, np.int8(-1))  # a row of no class
        blocks = [(score[i : i + 30], truth[i : i + 30]) for i in range(0, 101, 30)]
        column, _, pool = count_classes(blocks, PROBABILITY, own, 4)
        assert isinstance(column, ScoreBins)
        pools.append(pool)
    assert reduce(add, pools).to_json() == expected.pool.to_json()
