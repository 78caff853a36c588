# SPDX-License-Identifier: Apache-2.0
"""What an assessment was asked to do, checked once at the door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from assay.core.errors import PlanError, unknown_choice
from assay.core.labels import Label
from assay.core.text import quoted, visible
from assay.core.traits import OF_PROBABILITIES, POLICIES, Policy, Task
from assay.core.values import Undefined
from assay.inference.intervals.interval_choice import Wanted
from assay.rows.score_columns import Kind
from assay.tally.labels.confusion import Confusion, Priced
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks

if TYPE_CHECKING:
    from assay.measures import Measure
    from assay.tally.base import Count, Weight
    from assay.tasks.classification.cost_matrix import Costs

ONE_CLASS = (Binary, Ranked)
"""What a measure takes that speaks of one class against the rest."""
ALL_CLASSES = (Multiclass, Priced, Scores, Ranks, RowScores)
Scored: TypeAlias = Kind | None
"""What the scores are, or None where there are none."""

NOT_CALLED = Undefined(
    reason="it needs predicted labels, and there are scores alone: give predicted=... or threshold=...",
    code="no-predictions",
)
CHOICES = {
    "missing": ("error", "drop"),
    "unknown": ("error", "own"),
    "unmatched": ("error", "count"),
    "undefined": POLICIES,
}


def demand_choice(name: str, given: object) -> None:
    """Demand that a choice is one that exists."""
    known = CHOICES[name]
    if given in known:
        return
    raise unknown_choice(given, known, f"{name}={visible(repr(given))} is not a choice")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Choices that shape the numbers; all of them are written into the Record."""

    wanted: Wanted = field(default_factory=Wanted)
    missing: Literal["error", "drop"] = "error"
    unknown: Literal["error", "own"] = "error"
    unmatched: Literal["error", "count"] = "error"
    undefined: Policy = "propagate"
    measures: tuple[Measure, ...] | None = None
    costs: Costs | None = None
    """What each mistake costs, where it is stated."""
    by_unit: bool = False
    """Whether rows belong to units, which vary by chance in their place."""

    def __post_init__(self) -> None:
        """Only choices that exist, and no measure of costs that nobody stated."""
        for one in self.measures or ():
            demand_costs(one, self.costs)
        for name in CHOICES:
            demand_choice(name, getattr(self, name))

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "level": self.wanted.level,
            "intervals": {name: getattr(self.wanted, name) for name in ("shares", "cells", "draws", "seed")},
            **{name: getattr(self, name) for name in CHOICES},
            "measures": None if self.measures is None else [m.title for m in self.measures],
            **({} if self.costs is None else {"costs": self.costs.to_json()}),
            **({"by_unit": True} if self.by_unit else {}),
        }

    def fitted(self, labels: Sequence[Label], *, spelled: bool = False) -> Settings:
        """The same once the classes are known: costs are stated of them."""
        return self if self.costs is None else replace(self, costs=self.costs.fitted(labels, spelled=spelled))

    @classmethod
    def from_json(cls, content: Mapping[str, Any], labels: Sequence[Label] = ()) -> Settings:
        """The inverse of `to_json`, given the classes."""
        from assay.tasks.classification.cost_matrix import Costs

        return cls(
            wanted=Wanted(level=content["level"], **content["intervals"]),
            **{name: content[name] for name in CHOICES},
            measures=chosen(content["measures"]),
            by_unit=bool(content.get("by_unit", False)),
            costs=Costs.from_json(content["costs"], labels) if "costs" in content else None,
        )


def chosen(names: Iterable[str | Measure] | str | None) -> tuple[Measure, ...] | None:
    """Measures by name, family or object; None means all that fit."""
    if names is None:
        return None
    from assay.measures import REGISTRY
    from assay.tasks.task_settings import choose_measures

    return choose_measures(names, REGISTRY)


def name_sides(labels: Sequence[Label], positive: Label) -> dict[str, str]:
    """What a class and the rest are called in a reason."""
    others = [label for label in labels if label != positive]
    other = quoted(others[0]) if len(others) == 1 else f"anything but {quoted(positive)}"
    return {"positive": quoted(positive), "negative": other}


def demand_costs(measure: Measure, costs: Costs | None) -> None:
    """A measure of costs reads what somebody stated."""
    if measure.takes is Priced and costs is None:
        raise PlanError(
            "measure-needs",
            f"{measure.name} needs what each mistake costs",
            where="costs",
            fix='state it: costs={("truth", "predicted"): 5, ...} (--cost TRUTH PREDICTED NUMBER, or --costs FILE)',
        )


def of_whole(
    task: Task, wanted: Sequence[Measure] | None, scored: Scored = None, *, priced: bool = False
) -> list[Measure]:
    """The measures of the whole table that fit a task, the scores if there are some, and the costs if stated."""
    from assay.measures import REGISTRY

    of_costs = [m for m in REGISTRY if priced and m.takes is Priced]
    if wanted is not None:
        wanted = [*wanted, *(m for m in of_costs if m not in wanted)]
        fitting = [m for m in wanted if not m.from_scores or m.only in (None, task)]
        return [m for m in fitting if m.takes in ALL_CLASSES or task is Task.BINARY]
    usual = [m for m in REGISTRY if not m.needs and m.only in (None, task) and (m in of_costs or _fits(m, scored))]
    return [m for m in usual if _usual(m, task)]


def _usual(measure: Measure, task: Task) -> bool:
    """Whether a measure of a whole table is given unasked; averages over two classes would crowd out the rest."""
    if task is Task.BINARY:
        return measure.takes in ONE_CLASS or measure.average is None or measure.name == "balanced_accuracy"
    return measure.takes in ALL_CLASSES


def of_class(task: Task, wanted: Sequence[Measure] | None, scored: Scored = None) -> list[Measure]:
    """The measures of one class against the rest that fit a task."""
    from assay.measures import REGISTRY

    if task is Task.BINARY:
        return []
    every = wanted if wanted is not None else [m for m in REGISTRY if not m.needs and m.only in (None, task)]
    return [m for m in every if m.takes in ONE_CLASS and (wanted is not None or _fits(m, scored))]


def _fits(measure: Measure, scored: Scored) -> bool:
    if measure.takes is Priced:
        return False
    return not measure.from_scores or (scored is not None and why_unfit(measure, scored) is None)


def why_unfit(measure: Measure, scored: Scored) -> str | None:
    """Why a measure of scores cannot be had from scores of a kind, or None."""
    if scored is None:
        return "needs scores, and labels alone were given"
    if measure.family in OF_PROBABILITIES and scored != "probability":
        return "speaks of probabilities, and the scores are not stated to be such"
    return None


@cache
def _truth_tables() -> list[tuple[Binary, Multiclass]]:
    """Tables of the same true classes under different predictions."""
    tables = []
    for called in ((0, 0), (1, 1), (0, 1)):  # all, none and the right ones called
        cells: dict[tuple[Label, Label], Count | Weight] = {(0, called[0]): 5, (1, called[1]): 3}
        confusion = Confusion.from_cells(cells, labels=(0, 1), rows=8)
        tables.append((confusion.binary(1), confusion.multiclass()))
    return tables


def speaks_of_truth(measure: Measure) -> bool:
    """Whether a measure of labels depends on the true classes alone, such as the prevalence."""
    if measure.needs:
        return False
    values = [measure(binary if measure.takes is Binary else multiclass) for binary, multiclass in _truth_tables()]
    reals = [None if isinstance(value, Undefined) else value.value for value in values]
    return None not in reals and len(set(reals)) == 1
