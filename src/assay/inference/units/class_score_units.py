# SPDX-License-Identifier: Apache-2.0
"""What rows with scores of two classes, or of all, add to tables of scores or to sums of what they cost.

A measure that is a mean over rows needs one number a row and model. An average over classes or pairs of classes needs
one table of scores for each: a row stands in every table, at the place of its score in that column. Scores that only
order the rows are replaced by their ranks first, so that models on different scales can be swapped (Venkatraman and
Begg 1996). Very many distinct scores are joined to neighbourhoods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import counted
from assay.core.traits import OF_PROBABILITIES
from assay.inference.units.judgement import PAIR, Units
from assay.inference.units.unit_measures import (
    POSITIVE,
    Parts,
    build_units,
    class_sizes,
    demand_pair,
    of_labels,
    one_class,
    plain_value,
    sum_means,
)
from assay.measures.declare import Measure, parse
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores, clipped
from assay.tally.scores.true_class_ranks import Ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.core.labels import Label
    from assay.inference.units.unit_measures import Entries
    from assay.tally.paired.per_unit import PerUnit

NEIGHBOURHOODS: Final = 512
"""Of scores, beyond which neighbours are joined: from 512 on, standard errors agree to two figures."""
FEWER: Final = (20_000, 128)
"""Beyond so many rows, so many: joint cells of two models are the square of it."""
MEANS = ("log_loss_multiclass", "brier_score_multiclass", "spherical_score_multiclass", "top_k_accuracy")
OF_CLASSES: Final = (Scores, Ranks, RowScores)
"""Tallies of measures that read the scores of all classes."""
MOST_CLASSES: Final = 20
"""Classes up to which every pair of them gets a table of its own, both ways: 380 tables."""
FINE: Final = 4096
"""Numbers of all tables up to which neighbourhoods stay fine."""


def judge_units(
    t: PairedLabels | PairedScores | PerUnit, measure: Measure | str, positive: Label | None = None
) -> Units:
    """Two models by a measure of their labels, of the scores of two classes, or of those of all classes."""
    wanted = parse(measure) if isinstance(measure, str) else measure
    demand_pair(t.models)
    if isinstance(t, PairedScores) and wanted.takes is not Ranked:
        what = f"{wanted.name} is not a measure of the scores of two classes"
        raise PlanError("comparison-needs", what, fix="`assay measures` lists the measures of scores")
    positive = POSITIVE if isinstance(t, PairedScores) else positive
    alike = isinstance(t, PairedLabels)
    rows = t if not isinstance(t, (PairedLabels, PairedScores)) else t.per_unit()
    if wanted.takes in OF_CLASSES:
        return build_units(rows, wanted, _of_classes(rows, wanted))
    if wanted.takes is Ranked:
        return build_units(rows, wanted, _of_two_classes(rows, wanted, positive))
    if wanted.takes is Binary and rows.calls is not None:
        rows = rows.against_rest(one_class(rows.labels, wanted, positive), collapsed=alike)
    return build_units(rows, wanted, of_labels(rows, wanted), alike=alike)


def reads_values(measure: Measure) -> bool:
    """Whether a measure of scores reads their values, and not only the order they bring rows into."""
    return measure.from_scores and measure.family in OF_PROBABILITIES


def _of_two_classes(t: PerUnit, measure: Measure, positive: Label | None) -> Parts:
    """One table of scores, in which rows that agree in class and places are alike."""
    if t.scores is None:
        raise PlanError("comparison-needs", f"{measure.name} needs scores", fix="give score={...} of every model")
    scores, is_positive = t.scores, t.truth == one_class(t.labels, measure, positive)
    places = scores if reads_values(measure) else midranks(scores)
    value, code = neighbourhoods(places)
    table = Table(score=value, row=np.arange(t.n), place=code, is_positive=np.broadcast_to(is_positive, code.shape))

    def exact(model: int, _: Floats) -> float:
        return plain_value(measure, _ranked(scores[model], is_positive, t.weight))

    return replace(
        sum_tables(t, measure, measure, [table], exact),
        differ=places[0] != places[1],
        keys=np.stack([is_positive.astype(np.int64), *code]),
        sizes=class_sizes(is_positive, t.subject, t.weight) if measure.name == "auroc" else None,
    )


def _of_classes(t: PerUnit, measure: Measure) -> Parts:
    """A measure of the scores of all classes: a mean over rows, or averages of tables."""
    if not t.classwise or t.scores is None:
        what = f"{measure.title} reads the scores of all classes"
        fix = 'give one column for each class: score={"A": {label: column, ...}, "B": {...}}'
        raise PlanError("comparison-needs", what, fix=fix)
    if measure.given.get("undefined", "propagate") != "propagate":
        what = f"{measure.title} is compared where every class has a value"
        raise PlanError("comparison-needs", what, fix="leave undefined= out of the name of the measure")

    def exact(model: int, _: Floats) -> float:
        return plain_value(measure, class_tally(t, measure, model))

    if measure.name in MEANS:
        a, b = (by_row(measure, one, t.truth) for one in t.scores)
        return sum_means((a, b), exact)
    base = parse(measure.base or "expected_calibration_error")
    base = base.with_(**{name: one for name, one in measure.given.items() if name != "undefined"})
    return sum_tables(t, measure, base, list(_by_table(t, measure)), exact)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The scores of one column, and by model which rows stand where in it, as positives or as negatives."""

    score: Floats
    row: Whole
    place: Whole
    is_positive: NDArray[np.bool_]
    """Both by model and entry."""


