# SPDX-License-Identifier: Apache-2.0
"""A measure of the scores of all classes, two models on the same rows: whole rows of scores are swapped and drawn.

A measure that is a mean over rows needs one number a row and model. An average over classes or pairs of classes needs
one table of scores for each: a row stands in every table, at the place of its score in that column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import counted
from assay.inference.units.judgement import PAIR, Units
from assay.inference.units.unit_measures import (
    FEWER,
    NEIGHBOURHOODS,
    demand_pair,
    disputed_units,
    grouped,
    midranks,
    neighbourhoods,
    of_rows,
    plain_value,
    reads_values,
    two_of,
)
from assay.measures.declare import Measure, parse
from assay.tally.scores.log_odds import clipped
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.core.labels import Label
    from assay.measures.declare import Measure
    from assay.tally.paired.per_unit import PerUnit

    Entries: TypeAlias = list[tuple[Whole, Whole, Floats]]
    """Rows, the sums they add to, and how much."""

MEANS = ("log_loss_multiclass", "brier_score_multiclass", "spherical_score_multiclass", "top_k_accuracy")


OF_CLASSES: Final = (Scores, Ranks, RowScores)
"""Tallies of measures that read the scores of all classes."""
MOST_CLASSES: Final = 20
"""Classes up to which every pair of them gets a table of its own, both ways: 380 tables."""
FINE: Final = 4096
"""Numbers of all tables up to which neighbourhoods stay fine."""


def judged_rows(t: PerUnit, measure: Measure | str, positive: Label | None) -> Units:
    """Two models on rows: their labels, the scores of two classes, or those of all classes."""
    wanted = parse(measure) if isinstance(measure, str) else measure
    return of_classes(t, wanted) if wanted.takes in OF_CLASSES else of_rows(t, wanted, positive)


def of_classes(t: PerUnit, measure: Measure) -> Units:
    """A measure of the scores of all classes."""
    if not t.classwise or t.scores is None:
        raise PlanError(
            "comparison-needs",
            f"{measure.title} reads the scores of all classes",
            fix='give one column for each class: score={"A": {label: column, ...}, "B": {...}}',
        )
    demand_pair(t.models)
    if measure.given.get("undefined", "propagate") != "propagate":
        raise PlanError(
            "comparison-needs",
            f"{measure.title} is compared where every class has a value",
            fix="leave undefined= out of the name of the measure",
        )
    parts = _means(t, measure) if measure.name in MEANS else _tables(t, measure)
    unit, count, strata = np.arange(t.n), np.ones(t.n, dtype=np.int64), t.truth
    if t.subject is not None:
        unit, count, strata = grouped(t.truth[np.newaxis], t.subject, t.weight)
    weight = np.ones(t.n) if t.weight is None else t.weight
    adds = tuple(_added(unit, one, weight, parts.width) for one in parts.entries)
    return Units(
        measure=measure,
        models=t.models,
        exact=two_of(plain_value(measure, class_tally(t, measure, i)) for i in range(PAIR)),
        adds=(adds[0], adds[1]),
        count=count,
        disputed=disputed_units(parts.differ, t.subject),
        strata=strata,
        value=parts.value,
        method="rows" if t.subject is None else "subjects",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the rows of each model add where, and how the sums become values."""

    entries: tuple[Entries, Entries]
    width: int
    value: Callable[[Floats], Floats]
    differ: NDArray[np.bool_]


