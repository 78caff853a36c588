# SPDX-License-Identifier: Apache-2.0
"""A measure of two models, judged by swapping their answers or drawing the units anew; what all such ways share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.text import counted
from assay.core.values import Share, Undefined
from assay.inference.estimates import Interval
from assay.inference.findings import Effect
from assay.inference.intervals.proportion import normal_quantile
from assay.measures.declare import Measure

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole

HELD: Final = 1 << 20
"""Random numbers held at a time: 8 MiB."""
MOST: Final = 1 << 27
"""Random numbers for one set of draws; more units than that allow fewer draws, but no fewer than 999."""
FEWEST: Final = 999
JACKKNIFED: Final = 4000
"""Units up to which each is left out once, which the acceleration of an interval rests on."""
NO_SPREAD: Final = "every draw gives the same difference, so draws cannot tell how sure it is"
STEP: Final = 1e-3
"""Of a sum: a fourth-order difference then errs by 1e-12 at most, and rounding by about as much."""
SAME: Final = 1e-12
"""Differences of values up to this are rounding, not difference."""


class Judged(ABC):
    """A measure of two models on units that can be swapped between them, drawn anew, and left out."""

    measure: Measure
    models: tuple[str, ...]
    count: Whole
    """How many units of each kind there are; equal ones are one kind."""
    disputed: int
    """Units the two models do not answer alike."""
    method: str
    """What is drawn, as the name of an interval says it."""
    alike: str
    """What is said where no unit is disputed."""

    @property
    def name(self) -> str:
        """What is compared."""
        return f"{self.measure.title}, {self.models[0]} minus {self.models[1]}"

    @property
    def share(self) -> bool:
        """Whether differences are told in points."""
        return self.measure.gives is Share

    @abstractmethod
    def values(self) -> tuple[float, float]:
        """The measure of each model; NaN where undefined."""

    @abstractmethod
    def swapped(self, draws: int, seed: int) -> Floats:
        """The difference where answers are swapped unit by unit at random; NaN where undefined."""

    @abstractmethod
    def resampled(self, draws: int, seed: int, *, stratified: bool) -> Floats:
        """The difference on draws of the units; NaN where undefined."""

    @abstractmethod
    def without(self, start: int, stop: int) -> Floats:
        """The difference where one unit of each of some kinds is left out."""

    @property
    def centre(self) -> float:
        """The difference that draws vary around."""
        a, b = self.values()
        return a - b

    def affordable(self, draws: int) -> int:
        """As many draws as asked for, fewer where cells are very many."""
        return max(min(draws, FEWEST), min(draws, MOST // max(len(self.count), 1)))

    def added(self, level: float, draws: int, seed: int, *, stratified: bool) -> Interval | None:  # noqa: ARG002
        """The interval from those of both values, where draws cannot tell how sure one of them is; else None."""
        return None

    def effect(self, level: float, draws: int, seed: int, *, stratified: bool) -> tuple[Effect, float]:
        """The difference with its interval, and its standard error."""
        a, b = self.values()
        if math.isnan(a - b):
            return Effect(name=self.name, value=Undefined(reason="a value is undefined")), 0.0
        if not self.disputed:
            return Effect(name=self.name, value=0.0, no_interval=self.alike, share=self.share), 0.0
        draws = self.affordable(draws)
        values = self.resampled(draws, seed, stratified=stratified)
        lost = int(np.isnan(values).sum())
        near = self.added(level, draws, seed, stratified=stratified)
        if near is not None:
            return Effect(name=self.name, value=a - b, interval=near, share=self.share), float(np.nanstd(values))
        if lost:
            reason = f"{counted(lost, 'draw')} of {draws:,} left the measure undefined"
            hint = "" if stratified else "; stratified=True keeps the number of rows of each class"
            good = values[~np.isnan(values)]
            spread = float(good.std()) if len(good) > 1 else 0.0
            return Effect(name=self.name, value=a - b, no_interval=reason + hint, share=self.share), spread
        spread = float(values.std())
        if spread <= SAME:
            return Effect(name=self.name, value=a - b, no_interval=NO_SPREAD, share=self.share), 0.0
        centre = self.centre
        low, high = (end + (a - b - centre) for end in self.bca(centre, np.sort(values), level))
        method = f"bca of {self.method}" if self.jackknifed else f"bias-corrected draws of {self.method}"
        interval = Interval(low=low, high=high, level=level, method=method, draws=draws, seed=seed)
        return Effect(name=self.name, value=a - b, interval=interval, share=self.share), spread

    def bca(self, gap: float, values: Floats, level: float) -> tuple[float, float]:
        """Efron's interval; a jackknife that leaves out one row has only as many values as there are cells."""
        from scipy.special import ndtr, ndtri

        below = (np.searchsorted(values, gap - SAME) + np.searchsorted(values, gap + SAME)) / 2 / len(values)
        edge = 0.5 / len(values)
        bias, skew = float(ndtri(min(max(below, edge), 1 - edge))), self._skew()
        ends = []
        for tail in ((1 - level) / 2, (1 + level) / 2):
            shifted = bias + normal_quantile(tail)
            at = float(ndtr(bias + shifted / (1 - skew * shifted))) if 1 - skew * shifted > 0 else float(shifted > 0)
            ends.append(float(np.quantile(values, min(max(at, edge), 1 - edge))))
        return ends[0], ends[1]

    @property
    def jackknifed(self) -> bool:
        """Whether the units are few enough to leave each out once."""
        return len(self.count) <= JACKKNIFED

    def _skew(self) -> float:
        if not self.jackknifed:
            return 0.0
        weight, step = self.count.astype(np.float64), max(1, HELD // max(len(self.count), 1))
        parts = range(0, len(weight), step)
        without = np.concatenate([self.without(i, min(i + step, len(weight))) for i in parts])
        kept = ~np.isnan(without)
        if not kept.any():
            return 0.0
        pull = np.average(without[kept], weights=weight[kept]) - without[kept]
        cube, square = float((weight[kept] * pull**3).sum()), float((weight[kept] * pull**2).sum())
        return cube / (6 * square**1.5) if square > 0 else 0.0


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
    return math.sqrt(max(spread, 0.0) * n / (n - 1)) if n > 1 else 0.0, min(rests)


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
