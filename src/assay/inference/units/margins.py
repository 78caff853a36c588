# SPDX-License-Identifier: Apache-2.0
"""Non-inferiority and equivalence against a margin stated in advance: two operators over differences with an interval.

Each difference says how many standard errors it lies above -margin and below +margin. Non-inferiority asks for the
first, equivalence for both (two one-sided tests).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias, cast

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import figure
from assay.core.traits import EXTENSION, LOWER, Source
from assay.core.values import Share, Undefined
from assay.inference.declare import Significance, declare_test
from assay.inference.estimates import Interval
from assay.inference.findings import Effect, Finding, Real
from assay.inference.intervals.difference_of_two import mover, one_sided, rooms
from assay.inference.intervals.interval_choice import Wanted
from assay.inference.power import least_normal, least_student
from assay.inference.tail_probabilities import Tail, normal, student
from assay.inference.tests.auc_beyond_delong import SOURCE as OF_BOTH_AREAS
from assay.inference.tests.auc_beyond_delong import added_ends, area_difference
from assay.inference.tests.delong import areas, delong, too_few
from assay.inference.tests.independent_models import PAIR, apart_difference, estimate
from assay.inference.tests.mcnemar import difference, mcnemar_exact, tango
from assay.inference.tests.means import paired_t, student_effect
from assay.inference.units.class_score_units import judge_units
from assay.inference.units.permutation_and_bootstrap import subject_permutation, unit_z
from assay.measures.declare import Measure, parse
from assay.tally.contingency_tables import Outcomes
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Pairs

UPPER: Final = partial(normal, alternative="greater")
STATED: Final = "the margin was stated before the rows were seen"
OF_DELONG: Final = (Source("DeLong et al. 1988", "eq. 5"), EXTENSION)
ONE_UNIT: Final = Undefined(reason="there is only one subject", code="too-few")
UNVARIED: Final = Undefined(reason="the difference has no variance", code="zero-variance")
NO_DISPUTE: Final = Undefined(reason="the models never disagree", code="no-discordant-pairs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a difference stands against a margin."""

    plain: Finding
    """What is said of the difference itself."""
    above: Real
    """Standard errors above -margin, the better model's side up."""
    below: Real
    """Standard errors below +margin."""
    least: Real | None
    tail: Callable[[float], Tail] = UPPER


Sides: TypeAlias = Callable[..., Standing]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference with an interval, and what its tests against a margin are called."""

    name: str
    test: Significance
    """The test against zero, whose tally and parameters those against a margin take."""
    sides: Sides
    titles: tuple[str, str]
    assumes: tuple[str, ...]
    source: tuple[Source, ...]
    effect: str = ""
    never: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


def checked_margin(margin: float, most: float) -> float:
    """A margin that is one: above 0, below what is possible."""
    if not isinstance(margin, (int, float)) or isinstance(margin, bool) or not 0 < margin < most:
        what = f"margin = {margin!r} is not a margin"
        known = f"above 0{'' if math.isinf(most) else f', below {most:g}'}"
        fix = "state the largest difference that does not matter, as a positive number"
        raise PlanError("value-out-of-domain", what, known=known, fix=fix)
    return float(margin)


def _margin_of(measure: Measure, margin: float) -> float:
    return checked_margin(margin, 1.0 if measure.gives is Share else math.inf)


def _no_standing(plain: Finding, why: Undefined) -> Standing:
    return Standing(plain=plain, above=why, below=why, least=why)


def _by_error(plain: Finding, ahead: float, size: float, error: float, df: float | None = None) -> Standing:
    """From a standard error: normal, or Student's with the degrees of freedom that it is known by."""
    level = one_sided(plain.level)
    least = least_normal(error, level) if df is None else least_student(error, df, level)
    tail = UPPER if df is None else partial(student, df=df, alternative="greater")
    return Standing(plain=plain, above=(ahead + size) / error, below=(size - ahead) / error, least=least, tail=tail)


def _by_ends(plain: Finding, ahead: float, ends: tuple[float, float], size: float) -> Standing:
    """From one-sided bounds of the difference."""
    above, below, least = rooms(ahead, ends, size, plain.level)
    return Standing(plain=plain, above=above, below=below, least=least)


def _shares(t: Outcomes, margin: float, *, level: float) -> Standing:
    size, error = checked_margin(margin, 1.0), math.sqrt(t.disagree) / t.n if t.n else 0.0
    below = tango(t, size)
    plain = Finding(
        chance=UNVARIED, effect=difference(t, level), statistic=UNVARIED, statistic_name="z", about=t.about, n=t.n,
        level=level, counts=t.counts,
    )  # fmt: skip
    return Standing(
        plain=plain,
        above=tango(t, -size),
        below=below if isinstance(below, Undefined) else -below,
        least=least_normal(error, one_sided(level)) if error else NO_DISPUTE,
    )


