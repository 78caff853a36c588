# SPDX-License-Identifier: Apache-2.0
"""Image quality: images against their references, pixel by pixel and by structure; an image is a unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from assay.core.task import Counted, Example, Option, Request, Role
from assay.tally.census import Census
from assay.tally.unit_table import UnitTable
from assay.tasks.by_unit import UnitEstimates, UnitTask
from assay.tasks.image_inputs import ImagePairs, check_unique, count_models, pair_images, raise_faults
from assay.tasks.image_quality import measures
from assay.tasks.image_quality.tally import ImageRows, Pixels, compare_batch, settle_rules

if TYPE_CHECKING:
    from assay.core.blocks import Section
    from assay.inference.estimates import Estimate
    from assay.measures.declare import Measure
    from assay.tasks.task_settings import TaskSettings

__all__ = ["TASK", "measures"]
WINDOWS = {"ssim_uniform": "uniform", "ms_ssim": "multiscale"}
"""Measures that are listed only where their window is counted."""
WHAT = "images: arrays, a folder, or paths"


class PixelEstimates(UnitEstimates):
    """Estimates that say how many images have no value."""

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or all whose windows were asked for."""
        if self.settings.measures is not None:
            return list(self.settings.measures)
        windows = self.settings.options.get("windows") or ()
        left_out = {name for name, window in WINDOWS.items() if window not in windows}
        return [measure for measure in self.task.measures if measure.name not in left_out]

    def _estimate(self, measure: Measure) -> Estimate:
        estimate = super()._estimate(measure)
        sums = Pixels(self.table.total())
        notes = []
        if measure.name in ("psnr", "mean_psnr") and sums.identical:
            notes.append(
                f"{int(sums.identical)} of {int(sums.images)} images are identical to their reference: their PSNR is "
                "infinite and left out of mean_psnr"
            )
        if measure.name in ("ssim", "mean_ssim", "dssim") and 0 < sums.ssim_images < sums.images:
            left = int(sums.images - sums.ssim_images)
            notes.append(f"{left} of {int(sums.images)} images are smaller than the window and left out")
        return replace(estimate, notes=(*estimate.notes, *notes)) if notes else estimate


class ImageQuality(UnitTask):
    """Images against references."""

    name = "image_quality"
    says = "how near images are to their references, pixel by pixel and by structure"
    roles = (
        Role(name="truth", holds=WHAT, says="the references"),
        Role(name="predicted", holds=WHAT, by_model=True),
        Role(name="image", holds="the name of an image", required=False),
    )
    options = (
        Option(
            name="data_range", says="largest minus smallest possible value; taken from whole-number types", kind=float
        ),
        Option(
            name="colour",
            says="whether colours are averaged by channel or turned into luminance (BT.601) first",
            default="channels",
            choices=("channels", "luminance"),
        ),
        Option(name="channel_axis", says="the axis of an array that holds the colours", kind=int),
        Option(
            name="windows",
            says="windows of SSIM: gaussian for ssim, uniform for ssim_uniform, multiscale for ms_ssim",
            default=("gaussian",),
            choices=("gaussian", "uniform", "multiscale"),
            several=True,
        ),
    )
    view = PixelEstimates
    unit = "image"
    sums = Pixels
    headline = ("mean_ssim", "mean_psnr", "psnr", "root_mean_squared_error")
    examples = (
        Example(
            name="denoised",
            says="16 small pictures before noise, and after a filter took the noise away again",
            given={"truth": "truth.npz", "predicted": "predicted.npz"},
        ),
    )

    def read(self, request: Request) -> Counted:
        """Compare the images of one model."""
        pairs, rows = read_pairs(request)
        groups = {
            factor: {level: rows.table(names) for level, names in levels.items()}
            for factor, levels in pairs.levels().items()
        }
        census = Census(read=len(rows.names), scored=len(rows.names))
        return Counted(tally=rows.table(), census=census, groups=groups, notes=pairs.notes, data=pairs.about)

    def read_models(self, request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
        """Compare the images of several models with the same references."""
        return count_models(request, models, lambda part: read_pairs(part)[1].table())

    def check_mergeable(self, first: UnitTable, other: UnitTable) -> None:
        """An image must not be counted twice."""
        super().check_alike(first, other)
        if first.rows == first.units and other.rows == other.units:
            check_unique((*(first.ids or ()), *(other.ids or ())), parts=True)

    def sections(self, tally: UnitTable, settings: TaskSettings) -> dict[str, object]:  # noqa: ARG002
        """What figures need."""
        from assay.tasks.image_quality.blocks import collect_figures

        return {"figures": collect_figures(self, tally)}

    def blocks(self, record: Mapping[str, Any]) -> Iterator[Section]:
        """Values of each image."""
        from assay.tasks.image_quality.blocks import build_sections

        return build_sections(record)


def read_pairs(request: Request) -> tuple[ImagePairs, ImageRows]:
    """Read and compare; all images that cannot be compared are gathered before the error."""
    rules = settle_rules(request.options)
    pairs = pair_images(request, 2, channels=rules.channel_axis is not None)
    rows = pairs.run(partial(compare_batch, rules), ImageRows, request.progress).merged()
    raise_faults(rows.faults, len(rows.names) + len(rows.faults))
    return pairs, rows


TASK = ImageQuality()
