# SPDX-License-Identifier: Apache-2.0
"""Files that are open: their queries, and where in them the rows stand that an error must name."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.core.errors import EngineError, RowsError, missing_column, not_numbers
from assay.core.text import counted, quoted, visible
from assay.rows.engines.duckdb_engine import (
    Scan,
    query_batches,
    quote_identifier,
    quote_literal,
    release,
    sql_label,
    told_as_ours,
    watched,
)
from assay.rows.files.formats import Fault, Progress, damaged, misread, too_many, unreadable
from assay.rows.label_types import EXACT
from assay.rows.row_positions import Index, Row, Unplaced, places

if TYPE_CHECKING:
    import duckdb

    from assay.rows.joins.mismatch_errors import Join

VIEW = "rows"
"""What the rows are called in SQL given to `OpenedFile.fetch`."""

ROW = "assay_row"
"""The column of row numbers."""

NUMERIC = {f"{sign}{size}" for sign in ("", "u") for size in ("tinyint", "smallint", "integer", "bigint", "hugeint")}
REAL = {"float", "double", "decimal"}

Stamp: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A file that is fit to be read: the query, its rows, and the faults of single columns."""

    scan: Scan
    rows: int
    notes: tuple[str, ...] = ()
    first_line: int = 1
    faults: Mapping[str, Fault] = field(default_factory=dict)
    empty: frozenset[str] = frozenset()
    """Columns that hold nothing but null, so that their type is open."""


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True, eq=False)
class OpenedFile:
    """A file, or several as one table, whose rows wait in the engine; `fetch` turns failures into errors of ours."""

    connection: duckdb.DuckDBPyConnection
    path: str
    format: str
    view: str = VIEW
    """The rows in the engine."""
    relation: duckdb.DuckDBPyRelation = field(init=False)
    columns: dict[str, str] = field(init=False)
    """The types of the columns by name."""
    known: tuple[str, ...] = ()
    """The columns of the table, where only some of them were handed to the engine."""
    digest: Callable[[], str] = field(default=str, repr=False)
    bytes: int = 0
    rows: int | None = None
    notes: tuple[str, ...] = ()
    first_line: int = 1
    decimal: str = "."
    faults: Mapping[str, Fault] = field(default_factory=dict, repr=False)
    stamp: Stamp = field(default=(0, 0, 0, 0), repr=False)
    progress: Progress | None = field(default=None, repr=False)
    max_rows: int | None = None
    """A limit that could not be kept before the rows are counted."""
    name: str = ""
    """What the Record calls it."""
    scan: Scan | None = field(default=None, repr=False)
    levels: Mapping[str, str | None] = field(default_factory=dict, repr=False)
    """What the folders of the file say of all its rows."""
    empty: frozenset[str] = field(default=frozenset(), repr=False)
    """Columns without any value, whose type is open."""
    parts: tuple[OpenedFile, ...] = field(default=(), repr=False)
    """The files one by one, if there are several."""
    homes: Mapping[str, Home] = field(default_factory=dict, repr=False)
    """Where each column comes from, if truth and predictions were joined."""
    join: Join | None = None
    called: str = ""
    """What errors call it, where its path alone would not tell it apart: a table of a database."""
    ordered: bool = True
    """Whether rows have numbers that mean something to the user; those of a table on a server have not."""
    indexed: bool = False
    """Whether rows are counted from 0, as those of frames in memory are."""

    def __post_init__(self) -> None:
        """Ask the engine for the columns of the view."""
        relation = self.connection.sql(f"SELECT * FROM {quote_identifier(self.view)}")  # noqa: S608
        object.__setattr__(self, "relation", relation)
        object.__setattr__(self, "columns", dict(zip(relation.columns, map(str, relation.types), strict=True)))

    def place(self, number: int) -> int:
        """The place of a row, from its number, which begins with 1."""
        if not self.ordered:
            return Unplaced(number)
        return Index(number - 1) if self.indexed else int(number)

    @property
    def shown(self) -> str:
        """What errors call it."""
        return self.called or visible(self.path)

    @property
    def sha256(self) -> str:
        """The digest of the file, as soon as it is taken; empty where there is none."""
        return self.digest()

    @property
    def files(self) -> dict[str, str]:
        """Every file's name and digest."""
        return {one.name or Path(one.path).name: one.sha256 for one in self.parts or (self,) if one.sha256}

    def fetch(self, query: str | duckdb.DuckDBPyRelation) -> list[tuple[Any, ...]]:
        """The answer to a query, as rows of Python values; in SQL text the file is the table `rows`."""
        with translated(self), watched(self.connection, self.progress, self.bytes):
            # `sql` would ask for the columns first, which opens the file once more
            return (self.connection.execute(query) if isinstance(query, str) else query).fetchall()

    def arrays(self, query: str | duckdb.DuckDBPyRelation) -> dict[str, Any]:
        """The answer to a query, as numpy arrays by column."""
        with translated(self), watched(self.connection, self.progress, self.bytes):
            return dict((self.connection.sql(query) if isinstance(query, str) else query).fetchnumpy())

    def batches(self, query: str) -> Generator[tuple[Any, ...]]:
        """The answer to a query of numbers without gaps, as numpy arrays by column, some rows at a time.

        Whoever leaves it before the end must close it, for nothing else can be asked meanwhile.
        """
        with translated(self):
            yield from query_batches(self.connection, query)

    def close(self) -> None:
        """Let go of the file, and of whatever was spilled for it."""
        release(self.connection)

    def rows_with(self, column: str, label: object, most: int = 3) -> list[int]:
        """The numbers of the first rows that carry a label; None looks for missing ones."""
        name = quote_identifier(column)
        if label is None:
            predicate = f"{name} IS NULL"
        elif isinstance(label, float) and math.isnan(label):
            predicate = f"CAST({name} AS VARCHAR) = 'nan'"  # isnan would be untrue: a file's statistics leave NaN out
        elif isinstance(label, (str, bool, int, float)):
            predicate = f"{name} = {sql_label(label)}"
        else:
            return []
        return [row for row, _ in locate(self, predicate, [column], most)]

    def confirm(self, rows: int) -> None:
        """Demand that the engine read as many rows as the file has; whoever counts rows calls this with the sum."""
        if self.max_rows is not None and rows > self.max_rows:
            raise too_many(visible(self.path), self.max_rows, rows)
        if self.rows is None or rows == self.rows:
            for one in self.parts or (self,):
                one.digest()  # taken while the rows were counted
                demand_unchanged(one)
            return
        for part in self.parts:
            part.confirm(part.fetch(f"SELECT count(*) FROM {quote_identifier(part.view)}")[0][0])  # noqa: S608
        if _form(self) in {"parquet", "arrow"}:
            what, finding = "the file does not hold the rows its footer counts", f"{rows:,} read, {self.rows:,} there"
            raise damaged(visible(self.path), what, finding, fix="write the file again")
        what = "the engine read another number of rows than the file has"
        raise misread(visible(self.path), what, rows, self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Where a column of joined rows comes from: the table, its name there, and which of its rows found a partner."""

    table: OpenedFile
    column: str
    matched: str


@contextmanager
def translated(opened: OpenedFile) -> Iterator[None]:
    """Run engine work on an opened file so that only our errors come out, also if the file changed meanwhile."""
    try:
        with told_as_ours(visible(opened.path), _form(opened)):
            yield
    except (EngineError, RowsError):
        demand_unchanged(opened)
        raise
    demand_unchanged(opened)


def _form(opened: OpenedFile) -> str:
    """The format as far as it matters for what a failure means."""
    return next((form for form in ("parquet", "arrow") if form in opened.format), opened.format)


def demand_unchanged(opened: OpenedFile) -> None:
    """Demand that the files are the ones that were checked and hashed."""
    for part in opened.parts:
        demand_unchanged(part)
    if not opened.parts and any(opened.stamp):  # rows that were fetched from a database have none
        demand_stamp(opened.path, opened.stamp, "file")


def demand_stamp(path: str, stamp: Stamp, what: str) -> None:
    """Demand that a file was neither written to nor replaced."""
    try:
        now = stamp_of(Path(path).stat())
    except OSError as error:
        raise unreadable(path, error) from None
    if now != stamp:
        raise RowsError(
            "digest-mismatch",
            "the file changed while it was being read",
            where=visible(path),
            found="another size, another time of change, or another file",
            fix=f"run again when nothing writes to the {what}",
        )


def stamp_of(facts: os.stat_result) -> Stamp:
    """What changes when a file is written to or replaced."""
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def check_scalar(opened: OpenedFile, column: str) -> None:
    """Demand that a column is there and holds one value of one kind a row."""
    if column not in opened.columns:
        raise missing_column(column, opened.known or opened.columns, opened.shown)
    if (fault := opened.faults.get(column)) and (error := fault()):
        raise error


def locate(
    opened: OpenedFile, predicate: str, columns: Sequence[str], limit: int = 3
) -> list[tuple[int, dict[str, object]]]:
    """The first rows that satisfy an SQL predicate, in file order, by their number among the data rows (from 1).

    Of rows that were joined, the predicate is about the first column.
    """
    columns = columns[:1] if opened.homes else columns
    chosen = ", ".join(quote_identifier(name) for name in (ROW, *columns))
    rows: list[tuple[int, dict[str, object]]] = []
    for relation, place in numbered_rows(opened, columns):
        few = relation.filter(predicate).order(ROW).limit(limit - len(rows)).project(chosen)
        rows += [(place(row[0]), dict(zip(columns, row[1:], strict=True))) for row in opened.fetch(few)]
        if len(rows) >= limit:
            break
    return rows


def numbered_rows(
    opened: OpenedFile, columns: Sequence[str]
) -> Iterator[tuple[duckdb.DuckDBPyRelation, Callable[[int], int]]]:
    """The rows file by file with their numbers, from 1, and what such a number says of where a row stands.

    Columns have the names they have in the whole.
    """
    table, renamed, matched = opened, dict(zip(columns, columns, strict=True)), "true"
    while table.homes:  # rows that were joined may have been joined before
        homes = table.homes
        home = homes[renamed[columns[0]]]
        renamed = {name: homes[own].column for name, own in renamed.items()}
        table, matched = home.table, f"({matched}) AND {home.matched}"
    also = "".join(
        f", {quote_identifier(own)} AS {quote_identifier(name)}" for name, own in renamed.items() if own != name
    )
    for part in table.parts or (table,):
        with translated(part):
            query = f"SELECT row_number() OVER () AS {ROW}, *{also} FROM {quote_identifier(part.view)}"  # noqa: S608
            relation = part.connection.sql(query)
            relation = relation if table is opened else relation.filter(matched)
        name = (part.called or part.name) if table is not opened or table.parts else ""
        yield relation, partial(Row, file=name) if table.ordered and not table.indexed else table.place


def number_column(opened: OpenedFile, column: str) -> str:
    """The SQL that makes numbers of a column, after a check that every value is one; missing values stay missing."""
    check_scalar(opened, column)
    name, type_, number = quote_identifier(column), opened.columns[column], number_sql(opened, column)
    kind = type_.partition("(")[0].lower()
    if kind in {"float", "double"}:
        return number
    if kind == "decimal":
        wrong, known = f"TRY_CAST({number} AS {type_}) IS DISTINCT FROM {name}", "up to 17 digits, to be exact"
    elif kind in NUMERIC:
        wrong, known = f"abs(CAST({name} AS HUGEINT)) > {EXACT}", "up to 2^53, to be exact"
    elif kind == "varchar":
        mark = opened.decimal
        pattern = quote_literal(rf"[+-]?(\d+(\{mark}\d*)?|\{mark}\d+)([eE][+-]?\d+)?")
        whole = rf"coalesce(abs(TRY_CAST({name} AS HUGEINT)) > {EXACT}, false) AND NOT contains({name}, '{mark}')"
        lost = rf"TRY_{number} = 0 AND regexp_matches({name}, '^[^eE]*[1-9]')"  # 1e-400 is not 0
        fits = f"regexp_full_match({name}, {pattern}) AND isfinite(TRY_{number}) AND NOT ({lost}) AND NOT ({whole})"
        wrong = f"{name} IS NOT NULL AND NOT coalesce({fits}, false)"
        known = f"digits with a decimal {quoted(mark)}, as in 0{mark}95"
    else:
        raise _not_numeric(opened, column, f"the column is {visible(type_)}", "numbers")
    count = opened.fetch(f"SELECT count(*) FROM {quote_identifier(opened.view)} WHERE {wrong}")[0][0]  # noqa: S608
    if count:
        first = locate(opened, wrong, [column])
        shown = ", ".join(f"{quoted(values[column])} {places([row])}".rstrip() for row, values in first)
        more = f" and {count - len(first):,} more" if count > len(first) else ""
        raise _not_numeric(opened, column, f"{shown}{more}", known, count)
    return number


def number_sql(opened: OpenedFile, column: str, alias: str | None = None) -> str:
    """The SQL that makes numbers of a column whose values were checked; in a join by the alias of its table."""
    name = quote_identifier(column) if alias is None else f"{alias}.{quote_identifier(column)}"
    comma = opened.columns[column].lower() == "varchar" and opened.decimal != "."
    pointed = f"replace({name}, ',', '.')" if comma else name
    return f"CAST({pointed} AS DOUBLE)"


def _not_numeric(opened: OpenedFile, column: str, finding: str, known: str, count: int | None = None) -> RowsError:
    some = f"{counted(count, 'value')} of column {quoted(column)} cannot be read as a number" if count else None
    return not_numbers(
        f"{visible(opened.path)}, column {quoted(column)}",
        some or f"column {quoted(column)} must hold numbers",
        found=finding,
        known=known,
        fix='correct the values; if the file writes 0,95 state decimal=","; leave a field empty for a missing value',
    )
