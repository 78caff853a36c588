# SPDX-License-Identifier: Apache-2.0
"""The report of an assessment of any task: what all tasks show, and between it the sections of the task itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.blocks import Card, Reach, Section, section
from assay.core.task import Task, find_task
from assay.core.text import counted, visible
from assay.report import sentences
from assay.report.blocks import environment
from assay.report.blocks.data_sources import data_blocks, data_title
from assay.report.blocks.decisions import decision_blocks, verdicts
from assay.report.blocks.estimates import (
    Estimates,
    glossary,
    glossary_fold,
    headline_blocks,
    lost_blocks,
    measure_blocks,
    method_blocks,
    read_estimates,
)
from assay.report.blocks.groups import Factor, class_blocks, group_blocks, read_factors, read_things
from assay.report.estimate_rows import Entry, prose
from assay.report.sections import Remark, Report

MOST_HEADLINES: Final = 8


@dataclass(frozen=True)
class TaskDocument:
    """A Record of an assessment, read once for all sections."""

    record: Record

    @cached_property
    def task(self) -> Task:
        """The task of the Record."""
        return find_task(str(self.record["task"]))

    @cached_property
    def estimates(self) -> Estimates:
        """Every estimate, sorted by what it speaks of."""
        return read_estimates(self.record)

    @cached_property
    def headline(self) -> tuple[Entry, ...]:
        """The measures that a reader meets first."""
        whole = self.estimates.whole
        return tuple([whole[name] for name in self.task.headline if name in whole] or list(whole.values()))[
            :MOST_HEADLINES
        ]

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The groups."""
        return read_factors(self.record, self.estimates, self.headline)

    @cached_property
    def classes(self) -> Factor | None:
        """The classes, labels or outputs one by one."""
        return read_things(self.estimates, str(self.record["task"]), self.task.headline)

    @property
    def level(self) -> str:
        """The level of the intervals."""
        return sentences.percent(float(self.record["plan"]["level"]))

    def report(self) -> Report:
        """The whole report."""
        return Report(
            title=self._title(),
            kind=self.task.name.replace("_", " "),
            about="",
            level=self.level,
            verdicts=tuple(self._verdicts()),
            opening=self.opening(),
            remarks=tuple(self.remarks()),
            facts=tuple(self._facts()),
            sections=tuple(part for part in self._sections() if part.blocks),
        )

    def _title(self) -> str:
        title, rows = environment.title(self.record), environment.rows(self.record)
        return title.replace(rows, self._counted_units()) if title.endswith(rows) else title

    def _verdicts(self) -> Iterator[Any]:
        if self.record.get("conformity", {}).get("rows"):
            from assay.report.blocks.conformity import conformity_verdict

            yield conformity_verdict(self.record)
        if (decided := verdicts(self.record)) is not None:
            yield decided.verdict

    def _facts(self) -> Iterator[tuple[str, str]]:
        record, plan = self.record, self.record["plan"]
        units = record.get("units")
        yield "task", self.task.name.replace("_", " ")
        yield "rows", f"{int(record['samples']):,}"
        if units is not None and units != record["samples"]:
            yield _plural(self.task.unit) if not plan["data"].get("unit") else "units", f"{int(units):,}"
        for role, column in plan.get("data", {}).get("columns", {}).items():
            yield f"{visible(role)} column", visible(column)
        for name, value in plan.get("options", {}).items():
            if value not in (None, [], {}) and name != "missing":
                shown = ", ".join(map(str, value)) if isinstance(value, list) else value
                yield visible(name.replace("_", " ")), prose(shown)
        yield "intervals", self.level
        if counted_at := record.get("environment", {}).get("counted_at"):
            yield "counted", visible(str(counted_at).replace("T", " ").replace("+00:00", " UTC"))

    def _sections(self) -> Iterator[Section]:
        record, read, level, decided = self.record, self.estimates, self.level, verdicts(self.record)
        known = glossary(read, self.classes.columns if self.classes is not None else ())
        places = {measure: f"g{place}" for place, measure in enumerate(known)}
        yield section("decisions", "Decisions", decision_blocks(decided) if decided is not None else ())
        yield section("headline", sentences.HEADLINE, headline_blocks(read, self.headline, level, 0))
        for part in self.task.blocks(record):
            carded = any(isinstance(block, Card) for block in part.blocks)
            yield part if carded else replace(part, blocks=(Card(part.blocks),))
        if self.classes is not None:
            yield section("classes", f"By {self.classes.name}", class_blocks(self.classes, level))
        yield section("groups", "Group by group", group_blocks(record, self.factors, level))
        if record.get("fairness"):
            from assay.fairness.fairness_sections import fairness_blocks

            yield from fairness_blocks(record["fairness"])
        yield section("lost", "Undefined and infinite values", lost_blocks(read, level), reach=Reach.DIGEST)
        yield section("measures", "All measures", measure_blocks(read, level, places), folded=True, reach=Reach.REPORT)
        if record.get("conformity", {}).get("rows"):
            from assay.report.blocks.conformity import conformity_blocks, control_blocks, plan_blocks

            yield section("conformity", "Conformity", conformity_blocks(record))
            yield section("controls", "Controls", control_blocks(record), reach=Reach.REPORT)
            yield section("plan", "The plan", plan_blocks(record), reach=Reach.FULL)
        yield section("data", data_title(record), data_blocks(record))
        drawn = any(read.methods.values())
        settings = environment.settings(record, drawn=drawn, weighted=False)
        background = (*environment.background_blocks(record), glossary_fold(known, places))
        method = (*method_blocks(read, settings), Card(background, "folds"))
        yield section("method", "How it was computed", method, reach=Reach.REPORT)

    def opening(self) -> str:
        """The first sentence: what was assessed, and the leading measure with its interval."""
        what = self._counted_units()
        if not self.headline:
            return f"{what} were assessed."
        lead = self.headline[0]
        if not lead.defined:
            return f"{what} were assessed; {lead.about.name} is undefined: {lead.reason}."
        sure = f", {self.level} interval {lead.interval}" if lead.interval else f" ({lead.missing})"
        return f"{what} were assessed: {lead.about.name} {lead.shown}{sure}."

    def _counted_units(self) -> str:
        units, rows = self.record.get("units"), int(self.record["samples"])
        if units is None or units == rows:
            return counted(rows, self.task.unit, _plural(self.task.unit))
        return f"{counted(rows, 'row')} of {counted(int(units), self.task.unit, _plural(self.task.unit))}"

    def remarks(self) -> Iterator[Remark]:
        """What to know before trusting a number."""
        rows: Mapping[str, Any] = self.record["rows"]
        read = int(rows["read"])
        if excluded := {prose(why): int(n) for why, n in rows["excluded"].items()}:
            out = sum(excluded.values())
            were = f"{out:,} of {counted(read, 'row')} {'was' if out == 1 else 'were'} left out"
            yield Remark(sign="−", word="left out", sentence=f"{were}: {', '.join(excluded)}.")
        if undefined := self.estimates.undefined:
            verb = "is" if len(undefined) == 1 else "are"
            said = f"{len(undefined)} of {len(self.estimates.whole)} measures {verb} undefined here; each says why."
            yield Remark(sign="∅", word="undefined", sentence=said)


def _plural(unit: str) -> str:
    return f"{unit[:-1]}ies" if unit.endswith("y") and unit[-2:-1] not in "aeiou" else f"{unit}s"
