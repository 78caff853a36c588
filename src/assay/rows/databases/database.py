# SPDX-License-Identifier: Apache-2.0
"""Databases: a DuckDB or SQLite file, read through one table or one SELECT."""

from __future__ import annotations

import os
from pathlib import Path

from assay.core.errors import PlanError, RowsError
from assay.core.text import quoted, visible
from assay.rows.databases.selection import demand_select
from assay.rows.files.formats import Format, Reading, confirm_magic, no_file, regular_file, unreadable

FILES = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": ""}
"""What a database file's name may end in; .db is either, as its first bytes say."""

_SERVERS = ("postgresql://", "postgres://")
_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"


def is_database(data: object) -> bool:
    """Whether a path, or a list of one, names a database; the address of a server is refused.

    >>> is_database("results.duckdb"), is_database("results.csv")
    (True, False)
    """
    data = data[0] if isinstance(data, (list, tuple)) and len(data) == 1 else data
    if isinstance(data, str) and data.lower().startswith(_SERVERS):
        shown = f"{data.partition(':')[0]}://..."  # a password may stand behind it
        raise no_file(
            shown,
            "tables on a database server are not read by their address",
            "give them to Python by Ibis, which counts them on the server: data=ibis.connect(...).table('NAME');"
            " or export them to a file: psql -c \"\\copy (SELECT ...) TO 'preds.csv' CSV HEADER\"",
            known=f"files ending in {' '.join(FILES)}",
        )
    return isinstance(data, (str, os.PathLike)) and Path(os.fsdecode(data)).suffix.lower() in FILES


def is_attached(data: str | os.PathLike[str]) -> bool:
    """Whether DuckDB reads a database where it is, because it is its own."""
    return _kind_of_file(os.fsdecode(data)) == "duckdb"


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


def check_selection(data: object, reading: Reading, *, truth: bool = False) -> None:
    """Check that a table or a query is asked of a database, and not both; and that a query is a SELECT."""
    sides = (("data", "table", "query"), ("truth_data", "truth_table", "truth_query"))
    side, *options = sides[truth]
    given = [name for name in options if getattr(reading, name) is not None]
    if len(given) > 1:
        raise PlanError("role-clash", f"both {' and '.join(given)} are given", where=side, fix="give one of them")
    if given and not is_database(data):
        other = sides[not truth]
        raise PlanError(
            "role-clash",
            f"{given[0]} is given, but {side} is not a database",
            where=side,
            known=f"files ending in {' '.join(FILES)}; {' and '.join(options)} speak of {side}",
            fix=f"leave it out, or give {other[1 + options.index(given[0])]} if {other[0]} is meant;"
            " of a DuckDB connection give the relation: data=connection.table('NAME')",
        )
    if (query := getattr(reading, options[1])) is not None:
        demand_select(query)
