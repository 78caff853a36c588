# SPDX-License-Identifier: Apache-2.0
"""Questions about values of a measure that were computed elsewhere, or fold by fold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Final

from assay.assess.compare.questions.request import Answer, Asked, Asking, test_of
from assay.core.errors import PlanError
from assay.inference.choose_test import Choice
from assay.inference.decision_words import Facts, Kind, Question
from assay.inference.declare import Significance
from assay.inference.findings import Finding
from assay.inference.multiplicity import adjusted
from assay.inference.tests.several_ranks import ranked
from assay.inference.tests.variance import equal_spread, normality
from assay.tally.real_values import Blocks, Exact, FiveByTwo, Folds, Groups, Halved

RUN, HALF = 5, 2
MEAN_RANK: Final = "mean rank"


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
    findings = asking.run(test_of(choice), t, choice)
    if choice.after is not None and len(findings) == 1:
        from assay.inference.tests.anova import tukey

        after = tukey if test_of(choice).name == "one_way_anova" else choice.after
        findings += test_pairs_after(asking, t, replace(choice, after=after), findings[0])
    return [Answer(question=str(question), kind=Kind.INDEPENDENT, choice=choice, findings=findings)]


def _on_values(
    asking: Asking, t: Blocks, choice: Choice, test_over_train: object
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    test, asked = test_of(choice), asking.asked
    if test.takes is Blocks:
        findings = asking.run(test, t, choice, control=asked.control)
        if choice.after is None or len(findings) > 1:
            return findings, ()
        return findings + test_pairs_after(asking, t, choice, findings[0]), ()
    if test.takes is Groups:
        return asking.run(test, Groups(values=t.values, models=t.models), choice), ()
    pairs: list[Finding] = []
    for a, b in combinations(range(t.k), 2):
        pairs += asking.run(test, _paired(t, a, b, test, test_over_train), choice)
    family = tuple(" and ".join(one.models) for one in pairs) if len(pairs) > 1 else ()
    return tuple(adjusted(pairs, asked.correction)), family


def test_pairs_after(asking: Asking, tally: object, choice: Choice, first: Finding) -> tuple[Finding, ...]:
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


def _five(t: Blocks, a: int, b: int) -> FiveByTwo:
    gap = t.pair(a, b).difference
    if gap.n != RUN * HALF:
        what = f"a 5x2 cross-validation has ten values a model, not {gap.n}"
        raise PlanError("comparison-needs", what, fix="give them run by run: first half, second half, five times")
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
        what = "values of resamples need the size of a test part over its training part"
        fix = "state folds=k for k-fold cross-validation, or test_over_train=..."
        raise PlanError("comparison-needs", what, fix=fix)
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
