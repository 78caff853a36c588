# SPDX-License-Identifier: Apache-2.0
"""Schemes of cross-validation by name: what each deals rows by, and what tests its values admit."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias, cast

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
LEAST: Final = {"k": 2, "repeats": 1, "inner": 2, "gap": 0, "splits": 2}
"""The smallest numbers that make sense."""
Deal: TypeAlias = Callable[..., Iterable[Fold]]
"""Makes folds of rows and a seed; its keywords are the options of the scheme."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """A way to make training and test parts of one data set."""

    name: str
    deal: Deal
    options: Mapping[str, Any] = field(default_factory=dict)
    kind: Kind = Kind.RESAMPLES
    partition: bool = True
    """Whether a repeat tests every row exactly once."""
    takes_groups: bool = True
    called: str = ""

    def __post_init__(self) -> None:
        """Only numbers that make sense."""
        for name, given in self.options.items():
            least = LEAST.get(name)
            whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
            if least is not None and (not whole or given < least):
                raise PlanError(
                    "value-out-of-domain",
                    f"{name}={given!r} is not possible in {self.name}",
                    known=f"{least}, {least + 1}, ...",
                    fix=f"give {name} as a whole number",
                )

    @property
    def title(self) -> str:
        """The name with its options, as it can be typed back."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return self.called or (f"{self.name}({given})" if given else self.name)

    @property
    def halved(self) -> int | None:
        """Folds of all rows, and of each half, where halves are dealt; None otherwise."""
        return self.options["k"] * self.options["repeats"] if self.kind is Kind.HALVED else None

    def with_options(self, **given: object) -> Scheme:
        """The same with other options; one that it does not have is a TypeError."""
        if unknown := set(given) - set(self.options):
            raise TypeError(unknown)
        return replace(self, options={**self.options, **given})

    def folds(self, rows: Rows, seed: int) -> tuple[Fold, ...]:
        """The folds, proven to be sound."""
        if rows.groups is not None and not self.takes_groups:
            raise PlanError(
                "role-clash",
                f"{self.name} would put rows of one group into training and test",
                known="grouped, stratified_grouped, repeated, halved, nested, leave_one_out and 5x2 keep groups whole",
                fix=f'scheme="{self.name}" without groups, or a scheme that keeps them whole',
            )
        made = tuple(self.deal(rows, seed, **self.options))
        demand_sound(made, rows, partition=self.partition)
        return made


def _deal_once(
    segments: Callable[..., Any], rows: Rows, seed: int, *, k: int = 5, shuffle: bool = True
) -> Iterable[Fold]:
    """One round of segments: plain, of whole groups, or with even shares of the classes."""
    return crossed(segments(rows, k, dice(seed, 1) if shuffle else None), k, 1)


def _deal_rounds(rows: Rows, seed: int, *, k: int = 10, repeats: int = 10) -> Iterable[Fold]:
    """Several rounds of stratified folds, dealt anew each time; groups stay whole where there are some."""
    return _rounds(rows, seed, k, repeats)


def _deal_five_by_two(rows: Rows, seed: int) -> Iterable[Fold]:
    """Five rounds of two halves, each trained on one half and tested on the other (Dietterich)."""
    return _rounds(rows, seed, 2, RUNS)


def _deal_halves(rows: Rows, seed: int, *, k: int = 5, repeats: int = 2, splits: int = 10) -> Iterable[Fold]:
    """Rounds of stratified folds of all rows, and the same rounds within both halves of several random splits."""
    yield from _rounds(rows, seed, k, repeats)
    done = repeats
    for split in range(1, splits + 1):
        side = _dealt(rows, 2, dice(seed, split, HALF))
        for half in (0, 1):
            places = np.flatnonzero(side == half)
            within = _rounds(rows.among(places), seed, k, repeats, done)
            yield from (replace(fold, test=places[fold.test], others=places[fold.train]) for fold in within)
            done += repeats


def _leave_one_out(rows: Rows, seed: int) -> Iterable[Fold]:
    """Each row is a test part of its own; with groups, each group."""
    dice(seed)  # nothing is left to chance, but the seed is recorded
    if rows.groups is None:
        return crossed(dealt(rows.n, max(rows.n, 2)), rows.n, 1)
    names, segment = np.unique(rows.groups, return_inverse=True)
    dealt(len(names), 2)
    return crossed(segment.astype(np.int64), len(names), 1)


