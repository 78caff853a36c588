# SPDX-License-Identifier: Apache-2.0
"""The comparison that a plan with several models makes of its own accord, on the rows they were all tested on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from assay.assess.compare.fold_values import FoldedModel, fold_values
from assay.assess.conformity.plan_contests import CORRECTIONS, Contest, fought
from assay.assess.conformity.plan_sources import Held
from assay.assess.decide.claims import Claim
from assay.assess.decide.plan_results import Standing, standing_of
from assay.assess.plan.checked_plan import LoadedPlan, stated
from assay.assess.plan.plan_answers import channel_columns
from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.traits import Task
from assay.inference.power import alpha_of
from assay.measures import parse
from assay.rows.joins.threshold_labels import Cut
from assay.tasks.classification.settings import ONE_CLASS

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.conformity.plan_sources import PlanFiles
    from assay.assess.plan.model_fields import Model
    from assay.rows.limits import Limits

TWO = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One model on the test split that is compared, and where its rows lie."""

    name: str
    split: str
    model: Model
    rows: Held
    truth: Held | None
    assessment: Assessment
    repeated: bool = False
    """Whether a subject has several of the rows, so that rows are not independent and subjects are compared."""


def match(
    loaded: LoadedPlan, entrants: Sequence[Entrant], limits: Limits | None = None, opened: PlanFiles | None = None
) -> dict[str, Contest]:
    """By test split: the models compared on the rows they all answered, or by values; or why they were not."""
    contests = {}
    for split in dict.fromkeys(one.split for one in entrants):
        here = [one for one in entrants if one.split == split]
        if len(here) < TWO:
            continue
        models, why = tuple(one.name for one in here), _why_not(loaded, here)
        if why is not None:
            contests[split] = Contest(models=models, comparison=None, why_not=why)
            continue
        try:
            values = _values(loaded, here, opened)
            given = _how(loaded) | (values or _given(loaded, here, limits) | _wanted(loaded, here))
        except (PlanError, RowsError) as error:  # what was found names rows, and ids stay out of a Record
            contests[split] = Contest(models=models, comparison=None, why_not=error.what)
            continue
        contests[split] = fought(loaded, models, given, [] if values else _channels(loaded, given))
    return contests


def standings(
    loaded: LoadedPlan, entrants: Sequence[Entrant], contests: Mapping[str, Contest]
) -> dict[tuple[str, str], Standing]:
    """By model and test split: comparisons with the other models on the same rows, and claims about them."""
    plan, standings_by_model = loaded.plan, {}
    for entrant in entrants:
        claims = [Claim.of_plan(stated_) for stated_ in plan.claims if stated_.data in (None, entrant.split)]
        contest = contests.get(entrant.split)
        if not claims and contest is None:
            continue
        made = None if contest is None else contest.comparison
        standings_by_model[entrant.name, entrant.split] = standing_of(
            entrant.name,
            {other.name: other.assessment for other in entrants if other.split == entrant.split},
            compared=() if made is None else (made,),
            not_made=None if contest is None or made is not None else contest.why_not,
            claims=claims,
            correction="none" if plan.tests.correction == "none" else "holm",
        )
    return standings_by_model


def _why_not(loaded: LoadedPlan, entrants: Sequence[Entrant]) -> str | None:
    plan = loaded.plan
    if stated(plan.tests.none):
        return f"stated: {plan.tests.none}"
    if any(one.model.predicted is None and not isinstance(one.model.score, str) for one in entrants):
        return "labels that the largest score calls are not compared; give them as a column"
    if not _one_table(entrants) and plan.columns.id is None:
        return "the models lie in files of their own, and columns.id does not say how their rows are matched"
    return None


def _one_table(entrants: Sequence[Entrant]) -> bool:
    """Whether every model has its answers beside the truth, in the same rows."""
    return len({one.rows.places for one in entrants}) == 1 and all(one.truth is None for one in entrants)


def _wanted(loaded: LoadedPlan, entrants: Sequence[Entrant]) -> dict[str, Any]:
    plan, first = loaded.plan, entrants[0].assessment
    primary = None if plan.metrics.primary is None else parse(plan.metrics.primary)
    fits = primary is not None and primary.from_labels and primary.name != "accuracy"
    if fits and primary is not None and primary.takes in ONE_CLASS and first.task is not Task.BINARY:
        fits = False
    return {
        "positive": first.positive,
        "labels": list(first.labels),
        "measures": [primary] if fits else None,
        "costs": first.settings.costs,
    }


