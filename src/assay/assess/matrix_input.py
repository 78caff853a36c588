# SPDX-License-Identifier: Apache-2.0
"""A ready-made confusion matrix as input: it must say what its rows are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.assess.arguments import IntervalSettings
from assay.assess.assessment import Assessment
from assay.core.errors import OutOfRange, PlanError, RowsError, unknown_choice
from assay.core.labels import Label
from assay.core.text import listed, quoted
from assay.rows.label_types import classes
from assay.tally.base import LARGEST
from assay.tally.census import Census
from assay.tally.labels.confusion import Confusion
from assay.tasks.classification import CLASSIFICATION
from assay.tasks.classification.cost_matrix import Costs
from assay.tasks.classification.settings import Settings, chosen
from assay.tasks.classification.tally import Classified

if TYPE_CHECKING:
    from assay.measures import Measure

ORIENTATIONS = {"rows=truth": True, "rows=predicted": False}


def from_confusion_matrix(
    confusion: object,
    *,
    orientation: str | None = None,
    labels: Sequence[Label] | None = None,
    positive: Label | None = None,
    level: float = 0.95,
    measures: Iterable[str | Measure] | str | None = None,
    costs: object = None,
    intervals: IntervalSettings | None = None,
) -> Assessment:
    """Compute every measure with its interval from the counts of a confusion matrix.

    confusion: a square matrix of counts; a frame names its classes
    orientation: "rows=truth" (scikit-learn) or "rows=predicted" (TS 4213, Table A.1)
    labels, positive, level, measures, costs, intervals: as in `assess`

    >>> from_confusion_matrix([[50, 10], [5, 35]], orientation="rows=truth")["recall"].value
    0.875
    """
    intervals = intervals or IntervalSettings()
    settings = Settings(
        wanted=intervals.wanted(level), undefined=intervals.undefined, measures=chosen(measures),
        costs=Costs.read(costs),
    )  # fmt: skip
    names = _axis_names(confusion, labels)
    cells = _counts(confusion)
    if not _truth_in_rows(cells, orientation):
        cells = [list(column) for column in zip(*cells, strict=True)]
    known = tuple(range(len(cells))) if names is None else names
    if len(known) != len(cells):
        what = f"the matrix has {len(cells)} classes, the labels name {len(known)}"
        raise RowsError("matrix-shape", what, known=listed(known), fix="name every class once")
    rows = sum(map(sum, cells))
    if rows == 0:
        raise RowsError("no-rows", "every cell of the matrix is zero", where="confusion", fix="give counts")
    settled = classes(set(known), set(known), known, positive, where="the given matrix")
    pairs = {(known[i], known[j]): n for i, row in enumerate(cells) for j, n in enumerate(row)}
    tally = Classified(confusion=Confusion.from_cells(pairs, labels=settled.labels), positive=settled.positive)
    settings, census = settings.fitted(settled.labels), Census(read=rows, scored=rows)
    data = {"from": "confusion matrix", "orientation": orientation or "symmetric"}
    return Assessment(CLASSIFICATION, tally, settings, census=census, notes=settled.notes, data=data)


def _axis_names(confusion: object, labels: Sequence[Label] | None) -> tuple[Label, ...] | None:
    if labels is not None:
        return tuple(labels)
    index, columns = getattr(confusion, "index", None), getattr(confusion, "columns", None)
    if index is None or columns is None or callable(index):
        return None
    if list(index) != list(columns):
        what = "the rows and columns of the matrix name different classes"
        shown = f"{listed(list(index))} and {listed(list(columns))}"
        fix = "put the classes in the same order on both sides"
        raise RowsError("matrix-shape", what, where="confusion", found=shown, fix=fix)
    return tuple(cast("Label", x.item() if hasattr(x, "item") else x) for x in index)


def _counts(confusion: object) -> list[list[int]]:
    try:
        array: np.ndarray[Any, Any] = np.asarray(confusion, dtype=object)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:  # noqa: PLR2004
        what = f"the matrix has shape {array.shape}, not K x K"
        raise RowsError("matrix-shape", what, where="confusion", fix="give a square matrix of counts")
    bad = [(i, j, v) for (i, j), v in np.ndenumerate(array) if not _whole(v)]
    if bad:
        shown = ", ".join(f"{v!r} at row {i}, column {j}" for i, j, v in bad[:3])
        what = f"{len(bad)} of {array.size} cells {'is' if len(bad) == 1 else 'are'} not a count"
        known, fix = "whole numbers from 0 up", "give counts of rows, not shares or percentages"
        raise OutOfRange("count-not-whole", what, where="confusion", found=shown, known=known, fix=fix)
    counts = [[int(v) for v in row] for row in array]
    if sum(map(sum, counts)) > LARGEST:
        raise OutOfRange(
            "count-overflow", "the counts add up to more than 2^63 - 1", where="confusion", fix="check the counts"
        )
    return counts


def _whole(value: object) -> bool:
    try:
        number = float(cast("float", value))
    except (TypeError, ValueError):
        return False
    return not isinstance(value, (bool, str)) and np.isfinite(number) and number >= 0 and number == int(number)


def _truth_in_rows(cells: list[list[int]], orientation: str | None) -> bool:
    if orientation in ORIENTATIONS:
        return ORIENTATIONS[orientation]
    if orientation is None and all(cells[i][j] == cells[j][i] for i in range(len(cells)) for j in range(i)):
        return True
    if orientation is None:
        what = "the matrix does not say whether its rows are the truth or the prediction"
        fix = 'state it: orientation="rows=truth" (scikit-learn) or "rows=predicted" (TS 4213, Table A.1)'
        raise PlanError("orientation-undeclared", what, where="confusion", known=", ".join(ORIENTATIONS), fix=fix)
    raise unknown_choice(orientation, ORIENTATIONS, f"orientation={quoted(orientation)} is not known")
