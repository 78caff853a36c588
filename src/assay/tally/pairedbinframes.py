# SPDX-License-Identifier: Apache-2.0
"""Scores of several models counted in bins where their rows live: fine bins of each, then a coarse table of each two.

Which coarse bin a fine one belongs to is known after the first pass only. DuckDB hands rows over to be looked up here;
any other engine joins the fine bins of its rows with a small table of theirs, and hands over cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.labels import Label
from assay.rows.lookup import looked_up
from assay.rows.scoreframes import Frame, arrays, complete, fetched
from assay.rows.scorestream import sided_batches
from assay.rows.sparkerrors import rows_changed
from assay.tally.grouping import _group
from assay.tally.pairedbins import Joint, PairedBins, coarse_starts, joint_of
from assay.tally.scoreframes import whole_column, with_places
from assay.tally.scoring import Wanted, coded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.rows.opening import FrameSource
    from assay.tally.pairedbins import Part
    from assay.tally.scorebins import ScoreBins

    Whole: TypeAlias = NDArray[np.int64]

_ROWS = "assay_rows"


def paired_bins(source: FrameSource, models: Sequence[str], labels: tuple[Label, Label]) -> PairedBins:
    """The scores of every model, one column each in the order of the models; the second label is the positive one.

    Both labels are the same where all rows have one.
    """
    margins = _margins(source, labels)
    starts = coarse_starts(margins)
    batches = sided_batches(source, source.score, {labels[0]: 0, labels[1]: 1})
    if batches is None:
        joint = _grouped(source, margins, starts, labels)
    else:
        with closing(batches):
            parts: Iterator[Part] = ((side, tuple(scores)) for side, *scores in batches)
            joint = joint_of(parts, [one.map for one in margins], starts)
    found = PairedBins(models=tuple(models), margins=margins, starts=starts, joint=joint)
    _demand_same_rows(found, source)
    return found


def true_labels(source: FrameSource) -> dict[Label | None, int]:
    """How many rows each true label has; None stands for rows without one."""
    cells = _group(source, [source.truth])
    if source.opened is not None:
        source.opened.confirm(sum(rows for rows, _ in cells.values()) + source.dropped)
    return {label: rows for (label,), (rows, _) in cells.items()}


def _margins(source: FrameSource, labels: tuple[Label, Label]) -> tuple[ScoreBins, ...]:
    """The fine bins of every column: those of probabilities where all scores lie between 0 and 1."""
    ends = [end(nw.col(name)) for name in source.score for end in (nw.Expr.min, nw.Expr.max)]
    found = fetched(source, source.frame.select(*(one.alias(f"e{place}") for place, one in enumerate(ends))))[0]
    made = []
    for place in range(len(source.score)):
        low, high = (float(cast("float", end)) for end in found[2 * place : 2 * place + 2])
        wanted = Wanted(labels=labels, scored=labels[1:], columns=(place,), probability=low >= 0 and high <= 1)
        made.append(whole_column(source, 0, wanted)[0])
    return tuple(made)


def _grouped(
    source: FrameSource, margins: Sequence[ScoreBins], starts: Sequence[Whole], labels: tuple[Label, Label]
) -> tuple[Joint, ...]:
    """The tables by one group-by for each two models."""
    names = {f"s{i}": name for i, name in enumerate(source.score)}
    rows: Frame = complete(source).select(
        nw.col(source.truth).alias("t"), *(nw.col(name).alias(own) for own, name in names.items())
    )
    for i, (bins, border) in enumerate(zip(margins, starts, strict=True)):
        kept = ["t", *(f"c{j}" for j in range(i)), *(f"s{j}" for j in range(i + 1, len(margins)))]
        placed = with_places(rows.with_columns(s=nw.col(f"s{i}")), bins.map)
        placed = placed.select(*kept, nw.col("b").cast(nw.Int64).alias("k"))
        coarse = np.searchsorted(border, bins.place, side="right") - 1
        rows = looked_up(placed, "k", f"c{i}", bins.place, coarse).select(*kept, f"c{i}")
    pairs = combinations(range(len(margins)), 2)
    return tuple(_table(source, rows, pair, len(starts[pair[1]]), labels) for pair in pairs)


def _table(source: FrameSource, rows: Frame, pair: tuple[int, int], across: int, labels: tuple[Label, Label]) -> Joint:
    keys = ("t", *(f"c{i}" for i in pair))
    grouped = rows.group_by(*keys).agg(nw.len().alias(_ROWS)).select(*keys, _ROWS)
    truth, *found = arrays(source, grouped)
    first, second, count = (one.astype(np.int64) for one in found)
    side = coded(truth, _sided(labels))
    cell, at = np.unique(first * across + second, return_inverse=True)
    neg, pos = (np.zeros(len(cell), dtype=np.int64) for _ in range(2))
    for of, held in ((0, neg), (1, pos)):
        np.add.at(held, at[side == of], count[side == of])
    kept = (neg + pos) > 0
    return Joint(cell=cell[kept], pos=pos[kept], neg=neg[kept])


def _sided(labels: tuple[Label, Label]) -> Callable[[Label | None], int]:
    return lambda label: int(label == labels[1]) if label in labels else -1


def _demand_same_rows(found: PairedBins, source: FrameSource) -> None:
    """Every pass must have met the same rows; an engine whose rows change in between would mix them."""
    passes = [(int(one.pos.sum()), int(one.neg.sum())) for one in found.margins]
    passes += [(int(one.pos.sum()), int(one.neg.sum())) for one in found.joint]
    if len(set(passes)) > 1:
        raise rows_changed(source.where, *(m + n for m, n in passes))
