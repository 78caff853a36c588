# SPDX-License-Identifier: Apache-2.0
"""Which interval a value gets, and from what: shares from their counts, everything else from draws of cells.

The choice rests on simulated coverage (`bench/coverage.py`, `docs/why/coverage.md`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.traits import NEITHER, Better
from assay.core.values import Number, Share, Undefined, floats
from assay.inference.estimates import Interval
from assay.inference.proportion import FEWEST, SHARES, fitting, koopman, of_share, of_shares
from assay.inference.resampling import SEED, CellDraws, Kind, TableDraws
from assay.inference.smooth import (
    Influence,
    Ordered,
    bca,
    corrected,
    delta,
    table_influence,
    two_classes,
    without_shift,
)
from assay.tally.tables import Binary, Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.labels import Label
    from assay.core.values import Value
    from assay.measures.declare import Measure
    from assay.tally.confusion import Confusion

    Floats: TypeAlias = NDArray[np.float64]

DRAWS: Final = 2000
"""The least number of draws: the Monte Carlo error of a 95 % bound of a normal value is then 1.5 % of the width."""
STEADY: Final = 0.02
"""More draws are taken while the Monte Carlo error of a bound is above this share of the width."""
ALLOWED: Final = 0.05
"""Share of draws that may be undefined; above it there is no interval."""
MOST_CLASSES: Final = 1000
"""Above this many classes there are no draws: 1,000 classes with 100,000 occupied cells take about 10 s."""
TABLES: Final = 128
"""Four-cell tables whose draws are evaluated at a time."""
FACTS: Final = {"counts": "a count of these rows, not an estimate", "constants": "a constant, not an estimate"}
CELLS: Final = ("auto", "dirichlet", "bca", "percentile", "delta")
NO_WIDTH: Final = "every draw gives the same value, so the method has no width here"

Found: TypeAlias = Interval | str
"""An interval, or the reason why there is none."""
Kept: TypeAlias = Share | Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What intervals are asked for; `draws` is the least number, an Interval tells how many there were."""

    level: float = 0.95
    shares: str = "wilson"
    cells: str = "auto"
    seed: int = SEED
    draws: int = DRAWS

    def __post_init__(self) -> None:
        """Only levels and methods that exist."""
        if not (_is_number(self.level) and 0.5 <= self.level < 1):  # noqa: PLR2004  below, the tails overlap
            hint = f"; did you mean {_meant(self.level)}?" if _meant(self.level) else ""
            raise PlanError(
                "confidence-level-range",
                f"level = {self.level!r} is not a confidence level",
                known="0.5 up to, but not including, 1",
                fix=f"give a share such as 0.95{hint}",
            )
        for name, given, known in (("shares", self.shares, tuple(SHARES)), ("cells", self.cells, CELLS)):
            if given not in known:
                raise PlanError(
                    "option-unknown",
                    f"{name} = {given!r} is not an interval method",
                    known=", ".join(known),
                    fix="choose one of them",
                )
        for name, whole, least in (("seed", self.seed, 0), ("draws", self.draws, 100)):
            if not isinstance(whole, int) or isinstance(whole, bool) or whole < least:
                raise PlanError(
                    "option-unknown",
                    f"{name} = {whole!r} is not a whole number of {least} or more",
                    known=f"{least}, {least + 1}, ...",
                    fix=f"leave it out, or give a number such as {SEED if name == 'seed' else DRAWS}",
                )


def _is_number(x: object) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def _meant(level: object) -> str | None:
    if not _is_number(level):
        return None
    given = cast("float", level)
    if 50 <= given < 100:  # noqa: PLR2004  a percentage
        return f"{given / 100:g}"
    if 0 < given < 0.5:  # noqa: PLR2004  an error rate
        return f"{1 - given:g}"
    return None


