# SPDX-License-Identifier: Apache-2.0
"""Databases: a DuckDB or SQLite file, or a PostgreSQL server, read through one table or one SELECT."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.errors import PlanError, RowsError
from assay.core.text import quoted, visible
from assay.rows.databases.selection import demand_select
from assay.rows.files.formats import Format, Reading, confirm_magic, regular_file, unreadable

if TYPE_CHECKING:
    from assay.rows.databases.duckdb_tables import DatabaseTable

FILES = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": ""}
"""What a database file's name may end in; .db is either, as its first bytes say."""

_SERVERS = ("postgresql://", "postgres://")
_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"


def is_database(data: object) -> bool:
    """Whether a path or address names a database.

    >>> is_database("results.duckdb"), is_database("postgresql://me@host/db"), is_database("results.csv")
    (True, True, False)
    """
    if not isinstance(data, (str, os.PathLike)):
        return False
    return is_server(data) or Path(os.fsdecode(data)).suffix.lower() in FILES


def is_server(data: object) -> bool:
    """Whether it is the address of a server."""
    return isinstance(data, str) and data.lower().startswith(_SERVERS)


def shown(data: object) -> str:
    """A path or address as it may be printed: of a server only user, host, port and database, never a password."""
    if not is_server(data):
        return str(data)
    from assay.rows.databases.postgres import redacted

    return redacted(str(data))


def open_database(
    data: str | os.PathLike[str], reading: Reading, progress: Callable[[int, int], None] | None = None
) -> DatabaseTable:
    """The table or query that is asked for of SQLite or of a server; nothing can be written through it."""
    check_selection(data, reading)
    if is_server(data):
        from assay.rows.databases.postgres import open_postgres

        return open_postgres(str(data), reading)
    from assay.rows.databases.sqlite import open_sqlite

    path = os.fsdecode(data)
    return open_sqlite(path, regular_file(path), reading, progress=progress)


def is_attached(data: str | os.PathLike[str]) -> bool:
    """Whether DuckDB reads a database where it is, because it is its own."""
    return not is_server(data) and _kind_of_file(os.fsdecode(data)) == "duckdb"


def _kind_of_file(path: str) -> str:
    """Whose database a file is, by its first bytes."""
    regular_file(path)
    try:
        with Path(path).open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise unreadable(path, error) from None
    kind = "sqlite" if head == _SQLITE else "duckdb" if head[8:12] == _DUCKDB else ""
    named = FILES[Path(path).suffix.lower()]
    if kind and named in ("", kind):
        return kind
    if not kind:
        confirm_magic(path, Format(name="csv"), head)
    raise RowsError(
        "file-unreadable",
        "the file is not a database" if not kind else "the name of the file and its first bytes disagree",
        where=visible(path),
        found=f"the bytes are those of {kind}" if kind else "neither SQLite's mark nor DuckDB's",
        known=f"the name says {named or 'SQLite or DuckDB'}",
        fix="give the file the ending of the format it is in, or copy it again",
    )


def place_of(path: str, reading: Reading) -> str:
    """A table of a database as errors call it."""
    what = f"table {quoted(reading.table)}" if reading.table else "the query" if reading.query else ""
    return f"{visible(path)}, {what}" if what else visible(path)


def check_selection(data: object, reading: Reading, side: str = "data") -> None:
    """Check that one table or the answer to one SELECT is asked of a database, and nothing of what is none."""
    own = {"truth_data": ("truth_table", "truth_query")}.get(side, ("table", "query"))
    given = [name for name, value in zip(own, (reading.table, reading.query), strict=True) if value is not None]
    where = visible(shown(data)) if isinstance(data, (str, os.PathLike)) else side
    if len(given) > 1:
        raise PlanError("role-clash", f"both {own[0]} and {own[1]} are given", where=where, fix="give one of them")
    if given and not is_database(data):
        raise PlanError(
            "role-clash",
            f"{given[0]} is given, but {side} is not a database",
            where=where,
            known=f"files ending in {' '.join(FILES)}; postgresql://...; table and query speak of data, truth_table and"
            " truth_query of truth_data",
            fix="leave it out, or give a database; of a DuckDB connection give the relation:"
            " data=connection.table('NAME')",
        )
    if reading.query is not None:
        demand_select(reading.query)
