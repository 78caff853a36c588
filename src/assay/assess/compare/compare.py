# SPDX-License-Identifier: Apache-2.0
"""From rows, scores or values of several models to a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from assay.assess.arguments import IntervalSettings, ScoreSettings, TestSettings, with_settings
from assay.assess.compare.comparison import Comparison
from assay.assess.compare.comparison_requirements import (
    PAIR,
    agree_on_classes,
    check_one_score,
    demand_complete,
    demand_one_kind,
    fit_request,
    in_class_order,
)
from assay.assess.compare.joined_models import read_joined, read_unpaired
from assay.assess.compare.model_columns import (
    Given,
    Paired,
    by_own_ids,
    is_table,
    named,
    read_together,
    split_channels,
)
from assay.assess.compare.questions.request import Asked
from assay.assess.compare.value_comparison import Valued, compare_read
from assay.assess.environment import environment
from assay.core.errors import PlanError, unknown_choice
from assay.core.labels import Label
from assay.core.text import listed, visible
from assay.rows.files.file_list import are_paths
from assay.rows.files.formats import Reading
from assay.rows.label_types import Classes
from assay.tally.census import Census
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
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
    data, readings = _select_tables(named(tables, data), reading)
    given = Given(
        truth=truth, predicted=predicted, score=score, id=id, channel=tests.channel, subject=unit, weight=weight,
        pairing=tests.pairing, **readings, engine=engine, limits=limits, exact=scores.exact_scores, labels=labels,
        positive=positive, measures=chosen(measures),
    )  # fmt: skip
    if tests.independent:
        return _compared(read_unpaired(data, given), given, asked, apart=True)
    if isinstance(id, Mapping):
        data, given = by_own_ids(data, given)
    apart = isinstance(data, Mapping) and not is_table(data)
    return _compared([(read_joined if apart else read_together)(cast("Any", data), given)], given, asked, apart=False)


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
    asked = Asked.of(level, intervals or IntervalSettings(), tests, rows=rows, lower_is_better=lower_is_better)
    if values is None:
        raise PlanError("role-missing", "no values are given", where="values", fix='give values={"A": ..., "B": ...}')
    alone = len(tables) == 1 and data is None
    table = tables[0] if alone else named(tables, data)
    data, readings = _select_tables(table, reading)
    given = Valued(
        values=values, data=data, model=model, id=id, subject=unit, pairing=tests.pairing, **readings, per=per,
        independent=tests.independent, folds=folds, test_over_train=test_over_train, engine=engine, limits=limits,
    )  # fmt: skip
    return compare_read(given, asked)


def _select_tables(data: object, reading: Reading) -> tuple[object, dict[str, Any]]:
    """Return the data and how each model's table is read, by the tables and queries that `reading` names.

    >>> data, how = _select_tables("results.duckdb", Reading(tables={"old": "preds_1", "new": "preds_2"}))
    >>> data, how["readings"]["new"].table
    ({'old': 'results.duckdb', 'new': 'results.duckdb'}, 'preds_2')
    """
    tables, queries = dict(reading.tables or {}), dict(reading.queries or {})
    plain = replace(reading, tables=None, queries=None)
    names = list(dict.fromkeys((*tables, *queries)))
    if not names:
        return data, {"reading": plain}
    places = list(data.values()) if isinstance(data, Mapping) else [data]
    if len(places) == 1 and are_paths(places[0]):
        data = dict.fromkeys(names, places[0])
    models = [str(name) for name in data] if isinstance(data, Mapping) else []
    if unknown := [name for name in names if name not in models]:
        what, shown = f"a table is named for {listed(unknown)}, and there is no such model", listed(models)
        where = "table" if unknown[0] in tables else "query"
        fix = "name a model, and its table"
        raise unknown_choice(unknown[0], models, what, code="comparison-needs", where=where, known=shown, fix=fix)
    readings = {
        name: replace(plain, table=tables.get(name, plain.table), query=queries.get(name, plain.query))
        for name in models
    }
    return data, {"reading": replace(plain, table=None, query=None), "readings": readings}


def _check_given(*, truth: object, predicted: object, score: object) -> None:
    """Check that truth is given, and predictions or scores."""
    if predicted is None and score is None:
        fix = 'give predicted={"A": ..., "B": ...} or score={...}; or values: assay.compare_values(values={...})'
        raise PlanError("role-missing", "neither predictions nor scores are given", fix=fix)
    if truth is None:
        raise PlanError("role-missing", "no truth is given", where="truth", fix="give truth=...")


def _compared(parts: Sequence[Paired], given: Given, asked: Asked, *, apart: bool) -> Comparison:
    """Compare what was read of all models: together, or of each on rows of its own."""
    first, where = parts[0], "; ".join(part.where for part in parts)
    models = tuple(model for part in parts for model in part.models)
    true, called = _check_labels(parts, where)
    columns = {model: own for part in parts for model, own in (part.columns or {}).items()}
    settled, by_score = agree_on_classes(true, called, columns, given, where=where)
    classwise = bool(by_score) and settled.positive is None
    two = given.score is not None and not classwise
    if two and not first.by_unit:
        check_one_score(settled)
    pair = bool(called) and not first.by_unit and len(models) == PAIR
    asked = fit_request(asked, given, settled, labels=bool(called), scores=two, classwise=classwise, pair=pair)
    each = [_count(part, settled, by_score, classwise=classwise) for part in parts]
    tallies = {"apart": Apart.of(models, settled.labels, each)} if apart else each[0]
    rows = sum(part.rows for part in parts)
    together = "; ".join(dict.fromkeys(part.named for part in parts))
    return Comparison(
        tallies, asked, models=models, labels=settled.labels, positive=settled.positive,
        census=Census(read=rows, scored=rows), notes=(*settled.notes, *(note for part in parts for note in part.notes)),
        data={"from": together, "pairing": first.how, "files": dict(first.files), **given.selected()},
        proof=first.proof, found_in=environment(given.limits),
    )  # fmt: skip


def _check_labels(parts: Sequence[Paired], where: str) -> tuple[set[Label | None], set[Label | None]]:
    """Check that every row has its labels, all of one type, and return those of the truth and of the models."""
    for part in parts:
        demand_complete(part)
    true = {label for part in parts for label in part.true_labels()}
    called = {label for part in parts for cell in part.label_cells() for label in cell[1:]}
    demand_one_kind(true, called, where)
    return true, called


def _count(
    paired: Paired, settled: Classes, by_score: Mapping[str, tuple[Label, ...]], *, classwise: bool
) -> dict[str, Any]:
    """The tallies: joint cells and scores apart, or every row where rows are of subjects or have weights."""
    given, models, labels = paired.lines, paired.models, settled.labels
    scores = in_class_order(paired.scores, by_score, settled) if by_score else paired.scores
    if given is not None and paired.by_unit:
        if paired.channel:
            told = "leave out channel, or the subject"
            raise PlanError("comparison-needs", "channels are compared on rows of their own", fix=told)
        rows = PerUnit.of(
            truth=given.truth, labels=labels, models=models, calls=None if paired.cells is None else given.calls,
            scores=scores or None, subject=given.subject, weight=given.weight, times=given.times,
        )  # fmt: skip
        return {"rows": rows}
    tallies: dict[str, Any] = {}
    if paired.cells:
        cells = cast("dict[tuple[Label, ...], int]", paired.label_cells())
        tallies["paired"] = PairedLabels.from_cells(cells, models=models, labels=labels)
        tallies |= {"channels": split_channels(paired, labels)} if paired.channel else {}
    if paired.joint is not None:
        tallies["scores"] = paired.joint.for_positive(settled.positive)
    elif given is not None and classwise:
        tallies["rows"] = PerUnit.of(truth=given.truth, labels=labels, models=models, scores=scores)
    elif given is not None:
        tallies["scores"] = PairedScores.of(given.truth.are(settled.positive), scores)
    return tallies
