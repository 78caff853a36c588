# SPDX-License-Identifier: Apache-2.0
"""Columns written as a Parquet file by the embedded engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from assay.core.errors import EngineError
from assay.core.text import visible
from assay.rows.engines.duckdb_engine import quote_identifier, quote_literal

TYPES = {"text": "VARCHAR", "real": "DOUBLE", "whole": "BIGINT"}


def parquet(columns: Mapping[str, tuple[str, Sequence[Any]]]) -> bytes:
    """A Parquet file of some columns, each `text`, `real` or `whole`, with None where there is nothing."""
    import duckdb

    arrays = {f"c{i}": _array(kind, values) for i, (kind, values) in enumerate(columns.values())}
    casts = enumerate(columns.items())
    picked = ", ".join(f"CAST(c{i} AS {TYPES[kind]}) AS {quote_identifier(name)}" for i, (name, (kind, _)) in casts)
    with TemporaryDirectory(prefix="assay-") as folder:
        goal = Path(folder) / "table.parquet"
        # One thread, so that the rows keep their order and the file its bytes.
        config: dict[str, Any] = {
            "threads": "1",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        try:
            with duckdb.connect(":memory:", config=config) as connection:
                connection.register("given", arrays)
                target = quote_literal(str(goal))
                connection.execute(f"COPY (SELECT {picked} FROM given) TO {target} (FORMAT parquet)")  # noqa: S608  quoted
        except (duckdb.Error, UnicodeError) as error:
            raise EngineError(
                "engine-failed",
                "the engine could not write the table",
                found=visible(error),
                fix="write it as .csv or .json",
            ) from error
        return goal.read_bytes()


def _array(kind: str, values: Sequence[Any]) -> np.ndarray[Any, Any]:
    if kind == "text":
        return np.array(values, dtype=object)
    blank = [one is None for one in values]
    filled = [0 if one is None else one for one in values]
    return np.ma.array(filled, mask=blank, dtype=np.float64 if kind == "real" else np.int64)
