# SPDX-License-Identifier: Apache-2.0
"""Matches detections with objects, in rounds over all pairs of image and class at once.

Rule of COCO ("free"): by falling score, each detection takes the free object of highest IoU at or above the threshold.
VOC ("best"): the object of highest IoU, even where it is taken. OpenImages ("groups"): as VOC; then the box of a group
that covers the detection, which counts once and swallows all further detections inside it.
Round r handles the r-th detection of every group of one image and class, for all IoU thresholds and areas together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.parallel import together, usable
from assay.tasks.detection.kernel.boxes import BoxTable, expand_ranges, places_in_runs
from assay.tasks.detection.kernel.overlaps import pair_overlaps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tasks.detection.kernel.boxes import Flags, Floats, Whole

THRESHOLDS: Final = np.linspace(0.5, 0.95, 10)
"""IoU thresholds as pycocotools computes them."""
LIMITS: Final = ((0.0, 1e10), (0.0, 32.0**2), (32.0**2, 96.0**2), (96.0**2, 1e10))
"""Areas in pixels, both ends included: all, small, medium, large."""
AREAS: Final = ("all", "small", "medium", "large")
COMBINATIONS: Final = len(LIMITS) * len(THRESHOLDS)
NEAR_ONE: Final = 1 - 1e-10
"""A threshold above this is lowered to it, so that equal boxes match at IoU 1 in spite of rounding."""
PREFERRED: Final = 1 << 24
"""Added to the rank of a candidate that counts: it is taken before objects that are ignored."""
GROUPS: Final = 1 << 22
"""Groups of image and class that are tabled at a time."""
MANY: Final = 100_000
"""Detections from which two threads share the work."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matches:
    """Detections that are a hit or are ignored for some threshold and area."""

    detection: Whole
    hit: NDArray[np.uint8]
    """Five bytes a detection: a bit for each area and threshold."""
    ignored: NDArray[np.uint8]
    rank: Whole
    """Place by falling score among the detections of its image and class, from 0."""
    target: Whole
    """The object that it hits at the lowest threshold, whatever its area; -1 for none."""
    iou: Floats


def inside_areas(area: Floats) -> Flags:
    """Whether an area lies in each of the four ranges; rows by ranges."""
    inside = np.ones((len(LIMITS), len(area)), dtype=bool)  # of any area also where it is unknown
    for place, (low, high) in enumerate(LIMITS[1:], start=1):
        inside[place] = (area >= low) & (area <= high)
    return inside.T


