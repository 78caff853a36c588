# SPDX-License-Identifier: Apache-2.0
"""The proof that all models saw the same rows, taken inside the embedded engine, or of ids from a cluster.

It is the digest that `tally.pairing.proof` takes of rows in memory, of lines that the engine writes and sorts.
"""

from __future__ import annotations

import hashlib
from contextlib import closing
from typing import TYPE_CHECKING, Final

from assay.rows.engine import quote_identifier, quote_literal
from assay.rows.labels import LONGEST, label_of
from assay.rows.opened import translated
from assay.rows.sparkids import SparkIds
from assay.tally.numberlines import digest_of_lines, fits
from assay.tally.pairing import line

if TYPE_CHECKING:
    from assay.core.labels import Label
    from assay.rows.modeltables import ModelTable

_PLAIN: Final = r"[ !#-&(-\[\]-~]*"
"""Texts that Python writes as they are, between two quotes: printable ASCII without quotes and backslashes."""
_WRITTEN: Final = "assay_written"
_ENDS: Final = "assay_ends"


def proof_of(table: ModelTable | SparkIds) -> str:
    """SHA-256 over id and truth of every row in the order of the ids, as `proof` takes it in memory."""
    if isinstance(table, SparkIds):
        return _from_cluster(table)
    opened, text = table.opened, table.kind(table.key) == "text"
    key, truth = quote_identifier(table.key), quote_identifier(table.source.truth)
    endings = _write_ends(table)
    home = f"FROM {table.view} AS t JOIN {_ENDS} AS e ON t.{truth} IS NOT DISTINCT FROM e.truth"
    if not text:
        size, low, high = opened.fetch(f"SELECT count(*), min({key}), max({key}) FROM {table.view}")[0]  # noqa: S608
        if fits(size, low, high, len(endings)):
            query = f"SELECT CAST(t.{key} AS BIGINT) AS id, e.n {home}"
            with closing(opened.batches(opened.connection.sql(query))) as batches:
                return digest_of_lines(batches, size, high, endings)
    written = _written(table, key) if text else f"CAST({key} AS VARCHAR)"
    rows = f"SELECT {written} AS w, e.ending {home}"
    query = f"SELECT '{'str' if text else 'int'} ' || w || ending FROM ({rows} ORDER BY w)"  # noqa: S608
    sha = hashlib.sha256()
    with closing(opened.texts(query)) as pieces:
        for piece in pieces:
            sha.update(piece)
    return sha.hexdigest()


def _from_cluster(ids: SparkIds) -> str:
    """The same of ids that a cluster hands over: sorted in memory if that takes 8 bytes each, else in the engine."""
    if isinstance(ids.low, int) and isinstance(ids.high, int) and fits(ids.rows, ids.low, ids.high, len(ids.truths)):
        endings = [_ending(truth) for truth in ids.truths]
        with closing(ids.batches()) as batches:
            return digest_of_lines(batches, ids.rows, ids.high, endings)
    with ids.embedded() as table:
        return proof_of(table)


def _ending(truth: Label | None) -> str:
    """What stands behind the id in a line."""
    return line(0, truth).removeprefix("int 0")


def _write_ends(table: ModelTable) -> list[str]:
    """What stands behind the id in a line of the proof, for every truth that occurs, by its number in the engine."""
    truth = quote_identifier(table.source.truth)
    opened, where = table.opened, table.source.where
    with translated(opened):
        opened.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_ENDS} AS SELECT truth, CAST(row_number() OVER () - 1 AS INTEGER) AS n,"  # noqa: S608
            f" '' AS ending FROM (SELECT DISTINCT {truth} AS truth FROM {table.view})"
        )
        endings = []
        for value, n in opened.fetch(f"SELECT truth, n FROM {_ENDS} ORDER BY n"):  # noqa: S608
            ending = _ending(label_of(value, where=where))
            endings.append(ending)
            opened.connection.execute(f"UPDATE {_ENDS} SET ending = {quote_literal(ending)} WHERE n = {n}")  # noqa: S608
    return endings


def _written(table: ModelTable, key: str) -> str:
    """The SQL that writes a text as Python does; texts that Python writes in a way of its own are handed to it."""
    plain = f"regexp_full_match({key}, '{_PLAIN}')"
    quoted = f"'''' || {key} || ''''"
    query = f"SELECT count(*) FILTER (NOT {plain}), max(strlen({key})) FROM {table.view}"  # noqa: S608
    odd, longest = table.opened.fetch(query)[0]
    if longest > LONGEST:
        [[text]] = table.opened.fetch(f"SELECT {key} FROM {table.view} WHERE strlen({key}) > {LONGEST} LIMIT 1")  # noqa: S608
        label_of(text, where=f"{table.source.where}, {table.source.shown(table.key)}")
    if not odd:
        return quoted
    connection = table.opened.connection
    connection.create_function(_WRITTEN, repr, ["VARCHAR"], "VARCHAR")
    return f"CASE WHEN {plain} THEN {quoted} ELSE {_WRITTEN}({key}) END"
