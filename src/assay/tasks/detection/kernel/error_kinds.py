# SPDX-License-Identifier: Apache-2.0
"""Kinds of error at the operating point, after TIDE (Bolya et al. 2020): one kind for each false alarm, and misses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from assay.tasks.detection.kernel.boxes import BoxTable, expand_ranges
from assay.tasks.detection.kernel.overlaps import pair_overlaps

if TYPE_CHECKING:
    from assay.tasks.detection.kernel.boxes import Flags, Whole

ERRORS: Final = ("class", "location", "both", "duplicate", "background", "missed")
FOREGROUND, BACKGROUND = 0.5, 0.1
"""IoU at which a box is at an object, and below which it is on the background."""
PAIRS: Final = 1 << 20
"""Pairs of boxes that are compared at a time."""


def count_errors(objects: BoxTable, detections: BoxTable, images: int, hit: Whole, ignored: Flags) -> Whole:
    """Errors by image and kind, of detections at or above the confidence.

    `hit` is the object of each detection or -1, `ignored` flags those that do not count. Tables are sorted by image.
    """
    counts = np.zeros((images, len(ERRORS)), dtype=np.int64)
    matched = np.zeros(len(objects.area), dtype=bool)
    matched[hit[hit >= 0]] = True
    wrong = np.flatnonzero((hit < 0) & ~ignored)
    first = np.searchsorted(objects.image, np.arange(images + 1))
    explained = matched.copy()
    sizes = np.diff(first)[detections.image[wrong]]
    cuts = np.searchsorted(np.cumsum(sizes), np.arange(PAIRS, int(sizes.sum()) + PAIRS, PAIRS), side="right")
    for part in np.split(wrong, np.unique(cuts[cuts < len(wrong)])):
        if len(part):
            kind = _judge(objects, detections, part, first, explained=explained)
            np.add.at(counts, (detections.image[part], kind), 1)
    missed = ~explained & ~objects.crowd & ~objects.ignore
    counts[:, -1] = np.bincount(objects.image[missed], minlength=images)
    return counts


def _judge(objects: BoxTable, detections: BoxTable, part: Whole, first: Whole, *, explained: Flags) -> Whole:
    """The kind of error of each false alarm; objects that a wrong class or place explains are not missed."""
    image = detections.image[part]
    place, owner = expand_ranges(first[image], first[image + 1] - first[image])
    iou = pair_overlaps(detections, part[owner], objects, place)
    same = objects.label[place] == detections.label[part[owner]]
    own, other = (_best(np.where(flag, iou, 0.0), owner, len(part)) for flag in (same, ~same))
    near = (own >= BACKGROUND) & (own < FOREGROUND)
    kind = np.select(
        [near, other >= FOREGROUND, own >= FOREGROUND, other >= BACKGROUND],
        [ERRORS.index("location"), ERRORS.index("class"), ERRORS.index("duplicate"), ERRORS.index("both")],
        ERRORS.index("background"),
    )
    at = (same & (kind[owner] == 1) & (iou == own[owner])) | (~same & (kind[owner] == 0) & (iou == other[owner]))
    explained[place[at]] = True
    return kind


def _best(values: np.ndarray, owner: Whole, size: int) -> np.ndarray:
    best = np.zeros(size)
    np.maximum.at(best, owner, values)
    return best
