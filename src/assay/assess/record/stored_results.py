# SPDX-License-Identifier: Apache-2.0
"""Results read back from their Records: an assessment, or a comparison of any task."""

from __future__ import annotations

import os
from typing import Final

from assay.assess.assessment import Assessment
from assay.assess.compare.comparison import Comparison
from assay.assess.compare.task_comparison import TaskComparison
from assay.assess.record.record import Record

CLASSIFIED: Final = ("binary", "multiclass", "values")
"""What Records of comparisons of classifiers, or of values from elsewhere, call their task."""


def load(path: str | os.PathLike[str]) -> Assessment | Comparison | TaskComparison:
    """The assessment or comparison a record.json was written from.

    path: the record.json"""  # noqa: D209
    record = Record.load(path)
    return Assessment.from_record(record) if record.get("kind") != "comparison" else restore_comparison(record)


def restore_comparison(record: Record) -> Comparison | TaskComparison:
    """The comparison a Record was written from, whatever its task."""
    return (Comparison if record.get("task") in CLASSIFIED else TaskComparison).from_record(record)
