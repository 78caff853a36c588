# SPDX-License-Identifier: Apache-2.0
"""From what a user hands over to columns by role: arrays, frames of any library, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from assay.core.errors import PlanError, RowsError, UnpairedRows, missing_column
from assay.core.labels import Label
from assay.core.text import counted, quoted
from assay.rows.columns import Coded
from assay.rows.files.file_list import are_paths
from assay.rows.label_types import absent
from assay.rows.row_positions import Unplaced, places
from assay.rows.score_columns import ScoreColumns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from assay.rows.databases.database import Use
    from assay.rows.files.opened_file import OpenedFile
    from assay.rows.joins.mismatch_errors import Join
    from assay.rows.limits import Limits
    from assay.rows.spark.spark_files import SparkFile


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

    def uses(self, by: Sequence[str] = ()) -> dict[str, Use]:
        """What each named column is asked for; one that is both a number and a label is a label, an id stays one."""
        numbers = {"weight"} if self.score is None else {"weight", *self.score.named()}
        uses: dict[str, Use] = dict.fromkeys(by, "id")
        for role, name in self.named().items():
            use: Use = "number" if role in numbers and uses.get(str(name), "number") == "number" else "label"
            uses[str(name)] = use if uses.get(str(name)) != "id" else "id"
        return uses

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
class FrameSource:
    """A frame or relation that is counted where it is; `names` are the user's names of columns that have others."""

    frame: Any  # a Narwhals frame, eager or lazy
    truth: str
    predicted: str
    group: dict[str, str]
    weight: str | None
    where: str
    opened: OpenedFile | SparkFile | None = None
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

    @classmethod
    def by_roles(cls, frame: Any, roles: Roles, where: str) -> FrameSource:  # noqa: ANN401  a Narwhals frame
        """A frame with roles that name its columns; scores are added later."""
        return cls(
            frame=frame,
            truth=str(roles.truth),
            predicted="" if roles.predicted is None else str(roles.predicted),
            group={name: str(column) for name, column in roles.group.items()},
            weight=None if roles.weight is None else str(roles.weight),
            where=where,
        )

    def shown(self, column: str) -> str:
        """A column as the user calls it."""
        return f"column {quoted(self.names.get(column, column))}"

    def column(self, role: str) -> str:
        """The column that plays a role."""
        return {"truth": self.truth, "predicted": self.predicted}.get(role) or self.group[role]

    def locate(self, role: str, label: Label | None) -> str:
        """Where the first rows with a label stand."""
        rows = first_rows(self, self.column(role), label)
        if self.indexed and rows:
            return f"at index {', '.join(f'{row:,}' for row in rows)}"
        return places(rows)

    def close(self) -> None:
        """End what was started on a cluster to read it."""
        if self.opened is not None:
            self.opened.close()


Source: TypeAlias = ArraySource | FrameSource


@contextmanager
def closing_on_failure(opened: Source | OpenedFile | SparkFile) -> Iterator[None]:
    """Close what is open if the work with it fails; else whoever holds it does."""
    try:
        yield
    except BaseException:
        opened.close()
        raise


def first_rows(source: FrameSource, column: str, label: Label | None, most: int = 3) -> list[int]:
    """Row numbers of the first rows with a label, from 1 (of arrays from 0); none where an engine has no order."""
    if (rows_with := getattr(source.opened, "rows_with", None)) is not None:  # not of rows on a cluster
        return [row for row in rows_with(column, label, most) if not isinstance(row, Unplaced)]
    if not hasattr(source.frame, "get_column"):  # lazy
        return []
    values = enumerate(source.frame.get_column(column).to_list(), start=not source.indexed)
    return [row for row, value in values if (absent(value) if label is None else value == label)][:most]


def refuse_limits(data: object, engine: str | None, limits: Limits | None) -> None:
    """Demand that limits and an engine are stated of paths only: nothing else is read by an engine of ours."""
    if are_paths(data):
        return
    if limits is not None:
        raise PlanError(
            "role-clash",
            "limits are stated, but the data are not a path that the embedded engine reads",
            where="limits",
            fix="leave the limits out: frames keep those of their own engine, arrays are in memory already",
        )
    if engine is not None:
        raise PlanError(
            "role-clash",
            "an engine is named, but the data are not a path that it could read",
            where="engine",
            fix="leave the engine out: frames are counted by their own engine, arrays by numpy",
        )


def check_names(columns: Mapping[str, object]) -> None:
    """Check that every role names a column."""
    for role, column in columns.items():
        if not isinstance(column, str):
            raise PlanError(
                "role-clash",
                f"{role} is a {type(column).__name__}, but data= is given",
                where=role,
                fix=f"with data=, name a column: {role.split()[0]}='...'; without it, give the columns themselves",
            )


def nameless(role: str) -> PlanError:
    """The error for a role that names a column of no table."""
    return PlanError(
        "role-missing",
        f"{role} names a column, but there is no data= to find it in",
        where=role,
        fix="give data= (a frame or a path), or the column itself",
    )


def require(name: str, columns: Sequence[str], where: str) -> str:
    """The name, if there is such a column; otherwise an error with the nearest one."""
    if name in columns:
        return name
    raise missing_column(name, columns, where)


def check_same_length(sizes: Mapping[str, int]) -> None:
    """Check that all columns have as many rows as the first."""
    first, rows = next(iter(sizes.items()), ("", 0))
    for role, size in sizes.items():
        if size != rows:
            raise UnpairedRows(
                "rows-unmatched",
                f"{first} has {counted(rows, 'row')}, {role} has {size:,}",
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


def no_rows(where: str) -> RowsError:
    """There is nothing to assess."""
    return RowsError(
        "no-rows", "the input holds no rows", where=where, fix="give at least one row of truth and prediction"
    )
