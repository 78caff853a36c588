# SPDX-License-Identifier: Apache-2.0
"""Answers to different rows: a confusion tally or scores of each model, or of each batch of one; nothing pairs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from assay.core.labels import Label
from assay.tally.base import VERSION, Stored, demand_kind, places
from assay.tally.contingency_tables import Table
from assay.tally.labels.confusion import Confusion
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit

KIND: Final = "answers-apart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """What each model answered on rows of its own."""

    models: tuple[str, ...]
    labels: tuple[Label, ...]
    confusions: tuple[Confusion, ...] | None = None
    scores: tuple[PairedScores, ...] | None = None
    """Of one model each."""
    rows: tuple[PerUnit, ...] | None = None
    """Scores of all classes, of one model each."""

    @classmethod
    def of(cls, models: tuple[str, ...], labels: tuple[Label, ...], each: Sequence[Mapping[str, object]]) -> Apart:
        """From the tallies of one model each, by the kind of their values."""
        called = [cast("PairedLabels", own["paired"]) for own in each if "paired" in own]
        return cls(
            models=models,
            labels=labels,
            confusions=tuple(one.confusion(*one.models) for one in called) or None,
            scores=tuple(cast("PairedScores", own["scores"]) for own in each if "scores" in own) or None,
            rows=tuple(cast("PerUnit", own["rows"]) for own in each if "rows" in own) or None,
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each model."""
        if self.confusions is not None:
            return tuple(one.rows for one in self.confusions)
        if self.rows is not None:
            return tuple(one.n for one in self.rows)
        return tuple(one.m + one.n for one in self.scores or ())

    @property
    def n(self) -> int:
        """All rows."""
        return sum(self.sizes)

    def only(self, *models: str) -> Apart:
        """Some of the models."""
        at = places(models, self.models)
        kept = {name: None if (own := getattr(self, name)) is None else tuple(own[i] for i in at) for name in PARTS}
        return Apart(models=models, labels=self.labels, **kept)

    def class_sizes(self) -> list[int]:
        """Rows of each class, all models together."""
        sizes = dict.fromkeys(self.labels, 0)
        for one in self.confusions or ():
            for (truth, _), n in one.cells().items():
                sizes[truth] += int(n)
        return list(sizes.values())

    def shares(self, about: str, positive: Label | None) -> Table:
        """Right and wrong answers of each model: to all rows, to the positives, or to the negatives.

        >>> one = Confusion.from_cells({(1, 1): 3, (1, 0): 1, (0, 0): 2})
        >>> Apart(models=("A", "B"), labels=(0, 1), confusions=(one, one)).shares("recall", 1).rows
        ((3, 1), (3, 1))
        """
        rows = []
        for one in self.confusions or ():
            cells = one.cells()
            among = {cell: n for cell, n in cells.items() if _counts(cell[0], about, positive)}
            right = sum(int(n) for (truth, call), n in among.items() if _right(truth, call, about, positive))
            rows.append((right, sum(int(n) for n in among.values()) - right))
        return Table(rows=tuple(rows), models=self.models)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        parts = {name: None if (own := getattr(self, name)) is None else [t.to_json() for t in own] for name in PARTS}
        if self.rows is None:
            del parts["rows"]
        return {"kind": KIND, "version": VERSION, "models": list(self.models), "labels": list(self.labels), **parts}

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Apart:
        """The inverse of `to_json`."""
        demand_kind(content, KIND, "a tally of answers to different rows")
        stored = {name: cast("list[Mapping[str, object]] | None", content.get(name)) for name in PARTS}
        parts = {
            name: None if own is None else tuple(PARTS[name].from_json(one) for one in own)
            for name, own in stored.items()
        }
        models, labels = tuple(cast("list[str]", content["models"])), tuple(cast("list[Label]", content["labels"]))
        return cls(models=models, labels=labels, **parts)  # type: ignore[arg-type]


PARTS: Final[Mapping[str, type[Stored]]] = {"confusions": Confusion, "scores": PairedScores, "rows": PerUnit}
"""What may be known of each model, and the tally that holds it."""


def _counts(truth: Label, about: str, positive: Label | None) -> bool:
    return about == "accuracy" or (truth == positive) == (about == "recall")


def _right(truth: Label, call: Label, about: str, positive: Label | None) -> bool:
    return truth == call if about == "accuracy" else (call == positive) == (about == "recall")
