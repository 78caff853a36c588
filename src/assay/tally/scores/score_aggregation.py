# SPDX-License-Identifier: Apache-2.0
"""Scores counted where they live: one group-by for each column of scores, or one sort for each true class.

Up to EXACT distinct scores keep all digits; beyond, the engine that holds a frame or file rounds them first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.labels import Label
from assay.rows.columns import Coded
from assay.rows.source import ArraySource, FrameSource, Source
from assay.tally.fixed_point import Weights
from assay.tally.labels.array_counts import _numbers
from assay.tally.labels.label_cells import UNIT, Codes
from assay.tally.scores.rounded_scores import LISTED
from assay.tally.scores.row_probabilities import DIRECTION, RIGHT, SIDES, TOP, RowScores
from assay.tally.scores.score_tally import Scored, Scores, UnitScores, Wanted
from assay.tally.scores.true_class_ranks import Ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray


def count_scores(source: Source, wanted: Wanted) -> Scored:
    """Count the scores of a source by true class, in all rows that have a true and a predicted label."""
    if isinstance(source, FrameSource):
        from assay.tally.scores.engine_scores import scores_of_frame

        return scores_of_frame(source, wanted)
    # One column is of the positive class, which stands last among the two labels.
    single = len(wanted.scored) < len(wanted.labels)
    truth = _is_class(source.truth, wanted.labels[-1]) if single else classes_of(source, wanted.labels)[0]
    missing = [column.missing for column in (source.truth, source.predicted) if column.missing is not None]
    there = ~np.logical_or.reduce(missing) if missing else None
    columns = [source.score[place] for place in wanted.columns]
    levels = {name: _levels(column) for name, column in source.group.items() if name != UNIT}
    weight = None if source.weight is None else Weights.of(source.weight, source.quantum)

    def among(rows: NDArray[np.bool_] | None) -> Scores:
        some = slice(None) if rows is None or rows.all() else rows
        kept = None if weight is None else weight[some]
        if single:
            names = cast("tuple[Label, Label]", wanted.labels)
            return Scores.binary(columns[0][some], truth[some], kept, labels=names)
        return Scores.per_class([column[some] for column in columns], truth[some], wanted.labels, kept)

    whole = among(there)
    by_factor = {
        name: {label: among(codes == number if there is None else there & (codes == number)) for number, label in own}
        for name, (codes, own) in levels.items()
    }
    return Scored(whole=whole, by_factor=by_factor, by_unit=_by_unit(source, whole, wanted, there))


def _by_unit(
    source: ArraySource, whole: Scores, wanted: Wanted, there: NDArray[np.bool_] | None
) -> dict[str | None, UnitScores]:
    """The scores of one class with their units, where units are known and a Record lists every score."""
    if UNIT not in source.group or wanted.followed is None or whole.distinct > LISTED:
        return {}
    some = slice(None) if there is None else there
    value = source.score[wanted.columns[wanted.scored.index(wanted.followed)]][some]
    positive = _is_class(source.truth, wanted.followed)[some]
    weight = np.ones(len(value)) if source.weight is None else source.weight[some]
    codes = {name: Codes.of_column(column) for name, column in source.group.items()}
    codes = {name: replace(column, codes=column.codes[some]) for name, column in codes.items()}
    factors: list[str | None] = [None, *(name for name in codes if name != UNIT)]
    return {
        name: UnitScores.build([*([] if name is None else [codes[name]]), codes[UNIT]], value, positive, weight)
        for name in factors
    }


def count_ranks(source: Source, wanted: Wanted) -> Ranks:
    """Where the true class ranks among the scores of its row; every class must have a column."""
    if isinstance(source, FrameSource):
        from assay.tally.scores.engine_scores import ranks_of_frame

        return ranks_of_frame(source, wanted)
    return Ranks.of(*_matrix(source, wanted))


def _matrix(source: ArraySource, wanted: Wanted) -> tuple[NDArray[np.float64], NDArray[np.int64], Weights | None]:
    """The scores of all classes, the class numbers and the weights of rows with a true and a predicted label."""
    truth, there = classes_of(source, wanted.labels)
    matrix = np.column_stack([source.score[place][there] for place in wanted.columns])
    weight = None if source.weight is None else Weights.of(source.weight, source.quantum)[there]
    return matrix, truth[there], weight


def classes_of(source: ArraySource, labels: Sequence[Label]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The class number of each row, and which rows have one and a predicted label."""
    column, place = source.truth, {label: i for i, label in enumerate(labels)}
    span = np.array([place.get(column.label(i), -1) for i in range(column.span)] or [-1], dtype=np.int64)
    numbers = _numbers(column, slice(0, len(column)))
    there = np.ones(len(column), dtype=np.bool_) if column.missing is None else ~column.missing
    truth = span[np.where(there, numbers, 0)]
    return truth, there if source.predicted.missing is None else there & ~source.predicted.missing


def _is_class(column: Coded, label: Label) -> NDArray[np.bool_]:
    """Which rows are of a class, by one comparison of their codes."""
    number = next((i for i in range(column.span) if column.label(i) == label), None)
    if number is None:
        return np.zeros(len(column), dtype=np.bool_)
    return cast("NDArray[np.bool_]", column.codes == column.codes.dtype.type(number + column.offset))


def _levels(column: Coded) -> tuple[NDArray[np.int64], list[tuple[int, Label | None]]]:
    numbers = _numbers(column, slice(0, len(column)))
    seen = np.unique(numbers).tolist()
    return numbers, [(number, None if number == column.span else column.label(number)) for number in seen]


def count_row_scores(source: Source, wanted: Wanted) -> RowScores:
    """Count the largest probability and the direction of each row; every class must have a column."""
    if not isinstance(source, FrameSource):
        return RowScores.of(*_matrix(source, wanted))
    from assay.tally.scores.engine_scores import with_row_scores

    derived = with_row_scores(source, wanted.columns, wanted.labels)
    both = replace(wanted, labels=SIDES, scored=(RIGHT,), columns=(0,), probability=True)
    top, direction = (count_scores(replace(derived, score=(name,)), both).whole for name in (TOP, DIRECTION))
    return RowScores(top=top, direction=direction)
