# SPDX-License-Identifier: Apache-2.0
"""Columns of a database table, copied in batches into a temporary table of DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, TypeAlias

from assay.core.text import counted
from assay.rows.columns import object_array
from assay.rows.engines.duckdb_engine import quote_identifier, told_as_ours
from assay.rows.files.formats import too_many
from assay.rows.files.opened_file import VIEW, OpenedFile
from assay.rows.source import require

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

    from assay.rows.databases.postgres import PostgresTable
    from assay.rows.databases.selection import Use
    from assay.rows.databases.sqlite import SqliteTable

    DatabaseTable: TypeAlias = SqliteTable | PostgresTable

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
        digest = table.sha256
    return OpenedFile(
        connection=connection,
        path=table.path,
        format=table.format,
        digest=lambda: digest,
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
