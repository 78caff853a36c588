# SPDX-License-Identifier: Apache-2.0
"""What units of two models add to which sums: rows alike, weighted rows, or all rows of a subject; sums of labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import listed, quoted
from assay.core.values import Undefined
from assay.inference.units.judgement import PAIR, Units
from assay.measures.declare import Measure
from assay.tally.labels.one_vs_rest import Binary, Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.core.labels import Label
    from assay.inference.estimates import Interval
    from assay.measures.declare import Tally
    from assay.tally.paired.per_unit import PerUnit

    Entries: TypeAlias = list[tuple[Whole, Whole, Floats]]
    """Rows, the sums they add to, and how much; no two entries add to the same sum."""

POSITIVE: Final = 1
CELLS: Final = "joint cells"
"""What is drawn where rows alike are one kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the rows of each model add where, and how the sums become values."""

    entries: tuple[Entries, Entries]
    width: int
    value: Callable[[Floats], Floats]
    exact: Callable[[int, Floats], float]
    """The value of one of the models on its sums, or on its rows themselves."""
    differ: NDArray[np.bool_]
    keys: Whole | None = None
    """What makes rows alike, the class first; None where every row is a kind of its own."""
    sizes: tuple[float, float] | None = None
    closed: Callable[[float], Interval] | None = None


def build_units(t: PerUnit, measure: Measure, parts: Parts, *, alike: bool = False) -> Units:
    """Units of two models from what their rows add; `alike` draws joint cells."""
    unit, count, strata = group_rows(t, parts.keys)
    adds = [_added(unit, entries, t.amount, parts.width) for entries in parts.entries]
    return Units(
        measure=measure,
        models=t.models,
        exact=(parts.exact(0, count @ adds[0]), parts.exact(1, count @ adds[1])),
        adds=(adds[0], adds[1]),
        count=count,
        disputed=disputed_units(parts.differ, t.subject, t.times),
        strata=strata,
        value=parts.value,
        method=CELLS if alike else "rows" if t.subject is None else "subjects",
        class_sizes=parts.sizes,
        pooled=alike,
        closed_interval=parts.closed,
    )


def of_labels(t: PerUnit, measure: Measure) -> Parts:
    """Hits, truths and calls of each class; of a measure of one class those of two."""
    if measure.takes not in (Binary, Multiclass) or t.calls is None:
        what = f"{measure.name} is not compared from the labels of subjects or weighted rows"
        raise PlanError("comparison-needs", what, fix="choose a measure of labels, or of the scores of two classes")
    truth, calls, k = t.truth, t.calls, len(t.labels)
    rows, ones = np.arange(len(truth)), np.ones(len(truth))

    def table(sums: Floats) -> Tally:
        return _table_of(measure, t.labels, (sums[:, :k], sums[:, k : 2 * k], sums[:, 2 * k :]))

    entries = [
        [
            (rows, column, ones)
            for column in (np.where(one == truth, truth, -1), truth + k, one.astype(np.int64) + 2 * k)
        ]
        for one in calls
    ]
    return Parts(
        entries=(entries[0], entries[1]),
        width=3 * k,
        value=lambda sums: measure.values(table(sums)),
        exact=lambda _, sums: plain_value(measure, table(np.asarray(sums)[np.newaxis])),
        differ=calls[0] != calls[1],
        keys=np.stack([truth, *calls]),
    )


def sum_means(each: tuple[Floats, Floats], exact: Callable[[int, Floats], float]) -> Parts:
    """Sums of what each row adds, and of the rows; the value is their mean."""
    n = len(each[0])
    rows, column = np.tile(np.arange(n), 2), np.repeat([0, 1], n)

    def value(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return sums[:, 0] / sums[:, 1]

    a, b = ([(rows, column, np.concatenate([own, np.ones(n)]))] for own in each)
    return Parts(entries=(a, b), width=2, value=value, exact=exact, differ=each[0] != each[1])


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
    code, what = "unknown-positive", f"{quoted(positive)} is not among the classes"
    if positive is None:
        code, what = "positive-class-undeclared", f"{measure.name} speaks of one class, and none is stated"
    raise PlanError(code, what, known=listed(labels), fix="state the class: positive=...")


def demand_pair(models: tuple[str, ...]) -> None:
    """Refuse another number of models than two."""
    if len(models) != PAIR:
        raise PlanError("test-needs", f"this test takes two models, not {len(models)}", fix="use t.only(a, b)")


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


def group_rows(t: PerUnit, keys: Whole | None) -> tuple[Whole, Whole, Whole]:
    """The unit of each row, how many alike there are, and which classes a unit has; only plain rows can be alike."""
    truth, rows = t.truth if keys is None else keys[0], len(t.truth)
    if t.subject is not None:
        units = int(t.subject.max()) + 1
        has = np.zeros((units, int(truth.max()) + 1), dtype=bool)
        has[t.subject, truth] = True
        return t.subject, np.ones(units, dtype=np.int64), np.unique(has, axis=0, return_inverse=True)[1].ravel()
    if keys is None or t.weight is not None or t.times is not None:
        return np.arange(rows), t.entries, truth
    distinct_keys, first, count = np.unique(keys, axis=1, return_index=True, return_counts=True)
    group = np.full(rows, -1)  # rows alike are one unit; the first of them stands for all
    group[first] = np.arange(distinct_keys.shape[1])
    return group, count, distinct_keys[0]


def _added(unit: Whole, entries: Entries, amount: Floats, width: int) -> Any:  # noqa: ANN401  a sparse matrix
    """What each unit adds to which sums; entries of no unit or no sum are left out."""
    from scipy.sparse import csr_array

    shape = (int(unit.max()) + 1, width)
    sums = csr_array(shape)
    for row, column, much in entries:
        kept = (unit[row] >= 0) & (column >= 0)
        row, column, much = row[kept], column[kept], much[kept]  # noqa: PLW2901
        sums = sums + csr_array((much * amount[row], (unit[row], column)), shape=shape)
    return sums


def plain_value(measure: Measure, table: Tally) -> float:
    """The value of a measure; NaN where undefined or infinite."""
    raw_value = measure.raw(table)
    if isinstance(raw_value, Undefined):
        return float("nan")
    value = float(np.ravel(raw_value.values)[0])
    return value if np.isfinite(value) else float("nan")


def disputed_units(differ: NDArray[np.bool_], subject: Whole | None, times: Whole | None = None) -> int:
    """How many rows, or subjects with such rows, differ."""
    if subject is not None:
        return len(np.unique(subject[differ]))
    return int(differ.sum() if times is None else times[differ].sum())
