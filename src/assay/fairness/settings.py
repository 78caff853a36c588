# SPDX-License-Identifier: Apache-2.0
"""What is asked of the groups of an assessment, and how crossed groups are named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from assay.core.labels import Label
from assay.inference.estimates import Estimates

T = TypeVar("T")
Conditions: TypeAlias = Mapping[str, Mapping[str, Mapping[Label, Mapping[Label, Estimates]]]]
CROSSED: Final = ":"
"""Stands between the names of crossed factors, and between their levels."""
MINIMUM: Final = 10
"""Rows below which a group is shown and not judged, unless stated otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessSettings:
    """What is asked of groups; everything may be left out."""

    criteria: tuple[str, ...] = ()
    """Names of criteria, `gap(measure)`, `ratio(measure)` or `four_fifths` that are judged; empty: none is."""
    tolerance: float | Mapping[str, float] | None = None
    """The largest accepted gap, or one by criterion."""
    reason: str = ""
    minimum: int = MINIMUM
    reference: Mapping[str, Label] = field(default_factory=dict)
    """By factor: the group that others are compared with."""
    declared: Mapping[str, Sequence[Label]] = field(default_factory=dict)
    """By factor: levels that must be judged, also those without rows."""
    conditions: Conditions = field(default_factory=dict)
    """By factor and condition: level of the condition -> group -> estimates of the rows of both."""
    bins: int | Sequence[float] | None = None
    """Score bins of calibration parity, or their borders."""
    flips: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By factor: rows whose prediction changes with the group alone, of all rows that were flipped."""
    features: tuple[str, ...] | None = None
    proxies: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """What a Record keeps of what was asked."""
        tolerance = dict(self.tolerance) if isinstance(self.tolerance, Mapping) else self.tolerance
        asked = {"criteria": list(self.criteria), "tolerance": tolerance}
        return {**asked, "minimum": self.minimum, "reason": self.reason}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> FairnessSettings:
        """The inverse of `to_json`."""
        return cls(**{**content, "criteria": tuple(content["criteria"])})


def join_levels(levels: Sequence[Label]) -> str:
    r"""The level of a crossed factor; a colon or backslash within a level is escaped, so that it can be split again.

    >>> join_levels(["f", "30:40"]), split_level(join_levels(["f", "30:40"]))
    ('f:30\\:40', ('f', '30:40'))
    """
    return CROSSED.join(re.sub(r"([\\:])", r"\\\1", str(level)) for level in levels)


def split_level(level: str) -> tuple[str, ...]:
    """The inverse of `join_levels`, as texts."""
    parts = re.findall(r"(?:[^\\:]|\\.)+|(?<=:)(?=:|$)|^(?=:)", level) or [""]
    return tuple(re.sub(r"\\(.)", r"\1", part) for part in parts)


def split_crossed(levels: Mapping[Label, T]) -> dict[str, dict[str, T]]:
    """Of a factor crossed with one other: by level of the other, what each level of the first has.

    >>> split_crossed({"f:old": 1, "m:old": 2, "f:young": 3})
    {'old': {'f': 1, 'm': 2}, 'young': {'f': 3}}
    """
    strata: dict[str, dict[str, T]] = {}
    for level, content in levels.items():
        first, *others = split_level(str(level))
        strata.setdefault(join_levels(others), {})[first] = content
    return strata


def split_criterion(text: str) -> tuple[str, str | None]:
    """A criterion as it is asked of one factor: what is measured, and the factor where one is named.

    >>> split_criterion("gap(recall, sex)"), split_criterion("equalized_odds(sex:age)"), split_criterion("gap(recall)")
    (('gap(recall)', 'sex'), ('equalized_odds', 'sex:age'), ('gap(recall)', None))
    """
    name, _, inside = text.strip().partition("(")
    if not inside.endswith(")"):
        return text.strip(), None
    inside = inside[:-1]
    if name.strip() not in ("gap", "ratio"):
        return name.strip(), inside.strip().strip("\"'") or None
    depth, cut = 0, None
    for place, character in enumerate(inside):
        depth += (character == "(") - (character == ")")
        cut = place if character == "," and not depth else cut
    if cut is None:
        return text.strip(), None
    return f"{name.strip()}({inside[:cut].strip()})", inside[cut + 1 :].strip().strip("\"'")
