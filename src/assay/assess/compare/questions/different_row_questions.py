# SPDX-License-Identifier: Apache-2.0
"""Questions about answers to different rows: nothing pairs them, and every output says that the rows differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from assay.assess.compare.questions.label_questions import not_alone
from assay.assess.compare.questions.request import Answer, Asked, Asking
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import listed
from assay.inference.choose_test import Choice
from assay.inference.decision_words import BALANCED, Facts, Kind, Question
from assay.inference.declare import Significance
from assay.inference.findings import Finding
from assay.inference.tests.contingency import two_shares
from assay.inference.tests.independent_models import large_counts, near_perfect_apart
from assay.inference.units.class_score_units import OF_CLASSES
from assay.measures.declare import Measure, parse
from assay.tally.contingency_tables import Table
from assay.tally.paired.different_rows import Apart
from assay.tally.scores.ranked_table import Ranked

DIFFERENT: Final = "tested on different rows, where 5.3.5 asks for the same: the rows may differ, not the models"

LED: Final = ("accuracy", "recall", "specificity", "auroc", "auroc_macro")
"""Measures that are asked for anyway."""


def of_apart(t: Apart, asked: Asked, *, positive: Label | None) -> list[Answer]:
    """Accuracy, both classes apart, the area under the ROC curve, and what else was asked for."""
    asking = Asking(asked=asked, kind=Kind.APART, models=len(t.models))
    pairs = _pairs(t, asked)
    answers: list[Answer] = []
    others = [one for one in asked.measures if _held(t, one) and one.name not in LED]
    if t.confusions is not None:
        accuracy = _shares(asking, t, pairs, ("accuracy",), positive)
        sizes = [n for n in t.class_sizes() if n]
        imbalance = max(sizes) / min(sizes)
        if imbalance > BALANCED:  # something fit to choose by comes first
            answers.append(_measured(_freely(asking), t, pairs, [parse("balanced_accuracy")], positive))
            others = [one for one in others if one.name != "balanced_accuracy"]
            accuracy = not_alone(accuracy, imbalance)
        answers.append(accuracy)
        if positive is not None:
            answers.append(_shares(_freely(asking), t, pairs, ("recall", "specificity"), positive))
    if t.scores is not None:
        answers.append(_measured(asking, t, pairs, ("auroc",), positive))
    if t.rows is not None:
        others = [parse("auroc_macro"), *others]
    if others:
        answers.append(_measured(asking, t, pairs, others, positive))
    if asked.costs is not None:
        paid = _measured(_freely(asking), t, pairs, [parse("mean_cost")], positive)
        answers.insert(0, replace(paid, question="cost"))
    held = (("accuracy", t.confusions), ("auroc", t.scores), ("auroc_macro", t.rows))
    about = [name for name, part in held if part is not None]
    # With a control, the pair is in the order that its difference is told in.
    answers += asking.margins(t.only(*pairs[0]), Facts(n=t.n, models=len(t.models)), about, positive)
    return [_told(one) for one in answers]


def _held(t: Apart, measure: Measure) -> bool:
    """Whether the rows hold what a measure reads."""
    if measure.takes in OF_CLASSES:
        return t.rows is not None
    return (t.scores if measure.takes is Ranked else t.confusions) is not None


def _freely(asking: Asking) -> Asking:
    """The same questions without the test that somebody named for another one."""
    return replace(asking, asked=replace(asking.asked, test=None))


def _pairs(t: Apart, asked: Asked) -> list[tuple[str, str]]:
    """Every two, or each against the one that is named: a later batch against the first."""
    if asked.control is None:
        return list(combinations(t.models, 2))
    if asked.control not in t.models:
        raise PlanError(
            "option-unknown",
            f"there is no model {asked.control!r}",
            known=listed(t.models),
            fix="name one of the models",
        )
    return [(model, asked.control) for model in t.models if model != asked.control]


def _shares(
    asking: Asking, t: Apart, pairs: Sequence[tuple[str, str]], names: Sequence[str], positive: Label | None
) -> Answer:
    tables = [(about, t.only(a, b).shares(about, positive)) for about in names for a, b in pairs]
    large = all(large_counts(table.rows) for _, table in tables)
    choice = asking.choice(Question.ACCURACY, Facts(n=t.n, models=len(t.models), large_counts=large))
    findings = [_share(asking, choice, about, table) for about, table in tables]
    return asking.answer(" and ".join(names), choice, findings, _family(findings))


def _share(asking: Asking, choice: Choice, about: str, table: Table) -> Finding:
    """Whatever test gives p, the effect is the difference of the shares."""
    (finding,) = asking.run(_taking(choice, Table), table, choice)
    plain = two_shares(table, level=asking.asked.level)
    name = f"{about}, {table.models[0]} minus {table.models[1]}"
    right = {f"{word} of {m}": n for m, row in zip(table.models, table.rows, strict=True)
             for word, n in zip(("right", "wrong"), row, strict=True)}  # fmt: skip
    return finding.said(
        effect=replace(plain.effect, name=name), least=plain.least, about=about, models=table.models, counts=right
    )


def _measured(
    asking: Asking,
    t: Apart,
    pairs: Sequence[tuple[str, str]],
    measures: Sequence[Measure | str],
    positive: Label | None,
) -> Answer:
    question = Question.AUROC if measures == ("auroc",) else Question.MEASURE
    near = question is Question.AUROC and near_perfect_apart(t)
    facts = Facts(n=t.n, models=len(t.models), near_perfect=near)
    choice = asking.choice(question, facts, free=question is Question.MEASURE or t.confusions is not None)
    test = _taking(choice, Apart)
    findings = [
        finding
        for measure in measures
        for a, b in pairs
        for finding in asking.run(test, t.only(a, b), choice, measure=measure, positive=positive)
    ]
    return asking.answer("auroc" if question is Question.AUROC else "measures", choice, findings, _family(findings))


def _taking(choice: Choice, kind: type) -> Significance:
    """The test of a choice, which must take a kind of tally."""
    if choice.test is None or choice.test.takes is not kind:
        name = choice.test.name if choice.test else "no test"
        raise PlanError(
            "comparison-needs", f"{name} has no values to take", fix="leave the test out: the table chooses it"
        )
    return choice.test


def _family(found: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(f"{one.about} of {' and '.join(one.models)}" for one in found) if len(found) > 1 else ()


def _told(answer: Answer) -> Answer:
    label = "; ".join(filter(None, (answer.choice.label, DIFFERENT)))
    findings = tuple(one.said(label="; ".join(filter(None, (one.label, DIFFERENT)))) for one in answer.findings)
    return replace(answer, choice=replace(answer.choice, label=label), findings=findings)
