# SPDX-License-Identifier: Apache-2.0
"""Models in tables of their own, joined in one DuckDB or on the Spark cluster that has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.errors import PlanError
from assay.core.text import visible
from assay.rows.engines.duckdb_engine import quote_identifier, told_as_ours
from assay.rows.engines.narwhals_frames import narwhals_of, of_opened
from assay.rows.files.file_list import are_paths
from assay.rows.files.formats import Reading
from assay.rows.files.opened_file import VIEW, Home, OpenedFile
from assay.rows.inputs import Input, input_of, opened_inputs
from assay.rows.joins.matches import full_join, uses_of_sides
from assay.rows.joins.mismatch_errors import SUBJECT, Unmatched
from assay.rows.joins.models import (
    FIT,
    KEY,
    MatchedModels,
    Model,
    ModelTable,
    check_joinable,
    join_models,
    refuse_mismatch,
)
from assay.rows.joins.truth_and_predictions import duckdb_table, join_tables
from assay.rows.limits import Limits
from assay.rows.source import FrameSource, Roles
from assay.rows.spark.spark_files import SparkFile, check_path
from assay.rows.spark.spark_files import told_as_ours as spark_errors
from assay.rows.spark.spark_frames import PlainFrame, SparkFrames, from_sides, from_spark, kind_of_id, read_plain
from assay.rows.spark.spark_session import is_spark, session_at

if TYPE_CHECKING:
    from assay.rows.databases.database import Use

_PLACE: Final = "place"
ROWS: Final = 1 << 17
"""Rows that a part of the kept ones has at least, about: Spark keeps as many parts as it shuffles, 200 by default, and
takes longer to begin each for every question than to answer it of few rows."""


def match_in_duckdb(models: Mapping[str, Model], limits: Limits, *, kept: bool, unmatched: Unmatched) -> MatchedModels:
    """Every model's table joined in DuckDB; with `kept`, the joined rows are stored once for several questions."""
    sides = _inputs(models)
    uses: dict[Input, dict[str, Use]] = {}
    for name, model in models.items():
        own = [model.wide.uses(model.by)] if model.truth is None else uses_of_sides(model.wide, model.by)
        for side, more in zip(sides[name], own, strict=True):
            uses.setdefault(side, {}).update(more)
    named: dict[str, str] = {}
    with opened_inputs(list(uses), list(uses.values()), limits) as opened_sides:
        homes = dict(zip(uses, opened_sides, strict=True))
        tables = tuple(
            _table(name, place, model, [homes[side] for side in sides[name]], unmatched)
            for place, (name, model) in enumerate(models.items())
        )
        check_joinable(tables)
        opened = _joined(tables, list(models.values()), named, kept=kept)

    def source(roles: Roles) -> FrameSource:
        made = of_opened(opened, roles)
        return replace(made, names={**named, **made.names})

    query = f"SELECT {FIT}, count(*) FROM {quote_identifier(opened.view)} GROUP BY {FIT}"  # noqa: S608
    return MatchedModels(tables=tables, source=source, fetch=lambda: opened.fetch(query), close=opened.close)


def _inputs(models: Mapping[str, Model]) -> dict[str, list[Input]]:
    """The input of each model, and that of its truth where that is elsewhere; models may share one."""
    inputs: dict[str, list[Input]] = {}
    shared: dict[object, Input] = {}
    for place, (name, model) in enumerate(models.items()):
        own = replace(model.reading, truth_table=None, truth_query=None)
        inputs[name] = [input_of(model.data, own, f"assay_model_{place}", called=_called(model.data))]
        if model.truth is not None:
            key = str(model.truth) if are_paths(model.truth) else id(model.truth)
            there = replace(own, table=model.reading.truth_table, query=model.reading.truth_query)
            if key not in shared:
                shared[key] = input_of(model.truth, there, f"assay_truth_{len(shared)}", called="truth_data")
            inputs[name].append(shared[key])
    return inputs


def _called(data: object) -> str:
    """What errors call a frame; files and databases have names of their own."""
    if are_paths(data):
        return ""
    kind = None if isinstance(data, Mapping) else narwhals_of(data).implementation
    return "the given columns" if kind is None or kind.is_pandas_like() else f"the given {kind} frame"


def _table(name: str, place: int, model: Model, homes: Sequence[OpenedFile], unmatched: Unmatched) -> ModelTable:
    def open_(wanted: Roles) -> FrameSource:
        opened, here = homes[0], wanted
        if model.truth is not None:
            view = f"assay_joined_{place}"
            opened, here = join_tables(homes[0], homes[1], wanted, model.by, unmatched=unmatched, view=view)
        pairs = zip(here.named().values(), wanted.named().values(), strict=True)
        names = {str(own): str(user) for own, user in pairs if own != user}
        source = of_opened(opened, here)
        return replace(source, where=opened.shown, names={**source.names, **names})

    source = model.source(open_)
    opened = cast("OpenedFile", source.opened)
    if not model.by and not opened.ordered:
        raise PlanError(
            "comparison-needs",
            "rows are paired by position, and the rows of this table have no order",
            where=source.where,
            fix="state id=COLUMN (--id)",
        )
    view = f"assay_rows_{place}"
    with told_as_ours(opened.shown, opened.format):
        opened.connection.execute(f"CREATE TEMP VIEW {view} AS {source.frame.to_native().sql_query()}")
    by = [source.group[KEY]] if model.by else []
    table = replace(duckdb_table(replace(opened, view=view), by), places=lambda _: [])
    return ModelTable(model=name, source=source, table=table, keyed=bool(model.by), homes=tuple(homes))


