# SPDX-License-Identifier: Apache-2.0
"""What a comparison demands of what was given, and the classes that all its models agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from assay.assess.compare.questions.request import Asked
from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label, in_order, speller
from assay.core.text import counted, listed, quoted
from assay.inference.units.class_score_units import OF_CLASSES
from assay.measures.declare import Measure
from assay.rows.label_types import Classes, classes, kind_of
from assay.rows.score_columns import ScoreColumns, labels_by_score
from assay.rows.source import Source
from assay.tally.labels.row_costs import Priced
from assay.tally.paired.joint_counts import Cell, is_held, rows_of
from assay.tally.scores.ranked_table import Ranked
from assay.tasks.classification.settings import chosen

if TYPE_CHECKING:
    from assay.assess.compare.model_columns import Paired

PAIR: Final = 2
BINARY_MEASURES: Final = ("precision", "f1", "matthews_corrcoef")
CLASS_MEASURES: Final = ("f1_macro", "matthews_corrcoef")
PREDICTED: Final = 'give predicted={"A": ..., "B": ...}'
BY_CLASS: Final = 'give one column for each class: score={"A": {label: column, ...}, "B": {...}}'
COSTS: Final = 'state it: costs={("truth", "predicted"): 5, ...} (--cost TRUTH PREDICTED NUMBER, or --costs FILE)'


def demand_two(models: Sequence[str]) -> None:
    """One model alone is compared with nothing."""
    if len(models) < PAIR:
        raise PlanError(
            "comparison-needs",
            f"there {'is only ' + quoted(models[0]) if models else 'are no models'}, and a comparison needs two",
            fix="give two models at least",
        )


def demand_values(
    measures: Sequence[Measure] | None, *, labels: bool, scores: bool, classwise: bool = False, costs: bool = False
) -> None:
    """A measure that was asked for must have what it reads: predictions, scores of two classes or of all, costs."""
    if costs and not labels:
        raise PlanError("comparison-needs", "costs are of predictions", where="costs", fix=f"{PREDICTED} (--predicted)")
    for measure in measures or ():
        for there, takes, reads, fix in (
            (scores, measure.takes is Ranked, "reads scores of two classes", 'give score={"A": ..., "B": ...}'),
            (classwise, measure.takes in OF_CLASSES, "reads the scores of all classes, of three at least", BY_CLASS),
            (costs, measure.takes is Priced, "needs what each mistake costs", COSTS),
            (labels, not measure.from_scores, "reads predictions", PREDICTED),
        ):
            if takes and not there:
                raise PlanError("comparison-needs", f"{measure.title} {reads}", fix=fix)


def unpriced(measures: Sequence[Measure] | None) -> tuple[Measure, ...] | None:
    """The measures without those of costs, which are asked for by stating costs."""
    return None if measures is None else tuple(one for one in measures if one.takes is not Priced)


def demand_complete(paired: Paired, cells: Mapping[Cell, int]) -> None:
    """Every model must have answered every row; who left rows out is told by name."""
    names = ("truth", *paired.models)
    lost = {name: sum(n for cell, n in cells.items() if cell[i] is None) for i, name in enumerate(names) if cells}
    if paired.truth is not None and not cells:
        lost = {"truth": paired.truth.count(None)}
    if paired.joint is not None and not cells:
        lost = {"truth": paired.joint.truth.get(None, 0)}
    lost = {name: n for name, n in lost.items() if n}
    if lost:
        raise RowsError(
            "missing-label",
            f"{counted(max(lost.values()), 'row')} {'has' if max(lost.values()) == 1 else 'have'} no label",
            where=paired.where,
            found="; ".join(f"{name}: {counted(n, 'row')}" for name, n in lost.items()),
            fix="every model must answer every row of its test data; leave such rows out for all before comparing",
        )


def demand_one_kind(true: set[Label | None], called: set[Label | None], paired: Paired) -> None:
    """Truth and all predictions hold labels of one type."""
    kinds = {
        kind_of(cast("set[Label]", some), where=paired.where, locate=lambda *_: "", role=role)
        for role, some in (("truth", true), ("predicted", called))
        if some
    }
    if len(kinds) > 1:
        sides = {"truth": in_order(cast("set[Label]", true)), "predicted": in_order(cast("set[Label]", called))}
        shown = "; ".join(f"{role}: {listed(some, most=3)}" for role, some in sides.items())
        raise RowsError(
            "label-types-differ",
            "truth and predictions hold labels of different types",
            where=paired.where,
            found=shown,
            fix='make all of them one type, for instance text; 1 and "1" are different labels',
        )


def demand_holdable(source: Source, most: int, why: str, cells: Mapping[Cell, int] | None = None) -> None:
    """Demand that no more rows are to be held one by one than were allowed; those in memory are held already."""
    if is_held(source):
        return
    rows = sum(cells.values()) if cells is not None else rows_of(source)
    if rows > most:
        raise PlanError(
            "comparison-needs",
            f"{why}, and {rows:,} of them would have to be held in memory",
            where=source.where,
            known=f"{most:,} rows are held unless more are allowed",
            fix="allow as many, about 100 bytes a row: exact_scores=NUMBER (--exact-scores NUMBER)",
        )


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
    """The classes of a comparison, and the scores of each model in their order."""

    classes: Classes
    scores: dict[str, Any] | None
    """One column a model where there are two classes, and one for each class where there are more."""
    classwise: bool


def agree_on_classes(
    truth: set[Label | None],
    called: set[Label | None],
    scores: dict[str, Any] | None,
    columns: Mapping[str, ScoreColumns] | None,
    declared: Declared,
    *,
    where: str,
) -> Agreed:
    """Settle the classes of all models from what is declared and from what the rows hold."""
    labels, positive = declared.labels, declared.positive
    if declared.spelled:
        own = speller({label for label in (*truth, *called) if label is not None})
        labels = None if labels is None else [own(label) for label in labels]
        positive = None if positive is None else own(positive)
        columns = {
            model: one if one.labels is None else replace(one, labels=tuple(own(label) for label in one.labels))
            for model, one in (columns or {}).items()
        }
    by_score = _scored_classes(columns, cast("set[Label]", truth | called), labels)
    settled = classes(
        truth=cast("set[Label]", truth),
        predicted=cast("set[Label]", (called or truth) | {label for own in by_score.values() for label in own}),
        declared=labels,
        positive=positive,
        unknown="error",
        where=where,
        locate=lambda *_: "",
    )
    if not by_score or scores is None:
        return Agreed(classes=settled, scores=scores, classwise=False)
    return Agreed(classes=settled, scores=_in_order(scores, by_score, settled), classwise=settled.positive is None)


def _in_order(matrices: Mapping[str, Any], scored: Mapping[str, tuple[Label, ...]], settled: Classes) -> dict[str, Any]:
    """The score columns of every model in the order of the classes; of two classes the one of the positive class."""
    if settled.positive is not None:
        return {model: matrices[model][:, own.index(settled.positive)] for model, own in scored.items()}
    return {model: matrices[model][:, [own.index(c) for c in settled.labels]] for model, own in scored.items()}


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


def _scored_classes(
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
