# SPDX-License-Identifier: Apache-2.0
"""Models in tables of their own, joined by id or by position, and the proof that they saw the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Final

from assay.assess.compare.comparison_requirements import demand_two
from assay.assess.compare.model_columns import Columns, Given, Paired, left_out, own_column, read_rows, score_classes
from assay.assess.provenance import origin, origin_of, origins
from assay.core.errors import PlanError, RowsError
from assay.rows.engines.narwhals_frames import demand_embedded
from assay.rows.files.file_list import are_paths
from assay.rows.files.formats import Reading
from assay.rows.joins.matched_models import match_in_duckdb
from assay.rows.joins.mismatch_errors import SUBJECT, ids_told
from assay.rows.joins.models import FIT, KEY, MatchedModels, Model, columns_of
from assay.rows.joins.threshold_labels import Cut
from assay.rows.limits import Limits
from assay.rows.open import demand_whole
from assay.rows.score_columns import ScoreColumns
from assay.rows.source import Roles, check_names, refuse_limits
from assay.rows.spark.spark_session import is_cluster, is_spark
from assay.tally.paired.joint_counts import joint

BY_ID: Final = "by id"
BY_POSITION: Final = "by position: same number of rows and the same truth in every row"


def apart(data: Mapping[str, object], given: Given) -> Paired:
    """One table a model: rows are matched by id, or by position where that was said and the truths agree."""
    names = tuple(map(str, data))
    demand_two(names)
    keyed = given.pairing != "position"
    if keyed and given.id is None:
        raise PlanError(
            "comparison-needs",
            "the models come in tables of their own, and nobody said which column tells their rows apart",
            fix="state id=COLUMN (--id), or pairing='position' (--by-position) if the rows stand in the same order",
        )
    if not keyed and given.truth_data is not None:
        raise PlanError(
            "role-clash",
            "the truth is in a table of its own, and rows are paired by position",
            where="truth_data",
            fix="state id=COLUMN (--id): truth and predictions are never matched by their order",
        )
    scored_by = {} if given.score is None else {name: own_column(given.score, name) for name in names}
    by_class = score_classes(scored_by)
    models = {
        name: _model(given, name, table, scored_by, by_class, keyed=keyed)
        for name, table in zip(names, data.values(), strict=True)
    }
    with ids_told(plainly=given.reading is not None and given.reading.show_ids):
        return _matched(models, given, by_class, keyed=keyed)


def _model(
    given: Given,
    model: str,
    table: object,
    scored_by: Mapping[str, object],
    by_class: Mapping[str, ScoreColumns] | None,
    *,
    keyed: bool,
) -> Model:
    """The rows of one model: its columns by role in its own table, and where the truth is if not there."""
    columns = ScoreColumns(columns=(scored_by[model],)) if scored_by else None
    truth = given.truth_of(model)
    alone = given.truth if truth is None else None  # without labels, a column that is there in their place
    called = alone if given.predicted is None else own_column(given.predicted, model)
    cut = called if isinstance(called, Cut) else None
    roles = Roles(
        truth=given.truth,
        predicted=None if cut is not None else called,
        group=({KEY: given.id} if keyed else {}) | ({} if given.subject is None else {SUBJECT: given.subject}),
        weight=given.weight,
        score=columns if by_class is None else by_class[model],
    )
    reading = given.reading_of(model) or Reading()
    return Model(data=table, roles=roles, reading=reading, truth=truth, cut=cut)


def _join(models: Mapping[str, Model], given: Given, *, kept: bool) -> MatchedModels:
    """All models as one table, on the cluster that has or reads them, else in DuckDB."""
    for model in models.values():
        refuse_limits(model.data, given.engine, given.limits)
        check_names(model.roles.named())
    cluster = given.engine if given.engine is not None and is_cluster(given.engine) else None
    if any(is_spark(model.data) for model in models.values()) or cluster is not None:
        from assay.rows.joins.matched_models import are_on_spark, match_on_spark

        if cluster is not None or are_on_spark(models):
            return match_on_spark(models, engine=cluster, limits=given.limits, kept=kept, unmatched=given.unmatched)
    demand_embedded(given.engine)
    return match_in_duckdb(models, given.limits or Limits(), kept=kept, unmatched=given.unmatched)


def _columns(
    models: Mapping[str, Model], given: Given, by_class: Mapping[str, ScoreColumns] | None, *, only_counted: bool
) -> Columns:
    """Where the columns of every model stand in the joined table."""
    own = {name: columns_of(place, one.roles) for place, (name, one) in enumerate(models.items())}
    scored = {name: one.score for name, one in own.items() if one.score is not None}
    return Columns(
        truth="truth",
        models=tuple(models),
        called={} if given.predicted is None else {name: one.predicted for name, one in own.items()},
        scored={name: one.columns[0] for name, one in scored.items()},
        by_class=scored if by_class is not None else None,
        channel=FIT if only_counted else None,
        subject=None if given.subject is None else SUBJECT,
        weight=None if given.weight is None else "weight",
        exact=given.exact,
        by_row=given.by_row,
        held=not any(are_paths(one.data) or is_spark(one.data) for one in models.values()),
    )


def _matched(
    models: Mapping[str, Model], given: Given, by_class: Mapping[str, ScoreColumns] | None, *, keyed: bool
) -> Paired:
    """Joint cells of the matched rows, and what is compared row by row."""
    only_counted = given.score is given.subject is given.weight is None
    matched_models = _join(models, given, kept=not only_counted)
    columns = _columns(models, given, by_class, only_counted=only_counted)
    try:
        for one in matched_models.tables:
            demand_whole(one.source, given.labels, spelled=given.spelled)
        if not only_counted:
            matched_models.check_rows()
        try:
            paired = read_rows(columns, lambda wanted: nullcontext(matched_models.source(wanted)))
        except RowsError:
            _told_by_table(matched_models)
            raise
        cells = paired.cells
        if only_counted:
            matched_models.check_rows([(int(cell[-1] or 0), n) for cell, n in (cells or {}).items()])
            cells = {cell[:-1]: n for cell, n in (cells or {}).items()}
        paired = replace(paired, cells=cells, columns=by_class, channel=False)
        return _told(matched_models, models, paired, keyed=keyed)
    finally:
        matched_models.close()


def _told(matched_models: MatchedModels, models: Mapping[str, Model], paired: Paired, *, keyed: bool) -> Paired:
    """With where the rows come from, and the proof that they are the same."""
    digest = matched_models.digest()
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
    return replace(
        paired,
        where="; ".join(member.source.where for member in matched_models.tables),
        named="; ".join([*names[: len(given)], *apart_]),
        proof=digest,
        how=BY_ID if keyed else BY_POSITION,
        files=files,
        notes=tuple(note for member in matched_models.tables for note in left_out(member.source.join, member.model)),
    )


def _told_by_table(found: MatchedModels) -> None:
    """A fault of labels is told of the table it stands in, if it stands in one."""
    for one in found.tables:
        joint(replace(one.source, group={}, score=()))
