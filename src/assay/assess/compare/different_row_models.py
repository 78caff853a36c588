# SPDX-License-Identifier: Apache-2.0
"""Reading models on different rows, or batches of one: declared by a word, because 5.3.5 asks for the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from assay.assess.compare.class_columns import (
    Declared,
    agree_on_classes,
    check_one_score,
    fit_request,
    in_order_of_classes,
)
from assay.assess.compare.comparison import Comparison
from assay.assess.compare.comparison_requirements import PAIR, demand_two
from assay.assess.compare.model_columns import Given, by_model, by_name, is_table, own_column
from assay.assess.compare.questions.answers import answered
from assay.assess.compare.questions.request import Asked
from assay.assess.environment import environment
from assay.assess.provenance import origin, origins
from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.text import counted
from assay.rows.label_types import Classes
from assay.rows.score_columns import ScoreColumns, score_columns
from assay.rows.scored_source import sound
from assay.rows.source import Roles, no_rows
from assay.tally.census import Census
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.label_cells import Codes
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_counts import Cell, joint, scored
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What was read of one model."""

    cells: dict[Cell, int] | None
    truth: Codes | None
    scores: Any
    where: str
    named: str
    """What a Record calls the rows."""
    files: Mapping[str, str]
    columns: ScoreColumns | None = None
    """Where every class has a score of its own."""

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(self.cells.values()) if self.cells is not None else len(self.truth or [])


def compare_apart(data: object, given: Given, asked: Asked, declared: Declared) -> Comparison:
    """Compare models that were tested on different rows."""
    _check_unpaired(given)
    parts = _read(data, given)
    demand_two(tuple(parts))
    true = {label for part in parts.values() for label in _truths(part)}
    called = {cell[1] for part in parts.values() for cell in part.cells or {}}
    where = "; ".join(part.where for part in parts.values())
    agreed = agree_on_classes(true, called, _class_columns(parts), declared, where)
    settled, classwise = agreed.classes, bool(agreed.by_score) and agreed.classes.positive is None
    values = {name: part.scores for name, part in parts.items()}
    values = in_order_of_classes(values, agreed.by_score, settled) if agreed.by_score else values
    two = given.score is not None and not classwise
    asked = fit_request(
        asked, declared, settled, labels=bool(called), scores=two, classwise=classwise,
        pair=bool(called) and len(parts) == PAIR,
    )  # fmt: skip
    if two:
        check_one_score(settled)
    tally = Apart(
        models=tuple(parts),
        labels=settled.labels,
        confusions=_confusions(parts, settled) if called else None,
        scores=_scores(parts, values, settled) if two else None,
        rows=_rows(parts, values, settled) if classwise else None,
    )
    tables = list(data.values()) if isinstance(data, Mapping) else [data] * len(parts)
    names, files = origins(tables, [(part.named, part.files) for part in parts.values()])
    pairing = "none: stated to be different rows"
    return Comparison(
        answers=tuple(answered({"apart": tally}, asked, settled.positive, {})),
        asked=asked,
        models=tally.models,
        labels=settled.labels,
        positive=settled.positive,
        census=Census(read=tally.n, scored=tally.n),
        apart=tally,
        found_in=environment(given.limits),
        notes=settled.notes,
        data={"from": "; ".join(dict.fromkeys(names)), "pairing": pairing, "files": files},
    )


def _check_unpaired(given: Given) -> None:
    """Check that nothing is said of rows that are alike."""
    roles = {"id": given.id, "unit": given.subject, "weight": given.weight, "channel": given.channel}
    names = [name for name, column in {**roles, "pairing": given.pairing}.items() if column is not None]
    if names:
        raise PlanError(
            "role-clash",
            f"the rows of the models differ, and {names[0]} speaks of rows that are alike",
            where=names[0],
            fix="leave it out, or leave out independent=True (--independent)",
        )


