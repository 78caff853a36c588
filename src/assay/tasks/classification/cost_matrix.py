# SPDX-License-Identifier: Apache-2.0
"""What each mistake costs, as it is stated: read from a mapping, a frame or a file, and held against the classes."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from assay.core.errors import PlanError, unknown_choice
from assay.core.labels import Label, speller
from assay.core.text import counted, listed, phrases, quoted, visible
from assay.tally.labels.confusion import Confusion, Priced

FORMS: Final = '{("cat", "dog"): 5, ...}, {"cat": {"dog": 5}, ...}, or a .csv or .json file of them'
LONG: Final = ["truth", "predicted", "cost"]
"""The columns of a list of costs; any other header is that of a square table."""
LARGEST: Final = 1 << 20
"""Bytes of a file of costs; a thousand classes would be too many to have been thought about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The cost of each (truth, predicted); right calls cost 0 if unsaid."""

    cells: Mapping[tuple[Label, Label], float]
    typed: bool = False
    """Whether the labels were read from text, so that they are matched to the classes by how they are written."""

    @classmethod
    def read(cls, given: object) -> Costs | None:
        """Costs in any of their forms, every number checked; None where nothing is stated.

        >>> Costs.read({"cat": {"dog": 5}, "dog": {"cat": 1}}).cells[("cat", "dog")]
        5.0
        """
        if given is None or isinstance(given, Costs):
            return given
        if isinstance(given, (str, os.PathLike)):
            return cls(cells=_checked(_file(Path(os.fspath(given)))), typed=True)
        if hasattr(given, "to_dict") and hasattr(given, "columns"):
            given = cast("Any", given).to_dict(orient="index")
        return cls(cells=_checked(_pairs(given)))

    def fitted(self, labels: Sequence[Label], *, spelled: bool = False) -> Costs:
        """The same over the classes of the data: every pair of different classes, and no other."""
        own = speller(labels) if spelled or self.typed else lambda label: label
        cells = {(own(truth), own(called)): cost for (truth, called), cost in self.cells.items()}
        if strange := list(dict.fromkeys(label for pair in cells for label in pair if label not in labels)):
            raise _not_a_class(strange, labels)
        lost = [(a, b) for a in labels for b in labels if a != b and (a, b) not in cells]
        if lost:
            what = f"{counted(len(lost), 'mistake has', 'mistakes have')} no stated cost"
            found = phrases((f"{quoted(a)} called {quoted(b)}" for a, b in lost), most=3)
            fix = "state a cost for every pair of true and predicted class; 0 if it costs nothing"
            raise _invalid(what, fix, found=found, known=listed(labels))
        if not any(cells.values()):
            what = "every cost is 0"
            raise _invalid(what, "state what mistakes cost, or leave the costs out")
        return Costs(cells={(a, b): cells.get((a, b), 0.0) for a in labels for b in labels})

    def of(self, confusion: Confusion) -> Priced:
        """Rows by what they cost."""
        return Priced.of(confusion, self.cells)

    def to_json(self) -> list[list[object]]:
        """As in a Record: truth, predicted, cost; what costs nothing is left out."""
        return [[truth, called, cost] for (truth, called), cost in self.cells.items() if cost]

    @classmethod
    def from_json(cls, content: Sequence[Sequence[Any]], labels: Sequence[Label]) -> Costs:
        """The inverse of `to_json`, given the classes."""
        free = {(a, b): 0.0 for a in labels for b in labels}
        return cls(cells={**free, **{(truth, called): cost for truth, called, cost in content}})


def _invalid(what: str, fix: str, where: str = "costs", **lines: str) -> PlanError:
    return PlanError("costs-invalid", what, where=where, fix=fix, **lines)


def _not_a_class(strange: Sequence[Label], labels: Sequence[Label]) -> PlanError:
    what = f"a cost is stated for {quoted(strange[0])}, which is not a class"
    more = {"found": listed(strange), "known": listed(labels)}
    twin = [label for label in labels if str(label) == str(strange[0])]  # the same to read, of another type
    if twin:
        kind = {str: "text", bool: "the value"}.get(type(twin[0]), "the number")
        return _invalid(what, f"write the label as {kind} {quoted(twin[0])}, as the data do", **more)
    fix = "name the classes as the data do"
    return unknown_choice(strange[0], labels, what, code="costs-invalid", where="costs", fix=fix, **more)


def _pairs(given: object) -> dict[tuple[Label, Label], object]:
    if not isinstance(given, Mapping) or not given:
        what = "the costs are not a table"
        raise _invalid(what, "state them so", found=visible(repr(given))[:80], known=FORMS)
    pairs: dict[tuple[Label, Label], object] = {}
    for key, value in given.items():
        if isinstance(value, Mapping):
            pairs |= {(key, called): cost for called, cost in value.items()}
        elif isinstance(key, tuple) and len(key) == 2:  # noqa: PLR2004  truth and predicted
            pairs[cast("tuple[Label, Label]", key)] = value
        else:
            what, found = "a cost is stated for one class, not for a true and a predicted one", f"{key!r}: {value!r}"
            raise _invalid(what, "state both classes", found=visible(found), known=FORMS)
    return pairs


def _checked(pairs: Mapping[tuple[Label, Label], object]) -> dict[tuple[Label, Label], float]:
    odd = {pair: cost for pair, cost in pairs.items() if not _is_cost(cost)}
    if odd:
        descriptions = [f"{visible(repr(cost))} for {quoted(a)} called {quoted(b)}" for (a, b), cost in odd.items()]
        what = f"{counted(len(odd), 'cost is', 'costs are')} not a number of 0 or above"
        fix = "a gain is a cost that is lower than that of the alternative: shift all costs up"
        raise _invalid(what, fix, found=phrases(descriptions, most=3), known="0 or above, finite")
    return {pair: float(cast("float", cost)) for pair, cost in pairs.items()}


def _is_cost(cost: object) -> bool:
    number = hasattr(cost, "__float__") and not isinstance(cost, (bool, str))
    return number and math.isfinite(float(cast("float", cost))) and float(cast("float", cost)) >= 0


def _file(path: Path) -> dict[tuple[Label, Label], object]:
    where = visible(path)
    try:
        if path.stat().st_size > LARGEST:
            what = "the file of costs is larger than 1 MiB"
            raise _invalid(what, "give a table of costs", where=where)
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise PlanError("encoding", "the file of costs is not UTF-8", where=where, fix="write UTF-8") from error
    except (OSError, ValueError) as error:
        raise PlanError("no-file", "the file of costs cannot be read", where=where, fix="check it") from error
    if path.suffix.lower() == ".json":
        try:
            return _pairs(json.loads(text))
        except json.JSONDecodeError as error:
            what = f"the file is not JSON: {error}"
            raise _invalid(what, "correct it", where=where) from error
    return _table(list(csv.reader(text.splitlines())), where)


def _table(rows: list[list[str]], where: str) -> dict[tuple[Label, Label], object]:
    """A square table with predicted classes above and true classes to the left, or a list of truth, predicted, cost."""
    rows = [[field.strip() for field in row] for row in rows if any(field.strip() for field in row)]
    head = rows[0] if rows else []
    odd = next((i for i, row in enumerate(rows, start=1) if len(row) != len(head)), None)
    if len(rows) < 2 or len(head) < 2 or odd is not None:  # noqa: PLR2004  a header and a row, a label and a number
        what = "the file is not a table of costs" if odd is None else f"row {odd} has {len(rows[odd - 1])} fields"
        found = f"{counted(len(rows), 'row')}, {counted(len(head), 'column')}"
        known = "a square table (truth to the left, predicted above), or columns truth,predicted,cost"
        raise _invalid(what, "write one of these", found=found, known=known, where=where)
    cells = rows[1:]
    if [name.lower() for name in head] != LONG:
        cells = [[row[0], *cell] for row in rows[1:] for cell in zip(head[1:], row[1:], strict=True)]
    pairs: dict[tuple[Label, Label], object] = {}
    for truth, called, field in cells:
        if (truth, called) in pairs:
            what = f"{quoted(truth)} called {quoted(called)} stands twice"
            raise _invalid(what, "state it once", where=where)
        if field or truth != called:  # what a right call costs may be left open
            pairs[truth, called] = _number(field)
    return pairs


def _number(field: str) -> float | str:
    try:
        return float(field)
    except ValueError:
        return field
