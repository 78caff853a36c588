# SPDX-License-Identifier: Apache-2.0
"""Weighted scores counted into bins, every sum of weights exact.

Weights that are doubles are added in parts (`weightparts`): here, as the embedded engine hands rows over, or in the
engine, where no more cells come back than true classes times bins. Decimals and text are added by their digits
(`digitbins`); any other weights come back as cells of rows that weigh the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.labels import Label
from assay.core.threads import MOST
from assay.rows.opening import FrameSource
from assay.rows.scoreframes import Frame, arrays, complete
from assay.rows.scorestream import embedded, weighted_batches
from assay.rows.weights import refuse_unfit
from assay.tally.base import Weight
from assay.tally.binmaps import CHUNK, BinMap
from assay.tally.binned import Tallied, bin_map, pairs_classes
from assay.tally.binweights import BinWeights
from assay.tally.digitbins import weighed_by_digits
from assay.tally.scorebins import ScoreBins
from assay.tally.scoreframes import Columns, built, lone_scores, with_places
from assay.tally.scoring import Scored, Wanted, coded
from assay.tally.splitweights import weight_ends
from assay.tally.sums import Sums
from assay.tally.truthbins import TruthBins, paired_map
from assay.tally.weightparts import HERE, IN_ENGINE, Weighing, WeightParts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.int64]
    Codes: TypeAlias = NDArray[np.int8]

_ROWS = "assay_rows"


def weighted_bins(source: FrameSource, wanted: Wanted) -> Scored:
    """Count weighted scores into bins, in all rows and in each level of each factor."""
    refuse_unfit(source)
    ends = weight_ends(source)
    by_factor: dict[str, dict[Label | None, Tallied]] = {}
    every = range(len(wanted.columns))
    for name, level in source.group.items():
        columns = [_group(source, level, i, wanted, ends) for i in every]
        by_factor[name] = {one: built([column[one] for column in columns], wanted) for one in columns[0]}
    plain = [_streamed(source, i, wanted, ends) or _group(source, None, i, wanted, ends)[None] for i in every]
    return Scored(whole=built(plain, wanted), by_factor=by_factor)


def _streamed(source: FrameSource, column: int, wanted: Wanted, ends: tuple[float, float] | None) -> Columns | None:
    """All rows weighed here as the embedded engine hands them over; None where it cannot."""
    opened = embedded(source)
    if opened is None or ends is None:
        return None
    numbers = {label: i for i, label in enumerate(wanted.labels)}
    batches = weighted_batches(source, source.score[wanted.columns[column]], cast("str", source.weight), numbers)
    if batches is None:
        return None
    bins, own = bin_map(probability=wanted.probability), numbers[wanted.scored[column]]
    pairs = paired_map(bins, len(numbers), weighted=True) if pairs_classes(wanted.scored) else None
    with closing(batches):
        return weigh_classes(batches, (bins, pairs), own, len(numbers), ends=ends, threads=min(opened.threads, MOST))


def weigh_classes(
    parts: Iterable[tuple[Codes, Floats, Floats]],
    maps: tuple[BinMap, BinMap | None],
    own: int,
    classes: int,
    *,
    ends: tuple[float, float],
    threads: int | None = None,
) -> Columns:
    """One pass over rows that come in parts: the class of each or -1 for none, its score, and its weight.

    The column of one class against all others, and each true class apart in the bins of the second map, if there is
    one. Weights lie between `ends`, or are zero.
    """
    finest, pairs = maps
    cut = WeightParts.between(ends, HERE)
    # Where pairs are counted in the finest bins, they hold what the column needs.
    sides = None if pairs == finest else Weighing(cut, 2 * finest.size)
    apart = None if pairs is None else Weighing(cut, classes * pairs.size)
    every = 0

    def counted() -> Iterator[tuple[Floats, Codes]]:
        nonlocal every
        for codes, scores, weight in parts:
            every += int((codes >= 0).sum())
            for start in range(0, len(scores), CHUNK):
                chunk = slice(start, start + CHUNK)
                place, code = finest.place(scores[chunk]), codes[chunk]
                kept = np.flatnonzero((code >= 0) & (weight[chunk] > 0))
                place, code, heavy = place[kept], code[kept].astype(np.int64), weight[chunk][kept]
                if sides is not None:
                    sides.add((code == own) * finest.size + place, heavy)
                if apart is not None and pairs is not None:
                    apart.add(code * pairs.size + (place >> pairs.halvings), heavy)
            yield scores, np.where((codes < 0) | (weight <= 0), np.int8(-1), (codes == own).astype(np.int8))

    column = ScoreBins.of_parts(counted(), finest, threads)
    truths = None
    if apart is not None and pairs is not None:
        cell = apart.occupied()
        truths = TruthBins.held(pairs, classes, cell, apart.sums(cell))
    if sides is not None:
        (neg, neg_squares), (pos, pos_squares) = (sides.sums(side * finest.size + column.place) for side in (0, 1))
        weight = BinWeights(pos=pos, neg=neg, pos_squares=pos_squares, neg_squares=neg_squares)
    else:
        weight = cast("TruthBins", truths).against(own, column.place)
    return (
        ScoreBins.weighing(map=finest, place=column.place, weight=weight, only=column.only, rows=every),
        truths,
        None,
    )


@dataclass(frozen=True, slots=True)
class _Cells:
    """What an engine found: the level, true class and bin of each cell, its ends, rows, weight and squared weights."""

    levels: dict[Label | None, int]
    group: Places
    truth: Places
    at: Places
    ends: tuple[Floats, Floats]
    count: Places
    weight: tuple[Sums, Sums]


def _group(
    source: FrameSource, level: str | None, column: int, wanted: Wanted, ends: tuple[float, float] | None
) -> dict[Label | None, Columns]:
    cells = _fetched(source, level, column, wanted, ends)
    bins, own, classes = bin_map(probability=wanted.probability), wanted.scored[column], len(wanted.labels)
    out: dict[Label | None, Columns] = {}
    for label, number in cells.levels.items():
        here = (cells.group == number) & (cells.truth >= 0)
        some = np.flatnonzero(here & cells.weight[0].there)
        at, truth, (weight, squares) = cells.at[some], cells.truth[some], (one[some] for one in cells.weight)
        kept, index = np.unique(at, return_inverse=True)
        positive = truth == wanted.labels.index(own)
        held = ScoreBins.weighing(
            map=bins,
            place=kept,
            weight=BinWeights.by_class(index, len(kept), weight, squares, positive=positive),
            only=lone_scores(index, len(kept), (cells.ends[0][some], cells.ends[1][some])),
            rows=int(cells.count[here].sum()),
        )
        truths = None
        if pairs_classes(wanted.scored):
            by = paired_map(bins, classes, weighted=True)
            truths = TruthBins.of_cells(by, classes, truth * by.size + (at >> by.halvings), (weight, squares))
        out[label] = held, truths, None
    return out


def _fetched(
    source: FrameSource, level: str | None, column: int, wanted: Wanted, ends: tuple[float, float] | None
) -> _Cells:
    cut = None if ends is None else WeightParts.between(ends, IN_ENGINE)
    named = {"kt": source.truth, **({"kg": level} if level is not None else {})}
    taken = [nw.col(one).alias(name) for name, one in named.items()]
    weight = nw.col(cast("str", source.weight))
    score = nw.col(source.score[wanted.columns[column]])
    rows = complete(source).select(*taken, score.alias("s"), (weight.cast(nw.Float64) if cut else weight).alias("w"))
    rows = with_places(rows, bin_map(probability=wanted.probability))
    kept = {_ROWS: nw.len(), "least": nw.col("s").min(), "most": nw.col("s").max()}
    by_digits = None if cut else weighed_by_digits(source, rows, (*named, "b"), kept)
    if by_digits is not None:
        found, held = by_digits
    else:
        found, held = _weighed(source, rows, (*named, "b"), kept, cut)
    count = found[_ROWS].astype(np.int64)
    numbers = {label: i for i, label in enumerate(wanted.labels)}
    levels: dict[Label | None, int] = {} if level is not None else {None: 0}
    return _Cells(
        levels=levels,
        group=np.zeros(len(count), dtype=np.int64)
        if level is None
        else coded(found["kg"], lambda label: levels.setdefault(label, len(levels))),
        truth=coded(found["kt"], lambda label: -1 if label is None else numbers.get(label, -1)),
        at=found["b"].astype(np.int64),
        ends=(found["least"].astype(np.float64) + 0.0, found["most"].astype(np.float64) + 0.0),
        count=count,
        weight=held,
    )


def _weighed(
    source: FrameSource, rows: Frame, keys: tuple[str, ...], kept: dict[str, nw.Expr], cut: WeightParts | None
) -> tuple[dict[str, NDArray[np.object_]], tuple[Sums, Sums]]:
    """Cells of rows with a weight `w`: sums of the parts of doubles, or cells of rows that weigh the same."""
    rows = cut.with_parts(rows) if cut else with_written_decimals(rows)
    # Rows without weight are counted as rows, in cells of their own.
    rows = rows.with_columns(w=nw.when(nw.col("w") > 0.0).then(nw.lit(1)).otherwise(nw.lit(0))) if cut else rows
    every, sums = (*keys, "w"), cut.names if cut else []
    parts = {**kept, **{name: nw.col(name).sum() for name in sums}}
    grouped = rows.group_by(*every).agg(*(one.alias(name) for name, one in parts.items()))
    # An engine may widen a sum of whole numbers to what numpy has not; it fits where it came from.
    told = [nw.col(name).cast(nw.Int64) if name in sums else nw.col(name) for name in (*every, *parts)]
    found = dict(zip((*every, *parts), arrays(source, grouped.select(*told)), strict=True))
    if cut:
        return found, cut.joined(found)
    each = [Weight.of(Fraction(w), int(n)) for w, n in zip(found["w"].tolist(), found[_ROWS].tolist(), strict=True)]
    return found, (Sums.of([one.total for one in each]), Sums.of([one.squares for one in each]))


def with_written_decimals(rows: Frame) -> Frame:
    """The rows with a weight `w` that is a decimal as text: as an array it would come as a double."""
    decimal = rows.collect_schema()["w"].is_decimal()
    return rows.with_columns(w=nw.col("w").cast(nw.String)) if decimal else rows
