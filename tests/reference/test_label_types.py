# SPDX-License-Identifier: Apache-2.0
"""Whatever labels are made of, the counts and the numbers are those scikit-learn finds for the same rows."""

from __future__ import annotations

import math
from enum import Enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import metrics

import assay
from assay.core.values import Undefined
from assay.measures import REGISTRY, parse
from tests.reference import peers
from tests.reference.compare import TOLERANCE

WORDS = ["cat", "dog", "emu", "fox"]
UNICODE = ["Zürich", "Ærø", "東京", "\U0001f98a e\u0301"]
Animal = Enum("Animal", [(word.upper(), word) for word in WORDS])


def _categorical(values):
    levels = ["unused", *reversed(WORDS), "never"]
    return pd.Series(pd.Categorical(values, categories=levels))


def _ordered(values):
    return pd.Categorical(values, categories=[*WORDS[2:], *WORDS[:2], "never"], ordered=True)


def _dictionary(values):
    """An Arrow dictionary whose values are in another order than the labels, one of them unused."""
    levels = ["never", *reversed(WORDS)]
    return pa.DictionaryArray.from_arrays(pa.array([levels.index(v) for v in values], pa.int8()), pa.array(levels))


def _chunked(values):
    half = len(values) // 2
    return pa.chunked_array([_dictionary(values[:half]), _dictionary(values[half:])])


# How class numbers become a column; the list of labels in the same order.
KINDS = {
    "int": (lambda c: [int(x) for x in c], [0, 1, 2, 3]),
    "int64": (lambda c: c.astype(np.int64), [0, 1, 2, 3]),
    "int8 with a big offset": (lambda c: (c - 100).astype(np.int8), [-100, -99, -98, -97]),
    "uint16": (lambda c: (c + 65_000).astype(np.uint16), [65_000, 65_001, 65_002, 65_003]),
    "negative int": (lambda c: c * 7 - 12, [-12, -5, 2, 9]),
    "int far apart": (lambda c: c * 3_000_000_000_000, [0, 3 * 10**12, 6 * 10**12, 9 * 10**12]),
    "str in a list": (lambda c: [WORDS[x] for x in c], WORDS),
    "str in a tuple": (lambda c: tuple(WORDS[x] for x in c), WORDS),
    "str objects": (lambda c: np.array([WORDS[x] for x in c], dtype=object), WORDS),
    "str of fixed width": (lambda c: np.array([WORDS[x] for x in c]), WORDS),
    "str of variable width": (lambda c: np.array([WORDS[x] for x in c], dtype=np.dtypes.StringDType()), WORDS),
    "unicode": (lambda c: np.array([UNICODE[x] for x in c]), UNICODE),
    "unicode objects": (lambda c: [UNICODE[x] for x in c], UNICODE),
    "numbers as str": (lambda c: [str(x) for x in c], ["0", "1", "2", "3"]),
    "whole float": (lambda c: c.astype(np.float64), [0, 1, 2, 3]),
    "whole float32": (lambda c: (c - 2).astype(np.float32), [-2, -1, 0, 1]),
    "Enum members": (lambda c: [list(Animal)[x] for x in c], WORDS),
    "pandas Series": (lambda c: pd.Series([WORDS[x] for x in c]), WORDS),
    "pandas Int64": (lambda c: pd.Series(c, dtype="Int64"), [0, 1, 2, 3]),
    "pandas categorical": (lambda c: _categorical([WORDS[x] for x in c]), WORDS),
    "pandas ordered categorical": (lambda c: _ordered([WORDS[x] for x in c]), WORDS),
    "pandas categorical of int": (lambda c: pd.Series(pd.Categorical(c, categories=[9, 3, 1, 0, 2])), [0, 1, 2, 3]),
    "Polars str": (lambda c: pl.Series([WORDS[x] for x in c]), WORDS),
    "Polars Enum": (lambda c: pl.Series([WORDS[x] for x in c], dtype=pl.Enum(["never", *reversed(WORDS)])), WORDS),
    "Polars Categorical": (lambda c: pl.Series([WORDS[x] for x in c], dtype=pl.Categorical), WORDS),
    "Polars int": (pl.Series, [0, 1, 2, 3]),
    "Arrow str": (lambda c: pa.array([WORDS[x] for x in c]), WORDS),
    "Arrow int": (pa.array, [0, 1, 2, 3]),
    "Arrow dictionary": (lambda c: _dictionary([WORDS[x] for x in c]), WORDS),
    "Arrow dictionary in chunks": (lambda c: _chunked([WORDS[x] for x in c]), WORDS),
}
PAIRS = {
    "bool": (lambda c: c.astype(bool), [False, True]),
    "bool in a list": (lambda c: [bool(x) for x in c], [False, True]),
    "bool objects": (lambda c: np.array([bool(x) for x in c], dtype=object), [False, True]),
    "0 and 1": (lambda c: c, [0, 1]),
    "0.0 and 1.0": (lambda c: c.astype(float), [0, 1]),
    '"0" and "1"': (lambda c: [str(x) for x in c], ["0", "1"]),
    "pandas boolean": (lambda c: pd.Series(c.astype(bool), dtype="boolean"), [False, True]),
    "Polars Boolean": (lambda c: pl.Series(c.astype(bool)), [False, True]),
    "Arrow bool": (lambda c: pa.array(c.astype(bool)), [False, True]),
}


