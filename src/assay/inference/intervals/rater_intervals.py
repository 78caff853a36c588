# SPDX-License-Identifier: Apache-2.0
"""How sure agreement is: items are the unit, each moves the coefficient by a known amount, and those vary.

For two annotators this is the variance of Fleiss, Cohen and Everitt (1969), for more that of Gwet (2014).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.values import Undefined
from assay.inference.estimates import Interval
from assay.inference.intervals.proportion import normal_quantile, student_quantile
from assay.measures.rater_coefficients import Agreement, Weighting, cohen, fleiss, gwet, krippendorff, weights

if TYPE_CHECKING:
    from assay.inference.intervals.interval_choice import Found
    from assay.tally.contingency_tables import Ratings

TWO: Final = 2
WEIGHTINGS: Final[tuple[Weighting, ...]] = ("none", "linear", "quadratic")
NO_SPREAD: Final = "all items agree or disagree alike, so the method sees no way for the value to vary"
FEW: Final = "one item has no spread"


def agreement_interval(agreement: Agreement, level: float, *, raters: int) -> Found:
    """The interval of a coefficient: of two annotators by the normal distribution, of more by Student's."""
    share, n = (1 + level) / 2, agreement.items
    if raters > TWO and n < TWO:
        return FEW
    error = standard_error(agreement, raters=raters)
    if not error > 1e-12:  # noqa: PLR2004  rounding of a spread of 0
        return NO_SPREAD
    times = normal_quantile(share) if raters == TWO else student_quantile(share, n - 1)
    low, high = max(-1.0, agreement.value - times * error), min(1.0, agreement.value + times * error)
    return Interval(low=low, high=high, level=level, method="fleiss-cohen-everitt" if raters == TWO else "gwet")


def standard_error(agreement: Agreement, *, raters: int) -> float:
    """The standard error of a coefficient: of two annotators by all items, of more by one less."""
    n = agreement.items
    return math.sqrt(float(agreement.count @ agreement.influence**2) / (n * n if raters == TWO else n * (n - 1)))


def told(agreement: Agreement | Undefined, level: float, *, raters: int) -> dict[str, object]:
    """A coefficient with its interval, as facts."""
    if isinstance(agreement, Undefined):
        return {"value": None, "undefined": agreement.reason}
    interval = agreement_interval(agreement, level, raters=raters)
    out: dict[str, object] = {"value": agreement.value, "observed": agreement.observed, "chance": agreement.chance}
    if isinstance(interval, Interval):
        return out | {"low": interval.low, "high": interval.high, "interval": interval.method, "items": agreement.items}
    return out | {"low": None, "high": None, "no_interval": interval, "items": agreement.items}


def coefficients(tally: Ratings, level: float, *, ordered: bool, raters: int) -> dict[str, dict[str, object]]:
    """Every coefficient of any number of annotators, with weights where classes have an order."""
    out: dict[str, dict[str, object]] = {}
    for weighting in WEIGHTINGS if ordered else WEIGHTINGS[:1]:
        tail, weight = "" if weighting == "none" else f"_{weighting}", weights(len(tally.labels), weighting)
        out[f"fleiss_kappa{tail}"] = told(fleiss(tally, weight), level, raters=raters)
        out[f"krippendorff_alpha{tail}"] = told(krippendorff(tally, weight), level, raters=raters)
        out[f"gwet_ac{1 if weighting == 'none' else 2}{tail}"] = told(gwet(tally, weight), level, raters=raters)
    return out


def kappas(
    cells: Mapping[tuple[Any, ...], int], labels: tuple[Any, ...], level: float, *, ordered: bool
) -> dict[str, dict[str, object]]:
    """Cohen's kappa of two annotators on the items that both labelled, by the tail of its name."""
    table = np.zeros((len(labels),) * 2)
    for (a, b), n in cells.items():
        table[labels.index(a), labels.index(b)] += n
    out = {}
    for weighting in WEIGHTINGS if ordered else WEIGHTINGS[:1]:
        agreement = cohen(table, weights(len(labels), weighting))
        out["" if weighting == "none" else f"_{weighting}"] = told(agreement, level, raters=TWO)
    return out
