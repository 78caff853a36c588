# SPDX-License-Identifier: Apache-2.0
"""Any measure of two models on the same rows: random swaps of their answers, and draws of the joint cells.

Swapping the answers of single rows at random is, in a cell of n rows, a binomial number of swaps; resampling rows is a
multinomial draw of the joint cells. So both cost what there are cells, however many rows were counted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from assay.core.labels import Label
from assay.core.text import counted
from assay.core.traits import EXTENSION, Source
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.findings import Effect, Finding
from assay.inference.joint import HELD, SAME, Joint
from assay.inference.power import least_normal
from assay.inference.resampling import SEED, stream
from assay.inference.tails import CERTAIN, Tail
from assay.measures.declare import Measure
from assay.tally.paired import PairedLabels
from assay.tally.samples import Pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]

DRAWS: Final = 9999
MOST_ITEMS: Final = 1 << 24
"""Random numbers for items, which unlike cells grow with the rows; beyond, the normal form is used."""
RESAMPLED: Final = Source("Efron and Tibshirani 1993", "chapters 14 and 15")
ALIKE: Final = Undefined(reason="the models answer every row alike", code="no-discordant-pairs")


@significance(
    title="Paired permutation test of any measure",
    family="permutation",
    asks="is a measure of A and B equal, judged by swapping their answers row by row?",
    null="the answers of A and B to a row can be swapped",
    effect="the measure of A minus the measure of B",
    assumes=("rows are independent",),
    never=("on several rows of one subject: swap or resample subjects",),
    source=(RESAMPLED, EXTENSION),
    spec="T-36",
)
def paired_permutation(
    t: PairedLabels,
    *,
    measure: Measure | str = "f1",
    positive: Label | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
    stratified: bool = False,
) -> Finding:
    joint = Joint(t, measure, positive)
    a, b = joint.values()
    gap, draws = a - b, joint.affordable(draws)
    if math.isnan(gap):
        return _undefined(joint, t.n, level)
    effect, spread = joint.effect(level, draws, seed, stratified=stratified)
    chance, notes = _swapped(joint, gap, draws, seed)
    return Finding(
        chance=chance,
        effect=effect,
        statistic=gap,
        statistic_name="difference",
        about=joint.measure.title,
        n=t.n,
        level=level,
        counts={"rows called differently": joint.disputed},
        notes=notes,
        least=least_normal(spread, level) if spread else ALIKE,
    )


@significance(
    title="Paired bootstrap test of any measure",
    family="bootstrap",
    asks="is a measure of A and B equal, judged by resampling the rows?",
    null="the measures are equal",
    effect="the measure of A minus the measure of B",
    assumes=("rows are independent", "the difference is about symmetric"),
    never=("on several rows of one subject: resample subjects",),
    source=(RESAMPLED, EXTENSION),
    spec="T-36",
)
def paired_bootstrap(
    t: PairedLabels,
    *,
    measure: Measure | str = "f1",
    positive: Label | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
    stratified: bool = False,
) -> Finding:
    joint = Joint(t, measure, positive)
    a, b = joint.values()
    gap, draws = a - b, joint.affordable(draws)
    if math.isnan(gap):
        return _undefined(joint, t.n, level)
    effect, spread = joint.effect(level, draws, seed, stratified=stratified)
    values = joint.resampled(draws, seed, stratified=stratified)
    lost = int(np.isnan(values).sum())
    # Undefined draws count against a difference, on both sides.
    sides = [int((side & ~np.isnan(values)).sum()) + lost for side in (values <= SAME, values >= -SAME)]
    chance = Tail.of(min(1.0, 2 * (1 + min(sides)) / (1 + draws))) if joint.disputed else CERTAIN
    return Finding(
        chance=chance,
        effect=effect,
        statistic=gap,
        statistic_name="difference",
        about=joint.measure.title,
        n=t.n,
        level=level,
        counts={"rows called differently": joint.disputed},
        notes=(f"{draws:,} draws of the joint cells, seed {seed}; twice the smaller side, one added",),
        least=least_normal(spread, level) if spread else ALIKE,
    )


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
    from assay.inference.means import paired_t

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


def _undefined(joint: Joint, n: int, level: float) -> Finding:
    """The finding where a model has no value."""
    pairs = zip(joint.models, joint.values(), strict=True)
    lost = [model for model, value in pairs if math.isnan(value)]
    told = f"{joint.measure.title} of {' and '.join(lost)}" if lost else f"the difference in {joint.measure.title}"
    reason = Undefined(reason=f"{told} is undefined here")
    return Finding(
        chance=reason,
        effect=Effect(name=joint.name, value=reason),
        statistic=reason,
        statistic_name="difference",
        about=joint.measure.title,
        n=n,
        level=level,
    )


def _swapped(joint: Joint, gap: float, draws: int, seed: int) -> tuple[Tail, tuple[str, ...]]:
    """How often random swaps of the answers bring as large a difference."""
    if not joint.disputed:
        return CERTAIN, ("the models answer every row alike",)
    gaps = np.abs(joint.swapped(draws, seed))
    lost = int(np.isnan(gaps).sum())
    far = int((np.isnan(gaps) | (gaps >= abs(gap) - SAME)).sum())
    told = [f"{draws:,} random swaps of the answers, seed {seed}; p = (1 + as far) / (1 + drawn)"]
    if lost:
        told.append(f"{counted(lost, 'swap')} left the measure undefined and count against a difference")
    return Tail.of((1 + far) / (1 + draws)), tuple(told)
