# SPDX-License-Identifier: Apache-2.0
"""A Record made readable; nothing is computed again here.

Importing this package only introduces the renderers; each loads its module when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from assay.assess.record.record import Record
from assay.assess.record.report_formats import BINARY, INTO, PLOTTERS, RENDERERS
from assay.core.errors import PlanError


def _later(place: str, *, compares: bool = True, **more: str) -> Callable[..., Any]:
    """A renderer by `module.function`; it refuses a comparison where it cannot draw one."""

    def render(record: Record, *texts: str) -> Any:  # noqa: ANN401  text or bytes
        if record["kind"] == "comparison" and not compares:
            what = "a comparison has no report of this kind"
            fix = "choose one of them, or report each model by itself"
            raise PlanError("option-unknown", what, known=".html, .pdf, .md, .json, .csv, .parquet", fix=fix)
        module, _, function = place.rpartition(".")
        return getattr(import_module(f"assay.report.{module}"), function)(record, *texts, **more)

    return render


RENDERERS.update(
    {
        ".html": _later("render.html.render"),
        ".md": _later("render.markdown.render"),
        ".json": Record.to_text,
        ".csv": _later("estimate_table.as_csv"),
        ".cdx.json": _later("export.cyclonedx.render", compares=False),
        "cyclonedx": _later("export.cyclonedx.render", compares=False),
        **{
            name: _later("export.reporting_checklists.render", compares=False, name=name)
            for name in ("tripod-ai", "stard-ai", "claim")
        },
        "text/html": _later("render.html.fragment"),
        "text/markdown": _later("render.markdown.render"),
        "text/plain": _later("render.terminal.summary"),
    }
)
BINARY.update(
    {
        ".pdf": _later("render.pdf.render"),
        ".parquet": _later("estimate_table.as_parquet"),
    }
)
INTO["modelcard"] = _later("export.model_card.into", compares=False)
PLOTTERS["plot"] = lambda record, name: import_module("assay.report.plot").plot(record, name)
