# SPDX-License-Identifier: Apache-2.0
"""The command line of every task: with `--task`, `run` and `compare` have the options that the task declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from assay.app.option_types import Column, Command, Option, Words, give_options, named_values, row
from assay.app.options import door_arguments, of_decisions, of_files, of_rows
from assay.core.progress import progress_bar
from assay.core.text import plural

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.compare.task_comparison import TaskComparison
    from assay.core.task import Option as TaskOption
    from assay.core.task import Task

CLASSIFICATION: Final = ("classification", "binary", "multiclass")
READING: Final = ("delimiter", "decimal", "max_rows", "sha256", "digest", "table", "query")
"""Options about reading that every task has."""
MACHINE: Final = ("memory", "threads", "temp", "engine")
SHARED: Final = (*READING, *MACHINE, "groups", "cross", "measures", "level", "missing", "seed")
TASK: Final = "assay.task"
"""Where a context keeps the task that was named."""

of_task = give_options(
    {"Columns": [row("--task", "TASK", "What is assessed, if not classes; --task TASK --help lists its options.")]}
)
"""Give a command the option that names a task."""


class TaskCommand(Command):
    """A command whose options are those of classification, or of the task that --task names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find --task first, because it decides which options there are."""
        name = _named_task(args)
        if name is not None and name not in CLASSIFICATION:
            from assay.core.task import find_task

            ctx.meta[TASK] = find_task(name)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The options of the task."""
        task = ctx.meta.get(TASK)
        own = super().get_params(ctx)
        if task is None:
            return own
        return task_parameters(task, own, by_model=self.name == "compare")


def _named_task(args: Sequence[str]) -> str | None:
    for place, text in enumerate(args):
        if text == "--task" and place + 1 < len(args):
            return args[place + 1]
        if text.startswith("--task="):
            return text.partition("=")[2]
    return None


def task_parameters(task: Task, own: Sequence[click.Parameter], *, by_model: bool) -> list[click.Parameter]:
    """Roles, options of the task, and those of the command's own options that every task has."""
    kept = {"predictions", "tables", "task", "out", "reports", "bare", "as_json", "as_short", "quiet"}
    kept |= {"accept", "against", "fairness", "tolerance", "min_group"}
    kept |= {"correction", *SHARED} | ({"margin", "equivalence", "control", "draws"} if by_model else {"ledger"})
    roles = [
        _role_option(role.name, role.says or role.holds, several=by_model and role.by_model) for role in task.roles
    ]
    options = [_task_option(option) for option in task.options]
    taken = {parameter.name for parameter in (*roles, *options)}
    shared = [parameter for parameter in own if parameter.name in kept - taken or "--help" in parameter.opts]
    if by_model:
        present = {parameter.name for parameter in shared}
        shared += [one for one in _row_options() if one.name in SHARED and one.name not in present | taken]
    unit = Option(
        ["--unit", "--subject", "unit"], metavar="COLUMN", type=Column(), group="Columns",
        help=f"What each {task.unit} belongs to.",
    )  # fmt: skip
    own_options = [*roles, *options, *([] if "unit" in taken else [unit])]
    return _behind_arguments(shared, own_options, optional=any(not role.required for role in task.roles))


def _behind_arguments(
    shared: Sequence[click.Parameter], own: Sequence[click.Parameter], *, optional: bool
) -> list[click.Parameter]:
    """Arguments first, then options of the task, then shared ones."""
    arguments = [copy(parameter) for parameter in shared if isinstance(parameter, click.Argument)]
    for argument in arguments:  # copies, for the command without a task keeps its own
        argument.required = argument.required and not optional
    return [*arguments, *own, *(parameter for parameter in shared if not isinstance(parameter, click.Argument))]


def _row_options() -> list[click.Parameter]:
    @of_rows
    @of_decisions
    @of_files
    def nothing(**given: object) -> None: ...

    return list(reversed(nothing.__click_params__))


def _role_option(name: str, says: str, *, several: bool) -> click.Option:
    more = "; NAME=... for each model, repeated" if several else ""
    return Option(
        [f"--{name.replace('_', '-')}", name],
        metavar="COLUMN|FILE",
        type=Column(),
        group="Columns",
        help=f"{says[:1].upper()}{says[1:]}{more}.",
        multiple=several,
    )


def _task_option(option: TaskOption) -> click.Option:
    says = f"{option.says}." + ("" if option.default in (None, (), False) else f" [default: {_shown(option.default)}]")
    flag = option.kind is bool
    return Option(
        [f"--{option.name.replace('_', '-')}", option.name],
        group="Task",
        is_flag=flag,
        default=None,
        multiple=option.several and not flag,
        metavar=None if flag or option.choices else {int: "NUMBER", float: "NUMBER"}.get(option.kind, "TEXT"),
        type=None if flag else Words(option.choices) if option.choices else str,
        help=says[:1].upper() + says[1:],
    )


def _shown(default: object) -> str:
    return ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def run_task(task: Task, predictions: Sequence[str], *, quiet: bool, **given: Any) -> Assessment:  # noqa: ANN401
    """Assess by a task what the command line names."""
    from assay.assess.task_assessment import assess_task

    arguments = _arguments(task, given)
    _place_inputs(task, predictions, arguments)
    with progress_bar(f"reading of {plural(task.unit)}", quiet=quiet) as progress:
        arguments["reading"] = replace(arguments["reading"], progress=progress)
        return assess_task(task.name, **arguments)


def compare_by_task(task: Task, tables: Sequence[str], *, quiet: bool, **given: Any) -> TaskComparison:  # noqa: ANN401
    """Compare by a task what the command line names."""
    from assay.assess.compare.task_comparison import compare_task

    arguments = _arguments(task, given)
    inputs: list[str] = list(tables)
    for role in task.roles:
        typed = arguments.get(role.name)
        if role.by_model and typed:
            arguments[role.name] = named_values(typed, f"--{role.name}", "model", code="comparison-needs")
        elif role.by_model:
            arguments.pop(role.name, None)
    if any(arguments.get(role.name) for role in task.roles if role.by_model) and inputs:
        arguments["data"], inputs = (inputs[0] if len(inputs) == 1 else inputs), []
    with progress_bar(f"reading of {plural(task.unit)}", quiet=quiet) as progress:
        arguments["reading"] = replace(arguments["reading"], progress=progress)
        return compare_task(task.name, *inputs, **arguments)


def _arguments(task: Task, given: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the command line as keywords of the task's door."""
    names = {*(role.name for role in task.roles), *(option.name for option in task.options)}
    own = {name: value for name, value in given.items() if name in names}
    shared = door_arguments({name: value for name, value in given.items() if name not in names})
    return {name: value for name, value in {**shared, **own}.items() if value not in (None, ())}


def _place_inputs(task: Task, predictions: Sequence[str], arguments: dict[str, Any]) -> None:
    """What stands before the options: the file of the first role that is a file, else the table of columns."""
    if not predictions:
        return
    inputs: str | list[str] = predictions[0] if len(predictions) == 1 else list(predictions)
    first = next((role for role in task.roles if role.by_model), task.roles[0])
    if first.kind == "any" and first.name not in arguments:
        arguments[first.name] = inputs
    else:
        arguments["data"] = inputs
