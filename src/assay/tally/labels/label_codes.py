# SPDX-License-Identifier: Apache-2.0
"""Columns of labels as small numbers and the few names they stand for, however many rows there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.labels import Label
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.engines.score_batches import embedded
from assay.rows.files.opened_file import OpenedFile, number_sql, translated
from assay.rows.label_types import label_of
from assay.rows.spark.spark_columns import held_columns

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.rows.columns import Coded
    from assay.rows.source import FrameSource

    Small: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int32]

_LINES: Final = "assay_lines"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Codes:
    """A label a row, as the number of its name; a row without a label has the number of None."""

    codes: Small
    names: tuple[Label | None, ...]

    @classmethod
    def of(cls, labels: Sequence[Label | None]) -> Codes:
        """From labels one by one; 1 and True are two names.

        >>> one = Codes.of(["a", "b", "a", None])
        >>> one.codes.tolist(), one.names, list(one), one.count(None)
        ([0, 1, 0, 2], ('a', 'b', None), ['a', 'b', 'a', None], 1)
        """
        place: dict[tuple[type, object], int] = {}
        codes = np.fromiter((place.setdefault((type(one), one), len(place)) for one in labels), np.int32, len(labels))
        return cls(codes=_small(codes, len(place)), names=tuple(cast("Label | None", one) for _, one in place))

    @classmethod
    def of_values(cls, values: NDArray[np.object_], where: str) -> Codes:
        """From a column as an engine hands it over, masked where values are missing."""
        if values.dtype.kind == "O":
            known: dict[tuple[type, object], int] = {}
            codes = np.fromiter((known.setdefault((type(x), x), len(known)) for x in values), np.int32, len(values))
            return cls(codes=codes, names=tuple(cast("Label | None", x) for _, x in known)).labelled(where)
        gone = np.ma.getmaskarray(values) if np.ma.is_masked(values) else None
        plain = np.ma.getdata(values)
        some = plain if gone is None else plain[~gone]
        names, inverse = np.unique(some, return_inverse=True)
        codes = np.full(len(plain), len(names), dtype=np.int32)
        codes[slice(None) if gone is None else ~gone] = inverse
        return cls(codes=codes, names=(*names.tolist(), *([] if gone is None else [None]))).labelled(where)

    @classmethod
    def of_column(cls, column: Coded) -> Codes:
        """From a column that was coded when it was read."""
        numbers, codes = np.unique(column.codes, return_inverse=True)
        names: list[Label | None] = [column.label(int(one) - column.offset) for one in numbers.tolist()]
        if column.missing is not None and column.missing.any():
            codes = np.where(column.missing, len(names), codes)
            names.append(None)
        return cls(codes=_small(codes, len(names)), names=tuple(names))

    def labelled(self, where: str) -> Codes:
        """With values of an engine as labels: one label may have several, such as NaN and nothing."""
        labels = Codes.of([label_of(value, where=where) for value in self.names])
        return Codes(codes=_small(labels.codes[self.codes], len(labels.names)), names=labels.names)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    def __iter__(self) -> Iterator[Label | None]:
        """The labels row by row."""
        return (self.names[code] for code in self.codes.tolist())

    def count(self, value: object) -> int:
        """In how many rows a label stands."""
        return sum(int(np.count_nonzero(self.codes == i)) for i, name in enumerate(self.names) if name == value)

    def seen(self) -> set[Label | None]:
        """The labels that occur."""
        return {self.names[code] for code in np.unique(self.codes).tolist()}

    def are(self, label: Label | None) -> NDArray[np.bool_]:
        """Which rows have a label."""
        hit: NDArray[np.bool_] = np.array([one == label for one in self.names], dtype=np.bool_)
        return hit[self.codes]

    def placed(self, place: Mapping[Label, int]) -> Whole:
        """Every label as the number it has in another list."""
        own = np.array([place.get(cast("Label", one), -1) for one in self.names], dtype=np.int64)
        found: Whole = own[self.codes]
        if found.min(initial=0) < 0:
            raise KeyError(next(one for one in self.seen() if one not in place))
        return found


def fetch_columns(source: FrameSource, columns: Sequence[str], times: str | None = None) -> list[NDArray[np.object_]]:
    """Columns of every row, brought to this machine as they are; `times` says how many rows each stands for."""
    import narwhals.stable.v2 as nw

    from assay.rows.engines.score_expressions import arrays

    names = [f"k{place}" for place in range(len(columns))]
    frame = source.frame.select(*(nw.col(c).alias(n) for c, n in zip(columns, names, strict=True)))
    found = arrays(source, frame)
    if source.opened is not None:
        rows = len(found[0]) if times is None else int(found[list(columns).index(times)].sum())
        source.opened.confirm(rows + source.dropped)
    return found


def columns_of(
    source: FrameSource, labelled: Sequence[str], numbers: Sequence[str], times: str | None = None
) -> tuple[list[Codes], list[Floats]]:
    """Columns of labels and columns of numbers of every row, held compactly: texts are numbered in the engine."""
    where = [f"{source.where}, {source.shown(column)}" for column in labelled]
    opened = embedded(source)
    if opened is not None:
        return _from_engine(opened, source.frame.to_native(), labelled, numbers, where, source.dropped, times)
    if (brought := held_columns(source, labelled, numbers)) is not None:
        coded = [Codes(codes=each, names=cast("tuple[Label | None, ...]", names)) for each, names in brought[0]]
        return [one.labelled(place) for one, place in zip(coded, where, strict=True)], brought[1]
    found = fetch_columns(source, [*labelled, *numbers], times)
    codes = [Codes.of_values(one, place) for one, place in zip(found, where, strict=False)]
    return codes, [np.asarray(one, dtype=np.float64) for one in found[len(labelled) :]]


def _from_engine(  # noqa: PLR0917  the rows, their columns, and what these are called
    opened: OpenedFile,
    relation: duckdb.DuckDBPyRelation,
    labelled: Sequence[str],
    numbers: Sequence[str],
    where: Sequence[str],
    dropped: int = 0,
    times: str | None = None,
) -> tuple[list[Codes], list[Floats]]:
    types = {name: str(kind).partition("(")[0] for name, kind in zip(relation.columns, relation.types, strict=True)}
    texts: dict[int, list[Label | None]] = {}
    chosen, joins = [], []
    with translated(opened):
        opened.connection.execute(f"CREATE OR REPLACE TEMP VIEW {_LINES} AS {relation.sql_query()}")
        for place, column in enumerate(labelled):
            name, table = f"l.{quote_identifier(column)}", f"assay_names_{place}"
            if types[column] not in {"VARCHAR", "ENUM"}:
                chosen.append(name)
                continue
            opened.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT t, CAST(row_number() OVER () - 1 AS INTEGER) AS n"  # noqa: S608
                f" FROM (SELECT DISTINCT CAST({name} AS VARCHAR) AS t FROM {_LINES} AS l WHERE {name} IS NOT NULL)"
            )
            texts[place] = [row[0] for row in opened.fetch(f"SELECT t FROM {table} ORDER BY n")]  # noqa: S608
            chosen.append(f"coalesce({table}.n, {len(texts[place])})")
            joins.append(f"LEFT JOIN {table} ON CAST({name} AS VARCHAR) = {table}.t")
    for column in numbers:
        own = column in opened.columns  # else a name of ours, and a number already
        chosen.append(number_sql(opened, column, "l") if own else f"l.{quote_identifier(column)}")
    asked = ", ".join(f"{sql} AS k{i}" for i, sql in enumerate(chosen))
    each = opened.arrays(f"SELECT {asked} FROM {_LINES} AS l {' '.join(joins)}")  # noqa: S608  quoted
    found = [each[f"k{i}"] for i in range(len(chosen))]
    rows = len(found[0]) if times is None else int(found[len(labelled) + list(numbers).index(times)].sum())
    opened.confirm(rows + dropped)
    codes = [
        Codes(codes=one, names=(*texts[place], None)).labelled(where[place])
        if place in texts
        else Codes.of_values(one, where[place])
        for place, one in enumerate(found[: len(labelled)])
    ]
    return codes, [np.ma.filled(one.astype(np.float64), np.nan) for one in found[len(labelled) :]]


def _small(codes: Small | Whole, names: int) -> Small:
    """In the smallest type that holds as many names."""
    if names <= 1 << 8:
        return codes.astype(np.uint8, copy=False)
    return codes.astype(np.uint16, copy=False) if names <= 1 << 16 else codes.astype(np.int32, copy=False)
