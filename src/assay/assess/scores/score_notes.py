# SPDX-License-Identifier: Apache-2.0
"""What a reader should know of scores before believing what rests on them."""

from __future__ import annotations

from typing import Final

from assay.core.labels import Label
from assay.core.text import counted
from assay.tally.scores.rounded_scores import RESOLVED, describe_rounding
from assay.tasks.classification.curves import tied_pairs
from assay.tasks.classification.score_part import ScorePart

FEW: Final = 100
"""Below this many distinct scores a note says so: rounding may have made the ties (ACCEPTANCE B19)."""
MANY_TIES: Final = 0.05


def score_notes(part: ScorePart, positive: Label | None) -> tuple[str, ...]:
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
    stored = part.stored_scores(part.whole)
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
    return tuple(notes)
