# SPDX-License-Identifier: Apache-2.0
"""Near-duplicates of two data sets: texts that share most of their shingles, and rows of numbers that nearly coincide.

Candidates come from hashes that like rows share; each is then compared in full. Memory does not grow with the pairs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.opened_file import translated
from assay.tally.data.feature_counts import number_of
from assay.tally.data.minhash import bands, likeness, meeting, space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.tally.data.split_counts import SplitRows

    Places: TypeAlias = NDArray[np.int64]
    Rows: TypeAlias = tuple[NDArray[np.uint64], Floats, list[object]]

Key: TypeAlias = int | tuple[object, bytes]
Pair: TypeAlias = tuple[str, str, float]

BATCH: Final = 5_000
"""Texts that are sketched at a time."""
MOST: Final = 100_000
"""Candidate pairs that are compared in full."""
GRIDS: Final = 2
WIDTH: Final = 32
"""Width of a cell of a grid in tolerances; two shifted grids miss one pair of 4,000 for each feature squared."""
SHOWN: Final = 20
"""Pairs that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Rows that nearly equal a row of another data set, some pairs by hashed id, and whether all were looked at."""

    rows: int
    pairs: tuple[tuple[str, str, float], ...]
    whole: bool

    def to_json(self) -> dict[str, object]:
        """As facts of a control."""
        pairs = [{"a": a, "b": b, "likeness": like} for a, b, like in self.pairs]
        return {"rows": self.rows, "pairs": pairs, "complete": self.whole}


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How rows are named in a Record: by the hash of their id, keyed by what only the holder of all ids can compute."""

    column: str
    key: str

    @classmethod
    def of(cls, split: SplitRows, column: str) -> Naming:
        """The key is the digest of all ids of one data set."""
        return cls(column=column, key=split.hashes(column).digest)

    def named(self, id_: object) -> str:
        """The name of one row.

        >>> Naming(column="id", key="k").named("7")
        '84f73200f415a639'
        """
        return hashlib.sha256(f"{self.key}:{id_}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def near_texts(
    mine: SplitRows, other: SplitRows, columns: Sequence[str], similarity: float, naming: Naming | None
) -> Near:
    """Rows whose texts are alike, but not the same once case and spaces are folded."""
    tables = [_sketched(one, columns) for one in (mine, other)]
    pairs, whole = meeting(tables[0], tables[1], MOST)
    texts = [_picked(one, columns, pairs[:, side], naming) for side, one in enumerate((mine, other))]
    near_pairs: dict[Key, Pair] = {}
    for i, j in pairs.tolist():
        (a, first), (b, second) = texts[0][i], texts[1][j]
        if i not in near_pairs and first != second and (like := likeness(first, second)) >= similarity:
            near_pairs[i] = (a, b, like)
    return gathered(near_pairs, whole=whole)


def gathered(near_pairs: Mapping[Key, Pair], *, whole: bool) -> Near:
    """What was found, the most alike pairs by name."""
    shown = sorted(near_pairs.values(), key=lambda one: (-one[2], one))[:SHOWN]
    return Near(rows=len(near_pairs), pairs=tuple(shown), whole=whole)


def _folded(columns: Sequence[str]) -> str:
    every = ", ".join(f"coalesce(nfc_normalize(CAST({quote_identifier(one)} AS VARCHAR)), '')" for one in columns)
    return f"lower(trim(regexp_replace(concat_ws(' ', {every}), '\\s+', ' ', 'g')))"


def batches(split: SplitRows, query: str) -> Iterator[list[tuple[object, ...]]]:
    """The answer to a query, some rows at a time, in the order of the file; whoever watches hears how far it is."""
    total, done, opened = max(1, split.rows()), 0, split.opened
    with translated(opened):
        answer = opened.connection.execute(query)
        while some := answer.fetchmany(BATCH):
            yield some
            done += len(some)
            if opened.progress is not None:
                opened.progress(int(opened.bytes * done / total), opened.bytes)


def _sketched(split: SplitRows, columns: Sequence[str]) -> NDArray[np.uint64]:
    sketches, at = space(split.rows()), 0
    for some in batches(split, f"SELECT {_folded(columns)} FROM rows"):  # noqa: S608  quoted
        sketches[at : at + len(some)] = bands([str(text) for (text,) in some])
        at += len(some)
    return sketches


