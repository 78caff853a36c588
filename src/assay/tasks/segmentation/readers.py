# SPDX-License-Identifier: Apache-2.0
"""Compares masks batch by batch into a tally, and draws the contours of the worst, the median and the best image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.labels import Label
from assay.core.task import Counted, Request
from assay.tally.census import Census
from assay.tasks.image_inputs import ImagePairs, Parts, compare_pairs, list_images, pair_images, raise_faults
from assay.tasks.segmentation.contours import draw_picture
from assay.tasks.segmentation.kernel import ImageCounts, Rules, compare_masks
from assay.tasks.segmentation.mask_sums import PLACE, sum_by_image
from assay.tasks.segmentation.roles import load_mask, load_pair, read_coco, settle_rules
from assay.tasks.segmentation.tally import PICTURES, MaskTally

if TYPE_CHECKING:
    from numpy.typing import NDArray


class MaskParts(Parts[MaskTally]):
    """Partial tallies."""

    KIND = MaskTally


def read_masks(request: Request) -> Counted:
    """Read and compare the masks of one model."""
    pairs, tally = compare_all(request)
    pictures, thumbnails = draw_pictures(tally, pairs, request.given.get("pictures"))
    tally = replace(tally, pictures=tuple(pictures))
    levels = pairs.levels()
    groups = {factor: {level: tally.select(names) for level, names in by.items()} for factor, by in levels.items()}
    census = Census(read=tally.rows, scored=tally.rows)
    notes = (*pairs.notes, *describe_counts(tally))
    return Counted(tally=tally, census=census, groups=groups, notes=notes, data=pairs.about, thumbnails=thumbnails)


def compare_all(request: Request) -> tuple[ImagePairs, MaskTally]:
    """The masks that belong together and their tally; all images that cannot be compared are gathered for one error."""
    rules = settle_rules(request.options)
    if request.data is None:
        truth, predicted, rules = read_coco(request.given.get("truth"), request.given.get("predicted"), rules)
        request = replace(request, given={**request.given, "truth": truth, "predicted": predicted})
    pairs = pair_images(request, rules.dimensions, channels=rules.one_hot is not None)
    tally = pairs.run(partial(compare_batch, rules), MaskParts, request.progress).join()
    raise_faults(tally.faults, tally.rows + len(tally.faults))
    return pairs, tally


def compare_batch(rules: Rules, batch: Mapping[str, NDArray[Any]]) -> MaskParts:
    """The kernel: load and compare the images of a batch, one after the other."""

    def compare(truth: object, predicted: object) -> ImageCounts:
        first, second, spacing = load_pair(truth, predicted, rules)
        return compare_masks(first, second, rules, spacing)

    return MaskParts((MaskTally.build(rules, *compare_pairs(batch, compare)),))


def draw_pictures(
    tally: MaskTally, pairs: ImagePairs, below: object
) -> tuple[list[dict[str, object]], dict[Label, str]]:
    """Contours of the worst, the median and the best image by the mean Dice of their classes, and their thumbnails."""
    values = sum_by_image(tally)
    defined = np.flatnonzero(values[:, PLACE["defined"]] > 0)
    if not len(defined) or pairs.spark is not None:
        return [], {}
    dice = values[defined, PLACE["dice_sum"]]
    order = defined[np.argsort(dice, kind="stable")]
    chosen = dict.fromkeys(order[place] for place in (0, len(order) // 2, len(order) - 1))
    place_of = {name: place for place, name in enumerate(pairs.names)}
    images = None if below is None else list_images(below, "pictures", tally.rules.dimensions)
    sources = {} if images is None else dict(zip(images.names or pairs.names, images.sources, strict=False))
    pictures: list[dict[str, object]] = []
    thumbnails: dict[Label, str] = {}
    for number in list(chosen)[:PICTURES]:
        place = place_of[tally.images[number]]
        truth, predicted, _ = load_pair(pairs.truth[place], pairs.predicted[place], tally.rules)
        value = float(values[number, PLACE["dice_sum"]])
        source = sources.get(tally.images[number])
        image = None if source is None else load_mask(source, tally.rules).values
        drawn, small = draw_picture(truth, predicted, tally.rules, image)
        pictures.append({"image": tally.images[number], "dice": value, **drawn})
        if small is not None:
            thumbnails[tally.images[number]] = small
    return pictures, thumbnails


def describe_counts(tally: MaskTally) -> Sequence[str]:
    """What a reader must know of the images: empty masks, and accuracy that says little."""
    values = sum_by_image(tally)
    notes = []
    both, missed, spurious = (int(values[:, PLACE[name]].sum()) for name in ("both_empty", "missed", "spurious"))
    if both:
        how = "count as 1" if tally.rules.both_empty == "one" else "are left out of means over images"
        notes.append(f"{both:,} of {tally.rows:,} images hold no object in either mask; they {how}")
    for count, what in ((missed, "only in the truth (missed)"), (spurious, "only in the prediction (false alarm)")):
        if count:
            notes.append(f"{count:,} of {tally.rows:,} images hold a class {what}: overlap 0, no distance")
    pixels = float(values[:, PLACE["pixels"]].sum())
    objects = float((values[:, PLACE["tp"]] + values[:, PLACE["fn"]]).sum())
    if objects < pixels / 20:
        notes.append(f"objects fill {100 * objects / pixels:.2g} % of the pixels: pixel_accuracy says little")
    return notes
