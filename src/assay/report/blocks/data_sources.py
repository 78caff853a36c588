# SPDX-License-Identifier: Apache-2.0
"""Where the rows and the truth come from: what was counted of each data set, and what the plan says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from assay.assess.record import Record
from assay.core.text import visible
from assay.report.blocks.conformity import OF_DATA, Declared, declared_part
from assay.report.estimate_rows import prose

NAMES: Final = dict(zip(OF_DATA, ("Data sets, as declared", "Ground truth", "Population", "Bias"), strict=True))
TITLES: Final = {True: "Data and ground truth", False: "Data"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """One data set as it was counted."""

    name: str
    rows: str
    classes: str
    begins: str
    ends: str
    missing: str
    span: tuple[float, float] | None
    """First and last moment, in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Everything a report says of data and ground truth."""

    title: str
    given: tuple[tuple[str, str], ...]
    splits: tuple[Split, ...]
    said: tuple[Declared, ...]


def sources(record: Record) -> Sources:
    """What a Record knows of its data."""
    plan = record["plan"]
    declared = plan.get("declared", {})
    said = tuple(
        declared_part(title, declared[part])
        for part, title in NAMES.items()
        if isinstance(declared.get(part), Mapping) and declared[part]
    )
    return Sources(
        title=TITLES[bool(said)],
        given=tuple(_given(plan.get("data", {}))),
        splits=tuple(_splits(record.get("controls", ()))),
        said=said,
    )


def _given(data: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if data.get("from"):
        yield "from", visible(data["from"])
    if data.get("format"):
        yield "format", visible(data["format"])
    for role, column in data.get("columns", {}).items():
        yield f"{visible(role)} column", visible(column)
    for number, told in enumerate(data.get("reading", ())):
        yield "read with" if not number else "and", prose(told)


def _splits(controls: Iterable[Mapping[str, Any]]) -> Iterable[Split]:
    for control in controls:
        if control["check"] != "CHK-MANIFEST" or not control.get("part"):
            continue
        for name, facts in control.get("facts", {}).items():
            span = [str(one) for one in facts.get("span") or ()]
            lost = facts.get("missing") or {}
            yield Split(
                name=visible(name),
                rows=f"{int(facts['rows']):,}",
                classes=prose(", ".join(f"{label} {int(n):,}" for label, n in (facts.get("classes") or {}).items())),
                begins=_shown(span[0]) if span else "",
                ends=_shown(span[1]) if span else "",
                missing=prose(", ".join(f"{column} {int(n):,}" for column, n in lost.items())) or "none",
                span=_moments(span),
            )


def _shown(moment: str) -> str:
    return visible(moment.removesuffix("T00:00:00").replace("T", " "))


def _moments(span: list[str]) -> tuple[float, float] | None:
    try:
        first, last = (datetime.fromisoformat(one) for one in span)
    except ValueError:  # no times, or times of a kind that a calendar does not know
        return None
    return tuple((one if one.tzinfo else one.replace(tzinfo=UTC)).timestamp() for one in (first, last))  # type: ignore[return-value]
