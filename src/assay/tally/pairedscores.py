# SPDX-License-Identifier: Apache-2.0
"""Scores of several models on the same rows of a binary task, positives and negatives apart."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import OutOfRange, PlanError, RecordError, UnpairedRows
from assay.core.text import counted, listed, quoted
from assay.tally.base import VERSION, places
from assay.tally.packing import (
    packed_flags,
    packed_reals,
    packed_whole,
    unpacked_flags,
    unpacked_reals,
    unpacked_whole,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

KIND: Final = "paired-scores"
LISTED: Final = 100_000
"""Rows up to which a Record lists the scores; more are packed: as ranks, unless a measure reads the values."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairedScores:
    """One score a model and row, higher meaning more positive; axes (model, row)."""

    models: tuple[str, ...]
    positives: Floats
    negatives: Floats
    shared: dict[str, object] = field(default_factory=dict, repr=False)
    """What was computed from the rows once and is asked for again."""

    @classmethod
    def of(cls, positive: Sequence[bool] | NDArray[np.bool_], scores: Mapping[str, object]) -> PairedScores:
        """From which rows are positive and one column of scores a model.

        >>> t = PairedScores.of([True, False, True], {"A": [0.9, 0.2, 0.6], "B": [0.1, 0.3, 0.5]})
        >>> t.positives.tolist(), t.negatives.tolist()
        ([[0.9, 0.6], [0.1, 0.5]], [[0.2], [0.3]])
        """
        is_positive, columns = paired_columns(positive, scores)
        sides = [np.flatnonzero(is_positive), np.flatnonzero(~is_positive)]
        positives, negatives = (np.stack([column[at] for column in columns.values()]) for at in sides)
        return cls(models=tuple(columns), positives=positives, negatives=negatives)

    @property
    def m(self) -> int:
        """How many rows are positive."""
        return int(self.positives.shape[1])

    @property
    def n(self) -> int:
        """How many rows are negative."""
        return int(self.negatives.shape[1])

    def only(self, *models: str) -> PairedScores:
        """The same rows with some of the models."""
        at = places(models, self.models)
        return PairedScores(models=models, positives=self.positives[at], negatives=self.negatives[at])

    def __add__(self, other: PairedScores) -> PairedScores:
        """Both tallies together."""
        if self.models != other.models:
            raise PlanError(
                "tally-mismatch",
                "the two tallies are of different models",
                found=f"{listed(self.models)} and {listed(other.models)}",
                fix="count both with the same models in the same order",
            )
        return PairedScores(
            models=self.models,
            positives=np.concatenate([self.positives, other.positives], axis=1),
            negatives=np.concatenate([self.negatives, other.negatives], axis=1),
        )

    def __eq__(self, other: object) -> bool:
        """Same models, same rows in any order."""
        return isinstance(other, PairedScores) and self.digest() == other.digest()

    def __hash__(self) -> int:
        """By digest."""
        return hash(self.digest())

    def digest(self) -> str:
        """SHA-256 of the models and the rows in their natural order, so that the order they came in does not matter."""
        sha = hashlib.sha256("\0".join((KIND, VERSION, *self.models)).encode("utf-8", "surrogatepass"))
        for side in (self.positives, self.negatives):
            sha.update(f"\0{side.shape[1]}\0".encode())
            sha.update(np.ascontiguousarray(_ordered(side), dtype="<f8").tobytes())
        return sha.hexdigest()

    def to_json(self, *, order_only: bool = False) -> dict[str, object]:
        """As in a Record: rows in their natural order; very many are packed, as ranks where only the order counts."""
        if self.m + self.n > LISTED:
            return self._packed(order_only=order_only)
        return {
            "kind": KIND,
            "version": VERSION,
            "models": list(self.models),
            "positives": _ordered(self.positives).tolist(),
            "negatives": _ordered(self.negatives).tolist(),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> PairedScores:
        """The inverse of `to_json`."""
        if content.get("kind") != KIND or content.get("version") != VERSION:
            raise RecordError(
                "record-unreadable",
                f"this is not a tally of paired scores of version {VERSION}",
                found=f"kind {content.get('kind')!r}, version {content.get('version')!r}",
                fix="write it again with this version of assay",
            )
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
        is_positive = np.arange(rows.shape[1]) < self.m
        at = np.lexsort((is_positive, *ranks[:0:-1], ranks[0]))
        first = ranks[0][at]
        return {
            "kind": KIND,
            "version": VERSION,
            "models": list(self.models),
            "packed": {
                "rows": rows.shape[1],
                "positive": packed_flags(is_positive[at]),
                "first": packed_flags(np.diff(first, prepend=0) > 0),
                "ranks": [packed_whole(one[at]) for one in ranks[1:]],
                "values": None if order_only else [packed_reals(one) for one in values],
                "distinct": [len(one) for one in values],
            },
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
    return PairedScores(models=models, positives=rows[:, is_positive], negatives=rows[:, ~is_positive])


def _ordered(side: Floats) -> Floats:
    return side[:, np.lexsort(side[::-1])] + 0.0  # minus zero and zero are one score


def paired_columns(
    positive: Sequence[bool] | NDArray[np.bool_], scores: Mapping[str, object]
) -> tuple[NDArray[np.bool_], dict[str, Floats]]:
    """Which rows are positive, and one column of finite scores a model, all of one length."""
    side = np.asarray(positive, dtype=bool)
    columns = {str(name): score_column(column, str(name)) for name, column in scores.items()}
    for name, column in columns.items():
        if len(column) != len(side):
            raise UnpairedRows(
                "rows-unmatched",
                f"there are {counted(len(side), 'row')}, and {name} has {counted(len(column), 'score')}",
                where=f"score {quoted(name)}",
                fix="give one score a row and model",
            )
    return side, columns


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
