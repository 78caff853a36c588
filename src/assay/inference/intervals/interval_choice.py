# SPDX-License-Identifier: Apache-2.0
"""Which interval a value gets, and from what: shares from their counts, everything else from draws of cells.

The choice rests on simulated coverage (`bench/coverage.py`, `docs/why/coverage.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import counted
from assay.core.values import Number, Share, Undefined, exact_cells
from assay.inference.estimates import Interval
from assay.inference.intervals.functions_of_counts import Classes, Tables, Weighted, built, is_closed
from assay.inference.intervals.proportion import FEWEST, SHARES, fitting, of_share, of_shares
from assay.inference.resampling import SEED
from assay.tally.labels.one_vs_rest import Binary, Multiclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.core.labels import Label
    from assay.core.values import Value
    from assay.measures.declare import Measure
    from assay.tally.labels.confusion import Confusion, Priced

DRAWS: Final = 2000
"""The least number of draws: the Monte Carlo error of a 95 % bound of a normal value is then 1.5 % of the width."""
MOST_CLASSES: Final = 1000
"""Above this many classes there are no draws: 1,000 classes with 100,000 occupied cells take about 10 s."""
FACTS: Final = {"counts": "a count of these rows, not an estimate", "constants": "a constant, not an estimate"}
CELLS: Final = ("auto", "dirichlet", "bca", "percentile", "delta")

Found: TypeAlias = Interval | str
"""An interval, or the reason why there is none."""


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
        if not (_is_number(self.level) and 0.5 <= self.level < 1 and (1 + self.level) / 2 < 1):  # noqa: PLR2004  tails overlap
            hint = f"; did you mean {_meant(self.level)}?" if _meant(self.level) else ""
            what, fix = f"level = {self.level!r} is not a confidence level", f"give a share such as 0.95{hint}"
            raise PlanError("confidence-level-range", what, known="0.5 up to, but not including, 1", fix=fix)
        for name, given, known in (("shares", self.shares, tuple(SHARES)), ("cells", self.cells, CELLS)):
            if given not in known:
                what = f"{name} = {given!r} is not an interval method"
                raise PlanError("option-unknown", what, known=", ".join(known), fix="choose one of them")
        for name, whole, least in (("seed", self.seed, 0), ("draws", self.draws, 100)):
            if not isinstance(whole, int) or isinstance(whole, bool) or whole < least:
                what = f"{name} = {whole!r} is not a whole number of {least} or more"
                fix = f"leave it out, or give a number such as {SEED if name == 'seed' else DRAWS}"
                raise PlanError("option-unknown", what, known=f"{least}, {least + 1}, ...", fix=fix)


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

    def __init__(self, confusion: Confusion, wanted: Wanted, *, positive: Label | None, beside: int = 1) -> None:
        self._confusion, self._wanted, self._beside = confusion, wanted, beside
        self._positive = None if positive is None else confusion.labels.index(positive)

    def overall(self, measure: Measure, result: Value, priced: Priced | None = None) -> Found:
        """The interval of a value of the whole table, or of its rows with what they cost."""
        from assay.inference.intervals.bounded_means import cost_interval

        no = self._none(measure, result)
        if no or priced is not None:
            return no or cost_interval(cast("Priced", priced), measure, cast("Number", result), self._wanted)
        if self._confusion.weighted or isinstance(result, Share):
            weighted = self._confusion.weighted
            return self._weighted.overall(measure, result) if weighted else self._share(cast("Share", result))
        number, k = cast("Number", result), self._confusion.k
        if measure.through_accuracy is not None and k > 1:
            return self._through_accuracy(measure, number)
        if self.reads_table(measure, number):
            return self._whole.intervals(measure, [number], np.zeros(1, dtype=np.intp))[0]
        if not 1 < k <= MOST_CLASSES:
            few, many = (
                "there is only one class, so no other value is possible",
                "classes are too many to draw their cells",
            )
            return few if k == 1 else f"{k:,} {many}; declare fewer classes, or ask for a share"
        return self._cells.interval(measure, number)

    def reads_table(self, measure: Measure, result: Value) -> bool:
        """Whether the interval of a value of the whole table comes from its four cells; two classes are one table."""
        k = self._confusion.k
        return (
            isinstance(result, Number)
            and (measure.takes is Binary or k == 2)  # noqa: PLR2004
            and not (measure.through_accuracy is not None and k > 1)
            and not (self._confusion.weighted or self._none(measure, result))
        )

    def stacked(self, others: Sequence[Uncertainty]) -> Tables:
        """The four cells of several tallies of the same classes, one table each, for intervals of all at once."""
        tables = [other._table for other in others]  # noqa: SLF001  its own kind
        cells = {name: exact_cells([getattr(table, name) for table in tables]) for name in ("tp", "fp", "fn", "tn")}
        return Tables(Binary(**cells), self._wanted, self._confusion.labels, self._place, self._beside)

    def of_levels(
        self, measure: Measure, results: Sequence[Value], levels: Sequence[Uncertainty], tables: Tables
    ) -> list[Found]:
        """The intervals of one measure for levels of a group, one value each, from their tables in a stack."""
        shares = [i for i, result in enumerate(results) if isinstance(result, Share)]
        drawn = [i for i, result in enumerate(results) if self.reads_table(measure, result)]
        intervals: dict[int, Found] = {}
        if shares:
            intervals |= zip(shares, self._shares([cast("Share", results[i]) for i in shares]), strict=True)
        if drawn:
            numbers = [cast("Number", results[i]) for i in drawn]
            intervals |= zip(drawn, tables.intervals(measure, numbers, np.array(drawn, np.intp)), strict=True)
        rest = (i for i in range(len(results)) if i not in intervals)
        intervals |= ((i, levels[i].overall(measure, results[i])) for i in rest)
        return [intervals[i] for i in range(len(results))]

    def by_class(self, measure: Measure, results: list[Value]) -> list[Found]:
        """The intervals of one measure for every class against the rest."""
        if measure.family in FACTS or self._unsquared:
            return [self._none(measure, result) or "" for result in results]
        kept = [i for i, result in enumerate(results) if not isinstance(result, Undefined)]
        values, intervals = [results[i] for i in kept], cast("Sequence[Found]", ())
        if values and self._confusion.weighted:
            intervals = self._weighted.by_class(measure, cast("list[Share | Number]", values), kept)
        elif values and measure.gives is Share:
            intervals = self._shares(cast("list[Share]", values))
        elif values:
            intervals = self._classes(measure, cast("list[Number]", values), kept)
        found = dict(zip(kept, intervals, strict=True))
        return [found.get(i, "the value is undefined") for i in range(len(results))]

    def _none(self, measure: Measure, result: Value) -> str | None:
        if isinstance(result, Undefined):
            return "the value is undefined"
        if measure.family in FACTS:
            return FACTS[measure.family]
        if self._unsquared:
            return "no interval for weighted rows: the tally does not hold the squares of the weights"
        if self._confusion.weighted and not 1 < self._confusion.k <= MOST_CLASSES:
            return f"no interval for weighted rows of {counted(self._confusion.k, 'class', 'classes')}"
        return None

    @property
    def _unsquared(self) -> bool:
        return self._confusion.weighted and self._confusion.squares is None

    def _share(self, result: Share) -> Interval:
        of = int(result.denominator)
        low, high = of_share(int(result.numerator), of, self._wanted.level, self._wanted.shares)
        return Interval(low=low, high=high, level=self._wanted.level, method=fitting(self._wanted.shares, of))

    def _shares(self, results: Sequence[Share]) -> list[Interval]:
        level, method, size = self._wanted.level, self._wanted.shares, len(results)
        tops = np.fromiter((r.numerator for r in results), np.float64, size)
        ofs = np.fromiter((r.denominator for r in results), np.float64, size)
        names = [fitting(method, of) for of in ofs.tolist()] if (ofs < FEWEST).any() else [method] * size
        rows = zip(*(end.tolist() for end in of_shares(tops, ofs, level, method)), names, strict=True)
        return [Interval(low=low, high=high, level=level, method=name) for low, high, name in rows]

    def _through_accuracy(self, measure: Measure, result: Number) -> Found:
        through = cast("Callable[[float, int], float]", measure.through_accuracy)
        n = int(self._exact.n)
        ends = of_share(int(self._exact.correct), n, self._wanted.level, self._wanted.shares)
        low, high = sorted(through(end, self._confusion.k) for end in ends)
        method = f"{fitting(self._wanted.shares, n)} of accuracy"
        return built(self._wanted, measure, result.value, (low, high), method)

    def _classes(self, measure: Measure, results: Sequence[Number], kept: list[int]) -> list[Found]:
        if self._confusion.k > MOST_CLASSES and not is_closed(measure, self._wanted):
            return [f"{self._confusion.k:,} classes are too many to draw the cells of each"] * len(kept)
        return self._each.intervals(measure, results, np.array(kept, dtype=np.intp))

    @cached_property
    def _exact(self) -> Multiclass:
        return self._confusion.multiclass()

    @cached_property
    def _whole(self) -> Tables:
        return Tables(self._table, self._wanted, self._confusion.labels, self._place, self._beside)

    @property
    def _place(self) -> int:
        return self._confusion.k - 1 if self._positive is None else self._positive

    @property
    def _table(self) -> Binary:
        return self._exact.one_vs_rest().at(self._place)

    @cached_property
    def _each(self) -> Tables:
        return Tables(self._exact.one_vs_rest(), self._wanted, self._confusion.labels, 0)

    @cached_property
    def _weighted(self) -> Weighted:
        return Weighted(self._confusion, self._wanted, positive=self._positive)

    @cached_property
    def _cells(self) -> Classes:
        return Classes(self._confusion, self._wanted)
