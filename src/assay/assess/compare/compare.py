# SPDX-License-Identifier: Apache-2.0
"""From rows, scores or values of several models to a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from assay.assess.arguments import IntervalSettings, ScoreSettings, TestSettings, with_settings
from assay.assess.compare.comparison import Comparison, answered
from assay.assess.compare.comparison_requirements import (
    PAIR,
    Declared,
    agree_on_classes,
    check_one_score,
    demand_complete,
    demand_one_kind,
    fit_request,
)
from assay.assess.compare.different_row_models import compare_apart
from assay.assess.compare.joined_models import apart
from assay.assess.compare.model_columns import Given, Paired, by_own_ids, channels, is_table, named, together
from assay.assess.compare.questions.request import Asked
from assay.assess.compare.value_comparison import Valued, compare_read
from assay.assess.environment import environment
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import listed, nearest, visible
from assay.rows.files.file_list import are_paths
from assay.rows.files.formats import Reading
from assay.rows.label_types import Classes
from assay.rows.source import no_rows
from assay.tally.census import Census
from assay.tally.labels.label_cells import Codes
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.scores.ranked_table import Ranked
from assay.tasks.classification.cost_matrix import Costs
from assay.tasks.classification.settings import chosen, demand_choice

if TYPE_CHECKING:
    from assay.measures import Measure
    from assay.rows.limits import Limits


@with_settings
def compare(
    *tables: object,
    truth: object = None,
    predicted: object = None,
    score: object = None,
    data: object = None,
    positive: Label | None = None,
    labels: Sequence[Label] | None = None,
    unit: object = None,
    weight: object = None,
    id: object = None,
    level: float = 0.95,
    measures: Iterable[str | Measure] | str | None = None,
    costs: object = None,
    engine: str | None = None,
    reading: Reading | None = None,
    limits: Limits | None = None,
    intervals: IntervalSettings | None = None,
    scores: ScoreSettings | None = None,
    tests: TestSettings | None = None,
    **options: object,
) -> Comparison:
    """Compare models on the same rows by the admissible test, with effects, intervals and corrected p values.

    tables: one table for each model, matched by id; or data={"A": ..., "B": ...}
    truth: the true labels
    predicted, score: by model, {"A": ..., "B": ...}; with one table a model the name of the column
    data: one table for all models, or one a model; a database has a table or query for all, or one a model
    positive, labels, weight, level, measures, costs, engine: as in `assess`
    unit: what was drawn from the population, where that is not a row: subject, patient, image (also `subject`)
    id: the column that names each row, or one for each model
    reading, limits, intervals, scores: rare settings; see Reading, Limits, IntervalSettings, ScoreSettings
    tests: which test, its margin, correction and pairing; see TestSettings
    options: task="regression" for another task than classification, with the roles and options of that task

    >>> c = compare(truth=[1, 1, 1, 0, 0], predicted={"A": [1, 1, 1, 0, 0], "B": [1, 0, 0, 0, 1]})
    >>> round(c["mcnemar"].p, 6)
    0.125
    """
    if (task := options.pop("task", None)) not in (None, "classification", "binary", "multiclass"):
        given_ = {
            "truth": truth, "predicted": predicted, "score": score, "data": data, "unit": unit, "weight": weight,
            "id": id, "positive": positive, "labels": labels, "costs": costs, "measures": measures, "engine": engine,
            "reading": reading, "limits": limits, "intervals": intervals, "scores": scores, **options,
        }  # fmt: skip
        from assay.assess.compare.task_comparison import compare_task

        stated = {name: value for name, value in given_.items() if value is not None}
        return cast("Comparison", compare_task(str(task), *tables, tests=tests, level=level, **stated))  # the same face
    if options:
        name = next(iter(options))
        raise PlanError("option-unknown", f'compare has no parameter "{visible(name)}"', fix="leave it out")
    reading, tests, scores = reading or Reading(), tests or TestSettings(), scores or ScoreSettings()
    demand_choice("unmatched", reading.unmatched)
    asked = Asked.of(level, intervals or IntervalSettings(), tests, costs=Costs.read(costs))
    _check_given(truth=truth, predicted=predicted, score=score)
    selection = _select_tables(named(tables, data), reading)
    data = selection.data
    wanted = chosen(measures)
    given = Given(
        truth=truth, predicted=predicted, score=score, id=id, channel=tests.channel, subject=unit, weight=weight,
        pairing=tests.pairing, reading=selection.reading, readings=selection.readings, engine=engine, limits=limits,
        labels=labels, spelled=reading.spelled, exact=scores.exact_scores, truth_data=reading.truth_data,
        unmatched=reading.unmatched,
        by_row=tuple(one.title for one in wanted or () if one.takes is Ranked and one.name != "auroc"),
    )  # fmt: skip
    declared = Declared(labels=labels, positive=positive, measures=wanted, spelled=reading.spelled)
    if tests.independent:
        return compare_apart(data, given, asked, declared)
    if isinstance(id, Mapping):
        data, given = by_own_ids(data, given)
    paired = apart(data, given) if isinstance(data, Mapping) and not is_table(data) else together(data, given)
    return _compared(replace(paired, selected=selection.told()), asked, declared, limits)


@with_settings
def compare_values(
    *tables: object,
    values: object = None,
    model: object = None,
    data: object = None,
    id: object = None,
    unit: object = None,
    per: str = "item",
    lower_is_better: bool = False,
    folds: int | None = None,
    rows: int = 0,
    test_over_train: object = None,
    level: float = 0.95,
    engine: str | None = None,
    reading: Reading | None = None,
    limits: Limits | None = None,
    intervals: IntervalSettings | None = None,
    tests: TestSettings | None = None,
) -> Comparison:
    """Compare models by values of a measure that were computed elsewhere.

    tables, data, id, unit, level, engine, reading, limits, intervals, tests: as in `compare`
    values: by model, {"A": ..., "B": ...}, or one column beside the names of the models
    model: the column that names the model of each value
    per: what a value belongs to: "item", "data set", "fold", "repeat", "5x2" or "halves"
    lower_is_better: whether a smaller value is better
    folds, test_over_train: the number of folds, or the size of a test part over that of its training part
    rows: the number of rows of the data set that values were resampled from

    >>> compare_values(values={"A": [0.81, 0.84, 0.9], "B": [0.7, 0.75, 0.8]}, per="data set").models
    ('A', 'B')
    """
    reading, tests = reading or Reading(), tests or TestSettings()
    asked = Asked.of(level, intervals or IntervalSettings(), tests, rows=rows)
    if values is None:
        raise PlanError("role-missing", "no values are given", where="values", fix='give values={"A": ..., "B": ...}')
    alone = len(tables) == 1 and data is None
    table = tables[0] if alone else named(tables, data)
    selection = _select_tables(table, reading)
    given = Valued(
        values=values, data=selection.data, model=model, id=id, subject=unit, pairing=tests.pairing,
        reading=selection.reading, readings=selection.readings, per=per, independent=tests.independent,
        lower_is_better=lower_is_better, folds=folds, test_over_train=test_over_train, engine=engine, limits=limits,
    )  # fmt: skip
    return compare_read(given, asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selected:
    """The data, how they are read, and how each model's own table is."""

    data: object
    reading: Reading | None
    readings: Mapping[str, Reading] = field(default_factory=dict)

    def told(self) -> dict[str, object]:
        """As in a Record: the table or query of all models, or of each by name."""
        out: dict[str, object] = {}
        for word in ("table", "query"):
            own = {model: text for model, one in self.readings.items() if (text := getattr(one, word)) is not None}
            if (found := own or getattr(self.reading, word, None)) is not None:
                out |= {word: found}
        every = next(iter(self.readings.values()), self.reading)  # the truth is one for all
        return out | {
            word: text for word in ("truth_table", "truth_query") if (text := getattr(every, word, None)) is not None
        }


