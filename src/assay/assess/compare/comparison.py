# SPDX-License-Identifier: Apache-2.0
"""The result of a comparison: findings with why each test was chosen, a ranking, tallies, and the Record of it all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, cast

from assay.assess.compare.comparison_result import ComparisonResult, Place, read_whole
from assay.assess.compare.model_columns import Given, read_together, split_channels
from assay.assess.compare.questions.request import Answer, Asked
from assay.assess.compare.questions.row_questions import (
    of_apart,
    of_channels,
    of_labels,
    of_rows,
    of_scores,
)
from assay.assess.compare.questions.value_questions import MEAN_RANK, of_groups, of_values, value_of_each
from assay.assess.record.record import Record
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.traits import Task
from assay.core.values import Number
from assay.inference.decision_words import BALANCED, UNITS
from assay.inference.estimates import Estimate
from assay.inference.findings import Finding
from assay.inference.intervals.interval_choice import Wanted
from assay.inference.tests.delong import area_effect, areas
from assay.inference.tests_catalogue import every_test
from assay.inference.units.class_score_units import class_value, judge_units, reads_values
from assay.inference.units.cost_difference import priced_units
from assay.rows.files.formats import Reading
from assay.tally.labels.confusion import Confusion
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Blocks, Groups
from assay.tasks.classification.cost_matrix import Costs
from assay.tasks.classification.curves import model_curve
from assay.tasks.classification.estimates import View
from assay.tasks.classification.settings import Settings, chosen
from assay.tasks.classification.tally import Classified

SHOWN: Final = {
    Task.BINARY: ("accuracy", "recall", "specificity", "precision", "f1", "matthews_corrcoef"),
    Task.MULTICLASS: ("accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef"),
}

OF_CHANNELS: Final = ("level", "draws", "seed", "stratified")
"""What of a comparison shapes the answer about channels."""
KINDS: Final[Mapping[str, Any]] = {"paired": PairedLabels, "scores": PairedScores, "rows": PerUnit, "apart": Apart}
"""The tallies of rows by their name in a Record."""


class Comparison(ComparisonResult):
    """Findings about several models on the same test data."""

    paired: PairedLabels | None
    channels: Mapping[str, PairedLabels] | None
    scores: PairedScores | None
    rows: PerUnit | None
    apart: Apart | None
    values: Blocks | Groups | None

    def __init__(
        self,
        tallies: Mapping[str, Any],
        asked: Asked,
        *,
        labels: tuple[Label, ...] = (),
        positive: Label | None = None,
        proof: str | None = None,
        **shared: Any,  # noqa: ANN401  what every comparison has
    ) -> None:
        super().__init__(**shared)
        self.asked, self.labels, self.positive, self.proof = asked, labels, positive, proof
        for part in (*KINDS, "channels", "values"):
            setattr(self, part, tallies.get(part))
        self.answers = tuple(_answered(tallies, asked, positive, self._data))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, in the order the questions were asked."""
        return tuple(finding for answer in self.answers for finding in answer.findings)

    def _words(self, finding: Finding) -> tuple[str, ...]:
        family = next((t.family for t in every_test() if t.name == finding.test), "")
        also = {"recall": ("sensitivity",), "matthews_corrcoef": ("mcc",)}.get(finding.about, ())
        return tuple(word for word in (finding.test, family, finding.about, *also) if word)

    @property
    def task(self) -> str:
        """Binary, multi-class, or values."""
        if not self.labels:
            return "values"
        return str(Task.MULTICLASS if self.positive is None else Task.BINARY)

    @cached_property
    def estimates(self) -> dict[str, list[Estimate]]:
        """The values of each model with their intervals."""
        out: dict[str, list[Estimate]] = {}
        for model, view in self._views.items():
            out[model] = [view[name] for name in (*SHOWN[view.task], *(["mean_cost"] if self.asked.costs else []))]
        for model, area in self._areas().items():
            out.setdefault(model, []).append(area)
        return out

    def _areas(self) -> dict[str, Estimate]:
        """The area under the ROC curve of each model, where there are scores of two classes."""
        scores, asked = self.scores, self.asked
        if scores is None or min(scores.m, scores.n) < 2:  # noqa: PLR2004  no spread
            return {}
        found, n = areas(scores), scores.m + scores.n
        every = [(model, area_effect(found, i, asked.level)) for i, model in enumerate(found.models)]
        return {model: Estimate(measure="auroc", result=Number(cast("Any", one.value)), interval=one.interval, n=n,
                                no_interval=one.no_interval) for model, one in every}  # fmt: skip

    def _curves(self) -> dict[str, Any]:
        """The ROC curve of each model, where there are scores of two classes."""
        every = [self.scores] if self.scores is not None else list((self.apart and self.apart.scores) or ())
        drawn = [model_curve(part, model) for part in every if part.m and part.n for model in part.models]
        return {"curves": drawn} if drawn else {}

    @cached_property
    def _views(self) -> dict[str, View]:
        """The estimates of each model, where there are labels."""
        settings = Settings(wanted=Wanted(level=self.asked.level, seed=self.asked.seed), costs=self.asked.costs)
        every = {m: Classified(confusion=own, positive=self.positive) for m, own in self._confusions().items()}
        return {model: View(tally, settings) for model, tally in every.items()}

    def _confusions(self) -> dict[str, Confusion]:
        """The confusion tally of each model, where there are labels."""
        if self.paired is not None:
            return {model: self.paired.confusion(model) for model in self.models}
        if self.apart is not None and self.apart.confusions is not None:
            return dict(zip(self.models, self.apart.confusions, strict=True))
        return {}

    @cached_property
    def ranking(self) -> list[Place]:
        """The models from best to worst by the value the comparison turns on; none where a model has no such value."""
        measure, value, high = self._values()
        if any(map(math.isnan, value.values())):
            return []
        return self._ranked(measure, {model: value[model] for model in self.models}, ("", measure), high=high)

    def _values(self) -> tuple[str, dict[str, float], bool]:
        """The measure, the value of each model (NaN where undefined), and whether high is good."""
        if self.values is not None:
            named, value = value_of_each(self.values, self._data.get("per"))
            return named, value, named != MEAN_RANK and not self.asked.lower_is_better
        if self.asked.costs is not None:
            return "mean_cost", self._costs(self.asked.costs), False
        if self.rows is not None:
            return _unit_values(self.rows, self.positive)
        if self.scores is not None and min(self.scores.m, self.scores.n) > 1:
            found = areas(self.scores)
            return "auroc", dict(zip(found.models, found.area.tolist(), strict=True)), True
        if self.apart is not None and (self.apart.scores or self.apart.rows):
            return self._areas_apart(self.apart)
        return self._of_labels()

    def _of_labels(self) -> tuple[str, dict[str, float], bool]:
        if not self._views:
            return "auroc", dict.fromkeys(self.models, math.nan), True
        by_class = zip(*(one.multiclass().actual.tolist() for one in self._confusions().values()), strict=True)
        name = _label_measure([sum(sizes) for sizes in by_class])
        return name, {model: cast("float", view[name].value) for model, view in self._views.items()}, True

    def _costs(self, costs: Costs) -> dict[str, float]:
        """The mean cost of each model."""
        if self.rows is not None and self.rows.calls is not None:
            return {m: priced_units(self.rows.only(m, m), costs.cells).exact[0] for m in self.models}
        paid = {m: costs.of(one) for m, one in self._confusions().items()}
        return {m: float(one.total / one.n) for m, one in paid.items()}

    def _areas_apart(self, tally: Apart) -> tuple[str, dict[str, float], bool]:
        if tally.rows is not None:
            every = [_unit_values(one, self.positive)[1] for one in tally.rows]
            return "auroc_macro", {model: value for one in every for model, value in one.items()}, True
        parts = zip(self.models, tally.scores or (), strict=True)
        return "auroc", {m: float(areas(one).area[0]) if min(one.m, one.n) > 1 else math.nan for m, one in parts}, True

    @cached_property
    def record(self) -> Record:
        """The Record of this comparison."""
        return self._recorded(
            task=self.task,
            plan=self.asked.to_json(),
            tallies=self._tallies(),
            errata={e for one in self.findings for t in every_test() if t.name == one.test for e in t.errata},
            labels=list(self.labels),
            positive=self.positive,
            **self._curves(),
            answers=[answer.to_json() for answer in self.answers],
            test_data={"pairing": self._data.get("pairing"), "digest": self.proof},
        )

    def _tallies(self) -> dict[str, object]:
        out: dict[str, object] = {
            part: tally.to_json() for part in (*KINDS, "values") if (tally := getattr(self, part)) is not None
        }
        if self.channels:
            out["channels"] = [{"channel": name, "paired": one.to_json()} for name, one in self.channels.items()]
        if self.scores is not None:
            out["scores"] = self.scores.to_json(order_only=not any(map(reads_values, self.asked.measures)))
        return out

    @classmethod
    def from_record(cls, record: Record) -> Comparison:
        """The comparison a Record was written from, computed again from its tallies."""
        with read_whole(record) as shared:
            plan, tally_fields = record["plan"], _held(record["tallies"])
            labels, names = _classes(tally_fields, record["labels"]), Asked.__dataclass_fields__.keys()
            given = {**plan, "measures": chosen(plan["measures"] or None) or ()}
            if "costs" in plan:
                given["costs"] = Costs.from_json(plan["costs"], labels)
            asked = Asked(**{name: one for name, one in given.items() if name in names})
            proof, positive = record["test_data"]["digest"], record["positive"]
            return cls(tally_fields, asked, labels=labels, positive=positive, proof=proof, **shared)

    def __dir__(self) -> list[str]:
        """What users need; the rest serves other layers."""
        return ["answers", "census", "estimates", "findings", "from_record", "labels", "models", "notes", "plot",
                "positive", "ranking", "record", "report", "rows", "save", "task"]  # fmt: skip

    def __repr__(self) -> str:
        """What it is about, in one line."""
        return f"<Comparison: {', '.join(self.models)}; {len(self)} findings>"


