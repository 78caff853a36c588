# SPDX-License-Identifier: Apache-2.0
"""Figures as SVG, drawn from the data of charts; a chart names the function that draws it."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from assay.core.blocks import Chart

MODULES: Final = {
    "plots": ("lines", "distribution", "cloud"),
    "plots_rows": ("dots", "intervals"),
    "plots_grids": ("picture", "matrix"),
}
"""The module of each function; none is loaded before a chart is drawn."""
DRAWN_BY: Final = {kind: module for module, kinds in MODULES.items() for kind in kinds}


def draw(chart: Chart) -> str:
    """A chart as SVG; nothing where its data have nothing to draw."""
    module = import_module(f"assay.report.charts.{DRAWN_BY[chart.kind]}")
    return str(getattr(module, chart.kind)(*chart.data))
