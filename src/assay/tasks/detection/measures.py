# SPDX-License-Identifier: Apache-2.0
"""The measures of detection: COCO's twelve numbers, AP by other rules, the operating point, and kinds of error."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.traits import EXTENSION, HIGHER, LOWER, RAINIO
from assay.core.values import Number, Share, number, share
from assay.measures.declare import Measure, measure
from assay.tasks.detection.average_precision import CAPS, INTERPOLATIONS, mean_defined
from assay.tasks.detection.box_values import BoxValues
from assay.tasks.detection.kernel.box_matches import AREAS, THRESHOLDS
from assay.tasks.detection.kernel.error_kinds import ERRORS

if TYPE_CHECKING:
    from assay.core.values import Amount
    from assay.tasks.detection.kernel.boxes import Floats

NO_OBJECTS = "there are no reference objects{}"
ENVELOPE = "at 101 recalls the highest precision at that recall or a higher one, averaged"
FAMILIES = ("average precision", "average recall", "operating point", "kinds of error")
operating_share = partial(measure, range=(0, 1), better=HIGHER, family=FAMILIES[2])
operating_error = partial(measure, better=LOWER, source=EXTENSION, family=FAMILIES[2])
average = partial(measure, range=(0, 1), better=HIGHER, family=FAMILIES[0])


def _mean(values: Floats, axes: int, area: int = 0) -> Number:
    """The mean over classes and further axes at the end, over what is defined."""
    return _defined(mean_defined(values, tuple(range(-axes, 0))), "" if area == 0 else f" of {AREAS[area]} size")


def _defined(value: Floats, size: str = "") -> Number:
    """A value that is NaN where there are no objects, of some size."""
    known = ~np.isnan(value)
    top, over = np.where(known, value, 0.0), known.astype(float)
    return number(_scalar(top), over=_scalar(over), empty=NO_OBJECTS.format(size))


def _declare_map(name: str, says: str, threshold: int | None, area: int, spec: str | tuple[()], *also: str) -> Measure:
    """A mean of average precisions, over all thresholds or at one."""
    places = slice(None) if threshold is None else slice(threshold, threshold + 1)
    where = "IoU 0.50, 0.55, ..., 0.95" if threshold is None else f"IoU {THRESHOLDS[threshold]:.2f}"

    def formula(t: BoxValues) -> Number:
        return _mean(t.precisions(None)[..., area, places], 2, area)

    formula.__name__ = formula.__qualname__ = name
    return average(
        symbol="mAP" if name == "map" else "",
        also=also,
        says=says,
        formula=f"mean over classes of AP at {where}; AP: {ENVELOPE}",
        source=RAINIO("object detection"),
        spec=spec,
        errata=("E-RAI-19", "E-XS-07"),
    )(formula)


def _declare_recall(name: str, says: str, cap: int, area: int) -> Measure:
    def formula(t: BoxValues) -> Number:
        return _mean(t.recalls[..., area, cap, :], 2, area)

    formula.__name__ = formula.__qualname__ = name
    return measure(
        says=says,
        formula="mean over classes and IoU 0.50, 0.55, ..., 0.95 of hits / objects",
        range=(0, 1),
        better=HIGHER,
        source=EXTENSION,
        family=FAMILIES[1],
    )(formula)


_declare_map(
    "map", "average precision over classes and IoU thresholds", None, 0, "M-DET-06", "map_range", "mAP@[0.5:0.95]"
)
for _place in (0, 5, 8):
    _percent = round(100 * THRESHOLDS[_place])
    _name = f"average precision over classes at IoU {_percent / 100:.2f}"
    _declare_map(f"map_{_percent}", _name, _place, 0, "M-DET-05", f"mAP@{_percent / 100:g}")
for _area in (1, 2, 3):
    _declare_map(f"map_{AREAS[_area]}", f"map of objects of {AREAS[_area]} area", None, _area, ())
for _cap, _most in enumerate(CAPS):
    _name = f"recall at {_most if _most < CAPS[-1] else 'max_detections (100)'} detections an image and class, averaged"
    _declare_recall(f"ar_{_most}", _name, _cap, 0)
for _area in (1, 2, 3):
    _declare_recall(f"ar_{AREAS[_area]}", f"ar_100 of objects of {AREAS[_area]} area", len(CAPS) - 1, _area)


@average(
    also=("map_at_t",),
    says="average precision over classes at one IoU threshold, by a named rule",
    formula="mean over classes of AP; coco101, voc11: envelope at 101 or 11 recalls; voc_all: area under the envelope; "
    "raw: area under the steps of the curve itself",
    source=RAINIO("object detection"),
    spec=("M-DET-04", "M-DET-05"),
    errata=("E-XS-07",),
)
def map_at(t: BoxValues, *, iou: float, interpolation: str = "coco101") -> Number:
    """Average precision at an IoU threshold of 0.5, 0.55, ..., 0.95."""
    place = int(np.argmin(np.abs(THRESHOLDS - iou)))
    if abs(THRESHOLDS[place] - iou) > 1e-9 or interpolation not in INTERPOLATIONS:  # noqa: PLR2004
        raise PlanError(
            "measure-needs",
            f"map_at cannot take iou={iou!r}, interpolation={interpolation!r}",
            known="iou 0.5, 0.55, ..., 0.95; interpolation " + ", ".join(INTERPOLATIONS),
            fix='write map_at(iou=0.5, interpolation="voc11")',
        )
    return _mean(t.precisions(interpolation)[..., 0, place : place + 1], 2)


@average(
    also=("APr", "APc", "APf"),
    says="map over the classes that are rare, common or frequent, as the truth says (LVIS)",
    formula="mean over these classes of AP at IoU 0.50, 0.55, ..., 0.95",
    source=EXTENSION,
)
def map_of(t: BoxValues, *, frequency: str) -> Number:
    """Average precision of rare ("r"), common ("c") or frequent ("f") classes."""
    places = [place for place, kind in enumerate(t.frequency or ()) if kind[:1] == frequency[:1]]
    values = t.precisions(None)[..., places, 0, :]
    return _mean(values, 2)


def _total(values: Floats) -> Amount:
    total = values.sum(axis=-1)
    return cast("Amount", total if np.ndim(total) else int(total))


@operating_share(
    also=("precision at the operating point",),
    says="of the detections at or above the confidence, the share that hits an object",
    formula="TP / (TP + FP), at IoU 0.5 and the stated confidence",
    source=RAINIO("object detection"),
    spec=("M-DET-02", "M-DET-03"),
)
def precision(t: BoxValues) -> Share:
    """Precision."""
    return share(_total(t.true), of=_total(t.true) + _total(t.false), empty="no detection reaches the confidence")


@operating_share(
    also=("sensitivity",),
    says="of the objects, the share that is hit by a detection at or above the confidence",
    formula="TP / (TP + FN), at IoU 0.5 and the stated confidence",
    source=RAINIO("object detection"),
    spec="M-DET-03",
)
def recall(t: BoxValues) -> Share:
    """Recall."""
    return share(_total(t.true), of=_total(t.objects), empty=NO_OBJECTS.format(""))


@operating_share(
    also=("F1 at the operating point",),
    says="harmonic mean of precision and recall at the confidence",
    formula="2 * TP / (2 * TP + FP + FN)",
    source=RAINIO("object detection"),
)
def f1(t: BoxValues) -> Share:
    """F1 score."""
    over = _total(t.true) + _total(t.false) + _total(t.objects)
    return share(2 * _total(t.true), of=over, empty="there are neither objects nor detections")


@operating_error(
    says="of the objects, the share that no detection at or above the confidence hits",
    formula="FN / (TP + FN)",
    range=(0, 1),
)
def miss_rate(t: BoxValues) -> Share:
    """Miss rate."""
    return share(_total(t.objects) - _total(t.true), of=_total(t.objects), empty=NO_OBJECTS.format(""))


@operating_error(
    also=("FPPI",),
    says="false alarms an image at or above the confidence",
    formula="FP / images",
    range=(0, float("inf")),
)
def false_positives_per_image(t: BoxValues) -> Number:
    """False alarms an image."""
    return number(_total(t.false), over=_scalar(t.images), empty="there are no images")


@operating_error(
    says="how far the boxes of hits are from their objects, as 1 - IoU",
    formula="mean over hits of 1 - IoU, at IoU 0.5 and the stated confidence",
    range=(0, 1),
)
def localisation_error(t: BoxValues) -> Number:
    """Mean of 1 - IoU over hits."""
    overlap = t.overlap.sum(axis=-1)
    hits = _total(t.true)
    return number(hits - _scalar(overlap), over=hits, empty="there are no hits")


@operating_share(
    also=("FROC score", "CPM"),
    says="sensitivity averaged over 1/8, 1/4, 1/2, 1, 2, 4 and 8 false alarms an image, all classes together",
    formula="mean over r of TP(r) / objects, where r false alarms an image are allowed",
    source=EXTENSION,
)
def froc(t: BoxValues) -> Number:
    """Score of the free-response curve."""
    return _defined(t.sensitivity())


def _scalar(values: Floats) -> Amount:
    return cast("Amount", values if np.ndim(values) else float(values))


SAYS = {
    "class": "at an object, but of the wrong class",
    "location": "of the right class, but too far off: IoU 0.1 to 0.5",
    "both": "wrong class and too far off",
    "duplicate": "at an object that a surer detection hits",
    "background": "far from any object",
    "missed": "objects that no detection is near to",
}


def _declare_error(place: int, kind: str) -> Measure:
    def formula(t: BoxValues) -> Number:
        return number(_scalar(t.errors[..., place]), over=_scalar(t.images), empty="there are no images")

    formula.__name__ = formula.__qualname__ = f"errors_{kind}"
    return measure(
        says=f"errors an image at the confidence: {SAYS[kind]}",
        formula="errors of this kind / images (TIDE, Bolya et al. 2020)",
        range=(0, float("inf")),
        better=LOWER,
        source=EXTENSION,
        family=FAMILIES[3],
    )(cast("Callable[..., Number]", formula))


for _place, _kind in enumerate(ERRORS):
    _declare_error(_place, _kind)

TWELVE = (
    "map", "map_50", "map_75", "map_small", "map_medium", "map_large",
    "ar_1", "ar_10", "ar_100", "ar_small", "ar_medium", "ar_large",
)  # fmt: skip
"""COCO's numbers in the order in which pycocotools prints them."""
BY_CLASS = ("map", "map_50", "map_75", "ar_100", "precision", "recall", "f1")
"""What is given for each class; map of one class is its AP."""
