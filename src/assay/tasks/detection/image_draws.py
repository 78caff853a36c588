# SPDX-License-Identifier: Apache-2.0
"""Average precision of many draws of images at once, from weights on the sorted tally; nothing is matched again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from assay.tasks.detection.average_precision import RECALLS, counted_flags, shift_flags
from assay.tasks.detection.kernel.box_matches import AREAS, THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from assay.tasks.detection.kernel.boxes import Flags, Floats, Whole
    from assay.tasks.detection.tally import Boxes

    Singles = NDArray[np.float32]

BLOCKS: Final = (128, 2048)
"""Draws that are worked on at a time: few for a large tally, so that a class fits into a processor's cache."""
CACHED: Final = 1 << 22
SLACK: Final = 1e-4
"""A recall that is this near to the next point of 100 reaches it: single precision holds no more."""


def draw_precisions(
    tally: Boxes,
    weights: Floats,
    areas: Sequence[int] = (0,),
    *,
    objects: Floats | None = None,
    rule: str = "coco101",
) -> Floats:
    """AP by draw, class, area and threshold; NaN where a class has no object in a draw.

    `weights` says how often each image counts in each draw (images by draws). `objects` (classes, areas, draws) stands
    for the weighted number of objects where that differs.
    """
    if objects is None:
        objects = weigh_objects(tally, weights)
    if not len(tally.detection):
        missing = np.moveaxis(objects[:, list(areas)], 2, 0) <= 0
        return np.where(missing, np.nan, 0.0)[..., None] * np.ones(len(THRESHOLDS))
    shifts = shift_flags(tally)
    draws = weights.shape[1]
    values = np.full((draws, len(tally.classes), len(areas), len(THRESHOLDS)), np.nan)
    step = int(np.clip(CACHED // len(tally.detection), *BLOCKS))
    for first in range(0, draws, step):
        part = slice(first, min(first + step, draws))
        block = np.ascontiguousarray(weights[:, part], dtype=np.float32)
        for label in range(len(tally.classes)):
            counted = counted_flags(tally.flags[tally.starts[label] : tally.starts[label + 1]])
            for place, area in enumerate(areas):
                if objects[label, area].any():
                    values[part, label, place] = _class_precisions(
                        tally, block, objects[label, area, part],
                        label=label, area=area, counted=counted[:, area], shifts=shifts[:, area], rule=rule,
                    )  # fmt: skip
    return values


def weigh_objects(tally: Boxes, weights: Floats) -> Floats:
    """Objects by class, area and draw."""
    from scipy.sparse import csr_array

    image, label = tally.objects[:, 0], tally.objects[:, 1]
    shape = (len(tally.classes), len(tally.images))
    parts = [csr_array((tally.objects[:, 2 + area], (label, image)), shape=shape) for area in range(len(AREAS))]
    return np.stack([part.astype(np.float64) @ weights for part in parts], axis=1)


def _class_precisions(
    tally: Boxes, weights: Singles, objects: Floats, *, label: int, area: int, counted: Flags, shifts: Whole, rule: str
) -> Floats:
    """AP of one class and area by draw and threshold."""
    first, last = tally.special_starts[label : label + 2]
    start = int(tally.starts[label])
    empty = objects <= 0
    scale = (1 / np.where(empty, 1.0, objects)).astype(np.float32)
    values = np.zeros((weights.shape[1], len(THRESHOLDS)))
    hits = tally.hits[first:last, area]
    useful = int(np.flatnonzero(hits.any(axis=1)).max(initial=-1)) + 1
    if useful:
        places = tally.detection[first : first + useful]
        mine = weights[tally.image[places]]
        position = _weigh_positions(tally, places, start, counted, weights)
        moved = shifts[first : first + useful]
        for threshold in range(len(THRESHOLDS)):
            rows = np.flatnonzero(hits[:useful, threshold])
            if not len(rows):
                continue
            before = position[rows]
            changed = np.flatnonzero(moved[:, threshold])
            if len(changed):
                extra = np.cumsum(mine[changed] * moved[changed, threshold, None].astype(np.float32), axis=0)
                passed = np.searchsorted(changed, rows, side="right")
                before[passed > 0] += extra[passed[passed > 0] - 1]
            values[:, threshold] = _area_of_draws(mine[rows], before, scale, rule)
    values[empty] = np.nan
    return values


def _weigh_positions(tally: Boxes, places: np.ndarray, start: int, counted: Flags, weights: Singles) -> Singles:
    """Weight of the counted detections up to and including each of some places."""
    from scipy.sparse import csr_array

    end = int(places[-1]) + 1
    kept = np.flatnonzero(counted[: end - start])
    ends = np.searchsorted(kept, places - start, side="right")
    pointer = np.concatenate([[0], ends])
    image = tally.image[start + kept[: ends[-1]]]
    sums = csr_array((np.ones(len(image), dtype=np.float32), image, pointer), shape=(len(places), weights.shape[0]))
    return np.cumsum(sums @ weights, axis=0, dtype=np.float32)


def _area_of_draws(mine: Singles, position: Singles, scale: Singles, rule: str) -> Singles:
    """AP by draw, from the weights of the hits, the positions at them, and one over the number of objects."""
    true = np.cumsum(mine, axis=0, dtype=np.float32)
    envelope = true / np.maximum(position, np.float32(0.5))
    if rule != "raw":
        np.maximum.accumulate(envelope[::-1], axis=0, out=envelope[::-1])
    if rule not in RECALLS:
        return np.asarray(np.einsum("ij,ij->j", mine, envelope) * scale)
    points = len(RECALLS[rule]) - 1
    true *= scale * np.float32(points)
    true += np.float32(SLACK)
    reached = np.floor(true, out=true)
    drops = envelope[:-1] - envelope[1:]
    area = np.einsum("ij,ij->j", reached[:-1], drops) + reached[-1] * envelope[-1] + envelope[0]
    return np.asarray(area / np.float32(points + 1))
