# SPDX-License-Identifier: Apache-2.0
"""From rows, scores or values of several models to a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from assay.assess.answering import answered
from assay.assess.asking import Asked
from assay.assess.classcolumns import in_order_of_classes, scored_classes, spelled_classes
from assay.assess.comparison import Comparison
from assay.assess.costs import Costs
from assay.assess.demanding import PAIR, demand_complete, demand_one_kind, demand_values, unpriced
from assay.assess.environment import environment
from assay.assess.meeting import apart
from assay.assess.pairing import (
    Given,
    Paired,
    by_own_ids,
    channels,
    is_table,
    named,
    together,
)
from assay.assess.selecting import selected
from assay.assess.separating import compare_apart
from assay.assess.settings import chosen, demand_choice
from assay.assess.spelling import speller
from assay.assess.valuing import Valued, compare_values
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.inference.intervals import Wanted
from assay.inference.resampling import SEED
from assay.inference.swapping import DRAWS
from assay.rows.labels import Classes, classes
from assay.rows.opening import no_rows
from assay.tally.census import Census
from assay.tally.codes import Codes
from assay.tally.paired import PairedLabels
from assay.tally.pairedrows import PairedRows
from assay.tally.pairedscores import PairedScores
from assay.tally.ranked import Ranked
from assay.tally.scoring import EXACT

if TYPE_CHECKING:
    from assay.measures import Measure
    from assay.rows.files import Reading
    from assay.rows.limits import Limits

BINARY_MEASURES: Final = ("precision", "f1", "matthews_corrcoef")
CLASS_MEASURES: Final = ("f1_macro", "matthews_corrcoef")


def compare(
    *tables: object,
    truth: object = None,
    predicted: object = None,
    score: object = None,
    values: object = None,
    model: object = None,
    data: object = None,
    truth_data: object = None,
    id: object = None,
    positive: Label | None = None,
    labels: Sequence[Label] | None = None,
    channel: object = None,
    subject: object = None,
    weight: object = None,
    measures: Iterable[str | Measure] | str | None = None,
    costs: object = None,
    per: str = "item",
    independent: bool = False,
    lower_is_better: bool = False,
    folds: int | None = None,
    rows: int = 0,
    test_over_train: object = None,
    level: float = 0.95,
    correction: str = "holm",
    margin: float | None = None,
    equivalence: bool = False,
    variance: bool = False,
    test: str | None = None,
    because: str | None = None,
    override: bool = False,
    accept_dependence: bool = False,
    control: str | None = None,
    stratified: bool = False,
    pairing: Literal["id", "position"] | None = None,
    unmatched: Literal["error", "count"] = "error",
    seed: int = SEED,
    draws: int = DRAWS,
    exact_scores: int = EXACT,
    reading: Reading | None = None,
    table: object = None,
    query: object = None,
    engine: str | None = None,
    limits: Limits | None = None,
    spelled: bool = False,
) -> Comparison:
    """Two models or more on the same test data: the admissible test, its effect with an interval, corrected p values.

    Predictions, scores or values are given by model: predicted={"A": ..., "B": ...}. Tables of their own, compare(a, b)
    or data={"A": ..., "B": ...}, are matched by id, and so are columns with id={"A": ..., "B": ...}. Values that were
    measured elsewhere are columns, too, or stand one below the other beside the names of their models (model=).
    With `truth_data`, truth is in a table of its own, for all models or by model, and meets the predictions by id; of
    rows that have no partner there, `unmatched` says whether they are an error or left out.
    A database has a table or a query for all models, or one a model: table={"A": "preds_1", "B": "preds_2"}.
    `costs` states what each mistake costs, as in `assess`, and asks whose mistakes cost less.
    Paths are read by the embedded engine within `limits`, or by the one that `engine` names, as in `assess`. Where a
    file or frame holds more distinct scores than `exact_scores`, AUROC is compared from scores rounded to 9 bits; of
    more rows of subjects, or with weights, than that, labels are compared from sums over the units.

    >>> c = compare(truth=[1, 1, 1, 0, 0], predicted={"A": [1, 1, 1, 0, 0], "B": [1, 0, 0, 0, 1]})
    >>> c["mcnemar"].p
    0.25
    """
    Wanted(level=level, seed=seed, draws=draws)  # the same checks as for an assessment
    demand_choice("unmatched", unmatched)
    asked = Asked(
        level=level,
        correction=correction,
        margin=margin,
        equivalence=equivalence,
        variance=variance,
        test=test,
        because=because,
        override=override,
        accept_dependence=accept_dependence,
        control=control,
        draws=draws,
        seed=seed,
        stratified=stratified,
        rows=rows,
        costs=Costs.read(costs),
    )
    if values is not None:
        if costs is not None:
            told = "give predictions, or leave the costs out"
            raise PlanError("role-clash", "costs are of predictions, and values are given", where="costs", fix=told)
        if any(one is not None for one in (truth, truth_data, predicted, score)):
            raise PlanError(
                "role-clash", "both values and predictions are given", fix="give values of a measure, or predictions"
            )
        alone = len(tables) == 1 and data is None
        found = selected(tables[0] if alone else named(tables, data), reading, table, query)
        given_values = Valued(
            values=values, data=found.data, model=model,
            id=id, subject=subject, pairing=pairing, reading=found.reading, readings=found.readings, per=per,
            independent=independent, lower_is_better=lower_is_better, folds=folds, test_over_train=test_over_train,
            engine=engine, limits=limits,
        )  # fmt: skip
        return compare_values(given_values, asked)
    if predicted is None and score is None:
        raise PlanError(
            "role-missing",
            "neither predictions nor scores nor values are given",
            fix='give predicted={"A": ..., "B": ...}, score={...} or values={...}',
        )
    if truth is None:
        raise PlanError("role-missing", "no truth is given", where="truth", fix="give truth=...")
    found = selected(named(tables, data), reading, table, query)
    data = found.data
    given = Given(
        truth=truth, predicted=predicted, score=score, id=id, channel=channel, subject=subject, weight=weight,
        pairing=pairing, reading=found.reading, readings=found.readings, engine=engine, limits=limits,
        labels=labels, spelled=spelled, exact=exact_scores, truth_data=truth_data, unmatched=unmatched,
        by_row=tuple(one.title for one in chosen(measures) or () if one.takes is Ranked and one.name != "auroc"),
    )  # fmt: skip
    if independent:
        usual = {True: chosen(BINARY_MEASURES) or (), False: chosen(CLASS_MEASURES) or ()}
        return compare_apart(
            data, given, asked, labels=labels, positive=positive, measures=chosen(measures), usual=usual,
            spelled=spelled,
        )  # fmt: skip
    if isinstance(id, Mapping):
        data, given = by_own_ids(data, given)
    paired = apart(data, given) if isinstance(data, Mapping) and not is_table(data) else together(data, given)
    paired = replace(paired, selected=found.told())
    return _compared(paired, asked, labels, positive, measures, spelled=spelled, limits=limits)


def _compared(
    paired: Paired,
    asked: Asked,
    labels: Sequence[Label] | None,
    positive: Label | None,
    measures: Iterable[str | Measure] | str | None,
    *,
    spelled: bool,
    limits: Limits | None,
) -> Comparison:
    cells = {cell[: len(paired.models) + 1]: 0 for cell in paired.cells or {}}
    for cell, n in (paired.cells or {}).items():
        cells[cell[: len(paired.models) + 1]] += n
    seen = paired.joint.truth if paired.joint is not None else {}
    rows = sum(cells.values()) if paired.cells is not None else sum(seen.values()) or len(paired.truth or ())
    if not rows:
        raise no_rows(paired.where)
    demand_complete(paired, cells)
    true = {c[0] for c in cells} if cells else set(seen) if paired.truth is None else paired.truth.seen()
    called = {label for c in cells for label in c[1:]}
    if spelled:
        own = speller({label for label in (*true, *called) if label is not None})
        labels = None if labels is None else [own(label) for label in labels]
        positive = None if positive is None else own(positive)
        paired = replace(paired, columns=None if paired.columns is None else spelled_classes(paired.columns, own))
    demand_one_kind(true, called, paired)
    scored = scored_classes(paired.columns, cast("set[Label]", true | called), labels)
    settled = classes(
        truth=cast("set[Label]", true),
        predicted=cast("set[Label]", (called or true) | {label for own in scored.values() for label in own}),
        declared=labels,
        positive=positive,
        unknown="error",
        where=paired.where,
        locate=lambda *_: "",
    )
    if scored:
        ordered = in_order_of_classes(cast("dict[str, Any]", paired.scores), scored, settled)
        paired = replace(paired, scores=ordered, columns=None if settled.positive is not None else paired.columns)
    asked_for = chosen(measures)
    two = paired.joint is not None or (paired.scores is not None and paired.columns is None)
    if two and settled.positive is None and paired.lines is None:
        raise PlanError(
            "comparison-needs",
            f"there is one score a row, and there are {len(settled.labels)} classes",
            fix='give one column for each class: score={"A": {label: column, ...}, "B": {...}} '
            "(--score LABEL=COLUMN), or compare one class against the rest",
        )
    asked = replace(asked, costs=None if asked.costs is None else asked.costs.fitted(settled.labels, spelled=spelled))
    stated = asked.costs is not None
    demand_values(asked_for, labels=bool(cells), scores=two, classwise=paired.columns is not None, costs=stated)
    asked_for = unpriced(asked_for)
    held = _held(paired, cells, settled)
    if asked_for is None and "paired" in held and len(paired.models) == PAIR:
        asked_for = chosen(BINARY_MEASURES if settled.positive is not None else CLASS_MEASURES)
    asked = replace(asked, measures=asked_for or ())
    return Comparison(
        answers=tuple(answered(held, asked, settled.positive, {})),
        asked=asked,
        models=paired.models,
        labels=settled.labels,
        positive=settled.positive,
        census=Census(read=rows, scored=rows),
        **held,
        notes=(*settled.notes, *paired.notes),
        data={"from": paired.named, "pairing": paired.how, "files": dict(paired.files or {}), **paired.selected},
        proof=paired.proof,
        found_in=environment(limits),
    )


def _held(paired: Paired, cells: Mapping[tuple[Label | None, ...], int], settled: Classes) -> dict[str, Any]:
    """The tallies: joint cells and scores apart, or every row where rows are of subjects or have weights."""
    held: dict[str, Any] = {}
    if paired.sums is not None:
        held["rows"] = paired.sums.of(paired.models, settled.labels)
        return held
    if paired.lines is not None:
        if paired.channel:
            told = "leave out channel, or the subject"
            raise PlanError("comparison-needs", "channels are compared on rows of their own", fix=told)
        given = paired.lines
        held["rows"] = PairedRows.of(
            truth=given.truth,
            labels=settled.labels,
            models=paired.models,
            calls=given.calls if paired.cells is not None else None,
            scores=paired.scores,
            subject=given.subject,
            weight=given.weight,
        )
        return held
    if cells:
        held["paired"] = PairedLabels.from_cells(
            cast("dict[tuple[Label, ...], int]", cells), models=paired.models, labels=settled.labels
        )
    if cells and paired.channel:
        held["channels"] = channels(paired, settled.labels)
    if paired.columns is not None:
        held["rows"] = PairedRows.of(
            truth=paired.truth or (), labels=settled.labels, models=paired.models, scores=paired.scores
        )
    elif paired.joint is not None:
        held["scores"] = paired.joint.for_positive(settled.positive)
    elif paired.scores is not None:
        held["scores"] = PairedScores.of(cast("Codes", paired.truth).are(settled.positive), paired.scores)
    return held
