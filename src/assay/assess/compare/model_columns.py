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
from assay.measures.declare import Measure
from assay.rows.files.formats import Reading
from assay.rows.joins.mismatch_errors import SUBJECT, Join
from assay.rows.limits import EXACT, Limits
from assay.rows.open import demand_whole, open_source
from assay.rows.score_columns import ScoreColumns, score_columns
from assay.rows.scored_source import opened_cut
from assay.rows.source import Roles, Source
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_counts import Cell, JointScores, Lines, count_joint_scores, joint, lines, scored
from assay.tally.scores.ranked_table import Ranked


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The columns by role as the user gave them, how their tables are read, and what is declared of the classes."""

    truth: object = None
    predicted: object = None
    score: object = None
    id: object = None
    channel: object = None
    subject: object = None
    weight: object = None
    pairing: str | None = None
    reading: Reading = field(default_factory=Reading)
    readings: Mapping[str, Reading] = field(default_factory=dict)
    """How the table of a model is read, where that was said by model."""
    engine: str | None = None
    limits: Limits | None = None
    exact: int = EXACT
    """Distinct scores of a table, and rows of subjects or with weights that have scores, up to which they are held."""
    labels: Sequence[Label] | None = None
    positive: Label | None = None
    measures: tuple[Measure, ...] | None = None
    held: bool = False
    """Whether the rows are in memory already, where an engine reads them."""

    @property
    def by_unit(self) -> bool:
        """Whether rows are of subjects or have weights."""
        return self.subject is not None or self.weight is not None

    @property
    def by_row(self) -> tuple[str, ...]:
        """The measures asked for that read scores of two classes row by row."""
        return tuple(
            measure.title for measure in self.measures or () if measure.takes is Ranked and measure.name != "auroc"
        )

    def opened(self, data: object, roles: Roles, model: str | None = None) -> Source:
        """The rows of a table, of one model or of all, after a look at how stated labels are stored."""
        reading = self.reading if model is None else self.reading_of(model)
        truth = self.reading.truth_data if model is None else self.truth_of(model)

        def open_(wanted: Roles) -> Source:
            own = replace(wanted, id=self.id)
            return open_source(data, own, reading, engine=self.engine, limits=self.limits, truth_data=truth)

        source = opened_cut(open_, roles)
        try:
            demand_whole(source, self.labels, spelled=self.reading.spelled)
        except BaseException:
            source.close()
            raise
        return source

    def reading_of(self, model: str) -> Reading:
        """How the table of a model is read."""
        own = self.readings.get(model, self.reading)
        return own if self.truth_of(model) is not None else replace(own, truth_table=None, truth_query=None)

    def truth_of(self, model: str) -> object:
        """The table that holds the truth of a model's rows, if that is another one."""
        truth = self.reading.truth_data
        return truth.get(model) if isinstance(truth, Mapping) else truth

    def selected(self) -> dict[str, object]:
        """The tables and queries of databases as in a Record: of all models, or of each by name."""
        out: dict[str, object] = {}
        for word in ("table", "query"):
            own = {model: text for model, one in self.readings.items() if (text := getattr(one, word)) is not None}
            if (found := own or getattr(self.reading, word)) is not None:
                out |= {word: found}
        return out | {
            word: text for word in ("truth_table", "truth_query") if (text := getattr(self.reading, word)) is not None
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """What was read: joint cells, rows with their scores, and the proof that all models saw the same rows."""

    models: tuple[str, ...]
    cells: dict[Cell, int] | None
    lines: Lines | None
    """Row by row, where rows have scores, are of subjects or have weights."""
    joint: JointScores | None
    """Joint counts of rounded scores, where there are more than are held row by row."""
    columns: Mapping[str, ScoreColumns] | None
    """Which score column is of which class, as far as was said, where every class has one; by model."""
    where: str
    named: str
    """What a Record calls the rows."""
    files: Mapping[str, str]
    channel: bool = False
    notes: tuple[str, ...] = ()
    """What is to be said of the rows."""
    proof: str | None = None
    how: str = "one table: every row holds the answers of all models"

    @property
    def by_unit(self) -> bool:
        """Whether rows are of subjects or have weights."""
        return self.lines is not None and (self.lines.subject is not None or self.lines.weight is not None)

    @property
    def scores(self) -> dict[str, Any]:
        """One column a model, or as many for each side by side, where rows with scores are held."""
        columns = () if self.lines is None else self.lines.scores
        k = len(columns) // len(self.models)
        if k <= 1:
            return dict(zip(self.models, columns, strict=False))
        return {name: np.column_stack(columns[i * k : (i + 1) * k]) for i, name in enumerate(self.models)}

    def label_cells(self) -> dict[Cell, int]:
        """How often each combination of truth and predictions occurs, channels put together."""
        cells: dict[Cell, int] = {}
        for cell, n in (self.cells or {}).items():
            labels = cell[: len(self.models) + 1]
            cells[labels] = cells.get(labels, 0) + n
        return cells

    @property
    def rows(self) -> int:
        """The number of rows, from cells, joint counts of scores or the rows themselves."""
        counts = self.cells if self.cells is not None else None if self.joint is None else self.joint.truth
        return sum(counts.values()) if counts is not None else 0 if self.lines is None else len(self.lines.truth)

    def true_labels(self) -> set[Label | None]:
        """The labels of the truth."""
        if self.cells is not None:
            return {cell[0] for cell in self.cells}
        return set(self.joint.truth) if self.joint is not None else self.lines.truth.seen() if self.lines else set()


def read_together(data: object, given: Given) -> Paired:
    """All models in one table: a row is a row of every model."""
    roles = [role for role in ("predicted", "score") if getattr(given, role) is not None]
    models = columns_by_model(given, roles)
    demand_two(tuple(models))
    columns = {role: {model: own[role] for model, own in models.items()} for role in roles}
    return read_rows(replace(given, **cast("Any", columns)), lambda wanted: closing(given.opened(data, wanted)))


def read_rows(given: Given, opened: Callable[[Roles], AbstractContextManager[Source]]) -> Paired:
    """Cells, scores and lines of one table, which is opened for each with the columns that it takes."""
    from assay.rows.scored_source import sound

    called, scored_by = (cast("Mapping[str, object]", columns or {}) for columns in (given.predicted, given.score))
    models, by_class = tuple(called or scored_by), score_classes(scored_by)
    first, *rest = models
    groups = {f"prediction of {name}": called[name] for name in rest} if called else {}
    roles = Roles(truth=given.truth, predicted=called[first] if called else given.truth, group=groups)
    own = {name: by_class[name].columns if by_class else (scored_by[name],) for name in models} if scored_by else {}
    flat = [column for columns in own.values() for column in columns]
    scores = ScoreColumns(columns=tuple(flat)) if flat else None
    with opened(replace(roles, group=groups | ({} if given.channel is None else {"channel": given.channel}))) as source:
        cells = joint(source) if called else None
        named_as, files = origin(source)
        where, notes = source.where, left_out(source.join)
    rows = _read_lines(given, replace(roles, score=scores), opened, cells) if given.by_unit else None
    counted_scores: JointScores | None = None
    if scores is not None and not given.by_unit:
        with opened(Roles(truth=given.truth, predicted=given.truth, score=scores)) as source:
            fit, _ = sound(source, "any", single=False, drop=False)
            if by_class:
                demand_holdable(fit, given, "rows with scores of several classes", cells)
            else:
                counted_scores = count_joint_scores(fit, models, exact=given.exact, by_row=given.by_row)
            rows = scored(fit) if counted_scores is None else None
    return Paired(
        models=models, cells=cells, lines=rows, joint=counted_scores, columns=by_class, where=where, named=named_as,
        files=files, channel=given.channel is not None, notes=notes,
    )  # fmt: skip


def _read_lines(
    given: Given, roles: Roles, opened: Callable[[Roles], AbstractContextManager[Source]], cells: dict[Cell, int] | None
) -> Lines:
    """Every row with its subject and weight."""
    from assay.rows.scored_source import sound

    by = {} if given.subject is None else {SUBJECT: given.subject}
    with opened(replace(roles, group={**roles.group, **by}, weight=given.weight)) as source:
        if roles.score is None:
            return lines(source)
        demand_holdable(source, given, "scores of subjects or with weights", cells)
        return lines(sound(source, "any", single=False, drop=False)[0])


def left_out(join: Join | None, model: str | None = None) -> tuple[str, ...]:
    """The note that rows without a partner were not compared, if there were any."""
    if join is None or not join.unmatched:
        return ()
    whose = "" if model is None else f"{model}: "
    return (f"{whose}{counted(join.unmatched, 'row')} without truth or without prediction left out, as stated",)


def score_classes(scored_by: Mapping[str, object]) -> dict[str, ScoreColumns] | None:
    """The score columns of each model, where every class has one; None where there is one a model."""
    columns = {
        name: given if isinstance(given, ScoreColumns) else score_columns(given) for name, given in scored_by.items()
    }
    many = {name: own for name, own in columns.items() if own is not None and not own.single}
    if not many:
        return None
    sizes = {name: 1 if name not in many else len(many[name].columns) for name in scored_by}
    if len(set(sizes.values())) > 1:
        what = "the models do not have the same number of score columns"
        shown = ", ".join(f"{name} {n:,}" for name, n in sizes.items())
        fix = "give every model one column for each class, or every model the one of the positive class"
        raise PlanError("score-columns", what, where="score", found=shown, fix=fix)
    return many


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
        what = "two tables have the same name, or one is given twice"
        fix = 'give every model a table of its own, or name them: data={"A": ..., "B": ...}'
        raise PlanError("role-clash", what, found=listed(names), fix=fix)
    return dict(zip(names, tables, strict=True))


def by_own_ids(data: object, given: Given) -> tuple[object, Given]:
    """Columns of every model with ids of their own, as one table a model."""
    roles = [
        role for role in ("id", "truth", "predicted", "score", "subject", "weight") if getattr(given, role) is not None
    ]
    single = [role for role in roles if not isinstance(getattr(given, role), Mapping)]
    if data is not None or single:
        what = f"every model has ids of its own, but not {listed(single) if single else 'columns of its own'}"
        fix = 'give truth={"A": ..., "B": ...} as well: each column in the order of its ids'
        raise PlanError("comparison-needs", what, fix=fix)
    if given.score is not None and score_classes(by_model(given.score, "score")) is not None:
        what = "scores of all classes are matched by id from tables, not from columns"
        fix = 'give one table a model: data={"A": ..., "B": ...}, score={label: column, ...}, id=COLUMN'
        raise PlanError("comparison-needs", what, where="score", fix=fix)
    return columns_by_model(given, roles), replace(given, **cast("Any", {role: role for role in roles}))


def columns_by_model(given: Given, roles: Sequence[str]) -> dict[str, dict[str, object]]:
    """The columns of each model by role; every role must be given of the same models."""
    by = {role: by_model(getattr(given, role), role) for role in roles}
    first, *rest = roles
    for role in rest:
        if set(by[role]) != set(by[first]):
            what, shown = f"{first} and {role} are of different models", f"{listed(by[first])} and {listed(by[role])}"
            raise PlanError("comparison-needs", what, found=shown, fix="give both of every model, or one of them only")
    return {model: {role: by[role][model] for role in roles} for model in by[first]}


def by_model(given: object, role: str) -> dict[str, object]:
    """Columns by the name of their model."""
    if not isinstance(given, Mapping):
        what = f"{role} is a {type(given).__name__}, and a comparison needs one column a model"
        raise PlanError("comparison-needs", what, where=role, fix=f'give {role}={{"A": ..., "B": ...}}')
    return {str(name): column for name, column in given.items()}


def split_channels(paired: Paired, labels: Sequence[Label]) -> dict[str, PairedLabels]:
    """The paired tally of each channel."""
    by: dict[Label | None, dict[tuple[Label, ...], int]] = {}
    for (*answer, level), n in (paired.cells or {}).items():
        by.setdefault(level, {})[cast("tuple[Label, ...]", tuple(answer))] = n
    order = [*in_order(level for level in by if level is not None), *([None] if None in by else [])]
    names = {level: "(missing)" if level is None else str(level) for level in order}
    return {names[level]: PairedLabels.from_cells(by[level], models=paired.models, labels=labels) for level in order}


def is_table(data: Mapping[Any, Any]) -> bool:
    """Whether a mapping holds columns, rather than one table a model."""
    first = next(iter(data.values()), None)
    if isinstance(first, (str, os.PathLike, Mapping)):
        return False
    dimensions = getattr(first, "ndim", None)  # a frame of Spark Connect has any attribute, as a column
    return isinstance(first, (list, tuple, np.ndarray)) or (isinstance(dimensions, int) and dimensions == 1)
