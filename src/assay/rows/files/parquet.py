# SPDX-License-Identifier: Apache-2.0
"""Parquet and Arrow files: whole, within the row limit, columns named once, types as stated; Parquet written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from assay.core.errors import AssayError, EngineError, RowsError, missing_extra
from assay.core.text import visible
from assay.rows.engines.duckdb_engine import (
    Scan,
    connect,
    quote_identifier,
    quote_literal,
    refuse_duplicates,
    release,
    told_as_ours,
)
from assay.rows.files.formats import Reading, damaged, no_rows, optional, too_many, unreadable
from assay.rows.files.opened_file import Checked
from assay.rows.limits import Limits

if TYPE_CHECKING:
    import duckdb

SOURCE = "assay_source"
"""What an Arrow table is called inside the engine, before the name of its view."""

_WRITTEN = {"text": "VARCHAR", "real": "DOUBLE", "whole": "BIGINT"}
_PARQUET, _ARROW, _END_OF_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff\x00\x00\x00\x00"


def _truncated(where: str, what: str, finding: str) -> RowsError:
    fix = "copy or write the file again; writers put the end there last, when all rows are in"
    return damaged(where, f"this is not a complete {what} file", finding, code="file-truncated", fix=fix)


def _tail(path: str, size: int) -> bytes:
    try:
        with Path(path).open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - size))
            return file.read(size)
    except OSError as error:
        raise unreadable(path, error) from None


def parquet(path: str, known_as: str, connection: duckdb.DuckDBPyConnection, reading: Reading) -> Checked:
    """The query that reads a Parquet file and its rows by the footer; too many are refused before any is read."""
    where, size = visible(known_as), Path(known_as).stat().st_size
    tail = _tail(known_as, 8)
    if not tail.endswith(_PARQUET):
        raise _truncated(where, "Parquet", "its end mark is missing")
    if int.from_bytes(tail[:4], "little") + 12 > size:
        raise _truncated(where, "Parquet", "its footer is longer than the file")
    name = quote_literal(path)
    with told_as_ours(where, "parquet"):
        rows = int(connection.execute(f"SELECT num_rows FROM parquet_file_metadata({name})").fetchall()[0][0])  # noqa: S608
        groups = f"SELECT DISTINCT row_group_id, row_group_num_rows AS n FROM parquet_metadata({name})"  # noqa: S608
        inside = int(connection.execute(f"SELECT coalesce(sum(n), 0) FROM ({groups})").fetchall()[0][0])  # noqa: S608
        schema = connection.execute(f"SELECT name, num_children FROM parquet_schema({name})").fetchall()  # noqa: S608
    if reading.max_rows is not None and rows > reading.max_rows:
        raise too_many(where, reading.max_rows, rows)
    if rows == 0:
        raise no_rows(where, "a footer that counts 0 rows")
    if inside != rows:
        finding = f"{rows:,} rows in all, {inside:,} in its row groups"
        raise damaged(where, "the footer of the file contradicts itself", finding, fix="write the file again")
    refuse_duplicates(_top_level(schema), where)
    scan = Scan(head="SELECT * FROM read_parquet(", path=path, tail=", hive_partitioning = false)")
    return Checked(scan=scan, rows=rows)


def _top_level(schema: list[tuple[str, int | None]]) -> list[str]:
    """The names of the columns themselves, from a tree written down depth first."""
    names: list[str] = []
    skip: list[int] = []
    for name, children in schema[1:]:
        if not skip:
            names.append(name)
        else:
            skip[-1] -= 1
        if children:
            skip.append(children)
        while skip and skip[-1] == 0:
            skip.pop()
    return names


class ArrowStream:
    """A table with nothing but the Arrow stream interface, which DuckDB reads without PyArrow."""

    def __init__(self, table: Any) -> None:  # noqa: ANN401  a Polars frame
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def arrow(path: str, head: bytes, connection: duckdb.DuckDBPyConnection, reading: Reading, *, called: str) -> Checked:
    """The query that reads an Arrow file or stream, its rows, and what to note."""
    where = visible(path)
    is_file = head.startswith(_ARROW)
    if is_file and (not (tail := _tail(path, 10)).endswith(_ARROW) or len(tail) < 10):  # noqa: PLR2004  length and mark
        raise _truncated(where, "Arrow", "its end mark is missing")
    notes: tuple[str, ...] = ()
    if not is_file and _tail(path, len(_END_OF_STREAM)) != _END_OF_STREAM:
        notes = ("the Arrow stream has no end mark: it may be cut short",)
    if optional("pyarrow") is None:
        raise missing_extra("arrow", "an Arrow file needs pyarrow to be read", where=where)
    try:
        table, rows = _validated(path, where, reading.max_rows, is_file=is_file)
    except Exception as error:
        if isinstance(error, AssayError) or type(error) is MemoryError:
            raise  # PyArrow has its own MemoryError, for damaged lengths too
        message = visible(str(error).strip().partition("\n")[0])
        if any(word in message.lower() for word in ("expected to read", "expected to be able", "truncated", "eof")):
            raise _truncated(where, "Arrow", message) from error
        raise damaged(where, "the file is damaged: arrow data cannot be read", message) from error
    if rows == 0:
        raise no_rows(where, "a table of 0 rows")
    with told_as_ours(where, "arrow"):
        connection.register(called, table)
    return Checked(scan=Scan(head=f"SELECT * FROM {quote_identifier(called)}"), rows=rows, notes=notes)  # noqa: S608


def _validated(path: str, where: str, most: int | None, *, is_file: bool) -> tuple[object, int]:
    """The table and its rows; every batch is validated in full first: offsets that point outside crash the engine."""
    pyarrow, rows, kept = import_module("pyarrow"), 0, []
    with pyarrow.OSFile(path, "rb") as source:
        reader = pyarrow.ipc.open_file(source) if is_file else pyarrow.ipc.open_stream(source)
        refuse_duplicates(list(reader.schema.names), where)  # the reader itself stops at them with an error of its own
        for batch in (reader.get_batch(i) for i in range(reader.num_record_batches)) if is_file else reader:
            batch.validate(full=True)
            rows += batch.num_rows
            if most is not None and rows > most:
                raise too_many(where, most)
            if not is_file:
                kept.append(batch)
        if not is_file:
            return pyarrow.Table.from_batches(kept, schema=reader.schema), rows
        return import_module("pyarrow.dataset").dataset(path, format="ipc"), rows


def write_parquet(columns: Mapping[str, tuple[str, Sequence[Any]]]) -> bytes:
    """A Parquet file of some columns, each `text`, `real` or `whole`, with None where there is nothing."""
    import duckdb
    import numpy as np

    def masked(kind: str, values: Sequence[Any]) -> np.ndarray[Any, Any]:
        if kind == "text":
            return np.array(values, dtype=object)
        filled = [0 if value is None else value for value in values]
        blank = [value is None for value in values]
        return np.ma.array(filled, mask=blank, dtype=np.float64 if kind == "real" else np.int64)

    arrays = {f"c{i}": masked(kind, values) for i, (kind, values) in enumerate(columns.values())}
    casts = enumerate(columns.items())
    picked = ", ".join(f"CAST(c{i} AS {_WRITTEN[kind]}) AS {quote_identifier(name)}" for i, (name, (kind, _)) in casts)
    with TemporaryDirectory(prefix="assay-") as folder:
        goal = Path(folder) / "table.parquet"
        connection = connect([str(goal)], Limits(threads=1))  # one keeps the order of the rows, and the bytes
        try:
            connection.register("given", arrays)
            target = quote_literal(str(goal))
            connection.execute(f"COPY (SELECT {picked} FROM given) TO {target} (FORMAT parquet)")  # noqa: S608  quoted
        except (duckdb.Error, UnicodeError) as error:
            what, fix = "the engine could not write the table", "write it as .csv or .json"
            raise EngineError("engine-failed", what, found=visible(error), fix=fix) from error
        finally:
            release(connection)
        return goal.read_bytes()
