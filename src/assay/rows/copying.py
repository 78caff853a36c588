# SPDX-License-Identifier: Apache-2.0
"""Columns of a database table brought into the embedded engine: scores are as many as rows, so cells would not help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.core.text import counted
from assay.rows.csvshape import too_many
from assay.rows.engine import connect, quote_identifier, release, told_as_ours
from assay.rows.opened import VIEW, OpenedFile

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

    from assay.rows.databases import CountedTable

BATCH = 50_000
"""Rows fetched at a time."""

_TABLE = "copied"


def copied(table: CountedTable, columns: Sequence[str], max_rows: int | None) -> OpenedFile:
    """Some columns, fetched in batches into a table that spills to disk where memory ends; the database is let go."""
    names = list(dict.fromkeys(columns))
    with told_as_ours(table.path, table.format):
        connection = connect([])
    try:
        kinds = table.kinds(names)
        rows = _fill(connection, table, names, kinds, max_rows)
        table.confirm(rows)
        chosen = ", ".join(f"c{place} AS {quote_identifier(name)}" for place, name in enumerate(names))
        with told_as_ours(table.path, table.format):
            connection.execute(f"CREATE TEMP VIEW {VIEW} AS SELECT {chosen} FROM {_TABLE}")  # noqa: S608  quoted
            relation = connection.sql(f"SELECT * FROM {VIEW}")  # noqa: S608
        digest = table.sha256
    except BaseException:
        release(connection)
        raise
    finally:
        table.close()
    return OpenedFile(
        relation=relation,
        connection=connection,
        path=table.path,
        format=table.format,
        columns=kinds,
        digest=lambda: digest,
        bytes=0,
        rows=rows,
        notes=(*table.notes, f"{counted(len(names), 'column')} fetched: scores are counted by the embedded engine"),
        first_line=1,
    )


def _fill(
    connection: duckdb.DuckDBPyConnection,
    table: CountedTable,
    names: Sequence[str],
    kinds: Mapping[str, str],
    max_rows: int | None,
) -> int:
    """Make the table and fill it; how many rows there were."""
    with told_as_ours(table.path, table.format):
        connection.execute(f"SET pandas_analyze_sample = {BATCH}")  # every value of a batch, not the first ones
        stated = ", ".join(f"c{place} {kinds[name]}" for place, name in enumerate(names))
        connection.execute(f"CREATE TEMP TABLE {_TABLE} ({stated})")
    rows = 0
    for batch in table.batches(names):
        rows += len(batch)
        if max_rows is not None and rows > max_rows:
            raise too_many(table.path, max_rows)
        values = {f"c{place}": _array([row[place] for row in batch]) for place in range(len(names))}
        with told_as_ours(table.path, table.format):
            connection.register("batch", values)
            connection.execute(f"INSERT INTO {_TABLE} SELECT * FROM batch")  # noqa: S608
            connection.unregister("batch")
    return rows


def _array(values: list[object]) -> NDArray[np.object_]:
    """Values as the engine takes them; it would read NaN as missing, so where one stands numbers are written out."""
    if any(isinstance(value, float) and value != value for value in values):  # noqa: PLR0124  NaN differs from itself
        values = [None if value is None else repr(value) for value in values]
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
