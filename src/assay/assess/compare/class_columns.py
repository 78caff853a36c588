# SPDX-License-Identifier: Apache-2.0
"""Score columns of all classes, several models: which class each belongs to, and all of them in one order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from assay.assess.compare.comparison_requirements import demand_values, unpriced
from assay.assess.compare.questions.request import Asked
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import listed
from assay.core.typed_labels import speller
from assay.measures.declare import Measure
from assay.rows.label_types import Classes, classes
from assay.rows.score_columns import ScoreColumns, labels_by_score
from assay.tasks.classification.settings import chosen

BINARY_MEASURES: Final = ("precision", "f1", "matthews_corrcoef")
CLASS_MEASURES: Final = ("f1_macro", "matthews_corrcoef")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The classes as they were declared, and the measures that were asked for."""

    labels: Sequence[Label] | None
    positive: Label | None
    measures: tuple[Measure, ...] | None
    spelled: bool
    """Whether labels are text that is matched to the type of the data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """The classes of a comparison, and which score column belongs to which class, by model."""

    classes: Classes
    columns: Mapping[str, ScoreColumns] | None
    by_score: Mapping[str, tuple[Label, ...]]


def agree_on_classes(
    truth: set[Label | None],
    called: set[Label | None],
    columns: Mapping[str, ScoreColumns] | None,
    declared: Declared,
    where: str,
) -> Agreed:
    """Settle the classes of all models from what is declared and from what the rows hold."""
    labels, positive = declared.labels, declared.positive
    if declared.spelled:
        own = speller({label for label in (*truth, *called) if label is not None})
        labels = None if labels is None else [own(label) for label in labels]
        positive = None if positive is None else own(positive)
        columns = None if columns is None else spelled_classes(columns, own)
    by_score = scored_classes(columns, cast("set[Label]", truth | called), labels)
    settled = classes(
        truth=cast("set[Label]", truth),
        predicted=cast("set[Label]", (called or truth) | {label for own in by_score.values() for label in own}),
        declared=labels,
        positive=positive,
        unknown="error",
        where=where,
        locate=lambda *_: "",
    )
    return Agreed(classes=settled, columns=columns, by_score=by_score)


def fit_request(
    asked: Asked, declared: Declared, settled: Classes, *, labels: bool, scores: bool, classwise: bool, pair: bool
) -> Asked:
    """Add costs and measures to a request, once the classes are known; `pair` adds the usual measures."""
    costs = None if asked.costs is None else asked.costs.fitted(settled.labels, spelled=declared.spelled)
    demand_values(declared.measures, labels=labels, scores=scores, classwise=classwise, costs=costs is not None)
    measures = unpriced(declared.measures)
    if measures is None and pair:
        measures = chosen(BINARY_MEASURES if settled.positive is not None else CLASS_MEASURES)
    return replace(asked, costs=costs, measures=measures or ())


def check_one_score(settled: Classes) -> None:
    """Check that one score a row is of two classes."""
    if settled.positive is None:
        raise PlanError(
            "comparison-needs",
            f"there is one score a row, and there are {len(settled.labels)} classes",
            fix='give one column for each class: score={"A": {label: column, ...}, "B": {...}} '
            "(--score LABEL=COLUMN), or compare one class against the rest",
        )


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
    classes_by_model = {model: labels_by_score(one, seen, declared) for model, one in (columns or {}).items()}
    if len({frozenset(own) for own in classes_by_model.values()}) > 1:
        raise PlanError(
            "score-columns",
            "the models do not score the same classes",
            where="score",
            found="; ".join(f"{model}: {listed(own)}" for model, own in classes_by_model.items()),
            fix="give every model one column for each class",
        )
    return classes_by_model


def in_order_of_classes(
    matrices: Mapping[str, Any], scored: Mapping[str, tuple[Label, ...]], settled: Classes
) -> dict[str, Any]:
    """The score columns of every model in the order of the classes; of two classes the one of the positive class."""
    if settled.positive is not None:
        return {model: matrices[model][:, own.index(settled.positive)] for model, own in scored.items()}
    return {model: matrices[model][:, [own.index(c) for c in settled.labels]] for model, own in scored.items()}
