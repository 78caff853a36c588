# SPDX-License-Identifier: Apache-2.0
"""From what a user hands over to columns by role: arrays, frames of any library, files, databases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.text import listed
from assay.rows.columns import coded
from assay.rows.files.file_list import are_paths
from assay.rows.files.formats import Reading
from assay.rows.label_types import kind_of
from assay.rows.score_columns import score_array, stored_as
from assay.rows.source import (
    ArraySource,
    FrameSource,
    Roles,
    Source,
    check_names,
    check_same_index,
    check_same_length,
    closing_on_failure,
    nameless,
    refuse_limits,
    require,
)

if TYPE_CHECKING:
    from assay.rows.files.file_list import Paths
    from assay.rows.limits import Limits


def open_source(
    data: object,
    roles: Roles,
    reading: Reading | None = None,
    *,
    engine: str | None = None,
    limits: Limits | None = None,
    truth_data: object = None,
) -> Source:
    """Open what the user gave; with `truth_data`, truth is there and meets the predictions by id."""
    refuse_limits(data, engine, limits)
    reading = reading or Reading()
    if not are_paths(truth_data) and (reading.truth_table or reading.truth_query):
        raise PlanError(
            "role-clash",
            "a table or a query for the truth is given, but no database that holds it",
            where="truth_data",
            fix="give truth_data= (--truth-file), or table= and query= if the rows hold the truth themselves",
        )
    if (reading.table or reading.query) and not are_paths(data):
        from assay.rows.databases.database import check_selection

        check_selection(data, reading)
    if truth_data is None and roles.id is None:
        return _with_quantum(_opened(data, roles, reading, engine, limits), reading.weight_quantum)
    from assay.rows.joins.mismatch_errors import ids_told
    from assay.rows.joins.truth_and_predictions import check_unique_ids, open_both

    with ids_told(plainly=reading.show_ids):
        if truth_data is None:
            source = _opened(data, roles, reading, engine, limits)
            with closing_on_failure(source):
                check_unique_ids(source, data, roles.id)
        else:
            source = open_both(data, truth_data, roles, reading, engine, limits)
    return _with_quantum(source, reading.weight_quantum)


def _with_quantum(source: Source, stated: float | None) -> Source:
    """The source with the quantum of its weights, if it has any; closed where they cannot be used."""
    if source.weight is None:
        return source
    from assay.rows.weights import with_quantum

    with closing_on_failure(source):
        return with_quantum(source, stated)


def _opened(data: object, roles: Roles, reading: Reading, engine: str | None, limits: Limits | None) -> Source:
    if data is None:
        return _arrays(roles)
    check_names(roles.named())
    if are_paths(data):
        return _from_path(data, roles, reading, engine, limits)
    if isinstance(data, Mapping):
        return _arrays(_from_mapping(data, roles))
    from assay.rows.engines.narwhals_frames import from_frame, narwhals_of, take_apart

    frame = narwhals_of(data)
    if (columns := take_apart(frame, roles)) is not None:
        return _arrays(columns)
    if frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect():
        from assay.rows.spark.spark_frames import PlainFrame, from_spark

        return from_spark(PlainFrame(frame.to_native()), roles)
    return from_frame(frame, roles)


def _from_mapping(data: Mapping[str, object], roles: Roles) -> Roles:
    def take(name: object) -> object:
        return data[require(str(name), list(data), "data")]

    return roles.over(lambda _, column: take(column))


def _arrays(roles: Roles) -> Source:
    for role, column in roles.named().items():
        if isinstance(column, str):
            raise nameless(role)
    if native := _one_engine(roles):
        from assay.rows.engines.narwhals_frames import from_columns

        return from_columns(native, roles)
    check_same_index(roles.named())
    columns = {role: coded(column, role) for role, column in roles.labelled().items()}
    scores = {} if roles.score is None else {r: score_array(c, r) for r, c in roles.score.named().items()}
    check_same_length({role: len(column) for role, column in columns.items()} | {r: len(c) for r, c in scores.items()})
    truth = columns["truth"]
    if "predicted" not in columns:
        from assay.rows.scored_source import undecided

        columns["predicted"] = undecided(len(truth))
    weight = None
    if roles.weight is not None:
        from assay.rows.number_columns import weights

        weight = weights(roles.weight, len(truth))
    source = ArraySource(
        truth=truth,
        predicted=columns["predicted"],
        score=tuple(scores.values()),
        stored=() if roles.score is None else tuple(sorted({stored_as(column) for column in roles.score.columns})),
        group={name: columns[f'group "{name}"'] for name in roles.group},
        weight=weight,
    )
    # Asked before counting: 1 and True are equal as keys, so a column that mixes them could not be told apart later.
    for role, column in {"truth": truth, "predicted": source.predicted, **source.group}.items():
        kind_of(column.labels or (), where=source.where, locate=source.locate, role=role)
    return source


def _one_engine(roles: Roles) -> Literal["polars", "pyarrow"] | None:
    """The library all columns come from, if it counts text best by itself; weights are always summed by us."""
    if roles.weight is not None or roles.score is not None:
        return None
    homes = {type(column).__module__.split(".")[0] for column in roles.named().values()}
    return "polars" if homes == {"polars"} else "pyarrow" if homes == {"pyarrow"} else None


def _from_path(path: Paths, roles: Roles, reading: Reading, engine: str | None, limits: Limits | None) -> FrameSource:
    """A path or several, read by the embedded engine or by the one that is named; a database by the embedded engine."""
    from assay.rows.databases.database import is_database
    from assay.rows.engines.narwhals_frames import of_opened
    from assay.rows.files.opened_file import OpenedFile
    from assay.rows.inputs import open_path
    from assay.rows.joins.mismatch_errors import id_columns

    uses = roles.uses(id_columns(roles.id) if is_database(path) else ())
    opened = open_path(path, uses, reading, engine=engine, limits=limits, progress=reading.progress)
    if isinstance(opened, OpenedFile):
        return of_opened(opened, roles)
    from assay.rows.spark.spark_frames import PlainFrame, from_spark

    with closing_on_failure(opened):
        return from_spark(PlainFrame(opened.frame, opened.path, opened), roles)


TYPED: Final = ("parquet", "arrow", "duckdb")
"""Formats that state the type of a column; in others a number has the type it is read with."""


def demand_whole(source: Source, declared: Sequence[Label] | None, *, spelled: bool) -> None:
    """Demand that labels stated as whole numbers are stored as such, where the file says how they are stored.

    Without stated labels, whole fractions such as 1.0 are labels.
    """
    if not declared or not all(_whole(label, spelled=spelled) for label in declared):
        return
    if not isinstance(source, FrameSource) or source.opened is None:
        return
    if not any(form in source.opened.format for form in TYPED):
        return
    schema, types = source.frame.collect_schema(), getattr(source.opened, "columns", {})
    for column in (source.truth, source.predicted):
        kind = schema.get(column)
        if kind is None or not (kind.is_float() or kind.is_decimal()):
            continue
        name = str(types.get(column, kind)).lower()
        raise RowsError(
            "column-type",
            f"{source.shown(column)} is {name}, and the labels are stated as whole numbers",
            where=source.where,
            found=name,
            known=listed(declared),
            fix="store the column as whole numbers, or cast it where the file is written: astype('int64'),"
            f" CAST({column} AS BIGINT); without stated labels, whole fractions such as 1.0 are labels",
        )


def _whole(label: Label, *, spelled: bool) -> bool:
    if isinstance(label, bool):
        return False
    return isinstance(label, int) or (spelled and isinstance(label, str) and label.strip().lstrip("+-").isdecimal())
