# SPDX-License-Identifier: Apache-2.0
"""Answers of several models in files of their own, matched by id inside the embedded engine: only cells come back.

What does not match is left to the rows in memory, which say where.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from assay.core.errors import AssayError
from assay.rows.engine import quote_identifier
from assay.rows.files import prepared, with_engine
from assay.rows.ids import kind_of_id
from assay.rows.labels import LONGEST, label_of
from assay.rows.limits import Limits
from assay.rows.listing import Paths, list_files, shown
from assay.rows.opened import OpenedFile, check_scalar
from assay.rows.reading import Reading
from assay.rows.together import open_table
from assay.tally.pairing import Cell, line

if TYPE_CHECKING:
    import duckdb

BATCH: Final = 100_000
"""Ids that are hashed at a time."""
_PLAIN: Final = r"[ !#-&(-\[\]-~]*"
"""Texts that Python writes as they are, between two quotes: printable ASCII without quotes and backslashes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Joint cells of truth and the calls of every model, the proof of the same rows, and where these came from."""

    cells: dict[Cell, int]
    proof: str
    tables: list[tuple[str, dict[str, str]]]
    """The path of each table, and the digests of its files by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    opened: OpenedFile
    predicted: str

    @property
    def view(self) -> str:
        return quote_identifier(self.opened.view)


def matched_files(
    tables: Mapping[str, Paths], truth: str, predicted: Mapping[str, str], key: str, reading: Reading, *, limits: Limits
) -> Matched | None:
    """Every id once in every file and with the same truth, counted in the engine; None where that is not so."""
    try:
        listed = [list_files(paths) for paths in tables.values()]
        files = [prepared(one, reading) for one in listed]
        every = [file for one in files for file in one]
        found: list[Matched | None] = []

        def work(connection: duckdb.DuckDBPyConnection) -> OpenedFile:
            opened = [
                _Table(
                    opened=open_table(one, connection, called=shown(paths), view=f"assay_model_{place}"),
                    predicted=predicted[model],
                )
                for place, (one, (model, paths)) in enumerate(zip(files, tables.items(), strict=True))
            ]
            found.append(_matched(opened, truth, key))
            return opened[0].opened

        with_engine(every, limits, work).close()
    except AssayError:
        return None  # told again, with the rows, by whoever reads them
    return found[0]


def _matched(tables: list[_Table], truth: str, key: str) -> Matched | None:
    for one in tables:
        for column in (key, truth, one.predicted):
            check_scalar(one.opened, column)
    first = tables[0].opened
    kinds = {kind_of_id(one.opened.columns[key], key, one.opened.shown) for one in tables}
    kind = kinds.pop()
    alike = all(one.opened.columns[name] == first.columns[name] for one in tables for name in (key, truth))
    if kinds or not alike or kind not in {"text", "whole number"} or not _once_each(tables, key):
        return None
    if kind == "text" and not _plain(first, key):
        return None
    cells = _cells(tables, truth, key)
    if cells is None:
        return None
    for one in tables:
        one.opened.confirm(sum(cells.values()))
    return Matched(
        cells=cells,
        proof=_proof(first, key, truth, text=kind == "text"),
        tables=[(one.opened.path, one.opened.files) for one in tables],
    )


def _once_each(tables: list[_Table], key: str) -> bool:
    """Whether every id stands exactly once in every table."""
    name = quote_identifier(key)
    marks = [
        ", ".join(f"{'true' if i == place else 'CAST(NULL AS BOOLEAN)'} AS m{i}" for i in range(len(tables)))
        for place in range(len(tables))
    ]
    both = " UNION ALL ".join(
        f"SELECT {name} AS id, {mark} FROM {one.view}"  # noqa: S608  quoted
        for one, mark in zip(tables, marks, strict=True)
    )
    counts = ", ".join(f"count(m{i}) AS m{i}" for i in range(len(tables)))
    once = " AND ".join(f"m{i} = 1" for i in range(len(tables)))
    query = f"SELECT count(*), count(*) FILTER (id IS NOT NULL AND {once}) FROM (SELECT id, {counts} FROM ({both}) GROUP BY id)"  # noqa: S608, E501
    ids, sound = tables[0].opened.fetch(query)[0]
    return bool(ids) and ids == sound


def _plain(opened: OpenedFile, key: str) -> bool:
    name = quote_identifier(key)
    odd = f"NOT regexp_full_match({name}, '{_PLAIN}') OR length({name}) > {LONGEST}"
    return not opened.fetch(f"SELECT count(*) FROM {quote_identifier(opened.view)} WHERE {odd}")[0][0]  # noqa: S608


def _cells(tables: list[_Table], truth: str, key: str) -> dict[Cell, int] | None:
    """Rows by truth and the calls of all models; None if the truth of any row differs between them."""
    name, true = quote_identifier(key), quote_identifier(truth)
    calls = ", ".join(f"t{i}.{quote_identifier(one.predicted)}" for i, one in enumerate(tables))
    joins = " ".join(f"JOIN {one.view} AS t{i} ON t0.{name} = t{i}.{name}" for i, one in enumerate(tables) if i)
    differ = " OR ".join(f"t0.{true} IS DISTINCT FROM t{i}.{true}" for i in range(1, len(tables)))
    rows = tables[0].opened.fetch(
        f"SELECT t0.{true}, {calls}, count(*), count(*) FILTER ({differ}) FROM {tables[0].view} AS t0 {joins} GROUP BY ALL"  # noqa: S608, E501
    )
    if any(row[-1] for row in rows):
        return None
    where = [tables[0].opened.path, *(one.opened.path for one in tables)]
    cells: dict[Cell, int] = {}
    for row in rows:
        cell = tuple(label_of(value, where=place) for value, place in zip(row[:-2], where, strict=True))
        cells[cell] = cells.get(cell, 0) + int(row[-2])
    return cells


def _proof(opened: OpenedFile, key: str, truth: str, *, text: bool) -> str:
    """The digest that `tally.pairing.proof` takes in memory, of rows that come in the order of its lines."""
    name, view = quote_identifier(key), quote_identifier(opened.view)
    order = f"{name} || ''''" if text else f"CAST({name} AS VARCHAR)"
    sha = hashlib.sha256()
    query = f"SELECT {name}, {quote_identifier(truth)} FROM {view} ORDER BY {order}"  # noqa: S608
    mark, ends = "'" if text else "", _Ends(opened.path)
    head = f"{'str' if text else 'int'} {mark}"
    for rows in opened.rows_of(query, BATCH):
        each = [f"{head}{one}{mark}{ends[label]}" for one, label in rows]
        sha.update("".join(each).encode("utf-8", "surrogatepass"))
    return sha.hexdigest()


class _Ends(dict[object, str]):
    """What stands behind the id in a line of the proof, by the value of the truth."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self._where = where

    def __missing__(self, value: object) -> str:
        self[value] = line(0, label_of(value, where=self._where)).removeprefix("int 0")
        return self[value]
