# SPDX-License-Identifier: Apache-2.0
"""Columns of a Spark frame brought to this machine by Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from assay.rows.columns import object_array

if TYPE_CHECKING:
    from numpy.typing import NDArray


def arrays_of(table: Any) -> list[NDArray[Any]]:  # noqa: ANN401  an Arrow table
    """The columns of an answer: numbers as they are, anything else, or with missing values, as Python's objects."""
    return [array_of(column) for column in table.columns]


def array_of(column: Any) -> NDArray[Any]:  # noqa: ANN401  a column of Arrow
    """One column, or one batch of it."""
    import pyarrow as pa

    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return cast("NDArray[Any]", column.to_numpy())
    if not pa.types.is_string(column.type):
        return object_array(column.to_pylist())
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = whole.dictionary_encode()  # every text is held once, however many rows have it
    texts = object_array([*coded.dictionary.to_pylist(), None])
    return cast("NDArray[Any]", texts[coded.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)])
