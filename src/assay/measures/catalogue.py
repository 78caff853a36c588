# SPDX-License-Identifier: Apache-2.0
"""The catalogue as users ask it: all measures, or one by name, symbol or alias."""

from __future__ import annotations

from assay.core.errors import PlanError
from assay.core.text import nearest
from assay.core.traits import Task
from assay.measures import REGISTRY, Measure, parse
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.scores.ranked_table import Ranked


def measures(*, task: str | None = None, family: str | None = None) -> tuple[Measure, ...]:
    """Every declared measure, or those of a task or family.

    >>> [m.name for m in measures(family="chance-corrected")][:2]
    ['youden_index', 'markedness']
    """
    if task is not None and task not in tuple(Task):
        raise PlanError("option-unknown", f"there is no task {task!r}", known=", ".join(Task), fix="choose one of them")
    families = list(dict.fromkeys(m.family for m in REGISTRY))
    if family is not None and family not in families:
        close = nearest(family, families)
        raise PlanError(
            "option-unknown",
            f"there is no family {family!r}",
            known=", ".join(families),
            fix=f'did you mean "{close}"?' if close else "choose one",
        )
    return tuple(
        m for m in REGISTRY if (task is None or m.only in (None, Task(task))) and (family is None or m.family == family)
    )


def measure(name: str) -> Measure:
    """One measure with its formula, range, source and place in the code.

    >>> measure("sensitivity").name
    'recall'
    """
    return parse(name)


def grain(one: Measure) -> str:
    """Whether a measure speaks of one class or of all."""
    return "one class against the rest" if one.takes in (Binary, Ranked) else "all classes together"
