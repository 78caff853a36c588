# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import assay
from assay.core.errors import OutOfRange, PlanError, RecordError
from assay.tally.base import LARGEST, Weight
from assay.tally.labels.confusion import Confusion
from tests.strategies import confusion_of

MATRIX = [[4, 1, 0], [0, 5, 2], [3, 0, 0]]


def test_cells_come_in_by_label_and_go_out_as_a_matrix():
    found = Confusion.from_cells({("b", "a"): 2, ("a", "a"): 3, ("a", "b"): 1})
    assert found.labels == ("a", "b")
    assert found.matrix() == [[3, 1], [2, 0]]
    assert found.rows == found.total == 6
    assert found.k == 2


def test_labels_stand_in_the_declared_order_even_without_rows():
    found = Confusion.from_cells({("b", "a"): 2}, labels=["c", "b", "a"])
    assert found.labels == ("c", "b", "a")
    assert found.matrix() == [[0, 0, 0], [0, 0, 2], [0, 0, 0]]


def test_only_occupied_cells_are_kept_and_in_one_order():
    one = Confusion.from_cells({("a", "b"): 1, ("b", "b"): 0, ("a", "a"): 2}, labels=["a", "b"])
    other = Confusion.from_cells({("a", "a"): 2, ("a", "b"): 1}, labels=["a", "b"])
    assert one == other
    assert one.digest() == other.digest()
    assert len(one.count) == 2


def test_the_margins_of_the_classes_are_sums_of_rows_and_columns():
    found = confusion_of(MATRIX).multiclass()
    assert found.hits.tolist() == [4, 5, 0]
    assert found.actual.tolist() == [5, 7, 3]
    assert found.called.tolist() == [7, 6, 2]
    assert found.n == 15
    assert found.correct == 9


def test_one_class_against_the_rest_is_four_cells():
    found = confusion_of(MATRIX, "xyz").binary("y")
    assert (found.tp, found.fp, found.fn, found.tn) == (5, 1, 2, 7)


def test_a_tally_can_be_laid_over_a_longer_or_reordered_class_list():
    found = confusion_of([[1, 2], [3, 4]], "ab").with_labels(["c", "b", "a"])
    assert found.matrix() == [[0, 0, 0], [0, 4, 3], [0, 2, 1]]
    assert found.rows == 10


def test_a_class_without_rows_may_be_left_out_of_the_new_list():
    found = confusion_of([[1, 0, 2], [0, 0, 0], [3, 0, 4]], "abc").with_labels(["a", "c"])
    assert found.matrix() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "cells", [{("a", "b"): 1}, {("b", "a"): 1}, {("b", "b"): 1}], ids=["predicted", "true", "both"]
)
def test_a_class_with_rows_cannot_be_left_out_of_the_new_list(cells):
    with pytest.raises(PlanError) as refused:
        Confusion.from_cells(cells, labels=["a", "b"]).with_labels(["a", "c"])
    assert refused.value.code == "tally-mismatch"
    assert '"b"' in refused.value.what


def test_labels_of_different_types_cannot_be_merged():
    with pytest.raises(PlanError) as refused:
        confusion_of([[1]], [1]) + confusion_of([[1]], ["1"])
    assert refused.value.code == "tally-mismatch"
    assert '"1"' in refused.value.found
    with pytest.raises(PlanError):
        confusion_of([[1]], [1]) + confusion_of([[1]], [True])


def test_counts_and_weights_cannot_be_merged():
    with pytest.raises(PlanError) as refused:
        confusion_of([[1]], "a") + confusion_of([[Fraction(1)]], "a", weighted=True)
    assert refused.value.code == "tally-mismatch"


def test_a_cell_past_the_largest_count_is_an_error_when_made_and_when_merged():
    full = confusion_of([[LARGEST]], "a")
    assert full.total == LARGEST
    with pytest.raises(OutOfRange) as refused:
        full + confusion_of([[1]], "a")
    assert refused.value.code == "count-overflow"
    with pytest.raises(OutOfRange):
        confusion_of([[LARGEST + 1]], "a")
    with pytest.raises(OutOfRange):
        confusion_of([[Fraction(LARGEST) + 1]], "a", weighted=True)


