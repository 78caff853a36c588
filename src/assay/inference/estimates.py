# SPDX-License-Identifier: Apache-2.0
"""An estimate: a measure's value, how sure it is, and on what it rests."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from assay.core.errors import PlanError, unknown_choice
from assay.core.labels import Label
from assay.core.shown import Shown, TableRows
from assay.core.text import figure, listed, quoted
from assay.core.values import Share, Undefined, Value
from assay.tally.base import Count, count_to_json

if TYPE_CHECKING:
    from assay.measures.declare import Measure

WIDE: Final = 0.8
"""Share of the range of a measure beyond which an interval says next to nothing."""
MOST_LEVELS: Final = 100
"""Levels of a group up to which the table of each may take more draws than the least number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A two-sided interval, its level, its method, and what the method drew."""

    low: float
    high: float
    level: float
    method: str
    draws: int | None = None
    seed: int | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Ends, level and method."""
        return f"{figure(self.low)} to {figure(self.high)}, {self.level * 100:g} %, {self.method}"

    def __repr__(self) -> str:
        """The same in brackets."""
        return f"<Interval: {self}>"

    def to_json(self) -> dict[str, object]:
        """As in a Record, beside the value it is of."""
        ends = {"low": real_to_json(self.low), "high": real_to_json(self.high)}
        out: dict[str, object] = {**ends, "level": self.level, "interval": self.method}
        if self.draws is not None:
            out |= {"draws": self.draws, "seed": self.seed}
        if self.notes:
            out["interval_notes"] = list(self.notes)
        return out


def note_width(measure: Measure, interval: Interval | None) -> tuple[str, ...]:
    """A note where an interval takes up most of the range of its measure."""
    low, high = map(float, measure.range)
    if interval is None or not interval.high - interval.low > WIDE * (high - low):  # never where the range has no end
        return ()
    share = (interval.high - interval.low) / (high - low)
    return (f"the interval takes up {share:.0%} of the range, so it says next to nothing",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Shown):
    """One number of an assessment; `.value` is None when undefined, and `.reason` says why."""

    measure: str
    result: Value
    interval: Interval | None
    no_interval: str | None
    n: Count
    label: Label | None = None
    slice: dict[str, Label] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    PUBLIC = (
        "denominator", "high", "interval", "label", "level", "low", "measure", "n", "no_interval", "notes", "numerator",
        "reason", "slice", "to_json", "value",
    )  # fmt: skip
    stored_value: float | None = None
    """The value from the scores that a Record stores, where these are rounded and the value is another."""

    @property
    def value(self) -> float | None:
        """The value, or None."""
        return None if isinstance(self.result, Undefined) else self.result.value

    @property
    def reason(self) -> str | None:
        """Why there is no value, or None."""
        return self.result.reason if isinstance(self.result, Undefined) else None

    @property
    def low(self) -> float | None:
        """The lower end of the interval, or None."""
        return None if self.interval is None else self.interval.low

    @property
    def high(self) -> float | None:
        """The upper end of the interval, or None."""
        return None if self.interval is None else self.interval.high

    @property
    def level(self) -> float | None:
        """The confidence level, or None."""
        return None if self.interval is None else self.interval.level

    @property
    def numerator(self) -> Count | None:
        """What was counted, for a share."""
        return self.result.numerator if isinstance(self.result, Share) else None  # type: ignore[return-value]

    @property
    def denominator(self) -> Count | None:
        """Out of how many, for a share."""
        return self.result.denominator if isinstance(self.result, Share) else None  # type: ignore[return-value]

    def __str__(self) -> str:
        """One line for people.

        >>> from assay.assess.assess import assess
        >>> print(assess(truth=[1, 1, 0, 0], predicted=[1, 0, 0, 0])["recall"])
        recall 0.500   95 % interval 0.013 to 0.987   1 / 2, clopper-pearson
        """
        if isinstance(self.result, Undefined):
            return f"{self.measure} undefined   {self.result.reason}"
        head = f"{self.measure} {figure(self.result.value)}"
        if self.interval is None:
            return f"{head}   {self.no_interval}"
        ends = f"{self.interval.level * 100:g} % interval {figure(self.interval.low)} to {figure(self.interval.high)}"
        parts = f"{_short(self.numerator)} / {_short(self.denominator)}, " if isinstance(self.result, Share) else ""
        return f"{head}   {ends}   {parts}{self.interval.method}"

    def __repr__(self) -> str:
        """The same in brackets."""
        return f"<Estimate: {self}>"

    def _table(self) -> TableRows:
        value = "undefined" if isinstance(self.result, Undefined) else figure(self.result.value)
        so = self.reason or self.no_interval or str(self.interval)
        where = ", ".join(f"{factor} {level}" for factor, level in self.slice.items())
        caption = ", ".join(filter(None, (self.measure, "" if self.label is None else f"class {self.label}", where)))
        return caption, ("measure", "value", "interval", "n"), [(self.measure, value, so, f"{float(self.n):,.6g}")]

    def __float__(self) -> float:
        """The value; an undefined one is an error, because no number stands for it."""
        if isinstance(self.result, Undefined):
            raise PlanError("measure-unfit", f"{self.measure} is undefined: {self.result.reason}", fix="ask .value")
        return self.result.value

    def __format__(self, spec: str) -> str:
        """The value in a format, as in `f"{estimate:.2f}"`; "undefined" where there is none."""
        if not spec:
            return str(self)
        return "undefined" if isinstance(self.result, Undefined) else format(self.result.value, spec)

    def _refuse_order(self, other: object) -> bool:
        what = f"{self.measure} has an interval, so that a plain comparison would hide how sure it is"
        fix = f'decide with its uncertainty: assessment.accept("{self.measure} >= 0.85"); the value is float(...)'
        raise PlanError("comparison-needs", what, found=f"compared with {other!r}"[:80], fix=fix)

    __lt__ = __le__ = __gt__ = __ge__ = _refuse_order

    def to_json(self) -> dict[str, object]:
        """As in a Record; an infinite value is written as text, an undefined one as its reason."""
        result = self.result
        out: dict[str, object] = {"measure": self.measure, "class": self.label, "slice": self.slice or None}
        if isinstance(result, Undefined):
            out |= {"value": None, "undefined": result.reason, "undefined_code": result.code}
        else:
            out["value"] = real_to_json(result.value)
            no = {"low": None, "high": None, "no_interval": self.no_interval}
            out |= no if self.interval is None else self.interval.to_json()
        if self.stored_value is not None:
            out["stored_value"] = real_to_json(self.stored_value)
        out["n"] = count_to_json(self.n)
        if isinstance(result, Share):
            out["numerator"] = count_to_json(result.numerator)  # type: ignore[arg-type]
            out["denominator"] = count_to_json(result.denominator)  # type: ignore[arg-type]
        notes = list(self.notes)
        if not isinstance(result, Undefined) and result.note:
            notes.append(result.note)
        if notes:
            out["notes"] = notes
        return out


