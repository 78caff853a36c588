# SPDX-License-Identifier: Apache-2.0
"""Models in Spark frames or paths of their own, joined by id on the cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

from assay.core.errors import PlanError
from assay.core.text import visible
from assay.rows.joins.join_sql import JoinTable
from assay.rows.joins.mismatch_errors import Unmatched
from assay.rows.joins.models import (
    FIT,
    KEY,
    MatchedModels,
    Model,
    ModelTable,
    check_joinable,
    join_models,
)
from assay.rows.limits import Limits
from assay.rows.source import FrameSource, Roles
from assay.rows.spark.spark_errors import told_as_ours
from assay.rows.spark.spark_files import SparkFile, check_path
from assay.rows.spark.spark_frames import SparkFrames, SparkSide, from_sides, from_spark, kind_of_id
from assay.rows.spark.spark_session import is_spark, session_at

ROWS: Final = 1 << 17
"""Rows that a part of the kept ones has at least, about: Spark keeps as many parts as it shuffles, 200 by default, and
takes longer to begin each for every question than to answer it of few rows."""


def are_on_spark(models: Mapping[str, Model]) -> bool:
    """Whether all tables are frames of one Spark session."""
    tables = [one for model in models.values() for one in (model.data, model.truth) if one is not None]
    if not all(is_spark(one) for one in tables):
        return False
    return len({id(cast("Any", one).sparkSession) for one in tables}) == 1


def match_on_spark(
    models: Mapping[str, Model], *, engine: str | None, limits: Limits | None, kept: bool, unmatched: Unmatched
) -> MatchedModels:
    """Every model's rows joined where they are; with `kept`, the cluster keeps the joined rows."""
    if not all(model.by for model in models.values()):
        raise PlanError(
            "comparison-needs",
            "rows are paired by position, and rows on Spark have no order",
            fix="state id=COLUMN (--id)",
        )
    if engine is None:
        frames = {name: _given_sides(name, model) for name, model in models.items()}
        return _matched(models, frames, unmatched, kept=kept, end=lambda: None)
    paths = {name: _paths(name, model, limits) for name, model in models.items()}
    with session_at(engine) as session:
        read = {
            name: [SparkSide.read(session, path, models[name].reading) for path in own] for name, own in paths.items()
        }
        return _matched(models, read, unmatched, kept=kept, end=session.end)


def _given_sides(name: str, model: Model) -> list[SparkSide]:
    predictions = SparkSide(frame=model.data, where=f"the predictions of {name}")
    return [predictions] if model.truth is None else [predictions, SparkSide(frame=model.truth, where="truth_data")]


def _paths(name: str, model: Model, limits: Limits | None) -> list[str]:
    """The paths of a model, and of its truth where that is elsewhere."""
    given = {f"data of {name}": model.data} | ({} if model.truth is None else {"truth_data": model.truth})
    return [check_path(path, model.reading, limits, where=where) for where, path in given.items()]


def _matched(
    models: Mapping[str, Model],
    sides: Mapping[str, Sequence[SparkSide]],
    unmatched: Unmatched,
    *,
    kept: bool,
    end: Callable[[], None],
) -> MatchedModels:
    sources = {
        name: model.source(partial(from_sides, sides[name], by=model.by, unmatched=unmatched))
        for name, model in models.items()
    }
    where = "; ".join(visible(source.where) for source in sources.values())
    frames = SparkFrames([source.frame.to_native() for source in sources.values()], where)
    tables = tuple(_table(name, place, source, frames) for place, (name, source) in enumerate(sources.items()))
    check_joinable(tables)
    query, homes = join_models(tables, list(models.values()))
    with told_as_ours(where):
        joined = frames.query(query)
        joined = joined.selectExpr(*homes, FIT)
        if kept:
            joined = joined.coalesce(max(one.table.size() for one in tables) // ROWS + 1).persist()
    named = {name: one.source.names.get(column, column) for name, (one, column) in homes.items()}

    def source(roles: Roles) -> FrameSource:
        paths = tables[0].source.opened is not None
        made = from_spark(joined, roles, SparkFile(frame=joined, path=where, format="") if paths else None)
        shown = {alias: named.get(name, name) for alias, name in made.names.items()}
        return replace(made, where=where, names=shown)

    def fetch() -> list[tuple[Any, ...]]:
        with told_as_ours(where):
            return [tuple(row) for row in joined.groupBy(FIT).count().collect()]

    def close() -> None:
        try:
            if kept:
                joined.unpersist()
        finally:
            end()

    return MatchedModels(tables=tables, source=source, fetch=fetch, close=close)


def _table(name: str, place: int, source: FrameSource, frames: SparkFrames) -> ModelTable:
    column = source.group[KEY]
    kind = kind_of_id(source.frame.collect_schema()[column], source.names.get(column, column), source.where)
    table = JoinTable(
        view=f"{{f{place}}}",
        ids=(column,),
        kinds=(kind,),
        called=source.where,
        fetch=frames.fetch,
        dialect="spark",
        rows=None if source.opened is None else cast("SparkFile", source.opened).rows,
    )
    return ModelTable(model=name, source=source, table=table)