def _class_columns(parts: Mapping[str, Part]) -> dict[str, ScoreColumns]:
    """Return the score columns of all classes by model, which all models have or none."""
    columns = {name: part.columns for name, part in parts.items() if part.columns is not None}
    if columns and len(columns) < len(parts):
        raise PlanError(
            "score-columns",
            "some models have a score for each class, and some have one",
            where="score",
            fix="give every model one column for each class, or every model the one of the positive class",
        )
    return columns


def _confusions(parts: Mapping[str, Part], settled: Classes) -> tuple[Confusion, ...]:
    cells = [cast("dict[tuple[Label, Label], int]", part.cells) for part in parts.values()]
    return tuple(Confusion.from_cells(own, labels=settled.labels) for own in cells)


def _scores(parts: Mapping[str, Part], values: Mapping[str, Any], settled: Classes) -> tuple[PairedScores, ...]:
    truths = {name: cast("Codes", part.truth).are(settled.positive) for name, part in parts.items()}
    return tuple(PairedScores.of(truth, {name: values[name]}) for name, truth in truths.items())


def _rows(parts: Mapping[str, Part], values: Mapping[str, Any], settled: Classes) -> tuple[PerUnit, ...]:
    return tuple(
        PerUnit.of(truth=list(part.truth or ()), labels=settled.labels, models=(name,), scores={name: values[name]})
        for name, part in parts.items()
    )


def _read(data: object, given: Given) -> dict[str, Part]:
    """One table a model, or columns of each with a truth of its own."""
    if isinstance(data, Mapping) and not is_table(data):
        return {str(name): _part(table, given, str(name)) for name, table in data.items()}
    if data is not None or not isinstance(given.truth, Mapping):
        raise PlanError(
            "comparison-needs",
            "models on different rows have a truth each, and one is given",
            where="truth",
            fix='give one table a model, or truth={"A": ..., "B": ...} beside predicted={...} or score={...}',
        )
    truth = by_model(given.truth, "truth")
    columns = {
        role: by_model(one, role) for role in ("predicted", "score") if (one := getattr(given, role)) is not None
    }
    for role, own in columns.items():
        if set(own) != set(truth):
            raise PlanError(
                "comparison-needs", f"truth and {role} are of different models", fix="give both of every model"
            )
    return {
        name: _part(
            None,
            replace(
                given,
                truth=column,
                predicted=columns["predicted"][name] if "predicted" in columns else None,
                score=columns["score"][name] if "score" in columns else None,
            ),
            name,
        )
        for name, column in truth.items()
    }


def _part(table: object, given: Given, model: str) -> Part:
    """The rows of one model: cells where they were called, scores beside their truth."""
    predicted, score = given.predicted, given.score
    predicted = None if predicted is None else own_column(predicted, model) if table is not None else predicted
    score = None if score is None else own_column(score, model) if table is not None else score
    given_columns = score_columns(score)
    columns = None if given_columns is None else ScoreColumns(columns=given_columns.columns)
    roles = Roles(truth=given.truth, predicted=given.truth if predicted is None else predicted)
    source = given.opened(table, roles, model)
    try:
        cells, where = joint(source), source.where
        named, files = origin(source)
    finally:
        source.close()
    lost = sum(n for cell, n in cells.items() if None in cell)
    if lost:
        raise RowsError(
            "missing-label",
            f"{counted(lost, 'row')} of {model} {'has' if lost == 1 else 'have'} no label",
            where=where,
            fix="a model must answer every row of its own; leave such rows out before comparing",
        )
    if not sum(cells.values()):
        raise no_rows(where)
    truths, values = None, None
    if columns is not None:
        roles = replace(roles, predicted=given.truth, score=columns)
        source = given.opened(table, roles, model)
        try:
            source, _ = sound(source, "any", single=True, drop=False)
            truths, every = scored(source)
            values = by_name((model,), every)[model]
        finally:
            source.close()
    called = None if predicted is None else cells
    many = given_columns if given_columns is not None and not given_columns.single else None
    return Part(cells=called, truth=truths, scores=values, where=where, named=named, files=files, columns=many)


def _truths(part: Part) -> set[Label | None]:
    if part.cells is not None:
        return {cell[0] for cell in part.cells}
    return set() if part.truth is None else part.truth.seen()
