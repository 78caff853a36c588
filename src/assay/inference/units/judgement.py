# SPDX-License-Identifier: Apache-2.0
"""A measure of two models on units whose counts add up, judged by swapping the models' units or drawing units anew.

A unit adds a vector to the table of each model: to hits, truths and calls, or to the positives and negatives at every
score. A swap exchanges the two vectors of a unit, a draw takes units as often as they come up; both are one product
with a sparse matrix. Units alike are one kind, so that both cost what there are kinds, however many rows were counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.text import counted
from assay.core.values import Share, Undefined
from assay.inference.estimates import Interval
from assay.inference.findings import Effect
from assay.inference.intervals.auc import ADDED, area_ends, near_an_end
from assay.inference.intervals.proportion import recovered
from assay.inference.intervals.smooth_functions import Ordered, bca
from assay.inference.resampling import stream
from assay.measures.declare import Measure

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole

HELD: Final = 1 << 20
"""Numbers held at a time: 8 MiB."""
BUDGET: Final = 1 << 24
"""Numbers in the tables of one set of draws; larger tables allow fewer draws, but no fewer than 1,999."""
OF_CELLS: Final = 1 << 27
"""The same for joint cells, of which a draw is one number each."""
FEWEST: Final = 1999
AT_ONCE: Final = 1 << 18
"""Numbers of one block of tables, which then stays in the cache."""
PAIR: Final = 2
SEVERAL: Final = 4
"""Units of a kind, on average, from which drawing by kind is faster than drawing one by one."""
JACKKNIFED: Final = 4000
"""Units up to which each is left out once, which the acceleration of an interval rests on."""
NO_SPREAD: Final = "every draw gives the same difference, so draws cannot tell how sure it is"
STEP: Final = 1e-3
"""Of a sum: a fourth-order difference then errs by 1e-12 at most, and rounding by about as much."""
SAME: Final = 1e-12
"""Differences of values up to this are rounding, not difference."""
ALIKE: Final = "the models answer every row alike"


@dataclass(kw_only=True, eq=False)
class Units:
    """Units that add up to the tables of two models, and can be swapped between them, drawn anew and left out."""

    measure: Measure
    models: tuple[str, ...]
    exact: tuple[float, float]
    """The measure of each model; NaN where undefined."""
    adds: tuple[Any, Any]
    count: Whole
    disputed: int
    strata: Whole
    value: Callable[[Floats], Floats]
    method: str
    class_sizes: tuple[float, float] | None
    pooled: bool
    closed_interval: Callable[[float], Interval] | None

    @property
    def name(self) -> str:
        """What is compared."""
        return f"{self.measure.title}, {self.models[0]} minus {self.models[1]}"

    @property
    def share(self) -> bool:
        """Whether differences are told in points."""
        return self.measure.gives is Share

    @property
    def centre(self) -> float:
        """The difference on the tables that are drawn, whose scores may have been joined."""
        a, b = self._of(self.count[np.newaxis].astype(np.float64))
        return float(a[0] - b[0])

    def affordable(self, draws: int) -> int:
        """As many draws as asked for, fewer where tables are large."""
        size = max(len(self.count), int(self.adds[0].shape[1]))
        return max(min(draws, FEWEST), min(draws, (OF_CELLS if self.pooled else BUDGET) // size))

    def swapped(self, draws: int, seed: int) -> Floats:
        """The difference where whole units are swapped at random; NaN where undefined."""
        first, second, moved, count = *(self.count @ one for one in self.adds), *self._moved()
        if self.pooled:
            moved, count, turned = _pool(moved, count)
            first, second = first + turned, second - turned
        rng = stream(seed, 1)
        parts = []
        for size in self._sizes(draws):
            shift = _flipped(rng, count, size) @ moved
            parts.append(self._values(first + shift) - self._values(second - shift))
        return np.concatenate(parts)

    def _moved(self) -> tuple[Any, Whole]:
        """What a swap of each kind of unit moves from the second model to the first, where it moves anything."""
        moved = (self.adds[1] - self.adds[0]).tocsr()
        moved.eliminate_zeros()
        at = np.flatnonzero(np.diff(moved.indptr))
        return moved[at], self.count[at]

    def resampled(self, draws: int, seed: int, *, stratified: bool) -> Floats:
        """The difference on draws of the units, over all of them or within those of the same classes."""
        a, b = self._redrawn(draws, seed, stratified=stratified)
        return a - b

    def added(self, level: float, draws: int, seed: int, *, stratified: bool) -> Interval | None:
        """Without draws where that is known; of areas near 1 or 0, whose draws hardly vary, their intervals added."""
        if self.closed_interval is not None:
            return self.closed_interval(level)
        if self.class_sizes is None:
            return None
        positives, negatives = self.class_sizes
        if not any(near_an_end(area, min(positives, negatives)) for area in self.exact):
            return None
        every = np.stack(self._redrawn(draws, seed, stratified=stratified))
        drawn = every[:, ~np.isnan(every).any(axis=0)]
        if drawn.shape[1] < PAIR:
            return None
        lost, spread = draws - drawn.shape[1], np.cov(drawn)
        first, second = (
            area_ends(area, float(spread[i, i]), positives, negatives, level)[:2] for i, area in enumerate(self.exact)
        )
        both = float(spread[0, 0] * spread[1, 1])
        shared = min(max(float(spread[0, 1]) / math.sqrt(both), -1.0), 1.0) if both > 0 else 0.0
        shared = shared if np.ptp(drawn[0] - drawn[1]) else 0.0  # no draw parts them: it cannot be told
        low, high = recovered(self.exact[0], first, self.exact[1], second, shared)
        notes = (f"{counted(lost, 'draw')} of {draws:,} held no row of a class and were left out",) if lost else ()
        method = f"{ADDED}, spread of {self.method} drawn"
        return Interval(
            low=max(low, -1.0), high=min(high, 1.0), level=level, method=method, draws=draws, seed=seed, notes=notes
        )

    def _redrawn(self, draws: int, seed: int, *, stratified: bool) -> tuple[Floats, Floats]:
        """The values of both models on draws of the units."""
        strata = self.strata if stratified else np.zeros(len(self.count), dtype=np.int64)
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
        return a - b

    def linearised(self) -> tuple[float, float]:
        """The standard error of the difference to first order, and as how many equal units it rests on."""
        return linearised(self.count, self.adds, self._values)

    def effect(self, level: float, draws: int, seed: int, *, stratified: bool) -> tuple[Effect, float]:
        """The difference with its interval, and its standard error."""
        a, b = self.exact
        if math.isnan(a - b):
            return Effect(name=self.name, value=Undefined(reason="a value is undefined")), 0.0
        if not self.disputed:
            return Effect(name=self.name, value=0.0, no_interval=ALIKE, share=self.share), 0.0
        draws = self.affordable(draws)
        values = self.resampled(draws, seed, stratified=stratified)
        lost = int(np.isnan(values).sum())
        near = self.added(level, draws, seed, stratified=stratified)
        as_effect = partial(Effect.of, self.name, a - b, share=self.share)
        if near is not None:
            return as_effect(near), float(np.nanstd(values))
        if lost:
            reason = f"{counted(lost, 'draw')} of {draws:,} left the measure undefined"
            hint = "" if stratified else "; stratified=True keeps the number of rows of each class"
            good = values[~np.isnan(values)]
            spread = float(good.std()) if len(good) > 1 else 0.0
            return as_effect(reason + hint), spread
        spread = float(values.std())
        if spread <= SAME:
            return as_effect(NO_SPREAD), 0.0
        centre = self.centre
        low, high = (end + (a - b - centre) for end in self.bca(centre, values, level))
        method = f"bca of {self.method}" if self.jackknifed else f"bias-corrected draws of {self.method}"
        return as_effect(Interval(low=low, high=high, level=level, method=method, draws=draws, seed=seed)), spread

    def bca(self, gap: float, values: Floats, level: float) -> tuple[float, float]:
        """Efron's interval; a jackknife that leaves out one row has only as many values as there are cells."""
        low, high = bca(np.array([gap]), Ordered(values, level), *self._pulls(), level, SAME)
        return float(low[0]), float(high[0])

    @property
    def jackknifed(self) -> bool:
        """Whether the units are few enough to leave each out once."""
        return len(self.count) <= JACKKNIFED

    def _pulls(self) -> tuple[Floats, Floats]:
        """How far a unit of each kind pulls the difference, and how many there are; nothing where they are too many."""
        if not self.jackknifed:
            return np.zeros(1), np.zeros(1)
        weight, step = self.count.astype(np.float64), max(1, HELD // max(len(self.count), 1))
        parts = range(0, len(weight), step)
        without = np.concatenate([self.without(i, min(i + step, len(weight))) for i in parts])
        kept = ~np.isnan(without)
        weight, without = weight[kept], without[kept]
        return (np.average(without, weights=weight) if len(weight) else 0.0) - without, weight

    def _of(self, counts: Floats) -> tuple[Floats, Floats]:
        first, second = self.adds
        return self._values(counts @ first), self._values(counts @ second)

    def _values(self, sums: Floats) -> Floats:
        found = self.value(sums)
        return np.where(np.isfinite(found), found, np.nan)

    def _sizes(self, draws: int) -> Iterator[int]:
        step = max(1, AT_ONCE // max(len(self.count), self.adds[0].shape[1]))
        for start in range(0, draws, step):
            yield min(step, draws - start)


def linearised(count: Whole, adds: tuple[Any, Any], values: Callable[[Floats], Floats]) -> tuple[float, float]:
    """The standard error of a difference to first order, and as how many equal units it rests on (Kish).

    A unit moves the difference by the slopes of the measure times what it adds (Binder 1983; of subjects the robust
    variance of Liang and Zeger 1986). `adds` is what each unit adds to the sums of each model.
    """
    moves, times = np.zeros(len(count)), count.astype(np.float64)
    for sign, own in zip((1.0, -1.0), adds, strict=True):
        moves += sign * (own @ _slopes(np.asarray(count @ own, dtype=np.float64), values))
    n = float(times.sum())
    spread = float(times @ moves**2) - float(times @ moves) ** 2 / n
    disputed = np.where(abs(adds[0] - adds[1]).sum(axis=1) > 0, times, 0.0)
    rests = []
    for some in (times, disputed):
        squares = float(some @ moves**2)
        rests.append(float(some @ np.abs(moves)) ** 2 / squares if squares > 0 else 0.0)
    rests_on = round(min(rests), 6)  # slopes are right to about ten digits: 99 units must not be 98.9999999999
    return math.sqrt(max(spread, 0.0) * n / (n - 1)) if n > 1 else 0.0, rests_on


def _slopes(whole: Floats, values: Callable[[Floats], Floats]) -> Floats:
    """How fast a measure moves with each of its sums, by central differences of fourth order; sums of 0 stay."""
    at, slopes = np.flatnonzero(whole), np.zeros(len(whole))
    size = max(1, HELD // len(whole))
    for some in (at[start : start + size] for start in range(0, len(at), size)):
        step, moved = STEP * whole[some], np.zeros((len(some), len(whole)))
        moved[np.arange(len(some)), some] = step
        ahead, behind, far, back = (values(whole + by * moved) for by in (1.0, -1.0, 2.0, -2.0))
        slopes[some] = (8 * (ahead - behind) - (far - back)) / (12 * step)
    return slopes


def _pool(moved: Any, count: Whole) -> tuple[Any, Whole, Floats]:  # noqa: ANN401  a sparse matrix
    """Units that a swap moves alike, whichever way, as one kind; and what turning some around adds to the first."""
    moved.sort_indices()
    width = np.diff(moved.indptr)
    falls = moved.data[moved.indptr[:-1]] < 0
    sign = np.where(falls, 1.0, -1.0)
    keys = np.zeros((len(count), 1 + 2 * int(width.max(initial=0))))
    keys[:, 0] = width
    row = np.repeat(np.arange(len(count)), width)
    place = np.arange(moved.nnz) - moved.indptr[row]
    keys[row, 1 + place], keys[row, 1 + place + keys.shape[1] // 2] = moved.indices, moved.data * sign[row]
    _, at, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    turned = np.where(falls, 0, count) @ moved
    sums = np.bincount(kind.ravel(), weights=count, minlength=len(at)).astype(np.int64)
    return moved[at].multiply(sign[at][:, np.newaxis]).tocsr(), sums, turned


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
