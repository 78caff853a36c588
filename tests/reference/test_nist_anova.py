# SPDX-License-Identifier: Apache-2.0
"""The eleven one-way analyses of variance of NIST's Statistical Reference Datasets, which travel inside SciPy."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from pathlib import Path

import pytest
import scipy.stats

from assay.inference.tests.anova import one_way_anova, squares
from assay.tally.real_values import Groups

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
