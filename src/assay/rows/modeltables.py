# SPDX-License-Identifier: Apache-2.0
"""The table of one model in the embedded engine, and how its rows compare with those of another model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from assay.rows.cutting import Cut
from assay.rows.differing import SUBJECT, Rows
from assay.rows.engine import quote_identifier
from assay.rows.labels import label_of
from assay.rows.opened import NUMERIC, REAL, OpenedFile, number_sql
from assay.rows.opening import FrameSource, Roles, no_rows

if TYPE_CHECKING:
    from assay.core.errors import AssayError
    from assay.core.labels import Label

KEY: Final = "id"
_WIDE: Final = {"ubigint", "hugeint", "uhugeint"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTable:
    """The rows of one model in the engine."""

    model: str
    opened: OpenedFile
    source: FrameSource
    roles: Roles | None = None
    """Its columns by role, under the names they have in the engine."""
    cut: Cut | None = None
    """How its labels are made of its scores, where it has none."""
    keyed: bool = True
    """Whether ids pair the rows; else their places do."""
    homes: tuple[OpenedFile, ...] = ()
    """The tables it was made of: predictions, and the truth if that is elsewhere."""

    @property
    def rows(self) -> Rows:
        """Whose rows these are, as errors call them."""
        return Rows(model=self.model, where=self.source.where, keyed=self.keyed)

    @property
    def view(self) -> str:
        """What it is called in SQL."""
        return quote_identifier(self.opened.view)

    @property
    def key(self) -> str:
        """The column of the ids."""
        return self.source.group[KEY]

    def column(self, what: str) -> str | None:
        """The column of a role, if the model has it."""
        if what == "weight":
            return self.source.weight
        return self.source.truth if what == "truth" else self.source.group.get(what)

    def kind(self, column: str) -> str:
        """What kind of labels a column holds: text, numbers, truth values, or something else."""
        return _kind(self.opened.columns[column])

    def label(self, column: str, value: object) -> Label | None:
        """A value of a column as a label."""
        return label_of(value, where=f"{self.source.where}, {self.source.shown(column)}")

    def value(self, what: str, alias: str) -> str:
        """What is compared between models: the same SQL value for the same label."""
        column = str(self.column(what))
        name = f"{alias}.{quote_identifier(column)}"
        if what == "weight":
            return number_sql(self.opened, column, alias)
        if self.kind(column) == "text":
            return f"CAST({name} AS VARCHAR)"
        return f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END" if self._real(column) else name

    def size(self) -> int:
        """How many rows there are."""
        return self.count(f"FROM {self.view}") if self.opened.rows is None else self.opened.rows

    def confirm(self, rows: int) -> None:
        """Demand that as many rows were counted as the file has."""
        self.opened.confirm(rows)

    def count(self, query: str) -> int:
        """How many rows a query gives, from its FROM on."""
        return int(self.opened.fetch(f"SELECT count(*) {query}")[0][0])

    def _real(self, column: str) -> bool:
        return self.opened.columns[column].lower() in {"float", "double"}


def _kind(type_: str) -> str:
    bare = type_.partition("(")[0].lower()
    if bare in ("varchar", "enum"):
        return "text"
    return "number" if bare in NUMERIC | REAL else bare


def key_of(one: ModelTable, tables: Sequence[ModelTable], alias: str) -> str:
    """The id of a model in a type in which ids of all models compare exactly."""
    name = f"{alias}.{quote_identifier(one.key)}"
    types = {table.opened.columns[table.key].lower() for table in tables}
    if len(types) == 1 and one.kind(one.key) == "number":
        return name
    if one.kind(one.key) == "text":
        return f"CAST({name} AS VARCHAR)"
    return f"CAST({name} AS {'HUGEINT' if types & _WIDE else 'BIGINT'})"


def alike(first: ModelTable, other: ModelTable) -> bool:
    """Whether the ids of two models are of one kind."""
    return first.kind(first.key) == other.kind(other.key)


def met(first: ModelTable, other: ModelTable, alias: str) -> str:
    """The condition that two rows have one id."""
    if not alike(first, other):
        return "false"
    return f"{key_of(first, (first, other), 't0')} = {key_of(other, (first, other), alias)}"


def differ(first: ModelTable, other: ModelTable, what: str, alias: str) -> str:
    """The condition that truth, subject or weight of a row is not the same in two models."""
    mine, theirs = first.value(what, "t0"), other.value(what, alias)
    kinds = {one.kind(str(one.column(what))) for one in (first, other)}
    if what != "weight" and len(kinds) > 1:
        return f"({mine} IS NOT NULL OR {theirs} IS NOT NULL)"
    return f"{mine} IS DISTINCT FROM {theirs}"


def compared(one: ModelTable) -> list[str]:
    """What must be the same in every model, as far as it was named."""
    return [what for what in ("truth", SUBJECT, "weight") if one.column(what) is not None]


class Counted(Protocol):
    """The rows of one model, wherever they are matched."""

    @property
    def source(self) -> FrameSource:
        """Where they lie."""

    def size(self) -> int:
        """How many there are."""

    def confirm(self, rows: int) -> None:
        """Demand that these are all."""


def demand_met(
    tables: Sequence[Counted], fits: Sequence[tuple[int, int]], faults: Callable[[], AssayError | None]
) -> None:
    """Demand that every id stands once in every table; `fits` tells what is wrong with joined rows, and in how many."""
    sizes = [one.size() for one in tables]
    rows = sum(n for _, n in fits)
    if not sizes[0]:
        raise no_rows(tables[0].source.where)
    if any(fault for fault, _ in fits) or any(rows != size for size in sizes):
        raise faults() or ArithmeticError("rows do not match, and nothing is wrong with them")
    for one in tables:
        one.confirm(rows)
