# SPDX-License-Identifier: Apache-2.0
"""The estimates of a classification tally, computed when asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import counted, quoted
from assay.core.traits import Task
from assay.core.values import SMALL, Number, Share, Undefined, Value
from assay.inference.estimates import ByClass, Estimate, Estimates, Interval, build_estimate, note_width
from assay.tally.base import Count
from assay.tally.labels.confusion import Priced
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tasks.classification.settings import (
    NOT_CALLED,
    ONE_CLASS,
    Scored,
    Settings,
    demand_costs,
    name_sides,
    of_class,
    of_whole,
    speaks_of_truth,
    why_unfit,
)
from assay.tasks.classification.tally import Classified

if TYPE_CHECKING:
    from assay.inference.intervals.functions_of_counts import Tables
    from assay.inference.intervals.interval_choice import Found, Uncertainty
    from assay.measures import Measure
    from assay.tasks.classification.cost_matrix import Costs
    from assay.tasks.classification.score_part import ScoreEstimates
    from assay.tasks.classification.unit_estimates import UnitIntervals

IN_GROUPS: Final = "rows of one unit belong together, and these rows are not counted by unit"
LISTED: Final = 200
"""Classes up to which a Record lists every class estimate; beyond, they are computed from the tally when asked for."""


class View(Estimates):
    """Estimates by measure name, of all rows or of one slice of them."""

    def __init__(
        self,
        tally: Classified,
        settings: Settings,
        slice: Mapping[str, Label] | None = None,  # noqa: A002
    ) -> None:
        self.tally, self.settings, self.slice = tally, settings, dict(slice or {})
        self.confusion, self.positive, self.task = tally.confusion, tally.positive, tally.task
        self._found: dict[str, Estimate] = {}
        self._columns: dict[str, list[Estimate]] = {}

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a measure of the whole table; any measure that fits can be asked for, listed or not."""
        from assay.measures import parse

        return self._asked(self._ready(parse(name)))

    def _asked(self, measure: Measure) -> Estimate:
        if (title := measure.title) not in self._found:
            self._found[title] = self._estimate(measure)
        return self._found[title]

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures of the whole table."""
        fitting = of_whole(self.task, self.settings.measures, self.scored, priced=self.settings.costs is not None)
        return fitting if self.settings.measures is not None else [m for m in fitting if self._answerable(m)]

    @cached_property
    def class_measures(self) -> list[Measure]:
        """The measures of one class against the rest."""
        return of_class(self.task, self.settings.measures, self.scored)

    @property
    def class_names(self) -> list[str]:
        """The names of those, or of all that there could be where there are two classes."""
        every = self.class_measures or of_class(Task.MULTICLASS, None, self.scored)
        return [measure.title for measure in every]

    @cached_property
    def by_class(self) -> ByClass:
        """Estimates of each class against the rest."""
        return ByClass(self, self.confusion.labels)

    def class_estimate(self, name: str, label: Label) -> Estimate:
        """The estimate of a measure of one class against the rest."""
        from assay.measures import parse

        measure = parse(name)
        if not self.speaks_of_class(measure):
            raise PlanError(
                "measure-unfit",
                f"{measure.name} speaks of all classes together",
                fix=f"ask the assessment itself for {measure.name!r}",
            )
        return self.columns([measure])[0][self.confusion.labels.index(label)]

    @cached_property
    def scores(self) -> ScoreEstimates | None:
        """What makes estimates of scores, where there are some."""
        if self.tally.scores is None:
            return None
        from assay.tasks.classification.score_part import ScoreEstimates

        return ScoreEstimates(self.tally.scores)

    @property
    def scored(self) -> Scored:
        """What the scores are, or None where there are none."""
        part = self.tally.scores
        return None if part is None else "probability" if part.probability else part.kind

    def columns(self, measures: Sequence[Measure], done: Callable[[], None] = lambda: None) -> list[list[Estimate]]:
        """Class measures for every class; those of scores class by class, because they share the draws of a class.

        It is told when a class is done.
        """
        new = [m for m in measures if m.title not in self._columns]
        scored = [m for m in new if m.from_scores]
        rows = []
        for label in self.confusion.labels:
            rows.append([self._from_scores(m, label, label) for m in scored])
            done()
        self._columns |= {m.title: [row[i] for row in rows] for i, m in enumerate(scored)}
        self._columns |= {m.title: self._class_estimates(m) for m in new if not m.from_scores}
        return [self._columns[m.title] for m in measures]

    def listed(self, done: Callable[[], None] = lambda: None) -> list[Estimate]:
        """What a Record lists: the whole table and each class; it is told when a class is done, and when all is."""
        estimates = [self._asked(self._ready(m)) for m in self.measures]
        if self.steps > 1:
            columns = self.columns(self.class_measures, done)
            estimates += [column[i] for i in range(self.confusion.k) for column in columns]
        done()
        return estimates

    def work_out(self, views: Sequence[Estimates], measures: Sequence[Measure]) -> None:
        """Work out what is drawn from the four cells of several levels, in one stack of tables."""
        alike = [view for view in cast("Sequence[View]", views) if view._kind == self._kind]  # noqa: SLF001  its own kind
        for view in alike:
            view.measures = self.measures
        if self.settings.by_unit or self.confusion.weighted or self.confusion.k != 2:  # noqa: PLR2004
            return
        levels = [view._uncertainty for view in alike]  # noqa: SLF001
        stack = self._uncertainty.stacked(levels)
        for measure in (self._ready(m) for m in measures if m.from_labels):
            if self._answerable(measure) and not self.needs_class(measure):
                results = self._level_values(measure, alike, stack)
                intervals = self._uncertainty.of_levels(measure, results, levels, stack)
                for view, result, interval in zip(alike, results, intervals, strict=True):
                    view._found[measure.title] = view._made(measure, result, interval, None)  # noqa: SLF001

    def _level_values(self, measure: Measure, alike: Sequence[View], stack: Tables) -> list[Value]:
        """The values of one measure for several levels; each is asked alone where it can say more than a number."""
        if measure.average in ("macro", "weighted"):
            return [view._named(view._value(measure), view.positive) for view in alike]  # noqa: SLF001
        results = measure.each(stack.table if measure.takes is Binary else stack.two_classes, len(alike))
        plain = [not isinstance(result, Undefined) and math.isfinite(result.value) for result in results]
        return [
            result if is_plain else view._named(view._value(measure), view.positive)  # noqa: SLF001
            for view, result, is_plain in zip(alike, results, plain, strict=True)
        ]

    @property
    def _kind(self) -> tuple[object, ...]:
        """What levels share whose measures can be worked out at once."""
        confusion = self.confusion
        return confusion.labels, confusion.weighted, self.positive, self.task, self.scored, self.tally.called

    def release(self) -> None:
        """Forget draws and tables; the estimates stay."""
        for name in ("scores", "_uncertainty", "_units", "tables", "_table"):
            self.__dict__.pop(name, None)

    @property
    def steps(self) -> int:
        """How often it is told that something is done."""
        return 1 + (self.confusion.k if self.class_measures and self.confusion.k <= LISTED else 0)

    def speaks_of_class(self, measure: Measure) -> bool:
        """Whether a measure is about one class against the rest."""
        return measure.takes in ONE_CLASS

    def needs_class(self, measure: Measure) -> bool:
        """Whether a class must be named for it: there is no positive one."""
        return self.speaks_of_class(measure) and self.positive is None

    def take_value(self, estimate: Mapping[str, object]) -> None:
        """Take a value that was computed from all digits of the scores, where a Record stores rounded ones."""
        if self.tally.scores is not None:
            label = self.positive if estimate["class"] is None else cast("Label", estimate["class"])
            self.tally.scores.all_digits[cast("str", estimate["measure"]), label] = cast("float", estimate["value"])

    def class_sizes(self) -> dict[str, str]:
        """Rows, or their weight, by true class."""
        return {str(label): str(n) for label, n in zip(self.confusion.labels, self.tables.actual, strict=True)}

    @cached_property
    def tables(self) -> Multiclass:
        """The margins of the classes."""
        return self.confusion.multiclass()

    @cached_property
    def _table(self) -> Binary:
        return self.tables.one_vs_rest().at(self.confusion.labels.index(cast("Label", self.positive)))

    def _ready(self, measure: Measure) -> Measure:
        if (
            "undefined" in measure.parameters
            and "undefined" not in measure.given
            and self.settings.undefined != "propagate"
        ):
            return measure.with_(undefined=self.settings.undefined)
        return measure

    def _estimate(self, measure: Measure) -> Estimate:
        if measure.from_scores:
            self._demand_fit(measure)
        if self.needs_class(measure):
            raise PlanError(
                "measure-unfit",
                f"{measure.name} speaks of one class, and there are {self.confusion.k}",
                fix=f"ask one class, by_class[{quoted(self.confusion.labels[0])}][{measure.name!r}], or an average",
            )
        if not self._answerable(measure):
            return self._made(measure, NOT_CALLED, "the value is undefined", None)
        if measure.from_scores:
            return self._from_scores(measure, self.positive, None)
        if measure.takes is Priced:
            demand_costs(measure, self.settings.costs)
            priced = cast("Costs", self.settings.costs).of(self.confusion)
            result = self._named(measure(priced), self.positive)
            return self._made(measure, result, self._uncertainty.overall(measure, result, priced), None)
        result = self._named(self._value(measure), self.positive)
        by_unit = self.settings.by_unit
        interval = self._unit_interval(measure, result) if by_unit else self._uncertainty.overall(measure, result)
        return self._made(measure, result, interval, None)

    @cached_property
    def _uncertainty(self) -> Uncertainty:
        from assay.inference.intervals.interval_choice import Uncertainty

        return Uncertainty(self.confusion, self.settings.wanted, positive=self.positive, beside=self.beside)

    @cached_property
    def _units(self) -> UnitIntervals | None:
        """What makes intervals by unit, where the units of these rows are known."""
        from assay.tasks.classification.unit_estimates import UnitIntervals

        return None if self.tally.units is None else UnitIntervals(self.tally, self.settings.wanted)

    def _answerable(self, measure: Measure) -> bool:
        """Whether a measure needs no predicted labels, or there are some."""
        return self.tally.called or measure.from_scores or (measure.from_labels and speaks_of_truth(measure))

    def _from_scores(self, measure: Measure, positive: Label | None, label: Label | None) -> Estimate:
        """An estimate from scores; `label` names the class where it is one of many."""
        scores = self._demand_fit(measure)
        wanted = None if self.settings.by_unit else self.settings.wanted
        value, interval, stored = scores.estimate(measure, positive, wanted)
        if self.settings.by_unit and not isinstance(value, Undefined):
            interval = IN_GROUPS if self._units is None else self._units.of_scores(measure, value.value, positive)
        return replace(self._made(measure, self._named(value, positive), interval, label), stored_value=stored)

    def _demand_fit(self, measure: Measure) -> ScoreEstimates:
        """The scores, if a measure can be had from them."""
        why = why_unfit(measure, self.scored)
        if self.scores is None or why is not None:
            stated = 'state it: scores="probability", or scores="logit" for log-odds (--scores)'
            fix = stated if self.scores is not None else "give score=... (--score)"
            raise PlanError("measure-unfit", f"{measure.name} {why}", fix=fix)
        if measure.only not in (None, self.task):
            raise PlanError(
                "measure-unfit",
                f"{measure.name} is for {measure.only} tasks, and this one is {self.task}",
                fix="`assay measures --task` lists what fits",
            )
        return self.scores

    def _value(self, measure: Measure) -> Value:
        """The value; what a measure refuses for one slice of the rows becomes the reason there is none."""
        try:
            return measure(self._table if measure.takes is Binary else self.tables)
        except PlanError as error:
            if not self.slice:
                raise
            return Undefined(reason=error.what, code="refused")

    def _class_estimates(self, measure: Measure) -> list[Estimate]:
        """A measure of labels for every class, in their order."""
        labels = self.confusion.labels
        if not self._answerable(measure):
            return [self._made(measure, NOT_CALLED, "the value is undefined", label) for label in labels]
        stack = cast("Share | Number", measure.raw(self.tables.one_vs_rest()))  # of labels there is always one
        results: list[Value] = [self._named(stack.at(i).settled(), label) for i, label in enumerate(labels)]
        by_unit = (self._unit_interval(measure, result, i) for i, result in enumerate(results))
        intervals = by_unit if self.settings.by_unit else self._uncertainty.by_class(measure, results)
        return [
            self._made(measure, result, found, label)
            for label, result, found in zip(labels, results, intervals, strict=True)
        ]

    def _unit_interval(self, measure: Measure, result: Value, place: int | None = None) -> Found:
        if isinstance(result, Undefined):
            return "the value is undefined"
        return IN_GROUPS if self._units is None else self._units.interval(measure, result, place)

    def _named(self, result: Value, positive: Label | None) -> Value:
        if not isinstance(result, Undefined):
            return result
        if self.confusion.weighted and not self.confusion.total:
            return Undefined(reason="all weights are zero", code="weight-sum=0")
        if positive is not None:
            return result.named(**name_sides(self.confusion.labels, positive))
        other = f"anything but {quoted(self.confusion.labels[0])}" if self.confusion.k == 1 else "any other class"
        return result.named(positive="any class", negative=other)

    def _made(self, measure: Measure, result: Value, outcome: Found, label: Label | None) -> Estimate:
        n = cast("Count", result.denominator) if isinstance(result, Share) else self.confusion.total
        notes = [f"only {counted(self.confusion.rows, 'row')}"] if self.slice and self.confusion.rows < SMALL else []
        if measure.average == "micro" and measure.base in ("precision", "recall", "f1", "f_0_5", "f2"):
            notes.append("identical to accuracy for one label a row")
        notes += [*note_width(measure, outcome if isinstance(outcome, Interval) else None)]
        return build_estimate(measure.title, result, outcome, n, label=label, slice=self.slice, notes=tuple(notes))


def value_alone(tally: Classified, measure: Measure) -> Value:
    """The value of a measure on some rows, such as those of a fold, for which nobody asks an interval."""
    return View(tally, Settings(by_unit=True))[measure.title].result  # of units that are not known: no interval is made
