# SPDX-License-Identifier: Apache-2.0
"""Boxes as columns: reference objects, detections, and the images and classes that their codes mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from assay.core.labels import Label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]


UNKNOWN: Any = None
"""Columns that `BoxTable` fills."""
CHUNK: Final = 1 << 14
"""Pairs of boxes that are compared at a time, so that they stay in a processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoxTable:
    """Reference boxes or detections, a row each: x, y, width, height in pixels, perhaps an angle.

    Images and classes are ids as they were given, or codes of `Scenes`.
    """

    image: NDArray[Any]
    label: NDArray[Any]
    box: Floats
    where: str = ""
    """The file or role that holds them."""
    score: Floats = UNKNOWN
    """Of detections; NaN where nobody gave one."""
    area: Floats = UNKNOWN
    """Width times height, unless it was given."""
    crowd: Flags = UNKNOWN
    ignore: Flags = UNKNOWN
    mask: NDArray[np.object_] | None = None
    """Run lengths, where masks are matched in place of boxes."""
    points: Floats | None = None
    """Keypoints, where they are matched: x, y, visible and the variance that is allowed, for each."""
    loose: Flags | None = None
    """Detections that count only where they hit: their class was not searched for everywhere in the image."""

    def __post_init__(self) -> None:
        """Fill columns that were not given."""
        defaults: dict[str, Any] = {
            "score": np.nan,
            "area": self.box[:, 2] * self.box[:, 3],
            "crowd": False,
            "ignore": False,
        }
        for name, default in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.broadcast_to(default, len(self.box)))

    def select(self, rows: Whole) -> BoxTable:
        """Some rows of every column that is there."""
        columns = {name: getattr(self, name) for name in type(self).__slots__}
        chosen: dict[str, Any] = {name: part[rows] for name, part in columns.items() if isinstance(part, np.ndarray)}
        return replace(self, **chosen)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scenes:
    """Images with their objects and detections; codes are places in the sorted `images` and `classes`."""

    images: tuple[Label, ...]
    classes: tuple[Label, ...]
    objects: BoxTable
    detections: BoxTable
    sizes: dict[Label, tuple[float, float]] = field(default_factory=dict)
    """Width and height of images, where they are known."""
    frequency: tuple[str, ...] | None = None
    """How often each class occurs, where the truth says so."""
    notes: tuple[str, ...] = ()


def sort_labels(labels: set[Label]) -> tuple[Label, ...]:
    """Numbers by size, then texts by character.

    >>> sort_labels({"b", 10, 9, "a"})
    (9, 10, 'a', 'b')
    """
    return tuple(sorted(labels, key=lambda label: (isinstance(label, str), label)))


def expand_ranges(starts: Whole, counts: Whole) -> tuple[Whole, Whole]:
    """Every place of every range, and the range that it belongs to.

    >>> [part.tolist() for part in expand_ranges(np.array([5, 9]), np.array([2, 1]))]
    [[5, 6, 9], [0, 0, 1]]
    """
    owner = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    return np.arange(len(owner)) - np.repeat(first - starts, counts), owner


def places_in_runs(keys: Whole) -> Whole:
    """The place of each entry inside its run of equal keys, counted from 0.

    >>> places_in_runs(np.array([4, 4, 7, 7, 7])).tolist()
    [0, 1, 0, 1, 2]
    """
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    fresh = np.concatenate([[True], keys[1:] != keys[:-1]])
    starts = np.flatnonzero(fresh)
    return np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))


def box_ious(first: Floats, rows: Whole, second: Floats, others: Whole, crowd: Flags) -> Floats:
    """IoU of boxes by pairs of rows, in continuous coordinates; for a crowd the part of the first box that it covers.

    Boxes are fastest with one column after the other in memory (`stack_columns`), and some pairs at a time.
    """
    values = np.empty(len(rows))
    for start in range(0, len(rows), CHUNK):
        part = slice(start, start + CHUNK)
        values[part] = _box_ious(first, rows[part], second, others[part], crowd)
    return values


def _box_ious(first: Floats, rows: Whole, second: Floats, others: Whole, crowd: Flags) -> Floats:
    width, height = first[:, 2][rows], first[:, 3][rows]
    across, down = second[:, 2][others], second[:, 3][others]
    whole = width * height
    other = across * down
    for length, place, own in ((across, 0, width), (down, 1, height)):  # each length becomes that of the common part
        start, begin = first[:, place][rows], second[:, place][others]
        np.add(length, begin, out=length)
        np.minimum(length, start + own, out=length)
        np.maximum(start, begin, out=start)
        np.subtract(length, start, out=length)
        np.maximum(length, 0.0, out=length)
    common = np.multiply(across, down, out=across)
    flags = crowd[others]
    total = whole + other
    total -= common
    if flags.any():
        total[flags] = whole[flags]
    return np.divide(common, total, out=np.zeros_like(common), where=total > 0)


def stack_columns(columns: Sequence[Floats]) -> Floats:
    """Columns side by side, each contiguous in memory."""
    table = np.empty((len(columns), len(columns[0])))
    for place, column in enumerate(columns):
        table[place] = column
    return table.T