def match_boxes(
    objects: BoxTable, detections: BoxTable, falling: Whole, *, classes: int, cap: int, rule: str
) -> tuple[Matches, Flags]:
    """Match all detections; the second part flags those beyond the cap for one image and class.

    Objects must be sorted by image; detections too, and those of one image keep the order of the file. `falling` is
    the order of the detections by class and falling score.
    """
    beyond = np.zeros(len(detections.score), dtype=bool)
    images = max(int(objects.image.max(initial=-1)), int(detections.image.max(initial=-1))) + 1
    step = max(1, GROUPS // max(1, classes * usable()))
    if large := len(detections.score) > MANY:
        step = min(step, -(-images // usable()))

    def match_from(first: int) -> Matches:
        ends = [int(place) for place in np.searchsorted(objects.image, [first, first + step])]
        span = [int(place) for place in np.searchsorted(detections.image, [first, first + step])]
        inside = falling if step >= images else falling[(falling >= span[0]) & (falling < span[1])]
        block = Block(rows=slice(*ends), span=slice(*span), first=first, falling=inside)
        return _match_block(objects, detections, block, beyond, classes=classes, cap=cap, rule=rule)

    parts = together(match_from, range(0, max(images, 1), step), large=large)
    fields = ("detection", "hit", "ignored", "rank", "target", "iou")
    return Matches(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}), beyond


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Images that are matched together: rows of objects and of detections, the first image, detections in order."""

    rows: slice
    span: slice
    first: int
    falling: Whole


def _match_block(
    objects: BoxTable, detections: BoxTable, block: Block, beyond: Flags, *, classes: int, cap: int, rule: str
) -> Matches:
    rows, span, first = block.rows, block.span, block.first
    object_key = (objects.image[rows] - first) * classes + objects.label[rows]
    key = (detections.image[span] - first) * classes + detections.label[span]
    groups = int(max(object_key.max(initial=-1), key.max(initial=-1))) + 1
    order = np.argsort(object_key, kind="stable")
    counts = np.bincount(object_key, minlength=groups)
    starts = np.cumsum(counts) - counts
    sizes = np.bincount(key, minlength=groups)
    kept = block.falling - span.start
    kept = kept[((counts > 0) | (sizes > cap))[key][kept]]
    image = detections.image[span][kept] - first
    narrow = image.astype(np.uint16) if groups < classes << 16 else image  # numpy sorts these in a fraction of the time
    kept = kept[np.argsort(narrow, kind="stable")]  # by image, class and falling score
    rank = places_in_runs(key[kept])
    beyond[span.start + kept[rank >= cap]] = True
    place, owner = expand_ranges(starts[key[kept]], counts[key[kept]])
    place = order[place] + rows.start
    chosen = kept + span.start
    iou = pair_overlaps(detections, chosen[owner], objects, place)
    near = np.flatnonzero(iou >= THRESHOLDS[0])
    if not len(near):
        return _no_matches()
    candidates, owner = np.unique(owner[near], return_inverse=True)
    found = _match_in_rounds(objects, key[kept][candidates], owner, place[near], iou[near], rule=rule)
    hit, ignored, target, overlap = found
    special = np.flatnonzero(hit.any(axis=1) | ignored.any(axis=1))
    chosen = candidates[special]
    return Matches(
        detection=kept[chosen] + span.start,
        hit=np.packbits(hit[special], axis=1),
        ignored=np.packbits(ignored[special], axis=1),
        rank=rank[chosen],
        target=target[special],
        iou=overlap[special],
    )


def _no_matches() -> Matches:
    nothing, masks = np.zeros(0, dtype=np.int64), np.zeros((0, COMBINATIONS // 8), dtype=np.uint8)
    return Matches(
        detection=nothing, hit=masks, ignored=masks, rank=nothing, target=nothing, iou=np.zeros(0, dtype=np.float64)
    )


def _match_in_rounds(
    objects: BoxTable, key: Whole, owner: Whole, place: Whole, iou: Floats, *, rule: str
) -> tuple[Flags, Flags, Whole, Floats]:
    """Whether each candidate detection hits or is ignored, by area and threshold; its object and IoU at the lowest."""
    turn = places_in_runs(key)
    order = np.lexsort((place, iou, owner, turn[owner]))  # the best candidate of a detection is its last
    owner, place, iou = owner[order], place[order], iou[order]
    worth = (places_in_runs(owner) + 1).astype(np.int32)
    used, place = np.unique(place, return_inverse=True)
    crowd, groups = objects.crowd[used], rule == "groups"
    skipped = ~inside_areas(objects.area[used]) | (objects.ignore[used] | (crowd & (not groups)))[:, None]
    taken = np.zeros((len(used), len(LIMITS), len(THRESHOLDS)), dtype=bool)
    hit = np.zeros((len(key), COMBINATIONS), dtype=bool)
    ignored = np.zeros_like(hit)
    target, overlap = np.full(len(key), -1), np.zeros(len(key))
    limits = np.minimum(THRESHOLDS, NEAR_ONE)
    ends = np.searchsorted(turn[owner], np.arange(int(turn.max(initial=-1)) + 2))
    for first, last in pairwise(ends.tolist()):
        part = slice(first, last)
        here, mine = place[part], owner[part]
        allowed = np.broadcast_to((iou[part, None] >= limits)[:, None, :], (last - first, *taken.shape[1:]))
        many = crowd[here, None, None]
        free = ~taken[here] | (many & (not groups))
        counts = ~skipped[here][:, :, None]
        starts = np.flatnonzero(np.concatenate([[True], mine[1:] != mine[:-1]]))
        rank = worth[part, None, None]
        if rule == "free":
            chosen = _choose_best(np.where(allowed & free, rank + PREFERRED * counts.astype(np.int32), 0), starts)
        elif rule == "best":
            chosen = _choose_best(np.where(allowed, rank, 0), starts)
        else:  # the best object; where that is taken or there is none, the group that holds the detection
            chosen = _choose_best(np.where(allowed & ~many, rank, 0), starts) & free
            settled = np.repeat(np.logical_or.reduceat(chosen, starts, axis=0), _sizes(starts, len(mine)), axis=0)
            chosen |= _choose_best(np.where(allowed & many & ~settled, rank, 0), starts)
        hits = chosen & counts & free
        lost = chosen & ~(counts & (free | ~many))
        taken[here] |= chosen
        detection = mine[starts]
        hit[detection] = np.logical_or.reduceat(hits, starts, axis=0).reshape(len(starts), -1)
        ignored[detection] = np.logical_or.reduceat(lost, starts, axis=0).reshape(len(starts), -1)
        found = np.flatnonzero(hits[:, 0, 0])
        target[mine[found]], overlap[mine[found]] = used[here[found]], iou[part][found]
    return hit, ignored, target, overlap


def _sizes(starts: Whole, total: int) -> Whole:
    return np.diff(np.append(starts, total))


def _choose_best(value: NDArray[np.integer], starts: Whole) -> Flags:
    """The candidate of highest value in each run of rows; none where all are 0."""
    best = np.maximum.reduceat(value, starts, axis=0)
    return np.asarray((value == np.repeat(best, _sizes(starts, len(value)), axis=0)) & (value > 0))
