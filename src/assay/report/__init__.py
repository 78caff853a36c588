# SPDX-License-Identifier: Apache-2.0
"""A Record made readable; nothing is computed again here.

Importing this package only introduces the renderers; each loads its module, and that one jinja2, when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeVar, cast

from assay.assess.record import Record
from assay.assess.rendering import BINARY, INTO, RENDERERS
from assay.core.errors import PlanError

Made = TypeVar("Made", str, bytes)


def _later(room: str, kind: type[Made], *, compared: str | None = None) -> Callable[[Record], Made]:
    """A renderer by `module.function`, and the one of a comparison where there is one."""
    del kind  # it tells the type checker what is made

    def render(record: Record) -> Made:
        chosen = compared if record["kind"] == "comparison" else room
        if chosen is None:
            raise PlanError(
                "option-unknown",
                "a comparison has no report of this kind",
                known=".html, .pdf, .md, .json, .csv, .parquet",
                fix="choose one of them, or report each model by itself",
            )
        module, _, function = chosen.rpartition(".")
        return cast("Callable[[Record], Made]", getattr(import_module(f"assay.report.{module}"), function))(record)

    return render


def _into(record: Record, text: str) -> str:
    _later("export.model_card.section", str)(record)  # a comparison has none, and is refused here
    return str(import_module("assay.report.export.model_card").into(record, text))


_markdown = _later("render.markdown.render", str, compared="render.comparisonpage.as_markdown")
RENDERERS.update(
    {
        ".html": _later("render.html.render", str, compared="render.comparisonpage.render"),
        ".md": _markdown,
        ".json": Record.to_text,
        ".csv": _later("estimate_table.as_csv", str, compared="estimate_table.as_csv"),
        ".cdx.json": _later("export.cyclonedx.render", str),
        "cyclonedx": _later("export.cyclonedx.render", str),
        "tripod-ai": _later("export.reporting_checklists.tripod_ai", str),
        "stard-ai": _later("export.reporting_checklists.stard_ai", str),
        "claim": _later("export.reporting_checklists.claim", str),
        "text/html": _later("render.notebook.render", str, compared="render.comparisonpage.notebook"),
        "text/markdown": _markdown,
        "text/plain": _later("render.terminal.summary", str, compared="render.comparisonpage.summary"),
    }
)
BINARY.update(
    {
        ".pdf": _later("render.pdf.render", bytes, compared="render.pdf.render_comparison"),
        ".parquet": _later("estimate_table.as_parquet", bytes, compared="estimate_table.as_parquet"),
    }
)
INTO.update({"modelcard": _into})
