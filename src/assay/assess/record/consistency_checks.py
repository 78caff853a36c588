# SPDX-License-Identifier: Apache-2.0
"""Whether the parts of a Record agree with each other: row accounting, cells and rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.errors import AssayError
from assay.core.text import visible
from assay.tally.base import count_from_json
from assay.tally.scores.score_tally import Scores

BROKEN: Final = (AssayError, KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)
"""What rebuilding a Record from malformed content may raise."""
DIGEST: Final = "the digest does not fit the content"
OTHER_ROWS: Final = "the tally holds other rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A place of the Record whose content is not what it should be."""

    path: str
    stored: object
    recomputed: object
    why: str

    def to_json(self) -> dict[str, object]:
        """For machines."""
        return {"path": self.path, "stored": self.stored, "recomputed": self.recomputed, "why": self.why}

    def said(self) -> str:
        """One line for people."""
        if self.why == DIGEST:  # two digests tell a reader nothing
            return f"{self.path}: {self.why}"
        return f"{self.path}: stored {_shown(self.stored)}, should be {_shown(self.recomputed)} ({self.why})"


def accounted(record: Record) -> Iterator[Mismatch]:
    """Rows read = scored + excluded + unmatched, and the tallies hold exactly the rows scored."""
    try:
        rows = record["rows"]
        total = rows["scored"] + sum(rows["excluded"].values()) + rows["unmatched"]
        scored, samples = rows["scored"], count_from_json(record["samples"])
        tallies = record["tallies"]
        if rows["read"] != total:
            yield Mismatch(path="rows.read", stored=rows["read"], recomputed=total, why="the row accounting is off")
        if samples != scored:
            yield Mismatch(path="samples", stored=record["samples"], recomputed=scored, why="rows scored are others")
        if "confusion" in tallies and (held := count_from_json(tallies["confusion"]["rows"])) != scored:
            yield Mismatch(path="rows.scored", stored=scored, recomputed=held, why=OTHER_ROWS)
        yield from _levels(tallies, "tallies")
        yield from _sums(tallies, "tallies")
        yield from _paired(record, tallies, scored)
    except BROKEN as error:
        yield Mismatch(path="rows", stored=None, recomputed=None, why=f"cannot be read: {visible(error)}")


def _levels(tally: object, path: str) -> Iterator[Mismatch]:
    """The cells of the levels of a group add up to those of all rows: of the model, and of those it is held against."""
    if not isinstance(tally, Mapping):
        return
    for name, levels in tally.get("groups", {}).items() if "confusion" in tally else ():
        parts: dict[tuple[object, ...], Any] = {}
        for inner_tally in levels:
            for cell, n in _counted(inner_tally["confusion"]).items():
                parts[cell] = parts.get(cell, 0) + n
        whole = _counted(tally["confusion"])
        if {cell: n for cell, n in parts.items() if n} != {cell: n for cell, n in whole.items() if n}:
            yield Mismatch(
                path=f"{path}.groups.{visible(name)}",
                stored=float(sum(parts.values())),
                recomputed=float(sum(whole.values())),
                why="the levels do not add up to all rows, cell by cell",
            )
    for name, inner_tally in tally.items():
        if name in ("reference", "contenders") or path.endswith("contenders"):
            yield from _levels(inner_tally, f"{path}.{visible(name)}")


def _counted(tally: Mapping[str, Any]) -> dict[tuple[object, ...], Any]:
    """Count by true and predicted label, and the rows."""
    labels = tally["labels"]
    cells = {(labels[t], labels[p]): count_from_json(n) for t, p, n in tally["cells"]}
    return {**cells, ("rows",): count_from_json(tally["rows"])}


def _paired(record: Record, tallies: Mapping[str, Any], scored: object) -> Iterator[Mismatch]:
    if "paired" not in tallies:
        return
    held = sum(count_from_json(cell[-1]) for cell in tallies["paired"]["cells"])
    if held != scored:
        yield Mismatch(path="tallies.paired", stored=held, recomputed=scored, why=OTHER_ROWS)
    for part in ("labels", "models"):
        if record[part] != tallies["paired"][part]:
            yield Mismatch(path=part, stored=record[part], recomputed=tallies["paired"][part], why=OTHER_ROWS)


def _sums(content: object, path: str) -> Iterator[Mismatch]:
    """The cells of every tally add up to the rows it says it holds."""
    if isinstance(content, Mapping):
        if content.get("kind") in ("confusion", "ranks"):
            yield from _cells(content, path)
        if content.get("kind") == "scores":
            yield from _columns(content, path)
        for name, child in content.items():
            yield from _sums(child, f"{path}.{visible(name)}")
    elif isinstance(content, list) and content and isinstance(content[0], Mapping):
        for place, child in enumerate(content):
            yield from _sums(child, f"{path}[{place}]")


def _cells(tally: Mapping[str, Any], path: str) -> Iterator[Mismatch]:
    cells, rows = tally["cells"], tally["rows"]
    if len({tuple(cell[:-1]) for cell in cells}) < len(cells):
        yield Mismatch(path=f"{path}.cells", stored=len(cells), recomputed=None, why="a cell stands twice")
    held = sum(count_from_json(cell[-1]) for cell in cells)
    if not tally.get("weighted") and held != count_from_json(rows):
        yield Mismatch(path=f"{path}.rows", stored=rows, recomputed=held, why=OTHER_ROWS)


def _columns(tally: Mapping[str, Any], path: str) -> Iterator[Mismatch]:
    for place, column in enumerate(Scores.from_json(tally).columns):
        held = int(column.count.sum())
        if held > tally["rows"] or (held < tally["rows"] and not tally["weighted"]):  # rows of no weight have no score
            yield Mismatch(path=f"{path}.columns[{place}]", stored=held, recomputed=tally["rows"], why=OTHER_ROWS)


def _shown(value: object) -> str:
    return "nothing" if value is None else visible(repr(value))
