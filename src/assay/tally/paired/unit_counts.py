# SPDX-License-Identifier: Apache-2.0
"""From very many rows of subjects, or with weights, to sums over units: added up where the rows live.

Subjects are counted by pattern and met with themselves inside the engine, so that only the products of every two
patterns come back. Rows in memory are added up here; both give the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.labels import Label
from assay.rows.columns import Coded
from assay.rows.engines.score_batches import embedded
from assay.rows.engines.score_expressions import fetched
from assay.rows.joins.mismatch_errors import SUBJECT
from assay.rows.label_types import EXACT as WHOLE
from assay.rows.label_types import LONGEST, label_of
from assay.rows.source import ArraySource, FrameSource, Source
from assay.tally.base import Count, Weight
from assay.tally.fixed_point import Weights
from assay.tally.labels.array_counts import count_columns
from assay.tally.labels.label_cells import Cell, Cells, Codes
from assay.tally.paired.joint_counts import lines
from assay.tally.paired.joint_rows import sound_weights, weightless, without_subject
from assay.tally.paired.unit_batches import add_products, streamed
from assay.tally.paired.unit_sums import Pattern, Sums, few_enough

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole
    from assay.rows.engines.score_expressions import Frame
    from assay.rows.files.opened_file import OpenedFile

LEAST_UNITS: Final = 200
"""As how many units of equal weight all must count for sums to do: below, swaps are nearer to their level."""
MOST_ROWS: Final = 3_037_000_499
"""Up to this the square of the number of rows fits 63 bits, so that no product of counts wraps around."""
SOME: Final = 100
"""Subjects that are looked at one by one."""
UNIT, TIMES, OTHERS = "u", "n", "m"


def unit_sums(source: Source, cells: Mapping[Cell, int], *, limit: int) -> Sums | None:
    """Sums over the units of a table, where it holds more rows than the limit; None where rows are to be held.

    `cells` are the rows by pattern. Rows are held as well where the patterns are too many or the subjects too few for
    sums, and where rows of an engine that does not hand them over in order have both subjects and weights.
    """
    rows, subjects = sum(cells.values()), SUBJECT in source.group
    if not limit < rows <= MOST_ROWS or any(None in cell for cell in cells):
        return None
    if not few_enough(len(cells), by_subject=subjects):
        return None
    if isinstance(source, ArraySource) or isinstance(source.frame, nw.DataFrame):
        found = _in_memory(source, limit)
    elif not subjects:
        found = _of_weights(source, limit)
    elif source.weight is None:
        found = _of_subjects(source, cells, limit)
    elif (opened := embedded(source)) is not None:
        found = _of_both(source, opened, limit)
    else:
        return None
    return found if found.worth >= LEAST_UNITS else None


def summed(columns: Sequence[Codes], subject: Whole | None, weight: Floats | None, *, limit: int) -> Sums:
    """Sums over units of columns in memory: truth, the calls of every model, and numbers of subjects."""
    key = columns[0].codes.astype(np.int64)
    for column in columns[1:]:
        key = key * len(column.names) + column.codes
        key = np.unique(key, return_inverse=True)[1].astype(np.int64)  # numbered anew, so that no number overflows
    _, first, pattern = np.unique(key, return_index=True, return_inverse=True)
    names = [tuple(cast("Label", column.names[column.codes[i]]) for column in columns) for i in first.tolist()]
    coded = Coded(role="pattern", codes=pattern, offset=0, span=len(names), labels=tuple(range(len(names))))
    held = None if weight is None else Weights.of(weight)
    cells = {names[cast("int", at)]: cell for (at,), cell in count_columns([coded], held).items()}
    if subject is None:
        return _of_rows(cells, weighted=weight is not None, limit=limit)
    products = _products(subject, pattern.astype(np.int64), weight, len(names))
    return Sums(
        rows={pattern: n for pattern, (n, _) in cells.items()},
        total={pattern: _total(one) for pattern, (_, one) in cells.items()},
        products={(names[p], names[q]): value for (p, q), value in products.items()},
        units=int(subject.max(initial=-1)) + 1,
        subjects=True,
        weighted=weight is not None,
        limit=limit,
    )


def _in_memory(source: Source, limit: int) -> Sums:
    """Of arrays and eager frames."""
    rows = lines(source)
    subject = None
    if rows.subject is not None:
        if lost := rows.subject.count(None):
            raise without_subject(lost)
        subject = np.unique(rows.subject.codes, return_inverse=True)[1].astype(np.int64)
    weight = None if rows.weight is None else sound_weights(rows.weight, len(rows.truth))
    return summed([rows.truth, *rows.calls], subject, weight, limit=limit)


def _of_rows(cells: Mapping[Pattern, tuple[int, Count | Weight]], *, weighted: bool, limit: int) -> Sums:
    """Where every row is a unit, no two patterns have a product."""
    total = {pattern: _total(one) for pattern, (_, one) in cells.items()}
    if not any(total.values()):
        raise weightless()
    squares = ((pattern, one.squares if isinstance(one, Weight) else one) for pattern, (_, one) in cells.items())
    return Sums(
        rows={pattern: n for pattern, (n, _) in cells.items()},
        total=total,
        products={(pattern, pattern): _plain(one) for pattern, one in squares},
        units=sum(n for n, _ in cells.values()),
        subjects=False,
        weighted=weighted,
        limit=limit,
    )


def _of_weights(source: FrameSource, limit: int) -> Sums:
    """Of weighted rows in an engine: weights and their squares are added up by pattern."""
    from assay.tally.labels.engine_counts import _group

    cells: Cells = _group(source, _columns(source))
    rows = sum(n for n, _ in cells.values())
    if source.opened is not None:
        source.opened.confirm(rows + source.dropped)
    return _of_rows(cast("dict[Pattern, tuple[int, Count | Weight]]", cells), weighted=True, limit=limit)


def _of_both(source: FrameSource, opened: OpenedFile, limit: int) -> Sums:
    """Of weighted rows of subjects in the embedded engine."""
    columns, who = _columns(source), source.group[SUBJECT]
    _demand_subjects(source, source.frame.select(nw.col(who).alias(UNIT)), who)
    whole = _of_weights(source, limit)  # looks at every weight
    patterns, products, units = streamed(opened, source, columns, who)
    names = cast("list[Pattern]", patterns)
    return replace(
        whole,
        products={(names[p], names[q]): _plain(value) for (p, q), value in products.items()},
        units=units,
        subjects=True,
    )


def _of_subjects(source: FrameSource, cells: Mapping[Cell, int], limit: int) -> Sums:
    """Of subjects in an engine: each is counted by pattern and met with itself."""
    columns, who = _columns(source), source.group[SUBJECT]
    names, others = ([f"{side}{place}" for place in range(len(columns))] for side in "kj")
    every = {UNIT: who, **dict(zip(names, columns, strict=True))}
    frame = source.frame.select(*(nw.col(column).alias(name) for name, column in every.items()))
    _demand_subjects(source, frame, who)
    each = frame.group_by(UNIT, *names).agg(nw.len().alias(TIMES)).with_columns(nw.col(TIMES).cast(nw.Int64))
    units, rows = fetched(source, _sizes(each))[0]
    again = each.select(
        UNIT, *(nw.col(a).alias(b) for a, b in zip(names, others, strict=True)), nw.col(TIMES).alias(OTHERS)
    )
    product = (nw.col(TIMES) * nw.col(OTHERS)).alias("product")
    met = each.join(again, on=UNIT, how="inner").select(*names, *others, product)
    found = fetched(
        source, met.group_by(*names, *others).agg(nw.col("product").sum()).select(*names, *others, "product")
    )
    where = [f"{source.where}, {source.shown(column)}" for column in columns]
    label = {
        (place, value): label_of(value, where=where[place])
        for row in found
        for place, value in enumerate(row[: len(columns)])
    }
    products: dict[tuple[Pattern, Pattern], int] = {}
    for row in found:
        p, q = (
            cast("Pattern", tuple(label[place, value] for place, value in enumerate(row[start : start + len(columns)])))
            for start in (0, len(columns))
        )
        products[p, q] = products.get((p, q), 0) + int(cast("int", row[-1]))
    if source.opened is not None:
        source.opened.confirm(int(cast("int", rows)) + source.dropped)
    counts = cast("dict[Pattern, int]", dict(cells))
    order = {pattern: i for i, pattern in enumerate(counts)}
    return Sums(
        rows=counts,
        total=counts,
        products={(p, q): n for (p, q), n in products.items() if order[p] <= order[q]},
        units=int(cast("int", units)),
        subjects=True,
        weighted=False,
        limit=limit,
    )


def _sizes(each: Frame) -> Frame:
    """How many subjects there are, and how many rows they have."""
    by = each.group_by(UNIT).agg(nw.col(TIMES).sum())
    return by.select(nw.len().alias("units"), nw.col(TIMES).sum().alias("rows"))


def _columns(source: FrameSource) -> list[str]:
    """Truth and the calls of every model."""
    return [source.truth, source.predicted, *(column for name, column in source.group.items() if name != SUBJECT)]


def _demand_subjects(source: FrameSource, frame: Frame, who: str) -> None:
    """Every row is of a subject, and every subject is what may be a label."""
    unit, kind = nw.col(UNIT), frame.collect_schema()[UNIT]
    where = f"{source.where}, {source.shown(who)}"
    # A number less itself is 0, but for NaN and infinity: a file may state its ends without regard to these, and the
    # engine believes it when asked for them by name.
    there = unit - unit == 0.0 if kind.is_float() else ~unit.is_null()
    odd = unit.is_null()
    if kind.is_float():
        odd = (unit.floor() != unit) | (unit.abs() >= float(WHOLE))
    elif kind == nw.String:
        odd = unit.str.len_chars() > LONGEST // 4
    flagged = frame.select(
        unit,
        lost=nw.when(there).then(nw.lit(0)).otherwise(nw.lit(1)),
        odd=nw.when(odd).then(nw.lit(1)).otherwise(nw.lit(0)),
    )
    lost, strange = (int(cast("int", n) or 0) for n in fetched(source, flagged.select(nw.col("lost", "odd").sum()))[0])
    looked = [frame, *([flagged.filter((nw.col("lost") == 1) | (nw.col("odd") == 1))] if lost or strange else [])]
    for (value,) in (row for one in looked for row in fetched(source, one.select(unit).head(SOME))):
        label_of(value, where=where)
    if lost:
        raise without_subject(lost)


def _products(subject: Whole, pattern: Whole, weight: Floats | None, size: int) -> dict[tuple[int, int], Count]:
    """The sum over subjects of the products of what each adds to two patterns, each two once."""
    from scipy.sparse import csr_array

    shape = (int(subject.max(initial=-1)) + 1, size)
    if weight is None:
        adds = csr_array((np.ones(len(subject), dtype=np.int64), (subject, pattern)), shape=shape)
        adds.sum_duplicates()
        met = (adds.T @ adds).tocoo()
        return {
            (p, q): int(value)
            for p, q, value in zip(met.row.tolist(), met.col.tolist(), met.data.tolist(), strict=True)
            if p <= q and value
        }
    order = np.lexsort((weight, pattern, subject))
    found: dict[tuple[int, int], Count] = {}
    add_products(found, subject[order], pattern[order], weight[order], size)
    return {pair: _plain(value) for pair, value in found.items()}


def _total(one: Count | Weight) -> Count:
    return _plain(one.total if isinstance(one, Weight) else one)


def _plain(count: Count) -> Count:
    """A whole number as such, as it comes back from JSON."""
    return count.numerator if count.denominator == 1 else count
