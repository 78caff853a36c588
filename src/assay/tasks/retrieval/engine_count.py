# SPDX-License-Identifier: Apache-2.0
"""Counts a run where the embedded engine holds it: DuckDB joins the grades, NumPy orders the scores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.errors import EngineError, RowsError
from assay.core.text import counted, listed, quoted, visible
from assay.rows.engine import connect, quote_identifier, quote_literal, release, told_as_ours
from assay.rows.limits import Limits
from assay.rows.opened import check_scalar, number_column
from assay.tasks.retrieval.ranking import Judgements, rank_documents
from assay.tasks.retrieval.tally import NAMED, Outside, Rankings
from assay.tasks.retrieval.trec import RUN

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

    from assay.rows.opened import OpenedFile

SPREAD = 0x9E3779B97F4A7C15
"""Spreads query codes over 64 bits, so that they can be mixed with hashes of documents."""


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
    import duckdb

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
    except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
        raise Irregular from error
    finally:
        release(connection)


def _count(
    connection: duckdb.DuckDBPyConnection, select: str, judgements: Judgements, where: str
) -> tuple[Rankings, int]:
    with _joined(connection, judgements) as grades:
        rows = connection.execute(
            "SELECT coalesce(q.code, -1) AS code, r.score, coalesce(g.place, -1) AS place, "  # noqa: S608
            f"coalesce(hash(r.document), 0) AS name, r.query IS NULL OR r.document IS NULL AS gap "
            f"FROM ({select}) r LEFT JOIN retrieval_queries q ON r.query = q.query "
            "LEFT JOIN retrieval_grades g ON q.code = g.code AND r.document = g.document"
        ).fetchnumpy()
        code, score, name = rows["code"].astype(np.int64), np.asarray(rows["score"]), np.asarray(rows["name"])
        _check_rows(connection, select, code=code, score=score, name=name, gap=np.asarray(rows["gap"]), where=where)
        inside = np.flatnonzero(code >= 0) if (code < 0).any() else slice(None)
        outside = _outside(connection, select, int((code < 0).sum()))
        code, score, name, place = code[inside], score[inside], name[inside], np.asarray(rows["place"])[inside]
        total = len(rows["code"])
        del rows
        tally = rank_documents(
            code,
            score,
            np.where(place >= 0, grades[place], np.nan),
            lambda chosen: _names(connection, select, name[chosen]),
            ids=judgements.ids,
            judgements=judgements,
            outside=outside,
        )
    return tally, total


@contextmanager
def _joined(
    connection: duckdb.DuckDBPyConnection, judgements: Judgements
) -> Iterator[NDArray[np.float64]]:
    """The judgements as tables of the engine; gives their grades by place, and one more for none."""
    codes = [code for code, grades in enumerate(judgements.grades.values()) for _ in grades]
    documents = [document for grades in judgements.grades.values() for document in grades]
    values = [grade for grades in judgements.grades.values() for grade in grades.values()]
    connection.register(
        "given_grades",
        {
            "code": np.array(codes, dtype=np.int64),
            "document": np.array([*documents, ""], dtype=object)[:-1],
            "place": np.arange(len(codes)),
        },
    )
    connection.register(
        "given_queries", {"query": np.array([*judgements.ids, ""], dtype=object)[:-1], "code": np.arange(len(judgements.ids))}
    )
    connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")  # the small side is hashed
    connection.execute("CREATE OR REPLACE TEMP TABLE retrieval_grades AS SELECT * FROM given_grades")
    connection.execute("CREATE OR REPLACE TEMP TABLE retrieval_queries AS SELECT * FROM given_queries")
    yield np.array([*values, np.nan])
    connection.execute("SET disabled_optimizers = ''")


def _outside(connection: duckdb.DuckDBPyConnection, select: str, rows: int) -> Outside:
    """Queries of the run that were not judged."""
    if not rows:
        return Outside()
    names = connection.execute(
        f"SELECT DISTINCT query FROM ({select}) ANTI JOIN retrieval_queries USING (query) ORDER BY query"  # noqa: S608
    ).fetchall()
    return Outside(rows=rows, queries=len(names), names=tuple(name for (name,) in names[:NAMED]))


def _names(
    connection: duckdb.DuckDBPyConnection, select: str, hashes: NDArray[np.uint64]
) -> NDArray[np.object_]:
    """Documents by their hashes."""
    wanted, place = np.unique(hashes, return_inverse=True)
    connection.register("given_hashes", {"name": wanted})
    found = connection.execute(
        f"SELECT DISTINCT hash(document) AS name, document FROM ({select}) "  # noqa: S608
        "SEMI JOIN given_hashes ON hash(document) = given_hashes.name"
    ).fetchall()
    if len(found) != len(wanted):
        raise EngineError("engine-failed", "two documents have the same hash", fix="convert the run to another format")
    by_hash = dict(found)
    names = np.empty(len(wanted), dtype=object)
    names[:] = [by_hash[value] for value in wanted.tolist()]
    return names[place]


def _check_rows(
    connection: duckdb.DuckDBPyConnection, select: str, *, where: str, **columns: NDArray[Any]
) -> None:
    if not len(columns["code"]):
        raise RowsError("no-rows", "the run is empty", where=where, fix="give a run with rows")
    if columns["gap"].any():
        raise RowsError(
            "missing-id",
            f"{counted(int(columns['gap'].sum()), 'row')} of the run without a query or a document",
            where=where,
            fix="name query and document in every row",
        )
    wrong = ~np.isfinite(columns["score"])
    if wrong.any():
        shown = connection.execute(
            f"SELECT query, document, score FROM ({select}) WHERE NOT isfinite(score) LIMIT 3"  # noqa: S608
        ).fetchall()
        raise unfit_scores(int(wrong.sum()), [tuple(map(str, row)) for row in shown], where)
    mixed = columns["name"] ^ (columns["code"].astype(np.uint64) * np.uint64(SPREAD))
    mixed.sort()
    if (mixed[1:] == mixed[:-1]).any():
        twice = connection.execute(
            f"SELECT query, document FROM ({select}) GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL"  # noqa: S608
        ).fetchall()
        refuse_duplicates(twice, "run", where)


def unfit_scores(count: int, shown: list[tuple[str, ...]], where: str) -> RowsError:
    """The error of scores that cannot be ordered."""
    return RowsError(
        "score-not-finite",
        f"{counted(count, 'score')} of the run {'is' if count == 1 else 'are'} missing, NaN or infinite",
        where=where,
        found=", ".join(f"{visible(score)} of {quoted(name)} for query {quoted(query)}" for query, name, score in shown),
        fix="give every document of the run a finite score",
    )


def refuse_duplicates(twice: list[tuple[str, str]], what: str, where: str) -> None:
    """Refuse documents that stand twice under one query."""
    if twice:
        raise RowsError(
            "duplicate-id",
            f"{counted(len(twice), 'document')} stand{'s' if len(twice) == 1 else ''} twice under one query of the {what}",
            where=where,
            found=listed([f"{query} {name}" for query, name in twice], most=3),
            fix="keep one row for each query and document",
        )
