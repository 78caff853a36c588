# SPDX-License-Identifier: Apache-2.0
"""Intervals of values that are not shares, from the four cells of one class or from the cells of all classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.traits import HIGHER, NEITHER
from assay.core.values import Number, Share, Value
from assay.inference.estimates import MOST_LEVELS, Interval
from assay.inference.intervals.proportion import fitting, koopman, of_shares
from assay.inference.intervals.smooth_functions import (
    ROUNDING,
    Influence,
    Ordered,
    bca,
    corrected,
    delta,
    table_influence,
    two_classes,
    with_part,
)
from assay.inference.resampling import JEFFREYS, STAGES, CellDraws, Kind, TableDraws
from assay.tally.labels.one_vs_rest import Binary, Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.core.labels import Label
    from assay.inference.intervals.interval_choice import Found, Wanted
    from assay.measures.declare import Measure
    from assay.tally.labels.confusion import Confusion

    Places: TypeAlias = NDArray[np.intp]
    Ends: TypeAlias = tuple[Floats, Floats]

STEADY: Final = 0.02
"""More draws are taken while the Monte Carlo error of a bound is above this share of the width."""
ALLOWED: Final = 0.05
"""Share of draws that may be undefined; above it there is no interval."""
TOGETHER: Final = 128
"""Four-cell tables whose draws are evaluated at a time."""
NEARING: Final = 3
"""Steps towards the part of a distance that chance still explains; what it drives apart is almost linear in it."""
RESAMPLED: Final = ("bca", "percentile")
WEIGHTED: Final = "weighted dirichlet on cells"
COUNTED: Final = ("auto", "dirichlet")
RATIO: Final = "likelihood_ratio_positive"
"""The one ratio that draws cover too rarely: 92 % with three false positives in 200 rows, Koopman's score 96 %."""


def is_closed(measure: Measure, wanted: Wanted) -> bool:
    """Whether the default interval of a measure needs no draws."""
    return wanted.cells == "auto" and (_is_f1(measure) or measure.name == RATIO)


