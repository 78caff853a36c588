# SPDX-License-Identifier: Apache-2.0
"""Pictures of the tests, by formula."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())["cases"]


def draw(rows, columns, k=0):
    """The pair of the recorded cases."""
    i, j = np.mgrid[:rows, :columns]
    x = (7 * i + 13 * j + 5 * ((i * j + k) % 17) + 29 * k) % 256
    y = np.clip(x + ((31 * i + 17 * j + k) % 41) - 20, 0, 255)
    return x.astype(np.uint8), y.astype(np.uint8)


def recorded():
    """By case: reference, image and the axis of colours."""
    x, y = draw(64, 64)
    colours = [draw(48, 40, k) for k in range(3)]
    flat = [np.full((32, 32), value, np.uint8) for value in (100, 110)]
    return {
        "grey_64_k0": (x, y, None),
        "identical": (x, x, None),
        "negative": (x, 255 - x, None),
        "constants_100_110": (*flat, None),
        "single_window_11x11": (*draw(11, 11), None),
        "too_small_10x10": (*draw(10, 10), None),
        "colour_48x40_k0_1_2": (*(np.stack(part, axis=-1) for part in zip(*colours, strict=True)), -1),
    }


def random_pictures(seed, images=12, shape=(24, 20)):
    rng = np.random.default_rng(seed)
    truth = {f"image-{number:02d}": rng.integers(0, 256, shape).astype(np.uint8) for number in range(images)}
    noisy = {
        name: np.clip(image + rng.normal(0, rng.uniform(5, 30), shape), 0, 255).astype(np.uint8)
        for name, image in truth.items()
    }
    return truth, noisy
