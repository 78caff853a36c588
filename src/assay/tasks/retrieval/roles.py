# SPDX-License-Identifier: Apache-2.0
"""What users have for judgements and runs: TREC files, tables with named columns, dictionaries by query."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import MissingColumn, RowsError
from assay.core.task import Request
from assay.core.text import counted, listed, quoted, visible
from assay.rows.databases.database import is_database
from assay.rows.files.file_digests import digest_of
from assay.rows.files.file_list import are_paths
from assay.rows.files.formats import regular_file
from assay.rows.spark.spark_session import is_cluster, is_spark
from assay.tally.batches import Column, open_batches
from assay.tasks.retrieval.trec import QRELS, RUN, Layout, is_number, is_trec, parse_trec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.rows.files.opened_file import OpenedFile
    from assay.tally.batches import Batches

NAMES: Final = {
    "query": ("query", "query_id", "query-id", "qid", "q_id", "topic", "user", "user_id", "user-id"),
    "document": (
        "document", "document_id", "doc_id", "docid", "docno", "doc", "corpus_id", "corpus-id", "item", "item_id",
    ),
    "grade": ("grade", "relevance", "rel", "label", "rating", "score"),
    "score": ("score", "sim", "prediction", "rating"),
}  # fmt: skip
"""Names by which a column is known without being stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows that are held: queries, documents and a number each."""

    query: NDArray[np.object_]
    document: NDArray[np.object_]
    number: NDArray[np.float64]
    about: Mapping[str, object] = field(default_factory=dict)
    """What a Record says of the input."""


def hold_rows(given: object, role: str, request: Request) -> Rows | None:
    """The rows of a dictionary, a JSON file or a TREC file; None where a table must be opened."""
    layout, number = (QRELS, "grade") if role == "truth" else (RUN, "score")
    if isinstance(given, Mapping) and not _has_columns(given, number, request):
        return _from_mapping(given, role, {"from": "the given dictionary"})
    if isinstance(given, str) and is_trec(given):
        return _from_trec(given, layout)
    if isinstance(given, str) and given.lower().endswith(".json") and (content := _json_object(given)) is not None:
        return _from_mapping(content, role, file_about(given, "json"))
    return None


def open_path(given: object, request: Request) -> OpenedFile | None:
    """The table of a file in the embedded engine; None where rows come from elsewhere."""
    if not are_paths(given) or is_database(given) or (request.engine is not None and is_cluster(request.engine)):
        return None
    from assay.rows.engines.duckdb_engine import demand_embedded
    from assay.rows.files.file_set import open_files
    from assay.rows.files.formats import Reading
    from assay.rows.limits import Limits

    demand_embedded(request.engine)
    reading = cast("Reading | None", request.reading) or Reading()
    limits = cast("Limits | None", request.limits) or Limits()
    return open_files(given, reading, progress=request.progress, limits=limits)


def open_table(given: object, role: str, request: Request) -> Batches:
    """A table, opened: query, document, and a grade or a score."""
    number = "grade" if role == "truth" else "score"
    names = column_names(_columns_of(given, request), number, request.options, role)
    kinds = {"query": "label", "document": "label", number: "number"}
    columns = {part: Column(name, cast("Any", kinds[part])) for part, name in names.items()}
    return open_batches(replace(request, given={}, data=given, group={}, unit=None), columns)


def read_grades(given: object, request: Request) -> Rows:
    """All judgements, held: they are few."""
    rows = hold_rows(given, "truth", request)
    if rows is not None:
        return rows
    with open_table(given, "truth", request) as batches:
        parts = [_spark_columns(batches)] if batches.table.spark is not None else list(batches)
        if not parts:
            raise RowsError("no-rows", "there are no judgements", where="truth", fix="give judgements with rows")
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return Rows(
            query=_texts(columns["query"].tolist()),
            document=_texts(columns["document"].tolist()),
            number=columns["grade"].astype(np.float64),
            about=batches.about,
        )


def _spark_columns(batches: Batches) -> dict[str, NDArray[Any]]:
    rows = [tuple(row) for row in batches.table.spark.collect()]
    columns = zip(*rows, strict=True) if rows else ((),) * len(batches.table.columns)
    return {
        name: np.array([*column, ""], dtype=object)[:-1]
        for name, column in zip(batches.table.columns, columns, strict=True)
    }


def table_about(opened: OpenedFile, names: Mapping[str, str]) -> dict[str, object]:
    """What a Record says of a file with a table."""
    files = dict(opened.files)
    name = next(iter(files)) if len(files) == 1 else counted(len(files), "file")
    return {"from": name, "format": opened.format, "columns": dict(names), "files": files}


def column_names(known: Sequence[str], number: str, options: Mapping[str, object], where: str) -> dict[str, str]:
    """The columns of a table by what they hold: as stated, or by their usual names."""
    chosen: dict[str, str] = {}
    for part in ("query", "document", number):
        stated = options.get(f"{part}_column")
        names = (str(stated),) if stated else NAMES[part]
        match = next((name for name in names if name in known and name not in chosen.values()), None)
        if match is None:
            raise MissingColumn(
                "missing-column",
                f"no column of {where} is known to hold the {part}",
                where=where,
                found=f"the columns {listed(known, most=12)}",
                known=", ".join(names),
                fix=f"rename the column, or state it: {part}_column=...",
            )
        chosen[part] = match
    return chosen


def _columns_of(given: object, request: Request) -> list[str]:
    """The columns of a table; those of a database or a cluster go by the first of the usual names."""
    opened = open_path(given, request)
    if opened is not None:
        opened.close()
        return list(opened.columns)
    if isinstance(given, Mapping):
        return [str(name) for name in given]
    if is_spark(given):
        return list(cast("Any", given).columns)
    if are_paths(given):
        return [names[0] for names in NAMES.values()]
    from assay.rows.engines.narwhals_frames import narwhals_of

    return list(narwhals_of(given).collect_schema().names())


def _has_columns(given: Mapping[Any, object], number: str, request: Request) -> bool:
    """Whether a dictionary holds columns, not lists by query."""
    if any(isinstance(value, Mapping) for value in given.values()):
        return False
    stated = {str(request.options[f"{part}_column"]) for part in ("query", "document", number)
              if request.options.get(f"{part}_column")}  # fmt: skip
    names = {str(name) for name in given}
    return bool(names & {*NAMES["query"], *stated}) and bool(names & {*NAMES["document"], *stated})


def _from_mapping(given: Mapping[Any, object], role: str, about: Mapping[str, object]) -> Rows:
    """{query: {document: number}}, or {query: documents}: relevant ones, or a list with the best first."""
    queries: list[str] = []
    documents: list[str] = []
    numbers: list[object] = []
    for query, content in given.items():
        if isinstance(content, Mapping):
            names, values = list(content), list(content.values())
        elif isinstance(content, Iterable) and not isinstance(content, (str, bytes)):
            names = list(content)
            values = [1.0] * len(names) if role == "truth" else [-float(place) for place in range(len(names))]
        else:
            raise RowsError(
                "column-not-scalar",
                f"the {role} of query {quoted(query)} is a {type(content).__name__}",
                where=role,
                known="{query: {document: number}} or {query: [document, ...]}",
                fix="give a dictionary or a list of documents for every query",
            )
        queries += [str(query)] * len(names)
        documents += [str(name) for name in names]
        numbers += values
    unfit = [place for place, value in enumerate(numbers) if isinstance(value, (str, bytes)) or not is_number(value)]
    if unfit:
        raise RowsError(
            "column-not-numeric",
            f"{counted(len(unfit), 'value')} of {role} {'is' if len(unfit) == 1 else 'are'} not a number",
            where=role,
            found=", ".join(f"{visible(repr(numbers[place]))} of {quoted(documents[place])}" for place in unfit[:3]),
            fix="give a number for every document",
        )
    return Rows(
        query=_texts(queries), document=_texts(documents), number=np.array(numbers, dtype=np.float64), about=about
    )


def _from_trec(path: str, layout: Layout) -> Rows:
    query, document, number = parse_trec(path, layout)
    return Rows(query=query, document=document, number=number, about=file_about(path, "trec"))


def file_about(path: str, form: str) -> dict[str, object]:
    """What a Record says of a file that holds no table."""
    name = Path(path).name
    return {"from": name, "format": form, "files": {name: digest_of(path)}}


def _json_object(path: str) -> Mapping[str, object] | None:
    """The content of a file that is one JSON object by query; None where it is lines of objects."""
    regular_file(path)
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    by_query = isinstance(content, dict) and all(isinstance(value, (dict, list)) for value in content.values())
    return content if by_query else None


def _texts(values: Sequence[object]) -> NDArray[np.object_]:
    texts = np.empty(len(values), dtype=object)
    texts[:] = [str(value) for value in values]
    return texts
