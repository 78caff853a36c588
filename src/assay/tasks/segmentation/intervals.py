# SPDX-License-Identifier: Apache-2.0
"""Estimates of masks: over all classes and for each class, with intervals by image or by the unit that was named."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from assay.core.labels import Label
from assay.core.text import counted, figure
from assay.core.values import Undefined, Value
from assay.inference.estimates import Estimate, Interval, build_estimate
from assay.inference.intervals.bounded_means import hurdle_interval
from assay.inference.unit_intervals import jackknife_interval
from assay.measures.declare import Measure
from assay.tally.unit_table import UnitTable
from assay.tasks.by_unit import UnitEstimates, UnitTask
from assay.tasks.segmentation.mask_sums import PLACE, sum_by_class, sum_by_unit
from assay.tasks.segmentation.measures.classes import ClassMasks, averages_classes
from assay.tasks.segmentation.tally import Masks, MaskTally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from assay.core.registry import Registry
    from assay.tasks.task_settings import TaskSettings

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
    columns = IMAGE_MEANS.get(measure.name)
    if columns is None:
        return jackknife_interval(measure, table, Masks, level)
    values, whole = values_by_unit(table, *columns)
    if whole:
        return hurdle_interval(values, level, what=unit, near=NEAR_ONE)
    return jackknife_interval(measure, table, Masks, level)


def values_by_unit(table: UnitTable, total: str, count: str) -> tuple[NDArray[np.float64], bool]:
    """The mean of each unit that has a value, and whether every one of them has one image."""
    sums, counts = table.sums[:, PLACE[total]], table.sums[:, PLACE[count]]
    kept = counts > 0
    return sums[kept] / counts[kept], bool((counts[kept] == 1).all())


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


class MaskEstimates(UnitEstimates):
    """Measures of one tally of masks: of all classes together, or of one class."""

    def __init__(
        self,
        task: UnitTask,
        tally: MaskTally,
        settings: TaskSettings,
        slice_: Mapping[str, Label] | None,
        label: Label | None = None,
    ) -> None:
        super().__init__(task, sum_by_unit(tally, label), settings, slice_)
        self.tally, self.label = tally, label

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or all; of one class those that speak of one."""
        if self.settings.measures is not None:
            chosen = list(self.settings.measures)
        else:
            rules, several = self.tally.rules, len(self.tally.labels) > 1
            families = {"centre lines": rules.centre_line, "instances": rules.instances is not None}
            families["means over classes"] = several
            chosen = [
                measure
                for measure in self.task.measures
                if families.get(measure.family, True)
                and (rules.instances is not None or measure.name != "panoptic_quality_macro")
            ]
        return [measure for measure in chosen if self.label is None or not averages_classes(measure)]

    @property
    def class_measures(self) -> Sequence[Measure]:
        """What is listed of each class."""
        return (
            [measure for measure in self.measures if not averages_classes(measure)]
            if len(self.tally.labels) > 1
            else []
        )

    @cached_property
    def by_class(self) -> Mapping[Label, MaskEstimates]:
        """The estimates of each class."""
        return {
            label: MaskEstimates(self.task, self.tally, self.settings, self.slice, label) for label in self.tally.labels
        }

    def class_sizes(self) -> dict[str, str]:
        """Images with each class."""
        return {
            str(label): counted(int((view.table.sums[:, PLACE["defined"]] > 0).sum()), "image")
            for label, view in self.by_class.items()
        }

    def listed(self, done: Callable[[], None] = lambda: None) -> list[Estimate]:
        """All classes together, then each class where there are several."""
        estimates = [self[measure.title] for measure in self.measures]
        if self.label is None and len(self.tally.labels) > 1:
            estimates += [estimate for view in self.by_class.values() for estimate in view.listed()]
        done()
        return estimates

    def _estimate(self, measure: Measure) -> Estimate:
        macro = averages_classes(measure)
        table = sum_by_class(self.tally) if macro else self.table
        value = self._evaluate(measure, self.tally)
        level = self.settings.wanted.level
        interval: Interval | str = "the value is undefined"
        if not isinstance(value, Undefined):
            interval = jackknife_interval(measure, table, ClassMasks, level) if macro else self._interval(measure)
        more = {"label": self.label, "slice": self.slice, "notes": tuple(self._notes(measure))}
        return build_estimate(measure.title, value, interval, table.units, **more)

    def _interval(self, measure: Measure) -> Interval | str:
        unit = "image" if self.tally.unit_of is None else "unit"
        return mask_interval(measure, self.table, self.settings.wanted.level, unit)

    def _evaluate(self, measure: Measure, tally: MaskTally) -> Value:
        if averages_classes(measure):
            return measure(cast("Any", ClassMasks(sum_by_class(tally).total())))
        return measure(cast("Any", Masks(sum_by_unit(tally, self.label).total())))

    def _notes(self, measure: Measure) -> Sequence[str]:
        """How many images have no value, and what the other reading of them gives."""
        sums = Masks(self.table.total())
        rules, notes = self.tally.rules, []
        if measure.name in ("mean_dice", "mean_iou") and sums.both_empty:
            other = "undefined" if rules.both_empty == "one" else "one"
            reading = self._evaluate(measure, replace(self.tally, rules=replace(rules, both_empty=other), cache={}))
            how = ("left out", "counted as 1")[:: 1 if other == "one" else -1]
            notes.append(
                f"{int(sums.both_empty)} of {int(sums.images)} images hold no object in either mask: {how[0]}; "
                f"{how[1]}, the mean is {_show(reading)}"
            )
        if (
            not averages_classes(measure)
            and "measured" in measure.formula
            and sums.missed + sums.spurious
            and sums.spaced
        ):
            readings = {
                policy: self._evaluate(measure, replace(self.tally, rules=replace(rules, missed=policy), cache={}))
                for policy in ("skip", "worst")
            }
            notes.append(
                f"{int(sums.missed + sums.spurious)} of {int(sums.images)} images hold a class in one mask only; "
                f"without them {_show(readings['skip'])}, with the worst value for them {_show(readings['worst'])}"
            )
        return notes


def _show(value: Value) -> str:
    return "undefined" if isinstance(value, Undefined) else figure(value.value)


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
