# SPDX-License-Identifier: Apache-2.0
"""Where and with what an assessment was computed."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from assay.inference.resampling import GENERATOR

PACKAGES = ("assay", "numpy", "scipy", "narwhals", "duckdb", "pandas", "polars", "pyarrow")


def environment() -> dict[str, Any]:
    """Interpreter, machine and the versions of what counts."""
    return {
        "counted_at": datetime.now(tz=UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "byte_order": sys.byteorder,
        "generator": GENERATOR.__name__,
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
