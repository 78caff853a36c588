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


class Spots:
    """The line of every path, from one walk over the tokens; what is malformed is left to the parser."""

    def __init__(self, text: str, form: str = "TOML") -> None:
        self._lines: dict[Path, int] = {}
        self._last: dict[Path, int] = {}
        """Places of the last tables of lists of tables."""
        self._table: Path = ()
        self._walk(text, toml=form == "TOML")

    def line(self, path: Path) -> int:
        r"""The line a path stands at, from 1; without one of its own, that of the nearest part above it.

        >>> Spots("[a]\nb = 1\n").line(("a", "b"))
        2
        """
        return next((self._lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self._lines), 1)

    def _walk(self, text: str, *, toml: bool) -> None:  # noqa: C901  one branch for each kind of token
        line, dots, header, keys = 1, 0, 0, list[str]()
        inside: list[tuple[Path, int | None]] = []  # open brackets: what stands there, and the place in a list
        here: Path = ()  # the path that is read
        value = not toml  # whether its value comes
        for match in _TOKEN.finditer(text):
            kind, piece = match.lastgroup, match.group()
            dots = dots + 1 if piece == "." else dots if kind in ("word", "text") else 0
            if max(len(inside), dots) > DEEPEST:  # refused while reading, so that a bomb is never held as a whole
                raise too_deep(line)
            above = inside[-1][0] if inside else self._table
            if kind == "line" and toml and not inside:
                keys, header, value = [], 0, False
            elif kind in ("word", "text") and not value:
                keys.append(piece[1:-1] if kind == "text" else piece)
                if not header:
                    self._lines.setdefault((*above, *keys), line)
            elif kind in ("word", "text"):
                self._lines.setdefault(here, line)
            elif piece == "[" and not value and not inside and not keys:
                header += 1
            elif piece in ("[", "{"):
                self._lines.setdefault(here, line)
                inside.append((here, 0 if piece == "[" else None))
                here, keys, value = (*here, 0), [], piece == "["
            elif piece == "]" and header:
                self._enter(keys, line, many=header > 1)
                header = 0
            elif piece in ("]", "}") and inside:
                here, _ = inside.pop()
            elif piece == "," and inside:
                path, place = inside.pop()
                inside.append((path, None if place is None else place + 1))
                here, keys, value = (*path, (place or 0) + 1), [], place is not None
            elif piece in ("=", ":") and not value:
                here, keys, value = (*above, *keys), [], True
            line += piece.count("\n")

    def _enter(self, keys: list[str], line: int, *, many: bool) -> None:
        """The table of a header."""
        path: Path = ()
        for depth, part in enumerate(keys, start=1):
            path = (*path, part)
            if many and depth == len(keys):
                self._last[path] = self._last.get(path, -1) + 1
            self._lines.setdefault(path, line)
            path = (*path, self._last[path]) if path in self._last else path
        self._lines.setdefault(path, line)
        self._table = path


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
    """Read a plan file; what is not a document at all is refused here."""
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
        raise PlanError(
            "plan-too-large",
            "the file is larger than any plan",
            where=visible(shown),
            found=f"{max(size, len(raw)):,} bytes",
            known=f"at most {LARGEST:,} bytes",
            fix="give a plan; data belong in files that the plan names",
        )
    return raw


def _unreadable(shown: str, what: str, found: str) -> PlanError:
    return PlanError(
        "plan-unreadable", what, where=visible(shown), found=visible(found) if found else None, fix="correct the plan"
    )


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
            inside = [(path, _entries(node)) for path, node in nodes]
            nodes = [
                ((*path, key), key if part == "@" else value)
                for path, entries in inside
                for key, value in (entries.items() if part in ("*", "@") else [(part, entries.get(part))])
                if part in ("*", "@") or part in entries
            ]
        yield from nodes


def _entries(node: object) -> dict[Any, Any]:
    return node if isinstance(node, dict) else dict(enumerate(node)) if isinstance(node, list) else {}


def items(value: object) -> list[Any]:
    """A list as it is; nothing where there is none."""
    return value if isinstance(value, list) else []


def unknown(path: Path, what: str, word: object, known: Iterable[object]) -> Problem:
    """A name that is not among the known ones."""
    names = [str(one) for one in known]
    close = nearest(str(word), names)
    return Problem(
        path,
        f"{what} {quoted(word)}",
        f'did you mean "{visible(close)}"?' if close else None,
        known=listed(names, most=12) or "none",
    )
