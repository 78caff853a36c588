# SPDX-License-Identifier: Apache-2.0
"""The same numbers as PyCM on two thousand random tables, 500 in CI; where it says "None" there is none here."""

from __future__ import annotations

import math
import os

import pytest

from assay.tally.labels.one_vs_rest import Multiclass
from tests.reference import peers
from tests.reference.compare import apart, class_differences, differences

SEEDS = range(1 if os.environ.get("CI") else 4)  # as with Hypothesis: a desk draws more
INFINITE = {"diagnostic_odds_ratio", "likelihood_ratio_positive", "likelihood_ratio_negative", "kl_truth_pred"}


def parts(named):
    """What can be infinite here, where PyCM says "None", and the rest."""
    return (
        {name: value for name, value in named.items() if name not in INFINITE},
        {name: value for name, value in named.items() if name in INFINITE},
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_values_of_the_classes_are_those_of_pycm(seed):
    seen = set()
    for matrix in peers.tables(seed, 500):
        table = Multiclass.of(matrix.tolist())
        plain, infinite = parts(peers.pycm_by_class(peers.pycm_matrix(matrix)))
        assert not class_differences(plain, table), matrix
        odds = infinite.pop("diagnostic_odds_ratio")
        assert not class_differences(infinite, table, infinite_as_nothing=True), matrix
        for i, theirs in enumerate(odds):  # PyCM divides two rounded ratios, and has none where either has none
            ours = apart("diagnostic_odds_ratio", table.one_vs_rest().at(i), theirs, infinite_as_nothing=True)
            assert not ours or math.isnan(theirs), matrix
        seen |= {math.isnan(value) for values in plain.values() for value in values}
    assert seen == {True, False}


@pytest.mark.parametrize("seed", SEEDS)
def test_overall_values_are_those_of_pycm(seed):
    for matrix in peers.tables(100 + seed, 500):
        table = Multiclass.of(matrix.tolist())
        plain, infinite = parts(peers.pycm_overall(peers.pycm_matrix(matrix)))
        assert not differences(plain, table), matrix
        # PyCM has no divergence as soon as a share is zero; 0 ln 0 is 0 here.
        assert not [
            text for name, theirs in infinite.items() if not math.isnan(theirs) and (text := apart(name, table, theirs))
        ]


@pytest.mark.parametrize("seed", SEEDS)
def test_averages_are_those_of_pycm(seed):
    compared = 0
    for matrix in peers.tables(200 + seed, 250):
        named = peers.pycm_averages(peers.pycm_matrix(matrix))
        assert not differences(named, Multiclass.of(matrix.tolist())), matrix
        compared += len(named)
    assert compared > 1500
