# SPDX-License-Identifier: Apache-2.0
"""What a reader should know of scores before believing what rests on them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from assay.core.errors import OutOfRange
from assay.core.labels import Label
from assay.core.text import counted
from assay.core.values import Undefined
from assay.inference.intervals.auc import area_ends, delong_variance
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.rounded_scores import RESOLVED, describe_rounding
from assay.tasks.classification.curves import tied_pairs
from assay.tasks.classification.measures.score_curves import auroc
from assay.tasks.classification.score_part import ScorePart

FEW: Final = 100
"""Below this many distinct scores a note says so: rounding may have made the ties (ACCEPTANCE B19)."""
MANY_TIES: Final = 0.05
TWO: Final = 2
HALF: Final = 0.5


def demand_range(part: ScorePart, where: str) -> None:
    """Refuse scores of which a difference is not a number any more."""
    for column in part.whole.columns:
        low, high = (float(column.value.min()), float(column.value.max())) if len(column.value) else (0.0, 0.0)
        if math.isinf(high - low):
            what, shown = "the scores lie farther apart than a float64 can tell", f"{low:g} to {high:g}"
            raise OutOfRange("score-not-finite", what, where=where, found=shown, fix="divide them by a constant")


def score_notes(part: ScorePart, positive: Label | None, level: float = 0.95) -> tuple[str, ...]:
    """What a reader of two classes should know of the scores: whether they hold few values, and many ties."""
    notes = []
    if part.last:
        have = "has no score and ranks" if part.last == 1 else "have no score and rank"
        notes.append(f"{counted(part.last, 'row')} {have} below all others (missing_score: worst)")
    if part.rescaled is not None and part.rescaled.rows:
        notes.append(
            f"the probabilities of {counted(part.rescaled.rows, 'row')} did not add up to 1"
            f" (off by {part.rescaled.farthest:.3g} at most) and were divided by their sum (renormalise)"
        )
    if part.link is not None:
        notes.append(
            f"the logits of {counted(part.whole.rows, 'row')} became probabilities by the"
            f" {'logistic function' if part.link == 'logistic' else 'softmax of the classes'} (scores: logit)"
        )
    stored = part.as_stored.whole
    if stored.rounding is not None:
        kept = "" if stored is part.whole else " in the Record; values come from all digits"
        notes.append(describe_rounding(stored.rounding.bits) + kept)
    if part.whole.rounding is not None and part.whole.resolution < RESOLVED:
        notes.append(
            f"half of the rows share {counted(part.whole.resolution, 'rounded score')}: if they lie close together,"
            " subtract a constant from the scores, or keep all digits (exact_scores)"
        )
    if positive is None:
        return tuple(notes)
    table = stored.one_vs_rest(positive)
    if len(table.score) < min(FEW, part.whole.rows):
        notes.append(f"only {counted(len(table.score), 'distinct score')} in {counted(part.whole.rows, 'row')}")
    share = tied_pairs(table)
    if share is not None and share >= MANY_TIES:
        notes.append(f"{share * 100:.3g} % of pairs of a positive and a negative are tied")
    return (*notes, *_at_threshold(part, table), *_wrong_way(table, level))


def _at_threshold(part: ScorePart, table: Ranked) -> Iterator[str]:
    """Rows that the last bit of a score or of the threshold calls one way or the other."""
    if part.decided != "threshold" or not part.thresholds:
        return
    cut = part.thresholds[0].value
    if equal := int((table.pos + table.neg)[table.score == cut].sum()) if part.link is None else 0:
        have = "has" if equal == 1 else "have"
        yield f"{counted(equal, 'row')} {have} exactly the threshold {cut:g} as score, and count as called positive"
    narrow = [name for name in ("float16", "float32") if name in part.stored]
    if narrow and float(getattr(np, narrow[0])(cut)) != cut:
        yield (
            f"the scores are stored as {narrow[0]}, which cannot hold the threshold {cut:g}:"
            f" a score written as {cut:g} may lie on either side of it"
        )


def _wrong_way(table: Ranked, level: float) -> Iterator[str]:
    """Scores that rank the negatives above the positives, beyond chance."""
    if min(table.positives, table.negatives) < TWO:
        return
    value = auroc(table)
    if isinstance(value, Undefined) or (area := float(value.value)) >= HALF:
        return
    _, high, _ = area_ends(area, delong_variance(table), float(table.positives), float(table.negatives), level)
    if high < HALF:
        yield (
            f"AUROC {area:.3g} lies below 0.5, and so does its interval: the scores rank the wrong way; are they those"
            " of the other class?"
        )
