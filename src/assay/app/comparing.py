# SPDX-License-Identifier: Apache-2.0
"""Comparing models from the command line: one file a model, or one file with a column a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import assay
from assay.core.errors import PlanError
from assay.core.text import listed, quoted

if TYPE_CHECKING:
    from assay.assess.comparison import Comparison


def compare_files(tables: Sequence[str], **given: Any) -> Comparison:  # noqa: ANN401  options by name
    """Compare models; labels typed as text are matched to the files' own type."""
    reading = assay.Reading(
        delimiter=given.pop("delimiter", None),
        decimal=given.pop("decimal", "."),
        show_ids=given.pop("show_ids", False),
    )
    predicted, score = list(given.pop("predicted", ())), list(given.pop("score", ()))
    measures, labels = list(given.pop("measures", ())), list(given.pop("labels", ()))
    by_position = given.pop("by_position", False)
    if given.get("truth") is None:
        raise PlanError("role-missing", "nobody said which column holds the truth", fix="--truth COLUMN")
    if not predicted and not score:
        raise PlanError(
            "role-missing",
            "nobody said which column holds the predictions or the scores",
            fix="--predicted COLUMN or --score COLUMN; for one file with a column a model --predicted NAME=COLUMN",
        )
    roles: dict[str, Any]
    if len(tables) == 1:
        roles = {
            "data": tables[0],
            "predicted": _by_model(predicted, "--predicted") or None,
            "score": _by_model(score, "--score") or None,
        }
    else:
        roles = {
            "data": _named(tables),
            "predicted": _one(predicted, "--predicted"),
            "score": _one(score, "--score"),
            "pairing": "position" if by_position else None,
        }
    return assay.compare(
        **roles, measures=measures or None, labels=labels or None, reading=reading, spelled=True, **given
    )


def _by_model(given: Sequence[str], option: str) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    wrong = [text for text, (_, mark, column) in zip(given, pairs, strict=True) if not mark or not column]
    if wrong:
        raise PlanError(
            "comparison-needs",
            f"with one file, {option} names a model and its column, not {quoted(wrong[0])}",
            fix=f"{option} A=COLUMN {option} B=COLUMN, or give one file a model",
        )
    found = {name: column for name, _, column in pairs}
    if len(found) != len(given):
        raise PlanError("role-clash", "two models have the same name", found=listed(given), fix="name them apart")
    return found


def _one(given: Sequence[str], option: str) -> str | None:
    if len(given) > 1:
        raise PlanError(
            "role-clash",
            f"{option} is given {len(given)} times, but every file has its own column",
            fix=f"give {option} COLUMN once: the column has the same name in every file",
        )
    return given[0] if given else None


def _named(tables: Sequence[str]) -> dict[str, str]:
    """Files under the name of their model: the stem where that tells them apart, else the path."""
    stems = [Path(table).stem for table in tables]
    names = stems if len(set(stems)) == len(stems) else list(tables)
    if len(set(names)) != len(names):
        raise PlanError(
            "role-clash", "the same file is given twice", found=listed(tables), fix="give every model its own file"
        )
    return dict(zip(names, tables, strict=True))
