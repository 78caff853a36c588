# SPDX-License-Identifier: Apache-2.0
"""The sides of a join, each opened in one engine: files, a table of a DuckDB file, or rows fetched from a database.

A table of SQLite or PostgreSQL is fetched with the columns that are asked for, and no others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from assay.core.errors import PlanError
from assay.core.text import counted
from assay.rows.copying import fill_table
from assay.rows.databases import (
    DatabaseTable,
    Use,
    demand_one_selection,
    demand_select,
    is_database,
    is_server,
    kind_of_file,
    open_database,
    place_of,
    refuse_selection,
)
from assay.rows.databases import shown as address
from assay.rows.duckdbfile import attached, read_of
from assay.rows.files import Prepared, prepared
from assay.rows.ids import SideBySide
from assay.rows.listing import Listed, Paths, list_files, list_sides, shown
from assay.rows.opened import OpenedFile
from assay.rows.opening import Roles, require
from assay.rows.reading import Reading, regular_file
from assay.rows.together import onward, open_table

if TYPE_CHECKING:
    import duckdb

    from assay.rows.textfiles import Progress

VIEWS: Final = ("assay_predictions", "assay_truth")
"""What the two are called in SQL: names that no table of a user has."""
_ALIASES: Final = ("source", "truth_source")


class Side(Protocol):
    """Predictions or truth, on the way to being opened."""

    @property
    def called(self) -> str:
        """What errors call it."""

    @property
    def files(self) -> Sequence[Prepared]:
        """Files whose links live as long as the rows."""

    @property
    def paths(self) -> Sequence[str]:
        """What the engine must be allowed to read."""

    @property
    def bytes(self) -> int:
        """How much there is to read, as far as it is known."""

    @property
    def view(self) -> str:
        """What it is called in SQL."""

    def begin(self, connection: duckdb.DuckDBPyConnection, progress: Progress | None) -> OpenedFile | DatabaseTable:
        """Open it: as a view of the engine, or as a table whose rows are still to be fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    files: Sequence[Prepared]
    called: str
    view: str

    @property
    def paths(self) -> Sequence[str]:
        return [file.path for file in self.files]

    @property
    def bytes(self) -> int:
        return sum(file.stamp[2] for file in self.files)

    def begin(self, connection: duckdb.DuckDBPyConnection, progress: Progress | None) -> OpenedFile:
        return open_table(self.files, connection, called=self.called, progress=progress, view=self.view)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Database:
    path: str
    reading: Reading
    view: str
    alias: str
    files: Sequence[Prepared] = field(default=())

    @property
    def called(self) -> str:
        return place_of(address(self.path), self.reading)

    @property
    def _attached(self) -> bool:
        return not is_server(self.path) and kind_of_file(self.path) == "duckdb"

    @property
    def paths(self) -> Sequence[str]:
        return read_of(self.path) if self._attached else ()

    @property
    def bytes(self) -> int:
        return 0 if is_server(self.path) else Path(self.path).stat().st_size

    def begin(self, connection: duckdb.DuckDBPyConnection, progress: Progress | None) -> OpenedFile | DatabaseTable:
        if not self._attached:
            return open_database(self.path, self.reading, progress=progress)
        opened = attached(
            connection,
            self.path,
            regular_file(self.path),
            self.reading,
            view=self.view,
            alias=self.alias,
            kept=True,
        )
        return replace(opened, called=self.called, progress=progress)


def two_sides(data: Paths, truth_data: Paths, reading: Reading) -> tuple[Side, Side]:
    """Predictions and truth by what they are; a table or query is asked of the side it speaks of."""
    given = [_alone(one) for one in (data, truth_data)]
    asked = (
        replace(reading, truth_table=None, truth_query=None),
        replace(reading, table=reading.truth_table, query=reading.truth_query, truth_table=None, truth_query=None),
    )
    databases = [isinstance(one, str) and is_database(one) for one in given]
    for words, own, there in zip(_WORDS, asked, databases, strict=True):
        _demand_fit(words, own, is_there=there)
    listed = list_sides(*given) if not any(databases) else _listed(given, databases)
    pins = _pins(given, databases, listed, reading)
    stores: dict[int, _Database] = {}
    for place, (one, database) in enumerate(zip(given, databases, strict=True)):
        if isinstance(one, str) and database:
            pinned = None if is_server(one) else _of([Path(one).name], pins)
            stores[place] = _Database(
                path=one,
                reading=replace(asked[place], sha256=pinned),
                view=VIEWS[place],
                alias=_ALIASES[place],
            )
            stores[place].paths  # noqa: B018  one that is not there is told before links to files are made
    plain = replace(asked[0], table=None, query=None, sha256=_of([f.name for side in listed for f in side], pins))
    files = prepared([*listed[0], *listed[1]], plain)
    parts = files[: len(listed[0])], files[len(listed[0]) :]
    ours, theirs = (
        stores.get(place) or _Files(files=parts[place], called=shown(given[place]), view=VIEWS[place])
        for place in range(2)
    )
    return ours, theirs


