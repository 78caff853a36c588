# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.power import GofChisquarePower, TTestPower

from assay.core.errors import PlanError
from assay.core.values import Undefined
from assay.inference import power
from assay.inference.tests.mcnemar import mcnemar_continuity, mcnemar_exact
from assay.tally.contingency_tables import Outcomes


def test_the_difference_a_t_test_could_have_found_agrees_with_statsmodels():
    n = 40
    effect = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    assert power.least_student(1 / n**0.5, n - 1, 0.95) == pytest.approx(effect, rel=0.01)


def test_the_effect_a_chi_squared_test_could_have_found_agrees_with_statsmodels():
    effect = GofChisquarePower().solve_power(nobs=200, alpha=0.05, power=0.8, n_bins=4)
    assert power.least_chi_squared(3, 200, 0.95) == pytest.approx(effect, rel=1e-3)


def test_mcnemar_with_the_planned_rows_finds_the_difference_four_times_in_five():
    n = power.rows_for_mcnemar(0.05, 0.15)
    rng = np.random.default_rng(3)
    found = 0
    for a, b, _ in rng.multinomial(n, [0.10, 0.05, 0.85], size=800):
        found += mcnemar_continuity(Outcomes(both=0, only_a=a, only_b=b, neither=n - a - b)).p <= 0.05
    assert 0.72 <= found / 800 <= 0.84  # the continuity correction costs a little


def test_fewer_than_six_rows_in_dispute_can_show_nothing():
    found = mcnemar_exact(Outcomes(both=90, only_a=3, only_b=0, neither=7))
    assert found.least >= 6 / 100
    assert isinstance(power.least_disagreement(0, 0, 0.95), Undefined)


def test_plans_that_cannot_be_are_refused():
    for difference, disagree in ((0.2, 0.1), (0, 0.1), (0.05, 1.5)):
        with pytest.raises(PlanError):
            power.rows_for_mcnemar(difference, disagree)
