# SPDX-License-Identifier: Apache-2.0
"""The comparison that a plan with several models makes of its own accord, on the rows they were all tested on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from assay.assess.conformity.plan_sources import Held
from assay.assess.decide.claims import Claim
from assay.assess.decide.plan_results import Standing, standing_of
from assay.assess.plan.checked_plan import LoadedPlan, stated
from assay.assess.plan.plan_answers import channel_columns
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import counted
from assay.core.traits import Better, Task
from assay.core.values import Undefined
from assay.inference.power import alpha_of
from assay.measures import Measure, parse
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.scored_source import Cut
from assay.tally.labels.confusion import Confusion
from assay.tasks.classification.estimates import value_alone
from assay.tasks.classification.settings import ONE_CLASS
from assay.tasks.classification.tally import Classified

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.conformity.plan_run import Contest
    from assay.assess.conformity.plan_sources import PlanFiles
    from assay.assess.plan.section_fields import Model
    from assay.rows.limits import Limits
    from assay.tally.data.split_counts import SplitRows

CORRECTIONS: Final = {"benjamini-hochberg": "fdr_bh", "benjamini-yekutieli": "fdr_by"}
"""What a plan calls a correction, where the table of corrections calls it otherwise."""
SCHEMES: Final = ("k-fold", "repeated-k-fold", "leave-one-out", "nested", "5x2")
"""Validation schemes with folds."""
FOLD, ROUND = "fold", "repetition"
UNMATCHED: Final = "the models lie in files of their own, and columns.id does not say how their rows are matched"


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


def request_of(
    loaded: LoadedPlan, entrants: Sequence[Entrant], limits: Limits | None = None, opened: PlanFiles | None = None
) -> tuple[dict[str, Any], list[str]]:
    """How the models of one split are compared, on the rows they all answered or by values, and the channels of these.

    An error where they are not compared.
    """
    plan = loaded.plan
    alone = any(one.model.predicted is None and not isinstance(one.model.score, str) for one in entrants)
    for holds, why in (
        (stated(plan.tests.none), f"stated: {plan.tests.none}"),
        (alone, "labels that the largest score calls are not compared; give them as a column"),
        (not _one_table(entrants) and plan.columns.id is None, UNMATCHED),
    ):
        if holds:
            raise PlanError("comparison-needs", why, fix="see the plan")
    values = _values(loaded, entrants, opened)
    given = values or _given(loaded, entrants, limits) | _wanted(loaded, entrants)
    how = {
        "level": plan.intervals.level if plan.tests.alpha is None else alpha_of(plan.tests.alpha),
        "correction": CORRECTIONS.get(plan.tests.correction or "", "holm"),
        "seed": plan.intervals.seed,
    }
    return how | given, [] if values else _channels(loaded, given)


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


def _one_table(entrants: Sequence[Entrant]) -> bool:
    """Whether every model has its answers beside the truth, in the same rows."""
    return len({one.rows.places for one in entrants}) == 1 and all(one.truth is None for one in entrants)


def _wanted(loaded: LoadedPlan, entrants: Sequence[Entrant]) -> dict[str, Any]:
    plan, first = loaded.plan, entrants[0].assessment
    primary = None if plan.metrics.primary is None else parse(plan.metrics.primary)
    fits = primary is not None and primary.from_labels and primary.name != "accuracy"
    fits &= first.task is Task.BINARY or primary is None or primary.takes not in ONE_CLASS
    measures, costs = [primary] if fits else None, first.settings.costs
    return {"positive": first.positive, "labels": list(first.labels), "measures": measures, "costs": costs}


def _values(loaded: LoadedPlan, entrants: Sequence[Entrant], opened: PlanFiles | None) -> dict[str, Any] | None:
    """Values that are compared in place of labels: a table that the plan names, or those of the folds."""
    tests = loaded.plan.tests
    if tests.values is not None:
        given = {
            "data": str(loaded.folder / tests.values),
            "values": {entrant.name: entrant.name for entrant in entrants},
            **{name: getattr(tests, name) for name in ("per", "folds", "independent", "variance", "lower_is_better")},
        }
        return {name: value for name, value in given.items() if value is not None}
    if opened is None or any(entrant.truth is not None for entrant in entrants):
        return None
    return _fold_values(loaded, entrants, opened)


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
    negative = next(label for label in entrant.assessment.labels if label != positive)
    threshold, score = entrant.assessment.scores.thresholds[0].value, cast("str", entrant.model.score)
    return Cut(score=score, threshold=threshold, positive=positive, negative=negative)


def _channels(loaded: LoadedPlan, given: Mapping[str, Any]) -> list[str]:
    """Channel columns whose levels are compared: of one table, row by row, and none whose small cells stay hidden."""
    apart = "data" in given and not {"id", "subject", "weight"} & set(given)
    hidden = loaded.plan.fairness.smallest_cell is not None
    return list(dict.fromkeys(channel_columns(loaded.plan).values())) if apart and not hidden else []


def _fold_values(loaded: LoadedPlan, entrants: Sequence[Entrant], opened: PlanFiles) -> dict[str, Any] | None:
    """What fold-wise tests are given, where the test rows lie in folds; None where the folds are of other rows."""
    plan = loaded.plan
    if plan.tuning.scheme not in SCHEMES:
        return None
    measure = _measure(plan.metrics.primary, positive=entrants[0].assessment.positive is not None)
    values: dict[str, list[float]] = {}
    places: list[tuple[Any, ...]] = []
    rows = 0
    for entrant in entrants:
        cells = _cells(loaded, entrant, opened.predictions.get(entrant.name), opened.folds)
        if cells is None:
            _demand_folds(loaded)
            return None
        if places and list(cells) != places:
            raise PlanError("comparison-needs", "the models were tested on different folds", fix="use one fold table")
        places, rows = list(cells), sum(sum(part.values()) for part in cells.values())
        values[entrant.name] = [_value(entrant, part, measure, place) for place, part in cells.items()]
    sizes = {place[0]: sum(other[0] == place[0] for other in places) for place in places}
    k = max(sizes.values())
    if min(sizes.values()) != k or k < 2:  # noqa: PLR2004
        raise PlanError("comparison-needs", "the repetitions have different numbers of folds", fix="correct the table")
    five = plan.tuning.scheme == "5x2"
    return {
        "values": values, "per": "5x2" if five else FOLD, "rows": rows // len(sizes),
        "lower_is_better": measure.better is Better.LOWER,
    } | ({} if five else {"folds": k})  # fmt: skip


def _demand_folds(loaded: LoadedPlan) -> None:
    """Folds that are not those of the test rows: fine for a trained model, no basis for a claim about algorithms."""
    if loaded.plan.purpose.estimand == "algorithm":
        what = "values of folds are compared fold by fold, and nothing tells the fold of each test row"
        fix = f'give the predictions a column "{FOLD}" (and "{ROUND}"), or name tuning.folds and columns.id'
        raise PlanError("comparison-needs", what, fix=fix)


def _measure(primary: str | None, *, positive: bool) -> Measure:
    """The primary measure where labels show it, else accuracy."""
    measure = parse(primary or "accuracy")
    fits = measure.from_labels and not measure.from_scores and (positive or measure.average is not None)
    return measure if fits or measure.name == "accuracy" else parse("accuracy")


def _cells(
    loaded: LoadedPlan, entrant: Entrant, table: SplitRows | None, folds: SplitRows | None
) -> dict[tuple[Any, ...], dict[tuple[Label, Label], int]] | None:
    """By repetition and fold: rows by truth and answer; None where the rows are not in folds."""
    columns = loaded.plan.columns
    if table is None or columns.truth is None:
        return None
    truth, called = quote_identifier(columns.truth), _call(entrant)
    if table.has(FOLD):
        round_ = quote_identifier(ROUND) if table.has(ROUND) else "1"
        cells = table.opened.fetch(f"SELECT {round_}, {FOLD}, {truth}, {called}, count(*) FROM rows GROUP BY ALL")  # noqa: S608
        return _by_fold(entrant, cells)
    if folds is None or columns.id is None or not folds.has(columns.id, FOLD) or folds.has("inner"):
        return None
    name = quote_identifier(columns.id)
    place = {str(id_): fold for id_, fold in folds.opened.fetch(f"SELECT {name}, {FOLD} FROM rows")}  # noqa: S608
    rows = table.opened.fetch(f"SELECT {name}, {truth}, {called} FROM rows")  # noqa: S608  quoted
    if folds.rows() > len(place) or any(str(id_) not in place for id_, *_ in rows):
        return None  # several repetitions, or rows that are in no fold
    return _by_fold(entrant, [(1, place[str(id_)], truth, answer, 1) for id_, truth, answer in rows])


def _call(entrant: Entrant) -> str:
    """The answer of a model, as its engine reads it: a column, or what a threshold makes of scores."""
    cut = _called(entrant)
    if isinstance(cut, str):
        return quote_identifier(cut)
    yes, no = ("'" + str(label).replace("'", "''") + "'" for label in (cut.positive, cut.negative))
    return (
        f"CASE WHEN CAST({quote_identifier(cut.score)} AS DOUBLE) >= {float(cut.threshold)!r} THEN {yes} ELSE {no} END"
    )


def _by_fold(
    entrant: Entrant, rows: Sequence[tuple[Any, ...]]
) -> dict[tuple[Any, ...], dict[tuple[Label, Label], int]]:
    known = {str(label): label for label in entrant.assessment.labels}
    by_fold: dict[tuple[Any, ...], dict[tuple[Label, Label], int]] = {}
    in_order = sorted(rows, key=lambda row: [(len(str(part)), str(part)) for part in row[:2]])
    for round_, fold, truth, answer, n in in_order:
        true, called = known.get(str(truth)), known.get(str(answer))
        if true is None or called is None or fold is None:
            what = f"{entrant.name}: rows without a fold, a truth or an answer"
            raise PlanError("comparison-needs", what, fix="complete them")
        part = by_fold.setdefault((round_, fold), {})
        part[true, called] = part.get((true, called), 0) + int(n)
    return by_fold


def _value(entrant: Entrant, cells: Mapping[tuple[Label, Label], int], measure: Measure, place: object) -> float:
    confusion = Confusion.from_cells(cells, labels=tuple(entrant.assessment.labels))
    value = value_alone(Classified(confusion=confusion, positive=entrant.assessment.positive), measure)
    if isinstance(value, Undefined):
        what = f"{measure.title} of {entrant.name} is undefined in {counted(1, 'fold')}: {value.reason}"
        fix = "plan another primary measure, or fewer, larger folds"
        raise PlanError("comparison-needs", what, where=f"repetition and fold {place}", fix=fix)
    return float(value.value)
