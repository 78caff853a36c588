# SPDX-License-Identifier: Apache-2.0
"""Views of an assessment: its estimates as a tidy table, the levels of a group, the values of single units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from assay.core.errors import PlanError, unknown_choice
from assay.core.labels import Label
from assay.core.text import counted, figure, listed, plural, quoted, visible
from assay.inference.estimates import Estimate, Estimates

if TYPE_CHECKING:
    from assay.core.task import Tally, Task

SHOWN: Final = 5
"""Units, and values of each, that a short form shows."""
LIBRARIES: Final = ("pandas", "polars", "pyarrow")
COLUMNS: Final = ("measure", "class", "group", "level_of_group", "value", "low", "high", "n", "method", "reason")


def tidy_rows(estimates: Sequence[Estimate]) -> list[dict[str, Any]]:
    """One row an estimate, with the reason where it has no value or no interval."""
    rows = []
    for estimate in estimates:
        factor, level = next(iter(estimate.slice.items()), (None, None))
        cells = (
            estimate.measure, estimate.label, factor, level, estimate.value, estimate.low, estimate.high,
            float(estimate.n), None if estimate.interval is None else estimate.interval.method,
            estimate.reason or estimate.no_interval,
        )  # fmt: skip
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def to_columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    """Columns by name; labels of several types become text, which every library can hold."""
    columns = {name: [row[name] for row in rows] for name in names}
    for name, values in columns.items():
        kinds = {type(value) for value in values if value is not None}
        if len(kinds) > 1 and not kinds <= {int, float}:
            columns[name] = [None if value is None else str(value) for value in values]
    return columns


def to_frame(columns: Mapping[str, list[Any]], library: str | None = None) -> Any:  # noqa: ANN401  a frame
    """A frame of pandas, Polars or PyArrow: the one that is named, else the first that is installed."""
    if library is not None and library not in LIBRARIES:
        raise unknown_choice(library, LIBRARIES, f"there are no frames of {library!r}")
    name = library or next((name for name in LIBRARIES if find_spec(name)), None)
    if name is None or not find_spec(name):
        what = "no library for frames is installed"
        raise PlanError("missing-extra", what, known=", ".join(LIBRARIES), fix="pip install pandas, or use to_dict()")
    module = import_module(name)
    return module.table(dict(columns)) if name == "pyarrow" else module.DataFrame(dict(columns))


class Tidy(ABC):
    """What an assessment shows of itself: one line, the names that users need, and rows of a tidy table."""

    PUBLIC: ClassVar = (
        "accept", "by_class", "by_group", "by_unit", "census", "claims", "decisions", "estimates", "fairness",
        "from_record", "get", "heterogeneity", "items", "keys", "measures", "notes", "record", "report",
        "require_fairness", "save", "settings", "tally", "to_dict", "to_frame", "values",
    )  # fmt: skip
    contract: Task
    counts: Tally

    @property
    @abstractmethod
    def estimates(self) -> list[Estimate]:
        """Every estimate that a Record lists."""

    def to_dict(self) -> list[dict[str, Any]]:
        """Every estimate as a row: measure, class, group, value, low, high, n, method, reason."""
        return tidy_rows(self.estimates)

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401  a frame of the library
        """The same as a frame.

        library: "pandas", "polars" or "pyarrow"; None takes the first that is installed
        """
        return to_frame(to_columns(self.to_dict(), COLUMNS), library)

    @abstractmethod
    def __len__(self) -> int:
        """How many measures there are."""

    def __dir__(self) -> list[str]:
        """What users need; the rest serves other layers."""
        plots = ["plot"] if hasattr(type(self), "plot") else []
        return sorted({*self.PUBLIC, *getattr(self.counts, "PUBLIC", ()), *plots})

    def __repr__(self) -> str:
        """What it is about, in one line."""
        task = self.contract.variant(self.counts)
        return f"<Assessment: {task}, {counted(self.counts.rows, 'row')}, {counted(len(self), 'measure')}>"


class UnitValues(dict[str, Mapping[str, "float | None"]]):
    """By unit (image, query, subject): the values of the leading measures on that unit alone."""

    def __init__(self, values: Mapping[str, Mapping[str, float | None]], unit: str) -> None:
        super().__init__(values)
        self._unit = unit

    def __missing__(self, name: str) -> NoReturn:
        """Refuse a unit that is not there."""
        what = f"there is no {self._unit} {name!r}" if self else f"the {plural(self._unit)} have no names"
        fix = f"name the {self._unit} of each row: unit=..."
        raise unknown_choice(name, self, what, code="label-not-declared", known="", fix=fix)

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401
        """The same as a frame: one row a unit."""
        names = list(next(iter(self.values()), {}))
        columns: dict[str, list[Any]] = {self._unit: list(self)}
        columns |= {name: [values[name] for values in self.values()] for name in names}
        return to_frame(columns, library)

    def __repr__(self) -> str:
        """The first values of the first units, one unit a line."""
        lines = [f"<{counted(len(self), self._unit)}>"]
        for unit, values in list(self.items())[:SHOWN]:
            shown = [
                f"{name} {'undefined' if value is None else f'{value:g}' if name == 'rows' else figure(value)}"
                for name, value in list(values.items())[:SHOWN]
            ]
            lines.append(f"  {unit}: {', '.join(shown)}{', ...' if len(values) > SHOWN else ''}")
        return "\n".join(lines + (["  ..."] if len(self) > SHOWN else []))


class Levels(dict[Label, Estimates]):
    """Level of a group -> the estimates on its rows."""

    def __init__(self, views: dict[Label, Estimates], factor: str) -> None:
        super().__init__(views)
        self.factor = factor

    def __missing__(self, level: Label) -> NoReturn:
        """Refuse a level that is not there."""
        what, fix = f"group {quoted(self.factor)} has no level {quoted(level)}", "ask for one of the levels"
        raise unknown_choice(level, self, what, code="label-not-declared", known=listed(self), fix=fix)

    def __repr__(self) -> str:
        """The levels in one line."""
        return f"<Levels of {visible(self.factor)}: {listed(self)}>"
