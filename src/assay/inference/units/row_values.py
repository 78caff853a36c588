# SPDX-License-Identifier: Apache-2.0
"""What each row adds to a measure of scores that is a mean over rows; a law holds the mean against the measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from assay.tally.scores.log_odds import clipped

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole
    from assay.measures.declare import Measure

MEANS = ("log_loss_multiclass", "brier_score_multiclass", "spherical_score_multiclass", "top_k_accuracy")


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
    held: Floats = np.minimum(room / (tied + 1), 1.0)
    if given["ties"] == "pessimistic":
        held = (tied < room).astype(np.float64)
    if given["ties"] == "optimistic":
        held = (room > 0).astype(np.float64)
    return held
