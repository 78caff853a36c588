# SPDX-License-Identifier: Apache-2.0
"""Counting inside an engine: one group-by, and its cells come back; weights as whole multiples of their quantum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.arrays import BITS
from assay.core.errors import EngineError, RowsError
from assay.core.labels import Label
from assay.rows.engines.score_expressions import arrays, fetched
from assay.rows.label_types import label_of
from assay.rows.source import FrameSource
from assay.rows.weights import is_fit, refuse_unfit, weight_number, with_quantum
from assay.tally.base import Count, Weight, together
from assay.tally.fixed_point import HALF, Sums, of_halves, square_unit
from assay.tally.labels.label_cells import Cells, CellTable, Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Whole
    from assay.rows.engines.score_expressions import Frame

_ROWS, _LEAST, _PRESENT = "assay_rows", "assay_least", "assay_present"
_PARTS: Final = ("w0", "w1", "q0", "q1")
"""Lower and upper halves of the weights, then of the squares."""
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


def weigh_cells(source: FrameSource, columns: Sequence[str]) -> list[tuple[tuple[object, ...], int, Weight]]:
    """Rows and weight of every combination of values of some columns, added by the engine that holds the rows."""
    source = _with_quantum(source)
    exponent, keys = cast("int", source.quantum), len(columns)
    wide = source.frame.implementation.is_duckdb()
    units = Fraction(2) ** exponent, Fraction(2) ** square_unit(exponent)
    cells = []
    try:
        groups = fetched(source, _grouped(source, columns, halves=not wide))
    except (EngineError, RowsError):
        refuse_unfit(source)  # NaN and infinity cannot be cast to whole numbers
        raise
    for row in groups:
        rows, least, *parts = (int(cast("int", number)) for number in row[keys:])
        _demand_fit(source, least)
        weight, squares = parts if wide else (parts[0] + (parts[1] << HALF), parts[2] + (parts[3] << HALF))
        cells.append((tuple(row[:keys]), rows, Weight(total=weight * units[0], squares=squares * units[1])))
    return cells


def weigh_groups(
    source: FrameSource, columns: Sequence[str]
) -> tuple[list[NDArray[np.object_]], Whole, tuple[Sums, Sums]]:
    """The same for many combinations, as arrays: a column of values for each key, rows, weights and squares."""
    source = _with_quantum(source)
    exponent = cast("int", source.quantum)
    answer = arrays(source, _grouped(source, columns, halves=True))
    rows, least, *halves = (number.astype(np.int64) for number in answer[len(columns) :])
    _demand_fit(source, int(least.min(initial=0)))
    return answer[: len(columns)], rows, of_halves(halves, exponent)


def _with_quantum(source: FrameSource) -> FrameSource:
    quantised = source if source.quantum is not None else cast("FrameSource", with_quantum(source))
    return quantised if quantised.quantum is not None else replace(quantised, quantum=0)  # a frame without rows


def _grouped(source: FrameSource, columns: Sequence[str], *, halves: bool) -> Frame:
    """One group-by: keys, rows, the least weight, and sums of weights and squares, in halves unless the engine is wide.

    DuckDB adds 64-bit integers in 128 bits, so it is given whole numbers. Keys get plain names, because some engines
    take a key such as "a.b" for the column b of a table a.
    """
    names = [f"k{place}" for place in range(len(columns))]
    keys = (nw.col(column).alias(name) for column, name in zip(columns, names, strict=True))
    exponent, weight = cast("int", source.quantum), weight_number(source)
    if halves:
        # An unfit weight counts -1 quantum, by which the least weight shows it.
        weight = nw.when(is_fit(weight)).then(weight).otherwise(nw.lit(-(2.0**exponent)))
    quanta = (weight * 2.0**-exponent).floor().cast(nw.Float64)
    if halves:
        rows = source.frame.select(*keys, w=quanta)
        rows = rows.with_columns(q=_square(nw.col("w")))
        rows = rows.with_columns(
            **{f"{name}1": (nw.col(name) * 2.0**-HALF).floor().cast(nw.Float64) for name in ("w", "q")}
        )
        rows = rows.with_columns(**{f"{name}0": nw.col(name) - nw.col(f"{name}1") * 2.0**HALF for name in ("w", "q")})
        rows = rows.with_columns(*(nw.col(part).cast(nw.Int64) for part in _PARTS))
    else:
        rows = source.frame.select(*keys, w=quanta.cast(nw.Int64), q=_square(quanta).cast(nw.Int64))
    parts, least = (_PARTS, "w1") if halves else (("w", "q"), "w")
    sums = [nw.col(part).sum() for part in parts]
    facts = [nw.len().alias(_ROWS), nw.col(least).min().alias(_LEAST), nw.col(least).count().alias(_PRESENT)]
    grouped = rows.group_by(*names).agg(*facts, *sums)
    missing = nw.col(_PRESENT) < nw.col(_ROWS)
    grouped = grouped.with_columns(nw.when(missing).then(nw.lit(-1)).otherwise(nw.col(_LEAST)).alias(_LEAST))
    return grouped.select(*names, _ROWS, _LEAST, *(nw.col(part).cast(nw.Int64) if halves else part for part in parts))


def _square(quanta: nw.Expr) -> nw.Expr:
    """The square of a weight, rounded up to 2**53 squared quanta."""
    return (quanta * quanta * 2.0**-BITS).ceil().cast(nw.Float64)


def _demand_fit(source: FrameSource, least: int) -> None:
    """Demand that the least weight is not negative; the error names a weight that is."""
    if least < 0:
        refuse_unfit(source)
