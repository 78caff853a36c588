# SPDX-License-Identifier: Apache-2.0
"""What a model is held against: a reference on rows of its own, or another model on the very same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from assay.assess.decide.criteria import GroupGap
from assay.core.labels import Label
from assay.core.text import quoted
from assay.inference.estimates import Interval
from assay.inference.intervals.difference_of_two import Gap, mover
from assay.inference.intervals.proportion import normal_quantile
from assay.inference.tests.mcnemar import score_interval
from assay.measures import Measure
from assay.tally.by_group import Grouped
from assay.tally.contingency_tables import Outcomes
from assay.tally.paired.joint_cells import PairedLabels

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.core.task import Tally
    from assay.inference.estimates import Estimate

UNDEFINED: Final = "a value of one of the models is undefined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a criterion speaks of: a measure of some rows, with class and level in the data's own labels."""

    measure: Measure
    label: Label | None = None
    factor: str | None = None
    level: Label | None = None

    def of(self, assessment: Assessment) -> Estimate:
        """Its estimate."""
        if isinstance(self.measure, GroupGap):
            return self.measure.estimate(assessment)
        view = assessment if self.factor is None else assessment.by_group[self.factor][self.level]  # type: ignore[index]
        return view[self.measure.title] if self.label is None else view.by_class[self.label][self.measure.title]

    def rows(self, assessment: Assessment) -> int:
        """The rows it is computed from."""
        if self.factor is None:
            return assessment.counts.rows
        return cast("Tally", assessment.grouped.factors[self.factor][cast("Label", self.level)]).rows

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        slice_ = None if self.factor is None else {self.factor: self.level}
        return {"measure": self.measure.title, "class": self.label, "slice": slice_}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpaired:
    """A reference counted on rows of its own; nothing is known of rows both might share."""

    reference: Assessment
    name: str = "reference"
    digest: str | None = None
    """The digest of its Record, if it came as one."""
    pairing: str = "unpaired"

    def gap(self, subject: Subject, new: Assessment) -> Gap:
        """From the intervals of both."""
        if (lost := self._lost(subject)) is not None:
            return Gap(value=None, interval=None, reason=lost)
        return mover(subject.of(new), subject.of(self._alike(new)))

    def told(self, subject: Subject, new: Assessment) -> dict[str, object]:
        """Value, interval and rows of the reference."""
        if self._lost(subject) is not None:
            return {"name": self.name, "pairing": self.pairing, "value": None}
        one = subject.of(self._alike(new)).to_json()
        kept = {name: found for name, found in one.items() if name in ("value", "undefined", "low", "high", "n")}
        return {"name": self.name, "pairing": self.pairing, "rows": subject.rows(self.reference), **kept}

    def to_json(self) -> dict[str, object]:
        """Its tallies."""
        reference = self.reference
        return {
            "pairing": self.pairing,
            **reference.counts.to_json(),
            "groups": reference.grouped.to_json(),
            "stated": reference.contract.statement(reference.counts),
        }

    def facts(self) -> dict[str, object]:
        """Its name and digest."""
        return {"name": self.name, "pairing": self.pairing, **({} if self.digest is None else {"digest": self.digest})}

    def _alike(self, new: Assessment) -> Assessment:
        """The reference computed as the new one is: same level, methods and policy."""
        return self.reference.restated(new.settings)

    def _lost(self, subject: Subject) -> str | None:
        if subject.factor is not None and subject.level not in self.reference.grouped.factors.get(subject.factor, {}):
            return f"the reference has no rows with {subject.factor} = {quoted(subject.level)}"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Another model on the very same rows: the first model of the tally is the new one."""

    tally: PairedLabels
    positive: Label | None
    pairing: str = "paired"

    def gap(self, subject: Subject, new: Assessment) -> Gap:
        """From draws of the joint cells."""
        if subject.factor is not None or not subject.measure.from_labels:
            what = "groups" if subject.factor is not None else "scores" if subject.measure.from_scores else "costs"
            return Gap(value=None, interval=None, reason=f"the paired tally holds labels of all rows, no {what}")
        label, level = self.positive if subject.label is None else subject.label, new.settings.wanted.level
        rows = self._rows(subject.measure, label)
        if rows is None:
            return self._drawn(subject.measure, label, new)
        if not rows.n:
            return Gap(value=None, interval=None, reason=UNDEFINED)
        low, high = score_interval(rows, level)
        ends = Interval(low=low, high=high, level=level, method="tango score")
        return Gap(value=(rows.only_a - rows.only_b) / rows.n, interval=ends)

    def _rows(self, measure: Measure, label: Label | None) -> Outcomes | None:
        """Who is right, for measures that are shares of the same rows for both models."""
        a, b = self.tally.models
        if measure.name == "accuracy":
            return self.tally.outcomes(a, b)
        if label is None or measure.name not in ("recall", "specificity"):
            return None
        return self.tally.found(a, b, label) if measure.name == "recall" else self.tally.left_out(a, b, label)

    def _drawn(self, measure: Measure, label: Label | None, new: Assessment) -> Gap:
        from assay.inference.units.class_score_units import judge_units

        wanted, joint = new.settings.wanted, judge_units(self.tally, measure, label)
        effect, _ = joint.effect(wanted.level, wanted.draws, wanted.seed, stratified=False)
        if not isinstance(effect.value, (int, float)):
            return Gap(value=None, interval=None, reason=UNDEFINED)
        if not joint.disputed:
            # As far as the score interval of the rarest class reaches where no row is in dispute.
            classes = [int(self.tally.count[self.tally.truth == i].sum()) for i in range(len(self.tally.labels))]
            z2 = normal_quantile((1 + wanted.level) / 2) ** 2
            reach = z2 / (min(n for n in classes if n) + z2)
            ends = Interval(low=-reach, high=reach, level=wanted.level, method="score, no row in dispute")
            return Gap(value=0.0, interval=ends)
        return Gap(value=float(effect.value), interval=effect.interval, reason=effect.no_interval or None)

    def told(self, subject: Subject, new: Assessment) -> dict[str, object]:
        """Value and rows of the other model."""
        from assay.tasks.classification.estimates import View
        from assay.tasks.classification.tally import Classified

        other = Classified(confusion=self.tally.confusion(self.tally.models[1]), positive=self.positive)
        view = View(other, new.settings)
        about = {"name": self.tally.models[1], "pairing": self.pairing, "rows": self.tally.n}
        if subject.factor is not None or not subject.measure.from_labels:
            return {**about, "value": None}
        one = replace(subject, factor=None, level=None).of(view).to_json()  # type: ignore[arg-type]
        return {**about, **{name: one[name] for name in ("value", "undefined") if name in one}}

    def to_json(self) -> dict[str, object]:
        """The paired tally."""
        return {"pairing": self.pairing, "paired": self.tally.to_json()}

    def facts(self) -> dict[str, object]:
        """The names of both models."""
        return {"name": self.tally.models[1], "pairing": self.pairing}


Against: TypeAlias = Unpaired | Paired
"""What can say how far a model lies above something else."""


def against_from_json(content: Mapping[str, Any], facts: Mapping[str, Any], new: Assessment) -> Against:
    """The inverse of `to_json`."""
    if content["pairing"] == "paired":
        return Paired(tally=PairedLabels.from_json(content["paired"]), positive=new.positive)
    contract, stated = new.contract, content["stated"]
    tally, found_in = contract.read_tally(content, stated), {"python": ""}
    grouped = Grouped.from_json(content["groups"], lambda level: contract.read_tally(level, stated))
    reference = type(new)(contract, tally, new.settings, census=new.census, grouped=grouped, found_in=found_in)
    return Unpaired(reference=reference, name=str(facts["name"]), digest=facts.get("digest"))
