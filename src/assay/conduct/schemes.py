# SPDX-License-Identifier: Apache-2.0
"""Schemes of cross-validation by name: what each deals rows by, and what tests its values admit."""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Final, cast

import numpy as np

from assay.conduct.splits import (
    Fold,
    Rows,
    crossed,
    dealt,
    dealt_by_class,
    dealt_by_class_and_group,
    dealt_by_group,
    demand_sound,
    dice,
    in_time,
)
from assay.core.errors import PlanError
from assay.core.text import counted, nearest, visible
from assay.inference.decision_words import Kind

RUNS: Final = 5
INNER: Final = 1
"""A second number beside repeat and fold, so that inner folds have chance of their own."""
HALF: Final = 2
"""The same for halves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme(ABC):
    """A way to make training and test parts of one data set."""

    name: ClassVar[str] = ""
    kind: ClassVar[Kind] = Kind.RESAMPLES
    partition: ClassVar[bool] = True
    takes_groups: ClassVar[bool] = True
    least: ClassVar[dict[str, int]] = {"k": 2, "repeats": 1, "inner": 2, "gap": 0, "splits": 2}

    def __post_init__(self) -> None:
        """Only numbers that make sense."""
        for name, least in self.least.items():
            given = getattr(self, name, least)
            if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < least:
                raise PlanError(
                    "value-out-of-domain",
                    f"{name}={given!r} is not possible in {self.name}",
                    known=f"{least}, {least + 1}, ...",
                    fix=f"give {name} as a whole number",
                )

    @property
    def title(self) -> str:
        """The name with its parameters, as it can be typed back."""
        given = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self))
        return f"{self.name}({given})" if given else self.name

    def folds(self, rows: Rows, seed: int) -> tuple[Fold, ...]:
        """The folds, proven to be sound."""
        if rows.groups is not None and not self.takes_groups:
            raise PlanError(
                "role-clash",
                f"{self.name} would put rows of one group into training and test",
                known="grouped, stratified_grouped, repeated, halved, nested, leave_one_out and 5x2 keep groups whole",
                fix=f'scheme="{self.name}" without groups, or a scheme that keeps them whole',
            )
        found = tuple(self._folds(rows, seed))
        demand_sound(found, rows, partition=self.partition)
        return found

    @abstractmethod
    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        """The folds, before they are proven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KFold(Scheme):
    """Segments of equal size, whatever their classes."""

    name: ClassVar[str] = "kfold"
    takes_groups: ClassVar[bool] = False
    k: int = 5
    shuffle: bool = True

    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        return crossed(dealt(rows.n, self.k, dice(seed, 1) if self.shuffle else None), self.k, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratified(Scheme):
    """Segments with the same share of each class."""

    name: ClassVar[str] = "stratified"
    takes_groups: ClassVar[bool] = False
    k: int = 5
    shuffle: bool = True

    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        return crossed(dealt_by_class(rows, self.k, dice(seed, 1) if self.shuffle else None), self.k, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped(Scheme):
    """Segments of whole groups: subjects, sites, days."""

    name: ClassVar[str] = "grouped"
    k: int = 5
    shuffle: bool = True

    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        return crossed(dealt_by_group(rows, self.k, dice(seed, 1) if self.shuffle else None), self.k, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StratifiedGrouped(Scheme):
    """Segments of whole groups, with shares of the classes as even as that allows."""

    name: ClassVar[str] = "stratified_grouped"
    k: int = 5
    shuffle: bool = True

    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        return crossed(dealt_by_class_and_group(rows, self.k, dice(seed, 1) if self.shuffle else None), self.k, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated(Scheme):
    """Several rounds of stratified folds, dealt anew each time; groups stay whole where there are some."""

    name: ClassVar[str] = "repeated"
    k: int = 10
    repeats: int = 10

    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        return _rounds(rows, seed, self.k, self.repeats)


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveByTwo(Scheme):
    """Five rounds of two halves, each trained on one half and tested on the other (Dietterich)."""

    name: ClassVar[str] = "5x2"
    kind: ClassVar[Kind] = Kind.FIVE_BY_TWO

    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        return _rounds(rows, seed, 2, RUNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Halved(Scheme):
    """Rounds of stratified folds of all rows, and the same rounds within both halves of several random splits."""

    name: ClassVar[str] = "halved"
    kind: ClassVar[Kind] = Kind.HALVED
    partition: ClassVar[bool] = False
    k: int = 5
    repeats: int = 2
    splits: int = 10

    @property
    def parts(self) -> int:
        """Folds of all rows, and of each half."""
        return self.k * self.repeats

    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        yield from _rounds(rows, seed, self.k, self.repeats)
        done = self.repeats
        for split in range(1, self.splits + 1):
            side = _dealt(rows, 2, dice(seed, split, HALF))
            for half in (0, 1):
                held = np.flatnonzero(side == half)
                within = _rounds(rows.among(held), seed, self.k, self.repeats, done)
                yield from (replace(one, test=held[one.test], others=held[one.train]) for one in within)
                done += self.repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOneOut(Scheme):
    """Each row is a test part of its own; with groups, each group."""

    name: ClassVar[str] = "leave_one_out"

    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        dice(seed)  # nothing is left to chance, but the seed is recorded
        if rows.groups is None:
            return crossed(dealt(rows.n, max(rows.n, 2)), rows.n, 1)
        names, segment = np.unique(rows.groups, return_inverse=True)
        dealt(len(names), 2)
        return crossed(segment.astype(np.int64), len(names), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested(Scheme):
    """Stratified folds to measure, and inside each training part folds of their own to tune on."""

    name: ClassVar[str] = "nested"
    k: int = 5
    inner: int = 5

    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        for fold in _rounds(rows, seed, self.k, 1):
            chance, train = dice(seed, fold.repeat, fold.fold, INNER), fold.train
            within = crossed(_dealt(rows.among(train), self.inner, chance), self.inner, 1)
            yield replace(
                fold,
                inner=tuple(
                    Fold(repeat=1, fold=one.fold, test=train[one.test], others=train[one.train]) for one in within
                ),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeOrdered(Scheme):
    """Test parts in order of time, each trained on what came `gap` rows or more before it."""

    name: ClassVar[str] = "time_ordered"
    partition: ClassVar[bool] = False
    takes_groups: ClassVar[bool] = False
    k: int = 5
    gap: int = 0

    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        dice(seed)
        parts = in_time(rows, self.k, self.gap)
        return [Fold(repeat=1, fold=i, test=test, others=train) for i, (train, test) in enumerate(parts, start=1)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Given(Scheme):
    """Parts that somebody else made, such as those of a splitter of scikit-learn."""

    name: ClassVar[str] = "given"
    partition: ClassVar[bool] = False
    parts: tuple[tuple[Any, Any], ...]
    called: str = ""

    @property
    def title(self) -> str:
        """What made them, or how many there are."""
        return self.called or f"given({counted(len(self.parts), 'part')})"

    def _folds(self, rows: Rows, seed: int) -> Iterable[Fold]:
        del rows
        dice(seed)
        for i, (train, test) in enumerate(self.parts, start=1):
            yield Fold(repeat=1, fold=i, test=_places(test, i), others=_places(train, i))


SCHEMES: Final[dict[str, type[Scheme]]] = {
    one.name: one
    for one in (
        KFold, Stratified, Grouped, StratifiedGrouped, Repeated, FiveByTwo, Halved, LeaveOneOut, Nested,
        TimeOrdered,
    )
}  # fmt: skip
OTHER_SPELLINGS: Final = {"repeatedkfold": "repeated", "loo": "leaveoneout", "stratifiedkfold": "stratified"}
_ROUNDS = re.compile(r"(\d{1,6})\s*x\s*(\d{1,6})")
_FOLDS = re.compile(r"(\d{1,6})-fold")


def scheme_of(given: object) -> Scheme:
    """A scheme by text or object: "5x2", "10x10" (ten rounds of ten folds), "5-fold", "time_ordered(k=4, gap=7)".

    >>> scheme_of("10x10").title, scheme_of("grouped(k=4)").title
    ('repeated(k=10, repeats=10)', 'grouped(k=4, shuffle=True)')
    """
    if isinstance(given, Scheme):
        return given
    if not isinstance(given, str):
        return _given(given)
    text = given.strip()
    plain = re.sub(r"[\W_]", "", text).casefold()
    if own := {re.sub(r"[\W_]", "", name): scheme for name, scheme in SCHEMES.items()}.get(
        OTHER_SPELLINGS.get(plain, plain)
    ):
        return own()
    if rounds := _ROUNDS.fullmatch(text):
        return Repeated(repeats=int(rounds[1]), k=int(rounds[2]))
    if folds := _FOLDS.fullmatch(text):
        return Repeated(repeats=1, k=int(folds[1]))
    return _called(text)


def _called(text: str) -> Scheme:
    name, _, _ = text.partition("(")
    scheme_type = SCHEMES.get(name.strip())
    try:
        tree = ast.parse(text, mode="eval").body
        if scheme_type is None or not isinstance(tree, ast.Call) or tree.args:
            raise ValueError(text)  # noqa: TRY301  told as one below
        return scheme_type(**{str(one.arg): ast.literal_eval(one.value) for one in tree.keywords})
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        close = nearest(name, SCHEMES)
        own = "" if scheme_type is None else ", ".join(one.name for one in fields(scheme_type))
        raise PlanError(
            "option-unknown",
            f'"{visible(text)}" is no scheme of cross-validation',
            known=", ".join([*SCHEMES, "10x10", "10-fold"]),
            fix=f"{name} takes {own or 'nothing'}"
            if scheme_type
            else f'did you mean "{close}"?'
            if close
            else "choose one",
        ) from error


def _given(given: object) -> Scheme:
    try:
        parts = tuple((train, test) for train, test in cast("Iterable[tuple[Any, Any]]", given))
    except (TypeError, ValueError) as error:
        raise PlanError(
            "option-unknown",
            f"a scheme cannot be a {type(given).__name__}",
            known='text such as "5x2", a scheme, a splitter with split(X, y, groups), or pairs of row numbers',
            fix="give one of these",
        ) from error
    return Given(parts=parts)


def _places(part: object, fold: int) -> Any:  # noqa: ANN401  an array of row numbers
    row_numbers = np.asarray(part)
    if row_numbers.ndim != 1 or row_numbers.dtype.kind not in "iu":
        raise PlanError(
            "folds-unsound",
            f"fold {fold} is not given as row numbers",
            found=f"{row_numbers.dtype} of shape {row_numbers.shape}",
            fix="give whole numbers from 0 on, one for each row; a mask becomes numbers by np.flatnonzero",
        )
    return row_numbers.astype(np.int64)


def _rounds(rows: Rows, seed: int, k: int, repeats: int, after: int = 0) -> Iterable[Fold]:
    """Rounds of folds, numbered on from those before."""
    each = range(after + 1, after + repeats + 1)
    return [fold for repeat in each for fold in crossed(_dealt(rows, k, dice(seed, repeat)), k, repeat)]


def _dealt(rows: Rows, k: int, chance: np.random.Generator) -> Any:  # noqa: ANN401  an array of row numbers
    return dealt_by_class(rows, k, chance) if rows.groups is None else dealt_by_class_and_group(rows, k, chance)