def _how(loaded: LoadedPlan) -> dict[str, Any]:
    """What a plan asks of every comparison, of labels and of values."""
    plan = loaded.plan
    return {
        "level": plan.intervals.level if plan.tests.alpha is None else alpha_of(plan.tests.alpha),
        "correction": CORRECTIONS.get(plan.tests.correction or "", "holm"),
        "seed": plan.intervals.seed,
    }


def _values(loaded: LoadedPlan, entrants: Sequence[Entrant], opened: PlanFiles | None) -> dict[str, Any] | None:
    """Values that are compared in place of labels: a table that the plan names, or those of the folds."""
    tests = loaded.plan.tests
    if tests.values is not None:
        given = {
            "data": str(loaded.folder / tests.values),
            "values": {entrant.name: entrant.name for entrant in entrants},
            "per": tests.per,
            "folds": tests.folds,
            "independent": tests.independent,
            "variance": tests.variance,
            "lower_is_better": tests.lower_is_better,
        }
        return {name: value for name, value in given.items() if value is not None}
    if opened is None or any(entrant.truth is not None for entrant in entrants):
        return None
    folded = [
        FoldedModel(
            name=entrant.name,
            rows=opened.predictions.get(entrant.name),
            called=_called(entrant),
            labels=tuple(entrant.assessment.labels),
            positive=entrant.assessment.positive,
        )
        for entrant in entrants
    ]
    return fold_values(loaded, folded, opened.folds)


def _given(loaded: LoadedPlan, entrants: Sequence[Entrant], limits: Limits | None) -> dict[str, Any]:
    """What is compared: columns of one table or of one a model, counted where they lie."""
    plan, first = loaded.plan, entrants[0]
    two = first.assessment.task is Task.BINARY
    scored = two and all(isinstance(one.model.score, str) for one in entrants)
    given: dict[str, Any] = {
        "data": {one.name: one.rows.data for one in entrants},
        "truth": plan.columns.truth,
        "predicted": {one.name: _called(one) for one in entrants},
        "score": {one.name: one.model.score for one in entrants} if scored else None,
        "reading": first.rows.reading(loaded, pinned=False, truth=first.truth),
        "engine": plan.reading.engine,
        "limits": limits,
        "unmatched": plan.reading.unmatched,
    }
    if any(one.repeated for one in entrants):
        given["subject"] = plan.columns.subject
    if plan.columns.weight is not None:
        given["weight"] = plan.columns.weight
    if _one_table(entrants):
        return given | {"data": first.rows.data}
    given["id"] = plan.columns.id
    truths = {one.name: one.truth for one in entrants if one.truth is not None}
    given["truth_data"] = {name: truth.data for name, truth in truths.items()} or None
    truth = next(iter(truths.values()), None)  # all of one split
    given["reading"] = replace(first.rows.reading(loaded, pinned=False, truth=truth), table=None, query=None)
    for word in ("table", "query"):
        stated_ = {one.name: text for one in entrants if (text := getattr(one.rows, word)) is not None}
        given |= {word: stated_} if stated_ else {}
    return given


def _called(entrant: Entrant) -> str | Cut:
    """The labels of a model: its column, or what a threshold makes of its scores."""
    if entrant.model.predicted is not None:
        return entrant.model.predicted
    positive = cast("Label", entrant.assessment.positive)
    return Cut(
        score=cast("str", entrant.model.score),
        threshold=entrant.assessment.scores.thresholds[0].value,
        positive=positive,
        negative=next(label for label in entrant.assessment.labels if label != positive),
    )


def _channels(loaded: LoadedPlan, given: Mapping[str, Any]) -> list[str]:
    """Channel columns whose levels are compared: of one table, row by row, and none whose small cells stay hidden."""
    apart = "data" in given and not {"id", "subject", "weight"} & set(given)
    hidden = loaded.plan.fairness.smallest_cell is not None
    return list(dict.fromkeys(channel_columns(loaded.plan).values())) if apart and not hidden else []
