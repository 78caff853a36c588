# SPDX-License-Identifier: Apache-2.0
"""Where the rows of each model lie, and how they become a table of one engine.

Truth may stand in a table of its own, which is opened once for all models and joined to each by id. Where rows are
paired by their places, these are the ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

from assay.rows.copying import fill_table
from assay.rows.cutting import Cut, with_scores_of
from assay.rows.engine import quote_identifier, told_as_ours
from assay.rows.frames import of_opened
from assay.rows.framesides import frame_side
from assay.rows.ids import SideBySide, Unmatched
from assay.rows.joining import joined
from assay.rows.listing import are_paths
from assay.rows.modeltables import KEY, ModelTable
from assay.rows.opened import OpenedFile
from assay.rows.opening import FrameSource, Roles, open_source, require
from assay.rows.reading import Reading
from assay.rows.scored import sound
from assay.rows.scores import ScoreColumns
from assay.rows.sides import Side, one_side, wanted_of

if TYPE_CHECKING:
    import duckdb

    from assay.rows.databases import DatabaseTable
    from assay.rows.listing import Paths

PLACE: Final = "assay_place"
"""The column of the places of rows, from 0 on, where these pair them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The rows of one model as the user gave them."""

    data: object
    roles: Roles
    reading: Reading
    truth: object = None
    """The table that holds the truth, where that is another one."""
    cut: Cut | None = None
    """How labels are made of scores, where the model has none of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSide:
    """The rows of one model on their way into the engine."""

    model: str
    side: Side
    roles: Roles
    called: Roles
    """The columns as the user calls them."""
    reading: Reading
    cut: Cut | None = None
    truth: Side | None = None

    @property
    def sides(self) -> list[Side]:
        """All that is read."""
        return [self.side] if self.truth is None else [self.side, self.truth]

    @property
    def by(self) -> tuple[str, ...]:
        """The column of the ids; none where places pair the rows."""
        return (str(self.roles.group[KEY]),) if KEY in self.roles.group else ()

    @property
    def wide(self) -> Roles:
        """The columns by role, scores that are cut behind the others."""
        return self.roles if self.cut is None else with_scores_of(self.roles, [self.cut])


def sides_of(models: Mapping[str, Model]) -> list[ModelSide] | None:
    """Where each model's rows lie, and its columns by the names they have there; None where only memory can match.

    Frames are looked at as when they are read by themselves, so that what is wrong with them is told alike.
    """
    sides: dict[str, Side] = {}
    roles = {name: one.roles for name, one in models.items()}
    for place, (name, one) in enumerate(models.items()):
        if are_paths(one.data) and (one.truth is None or are_paths(one.truth)):
            continue
        if one.truth is not None or one.cut is not None or are_paths(one.data):
            return None
        source = open_source(one.data, one.roles, one.reading)
        if (score := one.roles.score) is not None:
            source, _ = sound(source, "any", single=len(score.columns) == 1, drop=False)
        found = frame_side(one.data, one.roles, source.where, f"assay_model_{place}")
        if found is None:
            return None
        sides[name], roles[name] = found
    truths: dict[str, Side] = {}
    for place, (name, one) in enumerate(models.items()):
        own = replace(one.reading, truth_table=None, truth_query=None)
        if name not in sides:
            sides[name] = one_side(cast("Paths", one.data), own, f"model_{place}")
        if one.truth is not None and str(one.truth) not in truths:
            there = replace(own, table=one.reading.truth_table, query=one.reading.truth_query)
            truths[str(one.truth)] = one_side(cast("Paths", one.truth), there, f"truth_{len(truths)}")
    return [
        ModelSide(
            model=name,
            side=sides[name],
            roles=roles[name],
            called=one.roles,
            reading=one.reading,
            cut=one.cut,
            truth=None if one.truth is None else truths[str(one.truth)],
        )
        for name, one in models.items()
    ]


