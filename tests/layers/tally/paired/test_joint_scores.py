# SPDX-License-Identifier: Apache-2.0
"""Cells of rounded scores: the same DeLong test as of the rows they stand for."""

from __future__ import annotations

import json

import numpy as np
import pytest

from assay.inference.tests.delong import areas, delong, delong_many
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.scores.rounded_scores import round_scores
from tests.scorecases import rounded_pair


def scores(n=600, seed=1, correlation=0.9):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    base = rng.normal(size=n) + positive
    both = {"A": base, "B": correlation * base + np.sqrt(1 - correlation**2) * rng.normal(size=n)}
    return positive, {name: 1 / (1 + np.exp(-held)) for name, held in both.items()}


def rounded(positive, columns, bits):
    return rounded_pair(PairedScores.of(positive, columns), bits)


def test_cells_give_the_very_areas_of_the_rounded_rows():
    positive, columns = scores()
    rows = PairedScores.of(positive, {m: round_scores(s, 5, probability=True) for m, s in columns.items()})
    cells = rounded(positive, columns, 5)
    assert cells.positives.shape[1] < rows.positives.shape[1]
    assert (cells.m, cells.n) == (rows.m, rows.n)
    one, other = areas(rows), areas(cells)
    np.testing.assert_array_equal(one.area, other.area)
    np.testing.assert_array_equal(one.covariance, other.covariance)
    np.testing.assert_array_equal(one.gaps, other.gaps)
    assert one.known == other.known


def test_a_cell_may_stand_for_any_number_of_rows():
    positive, columns = scores(60)
    few = rounded(positive, columns, 9)
    times = tuple(held * 30_000_000 for held in few.times)
    many = PairedScores(models=few.models, positives=few.positives, negatives=few.negatives, times=times, bits=9)
    assert areas(many).area.tolist() == pytest.approx(areas(few).area.tolist(), abs=1e-15)
    ratio = areas(few).covariance / areas(many).covariance
    np.testing.assert_allclose(ratio, 30_000_000, rtol=0.1)  # n - 1 in place of n


@pytest.mark.parametrize(("correlation", "bits"), [(0.5, 9), (0.9, 9), (0.99, 9), (0.9, 7), (0.99, 7)])
def test_rounding_moves_the_difference_by_little_of_its_standard_error(correlation, bits):
    rows = scores(20_000, correlation=correlation)
    one, other = areas(PairedScores.of(*rows)), areas(rounded(*rows, bits))
    error = np.sqrt(one.gap(0, 1)[1])
    assert abs(one.gap(0, 1)[0] - other.gap(0, 1)[0]) < 0.05 * error
    assert np.sqrt(other.gap(0, 1)[1]) == pytest.approx(error, rel=1e-2)


@pytest.mark.parametrize("order_only", [False, True])
def test_cells_are_kept_in_a_record(order_only):
    held = rounded(*scores(), 9)
    again = PairedScores.from_json(json.loads(json.dumps(held.to_json(order_only=order_only))))
    assert again.bits == 9
    assert delong(again) == delong(held)
    assert (again == held) is not order_only


def test_the_rounding_is_told_beside_the_finding():
    held = rounded(*scores(), 9)
    assert "scores rounded to 9 significant bits" in delong(held).notes
    assert "scores rounded to 9 significant bits" in delong_many(held).notes
    assert not any("rounded" in note for note in delong(PairedScores.of(*scores())).notes)
