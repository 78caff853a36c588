# SPDX-License-Identifier: Apache-2.0
"""Rows that meet by id: truth and predictions from two places, or one table whose rows are named once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.core.errors import PlanError
from assay.rows.ids import (
    Unmatched,
    demand_unique,
    demand_unique_together,
    id_columns,
)
from assay.rows.listing import are_paths
from assay.rows.opened import OpenedFile
from assay.rows.opening import ArraySource, FrameSource, Roles, Source, names_only, require

if TYPE_CHECKING:
    from assay.rows.limits import Limits
    from assay.rows.reading import Reading


def open_both(
    data: object,
    truth_data: object,
    roles: Roles,
    reading: Reading | None,
    *,
    progress: Any,  # noqa: ANN401
    engine: str | None,
    limits: Limits | None,
    unmatched: Unmatched,
) -> Source:
    """Predictions in `data` and truth in `truth_data`, joined by id: files by the embedded engine, frames by theirs."""
    if data is None or roles.id is None:
        raise PlanError(
            "role-missing",
            "truth_data is given, but not "
            + ("the data with the predictions" if data is None else "the id to join by"),
            where="truth_data",
            fix="give data= and id=: rows are never matched by their order",
        )
    names_only(roles)
    by = id_columns(roles.id)
    files = [are_paths(one) for one in (data, truth_data)]
    if all(files):
        return _from_files(
            data, truth_data, roles, by, reading, progress=progress, engine=engine, limits=limits, unmatched=unmatched
        )
    if any(files) or any(isinstance(one, Mapping) for one in (data, truth_data)):
        raise PlanError(
            "role-clash",
            f"data is a {type(data).__name__} and truth_data a {type(truth_data).__name__}",
            where="truth_data",
            fix="give both as files, or both as frames of one library",
        )
    from assay.rows.frames import from_frame, narwhals_of
    from assay.rows.pairing import ROW, joined_frames

    both, named, join = joined_frames(data, truth_data, roles, by, unmatched)
    source = from_frame(both, named)
    if isinstance(source, ArraySource):
        kept = narwhals_of(both).get_column(ROW).to_numpy()
        return replace(source, where="data and truth_data", kept=kept, join=join)
    placed = ROW if ROW in source.frame.collect_schema().names() else None
    return replace(source, where="data and truth_data", join=join, rows=placed, indexed=placed is not None)


def _from_files(
    data: Any,  # noqa: ANN401  paths, as was asked before
    truth_data: Any,  # noqa: ANN401
    roles: Roles,
    by: tuple[str, ...],
    reading: Reading | None,
    *,
    progress: Any,  # noqa: ANN401
    engine: str | None,
    limits: Limits | None,
    unmatched: Unmatched,
) -> FrameSource:
    from assay.rows.frames import demand_embedded, of_opened
    from assay.rows.joining import open_joined
    from assay.rows.limits import Limits
    from assay.rows.reading import Reading
    from assay.rows.sparksession import is_cluster

    if engine is not None and is_cluster(engine):
        return _from_cluster(data, truth_data, roles, by, reading, engine=engine, limits=limits, unmatched=unmatched)
    demand_embedded(engine)
    opened, named = open_joined(
        data,
        truth_data,
        roles,
        by,
        reading or Reading(),
        unmatched=unmatched,
        progress=progress,
        limits=limits or Limits(),
    )
    return of_opened(opened, named)


def _from_cluster(
    data: Any,  # noqa: ANN401  paths, as was asked before
    truth_data: Any,  # noqa: ANN401
    roles: Roles,
    by: tuple[str, ...],
    reading: Reading | None,
    *,
    engine: str,
    limits: Limits | None,
    unmatched: Unmatched,
) -> FrameSource:
    from assay.rows.databases import is_database
    from assay.rows.frames import demand_one_path
    from assay.rows.reading import Reading
    from assay.rows.spark import joined_on_cluster

    given = [one[0] if isinstance(one, (list, tuple)) and len(one) == 1 else one for one in (data, truth_data)]
    for one, name in zip(given, ("data", "truth_data"), strict=True):
        if is_database(one):
            raise PlanError(
                "role-clash",
                f"a cluster is named, but {name} is a database, which the cluster does not read",
                where=name,
                fix="leave the engine out: the rows of the table are then fetched and joined on this machine;"
                " or export the table to Parquet where the cluster reads it",
            )
        demand_one_path(one, limits, where=name)
    return joined_on_cluster(
        given[0], given[1], roles, by, reading=reading or Reading(), engine=engine, unmatched=unmatched
    )


def demand_named_once(source: Source, data: object, id: object) -> None:
    """Demand that the ids of one table name every row once."""
    if data is None:
        demand_unique(id, _length(source))
        return
    by = id_columns(id)
    if isinstance(data, Mapping):
        columns = {name: data[require(name, list(data), "data")] for name in by}
        demand_unique_together(columns, _length(source))
        return
    opened = source.opened if isinstance(source, FrameSource) else None
    if isinstance(opened, OpenedFile):
        from assay.rows.joining import demand_ids

        demand_ids(opened, by)
    else:  # a frame of the user's, or what a cluster made of a path
        from assay.rows.pairing import demand_frame_ids

        demand_frame_ids(data if opened is None else opened.frame, by, "data" if opened is None else source.where)


def _length(source: Source) -> int:
    """How many rows are in memory."""
    if isinstance(source, ArraySource):
        return len(source.truth)
    return len(source.frame if source.arrays is None else next(iter(source.arrays.values())))
