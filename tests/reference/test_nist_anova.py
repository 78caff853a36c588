# SPDX-License-Identifier: Apache-2.0
"""Analyses of variance: the eleven one-way ones of NIST's Statistical Reference Datasets inside SciPy; sphericity."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

from assay.inference.tests.anova import greenhouse_geisser, one_way_anova, repeated_measures_anova, squares
from assay.tally.real_values import Groups
from tests.block_rows import blocks_of

FOLDER = Path(scipy.stats.__file__).parent / "tests" / "data" / "nist_anova"
SETS = sorted(FOLDER.glob("*.dat"))


def read(path):
    """Groups as the decimals that are printed, and the certified F, between and within sums of squares."""
    lines = path.read_text().splitlines()
    rows = [line.split() for line in lines[60:] if re.match(r"^\s*\d+\s+[\d.]+\s*$", line)]
    groups = {}
    for name, value in rows:
        groups.setdefault(name, []).append(Decimal(value))
    between = next(line.split() for line in lines if line.startswith("Between"))
    within = next(line.split() for line in lines if line.startswith("Within"))
    certified = {"F": between[-1], "between": between[-3], "within": within[-2]}
    return groups, {name: float(text) for name, text in certified.items()}


def digits(found, certified):
    return 15.0 if found == certified else min(15.0, -math.log10(abs(found - certified) / abs(certified)))


@pytest.mark.skipif(not SETS, reason="this SciPy came without its test data")
def test_all_eleven_sets_are_there():
    assert len(SETS) == 11


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_decimals_as_printed_give_every_certified_digit(path):
    groups, certified = read(path)
    t = Groups.of(groups)
    assert digits(one_way_anova(t).statistic, certified["F"]) >= 14.5
    between, within = squares(t)
    assert digits(float(between), certified["between"]) >= 14.5
    assert digits(float(within), certified["within"]) >= 14.5


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_doubles_give_what_doubles_can_hold_and_no_less_than_scipy(path):
    groups, certified = read(path)
    doubles = {name: [float(x) for x in column] for name, column in groups.items()}
    ours = digits(one_way_anova(Groups.of(doubles)).statistic, certified["F"])
    theirs = digits(float(scipy.stats.f_oneway(*doubles.values()).statistic), certified["F"])
    assert ours >= theirs - 0.11
    assert ours >= 4


# ---------------------------------------------------------------- sphericity


def spherical(k, j, seed):
    """Values of j items by k models whose differences of any two models scatter alike, up to rounding."""
    centred = np.random.default_rng(seed).normal(size=(j, k))
    return np.linalg.qr(centred - centred.mean(axis=0))[0]


@pytest.mark.parametrize(("j", "k"), [(8, 3), (12, 4), (30, 6)])
def test_mauchlys_test_is_that_of_orthonormal_contrasts(j, k):
    x = np.random.default_rng(j).normal(size=(j, k)) * np.linspace(1, 2, k)
    contrasts, d = scipy.linalg.helmert(k), k - 1
    s = contrasts @ np.cov(x, rowvar=False) @ contrasts.T
    w = np.linalg.det(s) / (np.trace(s) / d) ** d
    value = -(j - 1 - (2 * d**2 + d + 2) / (6 * d)) * math.log(w)
    p = scipy.stats.chi2.sf(value, d * (d + 1) / 2 - 1)
    check = repeated_measures_anova(blocks_of(x.tolist())).checks[-1]
    assert float(check.seen.removeprefix("Mauchly p = ")) == pytest.approx(p, rel=5e-3)
    assert check.holds == (p > 0.05)
    epsilon = np.trace(s) ** 2 / (d * (s**2).sum())
    df = greenhouse_geisser(blocks_of(x.tolist())).df
    assert df == pytest.approx((d * epsilon, d * (j - 1) * epsilon), rel=1e-9)


@pytest.mark.parametrize("k", [3, 4])
def test_degrees_of_freedom_are_never_more_than_without_correction(k):
    for seed in range(8):
        df = greenhouse_geisser(blocks_of(spherical(k, 10, seed).tolist())).df
        assert df == pytest.approx((k - 1, 9 * (k - 1)), rel=1e-9)
        assert df[0] <= k - 1
