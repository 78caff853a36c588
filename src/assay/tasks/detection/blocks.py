# SPDX-License-Identifier: Apache-2.0
"""Sections of a report that only detection has, and what a Record keeps for their figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.blocks import (
    Block,
    Chart,
    Figure,
    Reach,
    Section,
    Threshold,
    number_table,
    section,
    table,
)
from assay.core.text import counted, figure, visible
from assay.tasks.detection.average_precision import RECALLS, Ranks, average_precisions, rank_classes
from assay.tasks.detection.box_values import RULES
from assay.tasks.detection.kernel.box_matches import THRESHOLDS
from assay.tasks.detection.kernel.error_kinds import ERRORS
from assay.tasks.detection.measures import SAYS

if TYPE_CHECKING:
    from assay.tasks.detection.kernel.boxes import Floats
    from assay.tasks.detection.tally import Boxes

HIGHLIGHTED: Final = 3
"""Classes whose curves stand out; the others are quiet."""
CURVES: Final = 12
"""Classes whose curves are kept: the worst ones."""
STEP: Final = 4
"""Every fourth of 101 recalls is drawn."""
SHOWN_THRESHOLDS: Final = (0, 5, 8)
CONFIDENCES: Final = 19


def gather_figures(tally: Boxes) -> dict[str, object]:
    """Data of all figures, as JSON holds it."""
    envelopes = np.stack([_envelope(ranks, tally, label) for label, ranks in enumerate(rank_classes(tally))])
    values = average_precisions(tally, RULES[tally.rules.profile])[:, 0]
    known = np.flatnonzero(tally.objects_by_class[:, 0])
    worst = known[np.argsort(values[known, 0], kind="stable")][:CURVES]
    recalls = RECALLS["coco101"][::STEP]
    return {
        "curves": [
            {
                "class": tally.classes[label],
                "ap": _round(values[label, 0]),
                "objects": int(tally.objects_by_class[label, 0]),
                "precision": _rounded(envelopes[label, 0, ::STEP]),
            }
            for label in worst
        ],
        "classes": len(known),
        "by_iou": [
            {"iou": _round(THRESHOLDS[place]), "precision": _rounded(envelopes[known, place].mean(axis=0)[::STEP])}
            for place in SHOWN_THRESHOLDS
        ]
        if len(known)
        else [],
        "recalls": _rounded(recalls),
        "errors": {kind: int(count) for kind, count in zip(ERRORS, tally.errors.sum(axis=0), strict=True)},
        "confidence": confidence_table(tally),
        "operating_point": tally.rules.confidence,
        "pictures": list(tally.pictures),
    }


def _envelope(ranks: Ranks, tally: Boxes, label: int) -> Floats:
    """Highest precision at each of 101 recalls or above, by IoU threshold."""
    objects = int(tally.objects_by_class[label, 0])
    curves = np.zeros((len(THRESHOLDS), len(RECALLS["coco101"])))
    if not objects:
        return curves
    for threshold in range(len(THRESHOLDS)):
        rows = np.flatnonzero(ranks.hits[:, 0, threshold])
        if len(rows):
            precision = np.arange(1, len(rows) + 1) / ranks.position[rows, 0, threshold]
            highest = np.maximum.accumulate(precision[::-1])[::-1]
            place = np.searchsorted(np.arange(1, len(rows) + 1) / objects, RECALLS["coco101"], side="left")
            reached = place < len(rows)
            curves[threshold, reached] = highest[place[reached]]
    return curves


def confidence_table(tally: Boxes) -> list[dict[str, float | int | None]]:
    """Counts and rates at IoU 0.5 for confidences over the range of the scores."""
    objects = int(tally.objects[:, 2].sum())
    inside = not len(tally.score) or (tally.score.min() >= 0 and tally.score.max() <= 1)
    steps = np.arange(1, CONFIDENCES + 1) / (CONFIDENCES + 1)
    levels = steps if inside else np.quantile(tally.score, steps)
    levels = np.unique(np.append(levels, tally.rules.confidence))
    hits = tally.score[tally.detection[tally.found]]
    table = []
    for level in levels:
        true = int(np.count_nonzero(hits >= level))
        false = int(np.count_nonzero((tally.score >= level) & tally.alarms))
        table.append(
            {
                "confidence": float(level),
                "hits": true,
                "false_alarms": false,
                "missed": objects - true,
                "precision": _round(true / (true + false)) if true + false else None,
                "recall": _round(true / objects) if objects else None,
                "f1": _round(2 * true / (true + false + objects)) if true + false + objects else None,
                "false_alarms_per_image": _round(false / max(1, len(tally.images))),
            }
        )
    return table


def _round(value: float) -> float:
    return round(float(value), 6)


def _rounded(values: Floats) -> list[float]:
    return [round(float(value), 4) for value in values]


def detection_sections(record: Mapping[str, Any]) -> Iterator[Section]:
    """Curves, errors, confidences and the worst images."""
    figures = record.get("figures", {})
    yield section("curves", "Precision and recall", _curves(figures))
    yield section("errors", "Kinds of error", _errors(record, figures))
    yield section("confidence", "Choosing a confidence", _confidence(figures), reach=Reach.REPORT)
    yield section("worst-images", "Images with the most errors", _pictures(figures), reach=Reach.FULL)


def _points(recalls: Sequence[float], precision: Sequence[float]) -> list[list[float]]:
    return [[recall, value] for recall, value in zip(recalls, precision, strict=True)]


def _curves(figures: Mapping[str, Any]) -> Iterator[Block]:
    curves, recalls = figures.get("curves", []), figures.get("recalls", [])
    if not curves:
        return
    by_class = [
        {
            "name": f"{visible(curve['class'])} ({figure(curve['ap'])})",
            "points": _points(recalls, curve["precision"]),
            "quiet": place >= HIGHLIGHTED,
        }
        for place, curve in enumerate(curves)
    ]
    by_iou = [
        {"name": f"IoU {part['iou']:g}", "points": _points(recalls, part["precision"])} for part in figures["by_iou"]
    ]
    axes = {"x": "recall", "y": "precision", "x_range": [0, 1], "y_range": [0, 1]}
    charts = [Chart("lines", ({"title": "by IoU, mean over classes", **axes, "series": by_iou},))]
    if len(curves) > 1:
        title = "classes with the lowest AP at IoU 0.5"
        charts.append(Chart("lines", ({"title": title, **axes, "series": by_class},)))
    worst = ", ".join(f"{visible(curve['class'])} {figure(curve['ap'])}" for curve in curves[:HIGHLIGHTED])
    yield Figure(charts=tuple(charts), alt=f"Precision against recall. Lowest AP at IoU 0.5: {worst}.")


def _errors(record: Mapping[str, Any], figures: Mapping[str, Any]) -> Iterator[Block]:
    counts = figures.get("errors", {})
    if not counts:
        return
    rates = {part["measure"]: part for part in record.get("estimates", []) if not part.get("slice")}
    images = int(record.get("samples", 0)) or 1
    rows = []
    for kind in ERRORS:
        rate = rates.get(f"errors_{kind}", {})
        row = {"label": kind, "value": counts[kind], "text": f"{counts[kind]:,}"}
        if isinstance(rate.get("low"), (int, float)) and isinstance(rate.get("high"), (int, float)):
            row |= {"low": rate["low"] * images, "high": rate["high"] * images}
        rows.append(row)
    title = f"errors at score {figures['operating_point']:g} or above, IoU 0.5"
    told = ", ".join(f"{kind} {counts[kind]:,}" for kind in ERRORS)
    drawn = Chart("intervals", ({"title": title, "x": "errors", "bars": True, "rows": rows},))
    yield Figure(charts=(drawn,), alt=f"Errors: {told}.")
    caption = "Every false alarm has one kind; objects that a wrong class or place explains are not missed."
    heads = ("kind", "text", 1), ("errors", "number", 1), ("what it is", "prose", 4)
    yield table("errors", caption, heads, [(kind, f"{counts[kind]:,}", SAYS[kind]) for kind in ERRORS], small=True)


def _confidence(figures: Mapping[str, Any]) -> Iterator[Block]:
    table = figures.get("confidence", [])
    if not table:
        return
    point = figures["operating_point"]
    series = [
        {"name": name, "points": [[row["confidence"], row[name]] for row in table if row[name] is not None]}
        for name in ("precision", "recall", "f1")
    ]
    height = next((row["f1"] for row in table if row["confidence"] == point), None)
    marks = [] if height is None else [{"x": point, "y": height, "text": "operating point"}]
    axes = {"x": "confidence", "y": "share", "y_range": [0, 1]}
    chart = {"title": "at IoU 0.5", **axes, "series": series, "marks": marks}
    yield Figure(charts=(Chart("lines", (chart,)),), alt="Precision, recall and F1 against the confidence.")
    yield _slider(table, point)
    heads = ("score from", "hits", "false alarms", "missed", "precision", "recall", "F1", "false alarms an image")
    names = ("precision", "recall", "f1", "false_alarms_per_image")
    yield number_table(
        "confidence",
        "Counts and rates at IoU 0.5 if detections below a score are left out.",
        heads,
        [
            (
                f"{row['confidence']:.3g}" + (" (stated)" if row["confidence"] == point else ""),
                f"{row['hits']:,}",
                f"{row['false_alarms']:,}",
                f"{row['missed']:,}",
                *("–" if row[name] is None else figure(row[name]) for name in names),
            )
            for row in table
        ],
        small=True,
    )


def _slider(table: Sequence[Mapping[str, Any]], point: float) -> Threshold:
    """The counts at the operating point, which a page lets readers move over all confidences."""
    falling = sorted(table, key=lambda row: -row["confidence"])
    place = next(number for number, row in enumerate(falling) if row["confidence"] == point)
    here, last = falling[place], falling[-1]
    objects, alarms = here["hits"] + here["missed"], last["false_alarms"]
    cells = (here["hits"], here["false_alarms"], here["missed"], alarms - here["false_alarms"])
    rates = (("recall", "recall", "recall"), ("prec", "precision", "precision"), ("f1", "F1", "f1"))
    return Threshold(
        threshold=f"{point:g}",
        chosen="the stated confidence, at IoU 0.5",
        warning="",
        unit="boxes",
        positive="object",
        cells=tuple(f"{n:,}" for n in cells),  # type: ignore[arg-type]
        rates=tuple((id_, word, "∅" if here[key] is None else f"{here[key]:.3f}") for id_, word, key in rates),
        points=";".join(f"{row['confidence']:.7g},{row['hits']},{row['false_alarms']}" for row in falling),
        at=place,
        totals=f"{objects},{alarms}",
    )


def _pictures(figures: Mapping[str, Any]) -> Iterator[Block]:
    pictures = figures.get("pictures", [])
    if not pictures:
        return
    charts = []
    for picture in pictures:
        boxes = [
            {"text": visible(label), "kind": tone(kind, right), **dict(zip("xywh", corners, strict=True))}
            for kind in ("truth", "predicted")
            for label, right, *corners in picture[kind]
        ]
        caption = f"{visible(picture['image'])}: {counted(int(picture['errors']), 'error')}"
        data = {
            "title": visible(picture["image"]),
            "width": picture["width"],
            "height": picture["height"],
            "boxes": boxes,
            "caption": caption,
            "png": picture.get("png"),
        }
        charts.append(Chart("picture", (data,)))
    names = ", ".join(visible(picture["image"]) for picture in pictures)
    note = "Reference boxes that are found or missed, hits and false alarms."
    if not any(picture.get("png") for picture in pictures):
        note += " Give the pictures to see them below the boxes: pictures=folder (--pictures)."
    alt = f"Boxes of the images with the most errors: {names}."
    yield Figure(charts=tuple(charts), alt=alt, look="many", note=note)


def tone(kind: str, right: bool) -> str:  # noqa: FBT001
    """How a box is drawn."""
    return kind if right else {"truth": "missed", "predicted": "wrong"}[kind]


def comparison_sections(record: Mapping[str, Any]) -> Iterator[Section]:
    """Who finds which objects, and the classes one by one."""
    for place, finding in enumerate(record.get("findings", [])):
        if finding.get("about") != "map" or "objects found by both" not in finding.get("counts", {}):
            continue
        first, second = (visible(model) for model in finding["models"])
        words = {
            "objects found by both": "both",
            "only the first": f"only {first}",
            "only the second": f"only {second}",
        }
        rows = [(words.get(name, name), f"{count:,}") for name, count in finding["counts"].items()]
        blocks: list[Block] = [
            number_table(f"found-{place}", "Objects hit at the operating point.", ("by", "objects"), rows, small=True)
        ]
        effects = [effect for effect in finding.get("more", []) if effect.get("value") is not None]
        if effects:
            drawn = [
                {
                    "label": effect["name"].partition(":")[0].removeprefix("AP of "),
                    "value": effect["value"],
                    "low": effect.get("low"),
                    "high": effect.get("high"),
                }
                for effect in sorted(effects, key=lambda effect: effect["value"])
            ]
            chart: dict[str, Any] = {"title": f"AP, {first} minus {second}", "x": "difference of AP", "rows": drawn}
            chart["reference"] = {"x": 0, "text": "no difference"}
            alt = f"Difference of AP by class, {first} minus {second}."
            blocks.append(Figure(charts=(Chart("intervals", (chart,)),), alt=alt, look="wide"))
        yield section(f"found-{place}", f"What {first} and {second} find", blocks)
