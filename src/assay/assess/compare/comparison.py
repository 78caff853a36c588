# SPDX-License-Identifier: Apache-2.0
"""The result of a comparison: findings with why each test was chosen, a ranking, tallies, and the Record of it all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

from assay.assess.compare.questions.answers import answered
from assay.assess.compare.questions.label_questions import MEAN_RANK, flat, value_of_each
from assay.assess.compare.questions.request import Answer, Asked
from assay.assess.compare.questions.unit_questions import unit_values
from assay.assess.environment import environment
from assay.assess.record.record import VERSION, Record, sealed
from assay.assess.record.report_formats import Result
from assay.core.errors import PlanError, RecordError
from assay.core.labels import Label
from assay.core.text import listed, nearest
from assay.core.traits import Task
from assay.core.values import Number
from assay.inference.decision_words import BALANCED
from assay.inference.estimates import Estimate, real_to_json
from assay.inference.findings import Finding
from assay.inference.intervals.interval_choice import Wanted
from assay.inference.tests.delong import area_effect, areas
from assay.inference.tests_catalogue import every_test
from assay.inference.units.cost_difference import priced_units
from assay.inference.units.unit_measures import reads_values
from assay.tally.base import count_to_json, digest
from assay.tally.census import Census
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

OF_MARGIN: Final = ("non_inferiority", "equivalence")
"""Tests that show a model to be good enough, not to be ahead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A model in the ranking: its value, and the models it is ahead of by more than chance."""

    model: str
    value: float
    measure: str
    ahead_of: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "model": self.model,
            "value": real_to_json(self.value),
            "measure": self.measure,
            "ahead_of": list(self.ahead_of),
        }


class Comparison(Result):
    """Findings about several models on the same test data."""

    def __init__(
        self,
        *,
        answers: tuple[Answer, ...],
        asked: Asked,
        models: tuple[str, ...],
        labels: tuple[Label, ...],
        positive: Label | None,
        census: Census,
        paired: PairedLabels | None = None,
        channels: Mapping[str, PairedLabels] | None = None,
        scores: PairedScores | None = None,
        values: Blocks | Groups | None = None,
        rows: PerUnit | None = None,
        apart: Apart | None = None,
        lower_is_better: bool = False,
        notes: tuple[str, ...] = (),
        data: Mapping[str, Any] | None = None,
        proof: str | None = None,
        found_in: Mapping[str, Any] | None = None,
    ) -> None:
        self.answers, self.asked, self.models, self.labels = answers, asked, models, labels
        self.positive, self.census, self.notes, self.proof = positive, census, notes, proof
        self.paired, self.channels, self.scores, self.values, self.rows = paired, channels, scores, values, rows
        self.lower_is_better, self.apart = lower_is_better, apart
        self._data, self._environment = dict(data or {}), dict(found_in or environment())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, in the order the questions were asked."""
        return flat(self.answers)

    def __getitem__(self, name: str | tuple[str, ...]) -> Finding:
        """A finding by test ("mcnemar"), or by what it is about ("recall"); with three models also by pair.

        c["mcnemar"], c["recall"], c["mcnemar", "A", "B"]
        """
        wanted, *models = (name,) if isinstance(name, str) else name
        matches = [one for one in self.findings if wanted in _names(one)]
        matches = [one for one in matches if not models or set(models) == set(one.models)]
        if not matches:
            known = list(dict.fromkeys(word for one in self.findings for word in _names(one)))
            close = nearest(wanted, known)
            raise PlanError(
                "test-unknown",
                f"there is no finding {name!r}",
                known=listed(known, most=20),
                fix=f'did you mean "{close}"?' if close else "ask for one of the known ones",
            )
        about = {(one.models, one.about) for one in matches}
        if len(about) > 1 and len({one.models for one in matches}) > 1 and not models:
            first = " and ".join(matches[0].models)
            pair = matches[0].models
            raise PlanError(
                "test-ambiguous",
                f"{wanted!r} was asked of several pairs",
                known="; ".join(" and ".join(one.models) for one in matches),
                fix=f"name the pair, such as {first}: c[{wanted!r}, {pair[0]!r}, {pair[-1]!r}]",
            )
        return matches[0]

    def __iter__(self) -> Any:  # noqa: ANN401
        """The findings."""
        return iter(self.findings)

    def __len__(self) -> int:
        """How many findings there are."""
        return len(self.findings)

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
        for model, confusion in self._confusions().items():
            view = View(Classified(confusion=confusion, positive=self.positive), self._settings)
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

    @property
    def _settings(self) -> Settings:
        asked = self.asked
        return Settings(wanted=Wanted(level=asked.level, seed=asked.seed), costs=asked.costs)

    def _confusions(self) -> dict[str, Confusion]:
        """The confusion tally of each model, where there are labels."""
        if self.paired is not None:
            return {model: self.paired.confusion(model) for model in self.models}
        if self.apart is not None and self.apart.confusions is not None:
            return dict(zip(self.models, self.apart.confusions, strict=True))
        return {}

    @cached_property
    def ranking(self) -> list[Place]:
        """The models from best to worst by the value the comparison turns on."""
        measure, value, high = self._values()
        order = sorted(self.models, key=lambda model: -value[model] if high else value[model])
        ahead: dict[str, list[str]] = {model: [] for model in self.models}
        for finding in self.findings:
            if len(finding.models) != 2 or (finding.test.endswith(OF_MARGIN)):  # noqa: PLR2004
                continue
            if finding.significant and finding.about in ("", measure):
                a, b = finding.models
                better = (value[a] > value[b]) == high
                ahead[a if better else b].append(b if better else a)
        return [Place(model=m, value=value[m], measure=measure, ahead_of=tuple(dict.fromkeys(ahead[m]))) for m in order]

    def _values(self) -> tuple[str, dict[str, float], bool]:
        """The measure, the value of each model, and whether high is good."""
        if self.values is not None:
            named, value = value_of_each(self.values, self._data.get("per"))
            return named, value, named != MEAN_RANK and not self.lower_is_better
        if self.asked.costs is not None:
            return "mean_cost", self._costs(self.asked.costs), False
        if self.rows is not None:
            return unit_values(self.rows, self.positive)
        if self.scores is not None and min(self.scores.m, self.scores.n) > 1:
            found = areas(self.scores)
            return "auroc", dict(zip(found.models, found.area.tolist(), strict=True)), True
        if self.apart is not None and (self.apart.scores or self.apart.rows):
            return self._areas_apart(self.apart)
        return self._of_labels(self._confusions())

    def _of_labels(self, confusions: Mapping[str, Confusion]) -> tuple[str, dict[str, float], bool]:
        if not confusions:
            return "auroc", dict.fromkeys(self.models, 0.5), True
        sizes = [
            sum(per) for per in zip(*(one.multiclass().actual.tolist() for one in confusions.values()), strict=True)
        ]
        unbalanced = min(sizes) == 0 or max(sizes) / min(sizes) > BALANCED
        name = "balanced_accuracy" if unbalanced and min(sizes) else "accuracy"
        positive, settings = self.positive, self._settings
        views = {m: View(Classified(confusion=one, positive=positive), settings) for m, one in confusions.items()}
        return name, {m: float(view[name].value or 0.0) for m, view in views.items()}, True

    def _costs(self, costs: Costs) -> dict[str, float]:
        """The mean cost of each model."""
        if self.rows is not None and self.rows.calls is not None:
            return {m: priced_units(self.rows.only(m, m), costs.cells).values()[0] for m in self.models}
        paid = {m: costs.of(one) for m, one in self._confusions().items()}
        return {m: float(one.total / one.n) for m, one in paid.items()}

    def _areas_apart(self, tally: Apart) -> tuple[str, dict[str, float], bool]:
        if tally.rows is not None:
            every = [unit_values(one, self.positive)[1] for one in tally.rows]
            return "auroc_macro", {model: value for one in every for model, value in one.items()}, True
        parts = zip(self.models, tally.scores or (), strict=True)
        return "auroc", {m: float(areas(one).area[0]) if min(one.m, one.n) > 1 else 0.5 for m, one in parts}, True

    @cached_property
    def record(self) -> Record:
        """The Record of this comparison."""
        tallies = self._tallies()
        used = {e for one in self.findings for t in every_test() if t.name == one.test for e in t.errata}
        plan = {"given": "ad hoc", **self.asked.to_json(), "lower_is_better": self.lower_is_better, "data": self._data}
        files = self._data.get("files", {})
        content: dict[str, Any] = {
            "assay": VERSION,
            "kind": "comparison",
            "task": self.task,
            "samples": count_to_json(self.census.scored),
            "rows": self.census.to_json(),
            "labels": list(self.labels),
            "positive": self.positive,
            "models": list(self.models),
            "estimates": [{"model": m, **one.to_json()} for m, own in self.estimates.items() for one in own],
            **self._curves(),
            "answers": [answer.to_json() for answer in self.answers],
            "findings": [one.to_json() for one in self.findings],
            "ranking": [place.to_json() for place in self.ranking],
            "test_data": {"pairing": self._data.get("pairing"), "digest": self.proof},
            "controls": [],
            "conformity": {"overall": "conformity not demonstrated", "rows": []},
            "decisions": [],
            "tallies": tallies,
            "plan": {**plan, "digest": digest(plan)},
            "environment": self._environment,
            "errata": sorted(used),
            "notes": list(self.notes),
            "digests": {"tallies": digest(tallies), "files": files},
        }
        return Record(sealed(content))

    def _tallies(self) -> dict[str, object]:
        out: dict[str, object] = {}
        if self.paired is not None:
            out["paired"] = self.paired.to_json()
        if self.channels:
            out["channels"] = [{"channel": name, "paired": one.to_json()} for name, one in self.channels.items()]
        if self.scores is not None:
            held, by_order = self.scores, not any(map(reads_values, self.asked.measures))
            out["scores"] = held.to_json(order_only=by_order)
        if self.rows is not None:
            out["rows"] = self.rows.to_json()
        if self.apart is not None:
            out["apart"] = self.apart.to_json()
        if self.values is not None:
            out["values"] = self.values.to_json()
        return out

    @classmethod
    def from_record(cls, record: Record) -> Comparison:
        """The comparison a Record was written from, computed again from its tallies."""
        try:
            tallies, plan, rows = record["tallies"], record["plan"], record["rows"]
            if digest(tallies) != record["digests"]["tallies"]:
                raise RecordError(
                    "digest-mismatch",
                    "the tallies are not the ones this Record was written with",
                    fix="restore the file from its source",
                )
            names = Asked.__dataclass_fields__.keys()
            tally_fields = _held(tallies)
            given = {**plan, "measures": chosen(plan["measures"] or None) or ()}
            if "costs" in plan:
                given["costs"] = Costs.from_json(plan["costs"], _classes(tally_fields, record["labels"]))
            asked = Asked(**{name: one for name, one in given.items() if name in names})
            return cls(
                answers=tuple(answered(tally_fields, asked, record["positive"], plan["data"])),
                asked=asked,
                models=tuple(record["models"]),
                labels=_classes(tally_fields, record["labels"]),
                positive=record["positive"],
                census=Census(**{k: rows[k] for k in ("read", "scored", "excluded", "unmatched")}),
                **tally_fields,
                lower_is_better=bool(plan["lower_is_better"]),
                notes=tuple(record["notes"]),
                data=plan["data"],
                proof=record["test_data"]["digest"],
                found_in=record["environment"],
            )
        except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            raise RecordError(
                "record-unreadable",
                f"a part of the Record is missing or malformed: {error}",
                fix="restore the file from its source",
            ) from error

    def __dir__(self) -> list[str]:
        """What users need; the rest serves other layers."""
        own = ("answers", "census", "estimates", "findings", "from_record", "labels", "models", "notes", "positive")
        return sorted(
            {
                *own,
                "ranking",
                "record",
                "report",
                "rows",
                "save",
                "task",
                *(["plot"] if hasattr(type(self), "plot") else []),
            }
        )

    def __repr__(self) -> str:
        """What it is about, in one line."""
        return f"<Comparison: {', '.join(self.models)}; {len(self)} findings>"


