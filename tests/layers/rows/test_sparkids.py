# SPDX-License-Identifier: Apache-2.0
"""Ids of a cluster, handed over in parts, give the proof of rows in memory; here without a cluster."""

from __future__ import annotations

import re
from decimal import Decimal
from types import SimpleNamespace

import pyarrow as pa
import pytest

from assay.core.errors import EngineError
from assay.rows import sparkcolumns, sparkids
from assay.rows.sparkids import SparkIds
from assay.tally.pairing import proof
from assay.tally.sameness import proof_of

ROWS = 300
TRUTHS = {
    "text": ["é", 'say "hm"', None],
    "number": [0, 1, None],
    "boolean": [True, False],
    "real": [1.0, float("nan")],
}
IDS = {
    "packed": [7 * i for i in range(ROWS)],
    "below zero": [7 * i - 100 for i in range(ROWS)],
    "wide": [2**62 + i for i in range(ROWS)],
    "plain": [f"case {i}" for i in range(ROWS)],
    "odd": [chr(39 + i % 60) + ("é", "中", "\n", "\\")[i % 4] + str(i) for i in range(ROWS)],
}


class Frame:
    """Hands over its rows as Spark does: all of them, or those of one part of many."""

    def __init__(self, table, part=(0, 1)):
        self.table, self.part = table, part

    def filter(self, sql):
        many, place = re.fullmatch(r"pmod\(xxhash64\(id\), (\d+)\) = (\d+)", sql).groups()
        return Frame(self.table, (int(place), int(many)))

    def selectExpr(self, *columns):  # noqa: N802  as Spark calls it
        assert columns == ("id", "truth")
        return self

    def toArrow(self):  # noqa: N802
        place, many = self.part
        some = self.table.take([i for i in range(len(self.table)) if (i * i + i // 3) % many == place])
        return pa.Table.from_batches(some.to_batches(max_chunksize=17), self.table.schema)


def brought(ids, truths, rows=ROWS):
    source = SimpleNamespace(where="here", truth="truth", shown=lambda column: column)
    values = [truths[i % len(truths)] for i in range(ROWS)]
    labels = [None if value != value else int(value) if type(value) is float else value for value in values]  # noqa: PLR0124
    found = SparkIds(
        model="A",
        source=source,
        frame=Frame(pa.table({"id": ids, "truth": values})),
        text=isinstance(ids[0], str),
        rows=rows,
        low=min(ids),
        high=max(ids),
        width=40,
        truths=tuple(dict.fromkeys(labels)),
    )
    return found, labels


@pytest.mark.parametrize("truths", TRUTHS)
@pytest.mark.parametrize("kind", IDS)
def test_the_proof_of_ids_in_parts_is_that_of_rows_in_memory(kind, truths, monkeypatch):
    monkeypatch.setattr(sparkcolumns, "PART", 3000)
    monkeypatch.setattr(sparkids, "GATHERED", 50)
    found, labels = brought(IDS[kind], TRUTHS[truths])
    assert proof_of(found) == proof(IDS[kind], labels)


@pytest.mark.parametrize("kind", ["packed", "plain"])
@pytest.mark.parametrize("rows", [ROWS - 1, ROWS + 1])
def test_another_number_of_rows_than_before_is_refused(kind, rows):
    with pytest.raises(EngineError, match="not the same each time"):
        proof_of(brought(IDS[kind], [0, 1], rows)[0])


def test_a_truth_that_was_not_there_before_is_refused():
    found, _ = brought(IDS["packed"], [0, 1])
    found.frame.table = found.frame.table.set_column(1, "truth", pa.array([2] * ROWS))
    with pytest.raises(EngineError, match="not the same each time"):
        proof_of(found)


@pytest.mark.parametrize(
    "parts",
    [
        [["a", None], [None, None], ["b", "a"]],
        [[True, None], [False, True]],
        [[1.5], [2.5, None, 1.5]],
        [[Decimal("1.5")], [Decimal("2.5"), None]],
        [[None], [None, None]],
        [[], [3, 2**60]],
        [[]],
    ],
    ids=["text", "truth values", "numbers", "decimals", "nothing", "an empty part", "no rows"],
)
def test_a_column_that_comes_in_parts_is_numbered_as_one(parts):
    every = [value for part in parts for value in part]
    kind = pa.array(every).type
    coding = sparkcolumns._Coding()
    for part in parts:
        coding.add(pa.chunked_array([pa.array(part, kind)]))
    codes, values = coding.done()
    assert [values[code] for code in codes] == every
    assert len(set(values)) == len(values)
