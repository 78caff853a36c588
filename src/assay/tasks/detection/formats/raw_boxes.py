# SPDX-License-Identifier: Apache-2.0
"""Boxes as they were given, checked and brought to common codes of images and classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from assay.core.errors import OutOfRange, PlanError, RowsError, UnknownLabel, UnpairedRows
from assay.core.labels import Label
from assay.core.text import counted, listed, visible
from assay.tasks.detection.kernel.boxes import BoxTable, Scenes, places_in_runs, sort_labels, stack_columns
from assay.tasks.detection.kernel.overlaps import UPRIGHT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tasks.detection.kernel.boxes import Flags, Floats, Whole

SHOWN: Final = 5
LISTS: Final[Mapping[str, tuple[tuple[str, str], type[RowsError], str, str, str]]] = {
    "image": (("image", "images"), UnpairedRows, "rows-unmatched", "are not listed", "images"),
    "label": (("class", "classes"), UnknownLabel, "label-not-declared", "the categories do not list", "categories"),
}
"""By column of ids: what they name, and the error about one that is not in the list."""
TURNED: Final = "cxcywha"
FORMATS: Final = ("xywh", "xyxy", "cxcywh", TURNED)
"""How boxes are written; the last has an angle in degrees by which the box is turned about its centre."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What the truth says of images and classes, beside boxes."""

    images: tuple[Label, ...] | None = None
    """Every image, also those without boxes; None where nobody lists them."""
    categories: Mapping[Label, Label] | None = None
    """What classes are called, by id; None where any label may occur."""
    sizes: Mapping[Label, tuple[float, float]] = field(default_factory=dict)
    fields: Mapping[str, Mapping[Label, Any]] = field(default_factory=dict)
    """Further facts about images, by name: groups and units come from them."""
    notes: tuple[str, ...] = ()
    searched: Mapping[Label, Iterable[Label]] | None = None
    """By image: classes that were looked for, beside those with boxes; None where every class was, in every image."""
    partial: Mapping[Label, Iterable[Label]] = field(default_factory=dict)
    """By image: classes of which some objects have no box."""
    frequency: Mapping[Label, str] = field(default_factory=dict)
    """How often a class occurs, by id."""
    most: int | None = None
    """Detections of an image that are read, the surest first."""


def name_rows(rows: Sequence[int]) -> str:
    """Some rows by number, counted from 0.

    >>> name_rows([3, 4])
    'rows 3, 4'
    """
    shown = ", ".join(f"{row:,}" for row in rows[:SHOWN])
    rest = len(rows) - SHOWN
    return f"{'row' if len(rows) == 1 else 'rows'} {shown}" + (f" and {rest:,} more" if rest > 0 else "")


def refuse_rows(wrong: Flags, code: str, what: str, *, where: str, fix: str) -> None:
    """Refuse rows that are flagged; `what` may say how many boxes or scores they are."""
    rows = np.flatnonzero(wrong).tolist()
    if rows:
        counts = {"boxes": counted(len(rows), "box", "boxes"), "scores": counted(len(rows), "score")}
        raise OutOfRange(code, what.format(**counts), where=where, found=name_rows(rows), fix=fix)


def to_xywh(box: Floats, form: str, where: str) -> Floats:
    """Boxes as x, y, width, height."""
    if form == "xywh":
        return stack_columns(list(box.T))
    if form.startswith("cxcywh"):
        return stack_columns([*(box[:, :2] - box[:, 2:4] / 2).T, *box[:, 2:].T])
    refuse_rows(
        (box[:, 2] < box[:, 0]) | (box[:, 3] < box[:, 1]),
        "value-out-of-domain",
        "a box ends before it begins: this looks like xywh",
        where=where,
        fix='state box_format="xywh" (--box-format xywh), or correct the rows',
    )
    return stack_columns([*box[:, :2].T, *(box[:, 2:] - box[:, :2]).T])


