# SPDX-License-Identifier: Apache-2.0
"""A measure of two models on their joint cells: swapped at random, or drawn anew.

Only margins are kept of a draw, so that measures of the same grain share the draws, and cells are pooled wherever that
changes nothing: of rows that both models get wrong, a swap moves calls and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import listed, quoted
from assay.inference.resampling import stream
from assay.inference.units.judgement import HELD, Judged
from assay.measures.declare import Measure, parse
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tally.paired.joint_cells import PairedLabels

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole

    Margins: TypeAlias = tuple[Floats, Floats, Floats]
    Two: TypeAlias = tuple[Margins, Margins]

KEPT: Final = 1 << 22
"""Numbers of margins kept for the next measure: 32 MiB."""
POSITIVE: Final = 1


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Joint cells (truth, call of A, call of B) and how many rows each holds; equal cells are one key."""

    codes: Whole
    count: Whole
    k: int

    def __hash__(self) -> int:
        """By content."""
        return hash((self.codes.tobytes(), self.count.tobytes(), self.k))

    def __eq__(self, other: object) -> bool:
        """Same cells."""
        return (
            isinstance(other, Cells)
            and self.k == other.k
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.count, other.count)
        )


class Joint(Judged):
    """A measure of two models on the joint cells of a paired tally."""

    method = "joint cells"
    alike = "the models answer every row alike"

    def __init__(self, t: PairedLabels, measure: Measure | str, positive: Label | None) -> None:
        if len(t.models) != 2:  # noqa: PLR2004  a pair
            raise PlanError("test-needs", f"this test takes two models, not {len(t.models)}", fix="use t.only(a, b)")
        self.measure = parse(measure) if isinstance(measure, str) else measure
        self.models, self._labels = t.models, t.labels
        self.cells = Cells(t.codes, t.count, len(t.labels))
        if self.measure.takes is Binary:
            self.cells = _one_against_rest(t, one_class(t.labels, self.measure, positive))
        codes, self.count = self.cells.codes, self.cells.count
        self.disputed = int(self.count[codes[:, 1] != codes[:, 2]].sum())

    def values(self) -> tuple[float, float]:
        """The measure of each model; NaN where undefined."""
        two = _summed(self.cells)(self.cells.count[np.newaxis].astype(np.float64))
        a, b = (float(self._of(margins)[0]) for margins in two)
        return a, b

    def swapped(self, draws: int, seed: int) -> Floats:
        """The difference where answers are swapped row by row at random; NaN where undefined."""
        return self._gaps(_swaps, draws, seed, stratified=False)

    def resampled(self, draws: int, seed: int, *, stratified: bool) -> Floats:
        """The difference on draws of the joint cells; NaN where undefined."""
        return self._gaps(_draws, draws, seed, stratified=stratified)

    def without(self, start: int, stop: int) -> Floats:
        """The difference where one row of each of some cells is left out."""
        rows = np.tile(self.count.astype(np.float64), (stop - start, 1))
        rows[np.arange(len(rows)), np.arange(start, stop)] -= 1
        return self._gap(_summed(self.cells)(rows))

    def _gaps(self, way: Any, draws: int, seed: int, *, stratified: bool) -> Floats:  # noqa: ANN401  a generator function
        small = draws * self.cells.k * 6 <= KEPT
        blocks = _kept(way, self.cells, draws, seed, stratified) if small else way(self.cells, draws, seed, stratified)
        return np.concatenate([self._gap(two) for two in blocks])

    def _gap(self, two: Two) -> Floats:
        a, b = (self._of(margins) for margins in two)
        with np.errstate(invalid="ignore"):  # infinity minus infinity is undefined, and marked so
            gap: Floats = a - b
        return gap

    def _of(self, margins: Margins) -> Floats:
        return self.measure.values(table_of(self.measure, self._labels, margins))


def table_of(measure: Measure, labels: tuple[Label, ...], margins: Margins) -> Binary | Multiclass:
    """The table a measure of labels reads, made of hits, truths and calls of each class."""
    hits, actual, called = margins
    if measure.takes is not Binary:
        return Multiclass(hits=hits, actual=actual, called=called, labels=labels)
    tp = hits[:, POSITIVE]
    return Binary(tp=tp, fp=called[:, POSITIVE] - tp, fn=actual[:, POSITIVE] - tp, tn=hits[:, 1 - POSITIVE])


@lru_cache(maxsize=4)
def _kept(way: Any, cells: Cells, draws: int, seed: int, stratified: bool) -> tuple[Two, ...]:  # noqa: ANN401, FBT001
    """The margins of all draws, kept for the next measure of the same cells."""
    return tuple(way(cells, draws, seed, stratified))


