# SPDX-License-Identifier: Apache-2.0
"""From rows, scores or values of several models to a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, cast

from assay.assess.asking import Asked
from assay.assess.comparison import Comparison
from assay.assess.pairing import (
    PAIR,
    Given,
    Paired,
    apart,
    by_own_ids,
    channels,
    demand_complete,
    demand_one_kind,
    demand_values,
    is_table,
    named,
    together,
)
from assay.assess.questions import of_labels, of_scores
from assay.assess.rowquestions import of_rows
from assay.assess.settings import chosen
from assay.assess.spelling import speller
from assay.assess.valuing import Valued, compare_values
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.inference.catalogue import every_test
from assay.inference.intervals import Wanted
from assay.inference.resampling import SEED
from assay.inference.swapping import DRAWS
from assay.rows.labels import Classes, classes
from assay.rows.opening import no_rows
from assay.tally.census import Census
from assay.tally.paired import PairedLabels
from assay.tally.pairedrows import PairedRows
from assay.tally.pairedscores import PairedScores
from assay.tally.pairing import Lines

if TYPE_CHECKING:
    from assay.measures import Measure
    from assay.rows.files import Reading

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
    id: object = None,
    positive: Label | None = None,
    labels: Sequence[Label] | None = None,
    channel: object = None,
    subject: object = None,
    weight: object = None,
    measures: Iterable[str | Measure] | str | None = None,
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
    seed: int = SEED,
    draws: int = DRAWS,
    reading: Reading | None = None,
    spelled: bool = False,
) -> Comparison:
    """Two models or more on the same test data: the admissible test, its effect with an interval, corrected p values.

    Predictions, scores or values are given by model: predicted={"A": ..., "B": ...}. Tables of their own, compare(a, b)
    or data={"A": ..., "B": ...}, are matched by id, and so are columns with id={"A": ..., "B": ...}. Values that were
    measured elsewhere are columns, too, or stand one below the other beside the names of their models (model=).

    >>> c = compare(truth=[1, 1, 1, 0, 0], predicted={"A": [1, 1, 1, 0, 0], "B": [1, 0, 0, 0, 1]})
    >>> c["mcnemar"].p
    0.25
    """
    Wanted(level=level, seed=seed, draws=draws)  # the same checks as for an assessment
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
    )
    if values is not None:
        if truth is not None or predicted is not None or score is not None:
            raise PlanError(
                "role-clash", "both values and predictions are given", fix="give values of a measure, or predictions"
            )
        given_values = Valued(
            values=values, data=tables[0] if len(tables) == 1 and data is None else named(tables, data), model=model,
            id=id, subject=subject, pairing=pairing, reading=reading, per=per, independent=independent,
            lower_is_better=lower_is_better, folds=folds, test_over_train=test_over_train,
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
    given = Given(
        truth=truth, predicted=predicted, score=score, id=id, channel=channel, subject=subject, weight=weight,
        pairing=pairing, reading=reading,
    )  # fmt: skip
    data = named(tables, data)
    if isinstance(id, Mapping):
        data, given = by_own_ids(data, given)
    paired = apart(data, given) if isinstance(data, Mapping) and not is_table(data) else together(data, given)
    return _compared(paired, asked, labels, positive, measures, spelled=spelled)


def _compared(
    paired: Paired,
    asked: Asked,
    labels: Sequence[Label] | None,
    positive: Label | None,
    measures: Iterable[str | Measure] | str | None,
    *,
    spelled: bool,
) -> Comparison:
    cells = {cell[: len(paired.models) + 1]: 0 for cell in paired.cells or {}}
    for cell, n in (paired.cells or {}).items():
        cells[cell[: len(paired.models) + 1]] += n
    rows = sum(cells.values()) if paired.cells is not None else len(paired.truth or [])
    if not rows:
        raise no_rows(paired.where)
    demand_complete(paired, cells)
    true = {c[0] for c in cells} if cells else set(paired.truth or [])
    called = {label for c in cells for label in c[1:]}
    if spelled:
        own = speller({label for label in (*true, *called) if label is not None})
        labels = None if labels is None else [own(label) for label in labels]
        positive = None if positive is None else own(positive)
    demand_one_kind(true, called, paired)
    settled = classes(
        truth=cast("set[Label]", true),
        predicted=cast("set[Label]", called or true),
        declared=labels,
        positive=positive,
        unknown="error",
        where=paired.where,
        locate=lambda *_: "",
    )
    asked_for = chosen(measures)
    if paired.lines is not None:
        demand_values(asked_for, labels=bool(cells), scores=paired.scores is not None)
        return _by_unit(paired, replace(asked, measures=asked_for or ()), settled, rows)
    demand_values(asked_for, labels=bool(cells), scores=paired.scores is not None and settled.positive is not None)
    found, tally, by_channel, scores = [], None, None, None
    if cells:
        tally = PairedLabels.from_cells(
            cast("dict[tuple[Label, ...], int]", cells), models=paired.models, labels=settled.labels
        )
        by_channel = channels(paired, settled.labels) if paired.channel else None
        usual = BINARY_MEASURES if settled.positive is not None else CLASS_MEASURES
        few = chosen(usual) if len(paired.models) == PAIR else ()
        wanted = asked_for if asked_for is not None else few or ()
        ready = replace(asked, measures=wanted, test=_fits(asked.test, scores=False))
        found += of_labels(tally, ready, positive=settled.positive, channels=by_channel)
        asked = ready
    if paired.scores is not None:
        if settled.positive is None:
            raise PlanError(
                "comparison-needs",
                f"scores are compared between two classes, and there are {len(settled.labels)}",
                fix="compare the predictions of several classes, or the scores of one class against the rest",
            )
        asked = asked if cells else replace(asked, measures=asked_for or ())
        scores = PairedScores.of([label == settled.positive for label in paired.truth or []], paired.scores)
        found += of_scores(scores, replace(asked, test=_fits(asked.test, scores=True) if not cells else None))
    return Comparison(
        answers=tuple(found),
        asked=asked,
        models=paired.models,
        labels=settled.labels,
        positive=settled.positive,
        census=Census(read=rows, scored=rows),
        paired=tally,
        channels=by_channel,
        scores=scores,
        notes=settled.notes,
        data={"from": paired.where, "pairing": paired.how, "files": dict(paired.files or {})},
        proof=paired.proof,
    )


def _by_unit(paired: Paired, asked: Asked, settled: Classes, rows: int) -> Comparison:
    """Rows of subjects, or with weights."""
    given = cast("Lines", paired.lines)
    if paired.channel:
        raise PlanError(
            "comparison-needs", "channels are compared on rows of their own", fix="leave out channel, or the subject"
        )
    tally = PairedRows.of(
        truth=given.truth,
        labels=settled.labels,
        models=paired.models,
        calls=given.calls if paired.cells is not None else None,
        scores=paired.scores,
        subject=given.subject,
        weight=given.weight,
    )
    return Comparison(
        answers=tuple(of_rows(tally, asked, positive=settled.positive)),
        asked=asked,
        models=paired.models,
        labels=settled.labels,
        positive=settled.positive,
        census=Census(read=rows, scored=rows),
        rows=tally,
        notes=settled.notes,
        data={"from": paired.where, "pairing": paired.how, "files": dict(paired.files or {})},
        proof=paired.proof,
    )


def _fits(test: str | None, *, scores: bool) -> str | None:
    """A test that was named goes to the values it takes."""
    if test is None:
        return None
    takes_scores = any(one.takes is PairedScores for one in every_test() if test in (one.name, one.family))
    return test if takes_scores == scores else None
