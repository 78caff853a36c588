# SPDX-License-Identifier: Apache-2.0
"""Counts up to 2^62, whose margins multiply far beyond 64 bits: values within one ulp of the exact ones (A21, A22)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import assay
from assay.core.values import Undefined
from assay.measures import REGISTRY
from assay.tally.base import LARGEST
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from tests.reference import by_definition

BIG = 2**62
MATRICES = {
    "nearly perfect": [[BIG - 1, 1], [0, BIG - 3]],
    "one row apart": [[BIG, 0], [1, 0]],
    "no relation": [[BIG // 4, BIG // 4], [BIG // 4, BIG // 4]],
    "almost no relation": [[BIG // 4 + 1, BIG // 4], [BIG // 4, BIG // 4]],
    "all wrong": [[0, BIG], [BIG - 5, 0]],
    "a rare class": [[BIG, 12345], [77, 3]],
    "a very rare class": [[BIG, 1], [1, 1]],
    "three classes": [[BIG // 2, 3, 10**9], [17, BIG // 4 - 1, 10**12], [10**15, 5, BIG // 8 + 7]],
    "primes": [[2305843009213693951, 618970019642690], [67280421310721, 999999000001]],
    "four million rows": [[1_999_000, 1_000], [800, 1_999_200]],
    "four million rows, rare": [[3_999_000, 300], [200, 500]],
}


def within_one_ulp(value, exact):
    return abs(Fraction(value) - exact) <= Fraction(math.ulp(float(exact)))


@pytest.mark.parametrize(
    "name",
    ["matthews_corrcoef", "cohen_kappa", "accuracy", "error_rate", "gini_impurity", "csmf_accuracy", "total_variation"],
)
@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_an_overall_value_of_huge_counts_is_within_one_ulp(matrix, name):
    found, exact = REGISTRY.find(name)(Multiclass.of(matrix)), by_definition.of_all(name, matrix)
    if exact is None:
        assert isinstance(found, Undefined)
    else:
        assert within_one_ulp(found.value, exact)


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_every_class_value_of_huge_counts_is_within_one_ulp(matrix):
    stack = Multiclass.of(matrix).one_vs_rest()
    for measure in REGISTRY:
        if measure.takes is Binary and not measure.needs:
            for i, exact in enumerate(by_definition.by_class(measure.name, matrix)):
                found = measure(stack.at(i))
                if exact is None:
                    assert isinstance(found, Undefined)
                elif exact == math.inf:
                    assert found.value == math.inf
                else:
                    assert within_one_ulp(found.value, exact), measure.name


def test_the_correlation_of_four_million_rows_is_exact_from_the_rows_up():
    # The product of the four margins is 1.6e25, far beyond 2^63 = 9.2e18.
    n = 4_000_000
    truth = np.arange(n) % 2
    predicted = np.where(np.arange(n) % 997 == 0, 1 - truth, truth)
    found = assay.assess(truth=truth, predicted=predicted, intervals=assay.IntervalSettings(draws=100))
    matrix = found.confusion.matrix()
    assert sum(map(sum, matrix)) == n
    assert math.prod([*map(sum, matrix), *map(sum, zip(*matrix, strict=True))]) > 2**63
    assert within_one_ulp(found["MCC"].value, by_definition.matthews_corrcoef(matrix))
    assert within_one_ulp(found["kappa"].value, by_definition.cohen_kappa(matrix))


def test_a_tally_of_ten_billion_rows_in_weights_is_exact():
    cells = {
        ("a", "a"): Fraction(10**10) / 3,
        ("a", "b"): Fraction(7),
        ("b", "b"): Fraction(10**10, 7),
        ("b", "a"): Fraction(1, 9),
    }
    tally = Confusion.from_cells(cells, labels=["a", "b"], rows=4, weighted=True)
    matrix = [[cells["a", "a"], cells["a", "b"]], [cells["b", "a"], cells["b", "b"]]]
    for name in ("matthews_corrcoef", "cohen_kappa"):
        assert within_one_ulp(REGISTRY.find(name)(tally.multiclass()).value, by_definition.of_all(name, matrix))


def test_a_matrix_whose_sum_is_the_largest_count_is_taken_and_one_more_is_refused():
    found = assay.from_confusion_matrix(
        confusion=[[LARGEST - 2, 1], [1, 0]],
        orientation="rows=truth",
        positive=1,
        intervals=assay.IntervalSettings(draws=100),
    )
    assert found["accuracy"].numerator == LARGEST - 2
    assert found["accuracy"].denominator == LARGEST
    with pytest.raises(assay.OutOfRange) as refused:
        assay.from_confusion_matrix(confusion=[[LARGEST - 1, 1], [1, 0]], orientation="rows=truth", positive=1)
    assert refused.value.code == "count-overflow"


@pytest.mark.parametrize("name", ["accuracy", "matthews_corrcoef", "cohen_kappa", "f1", "LR+"])
def test_an_estimate_of_huge_counts_has_its_value_and_a_sound_interval(name):
    found = assay.from_confusion_matrix(
        confusion=[[BIG - 1, 10], [7, 10**12]],
        orientation="rows=truth",
        positive=1,
        intervals=assay.IntervalSettings(draws=200),
    )[name]
    assert found.low <= found.value <= found.high
