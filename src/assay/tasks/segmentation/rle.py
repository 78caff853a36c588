# SPDX-License-Identifier: Apache-2.0
"""Masks as run lengths and polygons, the way COCO writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.errors import RowsError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def decode_mask(segmentation: object, size: tuple[int, int]) -> NDArray[np.bool_]:
    """The mask of run lengths (a mapping with counts) or of polygons (lists of x, y); size is rows, columns."""
    if isinstance(segmentation, Mapping):
        return decode_runs(segmentation)
    if isinstance(segmentation, Sequence) and not isinstance(segmentation, (str, bytes)):
        return fill_polygons(segmentation, size)
    raise RowsError(
        "column-type",
        "a mask is neither run lengths nor polygons",
        found=type(segmentation).__name__,
        fix='give {"size": [rows, columns], "counts": ...} or a list of polygons',
    )


def decode_runs(runs: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Runs of 0 and 1 in turn, down the columns; as a list, or as COCO's text.

    >>> decode_runs({"size": [2, 2], "counts": [1, 2, 1]}).astype(int).tolist()
    [[0, 1], [1, 0]]
    """
    rows, columns = (int(n) for n in runs["size"])
    counts = runs["counts"]
    lengths = np.array(parse_counts(counts) if isinstance(counts, (str, bytes)) else counts, dtype=np.int64)
    if lengths.sum() != rows * columns or (lengths < 0).any():
        raise RowsError(
            "value-out-of-domain",
            "run lengths do not fill the mask",
            found=f"{int(lengths.sum()):,} pixels of {rows} x {columns}",
            fix="correct counts or size",
        )
    values = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)
    return values.reshape(columns, rows).T


def parse_counts(text: str | bytes) -> list[int]:
    """COCO's text: groups of five bits from 48 on, the sixth says that more follow; from the third run on, differences.

    >>> parse_counts("01:2H000004")
    [0, 1, 10, 3, 2, 3, 2, 3, 2, 3, 6]
    """
    codes = text.encode("ascii") if isinstance(text, str) else text
    counts: list[int] = []
    value = shift = 0
    for code in codes:
        bits = code - 48
        value |= (bits & 0x1F) << shift
        shift += 5
        if bits & 0x20:
            continue
        if bits & 0x10:
            value -= 1 << shift
        counts.append(value + counts[-2] if len(counts) > 2 else value)  # noqa: PLR2004  the first three are plain
        value = shift = 0
    return counts


def fill_polygons(polygons: Sequence[Sequence[float]], size: tuple[int, int]) -> NDArray[np.bool_]:
    """Pixels whose centres lie inside any of the polygons (even-odd rule); the first pixel's centre is 0.5, 0.5."""
    rows, columns = size
    mask = np.zeros(size, dtype=bool)
    centres = np.arange(columns) + 0.5
    for polygon in polygons:
        points = np.asarray(polygon, dtype=np.float64).reshape(-1, 2)
        ends = np.roll(points, -1, axis=0)
        for row in range(max(0, int(points[:, 1].min())), min(rows, int(np.ceil(points[:, 1].max())))):
            y = row + 0.5
            crossing = (points[:, 1] <= y) != (ends[:, 1] <= y)
            a, b = points[crossing], ends[crossing]
            x = a[:, 0] + (y - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
            mask[row] |= np.searchsorted(np.sort(x), centres, side="right") % 2 == 1
    return mask
