# SPDX-License-Identifier: Apache-2.0
"""A plan file as one document of plain values: TOML or strict JSON."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final

from assay.assess.plan.line_numbers import DEEPEST, Spots, json_spots, toml_spots, too_deep
from assay.core.errors import PlanError, RecordError
from assay.core.json_text import is_deeper, strict_json
from assay.core.text import visible

LARGEST: Final = 256 * 2**10
"""Bytes a plan may have: a hundred times the longest one that makes sense."""
FORMATS: Final = {".toml": "TOML", ".json": "JSON"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanText:
    """What a plan file says, before anybody asked whether it makes sense."""

    path: str
    format: str
    document: dict[str, Any]
    spots: Spots
    raw: bytes


def read_text(path: str | os.PathLike[str]) -> PlanText:
    """Read a plan file; what is no document at all is refused here."""
    shown = os.fspath(path)
    form = FORMATS.get(FilePath(path).suffix.lower())
    if form is None:
        raise PlanError(
            "plan-unreadable",
            "the file does not end like a plan",
            where=visible(shown),
            known=", ".join(FORMATS),
            fix="write the plan as TOML",
        )
    raw = _bytes(shown)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(shown, "the plan is not UTF-8 text", str(error)) from None
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").replace("\r\n", "\n")
    document, spots = (_toml if form == "TOML" else _json)(text, shown)
    if not isinstance(document, dict):
        raise _unreadable(shown, "the plan is not a table of sections", type(document).__name__)
    if is_deeper(document, DEEPEST):
        raise too_deep(1)
    return PlanText(path=shown, format=form, document=document, spots=spots, raw=raw)


def _bytes(shown: str) -> bytes:
    try:
        size = FilePath(shown).stat().st_size
        if size > LARGEST:
            raise PlanError(
                "plan-too-large",
                "the file is larger than any plan",
                where=visible(shown),
                found=f"{size:,} bytes",
                known=f"at most {LARGEST:,} bytes",
                fix="give a plan; data belong in files that the plan names",
            )
        with FilePath(shown).open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise PlanError(
            "no-file", f"cannot read {visible(shown)}", where=visible(shown), found=error.strerror, fix="give a plan"
        ) from error
    if len(raw) > LARGEST:  # a pipe or a file that grows has no honest size
        raise PlanError("plan-too-large", "the file is larger than any plan", where=visible(shown), fix="give a plan")
    return raw


def _toml(text: str, shown: str) -> tuple[Any, Spots]:
    spots = toml_spots(text)
    try:
        return tomllib.loads(text), spots
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(shown, "the plan is not TOML", str(error)) from None
    except RecursionError:
        raise too_deep(1) from None


def _json(text: str, shown: str) -> tuple[Any, Spots]:
    spots = json_spots(text)
    try:
        return strict_json(text, shown), spots
    except RecordError as error:
        raise _unreadable(shown, error.what, error.found or "") from None


def _unreadable(shown: str, what: str, found: str) -> PlanError:
    return PlanError(
        "plan-unreadable", what, where=visible(shown), found=visible(found) if found else None, fix="correct the plan"
    )