def _picked(
    split: SplitRows, columns: Sequence[str], places: Places, naming: Naming | None
) -> dict[int, tuple[str, str]]:
    """The names and texts of some rows, by their place."""
    wanted, named_texts, at = set(places.tolist()), {}, 0
    if not wanted:
        return {}
    id_ = "''" if naming is None else f"CAST({quote_identifier(naming.column)} AS VARCHAR)"
    for some in batches(split, f"SELECT {id_}, {_folded(columns)} FROM rows"):  # noqa: S608  quoted
        for place, (name, text) in enumerate(some, start=at):
            if place in wanted:
                named_texts[place] = ("" if naming is None else naming.named(name), str(text))
        at += len(some)
    return named_texts


def near_numbers(
    mine: SplitRows,
    other: SplitRows,
    reach: Mapping[str, float],
    same: Sequence[str],
    naming: Naming | None,
) -> Near:
    """Rows whose numbers differ by no more than the reach of their column, in other columns not at all, but somewhere.

    Rows meet in the cells of two grids, the second shifted by half a cell, hashed in the engine.
    """
    near_pairs: dict[Key, Pair] = {}
    whole = True
    for grid in range(GRIDS):
        cells = [_cells(one, reach, same, grid / GRIDS) for one in (mine, other)]
        ours, theirs = (np.unique(one.opened.arrays(f"SELECT {cell} AS h FROM rows")["h"])  # noqa: S608  quoted
                        for one, cell in zip((mine, other), cells, strict=True))  # fmt: skip
        both = np.intersect1d(ours, theirs, assume_unique=True)
        if not len(both):
            continue
        rows = [_at(one, cell, both, list(reach), naming) for one, cell in zip((mine, other), cells, strict=True)]
        whole &= all(len(one[0]) <= MOST for one in rows)
        _compared(rows, np.array(list(reach.values())), naming, near_pairs)
    return gathered(near_pairs, whole=whole)


def _cells(split: SplitRows, reach: Mapping[str, float], same: Sequence[str], shift: float) -> str:
    parts = [f"floor({number_of(split, column)} / {WIDTH * one!r} + {shift!r})" for column, one in reach.items()]
    parts += [f"CAST({quote_identifier(column)} AS VARCHAR)" for column in same]
    return f"hash({', '.join(parts)})"


def _at(split: SplitRows, cell: str, both: NDArray[np.uint64], columns: Sequence[str], naming: Naming | None) -> Rows:
    """Rows in the cells that both sides have: cell, numbers and id, sorted by cell."""
    connection = split.opened.connection
    id_ = "''" if naming is None else f"CAST({quote_identifier(naming.column)} AS VARCHAR)"
    values = ", ".join(f"{number_of(split, column)} AS x{i}" for i, column in enumerate(columns))
    connection.register("assay_cells", {"h": both})
    try:
        row_arrays = split.opened.arrays(
            f"SELECT * FROM (SELECT {cell} AS h, {id_} AS id, {values} FROM rows) "  # noqa: S608  quoted
            f"WHERE h IN (SELECT h FROM assay_cells) LIMIT {MOST + 1}"
        )
    finally:
        connection.unregister("assay_cells")
    numbers = np.stack([np.ma.filled(row_arrays[f"x{i}"].astype(float), np.nan) for i in range(len(columns))], axis=1)
    order = np.argsort(row_arrays["h"], kind="stable")
    return row_arrays["h"][order], numbers[order], np.asarray(row_arrays["id"])[order].tolist()


def _compared(rows: Sequence[Rows], reach: Floats, naming: Naming | None, near_pairs: dict[Key, Pair]) -> None:
    """Compare in full the rows that share a cell; what is found is kept by the id and the numbers of the first."""
    (h1, x1, ids1), (h2, x2, ids2) = rows
    first, last = np.searchsorted(h2, h1, "left"), np.searchsorted(h2, h1, "right")
    for i in range(len(h1)):
        there = slice(int(first[i]), int(last[i]))
        if there.start == there.stop:
            continue
        far = np.abs(x2[there] - x1[i])
        off = np.where(np.isnan(far), np.where(np.isnan(x2[there]) == np.isnan(x1[i]), 0.0, np.inf), far) / reach
        worst = off.max(axis=1)
        close = np.flatnonzero((worst <= 1) & (worst > 0))
        key = (ids1[i], x1[i].tobytes())
        if len(close) and key not in near_pairs:
            best = int(close[np.argmin(worst[close])])
            names = ("", "") if naming is None else (naming.named(ids1[i]), naming.named(ids2[there.start + best]))
            near_pairs[key] = (*names, float(1 - worst[best]))
