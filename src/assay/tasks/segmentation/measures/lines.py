# SPDX-License-Identifier: Apache-2.0
"""Centre lines, and instances that are matched."""

from __future__ import annotations

from functools import partial
from typing import Final

from assay.core.traits import EXTENSION, HIGHER, Source
from assay.core.values import Number, number
from assay.measures.declare import measure
from assay.tasks.segmentation.measures.quotients import average
from assay.tasks.segmentation.tally import Masks

NO_LINES: Final = "centre lines were not drawn: state centre_line=True and a spacing"
NO_INSTANCES: Final = "masks of instances were not stated, or hold no instance: state instances="
KIRILLOV: Final = Source("Kirillov et al. 2019", "eq. 1")
centre_lines = partial(
    measure, range=(0, 1), better=HIGHER, source=(Source("Shit et al. 2021", "eq. 2"), EXTENSION), family="centre lines"
)
instances = partial(measure, range=(0, 1), better=HIGHER, source=(KIRILLOV, EXTENSION), family="instances")


@centre_lines(
    symbol="clDice",
    also=("centre-line Dice", "cldice"),
    says="the harmonic mean of the shares of each centre line that lies in the other mask, all images pooled",
    formula="2 * line_truth_covered * line_predicted_covered"
    " / (line_truth_covered * line_predicted + line_predicted_covered * line_truth)",
)
def centre_line_dice(t: Masks) -> Number:
    top = t.line_truth_covered * t.line_predicted_covered
    over = t.line_truth_covered * t.line_predicted + t.line_predicted_covered * t.line_truth
    return number(2 * top, over=over, empty=((t.lined, NO_LINES), (over, "no centre line lies in the other mask")))


@centre_lines(
    says="the centre-line Dice of an image, averaged over images",
    formula="line_sum / defined if lined else 0 / lined",
)
def mean_centre_line_dice(t: Masks) -> Number:
    return average(t, t.line_sum, given=t.lined, without=NO_LINES)


@instances(
    symbol="PQ",
    says="recognition quality times segmentation quality of instances, all images pooled",
    formula="matched_iou / (matched + unmatched_predicted / 2 + unmatched_truth / 2)",
)
def panoptic_quality(t: Masks) -> Number:
    over = t.matched + t.unmatched_predicted / 2 + t.unmatched_truth / 2
    return number(t.matched_iou, over=over, empty=NO_INSTANCES)


@instances(
    symbol="SQ",
    says="the mean IoU of matched instances",
    formula="matched_iou / matched",
)
def segmentation_quality(t: Masks) -> Number:
    return number(t.matched_iou, over=t.matched, empty="no instance is matched")


@instances(
    symbol="RQ",
    says="the F1 of instances that are matched at an IoU above one half",
    formula="matched / (matched + unmatched_predicted / 2 + unmatched_truth / 2)",
)
def recognition_quality(t: Masks) -> Number:
    over = t.matched + t.unmatched_predicted / 2 + t.unmatched_truth / 2
    return number(t.matched, over=over, empty=NO_INSTANCES)
