# SPDX-License-Identifier: Apache-2.0
"""Counts a run where the embedded engine holds it: DuckDB joins the grades, NumPy orders the scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.errors import RowsError
from assay.core.text import counted, listed, quoted, visible
from assay.rows.engines.arrow_batches import batches
from assay.rows.engines.duckdb_engine import (
    connect,
    malformed_input,
    quote_identifier,
    quote_literal,
    release,
    told_as_ours,
)
from assay.rows.files.opened_file import check_scalar, number_column
from assay.rows.limits import Limits
from assay.tasks.retrieval.rank_order import Judgements, rank_documents
from assay.tasks.retrieval.tally import NAMED, Outside, Rankings
from assay.tasks.retrieval.trec import RUN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.rows.engines.duckdb_engine import Connection
    from assay.rows.files.opened_file import OpenedFile

SPREAD = 0x1E3779B97F4A7C15
"""Spreads query codes over 64 bits, so that they can be mixed with hashes of documents."""


_NO_ROWS = (np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0, dtype=np.int64))
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
    with told_as_ours(visible(path), "trec"):
        connection = connect([path], limits or Limits())
    try:
        select = f"SELECT query, document, coalesce(score, 'nan'::DOUBLE) AS score FROM {source}"  # noqa: S608
        return _count(connection, select, judgements, visible(path))
    except malformed_input() as error:
        raise Irregular from error
    finally:
        release(connection)


def _count(connection: Connection, select: str, judgements: Judgements, where: str) -> tuple[Rankings, int]:
    _load_run(connection, select, judgements)
    parts = list(batches(connection.sql("SELECT code, score, name FROM retrieval_run")))
    columns: Any = zip(*parts, strict=True) if parts else ((column,) for column in _NO_ROWS)
    code, score, name = (np.asarray(np.concatenate(column)) for column in columns)
    _check_rows(connection, select, code, score, name, where=where)
    del parts, name
    place: NDArray[Any] = _place_grades(connection, judgements, len(code))
    inside = np.flatnonzero(code >= 0) if (code < 0).any() else None
    outside = Outside() if inside is None else _outside(connection, select, len(code) - len(inside))
    total = len(code)
    if inside is not None:
        code, score, place = code[inside], score[inside], place[inside]

    def names(chosen: NDArray[np.intp]) -> NDArray[np.object_]:
        return _names(connection, chosen if inside is None else inside[chosen])

    tally = rank_documents(code, score, place, names, ids=judgements.ids, judgements=judgements, outside=outside)
    return tally, total


def _load_run(connection: Connection, select: str, judgements: Judgements) -> None:
    """Make a table of the run with codes of queries, in the order of its rows."""
    names = {"query": np.array([*judgements.ids, ""], dtype=object)[:-1], "code": np.arange(len(judgements.ids))}
    connection.register("given_queries", names)
    connection.execute("CREATE TYPE retrieval_query AS ENUM (SELECT query FROM given_queries ORDER BY code)")
    connection.execute(
        f"CREATE TEMP TABLE retrieval_run AS SELECT CASE WHEN query IS NULL OR document IS NULL THEN {LACKING} "  # noqa: S608
        "ELSE coalesce(enum_code(TRY_CAST(query AS retrieval_query))::INTEGER, -1) END AS code, score, "
        f"coalesce(document, '') AS document, (coalesce(hash(document), 0) >> 1)::BIGINT AS name FROM ({select})"
    )


def _place_grades(connection: Connection, judgements: Judgements, rows: int) -> NDArray[np.int32]:
    """The place of the judgement of every row, -1 where there is none."""
    grades = {
        "code": judgements.code.astype(np.int32),
        "document": judgements.document,
        "place": np.arange(len(judgements.code), dtype=np.int32),
    }
    place = np.full(rows, -1, dtype=np.int32)
    if not len(judgements.code):
        return place
    connection.register("given_grades", grades)
    connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")  # the small side is hashed
    joined = connection.execute(
        "SELECT run.rowid AS number, given.place, run.document = given.document AS same FROM retrieval_run run "
        "JOIN (SELECT *, (hash(document) >> 1)::BIGINT AS name FROM given_grades) given "
        "ON run.code = given.code AND run.name = given.name"  # numbers are compared faster than names
    ).fetchnumpy()
    connection.execute("SET disabled_optimizers = ''")
    same = np.asarray(joined["same"], dtype=bool)
    place[joined["number"][same]] = joined["place"][same]
    return place


def _outside(connection: Connection, select: str, rows: int) -> Outside:
    """Queries of the run that were not judged."""
    names = connection.execute(
        f"SELECT DISTINCT query FROM ({select}) ANTI JOIN given_queries USING (query) ORDER BY query"  # noqa: S608
    ).fetchall()
    return Outside(rows=rows, queries=len(names), names=tuple(name for (name,) in names[:NAMED]))


def _names(connection: Connection, rows: NDArray[np.intp]) -> NDArray[np.object_]:
    """Documents of some rows."""
    wanted, place = np.unique(rows, return_inverse=True)
    connection.register("given_rows", {"wanted": wanted})
    answer = connection.execute(
        "SELECT rowid, document FROM retrieval_run SEMI JOIN given_rows ON retrieval_run.rowid = given_rows.wanted"
    ).fetchall()
    by_row = dict(answer)
    names = np.empty(len(wanted), dtype=object)
    names[:] = [by_row[row] for row in wanted.tolist()]
    return names[place]


def _check_rows(
    connection: Connection,
    select: str,
    code: NDArray[np.int32],
    score: NDArray[np.float64],
    name: NDArray[np.int64],
    *,
    where: str,
) -> None:
    if not len(code):
        raise RowsError("no-rows", "the run is empty", where=where, fix="give a run with rows")
    if lacking := int((code == LACKING).sum()):
        raise RowsError(
            "missing-id",
            f"{counted(lacking, 'row')} of the run without a query or a document",
            where=where,
            fix="name query and document in every row",
        )
    if not np.isfinite(score).all():
        shown = connection.execute(
            f"SELECT query, document, score FROM ({select}) WHERE NOT isfinite(score) LIMIT 3"  # noqa: S608
        ).fetchall()
        count = int((~np.isfinite(score)).sum())
        raise unfit_scores(count, [(query, document, f"{value}") for query, document, value in shown], where)
    mixed = name ^ (code.astype(np.int64) * np.int64(SPREAD))
    mixed.sort()
    if (mixed[1:] == mixed[:-1]).any():  # perhaps of two queries that were not judged: look at the names
        twice = connection.execute(
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
