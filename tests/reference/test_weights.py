# SPDX-License-Identifier: Apache-2.0
"""Weighted tallies are exact sums: the Fractions of the weights, whatever the rows' order, pieces or engine."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import metrics

import assay
from assay.core.values import Undefined
from assay.measures import REGISTRY, parse
from assay.tally import counting
from tests.reference.compare import TOLERANCE

LABELS = ["a", "b", "c"]
DRAWN = {
    "uniform": lambda rng, n: rng.random(n),
    "tenths": lambda rng, n: rng.integers(0, 40, n) / 10,
    "whole": lambda rng, n: rng.integers(0, 9, n).astype(float),
    "wide": lambda rng, n: np.exp(rng.normal(0, 5, n)),
    "extreme": lambda rng, n: np.ldexp(rng.random(n), rng.integers(-1060, 40, n)),
    "mostly zero": lambda rng, n: rng.random(n) * (rng.random(n) < 0.1),
}


def drawn(kind, seed, n=400):
    rng = np.random.default_rng(seed)
    truth, predicted = (rng.choice(LABELS, n) for _ in range(2))
    return truth, predicted, DRAWN[kind](rng, n)


def exact_cells(truth, predicted, weight):
    cells = {}
    for t, p, w in zip(truth.tolist(), predicted.tolist(), weight.tolist(), strict=True):
        cells[t, p] = cells.get((t, p), Fraction(0)) + Fraction(w)
    return {pair: total for pair, total in cells.items() if total}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", DRAWN)
def test_every_cell_is_the_exact_sum_of_its_weights(kind, seed):
    truth, predicted, weight = drawn(kind, seed)
    found = assay.assess(truth=truth, predicted=predicted, weight=weight, labels=LABELS).confusion
    assert found.weighted
    assert found.rows == len(truth)
    assert found.cells() == exact_cells(truth, predicted, weight)
    assert found.total == sum(map(Fraction, weight.tolist()))


@pytest.mark.parametrize("parts", [2, 7, 60])
@pytest.mark.parametrize("kind", DRAWN)
def test_any_partition_gives_identical_fractions(kind, parts):
    truth, predicted, weight = drawn(kind, 11)
    whole = assay.assess(truth=truth, predicted=predicted, weight=weight, labels=LABELS).confusion
    order = np.random.default_rng(parts).permutation(len(truth))
    merged = None
    for rows in np.array_split(order, parts):
        part = assay.assess(truth=truth[rows], predicted=predicted[rows], weight=weight[rows], labels=LABELS).confusion
        merged = part if merged is None else merged + part
    assert merged == whole
    assert merged.digest() == whole.digest()


@pytest.mark.parametrize("block", [1, 13, 399])
@pytest.mark.parametrize("kind", DRAWN)
def test_the_size_of_a_block_does_not_move_a_sum(kind, block, monkeypatch):
    truth, predicted, weight = drawn(kind, 12)
    whole = assay.assess(truth=truth, predicted=predicted, weight=weight, labels=LABELS).confusion
    monkeypatch.setattr(counting, "BLOCK", block)
    assert assay.assess(truth=truth, predicted=predicted, weight=weight, labels=LABELS).confusion == whole


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow", "dict"])
@pytest.mark.parametrize("kind", ["uniform", "tenths", "whole", "wide", "mostly zero"])
def test_the_sums_are_exact_in_every_library(kind, library):
    truth, predicted, weight = drawn(kind, 13)
    columns = {"t": truth.tolist(), "p": predicted.tolist(), "w": weight.tolist()}
    data = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table, "dict": dict}[library](columns)
    found = assay.assess(data=data, truth="t", predicted="p", weight="w", labels=LABELS).confusion
    assert found.cells() == exact_cells(truth, predicted, weight)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("kind", ["uniform", "tenths", "whole", "wide"])
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
    truth, predicted, _ = drawn("uniform", seed, n=80)
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


def test_weights_that_are_all_zero_leave_no_value_and_say_why():
    found = assay.assess(truth=["a", "b"], predicted=["a", "b"], weight=[0.0, 0.0], labels=LABELS, draws=100)
    assert found.confusion.rows == 2
    assert found.confusion.total == 0
    assert found["accuracy"].value is None
    assert found["accuracy"].reason == "all weights are zero"
