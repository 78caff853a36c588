# SPDX-License-Identifier: Apache-2.0
"""Tables on their way into one DuckDB: files, tables of databases, and frames."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from assay.core.errors import PlanError
from assay.core.text import counted
from assay.rows.databases.database import (
    is_database,
    is_server,
    kind_of_file,
    open_database,
    place_of,
    refuse_selection,
)
from assay.rows.databases.database import shown as address
from assay.rows.databases.duckdb_copy import fill_table
from assay.rows.databases.duckdb_file import attached, read_of
from assay.rows.databases.selection import demand_one_selection, demand_select
from assay.rows.engines.duckdb_engine import quote_identifier, quote_literal
from assay.rows.files.file import Prepared, pins_of, prepared, with_engine
from assay.rows.files.file_list import Listed, are_paths, list_files, list_sides, shown
from assay.rows.files.file_set import onward, open_table
from assay.rows.files.formats import Reading, regular_file
from assay.rows.files.opened_file import OpenedFile, check_scalar, locate
from assay.rows.joins.frame_inputs import load_frame
from assay.rows.joins.join_sql import JoinTable, keyed
from assay.rows.joins.mismatch_errors import Id, unfit_id

if TYPE_CHECKING:
    import duckdb

    from assay.rows.databases.selection import Use
    from assay.rows.files.formats import Progress
    from assay.rows.limits import Limits

Kept = TypeVar("Kept")

_WHOLE: Final = {
    "tinyint", "smallint", "integer", "bigint", "hugeint",
    "utinyint", "usmallint", "uinteger", "ubigint", "uhugeint",
}  # fmt: skip
_UNFIT: Final = {"float", "double", "real", "blob", "struct", "map", "union", "variant", "json", "bit"}
_OPTIONS: Final = (("data", "table", "query"), ("truth_data", "truth_table", "truth_query"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Input:
    """A table on its way into DuckDB."""

    called: str
    view: str
    open: Callable[[duckdb.DuckDBPyConnection, Mapping[str, Use], Progress | None], OpenedFile]
    """Opens the table with at least those of the named columns that it has."""
    files: Sequence[Prepared] = ()
    paths: Sequence[str] = ()
    """What DuckDB must be allowed to read beside the files."""
    bytes: int = 0


def with_inputs(inputs: Sequence[Input], limits: Limits, work: Callable[[duckdb.DuckDBPyConnection], Kept]) -> Kept:
    """Do some work with a DuckDB that may read the inputs."""
    files = [file for one in inputs for file in one.files]
    return with_engine(files, limits, work, databases=[path for one in inputs for path in one.paths])


def load_inputs(
    inputs: Sequence[Input],
    connection: duckdb.DuckDBPyConnection,
    uses: Sequence[Mapping[str, Use]],
    progress: Progress | None = None,
) -> list[OpenedFile]:
    """Open all inputs with the columns that each is asked for."""
    opened: list[OpenedFile] = []
    total, before = sum(table.bytes for table in inputs), 0
    for table, wanted in zip(inputs, uses, strict=True):
        opened.append(table.open(connection, wanted, onward(progress, before, total)))
        before += table.bytes
    return opened


def input_of(data: object, reading: Reading, view: str, called: str = "") -> Input:
    """A table by what it is: files, a table or query of a database, or a frame."""
    data = _alone(data)
    if not are_paths(data):
        refuse_selection(data, reading)
        return Input(
            called=called,
            view=view,
            open=lambda connection, uses, _: load_frame(connection, data, uses, view=view, called=called),
        )
    if isinstance(data, str) and is_database(data):
        demand_one_selection(reading, address(data))
        return _database(data, reading, view)
    refuse_selection(data, reading)
    return _files(prepared(list_files(data), reading), shown(data), view)


def two_inputs(data: object, truth_data: object, reading: Reading) -> tuple[Input, Input]:
    """Predictions and truth; a table or query is asked of the side that its option names."""
    given = [_alone(data), _alone(truth_data)]
    own = [
        replace(reading, truth_table=None, truth_query=None),
        replace(reading, table=reading.truth_table, query=reading.truth_query, truth_table=None, truth_query=None),
    ]
    databases = [isinstance(one, str) and is_database(one) for one in given]
    for options, side, is_one in zip(_OPTIONS, own, databases, strict=True):
        _check_selection(options, side, is_one=is_one)
    paths = {place: one for place, one in enumerate(given) if are_paths(one) and not databases[place]}
    each = list_sides(*paths.values()) if len(paths) == len(given) else [list_files(one) for one in paths.values()]
    listed = dict(zip(paths, each, strict=True))
    pins = _pins(given, databases, list(listed.values()), reading)
    inputs = []
    for place, view in enumerate(("assay_predictions", "assay_truth")):
        names = [file.name for file in listed[place]] if place in paths else [Path(str(given[place])).name]
        side = replace(own[place], sha256={name: pins[name] for name in names if name in pins} or None)
        if place in paths:
            plain = replace(side, table=None, query=None)
            inputs.append(_files(prepared(listed[place], plain), shown(paths[place]), view))
        elif databases[place]:
            inputs.append(_database(str(given[place]), side, view))
        else:
            inputs.append(input_of(given[place], side, view, called=_OPTIONS[place][0]))
    return inputs[0], inputs[1]


def _alone(data: object) -> object:
    """A list of one path as that path."""
    one = data[0] if isinstance(data, (list, tuple)) and len(data) == 1 else data
    return os.fsdecode(one) if isinstance(one, (str, os.PathLike)) else data


def _files(files: Sequence[Prepared], called: str, view: str) -> Input:
    def begin(connection: duckdb.DuckDBPyConnection, _: Mapping[str, Use], progress: Progress | None) -> OpenedFile:
        return open_table(files, connection, called=called, progress=progress, view=view)

    return Input(called=called, view=view, open=begin, files=files, bytes=sum(file.stamp[2] for file in files))


def _database(path: str, reading: Reading, view: str) -> Input:
    called = place_of(address(path), reading)
    in_place = not is_server(path) and kind_of_file(path) == "duckdb"

    def begin(connection: duckdb.DuckDBPyConnection, uses: Mapping[str, Use], progress: Progress | None) -> OpenedFile:
        if in_place:
            facts = regular_file(path)
            table = attached(connection, path, facts, reading, view=view, alias=f"{view}_source", kept=True)
            return replace(table, called=called, progress=progress)
        fetched = open_database(path, reading, progress=progress)
        if isinstance(fetched, OpenedFile):
            raise TypeError
        there = {name: use for name, use in uses.items() if name in fetched.columns}
        copy = fill_table(fetched, there or uses, called, connection, max_rows=reading.max_rows, view=view)
        return replace(copy, called=called)

    size = 0 if is_server(path) else Path(path).stat().st_size
    return Input(called=called, view=view, open=begin, paths=read_of(path) if in_place else (), bytes=size)


def _check_selection(options: tuple[str, str, str], own: Reading, *, is_one: bool) -> None:
    """Check that a table or query is asked of a database, and not both."""
    side, table, query = options
    if own.table is not None and own.query is not None:
        raise PlanError("role-clash", f"both {table} and {query} are given", where=side, fix="give one of them")
    if not is_one and (own.table is not None or own.query is not None):
        given = table if own.table is not None else query
        other = _OPTIONS[1 - _OPTIONS.index(options)]
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
    given: Sequence[object], databases: Sequence[bool], listed: Sequence[Sequence[Listed]], reading: Reading
) -> Mapping[str, str]:
    """The digests by name, after a check that each has its file on one of the two sides."""
    names = [one for side in listed for one in side]
    names += [
        Listed(path=str(one), name=Path(str(one)).name)
        for one, database in zip(given, databases, strict=True)
        if database and not is_server(one)
    ]
    if isinstance(reading.sha256, str):
        raise PlanError(
            "option-unknown",
            f"one digest cannot pin {counted(max(len(names), 2), 'file')}",
            where="sha256",
            fix="give a digest for each, by name, as a Record holds them under digests.files",
        )
    return pins_of(names, reading)


def duckdb_table(opened: OpenedFile, by: Sequence[str]) -> JoinTable:
    """A table of DuckDB with its ids; without id columns, the places of rows are the ids."""
    for column in by:
        check_scalar(opened, column)
    kinds = [_kind_of_id(opened.columns[column], column, opened.shown) for column in by]
    keys = [
        f"CAST({quote_identifier(column)} AS STRING)" if kind == "text" else quote_identifier(column)
        for column, kind in zip(by, kinds, strict=True)
    ]
    view = quote_identifier(opened.view)

    def places(row_id: Id | None) -> list[int]:
        if not by:
            return []
        if row_id is None:
            empty = " OR ".join(f"{quote_identifier(name)} IS NULL" for name in by)
            return [row for row, _ in locate(opened, empty, by)]
        texts = [str(part).lower() if isinstance(part, bool) else str(part) for part in row_id]
        same = " AND ".join(
            f"CAST({quote_identifier(name)} AS VARCHAR) = {quote_literal(text)}"
            for name, text in zip(by, texts, strict=True)
        )
        return [row for row, _ in locate(opened, same, by)]

    return JoinTable(
        source=keyed(view, keys or ["row_number() OVER () - 1"]),
        keys=len(by) or 1,
        kinds=tuple(kinds) or ("whole number",),
        called=opened.shown,
        fetch=opened.fetch,
        dialect="duckdb",
        size=lambda: (
            int(opened.fetch(f"SELECT count(*) FROM {view}")[0][0]) if opened.rows is None else opened.rows  # noqa: S608
        ),
        places=places,
    )


def _kind_of_id(type_: str, column: str, where: str) -> str:
    """The kind of id that a type of DuckDB makes: kinds must agree between tables, widths need not."""
    bare = type_.partition("(")[0].lower()
    if bare in _WHOLE:
        return "whole number"
    if bare in ("varchar", "enum"):
        return "text"
    if bare in _UNFIT or type_.endswith("]"):
        raise unfit_id(type_, column, where)
    return type_
