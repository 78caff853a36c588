# SPDX-License-Identifier: Apache-2.0
"""Reading models on different rows, or batches of one: declared by a word, because 5.3.5 asks for the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from assay.assess.answering import answered
from assay.assess.asking import Asked
from assay.assess.classcolumns import in_order_of_classes, scored_classes, spelled_classes
from assay.assess.comparison import Comparison
from assay.assess.demanding import PAIR, demand_two, demand_values, unpriced
from assay.assess.environment import environment
from assay.assess.pairing import Given, by_model, by_name, is_table, own_column
from assay.assess.provenance import origin, origins
from assay.assess.spelling import speller
from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.text import counted
from assay.rows.labels import classes
from assay.rows.opening import Roles, no_rows
from assay.rows.scored import sound
from assay.rows.scores import ScoreColumns, score_columns
from assay.tally.apart import Apart
from assay.tally.census import Census
from assay.tally.codes import Codes
from assay.tally.confusion import Confusion
from assay.tally.pairedrows import PairedRows
from assay.tally.pairedscores import PairedScores
from assay.tally.pairing import Cell, joint, scored

if TYPE_CHECKING:
    from assay.measures import Measure


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


def compare_apart(
    data: object,
    given: Given,
    asked: Asked,
    *,
    labels: Sequence[Label] | None,
    positive: Label | None,
    measures: tuple[Measure, ...] | None,
    usual: Mapping[bool, tuple[Measure, ...]],
    spelled: bool,
) -> Comparison:
    """The comparison of models on rows of their own; `usual` are the measures if none are named, by being binary."""
    told = [name for name in ("id", "subject", "weight", "channel") if getattr(given, name) is not None]
    if told or given.pairing is not None:
        raise PlanError(
            "role-clash",
            f"the rows of the models differ, and {told[0] if told else 'pairing'} speaks of rows that are alike",
            where=told[0] if told else "pairing",
            fix="leave it out, or leave out independent=True (--independent)",
        )
    parts = _read(data, given)
    demand_two(tuple(parts))
    true = {label for part in parts.values() for label in _truths(part)}
    called = {cell[1] for part in parts.values() for cell in part.cells or {}}
    columns = {name: part.columns for name, part in parts.items() if part.columns is not None}
    if columns and len(columns) < len(parts):
        raise PlanError(
            "score-columns",
            "some models have a score for each class, and some have one",
            where="score",
            fix="give every model one column for each class, or every model the one of the positive class",
        )
    if spelled:
        own = speller({label for label in (*true, *called) if label is not None})
        labels = None if labels is None else [own(label) for label in labels]
        positive = None if positive is None else own(positive)
        columns = spelled_classes(columns, own)
    by_class = scored_classes(columns, cast("set[Label]", true | called), labels)
    where = "; ".join(part.where for part in parts.values())
    settled = classes(
        truth=cast("set[Label]", true),
        predicted=cast("set[Label]", (called or true) | {label for own in by_class.values() for label in own}),
        declared=labels,
        positive=positive,
        unknown="error",
        where=where,
        locate=lambda *_: "",
    )
    scores = given.score is not None
    values = {name: part.scores for name, part in parts.items()}
    values = in_order_of_classes(values, by_class, settled) if by_class else values
    two = scores and (not by_class or settled.positive is not None)
    asked = replace(asked, costs=None if asked.costs is None else asked.costs.fitted(settled.labels, spelled=spelled))
    stated = asked.costs is not None
    demand_values(measures, labels=bool(called), scores=two, classwise=scores and not two, costs=stated)
    measures = unpriced(measures)
    if two and settled.positive is None:
        raise PlanError(
            "comparison-needs",
            f"there is one score a row, and there are {len(settled.labels)} classes",
            fix='give one column for each class: score={"A": {label: column, ...}, "B": {...}} '
            "(--score LABEL=COLUMN), or compare one class against the rest",
        )
    tally = Apart(
        models=tuple(parts),
        labels=settled.labels,
        confusions=tuple(
            Confusion.from_cells(cast("dict[tuple[Label, Label], int]", part.cells), labels=settled.labels)
            for part in parts.values()
        )
        if called
        else None,
        scores=tuple(
            PairedScores.of(cast("Codes", part.truth).are(settled.positive), {name: values[name]})
            for name, part in parts.items()
        )
        if two
        else None,
        rows=tuple(
            PairedRows.of(
                truth=list(part.truth or ()),
                labels=settled.labels,
                models=(name,),
                scores={name: values[name]},
            )
            for name, part in parts.items()
        )
        if scores and not two
        else None,
    )
    if measures is None and called and len(parts) == PAIR:
        measures = usual[settled.positive is not None]
    asked = replace(asked, measures=measures or ())
    tables = list(data.values()) if isinstance(data, Mapping) else [data] * len(parts)
    names, files = origins(tables, [(part.named, part.files) for part in parts.values()])
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
        data={
            "from": "; ".join(dict.fromkeys(names)),
            "pairing": "none: stated to be different rows",
            "files": files,
        },
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
    found = score_columns(score)
    columns = None if found is None else ScoreColumns(columns=found.columns)
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
    many = found if found is not None and not found.single else None
    return Part(cells=called, truth=truths, scores=values, where=where, named=named, files=files, columns=many)


def _truths(part: Part) -> set[Label | None]:
    if part.cells is not None:
        return {cell[0] for cell in part.cells}
    return set() if part.truth is None else part.truth.seen()