class Tables:
    """Intervals for a stack of four-cell tables: one for two classes, one per class for more."""

    def __init__(
        self, table: Binary, wanted: Wanted, labels: tuple[Label, ...], positive: int, beside: int = 1
    ) -> None:
        self._wanted, self._labels, self._positive, self.table = wanted, labels, positive, table
        self._most = STAGES[-1] if beside <= MOST_LEVELS else STAGES[0]
        self._held: dict[int, tuple[Places, Multiclass]] = {}
        self._chance: tuple[Places, Multiclass] | None = None

    @cached_property
    def two_classes(self) -> Multiclass:
        """The tables as margins of two classes."""
        return self._two(self.table)

    def intervals(self, measure: Measure, results: Sequence[Number], tables: Places) -> list[Found]:
        """The intervals of the values of some of the tables."""
        values = np.array([result.value for result in results])
        if is_closed(measure, self._wanted):
            find = self._f1 if _is_f1(measure) else self._ratio
            return find(measure, values, tables)
        parts = [slice(start, start + TOGETHER) for start in range(0, len(tables), TOGETHER)]
        find = self._delta if self._wanted.cells == "delta" else self._drawn
        return [found for part in parts for found in find(measure, values[part], tables[part])]

    def _f1(self, measure: Measure, values: Floats, tables: Places) -> list[Found]:
        """F1 is 2J / (1 + J), and the Jaccard index J is a share of the rows that are or were called positive."""
        tp, fp, fn, _ = self._counts[tables].T
        of, method = tp + fp + fn, self._wanted.shares
        low, high = of_shares(tp, of, self._wanted.level, method)
        names = [f"{fitting(method, rows)} of jaccard" for rows in of.tolist()]
        return self._built(measure, values, (2 * low / (1 + low), 2 * high / (1 + high)), names)

    def _ratio(self, measure: Measure, values: Floats, tables: Places) -> list[Found]:
        tp, fp, fn, tn = self._counts[tables].T
        ends = koopman(tp, tp + fn, fp, fp + tn, self._wanted.level)
        return self._built(measure, values, ends, ["koopman score"] * len(values))

    def _delta(self, measure: Measure, values: Floats, tables: Places) -> list[Found]:
        counts = self._counts[tables]
        with np.errstate(invalid="ignore"):  # an infinite value has no slope; it gets a reason
            ends = delta(values, table_influence(self._at(measure), counts), counts, self._wanted.level)
        return self._built(measure, values, ends, ["delta on 4 cells"] * len(values))

    def _built(self, measure: Measure, values: Floats, ends: Ends, names: Iterable[str]) -> list[Found]:
        rows = zip(values.tolist(), *(end.tolist() for end in ends), names, strict=True)
        return [built(self._wanted, measure, value, (low, high), name) for value, low, high, name in rows]

    def _drawn(self, measure: Measure, values: Floats, tables: Places) -> list[Found]:
        intervals: dict[int, Found] = {}
        left = np.arange(len(tables))
        for size in self._draws.stages(self._wanted.draws):
            ordered = Ordered(self._values(measure, size, tables[left]), self._wanted.level)
            ends = self._ends(measure, values[left], tables[left], ordered)
            found = from_draws(self._wanted, measure, values[left], ordered, ends, self._name)
            intervals |= dict(zip(left.tolist(), found, strict=True))
            left = left[ordered.error > STEADY]
            if not len(left):
                break
        return [intervals[i] for i in range(len(tables))]

    @property
    def _name(self) -> str:
        return f"{self._wanted.cells if self._wanted.cells in RESAMPLED else 'dirichlet-jeffreys'} on 4 cells"

    def _ends(self, measure: Measure, values: Floats, tables: Places, ordered: Ordered) -> Ends:
        if self._wanted.cells == "bca":
            counts = self._counts[tables]
            with np.errstate(invalid="ignore"):  # an infinite value has no slope; it keeps the plain percentiles
                influence = np.nan_to_num(table_influence(self._at(measure), counts), posinf=0.0, neginf=0.0)
            ends = bca(values, ordered, influence, counts, self._wanted.level)
            plain = np.isinf(values)
            return np.where(plain, ordered.low, ends[0]), np.where(plain, ordered.high, ends[1])
        if self._wanted.cells == "percentile" or not _is_distance(measure):
            return ordered.low, ordered.high
        chance = measure.values(self._by_chance(tables))
        return _to_best(measure, values, (ordered.low, ordered.high), chance, self._wanted.level)

    def _values(self, measure: Measure, size: int, tables: Places) -> Floats:
        drawn = self._draws.of(size, tables) if measure.takes is Binary else self._two_drawn(size, tables)
        return measure.values(drawn)

    def _at(self, measure: Measure) -> Callable[[Binary], Floats]:
        return measure.values if measure.takes is Binary else lambda table: measure.values(self._two(table))

    def _two(self, table: Binary) -> Multiclass:
        return two_classes(table, self._labels, self._positive)

    def _two_drawn(self, size: int, tables: Places) -> Multiclass:
        """The draws as margins of two classes, kept for the next measure, which mostly asks for the same ones."""
        if (held := self._held.get(size)) is None or not np.array_equal(held[0], tables):
            held = self._held[size] = tables, self._two(self._draws.of(size, tables))
        return held[1]

    def _by_chance(self, tables: Places) -> Multiclass:
        """The draws as if true and called shares were equal, kept for the next distance."""
        if self._chance is None or not np.array_equal(self._chance[0], tables):
            tp, fp, fn, tn = (self._counts[tables] + JEFFREYS).T[..., np.newaxis]
            centre = self._two(Binary(tp=tp, fp=fp, fn=fn, tn=tn))
            self._chance = tables, with_part(self._two_drawn(self._wanted.draws, tables), centre)
        return self._chance[1]

    @cached_property
    def _counts(self) -> Floats:
        return self._draws.counts

    @cached_property
    def _draws(self) -> TableDraws:
        kind: Kind = "multinomial" if self._wanted.cells in RESAMPLED else "dirichlet"
        return TableDraws(self.table, kind, self._wanted.seed, most=self._most)