def build_estimate(measure: str, result: Value, found: Interval | str, n: Count, **more: Any) -> Estimate:  # noqa: ANN401
    """An estimate with an interval, or the reason why there is none; `more` are further fields."""
    ends, reason = (found, None) if isinstance(found, Interval) else (None, found)
    return Estimate(measure=measure, result=result, interval=ends, no_interval=reason, n=n, **more)


class Estimates(Mapping[str, Estimate]):
    """The estimates of one tally by measure name; each task has its own."""

    slice: dict[str, Label]
    """The level of a group it is about; empty for all rows."""
    beside: int = 1
    """How many levels its group has."""

    @property
    @abstractmethod
    def measures(self) -> Sequence[Measure]:
        """What a Record lists of all rows together."""

    @property
    def class_measures(self) -> Sequence[Measure]:
        """What it lists of each class."""
        return ()

    @property
    def by_class(self) -> Mapping[Label, Mapping[str, Estimate]]:
        """Estimates of each class against the rest."""
        return {}

    @property
    def class_names(self) -> list[str]:
        """The names of measures that `by_class` goes through."""
        return [measure.title for measure in self.class_measures]

    def class_estimate(self, name: str, label: Label) -> Estimate:
        """The estimate of a measure of one class, which `by_class` looks up."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        """The names of the measures that fit, or that were asked for."""
        return iter([measure.title for measure in self.measures])

    def __len__(self) -> int:
        """How many there are."""
        return len(self.measures)

    @abstractmethod
    def listed(self, done: Callable[[], None] = lambda: None) -> list[Estimate]:
        """What a Record lists; `done` is called after each step."""

    def work_out(self, views: Sequence[Estimates], measures: Sequence[Measure]) -> None:
        """Work out measures of several levels of its group at once, where that is faster than one by one."""

    def release(self) -> None:
        """Forget what estimates were computed from, such as draws; it is made again when it is needed."""

    @property
    def steps(self) -> int:
        """How often `done` is called."""
        return 1

    def speaks_of_class(self, measure: Measure) -> bool:  # noqa: ARG002
        """Whether a measure is about one class against the rest."""
        return False

    def needs_class(self, measure: Measure) -> bool:  # noqa: ARG002
        """Whether a class must be named for it."""
        return False

    def class_sizes(self) -> dict[str, str]:
        """Rows, or their weight, by class; nothing where there are no classes."""
        return {}

    def take_value(self, estimate: Mapping[str, object]) -> None:
        """Take a value of a Record that was computed from more than the Record stores."""


class ByClass(Mapping[Label, "OfClass"]):
    """Class label -> the estimates of that class."""

    def __init__(
        self, whole: Estimates, labels: Sequence[Label], words: tuple[str, str] = ("class", "classes")
    ) -> None:
        self._whole, self._labels, self._words = whole, labels, words

    def __getitem__(self, label: Label) -> OfClass:
        """The estimates of one class."""
        if label not in self._labels:
            word, words = self._words
            told = {"code": "label-not-declared", "known": listed(self._labels), "fix": f"ask for one of the {words}"}
            raise unknown_choice(label, self._labels, f"there is no {word} {quoted(label)}", **told)
        return OfClass(self._whole, label)

    def __iter__(self) -> Iterator[Label]:
        """The classes, in order."""
        return iter(self._labels)

    def __len__(self) -> int:
        """How many classes there are."""
        return len(self._labels)


class OfClass(Mapping[str, Estimate]):
    """Measure name -> estimate of one class."""

    def __init__(self, whole: Estimates, label: Label) -> None:
        self._whole, self._label = whole, label

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a class measure."""
        return self._whole.class_estimate(name, self._label)

    def __iter__(self) -> Iterator[str]:
        """The names of the class measures."""
        return iter(self._whole.class_names)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._whole.class_names)


def _short(count: Count | None) -> str:
    """A count as it is, a sum of weights in a few digits."""
    return str(count) if count is None or count == int(count) else f"{float(count):.6g}"


def real_to_json(value: float) -> float | str:
    """A finite number as it is; infinities as text, because JSON has none.

    >>> real_to_json(0.5), real_to_json(float("inf"))
    (0.5, 'inf')
    """
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value
