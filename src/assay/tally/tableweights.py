# SPDX-License-Identifier: Apache-2.0
"""What the cells of a database table weigh, added up here as the database hands them over, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from fractions import Fraction
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.errors import RowsError
from assay.rows.databases import CountedTable
from assay.tally.base import Weight
from assay.tally.exact import exact_sums

if TYPE_CHECKING:
    from assay.tally.weighing import Weighed

WHOLE: Final = 2**53


def weighed_in_table(
    table: CountedTable, columns: Sequence[str], weight: str, read: Callable[[object], Fraction]
) -> list[Weighed]:
    """Rows and weight of every combination of values; of weights that are none one is told, when all rows were seen."""
    found: dict[tuple[object, ...], tuple[int, Weight]] = {}
    unfit: list[object] = []
    with closing(table.some_cells([*columns, weight])) as batches:
        for batch in batches:
            for values, rows, held in _summed(batch, read, unfit):
                before = found.get(values, (0, Weight.of(Fraction(0))))
                found[values] = before[0] + rows, before[1] + held
    for one in unfit:
        read(one)
    return [(values, rows, held) for values, (rows, held) in found.items()]


def _summed(
    batch: Sequence[tuple[object, ...]], read: Callable[[object], Fraction], unfit: list[object]
) -> list[Weighed]:
    """The same of some cells; the first weight that is none is kept."""
    places: dict[tuple[object, ...], int] = {}
    real: list[tuple[int, float, int]] = []
    rows: list[int] = []
    sums: list[Weight] = []
    for *values, weight, count in batch:
        times = int(cast("int", count))
        place = places.setdefault(tuple(values), len(places))
        if place == len(rows):
            rows.append(0)
            sums.append(Weight.of(Fraction(0)))
        rows[place] += times
        if isinstance(weight, (float, int)) and _plain(weight):
            real.append((place, float(weight), times))
        elif not unfit:
            try:
                sums[place] += Weight.of(read(weight), times)
            except RowsError:
                unfit.append(weight)
    if real:
        group, value, times_ = (np.array(column) for column in zip(*real, strict=True))
        totals, squares = (exact_sums(one, times_, group, len(rows)) for one in (value, value * value))
        sums = [
            held + Weight(total=total, squares=square)
            for held, total, square in zip(sums, totals, squares, strict=True)
        ]
    return [(values, rows[place], sums[place]) for values, place in places.items()]


def _plain(weight: float) -> bool:
    """Whether a weight and its square are doubles of full length."""
    return weight == 0 or 2.0**-500 < weight < (WHOLE if isinstance(weight, int) else 2.0**500)
