# SPDX-License-Identifier: Apache-2.0
"""Good enough on purpose where rows are of subjects or have weights: the spread comes from drawing whole units."""

from __future__ import annotations

import math

from assay.core.labels import Label
from assay.core.traits import EXTENSION, LOWER
from assay.core.values import Share, Undefined
from assay.inference.byinterval import against_margin, one_sided
from assay.inference.classunits import judged_rows
from assay.inference.declare import significance
from assay.inference.equivalence import ALIKE, APART, NOT_WORSE, WORSE, checked_margin, margin_told
from assay.inference.estimates import Interval
from assay.inference.findings import Effect, Finding
from assay.inference.power import least_student
from assay.inference.resampling import SEED
from assay.inference.swapping import DRAWS
from assay.inference.tails import student
from assay.measures.declare import Measure
from assay.tally.pairedrows import PairedRows

UNITS = ("subjects, or rows where none are stated, are independent", "the margin was stated before the rows were seen")
LEAST = 2


@significance(
    title="Non-inferiority of a measure, by draws of subjects or weighted rows",
    family="non-inferiority",
    asks=NOT_WORSE,
    null=WORSE,
    effect="the measure of A minus the measure of B",
    assumes=UNITS,
    source=EXTENSION,
    spec="ADD",
)
def unit_non_inferiority(
    t: PairedRows,
    *,
    margin: float,
    measure: Measure | str = "accuracy",
    positive: Label | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
    stratified: bool = False,
) -> Finding:
    return _against(t, margin, measure, positive, (level, draws, seed), stratified=stratified, both=False)


@significance(
    title="Equivalence of a measure, by draws of subjects or weighted rows (two one-sided tests)",
    family="equivalence",
    asks=ALIKE,
    null=APART,
    effect="the measure of A minus the measure of B",
    assumes=UNITS,
    source=EXTENSION,
    spec="ADD",
)
def unit_equivalence(
    t: PairedRows,
    *,
    margin: float,
    measure: Measure | str = "accuracy",
    positive: Label | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
    stratified: bool = False,
) -> Finding:
    return _against(t, margin, measure, positive, (level, draws, seed), stratified=stratified, both=True)


def _against(
    t: PairedRows,
    margin: float,
    measure: Measure | str,
    positive: Label | None,
    ways: tuple[float, int, int],
    *,
    stratified: bool,
    both: bool,
) -> Finding:
    level, draws, seed = ways
    judged = judged_rows(t, measure, positive)
    size = checked_margin(margin, 1.0 if judged.measure.gives is Share else math.inf)
    effect, spread = judged.effect(level, draws, seed, stratified=stratified)
    gap, df = effect.value, t.units - 1
    lost: Undefined | None = None
    if isinstance(gap, Undefined):
        lost = gap
    elif t.units < LEAST:
        lost = Undefined(reason="there is only one subject", code="too-few")
    elif not spread and effect.interval is None:
        lost = Undefined(reason="the difference has no variance", code="zero-variance")
    told = (margin_told(size),)
    common = {"about": judged.measure.title, "models": judged.models, "n": t.n, "level": level, "notes": told}
    if lost is not None or isinstance(gap, Undefined):
        why = lost or Undefined(reason="a value is undefined")
        return Finding(chance=why, effect=effect, statistic=why, statistic_name="t", alternative="greater", least=why,
                       **common)  # type: ignore[arg-type]  # fmt: skip
    near = judged.added(one_sided(level), judged.affordable(draws), seed, stratified=stratified)
    if near is not None:  # an area near 1 or 0: higher is better
        decided = against_margin(gap, (near.low, near.high), size, level, both=both)
        return Finding(chance=decided.chance, effect=effect, statistic=decided.statistic, statistic_name="z",
                       alternative="greater", least=decided.least, **common)  # type: ignore[arg-type]  # fmt: skip
    ahead = -gap if judged.measure.better is LOWER else gap
    value = (ahead + size) / spread
    if both:
        value = min(value, (size - ahead) / spread)
    from scipy.special import stdtrit

    reach = float(stdtrit(df, (1 + level) / 2)) * spread
    ends = Interval(low=gap - reach, high=gap + reach, level=level, method=f"t, spread of {judged.method} drawn",
                    draws=judged.affordable(draws), seed=seed)  # fmt: skip
    return Finding(
        chance=student(value, df, "greater"),
        effect=Effect(name=effect.name, value=gap, interval=ends, share=effect.share),
        statistic=value,
        statistic_name="t",
        df=(float(df),),
        alternative="greater",
        least=least_student(spread, df, 2 * level - 1),
        **common,  # type: ignore[arg-type]
    )