def _means(t: PerUnit, measure: Measure) -> Parts:
    """Sums of what each row adds, and of the rows."""
    rows, none = np.arange(t.n), np.zeros(t.n, dtype=np.int64)
    a, b = (by_row(measure, one, t.truth) for one in cast("Floats", t.scores))

    def value(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return sums[:, 0] / sums[:, 1]

    entries = ([(rows, none, own), (rows, none + 1, np.ones(t.n))] for own in (a, b))
    return Parts(entries=(next(entries), next(entries)), width=2, value=value, differ=a != b)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The scores of one column, and by model which rows stand where in it, as positives or as negatives."""

    score: Floats
    row: Whole
    place: Whole
    is_positive: NDArray[np.bool_]
    """Both by model and entry."""


def _tables(t: PerUnit, measure: Measure) -> Parts:
    tables, base = list(_by_table(t, measure)), _base(measure)
    start = np.cumsum([0, *(2 * len(table.score) for table in tables)]).tolist()
    entries: tuple[Entries, Entries] = ([], [])
    differ = np.zeros(t.n, dtype=bool)
    for table, at in zip(tables, start, strict=False):
        spots = at + table.place + np.where(table.is_positive, 0, len(table.score))
        differ[table.row[spots[0] != spots[1]]] = True
        for model in range(PAIR):
            entries[model].append((table.row, spots[model], np.ones(len(table.row))))

    def value(sums: Floats) -> Floats:
        total, weight = np.zeros(len(sums)), np.zeros(len(sums))
        for table, at in zip(tables, start, strict=False):
            size = len(table.score)
            pos, neg = sums[:, at : at + size], sums[:, at + size : at + 2 * size]
            found = base.values(Ranked(score=table.score, pos=pos, neg=neg))
            much = pos.sum(axis=1) if measure.average == "weighted" else np.ones(len(sums))
            total += np.where(much > 0, found, 0.0) * much  # a class without rows counts nothing in a weighted mean
            weight += much
        with np.errstate(divide="ignore", invalid="ignore"):
            return total / weight

    return Parts(entries=entries, width=start[-1], value=value, differ=differ)


def _base(measure: Measure) -> Measure:
    """The measure of one table that is averaged, or taken of the largest scores."""
    base = parse(measure.base or "expected_calibration_error")
    return base.with_(**{name: one for name, one in measure.given.items() if name != "undefined"})


def _by_table(t: PerUnit, measure: Measure) -> Iterator[Table]:
    scores, truth, k, n = cast("Floats", t.scores), t.truth, len(t.labels), t.n
    rows, ready = np.arange(n), _as_is if reads_values(measure) else midranks
    if measure.takes is RowScores:  # the largest score of a row, and whether its class is the true one
        value, place = neighbourhoods(ready(scores.max(axis=2)))
        yield Table(score=value, row=rows, place=place, is_positive=scores.argmax(axis=2) == truth)
        return
    if measure.average == "micro":  # every score of a row stands in one table
        value, place = neighbourhoods(ready(scores.reshape(PAIR, -1)))
        own = np.broadcast_to((np.arange(k) == truth[:, np.newaxis]).ravel(), place.shape)
        yield Table(score=value, row=np.repeat(rows, k), place=place, is_positive=own)
        return
    one_vs_one = measure.average == "one_vs_one"
    number = k * (k - 1) if one_vs_one else k
    if one_vs_one and k > MOST_CLASSES:
        raise PlanError(
            "comparison-needs",
            f"{measure.title} of {counted(k, 'class', 'classes')} needs {number:,} tables for every draw",
            known=f"{MOST_CLASSES} classes at most",
            fix="compare auroc_macro or auroc_weighted, which need one table a class",
        )
    most = NEIGHBOURHOODS if number * 2 * NEIGHBOURHOODS <= FINE else FEWER[1]
    for c in range(k):
        value, place = neighbourhoods(ready(scores[:, :, c]), most)
        for d in [d for d in range(k) if d != c] if one_vs_one else [None]:
            among = rows if d is None else rows[(truth == c) | (truth == d)]
            own = np.broadcast_to(truth[among] == c, (PAIR, len(among)))
            yield Table(score=value, row=among, place=place[:, among], is_positive=own)


def _as_is(scores: Floats) -> Floats:
    return scores


def _added(unit: Whole, entries: Entries, weight: Floats, width: int) -> Any:  # noqa: ANN401  a sparse matrix
    """What each unit adds to which sums."""
    from scipy.sparse import csr_array

    row, column, much = (np.concatenate(part) for part in zip(*entries, strict=True))
    return csr_array((much * weight[row], (unit[row], column)), shape=(int(unit.max()) + 1, width))


def class_value(t: PerUnit, measure: Measure | str, model: str) -> float:
    """The value of one model alone; NaN where undefined."""
    wanted = parse(measure) if isinstance(measure, str) else measure
    return plain_value(wanted, class_tally(t, wanted, t.models.index(model)))


def class_tally(t: PerUnit, measure: Measure, model: int) -> Scores | Ranks | RowScores:
    """The tally a measure takes, of one model."""
    matrix, weight = cast("Floats", t.scores)[model], t.weight
    if measure.takes is Ranks:
        return Ranks.of(matrix, t.truth, weight)
    if measure.takes is RowScores:
        return RowScores.of(matrix, t.truth, weight)
    return Scores.per_class(matrix, t.truth, t.labels, weight)


def by_row(measure: Measure, matrix: Floats, truth: Whole) -> Floats:
    """The value of a measure on each row alone, from a matrix of scores (one column a class) and class numbers.

    >>> from assay.tasks.classification.measures.multiclass_scores import brier_score_multiclass
    >>> by_row(brier_score_multiclass, np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([0, 2])).tolist()
    [0.0, 2.0]
    """
    given = {**measure.parameters, **measure.given}
    own = np.take_along_axis(matrix, truth[:, np.newaxis], axis=1)
    if measure.name == "log_loss_multiclass":
        with np.errstate(divide="ignore", invalid="ignore"):  # no probabilities: told as undefined
            loss: Floats = -np.log(clipped(own[:, 0], cast("float | None", given["clip"])))
            return loss
    if measure.name == "brier_score_multiclass":
        squares: Floats = (matrix**2).sum(axis=1)
        gap: Floats = (1 - own[:, 0]) ** 2 - own[:, 0] ** 2
        return squares + gap
    if measure.name == "spherical_score_multiclass":
        length = np.sqrt((matrix**2).sum(axis=1))
        towards: Floats = np.divide(own[:, 0], length, out=np.zeros(len(own)), where=length > 0)
        return towards
    if measure.name != "top_k_accuracy":
        msg = f"{measure.name} is no mean over rows"
        raise TypeError(msg)
    above, tied = (matrix > own).sum(axis=1), (matrix == own).sum(axis=1) - 1
    room = np.maximum(cast("int", given["k"]) - above, 0)
    hit_shares: Floats = np.minimum(room / (tied + 1), 1.0)
    if given["ties"] == "pessimistic":
        hit_shares = (tied < room).astype(np.float64)
    if given["ties"] == "optimistic":
        hit_shares = (room > 0).astype(np.float64)
    return hit_shares
