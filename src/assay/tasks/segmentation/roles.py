# SPDX-License-Identifier: Apache-2.0
"""What segmentation reads: options that say what masks mean, and masks from arrays, files, run lengths and polygons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import OutOfRange, PlanError, RowsError
from assay.core.labels import Label
from assay.core.task import Option, Role
from assay.core.text import visible
from assay.rows.images.files import LoadedImage, load_image, load_json, same_grid, suffix_of
from assay.tasks.image_inputs import ImageList
from assay.tasks.segmentation.kernel import Rules
from assay.tasks.segmentation.rle import decode_mask

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHAT: Final = "masks: arrays, a folder, paths, run lengths or polygons"
ROLES: Final = (
    Role(name="truth", holds=WHAT),
    Role(name="predicted", holds=WHAT, by_model=True),
    Role(name="image", holds="the name of an image", required=False),
    Role(name="pictures", holds="the images: the report shows three below their outlines", required=False),
)
OPTIONS: Final = (
    Option(
        name="spacing",
        says="size of a pixel along each axis, or one number for all; without it distances are not measured",
        kind=float,
        several=True,
    ),
    Option(name="labels", says="values in the masks that are classes, as 1 or 1=liver", several=True, by_name=True),
    Option(name="background", says="the value that is not a class", default=0, kind=int),
    Option(name="ignore", says="the value of the truth whose pixels are left out", kind=int),
    Option(name="threshold", says="a soft mask is an object where its value is at least this", kind=float),
    Option(name="tolerance", says="distance that normalized_surface_distance allows", default=1.0, kind=float),
    Option(
        name="missed",
        says="what distances do with an image in which one mask is empty",
        default="propagate",
        choices=("propagate", "skip", "worst"),
    ),
    Option(
        name="both_empty",
        says="the overlap of two empty masks",
        default="undefined",
        choices=("undefined", "one"),
    ),
    Option(name="boundary_width", says="width of the band of boundary_iou, in pixels", default=1, kind=int),
    Option(name="centre_line", says="whether to draw centre lines for centre_line_dice", default=False, kind=bool),
    Option(
        name="instances",
        says="labels are class * N + number of the instance; 0: every label is an instance of one class",
        kind=int,
    ),
    Option(name="one_hot", says="the axis of an array along which each class has its own mask", kind=int),
    Option(name="dimensions", says="2 for images, 3 for volumes, where an array could be either", kind=int),
)


def settle_rules(options: Mapping[str, Any]) -> Rules:
    """The rules that options state, checked."""
    spacing = options.get("spacing")
    if spacing is not None and not isinstance(spacing, (list, tuple, np.ndarray)):
        spacing = (spacing,)
    sizes = None if spacing is None or not spacing else tuple(float(size) for size in spacing)
    if sizes is not None and not all(math.isfinite(size) and size > 0 for size in sizes):
        raise OutOfRange(
            "spacing-not-positive",
            "the size of a pixel must be above 0 and finite",
            where="spacing",
            found=", ".join(map(str, sizes)),
            fix="state the size along each axis, such as spacing=(1, 1, 3)",
        )
    tolerance = float(options.get("tolerance") or 0)
    if not 0 <= tolerance < math.inf:
        raise OutOfRange(
            "value-out-of-domain",
            "a tolerance must be 0 or above",
            where="tolerance",
            found=str(tolerance),
            fix="state it in the unit of the spacing",
        )
    return Rules(
        labels=settle_labels(options.get("labels")),
        background=int(options.get("background") or 0),
        ignore=_whole(options.get("ignore")),
        threshold=None if options.get("threshold") is None else float(options["threshold"]),
        spacing=sizes,
        tolerance=tolerance,
        width=max(1, int(options.get("boundary_width") or 1)),
        missed=options.get("missed", "propagate"),
        both_empty=options.get("both_empty", "undefined"),
        centre_line=bool(options.get("centre_line")),
        instances=_whole(options.get("instances")),
        one_hot=_whole(options.get("one_hot")),
        dimensions=_whole(options.get("dimensions")) or (len(sizes) if sizes and len(sizes) > 1 else None),
    )


def settle_labels(given: object) -> dict[int, Label] | None:
    """Classes by value: a mapping, values, or texts such as 1=liver."""
    if given is None or (isinstance(given, Sequence) and not given):
        return None
    if isinstance(given, Sequence) and len(given) == 1 and isinstance(given[0], Mapping):
        given = given[0]
    if isinstance(given, Mapping):
        return {int(value): name for value, name in given.items()}
    items = [given] if isinstance(given, (str, int)) else list(cast("Iterable[object]", given))
    labels: dict[int, Label] = {}
    for item in items:
        value, _, name = str(item).partition("=")
        try:
            labels[int(value)] = name or int(value)
        except ValueError as error:
            raise PlanError(
                "option-unknown",
                f"labels: {visible(item)} is not a value of a mask",
                where="labels",
                fix="write whole numbers, with a name if you like: labels=[1, 2] or --labels 1=liver",
            ) from error
    return labels


def _whole(value: object) -> int | None:
    return None if value is None else int(cast("int", value))


def load_pair(truth: object, predicted: object, rules: Rules) -> tuple[Any, Any, tuple[float, ...] | None]:
    """Both masks as labels, and the spacing of their grid."""
    images = [load_mask(truth, rules), load_mask(predicted, rules)]
    if not same_grid(*images):
        raise RowsError(
            "mask-shapes-differ",
            "the files place truth and prediction differently in space",
            fix="resample the prediction onto the grid of the truth",
        )
    masks = [to_labels(image.values, role, rules) for image, role in zip(images, ("truth", "predicted"), strict=True)]
    if masks[0].shape != masks[1].shape:
        raise RowsError(
            "mask-shapes-differ",
            "truth and prediction have different shapes",
            found=f"{masks[0].shape} and {masks[1].shape}",
            fix="resample the prediction onto the grid of the truth",
        )
    if not masks[0].size:
        raise RowsError("no-rows", "the mask has no pixels", fix="leave the image out")
    return masks[0], masks[1], settle_spacing(rules, images[0].spacing, masks[0].ndim)


def settle_spacing(rules: Rules, found: tuple[float, ...] | None, dimensions: int) -> tuple[float, ...] | None:
    """The spacing that was stated, or that of the file."""
    spacing = rules.spacing or found
    if spacing is None:
        return None
    if len(spacing) == 1:
        spacing *= dimensions
    if len(spacing) != dimensions or not all(math.isfinite(size) and size > 0 for size in spacing):
        raise OutOfRange(
            "spacing-not-positive",
            f"a mask of {dimensions} dimensions needs as many sizes of a pixel, all above 0",
            found=", ".join(map(str, spacing)),
            fix="state one size for all axes, or one for each",
        )
    return spacing


def load_mask(source: object, rules: Rules) -> LoadedImage:
    """A mask from a path, an array, run lengths, polygons, or the objects of a COCO file."""
    if isinstance(source, str):
        return load_image(source)
    if isinstance(source, Mapping):
        size = cast("tuple[int, int]", tuple(source["size"]))
        if "objects" in source:
            return LoadedImage(values=paint_objects(source["objects"], size, rules))
        if "counts" in source:
            return LoadedImage(values=decode_mask(source, size))
        return LoadedImage(values=decode_mask(source.get("segmentation", source.get("polygons")), size))
    return LoadedImage(values=np.asarray(source))


def to_labels(values: NDArray[Any], role: str, rules: Rules) -> NDArray[Any]:
    """A mask as whole numbers; soft masks need a threshold."""
    if rules.one_hot is not None:
        values = join_channels(values, role, rules.one_hot)
    if values.dtype.kind in "iub":
        return values
    if values.dtype.kind != "f":
        raise RowsError("column-type", f"{role} holds {values.dtype}", fix="give whole numbers or a soft mask")
    if not np.isfinite(values).all():
        raise OutOfRange("value-not-finite", f"{role} holds NaN or infinite values", fix="correct the mask")
    if rules.threshold is not None and role == "predicted":
        target = next(iter(rules.labels)) if rules.labels is not None and len(rules.labels) == 1 else 1
        return np.where(values >= rules.threshold, target, rules.background).astype(np.int32)
    whole = values.astype(np.int64)
    if (whole != values).any():
        fix = "threshold it first" if role == "truth" else "state threshold=0.5 (--threshold 0.5)"
        raise RowsError("mask-not-binary", f"{role} is a soft mask", found="values between labels", fix=fix)
    return whole


def join_channels(values: NDArray[Any], role: str, axis: int) -> NDArray[Any]:
    """One mask for each class as one mask of labels: the number of the channel."""
    if not ((values == 0) | (values == 1)).all() or not (values.sum(axis=axis) == 1).all():
        raise RowsError(
            "mask-not-binary",
            f"{role} is not one-hot: each pixel must have a 1 in exactly one channel",
            fix="assess channels that overlap, or are soft, one by one",
        )
    labels: NDArray[np.intp] = values.argmax(axis=axis)
    return labels


def read_coco(truth: object, predicted: object, rules: Rules) -> tuple[object, object, Rules]:
    """COCO files as lists of images with their objects; other input as it is."""
    if not (isinstance(truth, (str, Path)) and suffix_of(truth) == ".json"):
        return truth, predicted, rules
    content, answers = load_json(truth), load_json(cast("str", predicted))
    detections = answers if isinstance(answers, list) else answers["annotations"]
    if rules.labels is None:
        named = {int(category["id"]): str(category["name"]) for category in content.get("categories", ())}
        rules = replace(rules, labels=named or None)
    sizes = {str(image["id"]): (int(image["height"]), int(image["width"])) for image in content["images"]}
    lists = []
    for objects in (content["annotations"], detections):
        by_image: dict[str, list[tuple[int, object]]] = {name: [] for name in sizes}
        unknown = {str(thing["image_id"]) for thing in objects} - {*sizes}
        if unknown:
            raise RowsError(
                "rows-unmatched",
                "objects belong to images that the truth does not list",
                found=", ".join(sorted(unknown)[:5]),
                fix="use the image ids of the truth file",
            )
        for thing in objects:
            by_image[str(thing["image_id"])].append((int(thing["category_id"]), thing["segmentation"]))
        sources = [{"size": size, "objects": by_image[name]} for name, size in sizes.items()]
        lists.append(ImageList(sources=sources, names=list(sizes)))
    return lists[0], lists[1], rules


def paint_objects(objects: Sequence[tuple[int, object]], size: tuple[int, int], rules: Rules) -> NDArray[np.int64]:
    """Objects painted one over the other; with instances, each has its own value."""
    mask = np.full(size, rules.background, dtype=np.int64)
    for number, (category, segmentation) in enumerate(objects, start=1):
        value = category if rules.instances is None else number + category * rules.instances
        mask[decode_mask(segmentation, size)] = value
    return mask
