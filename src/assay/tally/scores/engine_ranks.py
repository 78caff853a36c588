# SPDX-License-Identifier: Apache-2.0
"""Where the true class ranks among the scores of its row, counted inside an engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import add
from typing import cast

import narwhals.stable.v2 as nw

from assay.rows.engines.score_expressions import Frame, complete, fetched
from assay.rows.label_types import label_of
from assay.rows.source import FrameSource
from assay.tally.base import Count
from assay.tally.fixed_point import weigh_cells
from assay.tally.scores.score_tally import Wanted
from assay.tally.scores.true_class_ranks import Ranks

_ROWS = "assay_rows"


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
