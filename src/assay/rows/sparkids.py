# SPDX-License-Identifier: Apache-2.0
"""Ids and truth of one model on a cluster, on their way to the proof that all models saw the same rows.

They come by Arrow, some at a time. Whole numbers are handed on as they come; what is sorted as text goes into the
embedded engine, which spills to disk what memory does not hold.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from assay.core.text import visible
from assay.rows.files import with_engine
from assay.rows.frames import of_opened
from assay.rows.labels import label_of
from assay.rows.limits import Limits
from assay.rows.modeltables import KEY, ModelTable
from assay.rows.opened import VIEW, OpenedFile
from assay.rows.opening import FrameSource, Roles
from assay.rows.sparkcolumns import parts
from assay.rows.sparkerrors import rows_changed, told_as_ours

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

    from assay.core.labels import Label

    Whole: TypeAlias = NDArray[np.int64]

MEMORY: Final = "1GB"
"""What the embedded engine holds of ids before it spills."""
GATHERED: Final = 1 << 18
"""Rows that the embedded engine takes in one statement, at least."""
_TYPES: Final = {str: "VARCHAR", int: "BIGINT", bool: "BOOLEAN"}
_COMING, _TRUTHS = "assay_coming", "assay_truths"
_WIDE: Final = 16
"""Bytes of a row beside the letters of its id and its truth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkIds:
    """The ids of one model, no two alike and none missing, with a truth each."""

    model: str
    source: FrameSource
    frame: Any
    """Its columns are `id` and `truth`."""
    text: bool
    """Whether ids are texts; else they are whole numbers."""
    rows: int
    low: int | str
    high: int | str
    width: float
    truths: tuple[Label | None, ...]

    @classmethod
    def of(cls, frame: Any, *, text: bool, model: str, source: FrameSource) -> SparkIds:  # noqa: ANN401  a Spark frame
        """From a frame of ids and truth, after one look at it."""
        letters = "octet_length(id)" if text else "0"
        looked = frame.selectExpr("truth", "id AS low", "id AS high", f"{letters} AS letters")
        asked = {"*": "count", "low": "min", "high": "max", "letters": "sum"}
        with told_as_ours(visible(source.where)):
            cells = [row.asDict() for row in looked.groupBy("truth").agg(asked).collect()]
        rows = sum(cell["count(1)"] for cell in cells)
        truths = dict.fromkeys(_label(source, cell["truth"]) for cell in cells)
        longest = max(len(str(one).encode("utf-8", "surrogatepass")) for one in truths)
        return cls(
            model=model,
            source=source,
            frame=frame,
            text=text,
            rows=rows,
            low=min(cell["min(low)"] for cell in cells),
            high=max(cell["max(high)"] for cell in cells),
            width=_WIDE + longest + sum(cell["sum(letters)"] for cell in cells) / rows,
            truths=tuple(truths),
        )

    def batches(self) -> Generator[tuple[Whole, Whole]]:
        """Whole-number ids, and the places of their truths, some rows at a time."""
        for ids, truths in self._coming():
            yield cast("Whole", ids.to_numpy(zero_copy_only=False)), truths

    @contextmanager
    def embedded(self) -> Iterator[ModelTable]:
        """All of them as a table of the embedded engine."""
        opened = with_engine([], Limits(memory=MEMORY), self._put)
        try:
            roles = Roles(truth="truth", predicted="truth", group={KEY: KEY})
            source = replace(of_opened(opened, roles), where=self.source.where)
            yield ModelTable(model=self.model, opened=opened, source=source)
        finally:
            opened.close()

    def _coming(self) -> Iterator[tuple[Any, Whole]]:
        """Ids as a column of Arrow, and the places of their truths."""
        places = {(type(label), label): place for place, label in enumerate(self.truths)}
        tables = parts(self.frame, ("id", "truth"), ("id",), rows=self.rows, width=self.width, where=self.source.where)
        for table in tables:
            for batch in table.to_batches():
                ids, truth = batch.columns
                found = truth.dictionary_encode()
                labels = [_label(self.source, value) for value in (*found.dictionary.to_pylist(), None)]
                codes = found.indices.fill_null(len(labels) - 1).to_numpy(zero_copy_only=False)
                own = np.array([places.get((type(label), label), -1) for label in labels], dtype=np.int64)[codes]
                if ids.null_count or own.min(initial=0) < 0:
                    raise rows_changed(self.source.where)
                yield ids, own

    def _put(self, connection: duckdb.DuckDBPyConnection) -> OpenedFile:
        import pyarrow as pa

        kind = "VARCHAR" if self.text else "BIGINT"
        labels = _type(self.truths)
        connection.execute(f"CREATE TEMP TABLE {VIEW} (id {kind}, truth {labels})")
        connection.execute(f"CREATE TEMP TABLE {_TRUTHS} (place BIGINT, truth {labels})")
        connection.executemany(f"INSERT INTO {_TRUTHS} VALUES (?, ?)", [list(one) for one in enumerate(self.truths)])  # noqa: S608
        put = f"INSERT INTO {VIEW} SELECT c.id, t.truth FROM {_COMING} AS c JOIN {_TRUTHS} AS t USING (place)"  # noqa: S608
        for ids, places in _gathered(self._coming()):
            connection.register(_COMING, pa.table({"id": ids, "place": places}))
            connection.execute(put)
            connection.unregister(_COMING)
        return OpenedFile(
            relation=connection.sql(f"SELECT * FROM {VIEW}"),  # noqa: S608
            connection=connection,
            path=self.source.where,
            format="frame",
            columns={KEY: kind, "truth": labels},
            digest=str,
            bytes=0,
            rows=self.rows,
            notes=(),
            first_line=1,
            called=self.source.where,
        )


def _gathered(batches: Iterator[tuple[Any, Whole]]) -> Iterator[tuple[Any, Whole]]:
    """Small batches put together, for each costs the embedded engine a statement."""
    import pyarrow as pa

    held: list[tuple[Any, Whole]] = []
    size = 0
    for ids, places in batches:
        held.append((ids, places))
        size += len(ids)
        if size >= GATHERED:
            yield pa.chunked_array([one for one, _ in held]), np.concatenate([one for _, one in held])
            held, size = [], 0
    if held:
        yield pa.chunked_array([one for one, _ in held]), np.concatenate([one for _, one in held])


def _label(source: FrameSource, value: object) -> Label | None:
    return label_of(value, where=f"{source.where}, {source.shown(source.truth)}")


def _type(labels: Sequence[Label | None]) -> str:
    """The type of the embedded engine that holds labels of one kind."""
    return next((_TYPES[type(one)] for one in labels if one is not None), "BIGINT")
