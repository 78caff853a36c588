# SPDX-License-Identifier: Apache-2.0
"""The embedded engine: names and texts quoted for it, files opened to it, its failures told as ours."""

from __future__ import annotations

import math
import os
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.core.errors import AssayError, EngineError, MissingColumn, PlanError, RowsError
from assay.core.labels import Label
from assay.core.text import counted, listed, quoted, visible
from assay.rows.files.formats import damaged, optional
from assay.rows.limits import Limits
from assay.rows.temporary_files import Scratch

if TYPE_CHECKING:
    import duckdb

    Connection: TypeAlias = duckdb.DuckDBPyConnection

INTERRUPTED = "Query interrupted"
"""What the engine says when Ctrl-C reached it in the middle of a query."""

LOOK = 0.1
"""Seconds between two looks at how far a query is."""

BATCH = 1 << 17
"""Rows of a batch that is read from a table, where no stream gives them."""
_BATCHES = "assay_batches"

GLOB = "*?["
"""Characters that the engine would expand in a path."""

_UNFIT = re.compile("[\0\ud800-\udfff]")
"""What no SQL text can hold: NUL, and halves of characters."""

_scratches: weakref.WeakKeyDictionary[duckdb.DuckDBPyConnection, Scratch] = weakref.WeakKeyDictionary()


def quote_identifier(name: str) -> str:
    """A name as an SQL identifier, whatever characters it holds.

    >>> quote_identifier('a" ; drop table t; --')
    '"a"" ; drop table t; --"'
    """
    if not name or _UNFIT.search(name):
        raise MissingColumn(
            "missing-column", f"no column can be called {quoted(name)}", found=quoted(name), fix="name another column"
        )
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    """A text as an SQL literal, whatever characters it holds.

    >>> quote_literal("it's")
    "'it''s'"
    """
    if _UNFIT.search(text):
        raise EngineError(
            "engine-failed",
            "a text with a NUL or half a character cannot be given to the engine",
            fix="correct the label or the name",
        )
    return "'" + text.replace("'", "''") + "'"


def sql_label(label: Label | float) -> str:
    """A label as an SQL literal.

    >>> sql_label("it's"), sql_label(1), sql_label(True)
    ("'it''s'", '1', 'True')
    """
    if isinstance(label, float) and not math.isfinite(label):
        return f"CAST('{label}' AS DOUBLE)"
    return quote_literal(label) if isinstance(label, str) else repr(label)


def malformed_input() -> tuple[type[Exception], ...]:
    """What the engine raises where text cannot be read as the columns that were declared."""
    import duckdb

    return duckdb.InvalidInputException, duckdb.ConversionException


def engine_errors() -> tuple[type[Exception], ...]:
    """Whatever the engine raises."""
    import duckdb

    return (duckdb.Error,)


def demand_embedded(engine: str | None) -> None:
    """Check that the engine of files, where it is not a cluster, is the embedded one."""
    if engine not in (None, "duckdb"):
        raise PlanError(
            "option-unknown",
            f"there is no engine {quoted(engine)}",
            where="engine",
            known="duckdb, spark://HOST:PORT, sc://HOST:PORT",
            fix="scan the file with Polars and give the frame: data=pl.scan_parquet(...)"
            if engine == "polars"
            else "name one of these, or leave it out",
        )


def connect(paths: Sequence[str], limits: Limits = Limits()) -> duckdb.DuckDBPyConnection:  # noqa: B008  frozen
    """An engine in memory that may read these files, load nothing, and write nowhere but its own spill folder."""
    import duckdb

    connection = duckdb.connect(
        ":memory:", config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    )
    scratch = Scratch(limits.temp)
    weakref.finalize(connection, scratch.remove)
    _scratches[connection] = scratch
    for setting in (
        *([] if limits.bytes is None else [f"memory_limit = '{limits.bytes}B'"]),
        *([] if limits.threads is None else [f"threads = {limits.threads:d}"]),
        "preserve_insertion_order = true",
        "enable_progress_bar_print = false",
        "enable_progress_bar = true",  # not shown, but asked for by `watched`
        "progress_bar_time = 0",
        "enable_external_file_cache = false",
        "python_enable_replacements = false",  # else a mistyped table name is looked up among Python variables
        f"temp_directory = {quote_literal(os.path.join(scratch.path, 'spill'))}",  # noqa: PTH118  a string for SQL
        f"allowed_paths = [{', '.join(quote_literal(path) for path in paths)}]",
        "enable_external_access = false",
    ):
        connection.execute(f"SET {setting}")
    return connection


