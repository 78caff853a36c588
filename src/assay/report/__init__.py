# SPDX-License-Identifier: Apache-2.0
"""A Record made readable; nothing is computed again here.

Importing this package only introduces the renderers; each loads its module, and that one jinja2, when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeVar, cast

from assay.assess.record import Record
from assay.assess.rendering import BINARY, RENDERERS

Made = TypeVar("Made", str, bytes)


def _later(module: str, function: str, kind: type[Made], *, compared: str) -> Callable[[Record], Made]:
    """A renderer of assessments; a comparison has one of its own."""
    del kind  # it tells the type checker what is made

    def render(record: Record) -> Made:
        room, name = ("comparisonpage", compared) if record["kind"] == "comparison" else (module, function)
        found = cast("Callable[[Record], Made]", getattr(import_module(f"assay.report.{room}"), name))
        return found(record)

    return render


RENDERERS.update(
    {
        ".html": _later("html", "render", str, compared="render"),
        ".md": _later("markdown", "render", str, compared="as_markdown"),
        ".json": Record.to_text,
        "text/html": _later("notebook", "render", str, compared="notebook"),
        "text/markdown": _later("markdown", "render", str, compared="as_markdown"),
        "text/plain": _later("terminal", "summary", str, compared="summary"),
    }
)
BINARY.update({".pdf": _later("pdf", "render", bytes, compared="as_pdf")})
