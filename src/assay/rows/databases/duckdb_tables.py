# SPDX-License-Identifier: Apache-2.0
"""Tables of databases in DuckDB: those of its own files attached for reading only, others copied in batches."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from assay.core.errors import PlanError, RowsError
from assay.core.text import counted, visible
from assay.rows.columns import object_array
from assay.rows.databases.database import check_selection, chosen, holds_changes, is_server, refused_query, wrapped
from assay.rows.engines.duckdb_engine import (
    GLOB,
    quote_identifier,
    quote_literal,
    refuse_duplicates,
    told_as_ours,
)
from assay.rows.files.file_digests import LEFT_OUT, begin_digest, pins_of
from assay.rows.files.formats import Progress, Reading, no_file, regular_file, too_many
from assay.rows.files.opened_file import VIEW, OpenedFile, demand_unchanged, stamp_of
from assay.rows.source import require

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

    from assay.rows.databases.database import Use
    from assay.rows.databases.postgres import PostgresTable
    from assay.rows.databases.sqlite import SqliteTable

    DatabaseTable: TypeAlias = SqliteTable | PostgresTable

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
    import duckdb

    place, facts, name = read_of(path)[0], regular_file(path), Path(path).name
    digest = begin_digest(path, pins_of([name], reading).get(name), wanted=reading.digest)
    alone = view == VIEW
    alias = "source" if alone else f"{view}_source"
    where = visible(path)
    notes = ("changes in the write-ahead log beside the file are read too; the digest is the file's alone",)
    try:
        with told_as_ours(where, "duckdb"):
            connection.execute(f"ATTACH {quote_literal(place)} AS {quote_identifier(alias)} (READ_ONLY)")
            connection.execute(f"USE {quote_identifier(alias)}")
            tables = connection.execute(_TABLES).fetchall()
    except RowsError as error:
        if isinstance(error.__cause__, duckdb.IOException) and "lock" in str(error.found):
            what = "another program has the database open for writing"
            fix = "close that program, or give it a copy to write to"
            raise PlanError("no-database", what, where=where, found=error.found, fix=fix) from error.__cause__
        raise
    names = () if reading.query else (alias, *chosen(tables, reading, where, "main"))
    source = wrapped(reading.query) if reading.query else ".".join(map(quote_identifier, names))
    made = f"CREATE TEMP {'VIEW' if alone or reading.query is None else 'TABLE'} {quote_identifier(view)} AS"
    try:
        refuse_duplicates(connection.sql(reading.query or f"FROM {source}").columns, where)
        connection.execute(f"{made} SELECT * FROM {source}")  # noqa: S608  quoted, or the user's own
        connection.sql(f"SELECT * FROM {quote_identifier(view)}")  # noqa: S608
    except (duckdb.ProgrammingError, duckdb.PermissionException, duckdb.NotSupportedError) as error:
        message = visible(str(error).strip().partition("\n")[0])  # what the engine says is the user's to correct
        if "infinite recursion" in message:
            message = f'a table called "{VIEW}" must be named as source.main.{VIEW} in a query'
        raise refused_query(message, where) from error
    opened = OpenedFile(
        connection=connection,
        path=path,
        format="duckdb",
        digest=digest,
        bytes=facts.st_size,
        notes=(*(notes if holds_changes(f"{place}.wal") else ()), *(() if reading.digest else (LEFT_OUT,))),
        stamp=stamp_of(facts),
        max_rows=reading.max_rows,
        view=view,
        progress=progress,
    )
    demand_unchanged(opened)
    return opened


SAMPLE = 50_000
"""Values of a batch that DuckDB looks at, which is all of them."""


def copy_table(
    table: DatabaseTable,
    uses: Mapping[str, Use],
    where: str,
    connection: duckdb.DuckDBPyConnection,
    *,
    view: str = VIEW,
) -> OpenedFile:
    """Those of some columns that are there, each checked for what it is to hold, in a table that spills to disk."""
    uses = {name: use for name, use in uses.items() if name in table.columns} or uses
    with closing(table):
        for name in uses:
            require(name, table.columns, where)
        table_name = quote_identifier(f"{view}_copied")
        rows = _fill(connection, table_name, table, table.kinds(uses))
        table.confirm()
        chosen = ", ".join(f"c{place} AS {quote_identifier(name)}" for place, name in enumerate(uses))
        with told_as_ours(table.path, table.format):
            connection.execute(f"CREATE TEMP VIEW {quote_identifier(view)} AS SELECT {chosen} FROM {table_name}")  # noqa: S608  quoted
    return OpenedFile(
        connection=connection,
        path=table.path,
        format=table.format,
        digest=table.digest,
        rows=rows,
        notes=(*table.notes, f"{counted(len(uses), 'column')} fetched and counted by the embedded engine"),
        view=view,
        known=tuple(table.columns),
        ordered=table.ordered,
    )


def _fill(
    connection: duckdb.DuckDBPyConnection, table_name: str, table: DatabaseTable, kinds: Mapping[str, str]
) -> int:
    """Make the table and fill it; how many rows there were."""
    names = list(kinds)
    with told_as_ours(table.path, table.format):
        connection.execute(f"SET pandas_analyze_sample = {SAMPLE}")  # every value of a batch, not the first ones
        stated = ", ".join(f"c{place} {kinds[name]}" for place, name in enumerate(names))
        connection.execute(f"CREATE TEMP TABLE {table_name} ({stated})")
    rows = 0
    for batch in table.batches(names):
        rows += len(batch)
        if table.max_rows is not None and rows > table.max_rows:
            raise too_many(table.path, table.max_rows)
        values = {f"c{place}": _array([row[place] for row in batch]) for place in range(len(names))}
        with told_as_ours(table.path, table.format):
            connection.register("batch", values)
            connection.execute(f"INSERT INTO {table_name} SELECT * FROM batch")  # noqa: S608
            connection.unregister("batch")
    return rows


def _array(values: list[object]) -> NDArray[np.object_]:
    """Values as the engine takes them; it would read NaN as missing, so where one stands numbers are written out."""
    if any(isinstance(value, float) and value != value for value in values):  # noqa: PLR0124  NaN differs from itself
        values = [None if value is None else repr(value) for value in values]
    return object_array(values)


def open_database(data: str | os.PathLike[str], reading: Reading, progress: Progress | None = None) -> DatabaseTable:
    """The table or query that is asked for of SQLite or of a server; nothing can be written through it."""
    check_selection(data, reading)
    if is_server(data):
        from assay.rows.databases.postgres import open_postgres

        return open_postgres(str(data), reading)
    from assay.rows.databases.sqlite import open_sqlite

    path = os.fsdecode(data)
    return open_sqlite(path, regular_file(path), reading, progress=progress)