class Uncertainty:
    """Intervals for the values of one confusion tally; the draws are made once and shared by all measures."""

    def __init__(self, confusion: Confusion, wanted: Wanted, *, positive: Label | None) -> None:
        self._confusion, self._wanted = confusion, wanted
        self._positive = None if positive is None else confusion.labels.index(positive)
        self._draws: dict[str, CellDraws] = {}

    def overall(self, measure: Measure, result: Value) -> Found:
        """The interval of a value of the whole table."""
        if no := self._none(measure, result):
            return no
        if isinstance(result, Share):
            return self._share(result)
        k = self._confusion.k
        if measure.through_accuracy is not None and k > 1:
            return self._through_accuracy(measure)
        if measure.takes is Binary or k == 2:  # noqa: PLR2004  two classes are one table
            return self._whole.intervals(measure, [cast("Kept", result)], np.zeros(1, dtype=np.intp))[0]
        if k == 1:
            return "there is only one class, so no other value is possible"
        if k > MOST_CLASSES:
            return f"{k:,} classes are too many to draw their cells; declare fewer classes, or ask for a share"
        return self._many(measure, cast("Number", result))

    def by_class(self, measure: Measure, results: list[Value]) -> list[Found]:
        """The intervals of one measure for every class against the rest."""
        if measure.family in FACTS or self._confusion.weighted:
            return [cast("str", self._none(measure, result)) for result in results]
        found: list[Found] = ["the value is undefined"] * len(results)
        kept = [i for i, result in enumerate(results) if not isinstance(result, Undefined)]
        if not kept:
            return found
        values = [cast("Kept", results[i]) for i in kept]
        intervals = self._shares(values) if isinstance(values[0], Share) else self._classes(measure, values, kept)
        for i, interval in zip(kept, intervals, strict=True):
            found[i] = interval
        return found

    def _none(self, measure: Measure, result: Value) -> str | None:
        if isinstance(result, Undefined):
            return "the value is undefined"
        if measure.family in FACTS:
            return FACTS[measure.family]
        if self._confusion.weighted:
            return "no interval for weighted rows: weights are not counts"
        return None

    def _share(self, result: Share) -> Interval:
        of = int(result.denominator)
        low, high = of_share(int(result.numerator), of, self._wanted.level, self._wanted.shares)
        return Interval(low=low, high=high, level=self._wanted.level, method=fitting(self._wanted.shares, of))

    def _shares(self, results: Sequence[Kept]) -> list[Interval]:
        tops, ofs = ([int(cast("Share", r).numerator) for r in results], [int(cast("Share", r).denominator) for r in results])
        level, method = self._wanted.level, self._wanted.shares
        lows, highs = of_shares(np.array(tops, dtype=np.float64), np.array(ofs, dtype=np.float64), level, method)
        ends = zip(lows.tolist(), highs.tolist(), ofs, strict=True)
        return [Interval(low=low, high=high, level=level, method=fitting(method, of)) for low, high, of in ends]

    def _through_accuracy(self, measure: Measure) -> Interval:
        correct, n = int(self._exact.correct), int(self._exact.n)
        ends = of_share(correct, n, self._wanted.level, self._wanted.shares)
        through = measure.through_accuracy
        assert through is not None  # noqa: S101  asked by the caller
        low, high = sorted(through(end, self._confusion.k) for end in ends)
        method = f"{fitting(self._wanted.shares, n)} of accuracy"
        return Interval(low=low, high=high, level=self._wanted.level, method=method)

    def _classes(self, measure: Measure, results: Sequence[Kept], kept: list[int]) -> list[Found]:
        closed = self._wanted.cells == "auto" and (_through_jaccard(measure) or measure.name == RATIO)
        if self._confusion.k > MOST_CLASSES and not closed:
            return [f"{self._confusion.k:,} classes are too many to draw the cells of each"] * len(kept)
        return self._each.intervals(measure, results, np.array(kept, dtype=np.intp))

    def _many(self, measure: Measure, result: Number) -> Found:
        method, value, level = self._wanted.cells, result.value, self._wanted.level
        if method == "delta":
            influence = Influence(self._confusion)
            low, high = delta(np.array(value), influence.of(measure), influence.count, level)
            return built(self._wanted, measure, value, (float(low), float(high)), "delta on cells")
        draws = self._cells("multinomial" if method in ("bca", "percentile") else "dirichlet")
        for size in draws.stages(self._wanted.draws):
            ordered = Ordered(draws.values(measure, size))
            if ordered.error(level) <= STEADY:
                break
        notes = _notes(ordered, level, 0)
        if isinstance(notes, str):
            return notes
        if method in ("bca", "percentile") and measure.average in ("macro", "weighted") and (lost := draws.lost(ordered.draws)):
            notes += (f"in {lost:,} of {ordered.draws:,} draws a class had no rows and was left out of the average",)
        low, high = (float(end) for end in ordered.tails(level))
        name = f"{method} on cells"
        if method == "bca" and math.isfinite(value):
            influence = Influence(self._confusion)
            low, high = (float(end) for end in bca(np.array(value), ordered, influence.of(measure), influence.count, level))
        if method == "auto":
            name = "dirichlet on cells"
            if measure.family != "ratios" and math.isfinite(value) and math.isfinite(ordered.values[-1 - int(ordered.undefined)]):
                low, high = corrected(ordered, self._spared.centre(measure), self._spared.stretch(measure), level)
                name = "corrected dirichlet on cells"
        if method in ("auto", "dirichlet") and _is_distance(measure):
            _, actual, called = draws.spare.mean()
            shares = actual / actual.sum(), called / called.sum()
            chance = [measure.values(without_shift(block, *shares)) for block in draws.blocks(ordered.draws)]
            low, high = _to_best(measure, value, (low, high), np.concatenate(chance), level)
        return built(self._wanted, measure, value, (low, high), name, draws=ordered.draws, notes=notes)

    def _cells(self, kind: Kind) -> CellDraws:
        if kind not in self._draws:
            self._draws[kind] = CellDraws(self._confusion, kind, self._wanted.seed)
        return self._draws[kind]

    @cached_property
    def _exact(self) -> Multiclass:
        return self._confusion.multiclass()

    @cached_property
    def _whole(self) -> Tables:
        positive = self._confusion.k - 1 if self._positive is None else self._positive
        return Tables(self._exact.one_vs_rest().at(positive), self._wanted, self._confusion.labels, positive)

    @cached_property
    def _each(self) -> Tables:
        return Tables(self._exact.one_vs_rest(), self._wanted, self._confusion.labels, 0)

    @cached_property
    def _spared(self) -> Influence:
        return Influence(self._confusion, self._cells("dirichlet").spare)


