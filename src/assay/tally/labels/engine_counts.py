# SPDX-License-Identifier: Apache-2.0
"""Counting inside an engine: one group-by, and nothing but its cells comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.errors import RowsError
from assay.core.labels import Label
from assay.rows.engines.score_expressions import arrays, fetched
from assay.rows.label_types import label_of
from assay.rows.source import FrameSource
from assay.tally.base import Count, Weight, together
from assay.tally.engine_weights import weigh_cells
from assay.tally.labels.label_cells import Cells, CellTable, Codes

if TYPE_CHECKING:
    from assay.rows.engines.score_expressions import Frame

_ROWS = "assay_rows"
PLAIN: Final = (
    nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64,
    nw.Float32, nw.Float64, nw.String, nw.Boolean, nw.Categorical, nw.Enum,
)  # fmt: skip


def group_cells(source: FrameSource, columns: Sequence[str]) -> Cells:
    """Rows, and what they weigh, of every combination of labels in some columns, counted by the engine."""
    keys = list(dict.fromkeys(columns))
    rows = count_cells(source, keys)
    cells: Cells = {}
    names: dict[tuple[str, object], Label | None] = {}
    for row, times, weight in rows:
        values = dict(zip(keys, row, strict=True))
        try:
            labels = tuple(_label(names, column, values[column], source) for column in columns)
        except RowsError:
            raise _first_fault(source, keys, [row for row, *_ in rows]) from None
        before = cells.get(labels, (0, 0))
        cells[labels] = (before[0] + times, together(before[1], weight))
    return cells


def group_table(source: FrameSource, columns: Sequence[str]) -> CellTable:
    """The same as columns, for the many cells that units make."""
    keys = list(dict.fromkeys(columns))
    if source.weight is not None or not fit_arrays(source, keys):
        return CellTable.of_cells(group_cells(source, columns))
    *values, rows = arrays(source, rows_by(source, keys))
    try:
        labels = {
            key: Codes.of_values(part, f"{source.where}, {source.shown(key)}")
            for key, part in zip(keys, values, strict=True)
        }
    except RowsError:
        raise _first_fault(source, keys, list(zip(*(part.tolist() for part in values), strict=True))) from None
    times = rows.astype(np.int64)
    return CellTable(labels=tuple(labels[column] for column in columns), rows=times, weight=times.astype(np.float64))


def fit_arrays(source: FrameSource, columns: Sequence[str]) -> bool:
    """Whether columns lose nothing as arrays: engines hand wide numbers over as floats, or not at all."""
    schema = source.frame.collect_schema()
    return all(isinstance(schema[column], PLAIN) for column in columns)


def _first_fault(source: FrameSource, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> RowsError:
    """Of several faults the one to tell; cells come from engines in any order, and an error should not depend on it."""
    for place, column in enumerate(columns):
        for value in sorted((row[place] for row in rows), key=repr):
            try:
                _label({}, column, value, source)
            except RowsError as fault:
                return fault
    raise AssertionError  # pragma: no cover  whoever asks has seen one


def _label(
    names: dict[tuple[str, object], Label | None], column: str, value: object, source: FrameSource
) -> Label | None:
    where = f"{source.where}, {source.shown(column)}"
    try:
        key = (column, value)
        if key not in names:
            names[key] = label_of(value, where=where)
        return names[key]
    except TypeError:
        return label_of(value, where=where)


def count_cells(source: FrameSource, keys: Sequence[str]) -> Sequence[tuple[tuple[object, ...], int, Count | Weight]]:
    """Rows, and weight or rows again, of every combination of values of some columns, counted by the engine."""
    if source.weight is not None:
        return weigh_cells(source, keys)
    cells = fetched(source, rows_by(source, keys))
    # Dask's counts are numpy's, which no JSON takes and which would wrap around.
    return [(row[:-1], (times := int(cast("int", row[-1]))), times) for row in cells]


def rows_by(source: FrameSource, keys: Sequence[str]) -> Frame:
    """One group-by: keys and rows."""
    # Plain names, because some engines take a key such as "a.b" for the column b of a table a.
    names = [f"k{place}" for place in range(len(keys))]
    named = source.frame.select(*(nw.col(key).alias(name) for key, name in zip(keys, names, strict=True)))
    return named.group_by(*names).agg(nw.len().alias(_ROWS)).select(*names, _ROWS)
