# SPDX-License-Identifier: Apache-2.0
"""Intervals for weighted rows, from how much each cell weighs and from the squares of the weights in it.

Every row is given a random weight beside its own, as in a Bayesian bootstrap over rows (Rubin 1981); a cell's share in
that is drawn at once from its two sums. Multiplying all weights by a number changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.inference.intervals.functions_of_counts import STEADY, built, draws_said
from assay.inference.intervals.smooth_functions import Ordered
from assay.inference.resampling import CellDraws
from assay.tally.labels.one_vs_rest import Binary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.core.values import Number, Share, Value
    from assay.inference.intervals.interval_choice import Found, Wanted
    from assay.measures.declare import Measure
    from assay.tally.labels.confusion import Confusion
    from assay.tally.labels.one_vs_rest import Multiclass

NAME: Final = "weighted dirichlet on cells"
ASKED: Final = ("auto", "dirichlet")


class Weighted:
    """Intervals for the values of one weighted confusion tally."""

    def __init__(self, confusion: Confusion, wanted: Wanted, *, positive: int | None) -> None:
        self._wanted = wanted
        self._positive = confusion.k - 1 if positive is None else positive
        self._draws = CellDraws(confusion, "dirichlet", wanted.seed)

    def overall(self, measure: Measure, result: Value) -> Found:
        """The interval of a value of the whole table, which is defined."""
        place = np.array([self._positive]) if measure.takes is Binary else None
        return self._found(measure, [cast("Share | Number", result)], place)[0]

    def by_class(self, measure: Measure, results: Sequence[Share | Number], classes: list[int]) -> list[Found]:
        """The intervals of one measure for some classes against the rest."""
        return self._found(measure, results, np.array(classes, dtype=np.intp))

    def _found(
        self, measure: Measure, results: Sequence[Share | Number], classes: NDArray[np.intp] | None
    ) -> list[Found]:
        for size in self._draws.stages(self._wanted.draws):
            blocks = self._draws.blocks(size)
            with np.errstate(invalid="ignore"):  # weights 18 orders apart round a margin below zero: told as undefined
                values = np.concatenate([self._values(measure, block, classes) for block in blocks], axis=-1)[:, :size]
            ordered = Ordered(values, self._wanted.level)
            if (ordered.error <= STEADY).all():
                break
        undefined = np.broadcast_to(ordered.undefined, len(results))
        out: list[Found] = []
        for i, result in enumerate(results):
            notes = draws_said(size, int(undefined[i]), float(ordered.error[i]))
            if isinstance(notes, str):
                out.append(notes)
                continue
            if self._wanted.cells not in ASKED:
                notes += (f"{self._wanted.cells} is for counts; weighted rows are drawn",)
            ends = float(ordered.low[i]), float(ordered.high[i])
            out.append(built(self._wanted, measure, result.value, ends, NAME, draws=size, notes=notes))
        return out

    @staticmethod
    def _values(measure: Measure, block: Multiclass, classes: NDArray[np.intp] | None) -> Floats:
        """Axes (class, draw)."""
        if classes is None:
            return np.atleast_2d(measure.values(block))
        whole = block.one_vs_rest()
        tp, fp, fn, tn = (np.asarray(cell)[:, classes].T for cell in (whole.tp, whole.fp, whole.fn, whole.tn))
        return np.atleast_2d(measure.values(Binary(tp=tp, fp=fp, fn=fn, tn=tn)))
