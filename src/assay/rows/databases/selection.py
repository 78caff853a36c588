# SPDX-License-Identifier: Apache-2.0
"""What is asked of a database: one table or one SELECT, and what its columns are to hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from assay.core.errors import PlanError, RowsError
from assay.core.text import listed, nearest, quoted, visible
from assay.rows.files.formats import Reading

Use: TypeAlias = Literal["label", "number", "id"]
"""What a column is asked for."""

_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_SELECTS = ("select", "with", "values", "table", "from", "(")


def demand_select(query: str) -> None:
    r"""Demand that a query is a SELECT by its first word; the database itself is opened for reading only besides.

    >>> demand_select("-- all of them\nSELECT * FROM preds")
    """
    first = _COMMENTS.sub(" ", query).lstrip("( \t\r\n").partition("\n")[0].lower()
    if "\0" in query or not re.match(rf"({'|'.join(_SELECTS[:-1])})\b", first):
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
