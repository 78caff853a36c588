# SPDX-License-Identifier: Apache-2.0
"""Estimates class by class and group by group: charts, tables, and how far merged sites lie apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.blocks import Block, Card, Cell, Chart, Column, Figure, Fold, Heading, Paragraph, Reach, Table, row_of
from assay.core.text import chance_shown, counted, figure, listed, visible
from assay.report import sentences
from assay.report.blocks.confusion_matrix import MOST_CLASSES, ClassCounts
from assay.report.blocks.estimates import Estimates
from assay.report.estimate_rows import About, Entry, about, amount, in_hundred, number_cell, prose, real
from assay.tasks.classification.estimates import SMALL

NOT_BY_GROUP: Final = ("average_precision", "brier_score", "expected_calibration_error", "log_loss_multiclass")
"""Headlines that depend on how common a class is, which differs between groups by itself."""
NOT_CHARTED: Final = ("matthews_corrcoef", "cohen_kappa", "f1_weighted")
"""Headlines that say of a group what others say more plainly."""
MOST_CHARTS: Final = 6
OF_CLASS: Final = ("precision", "recall", "f1")
MOST_ROWS: Final = 200
MOST_BRIEF: Final = 20
"""Levels whose charts a notebook shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A class, or a level of a group: its sizes as text, and its measures."""

    label: str
    sizes: tuple[str, ...]
    entries: tuple[Entry, ...]
    plotted: bool
    small: bool = False
    rows: int = 0


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
    whole: tuple[Entry | None, ...] = ()

    @property
    def charted(self) -> tuple[int, ...]:
        """Places of the measures that get a chart; the table has them all."""
        wanted = [i for i, column in enumerate(self.columns) if column.measure not in NOT_CHARTED]
        return tuple(wanted[-MOST_CHARTS:]) or tuple(range(len(self.columns)))[:MOST_CHARTS]


def read_classes(read: Estimates, tally: ClassCounts) -> Factor | None:
    """The classes one by one; None for two classes, of which one mirrors the other."""
    k = len(tally.labels)
    there = [title for title, by_label in read.of_class.items() if len(by_label) == k]
    titles: list[str] = [title for title in OF_CLASS if title in there]
    titles = titles or [title for title in there if about(title).family != "counts"][: len(OF_CLASS)]
    if not titles and k <= MOST_ROWS:
        return None
    kept, plotted = tally.largest(MOST_ROWS), set(tally.largest(MOST_CLASSES))
    return Factor(
        name="class",
        columns=tuple(about(title) for title in titles),
        sizes=("weight" if tally.weighted else "rows", "predicted", "right"),
        levels=tuple(
            Level(
                label=visible(tally.labels[i]),
                sizes=(amount(tally.actual[i]), amount(tally.called[i]), amount(tally.hits[i])),
                entries=tuple(read.of_class[title][tally.labels[i]] for title in titles),
                plotted=i in plotted,
            )
            for i in kept
        ),
        hidden=k - len(kept),
        things=("class", "classes"),
        whole=(None,) * len(titles),
    )


def read_factors(record: Record, read: Estimates, headline: Sequence[Entry]) -> tuple[Factor, ...]:
    """The groups of a Record with their levels."""
    shown = [value for value in headline if value.about.measure not in NOT_BY_GROUP]
    titles = [value.about.measure for value in shown]
    factors = []
    for name, levels in record["tallies"].get("groups", {}).items():
        sizes = [_rows_of(level, read.of_level.get((name, repr(level["level"])), {})) for level in levels]
        by_size = sorted(range(len(levels)), key=lambda i: (-sizes[i], i))
        kept, plotted = set(by_size[:MOST_ROWS]), set(by_size[:MOST_CLASSES])
        rows = []
        for i, level in enumerate(levels):
            entries = read.of_level.get((name, repr(level["level"])), {})
            if i not in kept or not all(title in entries for title in titles):
                continue
            n = sizes[i]
            rows.append(
                Level(
                    label=visible(level["level"]),
                    sizes=(f"{n:,}",),
                    entries=tuple(entries[title] for title in titles),
                    plotted=i in plotted,
                    small=n < SMALL,
                    rows=n,
                )
            )
        factors.append(
            Factor(
                name=visible(name),
                columns=tuple(value.about for value in shown),
                sizes=("rows",),
                levels=tuple(rows),
                hidden=len(levels) - len(rows),
                things=("level", "levels"),
                whole=tuple(shown),
            )
        )
    return tuple(factors)


def _rows_of(level: dict[str, Any], entries: dict[str, Entry]) -> int:
    """How many rows a level has, or units where its tally does not tell."""
    if "confusion" in level:
        return int(level["confusion"]["rows"])
    if "rows" in level.get("units", {}):
        return int(level["units"]["rows"])
    numbers = [value.n.replace(",", "") for value in entries.values()]
    return max((int(number) for number in numbers if number.isdigit()), default=0)


def read_things(read: Estimates, task: str, headline: Sequence[str]) -> Factor | None:
    """Classes, labels or outputs one by one, of a task without a confusion matrix; None where there are none."""
    if not read.of_class:
        return None
    titles = [title for title in headline if title in read.of_class] or list(read.of_class)
    titles = titles[:MOST_CHARTS]
    names = list(dict.fromkeys(label for title in titles for label in read.of_class[title]))
    complete = [label for label in names if all(label in read.of_class[title] for title in titles)]
    kept = complete[:MOST_ROWS]
    return Factor(
        name="class",
        columns=tuple(about(title, task) for title in titles),
        sizes=("n",),
        levels=tuple(
            Level(
                label=visible(label),
                sizes=(read.of_class[titles[0]][label].n,),
                entries=tuple(read.of_class[title][label] for title in titles),
                plotted=place < MOST_CLASSES,
            )
            for place, label in enumerate(kept)
        ),
        hidden=len(names) - len(kept),
        things=("class", "classes"),
        whole=tuple(read.whole.get(title) for title in titles),
    )


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
            f"The {len(factor.levels)} largest {things} are shown; {factor.hidden:,} more are not,"
            " but the Record has their counts."
        )
    if factor.columns and shown < len(factor.levels):
        yield f"The charts show the {shown} largest {things}; the table below them has more."


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
    alike = [e for level in levels for e in level.entries if e.about.span == column.span]
    rows = [
        {"label": f"△ {level.label}" if level.small else level.label, "value": e.value, "low": e.low, "high": e.high,
         "text": e.shown if e.defined else f"∅ {e.shown}", "small": e.short}
        for level in levels for e in (level.entries[place],)
    ]  # fmt: skip
    data: dict[str, Any] = {"title": column.name, "rows": rows}
    data["holds"] = [x for e in alike for x in (e.low, e.value, e.high) if x is not None]
    if whole is not None and whole.value is not None:
        data["reference"] = {"x": whole.value, "text": ""}
    return Chart("intervals", (data,))


def _level_table(factor: Factor, level: str) -> Table:
    rows = (
        row_of(
            Cell(row.label, "△", below=f"only {counted(row.rows, 'row')}", tone="warn") if row.small else row.label,
            *row.sizes,
            *map(number_cell, row.entries),
        )
        for row in factor.levels
    )
    sizes = (
        Column(size, kind="number", reach=Reach.REPORT if i and factor.columns else Reach.ALL)
        for i, size in enumerate(factor.sizes)
    )
    return Table(
        name=f"Measures by {factor.name}",
        caption=f"Measures by {factor.name}, with {level} intervals",
        columns=(
            Column(factor.things[0], kind="name", width=1.8),
            *sizes,
            *(Column(column.name, kind="number", width=1, typed=column.measure) for column in factor.columns),
        ),
        rows=tuple(rows),
        small=len(factor.columns) > len(OF_CLASS),
        things=factor.things,
        hidden=factor.hidden,
    )


def _spread_blocks(record: Record, name: str, factor: Factor) -> Iterator[Block]:
    """Whether sites differ by more than chance; nothing for a Record that was not merged."""
    by_measure = {test["measure"]: test for test in record.get("heterogeneity", ()) if test["factor"] == name}
    rows = tuple(
        row_of(
            Cell(column.name, typed=column.measure),
            _end(test["lowest"]),
            _end(test["highest"]),
            chance_shown(float(test["p"])),
            in_hundred(float(test["i_squared"])),
            Cell(prose(test["method"]), below=_left_out(test["left_out"])),
        )
        for column in factor.columns
        if (test := by_measure.get(column.measure)) is not None
    )
    if not rows:
        return
    yield Paragraph(sentences.SPREAD)
    yield Table(
        name=f"Differences between {factor.name}",
        caption=f"Differences between {factor.name}s",
        columns=(
            Column("measure", width=2),
            Column("lowest", kind="name", width=2),
            Column("highest", kind="name", width=2),
            Column("p", kind="number"),
            Column("beyond chance", kind="number"),
            Column("method", width=2, reach=Reach.REPORT),
        ),
        rows=rows,
    )


def _end(end: dict[str, Any]) -> str:
    value = real(end["value"])
    return f"{'?' if value is None else figure(value)} ({visible(end['level'])})"


def _left_out(levels: Sequence[object]) -> str:
    return f"without {listed(levels, most=3)}: no value or no interval there" if levels else ""
