# SPDX-License-Identifier: Apache-2.0
"""The tally of detection: every detection by falling score with what it hits, and the objects of every image.

All measures, classes, groups and intervals come from it; boxes are not kept. Images of two tallies must differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import counted, listed, quoted
from assay.tally.base import (
    VERSION,
    Digested,
    demand_kind,
    packed_bytes,
    packed_reals,
    packed_whole,
    unpacked_bytes,
    unpacked_reals,
    unpacked_whole,
)
from assay.tasks.detection.kernel.box_matches import AREAS, COMBINATIONS
from assay.tasks.detection.kernel.boxes import sort_labels
from assay.tasks.detection.kernel.error_kinds import ERRORS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tasks.detection.kernel.boxes import Floats, Whole

MASK: Final = COMBINATIONS // 8
BEYOND: Final = 8
"""Flag of a detection beyond the cap; the three bits below it are the areas small, medium, large."""
LOOSE: Final = 16
"""Flag of a detection that counts only where it hits."""
PICTURES: Final = 6
"""Images whose boxes are kept to be drawn."""
COLUMNS: Final = {"image": "w", "score": "r", "flags": "w"}
SPECIAL: Final = {"detection": "w", "hit": "b", "ignored": "b", "rank": "w", "target": "w", "iou": "r"}
OBJECTS: Final = ("image", "label", *AREAS)

CAPS: Final = {"coco": 100, "lvis": 300, "voc": 1_000_000, "openimages": 1_000_000}
"""Detections of an image and class that count, by profile; for LVIS those of an image."""
POINTS_CAP: Final = 20
"""The same for keypoints in COCO."""


def settle_cap(options: Mapping[str, object]) -> int:
    """Detections that count where the options do not state it."""
    return POINTS_CAP if options.get("shape") == "keypoints" else CAPS[str(options.get("profile") or "coco")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How boxes were matched and counted; tallies of different rules cannot be added."""

    profile: str = "coco"
    cap: int = 100
    """Detections of one image and class that AP and AR read; for LVIS those of one image."""
    confidence: float = 0.5
    """Lowest score of a detection that counts at the operating point."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Boxes(Digested):
    """Detections sorted by class and falling score, and the number of objects by image and class."""

    rules: Rules
    images: tuple[Label, ...]
    classes: tuple[Label, ...]
    sizes: Whole
    """Detections of each class."""
    image: Whole
    score: Floats
    flags: Whole
    detection: Whole
    """Places of the detections that hit or are ignored; the columns below are theirs."""
    hit: NDArray[np.uint8]
    ignored: NDArray[np.uint8]
    rank: Whole
    target: Whole
    """Which object of its image is hit at IoU 0.5, from 1; 0 for none."""
    iou: Floats
    objects: Whole
    """Rows of image, class and the number of objects that count: of any area, small, medium, large."""
    errors: Whole
    """Images by kinds of error at the operating point."""
    units: tuple[Label, ...] | None = None
    """What each image belongs to, where images are not the unit."""
    frequency: tuple[str, ...] | None = None
    """How often each class occurs in the world, where the truth says so (LVIS: r, c, f)."""
    pictures: tuple[dict[str, object], ...] = field(default=())
    """Boxes of the images with the most errors."""

    @property
    def rows(self) -> int:
        """Images that were counted."""
        return len(self.images)

    @cached_property
    def starts(self) -> Whole:
        """Where the detections of each class begin, and where the last ends."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def special_starts(self) -> Whole:
        """The same for the detections that hit or are ignored."""
        return np.searchsorted(self.detection, self.starts)

    @cached_property
    def label(self) -> Whole:
        """The class of each detection."""
        return np.repeat(np.arange(len(self.classes)), self.sizes)

    @cached_property
    def hits(self) -> NDArray[np.bool_]:
        """Special detections by area and threshold; none beyond the cap."""
        return self._unpack(self.hit)

    @cached_property
    def skips(self) -> NDArray[np.bool_]:
        """The same for those that match an object that does not count."""
        return self._unpack(self.ignored)

    def _unpack(self, masks: NDArray[np.uint8]) -> NDArray[np.bool_]:
        flags = np.unpackbits(masks, axis=1).astype(bool)
        flags[self.rank >= self.rules.cap] = False
        return flags.reshape(len(masks), len(AREAS), COMBINATIONS // len(AREAS))

    @cached_property
    def found(self) -> NDArray[np.bool_]:
        """Special detections that hit at IoU 0.5, of any area and also beyond the cap."""
        return np.asarray(self.hit[:, 0] >> 7 == 1)

    @cached_property
    def alarms(self) -> NDArray[np.bool_]:
        """Detections that are false alarms at IoU 0.5, of any area and also beyond the cap."""
        alarms = self.flags & LOOSE == 0
        alarms[self.detection[(self.hit[:, 0] | self.ignored[:, 0]) >> 7 == 1]] = False
        return np.asarray(alarms)

    @cached_property
    def objects_by_class(self) -> Whole:
        """Objects that count, classes by areas."""
        counts = np.zeros((len(self.classes), len(AREAS)), dtype=np.int64)
        np.add.at(counts, self.objects[:, 1], self.objects[:, 2:])
        return counts

    @cached_property
    def precisions(self) -> dict[str, Floats]:
        """Average precisions by rule, kept because several measures read them."""
        return {}

    def select_images(self, images: Whole) -> Boxes:
        """The tally of some images, such as those of a group."""
        new = np.full(len(self.images), -1)
        new[images] = np.arange(len(images))
        kept = new[self.image] >= 0
        special = kept[self.detection]
        columns = {name: getattr(self, name)[special] for name in SPECIAL}
        columns["detection"] = (np.cumsum(kept) - 1)[columns["detection"]]
        columns |= {name: getattr(self, name)[kept] for name in COLUMNS}
        columns["image"] = new[columns["image"]]
        objects = self.objects[new[self.objects[:, 0]] >= 0].copy()
        objects[:, 0] = new[objects[:, 0]]
        names = tuple(self.images[place] for place in images)
        return replace(
            self,
            **columns,
            images=names,
            sizes=np.bincount(self.label[kept], minlength=len(self.classes)),
            objects=objects,
            errors=self.errors[images],
            units=None if self.units is None else tuple(self.units[place] for place in images),
            pictures=tuple(picture for picture in self.pictures if picture["image"] in set(names)),
        )

    def __add__(self, other: Boxes) -> Boxes:
        """All images of both; an image that both hold is an error."""
        if self.rules != other.rules or (self.units is None) != (other.units is None):
            raise PlanError(
                "tally-mismatch",
                "the two tallies were counted by different rules",
                found=f"{self.rules} and {other.rules}",
                fix="count both with the same profile, max_detections, confidence and unit",
            )
        return self.join((self, other))

    @staticmethod
    def join(parts: Sequence[Boxes]) -> Boxes:
        """All images of some parts; an image that two of them hold is an error."""
        images = Counter(image for part in parts for image in part.images)
        if shared := {image for image, count in images.items() if count > 1}:
            raise PlanError(
                "tally-mismatch",
                f"{counted(len(shared), 'image')} would be counted twice",
                found=listed(quoted(str(image)) for image in sort_labels(shared)[:5]),
                fix="merge tallies of different images, or give the images of one site other ids",
            )
        return join_parts(
            list(parts), sort_labels(set(images)), sort_labels({c for part in parts for c in part.classes})
        )

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        pack: dict[str, Callable[[Any], str]] = {"w": packed_whole, "r": packed_reals, "b": packed_bytes}
        columns = {name: pack[kind](getattr(self, name)) for name, kind in (COLUMNS | SPECIAL).items()}
        return {
            "boxes": {
                "kind": "boxes",
                "version": VERSION,
                "rules": {name: getattr(self.rules, name) for name in Rules.__slots__},
                "images": list(self.images),
                "classes": list(self.classes),
                "sizes": self.sizes.tolist(),
                "specials": len(self.detection),
                **columns,
                "objects": [len(self.objects), packed_whole(self.objects.ravel())],
                "errors": packed_whole(self.errors.ravel()),
                "units": None if self.units is None else list(self.units),
                "frequency": self.frequency and list(self.frequency),
                "pictures": list(self.pictures),
            }
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Boxes:
        """The inverse of `to_json`."""
        part = cast("Mapping[str, Any]", content.get("boxes", {}))
        demand_kind(part, "boxes", "a tally of boxes")
        sizes, special = np.array(part["sizes"], dtype=np.int64), part["specials"]
        columns = {
            name: _unpack_column(part[name], kind, int(sizes.sum()) if name in COLUMNS else special)
            for name, kind in (COLUMNS | SPECIAL).items()
        }
        rows, objects = part["objects"]
        images = tuple(part["images"])
        return cls(
            rules=Rules(**part["rules"]),
            images=images,
            classes=tuple(part["classes"]),
            sizes=sizes,
            **columns,
            objects=unpacked_whole(objects, rows * len(OBJECTS)).reshape(rows, len(OBJECTS)),
            errors=unpacked_whole(part["errors"], len(images) * len(ERRORS)).reshape(-1, len(ERRORS)),
            units=None if part["units"] is None else tuple(part["units"]),
            frequency=part["frequency"] and tuple(part["frequency"]),
            pictures=tuple(part["pictures"]),
        )


def _unpack_column(text: str, kind: str, size: int) -> NDArray[Any]:
    if kind == "b":
        return unpacked_bytes(text, size, MASK)
    return unpacked_whole(text, size) if kind == "w" else unpacked_reals(text, size)


def sort_columns(label: Whole, score: Floats, classes: int) -> Whole:
    """The order by class and falling score; equal scores stay as they are."""
    narrow = label.astype(np.uint16) if classes < 1 << 16 else label
    order = np.argsort(narrow, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=classes))])
    falling = -score[order]
    for first, last in pairwise(ends.tolist()):
        if last - first > 1:
            order[first:last] = order[first:last][np.argsort(falling[first:last], kind="stable")]
    return order


