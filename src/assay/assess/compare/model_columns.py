# SPDX-License-Identifier: Apache-2.0
"""Bringing the answers of several models together: those of one table, and what columns of models mean."""

from __future__ import annotations

import os
import string
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, cast

import numpy as np

from assay.assess.compare.comparison_requirements import demand_holdable, demand_two
from assay.assess.provenance import origin
from assay.core.errors import PlanError
from assay.core.labels import Label, in_order
from assay.core.text import counted, listed
from assay.rows.files.formats import Reading
from assay.rows.joins.mismatch_errors import SUBJECT, Join, Unmatched
from assay.rows.joins.threshold_labels import opened_cut
from assay.rows.limits import EXACT, Limits
from assay.rows.open import demand_whole, open_source
from assay.rows.score_columns import ScoreColumns, score_columns
from assay.rows.source import Roles, Source
from assay.tally.labels.label_cells import Codes
from assay.tally.paired.engine_joint_scores import JointScores, count_joint_scores
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_counts import Cell, Lines, joint, lines, scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The columns by role, as the user gave them."""

    truth: object
    predicted: object = None
    score: object = None
    id: object = None
    channel: object = None
    subject: object = None
    weight: object = None
    pairing: str | None = None
    reading: Reading | None = None
    readings: Mapping[str, Reading] = field(default_factory=dict)
    """How the table of a model is read, where that was said by model."""
    engine: str | None = None
    limits: Limits | None = None
    exact: int = EXACT
    """Distinct scores of a table, and rows of subjects or with weights that have scores, up to which they are held."""
    by_row: tuple[str, ...] = ()
    """Measures asked for that read scores row by row."""
    labels: Sequence[Label] | None = None
    spelled: bool = False
    truth_data: object = None
    """The table that holds the truth, where that is not the one of the predictions; or one a model."""
    unmatched: Unmatched = "error"

    def opened(self, data: object, roles: Roles, model: str | None = None) -> Source:
        """The rows of a table, of one model or of all, after a look at how stated labels are stored."""
        reading = self.reading if model is None else self.reading_of(model)
        truth = self.truth_data if model is None else self.truth_of(model)

        def open_(wanted: Roles) -> Source:
            own = wanted if truth is None and model is not None else replace(wanted, id=self.id)
            stated = replace(reading or Reading(), unmatched=self.unmatched)
            return open_source(data, own, stated, engine=self.engine, limits=self.limits, truth_data=truth)

        source = opened_cut(open_, roles)
        try:
            demand_whole(source, self.labels, spelled=self.spelled)
        except BaseException:
            source.close()
            raise
        return source

    def reading_of(self, model: str) -> Reading | None:
        """How the table of a model is read."""
        own = self.readings.get(model, self.reading)
        if own is None or self.truth_of(model) is not None:
            return own
        return replace(own, truth_table=None, truth_query=None)

    def truth_of(self, model: str) -> object:
        """The table that holds the truth of a model's rows, if that is another one."""
        return self.truth_data.get(model) if isinstance(self.truth_data, Mapping) else self.truth_data


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """What was read: joint cells, scores beside their truth, and the proof that all models saw the same rows."""

    models: tuple[str, ...]
    cells: dict[Cell, int] | None
    truth: Codes | None
    scores: dict[str, Any] | None
    where: str
    named: str
    """What a Record calls the rows."""
    proof: str | None
    how: str
    channel: bool = False
    files: Mapping[str, str] | None = None
    lines: Lines | None = None
    """Row by row, where rows are of subjects or have weights."""
    selected: Mapping[str, object] = field(default_factory=dict)
    """The tables or queries of databases that were asked for."""
    joint: JointScores | None = None
    """Joint counts of rounded scores, where there are more than are held row by row."""
    columns: Mapping[str, ScoreColumns] | None = None
    """Which score column is of which class, as far as was said, where every class has one; by model."""
    notes: tuple[str, ...] = ()
    """What is to be said of the rows."""

    def label_cells(self) -> dict[Cell, int]:
        """How often each combination of truth and predictions occurs, channels put together."""
        cells: dict[Cell, int] = {}
        for cell, n in (self.cells or {}).items():
            labels = cell[: len(self.models) + 1]
            cells[labels] = cells.get(labels, 0) + n
        return cells

    def rows_and_truth(self) -> tuple[int, set[Label | None]]:
        """The number of rows and the true labels, from cells, joint counts of scores or rows."""
        if self.cells is not None:
            return sum(self.cells.values()), {cell[0] for cell in self.cells}
        if self.joint is not None:
            return sum(self.joint.truth.values()), set(self.joint.truth)
        return (0, set()) if self.truth is None else (len(self.truth), self.truth.seen())


