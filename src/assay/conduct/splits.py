# SPDX-License-Identifier: Apache-2.0
"""Rows dealt into segments: plain, by class, by group, by both, in order of time; and the proof that a split is sound.

Whatever is left to chance comes from the seed alone, so that the number of workers cannot change a split.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.text import counted, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places: TypeAlias = NDArray[np.int64]
    Dice: TypeAlias = np.random.Generator


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """What a split may look at: how many rows there are, their classes, their groups, and the order of time."""

    classes: Places
    labels: tuple[Label, ...]
    groups: Places | None = None
    moments: Places | None = None

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.classes)

    def among(self, places: Places) -> Rows:
        """Some of the rows, counted anew."""
        return Rows(
            classes=self.classes[places],
            labels=self.labels,
            groups=None if self.groups is None else self.groups[places],
            moments=None if self.moments is None else self.moments[places],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fold:
    """One training part and the test part that goes with it; repeats and folds are counted from 1."""

    repeat: int
    fold: int
    test: Places
    others: Places | int
    """The training part; or how many rows there are, where it is all rows but those of the test part."""
    inner: tuple[Fold, ...] = ()

    @property
    def train(self) -> Places:
        """The training part; made when asked for, because that of leave-one-out would not fit otherwise."""
        if not isinstance(self.others, int):
            return self.others
        rest = np.ones(self.others, dtype=bool)
        rest[self.test] = False
        return np.flatnonzero(rest)

    @property
    def name(self) -> str:
        """What errors call it."""
        return f"repeat {self.repeat}, fold {self.fold}"


def dice(seed: int, *place: int) -> Dice:
    """The source of chance for one place of a run; it depends on nothing else.

    >>> dice(1, 2).permutation(5).tolist() == dice(1, 2).permutation(5).tolist()
    True
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise PlanError(
            "value-out-of-domain", f"seed={seed!r} is not a seed", known="0, 1, 2, ...", fix="give a number"
        )
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([int(seed), *place])))


