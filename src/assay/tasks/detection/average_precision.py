# SPDX-License-Identifier: Apache-2.0
"""Average precision and recall from the tally: by class, area and IoU threshold, plain or for draws of images.

Only detections that hit or are ignored are visited; the others count by how many stand before each of them. Draws put
weights on the sorted tally, in single precision; nothing is matched again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.tasks.detection.kernel.box_matches import AREAS, COMBINATIONS, THRESHOLDS
from assay.tasks.detection.tally import BEYOND, LOOSE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from assay.tasks.detection.kernel.boxes import Flags, Floats, Whole
    from assay.tasks.detection.tally import Boxes

    Singles = NDArray[np.float32]

RECALLS: Final = {"coco101": np.linspace(0.0, 1.0, 101), "voc11": np.linspace(0.0, 1.0, 11)}
"""Recalls at which a rule reads the envelope of precision; rules that are not listed integrate over recall.

They are the numbers that pycocotools and VOC scripts use, a hair too large in places: a recall of 3/5 misses 0.6.
"""
INTERPOLATIONS: Final = ("coco101", "voc11", "voc_all", "raw")
TINY: Final = float(np.spacing(1))
"""pycocotools adds it to denominators."""
CAPS: Final = (1, 10, 100)
BLOCKS: Final = (128, 2048)
"""Draws that are worked on at a time: few for a large tally, so that a class fits into a processor's cache."""
CACHED: Final = 1 << 22
SLACK: Final = 1e-4
"""A recall that is this near to the next point of 100 reaches it: single precision holds no more."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranks:
    """Where the special detections of one class stand; axes (detection, area, threshold)."""

    hits: Flags
    true: Whole
    """Hits up to and including each."""
    position: Whole
    """Detections that count up to and including each."""


def counted_flags(flags: Whole) -> Flags:
    """Whether a detection that matches nothing counts, by area; not beyond the cap, outside the area or if loose."""
    codes, never = range(2 * LOOSE), BEYOND | LOOSE
    tables = [np.array([not code & never and (not bit or code & bit > 0) for code in codes]) for bit in (0, 1, 2, 4)]
    return np.stack([table[flags] for table in tables]).T


def shift_flags(tally: Boxes) -> Whole:
    """What the match of a special detection changes: +1 if it counts after all, -1 if it does not."""
    own = counted_flags(tally.flags[tally.detection])[:, :, None]
    return (tally.hits & ~own).astype(np.int64) - (tally.skips & own)


def rank_classes(tally: Boxes) -> Iterator[Ranks]:
    """The ranks of every class."""
    shifts = shift_flags(tally)
    for (first, last), (start, end) in zip(_spans(tally.special_starts), _spans(tally.starts), strict=True):
        places = tally.detection[first:last] - start
        yield rank_class(tally.flags[start:end], places, tally.hits[first:last], shifts[first:last])


def rank_class(flags: Whole, places: Whole, hits: Flags, shifts: Whole) -> Ranks:
    """The ranks of one class: flags of all detections, and places, hits and shifts of the special ones."""
    before = np.cumsum(counted_flags(flags).T, axis=1, dtype=np.int32).T
    position = before[places][:, :, None] + np.cumsum(shifts, axis=0)
    return Ranks(hits=hits, true=np.cumsum(hits, axis=0), position=position.astype(np.int64))


def _spans(starts: Whole) -> Iterator[tuple[int, int]]:
    yield from zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)


def average_precisions(tally: Boxes, rule: str = "coco101") -> Floats:
    """AP by class, area and threshold; NaN where a class has no object of the area."""
    if rule not in tally.precisions:
        values = np.full((len(tally.classes), len(AREAS), len(THRESHOLDS)), np.nan)
        for label, ranks in enumerate(rank_classes(tally)):
            objects = tally.objects_by_class[label]
            known = objects > 0
            if known.any():
                values[label] = np.where(known[:, None], area_under(ranks, objects, rule), np.nan)
        tally.precisions[rule] = values
    return tally.precisions[rule]


def area_under(ranks: Ranks, objects: Whole, rule: str) -> Floats:
    """AP of one class by area and threshold; `objects` are those of each area."""
    some = ranks.hits.any(axis=(1, 2))
    hits, true = ranks.hits[some], ranks.true[some]
    if not len(hits):
        return np.zeros(hits.shape[1:])
    tiny = TINY if rule == "coco101" else 0.0
    precision = np.where(hits, true / (np.maximum(ranks.position[some], 1) + tiny), 0.0)
    over = np.maximum(objects, 1)[:, None]
    if rule == "raw":
        return np.asarray(precision.sum(axis=0) / over)
    envelope = np.maximum.accumulate(precision[::-1], axis=0)[::-1]
    if rule == "voc_all":
        return np.asarray((envelope * hits).sum(axis=0) / over)
    recalls = RECALLS[rule]
    reached = np.empty(true.shape, dtype=np.int64)
    for area, count in enumerate(over[:, 0].tolist()):
        points = np.searchsorted(recalls, np.arange(count + 1) / count, side="right")
        reached[:, area] = points[np.minimum(true[:, area], count)]
    # the envelope falls only at hits, so that each step of recall may be given to the row where it is reached
    steps = np.diff(reached, axis=0, prepend=0)
    return np.asarray((envelope * steps).sum(axis=0) / len(recalls))


def hit_counts(tally: Boxes, weights: Floats) -> Floats:
    """Weight of the hits by class, area, cap, threshold and draw; `weights` are images by draws.

    Caps below the last one are read of any area only; for other areas they hold 0.
    """
    from scipy.sparse import csr_array

    hits = tally.hits.reshape(len(tally.detection), COMBINATIONS)
    label = np.repeat(np.arange(len(tally.classes)), np.diff(tally.special_starts))
    caps = (*(min(cap, tally.rules.cap) for cap in CAPS[:-1]), tally.rules.cap)
    shape = (len(tally.classes), len(AREAS), len(THRESHOLDS))
    parts = []
    for place, cap in enumerate(caps):
        wanted = hits if place == len(CAPS) - 1 else hits[:, : len(THRESHOLDS)]
        row, column = np.nonzero(wanted & (tally.rank < cap)[:, None])
        where = label[row] * COMBINATIONS + column, tally.image[tally.detection[row]]
        counts = csr_array((np.ones(len(row)), where), shape=(int(np.prod(shape)), len(tally.images)))
        parts.append((counts @ weights).reshape(*shape, -1))
    return np.stack(parts, axis=2)


def mean_defined(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """The mean over entries that are defined; NaN where none is."""
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.asarray(np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0))


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
