# SPDX-License-Identifier: Apache-2.0
"""Reads TREC files: judgements of four fields a line, runs of six, apart by spaces or tabs, with comments after #."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, cast

import numpy as np

from assay.core.errors import RowsError
from assay.core.text import counted, quoted, visible
from assay.rows.files.formats import regular_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLES: Final = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq", ".arrow", ".feather", ".ipc"})
"""Endings of files that hold tables; every other text is read as TREC."""
GZIP: Final = b"\x1f\x8b"
BREAK: Final = "\x01"
"""Stands for the end of a line among its words."""


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


def parse_trec(path: str, layout: Layout) -> tuple[NDArray[np.object_], NDArray[np.object_], NDArray[np.float64]]:
    """Queries, documents and numbers of a TREC file; all unfit lines are gathered before the error."""
    text, width = _read_text(path), len(layout.fields)
    words = text.rstrip("\n").replace("\n", f" {BREAK} ").split()
    breaks = words[width :: width + 1]
    plain = len(words) % (width + 1) == width and words.count(BREAK) == breaks.count(BREAK) == len(breaks)
    if BREAK in text or "#" in text or not plain:
        words = _check_lines(path, text, layout)
    columns = [words[place :: width + 1] for place in range(width)]
    try:
        numbers = np.array(columns[layout.number], dtype=np.float64)
    except ValueError:
        _refuse_numbers(path, layout, columns[layout.number])
    return np.array(columns[0], dtype=object), np.array(columns[2], dtype=object), numbers


def _check_lines(path: str, text: str, layout: Layout) -> list[str]:
    """The words of lines that are not plain, one by one: without comments and empty lines."""
    lines = [[] if line.startswith("#") else line.split() for line in text.split("\n")]
    width = len(layout.fields)
    ragged = [(place, len(parts)) for place, parts in enumerate(lines, start=1) if len(parts) not in (0, width)]
    if ragged:
        _refuse_ragged(path, layout, ragged)
    words = [word for parts in lines if parts for word in (*parts, BREAK)]
    if not words:
        raise RowsError("no-rows", f"the {layout.what} is empty", where=visible(path), fix="give a file with lines")
    return words[:-1]


def _read_text(path: str) -> str:
    regular_file(path)
    try:
        content = Path(path).read_bytes()
        if content.startswith(GZIP):
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RowsError(
            "encoding", "the file is not UTF-8", where=visible(path), found=visible(error), fix="write it as UTF-8"
        ) from error
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        raise RowsError(
            "file-unreadable", "the file cannot be read", where=visible(path), found=visible(error), fix="copy it again"
        ) from error


def _refuse_numbers(path: str, layout: Layout, words: list[str]) -> NoReturn:
    unfit = [(place, word) for place, word in enumerate(words, start=1) if not is_number(word)]
    raise RowsError(
        "column-not-numeric",
        f"{counted(len(unfit), 'line')} of the {layout.what} without a number as {layout.fields[layout.number]}",
        where=visible(path),
        found=", ".join(f"{quoted(word)} in row {place:,}" for place, word in unfit[:3]),
        fix=f"write {' '.join(layout.fields)} on every line",
    )


def is_number(value: object) -> bool:
    """Whether something is a number, or a text of one."""
    try:
        float(cast("str", value))
    except (TypeError, ValueError):
        return False
    return True


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
