# SPDX-License-Identifier: Apache-2.0
"""Whether the parts of a Record agree with each other: row accounting, cells and rows, rounded scores and values.

Where rounded scores are stored beside values from all digits, the value from the stored scores is computed again
exactly, and the one from all digits must lie near it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.errors import AssayError
from assay.core.labels import Label
from assay.core.text import visible
from assay.inference.intervals.interval_choice import Wanted
from assay.tally.base import count_from_json
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.scores.score_tally import Scores
from assay.tasks.classification.curves import CELLS, rates
from assay.tasks.classification.score_part import ScorePart

BROKEN: Final = (AssayError, KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)
"""What rebuilding a Record from malformed content may raise."""
DIGEST: Final = "the digest does not fit the content"
OTHER_ROWS: Final = "the tally holds other rows"
NEAR: Final = 0.05
"""Half widths of its interval by which rounding may move a value: bench/rounding.py finds half of that at most."""
STEP: Final = 2.0**-13
"""The same as a part of the value: ties of rounded scores add a bias that does not shrink with the rows."""
RELATIVE: Final = 1e-3
"""The same for a value without an interval, as a part of it: eight times what rounding moves a score by."""
ABSOLUTE: Final = 1e-4
DIGITS: Final = 1e-12
"""Relative difference allowed for the ends of an interval."""
FAR: Final = "lies too far from the value of the stored scores"
BESIDE: Final = "the stored scores allow no such count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A place of the Record whose content is not what it should be."""

    path: str
    stored: object
    recomputed: object
    why: str

    def to_json(self) -> dict[str, object]:
        """For machines."""
        return asdict(self)

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


def rounds_scores(record: Mapping[str, Any]) -> bool:
    """Whether a Record stores rounded scores."""
    scores = record.get("scores")
    return isinstance(scores, Mapping) and "significant_bits" in scores


def check_value(estimate: Mapping[str, Any], path: str) -> Iterator[Mismatch]:
    """The value from all digits must lie near the one from the stored scores."""
    value, stored = estimate.get("value"), estimate.get("stored_value")
    if not _near(*(_number(estimate.get(name)) for name in ("value", "stored_value", "low", "high"))):
        yield Mismatch(path=f"{path}.value", stored=value, recomputed=stored, why=FAR)


def _near(value: float, stored: float, low: float, high: float) -> bool:
    if math.isnan(low) or math.isnan(high):
        return math.isclose(value, stored, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return abs(value - stored) <= max(NEAR * abs(high - low) / 2, STEP * abs(value))


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def check_points(record: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[Mismatch]:
    """Cells at each threshold: rows with the rounded score of the threshold may stand on either side of it."""
    plan = record["plan"]
    part = ScorePart.from_json(record["tallies"]["scores"], plan["scores"])
    wanted = Wanted(level=plan["level"], shares=plan["intervals"]["shares"])
    for place, (point, found) in enumerate(zip(record["operating_points"], again["operating_points"], strict=False)):
        path = f"operating_points[{place}]"
        for cell, ends in _possible_cells(part, point, found, record["positive"]).items():
            if not ends[0] <= count_from_json(point[cell]) <= ends[1]:
                yield Mismatch(path=f"{path}.{cell}", stored=point[cell], recomputed=list(ends), why=BESIDE)
        if part.whole.weighted:  # intervals of weighted rates take the squared weights of the very rows
            continue
        cells = Binary(**{name: count_from_json(point[name]) for name in CELLS})  # type: ignore[arg-type]
        made = rates(cells, label=point.get("class"), named={}, optimistic=bool(point["optimistic"]), wanted=wanted)
        for number, (rate, computed) in enumerate(zip(point.get("rates", ()), made, strict=False)):
            for name in ("measure", "value", "low", "high", "numerator", "denominator"):
                if not _alike(rate.get(name), computed.get(name)):
                    yield Mismatch(
                        path=f"{path}.rates[{number}].{name}",
                        stored=rate.get(name),
                        recomputed=computed.get(name),
                        why="computed again from the cells",
                    )


def _alike(stored: object, again: object) -> bool:
    if isinstance(stored, float) and isinstance(again, float):
        return math.isclose(stored, again, rel_tol=DIGITS)
    return stored == again


def _possible_cells(
    part: ScorePart, point: Mapping[str, Any], recomputed_point: Mapping[str, Any], positive: Label | None
) -> dict[str, tuple[float, float]]:
    """The least and the most rows of each cell, or their weight."""
    if point["in_force"] and not part.whole.weighted:
        return {cell: (count_from_json(recomputed_point[cell]),) * 2 for cell in CELLS}  # type: ignore[misc]
    import numpy as np

    table = part.whole.one_vs_rest(point.get("class", positive))
    rounding = part.whole.rounding
    threshold = point["threshold"]
    held = threshold if rounding is None else float(rounding.apply(np.array([float(threshold)]))[0])
    with_them, without = table.at(held), table.at(math.nextafter(held, math.inf))
    slack = 1e-9 * float(table.n) if part.whole.weighted else 0  # sums of doubles
    ends = {cell: sorted((getattr(with_them, cell), getattr(without, cell))) for cell in CELLS}
    return {cell: (float(low) - slack, float(high) + slack) for cell, (low, high) in ends.items()}


def _shown(value: object) -> str:
    return "nothing" if value is None else visible(repr(value))
