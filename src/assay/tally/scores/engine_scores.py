# SPDX-License-Identifier: Apache-2.0
"""Scores counted inside an engine: one group-by a column, with all digits or rounded where there are very many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from operator import add, or_
from typing import TYPE_CHECKING, Final, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.rows.engines.score_expressions import about_distinct, arrays, complete, fetched, first_largest
from assay.rows.label_types import label_of
from assay.rows.source import FrameSource
from assay.tally.base import Count, Weight
from assay.tally.fixed_point import Sums
from assay.tally.labels.engine_counts import count_cells, fit_arrays, rows_by, weigh_groups
from assay.tally.labels.label_cells import UNIT, Codes
from assay.tally.scores.ranked_table import whole
from assay.tally.scores.rounded_scores import LISTED, MOST_CLASSES, Rounding, round_column
from assay.tally.scores.row_probabilities import DIRECTION, IS_RIGHT, TOP
from assay.tally.scores.score_counts import Column
from assay.tally.scores.score_tally import Scored, Scores, UnitScores, Wanted
from assay.tally.scores.true_class_ranks import Ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.rows.engines.score_expressions import Frame

SURELY: Final = 2
"""A sketch of distinct numbers errs by a few per cent; from this many times the limit on, it is believed."""


def distinct_scores(source: FrameSource, wanted: Wanted) -> int:
    """How many distinct scores the fullest column holds, or the first that holds more than are counted one by one.

    Not counted where there are no more rows than allowed.
    """
    rows = cast("int", fetched(source, source.frame.select(nw.len()))[0][0])
    if rows <= wanted.exact:
        return rows
    names = [source.score[place] for place in wanted.columns]
    if (about := about_distinct(source, names)) > SURELY * wanted.exact:
        return about  # counting millions of distinct numbers takes longer than rounding them
    most = 0
    for name in names:  # one after the other, for millions of distinct numbers take memory
        most = max(most, cast("int", fetched(source, source.frame.select(nw.col(name).n_unique()))[0][0]))
        if most > wanted.exact:
            break
    return most


def scores_of_frame(source: FrameSource, wanted: Wanted) -> Scored:
    """Count the scores of a frame or file by true class, in all rows and in those of each level."""
    rounding = _rounding(source, wanted)
    if rounding is not None:
        bits, probability = rounding.bits, rounding.probability
        rounded = (round_column(nw.col(name), bits, probability=probability).alias(name) for name in source.score)
        source = replace(source, frame=source.frame.with_columns(*rounded))

    def by_level(level: str | None) -> dict[Label | None, Scores]:
        columns = [_group(source, level, source.score[place], wanted) for place in wanted.columns]
        return {
            label: Scores(
                labels=wanted.labels,
                scored=wanted.scored,
                columns=tuple(column[label][0] for column in columns),
                rows=rows,
                weighted=source.weight is not None,
                rounding=rounding,
            )
            for label, (_, rows) in columns[0].items()
        }

    factors = {name: by_level(level) for name, level in source.group.items() if name != UNIT}
    tally = by_level(None)[None]
    return Scored(whole=tally, by_factor=factors, by_unit=_by_unit(source, tally, wanted))


def _by_unit(source: FrameSource, whole: Scores, wanted: Wanted) -> dict[str | None, UnitScores]:
    """The scores of one class with their units, where units are known and a Record lists every score."""
    unit, others = source.group.get(UNIT), {name: level for name, level in source.group.items() if name != UNIT}
    if unit is None or wanted.followed is None or whole.rounding is not None or whole.distinct > LISTED:
        return {}
    if not fit_arrays(source, [unit, *others.values()]):
        return {}
    score = source.score[wanted.columns[wanted.scored.index(wanted.followed)]]
    factors: dict[str | None, dict[str, str]] = {None: {}, **{name: {"g": level} for name, level in others.items()}}
    tables = {}
    for name, level in factors.items():
        keys, count, sums = _grouped(source, {**level, "u": unit}, score)
        labels = [Codes.of_values(keys[key], source.where) for key in (*level, "u")]
        positive = coded(keys["t"], lambda label: int(label == wanted.followed)).astype(np.bool_)
        weight = count.astype(np.float64) if sums is None else np.array(sums[0].tolist()).astype(np.float64)
        tables[name] = UnitScores.build(labels, keys["s"].astype(np.float64), positive, weight)
    return tables


def _rounding(source: FrameSource, wanted: Wanted) -> Rounding | None:
    """How the engine rounds the scores, where there are more distinct ones than it hands over with all digits."""
    if distinct_scores(source, wanted) <= wanted.exact:
        return None
    if len(wanted.labels) > MOST_CLASSES:
        raise PlanError(
            "score-columns",
            f"more than {wanted.exact:,} distinct scores are counted by class for up to {MOST_CLASSES} classes, and"
            f" there are {len(wanted.labels):,}",
            where=source.where,
            fix="leave the scores out, assess fewer classes, or keep all digits:"
            " scores=ScoreSettings(exact_scores=NUMBER) (--exact-scores)",
        )
    return Rounding.of_classes(len(wanted.labels), probability=wanted.probability)


def _group(
    source: FrameSource, level: str | None, score: str, wanted: Wanted
) -> dict[Label | None, tuple[Column, int]]:
    """The scores by true class and the number of rows, by level of a factor; one group-by."""
    keys, count, sums = _grouped(source, {} if level is None else {"g": level}, score)
    place: dict[Label | None, int] = {label: i for i, label in enumerate(wanted.labels)}
    truth = coded(keys["t"], lambda label: place.get(label, -1))
    levels: dict[Label | None, int] = {} if level is not None else {None: 0}
    group = np.zeros(len(truth), dtype=np.int64)
    if level is not None:
        group = coded(keys["g"], lambda label: levels.setdefault(label, len(levels)))
    # Adding zero takes the sign from a zero, which equals the other zero.
    value = keys["s"].astype(np.float64) + 0.0
    out: dict[Label | None, tuple[Column, int]] = {}
    order = np.lexsort((value, truth, group))
    for label, number in levels.items():
        first, last = np.searchsorted(group[order], [number, number + 1]).tolist()
        ends = np.searchsorted(truth[order][first:last], np.arange(len(wanted.labels) + 1)) + first
        known = order[ends[0] : ends[-1]]
        weight, squares = (None, None) if sums is None else (part[known] for part in sums)
        times, start = whole(count[known]), ends - ends[0]
        column = Column(value=value[known], count=times, start=start, weight=weight, squares=squares)
        out[label] = column.merged(), int(count[known].sum())
    return out


def _grouped(
    source: FrameSource, levels: dict[str, str], score: str
) -> tuple[dict[str, NDArray[np.object_]], NDArray[np.int64], tuple[Sums, Sums] | None]:
    """True class, score and levels of each cell, its rows, and the sums of weights and squares."""
    columns = {"t": source.truth, "s": score, **levels}
    there, names = replace(source, frame=complete(source)), list(columns.values())
    if source.weight is not None:
        keys, rows, sums = weigh_groups(there, names)
    else:
        (*keys, rows), sums = arrays(source, rows_by(there, names)), None
    return dict(zip(columns, keys, strict=True)), rows.astype(np.int64), sums


def coded(values: NDArray[np.object_], number: Callable[[Label | None], int]) -> NDArray[np.int64]:
    """Values as numbers, each distinct one looked at once."""
    known: dict[object, int] = {}

    def one(value: object) -> int:
        if value not in known:
            known[value] = number(label_of(value, where="the data"))
        return known[value]

    return np.fromiter((one(value) for value in values.tolist()), np.int64, len(values))


def ranks_of_frame(source: FrameSource, wanted: Wanted) -> Ranks:
    """How many classes score higher than the true one, and how many the same: one group-by for all classes."""
    scores = {f"s{i}": source.score[place] for i, place in enumerate(wanted.columns)}
    columns = {"t": source.truth, **scores, **({} if source.weight is None else {"given": source.weight})}
    rows = complete(source).select(*(nw.col(column).alias(name) for name, column in columns.items()))
    classes = _true_classes(source, rows.select("t"), wanted.labels)
    cells: dict[tuple[int, int], Count] = {}
    total = 0
    if classes:
        own = _own_score([nw.col(name) for name in scores], nw.col("t"), classes)
        above = reduce(add, (_one(nw.col(name) > own) for name in scores))
        tied = reduce(add, (_one(nw.col(name) == own) for name in scores)) - 1  # with itself
        known = reduce(or_, (nw.col("t") == raw for raw, _ in classes))
        weighed = replace(
            source,
            frame=rows.filter(known).with_columns(a=above, e=tied),
            weight=None if source.weight is None else "given",
        )
        for (more, same), times, weight in count_cells(weighed, ["a", "e"]):
            total += times
            amount = weight.total if isinstance(weight, Weight) else weight
            cells[int(cast("int", more)), int(cast("int", same))] = amount
    kept = {cell: weight for cell, weight in sorted(cells.items()) if weight}
    return Ranks(k=len(scores), cells=kept, rows=total, weighted=source.weight is not None)


def _true_classes(source: FrameSource, truth: Frame, labels: Sequence[Label]) -> list[tuple[object, int]]:
    """The values of truth that stand for a class, each with the place of its class."""
    places = {label: i for i, label in enumerate(labels)}
    seen = ((raw, label_of(raw, where=source.where)) for (raw,) in fetched(source, truth.unique()) if raw is not None)
    return [(raw, places[label]) for raw, label in seen if label is not None and label in places]


def _own_score(scores: Sequence[nw.Expr], truth: nw.Expr, classes: Sequence[tuple[object, int]]) -> nw.Expr:
    """The score of the true class of each row; 0 where it is none of the classes."""
    own = nw.lit(0.0)
    for raw, place in classes:
        own = nw.when(truth == raw).then(scores[place]).otherwise(own)
    return own


def _one(hit: nw.Expr) -> nw.Expr:
    return nw.when(hit).then(nw.lit(1)).otherwise(nw.lit(0))


def with_row_scores(source: FrameSource, columns: Sequence[int], labels: Sequence[Label]) -> FrameSource:
    """The frame with the two columns, and in place of the truth whether the largest score is that of the true class.

    The direction is the score of the true class over the length of all, summed from left to right; the scores add up
    to 1, so no length is 0.
    """
    scores = [nw.col(source.score[place]) for place in columns]
    truth = nw.col(source.truth)
    best, first = first_largest(scores)
    classes = _true_classes(source, source.frame.select(truth.alias("t")), labels)
    own, right = _own_score(scores, truth, classes), nw.lit(0)
    for raw, place in classes:
        right = nw.when((truth == raw) & (first == place)).then(nw.lit(1)).otherwise(right)
    length = reduce(add, (column * column for column in scores)).sqrt()
    there = source.frame.filter(~truth.is_null())
    made = there.with_columns(best.alias(TOP), (own / length).alias(DIRECTION), right.alias(IS_RIGHT))
    return replace(source, frame=made, truth=IS_RIGHT, group={})
