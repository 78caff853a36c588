# SPDX-License-Identifier: Apache-2.0
"""Questions about rows: each gets the test the table gives it, and the findings of a family are corrected together.

Rows are independent and alike, or of subjects or with weights: then whole units are swapped, and very many of them are
judged by how far each moves the measure. Models on different rows are not paired, and every output says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from assay.assess.compare.questions.request import Answer, Asked, Asking, add_label, family_of, test_of
from assay.assess.compare.questions.value_questions import test_pairs_after
from assay.core.errors import PlanError, unknown_choice
from assay.core.labels import Label
from assay.inference import decision_words
from assay.inference.choose_test import Choice, Refusal
from assay.inference.decision_words import BALANCED, Facts, Kind, Question
from assay.inference.declare import Significance
from assay.inference.findings import Finding
from assay.inference.multiplicity import adjusted
from assay.inference.tests.auc_beyond_delong import near_perfect
from assay.inference.tests.contingency import two_shares
from assay.inference.tests.independent_models import large_counts, near_perfect_apart
from assay.inference.tests.mcnemar import test_outcomes
from assay.inference.units.class_score_units import OF_CLASSES
from assay.measures.declare import Measure, parse
from assay.tally.contingency_tables import Calls, Channels, Outcomes, Patterns, Table
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.scores.ranked_table import Ranked

OPPOSITE: Final = (
    "the difference is not significant over all rows, but the two classes differ in opposite directions: "
    "one hides the other (E-XS-02)"
)
UNFIT: Final = (
    "no basis for choosing a model: the largest class has {imbalance:.1f} times the rows of the smallest, "
    "so accuracy must not decide (6.2.3)"
)
SWAPS: Final = {
    Kind.SUBJECTS: "subject_permutation",
    Kind.WEIGHTED: "weighted_permutation",
    Kind.CLASS_SCORES: "class_score_permutation",
}
OF_VERY_MANY: Final = "unit_z"
PAIR: Final = 2
DIFFERENT: Final = "tested on different rows, where 5.3.5 asks for the same: the rows may differ, not the models"
LED: Final = ("accuracy", "recall", "specificity", "auroc", "auroc_macro")
"""Measures that are asked for anyway where the rows differ."""


def of_labels(
    t: PairedLabels, asked: Asked, *, positive: Label | None, channels: Mapping[str, PairedLabels] | None = None
) -> list[Answer]:
    """Questions about labels of one test set."""
    asking = Asking(asked=asked, kind=Kind.LABELS, models=len(t.models))
    imbalance = _imbalance([int(t.count[t.truth == c].sum()) for c in range(len(t.labels))])
    pair = len(t.models) == PAIR
    disputes = t.outcomes(*t.models).disagree if pair else 0
    facts = Facts(n=t.n, disagree=disputes, models=len(t.models))
    choice = asking.choice(Question.ACCURACY, facts)
    answers = [_accuracy(asking, t, choice)]
    if pair and positive is not None:
        answers.append(_strata(asking, t, positive, choice))
        answers[0] = _opposite(answers[0], answers[1])
    measures = [one for one in asked.measures if not one.from_scores]
    if imbalance > BALANCED:  # accuracy comes last, and something fit to choose by comes first
        answers = [*answers[1:], not_alone(answers[0], imbalance)]
        first = by_pairs(asking, t, facts, [parse("balanced_accuracy")], positive=positive)
        answers = [replace(one, question="balanced accuracy") for one in first] + answers
        measures = [one for one in measures if one.name not in ("accuracy", "balanced_accuracy")]
    answers += asking.margins(t.outcomes(*t.models) if pair else None, facts)
    answers += by_pairs(asking, t, facts, measures, positive=positive)
    if pair and channels:
        answers.append(of_channels(channels, asked))
    return of_costs(asking, t, facts) + answers


def _imbalance(sizes: Sequence[float]) -> float:
    """How many times the rows of the smallest class the largest has."""
    some = [size for size in sizes if size > 0]
    return max(some) / min(some) if some else 1.0


def of_channels(channels: Mapping[str, PairedLabels], asked: Asked) -> Answer:
    """Two models in every level of a channel, which together hold all rows."""
    models = next(iter(channels.values())).models
    by = {name: one.outcomes(*models) for name, one in channels.items()}
    disputes = sum(one.disagree for one in by.values())
    facts = Facts(n=sum(one.n for one in by.values()), disagree=disputes, models=len(models))
    asking = Asking(asked=asked, kind=Kind.LABELS, models=len(models))
    choice = asking.choice(Question.CHANNELS, facts, free=True)
    told = asking.run(test_of(choice), Channels(by=by, models=(models[0], models[1])), choice)
    return Answer(question="channels", kind=Kind.LABELS, choice=choice, findings=told)


def of_scores(t: PairedScores, asked: Asked) -> list[Answer]:
    """Questions about scores of one test set."""
    asking = Asking(asked=asked, kind=Kind.SCORES, models=len(t.models))
    facts = Facts(n=t.m + t.n, models=len(t.models), near_perfect=near_perfect(t), fewest=min(t.m, t.n))
    choice = asking.choice(Question.AUROC, facts)
    test = test_of(choice)
    if t.bits is not None and test.family == "permutation":
        what = f"{test.name} reads scores row by row, and there are so many that they were rounded and counted"
        fix = "leave the test out; or hold the scores in memory: exact_scores=NUMBER (--exact-scores)"
        raise PlanError("comparison-needs", what, fix=fix)
    findings = asking.run(test, t, choice)
    family: tuple[str, ...] = ()
    if test.pairwise:  # every pair is a question of its own, so nothing follows
        choice, findings = replace(choice, after=None), tuple(adjusted(findings, asked.correction))
        family = tuple(f"auroc of {' and '.join(one.models)}" for one in findings)
    if choice.after is not None:
        findings += test_pairs_after(asking, t, choice, findings[0])
    answer = Answer(question="auroc", kind=Kind.SCORES, choice=choice, findings=findings, family=family)
    measures = [one for one in asked.measures if one.takes is Ranked]
    others = [] if t.bits is not None else by_pairs(asking, t, facts, measures)
    return [answer, *others, *asking.margins(t, facts)]


def by_pairs(
    asking: Asking,
    t: PairedLabels | PairedScores | PerUnit,
    facts: Facts,
    measures: Sequence[Measure],
    *,
    positive: Label | None = None,
    free: bool = True,
) -> list[Answer]:
    """Measures without a closed form, for every two models; one family. Unless `free`, a test that was named runs."""
    if not measures:
        return []
    choice = asking.choice(Question.MEASURE, facts, free=free)
    if choice.test is None:
        return [asking.unanswered("measures", choice)]
    findings = asking.by_pair(t, choice, measures, positive=positive)
    alone = len(t.models) == PAIR
    return [asking.answer("measures", choice, findings, [m.title for m in measures] if alone else family_of(findings))]


def of_costs(asking: Asking, t: PairedLabels | PerUnit, facts: Facts) -> list[Answer]:
    """Nothing where no costs are stated; one family of all pairs otherwise."""
    if asking.asked.costs is None:
        return []
    choice = asking.choice(Question.COST, facts, free=True)
    if choice.test is None:
        return [asking.unanswered("cost", choice)]
    findings = asking.by_pair(t, choice)
    return [asking.answer("cost", choice, findings, family_of(findings))]


def _shaped(test: Significance, t: PairedLabels) -> object:
    """The tally a test takes, made of the joint cells of two models."""
    o = t.outcomes(*t.models)
    if test.takes is Outcomes:
        return o
    if test.takes is Patterns:
        return t.patterns()
    if test.takes is Calls:
        return t.calls(*t.models)
    if test.takes is Table:
        return Table(
            rows=tuple((right, o.n - right) for right in (o.both + o.only_a, o.both + o.only_b)), models=o.models
        )
    return t


def _accuracy(asking: Asking, t: PairedLabels, choice: Choice) -> Answer:
    """Two models by the chosen test; several by one of all, and every two of them."""
    test = test_of(choice)
    if len(t.models) == PAIR:
        findings = asking.run(test, _shaped(test, t), choice, measure="accuracy")
        return Answer(question="accuracy", kind=Kind.LABELS, choice=choice, findings=findings)
    first = asking.run(test, t.patterns() if test.takes is Patterns else t, choice)
    pairs = [test_outcomes(t.outcomes(a, b), asking.asked.level) for a, b in combinations(t.models, 2)]
    told = tuple(adjusted(pairs, asking.asked.correction))
    findings = (*first, *told)
    return Answer(question="accuracy", kind=Kind.LABELS, choice=choice, findings=findings, family=family_of(told))


def _strata(asking: Asking, t: PairedLabels, positive: Label, choice: Choice) -> Answer:
    a, b = t.models
    tables = (t.found(a, b, positive), t.left_out(a, b, positive))
    findings = [test_outcomes(one, asking.asked.level) for one in tables]
    why = replace(choice, why="the classes apart: what is gained in one can be lost in the other (E-XS-02)", label="")
    return asking.answer("recall and specificity", why, findings, ("recall", "specificity"))


def _opposite(pooled: Answer, strata: Answer) -> Answer:
    recall, specificity = strata.findings
    values = [one.effect.value for one in (recall, specificity)]
    if not all(isinstance(value, float) for value in values):
        return pooled
    apart = values[0] * values[1] < 0 and bool(recall.significant or specificity.significant)  # type: ignore[operator]
    first, *rest = pooled.findings
    if apart and first.significant is False:
        return replace(pooled, findings=(first.said(notes=(*first.notes, OPPOSITE)), *rest))
    return pooled


def not_alone(answer: Answer, imbalance: float) -> Answer:
    """Accuracy where the classes are unbalanced: told, and marked as no basis for a choice."""
    label = UNFIT.format(imbalance=imbalance)
    refusal = Refusal(test="accuracy", why=label, hard=False)
    choice = replace(answer.choice, label=label, refused=(refusal, *answer.choice.refused))
    return replace(add_label(answer, label), choice=choice)


def of_rows(t: PerUnit, asked: Asked, *, positive: Label | None) -> list[Answer]:
    """Labels and scores of subjects, or of weighted rows."""
    kind = Kind.SUBJECTS if t.subject is not None else Kind.WEIGHTED if t.weight is not None else Kind.CLASS_SCORES
    many = t.units > decision_words.MANY_UNITS
    asking = Asking(asked=asked, kind=kind, models=len(t.models))
    imbalance = _imbalance(t.class_weights().tolist())
    facts = Facts(n=t.n, blocks=t.units, models=len(t.models))
    if asked.test is not None and asked.test not in (OF_VERY_MANY, SWAPS[kind]):
        return _forced(asking, t, facts, positive)
    if many and kind is not Kind.CLASS_SCORES and asked.stratified:
        what = f"{t.units:,} units are compared by a large-sample test, which draws nothing"
        raise PlanError("comparison-needs", what, where="stratified", fix="leave it out")
    measures = _wanted(t, asked, imbalance, positive=positive is not None)
    answers = of_costs(asking, t, facts) if t.calls is not None else []
    answers += by_pairs(asking, t, facts, measures, positive=positive, free=asked.test is None)
    about = [*(["accuracy"] if t.calls is not None else []), *([t.area] if t.scores is not None else [])]
    answers += asking.margins(t, facts, about, positive)
    unfit = UNFIT.format(imbalance=imbalance)
    return [add_label(one, unfit, about="accuracy") for one in answers] if imbalance > BALANCED else answers


def _wanted(t: PerUnit, asked: Asked, imbalance: float, *, positive: bool) -> list[Measure]:
    """Accuracy first, or the mean of the recalls where the classes are unbalanced; then what else was asked for."""
    names: list[str] = []
    if t.calls is not None:
        names += ["accuracy", "recall", "specificity"] if positive else ["accuracy"]
        if imbalance > BALANCED:
            names.insert(0, "balanced_accuracy")
    if t.scores is not None:
        names.append(t.area)
    found = [parse(name) for name in names] + list(asked.measures)
    return list({one.title: one for one in found if _has_values(t, one)}.values())


def _has_values(t: PerUnit | Apart, measure: Measure) -> bool:
    """Whether the rows hold what a measure reads: scores of all classes, of two, or labels."""
    if isinstance(t, Apart):
        class_scores, scores, labels = t.rows is not None, t.scores is not None, t.confusions is not None
    else:
        class_scores, scores, labels = t.classwise, t.scores is not None and not t.classwise, t.calls is not None
    return class_scores if measure.takes in OF_CLASSES else scores if measure.takes is Ranked else labels


def _forced(asking: Asking, t: PerUnit, facts: Facts, positive: Label | None) -> list[Answer]:
    """A test that takes rows one by one, where somebody insists on it: its label says what it disregards."""
    asked, forced = asking.asked, asking.choice(Question.MEASURE, facts)
    free = replace(asked, test=forced.test.name if forced.test else None, override=True)
    takes = None if forced.test is None else forced.test.takes
    if takes is PairedScores and t.scores is not None and positive is not None:
        is_positive = t.truth == t.labels.index(positive)
        rows = PairedScores.of(is_positive, dict(zip(t.models, t.scores, strict=True)))
        answers = of_scores(rows, free)
    elif takes not in (PairedScores, PerUnit) and t.calls is not None:
        codes = np.stack([t.truth, *t.calls], axis=1).astype(np.int64)
        every = PairedLabels(labels=t.labels, models=t.models, codes=codes, count=t.entries)
        answers = of_labels(every.only(*t.models), free, positive=positive)
    else:
        what = f"{asked.test} has no values to take"
        raise PlanError("comparison-needs", what, fix="give predictions, or scores of two classes")
    first = answers[0]
    told = tuple(finding.said(label=forced.label) for finding in first.findings)
    return [replace(first, kind=asking.kind, choice=replace(first.choice, label=forced.label), findings=told)]


def of_apart(t: Apart, asked: Asked, *, positive: Label | None) -> list[Answer]:
    """Accuracy, both classes apart, the area under the ROC curve, and what else was asked for."""
    asking = Asking(asked=asked, kind=Kind.APART, models=len(t.models))
    pairs = _pairs(t, asked)
    answers: list[Answer] = []
    others = [one for one in asked.measures if _has_values(t, one) and one.name not in LED]
    if t.confusions is not None:
        accuracy = _shares(asking, t, pairs, ("accuracy",), positive)
        imbalance = _imbalance(t.class_sizes())
        if imbalance > BALANCED:  # something fit to choose by comes first
            answers.append(_measured(asking, t, pairs, [parse("balanced_accuracy")], positive))
            others = [one for one in others if one.name != "balanced_accuracy"]
            accuracy = not_alone(accuracy, imbalance)
        answers.append(accuracy)
        if positive is not None:
            answers.append(_shares(asking, t, pairs, ("recall", "specificity"), positive))
    if t.scores is not None:
        answers.append(_measured(asking, t, pairs, ("auroc",), positive))
    if t.rows is not None:
        others = [parse("auroc_macro"), *others]
    if others:
        answers.append(_measured(asking, t, pairs, others, positive))
    if asked.costs is not None:
        paid = _measured(asking, t, pairs, [parse("mean_cost")], positive)
        answers.insert(0, replace(paid, question="cost"))
    held = (("accuracy", t.confusions), ("auroc", t.scores), ("auroc_macro", t.rows))
    about = [name for name, part in held if part is not None]
    # With a control, the pair is in the order that its difference is told in.
    answers += asking.margins(t.only(*pairs[0]), Facts(n=t.n, models=len(t.models)), about, positive)
    return [_mark_different(one) for one in answers]


def _pairs(t: Apart, asked: Asked) -> list[tuple[str, str]]:
    """Every two, or each against the one that is named: a later batch against the first."""
    if asked.control is None:
        return list(combinations(t.models, 2))
    if asked.control not in t.models:
        raise unknown_choice(asked.control, t.models, f"there is no model {asked.control!r}")
    return [(model, asked.control) for model in t.models if model != asked.control]


def _shares(
    asking: Asking, t: Apart, pairs: Sequence[tuple[str, str]], names: Sequence[str], positive: Label | None
) -> Answer:
    tables = [(about, t.only(a, b).shares(about, positive)) for about in names for a, b in pairs]
    large = all(large_counts(table.rows) for _, table in tables)
    facts = Facts(n=t.n, models=len(t.models), large_counts=large)
    choice = asking.choice(Question.ACCURACY, facts, free=names[0] != "accuracy")  # a named test is of accuracy
    findings = [_share(asking, choice, about, table) for about, table in tables]
    return asking.answer(" and ".join(names), choice, findings, family_of(findings))


def _share(asking: Asking, choice: Choice, about: str, table: Table) -> Finding:
    """Whatever test gives p, the effect is the difference of the shares."""
    _check_takes(choice, Table)
    (finding,) = asking.run(test_of(choice), table, choice)
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
    _check_takes(choice, Apart)
    findings = asking.by_pair(t, choice, measures, pairs, positive)
    word = "auroc" if question is Question.AUROC else "measures"
    return asking.answer(word, choice, findings, family_of(findings))


def _check_takes(choice: Choice, kind: type) -> None:
    """Check that the test of a choice takes a kind of tally."""
    if choice.test is None or choice.test.takes is not kind:
        name = choice.test.name if choice.test else "no test"
        what = f"{name} has no values to take"
        raise PlanError("comparison-needs", what, fix="leave the test out: the table chooses it")


def _mark_different(answer: Answer) -> Answer:
    label = "; ".join(filter(None, (answer.choice.label, DIFFERENT)))
    return replace(add_label(answer, DIFFERENT), choice=replace(answer.choice, label=label))
