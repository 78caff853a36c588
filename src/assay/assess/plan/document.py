# SPDX-License-Identifier: Apache-2.0
"""How the rules read a document as it is written, and how they tell what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from assay.assess.plan.syntax import Path
from assay.core.text import listed, nearest, quoted, visible

ROLES: Final = ("train", "validation", "test")


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
