# SPDX-License-Identifier: Apache-2.0
"""Large-sample tests by subject and weight beside statsmodels' regressions with robust covariance by cluster."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from assay.inference.tests_catalogue import find_test
from assay.tally.paired.per_unit import PerUnit

api = pytest.importorskip("statsmodels.api")
COSTS = {(0, 0): 0.0, (1, 1): 0.0, (0, 1): 1.0, (1, 0): 5.0}
PRICE = np.array([[0.0, 1.0], [5.0, 0.0]])


def made(seed, *, weighted):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(400), rng.integers(1, 9, 400))
    n, easy = len(who), np.repeat(rng.normal(size=400), np.bincount(who))
    truth = rng.integers(0, 2, n)
    calls = [np.where(rng.random(n) < 1 / (1 + np.exp(-at - easy)), truth, 1 - truth).tolist() for at in (1.0, 0.9)]
    more = {"weight": rng.random(n) * 3} if weighted else {"subject": who.tolist()}
    t = PerUnit.of(truth=truth.tolist(), labels=(0, 1), models=("A", "B"), calls=calls, **more)
    assert t.n == n
    return t


def regressed(t, gap, among):
    """Mean and standard error of differences by entry, with the factor n/(n-1) for n units."""
    fit = api.WLS(gap[among], np.ones(among.sum()), weights=t.amount[among])
    if t.subject is None:
        found = fit.fit(cov_type="HC0")
    else:
        found = fit.fit(cov_type="cluster", cov_kwds={"groups": t.subject[among], "use_correction": False})
    return found.params[0], found.bse[0] * math.sqrt(t.units / (t.units - 1))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_unit_z_is_the_regression_on_differences(seed, weighted):
    t = made(seed, weighted=weighted)
    unit_z = find_test("unit_z")
    right = (t.calls == t.truth).astype(float)
    everyone = np.ones(len(t.truth), dtype=bool)
    for measure, among in (("accuracy", everyone), ("recall", t.truth == 1), ("specificity", t.truth == 0)):
        gap, error = regressed(t, right[0] - right[1], among)
        found = unit_z(t, measure=measure, positive=1)
        assert found.effect.value == pytest.approx(gap, rel=1e-10, abs=1e-12)
        assert found.statistic == pytest.approx(gap / error, rel=1e-8, abs=1e-9)
        assert found.p == pytest.approx(2 * norm.sf(abs(gap / error)), rel=1e-7)
        assert found.effect.interval.high == pytest.approx(gap + norm.ppf(0.975) * error, rel=1e-8)
    paid = PRICE[t.truth, t.calls[0]] - PRICE[t.truth, t.calls[1]]
    gap, error = regressed(t, paid, everyone)
    assert find_test("unit_z_cost")(t, costs=COSTS).statistic == pytest.approx(gap / error, rel=1e-9)
    gap, error = regressed(t, right[0] - right[1], everyone)
    for name, want in (
        ("unit_z_non_inferiority", (gap + 0.04) / error),
        ("unit_z_equivalence", min(gap + 0.04, 0.04 - gap) / error),
    ):
        found = find_test(name)(t, margin=0.04)
        assert found.statistic == pytest.approx(want, rel=1e-8)
        assert found.p == pytest.approx(norm.sf(want), rel=1e-7)
