# SPDX-License-Identifier: Apache-2.0
"""The score tally: for each score column and true class, how often each distinct score occurs; exact, mergeable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from assay.core.arrays import chance
from assay.core.errors import OutOfRange, PlanError
from assay.core.labels import Label
from assay.core.text import counted, listed, quoted
from assay.rows.limits import EXACT
from assay.tally.base import VERSION, Digested, demand_kind, demand_same_weighting
from assay.tally.fixed_point import Weights
from assay.tally.labels.label_cells import Codes
from assay.tally.scores.ranked_table import Linked, Multiset, Ranked
from assay.tally.scores.rounded_scores import DOUBLE, RESOLVED, Rounding
from assay.tally.scores.score_counts import Column, column_of, joined, pooled, read

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from assay.core.arrays import Floats

LARGEST_WHOLE = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The classes of a score tally, and which column of the source holds the scores of which class."""

    labels: tuple[Label, ...]
    scored: tuple[Label, ...]
    columns: tuple[int, ...]
    probability: bool = False
    exact: int = EXACT
    followed: Label | None = None
    """The class whose scores are counted unit by unit, where units are known and distinct scores are few enough."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores(Digested):
    """Distinct scores with counts, by score column and true class; `scored` names the class of each column."""

    READS: ClassVar = "scores"
    labels: tuple[Label, ...]
    scored: tuple[Label, ...]
    columns: tuple[Column, ...]
    rows: int
    weighted: bool = False
    rounding: Rounding | None = None
    """How the scores were rounded; None where they keep all digits."""

    @classmethod
    def binary(
        cls,
        scores: ArrayLike,
        is_positive: ArrayLike,
        weight: ArrayLike | Weights | None = None,
        *,
        labels: tuple[Label, Label] = (0, 1),
    ) -> Scores:
        """From the scores of the positive class, one a row; `labels` are the negative and the positive class.

        >>> t = Scores.binary([0.9, 0.2, 0.2], [True, False, True]).one_vs_rest(1)
        >>> t.score.tolist(), t.pos.tolist(), t.neg.tolist()
        ([0.2, 0.9], [1, 1], [1, 0])
        """
        truth = np.asarray(is_positive, dtype=bool)
        column = column_of(_numbers(scores, truth), [~truth, truth], None if weight is None else Weights.of(weight))
        return cls(labels=labels, scored=labels[1:], columns=(column,), rows=len(truth), weighted=weight is not None)

    @classmethod
    def per_class(
        cls,
        columns: ArrayLike | Sequence[ArrayLike],
        truth: ArrayLike,
        labels: Iterable[Label],
        weight: ArrayLike | Weights | None = None,
    ) -> Scores:
        """From a matrix or a list of columns, one a class; `truth` holds class numbers in the order of the labels."""
        names, codes = tuple(labels), np.asarray(truth, dtype=np.int64)
        scores = list(columns.T) if isinstance(columns, np.ndarray) and columns.ndim == 2 else list(columns)  # type: ignore[arg-type]  # noqa: PLR2004
        if len(scores) != len(names):
            raise PlanError(
                "score-columns",
                f"there are {counted(len(scores), 'score column')} for {counted(len(names), 'class', 'classes')}",
                known=listed(names),
                fix="give one score column for each class, in the order of the classes",
            )
        # Rows are ordered by class number once, so that each column is cut into classes without another look.
        order = np.argsort(codes, kind="stable")
        start = np.searchsorted(codes[order], np.arange(len(names) + 1))
        parts = [order[start[i] : start[i + 1]] for i in range(len(names))]
        weights = None if weight is None else Weights.of(weight)
        made = tuple(column_of(_numbers(column, codes), parts, weights) for column in scores)
        return cls(labels=names, scored=names, columns=made, rows=len(codes), weighted=weight is not None)

    @property
    def k(self) -> int:
        """How many classes there are."""
        return len(self.labels)

    @property
    def distinct(self) -> int:
        """How many distinct scores are held, class by class."""
        return sum(len(column.value) for column in self.columns)

    def one_vs_rest(self, label: Label) -> Ranked:
        """The scores of one class: its rows against all others."""
        column, own = self._column(label), self.labels.index(label)
        others = [column.rows(i) for i in range(self.k) if i != own]
        return Ranked.apart(column.rows(own), others[0] if len(others) == 1 else pooled(others))

    def one_vs_one(self, label: Label, other: Label) -> Ranked:
        """The scores of one class: its rows against those of one other class."""
        column = self._column(label)
        return Ranked.apart(column.rows(self.labels.index(label)), column.rows(self.labels.index(other)))

    def micro(self) -> Ranked:
        """All columns pooled: each score of a row is positive when it is that of the true class."""
        own: list[Multiset] = []
        others: list[Multiset] = []
        for label, column in zip(self.scored, self.columns, strict=True):
            for i, truth in enumerate(self.labels):
                (own if truth == label else others).append(column.rows(i))
        return Ranked.apart(pooled(own), pooled(others))

    def of_truth(self) -> Multiset:
        """The score each row gave its true class; only where every class has a column."""
        return pooled([self._column(label).rows(i) for i, label in enumerate(self.labels)])

    def sizes(self) -> list[int | Fraction]:
        """Rows, or their weight, by true class."""
        first = self.columns[0]
        parts = [slice(int(first.start[i]), int(first.start[i + 1])) for i in range(self.k)]
        if first.weight is not None:
            return [first.weight[part].total() for part in parts]
        return [int(first.count[part].sum()) for part in parts]

    def squares_at(self, label: Label, threshold: float) -> dict[str, Fraction] | None:
        """The squared weights in the four cells of one class at a threshold; None where they are not known."""
        column, own = self._column(label), self.labels.index(label)
        if column.squares is None:
            return None
        tp, fn = column.squares_at(own, threshold)
        others = [column.squares_at(i, threshold) for i in range(self.k) if i != own]
        fp, tn = (sum((one[side] for one in others), Fraction(0)) for side in (0, 1))
        return {"tp": tp, "fp": fp, "fn": fn, "tn": tn}

    def __add__(self, other: Scores) -> Scores:
        """Both tallies together: equal to counting the rows of both at once."""
        if (self.labels, self.scored) != (other.labels, other.scored):
            raise PlanError(
                "tally-mismatch",
                "the two score tallies have different classes, or the same in another order",
                found=f"{listed(self.labels)} and {listed(other.labels)}",
                fix="declare the same classes for both",
            )
        demand_same_weighting(self.weighted, other.weighted)
        rounding = self._coarser(other)
        a, b = (one if rounding is None else one.rounded(rounding) for one in (self, other))
        columns = tuple(joined(mine, theirs) for mine, theirs in zip(a.columns, b.columns, strict=True))
        return replace(a, columns=columns, rows=self.rows + other.rows)

    def _coarser(self, other: Scores) -> Rounding | None:
        """The rounding that both can have."""
        known = [one.rounding for one in (self, other) if one.rounding is not None]
        if len({rounding.probability for rounding in known}) > 1:
            raise PlanError(
                "tally-mismatch",
                "the scores of one tally were rounded as probabilities, those of the other were not",
                fix="state the same kind of scores for both",
            )
        return min(known, key=lambda rounding: rounding.bits, default=None)

    def rounded(self, rounding: Rounding) -> Scores:
        """The same rows at rounded scores."""
        if self.rounding == rounding:
            return self
        return replace(self, columns=tuple(column.rounded(rounding) for column in self.columns), rounding=rounding)

    def stored(self, *, probability: bool) -> Scores:
        """The same rows with as many bits as a Record keeps: more where scores lie so close that most would be tied."""
        rounding = Rounding.of_classes(self.k, probability=probability)
        rounded_scores = self.rounded(rounding)
        resolved = RESOLVED if rounded_scores.resolution >= RESOLVED else min(self.resolution // 2, RESOLVED)
        while rounded_scores.resolution < resolved and rounding.bits < DOUBLE:
            rounding = replace(rounding, bits=rounding.bits + 1)
            rounded_scores = self.rounded(rounding)
        return rounded_scores

    @property
    def resolution(self) -> int:
        """How many scores, the commonest first, hold half of the rows; of the column that has most."""
        return max((column.resolution for column in self.columns), default=0)

    def digest(self) -> str:
        """SHA-256 of head and numbers, eight bytes a number, least significant first; equal on every engine."""
        head = {name: value for name, value in self.to_json(columns=False).items() if name != "columns"}
        hasher = hashlib.sha256(json.dumps(head, sort_keys=True, separators=(",", ":")).encode())
        for column in self.columns:
            for part, kind in ((column.start, "<i8"), (column.value, "<f8"), (column.count, "<i8")):
                hasher.update(np.ascontiguousarray(part, dtype=kind).tobytes())
            for sums in (column.weight, column.squares):
                if sums is not None:
                    hasher.update(sums.to_bytes())
        return hasher.hexdigest()

    def to_json(self, *, columns: bool = True) -> dict[str, object]:
        """As in a Record."""
        return {
            "kind": "scores",
            "version": VERSION,
            "labels": list(self.labels),
            "scored": list(self.scored),
            "rows": self.rows,
            "weighted": self.weighted,
            **({} if self.rounding is None else {"rounding": self.rounding.to_json()}),
            "columns": [column.to_json(self.rounding) for column in self.columns] if columns else [],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Scores:
        """The inverse of `to_json`."""
        demand_kind(content, "scores", "a score tally")
        stated = content.get("rounding")
        rounding = None if stated is None else Rounding.from_json(cast("Mapping[str, object]", stated))
        return cls(
            labels=tuple(cast("list[Label]", content["labels"])),
            scored=tuple(cast("list[Label]", content["scored"])),
            columns=tuple(read(one, rounding) for one in cast("list[dict[str, object]]", content["columns"])),
            rows=cast("int", content["rows"]),
            weighted=bool(content["weighted"]),
            rounding=rounding,
        )

    def _column(self, label: Label) -> Column:
        if label not in self.scored:
            raise PlanError(
                "score-columns",
                f"there is no score column for the class {quoted(label)}",
                known=listed(self.scored),
                fix="give a score column for each class that is asked about",
            )
        return self.columns[self.scored.index(label)]


class LinkedScores(Scores):
    """Log-odds of every class, read as probabilities, none of which is rounded to 0 or 1 on the way.

    A log-odds of 800 is a probability that no double tells from 1; its loss, 800, is known all the same.
    """

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


def _numbers(scores: ArrayLike, truth: NDArray[np.bool_] | NDArray[np.int64]) -> Floats:
    """Scores as doubles, exactly, one a row; what a double cannot hold is refused."""
    given = np.asarray(scores)
    if given.dtype.kind in "iu" and given.size and max(abs(int(given.min())), int(given.max())) > LARGEST_WHOLE:
        raise OutOfRange(
            "score-not-finite", "a score is a whole number above 2^53, which a double cannot hold", fix="rescale it"
        )
    column = given.astype(np.float64, copy=False)
    if column.shape != truth.shape:
        what = f"there are {counted(len(column), 'score')} for {counted(len(truth), 'row')}"
        raise PlanError("rows-unmatched", what, fix="give one score a row")
    return column


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What one look at the scores found: all rows, and the rows of each level of each factor."""

    whole: Scores
    by_factor: dict[str, dict[Label | None, Scores]] = field(default_factory=dict)
    by_unit: dict[str | None, UnitScores] = field(default_factory=dict)
    """Scores unit by unit: of all rows (None), and within the levels of each factor."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitScores:
    """Scores of one class with the unit they belong to, and the level of a factor if there is one."""

    labels: tuple[Codes, ...]
    """The unit, or level and unit."""
    value: Floats
    positive: NDArray[np.bool_]
    weight: Floats
    """How many rows, or what they weigh."""

    @classmethod
    def build(cls, labels: Sequence[Codes], value: Floats, positive: NDArray[np.bool_], weight: Floats) -> UnitScores:
        """Without what weighs nothing, for that is in no table of scores."""
        kept = slice(None) if (weight > 0).all() else weight > 0
        codes = tuple(replace(column, codes=column.codes[kept]) for column in labels)
        return cls(labels=codes, value=value[kept] + 0.0, positive=positive[kept], weight=weight[kept])

    def select(self, rows: NDArray[np.bool_]) -> UnitScores:
        """Some of the scores, by unit only."""
        unit = self.labels[-1]
        labels, value = (replace(unit, codes=unit.codes[rows]),), self.value[rows]
        return UnitScores(labels=labels, value=value, positive=self.positive[rows], weight=self.weight[rows])
