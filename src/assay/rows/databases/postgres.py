# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL table or query, fetched in batches in one read-only snapshot.

The password is libpq's business (PGPASSWORD, a password file, a service file); one that stands in the address is used
and never shown or kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from assay.core.errors import EngineError, PlanError, RowsError, missing_extra, not_numbers, repeated_column
from assay.core.text import quoted, visible
from assay.rows.databases.database import (
    ADDRESS,
    Use,
    address_parts,
    chosen,
    not_utf8,
    redacted,
    refused_query,
    wrapped,
)
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.formats import Reading

BATCH = 50_000
KNOCK = 10
"""Seconds to wait for a server, if neither the address nor the environment says."""

_WHOLE = {"int2", "int4", "int8"}
_NUMBERS = _WHOLE | {"numeric", "float4", "float8"}
_NAMES = {"uuid"}
"""Types whose values have one text each, by which they are compared."""
_NESTED = {"json", "jsonb", "hstore", "xml"}
_TABLES = (
    "SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND NOT c.relispartition "
    "AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' ORDER BY 1, 2"
)
_TYPES = "SELECT oid, typname, typcategory FROM pg_catalog.pg_type WHERE oid = ANY(%s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresTable:
    """A table or query on a server."""

    connection: Any = field(repr=False)
    source: str
    types: dict[str, tuple[str, str]]
    """Column -> name and category of its type."""
    columns: tuple[str, ...]
    path: str
    notes: tuple[str, ...]
    max_rows: int | None = None
    format: str = "postgresql"
    ordered: bool = False
    digest: Callable[[], str] = str
    """Gives nothing: the rows are on the server."""

    def kinds(self, uses: Mapping[str, Use]) -> dict[str, str]:
        """The types of columns in DuckDB; exact decimals are text, unless they are labels."""
        return {column: self._kind(column, use) for column, use in uses.items()}

    def _kind(self, column: str, use: Use) -> str:
        where = f"{self.path}, column {quoted(column)}"
        if self.columns.count(column) > 1:
            raise repeated_column(column, self.columns.count(column), where)
        kind, category = self.types[column]
        if use == "number" and kind not in _NUMBERS:
            known = "smallint, integer, bigint, numeric, real, double precision"
            what, finding = f"column {quoted(column)} must hold numbers", f"its type is {kind}"
            raise not_numbers(where, what, "cast it in a query", found=finding, known=known)
        if kind in _WHOLE:
            return "BIGINT"
        if kind in {"float4", "float8"} or (kind == "numeric" and use == "label"):
            return "DOUBLE"
        if kind in {"numeric", *_NAMES} or category in "SE":
            return "VARCHAR"
        if category == "B":
            return "BOOLEAN"
        nested = category in "ACR" or kind in _NESTED
        raise RowsError(
            "column-not-scalar" if nested else "column-type",
            f"column {quoted(column)} is {kind}, which {'is not one value a row' if nested else 'cannot hold labels'}",
            where=where,
            known="text, whole numbers, booleans, enumerations",
            fix="cast it in a query",
        )

    def batches(self, columns: Sequence[str]) -> Iterator[list[tuple[object, ...]]]:
        """The rows themselves, through a cursor of the server; what DuckDB holds as text comes as such."""
        kinds = (self.types[column] for column in columns)
        values = ", ".join(
            f"({quote_identifier(column)})::text"
            if category in "SE" or kind in {"numeric", *_NAMES}
            else quote_identifier(column)
            for column, (kind, category) in zip(columns, kinds, strict=True)
        )
        with _telling(self.path), self.connection.cursor(name="assay", binary=True) as cursor:
            cursor.execute(f"SELECT {values} FROM {self.source}")  # noqa: S608  quoted, or the user's own
            while batch := cursor.fetchmany(BATCH):
                yield batch

    def confirm(self) -> None:
        """Nothing to check: a snapshot does not change."""

    def close(self) -> None:
        """End the session."""
        self.connection.close()


