# SPDX-License-Identifier: Apache-2.0
"""From paired tallies to findings: each question gets the test the table gives it, and its family is corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Final

from assay.assess.compare.questions.request import Answer, Asked, Asking
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.inference.choose_test import Choice, Refusal
from assay.inference.decision_words import BALANCED, Facts, Kind, Question
from assay.inference.declare import Significance
from assay.inference.findings import Finding
from assay.inference.multiplicity import adjusted
from assay.inference.tests.auc_beyond_delong import near_perfect
from assay.inference.tests.mcnemar import test_outcomes
from assay.inference.tests.several_ranks import ranked
from assay.inference.tests.variance import equal_spread, normality
from assay.measures.declare import Measure, parse
from assay.tally.contingency_tables import Calls, Channels, Outcomes, Patterns, Table
from assay.tally.paired.half_sample_folds import Halved
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Blocks, Exact, FiveByTwo, Folds, Groups
from assay.tally.scores.ranked_table import Ranked

OPPOSITE: Final = (
    "the difference is not significant over all rows, but the two classes differ in opposite directions: "
    "one hides the other (E-XS-02)"
)
UNFIT: Final = (
    "no basis for choosing a model: the largest class has {imbalance:.1f} times the rows of the smallest, "
    "so accuracy must not decide (6.2.3)"
)
RUN, HALF = 5, 2
MEAN_RANK: Final = "mean rank"


def of_labels(
    t: PairedLabels, asked: Asked, *, positive: Label | None, channels: Mapping[str, PairedLabels] | None = None
) -> list[Answer]:
    """Questions about labels of one test set."""
    asking = Asking(asked=asked, kind=Kind.LABELS, models=len(t.models))
    sizes = [int(t.count[t.truth == c].sum()) for c in range(len(t.labels))]
    sizes = [n for n in sizes if n]
    imbalance = max(sizes) / min(sizes) if sizes else 1.0
    pair = len(t.models) == 2  # noqa: PLR2004
    disputes = t.outcomes(*t.models).disagree if pair else 0
    facts = Facts(n=t.n, disagree=disputes, models=len(t.models))
    choice = asking.choice(Question.ACCURACY, facts)
    answers = [_two(asking, t, choice) if pair else _several(asking, t, choice)]
    if pair and positive is not None:
        answers.append(_strata(asking, t, positive, choice))
        answers[0] = _opposite(answers[0], answers[1])
    measures = [one for one in asked.measures if not one.from_scores]
    if imbalance > BALANCED and len(sizes) > 1:  # accuracy comes last, and something fit to choose by comes first
        answers = [*answers[1:], not_alone(answers[0], imbalance)]
        first = by_pairs(asking, t, facts, [parse("balanced_accuracy")], positive=positive)
        answers = [replace(one, question="balanced accuracy") for one in first] + answers
        measures = [one for one in measures if one.name not in ("accuracy", "balanced_accuracy")]
    answers += asking.margins(t.outcomes(*t.models) if pair else None, facts)
    answers += by_pairs(asking, t, facts, measures, positive=positive)
    if pair and channels:
        answers.append(of_channels(channels, asked))
    return of_costs(asking, t, facts) + answers


def of_channels(channels: Mapping[str, PairedLabels], asked: Asked) -> Answer:
    """Two models in every level of a channel, which together hold all rows."""
    models = next(iter(channels.values())).models
    by = {name: one.outcomes(*models) for name, one in channels.items()}
    facts = Facts(
        n=sum(one.n for one in by.values()), disagree=sum(one.disagree for one in by.values()), models=len(models)
    )
    asking = Asking(asked=asked, kind=Kind.LABELS, models=len(models))
    choice = asking.choice(Question.CHANNELS, facts, free=True)
    told = asking.run(_test(choice), Channels(by=by, models=(models[0], models[1])), choice)
    return Answer(question="channels", kind=Kind.LABELS, choice=choice, findings=told)


def of_scores(t: PairedScores, asked: Asked) -> list[Answer]:
    """Questions about scores of one test set."""
    asking = Asking(asked=asked, kind=Kind.SCORES, models=len(t.models))
    facts = Facts(n=t.m + t.n, models=len(t.models), near_perfect=near_perfect(t), fewest=min(t.m, t.n))
    choice = asking.choice(Question.AUROC, facts)
    if t.bits is not None and _test(choice).family == "permutation":
        raise PlanError(
            "comparison-needs",
            f"{_test(choice).name} reads scores row by row, and there are so many that they were rounded and counted",
            fix="leave the test out; or hold the scores in memory: exact_scores=NUMBER (--exact-scores)",
        )
    findings = asking.run(_test(choice), t, choice)
    family: tuple[str, ...] = ()
    if _test(choice).pairwise:  # every pair is a question of its own, so nothing follows
        choice, findings = replace(choice, after=None), tuple(adjusted(findings, asked.correction))
        family = tuple(f"auroc of {' and '.join(one.models)}" for one in findings)
    if choice.after is not None:
        findings += _after(asking, t, choice, findings[0])
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
    pairs = list(combinations(t.models, 2))
    names = [one.title if len(pairs) == 1 else f"{one.title} of {a} and {b}" for one in measures for a, b in pairs]
    if choice.test is None:
        return [asking.unanswered("measures", choice)]
    findings: list[Finding] = []
    for measure in measures:
        for a, b in pairs:
            findings += asking.run(choice.test, t.only(a, b), choice, measure=measure, positive=positive)
    return [asking.answer("measures", choice, findings, names)]


def of_costs(asking: Asking, t: PairedLabels | PerUnit, facts: Facts) -> list[Answer]:
    """Nothing where no costs are stated; one family of all pairs otherwise."""
    if asking.asked.costs is None:
        return []
    choice = asking.choice(Question.COST, facts, free=True)
    if choice.test is None:
        return [asking.unanswered("cost", choice)]
    pairs = list(combinations(t.models, 2))
    found = [one for a, b in pairs for one in asking.run(choice.test, t.only(a, b), choice)]
    family = tuple(f"mean_cost of {a} and {b}" for a, b in pairs) if len(pairs) > 1 else ()
    return [asking.answer("cost", choice, found, family)]


def of_values(t: Blocks, asked: Asked, kind: Kind, *, test_over_train: object = None) -> list[Answer]:
    """Questions about values of the same items, data sets or resamples."""
    asking = Asking(asked=asked, kind=kind, models=t.k)
    facts = Facts(n=t.j, blocks=t.j, models=t.k, normal=_looks_normal(t), rows=asked.rows)
    question = Question.VARIANCE if asked.variance else Question.LOCATION
    choice = asking.choice(question, facts)
    if choice.test is None:
        return [asking.unanswered(str(question), choice)]
    if kind is Kind.FIVE_BY_TWO:  # halves: the test part is as large as its training part
        test_over_train = 1
    findings, family = _on_values(asking, t, choice, test_over_train)
    for beside in (one for one in choice.beside if one is not choice.test):
        tally = _paired(t, 0, 1, beside, test_over_train)
        findings += tuple(one.said(chosen="reported beside it") for one in asking.run(beside, tally, choice))
    answers = [Answer(question=str(question), kind=kind, choice=choice, findings=findings, family=family)]
    return answers + asking.margins(t.pair(0, 1), facts)


def of_groups(t: Groups, asked: Asked) -> list[Answer]:
    """Questions about values of different items."""
    asking = Asking(asked=asked, kind=Kind.INDEPENDENT, models=len(t.models))
    looks = [normality(one, "values").holds for one in t.values]
    normal = None if None in looks else all(looks)
    facts = Facts(n=min(t.sizes), models=len(t.models), normal=normal, equal_spread=equal_spread(t).holds)
    question = Question.VARIANCE if asked.variance else Question.LOCATION
    choice = asking.choice(question, facts)
    findings = asking.run(_test(choice), t, choice)
    if choice.after is not None and len(findings) == 1:
        findings += _after(asking, t, replace(choice, after=_posthoc(_test(choice), choice.after)), findings[0])
    return [Answer(question=str(question), kind=Kind.INDEPENDENT, choice=choice, findings=findings)]


def _two(asking: Asking, t: PairedLabels, choice: Choice) -> Answer:
    test = _test(choice)
    found = asking.run(test, _shaped(test, t), choice, measure="accuracy")
    return Answer(question="accuracy", kind=Kind.LABELS, choice=choice, findings=found)


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


def _several(asking: Asking, t: PairedLabels, choice: Choice) -> Answer:
    findings = asking.run(_test(choice), t.patterns() if _test(choice).takes is Patterns else t, choice)
    pairs = [test_outcomes(t.outcomes(a, b), asking.asked.level) for a, b in combinations(t.models, 2)]
    told = adjusted(pairs, asking.asked.correction)
    family = tuple(f"accuracy of {' and '.join(one.models)}" for one in told)
    return Answer(question="accuracy", kind=Kind.LABELS, choice=choice, findings=(*findings, *told), family=family)


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
    findings = tuple(one.said(label="; ".join(filter(None, (one.label, label)))) for one in answer.findings)
    refusal = Refusal(test="accuracy", why=label, hard=False)
    choice = replace(answer.choice, label=label, refused=(refusal, *answer.choice.refused))
    return replace(answer, choice=choice, findings=findings)


def _on_values(
    asking: Asking, t: Blocks, choice: Choice, test_over_train: object
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    test, asked = _test(choice), asking.asked
    if test.takes is Blocks:
        findings = asking.run(test, t, choice, control=asked.control)
        if choice.after is None or len(findings) > 1:
            return findings, ()
        return findings + _after(asking, t, choice, findings[0]), ()
    if test.takes is Groups:
        return asking.run(test, Groups(values=t.values, models=t.models), choice), ()
    pairs: list[Finding] = []
    for a, b in combinations(range(t.k), 2):
        pairs += asking.run(test, _paired(t, a, b, test, test_over_train), choice)
    family = tuple(" and ".join(one.models) for one in pairs) if len(pairs) > 1 else ()
    return tuple(adjusted(pairs, asked.correction)), family


def _after(asking: Asking, tally: object, choice: Choice, first: Finding) -> tuple[Finding, ...]:
    """Every pair, whatever the test of all models says: the correction alone keeps the level.

    Nemenyi's and Tukey's p values hold for all pairs by themselves.
    """
    if choice.after is None:
        return ()
    after = choice.after
    if asking.asked.control is not None and isinstance(tally, Blocks):
        from assay.inference.tests.several_ranks import against_control

        after = against_control
    why = replace(choice, why=f"pairs beside {first.title}; the correction for the number of pairs keeps the level")
    findings = asking.run(after, tally, why, control=asking.asked.control)
    if after.name in ("nemenyi", "tukey"):
        return findings
    return tuple(adjusted(findings, asking.asked.correction))


def _posthoc(test: Significance, default: Significance) -> Significance:
    from assay.inference.tests.anova import tukey

    return tukey if test.name == "one_way_anova" else default


def _test(choice: Choice) -> Significance:
    if choice.test is None:
        raise PlanError("comparison-needs", choice.why, fix="give what is missing")
    return choice.test


def _five(t: Blocks, a: int, b: int) -> FiveByTwo:
    gap = t.pair(a, b).difference
    if gap.n != RUN * HALF:
        raise PlanError(
            "comparison-needs",
            f"a 5x2 cross-validation has ten values a model, not {gap.n}",
            fix="give them run by run: first half, second half, five times",
        )
    exact = [Fraction(x, gap.over) for x in gap.whole]
    return FiveByTwo.of(
        [exact[2 * i : 2 * i + 2] for i in range(RUN)], models=(t.models[a], t.models[b]), about=t.about
    )


def _paired(t: Blocks, a: int, b: int, test: Significance, test_over_train: object) -> object:
    """The values of two models as a test takes them."""
    if test.takes is FiveByTwo:
        return _five(t, a, b)
    if test.takes is not Folds:
        return Halved.of(t.pair(a, b)) if test.takes is Halved else t.pair(a, b)
    if test_over_train is None:
        raise PlanError(
            "comparison-needs",
            "values of resamples need the size of a test part over its training part",
            fix="state folds=k for k-fold cross-validation, or test_over_train=...",
        )
    return Folds.of(t.pair(a, b), test_over_train=test_over_train)


def _looks_normal(t: Blocks) -> bool | None:
    """Whether the differences of two models, or the residuals of several, look normal."""
    if t.k == 2:  # noqa: PLR2004
        return normality(t.pair(0, 1).difference, "differences").holds
    matrix = t.matrix()
    left = matrix - matrix.mean(axis=0) - matrix.mean(axis=1, keepdims=True) + matrix.mean()
    return normality(Exact.of(left.ravel()), "residuals").holds


def value_of_each(t: Blocks | Groups, per: object) -> tuple[str, dict[str, float]]:
    """What the models are ranked by: their means, the values of all rows beside halves, or mean ranks, 1 being best."""
    about = t.about if isinstance(t, Blocks) else ""
    if per == "halves":
        return about or "mean", {m: float(one.fractions()[0]) for m, one in zip(t.models, t.values, strict=True)}
    if isinstance(t, Blocks) and not about and len(t.models) > 2:  # noqa: PLR2004  ranks of two say no more than a mean
        return MEAN_RANK, dict(zip(t.models, ranked(t).mean(axis=0).tolist(), strict=True))
    return about or "mean", {m: float(one.mean) for m, one in zip(t.models, t.values, strict=True)}


def flat(answers: Sequence[Answer]) -> tuple[Finding, ...]:
    """All findings in order."""
    return tuple(one for answer in answers for one in answer.findings)


__all__ = ["Answer", "Asked", "by_pairs", "flat", "of_groups", "of_labels", "of_scores", "of_values", "value_of_each"]
