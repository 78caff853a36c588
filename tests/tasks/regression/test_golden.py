# SPDX-License-Identifier: Apache-2.0
"""Values that were worked out with exact rational arithmetic, and certified values of NIST."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from tests.tasks.regression.residual_cases import CASES, estimate

FOLDER = Path(scipy.stats.__file__).parent / "tests" / "data"
ROUNDED_RATIOS = ("mean_percentage_error", "mean_normalized_bias", "mean_absolute_percentage_error")


@pytest.mark.parametrize("name", CASES["cases"])
def test_every_value_of_the_cases_is_exact(name):
    case = CASES["cases"][name]
    estimates = estimate(case["truth"], case["predicted"])
    for measure, expected in case["expected"].items():
        value = estimates[measure].value
        if expected is None:
            assert value is None, measure
            assert estimates[measure].reason, measure
        elif measure in ROUNDED_RATIOS or measure.startswith("bland_altman"):
            assert value == pytest.approx(expected, rel=1e-13), measure
        else:
            assert value == pytest.approx(expected, rel=3e-16), measure


def test_the_series_of_schlosser_gives_the_corrected_values():
    case = CASES["schlosser"]
    estimates = estimate(case["truth"], case["predicted"], training="truth", options={"baseline": "mean"})
    for measure, expected in case["expected"].items():
        assert estimates[measure].value == pytest.approx(expected, rel=1e-14), measure


def digits(estimates, certified):
    return 15.0 if estimates == certified else min(15.0, -math.log10(abs(estimates - certified) / abs(certified)))


def test_norris_of_nist_has_its_certified_r2():
    path = FOLDER / "nist_linregress" / "Norris.dat"
    if not path.exists():
        pytest.skip("this SciPy came without its test data")
    rows = [line.split() for line in path.read_text().splitlines()[60:] if len(line.split()) == 2]
    truth, x = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    estimates = estimate(truth, -0.262323073774029 + 1.00211681802045 * x)
    assert digits(estimates["r2"].value, 0.999993745883712) >= 14.5
    residual = math.sqrt(estimates["sum_squared_error"].value / (len(truth) - 2))
    assert digits(residual, 0.884796396144373) >= 11


def test_longley_of_nist_has_its_certified_r2():
    case = CASES["cases"]["longley_ols"]
    estimates = estimate(case["truth"], case["predicted"])
    assert digits(estimates["r2"].value, 0.995479004577296) >= 14.5
    assert digits(math.sqrt(estimates["sum_squared_error"].value / 9), 304.854073561965) >= 12


@pytest.mark.parametrize("path", sorted((FOLDER / "nist_anova").glob("*.dat")), ids=lambda path: path.stem)
def test_nist_anova_sets_have_the_r2_that_doubles_hold(path):
    rows = [line.split() for line in path.read_text().splitlines()[60:] if len(line.split()) == 2]
    groups = {}
    for name, value in rows:
        groups.setdefault(name, []).append(float(value))
    truth = [value for group in groups.values() for value in group]
    centres = [float(sum(map(Fraction, group)) / len(group)) for group in groups.values()]
    means = [centre for centre, group in zip(centres, groups.values(), strict=True) for _ in group]
    exact = [Fraction(value) for value in truth]
    centre = sum(exact) / len(exact)
    apart = sum((a - Fraction(b)) ** 2 for a, b in zip(exact, means, strict=True))
    expected = 1 - apart / sum((value - centre) ** 2 for value in exact)
    assert estimate(truth, means)["r2"].value == float(expected)
