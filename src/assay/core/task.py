# SPDX-License-Identifier: Apache-2.0
"""The contract of a task: what one folder below `tasks/` brings, so that everything above it can serve the task.

Whoever assesses, merges, gates, verifies or reports asks a task by this contract and never names one.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final, Protocol, Self

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import nearest, visible

TASKS: Final = "assay.tasks"
"""The package whose folders are the tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A column, file or array that a task reads."""

    name: str
    """As it is typed: truth, predicted, score, image."""
    holds: str
    """What stands in it: labels, a number, boxes, a path."""
    required: bool = True


class Tally(Protocol):
    """What a task counts: a sum over units."""

    @property
    def rows(self) -> int:
        """Rows that were counted."""

    def __add__(self, other: Self, /) -> Self:
        """Both together, equal to counting the rows of both at once."""

    def to_json(self) -> dict[str, object]:
        """Named parts of the tallies of a Record."""

    def digest(self) -> str:
        """SHA-256 of the canonical form; equal on every engine."""


class Task(Protocol):
    """One kind of machine-learning task."""

    name: str
    """As it is typed: `--task regression`."""
    variants: tuple[str, ...]
    """What a Record may call it; its name, unless it has several forms."""
    roles: tuple[Role, ...]
    unit: str
    """What varies by chance unless a unit is named: row, image, query."""
    in_scope: bool
    """Whether TS 4213:2022 speaks of it."""

    @property
    def registry(self) -> Iterable[object]:
        """Its measures by name: a `Registry` of `Measure`."""

    def variant(self, tally: Tally) -> str:
        """What a Record calls the task of a tally."""

    def read_tally(self, content: Mapping[str, object], plan: Mapping[str, object]) -> Tally:
        """The inverse of `Tally.to_json`, given what the plan of the Record states."""

    def describe(self, tally: Tally) -> dict[str, object]:
        """Parts of a Record that name what was counted, such as its classes."""

    def statement(self, tally: Tally) -> dict[str, object]:
        """Parts of the plan of a Record that only this task states."""

    def estimates(self, tally: Tally, settings: object, slice_: Mapping[str, Label] | None = None) -> object:
        """The estimates of a tally by measure name, as `inference.estimates.Estimates`."""

    def sections(self, tally: Tally, settings: object) -> dict[str, object]:
        """Further parts of a Record, such as curves."""

    def check_alike(self, new: Tally, reference: Tally) -> None:
        """Raise unless two tallies speak of the same thing, so that they can be compared."""

    def check_mergeable(self, first: Tally, other: Tally) -> None:
        """Raise unless two tallies may be added up."""

    def align(self, part: Tally, whole: Tally) -> Tally:
        """A part in the form of the whole, such as over the same classes."""

    def shareable(self, tally: Tally, smallest: int) -> tuple[Tally, list[str]]:
        """What may leave a site, with notes of what stays; an error where the whole has cells that are too small."""

    def small_cells(self, tally: Tally, smallest: int) -> list[str]:
        """Cells with at least one and fewer rows than may leave a site, by name."""


def find_task(name: str) -> Task:
    """The task of a name, or of a variant that a Record names."""
    known = list(task_names())
    for folder in sorted(known, key=lambda folder: folder != name):  # its own folder first: others stay unloaded
        task = load_task(folder)
        if name in (task.name, *task.variants):
            return task
    close = nearest(name, known)
    raise PlanError(
        "option-unknown",
        f'there is no task "{visible(name)}"',
        known=", ".join(known),
        fix=f'did you mean "{close}"?' if close else "choose one of them",
    )


def task_names() -> Iterator[str]:
    """The folders below `tasks/`; nothing else lists them."""
    for module in pkgutil.iter_modules(import_module(TASKS).__path__):
        if module.ispkg:
            yield module.name


def load_task(folder: str) -> Task:
    """The task that a folder declares."""
    task: Task = import_module(f"{TASKS}.{folder}").TASK
    return task
