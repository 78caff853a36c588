# SPDX-License-Identifier: Apache-2.0
"""The proof that models saw the same rows: counts and order-free sums of 64-bit hashes of ids, by true label.

The hash of an id is the first 8 bytes of the MD5 digest of its text, which DuckDB, Spark and Python compute alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from assay.core.labels import Label

HASHES: Final = {
    "duckdb": "CAST(CAST('0x' || substr(md5({text}), 1, 16) AS UBIGINT) AS HUGEINT)",
    "spark": "CAST(conv(substr(md5({text}), 1, 16), 16, 10) AS DECIMAL(20, 0))",
}
"""The hash of a text in the SQL of each engine, as a whole number that can be summed."""


def hash_text(text: str) -> int:
    """The hash of the text of an id.

    >>> hash_text("a")
    919145239626757800
    """
    return int(hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16], 16)


def digest_rows(keys: Sequence[Label], truth: Sequence[Label | None]) -> str:
    """The digest of rows in memory: equal exactly where ids and truth are, in any order.

    >>> digest_rows([1, 2], ["x", "y"]) == digest_rows([2, 1], ["y", "x"]) != digest_rows(["1", "2"], ["x", "y"])
    True
    """
    sums: dict[tuple[type, Label | None], tuple[int, int]] = {}
    for key, label in zip(keys, truth, strict=True):
        rows, total = sums.get((type(label), label), (0, 0))
        sums[type(label), label] = rows + 1, total + hash_text(str(key))
    kind = type(keys[0]).__name__ if keys else ""
    return digest_sums(kind, ((label, rows, total) for (_, label), (rows, total) in sums.items()))


def digest_sums(kind: str, sums: Iterable[tuple[Label | None, int, int]]) -> str:
    """SHA-256 of the kind of ids and, for every true label, its rows and the sum of the hashes of their ids."""
    lines = sorted(f"{type(label).__name__} {label!r} {rows} {total}\n" for label, rows, total in sums)
    return hashlib.sha256((f"{kind}\n" + "".join(lines)).encode("utf-8", "surrogatepass")).hexdigest()
