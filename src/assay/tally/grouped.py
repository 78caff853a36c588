# SPDX-License-Identifier: Apache-2.0
"""One confusion tally for each level of each group: the same rows, counted once more by who they are about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import listed
from assay.tally.confusion import Confusion

MISSING = "(missing)"
"""The level of rows whose group is not known; always shown, never dropped (ACCEPTANCE D01)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """factor -> level -> Confusion; the levels of a factor add up to the whole."""

    factors: dict[str, dict[Label, Confusion]] = field(default_factory=dict)

    def __add__(self, other: Grouped) -> Grouped:
        """Both together, level by level."""
        if self.factors.keys() != other.factors.keys():
            raise PlanError(
                "tally-mismatch",
                "the two tallies are grouped by different factors",
                found=f"{listed(self.factors)} and {listed(other.factors)}",
                fix="group both by the same factors",
            )
        return Grouped(factors={name: _merged(levels, other.factors[name]) for name, levels in self.factors.items()})

    def to_json(self) -> dict[str, object]:
        """As in a Record: levels as pairs, so that 1 and "1" stay apart."""
        return {
            name: [{"level": level, "confusion": tally.to_json()} for level, tally in levels.items()]
            for name, levels in self.factors.items()
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Grouped:
        """The inverse of `to_json`."""
        factors: dict[str, dict[Label, Confusion]] = {}
        for name, levels in content.items():
            entries = cast("list[dict[str, object]]", levels)
            factors[name] = {
                cast("Label", entry["level"]): Confusion.from_json(cast("dict[str, object]", entry["confusion"]))
                for entry in entries
            }
        return cls(factors=factors)


def _merged(a: dict[Label, Confusion], b: dict[Label, Confusion]) -> dict[Label, Confusion]:
    levels = [*a, *(level for level in b if level not in a)]
    return {level: _sum(a.get(level), b.get(level)) for level in levels}


def _sum(a: Confusion | None, b: Confusion | None) -> Confusion:
    return a + b if a is not None and b is not None else cast("Confusion", a if a is not None else b)
