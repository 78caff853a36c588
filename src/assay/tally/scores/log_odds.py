# SPDX-License-Identifier: Apache-2.0
"""Log-odds read as probabilities: the tally keeps the log-odds, so that no probability is rounded to 0 or 1 on the way.

A log-odds of 800 is a probability that no double tells from 1; its loss, 800, is known all the same.
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from assay.core.arrays import chance
from assay.core.errors import PlanError
from assay.tally.scores.ranked_table import Linked, Multiset, Ranked
from assay.tally.scores.score_tally import Scores

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.core.labels import Label


class LinkedScores(Scores):
    """Log-odds of every class, read as probabilities."""

    @classmethod
    def of_logits(cls, scores: Scores) -> LinkedScores:
        """From scores that are log-odds."""
        return cls(**{field.name: getattr(scores, field.name) for field in fields(scores)})

    def one_vs_rest(self, label: Label) -> Ranked:
        """One class against the rest."""
        return Linked.of(Scores.one_vs_rest(self, label))

    def micro(self) -> Ranked:
        """All classes pooled."""
        return Linked.of(Scores.micro(self))

    def of_truth(self) -> Multiset:
        """The probability each row gave its true class."""
        own = Scores.of_truth(self)
        return Multiset(chance(own.value), own.count)

    def own_losses(self) -> Multiset:
        """Minus the logarithm of the probability each row gave its true class."""
        own = Scores.of_truth(self)
        return Multiset(np.logaddexp(0.0, -own.value), own.count)


def clipped(score: Floats, clip: float | None) -> Floats:
    """Probabilities kept away from 0 and 1 by a declared distance; as they are where none is declared."""
    if clip is None:
        return score
    plain = isinstance(clip, (int, float, Fraction)) and not isinstance(clip, bool)
    if not plain or not 0 < clip < 0.5:  # noqa: PLR2004  half the range
        raise PlanError("measure-needs", f"clip = {clip!r}", known="above 0, below 0.5", fix="give clip such as 1e-15")
    return np.clip(score, clip, 1 - clip)


def own_losses(t: Scores, clip: float | None = None) -> Multiset:
    """Minus the logarithm of the probability each row gave its true class; of log-odds without a detour."""
    if isinstance(t, LinkedScores) and clip is None:
        return t.own_losses()
    own = t.of_truth()
    with np.errstate(divide="ignore"):
        return Multiset(-np.log(clipped(own.value, clip)), own.count)
