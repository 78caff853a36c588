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


def _later(module: str, function: str, kind: type[Made]) -> Callable[[Record], Made]:
    del kind  # it tells the type checker what is made

    def render(record: Record) -> Made:
        found = cast("Callable[[Record], Made]", getattr(import_module(f"assay.report.{module}"), function))
        return found(record)

    return render


RENDERERS.update(
    {
        ".html": _later("html", "render", str),
        ".md": _later("markdown", "render", str),
        ".json": Record.to_text,
        "text/html": _later("notebook", "render", str),
        "text/markdown": _later("markdown", "render", str),
        "text/plain": _later("terminal", "summary", str),
    }
)
BINARY.update({".pdf": _later("pdf", "render", bytes)})
