# SPDX-License-Identifier: Apache-2.0
"""Scores of several models on the same rows of a binary task, positives and negatives apart.

Very many rows are held as cells: rows whose rounded scores agree in every model, and how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.errors import OutOfRange, UnpairedRows
from assay.core.text import counted, quoted
from assay.tally.base import (
    VERSION,
    Digested,
    demand_kind,
    packed_flags,
    packed_reals,
    packed_steps,
    packed_whole,
    places,
    unpacked_flags,
    unpacked_reals,
    unpacked_steps,
    unpacked_whole,
)
from assay.tally.paired.per_unit import PerUnit
from assay.tally.scores.rounded_scores import describe_rounding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole

KIND: Final = "paired-scores"
LISTED: Final = 100_000
"""Rows up to which a Record lists the scores; more are packed: as ranks, unless a measure reads the values."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairedScores(Digested):
    """One score a model and row, higher meaning more positive; axes (model, row)."""

    models: tuple[str, ...]
    positives: Floats
    negatives: Floats
    times: tuple[Whole, Whole] | None = None
    """How many positive and negative rows each cell stands for; None where each is one row."""
    bits: int | None = None
    """Significant bits the scores were rounded to, where cells are held."""
    shared: dict[str, object] = field(default_factory=dict, repr=False)
    """What was computed from the rows once and is asked for again."""

    @classmethod
    def of(cls, positive: Sequence[bool] | NDArray[np.bool_], scores: Mapping[str, object]) -> PairedScores:
        """From which rows are positive and one column of scores a model.

        >>> t = PairedScores.of([True, False, True], {"A": [0.9, 0.2, 0.6], "B": [0.1, 0.3, 0.5]})
        >>> t.positives.tolist(), t.negatives.tolist()
        ([[0.9, 0.6], [0.1, 0.5]], [[0.2], [0.3]])
        """
        is_positive = np.asarray(positive, dtype=bool)
        columns = {str(name): score_column(column, str(name)) for name, column in scores.items()}
        for name, column in columns.items():
            if len(column) != len(is_positive):
                what = f"there are {counted(len(is_positive), 'row')}, and {name} has {counted(len(column), 'score')}"
                where, fix = f"score {quoted(name)}", "give one score a row and model"
                raise UnpairedRows("rows-unmatched", what, where=where, fix=fix)
        sides = [np.flatnonzero(is_positive), np.flatnonzero(~is_positive)]
        positives, negatives = (np.stack([column[at] for column in columns.values()]) for at in sides)
        return cls(models=tuple(columns), positives=positives, negatives=negatives)

    @classmethod
    def of_cells(
        cls, models: Sequence[str], scores: Floats, positive: NDArray[np.bool_], times: Whole, bits: int
    ) -> PairedScores:
        """From cells in any order and as often as they come: their scores by model, class and number of rows."""
        sides, counts = zip(*(_gather_cells(scores[:, at], times[at]) for at in (positive, ~positive)), strict=True)
        return cls(models=tuple(models), positives=sides[0], negatives=sides[1], times=counts, bits=bits)

    @property
    def m(self) -> int:
        """How many rows are positive."""
        return int(self.positives.shape[1] if self.times is None else self.times[0].sum())

    @property
    def n(self) -> int:
        """How many rows are negative."""
        return int(self.negatives.shape[1] if self.times is None else self.times[1].sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """The note that scores were rounded, where they were."""
        return () if self.bits is None else (describe_rounding(self.bits),)

    def only(self, *models: str) -> PairedScores:
        """The same rows with some of the models."""
        at = places(models, self.models)
        return replace(self, models=models, positives=self.positives[at], negatives=self.negatives[at], shared={})

    def swapped(self) -> PairedScores:
        """The same with the other class as the positive one, scores as they are."""
        times = None if self.times is None else self.times[::-1]
        return replace(self, positives=self.negatives, negatives=self.positives, times=times, shared={})

    def per_unit(self) -> PerUnit:
        """The same rows, each of them a unit; the positives are class 1."""
        truth = (np.arange(self.m + self.n) < self.m).astype(np.int64)
        scores = np.concatenate([self.positives, self.negatives], axis=1)
        return PerUnit(
            models=self.models, labels=(0, 1), truth=truth, calls=None, scores=scores, subject=None, weight=None
        )

    def counts(self) -> tuple[Whole, Whole]:
        """How many rows each column of `positives` and of `negatives` stands for."""
        if self.times is not None:
            return self.times
        return np.ones(self.m, dtype=np.int64), np.ones(self.n, dtype=np.int64)

    def to_json(self, *, order_only: bool = False) -> dict[str, object]:
        """As in a Record: rows in their natural order; very many are packed, as ranks where only the order counts."""
        head: dict[str, object] = {"kind": KIND, "version": VERSION, "models": list(self.models)}
        if self.bits is not None or self.m + self.n > LISTED:
            return {**head, "packed": self._packed(order_only=order_only)}
        sides = {"positives": self.positives, "negatives": self.negatives}
        return {**head, **{name: _ordered(side).tolist() for name, side in sides.items()}}

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> PairedScores:
        """The inverse of `to_json`."""
        demand_kind(content, KIND, "a tally of paired scores")
        models = tuple(cast("list[str]", content["models"]))
        if "packed" in content:
            return _unpacked(models, cast("Mapping[str, object]", content["packed"]))
        sides = [
            np.array(content[side], dtype=np.float64).reshape(len(models), -1) for side in ("positives", "negatives")
        ]
        return cls(models=models, positives=sides[0], negatives=sides[1])

    def _packed(self, *, order_only: bool) -> dict[str, object]:
        """One bit for the class of a row, one for whether the first model's score is new, then ranks of the others."""
        rows = np.concatenate([self.positives, self.negatives], axis=1) + 0.0
        values, ranks = zip(*(np.unique(one, return_inverse=True) for one in rows), strict=True)
        is_positive = np.arange(rows.shape[1]) < self.positives.shape[1]
        at = np.lexsort((is_positive, *ranks[:0:-1], ranks[0]))
        times = None if self.times is None else packed_steps(np.concatenate(self.times)[at])
        return {
            "rows": rows.shape[1],
            "positive": packed_flags(is_positive[at]),
            "first": packed_flags(np.diff(ranks[0][at], prepend=0) > 0),
            "ranks": [packed_whole(one[at]) for one in ranks[1:]],
            "values": None if order_only else [packed_reals(one) for one in values],
            "distinct": [len(one) for one in values],
            **({} if times is None else {"bits": self.bits, "times": times}),
        }


def _unpacked(models: tuple[str, ...], content: Mapping[str, object]) -> PairedScores:
    size = cast("int", content["rows"])
    is_positive = unpacked_flags(cast("str", content["positive"]), size)
    ranks = [np.cumsum(unpacked_flags(cast("str", content["first"]), size), dtype=np.int64)]
    ranks += [unpacked_whole(one, size) for one in cast("list[str]", content["ranks"])]
    texts, distinct = cast("list[str] | None", content["values"]), cast("list[int]", content["distinct"])
    values = (
        [np.arange(n, dtype=np.float64) for n in distinct]
        if texts is None
        else [unpacked_reals(text, n) for text, n in zip(texts, distinct, strict=True)]
    )
    rows = np.stack([one[rank] for one, rank in zip(values, ranks, strict=True)])
    if "times" in content:
        times = unpacked_steps(cast("str", content["times"]), size)
        return PairedScores.of_cells(models, rows, is_positive, times, cast("int", content["bits"]))
    return PairedScores(models=models, positives=rows[:, is_positive], negatives=rows[:, ~is_positive])


def _gather_cells(scores: Floats, times: Whole) -> tuple[Floats, Whole]:
    """Cells in their natural order, equal ones added."""
    cells = scores + 0.0  # minus zero and zero are one score
    order = np.lexsort(cells[::-1])
    cells, times = cells[:, order], times[order]
    first = np.flatnonzero(np.concatenate([np.ones(min(1, len(times)), dtype=bool), (np.diff(cells) != 0).any(axis=0)]))
    return cells[:, first], np.add.reduceat(times, first) if len(first) else times


def _ordered(side: Floats) -> Floats:
    return side[:, np.lexsort(side[::-1])] + 0.0  # minus zero and zero are one score


def score_column(column: object, name: str) -> Floats:
    """One finite number a row, or an error that names the column."""
    array = np.asarray(column)
    if array.dtype.kind not in "iufb" or array.ndim != 1:
        raise OutOfRange(
            "column-not-numeric",
            f"the scores of {quoted(name)} are not one number a row",
            where=f"score {quoted(name)}",
            found=f"{array.dtype} of shape {array.shape}",
            fix="give one number a row, higher for more positive",
        )
    real = array.astype(np.float64, copy=False)
    if not bool(np.isfinite(real).all()):
        wrong = np.flatnonzero(~np.isfinite(real))
        shown = ", ".join(f"{real[i]} at index {i}" for i in wrong[:3].tolist())
        raise OutOfRange(
            "score-not-finite",
            f"{counted(len(wrong), 'score')} of {len(real):,} {'is' if len(wrong) == 1 else 'are'} not a finite number",
            where=f"score {quoted(name)}",
            found=shown,
            fix="correct the scores, or leave the rows out for every model",
        )
    return real
