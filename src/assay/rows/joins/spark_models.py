# SPDX-License-Identifier: Apache-2.0
"""Models in Spark frames or paths of their own, joined by id on the cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from assay.core.errors import PlanError
from assay.core.text import visible
from assay.rows.databases.database import refuse_selection
from assay.rows.engines.narwhals_frames import demand_one_path
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
from assay.rows.spark.spark_files import SparkFile, read
from assay.rows.spark.spark_frames import SparkFrames, from_spark, join_frames, kind_of_id
from assay.rows.spark.spark_session import is_spark, open_session

ROWS: Final = 1 << 17
"""Rows that a part of the kept ones has at least, about: Spark keeps as many parts as it shuffles, 200 by default, and
takes longer to begin each for every question than to answer it of few rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The frame of a model, and that of its truth where that is another one."""

    frame: Any
    opened: SparkFile | None = None
    truth: Any = None
    truth_path: str = "truth_data"


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
        frames = {name: Table(frame=model.data, truth=model.truth) for name, model in models.items()}
        return _matched(models, frames, unmatched, kept=kept, end=lambda: None)
    _check_paths(models, limits)
    session = open_session(engine)
    try:
        paths = {name: _read(session.spark, model) for name, model in models.items()}
        return _matched(models, paths, unmatched, kept=kept, end=session.end)
    except BaseException:
        session.end()
        raise


def _check_paths(models: Mapping[str, Model], limits: Limits | None) -> None:
    for name, model in models.items():
        demand_one_path(model.data, limits, where=f"data of {name}")
        refuse_selection(model.data, model.reading)
        if model.truth is not None:
            demand_one_path(model.truth, limits, where="truth_data")


def _read(spark: Any, model: Model) -> Table:  # noqa: ANN401  a Spark session
    """The paths of a model."""
    opened = read(spark, cast("str", model.data), model.reading)
    if model.truth is None:
        return Table(frame=opened.frame, opened=opened)
    truth = read(spark, cast("str", model.truth), model.reading)
    return Table(frame=opened.frame, opened=opened, truth=truth.frame, truth_path=visible(truth.path))


def _matched(
    models: Mapping[str, Model],
    given: Mapping[str, Table],
    unmatched: Unmatched,
    *,
    kept: bool,
    end: Callable[[], None],
) -> MatchedModels:
    sources = {name: _source(name, model, given[name], unmatched) for name, model in models.items()}
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


def _source(name: str, model: Model, given: Table, unmatched: Unmatched) -> FrameSource:
    def open_(wanted: Roles) -> FrameSource:
        if given.truth is None:
            return from_spark(given.frame, wanted, given.opened)
        own = f"the predictions of {name}" if given.opened is None else visible(given.opened.path)
        where = (own, given.truth_path)
        joined, named, join = join_frames([given.frame, given.truth], wanted, model.by, unmatched, where)
        opened = None if given.opened is None else replace(given.opened, frame=joined, rows=join.matched)
        return replace(from_spark(joined, named, opened), where=" and ".join(where), join=join)

    return model.source(open_)


def _table(name: str, place: int, source: FrameSource, frames: SparkFrames) -> ModelTable:
    column = source.group[KEY]
    kind = kind_of_id(source.frame.collect_schema()[column], source.names.get(column, column), source.where)
    rows = None if source.opened is None else cast("SparkFile", source.opened).rows
    return ModelTable(model=name, source=source, table=frames.table(place, [column], [kind], source.where, rows))
