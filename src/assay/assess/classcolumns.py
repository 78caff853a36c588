# SPDX-License-Identifier: Apache-2.0
"""Score columns of all classes, several models: which class each belongs to, and all of them in one order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import listed
from assay.rows.labels import Classes
from assay.rows.scores import ScoreColumns, labels_by_score


def spelled_classes(columns: Mapping[str, ScoreColumns], own: Callable[[Label], Label]) -> dict[str, ScoreColumns]:
    """Classes of score columns that were typed as text, as the rows spell them."""
    return {
        model: replace(one, labels=None if one.labels is None else tuple(own(label) for label in one.labels))
        for model, one in columns.items()
    }


def scored_classes(
    columns: Mapping[str, ScoreColumns] | None, seen: set[Label], declared: Sequence[Label] | None
) -> dict[str, tuple[Label, ...]]:
    """The class of each score column, by model; all models must score the same classes."""
    found = {model: labels_by_score(one, seen, declared) for model, one in (columns or {}).items()}
    if len({frozenset(own) for own in found.values()}) > 1:
        raise PlanError(
            "score-columns",
            "the models do not score the same classes",
            where="score",
            found="; ".join(f"{model}: {listed(own)}" for model, own in found.items()),
            fix="give every model one column for each class",
        )
    return found


def in_order_of_classes(
    matrices: Mapping[str, Any], scored: Mapping[str, tuple[Label, ...]], settled: Classes
) -> dict[str, Any]:
    """The score columns of every model in the order of the classes; of two classes the one of the positive class."""
    if settled.positive is not None:
        return {model: matrices[model][:, own.index(settled.positive)] for model, own in scored.items()}
    return {model: matrices[model][:, [own.index(c) for c in settled.labels]] for model, own in scored.items()}
