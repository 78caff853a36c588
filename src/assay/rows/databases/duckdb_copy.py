# SPDX-License-Identifier: Apache-2.0
"""Columns of a database table, copied in batches into a temporary table of DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.core.text import counted
from assay.rows.engines.duckdb_engine import connect, quote_identifier, release, told_as_ours
from assay.rows.files.formats import too_many
from assay.rows.files.opened_file import VIEW, OpenedFile
from assay.rows.limits import Limits
from assay.rows.source import require

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

    from assay.rows.databases.postgres import PostgresTable
    from assay.rows.databases.selection import Use
    from assay.rows.databases.sqlite import SqliteTable

    DatabaseTable: TypeAlias = SqliteTable | PostgresTable

SAMPLE = 50_000
"""Values of a batch that DuckDB looks at, which is all of them."""


def copy_table(
    table: DatabaseTable, uses: Mapping[str, Use], where: str, *, max_rows: int | None, limits: Limits | None = None
) -> OpenedFile:
    """Some columns, each checked for what it is to hold, in a DuckDB of their own."""
    try:
        with told_as_ours(table.path, table.format):
            connection = connect([], limits or Limits())
    except BaseException:
        table.close()
        raise
    try:
        return fill_table(table, uses, where, connection, max_rows=max_rows)
    except BaseException:
        release(connection)
        raise


def fill_table(
    table: DatabaseTable,
    uses: Mapping[str, Use],
    where: str,
    connection: duckdb.DuckDBPyConnection,
    *,
    max_rows: int | None,
    view: str = VIEW,
) -> OpenedFile:
    """Some columns, fetched in batches into a table that spills to disk where memory ends; the database is let go."""
    names = list(uses)
    try:
        for name in names:
            require(name, table.columns, where)
        kinds = table.kinds(uses)
        table_name = quote_identifier(f"{view}_copied")
        rows = _fill(connection, table_name, table, kinds, max_rows)
        table.confirm(rows)
        chosen = ", ".join(f"c{place} AS {quote_identifier(name)}" for place, name in enumerate(names))
        with told_as_ours(table.path, table.format):
            connection.execute(f"CREATE TEMP VIEW {quote_identifier(view)} AS SELECT {chosen} FROM {table_name}")  # noqa: S608  quoted
        digest = table.sha256
    finally:
        table.close()
    return OpenedFile(
        connection=connection,
        path=table.path,
        format=table.format,
        digest=lambda: digest,
        rows=rows,
        notes=(*table.notes, f"{counted(len(names), 'column')} fetched and counted by the embedded engine"),
        view=view,
        known=tuple(table.columns),
        ordered=table.ordered,
    )


def _fill(
    connection: duckdb.DuckDBPyConnection,
    table_name: str,
    table: DatabaseTable,
    kinds: Mapping[str, str],
    max_rows: int | None,
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
        if max_rows is not None and rows > max_rows:
            raise too_many(table.path, max_rows)
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
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
