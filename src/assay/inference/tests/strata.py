# SPDX-License-Identifier: Apache-2.0
"""Two yes-or-no factors of independent rows, stratum by stratum."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from assay.core.traits import EXTENSION, TS4213
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.estimates import Interval
from assay.inference.findings import Check, Effect, Finding, no_number
from assay.inference.intervals.proportion import normal_quantile
from assay.inference.power import least_normal
from assay.inference.tail_probabilities import CERTAIN, chi_squared
from assay.inference.tests.contingency import EMPTY_MARGIN, NOT_PAIRED
from assay.tally.contingency_tables import Strata

if TYPE_CHECKING:
    from assay.core.arrays import Floats


@significance(
    title="Cochran-Mantel-Haenszel test",
    also=("CMH",),
    asks="do two yes-or-no factors go together once strata are taken into account?",
    null="the odds ratio is 1 in every stratum",
    effect="common odds ratio (Mantel-Haenszel)",
    assumes=("rows are independent", "the odds ratio is about the same in every stratum"),
    never=NOT_PAIRED,
    source=(TS4213("5.3.8"), EXTENSION),
    spec="T-34",
)
def cochran_mantel_haenszel(t: Strata, *, level: float = 0.95) -> Finding:
    cells = np.array([list(chain(*table.rows)) for table in t.tables.values() if table.n > 1], dtype=np.float64)
    a, b, c, d = cells.reshape(-1, 4).T
    n = a + b + c + d
    excess = float((a - (a + b) * (a + c) / n).sum())
    variance = float(((a + b) * (c + d) * (a + c) * (b + d) / (n * n * (n - 1))).sum())
    top, under = float((a * d / n).sum()), float((b * c / n).sum())
    name = "common odds ratio (Mantel-Haenszel)"
    total = sum(table.n for table in t.tables.values())
    if not variance:
        lost = Undefined(reason="no stratum has two levels of both factors", code="zero-margin")
        known = {"chance": CERTAIN, "df": (1,), "n": total, "level": level, "notes": (lost.reason,), "least": lost}
        return no_number(name, EMPTY_MARGIN, "chi-squared", **known)
    effect = Effect(name=name, value=top / under if under else math.inf, no_interval="a zero in every stratum")
    error = math.inf
    if top and under:
        p, q, r, s = (a + d) / n, (b + c) / n, a * d / n, b * c / n
        error = math.sqrt(  # Robins, Breslow and Greenland 1986
            float((p * r).sum()) / (2 * top * top)
            + float((p * s + q * r).sum()) / (2 * top * under)
            + float((q * s).sum()) / (2 * under * under)
        )
        z = normal_quantile((1 + level) / 2)
        ends = (top / under * math.exp(-z * error), top / under * math.exp(z * error))
        interval = Interval(low=ends[0], high=ends[1], level=level, method="robins-breslow-greenland")
        effect = Effect(name=name, value=top / under, interval=interval)
    value = excess * excess / variance
    return Finding(
        chance=chi_squared(value, 1),
        effect=effect,
        statistic=value,
        statistic_name="chi-squared",
        df=(1,),
        n=total,
        checks=(_breslow_day(cells, top / under if under else math.inf, level),),
        least=math.exp(least_normal(error, level))
        if math.isfinite(error)
        else Undefined(reason="a zero in every stratum", code="zero-margin"),
    )


def _breslow_day(cells: Floats, odds: float, level: float) -> Check:
    """Whether the odds ratio is the same in every stratum."""
    assumes = "the odds ratio is about the same in every stratum"
    if not 0 < odds < math.inf or len(cells) < 2:  # noqa: PLR2004  nothing to differ
        return Check(
            assumes=assumes, holds=None, seen="the common odds ratio is 0 or infinite, or there is one stratum"
        )
    value = 0.0
    for a, b, c, d in cells:
        first, column, n = a + b, a + c, a + b + c + d
        square, middle, last = 1 - odds, n - first - column + odds * (first + column), -odds * first * column
        root = (
            -last / middle
            if abs(square) < 1e-12  # noqa: PLR2004  odds of 1: the equation is a line
            else (-middle + math.sqrt(middle * middle - 4 * square * last)) / (2 * square)
        )
        parts = (root, first - root, column - root, n - first - column + root)
        if min(parts) > 0:
            value += (a - root) ** 2 * sum(1 / part for part in parts)
    tail = chi_squared(value, len(cells) - 1)
    return Check(assumes=assumes, holds=tail.p > 1 - level, seen=f"Breslow-Day p {tail}")
