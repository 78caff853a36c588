# SPDX-License-Identifier: Apache-2.0
"""Models in tables of their own, matched by id or by place inside the embedded engine to one table.

Whether every id stands once in every table, and with the same truth, subject and weight, is asked where the rows are;
`faults` says what is wrong, and names the first few rows only, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Final, cast

from assay.rows.differing import SUBJECT
from assay.rows.engine import quote_identifier, told_as_ours
from assay.rows.files import with_engine
from assay.rows.frames import of_opened
from assay.rows.ids import Unmatched
from assay.rows.limits import Limits
from assay.rows.modelsides import ModelSide, opened_models
from assay.rows.modeltables import KEY, ModelTable, alike, compared, demand_met, differ, met
from assay.rows.opened import NUMERIC, VIEW, Home, OpenedFile, number_sql
from assay.rows.opening import FrameSource, Roles
from assay.rows.unmatched import faults

if TYPE_CHECKING:
    import duckdb


FIT: Final = "assay_fit"
"""The column that says of a row what is wrong with it: 0 for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """All models as one table of the engine, and each by itself."""

    opened: OpenedFile
    tables: tuple[ModelTable, ...]
    named: Mapping[str, str] = field(default_factory=dict)
    """What the user calls the columns of the one table."""

    def source(self, roles: Roles) -> FrameSource:
        """The one table by roles, whose columns are named as `columns_of` says."""
        made = of_opened(self.opened, roles)
        return replace(made, names={**self.named, **made.names})

    def fits(self) -> list[tuple[int, int]]:
        """What is wrong with rows, and in how many: 0 for nothing."""
        query = f"SELECT {FIT}, count(*) FROM {quote_identifier(self.opened.view)} GROUP BY {FIT}"  # noqa: S608
        return [(int(fault), int(rows)) for fault, rows in self.opened.fetch(query)]

    def demand(self, fits: Sequence[tuple[int, int]]) -> None:
        """Demand that every id stands once in every table with the same truth, subject and weight."""
        demand_met(self.tables, fits, lambda: faults(self.tables))

    @contextmanager
    def proving(self) -> Iterator[ModelTable]:
        """The table whose ids and truth prove which rows were compared."""
        yield self.tables[0]

    def close(self) -> None:
        """End the engine."""
        self.opened.close()


def columns_of(place: int, model: Roles) -> Roles:
    """The columns of one model by the names they have in the one table."""
    score, names = model.score, count()
    return Roles(
        truth="truth",
        predicted=f"call {place}",
        group={SUBJECT: SUBJECT} if SUBJECT in model.group else {},
        weight=None if model.weight is None else "weight",
        score=None if score is None else score.mapped(lambda _: f"score {place} {next(names)}"),
    )


def open_matched(
    sides: Sequence[ModelSide], limits: Limits, *, kept: bool, unmatched: Unmatched = "error"
) -> Matched | None:
    """Every model's table opened and joined as one; None where ids are of a kind that only memory can match.

    With `kept`, the rows are put together once and not anew for every question.
    """
    found: list[tuple[ModelTable, ...]] = []
    named: dict[str, str] = {}

    def work(connection: duckdb.DuckDBPyConnection) -> OpenedFile:
        tables = opened_models(sides, connection, unmatched=unmatched)
        found.append(tables)
        if not all(_fits(one) for one in tables):
            return tables[0].opened
        if not all(alike(tables[0], one) for one in tables):
            raise faults(tables) or ArithmeticError
        return _joined(tables, named, kept=kept)

    every = list({side.view: side for one in sides for side in one.sides}.values())
    files = [file for side in every for file in side.files]
    databases = [path for side in every if not side.files for path in side.paths]
    opened = with_engine(files, limits, work, databases=databases)
    if opened.view != VIEW:  # the tables were not joined
        opened.close()
        return None
    return Matched(opened=opened, tables=found[0], named=named)


def _fits(one: ModelTable) -> bool:
    """Whether ids and labels compare inside the engine as they do in memory."""
    ids = one.opened.columns[one.key].partition("(")[0].lower()
    labels = [column for what in ("truth", SUBJECT) if (column := one.column(what)) is not None]
    return ids in {"varchar", "enum", *NUMERIC} and all(
        one.kind(column) in {"text", "number", "boolean"} for column in labels
    )


def _joined(tables: Sequence[ModelTable], named: dict[str, str], *, kept: bool) -> OpenedFile:
    first = tables[0]
    homes: dict[str, Home] = {}
    chosen: list[str] = []

    def take(name: str, table: ModelTable, column: str, sql: str) -> None:
        if name not in homes:
            homes[name] = Home(table=table.opened, column=column, matched="true")
            named[name] = table.source.names.get(column, column)
            chosen.append(f"{sql} AS {quote_identifier(name)}")

    for place, one in enumerate(tables):
        own = cast("Roles", one.roles)
        target = columns_of(place, own)
        numbers = () if target.score is None else target.score.columns
        columns = {role: column for role, column in own.named().items() if role != f'group "{KEY}"'}
        if one.cut is not None:
            take(str(target.predicted), one, one.cut.score, one.cut.sql(one.opened, f"t{place}"))
        target = target if own.predicted is not None else replace(target, predicted=None)
        for (role, name), column in zip(target.named().items(), columns.values(), strict=True):
            number = role == "weight" or name in numbers
            home = f"t{place}.{quote_identifier(str(column))}"
            take(str(name), one, str(column), number_sql(one.opened, str(column), f"t{place}") if number else home)
    others = list(enumerate(tables))[1:]
    # No id may be missing on either side: then as many rows as every model has are each id once, and never else.
    lost = " OR ".join(f"t{i}.{quote_identifier(one.key)} IS NULL" for i, one in enumerate(tables))
    wrong = " OR ".join(differ(first, one, what, f"t{i}") for i, one in others for what in compared(first))
    fit = f"CAST(CASE WHEN {lost} THEN 2 WHEN {wrong} THEN 1 ELSE 0 END AS TINYINT) AS {FIT}"
    joins = " ".join(f"FULL JOIN {one.view} AS t{i} ON {met(first, one, f't{i}')}" for i, one in others)
    query = f"SELECT {', '.join([*chosen, fit])} FROM {first.view} AS t0 {joins}"  # noqa: S608  quoted
    where = "; ".join(one.source.where for one in tables)
    form = " and ".join(sorted({one.opened.format for one in tables}))
    connection = first.opened.connection
    with told_as_ours(where, form):
        connection.execute(f"CREATE TEMP {'TABLE' if kept else 'VIEW'} {quote_identifier(VIEW)} AS {query}")
        relation = connection.sql(f"SELECT * FROM {quote_identifier(VIEW)}")  # noqa: S608
        types = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
    return OpenedFile(
        relation=relation,
        connection=connection,
        path=where,
        format=form,
        columns=types,
        digest=str,
        bytes=sum(one.opened.bytes for one in tables),
        rows=None,  # as many as the first model has, unless something does not match
        notes=(),
        first_line=1,
        decimal=first.opened.decimal,
        parts=tuple(part for one in tables for part in one.opened.parts or (one.opened,)),
        homes=homes,
    )


__all__ = ["FIT", "Matched", "columns_of", "open_matched"]