def numbers(rng, k, n):
    """Class numbers that hold every class, so that nothing has to be declared."""
    truth = np.concatenate([np.arange(k), rng.integers(0, k, n)])
    predicted = np.where(rng.random(k + n) < 0.6, truth, rng.integers(0, k, k + n))
    return truth, predicted


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_every_type_are_counted_alike(kind):
    spelled, labels = KINDS[kind]
    rng = np.random.default_rng(sorted(KINDS).index(kind))
    for n in (0, 1, 37, 800):
        truth, predicted = numbers(rng, 4, n)
        found = assay.assess(truth=spelled(truth), predicted=spelled(predicted))
        assert sorted(found.labels) == sorted(labels)
        assert {type(x) for x in found.labels} == {type(labels[0])}
        order = [labels.index(label) for label in found.labels]
        assert found.confusion.matrix() == metrics.confusion_matrix(truth, predicted, labels=order).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_declared_order_of_labels_is_kept_for_every_type(kind):
    spelled, labels = KINDS[kind]
    truth, predicted = numbers(np.random.default_rng(5), 3, 50)
    order = [3, 0, 2, 1]  # the last class never occurs
    found = assay.assess(truth=spelled(truth), predicted=spelled(predicted), labels=[labels[i] for i in order])
    assert found.labels == tuple(labels[i] for i in order)
    assert found.confusion.matrix() == metrics.confusion_matrix(truth, predicted, labels=order).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_are_those_of_scikit_learn_for_every_type(kind):
    spelled, labels = KINDS[kind]
    truth, predicted = numbers(np.random.default_rng(9), 4, 300)
    table = assay.assess(truth=spelled(truth), predicted=spelled(predicted), labels=labels).confusion.multiclass()
    matrix = metrics.confusion_matrix(truth, predicted)
    for title, theirs in (peers.scikit_learn(matrix) | peers.scikit_learn_averages(matrix, 2, "zero")).items():
        assert abs(parse(title)(table).value - theirs) <= TOLERANCE
    stack = table.one_vs_rest()
    for name, values in peers.scikit_learn_by_class(matrix, 0.5).items():
        assert [parse(name)(stack.at(i)).value for i in range(4)] == pytest.approx(list(values), abs=TOLERANCE)


@pytest.mark.parametrize("kind", PAIRS)
def test_two_classes_of_every_type_are_counted_alike(kind):
    spelled, labels = PAIRS[kind]
    truth, predicted = numbers(np.random.default_rng(3), 2, 200)
    found = assay.assess(truth=spelled(truth), predicted=spelled(predicted))
    assert list(found.labels) == labels
    assert [type(x) for x in found.labels] == [type(x) for x in labels]
    assert found.positive == labels[1]
    assert found.confusion.matrix() == metrics.confusion_matrix(truth, predicted).tolist()
    table = found.confusion.binary(labels[1])
    assert parse("precision")(table).value == pytest.approx(metrics.precision_score(truth, predicted), abs=TOLERANCE)
    assert parse("recall")(table).value == pytest.approx(metrics.recall_score(truth, predicted), abs=TOLERANCE)


@pytest.mark.parametrize("kind", [k for k in KINDS if KINDS[k][1] is WORDS])
def test_all_spellings_of_the_same_labels_give_the_same_digest(kind):
    truth, predicted = numbers(np.random.default_rng(4), 4, 100)
    plain = assay.assess(truth=[WORDS[x] for x in truth], predicted=[WORDS[x] for x in predicted])
    other = assay.assess(truth=KINDS[kind][0](truth), predicted=KINDS[kind][0](predicted))
    assert other.confusion.digest() == plain.confusion.digest()


@pytest.mark.parametrize("frame", ["pandas", "polars", "lazy", "arrow", "duckdb", "dict"])
@pytest.mark.parametrize("kind", ["int", "str in a list", "unicode objects", "pandas categorical", "whole float"])
def test_frames_of_every_library_are_counted_alike(kind, frame):
    import duckdb

    spelled, labels = KINDS[kind]
    truth, predicted = numbers(np.random.default_rng(8), 4, 150)
    rows = pd.DataFrame({"t": spelled(truth), "p": spelled(predicted)})
    if kind == "pandas categorical" and frame != "pandas":
        rows = rows.astype(str)
    data = {
        "pandas": lambda: rows,
        "polars": lambda: pl.DataFrame({"t": rows["t"].tolist(), "p": rows["p"].tolist()}),
        "lazy": lambda: pl.LazyFrame({"t": rows["t"].tolist(), "p": rows["p"].tolist()}),
        "arrow": lambda: pa.Table.from_pandas(rows),
        "duckdb": lambda: duckdb.from_arrow(pa.Table.from_pandas(rows)),
        "dict": lambda: {"t": rows["t"].tolist(), "p": rows["p"].tolist()},
    }[frame]()
    found = assay.assess(data=data, truth="t", predicted="p")
    order = [labels.index(label) for label in found.labels]
    assert sorted(order) == [0, 1, 2, 3]
    assert found.confusion.matrix() == metrics.confusion_matrix(truth, predicted, labels=order).tolist()


def test_a_measure_that_is_undefined_here_is_a_stand_in_there_for_every_measure_of_a_class():
    truth, predicted = ["cat", "dog", "cat", "dog"], ["cat", "cat", "cat", "dog"]
    found = assay.assess(truth=truth, predicted=predicted, labels=["cat", "dog", "emu"])
    stack = found.confusion.multiclass().one_vs_rest()
    theirs = peers.scikit_learn_by_class(np.array(found.confusion.matrix()), 1)
    for name in ("precision", "recall", "f1", "jaccard"):
        ours = [REGISTRY.find(name)(stack.at(i)) for i in range(3)]
        assert [isinstance(x, Undefined) for x in ours] == [math.isnan(x) for x in theirs[name]] == [False, False, True]
