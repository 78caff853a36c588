# SPDX-License-Identifier: Apache-2.0
"""Notes on what was counted: classes without objects, detections beyond the cap, equal scores, duplicates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.text import counted, figure, quoted
from assay.tasks.detection.average_precision import (
    area_under,
    average_precisions,
    mean_defined,
    rank_class,
    shift_flags,
)
from assay.tasks.detection.box_values import RULES
from assay.tasks.detection.tally import BEYOND, Boxes

if TYPE_CHECKING:
    from assay.tasks.detection.kernel.boxes import Scenes, Whole

SHOWN: Final = 5
FEW: Final = 5
"""Images with a class below which the class is called rare."""
RARE_SHARE: Final = 0.4
"""Part of the classes that may be rare before map has no interval: beyond, fewer than 93 % would cover."""


def describe_counts(tally: Boxes, scenes: Scenes | None) -> Iterator[str]:
    """What to know of the boxes before the numbers."""
    objects = int(tally.objects[:, 2].sum())
    yield (
        f"rows are images: {counted(len(tally.images), 'image')} with {counted(objects, 'object')} that count "
        f"and {counted(len(tally.score), 'detection')}; the operating point is score >= {tally.rules.confidence:g}"
    )
    yield from describe_lonely_classes(tally)
    if beyond := int(((tally.flags & BEYOND) > 0).sum()):
        cap = tally.rules.cap
        yield (
            f"{counted(beyond, 'detection')} beyond the {cap} surest of an image and class (max_detections) do not "
            "enter map and ar; precision, recall and froc count them"
        )
    if tied := count_ties(tally):
        yield (
            f"{counted(tied, 'detection')} share a score with others that hit differently: their order is that of the "
            "images, then of the file (as in pycocotools)"
        )
    if scenes is not None and (twice := _count_duplicates(tally, scenes)):
        yield f"{counted(twice, 'detection')} repeat another one exactly: counted as false alarms"


def describe_lonely_classes(tally: Boxes) -> Iterator[str]:
    """Classes that have detections and no object, which no mean over classes sees."""
    lonely = np.flatnonzero((tally.objects_by_class[:, 0] == 0) & (tally.sizes > 0))
    for label in lonely[:SHOWN]:
        count = counted(int(tally.sizes[label]), "false positive")
        name = quoted(tally.classes[label])
        verb = "does" if tally.sizes[label] == 1 else "do"
        yield f"{count} in class {name}, which has no reference object, {verb} not enter the mean over classes"
    if len(lonely) > SHOWN:
        rest = int(tally.sizes[lonely[SHOWN:]].sum())
        classes = counted(len(lonely) - SHOWN, "further class", "further classes")
        yield f"false positives in {classes} without reference objects that do not enter the mean: {rest:,}"


def rare_classes(tally: Boxes) -> Whole:
    """Classes whose objects stand in fewer than five images."""
    images = np.bincount(tally.objects[:, 1], minlength=len(tally.classes))
    return np.flatnonzero((images > 0) & (images < FEW))


def refuse_rare(tally: Boxes, label: int | None, *, means: bool) -> str | None:
    """Why rare classes leave no interval: the class is rare, or too many of those that a mean is taken over."""
    rare = rare_classes(tally)
    if label is not None:
        return f"objects of the class stand in fewer than {FEW} images" if label in rare else None
    present = int((tally.objects_by_class[:, 0] > 0).sum())
    if not means or len(rare) <= RARE_SHARE * present:
        return None
    few = f"{len(rare)} of {present} classes have objects in fewer than {FEW} images"
    return f"{few}: too few for an interval that covers 93 %"


def _tied_groups(tally: Boxes) -> Iterator[tuple[int, Whole, Whole, Whole]]:
    """Classes with equal scores that hit differently, with three facts.

    They are: the IoU thresholds at which each detection hits, the group of equal scores of each detection, and the
    sizes of the groups whose order matters.
    """
    for label, (first, last) in enumerate(zip(tally.starts[:-1], tally.starts[1:], strict=True)):
        rows = slice(*tally.special_starts[label : label + 2].tolist())
        if rows.start == rows.stop:
            continue
        numbers = np.zeros(last - first, dtype=np.int64)
        numbers[tally.detection[rows] - first] = tally.hits[rows, 0].sum(axis=1)
        score = tally.score[first:last]
        starts = np.flatnonzero(np.concatenate([[True], score[1:] != score[:-1]]))
        mixed = np.maximum.reduceat(numbers, starts) > np.minimum.reduceat(numbers, starts)
        if mixed.any():
            sizes = np.diff(np.append(starts, last - first))
            yield label, numbers, np.repeat(np.arange(len(starts)), sizes), sizes[mixed]


def count_ties(tally: Boxes) -> int:
    """Detections of a class with equal scores that hit at different thresholds, so that their order matters."""
    return sum(int(sizes.sum()) for _, _, _, sizes in _tied_groups(tally))


def tie_range(tally: Boxes) -> tuple[float, float] | None:
    """The lowest and highest map over orders of equal scores; None where no order matters."""
    rule = RULES[tally.rules.profile]
    values = average_precisions(tally, rule)[:, 0]
    ends, shifts = [values.copy(), values.copy()], shift_flags(tally)
    some = False
    for label, numbers, groups, _ in _tied_groups(tally):
        some = True
        first, last = tally.starts[label : label + 2]
        rows = slice(*tally.special_starts[label : label + 2].tolist())
        for end, sign in zip(ends, (1, -1), strict=True):
            order = np.lexsort((sign * numbers, groups))
            inverse = np.empty(len(order), dtype=np.int64)
            inverse[order] = np.arange(len(order))
            place = inverse[tally.detection[rows] - first]
            special = np.argsort(place)
            flags = tally.flags[first:last][order]
            ranks = rank_class(flags, place[special], tally.hits[rows][special], shifts[rows][special])
            if not np.isnan(values[label]).any():
                end[label] = area_under(ranks, tally.objects_by_class[label], rule)[0]
    low, high = (float(mean_defined(end, (0, 1))) for end in ends)
    return (low, high) if some else None


def describe_ties(tally: Boxes) -> Iterator[str]:
    """The range of map over orders of equal scores."""
    if (ends := tie_range(tally)) is not None and ends[0] < ends[1]:
        low, high = (figure(end, digits=4) for end in ends)
        yield f"equal scores: from {low} to {high} in other orders of the tied detections"


def _count_duplicates(tally: Boxes, scenes: Scenes) -> int:
    """Detections that repeat another one of the same image, class, score and box."""
    near = (tally.score[1:] == tally.score[:-1]) & (tally.image[1:] == tally.image[:-1])
    suspects = np.zeros(len(tally.images), dtype=bool)
    suspects[tally.image[1:][near]] = True
    part = scenes.detections
    rows = np.flatnonzero(suspects[part.image]) if near.any() else np.zeros(0, dtype=np.int64)
    facts = np.column_stack([part.image[rows], part.label[rows], part.score[rows], part.box[rows]])
    return len(facts) - len(np.unique(facts, axis=0)) if len(facts) else 0
