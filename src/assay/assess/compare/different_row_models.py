# SPDX-License-Identifier: Apache-2.0
"""Reading models on different rows, or batches of one: declared by a word, because 5.3.5 asks for the same rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, cast

from assay.assess.compare.comparison import Comparison, answered
from assay.assess.compare.comparison_requirements import (
    PAIR,
    Declared,
    agree_on_classes,
    check_one_score,
    demand_complete,
    demand_two,
    fit_request,
)
from assay.assess.compare.model_columns import (
    Columns,
    Given,
    Paired,
    by_model,
    is_table,
    own_column,
    read_rows,
    score_classes,
)
from assay.assess.compare.questions.request import Asked
from assay.assess.environment import environment
from assay.assess.provenance import origins
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.rows.label_types import Classes
from assay.rows.score_columns import ScoreColumns
from assay.rows.source import no_rows
from assay.tally.census import Census
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.label_cells import Codes
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit


def compare_apart(data: object, given: Given, asked: Asked, declared: Declared) -> Comparison:
    """Compare models that were tested on different rows."""
    _check_unpaired(given)
    parts, by_class = _read(data, given)
    true = {label for part in parts.values() for label in part.rows_and_truth()[1]}
    called = {cell[1] for part in parts.values() for cell in part.cells or {}}
    where = "; ".join(part.where for part in parts.values())
    values = {name: scores for part in parts.values() for name, scores in (part.scores or {}).items()}
    agreed = agree_on_classes(true, called, values, by_class, declared, where=where)
    settled, values, classwise = agreed.classes, agreed.scores or {}, agreed.classwise
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
    names, files = origins(tables, [(part.named, part.files or {}) for part in parts.values()])
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


def _confusions(parts: Mapping[str, Paired], settled: Classes) -> tuple[Confusion, ...]:
    cells = [cast("dict[tuple[Label, Label], int]", part.cells) for part in parts.values()]
    return tuple(Confusion.from_cells(own, labels=settled.labels) for own in cells)


def _scores(parts: Mapping[str, Paired], values: Mapping[str, Any], settled: Classes) -> tuple[PairedScores, ...]:
    truths = {name: cast("Codes", part.truth).are(settled.positive) for name, part in parts.items()}
    return tuple(PairedScores.of(truth, {name: values[name]}) for name, truth in truths.items())


def _rows(parts: Mapping[str, Paired], values: Mapping[str, Any], settled: Classes) -> tuple[PerUnit, ...]:
    return tuple(
        PerUnit.of(truth=list(part.truth or ()), labels=settled.labels, models=(name,), scores={name: values[name]})
        for name, part in parts.items()
    )


def _read(data: object, given: Given) -> tuple[dict[str, Paired], dict[str, ScoreColumns] | None]:
    """What each model answered on its rows, and the score columns of all classes where every class has one."""
    own = _by_table(data, given) if isinstance(data, Mapping) and not is_table(data) else _by_column(data, given)
    demand_two(tuple(own))
    by_class = score_classes({name: one.score for name, (_, one) in own.items() if one.score is not None})
    return {name: _read_model(name, table, one, by_class) for name, (table, one) in own.items()}, by_class


def _by_table(data: Mapping[Any, object], given: Given) -> dict[str, tuple[object, Given]]:
    """One table a model."""
    own = {}
    for name, table in ((str(name), table) for name, table in data.items()):
        predicted, score = (own_column(column, name) for column in (given.predicted, given.score))
        own[name] = table, replace(given, predicted=predicted, score=score)
    return own


def _by_column(data: object, given: Given) -> dict[str, tuple[object, Given]]:
    """Columns of each model, with a truth of its own."""
    if data is not None or not isinstance(given.truth, Mapping):
        raise PlanError(
            "comparison-needs",
            "models on different rows have a truth each, and one is given",
            where="truth",
            fix='give one table a model, or truth={"A": ..., "B": ...} beside predicted={...} or score={...}',
        )
    truth = by_model(given.truth, "truth")
    roles = {role: column for role in ("predicted", "score") if (column := getattr(given, role)) is not None}
    columns = {role: by_model(column, role) for role, column in roles.items()}
    for role, own in columns.items():
        if set(own) != set(truth):
            raise PlanError(
                "comparison-needs", f"truth and {role} are of different models", fix="give both of every model"
            )
    return {
        name: (
            None,
            replace(given, truth=column, **cast("dict[str, Any]", {role: own[name] for role, own in columns.items()})),
        )
        for name, column in truth.items()
    }


def _read_model(model: str, table: object, own: Given, by_class: Mapping[str, ScoreColumns] | None) -> Paired:
    """The rows of one model: cells where they were called, scores beside their truth."""
    columns = Columns(
        truth=own.truth,
        models=(model,),
        called={} if own.predicted is None else {model: own.predicted},
        scored={} if own.score is None else {model: own.score},
        by_class=None if by_class is None else {model: by_class[model]},
        exact=sys.maxsize,
    )
    paired = read_rows(columns, lambda roles: closing(own.opened(table, roles, model)))
    if not paired.rows_and_truth()[0]:
        raise no_rows(paired.where)
    demand_complete(paired, paired.cells or {})
    return paired
