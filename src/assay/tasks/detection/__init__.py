# SPDX-License-Identifier: Apache-2.0
"""Object detection: boxes with classes and scores against reference boxes, by COCO's rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.task import Counted, Example, Option, Request, Role
from assay.inference.unit_intervals import model_pairs
from assay.measures.declare import parse
from assay.tally.base import ModelTallies
from assay.tasks.by_unit import UnitTask
from assay.tasks.detection import measures as _measures
from assay.tasks.detection.box_values import BoxValues, operating_counts
from assay.tasks.detection.compare import compare_pair
from assay.tasks.detection.formats.raw_boxes import FORMATS
from assay.tasks.detection.intervals import BoxEstimates
from assay.tasks.detection.tally import Boxes, settle_cap

if TYPE_CHECKING:
    from assay.core.blocks import Section
    from assay.inference.findings import Finding
    from assay.measures.declare import Measure
    from assay.tasks.task_settings import TaskSettings

FILES = "a COCO file, a folder of YOLO or VOC files, a table with a row a box, or arrays"


class Detection(UnitTask):
    """Detection of objects by boxes."""

    name = "detection"
    says = "boxes with classes and scores against reference boxes, by image"
    roles = (
        Role(name="truth", holds=FILES, required=False),
        Role(name="predicted", holds=f"{FILES}, with scores", required=False, by_model=True),
        Role(name="images", holds="ids of all images, if the truth does not list those without boxes", required=False),
        Role(
            name="pictures",
            holds="a folder of the images, or paths by image: the report shows the worst with their boxes",
            required=False,
        ),
        Role(name="searched", holds="pairs of image and label that were looked for (LVIS, OpenImages)", required=False),
    )
    options = (
        Option(name="profile", says="whose rules match and average", default="coco",
               choices=("coco", "voc", "openimages", "lvis")),
        Option(name="max_detections", says="detections of an image and class that map and ar read; without it 100, 20 "
               "for keypoints, for lvis 300 of an image, for voc and openimages all", kind=int, settle=settle_cap),
        Option(name="confidence", says="lowest score at the operating point", default=0.5, kind=float),
        Option(name="box_format", says="how the boxes of tables and arrays are written", default="xywh",
               choices=FORMATS),
        Option(name="shape", says="what is matched; masks and keypoints come from COCO files", default="boxes",
               choices=("boxes", "masks", "keypoints")),
        Option(name="sigmas", says="spread of each keypoint; without it those of COCO's 17", kind=float, several=True),
        Option(name="image_size", says='width and height of the images of a YOLO folder: "640x480"'),
    )  # fmt: skip
    tally, paired, view = Boxes, ModelTallies, BoxEstimates
    unit = "image"
    sums = cast("Any", BoxValues)
    headline = ("map", "map_50", "map_75", "ar_100", "precision", "recall", "false_positives_per_image")
    examples = (
        Example(
            name="street",
            says="40 images of a street with cars, people, bicycles and signs",
            given={"truth": "street.json", "predicted": "street_detections.json"},
            options={"confidence": 0.5},
        ),
    )

    def read(self, request: Request) -> Counted:
        """Read boxes and match them."""
        from assay.tasks.detection.roles import read_one

        return read_one(request)

    def read_models(self, request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
        """Read several detectors on the same images."""
        from assay.tasks.detection.roles import read_several

        return read_several(request, models)

    def describe(self, tally: Boxes) -> dict[str, object]:
        """Units and classes."""
        units = len(tally.images) if tally.units is None else len(set(tally.units))
        return {"units": units, "labels": list(tally.classes)}

    def sections(self, tally: Boxes, settings: TaskSettings) -> dict[str, object]:  # noqa: ARG002
        """What figures need."""
        from assay.tasks.detection.blocks import gather_figures

        return {"figures": gather_figures(tally)}

    def blocks(self, record: Mapping[str, Any]) -> Iterator[Section]:
        """Curves, classes, kinds of error, confidence and the worst images."""
        from assay.tasks.detection.blocks import detection_sections

        yield from detection_sections(record)

    def comparison_blocks(self, record: Mapping[str, Any]) -> Iterator[Section]:
        """Who finds what, and classes."""
        from assay.tasks.detection.blocks import comparison_sections

        yield from comparison_sections(record)

    def unit_values(self, tally: Boxes) -> dict[str, dict[str, float | None]]:
        """Precision, recall and errors of every image at the operating point."""
        true, false, _ = (np.asarray(part.sum(axis=0)).ravel() for part in operating_counts(tally))
        objects = np.bincount(tally.objects[:, 0], tally.objects[:, 2], minlength=len(tally.images))

        def divide(top: float, over: float) -> float | None:
            return top / over if over else None

        return {
            str(image): {
                "precision": divide(true[place], true[place] + false[place]),
                "recall": divide(true[place], objects[place]),
                "errors": float(tally.errors[place].sum()),
            }
            for place, image in enumerate(tally.images)
        }

    def compared_measures(self, settings: TaskSettings) -> list[Measure]:
        """The measures asked for, or map and map_50."""
        if settings.measures is not None:
            return list(settings.measures)
        return [parse(name, self.registry) for name in ("map", "map_50")]

    def compare(self, paired: ModelTallies[Boxes], settings: TaskSettings) -> Iterator[Finding]:
        """Differences of every two detectors."""
        measures = self.compared_measures(settings)
        for pair in model_pairs(tuple(paired.models), settings.control):
            yield from compare_pair(paired, pair, measures, settings)

    def check_alike(self, new: Boxes, reference: Boxes) -> None:
        """Refuse tallies that were counted by different rules."""
        if new.rules != reference.rules:
            raise PlanError(
                "tally-mismatch",
                "the reference was counted by other rules",
                found=f"{new.rules} and {reference.rules}",
                fix="count both with the same profile, max_detections and confidence",
            )

    check_mergeable = check_alike

    def small_cells(self, tally: Boxes, smallest: int) -> list[str]:
        """Every image is a cell of one."""
        return [f"{len(tally.images)} images"] if smallest > 1 else []


TASK = Detection()

__all__ = ["TASK", "Detection", "_measures"]
