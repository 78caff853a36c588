# SPDX-License-Identifier: Apache-2.0
"""Models in tables of their own, matched by id inside the embedded engine to one table.

Whether every id stands once in every table, and with the same truth, subject and weight, is asked where the rows are;
`faults` says what is wrong, and names the first few rows only, however many there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Final

from assay.core.errors import AssayError
from assay.rows.differing import LISTED, SUBJECT, Rows, Some, another, ids_twice, other_rows, without_id
from assay.rows.engine import quote_identifier, told_as_ours
from assay.rows.files import with_engine
from assay.rows.frames import of_opened
from assay.rows.labels import label_of
from assay.rows.limits import Limits
from assay.rows.listing import Paths
from assay.rows.opened import NUMERIC, REAL, VIEW, Home, OpenedFile, number_sql
from assay.rows.opening import FrameSource, Roles, no_rows
from assay.rows.reading import Reading
from assay.rows.scored import sound
from assay.rows.sides import Side, model_sides, opened_side

if TYPE_CHECKING:
    import duckdb

    from assay.core.labels import Label

KEY: Final = "id"
FIT: Final = "assay_fit"
"""The column that says of a row what is wrong with it: 0 for nothing."""
_WIDE: Final = {"ubigint", "hugeint", "uhugeint"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTable:
    """The rows of one model in the engine."""

    model: str
    opened: OpenedFile
    source: FrameSource

    @property
    def rows(self) -> Rows:
        """Whose rows these are, as errors call them."""
        return Rows(model=self.model, where=self.source.where)

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
        return _count(self, f"FROM {self.view}") if self.opened.rows is None else self.opened.rows

    def _real(self, column: str) -> bool:
        return self.opened.columns[column].lower() in {"float", "double"}


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
        sizes = [one.size() for one in self.tables]
        rows = sum(n for _, n in fits)
        if not sizes[0]:
            raise no_rows(self.tables[0].source.where)
        if any(fault for fault, _ in fits) or any(rows != size for size in sizes):
            raise faults(self.tables) or ArithmeticError("rows do not match, and nothing is wrong with them")
        for one in self.tables:
            one.opened.confirm(rows)


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
    data: Mapping[str, Paths],
    roles: Mapping[str, Roles],
    readings: Mapping[str, Reading],
    limits: Limits,
    *,
    kept: bool,
) -> Matched | None:
    """Every model's table opened and joined as one; None where ids are of a kind that only memory can match.

    With `kept`, the rows are put together once and not anew for every question.
    """
    sides = model_sides(data, readings)
    found: list[tuple[ModelTable, ...]] = []
    named: dict[str, str] = {}

    def work(connection: duckdb.DuckDBPyConnection) -> OpenedFile:
        tables = tuple(
            _opened(side, model, roles[model], connection, readings[model])
            for side, model in zip(sides, data, strict=True)
        )
        found.append(tables)
        if not all(_fits(one) for one in tables):
            return tables[0].opened
        if not all(_alike(tables[0], one) for one in tables):
            raise faults(tables) or ArithmeticError
        return _joined(tables, list(roles.values()), named, kept=kept)

    files = [file for side in sides for file in side.files]
    databases = [path for side in sides if not side.files for path in side.paths]
    opened = with_engine(files, limits, work, databases=databases)
    if not opened.homes:
        opened.close()
        return None
    return Matched(opened=opened, tables=found[0], named=named)


def _opened(
    side: Side, model: str, roles: Roles, connection: duckdb.DuckDBPyConnection, reading: Reading
) -> ModelTable:
    numbers = {"weight"} if roles.score is None else {"weight", *roles.score.named()}
    columns: dict[str, bool] = {}
    for role, name in roles.named().items():
        columns[str(name)] = columns.get(str(name), True) and role in numbers
    opened = opened_side(side, columns, connection, progress=None, max_rows=reading.max_rows)
    source = of_opened(opened, roles)
    source = replace(source, where=opened.shown) if opened.called else source
    if roles.score is not None:
        checked, _ = sound(source, "any", single=len(roles.score.columns) == 1, drop=False)
        source = checked if isinstance(checked, FrameSource) else source
    return ModelTable(model=model, opened=opened, source=source)


def _kind(type_: str) -> str:
    bare = type_.partition("(")[0].lower()
    if bare in ("varchar", "enum"):
        return "text"
    return "number" if bare in NUMERIC | REAL else bare


def _fits(one: ModelTable) -> bool:
    """Whether ids and labels compare inside the engine as they do in memory."""
    ids = one.opened.columns[one.key].partition("(")[0].lower()
    labels = [column for what in ("truth", SUBJECT) if (column := one.column(what)) is not None]
    return ids in {"varchar", "enum", *NUMERIC} and all(
        one.kind(column) in {"text", "number", "boolean"} for column in labels
    )


def _key(one: ModelTable, tables: Sequence[ModelTable], alias: str) -> str:
    """The id of a model in a type in which ids of all models compare exactly."""
    name = f"{alias}.{quote_identifier(one.key)}"
    types = {table.opened.columns[table.key].lower() for table in tables}
    if len(types) == 1 and one.kind(one.key) == "number":
        return name
    if one.kind(one.key) == "text":
        return f"CAST({name} AS VARCHAR)"
    return f"CAST({name} AS {'HUGEINT' if types & _WIDE else 'BIGINT'})"


def _alike(first: ModelTable, other: ModelTable) -> bool:
    return first.kind(first.key) == other.kind(other.key)


def _met(first: ModelTable, other: ModelTable, alias: str) -> str:
    """The condition that two rows have one id."""
    if not _alike(first, other):
        return "false"
    return f"{_key(first, (first, other), 't0')} = {_key(other, (first, other), alias)}"


def _differ(first: ModelTable, other: ModelTable, what: str, alias: str) -> str:
    """The condition that truth, subject or weight of a row is not the same in two models."""
    mine, theirs = first.value(what, "t0"), other.value(what, alias)
    kinds = {one.kind(str(one.column(what))) for one in (first, other)}
    if what != "weight" and len(kinds) > 1:
        return f"({mine} IS NOT NULL OR {theirs} IS NOT NULL)"
    return f"{mine} IS DISTINCT FROM {theirs}"


def _compared(one: ModelTable) -> list[str]:
    return [what for what in ("truth", SUBJECT, "weight") if one.column(what) is not None]


def _joined(tables: Sequence[ModelTable], roles: Sequence[Roles], named: dict[str, str], *, kept: bool) -> OpenedFile:
    first = tables[0]
    homes: dict[str, Home] = {}
    chosen: list[str] = []

    def take(name: str, table: ModelTable, column: str, sql: str) -> None:
        if name not in homes:
            homes[name] = Home(table=table.opened, column=column, matched="true")
            named[name] = column
            chosen.append(f"{sql} AS {quote_identifier(name)}")

    for place, (one, own) in enumerate(zip(tables, roles, strict=True)):
        target = columns_of(place, own)
        numbers = () if target.score is None else target.score.columns
        columns = {role: column for role, column in own.named().items() if role != f'group "{KEY}"'}
        for (role, name), column in zip(target.named().items(), columns.values(), strict=True):
            number = role == "weight" or name in numbers
            home = f"t{place}.{quote_identifier(str(column))}"
            take(str(name), one, str(column), number_sql(one.opened, str(column), f"t{place}") if number else home)
    others = list(enumerate(tables))[1:]
    # No id may be missing on either side: then as many rows as every model has are each id once, and never else.
    lost = " OR ".join(f"t{i}.{quote_identifier(one.key)} IS NULL" for i, one in enumerate(tables))
    wrong = " OR ".join(_differ(first, one, what, f"t{i}") for i, one in others for what in _compared(first))
    fit = f"CAST(CASE WHEN {lost} THEN 2 WHEN {wrong} THEN 1 ELSE 0 END AS TINYINT) AS {FIT}"
    joins = " ".join(f"FULL JOIN {one.view} AS t{i} ON {_met(first, one, f't{i}')}" for i, one in others)
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


def faults(tables: Sequence[ModelTable]) -> AssayError | None:
    """What is wrong with rows that did not match, in the order in which rows in memory would be looked at."""
    for one in tables:
        lacking = _count(one, f"FROM {one.view} WHERE {quote_identifier(one.key)} IS NULL")
        if lacking:
            return without_id(lacking, one.model, one.rows.where)
    for one in tables:
        if (twice := _twice(one)).ids:
            return ids_twice(one.rows, twice)
    first = tables[0]
    for other in tables[1:]:
        lost, more = _lone(first, other), _lone(other, first)
        if lost.ids or more.ids:
            return other_rows(first.rows, other.rows, lost, more, kinds=not _alike(first, other))
        for what in _compared(first):
            if (error := _another(first, other, what)) is not None:
                return error
    return None


def _count(one: ModelTable, query: str) -> int:
    return int(one.opened.fetch(f"SELECT count(*) {query}")[0][0])


def _numbered(one: ModelTable) -> str:
    return f"(SELECT *, row_number() OVER () AS assay_row FROM {one.view})"  # noqa: S608  quoted


def _ids(one: ModelTable, rows: Sequence[tuple[object, ...]]) -> tuple[Label, ...]:
    found = [one.label(one.key, row[0]) for row in rows]
    return tuple(key for key in found if key is not None)


def _twice(one: ModelTable) -> Some:
    """Ids that stand in several rows, in the order in which they come up again."""
    name = quote_identifier(one.key)
    doubled = f"SELECT {name} FROM {one.view} GROUP BY {name} HAVING count(*) > 1"  # noqa: S608
    ids = _count(one, f"FROM ({doubled})")
    if not ids:
        return Some(ids=0, first=())
    again = f"SELECT {name}, assay_row, row_number() OVER (PARTITION BY {name} ORDER BY assay_row) AS assay_time"
    query = f"{again} FROM {_numbered(one)} SEMI JOIN ({doubled}) USING ({name})"
    first = one.opened.fetch(f"SELECT {name} FROM ({query}) WHERE assay_time = 2 ORDER BY assay_row LIMIT {LISTED}")  # noqa: S608
    return Some(ids=ids, first=_ids(one, first))


def _lone(one: ModelTable, other: ModelTable) -> Some:
    """Ids of one model that another does not have, in the order of their rows."""
    met = "false" if not _alike(one, other) else f"{_key(one, (one, other), 't0')} = {_key(other, (one, other), 't1')}"
    ids = _count(one, f"FROM {one.view} AS t0 ANTI JOIN {other.view} AS t1 ON {met}")
    first = (
        one.opened.fetch(
            f"SELECT t0.{quote_identifier(one.key)} FROM {_numbered(one)} AS t0 ANTI JOIN {other.view} AS t1"  # noqa: S608
            f" ON {met} ORDER BY t0.assay_row LIMIT {LISTED}"
        )
        if ids
        else []
    )
    return Some(ids=ids, first=_ids(one, first))


def _another(first: ModelTable, other: ModelTable, what: str) -> AssayError | None:
    """Rows whose truth, subject or weight differs, in the order of the first model's rows."""
    met, differ = _met(first, other, "t1"), _differ(first, other, what, "t1")
    wrong = _count(first, f"FROM {first.view} AS t0 JOIN {other.view} AS t1 ON {met} WHERE {differ}")
    if not wrong:
        return None
    values = ", ".join(
        one.value(what, alias) if what == "weight" else f"{alias}.{quote_identifier(str(one.column(what)))}"
        for one, alias in ((first, "t0"), (other, "t1"))
    )
    rows = first.opened.fetch(
        f"SELECT t0.{quote_identifier(first.key)}, {values} FROM {_numbered(first)} AS t0 JOIN {other.view} AS t1"  # noqa: S608
        f" ON {met} WHERE {differ} ORDER BY t0.assay_row LIMIT {LISTED}"
    )
    if what != "weight":
        names = [str(one.column(what)) for one in (first, other)]
        rows = [(key, first.label(names[0], mine), other.label(names[1], theirs)) for key, mine, theirs in rows]
    each = [(_ids(first, [row])[0], row[1], row[2]) for row in rows]
    return another(first.rows, other.rows, what, wrong, _count(first, f"FROM {first.view}"), each)


__all__ = ["FIT", "KEY", "Matched", "ModelTable", "columns_of", "faults", "open_matched"]
