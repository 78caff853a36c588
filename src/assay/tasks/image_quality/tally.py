# SPDX-License-Identifier: Apache-2.0
"""The sums of image pairs, and the kernel that takes them from one pair in strips of rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.errors import OutOfRange, PlanError, RowsError
from assay.rows.images.files import load_image
from assay.tally.unit_table import Sums, UnitTable
from assay.tasks.image_inputs import Fault, add_up, compare_pairs
from assay.tasks.image_quality.similarity import GAUSSIAN, UNIFORM, fits_scales, measure_scales, sum_similarity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount

PLANE: Final = 2
LUMINANCE: Final = (0.299, 0.587, 0.114)
"""Red, green and blue in the luminance of ITU-R BT.601."""
STRIP: Final = 1 << 18
COLOURS: Final = 3


class Pixels(Sums):
    """Sums over images; those that end in _sum add one value for each image."""

    images: Amount
    pixels: Amount
    error: Amount
    absolute: Amount
    squared: Amount
    truth: Amount
    truth_squares: Amount
    predicted: Amount
    predicted_squares: Amount
    product: Amount
    peak: Amount
    identical: Amount
    psnr_sum: Amount
    range_sum: Amount
    ranged: Amount
    quartile_sum: Amount
    quartiled: Amount
    windows: Amount
    ssim_total: Amount
    ssim_sum: Amount
    ssim_images: Amount
    uniform_windows: Amount
    uniform_total: Amount
    scales_sum: Amount
    scaled: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRows:
    """One row of sums for each image, as kernels send them."""

    parts: tuple[tuple[tuple[str, ...], tuple[str, ...] | None, NDArray[np.float64]], ...]
    """Names, units and sums of images, batch by batch."""
    faults: tuple[Fault, ...] = ()

    def __add__(self, other: ImageRows) -> ImageRows:
        """Both together."""
        return ImageRows(parts=(*self.parts, *other.parts), faults=(*self.faults, *other.faults))

    def merged(self) -> ImageRows:
        """All batches as one."""
        names = tuple(name for part in self.parts for name in part[0])
        units = None if self.parts[0][1] is None else tuple(unit for part in self.parts for unit in part[1] or ())
        return ImageRows(parts=((names, units, np.concatenate([part[2] for part in self.parts])),), faults=self.faults)

    @property
    def names(self) -> tuple[str, ...]:
        """The images of merged rows."""
        return self.parts[0][0]

    def table(self, chosen: Sequence[str] | None = None) -> UnitTable:
        """The sums by image, or by the unit that was named; of all images or of some."""
        names, units, sums = self.parts[0]
        if chosen is not None:
            wanted = set(chosen)
            kept = [place for place, name in enumerate(names) if name in wanted]
            names, sums = tuple(names[place] for place in kept), sums[kept]
            units = units and tuple(units[place] for place in kept)
        if units is None:
            return UnitTable.build(Pixels.NAMES, sums, ids=names)
        ids, added = add_up(units, sums)
        return UnitTable.build(Pixels.NAMES, added, rows=len(names), ids=ids)

    def to_json(self) -> dict[str, object]:
        """As it travels between machines."""
        parts = [[list(names), units and list(units), sums.tolist()] for names, units, sums in self.parts]
        return {"parts": parts, "faults": [list(fault) for fault in self.faults]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ImageRows:
        """The inverse of `to_json`."""
        parts = tuple((tuple(a), b and tuple(b), np.array(c, dtype=np.float64)) for a, b, c in content["parts"])
        return cls(parts=parts, faults=tuple(tuple(fault) for fault in content["faults"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelRules:
    """How images are compared."""

    data_range: float | None = None
    colour: str = "channels"
    channel_axis: int | None = None
    windows: tuple[str, ...] = ("gaussian",)


def settle_rules(options: Mapping[str, Any]) -> PixelRules:
    """The rules that options state, checked."""
    peak = options.get("data_range")
    if peak is not None and not (math.isfinite(float(peak)) and float(peak) > 0):
        raise OutOfRange(
            "value-out-of-domain",
            "the range of the data must be above 0",
            where="data_range",
            found=str(peak),
            fix="state the difference between the largest and the smallest possible value, such as 255",
        )
    axis = options.get("channel_axis")
    return PixelRules(
        data_range=None if peak is None else float(peak),
        colour=str(options.get("colour") or "channels"),
        channel_axis=None if axis is None else int(axis),
        windows=tuple(options.get("windows") or ("gaussian",)),
    )


def compare_batch(rules: PixelRules, batch: Mapping[str, NDArray[Any]]) -> ImageRows:
    """The kernel: load and compare the images of a batch, one after the other."""

    def compare(truth: object, predicted: object) -> list[float]:
        return compare_images(*load_pair(truth, predicted, rules))

    rows, units, faults = compare_pairs(batch, compare)
    own = None if units is None else tuple(units[name] for name in rows)
    sums = np.array(list(rows.values()), dtype=np.float64).reshape(-1, len(Pixels.NAMES))
    return ImageRows(parts=((tuple(rows), own, sums),), faults=tuple(faults))


def load_pair(truth: object, predicted: object, rules: PixelRules) -> tuple[Any, Any, float, PixelRules]:
    """Both images as channels first, and the range of their values."""
    images = [load_channels(source, rules) for source in (truth, predicted)]
    if images[0].shape != images[1].shape:
        raise RowsError(
            "mask-shapes-differ",
            "the images have different shapes",
            found=f"{images[0].shape[1:]} and {images[1].shape[1:]} of {len(images[0])} and {len(images[1])} channels",
            fix="bring both to the same size and colours",
        )
    peak = find_peak(images[0].dtype, images[1].dtype, rules)
    for image in images:
        if image.dtype.kind == "f" and not np.isfinite(image).all():
            raise OutOfRange("value-not-finite", "an image holds NaN or infinite values", fix="correct the image")
    if rules.colour == "luminance" and len(images[0]) == COLOURS:
        images = [np.tensordot(LUMINANCE, image.astype(np.float64), axes=1)[None] for image in images]
    return images[0], images[1], peak, rules


def load_channels(source: object, rules: PixelRules) -> NDArray[Any]:
    """One image with its channels first; a grey one has a single channel."""
    named = isinstance(source, str)
    values = load_image(source).values if isinstance(source, str) else np.asarray(source)
    if values.dtype.kind not in "iubf" or not values.size:
        raise RowsError("column-type", f"an image holds {values.dtype}", fix="give numbers")
    if values.ndim == PLANE:
        return values[None]
    axis = rules.channel_axis if rules.channel_axis is not None else (-1 if named else None)
    if values.ndim != PLANE + 1 or axis is None:
        raise RowsError(
            "mask-shapes-differ",
            f"an image has shape {values.shape}",
            fix="give images of rows and columns, and state channel_axis=-1 where colours are the last axis",
        )
    channels = np.moveaxis(values, axis, 0)
    if named and len(channels) not in (1, COLOURS):
        raise RowsError(
            "mask-shapes-differ",
            f"a picture has {len(channels)} channels, one of which may be transparency",
            fix="save it without an alpha channel",
        )
    return channels


def find_peak(first: np.dtype[Any], second: np.dtype[Any], rules: PixelRules) -> float:
    """The range of values: stated, or that of the whole-number type that both images have."""
    if rules.data_range is not None:
        return rules.data_range
    if first == second and first.kind in "iub":
        return 1.0 if first.kind == "b" else float(np.iinfo(first).max) - float(np.iinfo(first).min)
    raise PlanError(
        "role-missing",
        "the range of the data is not stated, and the types do not tell it",
        where="data_range",
        found=f"{first} and {second}",
        fix="state data_range=1 for values between 0 and 1, data_range=255 for 8 bits (--data-range)",
    )


def compare_images(truth: NDArray[Any], predicted: NDArray[Any], peak: float, rules: PixelRules) -> list[float]:
    """The sums of one pair; structural similarity is averaged over channels."""
    sums = dict.fromkeys(Pixels.NAMES, 0.0)
    for first, second in zip(truth, predicted, strict=True):
        add_errors(sums, first, second)
        add_similarity(sums, first, second, peak, rules)
    channels, error = len(truth), sums["squared"] / sums["pixels"]
    if sums["windows"]:
        sums["ssim_sum"], sums["ssim_images"] = sums["ssim_total"] / sums["windows"], 1.0
    if sums["scaled"]:
        sums["scales_sum"], sums["scaled"] = sums["scales_sum"] / channels, 1.0
    spread = float(truth.max()) - float(truth.min())
    if spread > 0:
        sums["range_sum"], sums["ranged"] = math.sqrt(error) / spread, 1.0
    between = find_quartile_range(truth)
    if between > 0:
        sums["quartile_sum"], sums["quartiled"] = math.sqrt(error) / between, 1.0
    sums["images"], sums["peak"] = 1.0, peak * peak * sums["pixels"]
    if error:
        sums["psnr_sum"] = 10 * math.log10(peak * peak / error)
    else:
        sums["identical"] = 1.0
    return [sums[name] for name in Pixels.NAMES]


def find_quartile_range(image: NDArray[Any]) -> float:
    """The distance between the quartiles, by linear interpolation; small whole numbers are counted in strips.

    >>> find_quartile_range(np.array([[[1, 2, 3, 4]]], dtype=np.uint8))
    1.5
    """
    if image.dtype.kind != "u" or image.dtype.itemsize > PLANE:
        low, high = np.quantile(image, (0.25, 0.75))
        return float(high - low)
    counts = np.zeros(1 << 8 * image.dtype.itemsize, dtype=np.int64)
    for channel in image:
        step = max(1, STRIP // channel.shape[1])
        for start in range(0, len(channel), step):
            counts += np.bincount(channel[start : start + step].reshape(-1), minlength=len(counts))
    places = np.array([0.25, 0.75]) * (image.size - 1)
    values = [np.searchsorted(np.cumsum(counts), np.floor(places + part), side="right") for part in (0, 1)]
    low, high = values[0] + (np.minimum(values[1], len(counts) - 1) - values[0]) * (places % 1)
    return float(high - low)


def add_errors(sums: dict[str, float], truth: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Add the sums over the pixels of one channel; whole numbers of up to 16 bits are added exactly."""
    kind = (
        np.int64
        if truth.dtype.kind in "iub" and max(truth.dtype.itemsize, predicted.dtype.itemsize) <= PLANE
        else float
    )
    step = max(1, STRIP // truth.shape[1])
    for start in range(0, len(truth), step):
        first = truth[start : start + step].astype(kind).reshape(-1)
        second = predicted[start : start + step].astype(kind).reshape(-1)
        away = first - second
        sums["pixels"] += first.size
        sums["error"] += float(away.sum())
        sums["absolute"] += float(np.abs(away).sum())
        sums["squared"] += float(np.square(away).sum())
        sums["truth"] += float(first.sum())
        sums["predicted"] += float(second.sum())
        sums["truth_squares"] += float(np.square(first).sum())
        sums["predicted_squares"] += float(np.square(second).sum())
        sums["product"] += float((first * second).sum())


def add_similarity(
    sums: dict[str, float], truth: NDArray[Any], predicted: NDArray[Any], peak: float, rules: PixelRules
) -> None:
    """Add structural similarity by every window that was asked for and fits."""
    side = min(truth.shape)
    if "gaussian" in rules.windows and side >= GAUSSIAN.size:
        total, _, windows = sum_similarity(truth, predicted, peak, GAUSSIAN)
        sums["ssim_total"] += total
        sums["windows"] += windows
    if "uniform" in rules.windows and side >= UNIFORM.size:
        total, _, windows = sum_similarity(truth, predicted, peak, UNIFORM)
        sums["uniform_total"] += total
        sums["uniform_windows"] += windows
    if "multiscale" in rules.windows and fits_scales(truth.shape):
        sums["scales_sum"] += measure_scales(truth, predicted, peak)
        sums["scaled"] += 1