def dealt(n: int, k: int, chance: Dice | None = None) -> Places:
    """The segment of each row: blocks whose sizes differ by one at most.

    >>> dealt(5, 2).tolist()
    [0, 0, 0, 1, 1]
    """
    if k > n:
        what = f"{counted(n, 'row')} cannot be dealt into {k:,} segments"
        raise _too_few(what, f"ask for {n:,} folds at most, which is leave-one-out" if n > 1 else "give more rows")
    segment = np.repeat(np.arange(k), [n // k + (i < n % k) for i in range(k)])
    return segment if chance is None else segment[chance.permutation(n)]


def dealt_by_class(rows: Rows, k: int, chance: Dice | None = None) -> Places:
    """The segment of each row: in all, and within each class, the sizes of segments differ by one at most."""
    have = np.bincount(rows.classes, minlength=len(rows.labels))
    few = [
        f"{quoted(rows.labels[c])} has {counted(int(have[c]), 'row')}" for c in np.flatnonzero((have > 0) & (have < k))
    ]
    if few:
        what = f"{counted(len(few), 'class', 'classes')} cannot be in each of {k} segments"
        fix = f"ask for {max(2, int(have[have > 0].min()))} folds at most, gather rows of the class, or leave it out"
        raise _too_few(what, fix, found="; ".join(few[:5]))
    # Laid out class after class, in the order the classes first appear, every k-th place belongs to one segment.
    first = np.array([int(np.argmax(rows.classes == c)) for c in range(len(rows.labels))])
    segment, start = np.empty(rows.n, dtype=np.int64), 0
    for c in np.argsort(first, kind="stable"):
        own = np.sort((start + np.arange(have[c])) % k)
        segment[rows.classes == c] = own if chance is None else own[chance.permutation(len(own))]
        start += int(have[c])
    return segment


def dealt_by_group(rows: Rows, k: int, chance: Dice | None = None) -> Places:
    """The segment of each row: a group goes as a whole to the segment that has fewest rows so far."""
    groups = _groups(rows, k)
    sizes = np.bincount(groups)
    # In order of size the segments come out as even as this simple rule can make them; a random order gives up a
    # little of that, and without it all repeats would be one and the same.
    order = np.argsort(sizes, kind="stable")[::-1] if chance is None else chance.permutation(len(sizes))
    load, home = np.zeros(k, dtype=np.int64), np.empty(len(sizes), dtype=np.int64)
    for group in order:
        home[group] = int(np.argmin(load))
        load[home[group]] += sizes[group]
    return home[groups]


def dealt_by_class_and_group(rows: Rows, k: int, chance: Dice | None = None) -> Places:
    """The segment of each row: a group goes as a whole to where it makes the shares of the classes most even."""
    groups = _groups(rows, k)
    have = np.zeros((int(groups.max()) + 1, len(rows.labels)))
    np.add.at(have, (groups, rows.classes), 1)
    total = have.sum(axis=0)
    have, total = have[:, total > 0], total[total > 0]
    order = np.argsort(-have.std(axis=1), kind="stable") if chance is None else chance.permutation(len(have))
    segment_counts, home = np.zeros((k, len(total))), np.empty(len(have), dtype=np.int64)
    for group in order:
        home[group] = _most_even(segment_counts, have[group], total)
        segment_counts[home[group]] += have[group]
    if (segment_counts.sum(axis=1) == 0).any():
        what = f"the {len(have)} groups cannot be dealt into {k} segments of similar classes"
        raise _too_few(what, "ask for fewer folds, or for grouped folds without regard to class")
    return home[groups]


def _most_even(segment_counts: NDArray[np.float64], more: NDArray[np.float64], total: NDArray[np.float64]) -> int:
    """The segment whose growth leaves the least spread of class shares; of equal ones, that with fewest rows."""
    best, least, fewest = 0, np.inf, np.inf
    for i in range(len(segment_counts)):
        segment_counts[i] += more
        spread = float((segment_counts / total).std(axis=0).mean())
        segment_counts[i] -= more
        rows = float(segment_counts[i].sum())
        if spread < least or (np.isclose(spread, least) and rows < fewest):
            best, least, fewest = i, spread, rows
    return best


def in_time(rows: Rows, k: int, gap: int) -> list[tuple[Places, Places]]:
    """Training parts that end before their test parts begin, `gap` rows earlier at least; test parts follow each other.

    Rows of the same moment as the first row of a test part are not trained on.
    """
    n, size = rows.n, rows.n // (k + 1)
    if size == 0 or n - gap - size * k <= 0:
        what = f"{counted(n, 'row')} are too few for {k} test parts in order of time with a gap of {gap:,}"
        raise _too_few(what, "ask for fewer folds or a smaller gap")
    moments = np.arange(n) if rows.moments is None else rows.moments
    order = np.argsort(moments, kind="stable")
    parts = []
    for start in range(n - k * size, n, size):
        before = int(np.searchsorted(moments[order], moments[order[start]], side="left"))
        stop = min(start - gap, before)
        if stop <= 0:
            what = "no row lies before the first test part"
            fix = "ask for fewer folds, or give finer times"
            raise _too_few(what, fix, found=f"the first {start + 1:,} rows are of one moment")
        parts.append((np.sort(order[:stop]), np.sort(order[start : start + size])))
    return parts


def crossed(segment: Places, k: int, repeat: int) -> list[Fold]:
    """Each segment is the test part once; the others are the training part."""
    order, cuts = np.argsort(segment, kind="stable"), np.cumsum(np.bincount(segment, minlength=k))[:-1]
    return [
        Fold(repeat=repeat, fold=i + 1, test=test, others=len(segment)) for i, test in enumerate(np.split(order, cuts))
    ]


def demand_sound(folds: Sequence[Fold], rows: Rows, *, partition: bool) -> None:
    """Prove a split: parts share no row and split no group; with `partition`, a repeat tests each row exactly once."""
    if not folds:
        raise PlanError("folds-unsound", "the scheme gives no folds", fix="give at least one training and test part")
    for fold in folds:
        _demand_apart(fold, rows)
        trained = np.bincount(fold.train, minlength=rows.n) > 0 if fold.inner else None
        for inner in fold.inner:
            if trained is not None and not (trained[inner.train].all() and trained[inner.test].all()):
                raise _unsound(fold, "its inner folds hold rows outside its training part")
            _demand_apart(inner, rows)
    if partition:
        for _, own in itertools.groupby(folds, key=lambda fold: fold.repeat):
            _demand_once(list(own), rows.n)


def _demand_once(round_: Sequence[Fold], n: int) -> None:
    tested = np.bincount(np.concatenate([fold.test for fold in round_]), minlength=n)
    if (tested != 1).any():
        raise _unsound(round_[0], "a row is not tested exactly once in this repeat")
    for fold in round_:
        if (not isinstance(fold.others, int) or fold.others != n) and len(fold.train) + len(fold.test) != n:
            raise _unsound(fold, "training and test part are not all rows")


def _demand_apart(fold: Fold, rows: Rows) -> None:
    train = fold.train
    masks = []
    for name, part in (("training", train), ("test", fold.test)):
        if not len(part):
            raise _unsound(fold, f"its {name} part is empty")
        there = np.zeros(rows.n, dtype=bool)
        if part.min() >= 0 and part.max() < rows.n:
            there[part] = True
        if np.count_nonzero(there) != len(part):
            raise _unsound(fold, f"its {name} part holds a row twice, or rows that do not exist")
        masks.append(there)
    shared = np.flatnonzero(masks[0] & masks[1])
    if len(shared):
        raise _unsound(fold, f"{counted(len(shared), 'row')} in both parts, such as row {int(shared[0])}")
    if rows.groups is not None:
        met = [np.bincount(rows.groups[part], minlength=int(rows.groups.max()) + 1) > 0 for part in (train, fold.test)]
        split = int(np.count_nonzero(met[0] & met[1]))
        if split:
            raise _unsound(fold, f"{counted(split, 'group')} in both parts")


def _unsound(fold: Fold, found: str) -> RowsError:
    return RowsError(
        "folds-unsound", f"{fold.name} is not sound", found=found, fix="give parts of distinct rows and groups"
    )


def digest(folds: Iterable[Fold]) -> str:
    """SHA-256 of every (row, repeat, fold), training and test, inner folds included."""
    hasher = hashlib.sha256()
    for fold in folds:
        for part in (fold.train, fold.test):
            hasher.update(np.array([fold.repeat, fold.fold, len(part)], dtype="<i8").tobytes())
            hasher.update(np.sort(part).astype("<i8").tobytes())
        hasher.update(digest(fold.inner).encode() if fold.inner else b"")
    return hasher.hexdigest()


def repeats_alike(folds: Sequence[Fold]) -> int:
    """How many repeats deal the rows into the same segments as an earlier one."""
    seen: set[frozenset[bytes]] = set()
    alike = 0
    for _, own in itertools.groupby(folds, key=lambda fold: fold.repeat):
        dealt_ = frozenset(fold.test.tobytes() for fold in own)
        alike += dealt_ in seen
        seen.add(dealt_)
    return alike


def _too_few(what: str, fix: str, found: str | None = None) -> RowsError:
    return RowsError("too-few-rows", what, found=found, fix=fix)


def _groups(rows: Rows, k: int) -> Places:
    if rows.groups is None:
        raise PlanError("role-missing", "folds by group need groups", where="groups", fix="give groups=...")
    names, groups = np.unique(rows.groups, return_inverse=True)
    if len(names) < k:
        what = f"{counted(len(names), 'group')} cannot be dealt into {k} segments"
        fix = f"ask for {len(names)} folds at most" if len(names) > 1 else "groups must differ between rows"
        raise _too_few(what, fix)
    return groups.astype(np.int64)
