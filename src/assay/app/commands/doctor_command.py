# SPDX-License-Identifier: Apache-2.0
"""What `assay doctor` looks at: versions, optional parts, and one real count on each engine that is there."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

CORE = ("numpy", "scipy", "narwhals", "duckdb", "click", "rich", "typst")
OPTIONAL = {
    "pandas": "pandas frames as data=",
    "polars": "Polars frames as data=",
    "psycopg": "PostgreSQL tables: pip install 'assay[postgres]'",
    "pyarrow": "PyArrow tables, Arrow IPC files: pip install 'assay[arrow]'",
}


def examined() -> list[tuple[str, str, str]]:
    """Part, state (ok, absent, broken), detail."""
    rows = [
        ("python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        _package("assay"),
    ]
    rows += [_package(name) for name in CORE]
    rows += [_package(name) if find_spec(name) else (name, "absent", gives) for name, gives in OPTIONAL.items()]
    return [*rows, _counts()]


def _package(name: str) -> tuple[str, str, str]:
    try:
        return name, "ok", version(name)
    except PackageNotFoundError:
        return name, "broken", "not installed"


def _counts() -> tuple[str, str, str]:
    import duckdb

    import assay

    truth, predicted = [1, 1, 0, 0, 1], [1, 0, 0, 1, 1]
    by_arrays = assay.assess(truth=truth, predicted=predicted).confusion
    relation = duckdb.connect().sql(f"select unnest({truth}) as t, unnest({predicted}) as p")
    by_engine = assay.assess(data=relation, truth="t", predicted="p").confusion
    same = by_arrays == by_engine
    return (
        "counting",
        "ok" if same else "broken",
        "arrays and DuckDB give the same tally" if same else "arrays and DuckDB disagree",
    )
