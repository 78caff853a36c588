# SPDX-License-Identifier: Apache-2.0
"""Any measure of two models on the same rows: random swaps of their answers, and draws of the joint cells.

Swapping the answers of single rows at random is, in a cell of n rows, a binomial number of swaps; resampling rows is a
multinomial draw of the joint cells. So both cost what there are cells, however many rows were counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from assay.core.labels import Label
from assay.core.text import counted
from assay.core.traits import EXTENSION, Source
from assay.core.values import Undefined
from assay.inference.declare import Significance, declare_test, significance
from assay.inference.estimates import Interval
from assay.inference.findings import Effect, Finding, no_number
from assay.inference.intervals.proportion import normal_quantile
from assay.inference.power import least_normal
from assay.inference.resampling import SEED, stream
from assay.inference.tail_probabilities import CERTAIN, Tail, normal
from assay.inference.units.class_score_units import judge_units
from assay.inference.units.judgement import ALIKE, HELD, NO_SPREAD, SAME, Units
from assay.inference.units.unit_measures import CELLS
from assay.measures.declare import Measure
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Pairs

DRAWS: Final = 9999
RESTS_ON: Final = 100
"""As how many equal units those in dispute must count; Student's t of fewer is wider than the normal by 1.2 %."""
ROBUST: Final = (
    Source("Liang and Zeger 1986", "Biometrika 73, theorem 1"),
    Source("Rao and Scott 1992", "Biometrics 48"),
    Source("Obuchowski 1998", "Statistics in Medicine 17"),
    EXTENSION,
)
LARGE_SAMPLE: Final = (
    "subjects, or rows where none are stated, are independent, and very many",
    "no few of them weigh so much that the difference rests on them",
)
FEW_UNITS: Final = "on fewer than 200 subjects of equal weight: swap the answers on whole subjects"
MOST_ITEMS: Final = 1 << 24
"""Random numbers for items, which unlike cells grow with the rows; beyond, the normal form is used."""
RESAMPLED: Final = Source("Efron and Tibshirani 1993", "chapters 14 and 15")
BY_SUBJECT: Final = "on several rows of one subject: swap or resample subjects"
UNDISPUTED: Final = Undefined(reason=ALIKE, code="no-discordant-pairs")
UNMOVED: Final = Undefined(reason=NO_SPREAD, code="zero-variance")
RESAMPLING: Final = {"level": 0.95, "draws": DRAWS, "seed": SEED, "stratified": False}
"""Parameters of every test by swaps or draws."""
OF_A_MEASURE: Final = {"measure": "accuracy", "positive": None, **RESAMPLING}


def _tested(
    t: PairedLabels | PerUnit | PairedScores,
    *,
    by: Callable[..., Finding],
    what: str,
    measure: Measure | str,
    positive: Label | None = None,
    **ways: Any,  # noqa: ANN401
) -> Finding:
    """The finding on one tally."""
    rows = t.m + t.n if isinstance(t, PairedScores) else t.n
    return by(judge_units(t, measure, positive), rows, Ways(what=what, **ways))


def _declared(
    name: str,
    takes: type,
    by: Callable[..., Finding] | None = None,
    *,
    what: str = "rows",
    parameters: dict[str, object] | None = None,
    **facts: Any,  # noqa: ANN401
) -> Significance:
    common = {"family": "permutation", "effect": "the measure of A minus the measure of B",
              "source": (RESAMPLED, EXTENSION), "spec": "T-36"}  # fmt: skip
    function = partial(_tested, by=by or by_draws, what=what)
    return declare_test(function, name, (takes,), parameters or OF_A_MEASURE, **{**common, **facts})


