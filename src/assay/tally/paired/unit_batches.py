# SPDX-License-Identifier: Apache-2.0
"""Weighted rows of subjects in the embedded engine: sorted there by subject, and added up here some at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from assay.core.labels import Label
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.opened_file import OpenedFile, number_sql, translated
from assay.rows.label_types import label_of
from assay.tally.base import Count
from assay.tally.exact_sums import exact_sums

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole
    from assay.rows.source import FrameSource

    Rows: TypeAlias = tuple[Whole, Whole, Floats]
    """Number of the subject, number of the pattern, weight."""
    Products: TypeAlias = dict[tuple[int, int], Count]

LINES, PATTERNS = "assay_unit_lines", "assay_unit_patterns"
AT_ONCE: Final = 1 << 18
"""Rows that are added up at a time, and the rest of the last subject."""


def streamed(
    opened: OpenedFile, source: FrameSource, columns: Sequence[str], subject: str
) -> tuple[list[tuple[Label | None, ...]], Products, int]:
    """The patterns by number, the products of every two of them, and how many subjects there are."""
    keys = [quote_identifier(column) for column in columns]
    named = ", ".join(f"{key} AS k{place}" for place, key in enumerate(keys))
    weight = str(source.weight)
    own = weight in opened.columns  # else a name of ours, and a number already
    heavy = number_sql(opened, weight, "l") if own else f"CAST(l.{quote_identifier(weight)} AS DOUBLE)"
    match = " AND ".join(f"l.{key} = p.k{place}" for place, key in enumerate(keys))
    with translated(opened):
        opened.connection.execute(f"CREATE OR REPLACE TEMP VIEW {LINES} AS {source.frame.to_native().sql_query()}")
        opened.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {PATTERNS} AS SELECT *, row_number() OVER () - 1 AS number"  # noqa: S608
            f" FROM (SELECT DISTINCT {named} FROM {LINES})"
        )
    names = opened.fetch(f"SELECT * EXCLUDE (number) FROM {PATTERNS} ORDER BY number")  # noqa: S608
    where = [f"{source.where}, {source.shown(column)}" for column in columns]
    patterns = [tuple(label_of(x, where=place) for x, place in zip(row, where, strict=True)) for row in names]
    asked = (
        f"SELECT dense_rank() OVER (ORDER BY l.{quote_identifier(subject)}) AS unit, p.number, {heavy} AS weight"  # noqa: S608  quoted
        f" FROM {LINES} AS l JOIN {PATTERNS} AS p ON {match} ORDER BY unit, number, weight"
    )
    found: Products = {}
    units = 0
    with closing(opened.batches(opened.connection.sql(asked))) as batches:
        for unit, pattern, weights in whole_units(batches):
            add_products(found, unit, pattern, weights, len(patterns))
            units = int(unit[-1])
    return patterns, found, units


def whole_units(batches: Iterable[Rows]) -> Iterator[Rows]:
    """Batches of rows in the order of their units, cut where a unit ends."""
    held: list[Rows] = []
    for unit, pattern, weight in batches:
        if not len(unit):
            continue
        last = int(np.searchsorted(unit, unit[-1]))  # where the last unit begins, which may go on in the next batch
        begun = last == 0 and bool(held) and int(held[-1][0][-1]) == int(unit[0])
        # Copied, because the engine takes the memory of a batch back.
        parts = [(unit[at].copy(), pattern[at].copy(), weight[at].copy()) for at in (slice(last), slice(last, None))]
        held += [one for one in parts[:1] if len(one[0])]
        if not begun and sum(len(one[0]) for one in held) >= AT_ONCE:
            yield _joined(held)
            held = []
        held.append(parts[1])
    if held:
        yield _joined(held)


def add_products(found: Products, unit: Whole, pattern: Whole, weight: Floats, size: int) -> None:
    """Add the products of rows in the order of unit, pattern and weight; what a unit adds to a pattern is one double.

    Rows of a unit and pattern are added from the lightest on, and products without rounding, so that the sums are the
    same in whatever parts the rows come.
    """
    start = np.flatnonzero((np.diff(unit, prepend=-1) != 0) | (np.diff(pattern, prepend=-1) != 0))
    unit, pattern, sums = unit[start], pattern[start], np.add.reduceat(weight, start)
    first = np.flatnonzero(np.diff(unit, prepend=-1))
    length = np.diff(np.append(first, len(unit)))
    left = np.repeat(first + length, length) - np.arange(len(unit))
    for apart in range(int(length.max(initial=0))):  # each entry beside the one so many places behind, of one unit
        at = np.flatnonzero(left > apart)
        pairs, group = np.unique(pattern[at] * size + pattern[at + apart], return_inverse=True)
        ones = np.ones(len(at), dtype=np.int64)
        values = exact_sums(sums[at] * sums[at + apart], ones, group, len(pairs))
        for one, value in zip(pairs.tolist(), values, strict=True):
            pair = divmod(one, size)
            found[pair] = found.get(pair, 0) + value


def _joined(parts: Sequence[Rows]) -> Rows:
    unit, pattern, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return unit, pattern, weight