def _means(t: Pairs, margin: float, *, level: float) -> Standing:
    size, plain = checked_margin(margin, math.inf), paired_t(t, level=level).said(notes=())
    mean = float(t.difference.mean)
    if isinstance(plain.statistic, Undefined):
        lost = [_constant(t.n, inside=inside) for inside in (mean > -size, -size < mean < size)]
        return Standing(plain=plain, above=lost[0], below=lost[1], least=plain.least)
    return _by_error(plain, mean, size, math.sqrt(float(t.difference.variance / t.n)), t.n - 1)


def _constant(n: int, *, inside: bool) -> Undefined:
    reason = "the difference is the same everywhere" if n > 1 else "two items are needed"
    place = "inside" if inside and n > 1 else "outside"
    return Undefined(reason=f"{reason}, and {place} the margin; no test can add to that", code="zero-variance")


def _areas(t: PairedScores, margin: float, *, level: float) -> Standing:
    size, plain = checked_margin(margin, 1.0), delong(t, level=level)
    lost = too_few(t)
    gap, variance = (0.0, 0.0) if lost else areas(t).gap(0, 1)
    if not variance:
        flat = Undefined(reason="the difference of the areas has no variance", code="zero-variance")
        return _no_standing(plain, lost or flat)
    return _by_error(plain, gap, size, math.sqrt(variance))


def _near_perfect_areas(t: PairedScores, margin: float, *, level: float) -> Standing:
    size, plain = checked_margin(margin, 1.0), area_difference(t, level=level)
    gap = plain.effect.value
    if isinstance(gap, Undefined) or plain.effect.interval is None:
        return _no_standing(plain, gap if isinstance(gap, Undefined) else cast("Undefined", plain.statistic))
    return _by_ends(plain, gap, added_ends(areas(t), 0, 1, one_sided(level)), size)


def _units(
    t: PerUnit, margin: float, *, measure: Measure | str, positive: Label | None, level: float, draws: int,
    seed: int, stratified: bool,
) -> Standing:  # fmt: skip
    """The spread comes from draws of whole units; of an area near 1 or 0 from its own interval."""
    judged = judge_units(t, measure, positive)
    size, df, drawn = _margin_of(judged.measure, margin), t.units - 1, judged.affordable(draws)
    effect, spread = judged.effect(level, draws, seed, stratified=stratified)
    gap = effect.value
    plain = Finding(
        chance=UNVARIED, effect=effect, statistic=UNVARIED, statistic_name="t", about=judged.measure.title,
        models=judged.models, n=t.n, level=level,
    )  # fmt: skip
    if isinstance(gap, Undefined) or not df or (not spread and effect.interval is None):
        return _no_standing(plain, gap if isinstance(gap, Undefined) else UNVARIED if df else ONE_UNIT)
    near = judged.added(one_sided(level), drawn, seed, stratified=stratified)
    if near is not None:  # higher is better
        return _by_ends(plain.said(statistic_name="z"), gap, (near.low, near.high), size)
    around = cast("Interval", student_effect(effect.name, gap, spread, df, level).interval)
    ends = replace(around, method=f"t, spread of {judged.method} drawn", draws=drawn, seed=seed)
    shown = Effect(name=effect.name, value=gap, interval=ends, share=effect.share)
    ahead = -gap if judged.measure.better is LOWER else gap
    return _by_error(plain.said(effect=shown, df=(float(df),)), ahead, size, spread, df)


def _very_many_units(
    t: PerUnit, margin: float, *, measure: Measure | str, positive: Label | None, level: float
) -> Standing:
    """The spread is the linearised standard error."""
    wanted = parse(measure) if isinstance(measure, str) else measure
    size, plain = _margin_of(wanted, margin), unit_z(t, measure=wanted, positive=positive, level=level)
    gap = plain.effect.value
    if isinstance(gap, Undefined) or plain.effect.interval is None:
        return _no_standing(plain, plain.statistic if isinstance(plain.statistic, Undefined) else UNVARIED)
    error, _ = judge_units(t, wanted, positive).linearised()
    return _by_error(plain, -gap if wanted.better is LOWER else gap, size, error)


def _apart(
    t: Apart, margin: float, *, measure: Measure | str, positive: Label | None, level: float, seed: int
) -> Standing:
    asked = parse(measure) if isinstance(measure, str) else measure
    size = _margin_of(asked, margin)
    plain = apart_difference(t, measure=asked, positive=positive, level=level, seed=seed)
    bounds = Wanted(level=one_sided(level), seed=seed)
    a, b = (estimate(t, i, asked, positive, bounds) for i in range(PAIR))
    gap = mover(a, b, (t.models[0], t.models[1]))
    if gap.value is None or gap.interval is None:
        why = Undefined(reason=str(gap.reason))
        return _no_standing(plain, plain.chance if isinstance(plain.chance, Undefined) else why)
    low, high = gap.interval.low, gap.interval.high
    lower = asked.better is LOWER
    return _by_ends(plain, -gap.value if lower else gap.value, (-high, -low) if lower else (low, high), size)


