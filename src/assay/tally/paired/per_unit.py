# SPDX-License-Identifier: Apache-2.0
"""Answers of several models unit by unit, for rows that are not independent or not of equal weight.

An entry is what a unit adds to one combination of truth and calls: how many rows, and what they weigh together. With
scores every row is an entry; with weights alone every row is a unit, and rows alike are one entry that stands for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.errors import OutOfRange, RowsError, UnpairedRows
from assay.core.labels import Label, in_order
from assay.core.text import counted
from assay.rows.number_columns import weights
from assay.tally.base import (
    VERSION,
    Digested,
    demand_kind,
    packed_reals,
    packed_whole,
    places,
    unpacked_reals,
    unpacked_whole,
)
from assay.tally.labels.label_cells import Codes

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole

KIND: Final = "per-unit"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PerUnit(Digested):
    """Truth, calls or scores, unit and weight of every entry; entries stand in an order of their own."""

    models: tuple[str, ...]
    labels: tuple[Label, ...]
    truth: Whole
    calls: Whole | None
    """Axes (model, row); in the smallest type that holds the classes, whoever adds to them takes a wider one."""
    scores: Floats | None
    """Axes (model, row); with scores of all classes (model, row, class)."""
    subject: Whole | None
    weight: Floats | None
    """Of all rows of an entry of a subject; else of each."""
    times: Whole | None = None
    """How many rows an entry stands for; None where each is one row."""

    @classmethod
    def of(
        cls,
        *,
        truth: Sequence[Label | None] | Codes,
        labels: Sequence[Label],
        models: Sequence[str],
        calls: Sequence[Sequence[Label | None]] | Sequence[Codes] | None = None,
        scores: Mapping[str, Floats] | None = None,
        subject: Sequence[Label | None] | Codes | None = None,
        weight: Floats | None = None,
        times: Whole | None = None,
    ) -> PerUnit:
        """From columns; subjects become numbers, so that no name is kept. `times` says how often a row occurs.

        >>> t = PerUnit.of(
        ...     truth=[1, 0, 1], labels=(0, 1), models=("A", "B"), calls=[[1, 0, 1], [0, 0, 1]], subject=["x", "y", "x"]
        ... )
        >>> t.units, t.subject.tolist()
        (2, [0, 0, 1])
        """
        place = {label: i for i, label in enumerate(labels)}
        true, called = _coded(truth), None if calls is None else [_coded(one) for one in calls]
        plain = cls(
            models=tuple(models),
            labels=tuple(labels),
            truth=true.placed(place),
            calls=None if called is None else np.stack([small(one.placed(place), len(place)) for one in called]),
            scores=None if scores is None else np.stack([scores[name] for name in models]),
            subject=None if subject is None else _numbered(_coded(subject), len(true), times),
            weight=None if weight is None else sound_weights(weight, len(true)),
            times=times,
        )
        return plain._ordered() if scores is not None else plain._collapsed()

    @property
    def n(self) -> int:
        """All rows."""
        return len(self.truth) if self.times is None else int(self.times.sum())

    @property
    def entries(self) -> Whole:
        """How many rows each entry stands for."""
        return np.ones(len(self.truth), dtype=np.int64) if self.times is None else self.times

    @property
    def amount(self) -> Floats:
        """What an entry adds to the sums of its unit."""
        if self.weight is not None:
            return self.weight
        return self.entries.astype(np.float64) if self.subject is not None else np.ones(len(self.truth))

    def class_weights(self) -> Floats:
        """What each class weighs."""
        heavy = self.amount * (self.entries if self.subject is None else 1)
        return np.bincount(self.truth, weights=heavy, minlength=len(self.labels)).astype(np.float64)

    @property
    def classwise(self) -> bool:
        """Whether every class has a score of its own."""
        return self.scores is not None and self.scores.ndim > 2  # noqa: PLR2004  model and row

    @property
    def area(self) -> str:
        """The measure that scores are compared by in any case."""
        return "auroc_macro" if self.classwise else "auroc"

    @property
    def units(self) -> int:
        """Subjects, or rows where none are stated."""
        return self.n if self.subject is None else int(self.subject.max(initial=-1)) + 1

    def only(self, *models: str) -> PerUnit:
        """The same rows with some of the models."""
        at = places(models, self.models)
        return replace(
            self,
            models=models,
            calls=None if self.calls is None else self.calls[at],
            scores=None if self.scores is None else self.scores[at],
        )

    def against_rest(self, place: int, *, collapsed: bool) -> PerUnit:
        """One class as 1 and all others as 0; collapsed, what a measure of one class sees is eight joint cells."""
        truth, calls = (self.truth == place).astype(np.int64), (cast("Whole", self.calls) == place).astype(np.int64)
        plain = replace(self, labels=(0, 1), truth=truth, calls=calls)
        return plain._collapsed() if collapsed else plain  # noqa: SLF001  its own kind

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "kind": KIND,
            "version": VERSION,
            "models": list(self.models),
            "labels": list(self.labels),
            "rows": len(self.truth),
            "truth": packed_whole(self.truth),
            "calls": None if self.calls is None else [packed_whole(one) for one in self.calls],
            "scores": None if self.scores is None else [_packed(one) for one in self.scores],
            "subject": None if self.subject is None else packed_whole(self.subject),
            "weight": None if self.weight is None else packed_reals(self.weight),
            "times": None if self.times is None else packed_whole(self.times),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> PerUnit:
        """The inverse of `to_json`."""
        demand_kind(content, KIND, "a tally of paired rows")
        rows, labels = cast("int", content["rows"]), tuple(cast("list[Label]", content["labels"]))
        calls = cast("list[str] | None", content["calls"])
        scores = cast("list[str | list[str]] | None", content["scores"])
        truth, subject, weight, times = (
            cast("str | None", content[part]) for part in ("truth", "subject", "weight", "times")
        )
        return cls(
            models=tuple(cast("list[str]", content["models"])),
            labels=labels,
            truth=unpacked_whole(truth or "", rows),
            calls=None if calls is None else np.stack([small(unpacked_whole(one, rows), len(labels)) for one in calls]),
            scores=None if scores is None else np.stack([_unpacked(one, rows) for one in scores]),
            subject=None if subject is None else unpacked_whole(subject, rows),
            weight=None if weight is None else unpacked_reals(weight, rows),
            times=None if times is None else unpacked_whole(times, rows),
        )

    def _collapsed(self) -> PerUnit:
        """One entry for each combination of a unit, in an order that does not depend on the one rows came in."""
        keys = [*cast("Whole", self.calls)[::-1], self.truth, *([] if self.subject is None else [self.subject])]
        heavy = [] if self.weight is None else [self.weight]
        at, first, times = _runs([*heavy, *keys], self.entries)
        alike = replace(self._take(at[first]), times=times)
        if self.subject is None or alike.weight is None:
            return alike
        keys = [*cast("Whole", alike.calls)[::-1], alike.truth, cast("Whole", alike.subject)]
        at, first, times = _runs(keys, alike.entries)
        weight = np.add.reduceat((alike.weight * alike.entries)[at], first) if len(first) else alike.weight
        return replace(alike._take(at[first]), weight=weight, times=times)  # noqa: SLF001  its own kind

    def _take(self, at: Whole) -> PerUnit:
        """Some of the entries, in a given order."""
        return replace(
            self,
            truth=self.truth[at],
            calls=None if self.calls is None else self.calls[:, at],
            scores=None if self.scores is None else self.scores[:, at] + 0.0,
            subject=None if self.subject is None else self.subject[at],
            weight=None if self.weight is None else self.weight[at],
        )

    def _ordered(self) -> PerUnit:
        """In an order that does not depend on the one the rows came in."""
        keys: list[Floats | Whole] = []
        scores = self.scores if not self.classwise else np.concatenate(np.moveaxis(cast("Floats", self.scores), 2, 1))
        for part in (self.weight, scores, self.calls, self.truth, self.subject):
            keys += [] if part is None else list(np.atleast_2d(part))
        return self._take(np.lexsort(keys))


def _runs(keys: Sequence[Floats | Whole], times: Whole) -> tuple[Whole, Whole, Whole]:
    """The order of entries by some keys, the last leading; where runs of equal ones begin, and rows of each run."""
    at = np.lexsort(list(keys))
    new = np.zeros(len(at), dtype=bool)
    new[:1] = True
    for key in keys:
        ordered = key[at]
        new[1:] |= ordered[1:] != ordered[:-1]
    first = np.flatnonzero(new)
    return at, first, np.add.reduceat(times[at], first) if len(first) else times


def small(codes: Whole, names: int) -> Whole:
    """In the smallest type that holds numbers of as many names, and -1."""
    kind = next(one for one in (np.int8, np.int16, np.int32, np.int64) if names <= np.iinfo(one).max)
    return cast("Whole", codes.astype(kind, copy=False))


def _numbered(who: Codes, rows: int, times: Whole | None) -> Whole:
    """The number of the subject of each row, in the order of their names."""
    if who.count(None):
        lost = who.count(None) if times is None else int(times[who.are(None)].sum())
        raise RowsError(
            "missing-label",
            f"{counted(lost, 'row')} {'has' if lost == 1 else 'have'} no subject",
            where="subject",
            fix="give every row the subject it is of",
        )
    if len(who) != rows:
        raise UnpairedRows(
            "rows-unmatched",
            f"there are {counted(len(who), 'subject')} for {counted(rows, 'row')}",
            where="subject",
            fix="give the subject of every row",
        )
    number = {name: i for i, name in enumerate(in_order({name for name in who.seen() if name is not None}))}
    return small(who.placed(number), len(number))


def _coded(labels: Sequence[Label | None] | Codes) -> Codes:
    return labels if isinstance(labels, Codes) else Codes.of(labels)


def _packed(scores: Floats) -> str | list[str]:
    return packed_reals(scores) if scores.ndim == 1 else [packed_reals(one) for one in scores.T]


def _unpacked(text: str | list[str], rows: int) -> Floats:
    if isinstance(text, str):
        return unpacked_reals(text, rows)
    return np.stack([unpacked_reals(one, rows) for one in text], axis=1)


def sound_weights(given: Floats, rows: int) -> Floats:
    """Weights that are finite, not below zero, and not all zero."""
    real: Floats = np.asarray(weights(given, rows), dtype=np.float64)
    if not real.any():
        raise OutOfRange("value-out-of-domain", "all weights are zero", where="weight", fix="give weights above 0")
    return real
