# SPDX-License-Identifier: Apache-2.0
"""Values of each fold of a plan: answers from folds of one data set are compared fold by fold, never pooled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from assay.conduct.fold_tallies import FoldTally
from assay.core.errors import PlanError
from assay.core.text import counted
from assay.core.traits import Better
from assay.core.values import Undefined
from assay.measures import Measure, parse
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.joins.threshold_labels import Cut
from assay.tally.labels.confusion import Confusion

if TYPE_CHECKING:
    from assay.assess.plan.checked_plan import LoadedPlan
    from assay.core.labels import Label
    from assay.tally.data.split_counts import SplitRows

SCHEMES: Final = ("k-fold", "repeated-k-fold", "leave-one-out", "nested", "5x2")
"""Validation schemes with folds."""
FOLD, ROUND = "fold", "repetition"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedModel:
    """A model whose answers may come from folds: its rows, what it called, and the classes."""

    name: str
    rows: SplitRows | None
    called: str | Cut
    labels: tuple[Label, ...]
    positive: Label | None


def fold_values(loaded: LoadedPlan, models: Sequence[FoldedModel], folds: SplitRows | None) -> dict[str, Any] | None:
    """What fold-wise tests are given, where the test rows lie in folds; None where the folds are of other rows."""
    plan = loaded.plan
    if plan.tuning.scheme not in SCHEMES:
        return None
    measure = _measure(plan.metrics.primary, positive=models[0].positive is not None)
    values: dict[str, list[float]] = {}
    places: list[tuple[Any, ...]] = []
    rows = 0
    for model in models:
        cells = _cells(loaded, model, folds)
        if cells is None:
            _demand_folds(loaded)
            return None
        if places and list(cells) != places:
            raise PlanError("comparison-needs", "the models were tested on different folds", fix="use one fold table")
        places, rows = list(cells), sum(sum(part.values()) for part in cells.values())
        values[model.name] = [_value(model, part, measure, place) for place, part in cells.items()]
    sizes = {place[0]: sum(other[0] == place[0] for other in places) for place in places}
    k = max(sizes.values())
    if min(sizes.values()) != k or k < 2:  # noqa: PLR2004
        raise PlanError("comparison-needs", "the repetitions have different numbers of folds", fix="correct the table")
    five = plan.tuning.scheme == "5x2"
    return {
        "values": values, "per": "5x2" if five else FOLD, "rows": rows // len(sizes),
        "lower_is_better": measure.better is Better.LOWER,
    } | ({} if five else {"folds": k})  # fmt: skip


def _demand_folds(loaded: LoadedPlan) -> None:
    """Folds that are not those of the test rows: fine for a trained model, no basis for a claim about algorithms."""
    if loaded.plan.purpose.estimand == "algorithm":
        raise PlanError(
            "comparison-needs",
            "values of folds are compared fold by fold, and nothing tells the fold of each test row",
            fix=f'give the predictions a column "{FOLD}" (and "{ROUND}"), or name tuning.folds and columns.id',
        )


def _measure(primary: str | None, *, positive: bool) -> Measure:
    """The primary measure where labels show it, else accuracy."""
    measure = parse(primary or "accuracy")
    fits = measure.from_labels and not measure.from_scores and (positive or measure.average is not None)
    return measure if fits or measure.name == "accuracy" else parse("accuracy")


def _cells(
    loaded: LoadedPlan, model: FoldedModel, folds: SplitRows | None
) -> dict[tuple[Any, ...], dict[tuple[Label, Label], int]] | None:
    """By repetition and fold: rows by truth and answer; None where the rows are not in folds."""
    columns, table = loaded.plan.columns, model.rows
    if table is None or columns.truth is None:
        return None
    truth, called = quote_identifier(columns.truth), _call(model)
    if table.has(FOLD):
        round_ = quote_identifier(ROUND) if table.has(ROUND) else "1"
        cells = table.opened.fetch(f"SELECT {round_}, {FOLD}, {truth}, {called}, count(*) FROM rows GROUP BY ALL")  # noqa: S608
        return _by_fold(model, cells)
    if folds is None or columns.id is None or not folds.has(columns.id, FOLD) or folds.has("inner"):
        return None
    name = quote_identifier(columns.id)
    place = {str(id_): fold for id_, fold in folds.opened.fetch(f"SELECT {name}, {FOLD} FROM rows")}  # noqa: S608
    rows = table.opened.fetch(f"SELECT {name}, {truth}, {called} FROM rows")  # noqa: S608  quoted
    if folds.rows() > len(place) or any(str(id_) not in place for id_, *_ in rows):
        return None  # several repetitions, or rows that are in no fold
    return _by_fold(model, [(1, place[str(id_)], truth, answer, 1) for id_, truth, answer in rows])


def _call(model: FoldedModel) -> str:
    """The answer of a model, as its engine reads it: a column, or what a threshold makes of scores."""
    if isinstance(model.called, str):
        return quote_identifier(model.called)
    cut = model.called
    yes, no = ("'" + str(label).replace("'", "''") + "'" for label in (cut.positive, cut.negative))
    return (
        f"CASE WHEN CAST({quote_identifier(cut.score)} AS DOUBLE) >= {float(cut.threshold)!r} THEN {yes} ELSE {no} END"
    )


def _by_fold(
    model: FoldedModel, rows: Sequence[tuple[Any, ...]]
) -> dict[tuple[Any, ...], dict[tuple[Label, Label], int]]:
    known = {str(label): label for label in model.labels}
    by_fold: dict[tuple[Any, ...], dict[tuple[Label, Label], int]] = {}
    in_order = sorted(
        rows, key=lambda row: [(len(str(part_of_place)), str(part_of_place)) for part_of_place in row[:2]]
    )
    for round_, fold, truth, answer, n in in_order:
        pair = known.get(str(truth)), known.get(str(answer))
        if pair[0] is None or pair[1] is None or fold is None:
            raise PlanError(
                "comparison-needs", f"{model.name}: rows without a fold, a truth or an answer", fix="complete them"
            )
        part = by_fold.setdefault((round_, fold), {})
        part[pair[0], pair[1]] = part.get((pair[0], pair[1]), 0) + int(n)
    return by_fold


def _value(model: FoldedModel, cells: Mapping[tuple[Label, Label], int], measure: Measure, place: object) -> float:
    tally = FoldTally(confusion=Confusion.from_cells(cells, labels=model.labels), positive=model.positive)
    value = tally.value(measure)
    if isinstance(value, Undefined):
        raise PlanError(
            "comparison-needs",
            f"{measure.title} of {model.name} is undefined in {counted(1, 'fold')}: {value.reason}",
            where=f"repetition and fold {place}",
            fix="plan another primary measure, or fewer, larger folds",
        )
    return float(value.value)
