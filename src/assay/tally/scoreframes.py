# SPDX-License-Identifier: Apache-2.0
"""Order-preserving bins counted inside an engine: the bin of a score is one expression of exact arithmetic.

Only comparisons, products with powers of two, differences that a double holds, and floors are used, so that every
engine puts every score into the very bin that `BinMap.place` names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import reduce
from operator import add, or_
from typing import TYPE_CHECKING, TypeAlias, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.errors import EngineError, OutOfRange
from assay.core.labels import Label
from assay.core.threads import MOST
from assay.rows.labels import label_of
from assay.rows.opening import FrameSource
from assay.rows.scored import look
from assay.rows.scoreframes import Frame, arrays, complete, fetched
from assay.rows.scorestream import batches_of, embedded
from assay.tally.base import Count
from assay.tally.binmaps import (
    EVEN,
    FINE,
    HALF,
    LOWEST,
    REAL_FINE,
    REAL_HALF,
    REAL_LOWEST,
    REAL_OCTAVES,
    BinMap,
)
from assay.tally.binned import Binned, Tallied, bin_map, pairs_classes
from assay.tally.fixed_point import weigh_cells
from assay.tally.pooledbins import PooledBins, pooled_map
from assay.tally.ranked import whole
from assay.tally.ranks import Ranks
from assay.tally.scorebins import ScoreBins
from assay.tally.scoring import Scored, Wanted, coded
from assay.tally.truthbins import TruthBins, count_classes, paired_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.rows.scores import Kind

_BIN, _ROWS = "b", "assay_rows"


def with_places(rows: Frame, wanted: BinMap) -> Frame:
    """The bin of each score `s` as a column `b`; step by step, so that no engine computes a step twice."""
    score, distance, found = nw.col("s"), nw.col("d"), nw.col("f")
    if wanted.kind == "probability":
        upper, parts = score >= 0.5, 1 << max(0, -wanted.halvings)  # noqa: PLR2004  the middle of the range
        near = rows.with_columns(d=nw.when(upper).then(1.0 - score).otherwise(score))
        leading = _with_leading(near, FINE, LOWEST).with_columns(f=found + (distance * float(EVEN)).floor())
        if parts > 1:  # what is whole of the finer steps, without what is whole of the steps
            step = (distance * float(EVEN * parts)).floor() - (distance * float(EVEN)).floor() * float(parts)
            leading = leading.with_columns(f=found * float(parts) + step)
        return leading.with_columns(b=nw.when(upper).then(2.0 * HALF * parts - 1.0 - found).otherwise(found))
    near = rows.with_columns(d=nw.when(score < 0).then(0.0 - score).otherwise(score))
    leading = _with_leading(near, REAL_FINE, REAL_LOWEST)
    most = nw.lit(float(REAL_HALF - 1))
    capped = leading.with_columns(f=nw.when(distance >= 2.0 ** (REAL_OCTAVES // 2)).then(most).otherwise(found))
    return capped.with_columns(b=nw.when(score < 0).then(REAL_HALF - 1.0 - found).otherwise(found + float(REAL_HALF)))


def _powers(rows: Frame, number: nw.Expr, name: str, lowest: int) -> Frame:
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


def _with_leading(rows: Frame, fine: int, lowest: int) -> Frame:
    """Exponent and leading bits of the significand of `d` as one number `f`."""
    inside = nw.col("d") >= 2.0**lowest
    rows = _powers(rows, nw.col("d"), "q", lowest)
    steps = (
        {"m": (nw.col("x") / nw.col("q") * float(1 << fine)).floor()},
        {"f": (nw.col("e") + nw.col("o") - float(lowest)) * float(1 << fine) + nw.col("m") - float((1 << fine) - 1)},
        {"f": nw.when(inside).then(nw.col("f")).otherwise(nw.lit(0.0))},
    )
    for step in steps:
        rows = rows.with_columns(**step)
    return rows


Columns: TypeAlias = tuple[ScoreBins, TruthBins | None, PooledBins | None]
"""A column of scores: one class against the rest, each true class apart where there are several, and what it adds to
pooled scores where these have finer bins."""


def bins_of_frame(source: FrameSource, wanted: Wanted) -> Scored:
    """Count the scores of a source into bins, in all rows and in each level of each factor."""
    plain = [whole_column(source, i, wanted) for i in range(len(wanted.columns))]
    by_factor: dict[str, dict[Label | None, Tallied]] = {}
    for name, level in source.group.items():
        columns = [_group(source, level, i, wanted) for i in range(len(wanted.columns))]
        by_factor[name] = {one: built([column[one] for column in columns], wanted) for one in columns[0]}
    return Scored(whole=built(plain, wanted), by_factor=by_factor)


def whole_column(source: FrameSource, column: int, wanted: Wanted) -> Columns:
    """All rows; one that should not be counted is found on the way, and then looked for again to say where it is."""
    kind: Kind = "probability" if wanted.probability else "any"
    try:
        if (found := _streamed(source, column, wanted)) is not None:
            return found
    except (OutOfRange, EngineError):
        look(source, kind)
        raise
    look(source, kind)
    return _group(source, None, column, wanted)[None]


def _streamed(source: FrameSource, column: int, wanted: Wanted) -> Columns | None:
    """All rows counted here as the embedded engine hands them over, which is quicker; None where it cannot."""
    own, bins, paired = wanted.scored[column], bin_map(probability=wanted.probability), pairs_classes(wanted.scored)
    numbers = {label: i if paired else int(label == own) for i, label in enumerate(wanted.labels)}
    opened, batches = embedded(source), batches_of(source, source.score[wanted.columns[column]], numbers)
    if opened is None or batches is None:
        return None
    threads = min(opened.threads, MOST)
    with closing(batches):  # else the engine would still be busy with it when somebody looks for what is wrong
        if paired:
            return count_classes(batches, bins, numbers[own], len(wanted.labels), threads)
        return ScoreBins.of_parts(batches, bins, threads), None, None


def _group(source: FrameSource, level: str | None, column: int, wanted: Wanted) -> dict[Label | None, Columns]:
    bins = bin_map(probability=wanted.probability)
    keys = {"t": source.truth} | ({"g": level} if level is not None else {})
    score = source.score[wanted.columns[column]]
    named = complete(source).select(*(nw.col(one).alias(name) for name, one in keys.items()), nw.col(score).alias("s"))
    named, keys = with_places(named, bins), {**keys, _BIN: _BIN}
    ends = {_ROWS: nw.len(), "low": nw.col("s").min(), "high": nw.col("s").max()}
    grouped = named.group_by(*keys).agg(*(one.alias(name) for name, one in ends.items()))
    found = dict(zip((*keys, *ends), arrays(source, grouped.select(*keys, *ends)), strict=True))
    numbers = {label: i for i, label in enumerate(wanted.labels)}
    truth = coded(found["t"], lambda label: -1 if label is None else numbers.get(label, -1))
    levels: dict[Label | None, int] = {} if level is not None else {None: 0}
    group = np.zeros(len(truth), dtype=np.int64)
    if level is not None:
        group = coded(found["g"], lambda label: levels.setdefault(label, len(levels)))
    at, count = found[_BIN].astype(np.int64), found[_ROWS].astype(np.int64)
    low, high = (found[end].astype(np.float64) + 0.0 for end in ("low", "high"))
    own = numbers[wanted.scored[column]]
    pools = _pools(source, level, column, wanted)
    out: dict[Label | None, Columns] = {}
    for label, number in levels.items():
        rows = np.flatnonzero((group == number) & (truth >= 0))
        one = _summed(bins, at[rows], (truth[rows] == own) * 1, count[rows], (low[rows], high[rows]))
        apart = None
        if pairs_classes(wanted.scored):
            by = paired_map(bins, len(numbers))
            cells = truth[rows] * by.size + (at[rows] >> by.halvings)
            apart = TruthBins.of_cells(by, len(numbers), cells, count[rows])
        out[label] = one, apart, pools.get(label)
    return out


def _pools(source: FrameSource, level: str | None, column: int, wanted: Wanted) -> dict[Label | None, PooledBins]:
    """The finer bins of pooled scores, by level; nothing where pooled scores have no bins of their own.

    Rows of the true class and all others only: each true class apart would be as many cells again as there are classes.
    """
    bins, own = bin_map(probability=wanted.probability), wanted.scored[column]
    finer = pooled_map(bins, len(wanted.labels)) if pairs_classes(wanted.scored) else None
    if finer is None:
        return {}
    score = source.score[wanted.columns[column]]
    keys = {"t": source.truth, **({"g": level} if level is not None else {})}
    named = complete(source).select(*(nw.col(one).alias(name) for name, one in keys.items()), nw.col(score).alias("s"))
    seen = [(raw, label_of(raw, where=source.where)) for (raw,) in fetched(source, named.select("t").unique())]
    known = [raw for raw, label in seen if label is not None and label in wanted.labels]
    if not known:
        return {}
    named = named.filter(reduce(or_, (nw.col("t") == raw for raw in known)))
    hit = [nw.col("t") == raw for raw, label in seen if label == own]
    named = with_places(named, finer).with_columns(o=_one(reduce(or_, hit)) if hit else nw.lit(0))
    by = [*(["g"] if level is not None else []), "o", _BIN]
    counted = named.group_by(*by).agg(nw.len().alias(_ROWS)).select(*by, _ROWS)
    found = dict(zip((*by, _ROWS), arrays(source, counted), strict=True))
    levels: dict[Label | None, int] = {} if level is not None else {None: 0}
    group = np.zeros(len(found["o"]), dtype=np.int64)
    if level is not None:
        group = coded(found["g"], lambda label: levels.setdefault(label, len(levels)))
    at, positive, count = found[_BIN].astype(np.int64), found["o"].astype(np.int64) == 1, found[_ROWS].astype(np.int64)
    here = {label: group == number for label, number in levels.items()}
    return {label: PooledBins.of_cells(finer, at[h], positive[h], count[h]) for label, h in here.items()}


def _summed(
    bins: BinMap,
    at: NDArray[np.int64],
    positive: NDArray[np.int64],
    count: NDArray[np.int64],
    ends: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> ScoreBins:
    kept, index = np.unique(at, return_inverse=True)
    pos, neg = (np.zeros(len(kept), dtype=np.int64) for _ in range(2))
    np.add.at(pos, index, count * positive)
    np.add.at(neg, index, count * (1 - positive))
    only = lone_scores(index, len(kept), ends)
    return ScoreBins(map=bins, place=kept, pos=whole(pos), neg=whole(neg), only=only, rows=int(count.sum()))


def lone_scores(
    index: NDArray[np.int64], size: int, ends: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """The score of each bin that holds one score only, from the least and the most of every cell; NaN elsewhere."""
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, index, ends[0])
    np.maximum.at(high, index, ends[1])
    return np.where(low == high, low, np.nan)


def built(columns: list[Columns], wanted: Wanted) -> Binned:
    """The tally of all columns."""
    pools = [pool for *_, pool in columns if pool is not None]
    return Binned(
        labels=wanted.labels,
        scored=wanted.scored,
        columns=tuple(column for column, *_ in columns),
        rows=columns[0][0].rows,
        paired=tuple(apart for _, apart, _ in columns if apart is not None),
        pool=reduce(add, pools) if pools else None,
    )


def ranks_of_frame(source: FrameSource, wanted: Wanted) -> Ranks:
    """How many classes score higher than the true one, and how many the same: counted for each true class at once."""
    names = [source.score[place] for place in wanted.columns]
    columns = {"t": source.truth, **{f"s{i}": name for i, name in enumerate(names)}}
    columns |= {} if source.weight is None else {"given": source.weight}
    rows = complete(source).select(*(nw.col(one).alias(name) for name, one in columns.items()))
    cells: dict[tuple[int, int], Count] = {}
    total = 0
    place = {label: i for i, label in enumerate(wanted.labels)}
    for (raw,) in fetched(source, rows.select("t").unique()):
        label = label_of(raw, where=source.where)
        if label is None or label not in place:
            continue
        own, others = nw.col(f"s{place[label]}"), [nw.col(f"s{i}") for i in range(len(names)) if i != place[label]]
        above, tied = (
            reduce(add, (_one(hit) for hit in hits))
            for hits in ([other > own for other in others], [other == own for other in others])
        )
        ranked = rows.filter(nw.col("t") == raw).with_columns(a=above, e=tied)
        for (more, same), times, held in _ranked_cells(source, ranked):
            total += times
            cell = (int(cast("int", more)), int(cast("int", same)))
            cells[cell] = cells.get(cell, 0) + held
    kept = {cell: held for cell, held in sorted(cells.items()) if held}
    return Ranks(k=len(names), cells=kept, rows=total, weighted=source.weight is not None)


def _ranked_cells(source: FrameSource, ranked: Frame) -> Iterator[tuple[tuple[object, ...], int, Count]]:
    """Rows by how many classes score higher and how many the same, and their weight where rows have weights."""
    by = ["a", "e"]
    if source.weight is not None:
        held = replace(source, frame=ranked, weight="given")
        for cell, times, weight in weigh_cells(held, by):
            yield cell, times, weight.total
        return
    for more, same, found in fetched(source, ranked.group_by(*by).agg(nw.len().alias(_ROWS)).select(*by, _ROWS)):
        rows = int(cast("int", found))
        yield (more, same), rows, rows


def _one(hit: nw.Expr) -> nw.Expr:
    return nw.when(hit).then(nw.lit(1)).otherwise(nw.lit(0))
