# SPDX-License-Identifier: Apache-2.0
"""Two tables of the same samples, matched by id in the engine: counts by the values of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.opened_file import check_scalar

if TYPE_CHECKING:
    from assay.tally.data.split_counts import SplitRows


def beside(
    mine: SplitRows, other: SplitRows, key: str, columns: Sequence[str], theirs: Sequence[str]
) -> dict[tuple[str | None, ...], int]:
    """Rows by the values of some columns of both tables, as texts; samples that only one of them has are left out.

    Ids meet as hashes and leave neither engine.
    """
    for table, names in ((mine, columns), (other, theirs)):
        for name in (key, *names):
            check_scalar(table.opened, name)
    id_ = f"md5_number(CAST({quote_identifier(key)} AS VARCHAR))"
    halves = f"({id_} % 18446744073709551616)::UBIGINT AS low, ({id_} // 18446744073709551616)::UBIGINT AS high"
    there = ", ".join(f"CAST({quote_identifier(one)} AS VARCHAR) AS t{i}" for i, one in enumerate(theirs))
    held = other.opened.arrays(f"SELECT {halves}, {there} FROM rows")  # noqa: S608  quoted
    plain = {
        name: np.ma.filled(one.astype(object), None) if np.ma.isMaskedArray(one) else one for name, one in held.items()
    }
    here = ", ".join(f"CAST({quote_identifier(one)} AS VARCHAR) AS m{i}" for i, one in enumerate(columns))
    names = [*(f"m{i}" for i in range(len(columns))), *(f"t{i}" for i in range(len(theirs)))]
    connection = mine.opened.connection
    connection.register("assay_beside", plain)
    try:
        joined_rows = mine.opened.fetch(
            f"SELECT {', '.join(names)}, count(*) FROM (SELECT {halves}, {here} FROM rows) "  # noqa: S608  quoted
            "JOIN assay_beside USING (low, high) GROUP BY ALL"
        )
    finally:
        connection.unregister("assay_beside")
    return {tuple(row[:-1]): int(row[-1]) for row in joined_rows}
