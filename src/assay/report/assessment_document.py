# SPDX-License-Identifier: Apache-2.0
"""The report of classes: the confusion matrix, the classes and the scores beside what every task shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from assay.assess.record.record import Record
from assay.core.blocks import Block, Card, Figure, Paragraph, Section, section
from assay.core.text import counted, listed, quoted, visible
from assay.report import sentences
from assay.report.blocks import environment
from assay.report.blocks.confusion_matrix import (
    ClassCounts,
    is_unbalanced,
    matrix,
    matrix_blocks,
    missed,
    read_counts,
    worst_mistake,
)
from assay.report.blocks.decision_point import OPTIMISTIC, Scoring, threshold_block
from assay.report.blocks.estimates import average_blocks
from assay.report.blocks.groups import OF_CLASS, Factor, class_blocks, read_classes
from assay.report.blocks.score_figures import roc
from assay.report.blocks.scores import reliability_chart, score_blocks
from assay.report.estimate_rows import Entry, amount, prose
from assay.report.sections import Remark, Report, Verdict
from assay.report.task_document import Document

HEADLINE: Final = (
    "accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1", "f1_macro", "f1_weighted",
    "precision_macro", "recall_macro", "matthews_corrcoef", "cohen_kappa", "auroc", "average_precision", "brier_score",
    "expected_calibration_error", "auroc_macro", "log_loss_multiclass", "mean_cost",
)  # fmt: skip
BROAD: Final = 5
"""Classes from which the matrix takes a row of its own."""


def report_of(record: Record) -> Report:
    """The report of a Record of any kind."""
    if record["kind"] == "comparison":
        from assay.report.blocks.comparison import comparison_report

        return comparison_report(record)
    return document_of(record).report()


def document_of(record: Record) -> Document:
    """The document of a Record of an assessment."""
    return Assessed(record) if "confusion" in record["tallies"] else Document(record)


@dataclass(frozen=True)
class Assessed(Document):
    """A Record of an assessment of classes, read once for all sections."""

    @cached_property
    def tally(self) -> ClassCounts:
        """The counts of classes."""
        return read_counts(self.record["tallies"]["confusion"])

    @property
    def leading(self) -> tuple[str, ...]:
        """Names of the measures that a reader meets first, of labels, of scores and of costs."""
        return HEADLINE

    @property
    def balanced(self) -> bool:
        """Whether all classes are about equally frequent."""
        return not is_unbalanced(self.tally)

    @cached_property
    def classes(self) -> Factor | None:
        """The classes one by one."""
        return read_classes(self.estimates, str(self.record["task"]), OF_CLASS, self.tally)

    @cached_property
    def scoring(self) -> Scoring | None:
        """What there is to say of scores."""
        return Scoring(self.record, self.level, self.tally.unit) if self.record.get("scores") else None

    @property
    def called(self) -> bool:
        """Whether rows have predicted labels; scores alone make none."""
        return bool(self.record["plan"].get("scores", {}).get("decided") != "none")

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.tally.weighted

    @property
    def opened(self) -> bool:
        """The matrix and the curves take the room."""
        return False

    @property
    def positive(self) -> str:
        """The positive class; nothing where there is none."""
        return quoted(self.record["positive"]) if self.record.get("positive") is not None else ""

    @property
    def about(self) -> str:
        """The positive class, as a title says it."""
        return f"positive class {self.positive}" if self.positive else ""

    @property
    def kind(self) -> str:
        """Binary, or how many classes there are."""
        k = len(self.tally.labels)
        return "binary" if self.record["task"] == "binary" else f"multi-class, {counted(k, 'class', 'classes')}"

    def own_facts(self) -> Iterator[tuple[str, str]]:
        """The total weight where rows are weighted, the classes, and the positive one."""
        if self.weighted:
            yield "total weight", amount(self.tally.total)
        yield "classes", f"{len(self.tally.labels):,}"
        if self.positive:
            yield "positive class", visible(self.record["positive"])

    def badges(self) -> Iterator[Verdict]:
        """Whether the baseline is beaten, what is missed, and whether there is a criterion."""
        accuracy, baseline = self.estimates.whole.get("accuracy"), self.estimates.known_baseline
        if accuracy is not None and accuracy.defined and baseline is not None and self.called:
            yield _against_baseline(accuracy, baseline)
        if self.called and (lost := missed(self.tally, self.record.get("positive"))):
            yield lost
        yield from super().badges()

    def glance(self) -> Iterator[Block]:
        """The first screen: matrix, headline measures, ROC curve with the decision in force, and reliability."""
        first: list[Block] = []
        if self.called:
            said = worst_mistake(self.tally)
            first = [matrix(self.tally), Paragraph(said, "soft")]
        broad, curved = self.called and len(self.tally.labels) > BROAD, self.scoring is not None and self.scoring.curves
        look = "stack broad" if broad else "stack" if curved else "stack side"
        yield Card((*first, *self.headline_blocks()), look)
        if self.scoring is not None and curved:
            charts = [roc(self.scoring.curves, self.scoring.place, self.level), reliability_chart(self.scoring)]
            for chart in filter(None, charts):
                yield Figure(charts=(chart,), alt=str(chart.data[0]["title"]))  # type: ignore[index]

    def own_sections(self) -> Iterator[Section]:
        """The threshold, the matrix as Schlosser draws it, and classes one by one."""
        read, level = self.estimates, self.level
        if self.scoring is not None:
            yield section("moving", "Move the threshold", threshold_block(self.scoring))
        yield section("matrix", "Confusion matrix", matrix_blocks(self.tally) if self.called else ())
        yield section("classes", "Class by class", class_blocks(self.classes, level) if self.classes else ())
        yield section("averages", "Averages over classes", average_blocks(read, level), listed="Averages")

    def later_sections(self) -> Iterator[Section]:
        """Scores and their curves."""
        if self.scoring is not None:
            yield section("scores", "Scores and thresholds", score_blocks(self.scoring))

    def opening(self) -> str:
        """The first sentence: how many rows were classified rightly, how sure that is, and against what."""
        rows, whole = environment.rows(self.record), self.estimates.whole
        accuracy, baseline = whole.get("accuracy"), self.estimates.known_baseline
        if accuracy is None:
            return f"{rows} were assessed on {counted(len(whole) or len(self.record['estimates']), 'measure')}."
        if not accuracy.defined:
            return f"{rows} were assessed; accuracy is undefined: {accuracy.reason}."
        of = f"a total weight of {amount(self.tally.total)} on {rows}" if self.weighted else rows
        right = amount(sum(self.tally.hits))
        trivial = (
            f"; always calling the most frequent class would give {baseline.shown}" if baseline is not None else ""
        )
        without = f" ({sentences.no_interval(accuracy.missing)})"
        sure = f", {self.level} interval {accuracy.interval}" if accuracy.interval else without
        verb = "was" if right == "1" else "were"
        return f"Of {of}, {right} {verb} classified rightly: accuracy {accuracy.shown}{sure}{trivial}."

    def own_remarks(self) -> Iterator[Remark]:
        """Classes that never occur, thresholds that flatter, and weights."""
        tally = self.tally
        absences = (("never predicted", tally.called), ("never true", tally.actual)) if self.called else ()
        for word, margin in absences:
            absent = [label for label, n in zip(tally.labels, margin, strict=True) if not n]
            if absent:
                was = "was" if len(absent) == 1 else "were"
                verb = "never occurred in truth" if word == "never true" else f"{was} never predicted"
                said = f"{counted(len(absent), 'class', 'classes')} {verb}: {listed(absent)}."
                yield Remark(sign="∅", word=word, sentence=prose(said))
        for point in self.record.get("operating_points", ()):
            if point.get("optimistic"):
                said = f"The threshold {point['threshold']:.6g} was {OPTIMISTIC}."
                yield Remark(sign="△", word="optimistic threshold", sentence=said)
        if tally.weighted:
            yield Remark(sign="△", word="weighted", sentence=sentences.WEIGHTED)


def _against_baseline(accuracy: Entry, baseline: Entry) -> Verdict:
    """Whether accuracy is above what always calling the most frequent class would give, by its interval."""
    value, floor = accuracy.value or 0.0, baseline.value or 0.0
    low, high = (value if end is None else end for end in (accuracy.low, accuracy.high))
    if low > floor:
        return Verdict("✓", "beats the baseline", "good")
    return Verdict("✗", "worse than the baseline" if high < floor else "not shown to beat the baseline", "bad")
