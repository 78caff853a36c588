# SPDX-License-Identifier: Apache-2.0
"""Figures as SVG, drawn from the data of charts; a chart names the function that draws it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from assay.core.blocks import Chart

MODULES: Final = {
    "score_charts": (
        "roc",
        "precision_recall",
        "det",
        "reliability",
        "top_label",
        "decision",
        "gains",
        "lift",
        "histogram",
    ),
    "svg": ("forest_of", "bar"),
    "comparison_charts": ("differences", "critical_difference"),
    "data_timeline": ("timeline",),
}
"""The module of each function; none is loaded before a chart is drawn."""
PLAIN_MODULES: Final = {
    "plots": ("lines", "distribution", "timeline"),
    "plots_cloud": ("cloud",),
    "plots_rows": ("bars", "dots", "intervals"),
    "plots_grids": ("picture", "matrix"),
}
"""The same for charts whose data are one plain dictionary of a Record, and of any task."""
DRAWN_BY: Final = {kind: module for module, kinds in MODULES.items() for kind in kinds}
PLAIN_BY: Final = {kind: module for module, kinds in PLAIN_MODULES.items() for kind in kinds}


def draw(chart: Chart) -> str:
    """A chart as SVG; nothing where its data have nothing to draw."""
    modules = PLAIN_BY if isinstance(chart.data[0], Mapping) else DRAWN_BY
    module = import_module(f"assay.report.charts.{modules[chart.kind]}")
    return str(getattr(module, chart.kind)(*chart.data))
