# SPDX-License-Identifier: Apache-2.0
"""A plan file as one document of plain values, TOML or strict JSON; where things stand in it, and what is wrong there.

Parsers of the standard library tell no positions; a walk over the tokens does, for TOML and JSON alike.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final, TypeAlias

from assay.core.errors import PlanError, RecordError
from assay.core.json_text import is_deeper, strict_json
from assay.core.text import listed, nearest, quoted, visible

Path: TypeAlias = tuple[str | int, ...]
DEEPEST: Final = 32
ROLES: Final = ("train", "validation", "test")
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


class Spots:
    """The line of every path, from one walk over the tokens; what is malformed is left to the parser."""

    def __init__(self, text: str, form: str = "TOML") -> None:
        toml = form == "TOML"
        self._tokens, self._at = [token for token in _tokens(text) if toml or token.kind != "line"], 0
        self._lines: dict[Path, int] = {}
        self._last: dict[Path, int] = {}
        """Places of the last tables of lists of tables."""
        if toml:
            self._statements()
        else:
            self._value((), inside=True)

    def line(self, path: Path) -> int:
        r"""The line a path stands at, from 1; without one of its own, that of the nearest part above it.

        >>> Spots("[a]\nb = 1\n").line(("a", "b"))
        2
        """
        return next((self._lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self._lines), 1)

    def _next(self, *, inside: bool = False) -> Token:
        """The next token, the one at the end again and again; inside brackets line ends are nothing."""
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return self._next(inside=True) if inside and token.kind == "line" else token

    def _statements(self) -> None:
        """Headers and keys of a TOML document, one statement a line."""
        table: Path = ()
        while (token := self._next()).kind != "end":
            if token.text == "[":
                table = self._header(token.line)
            elif token.kind != "line":
                self._at -= 1
                self._value(self._key(table, "="))
            while token.kind not in ("line", "end"):
                token = self._next()

    def _header(self, line: int) -> Path:
        many = self._tokens[self._at].text == "["
        self._at += many
        path: Path = ()
        keys = self._key((), "]")
        for depth, part in enumerate(keys, start=1):
            path = (*path, part)
            if many and depth == len(keys):
                self._last[path] = self._last.get(path, -1) + 1
            self._lines.setdefault(path, line)
            path = (*path, self._last[path]) if path in self._last else path
        self._lines.setdefault(path, line)
        return path

    def _key(self, above: Path, *ends: str) -> Path:
        """The path of a dotted key, which goes on to its end mark, below another."""
        path = above
        while (token := self._next()).text not in ends and token.kind not in ("line", "end"):
            if token.kind in ("word", "text"):
                path = (*path, token.text[1:-1] if token.kind == "text" else token.text)
                if ends != ("]",):
                    self._lines.setdefault(path, token.line)
        return path

    def _value(self, path: Path, *, inside: bool = False) -> None:
        """A value, with what stands in arrays and inline tables below its path; no deeper than tokens may be."""
        opened, place = self._next(inside=inside), 0
        self._lines.setdefault(path, opened.line)
        while opened.text in ("[", "{") and (token := self._next(inside=True)).text not in ("]", "}", ""):
            if token.text == ",":
                place += 1
            else:
                self._at -= 1
                self._value((*path, place) if opened.text == "[" else self._key(path, "=", ":"), inside=True)
        while self._tokens[self._at].text not in (",", "]", "}", "", "\n"):
            self._at += 1


def too_deep(line: int) -> PlanError:
    """A plan nested past any sense."""
    what, fix = "the plan is nested too deeply", "write the plan as `assay init` does"
    return PlanError("plan-too-deep", what, where=f"line {line}", known=f"at most {DEEPEST} levels", fix=fix)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanText:
    """What a plan file says, before anybody asked whether it makes sense."""

    path: str
    format: str
    document: dict[str, Any]
    spots: Spots
    raw: bytes


def read_text(path: str | os.PathLike[str]) -> PlanText:
    """Read a plan file; what is not a document at all is refused here."""
    shown = os.fspath(path)
    form = FORMATS.get(FilePath(path).suffix.lower())
    if form is None:
        what, known = "the file does not end like a plan", ", ".join(FORMATS)
        raise PlanError("plan-unreadable", what, where=visible(shown), known=known, fix="write the plan as TOML")
    raw = _bytes(shown)
    try:
        text = raw.decode("utf-8").removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").replace("\r\n", "\n")
        spots = Spots(text, form)
        document = tomllib.loads(text) if form == "TOML" else strict_json(text, shown)
    except UnicodeDecodeError as error:
        raise _unreadable(shown, "the plan is not UTF-8 text", str(error)) from None
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(shown, "the plan is not TOML", str(error)) from None
    except RecordError as error:
        raise _unreadable(shown, error.what, error.found or "") from None
    except RecursionError:
        raise too_deep(1) from None
    if not isinstance(document, dict):
        raise _unreadable(shown, "the plan is not a table of sections", type(document).__name__)
    if is_deeper(document, DEEPEST):
        raise too_deep(1)
    return PlanText(path=shown, format=form, document=document, spots=spots, raw=raw)


def _bytes(shown: str) -> bytes:
    raw = b""
    try:
        size = FilePath(shown).stat().st_size
        if size <= LARGEST:
            with FilePath(shown).open("rb") as file:
                raw = file.read(LARGEST + 1)  # a pipe has no size
    except OSError as error:
        raise PlanError(
            "no-file", f"cannot read {visible(shown)}", where=visible(shown), found=error.strerror, fix="give a plan"
        ) from error
    if max(size, len(raw)) > LARGEST:
        what, known = "the file is larger than any plan", f"at most {LARGEST:,} bytes"
        fix = "give a plan; data belong in files that the plan names"
        raise PlanError(
            "plan-too-large", what, where=visible(shown), found=f"{max(size, len(raw)):,} bytes", known=known, fix=fix
        )
    return raw


def _unreadable(shown: str, what: str, found: str) -> PlanError:
    fix = "correct the plan"
    return PlanError("plan-unreadable", what, where=visible(shown), found=visible(found) if found else None, fix=fix)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and where."""

    path: Path
    what: str
    fix: str | None = None
    known: str | None = None
    line: int = 1

    def said(self) -> str:
        """In one line."""
        place = ".".join(visible(part) for part in self.path) or "the plan"
        tail = "; ".join(filter(None, (self.fix, f"known: {self.known}" if self.known else None)))
        return f"line {self.line}: {place}: {self.what}" + (f" ({tail})" if tail else "")

    def to_json(self) -> dict[str, object]:
        """For machines."""
        return {"line": self.line, "path": list(self.path), "what": self.what, "known": self.known, "fix": self.fix}


