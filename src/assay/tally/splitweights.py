# SPDX-License-Identifier: Apache-2.0
"""Weights added inside an engine without rounding.

A weight that is a double, moved by a power of two into a range of its own, is a whole number of few bits. Weights
between two such powers form a band and are added as whole numbers, in three parts each so that no sum overflows; no
more cells come back than there are cells times bands in use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, cast

import narwhals.stable.v2 as nw

from assay.rows.opening import FrameSource
from assay.rows.scoreframes import Frame, fetched

POWER: Final = "wq"
"""The column that holds the power of two by which the weights of a band are moved; 0 for no weight."""
UNSPLIT: Final = -1.0
"""What that column holds for what is no weight, and for a weight that is in no band."""
BAND: Final = 16
"""The largest weight of a band is not quite 2^16 times the least; those between 2^-8 and 2^8 are one band."""
NEAR: Final = 4
FAR: Final = 31
"""How many bands there are on each side of that one. A long choice is slow in a cluster, so that most weights get the
short one; weights beyond 2^504 or below 2^-504 have squares that no double holds well."""
LEAST: Final = -64
MOST: Final = 64
"""Powers of two between which weights surely are in the nearer bands."""
WHOLE: Final = 2**53
PARTS: Final = 3
BITS: Final = (23, 28)
"""Bits in each part of a weight and of its square: a band has 16 + 52 bits of weights, and 32 + 52 of squares, in
parts whose sums stay below 2^63 for 2^35 rows."""
SUMS: Final = tuple(f"{what}{part}" for what in ("weight", "square") for part in range(PARTS))


def weight_ends(source: FrameSource) -> tuple[float, float] | None:
    """The least weight that is not zero and the largest; None where some are no doubles, or of an unusual size."""
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


def with_split_weights(rows: Frame, bands: int = NEAR) -> Frame:
    """The band of each weight `w`, and the parts of the weight and of its square as whole numbers.

    Products with powers of two, differences and floors of numbers that a double holds: no rounding but that of the
    square, which is the same everywhere.
    """
    weight, power = nw.col("w"), nw.col(POWER)
    rows = rows.with_columns(**{POWER: _moved_by(weight, bands)})
    moved = nw.when(power > 0.0).then(weight * power).otherwise(nw.lit(0.0))
    rows = rows.with_columns(wx=moved)
    rest = {"wx": nw.col("wx"), "wz": nw.col("wx") * nw.col("wx")}
    # The first part of each takes the bits above those that the other parts hold.
    rows = rows.with_columns(
        **{
            name: one * 2.0 ** (bits - (place + 1) * BAND)
            for place, ((name, one), bits) in enumerate(zip(rest.items(), BITS, strict=True))
        }
    )
    for part in range(PARTS - 1):
        names = {"wx": SUMS[part], "wz": SUMS[PARTS + part]}
        rows = rows.with_columns(**{part_: nw.col(name).floor() for name, part_ in names.items()})
        rows = rows.with_columns(
            **{
                name: (nw.col(name) - nw.col(part_)) * 2.0**bits
                for (name, part_), bits in zip(names.items(), BITS, strict=True)
            }
        )
    last = {SUMS[PARTS - 1]: nw.col("wx"), SUMS[-1]: nw.col("wz")}
    return rows.with_columns(**{name: last.get(name, nw.col(name)).cast(nw.Int64) for name in SUMS})


def _moved_by(weight: nw.Expr, bands: int) -> nw.Expr:
    """The power of two that moves a weight to 1 and more, but less than 2^16; most weights ask one question only."""

    def least(band: int) -> float:
        return 2.0 ** (BAND * band - BAND // 2)

    def between(first: int, last: int) -> nw.Expr:
        if first == last:
            return nw.lit(1.0 / least(first))
        middle = (first + last + 1) // 2
        return nw.when(weight >= least(middle)).then(between(middle, last)).otherwise(between(first, middle - 1))

    inside = (weight >= least(-bands)) & (weight < least(bands + 1))
    some = nw.when(inside).then(between(-bands, bands)).otherwise(nw.lit(UNSPLIT))
    other = nw.when(weight == 0.0).then(nw.lit(0.0)).otherwise(some)
    return nw.when((weight >= least(0)) & (weight < least(1))).then(nw.lit(1.0 / least(0))).otherwise(other)


def joined(power: float, parts: Sequence[int]) -> tuple[Fraction, Fraction]:
    """A sum of weights and that of their squares, from the power by which a band was moved and the sums of its parts.

    >>> joined(2.0**8, (0, 0, 3 << 45, 0, 0, 9 << 36))
    (Fraction(3, 65536), Fraction(9, 4294967296))
    """
    if power <= 0:
        return Fraction(0), Fraction(0)
    total, squares = (
        sum(int(part) << bits * (PARTS - 1 - place) for place, part in enumerate(parts[first : first + PARTS]))
        for first, bits in zip((0, PARTS), BITS, strict=True)
    )
    # Moved weights were shortened by as many bits as the parts hold, less those of the band.
    scale = [
        Fraction(power) ** (place + 1) * 2 ** (bits * PARTS - (place + 1) * BAND) for place, bits in enumerate(BITS)
    ]
    return total / scale[0], squares / scale[1]
