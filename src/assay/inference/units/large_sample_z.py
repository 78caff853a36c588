# SPDX-License-Identifier: Apache-2.0
"""Two models on very many rows of subjects, or with weights: large-sample tests from sums over the units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.labels import Label
from assay.core.traits import EXTENSION, Source
from assay.core.values import Share
from assay.inference.declare import significance
from assay.inference.estimates import Interval
from assay.inference.findings import Effect, Finding
from assay.inference.intervals.mean_cost import score_ends
from assay.inference.intervals.proportion import normal_quantile
from assay.inference.power import least_normal
from assay.inference.tail_probabilities import CERTAIN, normal
from assay.inference.units.cost_difference import MEASURE, METHOD, Costs, by_value
from assay.inference.units.linearised_variance import Linear, linear, linear_costs
from assay.inference.units.permutation_and_bootstrap import ALIKE as SAME_ANSWERS
from assay.inference.units.permutation_and_bootstrap import alone, without_value
from assay.measures.declare import Measure, parse
from assay.tally.paired.unit_sums import UnitSums

if TYPE_CHECKING:
    from assay.core.arrays import Floats

ROBUST: Final = (
    Source("Liang and Zeger 1986", "Biometrika 73, theorem 1"),
    Source("Rao and Scott 1992", "Biometrics 48"),
    Source("Obuchowski 1998", "Statistics in Medicine 17"),
    EXTENSION,
)
UNITS: Final = (
    "subjects, or rows where none are stated, are independent, and very many",
    "no few of them weigh so much that the difference rests on them",
)
FEW: Final = "on fewer than 200 subjects of equal weight: swap the answers on whole subjects"


@significance(
    title="Large-sample test of any measure by subject or weight",
    family="unit-z",
    asks="is a measure of A and B equal, judged by how far it varies over very many subjects or weighted rows?",
    null="the measures are equal",
    effect="the measure of A minus the measure of B",
    assumes=UNITS,
    never=(FEW,),
    source=ROBUST,
    spec="T-36",
)
def unit_z(
    t: UnitSums, *, measure: Measure | str = "accuracy", positive: Label | None = None, level: float = 0.95
) -> Finding:
    return _against_zero(linear(t, measure, positive), level)


@significance(
    title="Large-sample test of the mean cost by subject or weight",
    family="unit-z",
    asks="do the mistakes of A and B cost the same, judged by how far costs vary over very many subjects or weighted "
    "rows?",
    null="the mean costs are equal",
    effect="the mean cost of a row of A minus that of B",
    assumes=(*UNITS, "the costs were stated before the rows were seen"),
    never=(FEW,),
    source=ROBUST,
    spec="T-36",
)
def unit_z_cost(t: UnitSums, *, costs: Costs, level: float = 0.95) -> Finding:
    found = priced(t, costs)
    ends = None
    if not t.by_subject:
        price = prices(t, costs)
        gaps = price[t.truth, t.codes[:, 1]] - price[t.truth, t.codes[:, 2]]
        low, high = score_ends(*by_value(price, gaps, t.weights(), t.squares() if t.weighted else None), level)
        ends = Interval(low=low, high=high, level=level, method=METHOD)
    return _against_zero(found, level, ends)


def priced(t: UnitSums, costs: Costs) -> Linear:
    """The mean costs of two models."""
    return linear_costs(t, prices(t, costs), parse(MEASURE))


def prices(t: UnitSums, costs: Costs) -> Floats:
    """What each call costs, by truth and call."""
    return np.array([[float(costs[a, b]) for b in t.labels] for a in t.labels])


def _against_zero(found: Linear, level: float, ends: Interval | None = None) -> Finding:
    common, gap = _common(found, level), found.gap
    name = f"{found.measure.title}, {found.t.models[0]} minus {found.t.models[1]}"
    share = found.measure.gives is Share
    if math.isnan(gap):
        lost = without_value(found.measure, found.t.models, found.both)
        return Finding(chance=lost, effect=Effect(name=name, value=lost), statistic=lost, statistic_name="z", **common)
    each = alone(found.measure, found.t.models, found.both)
    if not found.disputed:
        told = SAME_ANSWERS.reason
        effect = Effect(name=name, value=0.0, no_interval=told, share=share)
        return Finding(chance=CERTAIN, effect=effect, statistic=0.0, statistic_name="z", notes=(told,), more=each,
                       least=SAME_ANSWERS, **common)  # fmt: skip
    if (why := found.unfit()) is not None:
        effect = Effect(name=name, value=gap, no_interval=why.reason, share=share)
        return Finding(chance=why, effect=effect, statistic=why, statistic_name="z", more=each, least=why, **common)
    z = gap / found.error
    return Finding(
        chance=normal(z),
        effect=Effect(name=name, value=gap, interval=ends or _around(found, level), share=share),
        statistic=z,
        statistic_name="z",
        notes=(_said(found),),
        more=each,
        least=least_normal(found.error, level),
        **common,
    )


def _common(found: Linear, level: float) -> dict[str, Any]:
    t = found.t
    counts = {"rows answered differently": found.disputed} | ({"subjects": t.units} if t.by_subject else {})
    return {"about": found.measure.title, "models": t.models, "n": t.n, "level": level, "counts": counts}


def _around(found: Linear, level: float) -> Interval:
    """As far as the normal distribution reaches, within what differences can be."""
    reach = normal_quantile((1 + level) / 2) * found.error
    low, high = found.measure.range
    widest = high - low
    return Interval(
        low=max(found.gap - reach, -widest),
        high=min(found.gap + reach, widest),
        level=level,
        method=f"normal, robust error over {_units(found)}",
    )


def _units(found: Linear) -> str:
    return "subjects" if found.t.by_subject else "weighted rows" if found.t.weighted else "rows"


def _said(found: Linear) -> str:
    t = found.t
    return (
        f"large-sample z over {t.units:,} {_units(found)}, in place of swaps: more than {t.limit:,} rows; "
        f"linearised standard error {found.error:.3g}"
    )
