# SPDX-License-Identifier: Apache-2.0
"""One column of scores by true class: distinct scores ascending, with counts, and what their rows weigh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.errors import OutOfRange
from assay.core.parallel import together
from assay.core.text import counted
from assay.tally.base import packed_steps, unpacked_steps
from assay.tally.fixed_point import Sums, Weights
from assay.tally.scores.ranked_table import LARGE, Multiset, ones
from assay.tally.scores.rounded_scores import Rounding

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """One column of scores: the distinct scores of each true class, ascending, class after class."""

    value: Floats
    count: Floats  # whole numbers, as all counts of a Ranked table
    start: NDArray[np.int64]
    weight: Sums | None = None
    squares: Sums | None = None
    """Of weighted rows: the sum of their squared weights at each score, without which a rate has no interval."""

    def rows(self, truth: int) -> Multiset:
        """The scores of the rows of one true class; weights take the place of counts where they are given."""
        part = slice(int(self.start[truth]), int(self.start[truth + 1]))
        if self.weight is not None:
            return Multiset(self.value[part], self.weight[part].doubles())
        return Multiset(self.value[part], self.count[part])

    def squares_at(self, truth: int, threshold: float) -> tuple[Fraction, Fraction]:
        """The squared weights of the rows of one true class that a threshold calls, and of those it does not."""
        part = slice(int(self.start[truth]), int(self.start[truth + 1]))
        squares, called = cast("Sums", self.squares)[part], self.value[part] >= threshold
        return squares[called].total(), squares[~called].total()

    @property
    def resolution(self) -> int:
        """How many scores, the commonest first, hold half of the rows."""
        if self.count.strides == (0,):
            return -(-len(self.count) // 2)
        sums = np.cumsum(np.sort(self.count)[::-1])
        return int(np.searchsorted(sums, sums[-1] / 2)) + 1 if len(sums) else 0

    def rounded(self, rounding: Rounding) -> Column:
        """The same rows at rounded scores, which are as distinct or fewer."""
        return replace(self, value=rounding.apply(self.value)).merged()

    def merged(self, rows: Weights | None = None) -> Column:
        """Neighbours of a class that are one score added up; scores without weight are absent.

        `rows` are the weights of rows that stand for one score each.
        """
        new = np.ones(len(self.value), dtype=np.bool_)
        np.not_equal(self.value[1:], self.value[:-1], out=new[1:])
        new[self.start[:-1][np.diff(self.start) > 0]] = True
        if self.weight is None and rows is None and new.all():
            return self if self.count.max(initial=0) > 1 else replace(self, count=ones(len(self.value)))
        first = np.flatnonzero(new)
        value, start = self.value[first], np.searchsorted(first, self.start)
        if rows is not None or (self.weight is not None and self.squares is not None):
            both = (cast("Sums", sums).added_in_runs(first) for sums in (self.weight, self.squares))
            weight, squares = both if rows is None else rows.added_in_runs(first)
            kept = weight.occupied
            start = np.concatenate([[0], np.cumsum(kept)])[start]
            return Column(
                value=value[kept], count=ones(int(start[-1])), start=start, weight=weight[kept], squares=squares[kept]
            )
        runs = self.count.strides == (0,) or not len(first)
        count = cast("Floats", np.diff(first, append=len(new))) if runs else np.add.reduceat(self.count, first)
        return Column(value=value, count=ones(len(count)) if count.max(initial=0) <= 1 else count, start=start)

    def to_json(self, rounding: Rounding | None = None) -> dict[str, object]:
        """As in a Record; counts are left out where every score occurs once, rounded scores are packed."""
        out: dict[str, object] = {"start": self.start.tolist(), "scores": self._scores_to_json(rounding)}
        if len(self.count) and self.count.max() > 1:
            counts = np.asarray(self.count, dtype=np.int64)
            out["counts"] = counts.tolist() if rounding is None else packed_steps(counts)
        if self.weight is not None:
            out["weights"] = self.weight.to_json()
        if self.squares is not None:
            out["squares"] = self.squares.to_json()
        return out

    def _scores_to_json(self, rounding: Rounding | None) -> list[float] | dict[str, object]:
        """All digits, or the steps between the keys of rounded scores, from the lowest key on for each true class."""
        keys = np.zeros(0, dtype=np.int64) if rounding is None else rounding.keys(self.value)
        if rounding is None or not np.array_equal(rounding.scores_at(keys), self.value):
            return cast("list[float]", self.value.tolist())
        lowest = int(keys.min(initial=0))
        steps = np.diff(keys, prepend=lowest)
        first = self.start[:-1][np.diff(self.start) > 0]
        steps[first] = keys[first] - lowest
        return {"lowest": lowest, "size": len(keys), "steps": packed_steps(steps)}


def column_of(scores: Floats, parts: Sequence[NDArray[np.bool_] | NDArray[np.int64]], weight: Weights | None) -> Column:
    """Each class sorted apart: two sorts are twice as fast as one order of all rows, and need no index."""
    sizes = [int(np.count_nonzero(part)) if part.dtype == bool else len(part) for part in parts]
    start = np.cumsum([0, *sizes])
    class_scores = np.empty(int(start[-1]))
    orders: dict[int, Whole] = {}

    def sort_class(i: int) -> None:
        part, place = parts[i], class_scores[start[i] : start[i + 1]]
        if part.dtype == bool:
            np.compress(cast("NDArray[np.bool_]", part), scores, out=place)
        else:
            np.take(scores, cast("Whole", part), out=place, mode="clip")  # any other mode copies
        if weight is None:
            place.sort()
        else:
            orders[i] = np.argsort(place, kind="stable")
            place[:] = place[orders[i]]
        _refuse_infinite(place)
        place += 0.0  # minus zero and zero are one score

    together(sort_class, range(len(parts)), large=len(class_scores) >= LARGE)
    column = Column(value=class_scores, count=ones(len(class_scores)), start=start)
    if weight is None:
        return column.merged()
    rows = np.concatenate([np.flatnonzero(part) if part.dtype == bool else part for part in parts])
    order = np.concatenate([orders[i] + start[i] for i in range(len(parts))])
    return column.merged(weight[rows[order]])


def _refuse_infinite(ordered: Floats) -> None:
    """NaN is sorted to the end and infinities to the ends, so the ends tell of all."""
    if len(ordered) and not (np.isfinite(ordered[0]) and np.isfinite(ordered[-1])):
        lost = int((~np.isfinite(ordered)).sum())
        raise OutOfRange(
            "score-not-finite",
            f"{counted(lost, 'score')} {'is' if lost == 1 else 'are'} NaN or infinite",
            fix="correct the scores, or leave the rows out",
        )


def joined(a: Column, b: Column) -> Column:
    """Two columns together, class by class."""
    sizes = [np.diff(addend.start) for addend in (a, b)]
    truth = np.concatenate([np.repeat(np.arange(len(size)), size) for size in sizes])
    value = np.concatenate([a.value, b.value])
    order = np.lexsort((value, truth))
    weight, squares = (
        None if mine is None or theirs is None else (mine + theirs)[order]
        for mine, theirs in ((a.weight, b.weight), (a.squares, b.squares))
    )
    count = np.concatenate([a.count, b.count])[order]
    return Column(value=value[order], count=count, start=a.start + b.start, weight=weight, squares=squares).merged()


def pooled(rows: Sequence[Multiset]) -> Multiset:
    """Several multisets as one."""
    value = np.concatenate([one.value for one in rows])
    order = np.argsort(value, kind="stable")
    value, count = value[order], np.concatenate([one.count for one in rows])[order]
    new = np.concatenate([np.ones(min(1, len(value)), dtype=bool), value[1:] != value[:-1]])
    first = np.flatnonzero(new)
    if len(first) == len(value):
        single = all(one.single for one in rows)
        return Multiset(value, ones(len(value)) if single else count)
    return Multiset(value[first], np.add.reduceat(count, first))


def read(content: Mapping[str, object], rounding: Rounding | None = None) -> Column:
    """The inverse of `Column.to_json`."""
    start = np.array(content["start"], dtype=np.int64)
    value, counts = _scores(content["scores"], start, rounding), content.get("counts")
    if counts is None:
        count = ones(len(value))
    else:
        packed = unpacked_steps(counts, len(value)) if isinstance(counts, str) else np.array(counts, dtype=np.int64)
        count = cast("Floats", packed)
    return Column(
        value=value,
        count=count,
        start=start,
        weight=_sums(content["weights"]) if "weights" in content else None,
        squares=_sums(content["squares"]) if "squares" in content else None,
    )


def _scores(content: object, start: Whole, rounding: Rounding | None) -> Floats:
    if rounding is None or not isinstance(content, Mapping):
        return np.array(content, dtype=np.float64)
    size = cast("int", content["size"])
    keys = np.cumsum(unpacked_steps(cast("str", content["steps"]), size))
    first = start[:-1][np.diff(start) > 0]  # where each true class begins again from the lowest key
    before = np.concatenate([[0], keys])[first]
    keys -= np.repeat(before, np.diff(start)[np.diff(start) > 0])
    return rounding.scores_at(keys + cast("int", content["lowest"]))


def _sums(content: object) -> Sums:
    return Sums.from_json(cast("Mapping[str, object]", content))
