# SPDX-License-Identifier: Apache-2.0
"""The words of the decision table: kinds of values, questions, facts a choice turns on, and the shape of a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

MANY: Final = 10**6
NORMAL_FROM: Final = 20
"""With fewer values a passed check of normality says nothing, so the rank test stays."""
LEAST_SETS: Final = 6
"""Data sets below which no signed-rank result can be significant at 5 %: 2 / 2^5 = 0.0625."""
SMALL_SETS, SMALL_MODELS = 10, 5
HALVED_FROM: Final = 1000
"""Rows from which both 5x2 tests hold their level; below, they reject up to twice too often (docs/why)."""
RANKS_SWAPPED_BELOW: Final = 50
"""Rows of the smaller class below which p of two areas comes from swaps of ranks (docs/why/size-of-tests.md)."""
MANY_UNITS: Final = 200_000
"""Units up to which answers are swapped; beyond, how far each moves a measure tells as much (docs/why)."""
BALANCED: Final = 1.5
"""Largest class over smallest up to which accuracy may be compared alone (E-TS-24)."""


class Kind(StrEnum):
    """What values a test eats: V1 to V8 of the specification."""

    LABELS = "labels of one test set"
    SCORES = "scores of one test set"
    CLASS_SCORES = "scores of all classes of one test set"
    ITEMS = "values per item of one test set"
    DATA_SETS = "values per independent data set"
    RESAMPLES = "values from resampling one data set"
    FIVE_BY_TWO = "differences of a 5x2 cross-validation"
    HALVED = "values from resampling one data set and halves of it"
    INDEPENDENT = "values of different items"
    APART = "answers to different rows"
    TOTALS = "totals only"
    SUBJECTS = "answers to several rows a subject"
    WEIGHTED = "answers to weighted rows"


RESAMPLED: Final = (Kind.RESAMPLES, Kind.FIVE_BY_TWO, Kind.HALVED)
"""Values of one data set that share rows."""
UNITS: Final = {
    "item": Kind.ITEMS,
    "data set": Kind.DATA_SETS,
    "fold": Kind.RESAMPLES,
    "repeat": Kind.RESAMPLES,
    "5x2": Kind.FIVE_BY_TWO,
    "halves": Kind.HALVED,
}
"""What a value may belong to, and the kind of values that makes."""


class Question(StrEnum):
    """What is asked."""

    ACCURACY = "accuracy"
    AUROC = "auroc"
    MEASURE = "any measure"
    COST = "cost"
    LOCATION = "location"
    VARIANCE = "variance"
    ASSOCIATION = "association"
    FIXED = "a fixed value"
    CHANNELS = "channels"
    NON_INFERIORITY = "non-inferiority"
    EQUIVALENCE = "equivalence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the choice between forms of a test turns on."""

    n: int = 0
    disagree: int = 0
    normal: bool | None = None
    equal_spread: bool | None = None
    large_counts: bool | None = None
    blocks: int = 0
    models: int = 2
    two_by_two: bool = True
    rows: int = 0
    """Rows of the data set that values were resampled from; 0 where it is not stated."""
    near_perfect: bool = False
    """Whether an area is so near 1 or 0 that DeLong's variance cannot be trusted, or is 0."""
    fewest: int = RANKS_SWAPPED_BELOW
    """Rows of the smaller of two classes."""


@dataclass(frozen=True, slots=True)
class Condition:
    """When a way is taken."""

    name: str
    holds: Callable[[Facts], bool]


@dataclass(frozen=True, slots=True)
class Way:
    """A test, when it is taken, and the sentence that says why."""

    test: str | None
    when: Condition
    says: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: its number, the kinds of values, how many models, the questions, and the ways to a test."""

    number: int
    kinds: tuple[Kind, ...]
    models: tuple[int, int]
    questions: tuple[Question, ...]
    ways: tuple[Way, ...]
    beside: tuple[str, ...] = ()
    after: str | None = None
    refuses: Mapping[str, tuple[str, bool]] = field(default_factory=dict)


ALWAYS: Final = Condition("always", lambda _: True)
NORMAL: Final = Condition(
    "the values look normal, and there are 20 at least", lambda f: f.normal is True and f.n >= NORMAL_FROM
)
NORMAL_ALIKE: Final = Condition(
    "normal, and the groups scatter alike",
    lambda f: f.normal is True and f.n >= NORMAL_FROM and f.equal_spread is not False,
)
MANY_ROWS: Final = Condition("1,000 rows at least", lambda f: f.rows >= HALVED_FROM)
ROWS_KNOWN: Final = Condition("fewer than 1,000 rows", lambda f: f.rows > 0)
FEW_SETS: Final = Condition("fewer than six of them", lambda f: f.blocks < LEAST_SETS)
SMALL: Final = Condition("few data sets and few models", lambda f: f.blocks < SMALL_SETS and f.models < SMALL_MODELS)
LARGE_COUNTS: Final = Condition("expected counts are large enough", lambda f: f.large_counts is not False)
NEAR_PERFECT: Final = Condition("a model hardly errs, or hardly ever is right", lambda f: f.near_perfect)
FEW_OF_A_CLASS: Final = Condition("fewer than 50 rows of a class", lambda f: f.fewest < RANKS_SWAPPED_BELOW)
VERY_MANY: Final = Condition("more than 200,000 units", lambda f: f.blocks > MANY_UNITS)
FOUR_CELLS: Final = Condition("two by two", lambda f: f.two_by_two)
