# SPDX-License-Identifier: Apache-2.0
"""Chooses the threshold of soft masks on other images than those that are assessed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from assay.core.errors import RowsError
from assay.tasks.image_inputs import list_images
from assay.tasks.segmentation.kernel import Rules
from assay.tasks.segmentation.roles import load_mask, to_labels

CANDIDATES: Final = tuple(step / 100 for step in range(5, 100, 5))


def choose_threshold(truth: object, predicted: object, candidates: Sequence[float] = CANDIDATES) -> float:
    """The threshold with the highest median Dice on training masks; of equal ones the lowest.

    A mask is an object where its value is at least the threshold. State it when you assess other images.

    >>> choose_threshold([np.array([[0, 1, 1]])], [np.array([[0.1, 0.4, 0.8]])])
    0.15
    """
    sides = [list_images(given, role, 2).sources for given, role in ((truth, "truth"), (predicted, "predicted"))]
    ordered, rules = np.sort(np.asarray(candidates, dtype=np.float64)), Rules()
    dice: list[list[float]] = []
    for true, soft in zip(*sides, strict=True):
        mask = to_labels(load_mask(true, rules).values, "truth", rules) != 0
        values = np.asarray(load_mask(soft, rules).values, dtype=np.float64)
        sizes = [(int((values >= cut).sum()), int((mask & (values >= cut)).sum())) for cut in ordered]
        if mask.any():
            dice.append([2 * both / (int(mask.sum()) + size) for size, both in sizes])
    if not dice:
        raise RowsError("no-rows", "no training mask holds an object", fix="give masks with objects")
    return float(ordered[int(np.argmax(np.median(dice, axis=0)))])
