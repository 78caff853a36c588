# SPDX-License-Identifier: Apache-2.0
"""Databases: a DuckDB or SQLite file, or a PostgreSQL server, read through one table or one SELECT."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

from assay.core.errors import PlanError, RowsError
from assay.core.text import listed, nearest, quoted, visible
from assay.rows.files.formats import Format, Reading, confirm_magic, read_start, regular_file

Use: TypeAlias = Literal["label", "number", "id"]
"""What a column is asked for."""

_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_SELECT = re.compile(r"(select|with|values|table|from)\b")

FILES = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": ""}
"""What a database file's name may end in; .db is either, as its first bytes say."""

ADDRESS = "postgresql://user@host:5432/database"
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
    return redacted(str(data)) if is_server(data) else str(data)


def redacted(address: str) -> str:
    """An address as it may be shown: user, host, port and database, and nothing else of it.

    >>> redacted("postgresql://me:secret@db.example:5433/trials?sslpassword=secret")
    'postgresql://me@db.example:5433/trials'
    """
    parts = address_parts(address)
    if parts is None:
        return ADDRESS
    user = f"{parts['user']}@" if parts.get("user") else ""
    port = f":{parts['port']}" if parts.get("port") else ""
    return visible(f"postgresql://{user}{parts.get('host') or ''}{port}/{parts.get('dbname') or ''}")


def address_parts(address: str) -> dict[str, Any] | None:
    """The parts of an address; None if it cannot be read, or if a mark of a password may stand among the others."""
    try:
        psycopg, conninfo = import_module("psycopg"), import_module("psycopg.conninfo")
    except ImportError:
        return None
    try:
        parts: dict[str, Any] = conninfo.conninfo_to_dict(address)
    except psycopg.Error:  # it says the whole address, so nothing of it is told
        return None
    told = {name: str(parts.get(name) or "") for name in ("user", "host", "port", "dbname")}
    clear = told["port"].replace(",", "").isdigit() or not told["port"]
    return parts if clear and not any(mark in text for text in told.values() for mark in "@#?") else None


def is_attached(data: str | os.PathLike[str]) -> bool:
    """Whether DuckDB reads a database where it is, because it is its own by the first bytes of the file."""
    if is_server(data):
        return False
    path = os.fsdecode(data)
    regular_file(path)
    head = read_start(path, 16)
    kind = "sqlite" if head == _SQLITE else "duckdb" if head[8:12] == _DUCKDB else ""
    named = FILES[Path(path).suffix.lower()]
    if kind and named in ("", kind):
        return kind == "duckdb"
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


def holds_changes(log: str) -> bool:
    """Whether a log or journal beside a database is there and has something in it."""
    try:
        return Path(log).stat().st_size > 0
    except OSError:
        return False


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


def demand_select(query: str) -> None:
    r"""Demand that a query is a SELECT by its first word; the database itself is opened for reading only besides.

    >>> demand_select("-- all of them\nSELECT * FROM preds")
    """
    first = _COMMENTS.sub(" ", query).lstrip("( \t\r\n").partition("\n")[0].lower()
    if "\0" in query or not _SELECT.match(first):
        raise refused_query(visible(query.strip()), "the query", what="the query is not a SELECT")


def refused_query(detail: str, where: str, *, what: str = "the database refuses the query") -> PlanError:
    """The error for a query that is not run, or that a database would not run."""
    return PlanError(
        "query-refused",
        what,
        where=where,
        found=detail,
        known="one SELECT, whose columns the roles name",
        fix="correct the query; try it in the database's own console first",
    )


def not_utf8(where: str, detail: str) -> RowsError:
    """The error for a text that no database should have taken."""
    return RowsError(
        "encoding",
        "a text in the database is not UTF-8",
        where=where,
        found=detail,
        fix="write the text again as UTF-8, or correct the encoding of the database",
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
            "the table that holds the rows is not stated" if tables else "the database holds no tables",
            where=where,
            known=listed(known, most=20) or None,
            fix="--table NAME, or --query 'SELECT ...'" if tables else "give another database",
        )
    wanted = reading.table
    matches = [table for table, name in zip(tables, known, strict=True) if wanted in (name, ".".join(table))]
    matches = matches or [table for table in tables if table[1] == wanted]
    if len(matches) == 1:
        return matches[0]
    close = nearest(wanted, known)
    raise PlanError(
        "no-table",
        f"there are {len(matches)} tables {quoted(wanted)}" if matches else f"there is no table {quoted(wanted)}",
        where=where,
        known=listed(known, most=20) or "no table at all",
        fix="name its schema too: schema.table"
        if matches
        else f"did you mean {quoted(close)}?"
        if close
        else "name a known table",
    )
