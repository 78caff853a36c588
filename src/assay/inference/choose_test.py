# SPDX-License-Identifier: Apache-2.0
"""Which test answers a question: the first row of `decision_table` that fits, and why it was taken."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assay.core.errors import PlanError
from assay.core.text import quoted
from assay.inference.decision_table import ALWAYS_REFUSED, DEPENDENT, TABLE
from assay.inference.decision_words import Facts, Kind, Question, Row
from assay.inference.declare import Significance
from assay.inference.tests_catalogue import every_test, find_test

DEVIATES = "deviates from clause 7 of ISO/IEC TS 4213:2022: the test was forced"
ANTICONSERVATIVE = "anticonservative: folds are dependent, so p is too small"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A test that was not taken, and why; a hard one needs more than a reason to be forced."""

    test: str
    why: str
    hard: bool

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"test": self.test, "why": self.why, "hard": self.hard}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What runs: the test, those beside it, what follows a significant answer; and the sentence that explains it."""

    row: int
    test: Significance | None
    beside: tuple[Significance, ...]
    after: Significance | None
    why: str
    refused: tuple[Refusal, ...]
    label: str = ""

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "row": self.row,
            "test": None if self.test is None else self.test.name,
            "beside": [one.name for one in self.beside],
            "after": None if self.after is None else self.after.name,
            "why": self.why,
            "refused": [one.to_json() for one in self.refused],
            "label": self.label or None,
            "warns": [],
        }


def choose(kind: Kind, models: int, question: Question, facts: Facts) -> Choice:
    """The first row of the decision table that fits, with the way the facts lead to.

    >>> choose(Kind.LABELS, 2, Question.ACCURACY, Facts(n=258, disagree=24)).why
    '24 rows disagree; the mid-p form is used, which raised at most 5.3 % false alarms at 5 %'
    """
    row = _row(kind, models, question)
    way = next(way for way in row.ways if way.when.holds(facts))
    return Choice(
        row=row.number,
        test=None if way.test is None else find_test(way.test),
        beside=tuple(find_test(name) for name in row.beside),
        after=None if row.after is None else find_test(row.after),
        why=way.says.format(facts=facts, models=models),
        refused=_refused(row, kind, way.test),
    )


def insist(
    asked: str,
    kind: Kind,
    models: int,
    question: Question,
    facts: Facts,
    *,
    because: str | None,
    override: bool,
    accept_dependence: bool,
) -> Choice:
    """The test somebody names instead: with a reason, and for a hard refusal with an explicit word."""
    plain = choose(kind, models, question, facts)
    test = _found(asked)
    if plain.test is not None and test.name == plain.test.name:
        return plain
    by_table = f"{plain.test.name if plain.test else 'no test'}: {plain.why}"
    if not (because and because.strip()):
        what = f"{test.name} is not the test the table gives here"
        fix = "leave the test out, or say why: because='...' (--because)"
        raise PlanError("test-refused", what, found=by_table, fix=fix)
    label = f"chosen by hand: {because.strip()}"
    refusal = next((one for one in plain.refused if one.test in (test.name, test.family) and one.hard), None)
    if refusal is not None:
        dependent = kind is Kind.RESAMPLES and test.name in DEPENDENT
        if not (override or (dependent and accept_dependence)):
            word = "accept_dependence=True (--accept-dependence)" if dependent else "override=True (--override)"
            what, known = f"{test.name} is not admissible here", f"the table gives {by_table}"
            fix = f"use that test, or insist: {word}; every output will say so"
            raise PlanError("test-refused", what, found=refusal.why, known=known, fix=fix)
        label = f"{ANTICONSERVATIVE if kind is Kind.RESAMPLES else DEVIATES}; {label}"
    return replace(plain, test=test, beside=(), why=f"asked for; the table gives {by_table}", label=label)


def _row(kind: Kind, models: int, question: Question) -> Row:
    for row in TABLE:
        if kind in row.kinds and row.models[0] <= models <= row.models[1] and question in row.questions:
            return row
    known = sorted({str(q) for row in TABLE if kind in row.kinds for q in row.questions})
    what = f"no test asks about {question} with {kind} of {models} models"
    raise PlanError("comparison-needs", what, known=", ".join(known) or "nothing", fix="ask one of the known questions")


def _refused(row: Row, kind: Kind, taken: str | None) -> tuple[Refusal, ...]:
    every = {**ALWAYS_REFUSED.get(kind, {}), **row.refuses}
    return tuple(Refusal(test=name, why=why, hard=hard) for name, (why, hard) in every.items() if name != (taken or ""))


def _found(asked: str) -> Significance:
    for test in every_test():
        if asked == test.name:
            return test
    siblings = every_test(family=asked)
    if len(siblings) > 1:
        what = f"{quoted(asked)} has several forms"
        raise PlanError("test-ambiguous", what, known=", ".join(test.name for test in siblings), fix="name the form")
    return siblings[0] if siblings else find_test(asked)
