# SPDX-License-Identifier: Apache-2.0
"""A SQLite database, read by Python's own driver in batches.

SQLite keeps a type with each value, not with each column, and compares 1 and 1.0 or, in some collations, "a" and "A"
as equal. So DuckDB counts a copy of the values, and a column that mixes types is an error.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from assay.core.errors import RowsError
from assay.core.text import counted, listed, quoted, visible
from assay.rows.databases.database import chosen, holds_changes, not_utf8, refused_query, wrapped
from assay.rows.engines.duckdb_engine import quote_identifier, quote_literal, refuse_duplicates
from assay.rows.files.file_digests import LEFT_OUT, begin_digest, pins_of, stop_digest
from assay.rows.files.formats import Reading, damaged, read_start
from assay.rows.files.opened_file import Stamp, demand_stamp, stamp_of
from assay.rows.row_positions import places

if TYPE_CHECKING:
    from assay.rows.databases.database import Use

BATCH = 10_000
LISTEN = 1_000_000
"""Steps of SQLite's machine, some tens of milliseconds, between two looks whether to stop."""

_NUMBERS = {"integer", "real"}
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_BUSY")
_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*' ORDER BY 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteTable:
    """A table or query of a SQLite file."""

    connection: sqlite3.Connection = field(repr=False)
    source: str
    columns: tuple[str, ...]
    path: str
    digest: Callable[[], str] = field(repr=False)
    stamp: Stamp
    notes: tuple[str, ...] = ()
    rows: int | None = None
    max_rows: int | None = None
    progress: Callable[[int, int], None] | None = field(default=None, repr=False)
    format: str = "sqlite"
    ordered: bool = True

    def _one_type(self, column: str, types: set[str], use: Use) -> None:
        if use == "number":
            if odd := types - _NUMBERS:
                raise self._unfit("column-not-numeric", column, odd, "is to hold numbers, but holds")
        elif "blob" in types:
            raise self._unfit("column-type", column, {"blob"}, "is to hold labels, but holds")
        elif len(types) > 1:
            raise self._unfit("mixed-types-in-column", column, types, "mixes")

    def _unfit(self, code: str, column: str, types: set[str], what: str) -> RowsError:
        shown = "; ".join(f"{kind} {places(self._rows_of(column, kind))}" for kind in sorted(types))
        return RowsError(
            code,
            f"column {quoted(column)} {what} {' and '.join(sorted(types))} values",
            where=f"{visible(self.path)}, column {quoted(column)}",
            found=shown,
            fix="give the values of the column one type (STRICT tables hold it), or select with CAST in a query",
        )

    def kinds(self, uses: Mapping[str, Use]) -> dict[str, str]:
        """The types of columns, in words of the embedded engine, after a look at the type of every value."""
        types = ", ".join(f"typeof({quote_identifier(name)})" for name in uses)
        with _told_as_ours(self.path):
            type_rows = self.connection.execute(f"SELECT DISTINCT {types} FROM {self.source}").fetchall()  # noqa: S608  quoted
        kinds = {}
        for place, (column, use) in enumerate(uses.items()):
            held = {str(row[place]) for row in type_rows} - {"null"}
            self._one_type(column, held, use)
            kinds[column] = "DOUBLE" if held & {"real"} else "BIGINT" if held & {"integer"} else "VARCHAR"
        return kinds

    def batches(self, columns: Sequence[str]) -> Iterator[list[tuple[object, ...]]]:
        """The rows, in the order they are stored."""
        names = ", ".join(map(quote_identifier, columns))
        done = 0
        with _told_as_ours(self.path):
            cursor = self.connection.execute(f"SELECT {names} FROM {self.source}")  # noqa: S608  quoted
            while batch := cursor.fetchmany(BATCH):
                yield batch
                done += len(batch)
                if self.progress and self.rows:  # in bytes, as for other files
                    self.progress(self.stamp[2] * min(done, self.rows) // self.rows, self.stamp[2])

    def _rows_of(self, column: str, kind: str) -> list[int]:
        """The first rows whose value has a type."""
        numbered = (
            f"SELECT row_number() OVER () AS place, typeof({quote_identifier(column)}) AS kind FROM {self.source}"  # noqa: S608
        )
        query = f"SELECT place FROM ({numbered}) WHERE kind = {quote_literal(kind)} ORDER BY place LIMIT 3"  # noqa: S608
        with _told_as_ours(self.path):
            return [row[0] for row in self.connection.execute(query)]

    def confirm(self) -> None:
        """Check that the digest is of the file that was read."""
        self.digest()
        demand_stamp(self.path, self.stamp, "database")

    def close(self) -> None:
        """Let go of the file."""
        stop_digest(self.digest)
        self.connection.close()


@contextmanager
def _told_as_ours(path: str) -> Iterator[None]:
    """Run work on the driver so that only errors of ours come out."""
    try:
        yield
    except (sqlite3.Error, OverflowError) as error:
        where, message, code = visible(path), visible(str(error)), getattr(error, "sqlite_errorname", "")
        if "UTF-8" in message:
            raise not_utf8(where, message) from error
        if code == "SQLITE_INTERRUPT":
            raise KeyboardInterrupt from None
        if code.startswith(_DAMAGED):
            fix = "copy the file again, or let the program that writes it finish and close it"
            raise damaged(where, "the database cannot be read", message, fix=fix) from error
        raise refused_query(message, where) from error


def _listen() -> int:
    """Called in the middle of a query, which is when Python gets to see Ctrl-C; SQLite takes that for a stop."""
    return 0


def open_sqlite(
    path: str,
    facts: os.stat_result,
    reading: Reading,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> SqliteTable:
    """A table, view or query of a SQLite file; the file and its folder are left as they are."""
    where, name = visible(path), Path(path).name
    _demand_whole(path, facts.st_size)
    digest = begin_digest(path, pins_of([name], reading).get(name), wanted=reading.digest)
    connection, notes = _connect(path)
    try:
        with _told_as_ours(path):
            connection.set_progress_handler(_listen, LISTEN)
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            tables = [("main", name) for (name,) in connection.execute(_TABLES)]
        query = reading.query
        source = wrapped(query) if query else quote_identifier(chosen(tables, reading, where, "main")[1])
        with _told_as_ours(path):
            cursor = connection.execute(f"SELECT * FROM {source} LIMIT 0")  # noqa: S608  compiles only what is one SELECT
            cursor = connection.execute(query) if query else cursor  # which keeps the names of columns called alike
            names = [column[0] for column in cursor.description]
        refuse_duplicates(names, where)
    except BaseException:
        stop_digest(digest)
        connection.close()
        raise
    return SqliteTable(
        connection=connection,
        source=source,
        columns=tuple(names),
        path=path,
        digest=digest,
        stamp=stamp_of(facts),
        notes=notes if reading.digest else (*notes, LEFT_OUT),
        rows=None if query else _about_rows(connection, source),
        max_rows=reading.max_rows,
        progress=progress,
    )


def _about_rows(connection: sqlite3.Connection, source: str) -> int | None:
    """The largest row number, for a progress bar; views and tables without row numbers have none."""
    try:
        return int(connection.execute(f"SELECT max(_rowid_) FROM {source}").fetchone()[0] or 0)  # noqa: S608  quoted
    except (sqlite3.Error, TypeError, ValueError):
        return None


def _connect(path: str) -> tuple[sqlite3.Connection, tuple[str, ...]]:
    """Where no journal waits, the file is opened as immutable: else SQLite would leave files beside it.

    A journal or log with something in it belongs to the content; then the file is opened as it must be.
    """
    place = os.path.abspath(path)  # noqa: PTH100  links are kept as they are
    waiting = [name for name in ("-wal", "-journal") if holds_changes(place + name)]
    mode = "mode=ro" if waiting else "immutable=1"
    address = f"file:{quote(place)}?{mode}"
    with _told_as_ours(path):
        connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    note = f"changes in the file's {listed(waiting)} are read too; the digest is the file's alone"
    return connection, (note,) if waiting else ()


def _demand_whole(path: str, size: int) -> None:
    """Demand that the file has the pages its header counts; SQLite itself notices only when it needs a lost one."""
    head = read_start(path, 100)
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    pages = int.from_bytes(head[28:32], "big")
    trusted = head[24:28] == head[92:96]  # an old writer leaves the count as it was
    if len(head) < 100 or (trusted and page * pages > size):  # noqa: PLR2004  the header's length
        finding = f"{counted(size, 'byte')}, where the header counts {page * pages:,}"
        what = "this is not a complete SQLite file"
        raise damaged(visible(path), what, finding, code="file-truncated", fix="copy the file again")
