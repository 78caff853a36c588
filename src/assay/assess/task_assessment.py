# SPDX-License-Identifier: Apache-2.0
"""The door of every task but classification: `assay.regression(...)`, `assay.detection(...)` and so on.

A door is made from what the folder of a task declares: its roles become parameters, its options keywords.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from assay.assess.assessment import Assessment
from assay.assess.environment import environment
from assay.assess.task_arguments import COMMON, sort_arguments
from assay.core.task import Task, find_task
from assay.tally.by_group import Grouped
from assay.tally.census import Census

if TYPE_CHECKING:
    from assay.core.task import Tally


def assess_task(name: str, *roles: object, **given: Any) -> Assessment:  # noqa: ANN401  as the task declares
    """Assess by a task; roles may be given in the order in which the task declares them."""
    task = find_task(name)
    request, settings = sort_arguments(task, roles, given)
    counted = task.read(request)
    return Assessment(
        task,
        cast("Tally", counted.tally),
        settings,
        census=cast("Census", counted.census),
        grouped=Grouped(factors={factor: dict(levels) for factor, levels in counted.groups.items()}),
        notes=counted.notes,
        data=counted.data,
        found_in=environment(cast("Any", request.limits)),
        evidence={"thumbnails": counted.thumbnails},
    )


def make_door(name: str) -> Callable[..., Assessment]:
    """The public function of a task, with its own signature and help."""
    task = find_task(name)

    def door(*roles: object, **given: Any) -> Assessment:  # noqa: ANN401
        return assess_task(name, *roles, **given)

    door.__name__ = door.__qualname__ = task.name
    door.__module__ = "assay"
    door.__doc__ = describe_door(task)
    parameter, keyword = inspect.Parameter, inspect.Parameter.KEYWORD_ONLY
    signed = [
        *(parameter(role.name, parameter.POSITIONAL_OR_KEYWORD, default=None) for role in task.roles),
        *(parameter(option.name, keyword, default=option.default) for option in task.options),
        *(parameter(common, keyword, default=default) for common, (default, _) in COMMON.items()),
    ]
    door.__signature__ = inspect.Signature(signed, return_annotation="Assessment")  # type: ignore[attr-defined]
    return door


def describe_door(task: Task) -> str:
    """The help of a door: every parameter has its line."""
    lines = [f"Assess {task.name.replace('_', ' ')}: {task.says}.", ""]
    lines += [
        f"{role.name}: {role.says or role.holds}{'' if role.required else ' (may be left out)'}" for role in task.roles
    ]
    for option in task.options:
        choices = f": {', '.join(map(repr, option.choices))}" if option.choices else ""
        lines.append(f"{option.name}: {option.says}{choices}")
    lines += [f"{name}: {says.replace('{unit}', task.unit)}" for name, (_, says) in COMMON.items()]
    return "\n".join(lines)
