# SPDX-License-Identifier: Apache-2.0
"""One chart of a Record by itself: shown in a notebook, saved as SVG or PNG, its data handed over as tidy columns."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from assay.assess.assessment_views import to_columns, to_frame
from assay.assess.record.record import Record
from assay.core.blocks import Chart, Figure
from assay.core.errors import PlanError, unknown_choice
from assay.core.task import find_task
from assay.core.text import visible
from assay.report.blocks.comparison import VALUES, forest_of_models
from assay.report.charts import draw
from assay.report.render.pdf import style, typesetter
from assay.report.report_document import Document
from assay.report.sections import flat
from assay.rows.temporary_files import write_whole

Rows: TypeAlias = list[dict[str, Any]]
Data: TypeAlias = Mapping[str, Any]
WORDS: Final = re.compile(r"\w+")
DENSITY: Final = 192
"""Pixels an inch of a PNG: twice as many as the SVG has."""
FRAME: Final = b"""#set page(width: auto, height: auto, margin: 8pt, fill: white)
#image(bytes(sys.inputs.svg), format: "svg")"""


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A chart of an assessment or comparison; `data` are its numbers as tidy columns, for any plotting library."""

    name: str
    chart: Chart
    data: Mapping[str, list[Any]]

    @property
    def svg(self) -> str:
        """The chart as an SVG document."""
        drawn = draw(self.chart)
        return drawn.replace(">", f"><style>{style()}</style>", 1)

    def _repr_html_(self) -> str:
        """What a notebook shows: the chart in the colour of the text around it."""
        return f'<div style="max-width:30rem">{draw(self.chart)}</div>'

    def __repr__(self) -> str:
        """What it is, and what its data are."""
        rows, columns = len(next(iter(self.data.values()), [])), ", ".join(self.data)
        return f"<Plot {self.name}: {rows} rows of {columns}; .save('{self.name}.svg')>"

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401  a frame of the library
        """The data as a frame of pandas, Polars or PyArrow, whichever is installed or named."""
        return to_frame(self.data, library)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the chart; the ending of the path says whether as SVG or PNG."""
        kind = Path(path).suffix.lower()
        if kind == ".svg":
            return write_whole(path, self.svg.encode())
        if kind == ".png":
            drawn = self.svg.replace("system-ui, sans-serif", "Libertinus Serif")
            made = typesetter().compile(
                FRAME, format="png", ppi=DENSITY, ignore_system_fonts=True, sys_inputs={"svg": drawn}
            )
            return write_whole(path, bytes(made))
        what = f"a plot is not written as {visible(kind) or 'a file without an ending'}"
        fix = f"save('{self.name}.svg'), or draw .data with a plotting library"
        raise PlanError("option-unknown", what, where=visible(os.fspath(path)), known=".svg, .png", fix=fix)


def _plot(name: str, chart: Chart | None, rows: Rows) -> Plot:
    if chart is None or not rows:
        raise PlanError("measure-needs", f"there is nothing to draw as {name}", fix="see .record for what was computed")
    return Plot(name=name, chart=chart, data=to_columns(rows, list(rows[0])))


def intervals(record: Record) -> Plot:
    """The headline measures with their intervals; of a comparison the differences between models."""
    if record["kind"] == "comparison":
        chart, found = forest_of_models(record)
        rows: Rows = [
            {"about": f.about, "models": f.pair, "value": f.value, "low": f.low, "high": f.high} for f in found
        ]
        return _plot("intervals", chart, rows)
    document = Document(record)
    rows = [
        {"measure": e.about.measure, "value": e.value, "low": e.low, "high": e.high, "n": float(e.n.replace(",", ""))}
        for e in document.headline
    ]
    return _plot("intervals", document.headline_chart, rows)


def figure(record: Record, title: str) -> Plot:
    """A chart of the report by its title, with its numbers row by row."""
    blocks = flat(block for part in Document(record).sections() for block in part.blocks)
    drawn = [chart for block in blocks if isinstance(block, Figure) for chart in block.charts]
    titled = ((chart, cast("Data", chart.data[0])) for chart in drawn)
    charts = {str(data["title"]): (chart, data) for chart, data in titled if data.get("title")}
    key = next((known for known in charts if known.casefold() == title.casefold()), None)
    if key is None:
        raise unknown_choice(title, sorted(charts), f'the report has no chart "{visible(title)}"')
    chart, data = charts[key]
    return _plot("_".join(WORDS.findall(key.lower())), chart, list(MARKS[chart.kind](data)))


MARKS: Final[Mapping[str, Callable[[Data], Iterable[dict[str, Any]]]]] = {
    "lines": lambda data: (
        {"series": line.get("name") or "", "x": point[0], "y": point[1]}
        for line in data["series"]
        for point in line["points"]
    ),
    "distribution": lambda data: (
        {"name": part.get("name") or "", "low": low, "high": high, "n": n}
        for part in filter(None, (data, data.get("second")))
        for (low, high), n in zip(pairwise(data["edges"]), part["counts"], strict=True)
    ),
    "cloud": lambda data: (
        {"x": x, "x_end": x_end, "y": y, "y_end": y_end, "n": n}
        for (y, y_end), counts in zip(pairwise(data["y_edges"]), data["counts"], strict=True)
        for (x, x_end), n in zip(pairwise(data["x_edges"]), counts, strict=True)
    ),
    "dots": lambda data: (
        {"label": lane["label"], "value": value} for lane in data["lanes"] for value in lane["values"]
    ),
    "picture": lambda data: (
        {name: shape.get(name) for name in ("kind", "text", "x", "y", "w", "h", "points")}
        for shape in (*(data.get("contours") or ()), *(data.get("boxes") or ()))
    ),
    "intervals": lambda data: (
        {name: row.get(name) for name in ("label", "value", "low", "high")} for row in data["rows"]
    ),
    "matrix": lambda data: (
        {"row": row, "column": column, "text": cell.get("text"), "share": cell.get("share")}
        for row, cells in zip(data["rows"], data["cells"], strict=True)
        for column, cell in zip(data["columns"], cells, strict=True)
    ),
}
"""The numbers of a chart by its kind, a dictionary for each mark."""
NEEDS: Final = {
    **dict.fromkeys(
        ("roc", "precision_recall", "reliability"),
        ("{name} needs scores, and this result has none",
         "give score=..., such as the probability of the positive class"),
    ),
    "confusion": ("this result has no confusion matrix", "draw .plot.intervals() instead"),
}  # fmt: skip
"""Charts that only some Records have: what is said where there is none, and what to do."""


def plot(record: Record, name: str) -> Plot:
    """A chart of a Record by its name, or by the title that it has in the report."""
    if record["kind"] == "comparison" and name not in ("roc", "intervals"):
        what = f"a comparison has no plot {name}"
        raise PlanError("option-unknown", what, known="roc, intervals", fix="draw one of them")
    if name == "intervals":
        return intervals(record)
    if name not in NEEDS:
        return figure(record, name)
    drawn = find_task(str(record["task"])).plot(record, name) if record["task"] != VALUES else None
    if drawn is None and record["kind"] != "comparison":
        says, fix = NEEDS[name]
        raise PlanError("measure-needs", says.format(name=name), fix=fix)
    return _plot(name, *(drawn or (None, [])))