def together(data: object, given: Given) -> Paired:
    """All models in one table: a row is a row of every model."""
    called = by_model(given.predicted, "predicted") if given.predicted is not None else {}
    scored_by = by_model(given.score, "score") if given.score is not None else {}
    models = tuple(called or scored_by)
    if called and scored_by and set(called) != set(scored_by):
        raise PlanError(
            "comparison-needs",
            "predictions and scores are of different models",
            found=f"{listed(called)} and {listed(scored_by)}",
            fix="give both of every model, or one kind only",
        )
    demand_two(models)
    columns = Columns(
        truth=given.truth,
        models=models,
        called=called,
        scored=scored_by,
        by_class=score_classes(scored_by),
        channel=given.channel,
        subject=given.subject,
        weight=given.weight,
        exact=given.exact,
        by_row=given.by_row,
    )

    def opened(roles: Roles) -> closing[Source]:
        return closing(given.opened(data, roles))

    return read_rows(columns, opened)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of one table that holds the answers of all models."""

    truth: object
    models: tuple[str, ...]
    called: Mapping[str, object]
    scored: Mapping[str, object]
    by_class: Mapping[str, ScoreColumns] | None
    channel: object = None
    subject: object = None
    weight: object = None
    exact: int = EXACT
    by_row: tuple[str, ...] = ()
    held: bool = False
    """Whether the rows are in memory already, where an engine reads them."""

    @property
    def answers(self) -> Roles:
        """Truth and calls by role: those of the first model are predictions, of the others groups."""
        rest = {f"prediction of {name}": self.called[name] for name in self.models[1:]} if self.called else {}
        extra = {} if self.channel is None else {"channel": self.channel}
        first = self.called[self.models[0]] if self.called else self.truth
        return Roles(truth=self.truth, predicted=first, group={**rest, **extra})

    @property
    def scores(self) -> ScoreColumns | None:
        """The score columns of all models, one behind the other."""
        if not self.scored:
            return None
        many = self.by_class
        flat = [one for name in self.models for one in many[name].columns] if many else list(self.scored.values())
        return ScoreColumns(columns=tuple(flat))


def read_rows(columns: Columns, opened: Callable[[Roles], AbstractContextManager[Source]]) -> Paired:
    """Cells, scores and lines of one table, which is opened for each with the columns that it takes."""
    from assay.rows.scored_source import sound

    models, roles, scores = columns.models, columns.answers, columns.scores
    with opened(roles) as source:
        cells = joint(source) if columns.called else None
        named_as, files = origin(source)
        where, notes = source.where, left_out(source.join)
    values: dict[str, Any] | None = None
    truths: Codes | None = None
    rows: Lines | None = None
    joint_scores: JointScores | None = None
    if columns.subject is not None or columns.weight is not None:
        group = {name: column for name, column in roles.group.items() if name != "channel"}
        group |= {} if columns.subject is None else {SUBJECT: columns.subject}
        wanted = replace(roles, group=group, weight=columns.weight, score=scores)
        with opened(wanted) as source:
            if scores is not None:
                _demand_holdable(source, columns, "scores of subjects or with weights", cells)
            rows = lines(source if scores is None else sound(source, "any", single=False, drop=False)[0])
        if scores is not None:
            truths, values = rows.truth, by_name(models, rows.scores)
    elif scores is not None:
        with opened(Roles(truth=columns.truth, predicted=columns.truth, score=scores)) as source:
            fit, _ = sound(source, "any", single=False, drop=False)
            if not columns.by_class:
                joint_scores = count_joint_scores(fit, models, exact=columns.exact, by_row=columns.by_row)
            if columns.by_class:
                _demand_holdable(fit, columns, "rows with scores of several classes", cells)
            truths, found = scored(fit) if joint_scores is None else (None, ())
        values = by_name(models, found) if joint_scores is None else None
    return Paired(
        models=models,
        cells=cells,
        truth=truths,
        scores=values,
        where=where,
        named=named_as,
        proof=None,
        how="one table: every row holds the answers of all models",
        channel=columns.channel is not None,
        files=files,
        lines=rows,
        columns=columns.by_class,
        joint=joint_scores,
        notes=notes,
    )


def _demand_holdable(source: Source, columns: Columns, what: str, cells: Mapping[Cell, int] | None) -> None:
    if not columns.held:
        demand_holdable(source, columns.exact, f"{what} are compared one by one here", cells)


def left_out(join: Join | None, model: str | None = None) -> tuple[str, ...]:
    """The note that rows without a partner were not compared, if there were any."""
    if join is None or not join.unmatched:
        return ()
    whose = "" if model is None else f"{model}: "
    return (f"{whose}{counted(join.unmatched, 'row')} without truth or without prediction left out, as stated",)


def score_classes(scored_by: Mapping[str, object]) -> dict[str, ScoreColumns] | None:
    """The score columns of each model, where every class has one; None where there is one a model."""
    found = {name: score_columns(given) for name, given in scored_by.items()}
    many = {name: one for name, one in found.items() if one is not None and not one.single}
    if not many:
        return None
    sizes = {name: 1 if name not in many else len(many[name].columns) for name in scored_by}
    if len(set(sizes.values())) > 1:
        raise PlanError(
            "score-columns",
            "the models do not have the same number of score columns",
            where="score",
            found=", ".join(f"{name} {n:,}" for name, n in sizes.items()),
            fix="give every model one column for each class, or every model the one of the positive class",
        )
    return many


def by_name(models: Sequence[str], columns: Sequence[Any]) -> dict[str, Any]:
    """One column a model, or as many for each side by side."""
    k = len(columns) // len(models)
    if k == 1:
        return dict(zip(models, columns, strict=True))
    return {name: np.column_stack(columns[i * k : (i + 1) * k]) for i, name in enumerate(models)}


def own_column(given: object, model: str) -> object:
    """The column of one model, where each names its own."""
    return given[model] if isinstance(given, Mapping) and model in given else given


def named(tables: Sequence[object], data: object) -> object:
    """Tables given one after the other, by the name of their file, or as A, B, C."""
    if not tables:
        return data
    if data is not None:
        raise PlanError("role-clash", "tables are given twice", where="data", fix="leave data= out, or the tables")
    files = [isinstance(one, (str, os.PathLike)) for one in tables]
    letters = string.ascii_uppercase
    names = [
        PurePath(os.fspath(cast("str", one))).stem if file else letters[i % len(letters)]
        for i, (one, file) in enumerate(zip(tables, files, strict=True))
    ]
    if len(set(names)) != len(names) and all(files):
        names = [os.fspath(cast("str", one)) for one in tables]
    if len(set(names)) != len(names):
        raise PlanError(
            "role-clash",
            "two tables have the same name",
            found=listed(names),
            fix='name them: data={"A": ..., "B": ...}',
        )
    return dict(zip(names, tables, strict=True))


def by_own_ids(data: object, given: Given) -> tuple[object, Given]:
    """Columns of every model with ids of their own, as one table a model."""
    roles = {"truth": given.truth, "predicted": given.predicted, "score": given.score, "id": given.id}
    roles |= {"subject": given.subject, "weight": given.weight}
    roles = {role: columns for role, columns in roles.items() if columns is not None}
    single = [role for role, columns in roles.items() if not isinstance(columns, Mapping)]
    if data is not None or single:
        raise PlanError(
            "comparison-needs",
            f"every model has ids of its own, but not {listed(single) if single else 'columns of its own'}",
            fix='give truth={"A": ..., "B": ...} as well: each column in the order of its ids',
        )
    by = {role: by_model(columns, role) for role, columns in roles.items()}
    models = list(by["id"])
    for role, columns in by.items():
        if list(columns) != models:
            raise PlanError(
                "comparison-needs",
                f"id and {role} are of different models",
                found=f"{listed(models)} and {listed(columns)}",
                fix="give every column of every model, in one order",
            )
    if "score" in by and score_classes(by["score"]) is not None:
        raise PlanError(
            "comparison-needs",
            "scores of all classes are matched by id from tables, not from columns",
            where="score",
            fix='give one table a model: data={"A": ..., "B": ...}, score={label: column, ...}, id=COLUMN',
        )
    names = {role: role for role in by}
    tables = {model: {role: columns[model] for role, columns in by.items()} for model in models}
    return tables, replace(given, **cast("dict[str, Any]", names))


def by_model(given: object, role: str) -> dict[str, object]:
    """Columns by the name of their model."""
    if not isinstance(given, Mapping):
        raise PlanError(
            "comparison-needs",
            f"{role} is a {type(given).__name__}, and a comparison needs one column a model",
            where=role,
            fix=f'give {role}={{"A": ..., "B": ...}}',
        )
    return {str(name): column for name, column in given.items()}


def channels(paired: Paired, labels: Sequence[Label]) -> dict[str, PairedLabels]:
    """The paired tally of each channel."""
    by: dict[Label | None, dict[tuple[Label, ...], int]] = {}
    for cell, n in (paired.cells or {}).items():
        *answer, level = cell
        inner = by.setdefault(level, {})
        key = cast("tuple[Label, ...]", tuple(answer))
        inner[key] = inner.get(key, 0) + n
    order = [*in_order(level for level in by if level is not None), *([None] if None in by else [])]
    return {
        "(missing)" if level is None else str(level): PairedLabels.from_cells(
            by[level], models=paired.models, labels=labels
        )
        for level in order
    }


def is_table(data: Mapping[Any, Any]) -> bool:
    """Whether a mapping holds columns, rather than one table a model."""
    first = next(iter(data.values()), None)
    if isinstance(first, (str, os.PathLike, Mapping)):
        return False
    dimensions = getattr(first, "ndim", None)  # a frame of Spark Connect has any attribute, as a column
    return isinstance(first, (list, tuple, np.ndarray)) or (isinstance(dimensions, int) and dimensions == 1)
