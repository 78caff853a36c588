# SPDX-License-Identifier: Apache-2.0
"""The criteria of group fairness, each declared once in `fairness_criteria.toml`.

Equality of the statistics over groups is the criterion. How far groups are apart is worked out in `gaps`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal

from assay.core.errors import PlanError, unknown_choice
from assay.core.registry import folded
from assay.core.text import visible
from assay.core.traits import FUND, Source

SOURCE: Final = FUND("fairness")
From = Literal["counts", "scores", "strata", "statement"]
FOUR_FIFTHS: Final = 0.8
"""The four-fifths rule: the lowest selection rate is at least 80 % of the highest (29 CFR 1607.4 D)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """What is equal in every group where a criterion holds."""

    name: str
    spec: str
    also: tuple[str, ...] = ()
    says: str
    statistics: Mapping[str, str]
    """Of one group, by name, with what each is a share of; the criterion asks for the equality of all of them."""
    needs: From = "counts"
    complement: str = ""
    """The criterion that says the same with one minus the statistic; it is not tested twice."""
    errata: tuple[str, ...] = ()
    source: Source = SOURCE


def _read_criteria() -> tuple[Criterion, ...]:
    text = files("assay.fairness").joinpath("fairness_criteria.toml").read_text(encoding="utf-8")
    lists = ("also", "errata")
    entries = tomllib.loads(text)["criterion"]
    return tuple(Criterion(**{**entry, **{name: tuple(entry.get(name, ())) for name in lists}}) for entry in entries)


CRITERIA: Final = _read_criteria()


def find_criterion(name: str) -> Criterion | None:
    """The criterion of a name or alias; None where it is none."""
    for criterion in CRITERIA:
        if folded(name) in map(folded, (criterion.name, *criterion.also)):
            return criterion
    return None


def refuse_criterion(name: str) -> PlanError:
    """The error of a name that is neither a criterion nor `gap(...)` or `ratio(...)`."""
    names = [criterion.name for criterion in CRITERIA]
    known = ", ".join([*names, "four_fifths", "gap(measure)", "ratio(measure)"])
    return unknown_choice(name, names, f'there is no fairness criterion "{visible(name)}"', known=known)
