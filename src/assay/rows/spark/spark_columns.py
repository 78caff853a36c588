# SPDX-License-Identifier: Apache-2.0
"""Columns of a Spark frame brought to this machine: by Arrow, some rows at a time, and held in a few bytes a row.

A part of the rows is chosen by a hash of what stands in them, so that it holds the same rows whenever it is asked for,
also after a worker was lost; and that no row is missing or double is seen from their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.text import visible
from assay.rows.spark.spark_errors import rows_changed, told_as_ours

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.rows.source import FrameSource

PART: Final = 1 << 27
"""Bytes that come to this machine in one answer, about: below the gibibyte that a driver accepts by default."""
SLICE: Final = "assay_slice"
"""The column of matched rows by which they are divided, a hash of their ids."""
_SLICES: Final = 4096
_WIDE: Final = 8
"""Bytes of a number, or of what a text takes beside its letters."""


def slice_of(id_: str) -> str:
    """The SQL of the column by which rows are divided."""
    return f"CAST(pmod(xxhash64({id_}), {_SLICES}) AS SMALLINT) AS {SLICE}"


def parts(
    frame: Any,  # noqa: ANN401  a Spark frame
    columns: Sequence[str],
    by: Sequence[str],
    *,
    rows: int,
    width: float,
    where: str,
) -> Iterator[Any]:
    """The columns of all rows as Arrow tables, as many rows at a time as are to come at once.

    `columns` and `by` are SQL; rows that are alike in all of `by` come together.
    """
    many = max(1, -(-int(rows * width) // PART))
    seen = 0
    for place in range(many):
        with told_as_ours(visible(where)):
            some = frame if many == 1 else frame.filter(f"pmod(xxhash64({', '.join(by)}), {many}) = {place}")
            table = some.selectExpr(*columns).toArrow()
        seen += len(table)
        if seen > rows:
            break
        yield table
    if seen != rows:
        raise rows_changed(where, rows, seen)


def arrays_of(table: Any) -> list[NDArray[Any]]:  # noqa: ANN401  an Arrow table
    """The columns of an answer: numbers as they are, anything else, or with missing values, as Python's objects."""
    return [_array(column) for column in table.columns]


def _array(column: Any) -> NDArray[Any]:  # noqa: ANN401  a column of Arrow
    import pyarrow as pa

    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return cast("NDArray[Any]", column.to_numpy())
    held: NDArray[np.object_] = np.empty(len(column), dtype=object)
    held[:] = column.to_pylist()
    return held


def held_columns(
    source: FrameSource, labelled: Sequence[str], numbers: Sequence[str]
) -> tuple[list[tuple[NDArray[np.int32], tuple[object, ...]]], list[Floats]] | None:
    """Columns of labels of every row, as numbers and the values they stand for, and columns of numbers.

    None where the rows are not on a cluster, or what should be numbers is text.
    """
    kind, schema = source.frame.implementation, source.frame.collect_schema()
    if not (kind.is_pyspark() or kind.is_pyspark_connect()):
        return None
    if not all(schema[name].is_numeric() for name in numbers):
        return None
    frame = source.frame.to_native()
    texts = [f"coalesce(sum(octet_length(`{name}`)), 0)" for name in labelled if schema[name] == nw.String]
    with told_as_ours(visible(source.where)):
        rows, *letters = map(int, frame.selectExpr("count(*)", *texts).collect()[0])
    width = _WIDE * (len(labelled) + len(numbers)) + sum(letters) / max(rows, 1)
    own = [name for name, shown in source.names.items() if shown == SLICE]
    quoted_names = [f"`{name}`" for name in (*labelled, *numbers)]
    chosen = [*quoted_names[: len(labelled)], *(f"CAST({name} AS DOUBLE)" for name in quoted_names[len(labelled) :])]
    named = [f"{sql} AS k{place}" for place, sql in enumerate(chosen)]
    coding = [_Coding() for _ in labelled]
    reals = [np.empty(rows, dtype=np.float64) for _ in numbers]
    at = 0
    for table in parts(frame, named, own[:1] or quoted_names, rows=rows, width=width, where=source.where):
        for column, coder in zip(table.columns, coding, strict=False):
            coder.add(column)
        for held, column in zip(reals, table.columns[len(labelled) :], strict=True):
            held[at : at + len(table)] = column.to_numpy()
        at += len(table)
    if source.opened is not None:
        source.opened.confirm(rows + source.dropped)
    return [coder.done() for coder in coding], reals


class _Coding:
    """A column of values that comes in parts, numbered as it comes."""

    def __init__(self) -> None:
        self._parts: list[Any] = []

    def add(self, column: Any) -> None:  # noqa: ANN401  a column of Arrow
        """The next rows."""
        if len(column):
            self._parts.append(column.dictionary_encode().combine_chunks())

    def done(self) -> tuple[NDArray[np.int32], tuple[object, ...]]:
        """The number of every row's value, and the values; a missing one comes last."""
        import pyarrow as pa

        if not self._parts:
            return np.empty(0, dtype=np.int32), ()
        if pa.types.is_null(self._parts[0].type.value_type):
            return np.zeros(sum(map(len, self._parts)), dtype=np.int32), (None,)
        same = pa.chunked_array(self._parts).unify_dictionaries()
        values = same.chunk(0).dictionary.to_pylist()
        codes = [one.indices.fill_null(len(values)).to_numpy() for one in same.chunks]
        return np.concatenate(codes), (*values, None)
