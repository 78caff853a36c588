# SPDX-License-Identifier: Apache-2.0
"""How a control is declared: the function looks, the decorator says what for, for which clause, and when it passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from assay.core.traits import Source

if TYPE_CHECKING:
    from assay.assess.controls.evidence import Inquiry

Verdict = Literal["pass", "fail", "suspect", "declared", "no-evidence", "n/a"]
Scope = Literal["plan", "assessment"]
Facts: TypeAlias = Mapping[str, Any]

WORST: Final[tuple[Verdict, ...]] = ("fail", "suspect", "no-evidence", "declared", "pass", "n/a")
"""From worst to best; the worst part decides a whole."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a control found; `part` tells several answers of one control apart."""

    verdict: Verdict
    says: str
    part: str = ""
    facts: Facts = field(default_factory=dict)
    thresholds: Facts = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)


def no_evidence(says: str, **more: Any) -> Outcome:  # noqa: ANN401  the other fields
    """The outcome of a control that had nothing to look at."""
    return Outcome("no-evidence", says, **more)


Look: TypeAlias = "Callable[[Inquiry], Iterable[Outcome]]"
Found: TypeAlias = "Callable[[Inquiry], Outcome | Iterable[Outcome]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One declared control."""

    id: str
    looks_for: str
    clause: Source
    passes_when: str
    look: Look
    scope: Scope = "plan"
    """Whether it looks at a plan as a whole or at each assessment."""
    version: str = "1"
    parts: tuple[str, ...] = ()
    """Answers of their own, beside the one on the whole."""
    lacks: str = ""
    """What an assessment may lack, so that a plan can state that there is nothing to look at."""
    of_classes: bool = False
    """Whether it looks at classes, which other tasks do not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An outcome with the control it came from and the time."""

    control: Control
    outcome: Outcome
    at: str

    @property
    def name(self) -> str:
        """How requirement rows call it."""
        return f"{self.control.id}:{self.outcome.part}" if self.outcome.part else self.control.id

    def to_json(self) -> dict[str, Any]:
        """As in a Record."""
        outcome = self.outcome
        return {
            "check": self.control.id,
            "part": outcome.part or None,
            "version": self.control.version,
            "verdict": outcome.verdict,
            "says": outcome.says,
            "facts": _plain(outcome.facts),
            "thresholds": _plain(outcome.thresholds),
            "inputs": dict(outcome.inputs),
            "at": self.at,
        }


def _plain(value: Any) -> Any:  # noqa: ANN401  facts of any shape
    """Facts as JSON keeps them, so that a Record equals itself after being read again."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "inf" if value > 0 else "-inf" if value < 0 else None
    return value


CONTROLS: dict[str, Control] = {}
"""Every declared control by id."""


def control(id: str, **traits: Any) -> Callable[[Found], Found]:  # noqa: ANN401  fields of Control
    """Declare a control by the fields of `Control`; the function that it decorates looks."""

    def declared(look: Found) -> Found:
        def outcomes(inquiry: Inquiry) -> Iterable[Outcome]:
            found = look(inquiry)
            return [found] if isinstance(found, Outcome) else found

        if id in CONTROLS:
            msg = f"control {id} is declared twice"
            raise ValueError(msg)
        CONTROLS[id] = Control(id=id, look=outcomes, **traits)
        return look

    return declared


def run_controls(inquiry: Inquiry, scope: Scope, only: Collection[str] = ()) -> Iterator[Checked]:
    """Run every control of a scope, or only some of them."""
    for own in CONTROLS.values():
        if own.scope == scope and (not only or own.id in only):
            found = _unasked(own, inquiry) if own.of_classes and inquiry.other_task else own.look(inquiry)
            for outcome in found:
                at = datetime.now(tz=UTC).isoformat(timespec="milliseconds")
                yield Checked(control=own, outcome=outcome, at=at)


def _unasked(own: Control, inquiry: Inquiry) -> list[Outcome]:
    """What a control of classes says of another task, for itself and each of its parts."""
    says = f"it looks at classes of one label a row; this is {inquiry.kind}"
    return [Outcome(part=part, verdict="n/a", says=says) for part in ("", *own.parts)]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a whole from those of its parts.

    >>> worst(["pass", "no-evidence"]), worst(["pass", "n/a"]), worst(["n/a"])
    ('no-evidence', 'pass', 'n/a')
    """
    return min(verdicts, key=WORST.index)