def assemble_scenes(truth: BoxTable, predicted: BoxTable, catalogue: Catalogue) -> Scenes:
    """Check all boxes and give images and classes their codes."""
    if len(truth.box) and len(predicted.box) and truth.box.shape[1] != predicted.box.shape[1]:
        raise RowsError(
            "value-out-of-domain",
            "only one of truth and detections has boxes with an angle",
            where=predicted.where,
            found=f"boxes of {truth.box.shape[1]} and {predicted.box.shape[1]} numbers",
            fix="write both as [cx, cy, width, height, degrees], with an angle of 0 for upright boxes",
        )
    notes = [*catalogue.notes, *_check_boxes(truth, empty_allowed=False), *_check_boxes(predicted, empty_allowed=True)]
    _check_scores(predicted)
    images = list_ids(truth, predicted, "image", catalogue.images)
    if catalogue.images is None:
        if not images:
            raise RowsError("no-rows", "there are no boxes", fix="give truth and predicted")
        notes.append("images without any box are unknown, because no list of images was given (images=[...])")
    ids = list_ids(truth, predicted, "label", catalogue.categories)
    names = catalogue.categories or {label: label for label in ids}
    classes = sort_labels(set(names.values()))
    code_of_id = encode_labels(np.array([names[label] for label in ids], dtype=object), classes)
    objects, detections = (
        replace(part, image=encode_labels(part.image, images), label=code_of_id[encode_labels(part.label, ids)])
        for part in (truth, predicted)
    )
    for part in (objects, detections):
        notes += _check_inside(part, images, catalogue.sizes)
    lacking = np.isnan(objects.area)
    if lacking.any():
        objects = replace(objects, area=np.where(lacking, objects.box[:, 2] * objects.box[:, 3], objects.area))
        notes.append(f"{counted(int(lacking.sum()), 'object')} without an area: width times height is taken")
    if objects.ignore.any():
        plain = "flagged ignore do not count (pycocotools counts them)"
        why = plain if truth.points is None else "without keypoints, or flagged ignore, do not count"
        notes.append(f"{counted(int(objects.ignore.sum()), 'object')} {why}")
    if catalogue.most is not None or catalogue.searched is not None or catalogue.partial:
        pairs = objects.image * len(classes) + objects.label
        detections, fresh = limit_detections(detections, pairs, catalogue, images, classes)
        notes += fresh
    known = {name: catalogue.frequency.get(label, "") for label, name in names.items()}
    return Scenes(
        images=images,
        classes=classes,
        objects=objects,
        detections=detections,
        frequency=tuple(known[name] for name in classes) if catalogue.frequency else None,
        sizes=dict(catalogue.sizes),
        notes=tuple(notes),
    )


def limit_detections(
    detections: BoxTable, pairs: Whole, catalogue: Catalogue, images: tuple[Label, ...], classes: tuple[Label, ...]
) -> tuple[BoxTable, list[str]]:
    """Only the surest of each image, and only of classes that were looked for there; those that count if they hit.

    `pairs` are the image and class of each object, as one number.
    """
    notes, kept, image = [], np.arange(len(detections.score)), detections.image
    if catalogue.most is not None:
        order = np.lexsort((-detections.score, image))
        kept = np.sort(order[places_in_runs(image[order]) < catalogue.most])
        if cut := len(image) - len(kept):
            notes.append(f"{counted(cut, 'detection')} beyond the {catalogue.most} surest of an image do not count")
    key = image * len(classes) + detections.label
    if catalogue.searched is not None:
        verified = np.union1d(pairs, _pair_codes(catalogue.searched, catalogue.categories, images, classes))
        looked = np.isin(key[kept], verified)
        if away := int((~looked).sum()):
            notes.append(
                f"{counted(away, 'detection')} of classes that were not looked for in their image do not count"
            )
        kept = kept[looked]
    loose = np.isin(key, _pair_codes(catalogue.partial, catalogue.categories, images, classes))
    if some := int(loose[kept].sum()):
        notes.append(f"{counted(some, 'detection')} count only if they hit: not all objects of the class are marked")
    return replace(detections, loose=loose).select(kept), notes


