# SPDX-License-Identifier: Apache-2.0
"""Classification behind the contract of a task: two classes with a positive one, or more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.task import Drawn, ReportParts, Role
from assay.core.text import counted, listed, quoted
from assay.tally.labels.confusion import Confusion
from assay.tasks.classification.estimates import View
from assay.tasks.classification.settings import Settings
from assay.tasks.classification.tally import Classified

if TYPE_CHECKING:
    from assay.core.blocks import Section
    from assay.core.blocks.lead import Lead
    from assay.core.registry import Registry
    from assay.measures import Measure

SHOWN: Final = 3
"""Small cells that an error names."""


class Classification(ReportParts):
    """One true and one predicted class a row."""

    name = "classification"
    variants = ("binary", "multiclass")
    roles = (
        Role(name="truth", holds="labels"),
        Role(name="predicted", holds="labels", required=False),
        Role(name="score", holds="a number, or one for each class", required=False),
    )
    unit = "row"
    in_scope = True
    says = "one true and one predicted class a row, with scores, labels or both"
    options = ()
    headline = ("accuracy", "balanced_accuracy", "recall", "precision", "f1")
    examples = ()

    @property
    def registry(self) -> Registry[Measure]:
        """Every measure of labels, scores and costs."""
        from assay.measures import REGISTRY

        return REGISTRY

    def variant(self, tally: Classified) -> str:
        """Binary where there is a positive class."""
        return str(tally.task)

    def read_tally(self, content: Mapping[str, Any], plan: Mapping[str, Any]) -> Classified:
        """The tally of a Record, or of one level of a group."""
        from assay.tasks.classification.score_part import ScorePart

        scores = ScorePart.from_json(content["scores"], plan["scores"]) if "scores" in content else None
        confusion = Confusion.from_json(content["confusion"])
        units = None
        if "units" in content:
            from assay.tasks.classification.unit_part import UnitPart

            units = UnitPart.from_json(content["units"])
        return Classified(confusion=confusion, positive=plan["positive"], scores=scores, units=units)

    def read_settings(self, plan: Mapping[str, Any], labels: Iterable[Label] = ()) -> Settings:
        """The settings of a Record."""
        return Settings.from_json(dict(plan), tuple(labels))

    def unit_values(self, tally: Classified) -> dict[str, dict[str, float | None]]:
        """Rows and leading rates of each unit, by number: a tally holds no names of units."""
        if tally.units is None:
            return {}
        names = ("accuracy",) if tally.positive is None else ("accuracy", "recall", "precision")
        place = None if tally.positive is None else tally.labels.index(tally.positive)
        values = {}
        for number, (hits, actual, called) in enumerate(tally.units.margins, 1):
            pairs = [(hits.sum(), actual.sum())]
            pairs += [] if place is None else [(hits[place], actual[place]), (hits[place], called[place])]
            rates = [float(part / whole) if whole else None for part, whole in pairs]
            values[str(number)] = {"rows": float(actual.sum()), **dict(zip(names, rates, strict=True))}
        return values

    def describe(self, tally: Classified) -> dict[str, object]:
        """The classes, and the units where they are known."""
        units: dict[str, object] = {}
        if tally.units is not None:
            from assay.tasks.classification.unit_estimates import design_effect

            effect, sizes = design_effect(tally), np.sort(tally.units.sizes)
            by_unit = {"median": float(np.median(sizes)), "largest": float(sizes[-1]), "design_effect": effect}
            worth = None if effect is None else tally.rows / effect
            units = {"units": tally.units.units, "unit_sizes": {**by_unit, "effective_rows": worth}}
        return {"labels": list(tally.labels), "positive": tally.positive, **units}

    def statement(self, tally: Classified) -> dict[str, object]:
        """The positive class, and what was stated of the scores."""
        scores = {} if tally.scores is None else {"scores": tally.scores.facts()}
        return {"positive": tally.positive, **scores}

    def estimates(self, tally: Classified, settings: Settings, slice_: Mapping[str, Label] | None = None) -> View:
        """Every measure of labels and scores."""
        return View(tally, settings, slice_)

    def sections(self, tally: Classified, settings: Settings) -> dict[str, object]:
        """Curves and operating points, where there are scores."""
        if tally.scores is None:
            return {}
        from assay.tasks.classification.curves import sections

        return sections(tally, tally.scores, settings.wanted)

    def lead(self, record: Mapping[str, Any]) -> Lead:
        """The matrix, the baseline, what is missed, and the curves."""
        from assay.tasks.classification.blocks.class_report import class_lead

        return class_lead(record)

    def blocks(self, record: Mapping[str, Any]) -> Iterator[Section]:
        """The threshold, the matrix, averages and scores."""
        from assay.tasks.classification.blocks.class_report import class_sections

        return class_sections(record)

    def plot(self, record: Mapping[str, Any], name: str) -> Drawn | None:
        """Curves, reliability and the matrix."""
        from assay.tasks.classification.blocks.class_report import class_plot

        return class_plot(record, name)

    def evidence(self, record: Mapping[str, Any], item: str) -> str:
        """Classes, their shares, and the most frequent mistakes."""
        from assay.tasks.classification.blocks.class_report import class_evidence

        return class_evidence(record, item)

    def check_alike(self, new: Classified, reference: Classified) -> None:
        """The same positive class and the same classes."""
        new.check_alike(reference)
        if set(new.labels) != set(reference.labels):
            raise PlanError(
                "tally-mismatch",
                "the reference has other classes",
                found=listed(reference.labels),
                known=listed(new.labels),
                fix="count both with the same classes: labels=[...] (--label)",
            )

    def check_mergeable(self, first: Classified, other: Classified) -> None:
        """The same positive class; a part may lack some of the classes."""
        first.check_alike(other)

    def align(self, part: Classified, whole: Classified) -> Classified:
        """A part over all classes, also those that it never saw."""
        units = None if part.units is None else part.units.with_labels(part.labels, whole.labels)
        return replace(part, confusion=part.confusion.with_labels(whole.labels), units=units)

    def shareable(self, tally: Classified, smallest: int) -> tuple[Classified, list[str]]:
        """Counts of labels only; scores stay where they are."""
        if small := self.small_cells(tally, smallest):
            more = f" and {len(small) - SHOWN:,} more" if len(small) > SHOWN else ""
            raise RowsError(
                "cell-too-small",
                f"{counted(len(small), 'cell')} of the whole table {'holds' if len(small) == 1 else 'hold'} "
                f"fewer than {smallest} rows",
                found="; ".join(small[:SHOWN]) + more,
                fix="send more rows together, declare fewer classes, or lower the minimum if your policy allows it: "
                "smallest_cell=1 (--smallest-cell 1) lets every cell out",
            )
        note = "scores stay at the site: which row has which score can be told from their tally"
        return replace(tally, scores=None), [note] if tally.scores is not None else []

    def small_cells(self, tally: Classified, smallest: int) -> list[str]:
        """Pairs of a true and a predicted class with few rows."""
        if smallest > 1 and tally.confusion.weighted:
            raise PlanError(
                "tally-mismatch",
                "a weighted tally does not say how many rows each cell holds",
                where="smallest_cell",
                fix="if your policy allows it, let every cell out: smallest_cell=1 (--smallest-cell 1)",
            )
        cells = tally.confusion.cells().items()
        return [f"{quoted(truth)} called {quoted(called)}" for (truth, called), n in cells if 0 < n < smallest]


CLASSIFICATION: Final = cast("Any", Classification())  # a Task; its methods take their own tally
TASK: Final = CLASSIFICATION
