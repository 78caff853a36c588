# SPDX-License-Identifier: Apache-2.0
"""Any measure of two models on the same rows: random swaps of their answers, and draws of the joint cells.

Swapping the answers of single rows at random is, in a cell of n rows, a binomial number of swaps; resampling rows is a
multinomial draw of the joint cells. So both cost what there are cells, however many rows were counted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import counted, listed, quoted
from assay.core.traits import EXTENSION, Source
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.estimates import Interval
from assay.inference.findings import Effect, Finding
from assay.inference.power import least_normal
from assay.inference.proportion import normal_quantile
from assay.inference.resampling import SEED, stream
from assay.inference.tails import CERTAIN, Tail
from assay.measures.declare import Measure, parse
from assay.tally.paired import PairedLabels
from assay.tally.samples import Pairs
from assay.tally.tables import Binary, Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]

DRAWS: Final = 9999
HELD: Final = 1 << 20
"""Random numbers held at a time: 8 MiB."""
SAME: Final = 1e-12
"""Differences of values up to this are rounding, not difference."""
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
    gap = joint.difference()
    effect, spread = joint.effect(level, draws, seed, stratified=stratified)
    if gap is None:
        return joint.undefined(level)
    chance, notes = joint.swapped(gap, draws, seed)
    return Finding(
        chance=chance,
        effect=effect,
        statistic=gap,
        statistic_name="difference",
        about=joint.measure.title,
        n=t.n,
        level=level,
        counts={"rows called differently": joint.disputed},
        notes=(*notes, *joint.notes),
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
    gap = joint.difference()
    effect, spread = joint.effect(level, draws, seed, stratified=stratified)
    if gap is None:
        return joint.undefined(level)
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
        notes=(f"{draws:,} draws of the joint cells, seed {seed}; twice the smaller side, one added", *joint.notes),
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


class Joint:
    """A measure of two models on the joint cells of a paired tally."""

    def __init__(self, t: PairedLabels, measure: Measure | str, positive: Label | None) -> None:
        if len(t.models) != 2:  # noqa: PLR2004  a pair
            raise PlanError("test-needs", f"this test takes two models, not {len(t.models)}", fix="use t.only(a, b)")
        self.measure = parse(measure) if isinstance(measure, str) else measure
        self.models, self._labels, self.notes = t.models, t.labels, ()
        codes, count = t.codes, t.count
        if self.measure.takes is Binary:
            codes, count = _one_against_rest(t, _positive(t, self.measure, positive))
        self.truth, calls = codes[:, 0], codes[:, 1:]
        self.count = count
        self._called = (calls[:, 0], calls[:, 1])
        self._margins = tuple(_margins(self.truth, called, self.measure, len(t.labels)) for called in self._called)
        self.disputed = int(count[calls[:, 0] != calls[:, 1]].sum())

    def difference(self) -> float | None:
        """The measure of A minus that of B; None where one of them is undefined."""
        value = float(self._gap(self.count[np.newaxis].astype(np.float64))[0])
        return None if math.isnan(value) else value

    def undefined(self, level: float) -> Finding:
        """The finding where a model has no value."""
        row = self.count[np.newaxis].astype(np.float64)
        lost = [
            model
            for model, margins in zip(self.models, self._margins, strict=True)
            if math.isnan(float(self._values(row, margins)[0]))
        ]
        reason = Undefined(reason=f"{self.measure.title} of {' and '.join(lost) or 'the models'} is undefined here")
        return Finding(
            chance=reason,
            effect=Effect(name=self._name, value=reason),
            statistic=reason,
            statistic_name="difference",
            about=self.measure.title,
            n=int(self.count.sum()),
            level=level,
        )

    def swapped(self, gap: float, draws: int, seed: int) -> tuple[Tail, tuple[str, ...]]:
        """How often random swaps of the answers bring as large a difference."""
        if not self.disputed:
            return CERTAIN, ("the models answer every row alike",)
        rng = stream(seed, 1)
        (first, second), far, lost = self._margins, 0, 0
        open_ = self._called[0] != self._called[1]
        fixed = self.count.astype(np.float64)
        for start, stop in _steps(draws, len(self.count)):
            moved = np.zeros((stop - start, len(self.count)))
            moved[:, open_] = rng.binomial(self.count[open_], 0.5, size=(stop - start, int(open_.sum())))
            stayed = fixed - moved
            a = self._values_of([x + y for x, y in zip(first(stayed), second(moved), strict=True)])
            b = self._values_of([x + y for x, y in zip(second(stayed), first(moved), strict=True)])
            gaps = np.abs(a - b)
            lost += int(np.isnan(gaps).sum())
            far += int((np.isnan(gaps) | (gaps >= abs(gap) - SAME)).sum())
        told = [f"{draws:,} random swaps of the answers, seed {seed}; p = (1 + as far) / (1 + drawn)"]
        if lost:
            told.append(f"{counted(lost, 'swap')} left the measure undefined and count against a difference")
        return Tail.of((1 + far) / (1 + draws)), tuple(told)

    def resampled(self, draws: int, seed: int, *, stratified: bool) -> Floats:
        """The difference on draws of the joint cells; NaN where undefined."""
        rng, parts = stream(seed, 2), []
        strata = [self.truth == c for c in np.unique(self.truth)] if stratified else [np.ones(len(self.count), bool)]
        for start, stop in _steps(draws, len(self.count)):
            drawn = np.zeros((stop - start, len(self.count)))
            for here in strata:
                held = self.count[here]
                drawn[:, here] = rng.multinomial(int(held.sum()), held / held.sum(), size=stop - start)
            parts.append(self._gap(drawn))
        return np.concatenate(parts)

    def effect(self, level: float, draws: int, seed: int, *, stratified: bool) -> tuple[Effect, float]:
        """The difference with its interval, and its standard error."""
        gap = self.difference()
        if gap is None:
            return Effect(name=self._name, value=Undefined(reason="a value is undefined")), 0.0
        if not self.disputed:
            return Effect(name=self._name, value=0.0, no_interval="the models answer every row alike"), 0.0
        values = self.resampled(draws, seed, stratified=stratified)
        lost = int(np.isnan(values).sum())
        if lost:
            told = f"{counted(lost, 'draw')} of {draws:,} left the measure undefined"
            hint = "" if stratified else "; stratified=True keeps the number of rows of each class"
            good = values[~np.isnan(values)]
            return (
                Effect(name=self._name, value=gap, no_interval=told + hint),
                float(good.std()) if len(good) > 1 else 0.0,
            )
        low, high = self._bca(gap, np.sort(values), level)
        interval = Interval(low=low, high=high, level=level, method="bca of joint cells", draws=draws, seed=seed)
        return Effect(name=self._name, value=gap, interval=interval), float(values.std())

    @property
    def _name(self) -> str:
        return f"{self.measure.title}, {self.models[0]} minus {self.models[1]}"

    def _bca(self, gap: float, values: Floats, level: float) -> tuple[float, float]:
        """Efron's interval; a jackknife that leaves out one row has only as many values as there are cells."""
        from scipy.special import ndtr, ndtri

        below = (np.searchsorted(values, gap - SAME) + np.searchsorted(values, gap + SAME)) / 2 / len(values)
        edge = 0.5 / len(values)
        bias = float(ndtri(min(max(below, edge), 1 - edge)))
        weight = self.count.astype(np.float64)
        without = self._gap(weight - np.eye(len(weight)))
        kept = ~np.isnan(without)
        pull = np.average(without[kept], weights=weight[kept]) - without[kept] if kept.any() else np.zeros(1)
        cube, square = float((weight[kept] * pull**3).sum()), float((weight[kept] * pull**2).sum())
        skew = cube / (6 * square**1.5) if square > 0 else 0.0
        ends = []
        for tail in ((1 - level) / 2, (1 + level) / 2):
            shifted = bias + normal_quantile(tail)
            at = float(ndtr(bias + shifted / (1 - skew * shifted))) if 1 - skew * shifted > 0 else float(shifted > 0)
            ends.append(float(np.quantile(values, min(max(at, edge), 1 - edge))))
        return ends[0], ends[1]

    def _gap(self, counts: Floats) -> Floats:
        a, b = (self._values(counts, margins) for margins in self._margins)
        with np.errstate(invalid="ignore"):  # infinity minus infinity is undefined, and marked so
            gap: Floats = a - b
        return gap

    def _values(self, counts: Floats, margins: _Margins) -> Floats:
        return self._values_of(margins(counts))

    def _values_of(self, parts: list[Floats]) -> Floats:
        if self.measure.takes is Binary:
            tp, fp, fn, tn = parts
            return self.measure.values(Binary(tp=tp, fp=fp, fn=fn, tn=tn))
        hits, actual, called = parts
        return self.measure.values(Multiclass(hits=hits, actual=actual, called=called, labels=self._labels))


