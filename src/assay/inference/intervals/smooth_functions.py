# SPDX-License-Identifier: Apache-2.0
"""Intervals for smooth functions of cells, from draws of the cells or from how each cell moves the value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.values import floats
from assay.inference.intervals.proportion import normal_quantile
from assay.tally.labels.one_vs_rest import Binary, Multiclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.core.arrays import Floats
    from assay.core.labels import Label
    from assay.core.values import Amount
    from assay.inference.resampling import Spare
    from assay.measures.declare import Measure
    from assay.tally.labels.confusion import Confusion

    Ends: TypeAlias = tuple[Floats, Floats]

POLE: Final = 1e-300
"""What the acceleration leaves of a step is at least this: a step over it is then far beyond all draws."""
NUDGE: Final = 1e-6
"""Share of the rows added to a cell to see how the value moves; small against curvature, large against rounding."""
ROUNDING: Final = 16 * float(np.finfo(np.float64).eps)
"""Differences of values up to this are rounding, not movement."""
LARGEST_STRETCH: Final = 1.5
"""That of classes with two rows; with one row the spread of a class cannot be seen at all."""
NONE: Final = np.zeros(1, dtype=np.intp)
HELD: Final = 1 << 18
"""Numbers of a stack of nudged margins held at a time: 2 MiB."""
CHORD: Final = 1.2
"""How much steeper a quantile function is at p than from p/3 to 3p: 1.19 for a normal, 1.21 for an exponential tail."""


class Ordered:
    """Values of a measure on draws in order, undefined ones last, axes (table, draw), and what they say at a level."""

    def __init__(self, values: Floats, level: float) -> None:
        self.values = np.sort(np.atleast_2d(values), axis=-1)
        self.draws = values.shape[-1]
        # Only the last value need be looked at to know that all are defined.
        self.undefined = np.isnan(self.values).sum(axis=-1) if np.isnan(self.values[:, -1]).any() else NONE
        tail = (1 - level) / 2
        near, far = tail / 3, min(3 * tail, 0.5)
        shares = np.array([[near], [tail], [far], [0.5], [1 - far], [1 - tail], [1 - near]])
        _, self.low, _, _, _, self.high, _ = found = self.at(shares)
        self.error = _error(found, CHORD * math.sqrt(tail * (1 - tail) / self.draws) / (far - near))

    def at(self, share: Floats) -> Floats:
        """The quantile at a share of the defined values of each table, between neighbours in proportion."""
        place = share * np.maximum(self.draws - self.undefined - 1, 0)
        below = place.astype(np.intp)
        table = np.arange(len(self.values))
        low, high = self.values[table, below], self.values[table, np.minimum(below + 1, self.draws - 1)]
        part = place - below
        with np.errstate(invalid="ignore"):  # infinity minus infinity, where both neighbours are infinite
            return cast("Floats", np.where((part == 0) | (low == high), low, low + part * (high - low)))

    def mean(self) -> Floats:
        """The mean of the defined values of each table."""
        return cast("Floats", np.nansum(self.values, axis=-1) / (self.draws - self.undefined))


def _error(found: Floats, scale: float) -> Floats:
    """The Monte Carlo standard error of the worse bound as a share of the width; an infinite bound has none."""
    near, low, far, middle, far_above, high, near_above = found
    with np.errstate(invalid="ignore", divide="ignore"):
        below = np.where(np.isfinite(low), far - near, 0.0)
        above = np.where(np.isfinite(high), near_above - far_above, 0.0)
        width = np.where(np.isfinite(high), high - low, 2 * (middle - low))
        error = scale * np.maximum(below, above) / width
    return np.where(np.isfinite(middle) & (width > 0), error, 0.0)


def corrected(draws: Ordered, centre: float, stretch: float) -> Ends:
    """The middle of the draws, freed from bias and widened for small classes.

    The draws vary around `centre` with the bias that the estimate has too, so it is taken off twice. In a class of m
    rows they vary (m - 1)/(m + 1) as much as the estimate does; `stretch` is 1 + 1/m, as the measure itself feels it.
    """
    mean, needed = draws.mean(), stretch / (2 - stretch)
    wider = math.sqrt(needed)
    middle = centre - needed * (mean - centre) - wider * mean
    return middle + wider * draws.low, middle + wider * draws.high


def bca(  # noqa: PLR0917  a value, its draws and how cells move it
    value: Floats, draws: Ordered, influence: Floats, count: Floats, level: float, slack: float | None = None
) -> Ends:
    """Bias-corrected and accelerated interval (Efron 1987) from draws and the influence of each cell.

    Draws within `slack` of the value count as equal to it; where none is stated, those that differ by rounding.
    """
    from scipy.special import ndtri

    seen = draws.draws - draws.undefined
    # Draws of the same table give the same value up to rounding, which must not decide on which side they count.
    same = np.where(np.isfinite(value), ROUNDING * np.abs(value), 0.0) if slack is None else slack
    less = (draws.values < (value - same)[..., np.newaxis]).sum(axis=-1)
    below = (less + (draws.values <= (value + same)[..., np.newaxis]).sum(axis=-1)) / 2 / seen
    edge = 0.5 / seen
    bias = ndtri(np.clip(below, edge, 1 - edge))
    spread, skew = (count * influence**2).sum(axis=-1), (count * influence**3).sum(axis=-1)
    acceleration = np.where(spread > 0, skew / (6 * np.where(spread > 0, spread, 1.0) ** 1.5), 0.0)
    low, high = (accelerated_share(bias, acceleration, tail) for tail in ((1 - level) / 2, (1 + level) / 2))
    return draws.at(np.clip(low, edge, 1 - edge)), draws.at(np.clip(high, edge, 1 - edge))


def accelerated_share(bias: Floats, acceleration: Floats, tail: float) -> Floats:
    """The share of the draws below an end of Efron's interval; beyond the pole of the acceleration none or all.

    >>> round(float(accelerated_share(np.zeros(1), np.zeros(1), 0.025)[0]), 12)
    0.025
    """
    from scipy.special import ndtr

    shifted = bias + normal_quantile(tail)
    return cast("Floats", ndtr(bias + shifted / np.maximum(1 - acceleration * shifted, POLE)))


def delta(value: Floats, influence: Floats, count: Floats, level: float) -> Ends:
    """The value plus and minus normal quantiles of its first-order standard error."""
    reach = normal_quantile((1 + level) / 2) * np.sqrt((count * influence**2).sum(axis=-1))
    return value - reach, value + reach


def two_classes(table: Binary, labels: tuple[Label, ...], positive: int) -> Multiclass:
    """Four-cell tables as margins of two classes, in the order of the labels."""
    order = (0, 1) if positive == 0 else (1, 0)
    pairs = ((table.tp, table.tn), (table.actual, table.actual_negative), (table.called, table.called_negative))
    # The last axis has two entries; sums over it are fast where each of them lies together in memory.
    hits, actual, called = (np.moveaxis(np.stack([pair[i] for i in order]), 0, -1) for pair in pairs)
    return Multiclass(hits=hits, actual=actual, called=called, labels=labels)


def table_influence(evaluate: Callable[[Binary], Floats], counts: Floats) -> Floats:
    """How the value of each four-cell table moves when a row is added to each occupied cell, centred."""
    total = counts.sum(axis=-1, keepdims=True)
    step = NUDGE * total
    moved = counts[:, np.newaxis, :] + step[..., np.newaxis] * np.eye(4)
    every = np.concatenate([counts[:, np.newaxis, :], moved], axis=1)
    values = evaluate(Binary(tp=every[..., 0], fp=every[..., 1], fn=every[..., 2], tn=every[..., 3]))
    gaps = values[:, 1:] - values[:, :1]
    found = np.where((counts > 0) & ~(np.abs(gaps) <= ROUNDING), gaps / step, 0.0)
    return cast("Floats", found - (counts * found).sum(axis=-1, keepdims=True) / total)


def with_part(drawn: Multiclass, centre: Multiclass, part: float = 0.0) -> Multiclass:
    """The same draws as if true and called shares differed by a part of what they do.

    Without any of it, what is left is how far chance alone drives them apart. A share that would fall below zero is
    zero.
    """
    shift = (1 - part) * (centre.actual - centre.called) / (2 * centre.actual.sum(axis=-1, keepdims=True))
    shift = shift * drawn.actual.sum(axis=-1, keepdims=True)
    actual, called = np.maximum(drawn.actual - shift, 0.0), np.maximum(drawn.called + shift, 0.0)
    return Multiclass(hits=drawn.hits, actual=actual, called=called, labels=drawn.labels)


class Influence:
    """How the value of a measure moves when rows are added to a cell of a K-class tally.

    The value depends on margins only, so a row outside the diagonal moves it as a row of its class and a call of its
    class do together, up to what they do jointly; 3K tables serve all K x K cells.
    """

    def __init__(self, confusion: Confusion, spare: Spare | None = None) -> None:
        self._rows, self._columns, self._k = confusion.truth, confusion.predicted, confusion.k
        self._labels, self._spare = confusion.labels, spare
        self._held: dict[float, Multiclass] = {}
        self.count = floats(cast("Amount", confusion.count))
        if spare is None:
            exact = confusion.multiclass()
            self._margins = floats(exact.hits), floats(exact.actual), floats(exact.called)
        else:
            self._margins = spare.mean()

    @cached_property
    def table(self) -> Multiclass:
        """The table the nudges start from, as a stack of one."""
        hits, actual, called = (margin[np.newaxis] for margin in self._margins)
        return Multiclass(hits=hits, actual=actual, called=called, labels=self._labels)

    def centre(self, measure: Measure) -> float:
        """The value of that table."""
        return float(measure.values(self.table)[0])

    def of(self, measure: Measure) -> Floats:
        """The influence of one row in each occupied cell, centred."""
        found = self._of_cells(*self._slopes(measure, NUDGE * float(self.count.sum())))
        return cast("Floats", found - (self.count * found).sum() / self.count.sum())

    def stretch(self, measure: Measure) -> float:
        """1 + 1/m, where m is the number of rows that classes have, as the measure weighs them.

        A share of m rows moves 1 + 1/m times as much for next to no row as for one row.
        """
        little, unit_spread = (self._spread(measure, step) for step in (NUDGE * float(self.count.sum()), 1.0))
        if not (0 < little < math.inf and unit_spread > 0):
            return 1.0
        return min(max(math.sqrt(little / unit_spread), 1.0), LARGEST_STRETCH)

    def _spread(self, measure: Measure, step: float) -> float:
        """The sum of the squared influences of all rows, the spare ones among them, seen by adding so many rows."""
        slopes = self._slopes(measure, step)
        influences = self._of_cells(*slopes)
        more, total, square = (0.0, 0.0, 0.0) if self._spare is None else self._spare.moments(*slopes)
        total += float((self.count * influences).sum())
        square += float((self.count * influences**2).sum())
        return square - total**2 / (float(self.count.sum()) + more)

    def _slopes(self, measure: Measure, step: float) -> tuple[Floats, Floats, Floats]:
        """What so many rows in the hits, the truth or the calls of each class do to the value, per row."""
        centre, k = self.centre(measure), self._k
        with np.errstate(invalid="ignore"):  # an infinite value has no slope; whoever asks finds NaN
            moved = np.concatenate([measure.values(part) for part in self._nudged(step)])
            gaps = moved - centre
            slopes = np.where(np.abs(gaps) <= ROUNDING, 0.0, gaps) / step
        # A row is seen beside calls of all classes and a call beside rows of all, so both together once too often.
        return slopes[:k], slopes[k : 2 * k], slopes[2 * k : 3 * k] - slopes[3 * k]

    def _nudged(self, step: float) -> Iterable[Multiclass]:
        """The tables with rows added, some at a time; kept for the next measure where they are few."""
        most = max(1, HELD // self._k)
        if 3 * self._k >= most:
            return (self._part(step, start, start + most) for start in range(0, 3 * self._k + 1, most))
        if step not in self._held:
            self._held[step] = self._part(step, 0, most)
        return [self._held[step]]

    def _part(self, step: float, start: int, stop: int) -> Multiclass:
        """Tables with a right row, then a row, then a call in each class, and one in none; all have the same total."""
        hits, actual, called = self._margins
        which = np.arange(start, min(stop, 3 * self._k + 1))
        right, row, call = (which[:, np.newaxis] // self._k == kind for kind in range(3))
        increments = np.zeros((len(which), self._k))
        increments[np.arange(len(which)), which % self._k] = step
        rows, calls = (
            margin + np.where(here, increments, step * margin / margin.sum())
            for margin, here in ((actual, right | row), (called, right | call))
        )
        return Multiclass(hits=hits + np.where(right, increments, 0.0), actual=rows, called=calls, labels=self._labels)

    def _of_cells(self, on: Floats, row: Floats, column: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return np.where(self._rows == self._columns, on[self._rows], row[self._rows] + column[self._columns])
