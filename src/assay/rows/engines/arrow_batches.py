# SPDX-License-Identifier: Apache-2.0
"""Batches of numbers from a query of DuckDB: a stream of PyArrow's, or parts of a temporary table without it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

import numpy as np

from assay.core.errors import EngineError
from assay.rows.files.formats import optional

SIZE: Final = 1 << 17
"""Rows of a batch that is read from a table."""
_TABLE: Final = "assay_batches"


def batches(connection: Any, query: str, *, text: bool = False) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401  of DuckDB
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
    if text and arrow.types.is_string(column.type):
        return column
    if column.null_count or not (arrow.types.is_floating(column.type) or arrow.types.is_integer(column.type)):
        raise _unexpected(column.type)
    return np.from_dlpack(column)  # to_numpy would import pandas


def _stored(connection: Any, query: str, *, text: bool) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401  of DuckDB
    """The same from a temporary table, which spills to disk, for DuckDB hands over whole answers only."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {_TABLE} AS {query}")
    try:
        [(rows,)] = connection.sql(f"SELECT count(*) FROM {_TABLE}").fetchall()  # noqa: S608  a name of ours
        for first in range(0, rows, SIZE):
            part = f"SELECT * FROM {_TABLE} WHERE rowid >= {first} AND rowid < {first + SIZE}"  # noqa: S608
            columns = list(connection.sql(part).fetchnumpy().values())
            for column in columns:
                if np.ma.is_masked(column) or column.dtype.kind not in ("iufO" if text else "iuf"):
                    raise _unexpected(column.dtype)
            yield tuple(np.asarray(column) for column in columns)
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {_TABLE}")


def _unexpected(kind: object) -> EngineError:
    return EngineError(
        "engine-failed",
        "the engine handed over other data than was asked for",
        found=f"a column of {kind}, or a missing value",
        fix="install the version of duckdb that assay asks for",
    )
