# SPDX-License-Identifier: Apache-2.0
"""The tally of masks: one row for each image and class that either mask holds, and the sums that measures read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError, RecordError
from assay.core.labels import Label
from assay.tally.base import VERSION, Digested, digest
from assay.tally.unit_table import Sums, UnitTable
from assay.tasks.image_inputs import Fault, check_unique
from assay.tasks.segmentation.kernel import COLUMNS, ImageCounts, Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.core.values import Amount


Confusion: TypeAlias = Mapping[tuple[Label | None, Label | None], int]
"""Voxels by class of truth and prediction; None is the background."""
PICTURES = 3
"""Images of which contours are kept: the worst, the median and the best."""


class Masks(Sums):
    """Sums over images: of one class, or of all classes together.

    Over all classes, counts of voxels are added up and values of an image are the mean of its classes.
    """

    images: Amount
    pixels: Amount
    equal: Amount
    tp: Amount
    fp: Amount
    fn: Amount
    both_empty: Amount
    missed: Amount
    spurious: Amount
    defined: Amount
    dice_sum: Amount
    iou_sum: Amount
    boundary_sum: Amount
    line_sum: Amount
    with_truth: Amount
    volume_sum: Amount
    spaced: Amount
    lined: Amount
    blocked: Amount
    measured: Amount
    hausdorff_sum: Amount
    directed_sum: Amount
    hd95_sum: Amount
    hd95_joint_sum: Amount
    assd_sum: Amount
    nsd_sum: Amount
    surface_dice_sum: Amount
    surface: Amount
    shared: Amount
    within: Amount
    distance: Amount
    band_shared: Amount
    band_union: Amount
    line_truth: Amount
    line_truth_covered: Amount
    line_predicted: Amount
    line_predicted_covered: Amount
    matched: Amount
    matched_iou: Amount
    unmatched_truth: Amount
    unmatched_predicted: Amount


MEANS: Mapping[str, tuple[str, ...]] = {
    "defined": ("dice_sum", "iou_sum", "boundary_sum", "line_sum"),
    "with_truth": ("volume_sum",),
    "measured": (
        "hausdorff_sum",
        "directed_sum",
        "hd95_sum",
        "hd95_joint_sum",
        "assd_sum",
        "nsd_sum",
        "surface_dice_sum",
    ),
}
"""Values of an image, by the column that says whether it has them."""
ANY = ("missed", "spurious", "blocked")
"""Columns that say of an image whether any of its classes is so."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MaskTally(Digested):
    """Images by name, and one row of counts for each class of an image."""

    PUBLIC: ClassVar = ("by_unit", "confusion")

    rules: Rules
    images: tuple[str, ...]
    unit_of: tuple[str, ...] | None
    """The unit of each image, where one was named."""
    facts: Floats
    """Pixels, equal pixels and diagonal of each image."""
    labels: tuple[Label, ...]
    image_of_row: Whole
    label_of_row: Whole
    counts: Floats
    """Rows by `COLUMNS`."""
    confusion: Confusion
    pictures: tuple[Mapping[str, object], ...] = ()
    faults: tuple[Fault, ...] = ()
    """Images that cannot be compared, with the reason; never in a finished tally."""
    cache: dict[object, UnitTable] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def build(
        cls,
        rules: Rules,
        images: Mapping[str, ImageCounts],
        units: Mapping[str, str] | None = None,
        faults: Iterable[Fault] = (),
    ) -> MaskTally:
        """The tally of some images."""
        names = tuple(sorted(images))
        declared = () if rules.labels is None or rules.instances == 0 else tuple(rules.labels.values())
        labels = sort_labels({*declared, *(label for image in images.values() for label in image.by_class)})
        place = {label: number for number, label in enumerate(labels)}
        rows = [
            (number, place[label], row)
            for number, name in enumerate(names)
            for label, row in sorted(images[name].by_class.items(), key=lambda item: place[item[0]])
        ]
        return cls(
            rules=rules,
            images=names,
            unit_of=None if units is None else tuple(units[name] for name in names),
            facts=_table([(i.pixels, i.equal, i.diagonal) for i in (images[name] for name in names)], 3),
            labels=labels,
            image_of_row=np.array([row[0] for row in rows], dtype=np.int64),
            label_of_row=np.array([row[1] for row in rows], dtype=np.int64),
            counts=_table([row[2] for row in rows], len(COLUMNS)),
            confusion=_add_confusions(image.confusion for image in images.values()),
            faults=tuple(faults),
        )

    @property
    def rows(self) -> int:
        """Images that were compared."""
        return len(self.images)

    @property
    def units(self) -> int:
        """Units, which are images unless another unit was named."""
        return len(self.images if self.unit_of is None else set(self.unit_of))

    @property
    def unit_names(self) -> tuple[str, ...]:
        """The unit of each image."""
        return self.images if self.unit_of is None else self.unit_of

    def __add__(self, other: MaskTally) -> MaskTally:
        """The images of both; an image that both hold is refused."""
        return self.join((self, other))

    @staticmethod
    def join(parts: Sequence[MaskTally]) -> MaskTally:
        """The images of all parts; an image that two parts hold is refused."""
        for part in parts[1:]:
            check_same_rules(parts[0], part)
        names = [name for part in parts for name in part.images]
        order = np.argsort(np.array(names, dtype=object), kind="stable")
        images = tuple(names[place] for place in order)
        check_unique(images, parts=True)
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        labels = sort_labels({label for part in parts for label in part.labels})
        starts = np.cumsum([0, *(len(part.images) for part in parts[:-1])])
        rows = zip(parts, starts, strict=True)
        image_of_row = rank[np.concatenate([part.image_of_row + start for part, start in rows])]
        label_of_row = np.concatenate([_find_places(part, labels)[part.label_of_row] for part in parts])
        by_row = np.lexsort((label_of_row, image_of_row))
        return MaskTally(
            rules=parts[0].rules,
            images=images,
            unit_of=_merge_units(parts, order),
            facts=np.concatenate([part.facts for part in parts])[order],
            labels=labels,
            image_of_row=image_of_row[by_row],
            label_of_row=label_of_row[by_row],
            counts=np.concatenate([part.counts for part in parts])[by_row],
            confusion=_add_confusions(part.confusion for part in parts),
            pictures=choose_pictures([picture for part in parts for picture in part.pictures]),
            faults=tuple(fault for part in parts for fault in part.faults),
        )

    def select(self, images: Sequence[str]) -> MaskTally:
        """Some of the images, such as those of a group; without the confusion of labels, which is of all."""
        kept = np.isin(np.array(self.images, dtype=object), np.array(images, dtype=object))
        rank = np.cumsum(kept) - 1
        rows = kept[self.image_of_row] if len(self.image_of_row) else np.zeros(0, dtype=bool)
        return replace(
            self,
            images=tuple(name for name, keep in zip(self.images, kept, strict=True) if keep),
            unit_of=self.unit_of and tuple(name for name, keep in zip(self.unit_of, kept, strict=True) if keep),
            facts=self.facts[kept],
            image_of_row=rank[self.image_of_row[rows]],
            label_of_row=self.label_of_row[rows],
            counts=self.counts[rows],
            confusion={},
            pictures=(),
            cache={},
        )

    def digest(self) -> str:
        """SHA-256 of the canonical form; contours illustrate the counts and are not part of them."""
        return digest(replace(self, pictures=()).to_json())

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "masks": {
                "kind": "masks",
                "version": VERSION,
                "rules": self.rules.to_json(),
                "images": list(self.images),
                "units": None if self.unit_of is None else list(self.unit_of),
                "facts": self.facts.tolist(),
                "labels": list(self.labels),
                "columns": list(COLUMNS),
                "image_of_row": self.image_of_row.tolist(),
                "label_of_row": self.label_of_row.tolist(),
                "counts": [[int(x) if x == int(x) else x for x in row] for row in self.counts.tolist()],
                "confusion": sorted(([*pair, n] for pair, n in self.confusion.items()), key=repr),
                "pictures": [dict(picture) for picture in self.pictures],
                "faults": [list(fault) for fault in self.faults],
            }
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> MaskTally:
        """The inverse of `to_json`."""
        parts = cast("Mapping[str, Any]", content.get("masks", {}))
        if (parts.get("kind"), parts.get("version"), parts.get("columns")) != ("masks", VERSION, list(COLUMNS)):
            raise RecordError(
                "record-unreadable",
                f"this is not a tally of masks of version {VERSION}",
                found=f"kind {parts.get('kind')!r}, version {parts.get('version')!r}",
                fix="write it again with this version of assay",
            )
        units = parts["units"]
        return cls(
            rules=Rules.from_json(parts["rules"]),
            images=tuple(parts["images"]),
            unit_of=None if units is None else tuple(units),
            facts=_table(parts["facts"], 3),
            labels=tuple(parts["labels"]),
            image_of_row=np.array(parts["image_of_row"], dtype=np.int64),
            label_of_row=np.array(parts["label_of_row"], dtype=np.int64),
            counts=_table(parts["counts"], len(COLUMNS)),
            confusion={(a, b): n for a, b, n in parts["confusion"]},
            pictures=tuple(parts["pictures"]),
            faults=tuple(tuple(fault) for fault in parts["faults"]),
        )


