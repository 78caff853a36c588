# SPDX-License-Identifier: Apache-2.0
"""At which line of a plan each key stands, so that an error can name its line.

Parsers of the standard library tell no positions; this walk over the tokens does, for TOML and JSON alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from assay.core.errors import PlanError

Path: TypeAlias = tuple[str | int, ...]
DEEPEST: Final = 32

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


def _tokens(text: str, *, comments: bool) -> Iterator[Token]:
    line, depth, dots = 1, 0, 0
    for found in _TOKEN.finditer(text):
        kind, piece = found.lastgroup or "other", found.group()
        if kind == "mark":  # refused while reading, so that a bomb is never held as a whole
            depth = max(0, depth + (piece in "[{") - (piece in "]}"))
            dots = dots + 1 if piece == "." else 0
            if max(depth, dots) > DEEPEST:
                raise too_deep(line)
        if kind == "comment" and not comments:
            kind = "other"
        if kind == "line" or not (kind == "other" and piece.isspace()):
            yield Token(kind, piece, line)
        line += piece.count("\n")


def toml_spots(text: str) -> Spots:
    """The lines of a TOML document."""
    walk = _Walk(list(_tokens(text, comments=True)))
    walk.statements()
    return Spots(walk.lines)


def json_spots(text: str) -> Spots:
    """The lines of a JSON document."""
    walk = _Walk([one for one in _tokens(text, comments=False) if one.kind != "line"])
    walk.value((), until_line=False)
    return Spots(walk.lines)


class _Walk:
    """Goes over the tokens once and notes where every path begins; what is malformed is left to the parser."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.at = tokens, 0
        self.lines: dict[Path, int] = {}
        self._tables: dict[Path, int] = {}

    def _next(self) -> Token | None:
        if self.at >= len(self.tokens):
            return None
        self.at += 1
        return self.tokens[self.at - 1]

    def statements(self) -> None:
        """Headers and keys of a TOML document, one statement a line."""
        table: Path = ()
        while (token := self._next()) is not None:
            if token.kind in ("line", "comment"):
                continue
            if token.text == "[":
                table = self._header(token.line)
            else:
                self.at -= 1
                key = self._key("=")
                if key:
                    self._note((*table, *key), token.line, from_depth=len(table))
                    self.value((*table, *key), until_line=True)
            self._skip_line()

    def _header(self, line: int) -> Path:
        many = self.at < len(self.tokens) and self.tokens[self.at].text == "["
        self.at += many
        path: Path = ()
        key = self._key("]")
        for place, part in enumerate(key):
            path = (*path, part)
            last = place == len(key) - 1
            if last and many:
                self._tables[path] = self._tables.get(path, -1) + 1
            if path in self._tables:
                self.lines.setdefault(path, line)
                path = (*path, self._tables[path])
        self._note(path, line)
        return path

    def _key(self, *ends: str) -> list[str]:
        """Parts of a dotted key up to its end mark."""
        parts: list[str] = []
        while (token := self._next()) is not None and token.text not in ends and token.kind != "line":
            if token.kind in ("word", "text"):
                parts.append(token.text[1:-1] if token.kind == "text" else token.text)
        return parts

    def _note(self, path: Path, line: int, from_depth: int = 0) -> None:
        for depth in range(from_depth + 1, len(path) + 1):
            self.lines.setdefault(path[:depth], line)

    def value(self, path: Path, *, until_line: bool) -> None:
        """Arrays and inline tables below a path, without recursion."""
        stack: list[tuple[str, Path, int]] = []
        here, expects = path, False
        while (token := self._next()) is not None:
            if token.kind == "line" and until_line and not stack:
                self.at -= 1
                return
            if token.kind in ("line", "comment"):
                continue
            if token.text in ("[", "{") and token.kind == "mark":
                stack.append((token.text, here, 0))
                expects = token.text == "{"
                here = (*here, 0) if token.text == "[" else here
            elif token.text in ("]", "}") and token.kind == "mark":
                if stack:
                    here = stack.pop()[1]
                expects = False
            elif token.text == "," and stack:
                kind, base, number = stack[-1]
                stack[-1] = (kind, base, number + 1)
                expects = kind == "{"
                here = (*base, number + 1) if kind == "[" else base
            elif expects and token.kind in ("word", "text"):
                base = stack[-1][1]
                self.at -= 1
                here = (*base, *self._key("=", ":", ",", "}"))
                self._note(here, token.line, from_depth=len(base))
                expects = False
            else:
                self.lines.setdefault(here, token.line)

    def _skip_line(self) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at].kind != "line":
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
