# SPDX-License-Identifier: Apache-2.0
"""Distances and overlap of surfaces."""

from __future__ import annotations

import math
from functools import partial

from assay.core.traits import EXTENSION, HIGHER, LOWER, RAINIO, Source
from assay.core.values import Number, number
from assay.measures.declare import measure
from assay.tasks.segmentation.measures.quotients import NO_OBJECT, NO_SPACING, average, divide_measured
from assay.tasks.segmentation.tally import Masks

distance = partial(measure, range=(0, math.inf), better=LOWER, family="surfaces", unit="as spacing")
agreement = partial(measure, range=(0, 1), better=HIGHER, family="surfaces")


@agreement(
    symbol="SDSC",
    says="twice the surface voxels in both surfaces over those of both, all images pooled",
    formula="2 * shared / surface",
    source=RAINIO("surface Dice"),
    spec="M-SEG-05",
)
def surface_dice(t: Masks) -> Number:
    return divide_measured(t, 2 * t.shared, t.surface)


@distance(
    symbol="ASD",
    also=("ASSD", "average surface distance"),
    says="the mean distance from a surface voxel of either mask to the other surface, all images pooled",
    formula="distance / surface",
    source=RAINIO("average symmetric surface distance"),
    spec="M-SEG-06",
    errata=("E-RAI-08",),
)
def average_symmetric_surface_distance(t: Masks) -> Number:
    return divide_measured(t, t.distance, t.surface)


@agreement(
    symbol="NSD",
    also=("surface Dice at tolerance",),
    says="of the surface voxels of both masks, the share within the tolerance of the other surface, all images pooled",
    formula="within / surface",
    source=EXTENSION,
    spec="M-SEG-13",
)
def normalized_surface_distance(t: Masks) -> Number:
    return divide_measured(t, t.within, t.surface)


@distance(
    also=("mean ASSD over images", "mean ASSD"),
    says="the average symmetric surface distance of an image, averaged over images",
    formula="assd_sum / measured",
    source=RAINIO("average symmetric surface distance"),
    spec="M-SEG-06",
    errata=("E-RAI-08",),
)
def mean_surface_distance(t: Masks) -> Number:
    return divide_measured(t, t.assd_sum, t.measured)


@agreement(
    also=("mean NSD over images", "mean NSD"),
    says="the normalized surface distance of an image, averaged over images",
    formula="nsd_sum / measured",
    source=EXTENSION,
    spec="M-SEG-13",
)
def mean_normalized_surface_distance(t: Masks) -> Number:
    return divide_measured(t, t.nsd_sum, t.measured)


@agreement(
    also=("mean surface Dice over images",),
    says="the surface Dice of an image, averaged over images",
    formula="surface_dice_sum / measured",
    source=RAINIO("surface Dice"),
    spec="M-SEG-05",
)
def mean_surface_dice(t: Masks) -> Number:
    return divide_measured(t, t.surface_dice_sum, t.measured)


@distance(
    symbol="hd(X, Y)",
    says="the largest distance from the true surface to the predicted one, averaged over images",
    formula="directed_sum / measured",
    source=RAINIO("Hausdorff distance"),
    spec="M-SEG-07",
    errata=("E-RAI-09",),
)
def hausdorff_directed(t: Masks) -> Number:
    return divide_measured(t, t.directed_sum, t.measured)


@distance(
    symbol="HD",
    also=("maximum symmetric surface distance", "mean_hausdorff"),
    says="the largest distance from either surface to the other, averaged over images",
    formula="hausdorff_sum / measured",
    source=RAINIO("Hausdorff distance"),
    spec="M-SEG-08",
    errata=("E-RAI-09",),
)
def hausdorff(t: Masks) -> Number:
    return divide_measured(t, t.hausdorff_sum, t.measured)


@distance(
    symbol="HD95",
    also=("mean_hausdorff_95",),
    says="the larger of the two directed 95th percentiles of surface distances, averaged over images",
    formula="hd95_sum / measured",
    source=EXTENSION,
    spec="M-SEG-14",
)
def hausdorff_95(t: Masks) -> Number:
    return divide_measured(t, t.hd95_sum, t.measured)


@distance(
    also=("HD95 of pooled distances",),
    says="the 95th percentile of the surface distances of both directions together, averaged over images",
    formula="hd95_joint_sum / measured",
    source=EXTENSION,
    spec="M-SEG-14",
)
def hausdorff_95_joint(t: Masks) -> Number:
    return divide_measured(t, t.hd95_joint_sum, t.measured)


@agreement(
    symbol="BIoU",
    says="the IoU of the bands along both boundaries, all images pooled",
    formula="band_shared / band_union",
    source=(Source("Cheng et al. 2021", "eq. 2"), EXTENSION),
)
def boundary_iou(t: Masks) -> Number:
    return number(t.band_shared, over=t.band_union, empty=((t.spaced, NO_SPACING), (t.band_union, NO_OBJECT)))


@agreement(
    says="the boundary IoU of an image, averaged over images",
    formula="boundary_sum / defined if spaced else 0 / spaced",
    source=(Source("Cheng et al. 2021", "eq. 2"), EXTENSION),
)
def mean_boundary_iou(t: Masks) -> Number:
    return average(t, t.boundary_sum, given=t.spaced, without=NO_SPACING)
