# SPDX-License-Identifier: Apache-2.0
"""Requirement profiles as data: a later edition of a standard is a new file here, not new code."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from assay.core.errors import PlanError
from assay.core.text import nearest, visible
from assay.tally.base import digest

Strength = Literal["shall", "should", "should not", "can", "imperative", "limit", "definition", "illustration"]
Evidence = Literal["computed", "measured", "declared", "mixed"]

DEFAULT: Final = "ts4213-2022"
SUPPLEMENT: Final = "supplementary"
"""The file of rules that stand beside every profile and never move its verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One requirement, and what shows it."""

    id: str
    strength: Strength
    evidence: Evidence
    says: str
    when: str | None = None
    states: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    record: tuple[str, ...] = ()

    @property
    def clause(self) -> str:
        """The clause it belongs to.

        >>> [row.clause for row in profile().rows if row.id in ("R-0-1", "R-5.3.5-2", "R-A-1")]
        ['Introduction', '5.3.5', 'Annex A']
        """
        middle = self.id.split("-")[1]
        if middle == "0":
            return "Introduction"
        return f"Annex {middle}" if len(middle) == 1 and middle.isalpha() else middle


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The requirements of one edition of one document."""

    name: str
    document: str
    title: str
    rows: tuple[Row, ...]
    titles: Mapping[str, str]
    """What each clause is about."""

    def headed(self, clause: str) -> str:
        """A clause with what it is about, where the profile says it.

        >>> profile().headed("5.3.5"), profile().headed("Introduction")
        ('5.3.5 test and validation data', 'Introduction')
        """
        return f"{clause} {self.titles[clause]}" if clause in self.titles else clause


@cache
def profiles() -> tuple[str, ...]:
    """The names of the profiles there are.

    >>> profiles()
    ('ts4213-2022',)
    """
    found = (one.name for one in files(__name__).iterdir() if one.name.endswith(".toml"))
    return tuple(sorted(name.removesuffix(".toml") for name in found if name != f"{SUPPLEMENT}.toml"))


@cache
def profile(name: str = DEFAULT) -> Profile:
    """A profile by name.

    >>> len(profile().rows), len(profile("supplementary").rows)
    (147, 24)
    """
    if name not in (*profiles(), SUPPLEMENT):
        close = nearest(name, profiles())
        raise PlanError(
            "option-unknown",
            f'there is no profile "{visible(name)}"',
            known=", ".join(profiles()),
            fix=f'did you mean "{close}"?' if close else "choose one of them",
        )
    content = tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    rows = tuple(_row(one) for one in content["rows"])
    heads = content.get("titles", {})
    return Profile(name=name, document=content["document"], title=content["title"], rows=rows, titles=heads)


@cache
def catalogue(name: str = DEFAULT) -> str:
    """The digest of the rows a statement is judged by: those of a profile and of the supplement."""
    return digest([asdict(row) for part in (name, SUPPLEMENT) for row in profile(part).rows])


def _row(entry: dict[str, Any]) -> Row:
    lists = ("states", "checks", "measures", "record")
    given: dict[str, Any] = {key: tuple(value) if key in lists else value for key, value in entry.items()}
    return Row(**given)


@cache
def row_ids() -> tuple[str, ...]:
    """The ids of every row of every profile and of the supplement."""
    return tuple(row.id for name in (*profiles(), SUPPLEMENT) for row in profile(name).rows)
