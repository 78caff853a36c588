# SPDX-License-Identifier: Apache-2.0
"""Estimates of masks: over all classes and for each class, with intervals by image or by the unit that was named."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from assay.core.labels import Label
from assay.core.text import counted, figure
from assay.core.values import Undefined, Value
from assay.inference.estimates import ByClass, Estimate, Interval, build_estimate
from assay.inference.intervals.bounded_means import hurdle_interval
from assay.inference.unit_intervals import jackknife_interval
from assay.measures.declare import Measure
from assay.tally.unit_table import UnitTable
from assay.tasks.by_unit import TaskEstimates, UnitEstimates
from assay.tasks.segmentation.mask_sums import PLACE, sum_by_class, sum_by_unit
from assay.tasks.segmentation.measures.classes import ClassMasks, averages_classes
from assay.tasks.segmentation.tally import Masks, MaskTally

if TYPE_CHECKING:
    from assay.core.registry import Registry

IMAGE_MEANS: Final = {
    "mean_dice": ("dice_sum", "defined"),
    "mean_iou": ("iou_sum", "defined"),
    "mean_boundary_iou": ("boundary_sum", "defined"),
    "mean_centre_line_dice": ("line_sum", "defined"),
    "mean_normalized_surface_distance": ("nsd_sum", "measured"),
    "mean_surface_dice": ("surface_dice_sum", "measured"),
}
"""Means over images of values between 0 and 1: the sum, and the images that have a value."""
NEAR_ONE: Final = 0.95
"""Where no image reaches this, none is expected at exactly 1; chosen on the six shapes of the coverage study."""
UNIT_MEASURES: Final = (
    "dice",
    "iou",
    "hausdorff",
    "hausdorff_95",
    "average_symmetric_surface_distance",
    "normalized_surface_distance",
)
"""What is listed of every unit."""


def mask_interval(measure: Measure, table: UnitTable, level: float, unit: str = "image") -> Interval | str:
    """The interval of a measure: hurdle draws for means of images, otherwise the jackknife of units."""
    if measure.name in IMAGE_MEANS:
        sums, counts = (table.sums[:, PLACE[name]] for name in IMAGE_MEANS[measure.name])
        kept = counts > 0
        if (counts[kept] == 1).all():  # units of one image
            return hurdle_interval(sums[kept], level, what=unit, near=NEAR_ONE)
    return jackknife_interval(measure, table, ClassMasks if averages_classes(measure) else Masks, level)


def evaluate_units(registry: Registry[Measure], tally: MaskTally) -> dict[str, dict[str, float | None]]:
    """By unit: measures of that unit alone, over all classes and of each where there are several."""
    values: dict[str, dict[str, float | None]] = {}
    for label in (None, *(tally.labels if len(tally.labels) > 1 else ())):
        table = sum_by_unit(tally, label)
        for name in UNIT_MEASURES:
            title = name if label is None else f"{name}[class={label}]"
            column = registry.find(name).values(cast("Any", Masks(table.sums)))
            for unit, value in zip(table.ids or (), column.tolist(), strict=True):
                values.setdefault(unit, {})[title] = value if math.isfinite(value) else None
    return values


class MaskEstimates(TaskEstimates):
    """Measures of one tally of masks: of all classes together, or of one class."""

    tally: MaskTally

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or all that the rules and classes give a value."""
        if self.settings.measures is not None:
            return list(self.settings.measures)
        instances = self.tally.rules.instances is not None
        families = {"centre lines": self.tally.rules.centre_line, "instances": instances}
        families["means over classes"] = self.lists_classes
        return [
            measure
            for measure in self.task.measures
            if families.get(measure.family, True) and (instances or measure.name != "panoptic_quality_macro")
        ]

    @property
    def class_measures(self) -> Sequence[Measure]:
        """What is listed of each class."""
        return [measure for measure in self.measures if self.lists_classes and not averages_classes(measure)]

    @cached_property
    def by_class(self) -> Mapping[Label, Mapping[str, Estimate]]:
        """The estimates of each class."""
        return ByClass(self, self.tally.labels)

    @property
    def lists_classes(self) -> bool:
        """Whether there are several."""
        return len(self.tally.labels) > 1

    def class_sizes(self) -> dict[str, str]:
        """Images with each class."""
        tables = {str(label): sum_by_unit(self.tally, label) for label in self.tally.labels}
        return {
            label: counted(int((table.sums[:, PLACE["defined"]] > 0).sum()), "image") for label, table in tables.items()
        }

    def _class_estimate(self, measure: Measure, label: Label) -> Estimate:
        return self._estimate(measure, label)

    def _estimate(self, measure: Measure, label: Label | None = None) -> Estimate:
        value, level = self._evaluate(measure, self.tally, label), self.settings.wanted.level
        table = sum_by_unit(self.tally, label)
        interval: Interval | str = "the value is undefined"
        if averages_classes(measure):
            table = sum_by_class(self.tally)
        if not isinstance(value, Undefined):
            unit = "image" if self.tally.unit_of is None else "unit"
            interval = mask_interval(measure, table, level, unit)
        more = {"label": label, "slice": self.slice, "notes": tuple(self._notes(measure, label))}
        return build_estimate(measure.title, value, interval, table.units, **more)

    def _evaluate(self, measure: Measure, tally: MaskTally, label: Label | None) -> Value:
        if averages_classes(measure):
            return measure(cast("Any", ClassMasks(sum_by_class(tally).total())))
        return measure(cast("Any", Masks(sum_by_unit(tally, label).total())))

    def _notes(self, measure: Measure, label: Label | None) -> Iterator[str]:
        """How many images have no value, and what the other reading of them gives."""
        sums, rules = Masks(sum_by_unit(self.tally, label).total()), self.tally.rules

        def read_as(**changed: str) -> str:
            other = replace(self.tally, rules=replace(rules, **changed), cache={})  # type: ignore[arg-type]
            value = self._evaluate(measure, other, label)
            return "undefined" if isinstance(value, Undefined) else figure(value.value)

        if measure.name in ("mean_dice", "mean_iou") and sums.both_empty:
            other = "undefined" if rules.both_empty == "one" else "one"
            how = ("left out", "counted as 1")[:: 1 if other == "one" else -1]
            yield (
                f"{int(sums.both_empty)} of {int(sums.images)} images hold no object in either mask: {how[0]}; "
                f"{how[1]}, the mean is {read_as(both_empty=other)}"
            )
        one_sided = sums.missed + sums.spurious
        if not averages_classes(measure) and "measured" in measure.formula and one_sided and sums.spaced:
            yield (
                f"{int(one_sided)} of {int(sums.images)} images hold a class in one mask only; "
                f"without them {read_as(missed='skip')}, with the worst value for them {read_as(missed='worst')}"
            )


class ModelEstimates(UnitEstimates):
    """Measures of one model of a comparison, over all classes."""

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """Those that read the sums of all classes together."""
        chosen = self.task.measures if self.settings.measures is None else list(self.settings.measures)
        return [measure for measure in chosen if not averages_classes(measure)]

    def _estimate(self, measure: Measure) -> Estimate:
        estimate = super()._estimate(measure)
        if measure.name not in IMAGE_MEANS or isinstance(estimate.result, Undefined):
            return estimate
        interval = mask_interval(measure, self.table, self.settings.wanted.level)
        if isinstance(interval, str):
            return replace(estimate, interval=None, no_interval=interval)
        return replace(estimate, interval=interval, no_interval=None)
