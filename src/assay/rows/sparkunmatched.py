# SPDX-License-Identifier: Apache-2.0
"""What is wrong with rows of models that did not match, asked on the cluster: how many, and the first by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from assay.core.errors import AssayError
from assay.rows.differing import LISTED, Some, another, ids_twice, other_rows, without_id
from assay.rows.modeltables import KEY
from assay.rows.sparkmatching import SparkTable, compared, differ

if TYPE_CHECKING:
    from assay.core.labels import Label


def faults(tables: Sequence[SparkTable]) -> AssayError | None:
    """What is wrong with rows that did not match, in the order in which rows in memory would be looked at."""
    for one in tables:
        if lacking := one.count(one.frame.filter(f"{one.name(KEY)} IS NULL")):
            return without_id(lacking, one.model, one.rows.where)
    for one in tables:
        doubled = one.frame.groupBy(one.name(KEY)).count().filter("count > 1")
        if (twice := _some(one, doubled)).ids:
            return ids_twice(one.rows, twice)
    first = tables[0]
    for other in tables[1:]:
        kinds = first.kinds[KEY] != other.kinds[KEY]
        lost, more = (_some(a, _lone(a, b)) for a, b in ((first, other), (other, first)))
        if lost.ids or more.ids:
            return other_rows(first.rows, other.rows, lost, more, kinds=kinds)
        for what in compared(first):
            if (error := _another(first, other, what)) is not None:
                return error
    return None


def _some(one: SparkTable, frame: Any) -> Some:  # noqa: ANN401  a Spark frame
    """How many ids a frame holds, and the first of them."""
    ids = one.count(frame)
    first = one.fetch(frame.select(one.name(KEY)).sort(one.name(KEY)).limit(LISTED)) if ids else []
    return Some(ids=ids, first=tuple(cast("Label", one.label(KEY, row[0])) for row in first))


def _lone(one: SparkTable, other: SparkTable) -> Any:  # noqa: ANN401  a Spark frame
    """Rows of one model whose ids another does not have."""
    if one.kinds[KEY] != other.kinds[KEY]:
        return one.frame
    return one.frame.join(other.frame, one.frame[one.name(KEY)] == other.frame[other.name(KEY)], "left_anti")


def _another(first: SparkTable, other: SparkTable, what: str) -> AssayError | None:
    """Rows whose truth, subject or weight differs."""
    met = first.frame.join(other.frame, first.frame[first.name(KEY)] == other.frame[other.name(KEY)], "inner")
    unlike = met.filter(differ(first, other, what))
    wrong = first.count(unlike)
    if not wrong:
        return None
    few = unlike.sort(first.name(KEY)).limit(LISTED)
    rows = first.fetch(few.selectExpr(first.name(KEY), first.value(what), other.value(what)))
    if what != "weight":
        rows = [(key, first.label(what, mine), other.label(what, theirs)) for key, mine, theirs in rows]
    each = [(cast("Label", first.label(KEY, key)), mine, theirs) for key, mine, theirs in rows]
    return another(first.rows, other.rows, what, wrong, first.count(first.frame), each)
