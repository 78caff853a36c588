# SPDX-License-Identifier: Apache-2.0
"""Bringing the answers of several models together: in one table, or in tables of their own matched by id."""

from __future__ import annotations

import os
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, cast

import numpy as np

from assay.assess.demanding import demand_two
from assay.assess.provenance import called, origin
from assay.core.errors import PlanError
from assay.core.labels import Label, in_order
from assay.core.text import listed
from assay.rows.databases import is_database
from assay.rows.ids import ids_told
from assay.rows.limits import Limits
from assay.rows.listing import are_paths
from assay.rows.opening import Roles, no_rows, open_source
from assay.rows.reading import Reading
from assay.rows.scores import ScoreColumns, score_columns
from assay.tally.paired import PairedLabels
from assay.tally.pairing import (
    KEY,
    SUBJECT,
    Answers,
    Cell,
    Lines,
    answers,
    cells_of,
    joint,
    lines,
    matched,
    proof,
    scored,
    scores_of,
)


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
    engine: str | None = None
    limits: Limits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """What was read: joint cells, scores beside their truth, and the proof that all models saw the same rows."""

    models: tuple[str, ...]
    cells: dict[Cell, int] | None
    truth: list[Label | None] | None
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
    columns: Mapping[str, ScoreColumns] | None = None
    """Which score column is of which class, as far as was said, where every class has one; by model."""


def together(data: object, given: Given) -> Paired:
    """All models in one table: a row is a row of every model."""
    truth, predicted, score, channel, reading = given.truth, given.predicted, given.score, given.channel, given.reading
    called = by_model(predicted, "predicted") if predicted is not None else {}
    scored_by = by_model(score, "score") if score is not None else {}
    models = tuple(called or scored_by)
    if called and scored_by and set(called) != set(scored_by):
        raise PlanError(
            "comparison-needs",
            "predictions and scores are of different models",
            found=f"{listed(called)} and {listed(scored_by)}",
            fix="give both of every model, or one kind only",
        )
    demand_two(models)
    from assay.rows.scored import sound

    by_class = _by_class(scored_by)
    rest = {f"prediction of {name}": called[name] for name in models[1:]} if called else {}
    extra = {} if channel is None else {"channel": channel}
    roles = Roles(truth=truth, predicted=called[models[0]] if called else truth, group={**rest, **extra})
    source = open_source(data, roles, reading, engine=given.engine, limits=given.limits)
    try:
        cells = joint(source) if called else None
        named_as, files = origin(source)
        where = source.where
    finally:
        source.close()
    values: dict[str, Any] | None = None
    truths: list[Label | None] | None = None
    rows: Lines | None = None
    flat = [one for name in models for one in by_class[name].columns] if by_class else list(scored_by.values())
    columns = ScoreColumns(columns=tuple(flat)) if scored_by else None
    if given.subject is not None or given.weight is not None:
        subject = {} if given.subject is None else {SUBJECT: given.subject}
        roles = replace(roles, group={**rest, **subject}, weight=given.weight, score=columns)
        source = open_source(data, roles, reading, engine=given.engine, limits=given.limits)
        try:
            source = source if columns is None else sound(source, "any", single=False, drop=False)[0]
            rows = lines(source)
        finally:
            source.close()
        truths, values = (rows.truth, _by_name(models, rows.scores)) if scored_by else (None, None)
    elif scored_by:
        roles = Roles(truth=truth, predicted=truth, score=columns)
        source = open_source(data, roles, reading, engine=given.engine, limits=given.limits)
        try:
            source, _ = sound(source, "any", single=False, drop=False)
            truths, found = scored(source)
        finally:
            source.close()
        values = _by_name(models, found)
    return Paired(
        models=models,
        cells=cells,
        truth=truths,
        scores=values,
        where=where,
        named=named_as,
        proof=None,
        how="one table: every row holds the answers of all models",
        channel=channel is not None,
        files=files,
        lines=rows,
        columns=by_class,
    )


def _by_class(scored_by: Mapping[str, object]) -> dict[str, ScoreColumns] | None:
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


def _by_name(models: Sequence[str], columns: Sequence[Any]) -> dict[str, Any]:
    """One column a model, or as many for each side by side."""
    k = len(columns) // len(models)
    if k == 1:
        return dict(zip(models, columns, strict=True))
    return {name: np.column_stack(columns[i * k : (i + 1) * k]) for i, name in enumerate(models)}


