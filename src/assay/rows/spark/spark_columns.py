# SPDX-License-Identifier: Apache-2.0
"""Columns of a Spark frame brought to this machine by Arrow, and held in a few bytes a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.core.text import visible
from assay.rows.spark.spark_errors import told_as_ours

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.rows.source import FrameSource


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
    if not (kind.is_pyspark() or kind.is_pyspark_connect()) or not all(schema[name].is_numeric() for name in numbers):
        return None
    chosen = [*(f"`{name}`" for name in labelled), *(f"CAST(`{name}` AS DOUBLE)" for name in numbers)]
    with told_as_ours(visible(source.where)):
        table = source.frame.to_native().selectExpr(*(f"{sql} AS k{i}" for i, sql in enumerate(chosen))).toArrow()
    if source.opened is not None:
        source.opened.confirm(len(table) + source.dropped)
    codes = [_coded(column) for column in table.columns[: len(labelled)]]
    return codes, [column.to_numpy() for column in table.columns[len(labelled) :]]


def _coded(column: Any) -> tuple[NDArray[np.int32], tuple[object, ...]]:  # noqa: ANN401  a column of Arrow
    """The number of every row's value, and the values; a missing one comes last."""
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.int32), (None,)
    coded = column.combine_chunks().dictionary_encode()
    values = coded.dictionary.to_pylist()
    return coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False), (*values, None)
