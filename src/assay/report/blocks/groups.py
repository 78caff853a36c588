# SPDX-License-Identifier: Apache-2.0
"""Estimates class by class and group by group: charts, tables, and how far merged sites lie apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.blocks import Block, Card, Cell, Chart, Column, Figure, Fold, Heading, Paragraph, Reach, Table, table
from assay.core.blocks.estimate_rows import About, Entry, about, in_hundred, number_cell, prose, real
from assay.core.blocks.lead import ClassSizes, Lead
from assay.core.text import chance_shown, counted, figure, listed, visible
from assay.core.values import SMALL
from assay.report import sentences
from assay.report.blocks.estimates import Estimates, interval_row

MOST_CHARTS: Final = 6
MOST_ROWS: Final = 200
MOST_PLOTTED: Final = 30
DENSE: Final = 3
"""Measures beyond which a table is small."""
MOST_BRIEF: Final = 20
"""Levels whose charts a notebook shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A class, or a level of a group: its sizes as text, and its measures."""

    label: str
    sizes: tuple[str, ...]
    entries: tuple[Entry, ...]
    plotted: bool
    rows: int | None = None

    @property
    def small(self) -> bool:
        """Whether a group has few rows."""
        return self.rows is not None and self.rows < SMALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """A way to divide rows, and its levels."""

    name: str
    columns: tuple[About, ...]
    sizes: tuple[str, ...]
    """What the sizes of a level are called; the first one is shown everywhere."""
    levels: tuple[Level, ...]
    hidden: int
    things: tuple[str, str]
    chosen: str = "largest"
    """Which levels are shown where there are too many."""
    whole: tuple[Entry | None, ...] = ()
    uncharted: tuple[str, ...] = ()
    """Measures that the table has alone."""

    @property
    def charted(self) -> tuple[int, ...]:
        """Places of the measures that get a chart; the table has them all."""
        wanted = [i for i, column in enumerate(self.columns) if column.measure not in self.uncharted]
        return tuple(wanted[-MOST_CHARTS:]) or tuple(range(len(self.columns)))[:MOST_CHARTS]


def read_classes(
    read: Estimates, task: str, wanted: Sequence[str], counted_classes: ClassSizes | None = None
) -> Factor | None:
    """Classes, labels or outputs one by one, with their counts where a tally has them; None where there are none."""
    there = [title for title in read.of_class if about(title, task).family != "counts"]
    titles = ([title for title in wanted if title in there] or there)[:MOST_CHARTS]
    measured = [read.of_class[title] for title in titles]
    chosen = counted_classes or _worst(measured[0] if measured else {})
    if not titles and len(chosen.labels) <= MOST_ROWS:
        return None
    levels = tuple(
        Level(
            label=visible(label),
            sizes=tuple(column[i] for column in chosen.sizes.values()),
            entries=tuple(part[label] for part in measured),
            plotted=i in chosen.plotted,
        )
        for i, label in ((i, chosen.labels[i]) for i in chosen.listed)
        if all(label in part for part in measured)
    )
    return Factor(
        name="class",
        columns=tuple(about(title, task) for title in titles),
        sizes=tuple(chosen.sizes),
        levels=levels,
        hidden=len(chosen.labels) - len(levels),
        things=("class", "classes"),
        chosen="largest" if counted_classes is not None else "worst",
        whole=tuple(read.whole.get(title) for title in titles),
    )


def _worst(entries: Mapping[object, Entry]) -> ClassSizes:
    def rank(label: object) -> tuple[bool, float]:
        value = entries[label].value
        return value is None, (value or 0.0) * (-1 if entries[label].about.better.startswith("lower") else 1)

    labels = sorted(entries, key=rank)
    places = range(len(labels))
    sizes = {"n": [entries[label].n for label in labels]}
    return ClassSizes(labels=labels, listed=places[:MOST_ROWS], plotted=places[:MOST_PLOTTED], sizes=sizes)


def read_factors(record: Record, read: Estimates, headline: tuple[Entry, ...], lead: Lead) -> tuple[Factor, ...]:
    """The groups of a Record with their levels."""
    shown = tuple(value for value in headline if value.about.measure not in lead.not_by_group)
    titles = [value.about.measure for value in shown]
    factors = []
    for name, levels in record["tallies"].get("groups", {}).items():
        measured = [read.of_level.get((name, repr(level["level"])), {}) for level in levels]
        sizes = [_rows_of(level, entries) for level, entries in zip(levels, measured, strict=True)]
        by_size = sorted(range(len(levels)), key=lambda i: (-sizes[i], i))
        rows = tuple(
            Level(
                label=visible(levels[i]["level"]),
                sizes=(f"{sizes[i]:,}",),
                entries=tuple(measured[i][title] for title in titles),
                plotted=i in by_size[:MOST_PLOTTED],
                rows=sizes[i],
            )
            for i in sorted(by_size[:MOST_ROWS])
            if all(title in measured[i] for title in titles)
        )
        factor = Factor(
            name=visible(name), columns=tuple(value.about for value in shown), sizes=("rows",), levels=rows,
            hidden=len(levels) - len(rows), things=("level", "levels"), whole=shown, uncharted=lead.not_charted,
        )  # fmt: skip
        factors.append(factor)
    return tuple(factors)


def _rows_of(level: dict[str, Any], entries: dict[str, Entry]) -> int:
    """How many rows a level has, or units where its tally does not tell."""
    counted_rows = (int(part["rows"]) for part in level.values() if isinstance(part, dict) and "rows" in part)
    if (rows := next(counted_rows, None)) is not None:
        return rows
    numbers = [value.n.replace(",", "") for value in entries.values()]
    return max((int(number) for number in numbers if number.isdigit()), default=0)


def class_blocks(classes: Factor, level: str) -> Iterator[Block]:
    """Each class against all the others."""
    total = len(classes.levels) + classes.hidden
    unlisted = f"A Record of {total:,} classes lists no measures class by class, so these are the counts of its tally."
    lead = "Each class against all the others." if classes.columns else unlisted
    yield Paragraph(" ".join((lead, *_cuts(classes))), "soft", reach=Reach.FULL if classes.columns else Reach.ALL)
    yield Card(tuple(_level_blocks(classes, level)))


def group_blocks(record: Record, factors: Sequence[Factor], level: str) -> Iterator[Block]:
    """Every group with the value of all rows as a dashed line, and whether sites differ by more than chance."""
    if any(factor.levels for factor in factors):
        yield Paragraph("The dashed line is the value of all rows together.", "soft", reach=Reach.FULL)
    for name, factor in zip(record["tallies"].get("groups", {}), factors, strict=True):
        if not factor.levels:
            continue
        cuts = [Paragraph(text, "soft", reach=Reach.FULL) for text in _cuts(factor)]
        yield Card(
            (Heading(f"By {factor.name}"), *cuts, *_level_blocks(factor, level), *_spread_blocks(record, name, factor))
        )


def _cuts(factor: Factor) -> Iterator[str]:
    """What a table and its charts leave out."""
    things, shown = factor.things[1], sum(level.plotted for level in factor.levels)
    if factor.hidden:
        yield (
            f"The {len(factor.levels)} {factor.chosen} {things} are shown; {factor.hidden:,} more are not,"
            " but the Record has their counts."
        )
    if factor.columns and shown < len(factor.levels):
        yield f"The charts show the {shown} {factor.chosen} {things}; the table below them has more."


def _level_blocks(factor: Factor, level: str) -> Iterator[Block]:
    if factor.columns:
        plotted = [row for row in factor.levels if row.plotted]
        charts = tuple(_forest(factor, plotted, i) for i in factor.charted)
        brief = factor.name == "class" and len(factor.levels) <= MOST_BRIEF
        reach = Reach.FULL | Reach.BRIEF if brief else Reach.FULL
        yield Figure(charts=charts, alt=f"Forest plots by {factor.name}", reach=reach)
    measured = f"{counted(len(factor.levels), *factor.things)}, {counted(len(factor.columns), 'measure')}"
    yield Fold(
        title="The numbers",
        more=measured if factor.columns else counted(len(factor.levels), *factor.things),
        blocks=(_level_table(factor, level),),
        open=not factor.columns,
        named=False,
    )


def _forest(factor: Factor, levels: Sequence[Level], place: int) -> Chart:
    """One measure level by level; measures of the same range share an axis, so that they can be compared."""
    column, whole = factor.columns[place], factor.whole[place]
    alike = [e for level in levels for e in level.entries if e.about.range == column.range]
    rows = [interval_row(f"△ {row.label}" if row.small else row.label, row.entries[place]) for row in levels]
    data: dict[str, Any] = {"title": column.name, "rows": rows}
    data["holds"] = [x for e in alike for x in (e.low, e.value, e.high) if x is not None]
    if whole is not None and whole.value is not None:
        data["reference"] = {"x": whole.value, "text": ""}
    return Chart("intervals", (data,))


def _level_table(factor: Factor, level: str) -> Table:
    rows = (
        (
            Cell(row.label, "△", below=f"only {counted(row.rows or 0, 'row')}", tone="warn")
            if row.small
            else row.label,
            *row.sizes,
            *map(number_cell, row.entries),
        )
        for row in factor.levels
    )
    extra = Reach.REPORT if factor.columns else Reach.ALL
    heads = (
        Column(factor.things[0], "name", 1.8),
        *(Column(size, "number", reach=extra if i else Reach.ALL) for i, size in enumerate(factor.sizes)),
        *(Column(column.name, "number", 1, column.measure) for column in factor.columns),
    )
    title, dense = f"Measures by {factor.name}", len(factor.columns) > DENSE
    more = {"small": dense, "things": factor.things, "hidden": factor.hidden}
    return table(title, f"{title}, with {level} intervals", heads, rows, **more)


def _spread_blocks(record: Record, name: str, factor: Factor) -> Iterator[Block]:
    """Whether sites differ by more than chance; nothing for a Record that was not merged."""
    by_measure = {test["measure"]: test for test in record.get("heterogeneity", ()) if test["factor"] == name}
    rows: list[tuple[str | Cell, ...]] = []
    for column in factor.columns:
        if (test := by_measure.get(column.measure)) is not None:
            ends = [(real(test[end]["value"]), visible(test[end]["level"])) for end in ("lowest", "highest")]
            left = listed(test["left_out"], most=3)
            below = f"without {left}: no value or no interval there" if left else ""
            sides = (f"{'?' if value is None else figure(value)} ({level})" for value, level in ends)
            chance = chance_shown(float(test["p"])), in_hundred(float(test["i_squared"]))
            rows.append(
                (Cell(column.name, typed=column.measure), *sides, *chance, Cell(prose(test["method"]), below=below))
            )
    if rows:
        yield Paragraph(sentences.SAID["spread"])
        heads = (
            ("measure", "text", 2), ("lowest", "name", 2), ("highest", "name", 2), ("p", "number"),
            ("beyond chance", "number"), Column("method", width=2, reach=Reach.REPORT),
        )  # fmt: skip
        title = f"Differences between {factor.name}"
        yield table(title, f"{title}s", heads, rows)
