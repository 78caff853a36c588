# SPDX-License-Identifier: Apache-2.0
"""Weighted scores counted into bins inside an engine, every sum of weights exact.

Weights that are doubles are added in the engine (`splitweights`); no more cells come back than bins times powers of
two in use. Other weights, as decimals and text, come back as cells of rows that weigh the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.labels import Label
from assay.rows.opening import FrameSource
from assay.rows.scoreframes import arrays, complete
from assay.tally.binmaps import BinMap
from assay.tally.binned import Binned, Tallied, bin_map
from assay.tally.binweights import by_class
from assay.tally.scorebins import ScoreBins
from assay.tally.scoreframes import lone_scores, with_places
from assay.tally.scoring import Scored, Wanted, cell_weights, coded
from assay.tally.splitweights import POWER, SUMS, joined_weights, splits, with_split_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROWS = "assay_rows"


def weighted_bins(source: FrameSource, wanted: Wanted) -> Scored:
    """Count weighted scores into bins, in all rows and in each level of each factor."""
    split = splits(source)
    by_factor: dict[str, dict[Label | None, Tallied]] = {}
    for name, level in source.group.items():
        columns = [_group(source, level, i, wanted, split=split) for i in range(len(wanted.columns))]
        by_factor[name] = {one: _built([column[one] for column in columns], wanted) for one in columns[0]}
    plain = [_group(source, None, i, wanted, split=split)[None] for i in range(len(wanted.columns))]
    return Scored(whole=_built(plain, wanted), by_factor=by_factor)


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
    rows = with_split_weights(rows) if split else rows
    keys = (*named, "b", POWER if split else "w")
    parts = {_ROWS: nw.len(), "least": nw.col("s").min(), "most": nw.col("s").max()}
    parts |= {name: nw.col(name).sum() for name in SUMS} if split else {}
    grouped = rows.group_by(*keys).agg(*(one.alias(name) for name, one in parts.items()))
    # An engine may widen a sum of whole numbers to what numpy has not; it fits where it came from.
    told = [nw.col(name).cast(nw.Int64) if name in SUMS else nw.col(name) for name in (*keys, *parts)]
    found = dict(zip((*keys, *parts), arrays(source, grouped.select(*told)), strict=True))
    count = found[_ROWS].astype(np.int64)
    held = joined_weights(found) if split else cell_weights(found["w"], count, source)
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
