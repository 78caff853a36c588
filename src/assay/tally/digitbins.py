# SPDX-License-Identifier: Apache-2.0
"""Weights that are written as decimals, added bin by bin inside an engine: their digits as whole numbers in parts.

As many cells come back as there are bins, times the numbers of decimals in use. The square is that of the double.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.rows.opening import FrameSource
from assay.rows.scoreframes import Frame, arrays, fetched
from assay.rows.sqlcolumns import speaks_sql, with_sql
from assay.tally.decimalweights import LONGEST, PLACES, with_digits
from assay.tally.splitweights import LEAST, MOST
from assay.tally.sums import Sums
from assay.tally.weightparts import IN_ENGINE, Cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Found: TypeAlias = dict[str, NDArray[np.object_]]

STEP: Final = 9
"""Digits of a part: 2**33 rows of one cell do not overflow."""
_ZEROS: Final = "0" * LONGEST
_DIGITS: Final[tuple[Mapping[str, str], ...]] = (
    {"dt": f"RIGHT(CONCAT('{_ZEROS}', REPLACE(REPLACE(m, '.', ''), '-', '')), {LONGEST})"},
    {f"wd{i}": f"CAST(SUBSTR(dt, {LONGEST - STEP * (i + 1) + 1}, {STEP}) AS BIGINT)" for i in range(LONGEST // STEP)},
)
PARTS: Final = tuple(_DIGITS[1])


def weighed_by_digits(
    source: FrameSource, rows: Frame, keys: Sequence[str], kept: Mapping[str, nw.Expr]
) -> tuple[Found, tuple[Sums, Sums]] | None:
    """Cells of rows whose weight `w` is text or decimal: their keys, what is `kept`, and their weights and squares.

    None where the weights are of another type, or some of them are not plain decimals of a usual size.
    """
    kind = rows.collect_schema()["w"]
    if not (kind == nw.String or kind.is_decimal()) or not speaks_sql(rows):
        return None
    mark = "." if source.opened is None or kind != nw.String else source.opened.decimal
    text = nw.col("w") if kind == nw.String else nw.col("w").cast(nw.String)
    plain = rows.select(*keys, "s", wt=text)
    plain = with_sql(with_digits(plain, nw.col("wt"), mark), _DIGITS)
    weight = nw.col("w")
    some = nw.when(weight > 0.0).then(weight).otherwise(nw.lit(2.0**MOST))
    ends = plain.select(w=weight, least=some).select(nw.col("w").min(), nw.col("least").min(), most=nw.col("w").max())
    lowest, least, most = (cast("float | None", one) for one in fetched(source, ends)[0])
    if lowest is None or least is None or most is None or lowest < 0 or least < 2.0**LEAST or most > 2.0**MOST:
        return None
    cut = Cut.between(least * least, max(most, least) * max(most, least), IN_ENGINE)
    plain = plain.with_columns(
        *cut.parts(weight * weight, "wq"), ww=nw.when(weight > 0.0).then(nw.lit(1)).otherwise(nw.lit(0))
    )
    sums, every = (*PARTS, *cut.names("wq")), (*keys, *PLACES, "ww")
    made = {**kept, **{name: nw.col(name).sum() for name in sums}}
    grouped = plain.group_by(*every).agg(*(one.alias(name) for name, one in made.items()))
    told = [nw.col(name).cast(nw.Int64) if name in sums else nw.col(name) for name in (*every, *made)]
    found = dict(zip((*every, *made), arrays(source, grouped.select(*told)), strict=True))
    scale = np.array([int(e) - int(d) for d, e in zip(*(found[one].tolist() for one in PLACES), strict=True)])
    order = np.argsort(scale, kind="stable")
    found = {name: column[order] for name, column in found.items()}
    squares = Sums.of_parts([found[one].astype(np.int64) for one in cut.names("wq")], cut.bits, cut.unit)
    return found, (_weights(found, scale[order].astype(np.int64)), squares)


def _weights(found: Found, scale: NDArray[np.int64]) -> Sums:
    """The weight of each cell, cells of one scale standing together."""
    every = Sums.zeros(0)
    for power in np.unique(scale).tolist():
        here = np.flatnonzero(scale == power)
        parts = Sums.zeros(0)
        for i, name in enumerate(PARTS):
            unit = Fraction(10) ** (power + STEP * i)
            parts = parts.beside(Sums.of_parts([found[name][here].astype(np.int64)], IN_ENGINE, unit))
        every = every.beside(parts.gathered(np.tile(np.arange(len(here)), len(PARTS)), len(here)))
    return every
