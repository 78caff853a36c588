# SPDX-License-Identifier: Apache-2.0
"""Databases: a DuckDB or SQLite file, or a PostgreSQL server, read through one table or one SELECT."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import PlanError, RowsError
from assay.core.text import quoted, visible
from assay.rows.databases.selection import demand_one_selection
from assay.rows.files.formats import Format, Reading, confirm_magic, regular_file, unreadable

if TYPE_CHECKING:
    from assay.rows.databases.duckdb_copy import DatabaseTable
    from assay.rows.databases.selection import Use
    from assay.rows.files.file_list import Paths
    from assay.rows.files.opened_file import OpenedFile
    from assay.rows.limits import Limits

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


def open_embedded(
    data: Paths,
    uses: Mapping[str, Use],
    reading: Reading,
    *,
    progress: Callable[[int, int], None] | None = None,
    limits: Limits | None = None,
) -> OpenedFile:
    """Files, or a table or query of a database, in the embedded engine; of SQLite and servers, the columns used."""
    from assay.rows.databases.duckdb_copy import copy_table
    from assay.rows.files.file_set import open_files
    from assay.rows.files.opened_file import OpenedFile
    from assay.rows.limits import Limits

    if isinstance(data, (str, os.PathLike)) and is_database(data):
        opened = open_database(data, reading, progress=progress, limits=limits)
        if isinstance(opened, OpenedFile):
            return opened
        return copy_table(opened, uses, place_of(opened.path, reading), max_rows=reading.max_rows, limits=limits)
    refuse_selection(data, reading)
    return open_files(data, reading, progress=progress, limits=limits or Limits())


def open_database(
    data: str | os.PathLike[str],
    reading: Reading,
    *,
    progress: Callable[[int, int], None] | None = None,
    limits: Limits | None = None,
) -> OpenedFile | DatabaseTable:
    """Open what is asked for of a database; nothing can be written through it."""
    demand_one_selection(reading, shown(data))
    if is_server(data):
        from assay.rows.databases.postgres import open_postgres

        return open_postgres(str(data), reading)
    path = os.fsdecode(data)
    facts = regular_file(path)
    if kind_of_file(path) == "duckdb":
        from assay.rows.databases.duckdb_file import open_duckdb

        return open_duckdb(path, facts, reading, progress=progress, limits=limits)
    from assay.rows.databases.sqlite import open_sqlite

    return open_sqlite(path, facts, reading, progress=progress)


def kind_of_file(path: str) -> str:
    """Whose database a file is, by its first bytes."""
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
        "the file is no database" if not kind else "the name of the file and its first bytes disagree",
        where=visible(path),
        found=f"the bytes are those of {kind}" if kind else "neither SQLite's mark nor DuckDB's",
        known=f"the name says {named or 'SQLite or DuckDB'}",
        fix="give the file the ending of the format it is in, or copy it again",
    )


def place_of(path: str, reading: Reading) -> str:
    """A table of a database as errors call it."""
    what = f"table {quoted(reading.table)}" if reading.table else "the query" if reading.query else ""
    return f"{visible(path)}, {what}" if what else visible(path)


def refuse_selection(data: Any, reading: Reading | None) -> None:  # noqa: ANN401
    """Demand that no table and no query is asked of something that has none."""
    if reading is not None and (reading.table is not None or reading.query is not None):
        raise PlanError(
            "role-clash",
            "a table or a query is asked for, but the data are no database",
            where=visible(data) if isinstance(data, (str, os.PathLike)) else "data",
            known=f"files ending in {' '.join(FILES)}; postgresql://...",
            fix="leave table and query out, or give a database; of a DuckDB connection give the relation:"
            " data=connection.table('NAME')",
        )
