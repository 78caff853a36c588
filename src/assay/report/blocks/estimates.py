# SPDX-License-Identifier: Apache-2.0
"""The estimates of a Record of all rows: the headline, averages over classes, and every measure by family."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from assay.assess.record.record import Record
from assay.core import blocks as tree
from assay.core.blocks import Block, Card, Cell, Chart, Column, Item, Paragraph, Reach, Table, Term, table
from assay.core.blocks.estimate_rows import About, Entry, entry, no_interval, prose, value_cell
from assay.core.blocks.lead import Baseline
from assay.core.text import visible
from assay.report import sentences
from assay.report.charts.plot_parts import round_axis, step_of

BAR: Final = 24
"""Characters of the axis of a terminal."""


class Floor(NamedTuple):
    """What a leading measure must beat, with its value."""

    baseline: Baseline
    entry: Entry


class Estimates:
    """The estimates of a Record by what they speak of."""

    def __init__(self, record: Record) -> None:
        self.whole: dict[str, Entry] = {}
        self.of_class: dict[str, dict[object, Entry]] = {}
        self.of_level: dict[tuple[str, str], dict[str, Entry]] = {}
        self.methods: dict[str, set[int]] = {}
        """Interval methods, and how many draws they took."""
        for estimate in record["estimates"]:
            label, slice_, name = estimate.get("class"), estimate.get("slice"), str(estimate["measure"])
            if estimate.get("interval"):
                draws = self.methods.setdefault(str(estimate["interval"]), set())
                draws |= {int(estimate["draws"])} if "draws" in estimate else set()
            if slice_ is None and label is None:
                self.whole[name] = entry(estimate, str(record["task"]))
            elif slice_ is None:
                self.of_class.setdefault(name, {})[label] = entry(estimate, str(record["task"]))
            elif label is None and len(slice_) == 1:
                ((factor, level),) = slice_.items()
                levels = self.of_level.setdefault((factor, repr(level)), {})
                levels[name] = entry(estimate, str(record["task"]))
        self.undefined = [value for value in self.whole.values() if not value.defined]

    def families(self) -> dict[str, list[Entry]]:
        """The measures of all rows by the name of their family."""
        by_name: dict[str, list[Entry]] = {name: [] for name in sentences.FAMILIES}
        for value in self.whole.values():
            by_name.setdefault(value.about.family, []).append(value)
        return {sentences.FAMILIES.get(name, name or "Others"): some for name, some in by_name.items() if some}


def _alike(headline: Sequence[Entry]) -> list[Entry]:
    """The measures that can share an axis: from -1 to 1 and better when higher, else the largest set of one range."""
    sets: dict[object, list[Entry]] = {}
    for value in headline:
        (low, high), higher = value.about.range, value.about.better.startswith("higher")
        sets.setdefault("unit" if low >= -1 and high <= 1 and higher else (low, high, higher), []).append(value)
    drawn = [values for values in sets.values() if any(v.value is not None and not v.endless for v in values)]
    return max(drawn, key=len, default=[])


def headline_chart(
    headline: Sequence[Entry], level: str, order: Sequence[str] = (), floor: Floor | None = None
) -> Chart | None:
    """Point and interval of the measures that share an axis, which is stated, in the order that the task leads with."""
    drawn = _alike(headline)
    if not drawn:
        return None
    places = {name: place for place, name in enumerate(order)}
    drawn = sorted(drawn, key=lambda v: places.get(v.about.measure, len(places)))
    if floor is not None and not any(v.about.measure == floor.baseline.of for v in drawn):
        floor = None
    least = floor.entry.value if floor is not None else None
    ends = [x for v in drawn for x in (v.value, v.low, v.high) if x is not None and math.isfinite(x)]
    near = least is not None and least > min(ends) - 0.15  # a baseline that is near enough stands on the axis
    axis = round_axis(min([*ends, least] if least is not None and near else ends), max(ends))
    low, high = max(axis.low, drawn[0].about.range[0]), min(axis.high, drawn[0].about.range[1])
    rows = [interval_row(value.about.name, value) for value in drawn]
    better = drawn[0].about.better
    data: dict[str, Any] = {
        "title": f"Headline measures with {level} intervals", "wide": 380, "ends": [low, high], "rows": rows,
        "x": f"axis from {low:g} to {high:g}{f'; {better}' if better.endswith('is better') else ''}",
    }  # fmt: skip
    if floor is not None:
        beyond = "" if near else ", beyond the axis"
        said = f"{floor.baseline.of} of {floor.baseline.says}, {floor.entry.shown}{beyond}"
        data["note"] = f"Dashed: {said}" if near else f"{said[:1].upper()}{said[1:]}"
        data |= {"reference": {"x": floor.entry.value, "text": ""}} if near else {}
    return Chart("intervals", (data,))


def interval_row(label: str, value: Entry) -> dict[str, Any]:
    """A row of a chart with a point, its interval and both as text."""
    ends = {"value": value.value, "low": value.low, "high": value.high}
    return {"label": label, **ends, "text": value_cell(value).text, "small": value.short}


def headline_table(headline: Sequence[Entry], level: str, floor: Floor | None) -> Table:
    """The headline measures with their intervals and meanings."""
    rows = (
        (
            Cell(v.about.name, below="; ".join(v.notes)),
            value_cell(v),
            v.so if v.defined else v.reason,
            Cell(v.about.says, tone="soft"),
        )
        for v in (*headline, *([floor.entry] if floor is not None else []))
    )
    meaning = Column("meaning", width=4, reach=Reach.FULL)
    heads = ("measure", "text", 2), ("value", "number"), (f"{level} interval", "text", 2), meaning
    return table(sentences.HEADLINE, f"{sentences.HEADLINE} with {level} intervals", heads, rows, look="lead")


def terminal_blocks(headline: Sequence[Entry], level: str, floor: Floor | None) -> Iterator[Block]:
    """The headline measures by what is typed to get them, on one axis of characters, with their notes below."""
    axis, bars = _bars(headline)
    columns: dict[Column, list[str | Cell]] = {
        Column("measure"): [Cell(v.about.name, typed=v.about.measure) for v in headline],
        Column("value", "number"): [value_cell(v) for v in headline],
        Column("unit"): [v.about.unit for v in headline],
        Column(f"{level} interval"): [v.interval or ("none" if v.defined else v.shown) for v in headline],
        Column(axis, "number", reach=Reach.TERMINAL): [bars.get(v.about.measure, "") for v in headline],
    }
    shown = {column: cells for column, cells in columns.items() if any(cells)}
    yield table(sentences.HEADLINE, "", shown, zip(*shown.values(), strict=True), reach=Reach.TERMINAL)
    said = [
        f"{', '.join(v.about.measure for v in headline if note in v.notes)}: {note}"
        for note in dict.fromkeys(note for v in headline for note in v.notes)
    ]
    said += sorted({no_interval(v.missing) for v in headline if v.defined and not v.interval})
    if floor is not None:
        said.append(f"baseline: {floor.baseline.of} {floor.entry.shown}: {floor.baseline.says}")
    yield from (Paragraph(text, reach=Reach.TERMINAL) for text in said)


def _bars(headline: Sequence[Entry]) -> tuple[str, dict[str, str]]:
    """The ends of the axis that measures share, and by measure its value and interval on it; nothing for one alone."""
    drawn = [v for v in _alike(headline) if v.value is not None and not v.endless]
    if len(drawn) < 2:  # noqa: PLR2004  nothing to compare
        return "", {}
    ends = [x for v in drawn for x in (v.value, v.low, v.high) if x is not None and math.isfinite(x)]
    step = step_of(max(max(ends) - min(ends), 1e-6) * 2 / 3)  # finer than that of a chart, which has room for ticks
    high = math.ceil(max(ends) / step - 1e-9) * step
    low = min(math.floor(min(ends) / step + 1e-9) * step, high - step)

    def at(value: float | None) -> int:
        return round(min(1.0, max(0.0, ((value or 0.0) - low) / (high - low))) * (BAR - 1))

    bars = {}
    for v in drawn:
        marks = ["━" if v.interval and at(v.low) <= i <= at(v.high) else "·" for i in range(BAR)]
        marks[at(v.value)] = "●"
        bars[v.about.measure] = "".join(marks)
    first, last = f"{low:g}", f"{high:g}"
    return f"{first}{'axis':^{BAR - len(first + last)}}{last}", bars


def lost_blocks(read: Estimates, level: str) -> Iterator[Block]:
    """Measures of all rows that are undefined or infinite, and why."""
    items = []
    for value in read.whole.values():
        if value.endless:
            ends = f"; {level} interval {value.interval}" if value.interval else ""
            why = f"infinite; its formula divides by 0 here: {value.about.formula}{ends}"
            items.append(Item(name=value.about.measure, text=why))
    items += [Item(name=value.about.measure, text=value.reason) for value in read.undefined]
    if items:
        yield tree.Bullets(tuple(items), "named")


def measure_blocks(read: Estimates, level: str, places: Mapping[str, str]) -> Iterator[Block]:
    """Every measure with its formula, what it rests on and how its interval was made."""
    yield Paragraph(
        "Every measure with its formula, what it rests on and how its interval was made.", "soft", reach=Reach.FULL
    )
    heads = (
        ("measure", "text", 3.4), ("value", "number"), ("interval", "text", 2.6), ("n", "number"),
        ("method", "text", 1.8), ("formula", "formula", 3.6),
    )  # fmt: skip
    folds = []
    for family, entries in read.families().items():
        rows = (_measure_cells(value, places) for value in entries)
        drawn = table(family, f"{family}, with {level} intervals", heads, rows, look="kin", small=True)
        folds.append(tree.Fold(title=family, more=str(len(entries)), blocks=(drawn,)))
    yield Card(tuple(folds), "folds")


def _measure_cells(value: Entry, places: Mapping[str, str]) -> tuple[Cell, ...]:
    known = value.about
    infinite = "its formula divides by 0 here" if value.endless else ""
    typed = "" if known.name.replace(" ", "_") == known.measure else known.measure
    return (
        Cell(known.name, below="; ".join(value.notes), typed=typed, anchor=places.get(known.measure, "")),
        value_cell(value),
        Cell(value.interval, below=infinite)
        if value.interval
        else Cell(value.missing if value.defined else value.reason, tone="soft"),
        Cell(value.n, below=value.parts),
        Cell(value.method if value.defined else "none", tone="soft"),
        Cell(known.formula),
    )


def method_blocks(read: Estimates, settings: Iterable[str]) -> Iterator[Block]:
    """How intervals were made, each way once whatever the numbers in its name, and the choices behind the numbers."""
    ways: dict[str, list[str]] = {}
    for name in read.methods:
        ways.setdefault(re.sub(r"[\d,]*\d", "n", name), []).append(name)
    methods = tuple(
        Term(
            name=visible(names[0]),
            text=prose(sentences.method(names[0], sorted(read.methods[names[0]]))),
            more=f"{len(names) - 1} times more, with other numbers" if names[1:] else "",
        )
        for names in ways.values()
    )
    choices = tuple(Item(text=text) for text in settings)
    yield Card((tree.Terms(methods, "list"), *([tree.Bullets(choices)] if choices else [])))


def glossary_fold(known: Mapping[str, About], places: Mapping[str, str]) -> tree.Fold:
    """What every measure means."""
    listed = []
    for measure, known_as in known.items():
        facts: list[Any] = [known_as.range_shown, known_as.better]
        facts += [f"by chance {known_as.chance}"] if known_as.chance else []
        facts += [f"also called {', '.join(known_as.also)}"] if known_as.also else []
        symbol = known_as.symbol if known_as.symbol != known_as.name else ""
        more = f"{'; '.join(filter(None, facts))}. {'; '.join(map(str, known_as.source))}"
        listed.append(Term(name=known_as.name, text=f"{known_as.says}.", symbol=symbol, more=more, id=places[measure]))
    return tree.Fold(
        title="Glossary", more=f"{len(listed)} measures", blocks=(tree.Terms(tuple(listed), "list"),), reach=Reach.FULL
    )
