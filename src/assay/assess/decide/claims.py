# SPDX-License-Identifier: Apache-2.0
"""Claims of a plan, answered: supported, contradicted or not decidable, all claims about one test set as a family.

A claim is supported where the whole interval of the value, or of the difference, lies on its side, and contradicted
where the whole interval lies on the other side. Levels are those of Holm's procedure over the family.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from assay.assess.decide.criteria import Criterion, Verdict, criterion, limit_shown, spoken_of
from assay.assess.decide.decision import Judge, Needed, ends_to_json, expanded, feasible
from assay.assess.decide.references import Paired, Subject, Unpaired
from assay.core.errors import PlanError
from assay.core.text import listed, quoted
from assay.core.traits import HIGHER
from assay.inference.estimates import Interval, real_to_json
from assay.inference.intervals.difference_of_two import Gap
from assay.inference.multiplicity import stepped
from assay.inference.power import times_the_rows
from assay.tally.base import count_to_json
from assay.tally.scores.ranked_table import Ranked

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.plan.fields import Claim as Section
    from assay.inference.findings import Finding
    from assay.tally.paired.joint_cells import PairedLabels
    from assay.tally.paired.joint_scores import PairedScores
    from assay.tally.paired.per_unit import PerUnit

COUNTERPARTS: Final = {
    "recall": ("precision", "specificity"),
    "precision": ("recall",),
    "specificity": ("recall",),
    "negative_predictive_value": ("specificity",),
}
"""What each of these says nothing about is told beside it (TS 4213, 6.2.4)."""


class Relation(StrEnum):
    """What is claimed of a value."""

    AT_LEAST = "at least"
    AT_MOST = "at most"
    NOT_WORSE = "not worse"
    BETTER = "better"
    EQUIVALENT = "equivalent"


class Answer(StrEnum):
    """What came of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    OPEN = "not decidable"


