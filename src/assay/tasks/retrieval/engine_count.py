# SPDX-License-Identifier: Apache-2.0
"""Counts a run as the embedded engine reads it, some queries at a time: DuckDB names them, NumPy orders the scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from assay.core.errors import RowsError
from assay.core.text import counted, listed, quoted, visible
from assay.rows.engines.duckdb_engine import (
    connect,
    malformed_input,
    query_batches,
    quote_identifier,
    quote_literal,
    release,
    told_as_ours,
)
from assay.rows.files.opened_file import check_scalar, number_column
from assay.rows.limits import Limits
from assay.tasks.retrieval.rank_order import Judgements, Ranked, rank_documents
from assay.tasks.retrieval.tally import NAMED, Outside, Rankings
from assay.tasks.retrieval.trec import RUN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.rows.engines.duckdb_engine import Connection
    from assay.rows.files.opened_file import OpenedFile

SPREAD = 0x1E3779B97F4A7C15
"""Spreads query codes over 64 bits, so that they can be mixed with hashes of documents."""
BLOCK: Final = 500_000
"""Rows that are ordered at a time, and those to the end of the last query."""
LACKING = -2
"""The code of a row without a query or a document."""


class Irregular(Exception):  # noqa: N818  not an error: the caller reads the file another way
    """A TREC file that is not plain enough for the engine."""


def count_opened(opened: OpenedFile, names: dict[str, str], judgements: Judgements) -> tuple[Rankings, int]:
    """Count a table with named columns; gives the rows read, too."""
    texts = {}
    for part in ("query", "document"):
        check_scalar(opened, names[part])
        texts[part] = f"CAST({quote_identifier(names[part])} AS VARCHAR)"
    number = f"coalesce({number_column(opened, names['score'])}, 'nan'::DOUBLE)"
    select = (
        f"SELECT {texts['query']} AS query, {texts['document']} AS document, {number} AS score "  # noqa: S608  quoted
        f"FROM {quote_identifier(opened.view)}"
    )
    with told_as_ours(opened.shown, opened.format):
        tally, rows = _count(opened.connection, select, judgements, opened.shown)
    opened.confirm(rows)
    return tally, rows


def count_trec(path: str, separator: str, judgements: Judgements, limits: Limits | None) -> tuple[Rankings, int]:
    """Count a plain TREC run; raises Irregular where a line is not plain."""
    columns = ", ".join(
        f"'{name}': '{'DOUBLE' if place == RUN.number else 'VARCHAR'}'" for place, name in enumerate(RUN.fields)
    )
    source = (
        f"read_csv({quote_literal(path)}, delim={quote_literal(separator)}, quote='', escape='', header=false, "
        f"auto_detect=false, columns={{{columns}}})"
    )
    faults: tuple[type[Exception], ...] = (*malformed_input(), OSError)  # a stream tells every fault as OSError
    with told_as_ours(visible(path), "trec"):
        connection = connect([path], limits or Limits())
    try:
        select = f"SELECT query, document, coalesce(score, 'nan'::DOUBLE) AS score FROM {source}"  # noqa: S608
        return _count(connection, select, judgements, visible(path))
    except faults as error:
        raise Irregular from error
    finally:
        release(connection)


def _count(connection: Connection, select: str, judgements: Judgements, where: str) -> tuple[Rankings, int]:
    keys = JudgedKeys.find(connection, judgements)
    query = (
        f"SELECT CASE WHEN query IS NULL OR document IS NULL THEN {LACKING} "  # noqa: S608
        "ELSE coalesce(enum_code(TRY_CAST(query AS retrieval_query))::INTEGER, -1) END AS code, score, "
        f"(coalesce(hash(document), 0) >> 1)::BIGINT AS name, coalesce(document, '') AS document FROM ({select})"
    )
    for most in (BLOCK, math.inf):  # all rows at once only where those of a query are scattered
        count = RunCount(judgements, keys)
        pieces = (Piece(*columns) for columns in query_batches(connection, query, text=True))
        if all(count.add(block) for block in cut_blocks(pieces, most)):
            break
    _check_rows(connection, select, count, where=where)
    outside = _outside(connection, select, count.outside) if count.outside else Outside()
    if not count.parts:
        return replace(judgements.empty(judgements.ids), outside=outside), count.rows
    return rank_documents(count.parts, judgements.ids, judgements, outside), count.rows


class Piece(NamedTuple):
    """Rows of the run that follow each other: codes of queries, scores, hashes and names of documents."""

    code: NDArray[np.int32]
    score: NDArray[np.float64]
    name: NDArray[np.int64]
    texts: Any
    first: int = 0
    """The first of these rows among those of the texts."""

    def part(self, start: int, end: int) -> Piece:
        """Some of the rows."""
        rows = slice(start, end)
        return Piece(self.code[rows], self.score[rows], self.name[rows], self.texts, self.first + start)


def cut_blocks(pieces: Iterable[Piece], most: float) -> Iterator[list[Piece]]:
    """Blocks of at least so many rows that end where a query does."""
    waiting: list[Piece] = []
    for piece in pieces:
        waiting.append(piece)
        if sum(len(part.code) for part in waiting) < most:
            continue
        change = np.flatnonzero(piece.code[1:] != piece.code[:-1])
        if len(change):
            end = int(change[-1]) + 1
            yield [*waiting[:-1], piece.part(0, end)]
            waiting = [piece.part(end, len(piece.code))]
    if waiting:
        yield waiting


@dataclass(frozen=True, slots=True)
class JudgedKeys:
    """Query and document of each judgement as one number."""

    keys: NDArray[np.int64]

    @classmethod
    def find(cls, connection: Connection, judgements: Judgements) -> JudgedKeys:
        """Let the engine hash the names, and know the queries by number."""
        names = {"query": np.array([*judgements.ids, ""], dtype=object)[:-1], "code": np.arange(len(judgements.ids))}
        connection.register("given_queries", names)
        connection.execute("CREATE TEMP TYPE retrieval_query AS ENUM (SELECT query FROM given_queries ORDER BY code)")
        if not len(judgements.code):
            return cls(np.zeros(0, dtype=np.int64))
        places = np.arange(len(judgements.code))
        connection.register("given_grades", {"document": judgements.document, "place": places})
        hashed = connection.execute(
            "SELECT place, (hash(document) >> 1)::BIGINT AS name FROM given_grades"
        ).fetchnumpy()
        hashes = np.empty(len(places), dtype=np.int64)
        hashes[hashed["place"]] = hashed["name"]
        return cls(mix_keys(judgements.code, hashes))

    def places(
        self, key: NDArray[np.int64], code: NDArray[np.int32], judgements: Judgements, names: Callable[[Any], Any]
    ) -> NDArray[np.int32]:
        """The place of the judgement of every row, -1 where there is none."""
        place = np.full(len(key), -1, dtype=np.int32)
        present = np.zeros(len(judgements.ids), dtype=bool)
        present[code[code >= 0]] = True
        judged = np.flatnonzero(present[judgements.code])
        if not len(judged):
            return place
        judged = judged[np.argsort(self.keys[judged], kind="stable")]
        keys = self.keys[judged]
        seen = np.zeros(1 << (8 * len(keys)).bit_length(), dtype=bool)  # few rows have the last bits of a judged one
        seen[keys & (len(seen) - 1)] = True
        rows = np.flatnonzero(seen[key & (len(seen) - 1)])
        position = np.searchsorted(keys, key[rows])
        while len(rows):  # once, unless two judged documents of a query have one hash
            alike = position < len(keys)
            alike[alike] = keys[position[alike]] == key[rows[alike]]
            rows, position = rows[alike], position[alike]
            same = np.asarray(names(rows) == judgements.document[judged[position]], dtype=bool)
            place[rows[same]] = judged[position[same]]
            position = position + 1
        return place


def mix_keys(code: NDArray[Any], name: NDArray[np.int64]) -> NDArray[np.int64]:
    """Codes of queries and hashes of documents as one number."""
    return np.asarray(name ^ (code.astype(np.int64) * np.int64(SPREAD)))


class RunCount:
    """What the blocks of a run add up to."""

    def __init__(self, judgements: Judgements, keys: JudgedKeys) -> None:
        self.judgements, self.keys = judgements, keys
        self.parts: list[Ranked] = []
        self.rows = self.outside = self.lacking = self.unfit = 0
        self.twice = False
        """Whether a document may stand twice under a query."""
        self.seen = np.zeros(len(judgements.ids), dtype=bool)
        self.unjudged: list[NDArray[np.int64]] = []

    def add(self, block: Sequence[Piece]) -> bool:
        """Count a block; False where it holds rows of a query that an earlier block waiting."""
        code, score, name = (np.concatenate([piece[place] for piece in block]) for place in range(3))
        inside = code >= 0
        whole = bool(inside.all())
        codes = code if whole else code[inside]
        if self.seen[codes].any():
            return False
        self.seen[codes] = True
        self.rows, self.outside = self.rows + len(code), self.outside + len(code) - len(codes)
        self.lacking += int((code == LACKING).sum())
        self.unfit += int((~np.isfinite(score)).sum())
        key = mix_keys(code, name)
        if not whole:
            self.unjudged.append(key[~inside])
        if self.lacking or self.unfit:
            return True
        self.twice = self.twice or has_repeats(key)
        kept = None if whole else np.flatnonzero(inside)
        starts = np.cumsum([0, *(len(piece.code) for piece in block)])

        def names(rows: NDArray[np.intp]) -> NDArray[np.object_]:
            return read_names(block, starts, rows if kept is None else kept[rows])

        if kept is not None:
            score, key = score[kept], key[kept]
        place: NDArray[Any] = self.keys.places(key, codes, self.judgements, names)
        size = len(self.judgements.ids)
        if len(codes):
            wide: NDArray[Any] = codes
            self.parts.append(Ranked.of(wide, score, place, names, size=size, judgements=self.judgements))
        return True


def has_repeats(values: NDArray[np.int64]) -> bool:
    """Whether a number stands twice."""
    ordered = np.sort(values)
    return bool((ordered[1:] == ordered[:-1]).any())


def read_names(block: Sequence[Piece], starts: NDArray[np.int64], rows: NDArray[np.intp]) -> NDArray[np.object_]:
    """Documents of some rows of a block."""
    names = np.empty(len(rows), dtype=object)
    owner = np.searchsorted(starts, rows, side="right") - 1
    for place in np.unique(owner).tolist():
        chosen = np.flatnonzero(owner == place)
        names[chosen] = block[place].texts.take(rows[chosen] - starts[place] + block[place].first).tolist()
    return names


def _outside(connection: Connection, select: str, rows: int) -> Outside:
    """Queries of the run that were not judged."""
    names = connection.execute(
        f"SELECT DISTINCT query FROM ({select}) ANTI JOIN given_queries USING (query) ORDER BY query"  # noqa: S608
    ).fetchall()
    return Outside(rows=rows, queries=len(names), names=tuple(name for (name,) in names[:NAMED]))


def _check_rows(connection: Connection, select: str, count: RunCount, *, where: str) -> None:
    if not count.rows:
        raise RowsError("no-rows", "the run is empty", where=where, fix="give a run with rows")
    if count.lacking:
        raise RowsError(
            "missing-id",
            f"{counted(count.lacking, 'row')} of the run without a query or a document",
            where=where,
            fix="name query and document in every row",
        )
    if count.unfit:
        shown = connection.execute(
            f"SELECT query, document, score FROM ({select}) WHERE NOT isfinite(score) LIMIT 3"  # noqa: S608
        ).fetchall()
        raise unfit_scores(count.unfit, [(query, document, f"{value}") for query, document, value in shown], where)
    if count.twice or (count.unjudged and has_repeats(np.concatenate(count.unjudged))):
        twice = connection.execute(  # perhaps of two queries that were not judged: look at the names
            f"SELECT query, document FROM ({select}) GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL"  # noqa: S608
        ).fetchall()
        refuse_duplicates(twice, "run", where)


def unfit_scores(count: int, shown: Sequence[tuple[str, ...]], where: str) -> RowsError:
    """The error of scores that cannot be ordered."""
    return RowsError(
        "score-not-finite",
        f"{counted(count, 'score')} of the run {'is' if count == 1 else 'are'} missing, NaN or infinite",
        where=where,
        found=", ".join(
            f"{visible(score)} of {quoted(name)} for query {quoted(query)}" for query, name, score in shown
        ),
        fix="give every document of the run a finite score",
    )


def refuse_duplicates(twice: list[tuple[str, str]], what: str, where: str) -> None:
    """Refuse documents that stand twice under one query."""
    if twice:
        raise RowsError(
            "duplicate-id",
            f"{counted(len(twice), 'document')} more than once under one query of the {what}",
            where=where,
            found=listed([f"{query} {name}" for query, name in twice], most=3),
            fix="keep one row for each query and document",
        )
