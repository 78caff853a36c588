# SPDX-License-Identifier: Apache-2.0
"""Sketches of texts: one hash a shingle, the smallest of each of 64 bins, and bands of bins that like texts share.

One-permutation MinHash with optimal densification (Shrivastava 2017): two texts agree in a bin as often as they share
shingles (their Jaccard index), at the cost of one hash a shingle instead of 64.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words: TypeAlias = NDArray[np.uint64]
    Places: TypeAlias = NDArray[np.int64]

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
    counts = np.where(padded > 0, padded - SHINGLE + 1, 0)
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
        if total > most * 4:  # bands repeat each other's pairs
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
