# SPDX-License-Identifier: Apache-2.0
"""Masks as run lengths: read from COCO's segmentations, compared by the functions of pycocotools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.text import visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tasks.detection.kernel.boxes import Flags, Floats, Whole


def load_mask_functions() -> ModuleType:
    """The mask functions of pycocotools."""
    try:
        return import_module("pycocotools.mask")
    except ImportError:
        raise PlanError(
            "missing-extra", "masks need pycocotools", where="shape", fix="pip install 'assay[vision]'"
        ) from None


def read_masks(
    rows: Sequence[Mapping[str, Any]], sizes: Mapping[Label, tuple[float, float]], where: str
) -> NDArray[np.object_]:
    """The segmentation of every row as compressed run lengths."""
    functions = load_mask_functions()
    masks = np.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        try:
            masks[place] = _to_run_lengths(functions, row["segmentation"], sizes.get(row["image_id"]))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise RowsError(
                "value-out-of-domain",
                "a segmentation is neither polygons nor run lengths",
                where=where,
                found=f"row {place}: {visible(str(error))[:80]}",
                fix="write segmentations as COCO does, and list the width and height of every image",
            ) from error
    return masks


def _to_run_lengths(functions: ModuleType, given: Any, size: tuple[float, float] | None) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(given, list):
        if size is None:
            msg = "the image has no width and height"
            raise ValueError(msg)
        return dict(functions.merge(functions.frPyObjects(given, int(size[1]), int(size[0]))))
    if isinstance(given["counts"], list):
        return dict(functions.frPyObjects(given, *given["size"]))
    counts = given["counts"]
    return {"size": given["size"], "counts": counts.encode("ascii") if isinstance(counts, str) else counts}


def mask_areas(masks: NDArray[np.object_]) -> Floats:
    """Pixels of each mask."""
    return np.asarray(load_mask_functions().area(list(masks)), dtype=np.float64).reshape(len(masks))


def mask_boxes(masks: NDArray[np.object_]) -> Floats:
    """The box around each mask."""
    return np.asarray(load_mask_functions().toBbox(list(masks)), dtype=np.float64).reshape(-1, 4)


def mask_ious(
    detected_masks: NDArray[np.object_], rows: Whole, reference: NDArray[np.object_], others: Whole, crowd: Flags
) -> Floats:
    """IoU of pairs of rows; neighbouring detections with the same objects are compared in one call."""
    functions, parts = load_mask_functions(), [np.zeros(0)]
    starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]])) if len(rows) else np.zeros(0, dtype=int)
    ends = np.append(starts[1:], len(rows))
    mine = list(zip(others[starts].tolist(), (ends - starts).tolist(), strict=True))
    first = 0
    for last in range(1, len(starts) + 1):
        if last == len(starts) or mine[last] != mine[first]:
            there = others[starts[first] : ends[first]]
            flags = crowd[there].astype(np.uint8).tolist()
            overlap = functions.iou(list(detected_masks[rows[starts[first:last]]]), list(reference[there]), flags)
            parts.append(np.asarray(overlap, dtype=np.float64).ravel())
            first = last
    return np.concatenate(parts)
