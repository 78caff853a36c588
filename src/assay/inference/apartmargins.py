# SPDX-License-Identifier: Apache-2.0
"""Good enough on purpose, each model on rows of its own: a difference from both intervals, held to a margin."""

from __future__ import annotations

import math

from assay.core.labels import Label
from assay.core.traits import EXTENSION, LOWER, Source
from assay.core.values import Share, Undefined
from assay.inference.apart import APART, PAIR, apart_difference, estimate
from assay.inference.byinterval import against_margin, one_sided
from assay.inference.declare import significance
from assay.inference.equivalence import ALIKE, NOT_WORSE, WORSE, checked_margin, margin_told
from assay.inference.equivalence import APART as DIFFER
from assay.inference.findings import Finding
from assay.inference.intervals import Wanted
from assay.inference.resampling import SEED
from assay.inference.unpaired import mover
from assay.measures.declare import Measure, parse
from assay.tally.apart import Apart

ASSUMED = (*APART, "the margin was stated before the rows were seen")
SOURCE = (
    Source("Newcombe 1998", "method 10, of shares"),
    Source("Zou and Donner 2008", "eq. 9 and 10"),
    EXTENSION,
)


@significance(
    title="Non-inferiority of a measure on different rows, from the intervals of both",
    family="non-inferiority",
    asks=NOT_WORSE,
    null=WORSE,
    effect="the measure of A minus the measure of B",
    assumes=ASSUMED,
    never=("on the same rows: the pairs would be lost",),
    source=SOURCE,
    spec="ADD",
)
def apart_non_inferiority(
    t: Apart,
    *,
    margin: float,
    measure: Measure | str = "accuracy",
    positive: Label | None = None,
    level: float = 0.95,
    seed: int = SEED,
) -> Finding:
    wanted = Wanted(level=level, seed=seed)
    return _against(t, margin, measure, positive, wanted, both=False)


@significance(
    title="Equivalence of a measure on different rows, from the intervals of both (two one-sided tests)",
    family="equivalence",
    asks=ALIKE,
    null=DIFFER,
    effect="the measure of A minus the measure of B",
    assumes=ASSUMED,
    never=("on the same rows: the pairs would be lost",),
    source=SOURCE,
    spec="ADD",
)
def apart_equivalence(
    t: Apart,
    *,
    margin: float,
    measure: Measure | str = "accuracy",
    positive: Label | None = None,
    level: float = 0.95,
    seed: int = SEED,
) -> Finding:
    wanted = Wanted(level=level, seed=seed)
    return _against(t, margin, measure, positive, wanted, both=True)


def _against(
    t: Apart, margin: float, measure: Measure | str, positive: Label | None, wanted: Wanted, *, both: bool
) -> Finding:
    """The interval whose ends are bounds at the level, each alone, decides; what is shown is that at the level."""
    asked = parse(measure) if isinstance(measure, str) else measure
    size = checked_margin(margin, 1.0 if asked.gives is Share else math.inf)
    plain = apart_difference(t, measure=asked, positive=positive, level=wanted.level, seed=wanted.seed)
    told = {"alternative": "greater", "notes": (*plain.notes, margin_told(size))}
    bounds = Wanted(level=one_sided(wanted.level), seed=wanted.seed)
    a, b = (estimate(t, i, asked, positive, bounds) for i in range(PAIR))
    gap = mover(a, b, (t.models[0], t.models[1]))
    if gap.value is None or gap.interval is None:
        lost = plain.chance if isinstance(plain.chance, Undefined) else Undefined(reason=gap.reason or "no interval")
        return plain.said(chance=lost, statistic=lost, least=lost, **told)
    ahead, ends = gap.value, (gap.interval.low, gap.interval.high)
    if asked.better is LOWER:
        ahead, ends = -ahead, (-ends[1], -ends[0])
    decided = against_margin(ahead, ends, size, wanted.level, both=both)
    return plain.said(chance=decided.chance, statistic=decided.statistic, least=decided.least, **told)
