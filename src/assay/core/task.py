# SPDX-License-Identifier: Apache-2.0
"""The contract of a task: what one folder below `tasks/` brings, so that everything above it can serve the task.

Whoever assesses, merges, gates, verifies or reports asks a task by this contract and never names one.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, Protocol, Self, TypeAlias

from assay.core.errors import unknown_choice
from assay.core.labels import Label
from assay.core.text import visible

if TYPE_CHECKING:
    from assay.core.blocks import Chart, Section
    from assay.core.blocks.lead import Lead

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
    says: str = ""
    """A line of help, where `holds` does not say enough."""
    by_model: bool = False
    """Whether a comparison has one for each model."""
    kind: Literal["number", "label", "any"] = "any"
    """How a column of a table is read; `any` where the task reads files or arrays of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A setting that only some tasks have: a keyword in Python, `--name` on the command line, a key of a plan."""

    name: str
    says: str
    default: object = None
    kind: type = str
    """What a text from the command line becomes: str, float, int or bool."""
    choices: tuple[str, ...] = ()
    several: bool = False
    """Whether it may be repeated, so that its value is a tuple."""
    by_name: bool = False
    """Whether NAME=value is meant, so that a mapping is taken as well."""
    settle: Callable[[Mapping[str, object]], object] | None = None
    """What it is where nobody states it, from the other options."""
    only_with: str | None = None
    """The role without which it says nothing; a Record leaves it out then, unless it was stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a user gave to be assessed."""

    given: Mapping[str, object]
    """By role: an array, the name of a column of `data`, a path; roles that were not given are left out."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Every option of the task, defaults filled in."""
    data: object = None
    """A frame, a path or a mapping of columns; None where the roles hold arrays or paths themselves."""
    group: Mapping[str, object] = field(default_factory=dict)
    """By factor: an array or the name of a column."""
    unit: object = None
    """What rows belong to, where that is stated."""
    reading: object = None
    """`rows.reading.Reading`, or None."""
    limits: object = None
    """`rows.limits.Limits`, or None."""
    engine: str | None = None
    progress: Callable[[int, int], None] | None = None
    """Is called with what is done and what there is to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What reading and counting gave."""

    tally: object
    census: object
    """`tally.census.Census`."""
    groups: Mapping[str, Mapping[Label, object]] = field(default_factory=dict)
    """By factor and level: a tally."""
    notes: tuple[str, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)
    """What a Record says of the input: `from`, `columns`, `files` (name -> SHA-256), `reading`; no path, no value."""
    thumbnails: Mapping[Label, str] = field(default_factory=dict)
    """By image: a PNG in base 64 for the report of this call; a Record never holds pictures of the data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A small bundled input of a task for `assay demo`; file names are those of the folder `examples` of the task."""

    name: str
    says: str
    given: Mapping[str, object]
    options: Mapping[str, object] = field(default_factory=dict)
    data: str | None = None
    group: tuple[str, ...] = ()
    unit: str | None = None


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


Drawn: TypeAlias = "tuple[Chart | None, list[dict[str, object]]]"
"""A chart, and its numbers row by row."""


class ReportParts(Protocol):
    """What a task adds to reports, from a Record alone; by default nothing."""

    def lead(self, record: Mapping[str, object]) -> Lead:  # noqa: ARG002  part of the contract
        """What a report, also that of a comparison, says first."""
        from assay.core.blocks.lead import Lead

        return Lead()

    def blocks(self, record: Mapping[str, object]) -> Iterator[Section]:  # noqa: ARG002
        """Sections that only this task has."""
        yield from ()

    def comparison_blocks(self, record: Mapping[str, object]) -> Iterator[Section]:  # noqa: ARG002
        """The same for the Record of a comparison."""
        yield from ()

    def plot(self, record: Mapping[str, object], name: str) -> Drawn | None:  # noqa: ARG002
        """A chart by its name; None where the Record has no such."""
        return None

    def evidence(self, record: Mapping[str, object], item: str) -> str:  # noqa: ARG002
        """What it shows of an item of a reporting checklist."""
        return ""


class Task(ReportParts, Protocol):
    """One kind of machine-learning task."""

    name: str
    """As it is typed: `--task regression`."""
    variants: tuple[str, ...]
    """What a Record may call it; its name, unless it has several forms."""
    roles: tuple[Role, ...]
    options: tuple[Option, ...]
    unit: str
    """What varies by chance unless a unit is named: row, image, query."""
    in_scope: bool
    """Whether TS 4213:2022 speaks of it."""
    headline: tuple[str, ...]
    """The measures that a reader meets first, and that comparisons turn on; the first one ranks models."""
    examples: tuple[Example, ...]
    says: str
    """One sentence: what is assessed."""

    def read(self, request: Request) -> Counted:
        """Read and count what was given; the only function that sees rows."""

    def read_models(self, request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
        """The same for several models on the same test data: by model, what it has by role; the tally pairs them."""

    def read_settings(self, plan: Mapping[str, object], labels: Iterable[Label] = ()) -> object:
        """The settings that the plan of a Record states."""

    def read_paired(self, content: Mapping[str, object], plan: Mapping[str, object]) -> object:
        """The paired tally of the Record of a comparison."""

    def compare(self, paired: object, settings: object) -> Iterable[object]:
        """Findings about every two models of a paired tally, before correction: `inference.findings.Finding`."""

    def model_estimates(self, paired: object, settings: object) -> Mapping[str, object]:
        """By model: its `inference.estimates.Estimates`."""

    def unit_values(self, tally: Tally) -> Mapping[str, Mapping[str, float | None]]:
        """By unit: the values of measures on that unit alone; empty where units have no names."""

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
    raise unknown_choice(name, known, f'there is no task "{visible(name)}"')


def task_names() -> Iterator[str]:
    """The folders below `tasks/`; nothing else lists them."""
    yield from _folders(tuple(import_module(TASKS).__path__))


@cache
def _folders(places: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(module.name for module in pkgutil.iter_modules(places) if module.ispkg)


def load_task(folder: str) -> Task:
    """The task that a folder declares."""
    task: Task = import_module(f"{TASKS}.{folder}").TASK
    return task
