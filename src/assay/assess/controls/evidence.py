# SPDX-License-Identifier: Apache-2.0
"""What controls may look at: the plan, the assessments, the opened data sets, the machine before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from assay.assess.conformity.plan_sources import PlanFiles
from assay.assess.plan.checked_plan import LoadedPlan, stated
from assay.assess.plan.plan_answers import answer, channel_columns, splits_of
from assay.core.task import find_task
from assay.measures import REGISTRY, Measure
from assay.tasks.task_settings import choose_measures

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.conformity.ledger import Access
    from assay.assess.conformity.plan_contests import Contest
    from assay.assess.conformity.plan_predictions import MadeHere
    from assay.assess.plan.fields import Plan
    from assay.assess.plan.model_fields import Model
    from assay.core.registry import Registry
    from assay.tally.data.split_counts import SplitRows


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
