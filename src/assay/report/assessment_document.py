# SPDX-License-Identifier: Apache-2.0
"""The report of an assessment: what is shown and in which order, before any renderer decides how it looks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from assay.assess.record.record import Record
from assay.core.blocks import Card, Reach, Section, section
from assay.core.text import counted, listed, quoted
from assay.report import sentences, sentences_scores
from assay.report.blocks import environment
from assay.report.blocks.confusion_matrix import ClassCounts, counts, matrix_blocks
from assay.report.blocks.data_sources import data_blocks, data_title
from assay.report.blocks.decisions import decision_blocks, verdicts
from assay.report.blocks.estimates import (
    Estimates,
    average_blocks,
    glossary,
    glossary_fold,
    headline_blocks,
    lost_blocks,
    measure_blocks,
    method_blocks,
    read_estimates,
)
from assay.report.blocks.groups import Factor, class_blocks, group_blocks, read_classes, read_factors
from assay.report.estimate_rows import Entry, amount, prose
from assay.report.sections import Remark, Report
from assay.tasks.classification.estimates import SMALL

if TYPE_CHECKING:
    from assay.report.blocks.curves import Scoring
    from assay.report.sections import Verdict


def fairness_sections(record: Record) -> Iterator[Section]:
    """Gaps between groups, where fairness was asked for."""
    if record.get("fairness"):
        from assay.fairness.fairness_sections import fairness_blocks

        yield from fairness_blocks(record["fairness"])


def report_of(record: Record) -> Report:
    """The report of a Record of any kind."""
    if record["kind"] == "comparison":
        from assay.report.blocks.comparison import comparison_report

        return comparison_report(record)
    if "confusion" not in record["tallies"]:
        from assay.report.task_document import TaskDocument

        return TaskDocument(record).report()
    return Assessed(record).report()


@dataclass(frozen=True)
class Assessed:
    """A Record of an assessment, read once for all sections."""

    record: Record

    @cached_property
    def tally(self) -> ClassCounts:
        """The counts of classes."""
        return counts(self.record["tallies"]["confusion"])

    @cached_property
    def estimates(self) -> Estimates:
        """Every estimate, sorted by what it speaks of."""
        return read_estimates(self.record)

    @cached_property
    def headline(self) -> tuple[Entry, ...]:
        """The measures that a reader meets first."""
        return self.estimates.headline(str(self.record["task"]))

    @cached_property
    def classes(self) -> Factor | None:
        """The classes one by one."""
        return read_classes(self.estimates, self.tally)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The groups."""
        return read_factors(self.record, self.estimates, self.headline)

    @cached_property
    def scoring(self) -> Scoring | None:
        """What there is to say of scores."""
        if not self.record.get("scores"):
            return None
        from assay.report.blocks.curves import read_scores

        return read_scores(self.record, self.record["estimates"])

    @property
    def called(self) -> bool:
        """Whether rows have predicted labels; scores alone make none."""
        return bool(self.record["plan"].get("scores", {}).get("decided") != "none")

    @property
    def level(self) -> str:
        """The level of the intervals."""
        return sentences.percent(float(self.record["plan"]["level"]))

    @property
    def positive(self) -> str:
        """The positive class; nothing where there is none."""
        return quoted(self.record["positive"]) if self.record.get("positive") is not None else ""

    def report(self) -> Report:
        """The whole report."""
        record, tally = self.record, self.tally
        k = len(tally.labels)
        return Report(
            title=environment.title(record),
            kind="binary" if record["task"] == "binary" else f"multi-class, {counted(k, 'class', 'classes')}",
            about=f"positive class {self.positive}" if self.positive else "",
            level=self.level,
            verdicts=tuple(self._verdicts()),
            opening=self.opening(),
            remarks=tuple(self.remarks()),
            facts=tuple(environment.facts(record, k, tally.total if tally.weighted else None)),
            sections=tuple(part for part in self._sections() if part.blocks),
        )

    def _verdicts(self) -> Iterator[Verdict]:
        """What a plan, criteria and claims come to."""
        if self.record.get("conformity", {}).get("rows"):
            from assay.report.blocks.conformity import conformity_verdict

            yield conformity_verdict(self.record)
        if (decided := verdicts(self.record)) is not None:
            yield decided.verdict
        if self.record.get("claims"):
            from assay.report.blocks.claims import claims_verdict

            yield claims_verdict(self.record)

    def _claims(self) -> Iterator[Section]:
        plan = self.record["plan"]
        if self.record.get("claims") or plan.get("comparisons") or plan.get("not_compared"):
            from assay.report.blocks.claims import claim_blocks, contest_blocks

            yield section("claims", "Claims", claim_blocks(self.record))
            yield section("comparison", "Against the other models", contest_blocks(self.record))

    def _conformity(self) -> Iterator[Section]:
        if self.record.get("conformity", {}).get("rows"):
            from assay.report.blocks.conformity import conformity_blocks, control_blocks, plan_blocks

            yield section("conformity", "Conformity", conformity_blocks(self.record))
            yield section("controls", "Controls", control_blocks(self.record), reach=Reach.REPORT)
            yield section("plan", "The plan", plan_blocks(self.record), reach=Reach.FULL)

    def _sections(self) -> Iterator[Section]:
        record, read, level, decided = self.record, self.estimates, self.level, verdicts(self.record)
        known = glossary(read, self.classes.columns if self.classes is not None else ())
        places = {measure: f"g{i}" for i, measure in enumerate(known)}
        yield section("decisions", "Decisions", decision_blocks(decided) if decided is not None else ())
        yield from self._claims()
        k = len(self.tally.labels)
        yield section("headline", sentences.HEADLINE, headline_blocks(read, self.headline, level, k))
        yield section("matrix", "Confusion matrix", matrix_blocks(self.tally) if self.called else ())
        yield section("classes", "Class by class", class_blocks(self.classes, level) if self.classes else ())
        yield section("averages", "Averages over classes", average_blocks(read, level), listed="Averages")
        yield section("groups", "Group by group", group_blocks(record, self.factors, level))
        yield from fairness_sections(record)
        yield from self._scores()
        lost = lost_blocks(read, level)
        yield section("lost", "Undefined and infinite values", lost, reach=Reach.DIGEST)
        yield section("measures", "All measures", measure_blocks(read, level, places), folded=True, reach=Reach.REPORT)
        yield from self._conformity()
        yield section("data", data_title(record), data_blocks(record))
        drawn = any(read.methods.values())
        settings = environment.settings(record, drawn=drawn, weighted=self.tally.weighted)
        background = (*environment.background_blocks(record), glossary_fold(known, places))
        method = (*method_blocks(read, settings), Card(background, "folds"))
        yield section("method", "How it was computed", method, reach=Reach.REPORT)

    def _scores(self) -> Iterator[Section]:
        if self.scoring is None:
            return
        from assay.report.blocks.scores import score_blocks

        blocks = score_blocks(self.scoring, self.level, self.tally.unit)
        yield section("scores", "Scores and thresholds", blocks)

    def opening(self) -> str:
        """The first sentence: how many rows were classified rightly, how sure that is, and against what."""
        rows, whole = environment.rows(self.record), self.estimates.whole
        accuracy, baseline = whole.get("accuracy"), self.estimates.baseline
        if accuracy is None:
            return f"{rows} were assessed on {counted(len(whole) or len(self.record['estimates']), 'measure')}."
        if not accuracy.defined:
            return f"{rows} were assessed; accuracy is undefined: {accuracy.reason}."
        of = f"a total weight of {amount(self.tally.total)} on {rows}" if self.tally.weighted else rows
        right = amount(sum(self.tally.hits))
        trivial = ""
        if baseline is not None and baseline.defined:
            trivial = f"; always calling the most frequent class would give {baseline.shown}"
        without = f" ({sentences.no_interval(accuracy.missing)})"
        sure = f", {self.level} interval {accuracy.interval}" if accuracy.interval else without
        verb = "was" if right == "1" else "were"
        return f"Of {of}, {right} {verb} classified rightly: accuracy {accuracy.shown}{sure}{trivial}."

    def _absent_classes(self) -> Iterator[Remark]:
        tally = self.tally
        for word, margin in (("never predicted", tally.called), ("never true", tally.actual)):
            absent = [label for label, n in zip(tally.labels, margin, strict=True) if not n]
            if absent:
                verb = "never occurred in truth" if word == "never true" else f"{_was(len(absent))} never predicted"
                said = f"{counted(len(absent), 'class', 'classes')} {verb}: {listed(absent)}."
                yield Remark(sign="∅", word=word, sentence=prose(said))

    def remarks(self) -> Iterator[Remark]:
        """What to know before trusting a number."""
        rows, tally, undefined = self.record["rows"], self.tally, self.estimates.undefined
        read = int(rows["read"])
        if excluded := {prose(why): int(n) for why, n in rows["excluded"].items()}:
            out = sum(excluded.values())
            were = f"{out:,} of {counted(read, 'row')} {'was' if out == 1 else 'were'} left out"
            yield Remark(sign="−", word="left out", sentence=f"{were}: {', '.join(excluded)}.")
        if rows["unmatched"]:
            lost = f"{int(rows['unmatched']):,} of {counted(read, 'row')} found no partner."
            yield Remark(sign="−", word="unmatched", sentence=lost)
        yield from self._absent_classes() if self.called else ()
        if undefined:
            verb = "is" if len(undefined) == 1 else "are"
            said = f"{len(undefined)} of {len(self.estimates.whole)} measures {verb} undefined here; each says why."
            yield Remark(sign="∅", word="undefined", sentence=said)
        if small := sum(level.small for factor in self.factors for level in factor.levels):
            have = f"{counted(small, 'group')} {'has' if small == 1 else 'have'} fewer than {SMALL} rows"
            yield Remark(
                sign="△", word="small groups", sentence=f"{have} and {'is' if small == 1 else 'are'} marked △."
            )
        for point in self.record.get("operating_points", ()):
            if point.get("optimistic"):
                said = f"The threshold {point['threshold']:.6g} was {sentences_scores.OPTIMISTIC}."
                yield Remark(sign="△", word="optimistic threshold", sentence=said)
        if tally.weighted:
            yield Remark(sign="△", word="weighted", sentence=sentences.WEIGHTED)


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
