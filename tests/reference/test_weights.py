# SPDX-License-Identifier: Apache-2.0
"""Weighted tallies: sums in fixed point agree with exact sums, whatever the rows' order, parts or library."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import metrics

import assay
from assay.core.values import Undefined
from assay.measures import REGISTRY, parse
from assay.tally import fixed_point
from assay.tally.labels import array_counts as counting
from tests import flat
from tests.reference.compare import TOLERANCE

LABELS = ["a", "b", "c"]
NEAR = 1e-11
DRAWN = {
    "around 1": lambda rng, n: 0.5 + rng.random(n),
    "tenths": lambda rng, n: rng.integers(0, 40, n) / 10,
    "whole": lambda rng, n: rng.integers(0, 9, n).astype(float),
    "log-normal": lambda rng, n: np.exp(rng.normal(0, 2, n)),
    "over 12 powers of ten": lambda rng, n: 10 ** rng.uniform(-6, 6, n),
    "mostly zero": lambda rng, n: rng.random(n) * (rng.random(n) < 0.1),
    "sum to 1": lambda rng, n: rng.dirichlet(np.ones(n)),
}


def drawn(kind, seed, n=400):
    rng = np.random.default_rng(seed)
    truth, predicted = (rng.choice(LABELS, n) for _ in range(2))
    return truth, predicted, DRAWN[kind](rng, n)


def exact_cells(truth, predicted, weight):
    pairs = {(t, p): math.fsum(weight[(truth == t) & (predicted == p)]) for t in LABELS for p in LABELS}
    return {pair: total for pair, total in pairs.items() if total}


def confusion_of(truth, predicted, weight, **more):
    return flat.assess(truth=truth, predicted=predicted, weight=weight, labels=LABELS, **more).confusion


def assert_near(cells, exact):
    assert cells.keys() == exact.keys()
    for pair, total in exact.items():
        assert abs(cells[pair] - total) <= NEAR * total


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", DRAWN)
def test_every_cell_is_the_sum_of_its_weights(kind, seed):
    truth, predicted, weight = drawn(kind, seed)
    found = confusion_of(truth, predicted, weight)
    assert found.weighted
    assert found.rows == len(truth)
    assert_near(found.cells(), exact_cells(truth, predicted, weight))


@pytest.mark.parametrize("kind", ["around 1", "sum to 1", "over 12 powers of ten"])
def test_a_million_weights_add_up_to_11_digits(kind):
    truth, predicted, weight = drawn(kind, 3, n=1_000_000)
    found = confusion_of(truth, predicted, weight)
    squares = exact_cells(truth, predicted, weight * weight)
    assert_near(found.cells(), exact_cells(truth, predicted, weight))
    assert_near(dict(zip(found.cells(), found.squares.tolist(), strict=True)), squares)


@pytest.mark.parametrize("parts", [2, 7, 60])
@pytest.mark.parametrize("kind", DRAWN)
def test_parts_with_different_largest_weights_merge_to_11_digits(kind, parts):
    truth, predicted, weight = drawn(kind, 11)
    whole = confusion_of(truth, predicted, weight)
    order = np.random.default_rng(parts).permutation(len(truth))
    some = [rows for rows in np.array_split(order, parts) if weight[rows].any()]
    merged = reduce(add, (confusion_of(truth[rows], predicted[rows], weight[rows]) for rows in some))
    assert_near(merged.cells(), whole.cells())


@pytest.mark.parametrize("parts", [2, 7, 60])
def test_parts_with_a_stated_quantum_merge_to_the_last_bit(parts):
    truth, predicted, weight = drawn("log-normal", 11)
    quantum = {"reading": assay.Reading(weight_quantum=2.0**-44)}
    whole = confusion_of(truth, predicted, weight, **quantum)
    order = np.random.default_rng(parts).permutation(len(truth))
    some = np.array_split(order, parts)
    merged = reduce(add, (confusion_of(truth[rows], predicted[rows], weight[rows], **quantum) for rows in some))
    assert merged.digest() == whole.digest()


@pytest.mark.parametrize("block", [1, 13, 399])
@pytest.mark.parametrize("kind", DRAWN)
def test_the_size_of_a_block_does_not_move_a_sum(kind, block, monkeypatch):
    truth, predicted, weight = drawn(kind, 12)
    whole = confusion_of(truth, predicted, weight)
    monkeypatch.setattr(counting, "BLOCK", block)
    monkeypatch.setattr(fixed_point, "BLOCK", block)
    assert confusion_of(truth, predicted, weight) == whole


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow", "dict"])
@pytest.mark.parametrize("kind", DRAWN)
def test_the_sums_are_the_same_in_every_library(kind, library):
    truth, predicted, weight = drawn(kind, 13)
    columns = {"t": truth.tolist(), "p": predicted.tolist(), "w": weight.tolist()}
    data = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table, "dict": dict}[library](columns)
    found = assay.assess(data=data, truth="t", predicted="p", weight="w", labels=LABELS).confusion
    assert found.digest() == confusion_of(truth, predicted, weight).digest()


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("kind", ["around 1", "tenths", "whole", "log-normal"])
def test_weighted_values_are_those_of_scikit_learn(kind, seed):
    truth, predicted, weight = drawn(kind, 20 + seed, n=60)
    table = assay.assess(truth=truth, predicted=predicted, weight=weight, labels=LABELS).confusion.multiclass()
    common = {"sample_weight": weight, "labels": LABELS, "zero_division": np.nan}
    named = {
        "accuracy": metrics.accuracy_score(truth, predicted, sample_weight=weight),
        "cohen_kappa": metrics.cohen_kappa_score(truth, predicted, sample_weight=weight, labels=LABELS),
        "matthews_corrcoef": metrics.matthews_corrcoef(truth, predicted, sample_weight=weight),
        "f1_macro": metrics.f1_score(truth, predicted, average="macro", **common),
        "precision_weighted": metrics.precision_score(truth, predicted, average="weighted", **common),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, predicted, sample_weight=weight),
    }
    for title, theirs in named.items():
        ours = parse(title)(table)
        assert not isinstance(ours, Undefined)
        assert abs(ours.value - theirs) <= TOLERANCE


@pytest.mark.parametrize("seed", range(5))
def test_equal_weights_are_no_weights(seed):
    truth, predicted, _ = drawn("around 1", seed, n=80)
    plain = assay.assess(truth=truth, predicted=predicted, labels=LABELS).confusion.multiclass()
    same = assay.assess(truth=truth, predicted=predicted, weight=[0.1] * 80, labels=LABELS).confusion.multiclass()
    for measure in REGISTRY:
        if measure.takes is type(plain) and not measure.needs:
            a, b = measure(plain), measure(same)
            assert isinstance(a, Undefined) == isinstance(b, Undefined)
            assert isinstance(a, Undefined) or a.value == pytest.approx(b.value, abs=1e-15)


def test_a_tenth_counted_ten_times_is_not_quite_one():
    found = assay.assess(truth=["a"] * 10, predicted=["a"] * 10, weight=[0.1] * 10, labels=LABELS).confusion
    assert found.total == 10 * Fraction(0.1) != 1


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(assay.AssayError, match="all weights are zero"):
        confusion_of(["a", "b"], ["a", "b"], [0.0, 0.0])