def table(document: Any, *path: str) -> dict[str, Any]:  # noqa: ANN401  a document as written
    """The table at a path; an empty one where there is none."""
    for part in path:
        document = document.get(part) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def tables(document: Any, *path: str) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401
    """The tables below a path, by name."""
    yield from ((name, one) for name, one in table(document, *path).items() if isinstance(one, dict))


def places(document: Any, *patterns: str) -> Iterator[tuple[Path, Any]]:  # noqa: ANN401
    """The paths that stand in a document, with their values; `*` means every key or item, `@` every key as a value.

    >>> list(places({"models": {"A": {"score": "s"}, "B": {}}}, "models.*.score", "models.@"))
    [(('models', 'A', 'score'), 's'), (('models', 'A'), 'A'), (('models', 'B'), 'B')]
    """
    for pattern in patterns:
        nodes: list[tuple[Path, Any]] = [((), document)]
        for part in pattern.split("."):
            inside = [(path, entries(node)) for path, node in nodes]
            nodes = [
                ((*path, key), key if part == "@" else value)
                for path, known in inside
                for key, value in (known.items() if part in ("*", "@") else [(part, known.get(part))])
                if part in ("*", "@") or part in known
            ]
        yield from nodes


def entries(node: object) -> dict[Any, Any]:
    """What a table or a list holds, by key or place; nothing where it is neither."""
    return node if isinstance(node, dict) else dict(enumerate(node)) if isinstance(node, list) else {}


def items(value: object) -> list[Any]:
    """A list as it is; nothing where there is none."""
    return value if isinstance(value, list) else []


def unknown(path: Path, what: str, word: object, known: Iterable[object]) -> Problem:
    """A name that is not among the known ones."""
    names = [str(one) for one in known]
    close = nearest(str(word), names)
    fix = f'did you mean "{visible(close)}"?' if close else None
    return Problem(path, f"{what} {quoted(word)}", fix, known=listed(names, most=12) or "none")