@significance(
    title="Paired permutation test of the mean",
    family="permutation",
    asks="is the mean of A and B equal, judged by swapping their values item by item?",
    null="the values of A and B of an item can be swapped",
    effect="mean of A minus B",
    assumes=("items are independent",),
    never=("on values from resampling one data set", "on several items of one subject: average them first"),
    source=(RESAMPLED, EXTENSION),
    spec="T-36",
)
def mean_permutation(t: Pairs, *, level: float = 0.95, draws: int = DRAWS, seed: int = SEED) -> Finding:
    from assay.inference.tests.means import paired_t

    plain = paired_t(t, level=level)
    gaps = t.difference.floats()
    gap = float(t.difference.mean)
    if not gaps.any():
        return plain.said(statistic_name="mean difference", df=(), checks=(), more=())
    if draws * t.n > MOST_ITEMS:
        return plain.said(notes=(*plain.notes, "too many items to swap one by one: the t form is used"))
    rng, far, step = stream(seed, 1), 0, max(1, HELD // t.n)
    for start in range(0, draws, step):
        signs = rng.integers(0, 2, size=(min(step, draws - start), t.n)) * 2 - 1
        far += int((np.abs(signs @ gaps) >= abs(math.fsum(gaps)) * (1 - SAME)).sum())
    return plain.said(
        chance=Tail.of((1 + far) / (1 + draws)),
        statistic=gap,
        statistic_name="mean difference",
        df=(),
        checks=(),
        more=(),
        notes=(f"{draws:,} random swaps of the items, seed {seed}; p = (1 + as far) / (1 + drawn)",),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How a measure is judged."""

    level: float
    draws: int = DRAWS
    seed: int = SEED
    stratified: bool = False
    what: str = "rows"
    """What the answers are called that are swapped."""


def _redrawn(judged: Units, ways: Ways) -> tuple[Tail, tuple[str, ...]]:
    """How often draws of the joint cells bring a difference on the other side of zero."""
    values = judged.resampled(ways.draws, ways.seed, stratified=ways.stratified)
    lost = int(np.isnan(values).sum())
    # Undefined draws count against a difference, on both sides.
    sides = [int((side & ~np.isnan(values)).sum()) + lost for side in (values <= SAME, values >= -SAME)]
    chance = Tail.of(2 * (1 + min(sides)) / (1 + ways.draws)) if judged.disputed else CERTAIN
    return chance, (f"{ways.draws:,} draws of the joint cells, seed {ways.seed}; twice the smaller side, one added",)


def by_error(judged: Units, n: int, ways: Ways) -> Finding:
    """The finding of a large-sample test: the difference over its linearised standard error."""
    a, b = judged.exact
    if math.isnan(a - b):
        return _undefined(judged, n, ways.level).said(statistic_name="z")
    error, rests_on = judged.linearised()
    why = _unfit(judged, error, rests_on)
    ends = None if judged.closed_interval is None else judged.closed_interval(ways.level)
    if ends is None and why is None:
        reach, (low, high) = normal_quantile((1 + ways.level) / 2) * error, map(float, judged.measure.range)
        low, high = max(a - b - reach, low - high), min(a - b + reach, high - low)
        ends = Interval(low=low, high=high, level=ways.level, method=f"normal, linearised error over {judged.method}")
    note = f"large-sample z over {int(judged.count.sum()):,} {judged.method}; linearised standard error {error:.3g}"
    return Finding(
        chance=CERTAIN if why is UNDISPUTED else why or normal((a - b) / error),
        effect=Effect.of(judged.name, a - b, why.reason if why else ends, share=judged.share),
        statistic=0.0 if why is UNDISPUTED else why or (a - b) / error,
        statistic_name="z",
        about=judged.measure.title,
        models=judged.models,
        n=n,
        counts={f"{judged.method} answered differently": judged.disputed, judged.method: int(judged.count.sum())},
        more=alone(judged.measure, judged.models, (a, b)),
        notes=(why.reason if why else note,),
        least=why or least_normal(error, ways.level),
    )  # fmt: skip


def _unfit(judged: Units, error: float, rests_on: float) -> Undefined | None:
    """Why the normal distribution does not describe a difference, if it does not."""
    if not judged.disputed:
        return UNDISPUTED
    if not error > 0:  # also where a slope is undefined
        return Undefined(reason="the difference has no variance", code="zero-variance")
    if rests_on >= RESTS_ON:
        return None
    few = counted(math.floor(rests_on), judged.method.removesuffix("s"))
    told = f"the difference rests on as few as {few} of equal weight, too few for a large-sample test"
    return Undefined(reason=told, code="too-few")


def by_draws(
    judged: Units, n: int, ways: Ways, judge: Callable[[Units, Ways], tuple[Tail, tuple[str, ...]]] | None = None
) -> Finding:
    """The difference with its interval, and its chance by swaps, or as judged, of as many draws as are affordable."""
    ways = replace(ways, draws=judged.affordable(ways.draws))
    a, b = judged.exact
    if math.isnan(a - b):
        return _undefined(judged, n, ways.level)
    effect, spread = judged.effect(ways.level, ways.draws, ways.seed, stratified=ways.stratified)
    chance, notes = (judge or _swapped)(judged, ways)
    count_label = "rows called differently" if judged.method == CELLS else f"{ways.what} answered differently"
    return Finding(
        chance=chance,
        effect=effect,
        statistic=a - b,
        statistic_name="difference",
        about=judged.measure.title,
        models=judged.models,
        n=n,
        counts={count_label: judged.disputed} | ({} if ways.what == "rows" else {ways.what: len(judged.count)}),
        more=() if judged.method == CELLS else alone(judged.measure, judged.models, judged.exact),
        notes=notes,
        least=least_normal(spread, ways.level) if spread else UNMOVED if judged.disputed else UNDISPUTED,
    )


def alone(measure: Measure, models: tuple[str, ...], values: tuple[float, float]) -> tuple[Effect, ...]:
    """The value of each model, whose interval nobody asked for."""
    why = "the interval is that of the difference"
    pairs = zip(models, values, strict=True)
    return tuple(Effect(name=f"{measure.title} of {one}", value=x, no_interval=why) for one, x in pairs)


def _undefined(judged: Units, n: int, level: float) -> Finding:
    """The finding where a model has no value."""
    lost = [model for model, value in zip(judged.models, judged.exact, strict=True) if math.isnan(value)]
    told = f"{judged.measure.title} of {' and '.join(lost)}" if lost else f"the difference in {judged.measure.title}"
    why = Undefined(reason=f"{told} is undefined here")
    about = {"about": judged.measure.title, "models": judged.models, "n": n, "level": level, "least": None}
    return no_number(judged.name, why, "difference", **about)


def _swapped(judged: Units, ways: Ways) -> tuple[Tail, tuple[str, ...]]:
    """How often random swaps of the answers bring as large a difference."""
    if not judged.disputed:
        return CERTAIN, (ALIKE,)
    gaps = np.abs(judged.swapped(ways.draws, ways.seed))
    lost = int(np.isnan(gaps).sum())
    far = int((np.isnan(gaps) | (gaps >= abs(judged.centre) - SAME)).sum())
    of = "the answers" if ways.what == "rows" else f"the answers on whole {ways.what}"
    notes = [f"{ways.draws:,} random swaps of {of}, seed {ways.seed}; p = (1 + as far) / (1 + drawn)"]
    if lost:
        notes.append(f"{counted(lost, 'swap')} left the measure undefined and count against a difference")
    return Tail.of((1 + far) / (1 + ways.draws)), tuple(notes)


paired_permutation = _declared(
    "paired_permutation",
    PairedLabels,
    parameters={**OF_A_MEASURE, "measure": "f1"},
    title="Paired permutation test of any measure",
    asks="is a measure of A and B equal, judged by swapping their answers row by row?",
    null="the answers of A and B to a row can be swapped",
    assumes=("rows are independent",),
    never=(BY_SUBJECT,),
)
paired_bootstrap = _declared(
    "paired_bootstrap",
    PairedLabels,
    partial(by_draws, judge=_redrawn),
    parameters={**OF_A_MEASURE, "measure": "f1"},
    title="Paired bootstrap test of any measure",
    family="bootstrap",
    asks="is a measure of A and B equal, judged by resampling the rows?",
    null="the measures are equal",
    assumes=("rows are independent", "the difference is about symmetric"),
    never=("on several rows of one subject: resample subjects",),
)
score_permutation = _declared(
    "score_permutation",
    PairedScores,
    parameters={"measure": "average_precision", **RESAMPLING},
    title="Paired permutation test of a measure of scores",
    asks="is a measure of the scores of A and B equal, judged by swapping their scores row by row?",
    null="the scores of A and B of a row can be swapped, or their ranks where only the order counts",
    assumes=("rows are independent", "both models scored the same rows"),
    never=(BY_SUBJECT,),
    source=(RESAMPLED, Source("Venkatraman and Begg 1996", "section 2"), EXTENSION),
)
class_score_permutation = _declared(
    "class_score_permutation",
    PerUnit,
    parameters={"measure": "auroc_macro", **RESAMPLING},
    title="Paired permutation test of the scores of all classes",
    asks="is a measure of the scores of all classes equal for A and B, judged by swapping whole rows of scores?",
    null="the scores of A and B of a row can be swapped, or their ranks where only the order counts",
    assumes=("rows are independent", "both models scored the same rows"),
    never=(BY_SUBJECT,),
)
subject_permutation = _declared(
    "subject_permutation",
    PerUnit,
    what="subjects",
    title="Paired permutation test by subject",
    asks="is a measure of A and B equal, judged by swapping all their answers on a subject at once?",
    null="the answers of A and B on a subject can be swapped",
    assumes=("subjects are independent", "both models answered the same rows"),
    never=("on fewer than six subjects it cannot be significant at 5 %",),
)
weighted_permutation = _declared(
    "weighted_permutation",
    PerUnit,
    title="Paired permutation test of weighted rows",
    asks="is a measure of A and B on weighted rows equal, judged by swapping their answers row by row?",
    null="the answers of A and B to a row can be swapped",
    effect="the weighted measure of A minus that of B",
    assumes=("rows are independent", "weights do not depend on the answers"),
    never=(BY_SUBJECT,),
)
unit_z = _declared(
    "unit_z",
    PerUnit,
    by_error,
    parameters={"measure": "accuracy", "positive": None, "level": 0.95},
    title="Large-sample test of any measure by subject or weight",
    family="unit-z",
    asks="is a measure of A and B equal, judged by how far it varies over very many subjects or weighted rows?",
    null="the measures are equal",
    assumes=LARGE_SAMPLE,
    never=(FEW_UNITS,),
    source=ROBUST,
)
