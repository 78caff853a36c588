# SPDX-License-Identifier: Apache-2.0
"""Merging assessments without sharing rows: tallies add up, and the result is that of the pooled rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TypeAlias

from assay.assess.assessment import Assessment
from assay.assess.record import Record
from assay.core.errors import PlanError
from assay.core.text import quoted

Part: TypeAlias = Assessment | Record | str | os.PathLike[str]


def merge(*parts: Part) -> Assessment:
    """The assessment of all rows together, exactly as if they had been in one place.

    >>> from assay.assess.run import assess
    >>> a = assess(truth=[1, 0], predicted=[1, 1])
    >>> b = assess(truth=[1, 0], predicted=[1, 0])
    >>> merge(a, b)["accuracy"].value
    0.75
    """
    opened = [_opened(part) for part in parts]
    if not opened:
        raise PlanError("role-missing", "there is nothing to merge", fix="give at least one assessment or record.json")
    first = opened[0]
    for number, other in enumerate(opened[1:], start=2):
        _agree(first, other, number)
    return Assessment(
        reduce(add, (one.confusion for one in opened)),
        first.settings,
        positive=first.positive,
        census=reduce(add, (one.census for one in opened)),
        grouped=reduce(add, (one.grouped for one in opened)),
        notes=_notes(opened),
        data={"from": f"{len(opened)} merged tallies", "parts": [one.confusion.digest() for one in opened]},
    )


def _opened(part: Part) -> Assessment:
    if isinstance(part, Assessment):
        return part
    return Assessment.from_record(part if isinstance(part, Record) else Record.load(part))


def _agree(first: Assessment, other: Assessment, number: int) -> None:
    """What must be the same for the sum to mean anything."""
    if first.positive != other.positive or type(first.positive) is not type(other.positive):
        raise PlanError(
            "tally-mismatch",
            f"part 1 has the positive class {_shown(first.positive)}, part {number} has {_shown(other.positive)}",
            fix="count every part with the same positive class",
        )
    ours, theirs = first.settings.to_json(), other.settings.to_json()
    differing = [name for name, value in ours.items() if theirs[name] != value]
    if differing:
        raise PlanError(
            "tally-mismatch",
            f"part 1 and part {number} were made with different settings",
            found="; ".join(f"{name}: {ours[name]} and {theirs[name]}" for name in differing),
            fix="count every part with the same settings",
        )


def _shown(label: object) -> str:
    return "not stated" if label is None else quoted(label)


def _notes(parts: Sequence[Assessment]) -> tuple[str, ...]:
    """Every note once, in the order it first appears."""
    return tuple(dict.fromkeys(note for part in parts for note in part.notes))
