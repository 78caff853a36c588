# SPDX-License-Identifier: Apache-2.0
"""How many rows are needed, and what a number of rows could have shown: four times in five unless said otherwise."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Final

from assay.core.errors import PlanError
from assay.core.text import listed
from assay.core.values import Undefined
from assay.inference.findings import Real
from assay.inference.intervals.proportion import normal_quantile, student_quantile

POWER: Final = 0.8
"""The chance of finding a difference that is there; the customary one (Cohen 1988)."""
LARGEST: Final = 10**12
"""A number of rows beyond which a plan is not feasible."""


def alpha_of(level: float) -> float:
    """The error rate beside a confidence level, without the dust of binary subtraction."""
    return round(1 - level, 12)


def least_normal(error: float, level: float, power: float = POWER) -> float:
    """The difference that a test with this standard error finds with a chance of `power`.

    >>> round(least_normal(0.01, 0.95), 4)
    0.028
    """
    return (normal_quantile((1 + level) / 2) + normal_quantile(power)) * error


def least_student(error: float, df: float, level: float, power: float = POWER) -> float:
    """The same where the standard error is estimated with some degrees of freedom."""
    return (student_quantile((1 + level) / 2, df) + student_quantile(power, df)) * error


def least_disagreement(disagree: int, n: int, level: float, power: float = POWER) -> Real:
    """The difference of two shares on the same rows that McNemar's test finds, with as many rows in dispute as seen.

    Where so few rows are in dispute that no split of them could be significant, the fewest that could be count.
    """
    if n == 0:
        return Undefined(reason="there are no rows", code="n=0")
    fewest = math.ceil(1 - math.log2(alpha_of(level)))  # all on one side: p = 2 / 2^rows
    a, b = normal_quantile((1 + level) / 2), normal_quantile(power)
    share = max(disagree, fewest) / n
    # d sqrt(n) = a sqrt(share) + b sqrt(share - d^2), solved for d (Connor 1987).
    first, middle, last = 1 + b * b / n, -2 * a * math.sqrt(share), (a * a - b * b) * share
    root = (-middle + math.sqrt(max(middle * middle - 4 * first * last, 0.0))) / (2 * first)
    return min(max(root / math.sqrt(n), fewest / n), 1.0)


def least_chi_squared(df: int, n: int, level: float, power: float = POWER) -> float:
    """The effect w (root of chi-squared over n) that a chi-squared test finds (Cohen 1988)."""
    from scipy.optimize import brentq
    from scipy.special import chndtr
    from scipy.stats import chi2

    edge = float(chi2.isf(alpha_of(level), df))
    noncentral = brentq(lambda x: 1 - chndtr(edge, df, x) - power, 1e-9, 1e4)
    return math.sqrt(float(noncentral) / n)


def rows_for_mcnemar(difference: float, disagree: float, level: float = 0.95, power: float = POWER) -> int:
    """Rows for McNemar's test to find a difference of two shares, given the share of rows in dispute (Connor 1987).

    >>> rows_for_mcnemar(0.05, 0.15)
    469
    """
    _between(difference, 0, 1, "difference")
    _between(disagree, 0, 1, "disagree", closed=True)
    if disagree < difference:
        what = f"a difference of {difference:g} needs at least as large a share of rows in dispute, not {disagree:g}"
        raise PlanError("value-out-of-domain", what, fix="give a share of rows in dispute of the difference or more")
    a, b = normal_quantile((1 + level) / 2), normal_quantile(power)
    need = a * math.sqrt(disagree) + b * math.sqrt(disagree - difference**2)
    return math.ceil((need / difference) ** 2)


def rows_for_limit(share: float, limit: float, level: float = 0.95, power: float = POWER) -> int:
    """Rows for the interval of a share to lie on one side of a limit, if the share is truly what it is said to be.

    >>> rows_for_limit(0.9, 0.85)
    363
    """
    _between(share, 0, 1, "share", closed=True)
    _between(limit, 0, 1, "limit", closed=True)
    if share == limit:
        raise PlanError("value-out-of-domain", "no number of rows parts a share from its own value", fix="ask for less")
    a, b = normal_quantile((1 + level) / 2), normal_quantile(power)
    need = a * math.sqrt(limit * (1 - limit)) + b * math.sqrt(share * (1 - share))
    return max(1, math.ceil((need / (share - limit)) ** 2))


def times_the_rows(half: float, room: float, level: float = 0.95, power: float = POWER) -> float:
    """How many times the rows are needed for an interval that reaches so far to fit into the room there is.

    >>> round(times_the_rows(0.02, 0.02), 2)
    2.04
    """
    return (half / room * (1 + normal_quantile(power) / normal_quantile((1 + level) / 2))) ** 2


def _between(value: float, low: float, high: float, name: str, *, closed: bool = False) -> None:
    inside = low <= value <= high if closed else low < value < high
    if not inside:
        what = f"{name} = {value!r} is outside what it can be"
        raise PlanError("value-out-of-domain", what, known=f"{low:g} to {high:g}", fix="correct it")


def plan_size(
    *,
    expected: float | None = None,
    limit: float | None = None,
    difference: float | None = None,
    disagree: float | None = None,
    width: float | None = None,
    level: float = 0.95,
    power: float = POWER,
) -> int:
    """How many rows to collect before there are any; of a share such as recall, rows of its denominator.

    expected, limit: rows for the interval of a share to lie on its side of a limit
    expected, width: rows for the interval of a share to be no wider
    difference, disagree: rows for McNemar's test of two models, given the share of rows on which one alone is right
    level, power: the confidence level, and the chance of finding what is there

    >>> plan_size(expected=0.9, limit=0.85), plan_size(difference=0.05, disagree=0.15)
    (363, 469)
    """
    for name, share in (("level", level), ("power", power)):
        if not isinstance(share, (int, float)) or not 0 < share < 1:
            raise PlanError(
                "value-out-of-domain", f"{name} = {share!r} is not a chance", known="0 to 1", fix="give 0.95"
            )
    given = {key: one for key, one in (("expected", expected), ("limit", limit), ("difference", difference),
                                       ("disagree", disagree), ("width", width)) if one is not None}  # fmt: skip
    if not all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in given.values()):
        raise PlanError("value-out-of-domain", "shares are numbers", found=listed(given.values()), fix="give 0.9")
    if set(given) == {"expected", "limit"}:
        return rows_for_limit(given["expected"], given["limit"], level, power)
    if set(given) == {"difference", "disagree"}:
        return rows_for_mcnemar(given["difference"], given["disagree"], level, power)
    if set(given) == {"expected", "width"}:
        return _rows_for_width(given["expected"], given["width"], level)
    what = "what is planned for is not clear"
    known = "expected and limit; expected and width; difference and disagree"
    fix = "assay.plan_size(expected=0.9, limit=0.85)"
    raise PlanError("role-missing", what, found=listed(given) or "nothing", known=known, fix=fix)


def _rows_for_width(share: float, width: float, level: float) -> int:
    """The fewest rows whose Wilson interval is no wider, if the share comes out as expected."""
    if not (0 <= share <= 1 and 0 < width < 1):
        raise PlanError("value-out-of-domain", "a share lies in 0 to 1, and so does a width", fix="give 0.9 and 0.05")
    z = normal_quantile((1 + level) / 2)

    def fits(n: int) -> bool:
        half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return bool(2 * half <= width)

    return bisect_left(range(1, LARGEST), x=True, key=fits) + 1
