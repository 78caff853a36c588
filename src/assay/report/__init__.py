# SPDX-License-Identifier: Apache-2.0
"""A Record made readable; nothing is computed again here.

Importing this package only introduces the renderers; each loads its module when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeVar, cast

from assay.assess.record.record import Record
from assay.assess.record.report_formats import BINARY, INTO, PLOTTERS, RENDERERS
from assay.core.errors import PlanError

Made = TypeVar("Made", str, bytes)


def _later(place: str, kind: type[Made], *, compares: bool = True, **more: str) -> Callable[[Record], Made]:
    """A renderer by `module.function`; it refuses a comparison where it cannot draw one."""
    del kind  # it tells the type checker what is made

    def render(record: Record) -> Made:
        if record["kind"] == "comparison" and not compares:
            raise PlanError(
                "option-unknown",
                "a comparison has no report of this kind",
                known=".html, .pdf, .md, .json, .csv, .parquet",
                fix="choose one of them, or report each model by itself",
            )
        module, _, function = place.rpartition(".")
        return cast("Made", getattr(import_module(f"assay.report.{module}"), function)(record, **more))

    return render


def _into(record: Record, text: str) -> str:
    _later("export.model_card.section", str, compares=False)(record)  # a comparison has none, and is refused here
    return str(import_module("assay.report.export.model_card").into(record, text))


RENDERERS.update(
    {
        ".html": _later("render.html.render", str),
        ".md": _later("render.markdown.render", str),
        ".json": Record.to_text,
        ".csv": _later("estimate_table.as_csv", str),
        ".cdx.json": _later("export.cyclonedx.render", str, compares=False),
        "cyclonedx": _later("export.cyclonedx.render", str, compares=False),
        **{
            name: _later("export.reporting_checklists.render", str, compares=False, name=name)
            for name in ("tripod-ai", "stard-ai", "claim")
        },
        "text/html": _later("render.notebook.render", str),
        "text/markdown": _later("render.markdown.render", str),
        "text/plain": _later("render.terminal.summary", str),
    }
)
BINARY.update(
    {
        ".pdf": _later("render.pdf.render", bytes),
        ".parquet": _later("estimate_table.as_parquet", bytes),
    }
)
INTO.update({"modelcard": _into})
PLOTTERS["plot"] = lambda record, name: import_module("assay.report.plot").plot(record, name)