class Classes:
    """Intervals for the values of three classes and more."""

    def __init__(self, confusion: Confusion, wanted: Wanted) -> None:
        self._confusion, self._wanted = confusion, wanted
        self._held: dict[bool, tuple[CellDraws, Influence]] = {}

    def interval(self, measure: Measure, result: Number) -> Found:
        """The interval of one value."""
        value, level, method = result.value, self._wanted.level, self._wanted.cells
        if method == "delta":
            first, last = delta(np.array(value), self._influence.of(measure), self._influence.count, level)
            return built(self._wanted, measure, value, (float(first), float(last)), "delta on cells")
        draws, spared = self._drawn(measure, result)
        for size in draws.stages(self._wanted.draws):
            ordered = Ordered(draws.values(measure, size), level)
            if ordered.error[0] <= STEADY:
                break
        name, ends = self._ends(measure, value, ordered, spared)
        notes = _vanished(measure, draws, ordered.draws) if method in RESAMPLED else ()
        if method not in RESAMPLED and _is_distance(measure):
            # The bias of a distance fades as the distance grows, so its far end is not moved towards the best one.
            far = np.minimum(ordered.low, ends[0]), np.maximum(ordered.high, ends[1])
            blocks = draws.blocks(self._wanted.draws)
            near = _near(measure, value, blocks, spared.table, level)
            ends = (far[0], near) if measure.better is HIGHER else (near, far[1])
        return from_draws(self._wanted, measure, np.array([value]), ordered, ends, name, notes)[0]

    def _ends(self, measure: Measure, value: float, ordered: Ordered, spared: Influence) -> tuple[str, Ends]:
        method, finite = self._wanted.cells, math.isfinite(value) and math.isfinite(ordered.at(np.ones(1))[0])
        if method == "bca" and finite:
            influence = self._influence
            ends = bca(np.array([value]), ordered, influence.of(measure), influence.count, self._wanted.level)
            return "bca on cells", ends
        # The bias of a ratio is not a guide, for its mean need not exist; its draws follow what it is made of.
        if method == "auto" and finite and measure.family != "ratios":
            ends = corrected(ordered, spared.centre(measure), spared.stretch(measure))
            return "corrected dirichlet on cells", ends
        return f"{'dirichlet' if method == 'auto' else method} on cells", (ordered.low, ordered.high)

    def _drawn(self, measure: Measure, result: Number) -> tuple[CellDraws, Influence]:
        """The draws that fit a value, with the table they vary around; mostly the same for all measures."""
        # An average with a note has a class without a value, which would jump if a draw gave it one.
        strict = measure.average is not None and result.note is not None and self._one_sided
        if strict not in self._held:
            kind: Kind = "multinomial" if self._wanted.cells in RESAMPLED else "dirichlet"
            draws = CellDraws(self._confusion, kind, self._wanted.seed, strict=strict)
            self._held[strict] = draws, Influence(self._confusion, draws.spare)
        return self._held[strict]

    @cached_property
    def _one_sided(self) -> bool:
        """Whether some class is true but never called, or called but never true."""
        return set(self._confusion.truth.tolist()) != set(self._confusion.predicted.tolist())

    @cached_property
    def _influence(self) -> Influence:
        return Influence(self._confusion)


class Weighted:
    """Intervals for the values of one weighted confusion tally, from how much each cell weighs and squares of weights.

    Every row is given a random weight beside its own, as in a Bayesian bootstrap over rows (Rubin 1981); a cell's share
    in that is drawn at once from its two sums. Multiplying all weights by a number changes nothing.
    """

    def __init__(self, confusion: Confusion, wanted: Wanted, *, positive: int | None) -> None:
        self._wanted = wanted
        self._positive = confusion.k - 1 if positive is None else positive
        self._draws = CellDraws(confusion, "dirichlet", wanted.seed)

    def overall(self, measure: Measure, result: Value) -> Found:
        """The interval of a value of the whole table, which is defined."""
        place = np.array([self._positive]) if measure.takes is Binary else None
        return self._found(measure, [cast("Share | Number", result)], place)[0]

    def by_class(self, measure: Measure, results: Sequence[Share | Number], classes: list[int]) -> list[Found]:
        """The intervals of one measure for some classes against the rest."""
        return self._found(measure, results, np.array(classes, dtype=np.intp))

    def _found(
        self, measure: Measure, results: Sequence[Share | Number], classes: NDArray[np.intp] | None
    ) -> list[Found]:
        for size in self._draws.stages(self._wanted.draws):
            blocks = self._draws.blocks(size)
            with np.errstate(invalid="ignore"):  # weights 18 orders apart round a margin below zero: told as undefined
                values = np.concatenate([self._values(measure, block, classes) for block in blocks], axis=-1)[:, :size]
            ordered = Ordered(values, self._wanted.level)
            if (ordered.error <= STEADY).all():
                break
        cells, values = self._wanted.cells, np.array([result.value for result in results])
        notes = () if cells in COUNTED else (f"{cells} is for counts; weighted rows are drawn",)
        return from_draws(self._wanted, measure, values, ordered, (ordered.low, ordered.high), WEIGHTED, notes)

    @staticmethod
    def _values(measure: Measure, block: Multiclass, classes: NDArray[np.intp] | None) -> Floats:
        """Axes (class, draw)."""
        if classes is None:
            return np.atleast_2d(measure.values(block))
        whole = block.one_vs_rest()
        tp, fp, fn, tn = (np.asarray(cell)[:, classes].T for cell in (whole.tp, whole.fp, whole.fn, whole.tn))
        return np.atleast_2d(measure.values(Binary(tp=tp, fp=fp, fn=fn, tn=tn)))


