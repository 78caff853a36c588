# SPDX-License-Identifier: Apache-2.0
"""The door of every task but classification: `assay.regression(...)`, `assay.detection(...)` and so on.

A door is made from what the folder of a task declares: its roles become parameters, its options keywords.
"""

from __future__ import annotations

import inspect
import math
import numbers
import os
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.assess.arguments import IntervalSettings, check_kinds, demand_names, name_factors, rename
from assay.assess.assessment import Assessment
from assay.assess.environment import environment
from assay.core.declared_types import shown_object
from assay.core.errors import PlanError, RowsError, unknown_choice
from assay.core.parallel import monotonic
from assay.core.task import Request, Task, find_task
from assay.core.text import visible
from assay.fairness.crossed_groups import cross_inputs
from assay.rows.files.formats import Reading
from assay.tally.by_group import Grouped
from assay.tally.census import Census
from assay.tasks.task_settings import TaskSettings, choose_measures

if TYPE_CHECKING:
    from assay.core.registry import Registry
    from assay.core.task import Option, Tally
    from assay.measures.declare import Measure

COMMON: Final = {
    "data": (None, "a frame, a path, a database address, or a mapping of columns that the roles name"),
    "group": (None, "columns by which the measures are given again"),
    "cross": (None, 'groups that are also crossed with each other: "sex:age", several of them, or True for all'),
    "unit": (None, "what was drawn from the population, where that is not a {unit}: subject, patient, video"),
    "missing": ("error", 'rows without a value: "error", or "drop" to leave them out and count them'),
    "level": (0.95, "the confidence level"),
    "measures": (None, "names of measures or families; None means all that the task lists"),
    "engine": (None, '"duckdb", or the address of a Spark cluster: "spark://host:7077"'),
    "reading": (None, "how files are read; see Reading"),
    "limits": (None, "memory and threads of the embedded engine; see Limits"),
    "intervals": (None, "seed and draws; see IntervalSettings"),
}
"""Parameters of every door, with their defaults and a line of help."""


def assess_task(name: str, *roles: object, **given: Any) -> Assessment:  # noqa: ANN401  as the task declares
    """Assess by a task; roles may be given in the order in which the task declares them."""
    task = find_task(name)
    request, settings = sort_arguments(task, roles, given)
    counted = task.read(request)
    grouped: Grouped[Any] = Grouped(factors={factor: dict(levels) for factor, levels in counted.groups.items()})
    return Assessment(
        task, cast("Tally", counted.tally), settings, census=cast("Census", counted.census), grouped=grouped,
        notes=counted.notes, data=counted.data, found_in=environment(cast("Any", request.limits)),
        evidence={"thumbnails": counted.thumbnails},
    )  # fmt: skip


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


def sort_arguments(task: Task, roles: tuple[object, ...], given: Mapping[str, Any]) -> tuple[Request, TaskSettings]:
    """Sort arguments into roles, options and settings; one that the task does not know is an error."""
    arguments = dict(given)
    for role, value in zip(task.roles, roles, strict=False):
        if role.name in arguments:
            raise PlanError("role-clash", f"{role.name} is given twice", where=role.name, fix="give it once")
        arguments[role.name] = value
    known = [*(role.name for role in task.roles), *(option.name for option in task.options), *COMMON]
    rename(arguments, known)
    demand_names(task.name, arguments, known)
    own = {option.name for option in task.options} | {role.name for role in task.roles}
    check_kinds({name: value for name, value in arguments.items() if name not in own})
    for role in task.roles:
        _check_role(role.name, arguments.get(role.name), role.holds)
    options = _settle_options(task, arguments)
    missing = arguments.get("missing") or "error"
    reading = arguments.get("reading") or Reading()
    group, data = cross_inputs(name_factors(arguments.get("group")), arguments.get("data"))
    intervals = arguments.get("intervals") or IntervalSettings()
    request = Request(
        given={role.name: arguments[role.name] for role in task.roles if arguments.get(role.name) is not None},
        options={**options, "missing": missing},
        data=data, group=group, unit=arguments.get("unit"), reading=reading, limits=arguments.get("limits"),
        engine=arguments.get("engine"), progress=monotonic(reading.progress),
    )  # fmt: skip
    settings = TaskSettings(
        wanted=intervals.wanted(arguments.get("level", 0.95)),
        measures=choose_measures(arguments.get("measures"), cast("Registry[Measure]", task.registry)),
        options={**_stated_options(task, request), "missing": missing},
    )
    return request, settings


