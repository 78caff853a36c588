# SPDX-License-Identifier: Apache-2.0
"""Measures of images against a reference: errors of pixels, signal to noise, structural similarity."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.traits import EXTENSION, HIGHER, LOWER, NEITHER, RAINIO, SCHLOSSER, Source
from assay.core.values import Number, number
from assay.measures.declare import measure
from assay.tasks.image_quality.tally import Pixels

if TYPE_CHECKING:
    from assay.core.values import Amount

WANG: Final = Source("Wang et al. 2004", "eq. 13")
TOO_SMALL: Final = "no image is as large as the window of 11 x 11 pixels, or windows= leaves it out"
NO_UNIFORM: Final = "the uniform window was not asked for, or no image is as large: windows=['gaussian', 'uniform']"
NO_SCALES: Final = (
    "five scales were not asked for, or no image has 161 pixels a side: windows=['gaussian', 'multiscale']"
)
NO_PIXELS: Final = "there are no pixels"
CONSTANT: Final = "an image without any spread has no correlation"
signal = partial(
    measure,
    range=(-math.inf, math.inf),
    better=HIGHER,
    source=SCHLOSSER("eq. 70"),
    spec="M-IMG-01",
    errata=("E-SCH-22",),
    family="signal to noise",
    unit="dB",
)
similarity = partial(measure, better=HIGHER, family="structural similarity")
normalized_error = partial(
    measure,
    range=(0, math.inf),
    better=LOWER,
    source=EXTENSION,
    spec="M-REG-14",
    errata=("E-SCH-18",),
    family="errors of pixels",
)
pixel_error = partial(measure, range=(0, math.inf), better=LOWER, family="errors of pixels")


@signal(
    symbol="PSNR",
    also=("peak signal-to-noise ratio",),
    says="ten times the logarithm of the squared range over the mean squared error, all pixels pooled, in decibels",
    formula="10 * log10(peak / squared)",
    infinite=True,
)
def psnr(t: Pixels) -> Number:
    same = np.asarray(t.squared) == 0
    ratio = np.where(same, 1.0, t.peak) / np.where(same, 1.0, t.squared)
    top, over = np.where(same, 1.0, 10 * np.log10(ratio)), np.where(same, 0.0, 1.0)
    return number(_plain(top), over=_plain(over), empty=NO_PIXELS, infinite=True)


@signal(
    says="the PSNR of an image, averaged over images that are not identical to their reference, in decibels",
    formula="psnr_sum / (images - identical)",
)
def mean_psnr(t: Pixels) -> Number:
    return number(t.psnr_sum, over=t.images - t.identical, empty="every image is identical to its reference")


@similarity(
    symbol="SSIM",
    also=("structural similarity index",),
    says="how alike brightness, contrast and structure are in windows of 11 x 11, over all windows of all images",
    formula="ssim_total / windows",
    range=(-1, 1),
    source=(RAINIO("SSIM"), SCHLOSSER("eq. 71"), WANG),
    spec="M-IMG-02",
    errata=("E-SCH-19", "E-SCH-20", "E-RAI-20"),
)
def ssim(t: Pixels) -> Number:
    return number(t.ssim_total, over=t.windows, empty=TOO_SMALL)


@similarity(
    says="the SSIM of an image, averaged over images",
    formula="ssim_sum / ssim_images",
    range=(-1, 1),
    source=(RAINIO("SSIM"), SCHLOSSER("eq. 71"), WANG),
    spec="M-IMG-02",
    errata=("E-SCH-19", "E-SCH-20", "E-RAI-20"),
)
def mean_ssim(t: Pixels) -> Number:
    return number(t.ssim_sum, over=t.ssim_images, empty=TOO_SMALL)


@measure(
    symbol="DSSIM",
    also=("structural dissimilarity",),
    says="half of one minus SSIM",
    formula="(1 - ssim_total / windows) / 2",
    range=(0, 1),
    better=LOWER,
    source=SCHLOSSER("eq. 72"),
    spec="M-IMG-03",
    family="structural similarity",
)
def dssim(t: Pixels) -> Number:
    return number(t.windows - t.ssim_total, over=2 * t.windows, empty=TOO_SMALL)


@similarity(
    says="SSIM with a uniform window of 7 x 7 and sample moments, the default of scikit-image",
    formula="uniform_total / uniform_windows",
    range=(-1, 1),
    source=EXTENSION,
    errata=("E-SCH-20",),
)
def ssim_uniform(t: Pixels) -> Number:
    return number(t.uniform_total, over=t.uniform_windows, empty=NO_UNIFORM)


@similarity(
    symbol="MS-SSIM",
    also=("multi-scale structural similarity",),
    says="contrast and structure at five scales and brightness at the coarsest, multiplied; averaged over images",
    formula="scales_sum / scaled",
    range=(0, 1),
    source=(Source("Wang, Simoncelli and Bovik 2003", "eq. 7"), EXTENSION),
)
def ms_ssim(t: Pixels) -> Number:
    return number(t.scales_sum, over=t.scaled, empty=NO_SCALES)


@measure(
    symbol="ME",
    says="truth minus prediction, averaged over pixels; above 0 where the prediction is too dark",
    formula="error / pixels",
    range=(-math.inf, math.inf),
    better=NEITHER,
    source=SCHLOSSER("eq. 58"),
    spec="M-REG-04",
    family="errors of pixels",
    unit="as pixels",
)
def mean_error(t: Pixels) -> Number:
    return number(t.error, over=t.pixels, empty=NO_PIXELS)


@pixel_error(
    symbol="MAE",
    says="the absolute error, averaged over pixels",
    formula="absolute / pixels",
    source=(RAINIO("MAE"), SCHLOSSER("eq. 60")),
    spec="M-REG-06",
    unit="as pixels",
)
def mean_absolute_error(t: Pixels) -> Number:
    return number(t.absolute, over=t.pixels, empty=NO_PIXELS)


@pixel_error(
    symbol="MSE",
    says="the squared error, averaged over pixels",
    formula="squared / pixels",
    source=(RAINIO("MSE"), SCHLOSSER("eq. 66")),
    spec="M-REG-12",
    unit="pixels²",
)
def mean_squared_error(t: Pixels) -> Number:
    return number(t.squared, over=t.pixels, empty=NO_PIXELS)


@pixel_error(
    symbol="RMSE",
    says="the root of the mean squared error",
    formula="sqrt(squared / pixels)",
    source=SCHLOSSER("eq. 67"),
    spec="M-REG-13",
    unit="as pixels",
)
def root_mean_squared_error(t: Pixels) -> Number:
    return number(_root(t.squared), over=_root(t.pixels), empty=NO_PIXELS)


@measure(
    says="RMSE over the mean of the reference",
    formula="sqrt(squared / pixels) / (truth / pixels)",
    range=(-math.inf, math.inf),
    better=LOWER,
    source=SCHLOSSER("eq. 68"),
    spec="M-REG-14",
    errata=("E-SCH-18",),
    family="errors of pixels",
)
def nrmse_mean(t: Pixels) -> Number:
    return number(_root(t.squared * t.pixels), over=t.truth, empty="the mean of the reference is 0")


@normalized_error(
    says="the root of the squared errors over the squared reference",
    formula="sqrt(squared / truth_squares)",
)
def nrmse_euclid(t: Pixels) -> Number:
    return number(_root(t.squared), over=_root(t.truth_squares), empty="the reference is 0 everywhere")


@normalized_error(
    says="RMSE over the standard deviation of the reference",
    formula="sqrt(squared / (truth_squares - truth ** 2 / pixels))",
)
def nrmse_sd(t: Pixels) -> Number:
    spread = t.truth_squares - t.truth**2 / np.maximum(t.pixels, 1)
    return number(_root(t.squared), over=_root(spread), empty="the reference is the same everywhere")


@normalized_error(
    says="the RMSE of an image over the range of its reference, averaged over images",
    formula="range_sum / ranged",
)
def nrmse_range(t: Pixels) -> Number:
    return number(t.range_sum, over=t.ranged, empty="the reference is the same everywhere")


@normalized_error(
    says="the RMSE of an image over the distance between the quartiles of its reference, averaged over images",
    formula="quartile_sum / quartiled",
)
def nrmse_iqr(t: Pixels) -> Number:
    return number(t.quartile_sum, over=t.quartiled, empty="the quartiles of the reference are the same")


@measure(
    symbol="r",
    also=("Pearson's correlation of pixels",),
    says="the correlation of pixels; blind to brightness and contrast",
    formula="(pixels * product - truth * predicted)"
    " / sqrt((pixels * truth_squares - truth ** 2) * (pixels * predicted_squares - predicted ** 2))",
    range=(-1, 1),
    better=HIGHER,
    source=RAINIO("eq. 4"),
    spec="M-REG-16",
    family="errors of pixels",
)
def pearson_r(t: Pixels) -> Number:
    spreads = (t.pixels * t.truth_squares - t.truth**2) * (t.pixels * t.predicted_squares - t.predicted**2)
    return number(t.pixels * t.product - t.truth * t.predicted, over=_root(spreads), empty=CONSTANT)


def _root(x: Amount) -> Amount:
    """Square root of sums, in which rounding may leave a trace below 0."""
    return _plain(np.sqrt(np.maximum(x, 0.0)))


def _plain(x: object) -> Amount:
    """A single number as such."""
    array = np.asarray(x)
    return array if array.ndim else cast("Amount", float(array))