def apart(data: Mapping[str, object], given: Given) -> Paired:
    """One table a model: rows are matched by id, or by position where that was said and the truths agree."""
    truth, predicted, score, key, reading = given.truth, given.predicted, given.score, given.id, given.reading
    models = tuple(map(str, data))
    demand_two(models)
    keyed = given.pairing != "position"
    if keyed and key is None:
        raise PlanError(
            "comparison-needs",
            "the models come in tables of their own, and nobody said which column tells their rows apart",
            fix="state id=COLUMN (--id), or pairing='position' (--by-position) if the rows stand in the same order",
        )
    if keyed and (found := _counted_apart(data, given)) is not None:
        return found
    from assay.rows.scored import sound

    every: list[Answers] = []
    by_class = None if score is None else _by_class({name: own_column(score, name) for name in models})
    files: dict[str, str] = {}
    names: list[str] = []
    for model, table in zip(models, data.values(), strict=True):
        columns = None if score is None else ScoreColumns(columns=(own_column(score, model),))
        columns = columns if by_class is None else by_class[model]
        roles = Roles(
            truth=truth,
            predicted=truth if predicted is None else own_column(predicted, model),
            group=({KEY: key} if keyed else {}) | ({} if given.subject is None else {SUBJECT: given.subject}),
            weight=given.weight,
            score=columns,
        )
        source = open_source(table, roles, reading, engine=given.engine, limits=given.limits)
        try:
            if columns is not None:
                source, _ = sound(source, "any", single=by_class is None, drop=False)
            every.append(answers(source, model, keyed=keyed, called=predicted is not None))
            name, own = origin(source)
            names.append(name)
            files |= own
        finally:
            source.close()
    if not every[0].keys:
        raise no_rows(every[0].where)
    with ids_told(plainly=reading is not None and reading.show_ids):
        orders = matched(every)
    proofs = {proof(one.keys, one.truth) for one in every}
    if len(proofs) != 1:
        msg = "matched rows have different digests"
        raise ArithmeticError(msg)
    first = every[0]
    rows = Lines(
        truth=first.truth,
        calls=[[one.calls[i] for i in order.tolist()] for one, order in zip(every, orders, strict=True)],
        scores=(),
        subject=first.subject,
        weight=first.weight,
    )
    return Paired(
        models=models,
        lines=None if given.subject is None and given.weight is None else rows,
        cells=cells_of(every, orders) if predicted is not None else None,
        truth=every[0].truth,
        scores=scores_of(every, orders) if score is not None else None,
        where="; ".join(one.where for one in every),
        named="; ".join(names),
        proof=proofs.pop(),
        how="by id" if keyed else "by position: same number of rows and the same truth in every row",
        files=files,
        columns=by_class,
    )


def _counted_apart(data: Mapping[str, object], given: Given) -> Paired | None:
    """Labels of files matched by id in the engine, whatever their number; None where rows must be seen one by one."""
    plain = given.predicted is not None and given.score is given.subject is given.weight is None
    names = {model: own_column(given.predicted, model) for model in map(str, data)}
    columns = (given.truth, given.id, *names.values())
    tables = {str(model): one for model, one in data.items() if are_paths(one) and not is_database(one)}
    if not plain or len(tables) < len(data) or not all(isinstance(one, str) for one in columns):
        return None
    reading = given.reading or Reading()
    if given.engine not in (None, "duckdb") or reading.table is not None or reading.query is not None:
        return None
    from assay.tally.pairedfiles import matched_files

    calls = {model: str(column) for model, column in names.items()}
    found = matched_files(tables, str(given.truth), calls, str(given.id), reading, limits=given.limits or Limits())
    if found is None:
        return None
    return Paired(
        models=tuple(tables),
        cells=found.cells,
        truth=None,
        scores=None,
        where="; ".join(path for path, _ in found.tables),
        named="; ".join(called(path, files) for path, files in found.tables),
        proof=found.proof,
        how="by id",
        files={name: digest for _, files in found.tables for name, digest in files.items()},
    )


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
    if "score" in by and _by_class(by["score"]) is not None:
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
    return isinstance(first, (list, tuple, np.ndarray)) or getattr(first, "ndim", 2) == 1
