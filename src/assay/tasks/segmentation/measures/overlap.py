# SPDX-License-Identifier: Apache-2.0
"""Overlap and volume of masks, pooled over all images or averaged over them."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from assay.core.traits import EXTENSION, HIGHER, LOWER, NEITHER, RAINIO, SCHLOSSER
from assay.core.values import Number, number
from assay.measures.declare import measure
from assay.tasks.segmentation.measures.quotients import NO_OBJECT, average
from assay.tasks.segmentation.tally import Masks

overlap = partial(measure, range=(0, 1), better=HIGHER, family="overlap")
overlap_error = partial(measure, range=(0, 1), better=LOWER, family="overlap")
image_mean = partial(measure, range=(0, 1), better=HIGHER, family="means over images", errata=("E-XS-09",))


@overlap(
    symbol="Acc.",
    also=("overall pixel accuracy",),
    says="of all pixels, the share whose label is right; near 1 wherever objects are small",
    formula="equal / pixels",
    source=RAINIO("pixel accuracy"),
    spec="M-SEG-01",
)
def pixel_accuracy(t: Masks) -> Number:
    return number(t.equal, over=t.pixels, empty="there are no pixels")


@overlap(
    symbol="D",
    also=("Sørensen-Dice", "DC", "F1 over pixels"),
    says="twice the voxels in both masks over the voxels of both, all images pooled",
    formula="2 * tp / (2 * tp + fp + fn)",
    source=(RAINIO("eq. 5"), SCHLOSSER("eq. 74")),
    spec="M-SEG-02",
    errata=("E-RAI-22", "E-XS-09"),
)
def dice(t: Masks) -> Number:
    return number(2 * t.tp, over=2 * t.tp + t.fp + t.fn, empty=NO_OBJECT)


@overlap(
    symbol="IoU",
    also=("Jaccard", "intersection over union"),
    says="the voxels in both masks over the voxels in either, all images pooled",
    formula="tp / (tp + fp + fn)",
    source=(RAINIO("eq. 6"), SCHLOSSER("eq. 73")),
    spec="M-SEG-03",
)
def iou(t: Masks) -> Number:
    return number(t.tp, over=t.tp + t.fp + t.fn, empty=NO_OBJECT)


@overlap(
    symbol="OC",
    also=("Szymkiewicz-Simpson",),
    says="the voxels in both masks over those of the smaller mask; 1 where one mask lies in the other",
    formula="tp / (tp + min(fp, fn))",
    source=SCHLOSSER("eq. 75"),
    spec="M-SEG-04",
)
def overlap_coefficient(t: Masks) -> Number:
    return number(t.tp, over=t.tp + np.minimum(t.fp, t.fn), empty="one of the masks is empty in all images")


@overlap(
    also=("pixel precision",),
    says="of the voxels that were predicted, the share that is true",
    formula="tp / (tp + fp)",
    source=EXTENSION,
)
def voxel_precision(t: Masks) -> Number:
    return number(t.tp, over=t.tp + t.fp, empty="no voxel was predicted")


@overlap(
    also=("pixel recall", "voxel sensitivity"),
    says="of the true voxels, the share that was predicted",
    formula="tp / (tp + fn)",
    source=EXTENSION,
)
def voxel_recall(t: Masks) -> Number:
    return number(t.tp, over=t.tp + t.fn, empty="no voxel of the truth belongs to an object")


@overlap_error(
    symbol="SVD",
    says="one minus Dice",
    formula="(fp + fn) / (2 * tp + fp + fn)",
    source=RAINIO("symmetric volume difference"),
    spec="M-SEG-09",
    errata=("E-XS-07",),
)
def symmetric_volume_difference(t: Masks) -> Number:
    return number(t.fp + t.fn, over=2 * t.tp + t.fp + t.fn, empty=NO_OBJECT)


@overlap_error(
    symbol="VOE",
    says="one minus IoU",
    formula="(fp + fn) / (tp + fp + fn)",
    source=RAINIO("volumetric overlap error"),
    spec="M-SEG-10",
)
def volumetric_overlap_error(t: Masks) -> Number:
    return number(t.fp + t.fn, over=t.tp + t.fp + t.fn, empty=NO_OBJECT)


@measure(
    symbol="RVD",
    also=("relative volume difference",),
    says="predicted volume minus true volume over true volume, all images pooled",
    formula="(fp - fn) / (tp + fn)",
    range=(-1, math.inf),
    better=NEITHER,
    source=EXTENSION,
    family="volume",
)
def volume_difference(t: Masks) -> Number:
    return number(t.fp - t.fn, over=t.tp + t.fn, empty="no voxel of the truth belongs to an object")


@measure(
    also=("AVDR",),
    says="how far the predicted volume is from the true one, over the true one, averaged over images with an object",
    formula="volume_sum / with_truth",
    range=(0, math.inf),
    better=LOWER,
    source=EXTENSION,
    family="volume",
)
def mean_absolute_volume_difference(t: Masks) -> Number:
    return number(t.volume_sum, over=t.with_truth, empty="no truth mask holds an object")


@image_mean(
    also=("mean Dice over images", "mDice"),
    says="the Dice of an image, averaged over the images that have one",
    formula="dice_sum / defined",
    source=RAINIO("mean Dice"),
    spec="M-SEG-11",
)
def mean_dice(t: Masks) -> Number:
    return average(t, t.dice_sum)


@image_mean(
    also=("mean IoU over images",),
    says="the IoU of an image, averaged over the images that have one",
    formula="iou_sum / defined",
    source=(RAINIO("mean IoU"), SCHLOSSER("eq. 73")),
    spec="M-SEG-12",
)
def mean_iou(t: Masks) -> Number:
    return average(t, t.iou_sum)
