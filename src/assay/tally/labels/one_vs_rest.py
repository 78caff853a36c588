# SPDX-License-Identifier: Apache-2.0
"""The two tables measures read: four cells against one class, and the margins of K classes.

Both may be stacks: their cells may carry leading axes (class, group, draw), so that one call of a measure serves all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from assay.core.labels import Label
from assay.core.values import pick, quotient

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Binary:
    """True and false positives and negatives of one class against the rest."""

    READS: ClassVar = "labels"
    tp: Amount
    fp: Amount
    fn: Amount
    tn: Amount

    @classmethod
    def of(cls, *, tp: int, fp: int, fn: int, tn: int) -> Binary:
        """One table of exact counts.

        >>> Binary.of(tp=231, fp=32, fn=27, tn=54).n
        344
        """
        return cls(tp=cast("Amount", tp), fp=cast("Amount", fp), fn=cast("Amount", fn), tn=cast("Amount", tn))

    @property
    def actual(self) -> Amount:
        """Rows that truly are positive."""
        return self.tp + self.fn

    @property
    def actual_negative(self) -> Amount:
        """Rows that truly are negative."""
        return self.fp + self.tn

    @property
    def called(self) -> Amount:
        """Rows that were called positive."""
        return self.tp + self.fp

    @property
    def called_negative(self) -> Amount:
        """Rows that were called negative."""
        return self.fn + self.tn

    @property
    def n(self) -> Amount:
        """All rows."""
        return self.tp + self.fp + self.fn + self.tn

    def at(self, index: int) -> Binary:
        """One table of a stack."""
        return Binary(
            tp=pick(self.tp, index), fp=pick(self.fp, index), fn=pick(self.fn, index), tn=pick(self.tn, index)
        )

    def __add__(self, other: Binary) -> Binary:
        """Both tables together."""
        return Binary(tp=self.tp + other.tp, fp=self.fp + other.fp, fn=self.fn + other.fn, tn=self.tn + other.tn)

    def __eq__(self, other: object) -> bool:
        """Equal cells."""
        return isinstance(other, Binary) and all(
            np.array_equal(getattr(self, cell), getattr(other, cell)) for cell in ("tp", "fp", "fn", "tn")
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True, eq=False)
class Multiclass:
    """Of K classes: rows found, rows truly there, rows called so; classes on the last axis."""

    READS: ClassVar = "labels"
    hits: Amount
    actual: Amount
    called: Amount
    labels: tuple[Label, ...]

    @classmethod
    def of(cls, matrix: list[list[int]], labels: tuple[Label, ...] | None = None) -> Multiclass:
        """From a small matrix, rows = truth.

        >>> Multiclass.of([[4, 1], [0, 5]]).n
        10
        """
        cells = np.array(matrix, dtype=object)
        return cls(
            hits=cast("Amount", np.array([cells[i, i] for i in range(len(cells))], dtype=object)),
            actual=cast("Amount", cells.sum(axis=1)),
            called=cast("Amount", cells.sum(axis=0)),
            labels=labels or tuple(range(len(matrix))),
        )

    @property
    def k(self) -> int:
        """How many classes there are."""
        return int(np.shape(self.hits)[-1])

    @cached_property
    def n(self) -> Amount:
        """All rows."""
        return cast("Amount", self.actual.sum(axis=-1))

    @property
    def correct(self) -> Amount:
        """Rows whose class was found."""
        return cast("Amount", self.hits.sum(axis=-1))

    @cached_property
    def moved(self) -> Amount:
        """How far rows truly there and rows called so lie apart, added up over the classes."""
        return cast("Amount", abs(self.actual - self.called).sum(axis=-1))

    @cached_property
    def shares(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The true share of each class, and the share called so."""
        n = self.n
        total = n[..., np.newaxis] if isinstance(n, np.ndarray) else n
        return quotient(self.actual, total), quotient(self.called, total)

    def one_vs_rest(self) -> Binary:
        """A stack of four-cell tables, one per class."""
        return self._one_vs_rest

    @cached_property
    def _one_vs_rest(self) -> Binary:
        n = self.n
        total = n[..., np.newaxis] if isinstance(n, np.ndarray) else n
        return Binary(
            tp=self.hits,
            fp=self.called - self.hits,
            fn=self.actual - self.hits,
            tn=total - self.actual - self.called + self.hits,
        )

    def pooled(self) -> Binary:
        """The one-vs-rest tables added up over the classes."""
        ovr = self.one_vs_rest()
        tp, fp, fn, tn = (cast("Amount", cell.sum(axis=-1)) for cell in (ovr.tp, ovr.fp, ovr.fn, ovr.tn))
        return Binary(tp=tp, fp=fp, fn=fn, tn=tn)
