# SPDX-License-Identifier: Apache-2.0
"""How far groups are apart, with everything that rests on, and the verdict by guard band.

The whole interval decides, or the rows that would decide are named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from assay.core.labels import Label
from assay.core.text import counted, figure, quoted
from assay.fairness.group_statistics import GroupValue
from assay.inference.estimates import real_to_json

Form: TypeAlias = Literal["gap", "ratio"]
PASS, FAIL, INCONCLUSIVE = "pass", "fail", "inconclusive"
PAIRS_KEPT: Final = 3
"""Pairs that a Record lists; of more than three groups only the two farthest apart are named."""
PARTS_KEPT: Final = 2
"""Parts that a Record keeps whole; of more, such as score bins, the gaps alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two groups: the first minus the second, or divided by it, with an interval that holds for all pairs at once."""

    first: Label
    second: Label
    value: float
    low: float | None = None
    high: float | None = None

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        pair = {"first": self.first, "second": self.second, "value": real_to_json(self.value)}
        return {**pair, **_ends_to_json(self.low, self.high)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A group that a gap does not speak of, its size, and why."""

    level: Label
    rows: int
    reason: str

    def __str__(self) -> str:
        """In words."""
        return f"{quoted(self.level)} ({counted(self.rows, 'row')}): {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Equality:
    """The test of a criterion over all groups at once."""

    test: str
    statistic: float
    df: float
    p: float
    adjusted: float | None = None
    of: int = 1
    """Tests of the family that p was corrected over."""
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        out: dict[str, object] = {"test": self.test, "statistic": self.statistic, "df": self.df, "p": self.p}
        if self.adjusted is not None:
            out["adjusted"] = {"p": self.adjusted, "by": "Holm", "of": self.of}
        return out | ({"notes": list(self.notes)} if self.notes else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Disparity:
    """How far the groups of a factor are apart; `.value` is None where that is undefined, and `.reason` says why."""

    name: str
    factor: str
    form: Form = "gap"
    value: float | None
    low: float | None = None
    high: float | None = None
    level: float
    method: str = ""
    reason: str = ""
    no_interval: str = ""
    groups: tuple[GroupValue, ...] = ()
    pairs: tuple[Pair, ...] = ()
    worst: tuple[Label, Label] | None = None
    """The group with the higher value, and that with the lower."""
    left_out: tuple[LeftOut, ...] = ()
    parts: Mapping[str, Disparity] = field(default_factory=dict)
    equality: Equality | None = None
    denominators: tuple[str, ...] = ()
    tolerance: float | None = None
    verdict: str | None = None
    """pass, fail or inconclusive; None where no tolerance is stated."""
    why: str = ""
    """What the verdict rests on, and the rows that would decide."""
    notes: tuple[str, ...] = ()

    @property
    def difference(self) -> Pair | None:
        """The signed difference of two groups: first minus second, in the order of the groups."""
        return self.pairs[0] if len(self.pairs) == 1 else None

    @property
    def p(self) -> float | None:
        """The p value that counts."""
        if self.equality is None:
            return None
        return self.equality.p if self.equality.adjusted is None else self.equality.adjusted

    def __str__(self) -> str:
        """One line for people."""
        head = f"{self.name} by {self.factor}"
        if self.value is None:
            return f"{head} undefined   {self.reason}"
        ends = (
            self.no_interval
            if self.low is None or self.high is None
            else f"{self.level * 100:g} % interval {figure(self.low)} to {figure(self.high)}"
        )
        apart = "" if self.worst is None else f"   {quoted(self.worst[0])} against {quoted(self.worst[1])}"
        return f"{head} {figure(self.value)}   {ends}{apart}" + (f"   {self.verdict}" if self.verdict else "")

    def to_json(self, *, brief: bool = False) -> dict[str, object]:
        """As in a Record; in brief without the groups."""
        out: dict[str, object] = {"criterion": self.name, "factor": self.factor, "form": self.form}
        if self.value is None:
            out |= {"value": None, "undefined": self.reason}
        else:
            out |= {"value": real_to_json(self.value), **_ends_to_json(self.low, self.high), "level": self.level}
            out |= {"interval": self.method} if self.low is not None else {"no_interval": self.no_interval}
        out["worst"] = None if self.worst is None else list(self.worst)
        if brief:
            return out
        out["groups"] = [group.to_json(self.level) for group in self.groups]
        if len(self.pairs) <= PAIRS_KEPT:
            out["pairs"] = [pair.to_json() for pair in self.pairs]
        out["left_out"] = [{"level": g.level, "n": g.rows, "reason": g.reason} for g in self.left_out]
        out["parts"] = {name: part.to_json(brief=len(self.parts) > PARTS_KEPT) for name, part in self.parts.items()}
        out["equality"] = None if self.equality is None else self.equality.to_json()
        out |= {"tolerance": self.tolerance, "verdict": self.verdict, "why": self.why}
        return out | ({"notes": list(self.notes)} if self.notes else {})


def _ends_to_json(low: float | None, high: float | None) -> dict[str, object]:
    return {name: None if end is None else real_to_json(end) for name, end in (("low", low), ("high", high))}


def judge(disparity: Disparity, tolerance: float) -> Disparity:
    """The gap held to the largest accepted one, or the ratio to the smallest accepted one.

    A pass needs a value of every declared group; groups left out make it inconclusive, and never turn a fail around.
    """
    verdict, why = _judge(disparity, tolerance)
    return replace(disparity, tolerance=tolerance, verdict=verdict, why=why)


def _judge(disparity: Disparity, tolerance: float) -> tuple[str, str]:
    if disparity.value is None:
        return INCONCLUSIVE, f"there is no value: {disparity.reason}"
    if disparity.low is None or disparity.high is None:
        return INCONCLUSIVE, f"there is no interval: {disparity.no_interval}"
    limit, low, high = map(figure, (tolerance, disparity.low, disparity.high))
    if disparity.form == "gap":
        passes, fails = disparity.high <= tolerance, disparity.low > tolerance
        good, bad = f"the upper end {high} is at most {limit}", f"the lower end {low} is above {limit}"
    else:
        passes, fails = disparity.low >= tolerance, disparity.high < tolerance
        good, bad = f"the lower end {low} is at least {limit}", f"the upper end {high} is below {limit}"
    if fails:
        return FAIL, bad
    if passes and not disparity.left_out:
        return PASS, good
    if passes:
        names = ", ".join(quoted(group.level) for group in disparity.left_out)
        return INCONCLUSIVE, f"{good}, but not every group is judged: {names}"
    return INCONCLUSIVE, f"{limit} lies between {low} and {high}; {_rows_needed(disparity, tolerance)}"


def _rows_needed(disparity: Disparity, tolerance: float) -> str:
    """The rows that would decide if values stayed as they are: of the group that is least sure, or of both."""
    part = max(disparity.parts.values(), key=lambda p: p.high or 0.0) if disparity.parts else disparity
    if part.value is None or part.low is None or part.high is None or part.worst is None:
        return "more rows would decide"
    room = abs(part.value - tolerance)
    outward = part.high - part.value if disparity.form == "gap" else part.value - part.low
    inside = (part.value < tolerance) == (disparity.form == "gap")
    reach = outward if inside else _inward(part)
    if room < 1e-9:  # noqa: PLR2004  rounding
        return "the value equals the tolerance, so no number of rows would decide"
    if reach <= 0:
        return "more rows would decide"
    by_level = {group.level: group for group in part.groups}
    sides = [by_level[level] for level in part.worst if level in by_level]
    word = part.denominators[0] if part.denominators else "rows"
    grow = (reach / room) ** 2
    return _of_one_group(sides, grow, word) or f"about {grow:.1f} times as many {word} of every group would decide"


def _inward(part: Disparity) -> float:
    """How far the interval of the two groups farthest apart reaches towards no difference, also beyond it."""
    far = next((pair for pair in part.pairs if {pair.first, pair.second} == set(part.worst or ())), None)
    if far is None or far.low is None or far.high is None:
        return 0.0
    return far.high - far.value if part.form == "ratio" or far.value < 0 else far.value - far.low


def _of_one_group(sides: list[GroupValue], grow: float, word: str) -> str:
    """More rows of the smaller of two groups, where those alone suffice."""
    if len(sides) != 2 or min(side.denominator for side in sides) == 0:  # noqa: PLR2004  a pair
        return ""
    small, large = sorted(sides, key=lambda side: side.denominator)
    # The squared reach is about a / n_small + b / n_large, with a and b alike.
    whole = 1 / small.denominator + 1 / large.denominator
    left = whole / grow - 1 / large.denominator
    if left <= 0:
        return ""
    more = math.ceil(1 / left - small.denominator)
    return f"about {max(more, 1):,} more {word} of group {quoted(small.level)} would decide"