def _classes(held: Mapping[str, Any], stated: Sequence[Label]) -> tuple[Label, ...]:
    """The classes as the tallies know them; scores of two classes know them not."""
    known = [held[part].labels for part in ("paired", "rows", "apart") if part in held]
    return known[0] if known else tuple(stated)


def _held(tallies: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {part: kind.from_json(tallies[part]) for part, kind in KINDS.items() if part in tallies}
    if "channels" in tallies:
        out["channels"] = {one["channel"]: PairedLabels.from_json(one["paired"]) for one in tallies["channels"]}
    if "values" in tallies:
        kind = Blocks if tallies["values"]["kind"] == "paired-values" else Groups
        out["values"] = kind.from_json(tallies["values"])
    return out


def _answered(
    tallies: Mapping[str, Any], asked: Asked, positive: Label | None, data: Mapping[str, Any]
) -> list[Answer]:
    """Every question the tallies can answer; a test that was named goes to the values it takes."""
    if "values" in tallies:
        tally = tallies["values"]
        if isinstance(tally, Groups):
            return of_groups(tally, asked)
        ratio = data.get("test_over_train")
        return of_values(cast("Blocks", tally), asked, UNITS[data["per"]], test_over_train=ratio)
    if "apart" in tallies:
        return of_apart(tallies["apart"], asked, positive=positive)
    home, labels = _home(asked.test), "paired" in tallies
    if labels and home not in tallies:
        what, fix = f"{asked.test} compares scores, and there are none", "give score=..., or leave it out"
        raise PlanError("test-refused", what, fix=fix)
    asked_of = {part: asked if part == home or not labels else replace(asked, test=None) for part in tallies}
    answers: list[Answer] = []
    if labels:
        channels = tallies.get("channels")
        answers += of_labels(tallies["paired"], asked_of["paired"], positive=positive, channels=channels)
    if "scores" in tallies:
        answers += of_scores(tallies["scores"], asked_of["scores"])
    if "rows" in tallies:
        answers += of_rows(tallies["rows"], asked_of["rows"], positive=positive)
    return answers


def _home(test: str | None) -> str:
    """The tally that a test that was named takes; all but those of scores and rows are run on labels, or refused."""
    takes = {one.takes for one in every_test() if test in (one.name, one.family)}
    return "scores" if PairedScores in takes else "rows" if takes == {PerUnit} else "paired"


def _unit_values(t: PerUnit, positive: Label | None) -> tuple[str, dict[str, float], bool]:
    """The measure models are ranked by, the value of each, and that high is good."""
    if t.classwise:
        name, values = t.area, {model: class_value(t, t.area, model) for model in t.models}
    else:
        name = t.area if t.calls is None else _label_measure(t.class_weights().tolist())
        values = {model: judge_units(t.only(model, model), name, positive).exact[0] for model in t.models}
    return name, values, True


def _label_measure(sizes: Sequence[float]) -> str:
    """What models are ranked by on classes of some sizes, all of which must have rows for their mean."""
    unbalanced = min(sizes) > 0 and max(sizes) > BALANCED * min(sizes)
    return "balanced_accuracy" if unbalanced else "accuracy"


@dataclass(frozen=True, slots=True, kw_only=True)
class ByChannel:
    """The tallies of every level, and the answer that they give."""

    levels: Mapping[str, PairedLabels]
    asked: Asked

    @property
    def answer(self) -> Answer:
        """Whether one model is ahead within the channels, and as far in each."""
        return of_channels(self.levels, self.asked)

    def to_json(self) -> dict[str, Any]:
        """As facts of a control: enough to compute the findings again."""
        return {
            "levels": [{"channel": name, "paired": one.to_json()} for name, one in self.levels.items()],
            "asked": {name: getattr(self.asked, name) for name in OF_CHANNELS},
            "findings": [one.to_json() for one in self.answer.findings],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ByChannel:
        """The inverse of `to_json`; findings are computed, not read."""
        levels = {one["channel"]: PairedLabels.from_json(one["paired"]) for one in content["levels"]}
        return cls(levels=levels, asked=Asked(**{name: content["asked"][name] for name in OF_CHANNELS}))


def by_channel(comparison: Comparison, given: Mapping[str, Any], channel: str) -> ByChannel:
    """The compared models in every level of a column of their table."""
    own = {name: given.get(name) for name in ("truth", "predicted", "engine", "limits")}
    columns = Given(channel=channel, reading=given.get("reading") or Reading(), **cast("Any", own))
    levels = split_channels(read_together(given["data"], columns), comparison.labels)
    return ByChannel(levels=levels, asked=comparison.asked)
