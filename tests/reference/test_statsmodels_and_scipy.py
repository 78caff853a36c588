# SPDX-License-Identifier: Apache-2.0
"""The same numbers as statsmodels and SciPy: kappa, odds and risk ratios, divergences, the mean of four rates."""

from __future__ import annotations

import math

import pytest

from assay.tally.labels.one_vs_rest import Multiclass
from tests.reference import peers
from tests.reference.compare import apart, differences

SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
def test_kappa_is_that_of_statsmodels(seed):
    for matrix in peers.tables(seed, 400):
        assert not differences(peers.statsmodels_overall(matrix), Multiclass.of(matrix.tolist())), matrix


@pytest.mark.parametrize("seed", SEEDS)
def test_odds_and_likelihood_ratios_are_those_of_statsmodels(seed):
    compared = 0
    for matrix in peers.tables(100 + seed, 400, most=2):
        table = Multiclass.of(matrix.tolist()).one_vs_rest().at(1)
        if table.actual and table.actual_negative:
            named = {name: value for name, value in peers.statsmodels_binary(matrix).items() if not math.isnan(value)}
            assert not differences(named, table), matrix
            compared += len(named)
    assert compared > 350


@pytest.mark.parametrize("seed", SEEDS)
def test_divergences_and_shares_are_those_of_scipy(seed):
    seen = set()
    for matrix in peers.tables(200 + seed, 500):
        named = peers.scipy_overall(matrix)
        assert not differences(named, Multiclass.of(matrix.tolist())), matrix
        seen.add(math.isinf(named["kl_truth_pred"]))
    assert seen == {True, False}


@pytest.mark.parametrize("seed", SEEDS)
def test_p4_is_the_harmonic_mean_scipy_takes_of_four_rates(seed):
    compared = 0
    for matrix in peers.tables(300 + seed, 200, most=2):
        table = Multiclass.of(matrix.tolist()).one_vs_rest().at(1)
        if table.tp and table.tn:
            rates = [table.tp / table.called, table.tp / table.actual]
            rates += [table.tn / table.actual_negative, table.tn / table.called_negative]
            assert not apart("p4", table, peers.scipy_p4(rates))
            compared += 1
    assert compared > 25
