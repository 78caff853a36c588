# SPDX-License-Identifier: Apache-2.0
"""What a comparison demands of what was given, and the classes that all its models agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from assay.assess.compare.questions.request import Asked
from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label, in_order, speller
from assay.core.text import counted, listed, quoted
from assay.inference.units.class_score_units import OF_CLASSES
from assay.measures.declare import Measure
from assay.rows.label_types import Classes, classes, kind_of
from assay.rows.score_columns import ScoreColumns, labels_by_score
from assay.rows.source import Source, no_rows
from assay.tally.labels.confusion import Priced
from assay.tally.paired.joint_counts import Cell, is_held, rows_of
from assay.tally.scores.ranked_table import Ranked
from assay.tasks.classification.settings import chosen

if TYPE_CHECKING:
    from assay.assess.compare.model_columns import Given, Paired

PAIR: Final = 2
BINARY_MEASURES: Final = ("precision", "f1", "matthews_corrcoef")
CLASS_MEASURES: Final = ("f1_macro", "matthews_corrcoef")
PREDICTED: Final = 'give predicted={"A": ..., "B": ...}'
BY_CLASS: Final = 'give one column for each class: score={"A": {label: column, ...}, "B": {...}}'
COSTS: Final = 'state it: costs={("truth", "predicted"): 5, ...} (--cost TRUTH PREDICTED NUMBER, or --costs FILE)'


def demand_two(models: Sequence[str]) -> None:
    """One model alone is compared with nothing."""
    if len(models) < PAIR:
        what = f"there {'is only ' + quoted(models[0]) if models else 'are no models'}, and a comparison needs two"
        raise PlanError("comparison-needs", what, fix="give two models at least")


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


def demand_complete(paired: Paired) -> None:
    """Every model must have answered every row; who left rows out is told by name."""
    if not paired.rows:
        raise no_rows(paired.where)
    cells = paired.label_cells()
    lost = {
        name: sum(n for cell, n in cells.items() if cell[i] is None) for i, name in enumerate(("truth", *paired.models))
    }
    if paired.lines is not None and not cells:
        lost = {"truth": paired.lines.truth.count(None)}
    if paired.joint is not None and not cells:
        lost = {"truth": paired.joint.truth.get(None, 0)}
    lost = {name: n for name, n in lost.items() if n}
    if lost:
        what = f"{counted(max(lost.values()), 'row')} {'has' if max(lost.values()) == 1 else 'have'} no label"
        shown = "; ".join(f"{name}: {counted(n, 'row')}" for name, n in lost.items())
        fix = "every model must answer every row of its test data; leave such rows out for all before comparing"
        raise RowsError("missing-label", what, where=paired.where, found=shown, fix=fix)


def demand_one_kind(true: set[Label | None], called: set[Label | None], where: str) -> None:
    """Truth and all predictions hold labels of one type."""
    kinds = {
        kind_of(cast("set[Label]", some), where=where, locate=lambda *_: "", role=role)
        for role, some in (("truth", true), ("predicted", called))
        if some
    }
    if len(kinds) > 1:
        sides = {"truth": in_order(cast("set[Label]", true)), "predicted": in_order(cast("set[Label]", called))}
        shown = "; ".join(f"{role}: {listed(some, most=3)}" for role, some in sides.items())
        what = "truth and predictions hold labels of different types"
        fix = 'make all of them one type, for instance text; 1 and "1" are different labels'
        raise RowsError("label-types-differ", what, where=where, found=shown, fix=fix)


def demand_holdable(source: Source, given: Given, what: str, cells: Mapping[Cell, int] | None) -> None:
    """Demand that no more rows are to be held one by one than were allowed; those in memory are held already."""
    if given.held or is_held(source):
        return
    rows = sum(cells.values()) if cells is not None else rows_of(source)
    if rows > given.exact:
        what += f" are compared one by one here, and {rows:,} of them would have to be held in memory"
        known = f"{given.exact:,} rows are held unless more are allowed"
        fix = "allow as many, about 100 bytes a row: exact_scores=NUMBER (--exact-scores NUMBER)"
        raise PlanError("comparison-needs", what, where=source.where, known=known, fix=fix)


def agree_on_classes(
    truth: set[Label | None],
    called: set[Label | None],
    columns: Mapping[str, ScoreColumns],
    given: Given,
    *,
    where: str,
) -> tuple[Classes, dict[str, tuple[Label, ...]]]:
    """Settle the classes of all models from what is declared and what the rows hold, and those of score columns."""
    labels, positive = given.labels, given.positive
    if given.reading.spelled:
        own = speller({label for label in (*truth, *called) if label is not None})
        labels = None if labels is None else [own(label) for label in labels]
        positive = None if positive is None else own(positive)
        columns = {model: one.spelled(own) for model, one in columns.items()}
    by_score = _scored_classes(columns, cast("set[Label]", truth | called), labels)
    scored = {label for own in by_score.values() for label in own}
    true, named = cast("set[Label]", truth), cast("set[Label]", (called or truth) | scored)
    return classes(true, named, labels, positive, where=where), by_score


def in_class_order(
    matrices: Mapping[str, Any], scored: Mapping[str, tuple[Label, ...]], settled: Classes
) -> dict[str, Any]:
    """The score columns of every model in the order of the classes; of two classes the one of the positive class."""
    if settled.positive is not None:
        return {model: matrix[:, scored[model].index(settled.positive)] for model, matrix in matrices.items()}
    return {model: matrix[:, [scored[model].index(c) for c in settled.labels]] for model, matrix in matrices.items()}


def fit_request(
    asked: Asked, given: Given, settled: Classes, *, labels: bool, scores: bool, classwise: bool, pair: bool
) -> Asked:
    """Add costs and measures to a request, once the classes are known; `pair` adds the usual measures."""
    costs = None if asked.costs is None else asked.costs.fitted(settled.labels, spelled=given.reading.spelled)
    demand_values(given.measures, labels=labels, scores=scores, classwise=classwise, costs=costs is not None)
    measures = given.measures and tuple(one for one in given.measures if one.takes is not Priced)  # asked for by costs
    if measures is None and pair:
        measures = chosen(BINARY_MEASURES if settled.positive is not None else CLASS_MEASURES)
    return replace(asked, costs=costs, measures=measures or ())


def check_one_score(settled: Classes) -> None:
    """Check that one score a row is of two classes."""
    if settled.positive is None:
        what = f"there is one score a row, and there are {len(settled.labels)} classes"
        fix = f"{BY_CLASS} (--score LABEL=COLUMN), or compare one class against the rest"
        raise PlanError("comparison-needs", what, fix=fix)


def _scored_classes(
    columns: Mapping[str, ScoreColumns], seen: set[Label], declared: Sequence[Label] | None
) -> dict[str, tuple[Label, ...]]:
    """The class of each score column, by model; all models must score the same classes."""
    classes_by_model = {model: labels_by_score(one, seen, declared) for model, one in columns.items()}
    if len({frozenset(own) for own in classes_by_model.values()}) > 1:
        what, fix = "the models do not score the same classes", "give every model one column for each class"
        shown = "; ".join(f"{model}: {listed(own)}" for model, own in classes_by_model.items())
        raise PlanError("score-columns", what, where="score", found=shown, fix=fix)
    return classes_by_model