BY_VERDICT: Final = dict(zip(Verdict, Answer, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim, read."""

    model: str
    of: Criterion
    """The measure and the rows it speaks of; its own limit says nothing."""
    relation: Relation
    limit: float
    """The number, or the margin of a difference."""
    reference: str | None = None
    about: str | None = None
    words: str | None = None

    def __str__(self) -> str:
        """In one line."""
        of, limit = self.of.of, limit_shown(self.limit)
        if self.reference is None:
            return f"{of} of {self.model} is {self.relation} {limit}"
        if self.relation is Relation.EQUIVALENT:
            return f"{self.model} and {self.reference} are equivalent in {of}, margin {limit}"
        if self.relation is Relation.BETTER:
            by = f" by more than {limit}" if self.limit else ""
            return f"{self.model} is better than {self.reference} in {of}{by}"
        by = f", margin {limit}" if self.limit else ""
        return f"{self.model} is at least as good as {self.reference} in {of}{by}"

    def to_json(self) -> dict[str, object]:
        """As in the plan of a Record."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        return content | {"of": self.of.of, "relation": str(self.relation)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Claim:
        """The inverse of `to_json`."""
        typed = {"of": spoken_of(content["of"]), "relation": Relation(content["relation"])}
        return cls(**{field.name: content[field.name] for field in fields(cls)} | typed)

    @classmethod
    def of_plan(cls, section: Section) -> Claim:
        """A claim as a plan states it."""
        margin = float(section.margin or 0.0)
        named: dict[Relation, object] = {
            Relation.NOT_WORSE if isinstance(section.at_least, str) else Relation.AT_LEAST: section.at_least,
            Relation.AT_MOST: section.at_most,
            Relation.BETTER: section.better_than,
            Relation.EQUIVALENT: section.equivalent_to,
        }
        relation, given = next((one, given) for one, given in named.items() if given is not None)
        other = given if isinstance(given, str) else None
        return cls(
            model=section.model,
            of=spoken_of(section.measure),
            relation=relation,
            limit=margin if other is not None else float(given),  # type: ignore[arg-type]
            reference=other,
            about=section.about,
            words=section.words,
        )

    def criterion(self) -> Criterion:
        """A claim about a number as the criterion it is."""
        side = ">=" if self.relation is Relation.AT_LEAST else "<="
        return criterion(f"{self.of.of} {side} {limit_shown(self.limit)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A claim with its answer and what it rests on."""

    claim: Claim
    subject: Subject
    answer: Answer
    why: str
    value: float | None
    gap: Gap | None = None
    interval: Interval | None = None
    """Of the value, or of the difference where another model is named."""
    pairing: str | None = None
    reference_value: float | None = None
    n: int | str
    by_class: Mapping[str, str]
    beside: Mapping[str, float | None]
    risk: float
    family: int
    needed: Needed | None = None

    def to_json(self) -> dict[str, Any]:
        """As in a Record."""
        claim = self.claim.to_json()
        return {
            "claim": str(self.claim),
            "words": claim["words"],
            "model": claim["model"],
            **self.subject.to_json(),
            **{name: claim[name] for name in ("relation", "limit", "reference", "about")},
            "answer": str(self.answer),
            "why": self.why,
            "value": _real(self.value),
            "reference_value": _real(self.reference_value),
            "difference": None if self.gap is None else _real(self.gap.value),
            **ends_to_json(self.interval),
            "pairing": self.pairing,
            "n": self.n,
            "n_by_class": dict(self.by_class),
            "beside": {name: _real(value) for name, value in self.beside.items()},
            "risk": self.risk,
            "family": self.family,
            "needed": None if self.needed is None else self.needed.to_json(),
        }


def _real(value: float | None) -> object:
    return None if value is None else real_to_json(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contenders:
    """Every model on one test set, and what is known of the rows they share."""

    models: Mapping[str, Assessment]
    paired: PairedLabels | None = None
    scores: PairedScores | None = None
    rows: PerUnit | None = None
    """Rows of subjects, or with weights: the same rows, but not one by one."""

    def gap(self, claim: Claim, subject: Subject, at: Assessment) -> tuple[Gap, str]:
        """How far a model lies above its reference, and whether the same rows were compared."""
        model, other, level = claim.model, str(claim.reference), at.settings.wanted.level
        whole = subject.factor is None
        if whole and self.rows is not None and (found := self._by_units(claim, subject, at)) is not None:
            return found, "paired"
        known = self.paired is not None and {model, other} <= set(self.paired.models)
        if known and whole and not subject.measure.from_scores:
            tally = self.paired.only(model, other)  # type: ignore[union-attr]
            return Paired(tally=tally, positive=at.positive).gap(subject, at), "paired"
        scored = self.scores is not None and {model, other} <= set(self.scores.models)
        own = subject.label is None or subject.label == at.positive
        if scored and whole and own and subject.measure.name == "auroc":
            from assay.inference.tests.auc_beyond_delong import judged_areas

            two = self.scores.only(model, other)  # type: ignore[union-attr]
            if (gap := _gap_of(judged_areas(two, level))) is not None:
                return gap, "paired"
        return Unpaired(reference=self.models[other]).gap(subject, at), "unpaired"

    def _by_units(self, claim: Claim, subject: Subject, at: Assessment) -> Gap | None:
        """The difference with subjects, or weighted rows, as the units drawn; None where it has no interval."""
        from assay.inference.decision_words import MANY_UNITS
        from assay.inference.units.permutation_and_bootstrap import (
            subject_permutation,
            unit_z,
            weighted_permutation,
        )

        tally = cast("PerUnit", self.rows).only(claim.model, str(claim.reference))
        takes, wanted = subject.measure.takes, at.settings.wanted
        label = at.positive if subject.label is None else subject.label
        ways: dict[str, Any] = {"measure": subject.measure, "positive": label, "level": wanted.level}
        fits = tally.scores is not None if takes is Ranked else tally.calls is not None and subject.measure.from_labels
        test = unit_z
        if tally.units <= MANY_UNITS:
            test = weighted_permutation if tally.subject is None else subject_permutation
            ways |= {"draws": wanted.draws, "seed": wanted.seed}
        return _gap_of(test(tally, **ways)) if fits else None


def _gap_of(finding: Finding) -> Gap | None:
    """The effect of a test as a difference; None where it has no interval."""
    effect = finding.effect
    if not isinstance(effect.value, (int, float)) or effect.interval is None:
        return None
    return Gap(value=float(effect.value), interval=effect.interval)


def answered(claims: Sequence[Claim], of: Contenders, correction: str = "holm") -> tuple[Answered, ...]:
    """Answer every claim; all of them are one family."""
    asked = [
        (replace(claim, of=one), subject)
        for claim in claims
        for one, subject in expanded(_contender(claim.model, claim, of), claim.of)
    ]
    for claim, _ in asked:
        if claim.reference is not None:
            _contender(claim.reference, claim, of)
    if not asked:
        return ()

    def judge(level: float, open_: Sequence[int]) -> dict[int, Answered]:
        here = replace(of, models={name: one.at_level(level) for name, one in of.models.items()})
        return {place: _answer(*asked[place], here, len(asked)) for place in open_}

    level = of.models[asked[0][0].model].settings.wanted.level
    answers = stepped(range(len(asked)), level, correction, judge, lambda one: one.answer is not Answer.OPEN)
    return tuple(answers[place] for place in range(len(asked)))


def _contender(name: str, claim: Claim, of: Contenders) -> Assessment:
    if name not in of.models:
        what, fix = f"nothing was counted of the model {quoted(name)}", "name a model with predictions"
        raise PlanError("label-not-declared", what, where=f'claim "{claim}"', known=listed(of.models), fix=fix)
    return of.models[name]


def _answer(claim: Claim, subject: Subject, of: Contenders, family: int) -> Answered:
    """The answer to one claim at the level of its contenders."""
    at = of.models[claim.model]
    answer = partial(_answered, claim, subject, at, family)
    if claim.reference is None:
        decision = Judge(at, None, family, claim.criterion(), subject).decided()
        verdict, ends = BY_VERDICT[decision.verdict], decision.interval
        return answer(answer=verdict, why=decision.why, needed=decision.needed, interval=ends)
    gap, pairing = of.gap(claim, subject, at)
    answer = partial(answer, gap=gap, pairing=pairing)
    if gap.value is None or gap.interval is None:
        return answer(answer=Answer.OPEN, why=str(gap.reason))
    ends, sign = gap.interval, 1 if subject.measure.better is HIGHER else -1
    low, high = sorted((sign * ends.low, sign * ends.high))
    placed, why = _placed(claim, low, high)
    at_level = f"({ends.low:+.3f} to {ends.high:+.3f} at {100 * ends.level:.4g} %)"
    return answer(
        answer=placed,
        why=f"{why}: {pairing} difference {gap.value:+.3f} {at_level}",
        interval=ends,
        reference_value=subject.of(of.models[claim.reference]).value,
        needed=_needed(claim, subject, at, (low, sign * gap.value, high), pairing) if placed is Answer.OPEN else None,
    )


def _needed(claim: Claim, subject: Subject, at: Assessment, ends: tuple[float, float, float], pairing: str) -> Needed:
    """Rows that would decide, if the true difference is the one seen, which stands between the ends."""
    (low, seen, high), rows, margin = ends, subject.rows(at), claim.limit
    edges = {Relation.EQUIVALENT: (-margin, margin), Relation.BETTER: (margin,)}.get(claim.relation, (-margin,))
    away = min(abs(seen - edge) for edge in edges)
    if not away:
        return Needed(rows=None, now=rows, why="the difference lies at the margin: no number of rows decides that")
    times = times_the_rows(max(seen - low, high - seen), away, at.settings.wanted.level)
    where = "" if pairing == "paired" else ", and of the other model as many times more"
    return feasible(rows * times, rows, f"if the true difference is the one seen{where}")


def _answered(claim: Claim, subject: Subject, at: Assessment, family: int, **content: Any) -> Answered:  # noqa: ANN401
    """An answer with what is told beside each: rows by class, and what the measure says nothing about."""
    estimate = subject.of(at)
    rows = at if subject.factor is None else at.by_group[subject.factor][subject.level]  # type: ignore[index]
    others = COUNTERPARTS.get(subject.measure.name, ())
    return Answered(
        claim=claim,
        subject=subject,
        value=estimate.value,
        n=count_to_json(estimate.n),
        by_class=rows.class_sizes(),
        beside={name: replace(subject, measure=spoken_of(name).measure).of(at).value for name in others},
        risk=round((1 - at.settings.wanted.level) / 2, 12),
        family=family,
        **content,
    )


def _placed(claim: Claim, low: float, high: float) -> tuple[Answer, str]:
    """Where an interval of "better by" lies; what is claimed is a half-line, or what lies between two margins."""
    margin = claim.limit
    if claim.relation is Relation.EQUIVALENT:
        if -margin < low and high < margin:
            return Answer.SUPPORTED, "the whole interval is within the margin"
        if low > margin or high < -margin:
            return Answer.CONTRADICTED, "the whole interval is beyond the margin"
        return Answer.OPEN, "the margin is inside the interval"
    edge = margin if claim.relation is Relation.BETTER else -margin
    if low > edge:
        return Answer.SUPPORTED, "the whole interval is on the claimed side"
    if high < edge:
        return Answer.CONTRADICTED, "the whole interval is on the other side"
    return Answer.OPEN, "neither side is shown"
