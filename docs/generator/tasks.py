# SPDX-License-Identifier: Apache-2.0
"""One page a task: what it reads, its options, and every measure from its declaration."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from assay.core.task import Task, find_task, task_names
from assay.measures.declare import Measure
from generator.advice import advice
from generator.markdown import plain, sentences, table


def other_tasks() -> list[str]:
    """Every task but classification, whose measures have pages of their own."""
    return sorted(name for name in task_names() if name != "classification")


def task_page(name: str) -> list[str]:
    """The page of a task."""
    task = find_task(name)
    return [
        f"# {name.replace('_', ' ').capitalize()}",
        "",
        *sentences(f"`assay.{name}(...)` and `assay run --task {name}` assess {plain(task.says)}."),
        f"What varies by chance is the {task.unit}, unless another unit is named.",
        "",
        "## What it reads",
        "",
        *table(("role", "holds", "needed"), _roles(task)),
        "",
        *(["## Options", "", *table(("option", "says", "default"), _options(task)), ""] if task.options else []),
        "## Measures",
        "",
        *(line for measure in task.registry for line in _measure(measure)),  # type: ignore[arg-type]
    ]


def _roles(task: Task) -> Iterator[tuple[str, ...]]:
    for role in task.roles:
        yield f"`{role.name}`", plain(role.says or role.holds), "yes" if role.required else "no"


def _options(task: Task) -> Iterator[tuple[str, ...]]:
    for option in task.options:
        choices = f" ({', '.join(f'`{choice}`' for choice in option.choices)})" if option.choices else ""
        default = "" if option.default is None else f"`{option.default}`"
        yield f"`{option.name}`", plain(option.says) + choices, default


def _measure(measure: Measure) -> Iterator[str]:
    needs = [
        name if default is inspect.Parameter.empty else f"{name}={default!r}"
        for name, default in measure.parameters.items()
    ]
    yield f"### {measure.name}"
    yield ""
    yield from sentences(f"{plain(measure.says[:1].upper() + measure.says[1:])}.")
    yield ""
    yield from table(
        ("", ""),
        (
            ("formula", f"`{measure.formula}`"),
            ("range", f"{measure.range_shown}; {measure.better}"),
            ("symbol", plain(measure.symbol)),
            ("also called", plain(", ".join(measure.also))),
            ("parameters", ", ".join(f"`{need}`" for need in needs)),
            ("family", measure.family),
            ("source", plain("; ".join(map(str, measure.source)))),
            ("catalogue", ", ".join(measure.spec)),
        ),
    )
    yield ""
    yield from advice(measure)
    yield ""
