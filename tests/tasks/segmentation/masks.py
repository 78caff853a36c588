# SPDX-License-Identifier: Apache-2.0
"""Masks of the tests, and the definitions written out slowly."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())["cases"]


def grid(rows):
    return np.array([[cell != "." for cell in row] for row in rows]).astype(np.uint8)


def boxes():
    """Two boxes in a grid of 20 x 20 x 20 (golden case G-ANC-SEG)."""
    truth, predicted = np.zeros((20, 20, 20), np.uint8), np.zeros((20, 20, 20), np.uint8)
    truth[5:14, 5:14, 5:14] = 1
    predicted[6:15, 5:15, 4:13] = 1
    return truth, predicted


def random_masks(seed, images=14, classes=2, shape=(18, 15)):
    """Label maps of blobs; some images lack a class in one mask or in both."""
    rng = np.random.default_rng(seed)
    pairs = {}
    places = np.indices(shape)
    for number in range(images):
        masks = []
        for _ in range(2):
            mask = np.zeros(shape, np.uint8)
            for label in range(1, classes + 1):
                if rng.uniform() < 0.85:
                    centre = rng.uniform(0.3, 0.7, len(shape)) * shape
                    far = sum((place - at) ** 2 for place, at in zip(places, centre, strict=True))
                    mask[far < rng.uniform(2, 5) ** 2] = label
            masks.append(mask)
        pairs[f"image-{number:02d}"] = masks
    return {name: pair[0] for name, pair in pairs.items()}, {name: pair[1] for name, pair in pairs.items()}


def surface(mask):
    """Voxels with a neighbour outside, one by one."""
    found = []
    steps = [step for step in itertools.product((-1, 0, 1), repeat=mask.ndim) if any(step)]
    for voxel in np.argwhere(mask):
        around = [tuple(voxel + step) for step in steps]
        inside = [all(0 <= x < n for x, n in zip(place, mask.shape, strict=True)) and mask[place] for place in around]
        if not all(inside):
            found.append(voxel)
    return np.array(found).reshape(-1, mask.ndim)


def slow_distances(truth, predicted, spacing):
    """All surface measures of two masks by brute force."""
    a, b = surface(truth) * np.array(spacing), surface(predicted) * np.array(spacing)
    apart = np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
    there, back = apart.min(1), apart.min(0)
    return {
        "hausdorff": max(there.max(), back.max()),
        "hausdorff_directed": there.max(),
        "hausdorff_95": max(np.percentile(there, 95), np.percentile(back, 95)),
        "hausdorff_95_joint": np.percentile([*there, *back], 95),
        "average_symmetric_surface_distance": (there.sum() + back.sum()) / (len(a) + len(b)),
        "normalized_surface_distance": ((there <= 1).sum() + (back <= 1).sum()) / (len(a) + len(b)),
        "surface_dice": 2 * (there == 0).sum() / (len(a) + len(b)),
    }
