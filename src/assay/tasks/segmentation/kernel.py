# SPDX-License-Identifier: Apache-2.0
"""Counts of one image: voxels by label of truth and prediction, surfaces by class, matched instances."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from assay.core.errors import RowsError, UnknownLabel
from assay.core.labels import Label
from assay.core.text import counted
from assay.tasks.segmentation.surfaces import LINE_COLUMNS, SURFACE_COLUMNS, measure_lines, measure_surfaces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole: TypeAlias = NDArray[np.integer]
    Codes: TypeAlias = NDArray[np.unsignedinteger]

OVERLAP_COLUMNS: Final = ("tp", "fp", "fn")
INSTANCE_COLUMNS: Final = ("matched", "matched_iou", "unmatched_truth", "unmatched_predicted")
COLUMNS: Final = (*OVERLAP_COLUMNS, *SURFACE_COLUMNS, *LINE_COLUMNS, *INSTANCE_COLUMNS)
CHUNK: Final = 1 << 16
"""Voxels counted at a time, so that their codes stay in a processor's cache."""
WORD: Final = 8
SMALL: Final = 256
"""Labels below this are counted as they are; the code of a pair then fits 16 bits."""
WHITE: Final = 255
HALF: Final = 0.5
"""Two instances match where their IoU is above this, so that no instance matches twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How masks are compared; a Record states all of it."""

    labels: Mapping[int, Label] | None = None
    """The classes by the value in a mask, with their names; None for every value but the background."""
    background: int = 0
    ignore: int | None = None
    threshold: float | None = None
    spacing: tuple[float, ...] | None = None
    tolerance: float = 1.0
    width: int = 1
    """Of the band of `boundary_iou`, in voxels."""
    missed: str = "propagate"
    both_empty: str = "undefined"
    centre_line: bool = False
    instances: int | None = None
    """Labels are class * instances + number; 0: each label is an instance of the class "object"."""
    one_hot: int | None = None
    dimensions: int | None = None

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        labels = None if self.labels is None else [[value, name] for value, name in self.labels.items()]
        spacing = None if self.spacing is None else list(self.spacing)
        names = [name for name in self.__dataclass_fields__ if name not in {"labels", "spacing"}]
        return {"labels": labels, "spacing": spacing, **{name: getattr(self, name) for name in names}}

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Rules:
        """The inverse of `to_json`."""
        parts = dict(content)
        labels, spacing = parts.pop("labels"), parts.pop("spacing")
        return cls(
            labels=None if labels is None else dict(labels),  # type: ignore[call-overload]
            spacing=None if spacing is None else tuple(spacing),  # type: ignore[arg-type]
            **parts,  # type: ignore[arg-type]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCounts:
    """What is kept of one image."""

    pixels: int
    equal: int
    diagonal: float
    """Of the image in the unit of the spacing; 0 where no spacing is known."""
    by_class: Mapping[Label, list[float]]
    """A row of `COLUMNS` for each class that either mask holds."""
    confusion: Mapping[tuple[Label | None, Label | None], int] = field(default_factory=dict)
    """Voxels by class of truth and prediction; None is the background."""


def compare_masks(
    truth: Whole, predicted: Whole, rules: Rules, spacing: tuple[float, ...] | None = None
) -> ImageCounts:
    """Count one image; both masks have the same shape and hold labels."""
    if not truth.flags.c_contiguous and truth.flags.f_contiguous and predicted.flags.f_contiguous:
        truth, predicted, spacing = truth.T, predicted.T, spacing and spacing[::-1]
    truth, predicted, values = _compact(truth, predicted)
    ignored = 0
    if rules.ignore is not None and rules.ignore in values:
        truth, predicted, ignored = _blank(truth, predicted, values, rules)
    table = count_pairs(truth, predicted, len(values))
    if ignored and rules.background in values:
        table[values.index(rules.background), values.index(rules.background)] -= ignored
    check_labels([value for value, n in zip(values, table.sum(0) + table.sum(1), strict=True) if n], rules)
    names, places = _classes(values, rules)
    summed = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(summed, (places[:, None], places[None, :]), table)
    rows = _count_overlap(summed, names)
    diagonal = 0.0
    if spacing is not None:
        diagonal = math.hypot(*(n * s for n, s in zip(truth.shape, spacing, strict=True)))
        if len(values) > len(names):  # several values mean one class
            codes = places.astype(np.uint16)
            truth, predicted, places = codes[truth], codes[predicted], np.arange(len(names))
        code_of = {names[place]: code for code, place in enumerate(places.tolist())}
        _add_surfaces(rows, truth, predicted, code_of, rules=rules, spacing=spacing)
    matches = {} if rules.instances is None else match_instances(table, values, rules)
    for name, row in rows.items():
        row.extend([0.0] * (len(COLUMNS) - len(INSTANCE_COLUMNS) - len(row)))
        row.extend(matches.get(name, [0.0] * len(INSTANCE_COLUMNS)))
    return ImageCounts(
        pixels=int(table.sum()),
        equal=int(np.trace(summed)),
        diagonal=diagonal,
        by_class=rows,
        confusion={(names[i], names[j]): int(summed[i, j]) for i, j in np.argwhere(summed).tolist()},
    )


def _count_overlap(summed: NDArray[np.int64], names: list[Label | None]) -> dict[Label, list[float]]:
    """True positives, false positives and false negatives of each class that either mask holds."""
    hits, predicted, true = np.diagonal(summed).tolist(), summed.sum(axis=0).tolist(), summed.sum(axis=1).tolist()
    return {
        name: [float(hits[k]), float(predicted[k] - hits[k]), float(true[k] - hits[k])]
        for k, name in enumerate(names)
        if name is not None and predicted[k] + true[k]
    }


def count_pairs(truth: Codes, predicted: Codes, size: int) -> NDArray[np.int64]:
    """Voxels by code of truth and prediction; words of eight voxels that are 0 in both are counted as words."""
    counts = np.zeros(size * size, dtype=np.int64)
    flat, other = truth.reshape(-1), predicted.reshape(-1)
    kind: type[Any] = np.uint16 if size <= SMALL else np.int64
    for start in range(0, len(flat), CHUNK):
        first, second = flat[start : start + CHUNK], other[start : start + CHUNK]
        if first.dtype == np.uint8 and len(first) % WORD == 0:
            busy = np.flatnonzero((first | second).view(np.uint64))
            if WORD * len(busy) < len(first) / 2:
                counts[0] += len(first) - WORD * len(busy)
                first, second = (part.reshape(-1, WORD)[busy].reshape(-1) for part in (first, second))
        if len(first):
            codes = first.astype(kind)
            codes *= kind(size)
            codes += second
            counts += np.bincount(codes, minlength=size * size)
    return counts.reshape(size, size)


def match_instances(table: NDArray[np.int64], values: list[int], rules: Rules) -> dict[Label, list[float]]:
    """By class: instances of both sides that overlap by more than half, the sum of their IoU, and those left over."""
    owners = [class_of(value, rules) for value in values]
    sizes = table.sum(axis=1), table.sum(axis=0)
    rows: dict[Label, list[float]] = {}
    for side, place in ((0, 2), (1, 3)):
        for owner, size in zip(owners, sizes[side].tolist(), strict=True):
            if owner is not None and size:
                rows.setdefault(owner, [0.0] * 4)[place] += 1
    for i, j in np.argwhere(table).tolist():
        owner = owners[i]
        iou = table[i, j] / (sizes[0][i] + sizes[1][j] - table[i, j])
        if owner is not None and owner == owners[j] and iou > HALF:
            row = rows[owner]
            row[0], row[1], row[2], row[3] = row[0] + 1, row[1] + float(iou), row[2] - 1, row[3] - 1
    return rows


def class_of(value: int, rules: Rules) -> Label | None:
    """The class that a value in a mask means; None is the background."""
    if value in (rules.background, rules.ignore):
        return None
    number = value
    if rules.instances == 0:
        return "object"
    if rules.instances is not None:
        number = value // rules.instances
        if number == rules.background:
            return None
    return number if rules.labels is None else rules.labels.get(number)


def check_labels(values: list[int], rules: Rules) -> None:
    """Refuse values that no rule explains."""
    if rules.labels is None:
        if rules.ignore != WHITE and rules.instances is None and WHITE in values and set(values) <= {0, WHITE}:
            raise RowsError(
                "mask-values",
                "the values 0 and 255 may mean an object or pixels to ignore",
                found="0 and 255",
                fix="state the object's value, labels=[255] (--labels 255), or ignore=255 (--ignore 255)",
            )
        return
    divisor = rules.instances or 1
    others = [value for value in values if value not in (rules.background, rules.ignore)]
    unknown = [value for value in others if value // divisor not in (*rules.labels, rules.background)]
    if unknown and rules.instances != 0:
        raise UnknownLabel(
            "label-not-declared",
            f"{counted(len(unknown), 'value')} of the masks not declared",
            found=", ".join(map(str, unknown[:8])),
            known=", ".join(map(str, rules.labels)),
            fix="declare every value: labels=[...] (--labels), or name the one to ignore: ignore= (--ignore)",
        )


def _compact(truth: Whole, predicted: Whole) -> tuple[Codes, Codes, list[int]]:
    """Both masks as codes, and the value that each code stands for."""
    masks = [mask.view(np.uint8) if mask.dtype == bool else mask for mask in (truth, predicted)]
    low, high = min(int(mask.min()) for mask in masks), max(int(mask.max()) for mask in masks)
    if low >= 0 and high < SMALL:
        first, second = (np.ascontiguousarray(mask, dtype=np.uint8) for mask in masks)
        return first, second, list(range(high + 1))
    values = np.unique(np.concatenate([np.unique(mask) for mask in masks]))
    kind: type[Any] = np.uint8 if len(values) <= SMALL else np.uint32
    coded, other = (np.searchsorted(values, mask).astype(kind) for mask in masks)
    return coded, other, values.tolist()


def _blank(truth: Codes, predicted: Codes, values: list[int], rules: Rules) -> tuple[Codes, Codes, int]:
    """Both masks with background where the truth says to ignore, and how many voxels that are."""
    if rules.background not in values:
        values.append(rules.background)
    ignored = truth == values.index(int(rules.ignore or 0))
    kind = truth.dtype.type(values.index(rules.background))
    blank_truth, blank_predicted = np.where(ignored, kind, truth), np.where(ignored, kind, predicted)
    return blank_truth, blank_predicted, int(ignored.sum())


def _classes(values: list[int], rules: Rules) -> tuple[list[Label | None], NDArray[np.intp]]:
    """The classes of the codes with the background first, and the place of each code among them."""
    owners = [class_of(value, rules) for value in values]
    names: list[Label | None] = [None, *dict.fromkeys(owner for owner in owners if owner is not None)]
    return names, np.array([names.index(owner) for owner in owners], dtype=np.intp)


def _add_surfaces(
    rows: dict[Label, list[float]],
    truth: Codes,
    predicted: Codes,
    codes: Mapping[Label | None, int],
    *,
    rules: Rules,
    spacing: tuple[float, ...],
) -> None:
    """Add the surface columns of every class that is there, each in the box around both of its masks."""
    from scipy.ndimage import find_objects

    if not rows:
        return
    used = [codes[name] for name in rows]
    shift = int(0 in used)  # a box is found for codes above 0 only
    boxes = [
        find_objects(mask + np.uint32(1) if shift else mask, max_label=max(used) + shift) for mask in (truth, predicted)
    ]
    for name, row in rows.items():
        code = codes[name]
        box = _join_boxes(*(side[code + shift - 1] for side in boxes))
        masks = truth[box] == code, predicted[box] == code
        row.extend(measure_surfaces(*masks, spacing, tolerance=rules.tolerance, width=rules.width))
        if rules.centre_line:
            row.extend(measure_lines(*masks))


def _join_boxes(first: tuple[slice, ...] | None, second: tuple[slice, ...] | None) -> tuple[slice, ...]:
    """The smallest box around both; one of them may be empty."""
    if first is None or second is None:
        return first or second or ()
    return tuple(slice(min(a.start, b.start), max(a.stop, b.stop)) for a, b in zip(first, second, strict=True))
