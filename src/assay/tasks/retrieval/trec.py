# SPDX-License-Identifier: Apache-2.0
"""Reads TREC files: judgements of four fields a line, runs of six, apart by spaces or tabs, with comments after #."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import numpy as np

from assay.core.errors import RowsError
from assay.core.text import counted, visible
from assay.rows.reading import regular_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLES: Final = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq", ".arrow", ".feather", ".ipc"})
"""Endings of files that hold tables; every other text is read as TREC."""
GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The fields of a line, and which of them is the number."""

    what: str
    fields: tuple[str, ...]
    number: int


QRELS: Final = Layout(what="judgements", fields=("query", "iteration", "document", "grade"), number=3)
RUN: Final = Layout(what="run", fields=("query", "Q0", "document", "rank", "score", "tag"), number=4)


def is_trec(path: str) -> bool:
    """Whether a file is read as TREC text: by its name, which is neither that of a table nor of JSON.

    >>> is_trec("qrels.txt"), is_trec("run.bm25.gz"), is_trec("run.parquet")
    (True, True, False)
    """
    name = Path(path.lower().removesuffix(".gz").removesuffix(".zst"))
    return name.suffix not in TABLES and name.suffix != ".json" and "://" not in path


def separator_of(path: str) -> str | None:
    """The one character between the fields of a plain run, or None where only a slower reading is safe."""
    regular_file(path)
    with Path(path).open("rb") as file:
        line = file.readline(4096).rstrip(b"\r\n")
    if line.startswith((b"#", b"\xef\xbb\xbf", GZIP)):
        return None
    for mark in ("\t", " "):
        parts = line.split(mark.encode())
        if len(parts) == len(RUN.fields) and all(part and part == part.strip() for part in parts):
            return mark
    return None


def parse_trec(
    path: str, layout: Layout
) -> tuple[NDArray[np.object_], NDArray[np.object_], NDArray[np.float64]]:
    """Queries, documents and numbers of a TREC file; all unfit lines are gathered before the error."""
    regular_file(path)
    queries: list[str] = []
    documents: list[str] = []
    numbers: list[float] = []
    ragged: list[tuple[int, int]] = []
    unfit: list[tuple[int, str]] = []
    for place, text in _lines(path):
        parts = text.split()
        if len(parts) != len(layout.fields):
            ragged.append((place, len(parts)))
            continue
        try:
            numbers.append(float(parts[layout.number]))
        except ValueError:
            unfit.append((place, parts[layout.number]))
            continue
        queries.append(parts[0])
        documents.append(parts[2])
    if ragged:
        _refuse_ragged(path, layout, ragged)
    if unfit:
        shown = ", ".join(f"{visible(word)!r} in line {place:,}" for place, word in unfit[:3])
        raise RowsError(
            "column-not-numeric",
            f"{counted(len(unfit), 'line')} of the {layout.what} without a number as {layout.fields[layout.number]}",
            where=visible(path),
            found=shown,
            fix=f"write {' '.join(layout.fields)} on every line",
        )
    if not queries:
        raise RowsError("no-rows", f"the {layout.what} is empty", where=visible(path), fix="give a file with lines")
    return np.array(queries, dtype=object), np.array(documents, dtype=object), np.array(numbers, dtype=np.float64)


def _lines(path: str) -> Iterator[tuple[int, str]]:
    with Path(path).open("rb") as head:
        packed = head.read(2) == GZIP
    try:
        with gzip.open(path) if packed else Path(path).open("rb") as file:
            for place, line in enumerate(file, start=1):
                text = line.decode("utf-8-sig" if place == 1 else "utf-8")
                if text.strip() and not text.startswith("#"):
                    yield place, text
    except UnicodeDecodeError as error:
        raise RowsError(
            "encoding", "the file is not UTF-8", where=visible(path), found=visible(error), fix="write it as UTF-8"
        ) from error
    except (EOFError, gzip.BadGzipFile) as error:
        raise RowsError(
            "file-truncated", "the compressed file ends too early", where=visible(path), fix="copy the file again"
        ) from error


def _refuse_ragged(path: str, layout: Layout, ragged: list[tuple[int, int]]) -> NoReturn:
    shown = ", ".join(f"line {place:,} has {fields}" for place, fields in ragged[:3])
    raise RowsError(
        "ragged-row",
        f"{counted(len(ragged), 'line')} of the {layout.what} without {len(layout.fields)} fields",
        where=visible(path),
        found=shown,
        known=" ".join(layout.fields),
        fix="write every line with these fields; a table with a header line must be named .csv, .tsv or .parquet",
    )
