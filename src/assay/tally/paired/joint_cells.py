# SPDX-License-Identifier: Apache-2.0
"""The paired tally: how often each combination of truth and the calls of several models occurs on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label, in_order
from assay.core.text import listed, quoted
from assay.tally.base import VERSION, Digested, checked, count_from_json, count_to_json, demand_kind, places
from assay.tally.contingency_tables import Calls, Outcomes, Patterns
from assay.tally.labels.confusion import DENSE, Confusion
from assay.tally.paired.per_unit import PerUnit

if TYPE_CHECKING:
    from numpy.typing import NDArray

KIND: Final = "paired-labels"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairedLabels(Digested):
    """Counts by (truth, call of each model), sparse; a row of `codes` is a cell, its first number the truth."""

    labels: tuple[Label, ...]
    models: tuple[str, ...]
    codes: NDArray[np.int64]
    count: NDArray[np.int64]

    @classmethod
    def from_cells(
        cls, cells: Mapping[tuple[Label, ...], int], *, models: Sequence[str], labels: Sequence[Label] | None = None
    ) -> PairedLabels:
        """From counts by (truth, call of each model).

        >>> t = PairedLabels.from_cells({(1, 1, 0): 3, (0, 0, 0): 2}, models=("A", "B"))
        >>> t.outcomes("A", "B").counts
        {'both right': 2, 'only A right': 3, 'only B right': 0, 'both wrong': 0}
        """
        names = tuple(models)
        if len(set(names)) != len(names):
            raise PlanError("role-clash", "two models have the same name", found=listed(names), fix="name them apart")
        order = in_order({label for cell in cells for label in cell}) if labels is None else tuple(labels)
        place = {label: i for i, label in enumerate(order)}
        kept = sorted((tuple(place[label] for label in cell), n) for cell, n in cells.items() if n)
        if any(len(cell) != len(names) + 1 for cell, _ in kept):
            raise PlanError(
                "tally-mismatch", "a cell does not hold one call a model", fix="give (truth, call, call, ...)"
            )
        checked(sum(n for _, n in kept))
        return cls(
            labels=order,
            models=names,
            codes=np.array([cell for cell, _ in kept], dtype=np.int64).reshape(len(kept), len(names) + 1),
            count=np.array([n for _, n in kept], dtype=np.int64),
        )

    @property
    def n(self) -> int:
        """All rows."""
        return int(self.count.sum())

    @property
    def truth(self) -> NDArray[np.int64]:
        """The true class of each cell."""
        return self.codes[:, 0]

    def calls_of(self, model: str) -> NDArray[np.int64]:
        """What a model calls the rows of each cell."""
        (at,) = places([model], self.models)
        return self.codes[:, at + 1]

    def cells(self) -> dict[tuple[Label, ...], int]:
        """Counts by label."""
        names = self.labels
        pairs = zip(self.codes.tolist(), self.count.tolist(), strict=True)
        return {tuple(names[i] for i in cell): n for cell, n in pairs}

    def confusion(self, model: str) -> Confusion:
        """The confusion tally of one model."""
        own = self.only(model)
        return Confusion.from_codes(self.labels, own.codes[:, 0], own.codes[:, 1], own.count, rows=self.n)

    def only(self, *models: str) -> PairedLabels:
        """The same rows with some of the models."""
        columns = np.stack([self.truth, *(self.calls_of(model) for model in models)], axis=1)
        distinct_codes, inverse = np.unique(columns, axis=0, return_inverse=True)
        sums = np.zeros(len(distinct_codes), dtype=np.int64)
        np.add.at(sums, inverse.ravel(), self.count)
        return PairedLabels(labels=self.labels, models=models, codes=distinct_codes, count=sums)

    def per_unit(self) -> PerUnit:
        """The same rows, each of them a unit; rows alike are one entry."""
        return PerUnit(
            models=self.models, labels=self.labels, truth=self.truth, calls=self.codes[:, 1:].T, scores=None,
            subject=None, weight=None, times=self.count,
        )  # fmt: skip

    def outcomes(self, a: str, b: str) -> Outcomes:
        """Who is right, over all rows."""
        truth = self.truth
        return self._outcomes(a, b, self.calls_of(a) == truth, self.calls_of(b) == truth, np.ones(len(truth), bool))

    def found(self, a: str, b: str, label: Label) -> Outcomes:
        """Who finds the rows that truly are a class: its recall."""
        at = self.labels.index(label)
        told = self._outcomes(a, b, self.calls_of(a) == at, self.calls_of(b) == at, self.truth == at)
        return replace(told, about="recall", among=f"rows that truly are {quoted(label)}")

    def left_out(self, a: str, b: str, label: Label) -> Outcomes:
        """Who leaves the other rows out of a class: its specificity."""
        at = self.labels.index(label)
        told = self._outcomes(a, b, self.calls_of(a) != at, self.calls_of(b) != at, self.truth != at)
        return replace(told, about="specificity", among=f"rows that truly are not {quoted(label)}")

    def _outcomes(
        self, a: str, b: str, right_a: NDArray[np.bool_], right_b: NDArray[np.bool_], among: NDArray[np.bool_]
    ) -> Outcomes:
        both, only_a, only_b, neither = (
            int(self.count[among & here].sum())
            for here in (right_a & right_b, right_a & ~right_b, ~right_a & right_b, ~right_a & ~right_b)
        )
        return Outcomes(both=both, only_a=only_a, only_b=only_b, neither=neither, models=(a, b))

    def patterns(self) -> Patterns:
        """Who is right among all models."""
        right = self.codes[:, 1:] == self.codes[:, :1]
        counts: dict[tuple[bool, ...], int] = {}
        for row, n in zip(right.tolist(), self.count.tolist(), strict=True):
            counts[tuple(row)] = counts.get(tuple(row), 0) + n
        return Patterns(models=self.models, counts=counts)

    def calls(self, a: str, b: str) -> Calls:
        """How often A called one class while B called another, over all rows."""
        k = len(self.labels)
        if k > DENSE:
            raise PlanError(
                "matrix-shape",
                f"{k:,} classes are too many for a table of calls",
                fix="compare accuracy, or declare fewer classes",
            )
        full = np.zeros((k, k), dtype=np.int64)
        np.add.at(full, (self.calls_of(a), self.calls_of(b)), self.count)
        return Calls(rows=tuple(map(tuple, full.tolist())), labels=self.labels, models=(a, b))

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        pairs = zip(self.codes.tolist(), self.count.tolist(), strict=True)
        return {
            "kind": KIND,
            "version": VERSION,
            "labels": list(self.labels),
            "models": list(self.models),
            "cells": [[*cell, count_to_json(n)] for cell, n in pairs],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> PairedLabels:
        """The inverse of `to_json`."""
        demand_kind(content, KIND, "a tally of paired labels")
        labels = cast("list[Label]", content["labels"])
        cells = cast("list[list[object]]", content["cells"])
        return cls.from_cells(
            {tuple(labels[cast("int", i)] for i in cell[:-1]): int(count_from_json(cell[-1])) for cell in cells},
            models=cast("list[str]", content["models"]),
            labels=labels,
        )