def _merge_units(parts: Sequence[MaskTally], order: NDArray[np.intp]) -> tuple[str, ...] | None:
    """The units of all images in a new order; None where images are the units."""
    units = [unit for part in parts for unit in part.unit_of or ()]
    return None if parts[0].unit_of is None else tuple(units[place] for place in order)


def _add_confusions(parts: Iterable[Confusion]) -> Confusion:
    added: dict[tuple[Label | None, Label | None], int] = {}
    for part in parts:
        for pair, n in part.items():
            added[pair] = added.get(pair, 0) + n
    return added


def widen_labels(part: MaskTally, labels: tuple[Label, ...]) -> MaskTally:
    """A tally over more classes, of which it holds none."""
    return replace(part, labels=labels, label_of_row=_find_places(part, labels)[part.label_of_row], cache={})


def check_same_rules(first: MaskTally, other: MaskTally) -> None:
    """Refuse tallies that were counted by different rules."""
    ours, theirs = first.rules.to_json(), other.rules.to_json()
    differing = [name for name in ours if ours[name] != theirs[name]]
    if (first.unit_of is None) != (other.unit_of is None):
        differing.append("unit")
    if differing:
        raise PlanError(
            "tally-mismatch",
            "the masks were compared by different rules",
            found="; ".join(f"{name}: {ours.get(name)} and {theirs.get(name)}" for name in differing),
            fix="count every part with the same options",
        )


def sort_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Numbers in order, then names in order."""
    return tuple(sorted(labels, key=lambda label: (isinstance(label, str), label)))


def choose_pictures(pictures: Sequence[Mapping[str, object]]) -> tuple[Mapping[str, object], ...]:
    """The worst, the median and the best of the pictures, by Dice."""
    ordered = sorted(pictures, key=lambda picture: (cast("float", picture["dice"]), str(picture["image"])))
    if len(ordered) <= PICTURES:
        return tuple(ordered)
    return ordered[0], ordered[len(ordered) // 2], ordered[-1]


def _find_places(part: MaskTally, labels: Sequence[Label]) -> Whole:
    return np.array([labels.index(label) for label in part.labels], dtype=np.int64)


def _table(rows: Sequence[Sequence[float]], width: int) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(-1, width)
