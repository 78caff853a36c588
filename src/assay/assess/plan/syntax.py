# SPDX-License-Identifier: Apache-2.0
"""A plan file as one document of plain values, TOML or strict JSON, and the line at which each key stands.

Parsers of the standard library tell no positions; a walk over the tokens does, for TOML and JSON alike.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final, TypeAlias

from assay.core.errors import PlanError, RecordError
from assay.core.json_text import is_deeper, strict_json
from assay.core.text import visible

Path: TypeAlias = tuple[str | int, ...]
DEEPEST: Final = 32
LARGEST: Final = 256 * 2**10
"""Bytes a plan may have: a hundred times the longest one that makes sense."""
FORMATS: Final = {".toml": "TOML", ".json": "JSON"}

_TOKEN: Final = re.compile(
    r'(?P<text>"""(?:[^"\\]|\\.|"(?!""))*"{3,5}|\'\'\'(?:[^\']|\'(?!\'\'))*\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
    r"|(?P<word>[A-Za-z0-9_+\-]+)|(?P<mark>[\[\]{}=:,.])|(?P<line>\n)|(?P<comment>#[^\n]*)|(?P<other>[^\n])",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a plan and its line."""

    kind: str
    text: str
    line: int


class Spots:
    """Lines by path; a path without a line of its own has that of the nearest part above it."""

    def __init__(self, lines: dict[Path, int]) -> None:
        self._lines = lines

    def line(self, path: Path) -> int:
        r"""The line a path stands at, from 1.

        >>> toml_spots("[a]\nb = 1\n").line(("a", "b"))
        2
        """
        for end in range(len(path), 0, -1):
            if path[:end] in self._lines:
                return self._lines[path[:end]]
        return 1


def _tokens(text: str) -> Iterator[Token]:
    line, depth, dots = 1, 0, 0
    for found in _TOKEN.finditer(text):
        kind, piece = found.lastgroup or "other", found.group()
        if kind == "mark":  # refused while reading, so that a bomb is never held as a whole
            depth = max(0, depth + (piece in "[{") - (piece in "]}"))
            dots = dots + 1 if piece == "." else 0
            if max(depth, dots) > DEEPEST:
                raise too_deep(line)
        if kind != "comment" and not (kind == "other" and piece.isspace()):
            yield Token(kind, piece, line)
        line += piece.count("\n")
    yield Token("end", "", line)


def toml_spots(text: str) -> Spots:
    """The lines of a TOML document."""
    walk = _Walk(list(_tokens(text)))
    walk.statements()
    return Spots(walk.lines)


def json_spots(text: str) -> Spots:
    """The lines of a JSON document."""
    walk = _Walk([token for token in _tokens(text) if token.kind != "line"])
    walk.value((), inside=True)
    return Spots(walk.lines)


class _Walk:
    """Goes over the tokens once and notes where every path begins; what is malformed is left to the parser."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.at = tokens, 0
        self.lines: dict[Path, int] = {}
        self._last: dict[Path, int] = {}
        """Places of the last tables of lists of tables."""

    def _next(self, *, inside: bool = False) -> Token:
        """The next token, the one at the end again and again; inside brackets line ends are nothing."""
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return self._next(inside=True) if inside and token.kind == "line" else token

    def statements(self) -> None:
        """Headers and keys of a TOML document, one statement a line."""
        table: Path = ()
        while (token := self._next()).kind != "end":
            if token.text == "[":
                table = self._header(token.line)
            elif token.kind != "line":
                self.at -= 1
                self.value(self._key(table, "="))
            while token.kind not in ("line", "end"):
                token = self._next()

    def _header(self, line: int) -> Path:
        many = self.tokens[self.at].text == "["
        self.at += many
        path: Path = ()
        keys = self._key((), "]")
        for depth, part in enumerate(keys, start=1):
            path = (*path, part)
            if many and depth == len(keys):
                self._last[path] = self._last.get(path, -1) + 1
            self.lines.setdefault(path, line)
            path = (*path, self._last[path]) if path in self._last else path
        self.lines.setdefault(path, line)
        return path

    def _key(self, above: Path, *ends: str) -> Path:
        """The path of a dotted key, which goes on to its end mark, below another."""
        path = above
        while (token := self._next()).text not in ends and token.kind not in ("line", "end"):
            if token.kind in ("word", "text"):
                path = (*path, token.text[1:-1] if token.kind == "text" else token.text)
                if ends != ("]",):
                    self.lines.setdefault(path, token.line)
        return path

    def value(self, path: Path, *, inside: bool = False) -> None:
        """A value, with what stands in arrays and inline tables below its path; no deeper than tokens may be."""
        opened, place = self._next(inside=inside), 0
        self.lines.setdefault(path, opened.line)
        while opened.text in ("[", "{") and (token := self._next(inside=True)).text not in ("]", "}", ""):
            if token.text == ",":
                place += 1
            else:
                self.at -= 1
                self.value((*path, place) if opened.text == "[" else self._key(path, "=", ":"), inside=True)
        while self.tokens[self.at].text not in (",", "]", "}", "", "\n"):
            self.at += 1


def too_deep(line: int) -> PlanError:
    """A plan nested past any sense."""
    return PlanError(
        "plan-too-deep",
        "the plan is nested too deeply",
        where=f"line {line}",
        known=f"at most {DEEPEST} levels",
        fix="write the plan as `assay init` does",
    )


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
