# SPDX-License-Identifier: Apache-2.0
"""Weights added inside an engine without rounding.

A weight that is a double is a whole number of 53 bits times a power of two. Rows of one power are added as whole
numbers, in two halves so that no sum overflows; no more cells come back than there are cells times powers in use.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.rows.opening import FrameSource
from assay.rows.scoreframes import Frame, fetched

if TYPE_CHECKING:
    from numpy.typing import NDArray

POWER: Final = "wq"
"""The column that holds the power of two of a weight."""
LEAST: Final = -64
MOST: Final = 64
"""Powers of two between which weights are told apart as doubles."""
WHOLE: Final = 2**53
HALF: Final = 27
BITS: Final = 52
SUMS: Final = ("high", "low", "high_squared", "low_squared")


def splits(source: FrameSource) -> bool:
    """Whether all weights are doubles, or whole numbers that a double holds, of a usual size; or zero."""
    return weight_ends(source) is not None


def weight_ends(source: FrameSource) -> tuple[float, float] | None:
    """The least weight that is not zero and the largest, if all are such; None where other weights are among them."""
    name = cast("str", source.weight)
    kind = source.frame.collect_schema()[name]
    if not (kind.is_integer() or kind in {nw.Float64, nw.Float32}):
        return None
    held = source.frame.select(w=nw.col(name).cast(nw.Float64))
    ends = {"rows": nw.len(), "there": nw.col("w").count(), "sum": nw.col("w").sum(), "top": nw.col("w").max()}
    rows, there, total, top = fetched(source, held.select(**ends))[0]
    if rows != there or not math.isfinite(cast("float", total or 0.0)):
        return None
    some = nw.col("w") != 0.0
    least = fetched(source, held.filter(some).select(low=nw.col("w").min()))[0][0]
    if least is None:
        return 1.0, 1.0  # nothing weighs anything
    low, high = float(cast("float", least)), float(cast("float", top))
    largest = min(2.0**MOST, float(WHOLE)) if kind.is_integer() else 2.0**MOST
    return (low, high) if low >= 2.0**LEAST and high <= largest else None


def with_split_weights(rows: Frame) -> Frame:
    """The power of two of each weight `w`, and its significand and that of its square as whole numbers in two halves.

    Products and quotients with powers of two, differences and floors of whole numbers that a double holds: no rounding
    but that of the square, which is the same everywhere.
    """
    weight, power = nw.col("w"), nw.col(POWER)
    rows = powers(rows, weight, POWER, LEAST)
    whole = {"wm": weight / power * 2.0**BITS, "ws": weight * weight / power / power * 2.0**BITS}
    rows = rows.with_columns(**whole)
    shift = 2.0**HALF
    rows = rows.with_columns(wh=(nw.col("wm") / shift).floor(), wg=(nw.col("ws") / shift).floor())
    halves = {
        "high": nw.col("wh"),
        "low": nw.col("wm") - nw.col("wh") * shift,
        "high_squared": nw.col("wg"),
        "low_squared": nw.col("ws") - nw.col("wg") * shift,
    }
    rows = rows.with_columns(**{name: half.cast(nw.Int64) for name, half in halves.items()})
    # Rows without weight are counted as rows, in cells of their own.
    return rows.with_columns(**{POWER: nw.when(weight > 0.0).then(power).otherwise(nw.lit(0.0))})


def powers(rows: Frame, number: nw.Expr, name: str, lowest: int) -> Frame:
    """The power of two at or below each number, as a column of that name, and from 2**lowest on.

    The logarithm only proposes a power of two, which may be off by one; comparing decides. Powers of two are exact.
    """
    some, power = nw.col("x"), nw.col("p")
    steps = (
        {"x": nw.when(number >= 2.0**lowest).then(number).otherwise(nw.lit(2.0**lowest))},
        {"e": some.log(2).floor()},
        {"p": 2.0 ** nw.col("e")},
        {
            "o": nw.when(some >= power * 2.0)
            .then(nw.lit(1.0))
            .otherwise(nw.when(some < power).then(nw.lit(-1.0)).otherwise(nw.lit(0.0)))
        },
        {
            name: nw.when(nw.col("o") > 0)
            .then(power * 2.0)
            .otherwise(nw.when(nw.col("o") < 0).then(power * 0.5).otherwise(power))
        },
    )
    for step in steps:
        rows = rows.with_columns(**step)
    return rows


def joined_weights(found: dict[str, NDArray[np.object_]]) -> NDArray[np.object_]:
    """The weight of each cell, and below it that of its squares."""
    power = found[POWER].astype(np.float64).tolist()
    scale = {one: Fraction(one) / 2**BITS for one in set(power)}
    squared = {one: Fraction(one) ** 2 / 2**BITS for one in set(power)}
    held = np.empty((2, len(power)), dtype=object)
    for row, (by, names) in enumerate(((scale, SUMS[:2]), (squared, SUMS[2:]))):
        high, low = (found[name].astype(np.int64).tolist() for name in names)
        held[row] = [((h << HALF) + x) * by[one] for h, x, one in zip(high, low, power, strict=True)]
    return held
