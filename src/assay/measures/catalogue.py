# SPDX-License-Identifier: Apache-2.0
"""The catalogue as users ask it: all measures, or one by name, symbol or alias."""

from __future__ import annotations

from typing import cast

from assay.core.errors import PlanError
from assay.core.registry import Registry
from assay.core.task import find_task, task_names
from assay.core.text import nearest
from assay.core.traits import Task
from assay.measures import REGISTRY, Measure, parse
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.scores.ranked_table import Ranked


def measures(*, task: str | None = None, family: str | None = None) -> tuple[Measure, ...]:
    """Every declared measure of classification, or those of another task, or of a family.

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
    return tuple(m for m in registry if (kind is None or m.only in (None, kind)) and family in (None, m.family))


def _registry_of(task: str | None) -> Registry[Measure]:
    return REGISTRY if task is None else cast("Registry[Measure]", find_task(task).registry)


def measure(name: str) -> Measure:
    """One measure with its formula, range, source and place in the code.

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


def grain(one: Measure) -> str:
    """Whether a measure speaks of one class or of all."""
    if not one.from_labels and not one.from_scores and one.family != "cost":
        return f"all units of {one.takes.__name__.lower()}"
    return "one class against the rest" if one.takes in (Binary, Ranked) else "all classes together"