class Tables:
    """Intervals for a stack of four-cell tables: one for two classes, one per class for more."""

    def __init__(self, table: Binary, wanted: Wanted, labels: tuple[Label, ...], positive: int) -> None:
        self._wanted, self._labels, self._positive = wanted, labels, positive
        self._table = table
        self._draws: dict[str, TableDraws] = {}

    def intervals(self, measure: Measure, results: Sequence[Kept], tables: NDArray[np.intp]) -> list[Found]:
        """The intervals of the values of some of the tables."""
        if self._wanted.cells == "auto" and _through_jaccard(measure):
            return self._jaccard(measure, results, tables)
        if self._wanted.cells == "auto" and measure.name == RATIO:
            return self._ratio(measure, results, tables)
        values = np.array([result.value for result in results])
        parts = [slice(start, start + TABLES) for start in range(0, len(tables), TABLES)]
        find = self._delta if self._wanted.cells == "delta" else self._drawn
        return [found for part in parts for found in find(measure, values[part], tables[part])]

    def _jaccard(self, measure: Measure, results: Sequence[Kept], tables: NDArray[np.intp]) -> list[Found]:
        """F1 is 2J / (1 + J), and J is a share of the rows that are or were called positive."""
        tp, fp, fn, _ = self._counts[tables].T
        ofs, method = tp + fp + fn, self._wanted.shares
        ends = [2 * end / (1 + end) for end in of_shares(tp, ofs, self._wanted.level, method)]
        rows = zip(results, ends[0].tolist(), ends[1].tolist(), ofs, strict=True)
        return [
            built(self._wanted, measure, r.value, (low, high), f"{fitting(method, int(of))} of jaccard")
            for r, low, high, of in rows
        ]

    def _ratio(self, measure: Measure, results: Sequence[Kept], tables: NDArray[np.intp]) -> list[Found]:
        tp, fp, fn, tn = self._counts[tables].T
        lows, highs = koopman(tp, tp + fn, fp, fp + tn, self._wanted.level)
        rows = zip(results, lows.tolist(), highs.tolist(), strict=True)
        return [built(self._wanted, measure, r.value, (low, high), "koopman score") for r, low, high in rows]

    def _delta(self, measure: Measure, values: Floats, tables: NDArray[np.intp]) -> list[Found]:
        counts = self._counts[tables]
        with np.errstate(invalid="ignore"):
            influence = table_influence(lambda table: self._evaluate(measure, table), counts)
            lows, highs = delta(values, influence, counts, self._wanted.level)
        rows = zip(values.tolist(), lows.tolist(), highs.tolist(), strict=True)
        return [built(self._wanted, measure, value, (low, high), "delta on 4 cells") for value, low, high in rows]

    def _drawn(self, measure: Measure, values: Floats, tables: NDArray[np.intp]) -> list[Found]:
        draws = self._cells("multinomial" if self._wanted.cells in ("bca", "percentile") else "dirichlet")
        found: dict[int, Found] = {}
        left = np.arange(len(tables))
        for size in draws.stages(self._wanted.draws):
            drawn = draws.of(size, tables[left])
            ordered = Ordered(self._evaluate(measure, drawn))
            lows, highs, name = self._ends(measure, values[left], tables[left], drawn, ordered)
            for row, i in enumerate(left):
                notes = _notes(ordered, self._wanted.level, row)
                found[int(i)] = (
                    notes
                    if isinstance(notes, str)
                    else built(
                        self._wanted, measure, float(values[i]), (float(lows[row]), float(highs[row])), name, draws=size, notes=notes
                    )
                )
            left = left[ordered.error(self._wanted.level) > STEADY]
            if not len(left):
                break
        return [found[i] for i in range(len(tables))]

    def _ends(self, measure: Measure, values: Floats, tables: NDArray[np.intp], drawn: Binary, ordered: Ordered) -> tuple[Floats, Floats, str]:
        level = self._wanted.level
        if self._wanted.cells == "bca":
            counts = self._counts[tables]
            with np.errstate(invalid="ignore"):
                influence = table_influence(lambda table: self._evaluate(measure, table), counts)
            return (*bca(values, ordered, np.nan_to_num(influence), counts, level), "bca on 4 cells")
        lows, highs = ordered.tails(level)
        if self._wanted.cells == "percentile":
            return lows, highs, "percentile on 4 cells"
        if _is_distance(measure):
            centre = two_classes(Binary(*(cell[np.newaxis] for cell in self._counts[tables[0]] + 0.5)), self._labels, self._positive) if False else None
        return lows, highs, "dirichlet-jeffreys on 4 cells"
