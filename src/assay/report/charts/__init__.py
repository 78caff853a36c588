# SPDX-License-Identifier: Apache-2.0
"""Figures as SVG, drawn from the data of charts; a chart names the function that draws it."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from assay.core.blocks import Chart

DRAWN_BY: Final = {
    **dict.fromkeys(("lines", "distribution", "cloud"), "plots"),
    **dict.fromkeys(("dots", "intervals"), "plots_rows"),
    **dict.fromkeys(("picture", "matrix"), "plots_grids"),
}
"""The module of each function; none is loaded before a chart is drawn."""


def draw(chart: Chart) -> str:
    """A chart as SVG; nothing where its data have nothing to draw."""
    module = import_module(f"assay.report.charts.{DRAWN_BY[chart.kind]}")
    return str(getattr(module, chart.kind)(*chart.data))
