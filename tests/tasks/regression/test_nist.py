# SPDX-License-Identifier: Apache-2.0
"""NIST's Statistical Reference Datasets: univariate sets but PiDigits, linear ones but Norris and Longley.

Norris and Longley are in `test_golden.py`. The certified mean of PiDigits is not that of the first 5,000 digits of pi,
and its file is not at hand.
"""

from __future__ import annotations

import json
import math
import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from assay.tally.real_values import Exact
from tests.tasks.regression.residual_cases import estimate

NIST = json.loads(Path(__file__).with_name("nist.json").read_text(encoding="utf-8"))


def correct_digits(value, certified):
    if value == certified:
        return 15.0
    return 0.0 if not certified else min(15.0, -math.log10(abs(value - certified) / abs(certified)))


def list_univariate():
    """Values as they are printed, with certified mean and standard deviation."""
    sets = {
        name: (part["values"].split(), part["mean"], part["deviation"]) for name, part in NIST["univariate"].items()
    }
    sets["NumAcc1"] = (["10000001", "10000003", "10000002"], 10000002, 1.0)
    sets["NumAcc2"] = (["1.2", *["1.1", "1.3"] * 500], 1.2, 0.1)
    sets["NumAcc3"] = (["1000000.2", *["1000000.1", "1000000.3"] * 500], 1000000.2, 0.1)
    sets["NumAcc4"] = (["10000000.2", *["10000000.1", "10000000.3"] * 500], 10000000.2, 0.1)
    return sets


UNIVARIATE = list_univariate()


@pytest.mark.parametrize("name", UNIVARIATE)
def test_decimals_as_printed_give_every_certified_digit(name):
    texts, mean, deviation = UNIVARIATE[name]
    exact = Exact.of([Decimal(text) for text in texts])
    assert correct_digits(float(exact.mean), mean) >= 14.5
    with_root = Decimal(exact.variance.numerator) / Decimal(exact.variance.denominator)
    assert correct_digits(float(with_root.sqrt()), deviation) >= 14.5


@pytest.mark.parametrize("name", UNIVARIATE)
def test_doubles_give_what_exact_arithmetic_gives_of_them_in_any_order(name):
    texts, mean, _ = UNIVARIATE[name]
    values = [float(text) for text in texts]
    exact = [Fraction(value) for value in values]
    centre = sum(exact) / len(exact)
    variance = sum((value - centre) ** 2 for value in exact) / (len(exact) - 1)
    random.Random(4213).shuffle(values)
    estimates = estimate(values, [0.0] * len(values))
    assert estimates["mean_error"].value == float(centre)
    assert correct_digits(float(centre), mean) >= 14.5
    assert estimates["bland_altman_sd"].value == pytest.approx(math.sqrt(variance), rel=2e-16)


def fit_exactly(columns, truth):
    """Fitted values of least squares, by elimination with fractions."""
    size = len(columns)
    rows = [
        [*(sum(a * b for a, b in zip(first, second, strict=True)) for second in columns),
         sum(a * y for a, y in zip(first, truth, strict=True))]
        for first in columns
    ]  # fmt: skip
    for place in range(size):
        pivot = next(row for row in range(place, size) if rows[row][place])
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [value / rows[place][place] for value in rows[place]]
        for other in range(size):
            if other != place and rows[other][place]:
                times = rows[other][place]
                rows[other] = [a - times * b for a, b in zip(rows[other], rows[place], strict=True)]
    weights = [row[-1] for row in rows]
    return [sum(w * column[i] for w, column in zip(weights, columns, strict=True)) for i in range(len(truth))]


def list_linear():
    """Truth, powers of the predictor, certified R2 and residual standard deviation."""
    sets = {}
    for name, part in NIST["linear"].items():
        truth, x = ([Fraction(text) for text in part[axis].split()] for axis in "yx")
        powers = range(0 if part["constant"] else 1, part["degree"] + 1)
        sets[name] = (truth, [[value**power for value in x] for power in powers], part["r2"], part["deviation"])
    x = [Fraction(value) for value in range(21)]
    powers = [[value**power for value in x] for power in range(6)]
    for name, certified in NIST["wampler"].items():
        if name == "noise":
            continue
        times, r2, deviation = certified
        steps = [Fraction(1, 10) ** power if name == "Wampler2" else Fraction(1) for power in range(6)]
        curve = [sum(step * column[i] for step, column in zip(steps, powers, strict=True)) for i in range(21)]
        sets[name] = (
            [a + times * b for a, b in zip(curve, NIST["wampler"]["noise"], strict=True)],
            powers,
            r2,
            deviation,
        )
    return sets


LINEAR = list_linear()


@pytest.mark.parametrize("name", LINEAR)
def test_linear_sets_have_their_certified_r2_and_residual_deviation(name):
    truth, columns, r2, deviation = LINEAR[name]
    fitted = fit_exactly(columns, truth)
    estimates = estimate([float(value) for value in truth], [float(value) for value in fitted])
    squares, freedom = estimates["sum_squared_error"].value, len(truth) - len(columns)
    if len(columns) > 1:
        assert correct_digits(estimates["r2"].value, r2) >= (13.5 if r2 < 0.01 else 14.5)
    else:  # without a constant NIST compares with 0, not with the mean
        exact = 1 - squares / float(sum(value * value for value in truth))
        assert correct_digits(exact, r2) >= 14.5
    if deviation:
        assert correct_digits(math.sqrt(squares / freedom), deviation) >= (11 if name in ("Pontius", "Filip") else 13.5)
    else:
        assert squares <= 1e-20
