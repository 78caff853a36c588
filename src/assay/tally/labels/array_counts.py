# SPDX-License-Identifier: Apache-2.0
"""One pass over the rows: how often each combination of labels occurs, and what it weighs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.rows.columns import CHUNK, Coded
from assay.rows.source import FrameSource, Source
from assay.tally.base import Weight, together
from assay.tally.fixed_point import Sums, Weights
from assay.tally.labels.label_cells import UNIT, Cells, CellTable, Codes, Counted, small_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

DENSE: Final = 1 << 20
"""Up to this many possible cells a chunk is counted into a full table (8 MiB); above, cells are sorted out."""
BLOCK: Final = 1 << 22


def count(source: Source) -> Counted:
    """Count a source where it lives."""
    if isinstance(source, FrameSource):
        from assay.tally.labels.engine_counts import group_cells, group_table

        counted = _gather(source, partial(group_cells, source), partial(group_table, source))
        if source.opened is not None:
            source.opened.confirm(counted.rows + source.dropped)
        return counted
    weight = None if source.weight is None else Weights.of(source.weight, source.quantum)
    return _gather(source, partial(count_columns, weight=weight), partial(count_table, weight=weight))


def _gather(  # type: ignore[explicit-any]  # columns, or their names
    source: Source, cells_of: Callable[[Sequence[Any]], Cells], table_of: Callable[[Sequence[Any]], CellTable]
) -> Counted:
    """Rows by true and predicted label, and by the levels and units they belong to."""
    pair, weighted = [source.truth, source.predicted], source.weight is not None
    units = [source.group[UNIT]] if UNIT in source.group else []
    others = {name: column for name, column in source.group.items() if name != UNIT}
    by_unit = table_of([*units, *pair]) if units else None
    by_factor = {name: cells_of([column, *pair]) for name, column in others.items()}
    # The levels of a factor add up to the whole, so that with groups the rows need not be gone through once more.
    cells = next((_without_level(own) for own in by_factor.values()), None)
    if cells is None and by_unit is not None and not weighted:
        cells = by_unit.pairs()
    cells = cells or cells_of(pair)
    return Counted(
        cells=cells,
        by_factor=by_factor,
        rows=sum(times for times, _ in cells.values()),
        weighted=weighted,
        units=by_unit,
        within={name: table_of([column, *units, *pair]) for name, column in others.items() if units},
    )


def _without_level(cells: Cells) -> Cells:
    whole: Cells = {}
    for (_, *pair), (rows, weight) in cells.items():
        before = whole.get(tuple(pair), (0, 0))
        whole[tuple(pair)] = (before[0] + rows, together(before[1], weight))
    return whole


def count_columns(columns: Sequence[Coded], weight: Weights | None) -> Cells:
    """Rows of every combination of labels in columns in memory, and what they weigh."""
    columns, spans, keys, counts = _count_keys(columns)
    labels = [list(column) for column in _decoded(columns, spans, keys)]
    rows = counts.tolist()
    weights: Sequence[int | Weight] = rows
    if weight is not None:
        totals, squares = (sums.tolist() for sums in _weights(columns, spans, keys, weight))
        weights = [Weight(total=total, squares=square) for total, square in zip(totals, squares, strict=True)]
    return dict(zip(zip(*labels, strict=True), zip(rows, weights, strict=True), strict=True))


def count_table(columns: Sequence[Coded], weight: Weights | None) -> CellTable:
    """The same as columns, for very many combinations."""
    columns, spans, keys, counts = _count_keys(columns)
    weights = counts if weight is None else np.array(_weights(columns, spans, keys, weight)[0].tolist())
    return CellTable(labels=_decoded(columns, spans, keys), rows=counts, weight=weights.astype(np.float64))


def _count_keys(
    columns: Sequence[Coded],
) -> tuple[Sequence[Coded], Sequence[int], NDArray[np.int64], NDArray[np.int64]]:
    """Columns, how many numbers each of them takes, the keys that occur, and how often."""
    # One more number in each column with missing entries, so that they have a place of their own.
    spans = [column.span + (column.missing is not None) for column in columns]
    size = int(np.prod([max(span, 1) for span in spans], dtype=object))
    if size > 2**62:
        return _count_keys([_compact(column) for column in columns])
    keys, counts = _dense(columns, spans, size) if size <= DENSE else _sparse(columns, spans)
    return columns, spans, keys, counts


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


def _weights(
    columns: Sequence[Coded], spans: Sequence[int], keys: NDArray[np.int64], weight: Weights
) -> tuple[Sums, Sums]:
    """What the rows of each key weigh, and the squares."""
    place = np.empty(len(weight), dtype=np.int64)
    for start in range(0, len(weight), BLOCK):
        rows = slice(start, start + BLOCK)
        place[rows] = np.searchsorted(keys, _keys(columns, spans, rows))
    return weight.added_by(place, len(keys))


def _decoded(columns: Sequence[Coded], spans: Sequence[int], keys: NDArray[np.int64]) -> tuple[Codes, ...]:
    """The labels that keys stand for, each name looked up once."""
    labels = []
    for column, span in zip(reversed(columns), reversed(spans), strict=True):
        keys, number = np.divmod(keys, max(span, 1))
        if number.max(initial=0) <= DENSE:
            seen = np.flatnonzero(np.bincount(number))
            place = np.zeros(int(number.max(initial=0)) + 1, dtype=np.int64)
            place[seen] = np.arange(len(seen))
            codes = place[number]
        else:
            seen, codes = np.unique(number, return_inverse=True)
        names = column.names(seen.tolist())
        labels.append(Codes(codes=small_codes(codes, len(names)), names=names))
    return tuple(reversed(labels))
