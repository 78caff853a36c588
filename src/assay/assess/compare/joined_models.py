# SPDX-License-Identifier: Apache-2.0
"""Models in tables of their own: joined by id or by position with a proof of the same rows, or on different rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any, Final, cast

from assay.assess.compare.comparison_requirements import demand_two
from assay.assess.compare.model_columns import (
    Given,
    Paired,
    columns_by_model,
    is_table,
    left_out,
    own_column,
    read_rows,
    score_classes,
)
from assay.assess.provenance import origin, origin_of, origins
from assay.core.errors import PlanError, RowsError
from assay.rows.engines.duckdb_engine import demand_embedded
from assay.rows.files.file_list import are_paths
from assay.rows.joins.matched_models import match_in_duckdb
from assay.rows.joins.mismatch_errors import SUBJECT, ids_told
from assay.rows.joins.models import FIT, KEY, MatchedModels, Model, columns_of
from assay.rows.limits import Limits
from assay.rows.open import demand_whole
from assay.rows.score_columns import ScoreColumns
from assay.rows.scored_source import Cut
from assay.rows.source import Roles, check_names, refuse_limits
from assay.rows.spark.spark_session import is_cluster, is_spark
from assay.tally.paired.joint_counts import joint

BY_ID: Final = "by id"
BY_POSITION: Final = "by position: same number of rows and the same truth in every row"
UNPAIRED: Final = "none: stated to be different rows"


def read_joined(data: Mapping[str, object], given: Given) -> Paired:
    """One table a model: rows are matched by id, or by position where that was said and the truths agree."""
    names = tuple(map(str, data))
    demand_two(names)
    keyed = given.pairing != "position"
    if keyed and given.id is None:
        what = "the models come in tables of their own, and the id column that matches their rows is not stated"
        fix = "state id=COLUMN (--id), or pairing='position' (--by-position) if the rows stand in the same order"
        raise PlanError("comparison-needs", what, fix=fix)
    if not keyed and given.reading.truth_data is not None:
        what = "the truth is in a table of its own, and rows are paired by position"
        fix = "state id=COLUMN (--id): truth and predictions are never matched by their order"
        raise PlanError("role-clash", what, where="truth_data", fix=fix)
    scores = {} if given.score is None else {name: own_column(given.score, name) for name in names}
    by_class = score_classes(scores)
    columns = by_class or {name: ScoreColumns(columns=(column,)) for name, column in scores.items()}
    models = {
        name: _model(given, name, table, columns.get(name), keyed=keyed)
        for name, table in zip(names, data.values(), strict=True)
    }
    with ids_told(plainly=given.reading.show_ids):
        return replace(_matched(models, given, keyed=keyed), columns=by_class)


def _model(given: Given, model: str, table: object, score: ScoreColumns | None, *, keyed: bool) -> Model:
    """The rows of one model: its columns by role in its own table, and where the truth is if not there."""
    truth = given.truth_of(model)
    alone = given.truth if truth is None else None  # without labels, a column that is there in their place
    called = alone if given.predicted is None else own_column(given.predicted, model)
    cut = called if isinstance(called, Cut) else None
    group = ({KEY: given.id} if keyed else {}) | ({} if given.subject is None else {SUBJECT: given.subject})
    predicted = called if cut is None else None
    roles = Roles(truth=given.truth, predicted=predicted, group=group, weight=given.weight, score=score)
    return Model(data=table, roles=roles, reading=given.reading_of(model), truth=truth, cut=cut)


def _join(models: Mapping[str, Model], given: Given, *, kept: bool) -> MatchedModels:
    """All models as one table, on the cluster that has or reads them, else in DuckDB."""
    for model in models.values():
        refuse_limits(model.data, given.engine, given.limits)
        check_names(model.roles.named())
    cluster = given.engine if given.engine is not None and is_cluster(given.engine) else None
    if any(is_spark(model.data) for model in models.values()) or cluster is not None:
        from assay.rows.joins.matched_models import are_on_spark, match_on_spark

        if cluster is not None or are_on_spark(models):
            return match_on_spark(
                models, engine=cluster, limits=given.limits, kept=kept, unmatched=given.reading.unmatched
            )
    demand_embedded(given.engine)
    return match_in_duckdb(models, given.limits or Limits(), kept=kept, unmatched=given.reading.unmatched)


def _name_columns(given: Given, models: Mapping[str, Model], *, only_counted: bool) -> Given:
    """The same request by the names that columns have in the joined table."""
    own = {name: columns_of(place, model.roles) for place, (name, model) in enumerate(models.items())}
    scores = {name: roles.score for name, roles in own.items() if roles.score is not None}
    single = all(len(columns.columns) == 1 for columns in scores.values())
    return replace(
        given,
        truth="truth",
        predicted={} if given.predicted is None else {name: roles.predicted for name, roles in own.items()},
        score={name: columns.columns[0] for name, columns in scores.items()} if single else scores,
        channel=FIT if only_counted else None,
        subject=None if given.subject is None else SUBJECT,
        weight=None if given.weight is None else "weight",
        held=not any(are_paths(model.data) or is_spark(model.data) for model in models.values()),
    )


def _matched(models: Mapping[str, Model], given: Given, *, keyed: bool) -> Paired:
    """Joint cells of the matched rows, and what is compared row by row."""
    only_counted = given.score is given.subject is given.weight is None
    matched_models = _join(models, given, kept=not only_counted)
    joined = _name_columns(given, models, only_counted=only_counted)
    try:
        for member in matched_models.tables:
            demand_whole(member.source, given.labels, spelled=given.reading.spelled)
        if not only_counted:
            matched_models.check_rows()
        try:
            paired = read_rows(joined, lambda wanted: nullcontext(matched_models.source(wanted)))
        except RowsError:  # a fault of labels is told of the table it stands in, if it stands in one
            for member in matched_models.tables:
                joint(replace(member.source, group={}, score=()))
            raise
        cells = paired.cells
        if only_counted:
            matched_models.check_rows([(int(cell[-1] or 0), n) for cell, n in (cells or {}).items()])
            cells = {cell[:-1]: n for cell, n in (cells or {}).items()}
        return _told(matched_models, models, replace(paired, cells=cells, channel=False), keyed=keyed)
    finally:
        matched_models.close()


def _told(matched_models: MatchedModels, models: Mapping[str, Model], paired: Paired, *, keyed: bool) -> Paired:
    """With where the rows come from, and the proof that they are the same."""
    given = [member.data for member in models.values()]
    tables = [origin(member.source) for member in matched_models.tables]
    truths: dict[str, tuple[object, tuple[str, dict[str, str]]]] = {}
    for place, (own, member) in enumerate(zip(models.values(), matched_models.tables, strict=True)):
        if own.truth is not None and member.homes:  # made of two tables, the truth last
            tables[place] = origin_of(member.homes[0])
            truths[str(own.truth)] = own.truth, origin_of(member.homes[1])
    names, files = origins(
        [*given, *(data for data, _ in truths.values())], [*tables, *(truth for _, truth in truths.values())]
    )
    apart_ = [f"truth in {name}" for name in names[len(given) :]]
    where, how = "; ".join(member.source.where for member in matched_models.tables), BY_ID if keyed else BY_POSITION
    notes = tuple(note for member in matched_models.tables for note in left_out(member.source.join, member.model))
    named = "; ".join([*names[: len(given)], *apart_])
    return replace(paired, where=where, named=named, proof=matched_models.digest(), how=how, files=files, notes=notes)


def read_unpaired(data: object, given: Given) -> list[Paired]:
    """What each model answered on rows of its own; nothing may be said of rows that are alike."""
    alike = {"id": given.id, "unit": given.subject, "weight": given.weight, "channel": given.channel}
    names = [name for name, column in {**alike, "pairing": given.pairing}.items() if column is not None]
    if names:
        what = f"the rows of the models differ, and {names[0]} speaks of rows that are alike"
        fix = "leave it out, or leave out independent=True (--independent)"
        raise PlanError("role-clash", what, where=names[0], fix=fix)
    roles = [role for role in ("truth", "predicted", "score") if getattr(given, role) is not None]
    if isinstance(data, Mapping) and not is_table(data):
        tables = {str(name): table for name, table in data.items()}
        columns = {name: {role: own_column(getattr(given, role), name) for role in roles} for name in tables}
    elif data is None and isinstance(given.truth, Mapping):
        columns = columns_by_model(given, roles)
        tables = dict.fromkeys(columns)
    else:
        what = "models on different rows have a truth each, and one is given"
        fix = 'give one table a model, or truth={"A": ..., "B": ...} beside predicted={...} or score={...}'
        raise PlanError("comparison-needs", what, where="truth", fix=fix)
    demand_two(tuple(columns))
    score_classes({name: own["score"] for name, own in columns.items() if own.get("score") is not None})
    parts = [_read_alone(name, tables[name], replace(given, **cast("Any", own))) for name, own in columns.items()]
    named, files = origins(list(tables.values()), [(part.named, part.files) for part in parts])
    return [replace(part, named=name, files=files, how=UNPAIRED) for part, name in zip(parts, named, strict=True)]


def _read_alone(model: str, table: object, own: Given) -> Paired:
    """The rows of one model: cells where they were called, scores beside their truth."""
    columns = {role: {model: column} for role in ("predicted", "score") if (column := getattr(own, role)) is not None}
    return read_rows(
        replace(own, exact=sys.maxsize, **cast("Any", columns)), lambda roles: closing(own.opened(table, roles, model))
    )