def join_parts(parts: list[Boxes], images: tuple[Label, ...], classes: tuple[Label, ...]) -> Boxes:
    """One tally of parts with different images, in the order that counting them together gives.

    Classes are joined one by one, so that little more than the parts and the whole is held.
    """
    places, labels = _new_codes(parts, "images", images), _new_codes(parts, "classes", classes)
    sizes = np.zeros(len(classes), dtype=np.int64)
    for part, new in zip(parts, labels, strict=True):
        sizes[new] += part.sizes
    whole = {name: np.empty(int(sizes.sum()), dtype=getattr(parts[0], name).dtype) for name in COLUMNS}
    special: dict[str, list[NDArray[Any]]] = {name: [getattr(parts[0], name)[:0]] for name in SPECIAL}
    start = 0
    for code, size in enumerate(sizes.tolist()):
        pieces: list[tuple[NDArray[Any], ...]] = []
        moved: list[tuple[Whole, dict[str, NDArray[Any]]]] = []
        for part, new, place in zip(parts, labels, places, strict=True):
            for own in np.flatnonzero(np.asarray(new == code)).tolist():
                first, last = part.starts[own : own + 2]
                rows = slice(*part.special_starts[own : own + 2].tolist())
                shift = sum(len(piece[0]) for piece in pieces) - first
                pieces.append((place[part.image[first:last]], part.score[first:last], part.flags[first:last]))
                moved.append((part.detection[rows] + shift, {name: getattr(part, name)[rows] for name in SPECIAL}))
        if not size:
            continue
        image, score, flags = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
        order = np.lexsort((image, -score))
        inverse = np.empty(size, dtype=np.int64)
        inverse[order] = np.arange(size)
        for name, column in (("image", image), ("score", score), ("flags", flags)):
            whole[name][start : start + size] = column[order]
        detection = inverse[np.concatenate([row for row, _ in moved])]
        by_place = np.argsort(detection)
        special["detection"].append(detection[by_place] + start)
        for name in SPECIAL:
            if name != "detection":
                special[name].append(np.concatenate([columns[name] for _, columns in moved])[by_place])
        start += size
    errors = np.zeros((len(images), len(ERRORS)), dtype=np.int64)
    for part, place in zip(parts, places, strict=True):
        errors[place] = part.errors
    return Boxes(
        rules=parts[0].rules,
        images=images,
        classes=classes,
        sizes=sizes,
        **whole,
        **{name: np.concatenate(columns) for name, columns in special.items()},
        objects=_join_objects(parts, places, labels),
        errors=errors,
        units=_join_facts(parts, "images", "units", images),
        frequency=_join_facts(parts, "classes", "frequency", classes),
        pictures=keep_pictures([picture for part in parts for picture in part.pictures]),
    )


