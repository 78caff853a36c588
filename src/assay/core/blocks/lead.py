# SPDX-License-Identifier: Apache-2.0
"""What stands before the sections of a report: verdicts, remarks, and what a task says first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.core.blocks import Block, Chart


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a Record comes to, in a word; `tone` is good, bad or open."""

    sign: str
    word: str
    tone: str
    says: str = ""
    anchor: str = ""
    more: str = ""
    """What the section it leads to is called."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to know before trusting a number: a sign, a word and a sentence."""

    sign: str
    word: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassSizes:
    """The classes that a report shows one by one, with what a tally counts of each."""

    labels: Sequence[object]
    listed: Sequence[int]
    """Places of those in the table."""
    plotted: Sequence[int]
    """Places of those in charts."""
    sizes: Mapping[str, Sequence[str]]
    """By name: the size of every class as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A measure that another one must beat to be worth anything."""

    measure: str
    of: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """What a task says before its sections, and how it leads; where it says nothing, a report says what it can."""

    kind: str = ""
    """What was assessed, if not the name of the task."""
    about: str = ""
    """What stands beside the kind, such as the positive class."""
    opening: str = ""
    """The first sentence."""
    badges: tuple[Verdict, ...] = ()
    remarks: tuple[Remark, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    choices: tuple[str, ...] = ()
    """Sentences about settings that shape the numbers."""
    headline: tuple[str, ...] = ()
    """Measures that a report shows first, if not those of the task."""
    order: tuple[str, ...] = ()
    """Their order in a chart, where it is another."""
    baseline: Baseline | None = None
    of_class: tuple[str, ...] = ()
    """Measures of each class, if not those of the headline."""
    classes: ClassSizes | None = None
    not_by_group: tuple[str, ...] = ()
    """Headlines that differ between groups by themselves."""
    not_charted: tuple[str, ...] = ()
    """Headlines that say of a group what others say more plainly."""
    first: tuple[Block, ...] = ()
    """Blocks above the headline of the first screen."""
    charts: tuple[Chart, ...] | None = None
    """Charts beside it; where they are not stated, the first ones of the first sections."""
    opened: bool = True
    """Whether the numbers of the headline stand open, because not all of them share the axis of its chart."""
