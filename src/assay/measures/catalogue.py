# SPDX-License-Identifier: Apache-2.0
"""The catalogue as users ask it: all measures, or one by name, symbol or alias."""

from __future__ import annotations

from typing import cast

from assay.core.errors import PlanError
from assay.core.registry import Registry
from assay.core.shown import Shown, TableRows
from assay.core.task import find_task, task_names
from assay.core.text import counted, nearest
from assay.core.traits import Task
from assay.measures import REGISTRY, Measure, parse
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.scores.ranked_table import Ranked


class Measures(tuple[Measure, ...], Shown):
    """Measures in the order of the catalogue; shown in a few words, not as hundreds of declarations."""

    __slots__ = ()
    PUBLIC = ("count", "index")

    def __repr__(self) -> str:
        """How many, and the first few."""
        names = ", ".join(measure.name for measure in self[:6]) + (", ..." if len(self) > 6 else "")  # noqa: PLR2004
        return f"<{counted(len(self), 'measure')}: {names}>"

    def _table(self) -> TableRows:
        rows = ((measure.name, measure.symbol, measure.says, measure.family) for measure in self)
        return (
            f"{counted(len(self), 'measure')}; assay.measure(NAME) explains one",
            ("measure", "symbol", "says", "family"),
            rows,
        )


def measures(*, task: str | None = None, family: str | None = None) -> Measures:
    """Every declared measure of classification, or those of another task, or of a family.

    task: a task such as "regression", or "binary" or "multiclass"
    family: a family such as "chance-corrected"

    >>> [m.name for m in measures(family="chance-corrected")][:2]
    ['youden_index', 'markedness']
    """
    registry = _registry_of(task)
    kind = Task(task) if task in tuple(Task) else None
    families = list(dict.fromkeys(m.family for m in registry))
    if family is not None and family not in families:
        close = nearest(family, families)
        raise PlanError(
            "option-unknown",
            f"there is no family {family!r}",
            known=", ".join(families),
            fix=f'did you mean "{close}"?' if close else "choose one",
        )
    return Measures(m for m in registry if (kind is None or m.only in (None, kind)) and family in (None, m.family))


def _registry_of(task: str | None) -> Registry[Measure]:
    return REGISTRY if task is None else cast("Registry[Measure]", find_task(task).registry)


def measure(name: str) -> Measure:
    """One measure with its formula, range, source and place in the code.

    name: its name, symbol or another name, with parameters where it has any: "recall", "TPR", "f_beta(beta=2)"

    >>> measure("sensitivity").name
    'recall'
    """
    try:
        return parse(name)
    except PlanError as unknown:
        if unknown.code != "measure-unknown":
            raise
        for task in task_names():
            try:
                return parse(name, _registry_of(task))
            except PlanError:
                continue
        raise


def task_of(measure: Measure) -> str:
    """The task that a measure belongs to."""
    tasks = (name for name in task_names() if name != "classification")
    return next(
        (name for name in tasks if any(own is measure for own in _registry_of(name))),
        "classification",
    )


def grain(entry: Measure) -> str:
    """Whether a measure speaks of one class or of all."""
    if not entry.from_labels and not entry.from_scores and entry.family != "cost":
        return f"all units of {entry.takes.__name__.lower()}"
    return "one class against the rest" if entry.takes in (Binary, Ranked) else "all classes together"
