# SPDX-License-Identifier: Apache-2.0
"""Agreement of annotators, against published examples and three independent packages."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from assay.core.values import Undefined
from assay.inference.intervals.rater_agreement import (
    agreement_interval,
    cohen,
    fleiss,
    gwet,
    krippendorff,
    standard_error,
    weights,
)
from assay.tally.contingency_tables import Ratings

HELD = tomllib.loads((Path(__file__).parent / "raters.toml").read_text(encoding="utf-8"))
COEFFICIENTS = {"fleiss": fleiss, "gwet": gwet, "krippendorff": krippendorff}
KINDS = {"identity": "none", "linear": "linear", "quadratic": "quadratic"}


def tally(rows, labels=None):
    cells = {}
    for row in rows:
        key = tuple(None if one == 0 else one for one in row)
        cells[key] = cells.get(key, 0) + 1
    return Ratings.from_cells(cells, labels=labels)


@pytest.mark.parametrize(
    "case", HELD["cases"], ids=lambda case: f"{case['data']}-{case['coefficient']}-{case['weights']}"
)
def test_coefficients_errors_and_intervals_are_the_published_ones(case):
    t = tally(HELD["data"][case["data"]])
    found = COEFFICIENTS[case["coefficient"]](t, weights(len(t.labels), KINDS[case["weights"]]))
    digits = case["digits"]
    assert found.value == pytest.approx(case["value"], abs=digits)
    assert standard_error(found, raters=3) == pytest.approx(case["error"], abs=digits)
    ends = agreement_interval(found, 0.95, raters=3)
    assert (ends.low, ends.high) == pytest.approx((case["low"], case["high"]), abs=max(digits, case["ends"]))


@pytest.mark.parametrize("weighting", ["none", "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(4))
def test_kappa_of_two_is_that_of_statsmodels(weighting, seed):
    cells = np.random.default_rng(seed).integers(0, 40, (4, 4)).astype(float)
    found, peer = (
        cohen(cells, weights(4, weighting)),
        cohens_kappa(cells, wt=None if weighting == "none" else weighting),
    )
    assert found.value == pytest.approx(peer.kappa, abs=1e-12)
    assert standard_error(found, raters=2) == pytest.approx(peer.std_kappa, abs=1e-12)
    ends = agreement_interval(found, 0.95, raters=2)
    assert (ends.low, ends.high) == pytest.approx((peer.kappa_low, peer.kappa_upp), abs=1e-12)


def test_kappa_of_many_is_that_of_statsmodels():
    counts = np.random.default_rng(1).multinomial(5, [0.5, 0.3, 0.2], size=60)
    t = Ratings(labels=("a", "b", "c"), votes=counts, count=np.ones(60, dtype=np.int64))
    assert fleiss(t, weights(3)).value == pytest.approx(fleiss_kappa(counts), abs=1e-12)


ROWS = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=12)


@given(ROWS)
def test_the_influence_of_items_is_how_the_coefficient_moves_with_their_number(rows):
    """The derivative, taken by giving one pattern a little more weight."""
    t = tally(rows, labels=(1, 2, 3)).several  # of items labelled once Gwet's variance is not the derivative
    weight = weights(3, "linear")
    for coefficient in (fleiss, gwet):
        found = coefficient(t, weight)
        if isinstance(found, Undefined) or found.chance > 0.9:
            continue
        n, step = t.items, 1e-6
        for i in range(len(t.count)):
            more = t.count.astype(float)
            more[i] += step * n
            moved = coefficient(Ratings(labels=t.labels, votes=t.votes, count=more), weight).value
            slope = (moved - found.value) / step
            assert found.influence[i] == pytest.approx(slope, abs=2e-3 * max(1.0, abs(slope)))


@given(ROWS, st.randoms())
def test_neither_the_order_of_items_nor_of_annotators_matters(rows, rng):
    mixed = [rng.sample(row, 3) for row in rng.sample(rows, len(rows))]
    one, other = tally(rows, (1, 2, 3)), tally(mixed, (1, 2, 3))
    for coefficient in COEFFICIENTS.values():
        a, b = (coefficient(t, weights(3)) for t in (one, other))
        assert isinstance(a, Undefined) == isinstance(b, Undefined)
        assert isinstance(a, Undefined) or a.value == pytest.approx(b.value, abs=1e-12)


def test_what_cannot_be_told_is_undefined_with_its_reason():
    alone, same = tally([[1, 0], [2, 0]]), tally([[1, 1], [1, 1]])
    for coefficient in COEFFICIENTS.values():
        assert "labelled twice" in coefficient(alone, weights(2)).reason
        assert "chance explains fully" in coefficient(same, weights(1)).reason
    for coefficient in (fleiss, krippendorff):  # a second label that nobody gives
        assert "chance explains fully" in coefficient(tally([[1, 1], [1, 1]], labels=(1, 2)), weights(2)).reason
    assert "chance explains fully" in cohen(np.array([[3.0, 0.0], [0.0, 0.0]]), weights(2)).reason
    assert "labelled twice" in cohen(np.zeros((2, 2)), weights(2)).reason
    perfect = fleiss(tally([[1, 1], [2, 2], [1, 1]]), weights(2))
    assert perfect.value == 1
    assert "no way for the value to vary" in agreement_interval(perfect, 0.95, raters=3)


def test_the_interval_covers():
    """Three annotators, each right four times in five: 400 samples of 80 items."""
    rng, inside = np.random.default_rng(5), dict.fromkeys(COEFFICIENTS, 0)
    truth = np.array([0.5, 0.3, 0.2])
    big = _drawn(rng, truth, 400_000)
    true = {name: one(big, weights(3)).value for name, one in COEFFICIENTS.items()}
    for _ in range(400):
        t = _drawn(rng, truth, 80)
        for name, one in COEFFICIENTS.items():
            ends = agreement_interval(one(t, weights(3)), 0.95, raters=3)
            inside[name] += ends.low <= true[name] <= ends.high
    assert all(0.92 <= n / 400 <= 0.98 for n in inside.values()), inside


def _drawn(rng, truth, n):
    actual = rng.choice(3, size=n, p=truth)
    right = rng.random((n, 3)) < 0.8
    given_ = np.where(right, actual[:, None], (actual[:, None] + rng.integers(1, 3, (n, 3))) % 3)
    votes = np.stack([(given_ == k).sum(axis=1) for k in range(3)], axis=1)
    patterns, count = np.unique(votes, axis=0, return_counts=True)
    return Ratings(labels=(0, 1, 2), votes=patterns, count=count)
