# SPDX-License-Identifier: Apache-2.0
"""Merging assessments without sharing rows: tallies add up, and the result is that of the pooled rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Final, TypeAlias

from assay.assess.assessment import Assessment
from assay.assess.record import Record
from assay.assess.scoring import ScorePart
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import listed, quoted
from assay.tally.confusion import Confusion
from assay.tally.grouped import Grouped
from assay.tally.scores import Scores

Part: TypeAlias = Assessment | Record | str | os.PathLike[str]

SITE: Final = "site"
"""The group that tells named parts apart in the merged assessment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """A part with the name errors call it by, and the name of its site if it has one."""

    called: str
    site: str | None
    assessment: Assessment


def merge(*parts: Part, sites: Mapping[str, Part] | None = None) -> Assessment:
    """The assessment of all rows together, exactly as if they had been in one place.

    Parts that are named, by `sites` or by their own tally files, can be told apart afterwards: by_group["site"].

    >>> from assay.assess.run import assess
    >>> a = assess(truth=[1, 0], predicted=[1, 1])
    >>> b = assess(truth=[1, 0], predicted=[1, 0])
    >>> merge(a, b)["accuracy"].value
    0.75
    >>> [(name, e["accuracy"].value) for name, e in merge(sites={"north": a, "south": b}).by_group["site"].items()]
    [('north', 0.5), ('south', 1.0)]
    """
    opened = [_opened(part, f"part {number}") for number, part in enumerate(parts, start=1)]
    opened += [_opened(part, f"site {quoted(name)}", name) for name, part in (sites or {}).items()]
    if not opened:
        raise PlanError("role-missing", "there is nothing to merge", fix="give at least one assessment or record.json")
    first = opened[0].assessment
    for other in opened[1:]:
        _agree(opened[0], other)
    every = [one.assessment for one in opened]
    data: dict[str, object] = {
        "from": f"{len(opened)} merged tallies",
        "parts": [one.confusion.digest() for one in every],
    }
    factor, levels = _told_apart(opened)
    grouped = reduce(add, (_without(one.grouped, one.sites) for one in every))
    if levels:
        grouped = Grouped(factors={factor: levels, **grouped.factors})
        data["sites"] = factor
    whole = reduce(add, (one.confusion for one in every))
    return Assessment(
        whole,
        first.settings,
        positive=first.positive,
        census=reduce(add, (one.census for one in every)),
        grouped=_aligned(grouped, whole.labels),
        scores=_scores(opened, factor if levels else None),
        notes=(*_notes(every), *_given_twice(opened)),
        data=data,
    )


def _opened(part: Part, called: str, site: str | None = None) -> _Opened:
    if isinstance(part, Assessment):
        return _Opened(called=called, site=site, assessment=part)
    if not isinstance(part, Record):
        called = called if site else os.fspath(part)
        part = Record.load(part)
    return _Opened(called=called, site=site or part.get("site"), assessment=Assessment.from_record(part))


def _agree(first: _Opened, other: _Opened) -> None:
    """What must be the same for the sum to mean anything."""
    a, b = first.assessment, other.assessment
    if a.positive != b.positive or type(a.positive) is not type(b.positive):
        raise PlanError(
            "tally-mismatch",
            f"{first.called} has the positive class {_shown(a.positive)}, {other.called} has {_shown(b.positive)}",
            fix="count every part with the same positive class",
        )
    ours, theirs = a.settings.to_json(), b.settings.to_json()
    differing = [name for name in {**ours, **theirs} if theirs.get(name) != ours.get(name)]
    if differing:
        raise PlanError(
            "tally-mismatch",
            f"{first.called} and {other.called} were made with different settings",
            found="; ".join(f"{name}: {ours.get(name)} and {theirs.get(name)}" for name in differing),
            fix="count every part with the same settings",
        )


def _scores(opened: Sequence[_Opened], factor: str | None) -> ScorePart | None:
    """The score tallies of all parts; scores in only some of them cannot speak for all rows."""
    held = [one.assessment.scores for one in opened if one.assessment.scores is not None]
    if not held:
        return None
    if len(held) < len(opened):
        raise PlanError(
            "tally-mismatch",
            f"{len(held)} of {len(opened)} parts have scores",
            fix="count every part with its scores, or none",
        )
    inner = [one.assessment.sites for one in opened]
    whole = reduce(add, (part.without(name) for part, name in zip(held, inner, strict=True)))
    if factor is None:
        return whole
    sites: dict[Label, Scores] = {}
    for one, part, name in zip(opened, held, inner, strict=True):
        sites |= part.groups[name] if name is not None else {str(one.site): part.whole}
    return replace(whole, groups={factor: sites, **whole.groups})


def _shown(label: object) -> str:
    return "not stated" if label is None else quoted(label)


def _told_apart(opened: Sequence[_Opened]) -> tuple[str, dict[Label, Confusion]]:
    """One table a site, if every part has a name or is itself made of sites; merging merged parts keeps their sites."""
    named: list[tuple[Label, Confusion]] = []
    for one in opened:
        if one.assessment.sites is not None:
            named += one.assessment.grouped.factors[one.assessment.sites].items()
        elif one.site is not None:
            named.append((one.site, one.assessment.confusion))
        else:
            return SITE, {}
    levels = dict(named)
    if len(levels) != len(named):
        twice = [name for name in levels if sum(other == name for other, _ in named) > 1]
        raise PlanError(
            "tally-mismatch",
            f"two parts are called {listed(twice)}",
            fix="give each site's rows once, and each site a name of its own",
        )
    factor = SITE
    while any(factor in _without(one.assessment.grouped, one.assessment.sites).factors for one in opened):
        factor = f"merged {factor}"  # the rows had a group of this name already
    return factor, levels


def _without(grouped: Grouped, factor: str | None) -> Grouped:
    return Grouped(factors={name: levels for name, levels in grouped.factors.items() if name != factor})


def _aligned(grouped: Grouped, labels: Sequence[Label]) -> Grouped:
    """Every table over all classes, also those whose part never saw some of them."""
    return Grouped(
        factors={
            name: {level: table.with_labels(labels) for level, table in levels.items()}
            for name, levels in grouped.factors.items()
        }
    )


def _given_twice(opened: Sequence[_Opened]) -> tuple[str, ...]:
    """Equal tallies may be chance in tiny parts; more often one file was given twice."""
    seen: dict[str, str] = {}
    notes = []
    for one in opened:
        before = seen.setdefault(one.assessment.confusion.digest(), one.called)
        if before is not one.called:
            notes.append(f"{before} and {one.called} have the same counts: were the same rows given twice?")
    return tuple(notes)


def _notes(parts: Sequence[Assessment]) -> tuple[str, ...]:
    """Every note once, in the order it first appears."""
    return tuple(dict.fromkeys(note for part in parts for note in part.notes))


__all__ = ["Part", "merge"]
