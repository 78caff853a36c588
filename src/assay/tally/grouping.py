# SPDX-License-Identifier: Apache-2.0
"""Counting inside an engine: one group-by, and nothing but its cells comes back."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import cast

import narwhals.stable.v2 as nw

from assay.core.errors import AssayError, OutOfRange, RowsError
from assay.core.labels import Label
from assay.core.text import visible
from assay.rows.databases import CountedTable
from assay.rows.frames import engine_failure, first_rows
from assay.rows.labels import label_of
from assay.rows.opening import FrameSource
from assay.rows.places import places
from assay.rows.sparkerrors import told_as_ours
from assay.tally.base import Weight, together
from assay.tally.counting import Cells, Counted

_ROWS = "assay_rows"
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")


def count_frame(source: FrameSource) -> Counted:
    """Count a frame or relation where it lives."""
    pair = [source.truth, source.predicted]
    by_factor = {name: _group(source, [column, *pair]) for name, column in source.group.items()}
    # The levels of a factor add up to the whole, so that with groups the rows need not be gone through once more.
    cells = next((_without_level(cells) for cells in by_factor.values()), None) or _group(source, pair)
    rows = sum(times for times, _ in cells.values())
    if source.opened is not None:
        source.opened.confirm(rows + source.dropped)
    return Counted(
        cells=cells,
        by_factor=by_factor,
        rows=rows,
        weighted=source.weight is not None,
    )


def _without_level(cells: Cells) -> Cells:
    whole: Cells = {}
    for (_, *pair), (rows, weight) in cells.items():
        before = whole.get(tuple(pair), (0, 0))
        whole[tuple(pair)] = (before[0] + rows, together(before[1], weight))
    return whole


def _group(source: FrameSource, columns: Sequence[str]) -> Cells:
    keys = list(dict.fromkeys([*columns, *([source.weight] if source.weight else [])]))
    rows = _collected(source, keys)
    cells: Cells = {}
    names: dict[tuple[str, object], Label | None] = {}
    for row in rows:
        values = dict(zip(keys, row, strict=False))
        try:
            labels = tuple(_label(names, column, values[column], source) for column in columns)
        except RowsError:
            raise _first_fault(source, columns, {column: keys.index(column) for column in columns}, rows) from None
        times = int(cast("int", row[-1]))  # Dask's is numpy's, which no JSON takes and which would wrap around
        before = cells.get(labels, (0, 0))
        weight = times if source.weight is None else Weight.of(weight_of(values[source.weight], source), times)
        cells[labels] = (before[0] + times, together(before[1], weight))
    return cells


def _first_fault(
    source: FrameSource, columns: Sequence[str], place: Mapping[str, int], rows: Sequence[tuple[object, ...]]
) -> RowsError:
    """Of several faults the one to tell; cells come from engines in any order, and an error should not depend on it."""
    for column in columns:
        for value in sorted((row[place[column]] for row in rows), key=repr):
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


def weight_of(value: object, source: FrameSource) -> Fraction:
    """Rows with the same weight were counted together, so the sum is exact whatever the engine does with reals."""
    if isinstance(value, str):
        mark = "." if source.opened is None else source.opened.decimal
        number = value.translate({ord(mark): ".", ord("."): mark})
        if not _DECIMAL.fullmatch(number):
            raise _unfit("column-not-numeric", "not a number", value, source)
        value = number
    elif not isinstance(value, (int, float, Decimal)) or not math.isfinite(value):
        raise _unfit("weight-not-finite", "missing, NaN or infinite", value, source)
    weight = Fraction(value)
    if weight < 0:
        raise _unfit("weight-negative", "below zero", value, source)
    return weight


def _unfit(code: str, what: str, value: object, source: FrameSource) -> OutOfRange:
    rows = first_rows(source, cast("str", source.weight), cast("Label | None", value))
    where = f", first {places(rows[:1])}" if rows else ""
    return OutOfRange(
        code,
        f"a weight is {what}",
        where=f"{source.where}, {source.shown(cast('str', source.weight))}",
        found=visible("no value" if value is None else value) + where,
        fix="correct the weights, or leave the rows out before assessing",
    )


def _collected(source: FrameSource, keys: list[str]) -> list[tuple[object, ...]]:
    # Plain names, because some engines take a key such as "a.b" for the column b of a table a.
    names = [f"k{place}" for place in range(len(keys))]
    if isinstance(source.opened, CountedTable):
        return source.opened.cells(keys)
    try:
        named = source.frame.select(*(nw.col(key).alias(name) for key, name in zip(keys, names, strict=True)))
        counted_ = named.group_by(*names).agg(nw.len().alias(_ROWS)).select(*names, _ROWS)
        if source.opened is not None:
            return cast("list[tuple[object, ...]]", source.opened.fetch(counted_.to_native()))
        if counted_.implementation.is_pyspark() or counted_.implementation.is_pyspark_connect():
            with told_as_ours(source.where):
                return cast("list[tuple[object, ...]]", counted_.to_native().collect())
        if counted_.implementation.is_duckdb():
            return cast("list[tuple[object, ...]]", counted_.to_native().fetchall())
        eager = counted_.collect() if isinstance(counted_, nw.LazyFrame) else counted_
        return cast("list[tuple[object, ...]]", eager.rows())
    except AssayError:
        raise
    except Exception as error:
        raise engine_failure(error, source.where) from error
