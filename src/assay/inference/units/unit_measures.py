# SPDX-License-Identifier: Apache-2.0
"""What units of two models add to which table: rows alike, rows with scores, weighted rows, or all rows of a subject.

Scores that only order the rows are replaced by their ranks first, so that models on different scales can be swapped
(Venkatraman and Begg 1996). Very many distinct scores are joined to neighbourhoods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import listed, quoted
from assay.core.values import Undefined
from assay.inference.units.judgement import PAIR, Units
from assay.measures.declare import Measure, parse
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tally.scores.ranked_table import Ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.core.labels import Label
    from assay.measures.declare import Tally
    from assay.tally.paired.joint_cells import PairedLabels
    from assay.tally.paired.joint_scores import PairedScores
    from assay.tally.paired.per_unit import PerUnit

NEIGHBOURHOODS: Final = 512
"""Of scores, beyond which neighbours are joined: from 512 on, standard errors agree to two figures."""
FEWER: Final = (20_000, 128)
"""Beyond so many rows, so many: joint cells of two models are the square of it."""
OF_PROBABILITIES: Final = ("probabilities", "calibration", "cost")
"""Families whose measures read scores as probabilities, not only their order."""
POSITIVE: Final = 1
CELLS: Final = "joint cells"
"""What is drawn where rows alike are one kind."""


def reads_values(measure: Measure) -> bool:
    """Whether a measure of scores reads their values, and not only the order they bring rows into."""
    return measure.from_scores and measure.family in OF_PROBABILITIES


def of_scores(t: PairedScores, measure: Measure | str) -> Units:
    """Rows with scores, all independent and of equal weight."""
    wanted = parse(measure) if isinstance(measure, str) else measure
    if wanted.takes is not Ranked:
        raise PlanError(
            "comparison-needs",
            f"{wanted.name} is no measure of the scores of two classes",
            fix="`assay measures` lists the measures of scores",
        )
    return of_rows(t.per_unit(), wanted, POSITIVE)


def of_cells(t: PairedLabels, measure: Measure | str, positive: Label | None) -> Units:
    """Labels of rows that are all independent and of equal weight: rows alike are one kind."""
    return of_rows(t.per_unit(), measure, positive, alike=True)


def of_rows(t: PerUnit, measure: Measure | str, positive: Label | None, *, alike: bool = False) -> Units:
    """Rows of subjects, with weights, or alike: their labels or their scores, whichever the measure takes."""
    wanted = parse(measure) if isinstance(measure, str) else measure
    demand_pair(t.models)
    if wanted.takes is Ranked:
        if t.scores is None:
            raise PlanError("comparison-needs", f"{wanted.name} needs scores", fix="give score={...} of every model")
        return _scored(t, t.scores, wanted, t.truth == one_class(t.labels, wanted, positive))
    if wanted.takes not in (Binary, Multiclass) or t.calls is None:
        raise PlanError(
            "comparison-needs",
            f"{wanted.name} is not compared from the labels of subjects or weighted rows",
            fix="choose a measure of labels, or of the scores of two classes",
        )
    if wanted.takes is Binary:
        t = t.against_rest(one_class(t.labels, wanted, positive), collapsed=alike)
    truth, calls, k = t.truth, cast("Whole", t.calls), len(t.labels)
    group, count, strata = grouped(np.stack([truth, *calls]), t.subject, t.weight, t.times)
    adds = tuple(
        unit_sums(group, (np.where(one == truth, truth, -1), truth + k, one.astype(np.int64) + 2 * k), t.amount, 3 * k)
        for one in calls
    )

    def table(sums: Floats) -> Tally:
        return _table_of(wanted, t.labels, (sums[:, :k], sums[:, k : 2 * k], sums[:, 2 * k :]))

    whole = [np.asarray(count @ one)[np.newaxis] for one in adds]
    return Units(
        measure=wanted,
        models=t.models,
        exact=two_of(plain_value(wanted, table(one)) for one in whole),
        adds=(adds[0], adds[1]),
        count=count,
        disputed=disputed_units(calls[0] != calls[1], t.subject, t.times),
        strata=strata,
        value=lambda sums: wanted.values(table(sums)),
        method=CELLS if alike else "rows" if t.subject is None else "subjects",
        pooled=alike,
    )


def _table_of(measure: Measure, labels: tuple[Label, ...], margins: tuple[Floats, Floats, Floats]) -> Tally:
    """The table a measure of labels reads, made of hits, truths and calls of each class."""
    hits, actual, called = margins
    if measure.takes is not Binary:
        return Multiclass(hits=hits, actual=actual, called=called, labels=labels)
    tp = hits[:, POSITIVE]
    return Binary(tp=tp, fp=called[:, POSITIVE] - tp, fn=actual[:, POSITIVE] - tp, tn=hits[:, 1 - POSITIVE])


def one_class(labels: tuple[Label, ...], measure: Measure, positive: Label | None) -> int:
    """The place of the class that a measure speaks of."""
    if positive is not None and positive in labels:
        return labels.index(positive)
    raise PlanError(
        "positive-class-undeclared" if positive is None else "unknown-positive",
        f"{measure.name} speaks of one class, and none is stated"
        if positive is None
        else f"{quoted(positive)} is not among the classes",
        known=listed(labels),
        fix="state the class: positive=...",
    )


def demand_pair(models: tuple[str, ...]) -> None:
    """Refuse another number of models than two."""
    if len(models) != PAIR:
        raise PlanError("test-needs", f"this test takes two models, not {len(models)}", fix="use t.only(a, b)")


def _scored(t: PerUnit, scores: Floats, wanted: Measure, is_positive: NDArray[np.bool_]) -> Units:
    places = scores if reads_values(wanted) else midranks(scores)
    value, code = neighbourhoods(places)
    group, count, strata = grouped(np.stack([is_positive.astype(np.int64), *code]), t.subject, t.weight)
    heavy, size = np.ones(len(is_positive)) if t.weight is None else t.weight, len(value)
    adds = tuple(unit_sums(group, (one + np.where(is_positive, 0, size),), heavy, 2 * size) for one in code)

    def table(sums: Floats) -> Tally:
        return Ranked(score=value, pos=sums[:, :size], neg=sums[:, size:])

    return Units(
        measure=wanted,
        models=t.models,
        exact=two_of(plain_value(wanted, _ranked(one, is_positive, t.weight)) for one in scores),
        adds=(adds[0], adds[1]),
        count=count,
        disputed=disputed_units(places[0] != places[1], t.subject),
        strata=strata,
        value=lambda sums: wanted.values(table(sums)),
        method="rows" if t.subject is None else "subjects",
        sizes=class_sizes(is_positive, t.subject, t.weight) if wanted.name == "auroc" else None,
    )


def class_sizes(is_positive: NDArray[np.bool_], subject: Whole | None, weight: Floats | None) -> tuple[float, float]:
    """As how many rows of equal weight the positives and the negatives count, rows of one subject being one (Kish)."""
    sizes = []
    for here in (is_positive, ~is_positive):
        heavy = np.ones(int(here.sum())) if weight is None else weight[here]
        if subject is not None:
            heavy = np.bincount(subject[here], weights=heavy).astype(np.float64)
            heavy = heavy if weight is not None else np.minimum(heavy, 1.0)
        squares = float((heavy * heavy).sum())
        sizes.append(float(heavy.sum()) ** 2 / squares if squares else 0.0)
    return sizes[0], sizes[1]


def grouped(
    keys: Whole, subject: Whole | None, weight: Floats | None, times: Whole | None = None
) -> tuple[Whole, Whole, Whole]:
    """The unit of each row, how many alike there are, and which classes a unit has; only plain rows can be alike."""
    truth, rows = keys[0], keys.shape[1]
    if subject is not None:
        units = int(subject.max()) + 1
        has = np.zeros((units, int(truth.max()) + 1), dtype=bool)
        has[subject, truth] = True
        return subject, np.ones(units, dtype=np.int64), np.unique(has, axis=0, return_inverse=True)[1].ravel()
    if weight is not None:
        return np.arange(rows), np.ones(rows, dtype=np.int64) if times is None else times, truth
    if times is not None:
        return np.arange(rows), times, truth
    distinct_keys, first, count = np.unique(keys, axis=1, return_index=True, return_counts=True)
    group = np.full(rows, -1)  # rows alike are one unit; the first of them stands for all
    group[first] = np.arange(distinct_keys.shape[1])
    return group, count, distinct_keys[0]


def unit_sums(group: Whole, columns: Iterable[Whole], weight: Floats, width: int) -> Any:  # noqa: ANN401  a sparse matrix
    """What each unit adds to which cells of a table; every row to one cell of each column, no two columns to one."""
    from scipy.sparse import csr_array

    shape = (int(group.max()) + 1, width)
    sums = csr_array(shape)
    for column in columns:
        kept = (group >= 0) & (column >= 0)
        sums = sums + csr_array((weight[kept], (group[kept], column[kept])), shape=shape)
    return sums


def midranks(scores: Floats) -> Floats:
    """The ranks of the scores of each model, ties sharing theirs."""
    from scipy.stats import rankdata

    found: Floats = rankdata(scores, axis=1)
    return found


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


def plain_value(measure: Measure, table: Tally) -> float:
    """The value of a measure; NaN where undefined or infinite."""
    raw_value = measure.raw(table)
    if isinstance(raw_value, Undefined):
        return float("nan")
    value = float(np.ravel(raw_value.values)[0])
    return value if np.isfinite(value) else float("nan")


def two_of(values: Iterator[float]) -> tuple[float, float]:
    """Exactly two values."""
    a, b = values
    return a, b


def disputed_units(differ: NDArray[np.bool_], subject: Whole | None, times: Whole | None = None) -> int:
    """How many rows, or subjects with such rows, differ."""
    if subject is not None:
        return len(np.unique(subject[differ]))
    return int(differ.sum() if times is None else times[differ].sum())
