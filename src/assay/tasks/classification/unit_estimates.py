# SPDX-License-Identifier: Apache-2.0
"""Intervals of classification by unit: which rows go together is known, so that units vary and rows do not."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import RowsError
from assay.core.text import counted
from assay.core.values import Share, Undefined
from assay.inference.intervals.interval_choice import FACTS, Wanted
from assay.inference.intervals.smooth_functions import two_classes
from assay.inference.unit_intervals import Clustered, jackknife_t, share_interval, table_interval
from assay.measures.declare import parse
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tally.scores.ranked_table import Ranked
from assay.tasks.classification.unit_part import UnitPart, score_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.labels import Label
    from assay.core.values import Number
    from assay.inference.intervals.interval_choice import Found
    from assay.measures.declare import Measure
    from assay.tally.labels.label_cells import CellTable
    from assay.tally.scores.score_tally import UnitScores
    from assay.tasks.classification.settings import Settings
    from assay.tasks.classification.tally import Classified

    Floats = NDArray[np.float64]

CELLS: Final = ("tp", "fp", "fn", "tn")
AT_ONCE: Final = 1 << 19
"""Counts of scores that are held at a time."""
MOST: Final = 200_000_000
"""Units times distinct scores up to which score measures have an interval."""
PAIR: Final = 2
ROUNDING: Final = 1e-12
"""Sums of weights that differ by less are equal."""


class UnitIntervals:
    """Intervals of the values of one tally whose units are known."""

    def __init__(self, tally: Classified, wanted: Wanted) -> None:
        self._tally, self._wanted = tally, wanted
        self._part = cast("UnitPart", tally.units)
        self._sizes = self._part.sizes
        total = float(self._sizes.sum())
        self._scale = tally.rows / total if tally.confusion.weighted and total else 1.0
        """Weights are scaled to the number of rows; the interval does not depend on it."""
        self._erring = int((self._part.margins[:, 0].sum(axis=1) < self._sizes * (1 - ROUNDING)).sum())
        self._informative: dict[int | None, Floats] = {}

    def of_scores(self, measure: Measure, value: float, positive: Label | None) -> Found:
        """The interval of a value of scores of the positive one of two classes."""
        ranked, part = score_table(self._tally), self._part
        if ranked is None or part.places is None or measure.takes is not Ranked or positive != self._tally.positive:
            return "by unit, scores are counted for the positive of two classes only, up to 50,000 distinct ones"
        if measure.name == "auroc":
            without = part.areas_without(ranked)
        elif part.units * len(ranked.score) > MOST:
            return f"{part.units:,} units with {len(ranked.score):,} distinct scores are too many to leave out in turn"
        else:
            step = max(1, AT_ONCE // len(ranked.score))
            starts = range(0, part.units, step)
            tables = (part.scores_without(ranked, first, min(first + step, part.units)) for first in starts)
            without = np.concatenate([np.atleast_1d(measure.values(table)) for table in tables])
        positives = part.margins[:, 1, self._tally.labels.index(cast("Any", self._tally.positive))]
        rarer = positives if positives.sum() * PAIR <= part.sizes.sum() else part.sizes - positives
        case = self._case(measure, value, without, None, (rarer > 0).astype(np.float64))
        return jackknife_t(case, self._wanted.level)

    def interval(self, measure: Measure, result: Share | Number, place: int | None = None) -> Found:
        """The interval of a value of one class against the rest, or of all classes or the positive one."""
        if measure.family in FACTS:
            return FACTS[measure.family]
        if place is None and self._tally.positive is not None:
            place = self._tally.labels.index(self._tally.positive)
        binary, level, case = measure.takes is Binary, self._wanted.level, self.case(measure, result.value, place)
        if isinstance(result, Share):
            of = (float(part) * self._scale for part in (result.numerator, result.denominator))
            return share_interval(case, next(of), next(of), level)
        if not binary and len(self._tally.labels) > PAIR:
            return jackknife_t(case, level)
        at = len(self._tally.labels) - 1 if place is None else place
        whole = _one_class(self._whole, at)
        cells = np.array([float(np.asarray(getattr(whole, name)).item()) for name in CELLS])

        def of_cells(drawn: Floats) -> Floats:
            table = Binary(**{name: cast("Any", drawn[:, i]) for i, name in enumerate(CELLS)})
            return np.asarray(measure.values(table if binary else two_classes(table, self._tally.labels, at)))

        return table_interval(case, cells, of_cells, level=level, draws=self._wanted.draws, seed=self._wanted.seed)

    def case(self, measure: Measure, value: float, place: int | None) -> Clustered:
        """A value with what it becomes without each unit, and without one row of each kind."""
        binary = measure.takes is Binary

        def values(table: Multiclass) -> Floats:
            read = _one_class(table, cast("int", place)) if binary else table
            return np.atleast_1d(measure.values(read))

        without, kinds = values(self._without_unit), values(self._without_row)
        return self._case(measure, value, without, kinds, self._has_rows(place if binary else None))

    def _case(
        self, measure: Measure, value: float, without: Floats, kinds: Floats | None, informative: Floats
    ) -> Clustered:
        rows = self._tally.confusion.count.astype(np.float64) * self._scale
        known = np.full(len(rows), np.nan) if kinds is None else kinds
        return Clustered(
            measure=measure, value=value, without_unit=without, without_row=known, rows=rows,
            sizes=self._sizes * self._scale, informative=informative, erring=0 if kinds is None else self._erring,
        )  # fmt: skip

    def _has_rows(self, place: int | None) -> Floats:
        """Whether units hold rows of the class, true or called; any rows where the value is of all classes."""
        if place not in self._informative:
            rows = self._sizes if place is None else self._part.margins[:, 1:, place].sum(axis=1)
            self._informative[place] = np.asarray(rows > 0, dtype=np.float64)
        return self._informative[place]

    @cached_property
    def _without_unit(self) -> Multiclass:
        return self._part.without_each(self._tally.labels)

    @cached_property
    def _whole(self) -> Multiclass:
        total = self._part.margins.sum(axis=0)[np.newaxis] * self._scale
        return Multiclass(hits=total[:, 0], actual=total[:, 1], called=total[:, 2], labels=self._tally.labels)

    @cached_property
    def _without_row(self) -> Multiclass:
        """The margins without one row, for each kind of row."""
        confusion, k = self._tally.confusion, len(self._tally.labels)
        eye, right = np.eye(k), (confusion.truth == confusion.predicted)[:, np.newaxis]
        return Multiclass(
            hits=self._whole.hits - eye[confusion.truth] * right,
            actual=self._whole.actual - eye[confusion.truth],
            called=self._whole.called - eye[confusion.predicted],
            labels=self._tally.labels,
        )


def design_effect(tally: Classified) -> float | None:
    """That of accuracy; None where it has no value, or no interval."""
    accuracy, of = parse("accuracy"), UnitIntervals(tally, Wanted())
    value = accuracy(tally.confusion.multiclass())
    if isinstance(value, Undefined) or not tally.called:
        return None
    case = of.case(accuracy, value.value, None)
    return None if case.refusal() else case.design_effect()


def add_units(
    whole: Classified, cells: CellTable, scores: UnitScores | None, settings: Settings
) -> tuple[Classified, Settings, list[str]]:
    """The tally with what each unit adds, unless every unit is a single row; settings and notes that go with it."""
    cells = cells.complete()
    if lost := int(cells.rows[cells.labels[0].are(None)].sum()):
        raise RowsError("missing-id", f"{counted(lost, 'row')} without a unit", where="unit",
                        fix="name the unit of every row")  # fmt: skip
    rows = np.bincount(cells.labels[0].codes, weights=cells.rows)
    rows = rows[rows > 0]
    if len(rows) == whole.rows:
        return whole, settings, ["every unit is one row, so that rows are what varies"]
    part = UnitPart.build(cells, whole.labels, scores, whole)
    whole = replace(whole, units=part)
    sizes = f"{np.median(rows):g} rows a unit in the middle, {int(rows.max()):,} at most"
    effect = design_effect(whole)
    worth = "" if effect is None else (
        f"; design effect {effect:.3g} of accuracy, so they count as {whole.rows / effect:,.0f}"
    )  # fmt: skip
    notes = [f"intervals are by unit; {counted(part.units, 'unit')}: {sizes}{worth}"]
    if whole.scores is not None:
        notes.append("bands of curves and rates at operating points take rows as independent")
    return whole, replace(settings, by_unit=True), notes


def _one_class(table: Multiclass, place: int) -> Binary:
    rest = table.one_vs_rest()
    return Binary(**{name: cast("Any", np.asarray(getattr(rest, name))[..., place]) for name in CELLS})
