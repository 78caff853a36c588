# SPDX-License-Identifier: Apache-2.0
"""What a path on the command line is: a Record, a plan, or predictions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from assay.core.errors import PlanError
from assay.core.text import visible

PLANS: Final = (".toml", ".yaml", ".yml")
"""How the name of a plan ends; one in JSON is told by what it holds."""
HEAD: Final = 4096


def is_plan(path: str, *, columns: bool) -> bool:
    """By its name; .json may also be a Record or JSON lines, and is predictions where columns are named."""
    name = path.lower()
    return name.endswith(PLANS) or (name.endswith(".json") and not columns and not is_record(path))


def columns_named(given: Mapping[str, Any]) -> bool:
    """Whether options name columns of predictions."""
    return any(given.get(role) is not None for role in ("truth", "predicted"))


def is_record(path: str) -> bool:
    """A JSON object that says it is a Record; JSON lines of predictions and plans do not."""
    if not path.lower().endswith(".json"):
        return False
    try:
        with Path(path).open("rb") as file:
            head = file.read(HEAD).decode("utf-8", "replace")
    except OSError:
        return True  # what cannot be read is told of when it is loaded
    return '"assay"' in head and '"kind"' in head and not _is_line(head)


def refuse_records(paths: Iterable[str]) -> None:
    """A Record holds results, and cannot be assessed again."""
    for path in paths:
        if Path(path).is_file() and is_record(path):
            fix = f"assay report {visible(path)} -o report.html, assay verify {visible(path)}, or assay gate"
            raise PlanError("role-clash", "the file is a Record, the result of a run", where=visible(path), fix=fix)


def _is_line(head: str) -> bool:
    """Whether the first line is a JSON object of its own, as in JSON lines."""
    first = head.splitlines()[0] if head.strip() else ""
    try:
        return isinstance(json.loads(first), dict) and "tallies" not in first
    except ValueError:
        return False
