# SPDX-License-Identifier: Apache-2.0
"""Databases: a DuckDB or SQLite file, or a PostgreSQL server, read through one table or one SELECT."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from assay.core.errors import PlanError, RowsError
from assay.core.text import listed, nearest, quoted, visible
from assay.rows.files.formats import Format, Reading, confirm_magic, regular_file, unreadable

if TYPE_CHECKING:
    from assay.rows.files.opened_file import OpenedFile
    from assay.rows.limits import Limits
    from assay.rows.source import FrameSource, Roles

Use: TypeAlias = Literal["label", "number", "id"]
"""What a column is asked for."""

FILES = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": ""}
"""What a database file's name may end in; .db is either, as its first bytes say."""

_SERVERS = ("postgresql://", "postgres://")
_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"
_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_SELECTS = ("select", "with", "values", "table", "from", "(")


class DatabaseTable(Protocol):
    """A table or query of a database, whose rows are fetched in batches."""

    @property
    def path(self) -> str:
        """The file, or the server without any secret."""

    @property
    def format(self) -> str:
        """Whose database it is."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the Record should know."""

    @property
    def sha256(self) -> str:
        """The digest of the file; empty for a server."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns."""

    @property
    def ordered(self) -> bool:
        """Whether rows have numbers that mean something to the user."""

    def check(self, column: str, use: Use) -> None:
        """Check that a column can hold labels, numbers or ids."""

    def kinds(self, columns: Sequence[str]) -> dict[str, str]:
        """The types of columns in DuckDB."""

    def batches(self, columns: Sequence[str]) -> Iterator[list[tuple[object, ...]]]:
        """The rows, a batch at a time."""

    def confirm(self, rows: int) -> None:
        """Check that the database did not change while it was read."""

    def close(self) -> None:
        """Let go of the database."""


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


def from_database(
    data: str | os.PathLike[str],
    roles: Roles,
    reading: Reading,
    *,
    progress: Callable[[int, int], None] | None = None,
    limits: Limits | None = None,
) -> FrameSource:
    """A table or query of a database; DuckDB counts a copy of the columns that are asked for."""
    from assay.rows.databases.duckdb_copy import copy_table
    from assay.rows.engines.narwhals_frames import of_opened
    from assay.rows.files.opened_file import OpenedFile

    opened = open_database(data, reading, progress=progress, limits=limits)
    where = place_of(opened.path, reading)
    if not isinstance(opened, OpenedFile):
        opened = copy_table(opened, roles, where, max_rows=reading.max_rows, limits=limits)
    return replace(of_opened(opened, roles), where=where)


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


def demand_one_selection(reading: Reading, where: str) -> None:
    """Demand that a database is asked for a table or for the answer to a SELECT, not for both."""
    if reading.table is not None and reading.query is not None:
        raise PlanError("role-clash", "both a table and a query are given", where=where, fix="give one of them")
    if reading.query is not None:
        demand_select(reading.query)


def kind_of_file(path: str) -> str:
    """Whose database a file is, by its first bytes."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise unreadable(path, error) from None
    found = "sqlite" if head == _SQLITE else "duckdb" if head[8:12] == _DUCKDB else ""
    named = FILES[Path(path).suffix.lower()]
    if found and named in ("", found):
        return found
    if not found:
        confirm_magic(path, Format(name="csv"), head)
    raise RowsError(
        "file-unreadable",
        "the file is no database" if not found else "the name of the file and its first bytes disagree",
        where=visible(path),
        found=f"the bytes are those of {found}" if found else "neither SQLite's mark nor DuckDB's",
        known=f"the name says {named or 'SQLite or DuckDB'}",
        fix="give the file the ending of the format it is in, or copy it again",
    )


def demand_select(query: str) -> None:
    r"""Demand that a query is a SELECT by its first word; the database itself is opened for reading only besides.

    >>> demand_select("-- all of them\nSELECT * FROM preds")
    """
    first = _COMMENTS.sub(" ", query).lstrip("( \t\r\n").partition("\n")[0].lower()
    if "\0" in query or not re.match(rf"({'|'.join(_SELECTS[:-1])})\b", first):
        raise refused_query(visible(query.strip()), "the query", what="the query is not a SELECT")


def refused_query(found: str, where: str, *, what: str = "the database refuses the query") -> PlanError:
    """The error for a query that is not run, or that a database would not run."""
    return PlanError(
        "query-refused",
        what,
        where=where,
        found=found,
        known="one SELECT, whose columns the roles name",
        fix="correct the query; try it in the database's own console first",
    )


def wrapped(query: str) -> str:
    """A query as a table within another one; the line break ends a comment that would swallow the parenthesis."""
    return f"({query.strip().removesuffix(';')}\n) AS asked"


def chosen(tables: Sequence[tuple[str, str]], reading: Reading, where: str, home: str) -> tuple[str, str]:
    """The schema and name of the table that is asked for, or of the only one; `home` is where plain names live."""
    known = [name if schema == home else f"{schema}.{name}" for schema, name in tables]
    if reading.table is None:
        if len(tables) == 1:
            return tables[0]
        raise PlanError(
            "role-missing",
            "nobody said which table holds the rows" if tables else "the database holds no tables",
            where=where,
            known=listed(known, most=20) or None,
            fix="--table NAME, or --query 'SELECT ...'" if tables else "give another database",
        )
    wanted = reading.table
    found = [table for table, name in zip(tables, known, strict=True) if wanted in (name, ".".join(table))]
    found = found or [table for table in tables if table[1] == wanted]
    if len(found) == 1:
        return found[0]
    close = nearest(wanted, known)
    raise PlanError(
        "no-table",
        f"there are {len(found)} tables {quoted(wanted)}" if found else f"there is no table {quoted(wanted)}",
        where=where,
        known=listed(known, most=20) or "no table at all",
        fix="name its schema too: schema.table"
        if found
        else f"did you mean {quoted(close)}?"
        if close
        else "name a known table",
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
            known=f"files ending in {' '.join(FILES)}; postgresql://...; a DuckDB connection",
            fix="leave table and query out, or give a database",
        )