def margins_or_refusal(*tallies):
    """The margins of the merged tallies, or the code of the error that refuses them."""
    try:
        return sum(tallies[1:], tallies[0]).multiclass()
    except OutOfRange as refused:
        return refused.code


@pytest.mark.parametrize("where", [("a", "b"), ("b", "a"), ("b", "b")], ids=["same row", "same column", "elsewhere"])
def test_a_sum_past_the_largest_count_does_not_wrap_around(where):
    half = LARGEST // 2 + 1
    found = margins_or_refusal(*(Confusion.from_cells({pair: half}, labels=["a", "b"]) for pair in (("a", "a"), where)))
    exact = found != "count-overflow" and found.n == found.called.sum() == 2 * half
    assert exact or found == "count-overflow"


def test_equal_tallies_have_equal_hashes():
    one, same = confusion_of([[1, 0], [0, 1]], [0, 1]), confusion_of([[1, 0], [0, 1]], [0, 1])
    assert one == same
    assert hash(one) == hash(same)


def test_tallies_over_labels_of_different_types_are_different():
    numbers, booleans = confusion_of([[1, 0], [0, 1]], [0, 1]), confusion_of([[1, 0], [0, 1]], [False, True])
    assert numbers.digest() != booleans.digest()
    assert numbers != booleans


def test_a_tally_is_not_equal_to_something_else():
    assert confusion_of([[1]]) != [[1]]


def test_the_written_form_names_its_orientation_and_version():
    written = confusion_of(MATRIX, "abc").to_json()
    assert written["orientation"] == "rows=truth"
    assert written["kind"] == "confusion"
    assert written["version"] == "1"
    assert written["cells"] == [[0, 0, 4], [0, 1, 1], [1, 1, 5], [1, 2, 2], [2, 0, 3]]


@pytest.mark.parametrize(
    "change", [{"kind": "other"}, {"version": "2"}, {"kind": None}], ids=["kind", "version", "nothing"]
)
def test_a_tally_of_another_kind_or_version_is_refused(change):
    with pytest.raises(RecordError) as refused:
        Confusion.from_json({**confusion_of(MATRIX).to_json(), **change})
    assert refused.value.code == "record-unreadable"


def test_a_hundred_thousand_classes_are_counted_without_laying_out_their_matrix():
    k, n = 100_000, 1_000_000
    rng = np.random.default_rng(2)
    truth = rng.integers(0, k, n)
    predicted = np.where(rng.random(n) < 0.7, truth, rng.integers(0, k, n))
    found = assay.assess(truth=truth, predicted=predicted, labels=range(k)).confusion
    margins = found.multiclass()
    assert found.k == k
    assert found.rows == n
    assert margins.correct == int((truth == predicted).sum())
    assert margins.actual.tolist() == np.bincount(truth, minlength=k).tolist()
    assert margins.called.tolist() == np.bincount(predicted, minlength=k).tolist()
    assert found.count.nbytes + found.truth.nbytes + found.predicted.nbytes < 30e6


def test_sparse_tallies_of_many_classes_merge():
    k = 100_000
    a = Confusion.from_cells({(0, k - 1): 3, (5, 5): 1}, labels=range(k))
    b = Confusion.from_cells({(0, k - 1): 4}, labels=range(k))
    assert (a + b).cells() == {(0, k - 1): 7, (5, 5): 1}


def test_squares_of_weights_are_kept_where_both_parts_know_them():
    known = Confusion.from_cells({("a", "a"): Weight(total=Fraction(3), squares=Fraction(5))}, weighted=True)
    plain = confusion_of([[Fraction(2)]], "a", weighted=True)
    assert (known + known).worth == 6**2 / 10
    for both in (known + plain, plain + known):
        assert both.cells() == {("a", "a"): 5}
        assert both.worth is None
