# SPDX-License-Identifier: Apache-2.0
"""One pass over the rows: how often each combination of labels occurs, and what it weighs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.rows.columns import CHUNK, Coded
from assay.rows.source import ArraySource, FrameSource, Source
from assay.tally.base import Weight
from assay.tally.fixed_point import Weights
from assay.tally.labels.label_cells import UNIT, Cells, Counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

DENSE: Final = 1 << 20
"""Up to this many possible cells a chunk is counted into a full table (8 MiB); above, cells are sorted out."""
BLOCK: Final = 1 << 22


def count(source: Source) -> Counted:
    """Count a source where it lives."""
    if isinstance(source, FrameSource):
        from assay.tally.labels.engine_counts import count_frame

        return count_frame(source)
    return _count_arrays(source)


def _count_arrays(source: ArraySource) -> Counted:
    pair = [source.truth, source.predicted]
    weight = None if source.weight is None else Weights.of(source.weight, source.quantum)
    units = [source.group[UNIT]] if UNIT in source.group else []
    others = {name: column for name, column in source.group.items() if name != UNIT}
    return Counted(
        cells=count_columns(pair, weight),
        by_factor={name: count_columns([column, *pair], weight) for name, column in source.group.items()},
        rows=len(source.truth),
        weighted=source.weight is not None,
        within={name: count_columns([column, *units, *pair], weight) for name, column in others.items() if units},
    )


def count_columns(columns: Sequence[Coded], weight: Weights | None) -> Cells:
    """Rows of every combination of labels in columns in memory, and what they weigh."""
    # One more number in each column with missing entries, so that they have a place of their own.
    spans = [column.span + (column.missing is not None) for column in columns]
    size = int(np.prod([max(span, 1) for span in spans], dtype=object))
    if size > 2**62:
        columns = [_compact(column) for column in columns]
        return count_columns(columns, weight)
    keys, counts = _dense(columns, spans, size) if size <= DENSE else _sparse(columns, spans)
    return _decoded(columns, spans, keys, counts, None if weight is None else _weights(columns, spans, keys, weight))


def _compact(column: Coded) -> Coded:
    values, codes = np.unique(column.codes, return_inverse=True)
    labels = tuple(column.label(int(value) - column.offset) for value in values)
    return Coded(role=column.role, codes=codes, offset=0, span=len(labels), labels=labels, missing=column.missing)


def _keys(columns: Sequence[Coded], spans: Sequence[int], rows: slice[int, int, None]) -> NDArray[np.int64]:
    key = _numbers(columns[0], rows)
    for column, span in zip(columns[1:], spans[1:], strict=True):
        key *= span
        key += _numbers(column, rows)
    return key


def _numbers(column: Coded, rows: slice[int, int, None]) -> NDArray[np.int64]:
    """Class numbers of some rows, in fresh memory; missing ones get the number after the last class."""
    part = column.codes[rows]
    if part.dtype == np.uint64:  # above 2^63 only the distance from the smallest label fits an int64
        number = np.subtract(part, np.uint64(column.offset)).astype(np.int64)
    else:
        number = part.astype(np.int64)
        number -= column.offset
    if column.missing is not None:
        number[column.missing[rows]] = column.span
    return number


def _dense(columns: Sequence[Coded], spans: Sequence[int], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    total = np.zeros(size, dtype=np.int64)
    step = max(CHUNK, size)
    for start in range(0, len(columns[0]), step):
        total += np.bincount(_keys(columns, spans, slice(start, start + step)), minlength=size)
    found = np.flatnonzero(total)
    return found, total[found]


def _sparse(columns: Sequence[Coded], spans: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    keys, counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for start in range(0, len(columns[0]), BLOCK):
        new, times = np.unique(_keys(columns, spans, slice(start, start + BLOCK)), return_counts=True)
        both, inverse = np.unique(np.concatenate([keys, new]), return_inverse=True)
        sums = np.zeros(len(both), dtype=np.int64)
        np.add.at(sums, inverse, np.concatenate([counts, times]))
        keys, counts = both, sums
    return keys, counts


def _weights(columns: Sequence[Coded], spans: Sequence[int], keys: NDArray[np.int64], weight: Weights) -> list[Weight]:
    """What the rows of each key weigh."""
    place = np.empty(len(weight), dtype=np.int64)
    for start in range(0, len(weight), BLOCK):
        rows = slice(start, start + BLOCK)
        place[rows] = np.searchsorted(keys, _keys(columns, spans, rows))
    totals, squares = (sums.tolist() for sums in weight.added_by(place, len(keys)))
    return [Weight(total=total, squares=square) for total, square in zip(totals, squares, strict=True)]


def _decoded(
    columns: Sequence[Coded],
    spans: Sequence[int],
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
    weights: Sequence[Weight] | None,
) -> Cells:
    rest, labels = keys, []
    for column, span in zip(reversed(columns), reversed(spans), strict=True):
        rest, number = np.divmod(rest, max(span, 1))
        names = {n: None if n == column.span else column.label(n) for n in np.unique(number).tolist()}
        labels.append([names[n] for n in number.tolist()])
    rows = counts.tolist()
    return dict(zip(zip(*reversed(labels), strict=True), zip(rows, weights or rows, strict=True), strict=True))
