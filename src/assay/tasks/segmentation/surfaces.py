# SPDX-License-Identifier: Apache-2.0
"""Surfaces, distances between them, and centre lines of two masks of one object, in a box around both.

A surface voxel belongs to the mask and has a neighbour (8 in two dimensions, 26 in three) outside it or off the grid.
Distances run between centres of voxels, in the unit of the spacing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats

    Mask: TypeAlias = NDArray[np.bool_]

STEPS: Final = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
"""Upper ends of the histogram of distances, in the unit of the spacing; the last bin has none."""
SURFACE_COLUMNS: Final = (
    "surface_truth",
    "surface_predicted",
    "surface_shared",
    "within_truth",
    "within_predicted",
    "distance_truth",
    "distance_predicted",
    "hausdorff_truth",
    "hausdorff_predicted",
    "hd95_truth",
    "hd95_predicted",
    "hd95_joint",
    "band_shared",
    "band_union",
    *(f"near_{place}" for place in range(len(STEPS) + 1)),
)
"""What is kept of the surfaces of an object; near_k counts distances of both directions up to the k-th step."""
LINE_COLUMNS: Final = ("line_truth", "line_truth_covered", "line_predicted", "line_predicted_covered")
QUANTILE: Final = 0.95
ROUNDING: Final = 1 + 1e-12
"""A distance that equals the tolerance but for the last bits is within it."""


def measure_surfaces(
    truth: Mask, predicted: Mask, spacing: tuple[float, ...], *, tolerance: float, width: int
) -> list[float]:
    """The surface columns of an object; distances are 0 where either mask is empty."""
    outer_truth, outer_predicted = find_surface(truth), find_surface(predicted)
    sizes = [int(outer_truth.sum()), int(outer_predicted.sum())]
    shared = int((outer_truth & outer_predicted).sum())
    if width == 1:
        band_shared, band_union = shared, sum(sizes) - shared
    else:
        bands = [mask & ~erode(mask, width) for mask in (truth, predicted)]
        band_shared, band_union = int((bands[0] & bands[1]).sum()), int((bands[0] | bands[1]).sum())
    if not all(sizes):
        return [*sizes, shared, *([0.0] * 9), band_shared, band_union, *([0.0] * (len(STEPS) + 1))]
    there = measure_distances(outer_truth, outer_predicted, spacing)
    back = measure_distances(outer_predicted, outer_truth, spacing)
    ways = (there, back)
    both = np.concatenate(ways)
    near = np.bincount(np.searchsorted(STEPS, both / ROUNDING, side="left"), minlength=len(STEPS) + 1)
    return [
        *sizes,
        shared,
        *(float(np.count_nonzero(way <= tolerance * ROUNDING)) for way in ways),
        *(float(way.sum()) for way in ways),
        *(float(way.max()) for way in ways),
        *(find_quantile(way) for way in ways),
        find_quantile(both),
        band_shared,
        band_union,
        *map(float, near),
    ]


def measure_distances(start: Mask, goal: Mask, spacing: tuple[float, ...]) -> Floats:
    """The distance of each voxel of one surface to the nearest voxel of another."""
    from scipy.ndimage import distance_transform_edt

    distances: Floats = distance_transform_edt(~goal, sampling=spacing)[start]
    return distances


def find_quantile(values: Floats, share: float = QUANTILE) -> float:
    """A quantile by linear interpolation between the two nearest values; much faster than NumPy's on few values.

    >>> find_quantile(np.arange(11.0))
    9.5
    """
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    ends = np.partition(values, (below, above))
    return float(ends[below] + (ends[above] - ends[below]) * (place - below))


def find_surface(mask: Mask) -> Mask:
    """The voxels of a mask with a neighbour outside."""
    return mask & ~erode(mask, 1)


def erode(mask: Mask, times: int) -> Mask:
    """The voxels whose full neighbourhood lies in the mask; nothing lies off the grid."""
    for _ in range(times):
        for axis in range(mask.ndim):
            along = mask.swapaxes(0, axis)
            inner = np.zeros_like(along)
            inner[1:-1] = along[1:-1] & along[:-2] & along[2:]
            mask = inner.swapaxes(0, axis)
    return mask


def measure_lines(truth: Mask, predicted: Mask) -> list[float]:
    """Voxels of both centre lines, and how many of each lie in the other mask."""
    lines = [find_centre_line(mask) for mask in (truth, predicted)]
    covered = [int((line & mask).sum()) for line, mask in zip(lines, (predicted, truth), strict=True)]
    return [float(lines[0].sum()), covered[0], float(lines[1].sum()), covered[1]]


def find_centre_line(mask: Mask) -> Mask:
    """The morphological skeleton: at each depth, what an opening takes away (the skeleton of Shit et al. 2021).

    Erosion looks at face neighbours, dilation at all neighbours.
    """
    from scipy.ndimage import binary_dilation, binary_erosion

    around = np.ones((3,) * mask.ndim, dtype=bool)
    line = np.zeros_like(mask)
    while mask.any():
        smaller = binary_erosion(mask)
        line |= mask & ~binary_dilation(smaller, around)
        mask = smaller
    return line
