# SPDX-License-Identifier: Apache-2.0
"""How far a detection and an object agree, by pairs of rows: IoU of boxes, rotated boxes or masks, OKS of keypoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.tasks.detection.kernel.boxes import BoxTable, box_ious
from assay.tasks.detection.kernel.masks import mask_ious

if TYPE_CHECKING:
    from assay.tasks.detection.kernel.boxes import Flags, Floats, Whole

CHUNK: Final = 1 << 12
UPRIGHT: Final = 4
"""Numbers of a box without an angle."""
NEAR: Final = 1e-9
"""Corners this near to an edge lie on it."""


def pair_overlaps(detections: BoxTable, rows: Whole, objects: BoxTable, others: Whole) -> Floats:
    """The overlap of each pair; pairs of one detection follow each other."""
    if detections.points is not None and objects.points is not None:
        return _in_chunks(rows, lambda part: keypoint_overlaps(detections, rows[part], objects, others[part]))
    if detections.mask is not None and objects.mask is not None:
        return mask_ious(detections.mask, rows, objects.mask, others, objects.crowd)
    if detections.box.shape[1] > UPRIGHT:
        crowd = objects.crowd
        return _in_chunks(
            rows, lambda part: rotated_ious(detections.box[rows[part]], objects.box[others[part]], crowd[others[part]])
        )
    return box_ious(detections.box, rows, objects.box, others, objects.crowd)


def _in_chunks(rows: Whole, compute: Callable[[slice], Floats]) -> Floats:
    parts = [compute(slice(start, start + CHUNK)) for start in range(0, len(rows), CHUNK)]
    return np.concatenate(parts) if parts else np.zeros(0)


def keypoint_overlaps(detections: BoxTable, rows: Whole, objects: BoxTable, others: Whole) -> Floats:
    """Object keypoint similarity as in pycocotools: the mean over visible points of a Gaussian of their distance.

    Where no point of the object is visible, distances run to the box of twice its width and height.
    """
    assert detections.points is not None and objects.points is not None  # noqa: S101, PT018  the caller looked
    detected_points, true = detections.points[rows], objects.points[others]
    visible = true[..., 2] > 0
    blind: Flags = ~np.asarray(visible.any(axis=1))
    away = np.zeros(true.shape[:2])
    for axis in (0, 1):
        start, length = objects.box[others, axis][:, None], objects.box[others, axis + 2][:, None]
        low, high = start - length, start + 2 * length
        outside = np.maximum(0, low - detected_points[..., axis]) + np.maximum(0, detected_points[..., axis] - high)
        away += np.where(blind[:, None], outside, detected_points[..., axis] - true[..., axis]) ** 2
    strength = np.exp(-away / true[..., 3] / (objects.area[others][:, None] + np.spacing(1)) / 2)
    counts = visible | blind[:, None]
    return np.asarray(np.where(counts, strength, 0.0).sum(axis=1) / counts.sum(axis=1))


def rotated_ious(first: Floats, second: Floats, crowd: Flags) -> Floats:
    """IoU of boxes x, y, width, height that are turned about their centres by an angle in degrees.

    The common part of two rectangles has its corners among theirs and the crossings of their sides.
    """
    corners = [_turned_corners(box) for box in (first, second)]
    points, valid = [], []
    for own, other in (corners, corners[::-1]):
        points.append(own)
        valid.append(_inside(own, other))
    sides = [np.roll(corner, -1, axis=1) - corner for corner in corners]
    start = corners[1][:, None, :, :] - corners[0][:, :, None, :]
    across = _cross(sides[0][:, :, None, :], sides[1][:, None, :, :])
    with np.errstate(divide="ignore", invalid="ignore"):
        along = _cross(start, sides[1][:, None, :, :]) / across
        beside = _cross(start, sides[0][:, :, None, :]) / across
    crossing = (across != 0) & (along >= 0) & (along <= 1) & (beside >= 0) & (beside <= 1)
    along = np.where(crossing, along, 0.0)
    points.append((corners[0][:, :, None, :] + along[..., None] * sides[0][:, :, None, :]).reshape(len(first), -1, 2))
    valid.append(crossing.reshape(len(first), -1))
    common = _convex_area(np.concatenate(points, axis=1), np.concatenate(valid, axis=1))
    whole, other_area = (box[:, 2] * box[:, 3] for box in (first, second))
    common = np.minimum(common, np.minimum(whole, other_area))
    total = np.where(crowd, whole, whole + other_area - common)
    return np.asarray(np.divide(common, total, out=np.zeros_like(common), where=total > 0))


def _turned_corners(box: Floats) -> Floats:
    """The four corners of each box."""
    turn = np.radians(box[:, 4])
    centre = box[:, :2] + box[:, 2:4] / 2
    across = np.stack([np.cos(turn), np.sin(turn)], axis=1) * box[:, 2:3] / 2
    down = np.stack([-np.sin(turn), np.cos(turn)], axis=1) * box[:, 3:4] / 2
    return np.stack([centre - across - down, centre + across - down, centre + across + down, centre - across + down], 1)


def _inside(points: Floats, corners: Floats) -> Flags:
    """Which points lie in a rectangle, its sides included."""
    sides = np.roll(corners, -1, axis=1) - corners
    turned = _cross(sides[:, None], points[:, :, None] - corners[:, None])
    lengths = np.hypot(sides[..., 0], sides[..., 1])[:, None]
    return np.asarray((turned >= -NEAR * (1 + lengths)).all(axis=2))


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def _convex_area(points: Floats, valid: Flags) -> Floats:
    """The area of the convex shape whose corners are the valid points, in any order and perhaps repeated."""
    count = np.maximum(valid.sum(axis=1), 1)[:, None]
    centre = np.where(valid[..., None], points, 0.0).sum(axis=1) / count
    away = points - centre[:, None]
    angle = np.where(valid, np.arctan2(away[..., 1], away[..., 0]), np.inf)
    order = np.argsort(angle, axis=1)
    away = np.take_along_axis(away, order[..., None], axis=1)
    known = np.take_along_axis(valid, order, axis=1)
    away = np.where(known[..., None], away, away[:, :1])  # what is left over repeats the first corner
    return np.asarray(np.abs(_cross(away, np.roll(away, -1, axis=1)).sum(axis=1)) / 2 * valid.any(axis=1))
