# SPDX-License-Identifier: Apache-2.0
"""Tables of DuckDB files, attached for reading only."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import PlanError, RowsError
from assay.core.text import visible
from assay.rows.databases.selection import chosen, refused_query, wrapped
from assay.rows.engines.duckdb_engine import (
    GLOB,
    quote_identifier,
    quote_literal,
    refuse_duplicates,
    told_as_ours,
)
from assay.rows.files.file_digests import LEFT_OUT, Hashing, demand_pinned
from assay.rows.files.formats import Progress, Reading, no_file, regular_file
from assay.rows.files.opened_file import VIEW, OpenedFile, demand_unchanged, stamp_of

if TYPE_CHECKING:
    import duckdb

_TABLES = (
    "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal "
    "UNION ALL "
    "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = current_database() AND NOT internal "
    "ORDER BY 1, 2"
)


def read_of(path: str) -> list[str]:
    """The files that the engine reads when it reads a database."""
    place = os.path.abspath(path)  # noqa: PTH100  links are kept as they are
    if any(mark in place for mark in GLOB):
        what = "a database whose path holds *, ? or [ cannot be opened"
        raise no_file(path, what, "rename the file or its folder", found="the engine reads them as patterns")
    return [place, f"{place}.wal"]


def attach_table(
    connection: duckdb.DuckDBPyConnection,
    path: str,
    reading: Reading,
    *,
    view: str = VIEW,
    progress: Progress | None = None,
) -> OpenedFile:
    """What is asked for of a database, as a view of an engine that may read it.

    A view binds the names of a query anew each time, and beside another database they could mean its tables; so the
    rows of a query are kept as they are now, unless the database is the only one.
    """
    place, facts = read_of(path)[0], regular_file(path)
    alone = view == VIEW
    alias = "source" if alone else f"{view}_source"
    where, log = visible(path), Path(f"{place}.wal")
    notes = ("changes in the write-ahead log beside the file are read too; the digest is the file's alone",)
    _attach(connection, place, where, alias)
    with told_as_ours(where, "duckdb"):
        tables = connection.execute(_TABLES).fetchall()
    source = wrapped(reading.query) if reading.query else _table(alias, chosen(tables, reading, where, "main"))
    refuse_duplicates(_asked(lambda: connection.sql(reading.query or f"FROM {source}"), where).columns, where)
    _view(connection, source, where, view, kept=not alone and reading.query is not None)
    hashing = Hashing(path, wanted=reading.digest)
    if reading.sha256 is not None:
        demand_pinned(path, reading, hashing.result())
    opened = OpenedFile(
        connection=connection,
        path=path,
        format="duckdb",
        digest=hashing.result,
        bytes=facts.st_size,
        notes=(
            *(notes if log.exists() and log.stat().st_size else ()),
            *(() if reading.digest else (LEFT_OUT,)),
        ),
        stamp=stamp_of(facts),
        max_rows=reading.max_rows,
        view=view,
        progress=progress,
    )
    demand_unchanged(opened)
    return opened


def _attach(connection: duckdb.DuckDBPyConnection, place: str, where: str, alias: str) -> None:
    import duckdb

    try:
        with told_as_ours(where, "duckdb"):
            connection.execute(f"ATTACH {quote_literal(place)} AS {quote_identifier(alias)} (READ_ONLY)")
            connection.execute(f"USE {quote_identifier(alias)}")
    except RowsError as error:
        if isinstance(error.__cause__, duckdb.IOException) and "lock" in str(error.found):
            raise PlanError(
                "no-database",
                "another program has the database open for writing",
                where=where,
                found=error.found,
                fix="close that program, or give it a copy to write to",
            ) from error.__cause__
        raise


def _table(alias: str, found: tuple[str, str]) -> str:
    return ".".join(quote_identifier(part) for part in (alias, *found))


def _view(connection: duckdb.DuckDBPyConnection, source: str, where: str, view: str, *, kept: bool) -> None:
    made = f"CREATE TEMP {'TABLE' if kept else 'VIEW'} {quote_identifier(view)} AS"

    def make() -> Any:  # noqa: ANN401
        connection.execute(f"{made} SELECT * FROM {source}")  # noqa: S608  quoted, or the user's own
        return connection.sql(f"SELECT * FROM {quote_identifier(view)}").columns  # noqa: S608

    _asked(make, where)


def _asked(work: Callable[[], Any], where: str) -> Any:  # noqa: ANN401  relations of duckdb
    """Do what a user's SQL asks for; what the engine says against it is the user's to correct."""
    import duckdb

    try:
        return work()
    except (duckdb.ProgrammingError, duckdb.PermissionException, duckdb.NotSupportedError) as error:
        message = visible(str(error).strip().partition("\n")[0])
        if "infinite recursion" in message:
            message = f'a table called "{VIEW}" must be named as source.main.{VIEW} in a query'
        raise refused_query(message, where) from error
