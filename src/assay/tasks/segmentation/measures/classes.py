# SPDX-License-Identifier: Apache-2.0
"""Averages over classes of what is pooled or averaged over images."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from assay.core.traits import EXTENSION, HIGHER, RAINIO, SCHLOSSER
from assay.core.values import Number
from assay.measures.declare import Measure, measure
from assay.tasks.segmentation.measures.lines import KIRILLOV
from assay.tasks.segmentation.measures.quotients import average_classes
from assay.tasks.segmentation.tally import Masks

if TYPE_CHECKING:
    from assay.core.arrays import Floats

class_mean = partial(measure, range=(0, 1), better=HIGHER, family="means over classes")


class ClassMasks(Masks):
    """The sums of all classes, along a last axis."""

    def __init__(self, values: Floats) -> None:
        stack = values.reshape(*values.shape[:-1], -1, len(Masks.NAMES))
        for place, name in enumerate(Masks.NAMES):
            setattr(self, name, stack[..., place])


ClassMasks.MEASURES = Masks.MEASURES


def averages_classes(measure: Measure) -> bool:
    """Whether a measure reads the sums of every class instead of those of all together."""
    return cast("object", measure.takes) is ClassMasks


@class_mean(
    says="the Dice of each class, all images pooled, averaged over classes",
    formula="mean over classes of 2 * tp / (2 * tp + fp + fn)",
    source=RAINIO("mean Dice"),
    spec="M-SEG-11",
)
def dice_macro(t: ClassMasks) -> Number:
    return average_classes(2 * t.tp, 2 * t.tp + t.fp + t.fn)


@class_mean(
    also=("mIoU",),
    says="the IoU of each class, all images pooled, averaged over classes",
    formula="mean over classes of tp / (tp + fp + fn)",
    source=(RAINIO("mean IoU"), SCHLOSSER("eq. 73")),
    spec="M-SEG-12",
)
def iou_macro(t: ClassMasks) -> Number:
    return average_classes(t.tp, t.tp + t.fp + t.fn)


@class_mean(
    also=("foreground mean Dice",),
    says="the mean Dice over images of each class, averaged over classes",
    formula="mean over classes of dice_sum / defined",
    source=RAINIO("mean Dice"),
    spec="M-SEG-11",
)
def mean_dice_macro(t: ClassMasks) -> Number:
    return average_classes(t.dice_sum, t.defined)


@class_mean(
    says="the panoptic quality of each class, averaged over classes",
    formula="mean over classes of matched_iou / (matched + unmatched_predicted / 2 + unmatched_truth / 2)",
    source=(KIRILLOV, EXTENSION),
)
def panoptic_quality_macro(t: ClassMasks) -> Number:
    return average_classes(t.matched_iou, t.matched + t.unmatched_predicted / 2 + t.unmatched_truth / 2)