def _settle_options(task: Task, arguments: Mapping[str, Any]) -> dict[str, object]:
    """Every option as it was stated, or as it follows from the others."""
    options = {option.name: _option_value(option, arguments) for option in task.options}
    settled = [option for option in task.options if option.settle is not None and options[option.name] is None]
    return options | {option.name: cast("Any", option.settle)(options) for option in settled}


def _stated_options(task: Task, request: Request) -> dict[str, object]:
    """The options that say something: not those of a role that is missing, unless they were stated."""
    return {
        option.name: request.options[option.name] for option in task.options
        if option.only_with in (None, *request.given) or request.options[option.name] != option.default
    }  # fmt: skip


COLUMNS: Final = ("truth", "predicted", "score")
"""Roles that are never a function."""
UNFIT: Final = (numbers.Number, np.generic, set, frozenset, BaseException, ModuleType, slice, bytes, bytearray, Reading)
"""Kinds of objects that hold no rows, or hold them in no order."""


def _check_role(name: str, value: object, holds: str) -> None:
    """Refuse what cannot be a column, a file or a model; the task looks at the rest."""
    rows = value is None or isinstance(value, (str, os.PathLike)) or hasattr(type(value), "__iter__")
    flat = isinstance(value, np.ndarray) and (not value.ndim or np.ma.is_masked(value))
    rows = rows or any(hasattr(value, face) for face in ("__array__", "__arrow_c_stream__", "__dataframe__"))
    if isinstance(value, (*UNFIT, type)) or flat or (name in COLUMNS and not rows):
        what, shown = f"{name} cannot be this", f"{type(value).__name__} {visible(shown_object(value))}"
        raise RowsError("column-type", what, where=name, found=shown, known=holds, fix=f"give {holds}")


def _option_value(option: Option, arguments: Mapping[str, Any]) -> object:
    value = arguments.get(option.name)
    if value is None:
        return option.default
    if option.several and isinstance(value, (list, tuple)):
        return tuple(_checked(option, part) for part in value)
    return (_checked(option, value),) if option.several else _checked(option, value)


def _checked(option: Option, value: Any) -> object:  # noqa: ANN401
    """A value of an option; text becomes a number where a number is meant."""
    if option.choices and value not in option.choices:
        raise unknown_choice(value, option.choices, f"{option.name}={visible(repr(value))} is not a choice")
    plain = (str, numbers.Real, list, tuple, Mapping, os.PathLike, np.ndarray)
    single = option.several and not isinstance(value, (str, numbers.Real, *((Mapping,) if option.by_name else ())))
    switch = option.kind is bool and not isinstance(value, (bool, str))
    if not isinstance(value, plain) or single or switch or not _is_finite(value):
        found = f"{type(value).__name__} {visible(shown_object(value))}"
        what = f"{option.name} cannot be this"
        raise PlanError("option-unknown", what, where=option.name, found=found, fix=f"give {option.says}")
    if option.kind in (int, float) and isinstance(value, str):
        try:
            return option.kind(value)
        except ValueError:
            what, fix = f"{option.name}={visible(repr(value))} is not a number", f"give a number: {option.says}"
            raise PlanError("option-unknown", what, where=option.name, fix=fix) from None
    return value


def _is_finite(value: object) -> bool:
    """Whether numbers in an option, however deep, are ones that float64 and JSON hold."""
    if isinstance(value, Mapping):
        return all(map(_is_finite, (*value, *value.values())))
    if isinstance(value, (list, tuple)):
        return all(_is_finite(part) and not (isinstance(part, float) and math.isnan(part)) for part in value)
    if isinstance(value, numbers.Integral):
        return abs(int(value)) < 2**63
    return not isinstance(value, numbers.Real) or not math.isinf(value)
