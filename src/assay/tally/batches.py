# SPDX-License-Identifier: Apache-2.0
"""Counts the rows of any table by a kernel, on threads or on Spark, and accounts for every row.

A kernel is a pure function from one batch (columns by name) to a partial tally. The same function runs everywhere.

>>> from assay.core.task import Request
>>> from assay.tally.unit_table import UnitTable
>>> request = Request(given={"truth": [1.0, 2.0], "predicted": [1.5, 2.0]})
>>> with open_batches(request, {role: Column(column) for role, column in request.given.items()}) as batches:
...     error = sum(float(abs(batch["truth"] - batch["predicted"]).sum()) for batch in batches)
>>> error, batches.census.scored
(0.5, 2)
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from assay.core.errors import RowsError
from assay.core.parallel import usable
from assay.core.text import counted
from assay.rows.tables import Column, Table, open_columns
from assay.tally.base import Stored
from assay.tally.census import Census

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray

    from assay.core.task import Request

    Batch: TypeAlias = Mapping[str, NDArray[Any]]  # type: ignore[explicit-any]  # columns hold any type


class Partial(Stored, Protocol):
    """A tally of some of the units, which may travel between machines."""

    def __add__(self, other: Self, /) -> Self:
        """Both together."""


T = TypeVar("T", bound=Partial)
Kernel: TypeAlias = "Callable[[Batch], T]"
Progress: TypeAlias = Callable[[int], None]
PARTIAL: Final = "partial"
"""The column in which a Spark worker sends its partial tally."""
SHOWN: Final = 5
"""Rows that an error names."""

__all__ = ["Batches", "Column", "Partial", "keep_units_whole", "open_batches", "run_kernel", "run_kernel_on_spark"]


def run_kernel(
    kernel: Kernel[T], batches: Iterable[Batch], *, workers: int | None = None, progress: Progress | None = None
) -> T:
    """Add the partial tallies of all batches; at most one batch more than workers is held at a time.

    `progress` receives the number of batches done.
    """
    workers = usable() if workers is None else workers
    partials = map(kernel, batches) if workers <= 1 else _map_in_parallel(kernel, batches, workers)
    return _add_partials(partials, progress)


def _add_partials(partials: Iterable[T], progress: Progress | None = None) -> T:
    total: T | None = None
    for done, partial in enumerate(partials, start=1):
        total = partial if total is None else total + partial
        if progress is not None:
            progress(done)
    if total is None:
        raise RowsError("no-rows", "there are no units to count", fix="check the input: it has no rows")
    return total


def _map_in_parallel(kernel: Kernel[T], batches: Iterable[Batch], workers: int) -> Iterator[T]:
    """Partial tallies in the order of the batches."""
    pool = ThreadPoolExecutor(workers)
    pending: deque[Future[T]] = deque()
    try:
        for batch in batches:
            pending.append(pool.submit(kernel, batch))
            if len(pending) > workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:  # also where a kernel fails or somebody presses Ctrl-C
        pool.shutdown(wait=True, cancel_futures=True)


def keep_units_whole(batches: Iterable[Batch], unit: str) -> Iterator[Batch]:
    """Move batch borders so that no unit is cut; rows of one unit must follow each other.

    >>> parts = [{"image": np.array([1, 1, 2])}, {"image": np.array([2, 3])}]
    >>> [part["image"].tolist() for part in keep_units_whole(parts, "image")]
    [[1, 1], [2, 2], [3]]
    """
    rest: Batch = {}
    for batch in batches:
        joined = {name: np.concatenate([rest[name], column]) if rest else column for name, column in batch.items()}
        units = joined[unit]
        if not len(units):
            continue
        start = len(units) - int((units[::-1] == units[-1]).cumprod().sum())
        if start:
            yield {name: column[:start] for name, column in joined.items()}
        rest = {name: column[start:] for name, column in joined.items()}
    if rest:
        yield rest


def run_kernel_on_spark(  # type: ignore[explicit-any]  # a Spark frame has no types without Spark
    kernel: Kernel[T],
    frame: Any,  # noqa: ANN401
    columns: Iterable[str],
    tally: type[T],
    *,
    unit: str | None = None,
) -> T:
    """Run the same kernel on the workers of a Spark frame and add what they send back, one tally a partition.

    With `unit`, rows of one unit meet on one worker and in one batch. Workers need this package.
    """
    names = list(columns)
    rows = frame.select(*names)
    if unit is not None:
        rows = rows.repartition(unit).sortWithinPartitions(unit)

    def count(batches: Iterator[Any]) -> Iterator[Any]:  # type: ignore[explicit-any]  # Arrow has no types
        import pyarrow as pa

        from assay.rows.columns import array_of

        columns_by_name = ({name: array_of(batch.column(name)) for name in names} for batch in batches)
        whole = columns_by_name if unit is None else keep_units_whole(columns_by_name, unit)
        partials = [kernel(batch) for batch in whole if len(batch[names[0]])]
        if partials:
            text = json.dumps(_add_partials(partials).to_json(), allow_nan=False)
            yield pa.RecordBatch.from_pydict({PARTIAL: [text]})

    found = rows.mapInArrow(count, f"{PARTIAL} string").collect()
    return _add_partials(tally.from_json(json.loads(row[PARTIAL])) for row in found)


def open_batches(request: Request, columns: Mapping[str, Column]) -> Batches:
    """Open the columns that a task reads, by role."""
    return Batches(table=open_columns(request, columns), progress=request.progress)


@dataclass(kw_only=True)
class Batches:
    """Batches of columns by role; numbers are finite, rows without a value are refused or left out and counted."""

    table: Table
    progress: Callable[[int, int], None] | None = None
    read: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    by_unit: bool = False
    """Whether rows come in the order of their units or from Spark, so that they have no numbers."""

    def __enter__(self) -> Self:
        """Keep the table open."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Let go of it."""
        self.table.close()

    def __iter__(self) -> Iterator[dict[str, NDArray[Any]]]:  # type: ignore[explicit-any]
        """The batches, cleaned."""
        return self._clean(self.table.chunks(None))

    @property
    def census(self) -> Census:
        """Where every row went, once all were read."""
        return Census(read=self.read, scored=self.read - sum(self.dropped.values()), excluded=dict(self.dropped))

    @property
    def about(self) -> dict[str, object]:
        """What a Record says of the table."""
        return dict(self.table.about)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of how the table was read."""
        return self.table.notes

    def run(  # type: ignore[explicit-any]
        self,
        kernel: Callable[[Mapping[str, NDArray[Any]]], T],
        tally: type[T],
        *,
        unit: str | None = None,
        workers: int | None = None,
    ) -> T:
        """Add the partial tallies of all batches; with `unit`, a kernel sees all rows of a unit at once."""
        if self.table.spark is not None:
            return self._run_on_spark(kernel, tally, unit)
        self.by_unit = unit is not None
        batches = self._clean(self.table.chunks(unit))
        whole = batches if unit is None else keep_units_whole(batches, unit)
        return run_kernel(kernel, whole, workers=workers)

    def _clean(self, chunks: Iterator[dict[str, NDArray[Any]]]) -> Iterator[dict[str, NDArray[Any]]]:  # type: ignore[explicit-any]
        """Refuse or leave out rows without a value; all unfit rows are gathered before the error."""
        faults: dict[str, tuple[int, list[int]]] = {}
        for chunk in chunks:
            size = len(next(iter(chunk.values())))
            kept = self._fit_rows(chunk, faults)
            self.read += size
            if self.progress is not None and self.table.rows and self.table.opened is None:
                self.progress(self.read, self.table.rows)
            if faults:
                continue
            if not kept.all():
                chunk = {role: values[kept] for role, values in chunk.items()}  # noqa: PLW2901
            if kept.any():
                yield chunk
        if faults:
            raise self._unfit(faults)

    def _fit_rows(self, chunk: dict[str, NDArray[Any]], faults: dict[str, tuple[int, list[int]]]) -> NDArray[np.bool_]:  # type: ignore[explicit-any]
        kept = np.ones(len(next(iter(chunk.values()))), dtype=np.bool_)
        for role, column in self.table.columns.items():
            values, reason = chunk[role], f"{role} is missing"
            if column.kind == "number":
                with np.errstate(over="ignore", invalid="ignore"):
                    if np.isfinite(values.sum()):
                        continue
                missing = np.isnan(values)
                self._note_fault(faults, f"{role} is infinite", np.isinf(values))
            elif values.dtype.kind in "iu":  # whole numbers of NumPy lack none
                continue
            else:
                missing = np.fromiter((value is None for value in values), dtype=np.bool_, count=len(values))
            if column.missing == "error":
                self._note_fault(faults, reason, missing)
            elif column.missing == "drop" and missing.any():
                self.dropped[reason] = self.dropped.get(reason, 0) + int((missing & kept).sum())
                kept &= ~missing
        return kept

    def _note_fault(self, faults: dict[str, tuple[int, list[int]]], what: str, bad: NDArray[np.bool_]) -> None:
        places = np.flatnonzero(bad)
        if len(places):
            count, rows = faults.get(what, (0, []))
            faults[what] = (count + len(places), (rows + (places + self.read).tolist())[:SHOWN])

    def _unfit(self, faults: dict[str, tuple[int, list[int]]]) -> RowsError:
        opened = self.table.opened
        first = 0 if opened is None else opened.first_line
        word = "index" if opened is None else "row"
        shown = "; ".join(
            f"{counted(count, 'row')}: {what}"
            if self.by_unit
            else f"{counted(count, 'row')}: {what} ({word} {', '.join(f'{row + first:,}' for row in rows)}"
            f"{', ...' if count > len(rows) else ''})"
            for what, (count, rows) in faults.items()
        )
        infinite = any(what.endswith("infinite") for what in faults)
        return RowsError(
            "value-not-finite",
            f"{counted(sum(count for count, _ in faults.values()), 'value')} cannot be used",
            where=self.table.where,
            found=shown,
            fix="correct the rows"
            + ("" if infinite else ', or leave them out and count them: missing="drop" (--missing drop)'),
        )

    def _run_on_spark(self, kernel: Callable[[Any], T], tally: type[T], unit: str | None) -> T:  # type: ignore[explicit-any]
        frame, self.by_unit = self.table.spark, True
        numbers = [role for role, column in self.table.columns.items() if column.kind == "number"]
        names = {role: "`" + role.replace("`", "``") + "`" for role in self.table.columns}
        lacks = {
            role: f"({name} IS NULL OR isnan({name}))" if role in numbers else f"({name} IS NULL)"
            for role, name in names.items()
        }
        parts = [f"sum(CAST({lack} AS BIGINT)) AS m{place}" for place, lack in enumerate(lacks.values())]
        parts += [
            f"sum(CAST(abs({names[role]}) = double('Infinity') AS BIGINT)) AS i{place}"
            for place, role in enumerate(numbers)
        ]
        row = frame.selectExpr("count(1) AS n", *parts).collect()[0]
        self.read = int(row["n"])
        faults: dict[str, tuple[int, list[int]]] = {
            f"{role} is infinite": (int(row[f"i{place}"]), []) for place, role in enumerate(numbers) if row[f"i{place}"]
        }
        for place, (role, lack) in enumerate(lacks.items()):
            policy, count = self.table.columns[role].missing, int(row[f"m{place}"] or 0)
            if not count or policy == "keep":
                continue
            if policy == "error":
                faults[f"{role} is missing"] = (count, [])
                continue
            before = frame.count() if self.dropped else self.read
            frame = frame.filter(f"NOT {lack}")
            self.dropped[f"{role} is missing"] = before - frame.count() if self.dropped else count
        if faults:
            raise self._unfit(faults)
        return run_kernel_on_spark(kernel, frame, list(self.table.columns), tally, unit=unit)
