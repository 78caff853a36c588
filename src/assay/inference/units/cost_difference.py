# SPDX-License-Identifier: Apache-2.0
"""Mean costs of two models on the same rows: a row adds what each answer costs, so a swap turns its difference around.

The interval holds the mean differences that would make the observed one unsurprising, the dearest that the stated costs
allow included, whether one was seen or not; of subjects, which are drawn whole, it comes from the draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.traits import EXTENSION
from assay.inference.declare import significance
from assay.inference.estimates import Interval
from assay.inference.findings import Effect, Finding
from assay.inference.intervals.bounded_means import score_ends, worth
from assay.inference.intervals.interval_choice import Uncertainty, Wanted
from assay.inference.resampling import SEED
from assay.inference.units.judgement import Units
from assay.inference.units.permutation_and_bootstrap import (
    DRAWS,
    FEW_UNITS,
    LARGE_SAMPLE,
    RESAMPLED,
    ROBUST,
    Ways,
    by_draws,
    by_error,
)
from assay.inference.units.unit_measures import build_units, demand_pair, sum_means
from assay.measures.declare import parse
from assay.tally.labels.confusion import Priced
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.per_unit import PerUnit

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.core.values import Number

Costs: TypeAlias = Mapping[tuple[Label, Label], float]
MEASURE: Final = "mean_cost"
METHOD: Final = "score of differences in cost"


@significance(
    title="Paired permutation test of the mean cost",
    family="permutation",
    asks="do the mistakes of A and B cost the same, judged by swapping their answers by row or by subject?",
    null="the answers of A and B to a row, or on a subject, can be swapped",
    effect="the mean cost of a row of A minus that of B",
    assumes=(
        "rows are independent, or subjects where they are stated",
        "the costs were stated before the rows were seen",
    ),
    source=(RESAMPLED, EXTENSION),
    spec="T-36",
)
def cost_permutation(
    t: PairedLabels | PerUnit,
    *,
    costs: Costs,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
    stratified: bool = False,
) -> Finding:
    judged = priced_units(t, costs)
    ways = Ways(level=level, draws=draws, seed=seed, stratified=stratified, what=judged.method)
    finding = by_draws(judged, t.n, ways)
    if isinstance(t, PairedLabels):
        finding = finding.said(more=tuple(_alone(t, model, costs, level) for model in t.models))
    return finding


@significance(
    title="Large-sample test of the mean cost by subject or weight",
    family="unit-z",
    asks="do the mistakes of A and B cost the same, judged by how far costs vary over very many subjects or weighted "
    "rows?",
    null="the mean costs are equal",
    effect="the mean cost of a row of A minus that of B",
    assumes=(*LARGE_SAMPLE, "the costs were stated before the rows were seen"),
    never=(FEW_UNITS,),
    source=ROBUST,
    spec="T-36",
)
def unit_z_cost(t: PerUnit, *, costs: Costs, level: float = 0.95) -> Finding:
    return by_error(priced_units(t, costs), t.n, Ways(level=level))


def priced_units(t: PairedLabels | PerUnit, costs: Costs) -> Units:
    """What the answers of two models cost, unit by unit."""
    demand_pair(t.models)
    rows = t.per_unit() if isinstance(t, PairedLabels) else t
    if rows.calls is None:
        raise PlanError("comparison-needs", "costs are of predictions", fix='give predicted={"A": ..., "B": ...}')
    truth, calls, weight = rows.truth, rows.calls, rows.amount
    price = np.array([[float(costs[a, b]) for b in t.labels] for a in t.labels])
    paid = price[truth, calls[0]], price[truth, calls[1]]
    heavy = weight * (rows.entries if rows.subject is None else 1)
    squares = None if rows.weight is None else weight * weight * rows.entries

    def closed(level: float) -> Interval:
        low, high = score_ends(*by_value(price, paid[0] - paid[1], heavy, squares), level)
        return Interval(low=low, high=high, level=level, method=METHOD)

    parts = replace(
        sum_means(paid, lambda model, _: _mean(paid[model], heavy)),
        differ=calls[0] != calls[1],
        keys=np.stack([truth, *calls]),
        closed=closed if rows.subject is None else None,
    )
    return build_units(rows, parse(MEASURE), parts)


def by_value(price: Floats, gap: Floats, rows: Floats, squares: Floats | None) -> tuple[Floats, Floats]:
    """Rows by difference in cost; the largest that the stated costs allow are on the list, seen or not."""
    most = float((price.max(axis=1) - price.min(axis=1)).max())
    value, code = np.unique(np.concatenate([gap, [-most, most]]), return_inverse=True)
    code = code[: len(gap)]
    count: Floats = np.bincount(code, weights=rows, minlength=len(value)).astype(np.float64)
    held = None if squares is None else np.bincount(code, weights=squares, minlength=len(value)).astype(np.float64)
    mean = float(count @ value) / float(count.sum())
    return value, worth(count, held, value, mean) * count / count.sum()


def _mean(paid: Floats, rows: Floats) -> float:
    """Exact, so that the value is that of an assessment."""
    pairs = [(Fraction(a), Fraction(b)) for a, b in zip(paid.tolist(), rows.tolist(), strict=True)]
    whole = sum(b for _, b in pairs)
    return float(sum(a * b for a, b in pairs) / whole) if whole else float("nan")


def _alone(t: PairedLabels, model: str, costs: Costs, level: float) -> Effect:
    """The mean cost of one model with the interval of an assessment."""
    confusion, measure = t.confusion(model), parse(MEASURE)
    priced = Priced.of(confusion, costs)
    value = cast("Number", measure(priced))
    interval_or_reason = Uncertainty(confusion, Wanted(level=level), positive=None).overall(measure, value, priced)
    return Effect.of(f"{MEASURE} of {model}", value.value, interval_or_reason)