def open_postgres(address: str, reading: Reading) -> PostgresTable:
    """A table, view or query on the server at an address."""
    where = redacted(address)
    if reading.sha256 is not None:
        raise PlanError(
            "option-unknown",
            "a table on a server cannot be pinned by a file's digest",
            where=where,
            fix="leave sha256 out, or export the rows to a file",
        )
    connection = _connect(address, where)
    try:
        with _telling(where):
            connection.read_only = True
            connection.isolation_level = import_module("psycopg").IsolationLevel.REPEATABLE_READ
            connection.execute("SET TRANSACTION READ ONLY")
            home = _rows(connection, "SELECT coalesce(current_schema(), 'public')")[0][0]
            tables = [(str(schema), str(name)) for schema, name in _rows(connection, _TABLES)]
        if reading.query is None:
            source = ".".join(quote_identifier(part) for part in chosen(tables, reading, where, str(home)))
        else:
            source = wrapped(reading.query)
        with _telling(where):
            described = connection.execute(f"SELECT * FROM {source} LIMIT 0", binary=True).description  # noqa: S608
            known = connection.execute(_TYPES, [[column.type_code for column in described]]).fetchall()
        types = {oid: (str(kind), str(category)) for oid, kind, category in known}
        return PostgresTable(
            connection=connection,
            source=source,
            types={column.name: types[column.type_code] for column in described},
            columns=tuple(column.name for column in described),
            path=where,
            notes=(f"fetched from PostgreSQL {connection.info.parameter_status('server_version')}",),
            max_rows=reading.max_rows,
        )
    except BaseException:
        connection.close()
        raise


def _rows(connection: Any, query: str) -> list[tuple[object, ...]]:  # noqa: ANN401
    """The answer to a query; the binary form of it is asked for because then the server takes one statement only."""
    return list(connection.execute(query, binary=True).fetchall())


def _connect(address: str, where: str) -> Any:  # noqa: ANN401  a connection of psycopg
    try:
        psycopg = import_module("psycopg")
    except ImportError:
        raise missing_extra("postgres", "a PostgreSQL table needs psycopg to be read", where=where) from None
    parts = address_parts(address)
    if parts is None:
        raise PlanError(
            "no-database",
            "the address of the server cannot be read",
            where=where,
            known=ADDRESS,
            fix="write it so; special characters in a name or password as %40 for @, %3A for :, %2F for /",
        )
    options: dict[str, Any] = {"client_encoding": "utf8", "application_name": "assay"}
    if "connect_timeout" not in parts and "PGCONNECT_TIMEOUT" not in os.environ:
        options["connect_timeout"] = KNOCK
    secret = str(parts.get("password") or os.environ.get("PGPASSWORD") or "")
    try:
        return psycopg.connect(address, **options)
    except psycopg.Error as error:
        message = visible(" ".join(str(error).split()))
        raise PlanError(
            "no-database",
            "the server does not let us in, or is not there",
            where=where,
            found=message.replace(secret, "...") if secret else message,
            fix="check host, port, database, user and password; PGPASSWORD and ~/.pgpass are honoured",
        ) from None


@contextmanager
def _telling(where: str) -> Iterator[None]:
    """Run work on the server so that only errors of ours come out."""
    psycopg = import_module("psycopg")
    try:
        yield
    except psycopg.Error as error:
        message = visible(error.diag.message_primary or str(error).strip())
        # Bad data for the query, read-only, syntax or privileges, not supported.
        if (error.sqlstate or "")[:2] in {"22", "25", "42", "0A"}:
            raise refused_query(message, where) from error
        what = "the server failed while it handed over rows"
        fix = "see what it says; if the connection was lost, run again"
        raise EngineError("engine-failed", what, where=where, found=message, fix=fix) from error
    except UnicodeDecodeError as error:
        raise not_utf8(where, visible(str(error))) from error
