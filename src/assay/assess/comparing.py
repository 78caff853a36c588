# SPDX-License-Identifier: Apache-2.0
"""From rows, scores or values of several models to a comparison."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import numpy as np

from assay.assess.asking import Asked
from assay.assess.comparison import Comparison
from assay.assess.pairing import (
    PAIR,
    Given,
    Paired,
    apart,
    by_model,
    by_own_ids,
    channels,
    demand_complete,
    demand_one_kind,
    demand_two,
    demand_values,
    named,
    together,
)
from assay.assess.questions import of_groups, of_labels, of_scores, of_values
from assay.assess.rowquestions import of_rows
from assay.assess.settings import chosen
from assay.assess.spelling import speller
from assay.core.errors import PlanError, UnpairedRows
from assay.core.labels import Label
from assay.core.text import counted, nearest
from assay.inference.catalogue import every_test
from assay.inference.intervals import Wanted
from assay.inference.kinds import Kind
from assay.inference.resampling import SEED
from assay.inference.swapping import DRAWS
from assay.rows.labels import Classes, classes, label_of
from assay.rows.opening import no_rows
from assay.tally.census import Census
from assay.tally.paired import PairedLabels
from assay.tally.pairedrows import PairedRows
from assay.tally.pairedscores import PairedScores
from assay.tally.pairing import Lines
from assay.tally.samples import Blocks, Exact, Groups, finite

if TYPE_CHECKING:
    from assay.measures import Measure
    from assay.rows.files import Reading

UNITS: Final = {
    "item": Kind.ITEMS,
    "data set": Kind.DATA_SETS,
    "fold": Kind.RESAMPLES,
    "5x2": Kind.FIVE_BY_TWO,
}
BINARY_MEASURES: Final = ("precision", "f1", "matthews_corrcoef")
CLASS_MEASURES: Final = ("f1_macro", "matthews_corrcoef")


def compare(
    *tables: object,
    truth: object = None,
    predicted: object = None,
    score: object = None,
    values: object = None,
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
    or data={"A": ..., "B": ...}, are matched by id, and so are columns with id={"A": ..., "B": ...}.

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
        ratio = test_over_train if folds is None else _by_folds(folds)
        return _of_values(
            _by_subject(_columns(values, data, "values"), subject),
            asked,
            per=per,
            independent=independent,
            lower=lower_is_better,
            ratio=ratio,
        )
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
    paired = apart(data, given) if isinstance(data, Mapping) and not _is_table(data) else together(data, given)
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


def _of_values(
    columns: dict[str, object], asked: Asked, *, per: str, independent: bool, lower: bool, ratio: object
) -> Comparison:
    demand_two(tuple(columns))
    if per not in UNITS:
        close = nearest(per, UNITS)
        raise PlanError(
            "option-unknown",
            f"per={per!r} is no unit of values",
            known=", ".join(UNITS),
            fix=f'did you mean "{close}"?' if close else "say what a value belongs to",
        )
    tally: Blocks | Groups
    if independent:
        tally = Groups.of(columns)
        found, rows = of_groups(tally, asked), tally.n
    else:
        tally = Blocks.of(columns, unit=per if per != "5x2" else "half", lower_is_better=lower)
        if tally.j < PAIR:
            raise PlanError(
                "comparison-needs",
                f"there is only {counted(tally.j, per)}",
                fix=f"give the values of two {per}s at least",
            )
        found, rows = of_values(tally, asked, UNITS[per], test_over_train=ratio), tally.j
    return Comparison(
        answers=tuple(found),
        asked=asked,
        models=tally.models,
        labels=(),
        positive=None,
        census=Census(read=rows, scored=rows),
        values=tally,
        lower_is_better=lower,
        data={"from": "the given values", "pairing": "none" if independent else f"by {per}", "files": {},
              "per": per, "independent": independent, "test_over_train": None if ratio is None else str(ratio)},
    )  # fmt: skip


def _by_subject(columns: dict[str, object], subject: object) -> dict[str, object]:
    """Several values of one subject are one value, their mean: subjects are independent, their items are not."""
    if subject is None:
        return columns
    who = [label_of(one, where="subject") for one in cast("Sequence[object]", subject)]
    out: dict[str, object] = {}
    for model, column in columns.items():
        exact = Exact.of(finite(column, model)).fractions()
        if len(exact) != len(who):
            raise UnpairedRows(
                "rows-unmatched",
                f"there are {counted(len(who), 'subject')} for {counted(len(exact), 'value')} of {model}",
                where="subject",
                fix="give the subject of every value",
            )
        by: dict[Label | None, list[Fraction]] = {}
        for one, value in zip(who, exact, strict=True):
            by.setdefault(one, []).append(value)
        out[model] = [sum(own, Fraction(0)) / len(own) for own in by.values()]
    return out


def _by_folds(folds: int) -> Fraction:
    if not isinstance(folds, int) or isinstance(folds, bool) or folds < PAIR:
        raise PlanError(
            "value-out-of-domain", f"folds={folds!r} is no number of folds", known="2, 3, ...", fix="give k"
        )
    return Fraction(1, folds - 1)


def _columns(values: object, data: object, role: str) -> dict[str, object]:
    by = by_model(values, role)
    if data is None:
        return by
    if isinstance(data, (str, os.PathLike)):
        raise PlanError(
            "role-clash",
            "values are read from columns in memory, not from a path",
            fix="open the table first and give values={'A': frame['a'], ...}",
        )
    return {name: data[column] for name, column in by.items()}  # type: ignore[index]


def _fits(test: str | None, *, scores: bool) -> str | None:
    """A test that was named goes to the values it takes."""
    if test is None:
        return None
    takes_scores = any(one.takes is PairedScores for one in every_test() if test in (one.name, one.family))
    return test if takes_scores == scores else None


def _is_table(data: Mapping[Any, Any]) -> bool:
    """Whether a mapping holds columns, rather than one table a model."""
    first = next(iter(data.values()), None)
    if isinstance(first, (str, os.PathLike, Mapping)):
        return False
    return isinstance(first, (list, tuple, np.ndarray)) or getattr(first, "ndim", 2) == 1
