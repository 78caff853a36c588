# SPDX-License-Identifier: Apache-2.0
"""What is wrong with rows of models that did not match, asked inside the engine: how many, and the first few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.core.errors import AssayError
from assay.rows.differing import LISTED, Some, another, ids_twice, other_rows, without_id
from assay.rows.engine import quote_identifier
from assay.rows.modeltables import ModelTable, alike, compared, differ, met

if TYPE_CHECKING:
    from assay.core.labels import Label


def faults(tables: Sequence[ModelTable]) -> AssayError | None:
    """What is wrong with rows that did not match, in the order in which rows in memory would be looked at."""
    for one in tables:
        lacking = one.count(f"FROM {one.view} WHERE {quote_identifier(one.key)} IS NULL")
        if lacking:
            return without_id(lacking, one.model, one.rows.where)
    for one in tables:
        if (twice := _twice(one)).ids:
            return ids_twice(one.rows, twice)
    first = tables[0]
    for other in tables[1:]:
        lost, more = _lone(first, other), _lone(other, first)
        if lost.ids or more.ids:
            return other_rows(first.rows, other.rows, lost, more, kinds=not alike(first, other))
        for what in compared(first):
            if (error := _another(first, other, what)) is not None:
                return error
    return None


def _numbered(one: ModelTable) -> str:
    return f"(SELECT *, row_number() OVER () AS assay_row FROM {one.view})"  # noqa: S608  quoted


def _ids(one: ModelTable, rows: Sequence[tuple[object, ...]]) -> tuple[Label, ...]:
    found = [one.label(one.key, row[0]) for row in rows]
    return tuple(key for key in found if key is not None)


def _twice(one: ModelTable) -> Some:
    """Ids that stand in several rows, in the order in which they come up again."""
    name = quote_identifier(one.key)
    doubled = f"SELECT {name} FROM {one.view} GROUP BY {name} HAVING count(*) > 1"  # noqa: S608
    ids = one.count(f"FROM ({doubled})")
    if not ids:
        return Some(ids=0, first=())
    again = f"SELECT {name}, assay_row, row_number() OVER (PARTITION BY {name} ORDER BY assay_row) AS assay_time"
    query = f"{again} FROM {_numbered(one)} SEMI JOIN ({doubled}) USING ({name})"
    first = one.opened.fetch(f"SELECT {name} FROM ({query}) WHERE assay_time = 2 ORDER BY assay_row LIMIT {LISTED}")  # noqa: S608
    return Some(ids=ids, first=_ids(one, first))


def _lone(one: ModelTable, other: ModelTable) -> Some:
    """Ids of one model that another does not have, in the order of their rows."""
    same = met(one, other, "t1")
    ids = one.count(f"FROM {one.view} AS t0 ANTI JOIN {other.view} AS t1 ON {same}")
    first = (
        one.opened.fetch(
            f"SELECT t0.{quote_identifier(one.key)} FROM {_numbered(one)} AS t0 ANTI JOIN {other.view} AS t1"  # noqa: S608
            f" ON {same} ORDER BY t0.assay_row LIMIT {LISTED}"
        )
        if ids
        else []
    )
    return Some(ids=ids, first=_ids(one, first))


def _another(first: ModelTable, other: ModelTable, what: str) -> AssayError | None:
    """Rows whose truth, subject or weight differs, in the order of the first model's rows."""
    same, unlike = met(first, other, "t1"), differ(first, other, what, "t1")
    wrong = first.count(f"FROM {first.view} AS t0 JOIN {other.view} AS t1 ON {same} WHERE {unlike}")
    if not wrong:
        return None
    values = ", ".join(
        one.value(what, alias) if what == "weight" else f"{alias}.{quote_identifier(str(one.column(what)))}"
        for one, alias in ((first, "t0"), (other, "t1"))
    )
    rows = first.opened.fetch(
        f"SELECT t0.{quote_identifier(first.key)}, {values} FROM {_numbered(first)} AS t0 JOIN {other.view} AS t1"  # noqa: S608
        f" ON {same} WHERE {unlike} ORDER BY t0.assay_row LIMIT {LISTED}"
    )
    if what != "weight":
        names = [str(one.column(what)) for one in (first, other)]
        rows = [(key, first.label(names[0], mine), other.label(names[1], theirs)) for key, mine, theirs in rows]
    each = [(_ids(first, [row])[0], row[1], row[2]) for row in rows]
    return another(first.rows, other.rows, what, wrong, first.count(f"FROM {first.view}"), each)