def one_side(data: Paths, reading: Reading, name: str) -> Side:
    """A table by what it is: files, or a table or query of a database; `name` is what it is called in SQL."""
    one = _alone(data)
    if isinstance(one, str) and is_database(one):
        demand_one_selection(reading, address(one))
        side = _Database(path=one, reading=reading, view=f"assay_{name}", alias=f"source_{name}")
        side.paths  # noqa: B018  one that is not there is told before links to files are made
        return side
    refuse_selection(one, reading)
    return _Files(files=prepared(list_files(one), reading), called=shown(one), view=f"assay_{name}")


def _listed(given: Sequence[Paths], databases: Sequence[bool]) -> tuple[list[Listed], list[Listed]]:
    ours, theirs = ([] if database else list_files(one) for one, database in zip(given, databases, strict=True))
    return ours, theirs


_WORDS: Final = (("data", "table", "query"), ("truth_data", "truth_table", "truth_query"))


def _alone(data: Paths) -> Paths:
    """A list of one path as that path."""
    one = data[0] if isinstance(data, (list, tuple)) and len(data) == 1 else data
    return os.fsdecode(one) if isinstance(one, (str, os.PathLike)) else one


def _demand_fit(words: tuple[str, str, str], own: Reading, *, is_there: bool) -> None:
    """Demand that a table or query is asked of a database, and not both."""
    side, table, query = words
    if own.table is not None and own.query is not None:
        raise PlanError("role-clash", f"both {table} and {query} are given", where=side, fix="give one of them")
    if not is_there and (own.table is not None or own.query is not None):
        given = table if own.table is not None else query
        other = _WORDS[1 - _WORDS.index(words)]
        raise PlanError(
            "role-clash",
            f"{given} is given, but {side} is no database",
            where=side,
            known=f"{table} and {query} speak of {side}, {other[1]} and {other[2]} of {other[0]}",
            fix=f"leave it out, or give {other[1 if given == table else 2]} if {other[0]} is meant",
        )
    if own.query is not None:
        demand_select(own.query)


def _pins(
    given: Sequence[Paths], databases: Sequence[bool], listed: Sequence[Sequence[Listed]], reading: Reading
) -> Mapping[str, str]:
    """Digests by name; that every one of them has its file is asked here, where both sides are known."""
    from assay.rows.files import pins_of

    names = [one for side in listed for one in side]
    names += [
        Listed(path=str(one), name=Path(str(one)).name)
        for one, database in zip(given, databases, strict=True)
        if database and not is_server(one)
    ]
    if isinstance(reading.sha256, str) and len(given) > 1:
        raise PlanError(
            "option-unknown",
            f"one digest cannot pin {counted(max(len(names), 2), 'file')}",
            where="sha256",
            fix="give a digest for each, by name, as a Record holds them under digests.files",
        )
    return pins_of(names, reading)


def _of(names: Sequence[str], pins: Mapping[str, str]) -> Mapping[str, str] | None:
    return {name: pins[name] for name in names if name in pins} or None


def opened_sides(
    sides: tuple[Side, Side],
    roles: Roles,
    by: Sequence[str],
    connection: duckdb.DuckDBPyConnection,
    *,
    progress: Progress | None,
    max_rows: int | None,
) -> tuple[OpenedFile, OpenedFile]:
    """Both as views of one engine, with every column that is asked for."""
    begun: list[OpenedFile | DatabaseTable] = []
    total, before = sum(side.bytes for side in sides), 0
    called = [side.called for side in sides]
    try:
        for side in sides:
            begun.append(side.begin(connection, onward(progress, before, total)))
            before += side.bytes
        columns = SideBySide(names=[list(one.columns) for one in begun], where=called, by=tuple(by))
        roles.over(columns.take)
        first, second = (
            one
            if isinstance(one, OpenedFile)
            else replace(
                fill_table(
                    one, wanted_of(one, place, columns, roles), connection, max_rows=max_rows, view=VIEWS[place]
                ),
                called=called[place],
            )
            for place, one in enumerate(begun)
        )
    except BaseException:
        for one in begun:
            if not isinstance(one, OpenedFile):
                one.close()
        raise
    return first, second


def wanted_of(table: DatabaseTable, place: int, columns: SideBySide, roles: Roles) -> list[str]:
    """The columns to be fetched from a database: the id, and what the roles take from this side."""
    chosen = [column for home, column in columns.chosen.values() if home == place]
    numbers = {str(name) for name in (roles.weight, *(roles.score.columns if roles.score else ()))}
    for name in (*columns.by, *chosen):
        use: Use = "id" if name in columns.by else "number" if name in numbers else "label"
        table.check(require(name, table.columns, columns.where[place]), use)
    return [*columns.by, *chosen]