def _pair_codes(
    by_image: Mapping[Label, Iterable[Label]],
    categories: Mapping[Label, Label] | None,
    images: tuple[Label, ...],
    classes: tuple[Label, ...],
) -> Whole:
    """Images with their classes as numbers; classes that nobody else mentions are left out."""
    places = {label: place for place, label in enumerate(classes)}
    names = {label: label for label in classes} if categories is None else categories
    codes = [
        image * len(classes) + places[names[label]]
        for image, name in enumerate(images)
        for label in by_image.get(name, ())
        if label in names
    ]
    return np.array(codes, dtype=np.int64)


def _check_boxes(part: BoxTable, *, empty_allowed: bool) -> list[str]:
    unknown, where = ~np.isfinite(sum(part.box.T[1:], part.box[:, 0])), part.where
    refuse_rows(
        unknown, "value-not-finite", "a box holds a missing or infinite number", where=where, fix="correct the boxes"
    )
    smallest = np.minimum(part.box[:, 2], part.box[:, 3])
    refuse_rows(
        smallest < 0 if empty_allowed else smallest <= 0,
        "value-out-of-domain",
        "{boxes} with a width or height " + ("below 0" if empty_allowed else "of 0 or below"),
        where=where,
        fix="correct the boxes, or state how they are written: box_format (--box-format)",
    )
    empty = int((smallest == 0).sum())
    return [f"{counted(empty, 'detection')} without area can only be false alarms"] if empty else []


def _check_scores(part: BoxTable) -> None:
    if len(part.score) and np.isnan(part.score).all():
        raise RowsError(
            "role-missing", "the detections have no scores", where=part.where, fix="give every detection its score"
        )
    wrong = ~np.isfinite(part.score)
    refuse_rows(
        wrong, "score-not-finite", "{scores} missing, NaN or infinite", where=part.where, fix="correct the scores"
    )


def _check_inside(part: BoxTable, images: tuple[Label, ...], sizes: Mapping[Label, tuple[float, float]]) -> list[str]:
    """Refuse boxes that lie outside their image; count those that reach beyond it."""
    codes = part.image
    if not sizes or not len(codes) or part.box.shape[1] > UPRIGHT:
        return []
    unknown = (np.inf, np.inf)
    limits = np.array([sizes.get(image, unknown) for image in images], dtype=np.float64).T
    slack = 1.0  # a pixel: rounding of whole pixels
    past, over = np.zeros(len(codes), dtype=bool), np.zeros(len(codes), dtype=bool)
    for place in (0, 1):
        start, limit = part.box[:, place], limits[place][codes]
        end = start + part.box[:, place + 2]
        past |= (start >= limit) | (end <= 0)
        over |= (start < -slack) | (end > limit + slack)
    refuse_rows(
        past & (part.box[:, 2] > 0) & (part.box[:, 3] > 0),
        "value-out-of-domain",
        "{boxes} outside the image",
        where=part.where,
        fix="correct the boxes, or the width and height of the images",
    )
    beyond = int(over.sum())
    return [f"{counted(beyond, 'box', 'boxes')} of {part.where} reach beyond the image"] if beyond else []


def list_ids(
    truth: BoxTable, predicted: BoxTable, column: Literal["image", "label"], known: Iterable[Label] | None
) -> tuple[Label, ...]:
    """Every id of images or classes in order: those of a list, or those that occur where there is none."""
    seen = [_distinct(getattr(part, column)) for part in (truth, predicted)]
    words, kind, code, verb, listing = LISTS[column]
    _check_kinds(words[1], seen[0] or set(known or ()), seen[1], predicted.where)
    if known is None:
        return sort_labels(seen[0] | seen[1])
    for part, ids in zip((truth, predicted), seen, strict=True):
        if lacking := sort_labels(ids - set(known)):
            raise kind(
                code,
                f"boxes of {counted(len(lacking), *words)} that {verb}",
                where=part.where,
                found=listed(lacking, most=SHOWN),
                known=listed(sort_labels(set(known)), most=SHOWN),
                fix=f"list the {listing}, or leave these boxes out",
            )
    return sort_labels(set(known))