def opened_models(
    models: Sequence[ModelSide], connection: duckdb.DuckDBPyConnection, *, unmatched: Unmatched
) -> tuple[ModelTable, ...]:
    """Every model's table in one engine; a truth that several share is opened once."""
    sides = {side.view: side for one in models for side in one.sides}
    begun: dict[str, OpenedFile | DatabaseTable] = {}
    try:
        for view, side in sides.items():
            begun[view] = side.begin(connection, None)
        asked: dict[str, dict[str, None]] = {view: {} for view in sides}
        for one in models:
            for side, columns in zip(one.sides, _asked(one, begun), strict=True):
                asked[side.view] |= dict.fromkeys(columns)
        opened = {
            view: table
            if isinstance(table, OpenedFile)
            else replace(
                fill_table(table, list(asked[view]), connection, max_rows=_most(models, view), view=view),
                called=sides[view].called,
            )
            for view, table in begun.items()
        }
    except BaseException:
        for table in begun.values():
            if not isinstance(table, OpenedFile):
                table.close()
        raise
    return tuple(
        _table(one, place, [opened[side.view] for side in one.sides], unmatched) for place, one in enumerate(models)
    )


def _most(models: Sequence[ModelSide], view: str) -> int | None:
    return next(one.reading.max_rows for one in models if view in {side.view for side in one.sides})


def _asked(one: ModelSide, begun: Mapping[str, OpenedFile | DatabaseTable]) -> list[list[str]]:
    """The columns to be fetched from each side that is a database."""
    tables = [begun[side.view] for side in one.sides]
    if one.truth is None:
        columns, [table] = _columns(one.wide), tables
        if isinstance(table, OpenedFile):
            return [[]]
        for name, number in columns.items():
            table.check(require(name, table.columns, one.side.called), "number" if number else "label")
        return [list(columns)]
    taken = SideBySide(
        names=[list(table.columns) for table in tables], where=[side.called for side in one.sides], by=one.by
    )
    one.wide.over(taken.take)
    return [
        [] if isinstance(table, OpenedFile) else wanted_of(table, place, taken, one.wide)
        for place, table in enumerate(tables)
    ]


def _table(one: ModelSide, place: int, homes: Sequence[OpenedFile], unmatched: Unmatched) -> ModelTable:
    opened, named = homes[0], one.wide
    if one.truth is not None:
        opened, named = joined(homes[0], homes[1], one.wide, one.by, unmatched=unmatched, view=f"assay_joined_{place}")
    theirs = one.called if one.cut is None else with_scores_of(one.called, [one.cut])
    called = dict(zip(named.named().values(), theirs.named().values(), strict=True))
    if not one.by:
        opened = _placed(opened)
        named = replace(named, group={**named.group, KEY: PLACE})
    source = of_opened(opened, named)
    source = replace(source, where=opened.shown) if opened.called else source
    source = replace(source, names={str(here): str(user) for here, user in called.items()} | dict(source.names))
    if named.score is not None:
        checked, _ = sound(source, "any", single=len(named.score.columns) == 1, drop=False)
        source = checked if isinstance(checked, FrameSource) else source
    cut = one.cut
    if cut is not None and named.score is not None:
        *own, last = named.score.columns
        cut = replace(cut, score=str(last))
        named = replace(named, score=ScoreColumns(columns=tuple(own)) if own else None)
        source = replace(source, score=source.score[:-1])
    return ModelTable(
        model=one.model, opened=opened, source=source, roles=named, cut=cut, keyed=bool(one.by), homes=tuple(homes)
    )


def _columns(roles: Roles) -> dict[str, bool]:
    """The columns to be opened, and which of them hold numbers only."""
    numbers = {"weight"} if roles.score is None else {"weight", *roles.score.named()}
    columns: dict[str, bool] = {}
    for role, name in roles.named().items():
        columns[str(name)] = columns.get(str(name), True) and role in numbers
    return columns


def _placed(opened: OpenedFile) -> OpenedFile:
    """The rows with their places, in the order in which they stand."""
    view = f"{opened.view}_placed"
    with told_as_ours(opened.shown, opened.format):
        opened.connection.execute(
            f"CREATE TEMP VIEW {quote_identifier(view)} AS"  # noqa: S608  quoted
            f" SELECT *, row_number() OVER () - 1 AS {PLACE} FROM {quote_identifier(opened.view)}"
        )
        relation = opened.connection.sql(f"SELECT * FROM {quote_identifier(view)}")  # noqa: S608
    return replace(opened, relation=relation, view=view, columns={**opened.columns, PLACE: "BIGINT"})
