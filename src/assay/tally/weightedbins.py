# SPDX-License-Identifier: Apache-2.0
"""Weighted scores counted into bins inside an engine, every sum of weights exact.

A weight that is a double is a whole number of 53 bits times a power of two. Rows of one class, bin and power are added
as whole numbers, in two halves so that no sum overflows; no more cells come back than bins times powers in use.
Other weights, as decimals and text, come back as cells of rows that weigh the same.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.labels import Label
from assay.rows.opening import FrameSource
from assay.rows.scoreframes import Frame, arrays, complete, fetched
from assay.tally.binmaps import BinMap
from assay.tally.binned import Binned, Tallied, bin_map
from assay.tally.binweights import by_class
from assay.tally.scorebins import ScoreBins
from assay.tally.scoreframes import lone_scores, powers, with_places
from assay.tally.scoring import Scored, Wanted, cell_weights, coded

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROWS, _POWER = "assay_rows", "wq"
LEAST: Final = -64
MOST: Final = 64
"""Powers of two between which weights are told apart as doubles."""
WHOLE: Final = 2**53
HALF: Final = 27
BITS: Final = 52
SUMS: Final = ("high", "low", "high_squared", "low_squared")


def weighted_bins(source: FrameSource, wanted: Wanted) -> Scored:
    """Count weighted scores into bins, in all rows and in each level of each factor."""
    split = _splits(source)
    by_factor: dict[str, dict[Label | None, Tallied]] = {}
    for name, level in source.group.items():
        columns = [_group(source, level, i, wanted, split=split) for i in range(len(wanted.columns))]
        by_factor[name] = {one: _built([column[one] for column in columns], wanted) for one in columns[0]}
    plain = [_group(source, None, i, wanted, split=split)[None] for i in range(len(wanted.columns))]
    return Scored(whole=_built(plain, wanted), by_factor=by_factor)


def _splits(source: FrameSource) -> bool:
    """Whether all weights are doubles, or whole numbers that a double holds, of a usual size; or zero."""
    name = cast("str", source.weight)
    kind = source.frame.collect_schema()[name]
    if not (kind.is_integer() or kind in {nw.Float64, nw.Float32}):
        return False
    held = source.frame.select(w=nw.col(name).cast(nw.Float64))
    ends = {"rows": nw.len(), "there": nw.col("w").count(), "sum": nw.col("w").sum(), "top": nw.col("w").max()}
    rows, there, total, top = fetched(source, held.select(**ends))[0]
    if rows != there or not math.isfinite(cast("float", total or 0.0)):
        return False
    some = nw.col("w") != 0.0
    least = fetched(source, held.filter(some).select(low=nw.col("w").min()))[0][0]
    if least is None:
        return True
    largest = min(2.0**MOST, float(WHOLE)) if kind.is_integer() else 2.0**MOST
    return cast("float", least) >= 2.0**LEAST and cast("float", top) <= largest


def _split_weights(rows: Frame) -> Frame:
    """The power of two of each weight `w`, and its significand and that of its square as whole numbers in two halves.

    Products and quotients with powers of two, differences and floors of whole numbers that a double holds: no rounding
    but that of the square, which is the same everywhere.
    """
    weight, power = nw.col("w"), nw.col(_POWER)
    rows = powers(rows, weight, _POWER, LEAST)
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
    return rows.with_columns(**{_POWER: nw.when(weight > 0.0).then(power).otherwise(nw.lit(0.0))})


def _group(
    source: FrameSource, level: str | None, column: int, wanted: Wanted, *, split: bool
) -> dict[Label | None, ScoreBins]:
    bins = bin_map(probability=wanted.probability)
    named = {"t": source.truth, **({"g": level} if level is not None else {})}
    taken = [nw.col(one).alias(name) for name, one in named.items()]
    weight = nw.col(cast("str", source.weight))
    score = nw.col(source.score[wanted.columns[column]])
    rows = complete(source).select(*taken, score.alias("s"), (weight.cast(nw.Float64) if split else weight).alias("w"))
    rows = with_places(rows, bins)
    rows = _split_weights(rows) if split else rows
    keys = (*named, "b", _POWER if split else "w")
    parts = {_ROWS: nw.len(), "least": nw.col("s").min(), "most": nw.col("s").max()}
    parts |= {name: nw.col(name).sum() for name in SUMS} if split else {}
    grouped = rows.group_by(*keys).agg(*(one.alias(name) for name, one in parts.items()))
    # An engine may widen a sum of whole numbers to what numpy has not; it fits where it came from.
    told = [nw.col(name).cast(nw.Int64) if name in SUMS else nw.col(name) for name in (*keys, *parts)]
    found = dict(zip((*keys, *parts), arrays(source, grouped.select(*told)), strict=True))
    count = found[_ROWS].astype(np.int64)
    held = _joined(found) if split else cell_weights(found["w"], count, source)
    numbers = {label: i for i, label in enumerate(wanted.labels)}
    truth = coded(found["t"], lambda label: -1 if label is None else numbers.get(label, -1))
    levels: dict[Label | None, int] = {} if level is not None else {None: 0}
    group = np.zeros(len(truth), dtype=np.int64)
    if level is not None:
        group = coded(found["g"], lambda label: levels.setdefault(label, len(levels)))
    at, own = found["b"].astype(np.int64), numbers[wanted.scored[column]]
    ends = tuple(found[end].astype(np.float64) + 0.0 for end in ("least", "most"))
    out: dict[Label | None, ScoreBins] = {}
    for label, number in levels.items():
        here = (group == number) & (truth >= 0)
        some = np.flatnonzero(here & (held[0] != 0).astype(np.bool_))
        low, high = (end[some] for end in ends)
        out[label] = _summed(
            bins, at[some], truth[some] == own, held[:, some], (low, high), rows=int(count[here].sum())
        )
    return out


def _joined(found: dict[str, NDArray[np.object_]]) -> NDArray[np.object_]:
    """The weight of each cell, and below it that of its squares."""
    power = found[_POWER].astype(np.float64).tolist()
    scale = {one: Fraction(one) / 2**BITS for one in set(power)}
    squared = {one: Fraction(one) ** 2 / 2**BITS for one in set(power)}
    held = np.empty((2, len(power)), dtype=object)
    for row, (by, names) in enumerate(((scale, SUMS[:2]), (squared, SUMS[2:]))):
        high, low = (found[name].astype(np.int64).tolist() for name in names)
        held[row] = [((h << HALF) + x) * by[one] for h, x, one in zip(high, low, power, strict=True)]
    return held


def _summed(
    bins: BinMap,
    at: NDArray[np.int64],
    positive: NDArray[np.bool_],
    weight: NDArray[np.object_],
    ends: tuple[NDArray[np.float64], NDArray[np.float64]],
    *,
    rows: int,
) -> ScoreBins:
    kept, index = np.unique(at, return_inverse=True)
    return ScoreBins.weighing(
        map=bins,
        place=kept,
        weight=by_class(index, len(kept), weight, positive=positive),
        only=lone_scores(index, len(kept), ends),
        rows=rows,
    )


def _built(columns: list[ScoreBins], wanted: Wanted) -> Binned:
    return Binned(labels=wanted.labels, scored=wanted.scored, columns=tuple(columns), rows=columns[0].rows)
