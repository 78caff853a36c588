# SPDX-License-Identifier: Apache-2.0
"""One tally for each level of each group: the same rows, counted once more by who they are about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar, cast

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.task import Tally
from assay.core.text import counted, listed, quoted

MISSING = "(missing)"
"""The level of rows whose group is not known; always shown, never dropped (ACCEPTANCE D01)."""

LIKE_UNITS: Final = 20
"""Levels from which a group may be a column of units."""
ROWS_OF_UNIT: Final = 50
"""Rows of a level, on average, up to which it may be a unit."""

T = TypeVar("T", bound=Tally)


def free_name(name: str, taken: Collection[object]) -> str:
    """A name of ours for a level, in as many brackets as somebody's own levels make necessary.

    >>> free_name("(missing)", ["a", "(missing)"])
    '((missing))'
    """
    while name in taken:
        name = f"({name})"
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped(Generic[T]):
    """factor -> level -> tally; the levels of a factor add up to the whole."""

    factors: dict[str, dict[Label, T]] = field(default_factory=dict)

    def __add__(self, other: Grouped[T]) -> Grouped[T]:
        """Both together, level by level."""
        if self.factors.keys() != other.factors.keys():
            raise PlanError(
                "tally-mismatch",
                "the two tallies are grouped by different factors",
                found=f"{listed(self.factors)} and {listed(other.factors)}",
                fix="group both by the same factors",
            )
        return Grouped(factors={name: _merge(levels, other.factors[name]) for name, levels in self.factors.items()})

    def map(self, change: Callable[[T], T]) -> Grouped[T]:
        """The same levels with every tally changed."""
        return Grouped(
            factors={
                name: {level: change(tally) for level, tally in levels.items()} for name, levels in self.factors.items()
            }
        )

    def without(self, factor: str | None) -> Grouped[T]:
        """All factors but one."""
        return Grouped(factors={name: levels for name, levels in self.factors.items() if name != factor})

    def to_json(self) -> dict[str, object]:
        """As in a Record: levels as pairs, so that 1 and "1" stay apart."""
        return {
            name: [{"level": level, **tally.to_json()} for level, tally in levels.items()]
            for name, levels in self.factors.items()
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object], read: Callable[[Mapping[str, object]], T]) -> Grouped[T]:
        """The inverse of `to_json`, given what reads one tally."""
        factors: dict[str, dict[Label, T]] = {}
        for name, levels in content.items():
            entries = cast("list[dict[str, object]]", levels)
            factors[name] = {cast("Label", entry["level"]): read(entry) for entry in entries}
        return cls(factors=factors)


def _merge(a: dict[Label, T], b: dict[Label, T]) -> dict[Label, T]:
    merged = dict(a)
    for level, tally in b.items():
        merged[level] = merged[level] + tally if level in merged else tally
    return merged


def note_like_units(grouped: Grouped[T], rows: int) -> str | None:
    """A note where the levels of a group look like units: many of them, with a few rows each."""
    for name, levels in grouped.factors.items():
        sizes = sorted(tally.rows for tally in levels.values())
        if len(sizes) >= LIKE_UNITS and rows / len(sizes) <= ROWS_OF_UNIT and sizes[-1] > 1:
            middle = counted(sizes[len(sizes) // 2], "row")
            return (
                f"{quoted(name)} has {len(sizes):,} levels with {middle} in the middle: if rows of one level belong "
                "together, intervals are too narrow; name the column: unit=... (--unit)"
            )
    return None
