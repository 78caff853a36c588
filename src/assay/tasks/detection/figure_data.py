# SPDX-License-Identifier: Apache-2.0
"""What a Record keeps for the figures of a report: curves, errors, a table over confidences, the worst images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from assay.tasks.detection.average_precision import RECALLS, Ranks, average_precisions, rank_classes
from assay.tasks.detection.box_values import RULES
from assay.tasks.detection.kernel.box_matches import THRESHOLDS
from assay.tasks.detection.kernel.error_kinds import ERRORS

if TYPE_CHECKING:
    from assay.tasks.detection.kernel.boxes import Floats
    from assay.tasks.detection.tally import Boxes

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