def _check_kinds(what: str, truth: set[Label], predicted: set[Label], where: str) -> None:
    """The number 1 and the text 1 are not the same id."""
    kinds = [{"text" if isinstance(label, str) else "numbers" for label in labels} for labels in (truth, predicted)]
    if kinds[0] and kinds[1] and kinds[0] != kinds[1]:
        raise UnknownLabel(
            "label-types-differ",
            f"{what} are called by {' and '.join(sorted(kinds[0]))} in the truth, "
            f"by {' and '.join(sorted(kinds[1]))} in the detections",
            where=where,
            found=listed(sort_labels(predicted), most=3),
            known=listed(sort_labels(truth), most=3),
            fix="write ids alike in both",
        )


def to_ids(values: Any, name: str, where: str) -> NDArray[Any]:  # noqa: ANN401  a list or an array
    """Ids of images or classes as a column: whole numbers, or objects where some are texts."""
    column = np.fromiter(values, object, len(values)) if isinstance(values, list) else np.asarray(values)
    missing = np.flatnonzero(np.ma.getmaskarray(values)).tolist() if isinstance(values, np.ma.MaskedArray) else []
    whole = column.dtype.kind == "f" and np.isfinite(column).all() and (column == np.floor(column)).all()
    if not missing and (whole or column.dtype.kind in "iu"):
        return column.astype(np.int64)
    ids = column.tolist()
    if not missing and set(map(type, ids)) <= {int}:
        return np.array(ids, dtype=np.int64)
    missing = missing or [place for place, value in enumerate(ids) if value is None or value != value]  # noqa: PLR0124  NaN
    if missing:
        raise RowsError(
            "missing-label", f"{name} is missing", where=where, found=name_rows(missing), fix="give every box one"
        )
    wrong = [place for place, value in enumerate(ids) if isinstance(value, (float, list, dict))]
    if wrong:
        raise UnknownLabel(
            "label-precision",
            "ids must be whole numbers or text",
            where=where,
            found=f"{visible(repr(ids[wrong[0]]))} in {name_rows(wrong)}",
            fix="write ids as whole numbers or text",
        )
    return column.astype(object)


def _distinct(values: NDArray[Any]) -> set[Label]:
    if values.dtype.kind in "iu":
        size = int(values.max(initial=0)) + 1
        if values.size and values.min() >= 0 and size <= 8 * len(values) + 1024:
            return set(np.flatnonzero(np.bincount(values, minlength=size)).tolist())
        return set(np.unique(values).tolist())
    return set(values.tolist())


def encode_labels(values: NDArray[Any], known: tuple[Label, ...]) -> Whole:
    """Places of values among known labels, all of which occur there."""
    if values.dtype.kind in "iu" and known and not isinstance(known[-1], str):
        numbers = np.array(known, dtype=np.int64)
        if len(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1:
            return np.asarray(values - numbers[0], dtype=np.int64)
        return np.searchsorted(numbers, values).astype(np.int64)
    places = {label: place for place, label in enumerate(known)}
    return np.fromiter((places[value] for value in values.tolist()), dtype=np.int64, count=len(values))


def look_up_field(catalogue: Catalogue, images: Iterable[Label], given: object, what: str) -> list[Label]:
    """A value for every image: from a field of the truth, or from a mapping."""
    values = given if isinstance(given, Mapping) else catalogue.fields.get(str(given))
    if values is None:
        raise PlanError(
            "missing-column",
            f"{what} {visible(str(given))} is neither a field of the images nor a mapping",
            known=listed(catalogue.fields, most=12) or "no fields",
            fix=f"give {what}={{image: value}}, or a field that the truth holds for every image",
        )
    names = list(images)
    lacking = [image for image in names if values.get(image) is None]
    if lacking:
        raise RowsError(
            "missing-label",
            f"{counted(len(lacking), 'image')} without {what}",
            found=listed(lacking, most=SHOWN),
            fix="give every image a value",
        )
    return [values[image] for image in names]
