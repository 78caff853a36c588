# SPDX-License-Identifier: Apache-2.0
"""Multi-label classification: a set of true labels and a set of predicted labels for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from assay.core.errors import RowsError
from assay.core.task import Counted, Example, Option, Request, Role
from assay.core.text import counted, listed
from assay.tasks.by_unit import UnitTask
from assay.tasks.multilabel.blocks import label_blocks, read_figures
from assay.tasks.multilabel.compare import PairedSets, compare_sets
from assay.tasks.multilabel.estimates import LabelEstimates
from assay.tasks.multilabel.table import LabelTable, stack_tables
from assay.tasks.multilabel.tally import LabelSets
from assay.tasks.task_settings import TaskSettings

if TYPE_CHECKING:
    from assay.inference.findings import Finding


class Multilabel(UnitTask):
    """Sets of labels."""

    name = "multilabel"
    says = "sets of labels, row by row"
    roles = (
        Role(
            name="truth",
            holds="label sets",
            kind="label",
            says="label sets: an indicator matrix, a column for each label (a,b,c), a column of lists, or text",
        ),
        Role(
            name="predicted",
            holds="label sets",
            kind="label",
            required=False,
            by_model=True,
            says="predicted label sets, in the form of the truth",
        ),
        Role(
            name="score",
            holds="a number for each label",
            kind="label",
            required=False,
            by_model=True,
            says="a score for each label: a matrix, or one column a label (a,b,c)",
        ),
    )
    options = (
        Option(name="labels", says="the declared labels, in the order of the columns", several=True),
        Option(name="separator", says='what stands between labels in a text, or "json" for lists in JSON'),
        Option(name="form", says="how arrays hold label sets", choices=("matrix", "sets", "text")),
        Option(
            name="threshold",
            says="score from which a label is predicted: one number, or LABEL=number",
            several=True,
            by_name=True,
        ),
        Option(name="scores", says="what scores are", choices=("score", "probability"), default="score"),
        Option(
            name="empty_is_set", says="read an empty field as an empty set, not as missing", kind=bool, default=False
        ),
        Option(name="basis", says="why these measures were chosen (TS 4213:2022, 6.5.1)"),
    )
    tally, paired, view = LabelSets, PairedSets, LabelEstimates
    sums = cast("Any", LabelTable)
    unit = "row"
    in_scope = True
    headline = ("jaccard_samples", "exact_match_ratio", "hamming_loss", "f1_micro", "f1_macro", "jaccard_dataset")
    examples = (
        Example(
            name="moods",
            says="moods of 180 made-up songs: six labels, a score for each, thresholds of 0.5",
            given={
                "truth": "happy,calm,sad,angry,amazed,quiet",
                "score": "s_happy,s_calm,s_sad,s_angry,s_amazed,s_quiet",
            },
            options={"threshold": 0.5},
            data="moods.csv",
            group=("era",),
        ),
    )

    def read(self, request: Request) -> Counted:
        """Read and count label sets."""
        from assay.tasks.multilabel.readers import read_sets

        return read_sets(request)

    def read_models(self, request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
        """The same for several models."""
        from assay.tasks.multilabel.readers import read_sets

        return read_sets(request, models)

    def describe(self, tally: LabelSets) -> dict[str, object]:
        """Labels, units and empty sets."""
        return {"labels": list(tally.labels), "units": tally.independent, "empty_sets": tally.rows_empty}

    def sections(self, tally: LabelSets, settings: TaskSettings) -> dict[str, object]:
        """What figures need."""
        return {"figures": read_figures(tally, self.estimates(tally, settings))}

    blocks = staticmethod(label_blocks)

    def unit_values(self, tally: LabelSets) -> dict[str, dict[str, float | None]]:
        """The leading measures of every unit alone."""
        if tally.units is None or tally.units.ids is None:
            return {}
        return self.value_units(tally.units.ids, stack_tables(tally.labels, tally.units.sums))

    def compare(self, paired: PairedSets, settings: TaskSettings) -> Iterator[Finding]:
        """Losses row by row, averages, and label by label."""
        return compare_sets(paired, settings, self.compared_measures(settings))

    def check_alike(self, new: LabelSets, reference: LabelSets) -> None:
        """The same labels."""
        if set(new.labels) != set(reference.labels):
            raise RowsError(
                "tally-mismatch",
                "the reference has other labels",
                found=listed(reference.labels),
                known=listed(new.labels),
                fix="count both with the same labels: labels=[...] (--labels)",
            )

    def check_mergeable(self, first: LabelSets, other: LabelSets) -> None:
        """A part may lack some of the labels, unless there are scores."""
        if first.scores or other.scores:
            self.check_alike(first, other)

    def align(self, part: LabelSets, whole: LabelSets) -> LabelSets:
        """A part over all labels, also those that nobody bears there."""
        return part.with_labels(whole.labels)

    def shareable(self, tally: LabelSets, smallest: int) -> tuple[LabelSets, list[str]]:
        """Counts and cross products show few rows where a cell is small."""
        if small := self.small_cells(tally, smallest):
            raise RowsError(
                "cell-too-small",
                f"fewer than {smallest} rows in {counted(len(small), 'cell')} of the tally",
                found="; ".join(small[:3]),
                fix="send more rows together, or let every cell out if your policy allows it: smallest_cell=1",
            )
        return tally, []

    def small_cells(self, tally: LabelSets, smallest: int) -> list[str]:
        """Labels with few true or false positives or misses, set sizes of few rows, and pairs of errors of few rows."""
        if smallest <= 1:
            return []
        if tally.units is not None or tally.scores:
            return ["sums of single units, or scores of single rows"]
        names = ("predicted and true", "predicted, not true", "true, not predicted")
        small = [
            f"{label} {names[kind]}: {int(n)}"
            for kind, row in enumerate(tally.counts)
            for label, n in zip(tally.labels, row, strict=True)
            if 0 < n < smallest
        ]
        small += [
            f"{t} true and {p} predicted labels, {b} in both: {n}"
            for t, p, b, n in tally.sizes.tolist()
            if n < smallest
        ]
        if tally.cross is not None and not small:
            pairs = int(((tally.cross > 0) & (tally.cross < smallest)).sum())
            small += [f"{pairs} pairs of labels"] if pairs else []
        return small


TASK: Final = cast("Any", Multilabel())  # a Task; its methods take their own tally