def release(connection: duckdb.DuckDBPyConnection) -> None:
    """Close an engine and remove its spill folder at once, not when the last reference is gone."""
    connection.close()
    if (scratch := _scratches.pop(connection, None)) is not None:
        scratch.remove()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The query that reads a file, in two pieces around its path, so that files read alike are read by one query."""

    head: str
    path: str | None = None
    tail: str = ""

    def __str__(self) -> str:
        """The query for this file alone."""
        return self.over([] if self.path is None else [self.path])

    def over(self, paths: Sequence[str]) -> str:
        """The same query for several files."""
        names = [quote_literal(path) for path in paths]
        return self.head + (f"[{', '.join(names)}]" if len(names) > 1 else "".join(names)) + self.tail


def case_blind(name: str) -> str:
    """The name as the engine compares it: ASCII letters alike in either case.

    >>> case_blind("Score"), case_blind("É")
    ('score', 'É')
    """
    return name.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def refuse_duplicates(names: list[str], where: str) -> None:
    """Demand that no two columns share a name; the engine would rename the second one silently."""
    first: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        before = first.setdefault(case_blind(name), place)
        if before == place:
            continue
        same = names[before - 1] == name
        raise RowsError(
            "duplicate-column",
            f"two columns are called {quoted(name)}" if same else "two column names differ only in case",
            where=where,
            found=f"{quoted(names[before - 1])} is column {before}, {quoted(name)} is column {place}",
            known=f"{counted(len(names), 'column')}: {listed(names)}",
            fix="rename one of the two columns",
        )


@contextmanager
def watched(
    connection: duckdb.DuckDBPyConnection, progress: Callable[[int, int], None] | None, total: int
) -> Iterator[None]:
    """Tell how much of a total a query has done, while it runs."""
    if progress is None:
        yield
        return
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK):
            share = connection.query_progress()
            if share >= 0:  # there is no number yet when a query begins
                progress(int(total * min(share, 100) / 100), total)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
        progress(total, total)
    finally:
        over.set()
        watcher.join()


@contextmanager
def told_as_ours(where: str, form: str) -> Iterator[None]:
    """Run engine work so that only errors of this project, MemoryError and KeyboardInterrupt come out."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        if str(error) == INTERRUPTED:
            raise KeyboardInterrupt from None
        raise _ours(error, where, form) from error
    except (duckdb.Error, OSError, ValueError, LookupError, NotImplementedError) as error:
        raise _ours(error, where, form) from error


def _ours(error: Exception, where: str, form: str) -> AssayError:
    import duckdb

    message = visible(str(error).strip().partition("\n")[0])
    of_the_file = (
        duckdb.IOException,
        duckdb.InvalidInputException,
        duckdb.SerializationException,
        duckdb.InternalException,
        duckdb.FatalException,
        duckdb.NotSupportedError,
        duckdb.OutOfRangeException,
        OSError,
        ValueError,
    )
    # What the engine's Parquet reader finds wrong comes as the bare base class.
    if form in {"parquet", "arrow", "duckdb"} and (isinstance(error, of_the_file) or type(error) is duckdb.Error):
        if "utf" in message.lower():
            what, fix = "a text in the file is not UTF-8", "write the file again as UTF-8"
            return RowsError("encoding", what, where=where, found=message, fix=fix)
        return damaged(where, f"the file is damaged: {form} data cannot be read", message)
    what = "the engine could not run a query on the file"
    fix = "report this with the file's digest: the file passed every check before"
    if isinstance(error, duckdb.OutOfMemoryException):
        what = "the engine ran out of memory"
        fix = "allow more with memory= (--memory 2GB), or use fewer threads: each holds buffers of its own"
    return EngineError("engine-failed", what, where=where, found=message, fix=fix)


@contextmanager
def translate_failures(where: str) -> Iterator[None]:
    """Run work of an engine of the user's so that only errors of this project and KeyboardInterrupt come out."""
    try:
        yield
    except AssayError:
        raise
    except Exception as error:
        if str(error) == INTERRUPTED:
            raise KeyboardInterrupt from None
        what, finding = f"the engine failed: {type(error).__name__}", str(error)[:400]
        raise EngineError("engine-failed", what, where=where, found=finding, fix="see what it says") from error


def query_batches(connection: Any, query: str, *, text: bool = False) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401  of DuckDB
    """The columns of each batch as arrays of numbers; with `text`, also columns of texts, which have `take`."""
    if (arrow := optional("pyarrow")) is None:
        yield from _stored(connection, query, text=text)
        return
    with closing(arrow.RecordBatchReader.from_stream(connection.sql(query))) as reader:
        for batch in reader:
            if batch.num_rows:
                yield tuple(_streamed(column, arrow, text=text) for column in batch.columns)


def _streamed(column: Any, arrow: Any, *, text: bool) -> Any:  # noqa: ANN401  a column of PyArrow
    """Numbers in the memory of the stream, or texts as they are."""
    import numpy as np

    if text and arrow.types.is_string(column.type):
        return column
    if column.null_count or not (arrow.types.is_floating(column.type) or arrow.types.is_integer(column.type)):
        raise _unexpected(column.type)
    return np.from_dlpack(column)  # to_numpy would import pandas


def _stored(connection: Any, query: str, *, text: bool) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401  of DuckDB
    """The same from a temporary table, which spills to disk, for DuckDB hands over whole answers only."""
    import numpy as np

    connection.execute(f"CREATE OR REPLACE TEMP TABLE {_BATCHES} AS {query}")
    try:
        [(rows,)] = connection.sql(f"SELECT count(*) FROM {_BATCHES}").fetchall()  # noqa: S608  a name of ours
        for first in range(0, rows, BATCH):
            part = f"SELECT * FROM {_BATCHES} WHERE rowid >= {first} AND rowid < {first + BATCH}"  # noqa: S608
            columns = list(connection.sql(part).fetchnumpy().values())
            for column in columns:
                if np.ma.is_masked(column) or column.dtype.kind not in ("iufO" if text else "iuf"):
                    raise _unexpected(column.dtype)
            yield tuple(np.asarray(column) for column in columns)
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {_BATCHES}")


def _unexpected(kind: object) -> EngineError:
    return EngineError(
        "engine-failed",
        "the engine handed over other data than was asked for",
        found=f"a column of {kind}, or a missing value",
        fix="install the version of duckdb that assay asks for",
    )
