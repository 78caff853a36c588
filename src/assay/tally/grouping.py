# SPDX-License-Identifier: Apache-2.0
"""Counting inside an engine: one group-by, and nothing but its cells comes back."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import cast

import narwhals.stable.v2 as nw

from assay.core.errors import AssayError, OutOfRange
from assay.core.labels import Label
from assay.core.text import visible
from assay.rows.frames import engine_failure, first_rows
from assay.rows.labels import label_of
from assay.rows.opening import FrameSource
from assay.tally.base import Count
from assay.tally.counting import Cells, Counted

_ROWS = "assay_rows"
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")


def count_frame(source: FrameSource) -> Counted:
    """Count a frame or relation where it lives."""
    pair = [source.truth, source.predicted]
    cells = _group(source, pair)
    rows = sum(times for times, _ in cells.values())
    if source.opened is not None:
        source.opened.confirm(rows)
    return Counted(
        cells=cells,
        by_factor={name: _group(source, [column, *pair]) for name, column in source.group.items()},
        rows=rows,
        weighted=source.weight is not None,
    )


def _group(source: FrameSource, columns: Sequence[str]) -> Cells:
    keys = list(dict.fromkeys([*columns, *([source.weight] if source.weight else [])]))
    rows = _collected(source, keys)
    cells: Cells = {}
    names: dict[tuple[str, object], Label | None] = {}
    for row in rows:
        values = dict(zip(keys, row, strict=False))
        labels = tuple(_label(names, column, values[column], source.where) for column in columns)
        times = cast("int", row[-1])
        before = cells.get(labels, (0, 0))
        weight: Count = times if source.weight is None else _weight(values[source.weight], source) * times
        cells[labels] = (before[0] + times, before[1] + weight)
    return cells


def _label(names: dict[tuple[str, object], Label | None], column: str, value: object, where: str) -> Label | None:
    try:
        key = (column, value)
        if key not in names:
            names[key] = label_of(value, where=f'{where}, column "{column}"')
        return names[key]
    except TypeError:
        return label_of(value, where=f'{where}, column "{column}"')


def _weight(value: object, source: FrameSource) -> Fraction:
    """Rows with the same weight were counted together, so the sum is exact whatever the engine does with reals."""
    if isinstance(value, str) and source.opened is not None:
        value = value.replace(source.opened.decimal, ".")
    plain = _DECIMAL.fullmatch(value) if isinstance(value, str) else isinstance(value, (int, float, Decimal))
    if not plain or (isinstance(value, (float, Decimal)) and not math.isfinite(value)):
        raise _unfit("weight-not-finite", "missing, NaN or infinite", value, source)
    weight = Fraction(cast("str", value))
    if weight < 0:
        raise _unfit("weight-negative", "below zero", value, source)
    return weight


def _unfit(code: str, what: str, value: object, source: FrameSource) -> OutOfRange:
    rows = first_rows(source, cast("str", source.weight), cast("Label | None", value))
    where = f", first in row {rows[0]:,}" if rows else ""
    return OutOfRange(
        code,
        f"a weight is {what}",
        where=f'{source.where}, column "{source.weight}"',
        found=visible("no value" if value is None else value) + where,
        fix="correct the weights, or leave the rows out before assessing",
    )


def _collected(source: FrameSource, keys: list[str]) -> list[tuple[object, ...]]:
    counted_ = source.frame.group_by(*keys).agg(nw.len().alias(_ROWS)).select(*keys, _ROWS)
    try:
        if source.opened is not None:
            return cast("list[tuple[object, ...]]", source.opened.fetch(counted_.to_native()))
        if counted_.implementation.is_duckdb():
            return cast("list[tuple[object, ...]]", counted_.to_native().fetchall())
        eager = counted_.collect() if isinstance(counted_, nw.LazyFrame) else counted_
        return cast("list[tuple[object, ...]]", eager.rows())
    except AssayError:
        raise
    except Exception as error:
        raise engine_failure(error, source.where) from error
