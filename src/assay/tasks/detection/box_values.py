# SPDX-License-Identifier: Apache-2.0
"""What the measures of detection read: average precisions, recalls and counts, of one tally or of many draws of images.

Arrays of draws have the draws as their first axis; the formulas are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from assay.core.registry import Declared, Registry
from assay.tasks.detection.average_precision import (
    average_precisions,
    draw_precisions,
    hit_counts,
    mean_defined,
    weigh_objects,
)
from assay.tasks.detection.kernel.box_matches import AREAS, THRESHOLDS

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from assay.tasks.detection.kernel.boxes import Floats, Whole
    from assay.tasks.detection.tally import Boxes

RULES: Final = {"coco": "coco101", "lvis": "coco101", "voc": "voc_all", "openimages": "voc_all"}
"""How AP is read off the curve, by profile."""
ARRAYS: Final = ("recalls", "true", "false", "objects", "overlap", "images", "errors")
"""Values that are arrays with the draws in front."""
RATES: Final = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""False alarms an image at which the FROC score reads the sensitivity (LUNA16)."""
FAR: Final = 8
"""How many times as many false alarms as that are kept: no half sample has so many fewer."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoxValues:
    """Values by class of one tally, or of draws along a leading axis."""

    MEASURES: ClassVar[Registry[Declared]] = Registry("measure", {})
    precisions: Callable[[str | None], Floats]
    """AP by class, area and threshold under a rule; None for that of the profile; NaN without objects."""
    recalls: Floats
    """Recall by class, area, cap and threshold."""
    true: Floats
    """Hits at the operating point by class."""
    false: Floats
    objects: Floats
    overlap: Floats
    """Sum of the IoU of these hits by class."""
    images: Floats
    errors: Floats
    sensitivity: Callable[[], Floats]
    """Mean sensitivity at the false alarms of `RATES`."""
    classes: int = 0
    frequency: tuple[str, ...] | None = None
    """How often each class occurs, where the truth says so."""

    def of_class(self, label: int | None) -> BoxValues:
        """The values of one class, or of all; errors and the FROC curve are about all classes."""
        if label is None:
            return self
        place = [label]
        by_class = {name: getattr(self, name)[..., place] for name in ("true", "false", "objects", "overlap")}
        precisions = self.precisions
        return replace(
            self,
            precisions=lambda rule: precisions(rule)[..., place, :, :],
            recalls=self.recalls[..., place, :, :, :],
            classes=1,
            frequency=self.frequency and (self.frequency[label],),
            **by_class,
        )


def read_values(tally: Boxes) -> BoxValues:
    """The values of a tally: those of one draw that holds every image once, with AP to all digits."""
    values = draw_values(tally, np.ones((len(tally.images), 1)))
    rule = RULES[tally.rules.profile]
    arrays = {name: getattr(values, name)[0] for name in ARRAYS}
    arrays["overlap"] = np.asarray(operating_counts(tally)[2].sum(axis=1)).ravel()  # a product adds in another order
    return replace(
        values,
        precisions=lambda wanted: average_precisions(tally, wanted or rule),
        sensitivity=lambda: values.sensitivity()[0],
        **arrays,
    )


def draw_values(tally: Boxes, weights: Floats, areas: Sequence[int] = range(len(AREAS))) -> BoxValues:
    """The values of draws of images; average precisions of areas that are left out are NaN."""
    objects = weigh_objects(tally, weights)
    precisions_by_rule: dict[str, Floats] = {}

    def precisions(wanted: str | None) -> Floats:
        rule = wanted or RULES[tally.rules.profile]
        if rule not in precisions_by_rule:
            precisions_by_rule[rule] = np.full((weights.shape[1], *objects.shape[:2], len(THRESHOLDS)), np.nan)
            precisions_by_rule[rule][:, :, list(areas)] = draw_precisions(
                tally, weights, areas, objects=objects, rule=rule
            )
        return precisions_by_rule[rule]

    counts = np.moveaxis(hit_counts(tally, weights), -1, 0)
    of = np.moveaxis(objects, -1, 0)[:, :, :, None, None]
    true, false, overlap = (np.asarray(part @ weights).T for part in operating_counts(tally))
    return BoxValues(
        precisions=precisions,
        recalls=np.divide(counts, of, out=np.full(counts.shape, np.nan), where=of > 0),
        true=true,
        false=false,
        objects=objects[:, 0].T,
        overlap=overlap,
        images=weights.sum(axis=0),
        errors=weights.T @ tally.errors,
        sensitivity=lambda: froc_score(tally, weights),
        classes=len(tally.classes),
        frequency=tally.frequency,
    )


def mean_of_draws(values: BoxValues) -> BoxValues:
    """Each value by class averaged over the draws in which the class occurs."""
    means: dict[str, Any] = {name: mean_defined(getattr(values, name), 0) for name in ARRAYS}
    return replace(
        values,
        precisions=cache(lambda rule: mean_defined(values.precisions(rule), 0)),
        sensitivity=lambda: values.sensitivity().mean(axis=0),
        **means,
    )


def operating_counts(tally: Boxes) -> tuple[csr_array, csr_array, csr_array]:
    """Hits, false alarms and overlap at the operating point (IoU 0.5), as sparse tables of classes by images."""
    from scipy.sparse import csr_array

    sure = tally.score >= tally.rules.confidence
    hits = tally.detection[tally.found & sure[tally.detection]]
    overlap = tally.iou[tally.found & sure[tally.detection]]
    alarms = np.flatnonzero(tally.alarms & sure)
    shape = (len(tally.classes), len(tally.images))

    def table(rows: Whole, values: Floats) -> csr_array:
        label = np.searchsorted(tally.starts, rows, side="right") - 1
        return csr_array((values, (label, tally.image[rows])), shape=shape)

    return table(hits, np.ones(len(hits))), table(alarms, np.ones(len(alarms))), table(hits, overlap)


def froc_score(tally: Boxes, weights: Floats) -> Floats:
    """Mean sensitivity at given numbers of false alarms an image, over all classes together; by draw."""
    right = np.zeros(len(tally.score), dtype=bool)
    right[tally.detection[tally.found]] = True
    counts = tally.alarms | right
    enough = int(2 * RATES[-1] * len(tally.images))  # false alarms that nearly every draw can do with
    alarms = tally.score[tally.alarms]
    if len(alarms) > FAR * enough:  # the rest is looked at only where a draw needs it
        counts &= tally.score >= np.partition(alarms, len(alarms) - FAR * enough)[len(alarms) - FAR * enough]
    kept = np.flatnonzero(counts)
    order = kept[np.lexsort((right[kept], -tally.score[kept]))]  # of equal scores, false alarms first
    right, image = right[order], tally.image[order]
    first = int(np.searchsorted(np.cumsum(~right), enough)) + 1
    images, objects = weights.sum(axis=0), weigh_objects(tally, weights)[:, 0].sum(axis=0)
    scores = np.full(weights.shape[1], np.nan)
    for draw in np.flatnonzero((objects > 0) & (images > 0)):
        allowed = np.array(RATES) * images[draw]
        for size in (first, len(order)):
            mine = weights[:, draw][image[:size]]
            alarms = np.cumsum(np.where(right[:size], 0.0, mine))
            if size >= len(order) or alarms[-1] > allowed[-1]:
                break
        hits = np.concatenate([[0.0], np.cumsum(np.where(right[:size], mine, 0.0))])
        scores[draw] = hits[np.searchsorted(alarms, allowed, side="right")].mean() / objects[draw]
    return scores
