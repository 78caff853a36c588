# SPDX-License-Identifier: Apache-2.0
"""From what a user hands over to columns by role: arrays, frames of any library, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from assay.core.errors import MissingColumn, PlanError, RowsError, UnpairedRows
from assay.core.labels import Label
from assay.core.text import counted, listed, nearest, quoted, visible
from assay.rows.columns import Coded, all_text, as_array, coded, weights
from assay.rows.files.file_list import are_paths
from assay.rows.label_types import kind_of
from assay.rows.row_positions import places
from assay.rows.score_columns import ScoreColumns, score_array, stored_as

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from assay.rows.files.file import OpenedFile, Reading
    from assay.rows.joins.mismatch_errors import Join, Unmatched
    from assay.rows.limits import Limits
    from assay.rows.spark.spark_frames import SparkFile

ENGINE_FROM = 200_000
"""Text objects in arrays longer than this are counted by the embedded engine, which reads them with both cores."""


@dataclass(frozen=True, slots=True)
class Crossed:
    """A group that is made of others: each combination of their levels is a level of its own."""

    factors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Which column plays which part."""

    truth: object
    predicted: object
    group: Mapping[str, object] = field(default_factory=dict)
    weight: object = None
    score: ScoreColumns | None = None
    id: object = None
    """The column that names a row, or several that do together; errors show ids, Records do not."""

    def over(self, take: Callable[[str, object], object]) -> Roles:
        """The same roles with other columns; `take` is told the role and the column."""
        return Roles(
            truth=take("truth", self.truth),
            predicted=None if self.predicted is None else take("predicted", self.predicted),
            group={name: take("group", column) for name, column in self.group.items()},
            weight=None if self.weight is None else take("weight", self.weight),
            score=None if self.score is None else self.score.mapped(lambda column: take("score", column)),
        )

    def named(self) -> dict[str, object]:
        """Every column by the name errors call it."""
        out = self.labelled() | ({"weight": self.weight} if self.weight is not None else {})
        return out | ({} if self.score is None else self.score.named())

    def labelled(self) -> dict[str, object]:
        """The columns that hold labels; predictions may be missing where scores are to make them."""
        predicted = {} if self.predicted is None else {"predicted": self.predicted}
        return {"truth": self.truth, **predicted, **{f'group "{n}"': c for n, c in self.group.items()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArraySource:
    """Columns in memory, each as class numbers."""

    truth: Coded
    predicted: Coded
    group: dict[str, Coded]
    weight: NDArray[np.float64] | None
    where: str = "the given columns"
    score: tuple[NDArray[np.float64], ...] = ()
    kept: NDArray[np.int64] | None = None
    """The user's own index of each row, where rows were left out or brought together."""
    join: Join | None = None
    stored: tuple[str, ...] = ()
    """The types the scores were stored with."""
    quantum: int | None = None
    """The exponent of the power of two that weights are multiples of."""

    def locate(self, role: str, label: Label | None) -> str:
        """Where the first rows with a label stand."""
        column = {"truth": self.truth, "predicted": self.predicted}.get(role)
        rows = (self.group[role] if column is None else column).rows_of(label)
        rows = rows if self.kept is None else self.kept[rows].tolist()
        return f"at index {', '.join(str(r) for r in rows)}" if rows else ""

    def close(self) -> None:
        """Nothing to end: the columns are the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look at a column of scores found, all of them finite: how many, between which ends."""

    rows: int
    low: float
    high: float
    distinct: int = 0
    """About how many distinct ones there are, where the engine has a sketch of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSource:
    """A frame or relation that is counted where it is; `names` are the user's names of columns that have others."""

    frame: Any  # a Narwhals frame, eager or lazy
    truth: str
    predicted: str
    group: dict[str, str]
    weight: str | None
    where: str
    opened: OpenedFile | SparkFile | None = None
    arrays: Mapping[str, NDArray[Any]] | None = None
    indexed: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    score: tuple[str, ...] = ()
    dropped: int = 0
    """Rows that were left out because their score is missing."""
    join: Join | None = None
    stored: tuple[str, ...] = ()
    """The types the scores were stored with."""
    quantum: int | None = None
    """The exponent of the power of two that weights are multiples of."""
    seen: Look | None = None
    """What is known of a single column of scores that holds finite numbers only."""

    def shown(self, column: str) -> str:
        """A column as the user calls it."""
        return f"column {quoted(self.names.get(column, column))}"

    def column(self, role: str) -> str:
        """The column that plays a role."""
        return {"truth": self.truth, "predicted": self.predicted}.get(role) or self.group[role]

    def locate(self, role: str, label: Label | None) -> str:
        """Where the first rows with a label stand."""
        from assay.rows.engines.narwhals_frames import first_rows

        rows = first_rows(self, self.column(role), label)
        if self.indexed and rows:
            return f"at index {', '.join(f'{row:,}' for row in rows)}"
        return places(rows)

    def close(self) -> None:
        """End what was started on a cluster to read it."""
        if (close := getattr(self.opened, "close", None)) is not None:
            close()


Source: TypeAlias = ArraySource | FrameSource


def open_source(
    data: object,
    roles: Roles,
    reading: Reading | None = None,
    *,
    progress: Any = None,  # noqa: ANN401
    engine: str | None = None,
    limits: Limits | None = None,
    truth_data: object = None,
    unmatched: Unmatched = "error",
) -> Source:
    """Open what the user gave; with `truth_data`, truth is there and meets the predictions by id."""
    refuse_limits(data, engine, limits)
    if not are_paths(truth_data) and reading is not None and (reading.truth_table or reading.truth_query):
        raise PlanError(
            "role-clash",
            "a table or a query for the truth is given, but no database that holds it",
            where="truth_data",
            fix="give truth_data= (--truth-file), or table= and query= if the rows hold the truth themselves",
        )
    plainly, quantum = (False, None) if reading is None else (reading.show_ids, reading.weight_quantum)
    if type(data).__name__ == "DuckDBPyConnection":  # asked by name, so that nothing is imported to ask
        from assay.rows.databases.duckdb_file import from_connection

        data, reading = from_connection(data, reading), None
    if reading is not None and (reading.table or reading.query) and not are_paths(data):
        from assay.rows.databases.database import refuse_selection

        refuse_selection(data, reading)
    if truth_data is None and roles.id is None:
        source = _opened(data, roles, reading, progress=progress, engine=engine, limits=limits)
        return _with_quantum(source, quantum)
    from assay.rows.joins.mismatch_errors import ids_told
    from assay.rows.joins.truth_and_predictions import check_unique_ids, open_both

    with ids_told(plainly=plainly):
        if truth_data is None:
            source = _opened(data, roles, reading, progress=progress, engine=engine, limits=limits)
            check_unique_ids(source, data, roles.id)
        else:
            source = open_both(
                data, truth_data, roles, reading, progress=progress, engine=engine, limits=limits, unmatched=unmatched
            )
    return _with_quantum(source, quantum)


def _with_quantum(source: Source, stated: float | None) -> Source:
    """The source with the quantum of its weights, if it has any; closed where they cannot be used."""
    if source.weight is None:
        return source
    from assay.rows.weights import with_quantum

    try:
        return with_quantum(source, stated)
    except BaseException:
        source.close()
        raise


def refuse_limits(data: object, engine: str | None, limits: Limits | None) -> None:
    """Demand that limits and an engine are stated of paths only: nothing else is read by an engine of ours."""
    if limits is not None and not are_paths(data):
        raise PlanError(
            "role-clash",
            "limits are stated, but the data are no path that the embedded engine reads",
            where="limits",
            fix="leave the limits out: frames keep those of their own engine, arrays are in memory already",
        )
    if engine is not None and not are_paths(data):
        raise PlanError(
            "role-clash",
            "an engine is named, but the data are no path that it could read",
            where="engine",
            fix="leave the engine out: frames are counted by their own engine, arrays by numpy",
        )


def _opened(
    data: object,
    roles: Roles,
    reading: Reading | None,
    *,
    progress: Any,  # noqa: ANN401
    engine: str | None,
    limits: Limits | None,
) -> Source:
    if data is None:
        return _arrays(roles)
    names_only(roles)
    if are_paths(data):
        from assay.rows.engines.narwhals_frames import from_path

        return from_path(data, roles, reading, progress=progress, engine=engine, limits=limits)
    if isinstance(data, Mapping):
        return _arrays(_from_mapping(data, roles))
    from assay.rows.engines.narwhals_frames import from_frame

    return from_frame(data, roles)


def names_only(roles: Roles) -> None:
    """Demand that every role names a column."""
    for role, column in roles.named().items():
        if not isinstance(column, str):
            raise PlanError(
                "role-clash",
                f"{role} is a {type(column).__name__}, but data= is given",
                where=role,
                fix=f"with data=, name a column: {role.split()[0]}='...'; without it, give the columns themselves",
            )


def _from_mapping(data: Mapping[str, object], roles: Roles) -> Roles:
    def take(name: object) -> object:
        return data[require(str(name), list(data), "data")]

    return roles.over(lambda _, column: take(column))


def require(name: str, columns: Sequence[str], where: str) -> str:
    """The name, if there is such a column; otherwise an error with the nearest one."""
    if name in columns:
        return name
    close = nearest(name, [str(column) for column in columns])  # those of pandas may be numbers
    raise MissingColumn(
        "missing-column",
        f"there is no column {quoted(name)}",
        where=where,
        known=listed(columns, most=12),
        fix=f'did you mean "{visible(close)}"?' if close else "name one of the known columns",
    )


def _arrays(roles: Roles) -> Source:
    for role, column in roles.named().items():
        if isinstance(column, str):
            raise PlanError(
                "role-missing",
                f"{role} names a column, but there is no data= to find it in",
                where=role,
                fix="give data= (a frame or a path), or the column itself",
            )
    if native := _one_engine(roles):
        from assay.rows.engines.narwhals_frames import from_columns

        return from_columns(native, roles)
    check_same_index(roles.named())
    if roles.weight is None and roles.score is None and (frame := _text_objects(roles)) is not None:
        return frame
    columns = {role: coded(column, role) for role, column in roles.labelled().items()}
    scores = {} if roles.score is None else {r: score_array(c, r) for r, c in roles.score.named().items()}
    _same_length({role: len(column) for role, column in columns.items()} | {r: len(c) for r, c in scores.items()})
    truth = columns["truth"]
    if "predicted" not in columns:
        from assay.rows.scored_source import undecided

        columns["predicted"] = undecided(len(truth))
    source = ArraySource(
        truth=truth,
        predicted=columns["predicted"],
        score=tuple(scores.values()),
        stored=() if roles.score is None else tuple(sorted({stored_as(column) for column in roles.score.columns})),
        group={name: columns[f'group "{name}"'] for name in roles.group},
        weight=None if roles.weight is None else weights(roles.weight, len(truth)),
    )
    # Asked before counting: 1 and True are equal as keys, so a column that mixes them could not be told apart later.
    for role, column in {"truth": truth, "predicted": source.predicted, **source.group}.items():
        kind_of(column.labels or (), where=source.where, locate=source.locate, role=role)
    return source


def _same_length(sizes: Mapping[str, int]) -> None:
    rows = sizes["truth"]
    for role, size in sizes.items():
        if size != rows:
            raise UnpairedRows(
                "rows-unmatched",
                f"truth has {counted(rows, 'row')}, {role} has {size:,}",
                where=role,
                found=f"{counted(abs(rows - size), 'row')} without a partner",
                fix="give columns of the same rows in the same order",
            )


def check_same_index(columns: Mapping[str, object]) -> None:
    """Series that carry row names must carry the same ones in the same order: rows are never matched by luck."""
    indexes = {role: cast("Any", getattr(column, "index", None)) for role, column in columns.items()}
    indexes = {role: index for role, index in indexes.items() if hasattr(index, "equals")}
    first = next(iter(indexes), "")
    reference: Any = indexes.get(first)
    for role, index in indexes.items():
        if index.equals(reference):
            continue
        same_rows = len(index) == len(reference) and set(index) == set(reference)
        raise UnpairedRows(
            "rows-unmatched",
            f"{first} and {role} are Series with different row names",
            where=role,
            found="the same rows in another order"
            if same_rows
            else f"{counted(len(set(reference) ^ set(index)), 'row name')} on one side only",
            fix=f"align them first, as in {role}.reindex({first}.index), or pass plain arrays whose order you trust",
        )


def _one_engine(roles: Roles) -> str | None:
    """The library all columns come from, if it counts text best by itself; weights are always summed by us."""
    homes = {type(column).__module__.split(".")[0] for column in roles.named().values()}
    plain = roles.weight is None and roles.score is None
    return homes.pop() if homes in ({"polars"}, {"pyarrow"}) and plain else None


def _text_objects(roles: Roles) -> FrameSource | None:
    arrays = {role: as_array(column, role) for role, column in roles.named().items()}
    objects = [array for array in arrays.values() if array.dtype.kind == "O"]
    if not objects or len(arrays["truth"]) < ENGINE_FROM or any(a.dtype.kind not in "Oiub" for a in arrays.values()):
        return None
    _same_length({role: len(array) for role, array in arrays.items()})
    if not all(all_text(array) for array in objects):
        return None
    from assay.rows.engines.narwhals_frames import from_arrays

    return from_arrays(arrays, roles)


def no_rows(where: str) -> RowsError:
    """There is nothing to assess."""
    return RowsError(
        "no-rows", "the input holds no rows", where=where, fix="give at least one row of truth and prediction"
    )
