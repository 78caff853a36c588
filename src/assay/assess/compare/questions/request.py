# SPDX-License-Identifier: Apache-2.0
"""What a comparison is asked, how the table is consulted, and what an answer holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, Final, cast

from assay.assess.arguments import IntervalSettings, TestSettings
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.inference.choose_test import Choice, choose, insist
from assay.inference.decision_words import Facts, Kind, Question
from assay.inference.declare import Significance
from assay.inference.findings import Finding
from assay.inference.multiplicity import adjusted, correction
from assay.inference.resampling import SEED
from assay.inference.units.permutation_and_bootstrap import DRAWS
from assay.measures.declare import Measure
from assay.tasks.classification.cost_matrix import Costs

READ_BY: Final = ("independent", "pairing", "channel")
"""Settings that say how rows are read; they end with the reading, and a Record tells them by its data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(TestSettings):
    """What a comparison was asked to do; all of it is written into the Record."""

    level: float = 0.95
    draws: int = DRAWS
    seed: int = SEED
    rows: int = 0
    """Rows of the data set that values were resampled from; 0 where it is not stated."""
    lower_is_better: bool = False
    """Whether a smaller value is better, where values are compared."""
    measures: tuple[Measure, ...] = ()
    costs: Costs | None = None
    """What each mistake costs, where it is stated."""

    def __post_init__(self) -> None:
        """Only corrections that exist."""
        object.__setattr__(self, "correction", correction(self.correction))

    @classmethod
    def of(cls, level: float, intervals: IntervalSettings, tests: TestSettings, **more: Any) -> Asked:  # noqa: ANN401
        """Return what settings ask for; `more` are further fields."""
        intervals.wanted(level)  # the same checks as for an assessment
        draws = DRAWS if intervals.draws is None else intervals.draws
        stated = {field.name: getattr(tests, field.name) for field in fields(tests) if field.name not in READ_BY}
        return cls(level=level, seed=intervals.seed, draws=draws, **stated, **more)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        apart = (*READ_BY, "measures", "costs")
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in apart}
        costs = {} if self.costs is None else {"costs": self.costs.to_json()}
        return {**plain, "measures": [one.title for one in self.measures], **costs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One question: why its test was chosen, what it found, and what else was asked in the same family."""

    question: str
    kind: Kind
    choice: Choice
    findings: tuple[Finding, ...]
    family: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As in a Record; the findings stand beside, in the same order."""
        return {
            "question": self.question,
            "values": str(self.kind),
            **self.choice.to_json(),
            "family": list(self.family),
            "findings": len(self.findings),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A way to ask the table, with or without a test that somebody insists on."""

    asked: Asked
    kind: Kind
    models: int

    def choice(self, question: Question, facts: Facts, *, free: bool = False) -> Choice:
        """The row of the table, or the test that was named; `free` questions are asked beside it."""
        if self.asked.test is None or free:
            return choose(self.kind, self.models, question, facts)
        how = {name: getattr(self.asked, name) for name in ("because", "override", "accept_dependence")}
        return insist(self.asked.test, self.kind, self.models, question, facts, **how)

    def run(self, test: Significance, tally: object, choice: Choice, **more: object) -> tuple[Finding, ...]:
        """Run a test on a tally with as much of what was asked as it takes."""
        asked = self.asked
        given = {name: getattr(asked, name) for name in ("level", "draws", "seed", "stratified", "margin")}
        given |= {"costs": None if asked.costs is None else asked.costs.cells, **more}
        fitting = {name: value for name, value in given.items() if name in test.parameters and value is not None}
        found = test.pairs(tally, **fitting)
        why, label = choice.why, choice.label
        return tuple(one.said(chosen=why, label=label, notes=(*one.notes, *one.note_disagreement())) for one in found)

    def by_pair(
        self, t: Any, choice: Choice, measures: Sequence[Measure | str | None] = (None,),  # noqa: ANN401  a paired tally
        pairs: Sequence[tuple[str, str]] | None = None, positive: Label | None = None,
    ) -> list[Finding]:  # fmt: skip
        """What the chosen test finds by each of some measures for every two models."""
        pairs = list(combinations(t.models, 2)) if pairs is None else pairs
        return [
            finding
            for measure in measures
            for pair in pairs
            for finding in self.run(test_of(choice), t.only(*pair), choice, measure=measure, positive=positive)
        ]

    def answer(self, question: str, choice: Choice, findings: Sequence[Finding], family: Sequence[str] = ()) -> Answer:
        """The answer whose findings are one family, and are corrected together."""
        corrected = tuple(adjusted(findings, self.asked.correction))
        return Answer(question=question, kind=self.kind, choice=choice, findings=corrected, family=tuple(family))

    def unanswered(self, question: str, choice: Choice) -> Answer:
        """The answer where the table gives no test: why."""
        return Answer(question=question, kind=self.kind, choice=choice, findings=(), notes=(choice.why,))

    def margins(
        self, tally: object, facts: Facts, about: Sequence[str | None] = (None,), positive: Label | None = None
    ) -> list[Answer]:
        """Whether the first model is good enough, by each of some measures; nothing where no margin is stated."""
        if self.asked.margin is None:
            return []
        if self.models > 2:  # noqa: PLR2004  a pair
            what = "a margin is stated for more than two models"
            raise PlanError("comparison-needs", what, fix="compare two models at a time")
        question = Question.EQUIVALENCE if self.asked.equivalence else Question.NON_INFERIORITY
        choice = self.choice(question, facts, free=True)
        test = cast("Significance", choice.test)
        findings = [one for name in about for one in self.run(test, tally, choice, measure=name, positive=positive)]
        return [Answer(question=str(question), kind=self.kind, choice=choice, findings=tuple(findings))]


def test_of(choice: Choice) -> Significance:
    """The test of a choice; what it lacks is an error."""
    if choice.test is None:
        raise PlanError("comparison-needs", choice.why, fix="give what is missing")
    return choice.test


def family_of(findings: Sequence[Finding]) -> tuple[str, ...]:
    """What several findings are called that are corrected together."""
    return tuple(f"{one.about} of {' and '.join(one.models)}" for one in findings) if len(findings) > 1 else ()


def add_label(answer: Answer, label: str, *, about: str | None = None) -> Answer:
    """The answer with a label on its findings, or on those about one thing."""
    findings = tuple(
        one.said(label="; ".join(filter(None, (one.label, label)))) if about in (None, one.about) else one
        for one in answer.findings
    )
    return replace(answer, findings=findings)
