# SPDX-License-Identifier: Apache-2.0
"""Contours of two masks, small enough for a Record; a thumbnail of the image, for the report, where one is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.errors import RowsError
from assay.rows.images.files import make_thumbnail
from assay.tasks.segmentation.kernel import Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST: Final = 96
"""Pixels along the longer side of a picture."""
MOST_POINTS: Final = 400
"""Corners of all outlines of a mask; further outlines are left out."""
MOST_VALUES: Final = 8
"""Values of a mask that are outlined."""
PLANE: Final = 2
COARSE: Final = 16
"""Along each side of a plane so many voxels are looked at to choose the plane of a volume."""


def draw_picture(
    truth: NDArray[Any], predicted: NDArray[Any], rules: Rules, picture: NDArray[Any] | None = None
) -> tuple[dict[str, object], str | None]:
    """Outlines of every class but the background, in the plane of a volume that shows most of them.

    A picture of the same size, perhaps with colours, becomes a thumbnail below them.
    """
    if picture is not None and picture.shape[: truth.ndim] != truth.shape:
        raise RowsError(
            "mask-shapes-differ",
            "a picture has another shape than its mask",
            where="pictures",
            found=f"{picture.shape} and {truth.shape}",
            fix="give pictures of the same size",
        )
    if truth.ndim > PLANE:
        axis = int(np.argmin(truth.shape))
        planes = [np.moveaxis(mask, axis, -1) for mask in (truth, predicted)]
        steps = tuple(slice(None, None, max(1, size // COARSE)) for size in planes[0].shape[:2])
        coarse = [plane[steps] != rules.background for plane in planes]
        number = int((coarse[0] | coarse[1]).sum(axis=(0, 1)).argmax())
        truth, predicted = (np.ascontiguousarray(plane[..., number]) for plane in planes)
        picture = None if picture is None else np.take(picture, number, axis=axis)
    if rules.ignore is not None:
        predicted = np.where(truth == rules.ignore, rules.background, predicted)
        truth = np.where(truth == rules.ignore, rules.background, truth)
    step = -(-max(truth.shape) // LARGEST)
    outlines = {}
    for name, mask in (("truth", truth), ("predicted", predicted)):
        lines: list[list[list[int]]] = []
        for value in np.unique(mask[mask != rules.background])[:MOST_VALUES].tolist():
            lines += outline(mask == value, step, MOST_POINTS - sum(map(len, lines)))
        outlines[name] = lines
    height, width = (-(-size // step) for size in truth.shape)
    return {"width": width, "height": height, **outlines}, None if picture is None else make_thumbnail(picture)


def outline(mask: NDArray[np.bool_], step: int, most: int) -> list[list[list[int]]]:
    """The outlines of a mask in blocks of pixels, looked for in the box around it only."""
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    top, left = int(rows[0]) // step, int(columns[0]) // step
    box = mask[top * step : int(rows[-1]) + 1, left * step : int(columns[-1]) + 1]
    return [[[x + left, y + top] for x, y in line] for line in trace(shrink(box, step), most)]


def shrink(mask: NDArray[np.bool_], step: int) -> NDArray[np.bool_]:
    """Every block of pixels as one: set where at least half of it is."""
    if step == 1:
        return mask
    rows, columns = (-(-size // step) * step for size in mask.shape)
    wide = np.zeros((rows, columns))
    wide[: mask.shape[0], : mask.shape[1]] = mask
    blocks: NDArray[np.bool_] = wide.reshape(rows // step, step, columns // step, step).mean(axis=(1, 3)) >= 0.5  # noqa: PLR2004
    return blocks


def trace(mask: NDArray[np.bool_], most: int = MOST_POINTS) -> list[list[list[int]]]:
    """Closed outlines along the edges of pixels, as corners x, y, the mask on the right hand.

    >>> trace(np.array([[True]]))
    [[[0, 0], [1, 0], [1, 1], [0, 1]]]
    """
    wide = np.pad(mask, 1)
    follow: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for start, end in (((0, 0), (1, 0)), ((1, 0), (1, 1)), ((1, 1), (0, 1)), ((0, 1), (0, 0))):
        dx, dy = end[0] - start[0], end[1] - start[1]
        outside = np.roll(wide, (dx, -dy), axis=(0, 1))  # the neighbour to the left of the way
        for y, x in np.argwhere(wide & ~outside).tolist():
            corner = (x - 1 + start[0], y - 1 + start[1])
            follow.setdefault(corner, []).append((x - 1 + end[0], y - 1 + end[1]))
    outlines = []
    points = 0
    while follow and points < most:
        first = min(follow)
        line, corner = [first], first
        while True:
            ways = follow[corner]
            corner = ways.pop()
            if not ways:
                del follow[line[-1]]
            if corner == first:
                break
            line.append(corner)
        outline = _drop_straight(line)
        points += len(outline)
        outlines.append(outline)
    return outlines


def _drop_straight(line: list[tuple[int, int]]) -> list[list[int]]:
    """Only the corners at which an outline turns."""
    return [
        [x, y]
        for (a, b), (x, y), (c, d) in zip([line[-1], *line[:-1]], line, [*line[1:], line[0]], strict=True)
        if (x - a, y - b) != (c - x, d - y)
    ]