class _Margins:
    """Adds cells up to what a measure reads, for one model."""

    def __init__(self, parts: list[Any]) -> None:
        self._parts = parts

    def __call__(self, counts: Floats) -> list[Floats]:
        return [np.asarray(counts @ part) for part in self._parts]


def _margins(truth: Whole, called: Whole, measure: Measure, k: int) -> _Margins:
    if measure.takes is Binary:
        true, named = truth == 1, called == 1
        four = (true & named, ~true & named, true & ~named, ~true & ~named)
        return _Margins([cell.astype(np.float64) for cell in four])
    from scipy.sparse import csr_array

    cells, ones = np.arange(len(truth)), np.ones(len(truth))
    on = truth == called
    shape = (len(truth), k)
    return _Margins(
        [
            csr_array((ones[on], (cells[on], truth[on])), shape=shape),
            csr_array((ones, (cells, truth)), shape=shape),
            csr_array((ones, (cells, called)), shape=shape),
        ]
    )


def _one_against_rest(t: PairedLabels, at: int) -> tuple[Whole, Whole]:
    """Eight joint cells are all that a measure of one class sees."""
    flags = (t.codes == at).astype(np.int64)
    found, inverse = np.unique(flags, axis=0, return_inverse=True)
    sums = np.zeros(len(found), dtype=np.int64)
    np.add.at(sums, inverse.ravel(), t.count)
    return found, sums


def _positive(t: PairedLabels, measure: Measure, positive: Label | None) -> int:
    if positive is not None and positive in t.labels:
        return t.labels.index(positive)
    raise PlanError(
        "positive-class-undeclared" if positive is None else "unknown-positive",
        f"{measure.name} speaks of one class, and none is stated"
        if positive is None
        else f"{quoted(positive)} is not among the classes",
        known=listed(t.labels),
        fix="state the class: positive=...",
    )


def _steps(draws: int, cells: int) -> list[tuple[int, int]]:
    step = max(1, HELD // max(cells, 1))
    return [(start, min(start + step, draws)) for start in range(0, draws, step)]
