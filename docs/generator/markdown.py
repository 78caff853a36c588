# SPDX-License-Identifier: Apache-2.0
"""Markdown as the pages need it: blocks, tables, sentences, anchors."""

from __future__ import annotations

import re
from collections.abc import Iterable


def block(language: str, text: str) -> list[str]:
    """A fenced block."""
    return [f"```{language}", *text.split("\n"), "```"]


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """A table without the rows that say nothing."""
    shown = [[cell.replace("|", "\\|") for cell in row] for row in rows if any(row[1:])]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *shown)]


def plain(text: str) -> str:
    """Text in which no character outside of code is taken for markup."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*<])", r"\\\1", part) for part in parts)


def sentences(text: str) -> list[str]:
    """One sentence a line."""
    return re.split(r"(?<=[a-z0-9)\]`%][.!?]) (?=[A-Z`])", text)


def slug(heading: str) -> str:
    """The anchor a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