def built(
    wanted: Wanted,
    measure: Measure,
    value: float,
    ends: tuple[float, float],
    method: str,
    *,
    draws: int | None = None,
    notes: tuple[str, ...] = (),
) -> Found:
    """An interval inside the range of the measure that holds the value, or the reason why it would mean nothing."""
    floor, ceiling = measure.range
    low, high = float(max(floor, min(ends[0], value))), float(min(ceiling, max(ends[1], value)))
    if any(map(math.isnan, ends)) or math.isinf(low):
        return "the value is infinite, and the method knows no lower bound for it"
    if not high - low > ROUNDING * abs(low):
        return "the method sees no way for the value to vary, so an interval would have no width"
    seed = None if draws is None else wanted.seed
    return Interval(low=low, high=high, level=wanted.level, method=method, draws=draws, seed=seed, notes=notes)


def from_draws(  # noqa: PLR0917  values, their draws, and what is told of them
    wanted: Wanted,
    measure: Measure,
    values: Floats,
    ordered: Ordered,
    ends: Ends,
    method: str,
    more: tuple[str, ...] = (),
) -> list[Found]:
    """The interval of each value from its draws, with what must be said of these; none where too many are undefined."""
    intervals: list[Found] = []
    columns = (values, *ends, ordered.error, np.broadcast_to(ordered.undefined, values.shape))
    for value, low, high, error, undefined in zip(*(column.tolist() for column in columns), strict=True):
        lost = f"{undefined:,} of {ordered.draws:,} draws are undefined"
        if undefined > ALLOWED * ordered.draws:
            intervals.append(lost)
            continue
        notes = [f"{lost} and were left out"] if undefined else []
        if error > STEADY:
            notes.append(f"the draws leave a bound uncertain by {100 * error:.2g} % of the width")
        intervals.append(built(wanted, measure, value, (low, high), method, draws=ordered.draws, notes=(*notes, *more)))
    return intervals


def _vanished(measure: Measure, draws: CellDraws, size: int) -> tuple[str, ...]:
    lost = draws.lost(size) if measure.average in ("macro", "weighted") else 0
    return (f"in {lost:,} of {size:,} draws a class had no rows and was left out of the average",) if lost else ()


def _is_f1(measure: Measure) -> bool:
    given = measure.given
    return measure.name == "f1" or (
        (measure.name == "f_beta" and given.get("beta") == 1)
        or (measure.name == "f_weighted" and given.get("w_precision") == given.get("w_recall"))
    )


def _is_distance(measure: Measure) -> bool:
    return measure.family == "class shares" and measure.better is not NEITHER


def _near(measure: Measure, value: float, drawn: list[Multiclass], centre: Multiclass, level: float) -> Floats:
    """The end of the interval of a distance that lies towards its best value.

    Chance drives the shares of many classes apart, so a distance is seen too large, the more so the smaller it is. The
    end is the distance of that part of the differences seen at which chance reaches what is seen in half of 1 - level.
    """
    best = measure.range[1 if measure.better is HIGHER else 0]
    seen, tail = abs(value - best), np.array([(1 + level) / 2])

    def reached(part: float) -> float:
        values = np.concatenate([measure.values(with_part(block, centre, part)) for block in drawn])
        return float(Ordered(np.abs(values - best), level).at(tail)[0])

    low, high = (0.0, reached(0.0)), (1.0, reached(1.0))
    if low[1] >= seen or not math.isfinite(high[1]) or high[1] <= seen:
        part = float(low[1] < seen)
    else:
        for _ in range(NEARING):
            part = low[0] + (seen - low[1]) * (high[0] - low[0]) / (high[1] - low[1])
            found = part, reached(part)
            low, high = (low, found) if found[1] >= seen else (found, high)
    return measure.values(with_part(centre, centre, part))


def _to_best(measure: Measure, value: Floats, ends: Ends, chance: Floats, level: float) -> Ends:
    """The interval of a distance, reaching its best end when chance alone drives equal shares as far apart as that.

    Draws of a distance never touch its best end, however near the truth lies to it.
    """
    best = measure.range[1 if measure.better is HIGHER else 0]
    near = np.abs(value - best) <= Ordered(np.abs(chance - best), level).at(np.array([level]))
    if measure.better is HIGHER:
        return ends[0], np.where(near, best, ends[1])
    return np.where(near, best, ends[0]), ends[1]
