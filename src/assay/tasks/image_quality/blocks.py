# SPDX-License-Identifier: Apache-2.0
"""Sections of a report on images: the values of each image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.blocks import Figure, Paragraph, Reach, Section, chart, section
from assay.core.text import figure
from assay.measures.declare import parse

if TYPE_CHECKING:
    from assay.tally.unit_table import UnitTable
    from assay.tasks.by_unit import UnitTask

SHOWN: Final = ("ssim", "psnr", "root_mean_squared_error")
MOST_VALUES: Final = 400
WINDOW: Final = (
    "SSIM: Gaussian window of 11 x 11 pixels, sigma 1.5, K1 0.01, K2 0.03, moments of the population, windows that lie "
    "wholly in the image, averaged over channels. Tools that keep the borders, halve the image first or use a uniform "
    "window give other numbers."
)


def collect_figures(task: UnitTask, tally: UnitTable) -> dict[str, object]:
    """The values of each image, and the images at both ends."""
    figures: dict[str, object] = {}
    for name in SHOWN:
        values = parse(name, task.registry).values(task.sums(tally.sums))
        kept = np.flatnonzero(np.isfinite(values))
        if not len(kept):
            continue
        order = kept[np.argsort(values[kept], kind="stable")]
        shown = order[np.linspace(0, len(order) - 1, min(len(order), MOST_VALUES)).astype(int)]
        ids = tally.ids or ()
        figures[name] = {
            "values": [round(float(value), 6) for value in values[shown]],
            "aside": int(len(values) - len(kept)),
            "lowest": [[ids[place], round(float(values[place]), 6)] for place in order[:3]] if ids else [],
        }
    return figures


def build_sections(record: Mapping[str, Any]) -> Iterator[Section]:
    """Sections from the Record alone."""
    figures = record.get("figures") or {}
    charts = []
    for name in [name for name in SHOWN if name in figures]:
        values, left_out, title = figures[name]["values"], figures[name]["aside"], name.replace("_", " ")
        aside = [{"count": left_out, "text": "infinite or undefined"}] if left_out else []
        lane = {"label": "images", "values": values, "median": float(np.median(values)), "aside": aside}
        charts.append(chart("dots", title=title, x=title, lanes=[lane]))
    if charts:
        alt = "; ".join(f"{name}: median {figure(float(np.median(figures[name]['values'])))}" for name in figures)
        lowest = figures.get("ssim", {}).get("lowest", [])
        worst = "; ".join(f"{image} {figure(value)}" for image, value in lowest)
        said = [Paragraph(f"Lowest SSIM: {worst}.")] if worst else []
        drawn, window = Figure(charts=tuple(charts), alt=alt), Paragraph(WINDOW, "soft", reach=Reach.REPORT)
        yield section("images", "Image by image", [drawn, *said, window])
