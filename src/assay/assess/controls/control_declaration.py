# SPDX-License-Identifier: Apache-2.0
"""What a control is, what it may look at, and what it finds; clauses/controls.toml declares each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from assay.assess.conformity.clauses import control_traits
from assay.assess.conformity.plan_sources import PlanFiles
from assay.assess.plan.checked_plan import LoadedPlan, stated
from assay.assess.plan.plan_answers import answer, channel_columns, splits_of
from assay.core.task import find_task
from assay.core.traits import TS4213, Source
from assay.measures import REGISTRY, Measure
from assay.tasks.task_settings import choose_measures

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.conformity.ledger import Access
    from assay.assess.conformity.plan_run import Contest
    from assay.assess.conformity.plan_sources import MadeHere
    from assay.assess.plan.fields import Plan
    from assay.assess.plan.section_fields import Model
    from assay.core.registry import Registry
    from assay.tally.data.split_counts import SplitRows

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


def settle(*cases: tuple[object, Verdict, str], **more: Any) -> Outcome:  # noqa: ANN401  the other fields
    """The outcome of the first case that holds.

    >>> settle((0, "fail", "no row is repeated"), (True, "pass", "all is well")).says
    'all is well'
    """
    return next(Outcome(verdict, says, **more) for holds, verdict, says in cases if holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A fingerprint of the machine at a moment."""

    name: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry(PlanFiles):
    """Everything a control may look at; what is not there is None or empty, and counts as no evidence."""

    loaded: LoadedPlan
    frozen_at: str = ""
    model: str = ""
    split: str = ""
    assessment: Assessment | None = None
    estimates: tuple[Mapping[str, Any], ...] = ()
    findings: tuple[Mapping[str, Any], ...] = ()
    points: tuple[Mapping[str, Any], ...] = ()
    claims: tuple[Mapping[str, Any], ...] = ()
    not_compared: str | None = None
    """Why the models of the plan were not compared."""
    counted_at: str = ""
    moments: tuple[Moment, ...] = ()
    artefacts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    assessments: Mapping[tuple[str, str], Assessment] = field(default_factory=dict)
    contests: Mapping[str, Contest] = field(default_factory=dict)
    ledger: tuple[Mapping[str, Any], ...] | None = None
    """The entries of the ledger that the plan names."""
    access: Access | None = None
    """What the ledger of the plan tells of the plan and of looks at the test data."""
    ran_here: bool = False
    """Whether every answer was made here, by the command of the plan."""
    made: Mapping[tuple[str, str], MadeHere] = field(default_factory=dict)
    """By model and test split: the run that made its answers."""

    @property
    def plan(self) -> Plan:
        """The declared fields."""
        return self.loaded.plan

    @property
    def kind(self) -> str | None:
        """The task as found, else as declared: a declaration that the data contradict is judged by its own row."""
        if self.assessment is None:
            return self.plan.task.type
        known = getattr(self.assessment, "task", None)
        return str(self.assessment.contract.variant(self.assessment.counts) if known is None else known)

    @property
    def other_task(self) -> bool:
        """Whether samples do not have one label each."""
        return self.kind not in (None, "binary", "multiclass")

    def planned(self) -> tuple[Measure, ...]:
        """The measures that the plan chooses, of whatever task; none where it chooses none."""
        return self.named(self.plan.metrics.measures)

    def named(self, names: Sequence[str] | str | None) -> tuple[Measure, ...]:
        """Measures of the task by name or family."""
        registry = REGISTRY if self.kind is None or not self.other_task else find_task(self.kind).registry
        return choose_measures(names, cast("Registry[Measure]", registry)) or ()

    def says(self, path: str) -> bool:
        """Whether the plan answers a path, and somebody stands behind it."""
        return self.loaded.signed and answer(self.loaded, path).whole

    def signed(self, value: object) -> bool:
        """Whether a value says something, and somebody stands behind it."""
        return self.loaded.signed and stated(value)

    def of_role(self, role: str) -> dict[str, SplitRows]:
        """The opened splits that play a role."""
        return {name: self.splits[name] for name in splits_of(self.loaded, role) if name in self.splits}

    def digests(self, *names: str) -> dict[str, str]:
        """Digests of some splits, by name."""
        return {name: self.splits[name].sha256 for name in names if name in self.splits}

    def trained(self) -> dict[str, Model]:
        """The models of the plan that were trained."""
        return {name: one for name, one in self.plan.models.items() if one.kind == "model"}

    def channels(self) -> dict[str, str]:
        """Channel columns, by what they are called."""
        return channel_columns(self.plan)


Look: TypeAlias = Callable[[Inquiry], Iterable[Outcome]]
Found: TypeAlias = Callable[[Inquiry], Outcome | Iterable[Outcome]]


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
    parts: Sequence[str] = ()
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


def control(id: str) -> Callable[[Found], Found]:
    """Make a function a control of the table of controls; its docstring tells what it looks for."""

    def declared(look: Found) -> Found:
        def outcomes(inquiry: Inquiry) -> Iterable[Outcome]:
            found = look(inquiry)
            return [found] if isinstance(found, Outcome) else found

        if id in CONTROLS:
            msg = f"control {id} is declared twice"
            raise ValueError(msg)
        looks_for = str(look.__doc__).removeprefix("Looks for ").removesuffix(".")
        traits = {**control_traits()[id], "clause": TS4213(control_traits()[id]["clause"])}
        CONTROLS[id] = Control(id=id, looks_for=looks_for, look=outcomes, **traits)
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