def _deal_nested(rows: Rows, seed: int, *, k: int = 5, inner: int = 5) -> Iterable[Fold]:
    """Stratified folds to measure, and inside each training part folds of their own to tune on."""
    for fold in _rounds(rows, seed, k, 1):
        chance, train = dice(seed, fold.repeat, fold.fold, INNER), fold.train
        within = crossed(_dealt(rows.among(train), inner, chance), inner, 1)
        yield replace(fold, inner=tuple(replace(one, test=train[one.test], others=train[one.train]) for one in within))


def _deal_in_time(rows: Rows, seed: int, *, k: int = 5, gap: int = 0) -> Iterable[Fold]:
    """Test parts in order of time, each trained on what came `gap` rows or more before it."""
    dice(seed)
    parts = in_time(rows, k, gap)
    return [Fold(repeat=1, fold=i, test=test, others=train) for i, (train, test) in enumerate(parts, start=1)]


def _take_parts(parts: Iterable[tuple[object, object]], rows: Rows, seed: int) -> Iterable[Fold]:
    """Parts that somebody else made, such as those of a splitter of scikit-learn."""
    del rows
    dice(seed)
    for i, (train, test) in enumerate(parts, start=1):
        yield Fold(repeat=1, fold=i, test=_places(test, i), others=_places(train, i))


def _declare(name: str, deal: Deal, **more: Any) -> Scheme:  # noqa: ANN401  fields of a scheme
    """A scheme whose options, with their defaults, are the keywords of what deals its rows."""
    known = inspect.signature(deal).parameters.values()
    options = {one.name: one.default for one in known if one.kind is one.KEYWORD_ONLY}
    return Scheme(name=name, deal=deal, options=options, **more)


SCHEMES: Final[dict[str, Scheme]] = {
    scheme.name: scheme
    for scheme in (
        _declare("kfold", partial(_deal_once, lambda rows, k, chance: dealt(rows.n, k, chance)), takes_groups=False),
        _declare("stratified", partial(_deal_once, dealt_by_class), takes_groups=False),
        _declare("grouped", partial(_deal_once, dealt_by_group)),
        _declare("stratified_grouped", partial(_deal_once, dealt_by_class_and_group)),
        _declare("repeated", _deal_rounds),
        _declare("5x2", _deal_five_by_two, kind=Kind.FIVE_BY_TWO),
        _declare("halved", _deal_halves, kind=Kind.HALVED, partition=False),
        _declare("leave_one_out", _leave_one_out),
        _declare("nested", _deal_nested),
        _declare("time_ordered", _deal_in_time, partition=False, takes_groups=False),
    )
}
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
        return given_parts(given)
    text = given.strip()
    plain = re.sub(r"[\W_]", "", text).casefold()
    schemes = {re.sub(r"[\W_]", "", name): scheme for name, scheme in SCHEMES.items()}
    if own := schemes.get(OTHER_SPELLINGS.get(plain, plain)):
        return own
    if rounds := _ROUNDS.fullmatch(text):
        return SCHEMES["repeated"].with_options(repeats=int(rounds[1]), k=int(rounds[2]))
    if folds := _FOLDS.fullmatch(text):
        return SCHEMES["repeated"].with_options(repeats=1, k=int(folds[1]))
    return _called(text)


def _called(text: str) -> Scheme:
    name, _, _ = text.partition("(")
    scheme = SCHEMES.get(name.strip())
    try:
        tree = ast.parse(text, mode="eval").body
        if scheme is None or not isinstance(tree, ast.Call) or tree.args:
            raise ValueError(text)  # noqa: TRY301  told as one below
        return scheme.with_options(**{str(one.arg): ast.literal_eval(one.value) for one in tree.keywords})
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        close = nearest(name, SCHEMES)
        fix = f'did you mean "{close}"?' if close else "choose one"
        raise PlanError(
            "option-unknown",
            f'"{visible(text)}" is not a scheme of cross-validation',
            known=", ".join([*SCHEMES, "10x10", "10-fold"]),
            fix=fix if scheme is None else f"{name} takes {', '.join(scheme.options) or 'nothing'}",
        ) from error


def given_parts(given: object, called: str = "") -> Scheme:
    """The scheme of training and test parts that are given as row numbers; `called` is what made them."""
    try:
        parts = tuple((train, test) for train, test in cast("Iterable[tuple[Any, Any]]", given))
    except (TypeError, ValueError) as error:
        raise PlanError(
            "option-unknown",
            f"a scheme cannot be a {type(given).__name__}",
            known='text such as "5x2", a scheme, a splitter with split(X, y, groups), or pairs of row numbers',
            fix="give one of these",
        ) from error
    called = called or f"given({counted(len(parts), 'part')})"
    return Scheme(name="given", deal=partial(_take_parts, parts), partition=False, called=called)


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
