# SPDX-License-Identifier: Apache-2.0
"""A measure of two models on units whose counts add up: rows with scores, weighted rows, or all rows of a subject.

A unit adds a vector to the table of each model: to hits, truths and calls, or to the positives and negatives at every
score. A swap exchanges the two vectors of a unit, a draw takes units as often as they come up; both are one product
with a sparse matrix. Scores that only order the rows are replaced by their ranks first, so that models on different
scales can be swapped (Venkatraman and Begg 1996). Very many distinct scores are joined to neighbourhoods.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import counted
from assay.core.values import Undefined
from assay.inference.estimates import Interval
from assay.inference.intervals.auc import area_ends, near_an_end
from assay.inference.intervals.proportion import recovered
from assay.inference.resampling import stream
from assay.inference.tests.auc_near_one import METHOD as ADDED
from assay.inference.units.joint_cell_draws import one_class, table_of
from assay.inference.units.judgement import Judged, linearised
from assay.measures.declare import Measure, parse
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tally.scores.ranked_table import Ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.core.labels import Label
    from assay.measures.declare import Tally
    from assay.tally.paired.joint_scores import PairedScores
    from assay.tally.paired.per_unit import PerUnit

NEIGHBOURHOODS: Final = 512
"""Of scores, beyond which neighbours are joined: from 512 on, standard errors agree to two figures."""
FEWER: Final = (20_000, 128)
"""Beyond so many rows, so many: joint cells of two models are the square of it."""
BUDGET: Final = 1 << 24
"""Numbers in the tables of one set of draws; larger tables allow fewer draws, but no fewer than 1,999."""
FEWEST: Final = 1999
AT_ONCE: Final = 1 << 18
"""Numbers of one block of tables, which then stays in the cache."""
OF_PROBABILITIES: Final = ("probabilities", "calibration", "cost")
"""Families whose measures read scores as probabilities, not only their order."""
PAIR: Final = 2
SEVERAL: Final = 4
"""Units of a kind, on average, from which drawing by kind is faster than drawing one by one."""


def reads_values(measure: Measure) -> bool:
    """Whether a measure of scores reads their values, and not only the order they bring rows into."""
    return measure.from_scores and measure.family in OF_PROBABILITIES


class Units(Judged):
    """Units that add up to the tables of two models."""

    def __init__(
        self,
        *,
        measure: Measure,
        models: tuple[str, ...],
        exact: tuple[float, float],
        adds: tuple[Any, Any],
        count: Whole,
        disputed: int,
        strata: Whole,
        value: Callable[[Floats], Floats],
        method: str,
        sizes: tuple[float, float] | None = None,
    ) -> None:
        self.measure, self.models, self.count, self.disputed = measure, models, count, disputed
        self.method, self.alike = method, "the models answer every row alike"
        self._exact, self._adds, self._strata, self._value = exact, adds, strata, value
        self._sizes_of_classes = sizes

    def values(self) -> tuple[float, float]:
        """The measure of each model; NaN where undefined."""
        return self._exact

    @property
    def centre(self) -> float:
        """The difference on the tables that are drawn, whose scores may have been joined."""
        a, b = self._of(self.count[np.newaxis].astype(np.float64))
        return float(a[0] - b[0])

    def affordable(self, draws: int) -> int:
        """As many draws as asked for, fewer where tables are large."""
        size = max(len(self.count), int(self._adds[0].shape[1]))
        return max(min(draws, FEWEST), min(draws, BUDGET // size))

    def swapped(self, draws: int, seed: int) -> Floats:
        """The difference where whole units are swapped at random; NaN where undefined."""
        first, second = self._adds
        moved = (second - first).tocsr()
        moved.eliminate_zeros()
        at = np.flatnonzero(np.diff(moved.indptr))
        moved, count = moved[at], self.count[at]
        whole = [self.count @ one for one in self._adds]
        rng = stream(seed, 1)
        parts = []
        for size in self._sizes(draws):
            shift = _flipped(rng, count, size) @ moved
            parts.append(self._values(whole[0] + shift) - self._values(whole[1] - shift))
        return np.concatenate(parts)

    def resampled(self, draws: int, seed: int, *, stratified: bool) -> Floats:
        """The difference on draws of the units, over all of them or within those of the same classes."""
        a, b = self._redrawn(draws, seed, stratified=stratified)
        gap: Floats = a - b
        return gap

    def added(self, level: float, draws: int, seed: int, *, stratified: bool) -> Interval | None:
        """Of areas near 1 or 0, whose draws hardly vary: their own intervals, squared and added."""
        if self._sizes_of_classes is None:
            return None
        positives, negatives = self._sizes_of_classes
        if not any(near_an_end(area, min(positives, negatives)) for area in self._exact):
            return None
        every = np.stack(self._redrawn(draws, seed, stratified=stratified))
        drawn = every[:, ~np.isnan(every).any(axis=0)]
        if drawn.shape[1] < PAIR:
            return None
        lost, spread = draws - drawn.shape[1], np.cov(drawn)
        first, second = (
            area_ends(area, float(spread[i, i]), positives, negatives, level)[:2] for i, area in enumerate(self._exact)
        )
        both = float(spread[0, 0] * spread[1, 1])
        shared = min(max(float(spread[0, 1]) / math.sqrt(both), -1.0), 1.0) if both > 0 else 0.0
        shared = shared if np.ptp(drawn[0] - drawn[1]) else 0.0  # no draw parts them: it cannot be told
        low, high = recovered(self._exact[0], first, self._exact[1], second, shared)
        notes = (f"{counted(lost, 'draw')} of {draws:,} held no row of a class and were left out",) if lost else ()
        method = f"{ADDED}, spread of {self.method} drawn"
        return Interval(
            low=max(low, -1.0), high=min(high, 1.0), level=level, method=method, draws=draws, seed=seed, notes=notes
        )

    def _redrawn(self, draws: int, seed: int, *, stratified: bool) -> tuple[Floats, Floats]:
        """The values of both models on draws of the units."""
        strata = self._strata if stratified else np.zeros(len(self.count), dtype=np.int64)
        within = [np.flatnonzero(strata == one) for one in np.unique(strata)]
        rng = stream(seed, 2)
        parts = []
        for size in self._sizes(draws):
            drawn = np.zeros((size, len(self.count)))
            for here in within:
                drawn[:, here] = _drawn(rng, self.count[here], size)
            parts.append(self._of(drawn))
        first, second = zip(*parts, strict=True)
        return np.concatenate(first), np.concatenate(second)

    def without(self, start: int, stop: int) -> Floats:
        """The difference where one unit of each of some kinds is left out."""
        left = np.tile(self.count.astype(np.float64), (stop - start, 1))
        left[np.arange(stop - start), np.arange(start, stop)] -= 1
        a, b = self._of(left)
        gap: Floats = a - b
        return gap

    def closed_interval(self, level: float) -> Interval | None:  # noqa: ARG002
        """The interval of the difference where one is known without draws."""
        return None

    def linearised(self) -> tuple[float, float]:
        """The standard error of the difference to first order, and as how many equal units it rests on."""
        return linearised(self.count, self._adds, self._values)

    def _of(self, counts: Floats) -> tuple[Floats, Floats]:
        first, second = self._adds
        return self._values(counts @ first), self._values(counts @ second)

    def _values(self, sums: Floats) -> Floats:
        found = self._value(sums)
        return np.where(np.isfinite(found), found, np.nan)

    def _sizes(self, draws: int) -> Iterator[int]:
        step = max(1, AT_ONCE // max(len(self.count), self._adds[0].shape[1]))
        for start in range(0, draws, step):
            yield min(step, draws - start)


def of_scores(t: PairedScores, measure: Measure | str) -> Units:
    """Rows with scores, all independent and of equal weight."""
    rows = np.concatenate([t.positives, t.negatives], axis=1)
    return _scored(rows, np.arange(rows.shape[1]) < t.m, t.models, measure)


def of_rows(t: PerUnit, measure: Measure | str, positive: Label | None) -> Units:
    """Rows of subjects, or with weights: their labels or their scores, whichever the measure takes."""
    wanted = parse(measure) if isinstance(measure, str) else measure
    if wanted.takes is Ranked:
        if t.scores is None:
            raise PlanError("comparison-needs", f"{wanted.name} needs scores", fix="give score={...} of every model")
        is_positive = t.truth == one_class(t.labels, wanted, positive)
        return _scored(t.scores, is_positive, t.models, wanted, subject=t.subject, weight=t.weight)
    if wanted.takes not in (Binary, Multiclass) or t.calls is None:
        raise PlanError(
            "comparison-needs",
            f"{wanted.name} is not compared from the labels of subjects or weighted rows",
            fix="choose a measure of labels, or of the scores of two classes",
        )
    truth, calls, labels = t.truth, t.calls, t.labels
    if wanted.takes is Binary:
        at = one_class(labels, wanted, positive)
        truth, calls, labels = (truth == at).astype(np.int64), (calls == at).astype(np.int64), (0, 1)
    k = len(labels)
    group, count, strata = grouped(np.stack([truth, *calls]), t.subject, t.weight, t.times)
    adds = tuple(
        unit_sums(group, (np.where(one == truth, truth, -1), truth + k, one.astype(np.int64) + 2 * k), t.amount, 3 * k)
        for one in calls
    )

    def table(sums: Floats) -> Tally:
        return table_of(wanted, labels, (sums[:, :k], sums[:, k : 2 * k], sums[:, 2 * k :]))

    whole = [np.asarray(count @ one)[np.newaxis] for one in adds]
    return Units(
        measure=wanted,
        models=t.models,
        exact=two_of(plain_value(wanted, table(one)) for one in whole),
        adds=(adds[0], adds[1]),
        count=count,
        disputed=disputed_units(calls[0] != calls[1], t.subject, t.times),
        strata=strata,
        value=lambda sums: wanted.values(table(sums)),
        method="rows" if t.subject is None else "subjects",
    )


def _scored(
    scores: Floats,
    is_positive: NDArray[np.bool_],
    models: tuple[str, ...],
    measure: Measure | str,
    *,
    subject: Whole | None = None,
    weight: Floats | None = None,
) -> Units:
    wanted = parse(measure) if isinstance(measure, str) else measure
    if wanted.takes is not Ranked:
        raise PlanError(
            "comparison-needs",
            f"{wanted.name} is no measure of the scores of two classes",
            fix="`assay measures` lists the measures of scores",
        )
    if len(models) != PAIR:
        raise PlanError("test-needs", f"this test takes two models, not {len(models)}", fix="use t.only(a, b)")
    exact = two_of(plain_value(wanted, _ranked(one, is_positive, weight)) for one in scores)
    places = scores if reads_values(wanted) else midranks(scores)
    value, code = neighbourhoods(places)
    truth = is_positive.astype(np.int64)
    group, count, strata = grouped(np.stack([truth, *code]), subject, weight)
    heavy = np.ones(len(truth)) if weight is None else weight
    size = len(value)
    adds = tuple(unit_sums(group, (one + np.where(is_positive, 0, size),), heavy, 2 * size) for one in code)

    def table(sums: Floats) -> Tally:
        return Ranked(score=value, pos=sums[:, :size], neg=sums[:, size:])

    return Units(
        measure=wanted,
        models=models,
        exact=exact,
        adds=(adds[0], adds[1]),
        count=count,
        disputed=disputed_units(places[0] != places[1], subject),
        strata=strata,
        value=lambda sums: wanted.values(table(sums)),
        method="rows" if subject is None else "subjects",
        sizes=class_sizes(is_positive, subject, weight) if wanted.name == "auroc" else None,
    )


def class_sizes(is_positive: NDArray[np.bool_], subject: Whole | None, weight: Floats | None) -> tuple[float, float]:
    """As how many rows of equal weight the positives and the negatives count, rows of one subject being one (Kish)."""
    sizes = []
    for here in (is_positive, ~is_positive):
        heavy = np.ones(int(here.sum())) if weight is None else weight[here]
        if subject is not None:
            heavy = np.bincount(subject[here], weights=heavy).astype(np.float64)
            heavy = heavy if weight is not None else np.minimum(heavy, 1.0)
        squares = float((heavy * heavy).sum())
        sizes.append(float(heavy.sum()) ** 2 / squares if squares else 0.0)
    return sizes[0], sizes[1]


def grouped(
    keys: Whole, subject: Whole | None, weight: Floats | None, times: Whole | None = None
) -> tuple[Whole, Whole, Whole]:
    """The unit of each row, how many alike there are, and which classes a unit has; only plain rows can be alike."""
    truth, rows = keys[0], keys.shape[1]
    if subject is not None:
        units = int(subject.max()) + 1
        has = np.zeros((units, int(truth.max()) + 1), dtype=bool)
        has[subject, truth] = True
        return subject, np.ones(units, dtype=np.int64), np.unique(has, axis=0, return_inverse=True)[1].ravel()
    if weight is not None:
        return np.arange(rows), np.ones(rows, dtype=np.int64) if times is None else times, truth
    if times is not None:
        return np.arange(rows), times, truth
    distinct_keys, first, count = np.unique(keys, axis=1, return_index=True, return_counts=True)
    group = np.full(rows, -1)  # rows alike are one unit; the first of them stands for all
    group[first] = np.arange(distinct_keys.shape[1])
    return group, count, distinct_keys[0]


def unit_sums(group: Whole, columns: Iterable[Whole], weight: Floats, width: int) -> Any:  # noqa: ANN401  a sparse matrix
    """What each unit adds to which cells of a table; every row to one cell of each column, no two columns to one."""
    from scipy.sparse import csr_array

    shape = (int(group.max()) + 1, width)
    sums = csr_array(shape)
    for column in columns:
        kept = (group >= 0) & (column >= 0)
        sums = sums + csr_array((weight[kept], (group[kept], column[kept])), shape=shape)
    return sums


def _flipped(rng: np.random.Generator, count: Whole, size: int) -> Floats:
    """How many units of each kind are swapped."""
    if count.max(initial=0) <= 1:
        return rng.integers(0, 2, size=(size, len(count)), dtype=np.int8).astype(np.float64)
    return rng.binomial(count, 0.5, size=(size, len(count))).astype(np.float64)


def _drawn(rng: np.random.Generator, count: Whole, size: int) -> Floats:
    """How often each kind of unit comes up in as many draws as there are units."""
    total, kinds = int(count.sum()), len(count)
    if total > SEVERAL * kinds:
        return rng.multinomial(total, count / total, size=size).astype(np.float64)
    at = rng.integers(0, total, size=(size, total))
    if total > kinds:
        at = np.repeat(np.arange(kinds), count)[at]
    at += np.arange(size)[:, np.newaxis] * kinds
    return np.bincount(at.ravel(), minlength=size * kinds).reshape(size, kinds).astype(np.float64)


def midranks(scores: Floats) -> Floats:
    """The ranks of the scores of each model, ties sharing theirs."""
    from scipy.stats import rankdata

    found: Floats = rankdata(scores, axis=1)
    return found


def neighbourhoods(places: Floats, most: int | None = None) -> tuple[Floats, Whole]:
    """Distinct scores of both models in one list, neighbours joined where they are too many; and each row's place."""
    value, code, times = np.unique(places, return_inverse=True, return_counts=True)
    code = code.reshape(places.shape)
    most = NEIGHBOURHOODS if most is None else most
    most = min(most, FEWER[1]) if places.shape[1] > FEWER[0] else most
    if len(value) <= most:
        return value, code
    sums = np.cumsum(times)
    part = np.minimum(((sums - times / 2) * (most / sums[-1])).astype(np.int64), most - 1)
    start = np.flatnonzero(np.diff(part, prepend=-1))
    merged = np.add.reduceat(value * times, start) / np.add.reduceat(times, start)
    return np.maximum.accumulate(merged), (np.searchsorted(start, np.arange(len(value)), side="right") - 1)[code]


def _ranked(score: Floats, is_positive: NDArray[np.bool_], weight: Floats | None) -> Ranked:
    value, code = np.unique(score, return_inverse=True)
    sides = []
    for here in (is_positive, ~is_positive):
        heavy = None if weight is None else weight[here]
        counts = np.bincount(code[here], weights=heavy, minlength=len(value))
        sides.append(cast("Floats", counts))
    return Ranked(score=value, pos=sides[0], neg=sides[1])


def plain_value(measure: Measure, table: Tally) -> float:
    """The value of a measure; NaN where undefined or infinite."""
    raw_value = measure.raw(table)
    if isinstance(raw_value, Undefined):
        return float("nan")
    value = float(np.ravel(raw_value.values)[0])
    return value if np.isfinite(value) else float("nan")


def two_of(values: Iterator[float]) -> tuple[float, float]:
    """Exactly two values."""
    a, b = values
    return a, b


def disputed_units(differ: NDArray[np.bool_], subject: Whole | None, times: Whole | None = None) -> int:
    """How many rows, or subjects with such rows, differ."""
    if subject is not None:
        return len(np.unique(subject[differ]))
    return int(differ.sum() if times is None else times[differ].sum())