def _new_codes(parts: list[Boxes], name: str, known: tuple[Label, ...]) -> list[Whole]:
    """For each part, the new code of each of its images or classes."""
    codes = {label: code for code, label in enumerate(known)}
    return [np.array([codes[label] for label in getattr(part, name)], dtype=np.int64) for part in parts]


def _join_objects(parts: list[Boxes], places: list[Whole], labels: list[Whole]) -> Whole:
    rows = []
    for part, place, label in zip(parts, places, labels, strict=True):
        rows.append(part.objects.copy())
        rows[-1][:, 0], rows[-1][:, 1] = place[part.objects[:, 0]], label[part.objects[:, 1]]
    joined = np.concatenate(rows)
    return joined[np.lexsort((joined[:, 1], joined[:, 0]))]


def _join_facts(parts: list[Boxes], names: str, facts: str, wanted: tuple[Label, ...]) -> tuple[Any, ...] | None:
    """What is known of each image or class; None where no part knows it."""
    pairs = [zip(getattr(part, names), getattr(part, facts) or (), strict=False) for part in parts]
    known = dict(chain.from_iterable(pairs))
    return tuple(known.get(name, "") for name in wanted) if known else None


def keep_pictures(pictures: list[dict[str, object]]) -> tuple[dict[str, object], ...]:
    """Those of the images with the most errors; equal numbers in the order of the images."""
    place = {image: code for code, image in enumerate(sort_labels({cast("Label", p["image"]) for p in pictures}))}
    worst = sorted(pictures, key=lambda p: (-cast("int", p["errors"]), place[cast("Label", p["image"])]))
    return tuple(worst[:PICTURES])
