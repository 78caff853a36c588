# SPDX-License-Identifier: Apache-2.0
"""Where and with what an assessment was computed."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.inference.resampling import GENERATOR

if TYPE_CHECKING:
    from assay.rows.limits import Limits

PACKAGES = ("assay", "numpy", "scipy", "narwhals", "duckdb", "pandas", "polars", "pyarrow")


def environment(limits: Limits | None = None) -> dict[str, Any]:
    """Interpreter, machine, the versions of what counts, and the limits it was given, if any."""
    return {
        "counted_at": datetime.now(tz=UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "packages": {name: found for name in PACKAGES if (found := installed_version(name))},
        "byte_order": sys.byteorder,
        "generator": GENERATOR.__name__,
        "build": build(),
        **({} if limits is None else {"limits": limits.to_json()}),
    }


@cache
def build() -> str:
    """A digest of this program's own source, by which a Record tells whether the very same one computes it again."""
    here, source_hash = Path(__file__).parents[1], hashlib.sha256()
    folders = ((Path(folder).relative_to(here).parts, names) for folder, _, names in os.walk(here))
    files = [(*folder, name) for folder, names in folders for name in names if name.endswith((".py", ".toml"))]
    for parts in sorted(files):
        source_hash.update(f"{'/'.join(parts)}\0".encode())
        source_hash.update(here.joinpath(*parts).read_bytes().replace(b"\r\n", b"\n"))
    return source_hash.hexdigest()[:16]


@cache
def installed_version(name: str) -> str | None:
    """The version of an installed package; None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def own_version() -> str:
    """The version of this program."""
    return installed_version("assay") or "from source"
