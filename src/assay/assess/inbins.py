# SPDX-License-Identifier: Apache-2.0
"""Scores of several models that are too many to hold row by row: counted in bins where they live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from assay.core.errors import PlanError
from assay.core.labels import Label, in_order
from assay.core.text import listed
from assay.rows.opening import FrameSource, Source
from assay.tally.scoring import Wanted, distinct_scores

if TYPE_CHECKING:
    from assay.tally.pairedbins import PairedBins

TWO: Final = 2
"""Classes that one column of scores tells apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InBins:
    """Scores that were counted in bins: rows by true label, and the tally, whose positive label is `own`."""

    truth: Mapping[Label | None, int]
    tally: PairedBins | None
    """None where rows have no true label, or there are more than two: whoever settles the classes says so."""
    own: Label | None = None

    def of(self, positive: Label | None) -> PairedBins | None:
        """The tally with a class as the positive one."""
        return self.tally if self.tally is None or positive == self.own else self.tally.swapped()


def in_bins(source: Source, models: Sequence[str], *, exact: int, by_row: Sequence[str] = ()) -> InBins | None:
    """The scores of one table in bins, if it holds more distinct ones than `exact`; rows in memory are left there.

    `by_row` are measures that were asked for and read scores row by row.
    """
    if not isinstance(source, FrameSource):
        return None
    wanted = Wanted(labels=(), scored=(), columns=tuple(range(len(models))), exact=exact)
    if distinct_scores(source, wanted) <= exact:
        return None
    if by_row:
        raise PlanError(
            "comparison-needs",
            f"{listed(by_row)} of two models is compared row by row, and more than {exact:,} distinct scores are"
            " counted in bins",
            where=source.where,
            fix="compare the areas under the ROC curves, which bins give; or hold the scores in memory, 8 bytes a row"
            " and model: exact_scores=NUMBER (--exact-scores)",
        )
    from assay.tally.pairedbinframes import paired_bins, true_labels

    truth = true_labels(source)
    known = in_order(label for label in truth if label is not None)
    if None in truth or not 0 < len(known) <= TWO:
        return InBins(truth=truth, tally=None)
    return InBins(truth=truth, tally=paired_bins(source, models, (known[0], known[-1])), own=known[-1])
