# SPDX-License-Identifier: Apache-2.0
"""Merging assessments without sharing rows: tallies add up, and the result is that of the pooled rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Final, TypeAlias

from assay.assess.assessment import Assessment
from assay.assess.record.record import Record
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.task import Tally
from assay.core.text import listed, quoted
from assay.tally.by_group import Grouped

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

    parts: assessments, Records, tallies of sites, or paths of them
    sites: the same by name; parts that have one can be told apart afterwards, by_group["site"]

    >>> from assay.assess.assess import assess
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
        _check_mergeable(opened[0], other)
    parts_ = [part.assessment for part in opened]
    digests = [part.counts.digest() for part in parts_]
    data: dict[str, object] = {"from": f"{len(opened)} merged tallies", "parts": digests}
    factor, levels = _told_apart(opened)
    grouped = reduce(add, (part.grouped.without(part.sites) for part in parts_))
    if levels:
        grouped = Grouped(factors={factor: levels, **grouped.factors})
        data["sites"] = factor
    contract, whole = first.contract, reduce(add, (part.counts for part in parts_))
    census = reduce(add, (part.census for part in parts_))
    grouped = grouped.map(lambda tally: contract.align(tally, whole))
    notes = (*dict.fromkeys(note for part in parts_ for note in part.notes), *_given_twice(opened))
    return Assessment(contract, whole, first.settings, census=census, grouped=grouped, notes=notes, data=data)


def _opened(part: Part, called: str, site: str | None = None) -> _Opened:
    if isinstance(part, Assessment):
        return _Opened(called=called, site=site, assessment=part)
    if not isinstance(part, Record):
        called = called if site else os.fspath(part)
        part = Record.load(part)
    return _Opened(called=called, site=site or part.get("site"), assessment=Assessment.from_record(part))


def _check_mergeable(first: _Opened, other: _Opened) -> None:
    """What must be the same for the sum to mean anything."""
    a, b = first.assessment, other.assessment
    if a.contract is not b.contract:
        what = f"{first.called} is of the task {a.contract.name}, {other.called} of {b.contract.name}"
        raise PlanError("tally-mismatch", what, fix="merge parts of one task")
    a.contract.check_mergeable(a.counts, b.counts)
    ours, theirs = a.settings.to_json(), b.settings.to_json()
    differing = [name for name in {**ours, **theirs} if theirs.get(name) != ours.get(name)]
    if differing:
        what = f"{first.called} and {other.called} were made with different settings"
        shown = "; ".join(f"{name}: {ours.get(name)} and {theirs.get(name)}" for name in differing)
        raise PlanError("tally-mismatch", what, found=shown, fix="count every part with the same settings")


def _told_apart(opened: Sequence[_Opened]) -> tuple[str, dict[Label, Tally]]:
    """One table a site, if every part has a name or is itself made of sites; merging merged parts keeps their sites."""
    named: list[tuple[Label, Tally]] = []
    for part in opened:
        if part.assessment.sites is not None:
            named += part.assessment.grouped.factors[part.assessment.sites].items()
        elif part.site is not None:
            named.append((part.site, part.assessment.counts))
        else:
            return SITE, {}
    levels = dict(named)
    if len(levels) != len(named):
        twice = [name for name in levels if sum(other == name for other, _ in named) > 1]
        what = f"two parts are called {listed(twice)}"
        raise PlanError("tally-mismatch", what, fix="give each site's rows once, and each site a name of its own")
    factor = SITE
    while any(factor in part.assessment.grouped.without(part.assessment.sites).factors for part in opened):
        factor = f"merged {factor}"  # the rows had a group of this name already
    return factor, levels


def _given_twice(opened: Sequence[_Opened]) -> tuple[str, ...]:
    """Equal tallies may be chance in tiny parts; more often one file was given twice."""
    seen: dict[str, str] = {}
    notes = []
    for part in opened:
        before = seen.setdefault(part.assessment.counts.digest(), part.called)
        if before is not part.called:
            notes.append(f"{before} and {part.called} have the same counts: were the same rows given twice?")
    return tuple(notes)
