# SPDX-License-Identifier: Apache-2.0
"""A Record made readable; nothing is computed again here.

Importing this package only introduces the renderers; each loads its module, and that one jinja2, when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from assay.assess.assessment import RENDERERS
from assay.assess.record import Record


def _later(module: str, function: str) -> Callable[[Record], str]:
    def render(record: Record) -> str:
        found = cast("Callable[[Record], str]", getattr(import_module(f"assay.report.{module}"), function))
        return found(record)

    return render


RENDERERS.update(
    {
        ".html": _later("html", "render"),
        ".md": _later("markdown", "render"),
        ".json": Record.to_text,
        "text/html": _later("notebook", "render"),
        "text/markdown": _later("markdown", "render"),
        "text/plain": _later("terminal", "summary"),
    }
)
