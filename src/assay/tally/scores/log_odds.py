# SPDX-License-Identifier: Apache-2.0
"""Log-odds read as probabilities: the tally keeps the log-odds, so that no probability is rounded to 0 or 1 on the way.

A log-odds of 800 is a probability that no double tells from 1; its loss, 800, is known all the same.
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.arrays import chance
from assay.core.errors import PlanError
from assay.tally.scores.ranked_table import Multiset, Ranked
from assay.tally.scores.score_tally import Scores

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.core.labels import Label
    from assay.tally.scores.ranked_table import Counts


class Linked(Ranked):
    """A table of log-odds that is read as one of probabilities; equal ones may stand beside each other."""

    def __init__(self, *, logit: Floats, pos: Counts, neg: Counts) -> None:
        super().__init__(score=chance(logit), pos=pos, neg=neg)
        self.logit = logit

    @classmethod
    def of(cls, table: Ranked) -> Linked:
        """From a table whose scores are log-odds."""
        return cls(logit=table.score, pos=table.pos, neg=table.neg)

    def drawn(self, pos: Counts, neg: Counts) -> Linked:
        """The same log-odds with other counts."""
        return Linked(logit=cast("Floats", self.logit), pos=pos, neg=neg)


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