def _names(finding: Finding) -> tuple[str, ...]:
    """The words a finding can be asked for by."""
    family = next((t.family for t in every_test() if t.name == finding.test), "")
    also = {"recall": ("sensitivity",), "matthews_corrcoef": ("mcc",)}.get(finding.about, ())
    return tuple(word for word in (finding.test, family, finding.about, *also) if word)


def _classes(held: Mapping[str, Any], stated: Sequence[Label]) -> tuple[Label, ...]:
    """The classes as the tallies know them; scores of two classes know them not."""
    known = [held[part].labels for part in ("paired", "rows", "apart") if part in held]
    return known[0] if known else tuple(stated)


def _held(tallies: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if "paired" in tallies:
        out["paired"] = PairedLabels.from_json(tallies["paired"])
    if "channels" in tallies:
        out["channels"] = {one["channel"]: PairedLabels.from_json(one["paired"]) for one in tallies["channels"]}
    if "scores" in tallies:
        out["scores"] = PairedScores.from_json(tallies["scores"])
    if "apart" in tallies:
        out["apart"] = Apart.from_json(tallies["apart"])
    if "rows" in tallies:
        out["rows"] = PerUnit.from_json(tallies["rows"])
    if "values" in tallies:
        kind = Blocks if tallies["values"]["kind"] == "paired-values" else Groups
        out["values"] = kind.from_json(tallies["values"])
    return out
