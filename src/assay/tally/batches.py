# SPDX-License-Identifier: Apache-2.0
"""Counts the rows of any table by a kernel, and accounts for every row.

>>> from assay.core.task import Request
>>> from assay.tally.unit_table import UnitTable
>>> request = Request(given={"truth": [1.0, 2.0], "predicted": [1.5, 2.0]})
>>> with open_batches(request, {role: Column(column) for role, column in request.given.items()}) as batches:
...     error = sum(float(abs(batch["truth"] - batch["predicted"]).sum()) for batch in batches)
>>> error, batches.census.scored
(0.5, 2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import numpy as np

from assay.core.errors import RowsError
from assay.core.text import counted
from assay.rows.tables import Column, Table, open_columns
from assay.tally.census import Census
from assay.tally.kernels import Partial, keep_units_whole, run_kernel, run_kernel_on_spark

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray

    from assay.core.task import Request

T = TypeVar("T", bound=Partial)
SHOWN: Final = 5
"""Rows that an error names."""

__all__ = ["Batches", "Column", "open_batches"]


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
    """Whether rows come in the order of their units, so that their numbers are not those of the table."""

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
            values = chunk[role]
            if column.kind == "number":
                with np.errstate(over="ignore", invalid="ignore"):
                    if np.isfinite(values.sum()):
                        continue
                missing = np.isnan(values)
                self._note_fault(faults, f"{role} is infinite", np.isinf(values))
            else:
                missing = np.zeros(len(values), dtype=np.bool_)
                if values.dtype.kind not in "iu":  # whole numbers of NumPy lack none
                    missing = np.fromiter((value is None for value in values), dtype=np.bool_, count=len(values))
            if column.missing == "keep" or not missing.any():
                continue
            if column.missing == "error":
                self._note_fault(faults, f"{role} is missing", missing)
                continue
            reason = f"{role} is missing"
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
        frame = self.table.spark
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
