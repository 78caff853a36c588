# SPDX-License-Identifier: Apache-2.0
"""Scores mended as the plan says: missing ones ranked below all others, probabilities divided by their sum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from assay.core.errors import OutOfRange
from assay.core.text import counted
from assay.core.values import WORST
from assay.rows.score_columns import NORMAL
from assay.rows.scored_source import farthest, in_all, sound
from assay.rows.source import FrameSource, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescaled:
    """Rows whose probabilities were divided by their sum, and how far from 1 that was at most."""

    rows: int
    farthest: float

    def __add__(self, other: Rescaled) -> Rescaled:
        """Both together."""
        return Rescaled(rows=self.rows + other.rows, farthest=max(self.farthest, other.farthest))

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"rows": self.rows, "farthest": self.farthest}


def ranked_last(source: Source) -> tuple[Source, int]:
    """The source with missing scores ranked below all others, and how many those are."""
    if isinstance(source, FrameSource):
        return _frame_ranked_last(source)
    lowest = min((float(np.nanmin(one, initial=np.inf)) for one in source.score), default=np.inf)
    _demand_above(1 if -np.inf < lowest <= WORST else 0, source.where)
    lost = int(np.isnan(source.score[0]).sum())
    if not lost:
        return source, 0
    return replace(source, score=tuple(np.where(np.isnan(one), WORST, one) for one in source.score)), lost


def _frame_ranked_last(source: FrameSource) -> tuple[FrameSource, int]:
    import narwhals.stable.v2 as nw

    from assay.rows.engines.score_expressions import gone, sums

    (name,) = source.score
    column = nw.col(name)
    counts = sums(source, {"gone": gone(column), "low": (column <= WORST) & column.is_finite() & ~gone(column)})
    _demand_above(counts["low"], source.where)
    if not counts["gone"]:
        return source, 0
    there = nw.when(gone(column)).then(nw.lit(WORST)).otherwise(column)
    return replace(source, frame=source.frame.with_columns(there.alias(name)), seen=None), counts["gone"]


def _demand_above(rows: int, where: str) -> None:
    if rows:
        raise OutOfRange(
            "score-out-of-range",
            f"a score is at or below {WORST:.3g}, so no missing score can be ranked below it",
            where=where,
            fix="rescale the scores, or leave rows without a score out: missing_score='drop' (--missing-score drop)",
        )


def renormalised(source: Source, *, drop: bool) -> tuple[Source, Rescaled]:
    """The source with the probabilities of a row divided by their sum where that is not 1; and in how many rows."""
    # Rows within the tolerance stay as they are, so that what was sound before is the same to the last bit.
    sound(source, "probability", single=True, drop=drop)
    if isinstance(source, FrameSource):
        return _frame_renormalised(source)
    whole = in_all(source.score)
    off = np.abs(whole - 1) > NORMAL
    _demand_some(int((whole == 0).sum()), source.where)
    if not off.any():
        return source, Rescaled(rows=0, farthest=0.0)
    mended = tuple(np.where(off, one / np.where(off, whole, 1.0), one) for one in source.score)
    far = farthest([column[off] for column in source.score])
    return replace(source, score=mended), Rescaled(rows=int(off.sum()), farthest=far)


def _frame_renormalised(source: FrameSource) -> tuple[FrameSource, Rescaled]:
    import narwhals.stable.v2 as nw

    from assay.rows.engines.score_expressions import fetched, off_one, sums

    whole: Any = reduce(add, (nw.col(name) for name in source.score))
    off = (whole - 1).abs() > NORMAL
    counts = sums(source, {"off": off, "nothing": whole == 0})
    _demand_some(counts["nothing"], source.where)
    if not counts["off"]:
        return source, Rescaled(rows=0, farthest=0.0)
    far = float(str(fetched(source, source.frame.select(off_one(source)))[0][0]))
    mended = [nw.when(off).then(nw.col(name) / whole).otherwise(nw.col(name)).alias(name) for name in source.score]
    return replace(source, frame=source.frame.with_columns(*mended)), Rescaled(rows=counts["off"], farthest=far)


def _demand_some(rows: int, where: str) -> None:
    if rows:
        raise OutOfRange(
            "probabilities-not-normalised",
            f"all probabilities of {counted(rows, 'row')} are 0, so no sum can be made 1",
            where=where,
            fix="correct these rows, or leave them out before assessing",
        )
