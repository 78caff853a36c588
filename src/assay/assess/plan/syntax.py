# SPDX-License-Identifier: Apache-2.0
"""A plan file as one document of plain values: TOML, strict JSON, or YAML by the rules of 1.2 without aliases."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final

from assay.assess.plan.line_numbers import DEEPEST, Path, Spots, json_spots, toml_spots, too_deep
from assay.core.errors import PlanError, RecordError
from assay.core.json_text import is_deeper, strict_json
from assay.core.text import visible

LARGEST: Final = 256 * 2**10
"""Bytes a plan may have: a hundred times the longest one that makes sense."""
FORMATS: Final = {".toml": "TOML", ".json": "JSON", ".yaml": "YAML", ".yml": "YAML"}

_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]*")
_REAL: Final = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanText:
    """What a plan file says, before anybody asked whether it makes sense."""

    path: str
    format: str
    document: dict[str, Any]
    spots: Spots
    raw: bytes


def is_plan(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a plan by its name; predictions come as .csv, .parquet, .jsonl or .arrow.

    >>> is_plan("plan.toml"), is_plan("predictions.jsonl")
    (True, False)
    """
    return FilePath(path).suffix.lower() in FORMATS


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
    document, spots = {"TOML": _toml, "JSON": _json, "YAML": _yaml}[form](text, shown)
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


def _yaml(text: str, shown: str) -> tuple[Any, Spots]:
    try:
        import yaml
    except ImportError:
        raise PlanError(
            "missing-extra", "a YAML plan needs pyyaml to be read", fix='pip install "assay[yaml]", or write TOML'
        ) from None
    try:
        return _Composer(shown).compose(yaml.parse(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise _unreadable(shown, "the plan is not YAML", " ".join(str(error).split())) from None


class _Composer:
    """Builds values from YAML events: 1.2 core types, numbers that would change when written back stay text."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._lines: dict[Path, int] = {}

    def compose(self, events: Any) -> tuple[Any, Spots]:  # noqa: ANN401  a generator of PyYAML
        root: list[Any] = []
        stack: list[tuple[Any, Path]] = [(root, ())]
        keys: list[str | None] = [None]
        for event in events:
            kind, line = type(event).__name__, event.start_mark.line + 1
            if kind == "AliasEvent" or getattr(event, "anchor", None) is not None:
                raise _unreadable(self._shown, "a plan has no anchors and aliases", f"line {line}")
            if getattr(event, "tag", None) is not None and kind != "ScalarEvent":
                raise _unreadable(self._shown, "a plan has no tags", f"line {line}")
            if kind in ("SequenceEndEvent", "MappingEndEvent"):
                stack.pop()
                keys.pop()
            if kind not in ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent"):
                continue
            holder, base = stack[-1]
            if isinstance(holder, dict) and keys[-1] is None:
                keys[-1] = self._key(event, holder, line)
                continue
            value = {"SequenceStartEvent": list, "MappingStartEvent": dict}.get(kind, lambda e=event: _scalar(e))()
            path = self._put(holder, base, keys, value, line)
            if kind != "ScalarEvent":
                stack.append((value, path))
                keys.append(None)
                if len(stack) > DEEPEST:
                    raise too_deep(line)
        if len(root) != 1:
            raise _unreadable(self._shown, "the plan holds no document, or several", f"{len(root)} documents")
        return root[0], Spots(self._lines)

    def _key(self, event: Any, holder: dict[str, Any], line: int) -> str:  # noqa: ANN401
        if type(event).__name__ != "ScalarEvent":
            raise _unreadable(self._shown, "a key is not a word", f"line {line}")
        if event.value in holder:
            raise _unreadable(self._shown, f'the key "{visible(event.value)}" stands twice', f"line {line}")
        return str(event.value)

    def _put(self, holder: Any, base: Path, keys: list[str | None], value: object, line: int) -> Path:  # noqa: ANN401
        if isinstance(holder, dict):
            path: Path = (*base, str(keys[-1]))
            holder[str(keys[-1])] = value
            keys[-1] = None
        else:
            path = (*base, len(holder)) if base or len(holder) else ()
            holder.append(value)
        self._lines[path] = line
        return path


def _scalar(event: Any) -> object:  # noqa: ANN401
    """A scalar by YAML 1.2; `no` is text, and 1.10 or 012 stay as they are written."""
    text = str(event.value)
    if event.style is not None or event.tag is not None:
        return text
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return text.lower() == "true"
    if _WHOLE.fullmatch(text) and len(text) < 20:  # noqa: PLR2004  longer ones no reader keeps exact
        return int(text)
    if _REAL.fullmatch(text) and repr(float(text)) == text:
        return float(text)
    return text


def _unreadable(shown: str, what: str, found: str) -> PlanError:
    return PlanError(
        "plan-unreadable", what, where=visible(shown), found=visible(found) if found else None, fix="correct the plan"
    )