def _draws(cells: Cells, draws: int, seed: int, stratified: bool) -> Iterator[Two]:  # noqa: FBT001
    """Rows resampled, over all classes or within each."""
    rng, add, count = stream(seed, 2), _summed(cells), cells.count
    truth = cells.codes[:, 0]
    strata = [truth == c for c in np.unique(truth)] if stratified else [np.ones(len(count), dtype=bool)]
    for size in _sizes(draws, len(count)):
        drawn = np.zeros((size, len(count)))
        for here in strata:
            held = count[here]
            drawn[:, here] = rng.multinomial(int(held.sum()), held / held.sum(), size=size)
        yield add(drawn)


def _swaps(cells: Cells, draws: int, seed: int, stratified: bool) -> Iterator[Two]:  # noqa: FBT001
    """Answers swapped row by row; rows that a swap moves alike are one binomial number."""
    del stratified  # a swap leaves every row in its class
    from scipy.sparse import csr_array

    rng = stream(seed, 1)
    truth, a, b = cells.codes.T
    alike = a == b
    fixed, _ = _summed(Cells(cells.codes[alike], cells.count[alike], cells.k))(
        cells.count[alike][np.newaxis].astype(np.float64)
    )
    # One of the two is right: the right call and the other one; none is: the two calls in order, whatever the truth.
    right = (a == truth) | (b == truth)
    first = np.where(right, truth, np.minimum(a, b))
    second = np.where(right, np.where(a == truth, b, a), np.maximum(a, b))
    keys = np.stack([right, first, second], axis=1)[~alike]
    items, inverse = np.unique(keys, axis=0, return_inverse=True)
    count = np.zeros(len(items), dtype=np.int64)
    np.add.at(count, inverse.ravel(), cells.count[~alike])
    at, ones = np.arange(len(items)), np.ones(len(items))
    first_calls, two = (csr_array((ones, (at, items[:, i])), shape=(len(items), cells.k)) for i in (1, 2))
    hit = csr_array((items[:, 0].astype(np.float64), (at, items[:, 1])), shape=(len(items), cells.k))
    actual = np.zeros((1, cells.k))
    np.add.at(actual[0], truth, cells.count)
    for size in _sizes(draws, len(items)):
        here = rng.binomial(count, 0.5, size=(size, len(items))).astype(np.float64)
        there = count - here
        actual_totals = np.broadcast_to(actual, (size, cells.k))
        yield (
            (fixed[0] + here @ hit, actual_totals, fixed[2] + here @ first_calls + there @ two),
            (fixed[0] + there @ hit, actual_totals, fixed[2] + there @ first_calls + here @ two),
        )


def _summed(cells: Cells) -> Any:  # noqa: ANN401  a function from counts to margins
    """How counts of cells add up to hits, truths and calls of both models."""
    from scipy.sparse import csr_array

    size, k = len(cells.count), cells.k
    truth, at, ones = cells.codes[:, 0], np.arange(size), np.ones(size)
    true = csr_array((ones, (at, truth)), shape=(size, k))
    called = [csr_array((ones, (at, cells.codes[:, i])), shape=(size, k)) for i in (1, 2)]
    hits = [csr_array(((cells.codes[:, i] == truth).astype(np.float64), (at, truth)), shape=(size, k)) for i in (1, 2)]

    def add(counts: Floats) -> Two:
        actual = counts @ true
        return (counts @ hits[0], actual, counts @ called[0]), (counts @ hits[1], actual, counts @ called[1])

    return add


def _sizes(draws: int, cells: int) -> Iterator[int]:
    step = max(1, HELD // max(cells, 1))
    for start in range(0, draws, step):
        yield min(step, draws - start)


def _one_against_rest(t: PairedLabels, at: int) -> Cells:
    """Eight joint cells are all that a measure of one class sees."""
    flags = (t.codes == at).astype(np.int64)
    joint_cells, inverse = np.unique(flags, axis=0, return_inverse=True)
    sums = np.zeros(len(joint_cells), dtype=np.int64)
    np.add.at(sums, inverse.ravel(), t.count)
    return Cells(joint_cells, sums, 2)


def one_class(labels: tuple[Label, ...], measure: Measure, positive: Label | None) -> int:
    """The place of the class that a measure speaks of."""
    if positive is not None and positive in labels:
        return labels.index(positive)
    raise PlanError(
        "positive-class-undeclared" if positive is None else "unknown-positive",
        f"{measure.name} speaks of one class, and none is stated"
        if positive is None
        else f"{quoted(positive)} is not among the classes",
        known=listed(labels),
        fix="state the class: positive=...",
    )
