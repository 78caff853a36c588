# SPDX-License-Identifier: Apache-2.0
"""Structural similarity of two images in strips of rows, so that a picture of any size needs little memory.

Local moments are separable filters over windows that lie wholly in the image. The denominator needs only the sum of
both variances, so four filters do instead of five.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from assay.core.arrays import Floats


K1, K2 = 0.01, 0.03
STRIP: Final = 1 << 17
"""Pixels of a strip."""
WEIGHTS: Final = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""Of the five scales: Wang, Simoncelli and Bovik 2003."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The weights of a window along one axis, and the factor that its variances carry."""

    weights: Floats
    factor: float = 1.0

    @property
    def size(self) -> int:
        """Pixels along one side."""
        return len(self.weights)


def build_gaussian(size: int = 11, sigma: float = 1.5) -> Floats:
    """Weights of a Gaussian that add up to 1."""
    away = np.arange(size) - size // 2
    weights = np.exp(-0.5 * (away / sigma) ** 2)
    normal: Floats = weights / weights.sum()
    return normal


GAUSSIAN: Final = Window(weights=build_gaussian())
"""Wang et al. 2004: 11 x 11, sigma 1.5, moments of the population."""
UNIFORM: Final = Window(weights=np.full(7, 1 / 7), factor=49 / 48)
"""The default of scikit-image: 7 x 7, moments of a sample."""


def sum_similarity(
    truth: NDArray[np.generic], predicted: NDArray[np.generic], peak: float, window: Window
) -> tuple[float, float, int]:
    """Over all windows: the sum of SSIM, the sum of its part of contrast and structure, and the number of windows."""
    total, contrast, windows = [], [], 0
    c1, c2 = (K1 * peak) ** 2, (K2 * peak) ** 2
    for first, second in _strips(truth, predicted, window.size):
        moments = np.empty((4, *first.shape))
        np.copyto(moments[0], first)
        np.copyto(moments[1], second)
        np.multiply(moments[0], moments[1], out=moments[3])
        np.square(moments[0], out=moments[2])
        moments[2] += moments[1] * moments[1]
        mean_truth, mean_predicted, squares, product = _filter(moments, window)
        both = mean_truth * mean_predicted
        means = mean_truth * mean_truth
        means += mean_predicted * mean_predicted
        product -= both
        squares -= means
        structure = (2 * window.factor * product + c2) / (window.factor * squares + c2)
        windows += structure.size
        contrast.append(float(structure.sum()))
        structure *= (2 * both + c1) / (means + c1)
        total.append(float(structure.sum()))
    return sum(total), sum(contrast), windows


def measure_scales(truth: NDArray[np.generic], predicted: NDArray[np.generic], peak: float) -> float:
    """MS-SSIM of one channel; a negative part counts as 0."""
    value = 1.0
    for place, weight in enumerate(WEIGHTS):
        total, contrast, windows = sum_similarity(truth, predicted, peak, GAUSSIAN)
        last = place == len(WEIGHTS) - 1
        value *= max(0.0, (total if last else contrast) / windows) ** weight
        if not last:
            truth, predicted = _halve(truth), _halve(predicted)
    return value


def fits_scales(shape: tuple[int, ...]) -> bool:
    """Whether the smallest scale still holds a window."""
    return min(shape) > (GAUSSIAN.size - 1) << (len(WEIGHTS) - 1)


def _strips(
    truth: NDArray[np.generic], predicted: NDArray[np.generic], size: int
) -> Iterator[tuple[NDArray[np.generic], NDArray[np.generic]]]:
    """Strips of rows that overlap by a window less one."""
    rows, columns = truth.shape
    step = max(size, STRIP // columns)
    for start in range(0, rows - size + 1, step):
        part = slice(start, min(start + step + size - 1, rows))
        yield truth[part], predicted[part]


def _filter(moments: Floats, window: Window) -> Floats:
    """Weighted means over all windows that lie in a strip."""
    from scipy.ndimage import correlate1d

    reach = window.size // 2
    down = correlate1d(moments, window.weights, axis=1, mode="constant")[:, reach:-reach]
    means: Floats = correlate1d(down, window.weights, axis=2, mode="constant")[:, :, reach:-reach]
    return means


def _halve(image: NDArray[np.generic]) -> Floats:
    """Means of two by two pixels; an odd edge is continued by zeros in front, as the reference code does."""
    rows, columns = image.shape
    wide = np.zeros((rows + rows % 2, columns + columns % 2))
    wide[rows % 2 :, columns % 2 :] = image
    small: Floats = wide.reshape(len(wide) // 2, 2, -1, 2).mean(axis=(1, 3))
    return small