def _joined(tables: Sequence[ModelTable], models: Sequence[Model], named: dict[str, str], *, kept: bool) -> OpenedFile:
    query, columns = join_models(tables, models)
    named |= {name: one.source.names.get(column, column) for name, (one, column) in columns.items()}
    opened_files = [cast("OpenedFile", one.source.opened) for one in tables]
    homes = {
        name: Home(table=cast("OpenedFile", one.source.opened), column=named[name], matched="true")
        for name, (one, _) in columns.items()
    }
    where = "; ".join(one.source.where for one in tables)
    form = " and ".join(sorted({opened.format for opened in opened_files}))
    connection = opened_files[0].connection
    with told_as_ours(where, form):
        connection.execute(f"CREATE TEMP {'TABLE' if kept else 'VIEW'} {quote_identifier(VIEW)} AS {query}")
    return OpenedFile(
        connection=connection,
        path=where,
        format=form,
        bytes=sum(opened.bytes for opened in opened_files),
        decimal=opened_files[0].decimal,
        parts=tuple(part for opened in opened_files for part in opened.parts or (opened,)),
        homes=homes,
    )


def align_rows(tables: Mapping[str, Mapping[str, object]], where: Sequence[str], *, keyed: bool) -> list[Any]:
    """For each table in memory the order that brings its rows beside those of the first; others are errors.

    Tables hold the columns `id` and, where subjects must agree, `subject`.
    """
    placed = [
        {**columns, _PLACE: np.arange(len(cast("Sequence[object]", columns[KEY])))} for columns in tables.values()
    ]
    inputs = [input_of(one, Reading(), f"assay_model_{place}", called=where[place]) for place, one in enumerate(placed)]
    uses: dict[str, Use] = {KEY: "id", SUBJECT: "label", _PLACE: "number"}
    with opened_inputs(inputs, [uses] * len(inputs)) as opened:
        matched = [
            ModelTable(model=model, source=_keys_alone(table), table=duckdb_table(table, [KEY]), keyed=keyed)
            for model, table in zip(tables, opened, strict=True)
        ]
        refuse_mismatch(matched)
        places = [f"t{i}.{_PLACE} AS p{i}" for i in range(len(matched))]
        orders = opened[0].arrays(f"{full_join([one.table for one in matched], places)} ORDER BY p0")
    opened[0].close()
    return [orders[f"p{i}"] for i in range(len(matched))]


def _keys_alone(opened: OpenedFile) -> FrameSource:
    group = {SUBJECT: SUBJECT} if SUBJECT in opened.columns else {}
    frame = nw.from_native(opened.relation)
    return FrameSource(frame=frame, truth="", predicted="", group=group, weight=None, where=opened.shown, opened=opened)


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
        frames = {
            name: [PlainFrame(frame, where) for where, frame in _given(name, model).items()]
            for name, model in models.items()
        }
        return _matched(models, frames, unmatched, kept=kept, end=lambda: None)
    paths = {
        name: [check_path(path, model.reading, limits, where=where) for where, path in _given(name, model).items()]
        for name, model in models.items()
    }
    with session_at(engine) as session:
        read = {name: [read_plain(session, path, models[name].reading) for path in own] for name, own in paths.items()}
        return _matched(models, read, unmatched, kept=kept, end=session.end)


def _given(name: str, model: Model) -> dict[str, object]:
    """The predictions of a model, and its truth where that is elsewhere, by what errors call them."""
    truth = {} if model.truth is None else {"truth_data": model.truth}
    return {f"the predictions of {name}": model.data, **truth}


def _matched(
    models: Mapping[str, Model],
    sides: Mapping[str, Sequence[PlainFrame]],
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
    tables = tuple(_spark_table(name, place, source, frames) for place, (name, source) in enumerate(sources.items()))
    check_joinable(tables)
    query, homes = join_models(tables, list(models.values()))
    with spark_errors(where):
        joined = frames.query(query)
        joined = joined.selectExpr(*homes, FIT)
        if kept:
            joined = joined.coalesce(max(one.table.size for one in tables) // ROWS + 1).persist()
    named = {name: one.source.names.get(column, column) for name, (one, column) in homes.items()}

    def source(roles: Roles) -> FrameSource:
        paths = tables[0].source.opened is not None
        opened = SparkFile(frame=joined, path=where, format="") if paths else None
        made = from_spark(PlainFrame(joined, where, opened), roles)
        return replace(made, names={alias: named.get(name, name) for alias, name in made.names.items()})

    def fetch() -> list[tuple[Any, ...]]:
        with spark_errors(where):
            return [tuple(row) for row in joined.groupBy(FIT).count().collect()]

    def close() -> None:
        try:
            if kept:
                joined.unpersist()
        finally:
            end()

    return MatchedModels(tables=tables, source=source, fetch=fetch, close=close)


def _spark_table(name: str, place: int, source: FrameSource, frames: SparkFrames) -> ModelTable:
    column = source.group[KEY]
    kind = kind_of_id(source.frame.collect_schema()[column], source.names.get(column, column), source.where)
    rows = None if source.opened is None else source.opened.rows
    return ModelTable(model=name, source=source, table=frames.table(place, source.where, {column: kind}, rows))
