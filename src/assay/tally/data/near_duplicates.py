# SPDX-License-Identifier: Apache-2.0
"""Near-duplicates of two data sets: texts that share most of their shingles, and rows of numbers that nearly coincide.

Candidates come from hashes that like rows share; each is then compared in full. Memory does not grow with the pairs.

Texts are sketched by one-permutation MinHash with optimal densification (Shrivastava 2017): one hash a shingle, the
smallest of each of 64 bins; two texts agree in a bin as often as they share shingles (their Jaccard index).
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.opened_file import translated
from assay.tally.data.feature_counts import number_of
from assay.tally.data.split_counts import SplitRows, register

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats

    Words: TypeAlias = NDArray[np.uint64]
    Places: TypeAlias = NDArray[np.int64]
    Rows: TypeAlias = tuple[NDArray[np.uint64], Floats, list[object]]

Key: TypeAlias = int | tuple[object, bytes]
Pair: TypeAlias = tuple[str, str, float]

SHINGLE: Final = 5
"""Bytes of a shingle: long enough that two texts of one language share few by chance."""
BINS: Final = 64
BANDS: Final = 16
"""Four bins a band: texts that share 8 shingles of 10 meet in a band but for 2 in 10,000, at 3 of 10 one in eight."""
HELD: Final = 1 << 28
"""Bytes of sketches up to which they are kept in memory; beyond, in a file that ends with the process."""
EACH: Final = 8
"""Rows of the other side that one row is held against, at most, in a band."""
_EMPTY: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_PRIME: Final = np.uint64(0x100000001B3)
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


def id_sql(naming: Naming | None) -> str:
    """The id of a row as text; nothing where rows have no names."""
    return "''" if naming is None else f"CAST({quote_identifier(naming.column)} AS VARCHAR)"


def name_row(naming: Naming | None, id_: object) -> str:
    """The name of a row in a Record; nothing where rows have none."""
    return "" if naming is None else naming.named(id_)


def shingles(texts: Sequence[str]) -> tuple[Words, Places]:
    """The hash of every run of five bytes, and the text it belongs to; a shorter text is one shingle.

    >>> shingles(["abcdef", "abcdex", ""])[1].tolist()
    [0, 0, 1, 1]
    """
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    sizes = np.array([len(one) for one in encoded], dtype=np.int64)
    padded = np.maximum(sizes, np.where(sizes > 0, SHINGLE, 0))
    raw = b"".join(one.ljust(SHINGLE, b"\0") if one else b"" for one in encoded)
    body = np.frombuffer(raw, dtype=np.uint8).astype(np.uint64)
    counts = np.maximum(padded - SHINGLE + 1, 0)
    owner = np.repeat(np.arange(len(texts)), counts)
    starts = np.concatenate([[0], np.cumsum(padded)[:-1]]) if len(texts) else np.zeros(0, dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(counts)[:-1]]) if len(texts) else starts
    at = np.arange(int(counts.sum())) - np.repeat(before, counts) + np.repeat(starts, counts)
    hashes = np.full(len(at), 14695981039346656037, dtype=np.uint64)
    for step in range(SHINGLE):
        hashes = (hashes ^ body[at + step]) * _PRIME
    return mixed(hashes), owner


def mixed(words: Words) -> Words:
    """Words with every bit depending on every other (the finaliser of SplitMix64)."""
    one = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    two = (one ^ (one >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return cast("Words", two ^ (two >> np.uint64(31)))


def bands(texts: Sequence[str]) -> Words:
    """One word a band and text; texts without a shingle get words that nobody shares."""
    words, owner = shingles(texts)
    least = np.full(len(texts) * BINS, _EMPTY, dtype=np.uint64)
    bins = (words >> np.uint64(58)).astype(np.int64)
    np.minimum.at(least, owner * BINS + bins, words)
    table = _dense(least.reshape(len(texts), BINS))
    four = table.reshape(len(texts), BANDS, BINS // BANDS)
    key: Words = np.full((len(texts), BANDS), 1, dtype=np.uint64)
    for step in range(BINS // BANDS):
        key = mixed(key ^ four[:, :, step] ^ np.arange(BANDS, dtype=np.uint64))
    none = np.bincount(owner, minlength=len(texts)) == 0
    key[none] = _EMPTY
    return key


def _dense(table: Words) -> Words:
    """Empty bins filled from full ones, which ones being the same choice for every text."""
    empty = table == _EMPTY
    some = ~empty.all(axis=1)
    filled, left = table.copy(), empty & some[:, None]
    turn = 1
    while left.any():
        source = (mixed(np.arange(BINS, dtype=np.uint64) + np.uint64(turn * BINS)) % np.uint64(BINS)).astype(np.int64)
        ready = left & ~empty[:, source]
        filled = np.where(ready, table[:, source], filled)
        left &= ~ready
        turn += 1
    return filled


def space(rows: int) -> Words:
    """Room for the bands of so many texts, in memory or in a file that has no name."""
    shape = (rows, BANDS)
    if rows * BANDS * 8 <= HELD:
        return np.empty(shape, dtype=np.uint64)
    with tempfile.TemporaryFile(prefix="assay-") as file:
        return np.memmap(file, dtype=np.uint64, mode="w+", shape=shape)


def meeting(mine: Words, other: Words, most: int) -> tuple[Places, bool]:
    """Pairs of rows that share a band, one side in each column, and whether that is all of them."""
    pairs: list[Places] = []
    whole, total = True, 0
    for i, j, cut in _each(mine, other):
        pairs.append(np.stack([i, j], axis=1))
        total += len(i)
        whole &= not cut
        if total > most:  # bands repeat each other's pairs
            pairs = [np.unique(np.concatenate(pairs), axis=0)]
            total = len(pairs[0])
        if total > most:
            whole = False
            break
    if not pairs:
        return np.zeros((0, 2), dtype=np.int64), True
    found = np.unique(np.concatenate(pairs), axis=0)
    return found[:most], whole and len(found) <= most


def _each(mine: Words, other: Words) -> Iterator[tuple[Places, Places, bool]]:
    for band in range(mine.shape[1]):
        ours, theirs = np.asarray(mine[:, band]), np.asarray(other[:, band])
        order = np.argsort(theirs, kind="stable")
        ranked = theirs[order]
        first, last = np.searchsorted(ranked, ours, "left"), np.searchsorted(ranked, ours, "right")
        n = np.where(ours == _EMPTY, 0, last - first)
        kept = np.minimum(n, EACH)
        i = np.repeat(np.arange(len(ours)), kept)
        step = np.arange(int(kept.sum())) - np.repeat(np.cumsum(kept) - kept, kept)
        yield i, order[np.repeat(first, kept) + step], bool((n > EACH).any())


def likeness(a: str, b: str) -> float:
    """The share of their shingles that two texts have in common (Jaccard).

    >>> round(likeness("the cat sat on the mat", "the cat sat on a mat"), 2)
    0.48
    """
    first, second = (np.unique(shingles([one])[0]) for one in (a, b))
    both = len(np.intersect1d(first, second, assume_unique=True))
    either = len(first) + len(second) - both
    return both / either if either else 1.0


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
    for some in batches(split, f"SELECT {id_sql(naming)}, {_folded(columns)} FROM rows"):  # noqa: S608  quoted
        for place, (name, text) in enumerate(some, start=at):
            if place in wanted:
                named_texts[place] = (name_row(naming, name), str(text))
        at += len(some)
    return named_texts


def near_numbers(
    mine: SplitRows, other: SplitRows, reach: Mapping[str, float], same: Sequence[str], naming: Naming | None
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
    values = ", ".join(f"{number_of(split, column)} AS x{i}" for i, column in enumerate(columns))
    with register(split.opened, "assay_cells", {"h": both}):
        row_arrays = split.opened.arrays(
            f"SELECT * FROM (SELECT {cell} AS h, {id_sql(naming)} AS id, {values} FROM rows) "  # noqa: S608  quoted
            f"WHERE h IN (SELECT h FROM assay_cells) LIMIT {MOST + 1}"
        )
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
            names = (name_row(naming, id_) for id_ in (ids1[i], ids2[there.start + best]))
            near_pairs[key] = (next(names), next(names), float(1 - worst[best]))
