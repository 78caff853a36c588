# SPDX-License-Identifier: Apache-2.0
"""Models on different rows, or batches of one model: nothing pairs the answers, so their spreads add up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.traits import EXTENSION, TS4213, Source
from assay.core.values import Share, Undefined, Value
from assay.inference.declare import significance
from assay.inference.estimates import Estimate, build_estimate
from assay.inference.findings import Effect, Finding, Real, refer_statistic
from assay.inference.intervals.auc import Areas, near_an_end
from assay.inference.intervals.difference_of_two import apart_from_zero, mover
from assay.inference.intervals.interval_choice import Found, Uncertainty, Wanted
from assay.inference.intervals.proportion import student_quantile
from assay.inference.intervals.score_intervals import ScoreUncertainty
from assay.inference.power import least_student
from assay.inference.resampling import SEED
from assay.inference.tests.delong import area_effect, areas, of_two_areas
from assay.inference.units.class_score_units import OF_CLASSES, class_tally
from assay.measures.declare import Measure, parse
from assay.tally.labels.confusion import Priced
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.paired.different_rows import Apart
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.score_tally import Scores

PAIR: Final = 2
APART: Final = ("all rows are independent", "the rows of both are drawn alike: else their difference counts as well")
NOT_SAME_ROWS: Final = ("on the same rows: the pairs would be lost",)
LEAST: Final = 2


@of_two_areas(
    title="DeLong's test of two areas on different rows",
    asks="do A and B rank the positives above the negatives equally well, each on rows of its own?",
    assumes=APART,
    never=NOT_SAME_ROWS,
    source=(Source("DeLong et al. 1988", "eq. 5"), Source("Robin et al. 2011", "unpaired DeLong, Welch's df")),
)
def delong_unpaired(t: Apart, *, level: float = 0.95) -> Finding:
    if t.scores is None or len(t.models) != PAIR:
        raise PlanError("test-needs", "this test takes the scores of two models", fix="use t.only(a, b)")
    few = [model for model, one in zip(t.models, t.scores, strict=True) if min(one.m, one.n) < LEAST]
    name = f"AUROC of {t.models[0]} minus {t.models[1]}"
    if few:
        lost = Undefined(reason=f"{' and '.join(few)} lacks two positives or two negatives", code="too-few")
        return _finding(t, chance=lost, effect=Effect(name=name, value=lost), statistic=lost, statistic_name="t")
    model_areas = [areas(one) for one in t.scores]
    gap = float(model_areas[0].area[0] - model_areas[1].area[0])
    variances, sizes = [float(one.covariance[0, 0]) for one in model_areas], [one.m + one.n for one in model_areas]
    error = math.sqrt(sum(variances))
    more = tuple(area_effect(one, 0, level) for one in model_areas)
    counts = _counts(t, model_areas)
    if not error:
        undefined = Undefined(
            reason="zero variance: both models rank without an error, or always wrong", code="zero-variance"
        )
        effect = Effect(name=name, value=gap, no_interval="the difference has no variance")
        parts = refer_statistic("t", undefined, differs=bool(gap))
        return _finding(t, effect=effect, least=undefined, more=more, counts=counts, **parts)
    df = error**4 / sum(part**2 / (n - 1) for part, n in zip(variances, sizes, strict=True))
    reach = student_quantile((1 + level) / 2, df) * error
    ends = max(gap - reach, -1.0), min(gap + reach, 1.0)
    effect, parts = Effect.between(name, gap, ends, level, "delong, unpaired"), refer_statistic("t", gap / error, df)
    return _finding(t, effect=effect, least=least_student(error, df, level), more=more, counts=counts, **parts)


@significance(
    title="Difference of a measure on different rows, from the intervals of both",
    family="mover",
    also=("MOVER", "square-and-add"),
    asks="is a measure of A and B equal, each on rows of its own?",
    null="the measures are equal",
    effect="the measure of A minus the measure of B",
    assumes=APART,
    never=NOT_SAME_ROWS,
    source=(TS4213("7.8"), Source("Zou and Donner 2008", "eq. 9 and 10"), EXTENSION),
    spec="G.2 row 22",
)
def apart_difference(
    t: Apart,
    *,
    measure: Measure | str = "f1",
    positive: Label | None = None,
    level: float = 0.95,
    seed: int = SEED,
    costs: Mapping[tuple[Label, Label], float] | None = None,
) -> Finding:
    """The standard error is that of the interval on the side of zero, so p and interval agree at the stated level."""
    if len(t.models) != PAIR:
        raise PlanError("test-needs", f"this test takes two models, not {len(t.models)}", fix="use t.only(a, b)")
    wanted = parse(measure) if isinstance(measure, str) else measure
    sure = Wanted(level=level, seed=seed)
    a, b = (estimate(t, i, wanted, positive, sure, costs=costs) for i in range(PAIR))
    name = f"{wanted.title}, {t.models[0]} minus {t.models[1]}"
    gap = mover(a, b, (t.models[0], t.models[1]))
    more = tuple(_alone(one, f"{wanted.title} of {m}") for one, m in zip((a, b), t.models, strict=True))
    share = wanted.gives is Share
    if gap.value is None or gap.interval is None:
        lost = Undefined(reason=gap.reason or "there is no interval")
        unsure = (lost, None) if gap.value is None else (gap.value, gap.reason)
        effect, parts = Effect.of(name, *unsure, share=share), dict.fromkeys(("chance", "statistic", "least"), lost)
    else:
        parts = apart_from_zero(gap.value, (gap.interval.low, gap.interval.high), level)
        effect = Effect(name=name, value=gap.value, interval=gap.interval, share=share)
    return _finding(t, effect=effect, statistic_name="z", about=wanted.title, more=more, **parts)


def near_perfect_apart(t: Apart) -> bool:
    """Whether a model hardly errs on its rows, or hardly ever is right."""
    every = [areas(one) for one in t.scores or () if min(one.m, one.n) >= LEAST]
    return any(near_an_end(float(one.area[0]), min(one.m, one.n)) for one in every)


def estimate(
    t: Apart,
    model: int,
    measure: Measure,
    positive: Label | None,
    wanted: Wanted,
    *,
    costs: Mapping[tuple[Label, Label], float] | None = None,
) -> Estimate:
    """A measure of one model with its interval, or the reasons why one or both are missing."""
    value: Value
    interval_or_reason: Found
    if measure.takes is Ranked:
        if t.scores is None:
            raise PlanError("comparison-needs", f"{measure.title} reads scores", fix="give score={...} of every model")
        own = t.scores[model]
        scores = np.concatenate([own.positives[0], own.negatives[0]])
        table = Scores.binary(scores, np.arange(len(scores)) < own.m).one_vs_rest(1)
        value = measure(table)
        interval_or_reason = ScoreUncertainty(table, wanted).interval(measure, value)
    elif measure.takes is Priced:
        if t.confusions is None or costs is None:
            text = f"{measure.title} reads predictions and what mistakes cost"
            raise PlanError("comparison-needs", text, fix="give predicted={...} and costs={...}")
        priced = Priced.of(t.confusions[model], costs)
        value = measure(priced)
        interval_or_reason = Uncertainty(t.confusions[model], wanted, positive=positive).overall(measure, value, priced)
    elif measure.takes in OF_CLASSES:
        if t.rows is None:
            text = 'give one column for each class: score={"A": {label: column, ...}, "B": {...}}'
            raise PlanError("comparison-needs", f"{measure.title} reads the scores of all classes", fix=text)
        tally = class_tally(t.rows[model], measure, 0)
        value = measure(tally)
        interval_or_reason = ScoreUncertainty(tally, wanted).interval(measure, value)
    else:
        if t.confusions is None or not measure.from_labels:
            raise PlanError("comparison-needs", f"{measure.title} reads predictions", fix="give predicted={...}")
        confusion = t.confusions[model]
        tables = confusion.multiclass()
        if measure.takes is Binary and positive is None:
            what = f"{measure.title} speaks of one class"
            raise PlanError("measure-unfit", what, fix="state the positive class, or ask an average")
        at = None if positive is None else confusion.labels.index(positive)
        value = measure(tables.one_vs_rest().at(cast("int", at)) if measure.takes is Binary else tables)
        interval_or_reason = Uncertainty(confusion, wanted, positive=positive).overall(measure, value)
    return build_estimate(measure.title, value, interval_or_reason, t.sizes[model])


def _alone(one: Estimate, name: str) -> Effect:
    value: Real = Undefined(reason=one.reason or "undefined") if one.value is None else float(one.value)
    return Effect(name=name, value=value, interval=one.interval, no_interval=one.no_interval)


def _counts(t: Apart, model_areas: list[Areas]) -> dict[str, int | float]:
    return {
        f"{kind} of {model}": n
        for model, one in zip(t.models, model_areas, strict=True)
        for kind, n in (("positives", one.m), ("negatives", one.n))
    }


def _finding(t: Apart, **parts: object) -> Finding:
    rows = {f"rows of {model}": n for model, n in zip(t.models, t.sizes, strict=True)}
    return Finding(**{"about": "auroc", "models": t.models, "n": t.n, "counts": rows, **parts})  # type: ignore[arg-type]


def large_counts(rows: tuple[tuple[int, ...], ...]) -> bool:
    """Whether each of four cells would hold five rows at least, were both shares equal."""
    (a, b), (c, d) = rows
    n = a + b + c + d
    return n > 0 and min(x * y / n for x in (a + b, c + d) for y in (a + c, b + d)) >= 5  # noqa: PLR2004
