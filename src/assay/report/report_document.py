# SPDX-License-Identifier: Apache-2.0
"""The report of an assessment of any task: what all tasks show, and between it the sections of the task itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.blocks import Block, Card, Chart, Figure, Fold, Grid, Reach, Section, Threshold, section
from assay.core.blocks.estimate_rows import prose
from assay.core.blocks.lead import Remark, Verdict
from assay.core.task import find_task
from assay.core.text import counted, percent, plural, visible
from assay.core.values import SMALL
from assay.report import sentences
from assay.report.blocks import background, estimates
from assay.report.blocks.decisions import claim_blocks, claims_verdict, decision_blocks, verdicts
from assay.report.blocks.estimates import Estimates, Floor
from assay.report.blocks.groups import class_blocks, group_blocks, read_classes, read_factors
from assay.report.sections import Report, flat

MOST_HEADLINES: Final = 8
MOST_PICTURES: Final = 2
BROAD: Final = 5
"""Names from which a grid takes a row of its own."""
NO_CRITERION: Final = Verdict("○", "no criterion set", "open")


def report_of(record: Record) -> Report:
    """The report of a Record of any kind."""
    if record["kind"] == "comparison":
        from assay.report.blocks.comparison import comparison_report

        return comparison_report(record)
    return Document(record).report()


class Document:
    """A Record of an assessment, read once for all sections."""

    def __init__(self, record: Record) -> None:
        self.record, self.task = record, find_task(str(record["task"]))
        self.level = percent(float(record["plan"]["level"]))
        self.lead = lead = self.task.lead(record)
        self.kind = lead.kind or self.task.name.replace("_", " ")
        self.estimates = Estimates(record)
        whole = self.estimates.whole
        named = [whole[name] for name in lead.headline or self.task.headline if name in whole]
        self.headline = tuple(named or [v for v in whole.values() if v.about.family != "counts"][:MOST_HEADLINES])
        base = whole.get(lead.baseline.measure) if lead.baseline is not None else None
        self.floor = Floor(lead.baseline, base) if lead.baseline is not None and base and base.defined else None
        self.headline_table = estimates.headline_table(self.headline, self.level, self.floor)
        self.headline_chart = estimates.headline_chart(self.headline, self.level, lead.order, self.floor)
        self.factors = read_factors(record, self.estimates, self.headline, lead)
        wanted = lead.of_class or self.task.headline
        self.classes = read_classes(self.estimates, str(record["task"]), wanted, lead.classes)
        # What is exchangeable: what a column names, else what the task says.
        unnamed = self.task.unit != "row" and not record["plan"].get("data", {}).get("unit")
        self.unit = self.task.unit if unnamed or record.get("units") == record["samples"] else "unit"

    @cached_property
    def parts(self) -> tuple[Section, ...]:
        """The sections that the task itself builds."""
        return tuple(self.task.blocks(_with_thumbnails(self.record)))

    def report(self) -> Report:
        """The whole report."""
        return Report(
            title=background.title(self.record, self._counted_units()),
            kind=self.kind,
            about=self.lead.about,
            verdicts=tuple(self.verdicts()),
            badges=(*self.lead.badges, *(() if self.record.get("decisions") else (NO_CRITERION,))),
            opening=self.opening(),
            remarks=tuple(self.remarks()),
            facts=tuple(self.facts()),
            sections=tuple(self.sections()),
        )

    def verdicts(self) -> Iterator[Verdict]:
        """What a plan, criteria and claims come to."""
        if self.record.get("conformity", {}).get("rows"):
            from assay.report.blocks.conformity import conformity_verdict

            yield conformity_verdict(self.record)
        yield from verdicts(self.record).verdict
        if self.record.get("claims"):
            yield claims_verdict(self.record)

    def facts(self) -> Iterator[tuple[str, str]]:
        """What a reader asks first."""
        record, plan = self.record, self.record["plan"]
        data, planned = plan.get("data", {}), plan.get("given") == "plan"
        if planned and data.get("format"):
            yield "data", visible(data["from"])
        yield "rows", f"{int(record['samples']):,}"
        if (units := record.get("units")) is not None and units != record["samples"]:
            yield plural(self.unit), f"{int(units):,}"
        yield from self.lead.facts
        for role, column in data.get("columns", {}).items():
            yield f"{visible(role)} column", visible(column)
        for name, value in plan.get("options", {}).items():
            if value not in (None, [], {}) and name != "missing":
                shown = ", ".join(map(str, value)) if isinstance(value, list) else value
                yield visible(name.replace("_", " ")), prose(shown)
        yield "intervals", self.level
        if planned:
            yield "conformity", visible(record["conformity"]["overall"])
        if counted_at := record.get("environment", {}).get("counted_at"):
            yield "counted", visible(str(counted_at).replace("T", " ").replace("+00:00", " UTC"))

    def glance(self) -> Iterator[Block]:
        """The first screen: the headline measures on one axis, and the first picture of each of the first sections."""
        charts, first = self.lead.charts, self.lead.first
        if charts is None:
            charts = tuple(filter(None, (_first_chart(part.blocks) for part in self.parts)))[:MOST_PICTURES]
        broad = any(isinstance(block, Grid) and len(block.labels) > BROAD for block in first)
        look = "stack broad" if broad else "stack" if charts else "stack side"
        lead: list[Block] = [*first]
        if self.headline_chart is not None:
            lead.append(Figure(charts=(self.headline_chart,), alt=sentences.HEADLINE))
        if self.headline:
            more, shown = counted(len(self.headline), "measure"), self.lead.opened
            lead.append(Fold(title="The numbers", more=more, blocks=(self.headline_table,), named=False, open=shown))
        yield Card(tuple(lead), look)
        for chart in charts:
            yield Figure(charts=(chart,), alt=str(chart.data[0]["title"]))  # type: ignore[index]

    def digest(self) -> Iterator[Block]:
        """The headline measures where there is no first screen."""
        if self.headline:
            yield replace(self.headline_table, reach=Reach.TEXT | Reach.NOTEBOOK)
            yield from estimates.terminal_blocks(self.headline, self.level, self.floor)
        if self.headline_chart is not None:
            yield Figure(charts=(self.headline_chart,), alt="", reach=Reach.NOTEBOOK)

    def own_sections(self, after: str = "") -> Iterator[Section]:
        """What only this task shows: first, or after the classes or the groups."""
        for part in self.parts:
            if part.after == after:
                drawn = any(isinstance(block, Card) for block in part.blocks)
                alone = drawn or all(isinstance(block, Threshold) for block in part.blocks)
                yield part if alone else replace(part, blocks=(Card(part.blocks),))

    def sections(self) -> Iterator[Section]:
        """Every section in order; those that are empty are not drawn."""
        record, read, level = self.record, self.estimates, self.level
        named = (*(value.about for value in read.whole.values()), *(self.classes.columns if self.classes else ()))
        known = {measure.measure: measure for measure in named}
        places = {measure: f"g{place}" for place, measure in enumerate(known)}
        yield section("glance", "At a glance", (Card(tuple(self.glance()), "glance"),), reach=Reach.FULL)
        yield section("decisions", "Decisions", decision_blocks(verdicts(record)))
        plan = record["plan"]
        if record.get("claims") or plan.get("comparisons") or plan.get("not_compared"):
            from assay.report.blocks.comparison import contest_blocks

            yield section("claims", "Claims", claim_blocks(record))
            yield section("comparison", "Against the other models", contest_blocks(record))
        yield section("headline", sentences.HEADLINE, self.digest(), reach=Reach.DIGEST)
        yield from self.own_sections()
        if self.classes is not None:
            title = "Class by class" if self.lead.classes is not None else f"By {self.classes.name}"
            yield section("classes", title, class_blocks(self.classes, level))
        yield from self.own_sections("classes")
        yield section("groups", "Group by group", group_blocks(record, self.factors, level))
        if record.get("fairness"):
            from assay.fairness.fairness_sections import fairness_blocks

            yield from fairness_blocks(record["fairness"])
        yield from self.own_sections("groups")
        yield section("lost", "Undefined and infinite values", estimates.lost_blocks(read, level), reach=Reach.DIGEST)
        yield section(
            "measures", "All measures", estimates.measure_blocks(read, level, places), folded=True, reach=Reach.REPORT
        )
        if record.get("conformity", {}).get("rows"):
            from assay.report.blocks.conformity import conformity_blocks, control_blocks, plan_blocks

            yield section("conformity", "Conformity", conformity_blocks(record))
            yield section("controls", "Controls", control_blocks(record), reach=Reach.REPORT)
            yield section("plan", "The plan", plan_blocks(record), reach=Reach.FULL)
        yield section("data", background.data_title(record), background.data_blocks(record))
        seed = plan.get("intervals", {}).get("seed")
        drawn = f"Draws start from seed {seed}: the same on every machine." if any(read.methods.values()) else ""
        settings = filter(None, (prose(drawn), *self.lead.choices))
        folds = (*background.background_blocks(record), estimates.glossary_fold(known, places))
        method = (*estimates.method_blocks(read, settings), Card(folds, "folds"))
        yield section("method", "How it was computed", method, reach=Reach.REPORT)

    def opening(self) -> str:
        """The first sentence: what was assessed, and the leading measure with its interval."""
        if self.lead.opening:
            return self.lead.opening
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
            return counted(rows, self.task.unit)
        return f"{counted(rows, 'row')} of {counted(int(units), self.unit)}"

    def remarks(self) -> Iterator[Remark]:
        """What to know before trusting a number."""
        rows = self.record["rows"]
        read = int(rows["read"])
        if excluded := {prose(why): int(n) for why, n in rows["excluded"].items()}:
            out = sum(excluded.values())
            were = f"{out:,} of {counted(read, 'row')} {'was' if out == 1 else 'were'} left out"
            yield Remark(sign="−", word="left out", sentence=f"{were}: {', '.join(excluded)}.")
        if rows["unmatched"]:
            lost = f"{int(rows['unmatched']):,} of {counted(read, 'row')} found no partner."
            yield Remark(sign="−", word="unmatched", sentence=lost)
        yield from self.lead.remarks
        if undefined := self.estimates.undefined:
            verb = "is" if len(undefined) == 1 else "are"
            said = f"{len(undefined)} of {len(self.estimates.whole)} measures {verb} undefined here; each says why."
            yield Remark(sign="∅", word="undefined", sentence=said)
        if small := sum(level.small for factor in self.factors for level in factor.levels):
            have = f"{counted(small, 'group')} {'has' if small == 1 else 'have'} fewer than {SMALL} rows"
            said = f"{have} and {'is' if small == 1 else 'are'} marked △."
            yield Remark(sign="△", word="small groups", sentence=said)


def _with_thumbnails(record: Record) -> Mapping[str, Any]:
    """The Record with the pictures that the call which made it was given; one that was loaded has none."""
    if not record.thumbnails:
        return record
    pictures = [
        {**picture, "png": record.thumbnails.get(picture["image"])} for picture in record["figures"]["pictures"]
    ]
    return {**record, "figures": {**record["figures"], "pictures": pictures}}


def _first_chart(blocks: Iterable[Block]) -> Chart | None:
    """The first chart among blocks; a photograph is not repeated."""
    charts = (block.charts[0] for block in flat(blocks) if isinstance(block, Figure) and block.charts)
    return next((chart for chart in charts if not chart.data[0].get("png")), None)  # type: ignore[attr-defined]