def _select_tables(data: object, reading: Reading) -> _Selected:
    """Return the data and how each model's table is read, by the tables and queries that `reading` names.

    >>> selection = _select_tables("results.duckdb", Reading(tables={"old": "preds_1", "new": "preds_2"}))
    >>> selection.data, selection.readings["new"].table
    ({'old': 'results.duckdb', 'new': 'results.duckdb'}, 'preds_2')
    """
    tables, queries = dict(reading.tables or {}), dict(reading.queries or {})
    plain = replace(reading, tables=None, queries=None)
    names = list(dict.fromkeys((*tables, *queries)))
    if not names:
        return _Selected(data=data, reading=plain)
    places = list(data.values()) if isinstance(data, Mapping) else [data]
    if len(places) == 1 and are_paths(places[0]):
        data = dict.fromkeys(names, places[0])
    models = [str(name) for name in data] if isinstance(data, Mapping) else []
    if unknown := [name for name in names if name not in models]:
        close = nearest(unknown[0], models)
        raise PlanError(
            "comparison-needs",
            f"a table is named for {listed(unknown)}, and there is no such model",
            where="table" if unknown[0] in tables else "query",
            known=listed(models) or None,
            fix=f'did you mean "{close}"?' if close else "name a model, and its table",
        )
    readings = {
        name: replace(plain, table=tables.get(name, plain.table), query=queries.get(name, plain.query))
        for name in models
    }
    return _Selected(data=data, reading=replace(plain, table=None, query=None), readings=readings)


