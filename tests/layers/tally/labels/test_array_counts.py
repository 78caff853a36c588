# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from assay.rows.open import open_source
from assay.rows.source import Roles
from assay.tally.base import Weight
from assay.tally.labels import array_counts as counting
from assay.tally.labels.array_counts import count


def counted(truth, predicted, *, group=None, weight=None):
    return count(open_source(None, Roles(truth=truth, predicted=predicted, group=group or {}, weight=weight)))


def test_rows_are_counted_by_pairs_of_labels():
    found = counted(["a", "b", "a"], ["a", "a", "a"])
    assert found.cells == {("a", "a"): (2, 2), ("b", "a"): (1, 1)}
    assert found.rows == 3
    assert not found.weighted


def test_weights_are_kept_beside_the_rows_they_belong_to():
    found = counted(["a", "b", "a"], ["a", "a", "a"], weight=[0.125, 2, 0.25])
    both = Weight(total=Fraction(3, 8), squares=Fraction(5, 64))
    assert found.cells == {("a", "a"): (2, both), ("b", "a"): (1, Weight(total=Fraction(2), squares=Fraction(4)))}
    assert found.weighted


def test_a_row_of_weight_zero_is_a_row():
    found = counted(["a", "b"], ["a", "b"], weight=[0.0, 1.0])
    assert found.cells[("a", "a")] == (1, Weight(total=Fraction(0), squares=Fraction(0)))
    assert found.rows == 2


def test_rows_are_counted_again_by_each_factor():
    found = counted([1, 0, 1], [1, 1, 1], group={"site": ["n", "s", "n"], "shift": [1, 2, 2]})
    assert found.by_factor["site"] == {("n", 1, 1): (2, 2), ("s", 0, 1): (1, 1)}
    assert found.by_factor["shift"] == {(1, 1, 1): (1, 1), (2, 0, 1): (1, 1), (2, 1, 1): (1, 1)}


def test_missing_labels_have_a_place_of_their_own():
    found = counted(["a", None, "a"], ["a", "b", None])
    assert found.cells == {("a", "a"): (1, 1), (None, "b"): (1, 1), ("a", None): (1, 1)}


def test_missing_levels_of_a_factor_are_kept():
    found = counted([1, 0], [1, 0], group={"site": ["n", None]})
    assert found.by_factor["site"] == {("n", 1, 1): (1, 1), (None, 0, 0): (1, 1)}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_integers_of_any_width_are_counted_at_both_ends_of_their_range(dtype):
    ends = [np.iinfo(dtype).min, np.iinfo(dtype).max]
    found = counted(
        np.array([ends[0], ends[1], ends[1]], dtype=dtype), np.array([ends[0], ends[0], ends[1]], dtype=dtype)
    )
    assert found.cells == {(ends[0], ends[0]): (1, 1), (ends[1], ends[0]): (1, 1), (ends[1], ends[1]): (1, 1)}


def test_labels_spread_too_wide_for_one_key_are_numbered_first():
    wide = np.array([-(2**62), 0, 2**62, 2**62 - 1], dtype=np.int64)
    found = counted(wide, wide[::-1].copy(), group={"far": wide})
    assert found.cells == {(int(t), int(p)): (1, 1) for t, p in zip(wide, wide[::-1], strict=True)}
    assert len(found.by_factor["far"]) == 4


def test_many_factors_of_many_levels_do_not_overflow_the_key():
    n = 2000
    level = np.arange(n) * 2_147_483
    found = counted(level, level, group={"a": level})
    assert len(found.by_factor["a"]) == n


@pytest.mark.parametrize("dense", [0, 1 << 20])
def test_the_dense_and_the_sparse_way_count_alike(dense, monkeypatch):
    rng = np.random.default_rng(1)
    truth, predicted, weight = rng.integers(-5, 5, 3000), rng.integers(-5, 5, 3000), rng.random(3000)
    expected = counted(truth, predicted, weight=weight)
    monkeypatch.setattr(counting, "DENSE", dense)
    monkeypatch.setattr(counting, "BLOCK", 777)
    assert counted(truth, predicted, weight=weight) == expected


def test_the_given_arrays_are_left_alone():
    truth, predicted = np.array([3, 1, 2]), np.array([2, 1, 3])
    weight = np.array([0.5, 0.25, 1.0])
    counted(truth, predicted, weight=weight)
    assert truth.tolist() == [3, 1, 2]
    assert predicted.tolist() == [2, 1, 3]
    assert weight.tolist() == [0.5, 0.25, 1.0]


def test_read_only_and_strided_arrays_are_counted():
    truth = np.arange(20)[::2] % 3
    truth.setflags(write=False)
    assert counted(truth, truth).rows == 10


def test_no_rows_are_counted_as_none():
    assert counted([], []).cells == {}
