# SPDX-License-Identifier: Apache-2.0
"""Segmentation: masks of images or volumes, compared with the true masks; an image is a unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from assay.core.labels import Label
from assay.core.task import Counted, Example, Request
from assay.inference.findings import Finding
from assay.tally.unit_table import UnitModels
from assay.tasks.by_unit import UnitTask
from assay.tasks.image_inputs import count_models
from assay.tasks.segmentation import measures
from assay.tasks.segmentation.measures.classes import averages_classes
from assay.tasks.segmentation.roles import OPTIONS, ROLES
from assay.tasks.segmentation.tally import Masks, MaskTally, check_same_rules

if TYPE_CHECKING:
    from assay.core.blocks import Section
    from assay.inference.estimates import Estimates
    from assay.measures.declare import Measure
    from assay.tasks.task_settings import TaskSettings

__all__ = ["TASK", "measures"]


class Segmentation(UnitTask):
    """Masks against true masks."""

    name = "segmentation"
    says = "how well predicted masks cover the true objects of each image"
    roles = ROLES
    options = OPTIONS
    tally = MaskTally
    unit = "image"
    sums = Masks
    headline = ("mean_dice", "mean_iou", "dice", "iou_macro", "hausdorff_95", "normalized_surface_distance")
    examples = (
        Example(
            name="lesions",
            says="lesions and organs in 24 small images, drawn by a program",
            given={"truth": "truth.npz", "predicted": "predicted.npz"},
            options={"spacing": (1.0,), "labels": ("1=organ", "2=lesion"), "missed": "skip"},
        ),
    )

    def read(self, request: Request) -> Counted:
        """Compare the masks of one model."""
        from assay.tasks.segmentation.readers import read_masks

        return read_masks(request)

    def read_models(self, request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
        """Compare the masks of several models with the same truth."""
        from assay.tasks.segmentation.mask_sums import sum_by_unit
        from assay.tasks.segmentation.readers import compare_all

        return count_models(request, models, lambda part: sum_by_unit(compare_all(part)[1]))

    def describe(self, tally: MaskTally) -> dict[str, object]:
        """Units and classes."""
        return {"units": tally.units, "labels": list(tally.labels)}

    def unit_values(self, tally: MaskTally) -> dict[str, dict[str, float | None]]:
        """Overlap and distances of every image or unit: over all classes, and of each class where there are several."""
        from assay.tasks.segmentation.intervals import evaluate_units

        return evaluate_units(self.registry, tally)

    def estimates(
        self, tally: MaskTally, settings: TaskSettings, slice_: Mapping[str, Label] | None = None
    ) -> Estimates:
        """Every measure, of all classes and of each."""
        from assay.tasks.segmentation.intervals import MaskEstimates

        return MaskEstimates(self, tally, settings, slice_)

    def model_estimates(self, paired: UnitModels, settings: TaskSettings) -> dict[str, Estimates]:
        """The estimates of each model, over all classes."""
        from assay.tasks.segmentation.intervals import ModelEstimates

        return {model: ModelEstimates(self, paired.table(model), settings, None) for model in paired.models}

    def compare(self, paired: UnitModels, settings: TaskSettings) -> Iterator[Finding]:
        """Swaps of images for every measure, and signed ranks for means over images."""
        from assay.tasks.segmentation.compare import compare_ranks

        yield from super().compare(paired, settings)
        for measure in self.compared_measures(settings):
            yield from compare_ranks(measure, paired, settings, self.unit)

    def compared_measures(self, settings: TaskSettings) -> list[Measure]:
        """Those asked for, or the headline; averages over classes need the tally of each class."""
        return [measure for measure in super().compared_measures(settings) if not averages_classes(measure)]

    def sections(self, tally: MaskTally, settings: TaskSettings) -> dict[str, object]:  # noqa: ARG002
        """What figures need."""
        from assay.tasks.segmentation.blocks import collect_figures

        return {"figures": collect_figures(tally)}

    def blocks(self, record: Mapping[str, Any]) -> Iterator[Section]:
        """Values by image, overlays, distances and the confusion of classes."""
        from assay.tasks.segmentation.blocks import build_sections

        return build_sections(record)

    def comparison_blocks(self, record: Mapping[str, Any]) -> Iterator[Section]:
        """Every model image by image."""
        from assay.tasks.segmentation.blocks import comparison_sections

        return comparison_sections(UnitModels.from_json(record["tallies"]))

    def check_alike(self, new: MaskTally, reference: MaskTally) -> None:
        """Both must be counted by the same rules."""
        check_same_rules(new, reference)

    check_mergeable = check_alike

    def align(self, part: MaskTally, whole: MaskTally) -> MaskTally:
        """A part over the classes of the whole."""
        from assay.tasks.segmentation.tally import widen_labels

        return widen_labels(part, whole.labels)


TASK = Segmentation()