def _check_given(*, truth: object, predicted: object, score: object) -> None:
    """Check that truth is given, and predictions or scores."""
    if predicted is None and score is None:
        raise PlanError(
            "role-missing",
            "neither predictions nor scores are given",
            fix='give predicted={"A": ..., "B": ...} or score={...}; or values: assay.compare_values(values={...})',
        )
    if truth is None:
        raise PlanError("role-missing", "no truth is given", where="truth", fix="give truth=...")


def _compared(paired: Paired, asked: Asked, declared: Declared, limits: Limits | None) -> Comparison:
    """Compare what was read of all models."""
    cells = paired.label_cells()
    rows, true = paired.rows_and_truth()
    if not rows:
        raise no_rows(paired.where)
    demand_complete(paired, cells)
    called = {label for cell in cells for label in cell[1:]}
    demand_one_kind(true, called, paired)
    agreed = agree_on_classes(true, called, paired.scores, paired.columns, declared, where=paired.where)
    settled = agreed.classes
    paired = replace(paired, scores=agreed.scores, columns=paired.columns if agreed.classwise else None)
    two = paired.joint is not None or (paired.scores is not None and paired.columns is None)
    if two and paired.lines is None:
        check_one_score(settled)
    by_cell = bool(cells) and paired.lines is None
    asked = fit_request(
        asked,
        declared,
        settled,
        labels=bool(cells),
        scores=two,
        classwise=paired.columns is not None,
        pair=by_cell and len(paired.models) == PAIR,
    )
    tallies = _held(paired, cells, settled)
    return Comparison(
        answers=tuple(answered(tallies, asked, settled.positive, {})),
        asked=asked,
        models=paired.models,
        labels=settled.labels,
        positive=settled.positive,
        census=Census(read=rows, scored=rows),
        **tallies,
        notes=(*settled.notes, *paired.notes),
        data={"from": paired.named, "pairing": paired.how, "files": dict(paired.files or {}), **paired.selected},
        proof=paired.proof,
        found_in=environment(limits),
    )


def _held(paired: Paired, cells: Mapping[tuple[Label | None, ...], int], settled: Classes) -> dict[str, Any]:
    """The tallies: joint cells and scores apart, or every row where rows are of subjects or have weights."""
    tallies: dict[str, Any] = {}
    if paired.lines is not None:
        if paired.channel:
            told = "leave out channel, or the subject"
            raise PlanError("comparison-needs", "channels are compared on rows of their own", fix=told)
        given = paired.lines
        tallies["rows"] = PerUnit.of(
            truth=given.truth,
            labels=settled.labels,
            models=paired.models,
            calls=given.calls if paired.cells is not None else None,
            scores=paired.scores,
            subject=given.subject,
            weight=given.weight,
            times=given.times,
        )
        return tallies
    if cells:
        tallies["paired"] = PairedLabels.from_cells(
            cast("dict[tuple[Label, ...], int]", cells), models=paired.models, labels=settled.labels
        )
    if cells and paired.channel:
        tallies["channels"] = channels(paired, settled.labels)
    if paired.columns is not None:
        tallies["rows"] = PerUnit.of(
            truth=paired.truth or (), labels=settled.labels, models=paired.models, scores=paired.scores
        )
    elif paired.joint is not None:
        tallies["scores"] = paired.joint.for_positive(settled.positive)
    elif paired.scores is not None:
        tallies["scores"] = PairedScores.of(cast("Codes", paired.truth).are(settled.positive), paired.scores)
    return tallies
