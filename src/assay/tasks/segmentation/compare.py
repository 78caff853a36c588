# SPDX-License-Identifier: Apache-2.0
"""Compares two models by the values of the same images: signed ranks, with checks of shape and spread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.inference.findings import Check, Finding
from assay.inference.tests.ranks import wilcoxon
from assay.inference.tests.variance import pitman_morgan
from assay.inference.unit_intervals import model_pairs
from assay.measures.declare import Measure
from assay.tally.real_values import Pairs
from assay.tally.unit_table import UnitModels
from assay.tasks.segmentation.intervals import IMAGE_MEANS
from assay.tasks.segmentation.mask_sums import PLACE

if TYPE_CHECKING:
    from assay.tasks.task_settings import TaskSettings

FEWEST_PAIRS = 6
"""Below this, signed ranks cannot reach 5 %."""


def compare_ranks(measure: Measure, paired: UnitModels, settings: TaskSettings, unit: str) -> Iterator[Finding]:
    """Signed ranks of the values of images that both models have, for means of values between 0 and 1."""
    columns = IMAGE_MEANS.get(measure.name)
    if columns is None:
        return
    total, count = (PLACE[name] for name in columns)
    for models in model_pairs(paired.models, settings.control):
        a, b = paired.pair(*models)
        kept = (a[:, count] > 0) & (b[:, count] > 0)
        if int(kept.sum()) < FEWEST_PAIRS:
            continue
        values = [sums[kept, total] / sums[kept, count] for sums in (a, b)]
        pairs = Pairs.of(*values, models=models, unit=unit)
        finding = wilcoxon(pairs, level=settings.wanted.level)
        left_out = int((~kept).sum())
        notes = (f"{left_out} {unit}s without a value for both models are left out",) if left_out else ()
        yield finding.said(
            about=measure.title,
            models=models,
            checks=(*finding.checks, check_spread(pairs, settings.wanted.level)),
            notes=(*finding.notes, *notes),
            chosen=f"values of the same {unit}s are paired, bounded and seldom normal",
        )


def check_spread(pairs: Pairs, level: float) -> Check:
    """Whether both models vary alike from image to image (Pitman-Morgan, which knows of the pairing)."""
    spread = pitman_morgan(pairs, level=level)
    holds = None if spread.p is None else not spread.p < 1 - level
    return Check(assumes="both models vary alike", holds=holds, seen=f"Pitman-Morgan {spread.p_shown}")
