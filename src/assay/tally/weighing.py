# SPDX-License-Identifier: Apache-2.0
"""What the cells of an engine weigh: weights are added where the rows are, and only sums come back.

Doubles and whole numbers are added in bands (`splitweights`), texts and decimals by their digits (`decimalweights`).
Rows whose weight is none of these come back by weight, and so do all where there are few weights, which is quicker;
what is no weight at all is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, cast

import narwhals.stable.v2 as nw

from assay.rows.opening import FrameSource
from assay.rows.scoreframes import Frame, fetched
from assay.rows.sqlcolumns import speaks_sql
from assay.tally.base import Weight
from assay.tally.decimalweights import DIGITS, PLACES, by_digits, pattern, with_digits
from assay.tally.splitweights import FAR, NEAR, PARTS, POWER, SUMS, WHOLE, joined, with_split_weights

Weighed: TypeAlias = tuple[tuple[object, ...], int, Weight]
"""Values of the key columns, rows, and what these weigh."""
Read: TypeAlias = Callable[[object], Fraction]
"""What makes a number of a weight as an engine hands it over, or an error."""

FIRST: Final = 1024
FEW: Final = 64
ALIKE: Final = 8
"""Rows are counted by weight where the first ones have so few weights, each so often on average."""
CELLS: Final = 1 << 14
"""Unless more cells than these come of it."""
_ROWS: Final = "assay_rows"
_GIVEN: Final = "assay_weight"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """How weights of one type are added."""

    prepared: Callable[[Frame], Frame]
    """Adds the weight as a double `w`; this is below zero where the sums do not hold the weight."""
    unfit: nw.Expr
    """Which of those surely are no weights."""
    reaches: tuple[int, ...] = (NEAR, FAR)
    decimal: bool = False
    """Whether the sum is that of digits; its parts are those of the squares only then."""

    @property
    def keys(self) -> tuple[str, ...]:
        """What the sums are told apart by."""
        return (POWER, *PLACES) if self.decimal else (POWER,)

    @property
    def sums(self) -> tuple[str, ...]:
        """What is added."""
        return (DIGITS, *SUMS[PARTS:]) if self.decimal else SUMS

    def summed(self, rows: Frame, names: Sequence[str], reach: int) -> Frame:
        """One group-by: keys, rows and sums."""
        keys, parts = (*names, *self.keys), {_ROWS: nw.len(), **{name: nw.col(name).sum() for name in self.sums}}

        def work(some: Frame) -> Frame:
            grouped = with_split_weights(self.prepared(some), reach).group_by(*keys)
            return grouped.agg(*(one.alias(name) for name, one in parts.items())).select(*keys, *parts)

        return _in_parts(rows, work)

    def told(self, cell: Sequence[object], keys: int) -> Weighed:
        """What a cell of that group-by weighs."""
        end = keys + len(self.keys)
        (power, *places), (rows, *sums) = cell[keys:end], cell[end:]
        whole = [int(cast("int", one)) for one in sums]
        if self.decimal:
            first, *squared = whole
            total, (_, squares) = by_digits(first, places), joined(cast("float", power), (*[0] * PARTS, *squared))
        else:
            total, squares = joined(cast("float", power), whole)
        return tuple(cell[:keys]), int(cast("int", rows)), Weight(total=total, squares=squares)

    def rest(self, rows: Frame, reach: int) -> Frame:
        """The rows that the sums do not hold."""
        names = rows.collect_schema().names()

        def work(some: Frame) -> Frame:
            return with_split_weights(self.prepared(some), reach).filter(nw.col(POWER) < 0.0).select(*names)

        return _in_parts(rows, work)


def _in_parts(rows: Frame, work: Callable[[Frame], Frame]) -> Frame:
    """Some work on rows; of Dask on each of its partitions, for which a long expression is one step then."""
    if not rows.implementation.is_dask():
        return work(rows)
    return nw.from_native(rows.to_native().map_partitions(lambda part: work(nw.from_native(part)).to_native()))


def weighed(source: FrameSource, columns: Sequence[str], read: Read) -> list[Weighed]:
    """Rows and weight of every combination of values; a combination may come more than once."""
    names = [f"k{place}" for place in range(len(columns))]  # plain ones: some engines take a key "a.b" apart
    keys = [nw.col(column).alias(name) for column, name in zip(columns, names, strict=True)]
    rows = source.frame.select(*keys, nw.col(cast("str", source.weight)).alias(_GIVEN))
    few = _few(source, rows, names, read)
    if few is not None:
        return few
    found: list[Weighed] = []
    form = _form(rows, "." if source.opened is None else source.opened.decimal)
    for reach in form.reaches:
        cells = fetched(source, form.summed(rows, names, reach))
        held = [cell for cell in cells if cast("float", cell[len(names)]) >= 0]
        found += [form.told(cell, len(names)) for cell in held]
        if len(held) == len(cells):
            return found
        rows = form.rest(rows, reach)
        _demand_fit(source, rows.filter(form.unfit), read)
    return found + _by_weight(fetched(source, _grouped(rows, names)), read)


def _few(source: FrameSource, rows: Frame, names: Sequence[str], read: Read) -> list[Weighed] | None:
    """The same by weight, which is quicker where the first rows have few weights and all rows then few cells."""
    if rows.implementation.is_dask():  # it would read a whole partition for its first rows
        return None
    first = rows.select(_GIVEN).head(FIRST)
    if rows.implementation.is_pyspark() or rows.implementation.is_pyspark_connect():
        seen = fetched(source, first)  # counting them would be a second step of the cluster, which takes longer
        some, different = len(seen), len(set(seen))
    else:
        both = first.select(nw.len().alias("some"), nw.col(_GIVEN).n_unique().alias("different"))
        some, different = (int(cast("int", one)) for one in fetched(source, both)[0])
    if different > FEW or different * ALIKE > some:
        return None
    cells = fetched(source, _grouped(rows, names).head(CELLS + 1))
    return None if len(cells) > CELLS else _by_weight(cells, read)


def _grouped(rows: Frame, names: Sequence[str]) -> Frame:
    return rows.group_by(*names, _GIVEN).agg(nw.len().alias(_ROWS)).select(*names, _GIVEN, _ROWS)


def _by_weight(cells: Sequence[Sequence[object]], read: Read) -> list[Weighed]:
    """What cells of rows that weigh the same weigh."""
    found = []
    for *values, weight, times in cells:
        rows = int(cast("int", times))
        found.append((tuple(values), rows, Weight.of(read(weight), rows)))
    return found


def _demand_fit(source: FrameSource, unfit: Frame, read: Read) -> None:
    """Demand that there are no rows without a weight: one is enough, however many there are."""
    for (weight,) in fetched(source, unfit.select(_GIVEN).head(1)):
        read(weight)


def _form(rows: Frame, mark: str) -> _Form:
    kind, given = rows.collect_schema()[_GIVEN], nw.col(_GIVEN)
    real = given.cast(nw.Float64)
    if kind in {nw.Float64, nw.Float32}:
        # Statistics of a file leave NaN out, so that the embedded engine takes it for a number, and is_nan for untrue;
        # Spark does not, and would be slower for asking.
        spark = rows.implementation.is_pyspark() or rows.implementation.is_pyspark_connect()
        held = real if spark else nw.when(given.is_finite()).then(real).otherwise(nw.lit(-1.0))
        return _Form(
            prepared=lambda rows: rows.with_columns(w=held),
            unfit=given.is_null() | ~given.is_finite() | (given < 0),
        )
    if kind.is_integer():
        held = nw.when(real < float(WHOLE)).then(real).otherwise(nw.lit(-1.0))  # another number may be the same double
        return _Form(
            prepared=lambda rows: rows.with_columns(w=held),
            unfit=given.is_null() | (given < 0),
            reaches=(NEAR,),
        )
    if (kind == nw.String or kind.is_decimal()) and speaks_sql(rows):
        text, by = (given, mark) if kind == nw.String else (given.cast(nw.String), ".")
        return _Form(
            prepared=lambda rows: with_digits(rows, text, by),
            unfit=given.is_null() | ~text.str.contains(pattern(by, exponent=3)),
            decimal=True,
        )
    return _Form(prepared=lambda rows: rows, unfit=given.is_null(), reaches=())
