# SPDX-License-Identifier: Apache-2.0
"""All columns of scores pooled, in bins finer than those of each: many classes make the error of a pooled area small.

Every bin of a column lies in whole finer ones, so that which of them are tied is known from the columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.tally.binmaps import BinMap
from assay.tally.packing import packed_steps, unpacked_steps
from assay.tally.ranked import whole
from assay.tally.scorebins import ScoreBins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places: TypeAlias = NDArray[np.int64]

FINER: Final = 2
"""How often each bin of a column is halved once more for pooled scores."""
FEWEST: Final = 4
"""Classes from which on that is done: with three, pooled areas are sharp enough as they are."""


def pooled_map(columns: BinMap, classes: int) -> BinMap | None:
    """The bins of pooled probabilities; None where those of the columns serve."""
    finer = columns.kind == "probability" and columns.halvings == 0 and classes >= FEWEST
    return BinMap(columns.kind, columns.edges, -FINER) if finer else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PooledBins:
    """Scores of true classes, and all others, in each occupied bin, bins ascending."""

    map: BinMap
    place: Places
    pos: Places
    neg: Places

    @classmethod
    def of_cells(cls, map: BinMap, place: Places, positive: NDArray[np.bool_], count: Places) -> PooledBins:  # noqa: A002
        """From cells in any order and as often as they come."""
        kept, at = np.unique(place, return_inverse=True)
        sides = [np.zeros(len(kept), dtype=np.int64) for _ in range(2)]
        for side, held in enumerate(sides):
            here = positive == bool(side)
            np.add.at(held, at[here], count[here])
        return cls(map=map, place=kept, neg=sides[0], pos=sides[1])

    @classmethod
    def of_counts(cls, map: BinMap, counts: Sequence[Places]) -> PooledBins:  # noqa: A002
        """From the negatives and the positives of every bin."""
        place = np.flatnonzero(counts[0] + counts[1])
        return cls(map=map, place=place, neg=counts[0][place], pos=counts[1][place])

    def bins(self, columns: ScoreBins) -> ScoreBins:
        """As score bins; `columns` are the same scores in the bins of the columns, to know which are tied."""
        at = np.searchsorted(columns.place, self.place >> -self.map.halvings)
        return ScoreBins(
            map=self.map,
            place=self.place,
            pos=whole(self.pos),
            neg=whole(self.neg),
            only=columns.only[at],
            rows=columns.rows,
        )

    def __add__(self, other: PooledBins) -> PooledBins:
        """Both together."""
        both = (self, other)
        place = np.concatenate([one.place for one in both] * 2)
        count = np.concatenate([*(one.pos for one in both), *(one.neg for one in both)])
        return PooledBins.of_cells(self.map, place, np.arange(len(place)) * 2 < len(place), count)

    def to_json(self) -> dict[str, object]:
        """As in a Record: bins as steps from the one before."""
        steps = np.diff(self.place, prepend=0)
        named = {"bins": steps, "pos": self.pos, "neg": self.neg}
        packed = {name: packed_steps(held) for name, held in named.items()}
        return {"halvings": self.map.halvings, "size": len(self.place), **packed}

    @classmethod
    def from_json(cls, content: Mapping[str, object], columns: BinMap) -> PooledBins:
        """The inverse of `to_json`; `columns` are the bins of the columns."""
        size = cast("int", content["size"])
        steps, pos, neg = (unpacked_steps(cast("str", content[part]), size) for part in ("bins", "pos", "neg"))
        by = BinMap(columns.kind, columns.edges, cast("int", content["halvings"]))
        return cls(map=by, place=np.cumsum(steps), pos=pos, neg=neg)
