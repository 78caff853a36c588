# SPDX-License-Identifier: Apache-2.0
"""Counts scenes into a tally: the kernel that sees boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.tasks.detection.kernel.box_matches import AREAS, Matches, inside_areas, match_boxes
from assay.tasks.detection.kernel.boxes import BoxTable, Scenes
from assay.tasks.detection.kernel.error_kinds import count_errors
from assay.tasks.detection.tally import BEYOND, LOOSE, PICTURES, Boxes, Rules, keep_pictures, sort_columns

if TYPE_CHECKING:
    from assay.tasks.detection.kernel.boxes import Flags, Whole

RULES = {"coco": "free", "lvis": "free", "voc": "best", "openimages": "groups"}
"""How a detection finds its object, by profile."""
DRAWN = 40
"""Boxes of one image that are kept to be drawn, of each kind."""


def count_scenes(scenes: Scenes, rules: Rules) -> Boxes:
    """Match and count all images."""
    objects, detections = _sort_by_image(scenes.objects), _sort_by_image(scenes.detections)
    classes = len(scenes.classes)
    order, rule = sort_columns(detections.label, detections.score, classes), RULES[rules.profile]
    matches, beyond = match_boxes(objects, detections, order, classes=classes, cap=rules.cap, rule=rule)
    inside = inside_areas(detections.area)
    flags = inside[:, 1] + 2 * inside[:, 2].astype(np.int64) + 4 * inside[:, 3] + BEYOND * beyond
    if detections.loose is not None:
        flags += LOOSE * detections.loose
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.arange(len(order))
    place = inverse[matches.detection]
    special = np.argsort(place)
    errors, pictures = _count_errors(scenes, objects, detections, matches, rules)
    first = np.searchsorted(objects.image, objects.image)  # objects are named by their place inside the image
    number = np.arange(len(first)) - first + 1
    return Boxes(
        rules=rules,
        images=scenes.images,
        classes=scenes.classes,
        sizes=np.bincount(detections.label, minlength=classes),
        image=detections.image[order].astype(np.int32),  # a row of the tally takes 13 bytes
        score=detections.score[order],
        flags=flags[order].astype(np.uint8),
        detection=place[special],
        hit=matches.hit[special],
        ignored=matches.ignored[special],
        rank=matches.rank[special],
        target=np.where(matches.target >= 0, number[matches.target], 0)[special],
        iou=matches.iou[special],
        objects=_count_objects(objects, classes, groups=rule == "groups"),
        errors=errors,
        frequency=scenes.frequency,
        pictures=pictures,
    )


def _sort_by_image(table: BoxTable) -> BoxTable:
    if (table.image[1:] >= table.image[:-1]).all():
        return table
    return table.select(np.argsort(table.image, kind="stable"))


def _count_objects(objects: BoxTable, classes: int, *, groups: bool) -> Whole:
    """Rows of image, class and objects by area; pairs of which none counts are left out."""
    counts = inside_areas(objects.area) & ~(objects.ignore | (objects.crowd & (not groups)))[:, None]
    keys, place = np.unique(objects.image * classes + objects.label, return_inverse=True)
    rows = np.column_stack(
        [keys // classes, keys % classes]
        + [np.bincount(place, counts[:, area], minlength=len(keys)).astype(np.int64) for area in range(len(AREAS))]
    )
    return rows[rows[:, 2] > 0]


def _count_errors(
    scenes: Scenes, objects: BoxTable, detections: BoxTable, matches: Matches, rules: Rules
) -> tuple[Whole, tuple[dict[str, object], ...]]:
    """Errors at the operating point, and the boxes of the images that have the most."""
    hit = np.full(len(detections.score), -1)
    hit[matches.detection] = matches.target
    ignored = np.zeros(len(hit), dtype=bool)
    ignored[matches.detection] = matches.ignored[:, 0] >> 7 == 1
    if detections.loose is not None:
        ignored |= detections.loose
    sure = np.flatnonzero(detections.score >= rules.confidence)
    certain = detections.select(sure)
    errors = count_errors(objects, certain, len(scenes.images), hit[sure], ignored[sure])
    total = errors.sum(axis=1)
    worst = np.argsort(-total, kind="stable")[:PICTURES]
    pictures = [
        _picture(scenes, objects, certain, hit[sure], image=int(image)) | {"errors": int(total[image])}
        for image in worst
        if total[image]
    ]
    return errors, keep_pictures(pictures)


def _picture(scenes: Scenes, objects: BoxTable, detections: BoxTable, hit: Whole, *, image: int) -> dict[str, object]:
    """The boxes of one image, at most `DRAWN` of each kind; the surest detections first."""
    mine = np.flatnonzero(detections.image == image)
    mine = mine[np.argsort(-detections.score[mine], kind="stable")]
    there = np.flatnonzero(objects.image == image)
    name = scenes.images[image]
    corner = [
        (rows.box[kept, :2] + rows.box[kept, 2:4]).max(axis=0, initial=1.0)
        for rows, kept in ((objects, there), (detections, mine))
    ]
    width, height = scenes.sizes.get(name, tuple(np.maximum(*corner).tolist()))
    matched = np.isin(there, hit[mine])
    return {
        "image": name,
        "width": width,
        "height": height,
        "truth": _drawn(scenes, objects.box, objects.label, there, matched),
        "predicted": _drawn(scenes, detections.box, detections.label, mine, hit[mine] >= 0),
    }


def _drawn(scenes: Scenes, box: np.ndarray, label: Whole, rows: Whole, right: Flags) -> list[list[object]]:
    """Class, whether it is right, and the corners of boxes."""
    return [
        [scenes.classes[label[row]], bool(flag), *np.round(box[row, :4], 1).tolist()]
        for row, flag in zip(rows[:DRAWN], right[:DRAWN], strict=True)
    ]
