# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.core.errors import PlanError, RecordError
from assay.tally.scores.true_class_ranks import Ranks
from assay.tasks.classification.measures.multiclass_scores import top_k_accuracy

rows = st.lists(st.tuples(st.tuples(*[st.integers(0, 2)] * 3), st.integers(0, 2)), min_size=1, max_size=20)


def ranks(some, weight=None):
    return Ranks.of(np.array([row for row, _ in some], dtype=float), [y for _, y in some], weight)


def orders(row):
    """Every order of the classes that the scores allow."""
    return [o for o in permutations(range(3)) if all(row[o[i]] >= row[o[i + 1]] for i in range(2))]


@given(rows, st.integers(1, 2))
def test_ties_are_counted_against_on_average_and_for_the_true_class(some, k):
    found = [[y in order[:k] for order in orders(row)] for row, y in some]
    worst, mean, best = ranks(some).within(k)
    assert worst == sum(all(each) for each in found)
    assert mean == sum(Fraction(sum(each), len(each)) for each in found)
    assert best == sum(any(each) for each in found)


@given(rows, rows)
def test_merging_equals_counting_the_union(a, b):
    assert ranks(a) + ranks(b) == ranks(a + b)


@given(rows)
def test_json_brings_back_the_same_tally(some):
    for tally in (ranks(some), ranks(some, [0.1] * len(some))):
        again = Ranks.from_json(json.loads(json.dumps(tally.to_json())))
        assert again == tally


def test_a_weight_counts_as_that_many_rows():
    assert ranks([((1, 2, 0), 1)], [3]).within(1) == (3, 3, 3)
    assert ranks([((1, 2, 0), 1)], [3]).n == 3


def test_tallies_of_other_classes_are_not_merged_or_read():
    with pytest.raises(PlanError):
        ranks([((1, 2, 0), 1)]) + Ranks.of([[0.1, 0.2]], [0])
    with pytest.raises(RecordError):
        Ranks.from_json({"kind": "scores"})


@pytest.mark.parametrize("ties", ["pessimistic", "optimistic"])
def test_ranks_with_ties_are_counted_alike_in_a_frame(ties):
    rng = np.random.default_rng(3)
    truth, matrix = rng.integers(0, 3, 40), rng.integers(0, 4, (40, 3)) / 4
    name = f"top_k_accuracy(k=2, ties='{ties}')"
    frame = pl.LazyFrame({"y": truth, **{f"s{i}": matrix[:, i] for i in range(3)}})
    there = assay.assess(data=frame, truth="y", score={i: f"s{i}" for i in range(3)}, measures=[name])
    own = matrix[np.arange(40), truth][:, np.newaxis]
    above, tied = ((matrix > own).sum(axis=1), (matrix == own).sum(axis=1))
    places = above + (tied if ties == "pessimistic" else 1)
    assert there[name].value == pytest.approx((places <= 2).mean())


@pytest.mark.parametrize("frame", [pl.DataFrame, pl.LazyFrame])
def test_rows_of_no_class_have_no_rank_in_any_frame(frame):
    """A row without a label is left out before ranks are counted, in memory and in an engine."""
    scores = {"a": [0.5, 0.2, 0.9, 0.1, 0.3], "b": [0.3, 0.5, 0.1, 0.5, 0.3], "c": [0.2, 0.3, 0.0, 0.4, 0.4]}
    data = frame({"y": ["a", "b", None, "c", "a"], **scores})
    a = assay.assess(data=data, truth="y", score=list(scores), missing="drop", measures=["top_k_accuracy(k=2)"])
    estimate = a["top_k_accuracy(k=2)"]
    assert (estimate.value, estimate.n) == (0.875, 4)  # the last row's class is tied for the second place


@pytest.mark.parametrize("k", [True, 0, 3, 1.5])
def test_top_k_takes_whole_numbers_below_the_number_of_classes(k):
    with pytest.raises(PlanError, match="top_k_accuracy got k"):
        top_k_accuracy.function(ranks([((1, 2, 0), 1)]), k=k)
