# SPDX-License-Identifier: Apache-2.0
"""Views of an assessment: a tidy table, values of single units, the levels of a group and how far they lie apart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, cast

from assay.core.arrays import keep_freed_memory
from assay.core.errors import PlanError, unknown_choice
from assay.core.labels import Label
from assay.core.text import counted, figure, listed, plural, quoted, visible
from assay.inference.estimates import MOST_LEVELS, Estimate, Estimates, real_to_json

if TYPE_CHECKING:
    from assay.core.task import Tally, Task
    from assay.inference.tests.strata import Heterogeneity
    from assay.measures.declare import Measure

SHOWN: Final = 5
"""Units, and values of each, that a short form shows."""
LIBRARIES: Final = ("pandas", "polars", "pyarrow")
COLUMNS: Final = ("measure", "class", "group", "level_of_group", "value", "low", "high", "n", "method", "reason")
MOST_LISTED: Final = 1000
"""Levels of a group up to which a Record lists every measure of each; beyond, the leading ones."""
FEW: Final = 16
"""Levels worked out at a time where each may take more than the least number of draws, so that these stay small."""
MANY: Final = 64
"""The same where each takes the least number."""


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
        "from_record", "get", "heterogeneity", "items", "keys", "measures", "notes", "plot", "record", "report",
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
        return sorted({*self.PUBLIC, *getattr(self.counts, "PUBLIC", ())})

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


def view_levels(contract: Task, settings: object, factor: str, tallies: Mapping[Label, Tally]) -> Levels:
    """The estimates of each level, computed when asked for."""
    views: dict[Label, Estimates] = {}
    for level, tally in tallies.items():
        views[level] = view = cast("Estimates", contract.estimates(tally, settings, {factor: level}))
        view.beside = len(tallies)
    return Levels(views, factor)


class ListedLevels:
    """What a Record lists of the levels of one group."""

    def __init__(self, levels: Levels, contract: Task, settings: Any) -> None:  # noqa: ANN401  those of the task
        self._levels, self._leading = levels, contract.headline
        self._short = len(levels) > MOST_LISTED and settings.measures is None

    @property
    def steps(self) -> int:
        """How often `done` is called."""
        return len(self._levels) if self._short else sum(view.steps for view in self._levels.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said where measures are left out."""
        if not self._short:
            return ()
        factor, size = quoted(self._levels.factor), len(self._levels)
        said = f"group {factor} has {size:,} levels; of more than {MOST_LISTED:,} only the leading measures are listed"
        return (f"{said}, and all others are computed when asked for: by_group[{factor}]",)

    def estimates(self, done: Callable[[], None]) -> list[Estimate]:
        """The estimates, some levels at a time; what they were drawn from is forgotten before the next."""
        keep_freed_memory()
        views, level_estimates = list(self._levels.values()), []
        size = FEW if len(views) <= MOST_LEVELS else MANY
        for start in range(0, len(views), size):
            block = views[start : start + size]
            block[0].work_out(block, self._measures(block[0]))
            for view in block:
                if self._short:
                    level_estimates += [view[measure.title] for measure in self._measures(view)]
                    done()
                else:
                    level_estimates += view.listed(done)
                view.release()
        return level_estimates

    def _measures(self, view: Estimates) -> list[Measure]:
        return [m for m in view.measures if not self._short or m.name in self._leading]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The spread of one measure over the levels, with the two levels at its ends."""

    factor: str
    found: Heterogeneity
    lowest: tuple[Label, float]
    highest: tuple[Label, float]
    left_out: tuple[Label, ...]

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "factor": self.factor,
            **self.found.to_json(),
            "lowest": {"level": self.lowest[0], "value": real_to_json(self.lowest[1])},
            "highest": {"level": self.highest[0], "value": real_to_json(self.highest[1])},
            "left_out": list(self.left_out),
        }


def differences(levels: Levels, seed: int) -> list[Difference]:
    """How far each measure lies apart between the levels; counts and measures without spread cannot be compared."""
    from assay.inference.tests.strata import heterogeneity

    names = list(levels)
    out = []
    for measure in levels[names[0]].measures:
        if measure.family == "counts":
            continue
        estimates = [levels[name][measure.title] for name in names]
        spread = heterogeneity(estimates, seed=seed)
        if spread is None:
            continue
        lowest, highest = ((names[i], float(estimates[i].value or 0.0)) for i in (spread.lowest, spread.highest))
        left_out = tuple(names[i] for i in spread.left_out)
        out.append(Difference(factor=levels.factor, found=spread, lowest=lowest, highest=highest, left_out=left_out))
    return out