def sum_tables(
    t: PerUnit, measure: Measure, base: Measure, tables: list[Table], exact: Callable[[int, Floats], float]
) -> Parts:
    """Positives and negatives at every score of some tables; the value is the average of a base measure of each."""
    start = np.cumsum([0, *(2 * len(table.score) for table in tables)]).tolist()
    rows, differ = np.concatenate([table.row for table in tables]), np.zeros(t.n, dtype=bool)
    spots = np.concatenate(
        [
            at + table.place + np.where(table.is_positive, 0, len(table.score))
            for table, at in zip(tables, start, strict=False)
        ],
        axis=1,
    )
    differ[rows[spots[0] != spots[1]]] = True
    entries: tuple[Entries, Entries] = ([(rows, spots[0], np.ones(len(rows)))], [(rows, spots[1], np.ones(len(rows)))])

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

    return Parts(entries=entries, width=start[-1], value=value, exact=exact, differ=differ)


def _by_table(t: PerUnit, measure: Measure) -> Iterator[Table]:
    scores, truth, k, n = cast("Floats", t.scores), t.truth, len(t.labels), t.n
    rows, ready = np.arange(n), np.asarray if reads_values(measure) else midranks
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
        what = f"{measure.title} of {counted(k, 'class', 'classes')} needs {number:,} tables for every draw"
        fix = "compare auroc_macro or auroc_weighted, which need one table a class"
        raise PlanError("comparison-needs", what, known=f"{MOST_CLASSES} classes at most", fix=fix)
    most = NEIGHBOURHOODS if number * 2 * NEIGHBOURHOODS <= FINE else FEWER[1]
    for c in range(k):
        value, place = neighbourhoods(ready(scores[:, :, c]), most)
        for d in [d for d in range(k) if d != c] if one_vs_one else [None]:
            among = rows if d is None else rows[(truth == c) | (truth == d)]
            own = np.broadcast_to(truth[among] == c, (PAIR, len(among)))
            yield Table(score=value, row=among, place=place[:, among], is_positive=own)


def midranks(scores: Floats) -> Floats:
    """The ranks of the scores of each model, ties sharing theirs."""
    from scipy.stats import rankdata

    return cast("Floats", rankdata(scores, axis=1))


def neighbourhoods(places: Floats, most: int | None = None) -> tuple[Floats, Whole]:
    """Distinct scores of both models in one list, neighbours joined where they are too many; and each row's place."""
    value, code, times = np.unique(places, return_inverse=True, return_counts=True)
    code = code.reshape(places.shape)
    most = NEIGHBOURHOODS if most is None else most
    most = min(most, FEWER[1]) if places.shape[1] > FEWER[0] else most
    if len(value) <= most:
        return value, code
    sums = np.cumsum(times)
    part = np.minimum(((sums - times / 2) * (most / sums[-1])).astype(np.int64), most - 1)
    start = np.flatnonzero(np.diff(part, prepend=-1))
    merged = np.add.reduceat(value * times, start) / np.add.reduceat(times, start)
    return np.maximum.accumulate(merged), (np.searchsorted(start, np.arange(len(value)), side="right") - 1)[code]


def _ranked(score: Floats, is_positive: NDArray[np.bool_], weight: Floats | None) -> Ranked:
    value, code = np.unique(score, return_inverse=True)
    sides = []
    for here in (is_positive, ~is_positive):
        heavy = None if weight is None else weight[here]
        counts = np.bincount(code[here], weights=heavy, minlength=len(value))
        sides.append(cast("Floats", counts))
    return Ranked(score=value, pos=sides[0], neg=sides[1])


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
            return cast("Floats", -np.log(clipped(own[:, 0], cast("float | None", given["clip"]))))
    if measure.name == "brier_score_multiclass":
        squares: Floats = (matrix**2).sum(axis=1)
        gap: Floats = (1 - own[:, 0]) ** 2 - own[:, 0] ** 2
        return squares + gap
    if measure.name == "spherical_score_multiclass":
        length = np.sqrt((matrix**2).sum(axis=1))
        return cast("Floats", np.divide(own[:, 0], length, out=np.zeros(len(own)), where=length > 0))
    if measure.name != "top_k_accuracy":
        msg = f"{measure.name} is not a mean over rows"
        raise TypeError(msg)
    above, tied = (matrix > own).sum(axis=1), (matrix == own).sum(axis=1) - 1
    room = np.maximum(cast("int", given["k"]) - above, 0)
    hit_shares: Floats = np.minimum(room / (tied + 1), 1.0)
    if given["ties"] == "pessimistic":
        hit_shares = (tied < room).astype(np.float64)
    if given["ties"] == "optimistic":
        hit_shares = (room > 0).astype(np.float64)
    return hit_shares
