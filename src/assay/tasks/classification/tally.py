# SPDX-License-Identifier: Apache-2.0
"""The tally of classification: confusion of truth and predictions, positive class, and scores if there are any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import quoted
from assay.core.traits import Task
from assay.tally.base import digest
from assay.tally.labels.confusion import Confusion

if TYPE_CHECKING:
    from assay.tasks.classification.score_part import ScorePart
    from assay.tasks.classification.unit_part import UnitPart


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Classified:
    """Counts of rows by true and predicted class, with the tallies of their scores."""

    PUBLIC: ClassVar = ("confusion", "positive", "scores", "labels", "task")
    """What an assessment shows of its tally."""

    confusion: Confusion
    positive: Label | None
    """None where there are three classes or more."""
    scores: ScorePart | None = None
    units: UnitPart | None = None
    """What each unit adds, where rows belong together."""

    @property
    def rows(self) -> int:
        """Rows that were counted."""
        return self.confusion.rows

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes, in order."""
        return self.confusion.labels

    @property
    def task(self) -> Task:
        """Binary or multi-class."""
        return Task.MULTICLASS if self.positive is None else Task.BINARY

    @property
    def called(self) -> bool:
        """Whether rows have predicted labels, given or made of scores."""
        return self.scores is None or self.scores.decided != "none"

    def __add__(self, other: Classified) -> Classified:
        """Both together; scores in only one of them cannot speak for all rows."""
        if (self.scores is None) != (other.scores is None):
            what, fix = "only some of the parts have scores", "count every part with its scores, or none"
            raise PlanError("tally-mismatch", what, fix=fix)
        both = self.scores + other.scores if self.scores is not None and other.scores is not None else None
        if (self.units is None) != (other.units is None):
            what, fix = "only some of the parts name units", "count every part by unit, or none"
            raise PlanError("tally-mismatch", what, fix=fix)
        whole = replace(self, confusion=self.confusion + other.confusion, scores=both, units=None)
        if self.units is None:
            return whole
        from assay.tasks.classification.unit_part import add_parts

        return replace(whole, units=add_parts(self, other, whole))

    def check_alike(self, other: Classified) -> None:
        """Raise unless the positive class is the same."""
        if self.positive != other.positive or type(self.positive) is not type(other.positive):
            raise PlanError(
                "tally-mismatch",
                f"the positive class is {_shown(self.positive)} here and {_shown(other.positive)} there",
                fix="count both with the same positive class",
            )

    def __eq__(self, other: object) -> bool:
        """Same classes, same counts, same scores."""
        if not isinstance(other, Classified) or self.positive != other.positive or self.confusion != other.confusion:
            return False
        ours, theirs = (None if tally.scores is None else tally.scores.whole for tally in (self, other))
        return ours == theirs

    def __hash__(self) -> int:
        """By digest."""
        return hash(self.digest())

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        scores = {} if self.scores is None else {"scores": self.scores.to_json()}
        units = {} if self.units is None else {"units": self.units.to_json()}
        return {"confusion": self.confusion.to_json(), **scores, **units}

    def digest(self) -> str:
        """SHA-256 of the canonical form of the counts of labels."""
        return digest(self.confusion.to_json())


def _shown(label: Label | None) -> str:
    return "not stated" if label is None else quoted(label)
