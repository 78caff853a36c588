# SPDX-License-Identifier: Apache-2.0
"""Requirement profiles as data: a later edition of a standard is a new file here, not new code.

Every name in a file stands in a registry: conditions, plan fields, controls, measures, tests. A test of this package
looks each of them up, so that no row can be met, or lie dead, by a misspelling.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from assay.core.errors import unknown_choice
from assay.core.text import visible
from assay.tally.base import digest

Strength = Literal["shall", "should", "should not", "can", "imperative", "limit", "definition", "illustration"]
Evidence = Literal["computed", "measured", "declared", "mixed"]

DEFAULT: Final = "ts4213-2022"
SUPPLEMENT: Final = "supplementary"
"""The file of rules that stand beside every profile and never move its verdict."""
CONTROLS: Final = "controls"
"""The file that declares controls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """What must be the case for a row to apply: conditions that all hold, and a test that is made or planned."""

    conditions: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    """Names of declared tests; one of them is enough."""

    def __str__(self) -> str:
        """In words."""
        return " and ".join([*self.conditions, *([f"a test of {', '.join(self.tests)}"] if self.tests else [])])


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDemand:
    """A control that must pass, or one of its answers; `looked` asks only that it looked, whatever it found."""

    id: str
    part: str = ""
    looked: bool = False

    @property
    def name(self) -> str:
        """How a Record calls it."""
        return f"{self.id}:{self.part}" if self.part else self.id

    def __str__(self) -> str:
        """As in the file."""
        return f"{self.name}?" if self.looked else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class TestDemand:
    """What is asked of tests: of some by name, or of all that were made where none are named."""

    asks: tuple[str, ...]
    of: tuple[str, ...] = ()

    def __str__(self) -> str:
        """In words."""
        return f"{', '.join(self.asks)} ({', '.join(self.of) or 'every test'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One requirement, and what shows it."""

    id: str
    strength: Strength
    evidence: Evidence
    says: str
    when: When | None = None
    states: tuple[str, ...] = ()
    checks: tuple[CheckDemand, ...] = ()
    measures: tuple[tuple[str, ...], ...] = ()
    tests: TestDemand | None = None
    record: tuple[str, ...] = ()
    lacks: str = ""
    """What an assessment may lack, so that a plan can state that the row does not apply."""

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
    names = {one.name.removesuffix(".toml") for one in files(__name__).iterdir() if one.name.endswith(".toml")}
    return tuple(sorted(names - {SUPPLEMENT, CONTROLS}))


@cache
def profile(name: str = DEFAULT) -> Profile:
    """A profile by name.

    >>> len(profile().rows), len(profile("supplementary").rows)
    (147, 24)
    """
    if name not in (*profiles(), SUPPLEMENT):
        raise unknown_choice(name, profiles(), f'there is no profile "{visible(name)}"')
    content = _content(name)
    rows = tuple(_row(one) for one in content["rows"])
    heads = content.get("titles", {})
    return Profile(name=name, document=content["document"], title=content["title"], rows=rows, titles=heads)


def _content(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def control_traits() -> dict[str, dict[str, Any]]:
    """What is declared of every control, by its id."""
    return _content(CONTROLS)


@cache
def catalogue(name: str = DEFAULT) -> str:
    """The digest of the rows a statement is judged by: those of a profile and of the supplement."""
    return digest([asdict(row) for part in (name, SUPPLEMENT) for row in profile(part).rows])


def _row(entry: dict[str, Any]) -> Row:
    """A row of a file, names of tests resolved."""
    when = entry.get("when")
    if when is not None:
        named = when if isinstance(when, dict) else {"conditions": [when] if isinstance(when, str) else when}
        when = When(conditions=tuple(named.get("conditions", ())), tests=tuple(named.get("tests", ())))
    asked = entry.get("tests")
    return Row(
        **{name: entry[name] for name in ("id", "strength", "evidence", "says")},
        lacks=entry.get("lacks", ""),
        when=when,
        states=tuple(entry.get("states", ())),
        checks=tuple(_check(text) for text in entry.get("checks", ())),
        measures=tuple(tuple(text.split("|")) for text in entry.get("measures", ())),
        tests=None if asked is None else TestDemand(asks=tuple(asked["asks"]), of=tuple(asked.get("of", ()))),
        record=tuple(entry.get("record", ())),
    )


def _check(text: str) -> CheckDemand:
    name, _, part = text.removesuffix("?").partition(":")
    return CheckDemand(id=name, part=part, looked=text.endswith("?"))


@cache
def row_ids() -> tuple[str, ...]:
    """The ids of every row of every profile and of the supplement."""
    return tuple(row.id for name in (*profiles(), SUPPLEMENT) for row in profile(name).rows)


@cache
def may_lack() -> dict[str, str]:
    """Rows and controls that a plan may state away, and what an assessment may lack for each."""
    rows = [row for name in (*profiles(), SUPPLEMENT) for row in profile(name).rows if row.strength != "shall"]
    named = {row.id: row.lacks or str(row.when) for row in rows if row.lacks or row.when is not None}
    return named | {name: str(own["lacks"]) for name, own in control_traits().items() if "lacks" in own}
