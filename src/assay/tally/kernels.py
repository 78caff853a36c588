# SPDX-License-Identifier: Apache-2.0
"""Runs a kernel over batches of units and adds the partial tallies: by threads, or on Spark.

A kernel is a pure function from one batch (columns by name) to a partial tally. The same function runs everywhere.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from assay.core.errors import RowsError
from assay.core.parallel import usable

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Partial(Protocol):
    """A tally of some of the units."""

    def __add__(self, other: Self, /) -> Self:
        """Both together."""

    def to_json(self) -> dict[str, object]:
        """As it travels between machines."""

    @classmethod
    def from_json(cls, content: Mapping[str, object], /) -> Self:
        """The inverse of `to_json`."""


T = TypeVar("T", bound=Partial)
if TYPE_CHECKING:
    Batch: TypeAlias = Mapping[str, NDArray[Any]]  # type: ignore[explicit-any]  # columns hold any type
Kernel: TypeAlias = "Callable[[Batch], T]"
Progress: TypeAlias = Callable[[int], None]

PARTIAL = "partial"
"""The column in which a Spark worker sends its partial tally."""


def run_kernel(
    kernel: Kernel[T],
    batches: Iterable[Batch],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> T:
    """Add the partial tallies of all batches; at most one batch more than workers is held at a time.

    `progress` receives the number of batches done.
    """
    workers = usable() if workers is None else workers
    partials = map(kernel, batches) if workers <= 1 else _map_in_parallel(kernel, batches, workers)
    return _add_partials(_report(partials, progress))


def _report(partials: Iterable[T], progress: Progress | None) -> Iterator[T]:
    for done, partial in enumerate(partials, start=1):
        yield partial
        if progress is not None:
            progress(done)


def _add_partials(partials: Iterable[T]) -> T:
    total: T | None = None
    for partial in partials:
        total = partial if total is None else total + partial
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