DIFFERENCES: Final = (
    Difference(
        name="share", test=mcnemar_exact, sides=_shares,
        titles=("Non-inferiority of a share on the same rows (score test)",
                "Equivalence of two shares on the same rows (two one-sided score tests)"),
        also=("TOST of shares",),
        assumes=("rows are independent",),
        source=(Source("Nam 1997; Tango 1998", "score test of paired shares"), EXTENSION),
        effect="share only A gets right, minus share only B gets right",
    ),
    Difference(
        name="mean", test=paired_t, sides=_means,
        titles=("Non-inferiority of a mean over the same items (t test)",
                "Equivalence of two means over the same items (two one-sided t tests)"),
        also=("TOST",),
        assumes=("items are independent", "differences are about normal"),
        never=("on values from resampling one data set",),
        source=(EXTENSION,),
    ),
    Difference(
        name="auroc", test=delong, sides=_areas,
        titles=("Non-inferiority of an area under the ROC curve (DeLong)",
                "Equivalence of two areas under the ROC curve (DeLong, two one-sided tests)"),
        assumes=("rows are independent",), source=OF_DELONG,
    ),
    Difference(
        name="area", test=area_difference, sides=_near_perfect_areas,
        titles=("Non-inferiority of an area under the ROC curve (square-and-add)",
                "Equivalence of two areas under the ROC curve (square-and-add, two one-sided tests)"),
        assumes=("rows are independent",), source=OF_BOTH_AREAS,
    ),
    Difference(
        name="unit", test=subject_permutation, sides=_units,
        titles=("Non-inferiority of a measure, by draws of subjects or weighted rows",
                "Equivalence of a measure, by draws of subjects or weighted rows (two one-sided tests)"),
        assumes=("subjects, or rows where none are stated, are independent",), source=(EXTENSION,),
    ),
    Difference(
        name="unit_z", test=unit_z, sides=_very_many_units,
        titles=("Large-sample non-inferiority of a measure by subject or weight",
                "Large-sample equivalence of a measure by subject or weight (two one-sided tests)"),
        assumes=unit_z.assumes, never=unit_z.never, source=unit_z.source,
    ),
    Difference(
        name="apart", test=apart_difference, sides=_apart,
        titles=("Non-inferiority of a measure on different rows, from the intervals of both",
                "Equivalence of a measure on different rows, from the intervals of both (two one-sided tests)"),
        assumes=apart_difference.assumes, never=("on the same rows: the pairs would be lost",),
        source=(Source("Newcombe 1998", "method 10, of shares"), Source("Zou and Donner 2008", "eq. 9 and 10"),
                EXTENSION),
    ),
)  # fmt: skip
"""Every difference that a margin can be stated for."""


def _held_to(of: Difference, t: Any, *, margin: float, both: bool, **how: Any) -> Finding:  # noqa: ANN401
    """The finding of one operator on one difference."""
    stands = of.sides(t, margin, **how)
    told = f"margin {figure(margin)}; a small p speaks for the first model being good enough, not for a difference"
    said: dict[str, Any] = {"alternative": "greater", "notes": (told, *stands.plain.notes)}
    needed = (stands.above, stands.below) if both else (stands.above,)
    reals = [one for one in needed if not isinstance(one, Undefined)]
    if len(reals) < len(needed):
        lost = next(one for one in reversed(needed) if isinstance(one, Undefined))
        return stands.plain.said(chance=lost, statistic=lost, least=stands.least, **said)
    return stands.plain.said(chance=stands.tail(min(reals)), statistic=min(reals), least=stands.least, **said)


def _declared(of: Difference, *, both: bool) -> Significance:
    known = {name: default for name, default in of.test.parameters.items() if name not in ("alternative", "costs")}
    known |= {"measure": "accuracy"} if "measure" in known else {}
    return declare_test(
        partial(_held_to, of, both=both),
        f"{of.name}_{'equivalence' if both else 'non_inferiority'}",
        of.test.accepts[:1],
        {"margin": inspect.Parameter.empty, **known},
        title=of.titles[both],
        family="equivalence" if both else "non-inferiority",
        also=of.also if both else (),
        asks="are A and B equal within the margin?" if both else "is A not worse than B by the margin?",
        null="A and B differ by the margin or more" if both else "A is worse than B by the margin or more",
        effect=of.effect or of.test.effect,
        assumes=(*of.assumes, STATED),
        never=of.never,
        source=of.source,
        spec="ADD",
    )


for _both in (False, True):
    for _difference in DIFFERENCES:
        _declared(_difference, both=_both)
