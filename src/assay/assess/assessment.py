# SPDX-License-Identifier: Apache-2.0
"""The result of an assessment: estimates, row accounting and tallies, and the Record that holds them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from assay.assess.assessment_views import Difference, Levels, ListedLevels, Tidy, UnitValues, differences, view_levels
from assay.assess.environment import environment
from assay.assess.record.record import VERSION, Record, open_tallies, sealed
from assay.assess.record.report_formats import Result
from assay.assess.shared_tally import SMALLEST, site_tally
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.task import Tally, Task, find_task
from assay.inference.estimates import Estimate, Estimates
from assay.tally.base import count_to_json, digest
from assay.tally.by_group import Grouped
from assay.tally.census import Census

if TYPE_CHECKING:
    from assay.assess.decide.claims import Answered
    from assay.assess.decide.criteria import Criterion
    from assay.assess.decide.decision import Decisions
    from assay.assess.decide.plan_results import Standing
    from assay.assess.decide.stored_criteria import Accepted
    from assay.core.registry import Registry
    from assay.fairness.fairness_by_factor import Fairness
    from assay.fairness.settings import FairnessSettings
    from assay.measures.declare import Measure


class Assessment(Tidy, Mapping[str, Estimate], Result):
    """Every measure with its uncertainty, from one pass over the rows."""

    def __init__(
        self,
        contract: Task,
        tally: Tally,
        settings: Any,  # noqa: ANN401  those of the task
        *,
        census: Census,
        grouped: Grouped[Any] | None = None,
        notes: tuple[str, ...] = (),
        data: Mapping[str, Any] | None = None,
        found_in: Mapping[str, Any] | None = None,
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        self.contract, self.counts, self.settings, self.census = contract, tally, settings, census
        self.grouped, self.notes = grouped or Grouped(), notes
        self.view = cast("Estimates", contract.estimates(tally, settings))
        self._data, self._environment = dict(data or {}), dict(found_in or environment())
        self._evidence = dict(evidence or {})
        self._accepted: Accepted | None = None
        self._standing: Standing | None = None
        self._fairness: FairnessSettings | None = None

    def __copy__(self) -> Assessment:
        """The same with all that was computed from it."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """What travels between processes: the tally and how it is read, not what was computed from it."""
        kept = (
            "counts", "settings", "census", "grouped", "notes", "_data", "_environment", "_evidence", "_accepted",
            "_standing", "_fairness",
        )  # fmt: skip
        return {"contract": self.contract.name, **{name: self.__dict__[name] for name in kept}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The inverse of `__getstate__`."""
        self.__dict__.update({**state, "contract": find_task(state["contract"])})
        self.view = cast("Estimates", self.contract.estimates(self.counts, self.settings))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  what the task's tally shows, such as `confusion`
        """What the tally of the task shows."""
        counts = self.__dict__.get("counts")
        if counts is not None and name in getattr(counts, "PUBLIC", ()):
            return getattr(counts, name)
        msg = f"an assessment has no attribute {name!r}"
        raise AttributeError(msg)

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a measure, by name, symbol or alias; any measure that fits can be asked for."""
        return self.view[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the measures."""
        return iter(self.view)

    def __len__(self) -> int:
        """How many measures there are."""
        return len(self.view)

    @property
    def measures(self) -> Registry[Measure]:
        """Every measure of the task, by name."""
        return cast("Registry[Measure]", self.contract.registry)

    def class_sizes(self) -> dict[str, str]:
        """Rows, or their weight, by class."""
        return self.view.class_sizes()

    @property
    def about_files(self) -> tuple[str, ...]:
        """Those of the notes that speak of how files were read."""
        return tuple(self._data.get("reading", ()))

    @property
    def sites(self) -> str | None:
        """The group that tells merged sites apart, or None."""
        return self._data.get("sites")

    @property
    def by_class(self) -> Mapping[Label, Mapping[str, Estimate]]:
        """Class -> measure -> estimate of that class against the rest."""
        return self.view.by_class

    @cached_property
    def by_group(self) -> dict[str, Levels]:
        """Factor -> level -> measure -> estimate on the rows of that level."""
        return {
            factor: view_levels(self.contract, self.settings, factor, levels)
            for factor, levels in self.grouped.factors.items()
        }

    @cached_property
    def by_unit(self) -> UnitValues:
        """Unit (image, query, subject) -> measure -> value on that unit alone; subjects of classes go by number."""
        unit = self.contract.unit
        return UnitValues(self.contract.unit_values(self.counts), "unit" if unit == "row" else unit)

    @cached_property
    def fairness(self) -> Fairness:
        """Factor -> criterion -> gap or ratio between its groups: `a.fairness["sex"]["gap(recall)"]`."""
        from assay.fairness.crossed_groups import with_crossed
        from assay.fairness.fairness_by_factor import Fairness
        from assay.fairness.settings import FairnessSettings

        settings = with_crossed(self._fairness or FairnessSettings(), self.by_group)
        level, headline = self.settings.wanted.level, self.contract.headline
        return Fairness(self.by_group, self.grouped.factors, level=level, measures=headline, settings=settings)

    def require_fairness(
        self, *criteria: str, tolerance: float | None = None, minimum: int = 10, reason: str = ""
    ) -> Assessment:
        """The same assessment with criteria of fairness judged and kept in its Record.

        criteria: such as "equal_opportunity" or "gap(recall)"
        tolerance: the largest accepted gap
        minimum: the fewest rows a group is judged with
        reason: why these criteria; it stands in the Record

        `a.require_fairness("equal_opportunity", tolerance=0.05).fairness.verdict`
        """
        from assay.fairness.settings import FairnessSettings

        if not self.grouped.factors:
            raise PlanError("role-missing", "fairness needs groups, and there are none", fix="give group=... (--group)")
        asked = FairnessSettings(criteria=criteria, tolerance=tolerance, minimum=minimum, reason=reason)
        other = self._with("fairness", _fairness=asked)
        other.fairness.verdict  # noqa: B018  an unknown criterion is told at once
        return other

    @property
    def estimates(self) -> list[Estimate]:
        """Everything a Record lists: the whole table, each class, each group."""
        return self._listed(lambda: None)

    def work_out(self, progress: Callable[[int, int], None]) -> None:
        """Work out what a Record lists and keep it, telling how much is done: groups with scores take long."""
        total = self.view.steps + sum(levels.steps for levels in self._levels)
        done = count(1)
        self._listed(lambda: progress(next(done), total))

    def _take_values(self, estimates: Iterable[Mapping[str, Any]]) -> None:
        """Take the values from all digits out of a Record that stores rounded scores."""
        for estimate in estimates:
            if "stored_value" in estimate:
                factor, level = next(iter((estimate["slice"] or {None: None}).items()))
                view = self.view if factor is None else self.by_group[factor][level]
                view.take_value(estimate)

    @property
    def _levels(self) -> list[ListedLevels]:
        return [ListedLevels(levels, self.contract, self.settings) for levels in self.by_group.values()]

    def _listed(self, done: Callable[[], None]) -> list[Estimate]:
        return [*self.view.listed(done), *(one for levels in self._levels for one in levels.estimates(done))]

    @cached_property
    def record(self) -> Record:
        """The Record of this assessment."""
        estimates = self.estimates
        tallies: dict[str, object] = {**self.counts.to_json(), "groups": self.grouped.to_json()}
        used = {name for m in (*self.view.measures, *self.view.class_measures) for name in m.errata}
        described = self.contract.describe(self.counts)
        stated = {name: part for name, part in self.contract.statement(self.counts).items() if name not in described}
        plan: dict[str, Any] = {"given": "ad hoc", **self.settings.to_json(), "data": self._data, **stated}
        plan |= self._evidence.get("plan", {})
        if self._accepted is not None:
            plan["accept"] = self._accepted.to_json()
            tallies |= self._accepted.tallies()
        further: dict[str, Any] = {}
        if self._standing is not None:
            plan, tallies = plan | self._standing.plan(), tallies | self._standing.tallies()
            further = self._standing.parts(self)
        if (asked := self._fairness) is not None:
            further["fairness"] = self.fairness.to_json()
            plan["fairness_asked"] = asked.to_json()
        if self.sites is not None:
            further["heterogeneity"] = [one.to_json() for one in self.heterogeneity]
        content: dict[str, Any] = {
            "assay": VERSION,
            "kind": "assessment",
            "task": self.contract.variant(self.counts),
            "samples": count_to_json(self.counts.rows),
            "rows": self.census.to_json(),
            **described,
            "estimates": [estimate.to_json() for estimate in estimates],
            **self._sections,
            "findings": [] if self._standing is None else list(self._standing.findings),
            "controls": self._evidence.get("controls", []),
            "conformity": self._evidence.get("conformity", {"overall": "conformity not demonstrated", "rows": []}),
            "decisions": [] if self._accepted is None else [one.to_json() for one in self.decisions],
            "tallies": tallies,
            "plan": {**plan, "digest": digest(plan)},
            "environment": {**self._environment, **self._evidence.get("environment", {})},
            "errata": sorted(used),
            **further,
            **({"ledger": self._evidence["ledger"]} if "ledger" in self._evidence else {}),
            "notes": list(dict.fromkeys((*self.notes, *(note for levels in self._levels for note in levels.notes)))),
            "digests": {"tallies": digest(tallies), "files": self._data.get("files", {})},
        }
        return Record(sealed(content), self._evidence.get("thumbnails"))

    @cached_property
    def _sections(self) -> dict[str, Any]:
        return self.contract.sections(self.counts, self.settings)

    @cached_property
    def claims(self) -> tuple[Answered, ...]:
        """The claims of a plan with their answers."""
        return () if self._standing is None else self._standing.answers(self)

    @cached_property
    def decisions(self) -> Decisions:
        """What was decided about the criteria that were asked for."""
        from assay.assess.decide.decision import Decisions

        return Decisions(()) if self._accepted is None else self._accepted.decided(self)

    def accept(
        self, *criteria: str | Criterion, against: object = None, name: str | None = None, correction: str = "holm"
    ) -> Assessment:
        """The same assessment with criteria decided: `a.accept("recall >= 0.85").decisions.verdict`.

        criteria: texts such as "recall >= 0.85" or "recall non-inferior margin 0.02"; those of a plan stay
        against: the reference of "non-inferior": an assessment, a Record or its path
        name: what the reference is called
        correction: of several criteria: "holm", or "none" to take each alone
        """
        from assay.assess.decide.stored_criteria import accepted, reference_to

        held = accepted(self, self._accepted, criteria, reference_to(self, against, name), correction)
        return self._with("decisions", _accepted=held)

    def _with(self, *computed: str, **parts: Any) -> Assessment:  # noqa: ANN401  its own attributes
        """The same with other parts; the Record, and what else was computed from them, is computed again."""
        other = copy(self)
        for name in ("record", *computed):
            other.__dict__.pop(name, None)
        other.__dict__.update(parts)
        return other

    def restated(self, settings: Any) -> Assessment:  # noqa: ANN401
        """The same tallies under other settings, such as another confidence level."""
        return self._again(settings=settings)

    def at_level(self, level: float) -> Assessment:
        """The same at another confidence level."""
        return self.restated(replace(self.settings, wanted=replace(self.settings.wanted, level=level)))

    def regrouped(self, grouped: Grouped[Any], notes: tuple[str, ...]) -> Assessment:
        """The same rows with other groups, and notes of why."""
        return self._again(grouped=grouped, notes=(*self.notes, *notes))

    def _again(self, **changed: Any) -> Assessment:  # noqa: ANN401  arguments by name
        given: dict[str, Any] = {
            "settings": self.settings, "census": self.census, "grouped": self.grouped, "notes": self.notes,
            "data": self._data, "found_in": self._environment, "evidence": self._evidence, **changed,
        }  # fmt: skip
        other = Assessment(self.contract, self.counts, given.pop("settings"), **given)
        other._fairness = self._fairness
        return other

    def with_evidence(self, **evidence: Any) -> Assessment:  # noqa: ANN401  parts of a Record
        """The same assessment with the plan it followed, the controls that ran, and what they show."""
        return self._with(_evidence={**self._evidence, **evidence})

    def beside(self, standing: Standing) -> Assessment:
        """The same assessment with comparisons to other models on the same rows, and claims about them."""
        return self._with("claims", _standing=standing)

    def computed_again(self, recompute: Callable[[Record], Record]) -> Assessment:
        """The same assessment with its comparisons computed again from their tallies."""
        return self if self._standing is None else self.beside(self._standing.computed_again(recompute))

    def tally(self, *, site: str | None = None, smallest_cell: int = SMALLEST) -> Record:
        """What may leave a site whose rows may not: `a.tally(site="north").save("north.tally.json")`.

        site: what the site is called in the merged result
        smallest_cell: the fewest rows a cell may hold
        """
        return site_tally(self, site=site, smallest_cell=smallest_cell)

    @cached_property
    def heterogeneity(self) -> list[Difference]:
        """Of merged sites: how far each measure lies apart between them."""
        return [] if self.sites is None else differences(self.by_group[self.sites], self.settings.wanted.seed)

    @classmethod
    def from_record(cls, record: Record) -> Assessment:
        """The assessment a Record was written from; its tallies must be the ones that were signed off by digest."""
        from assay.assess.decide.stored_criteria import restored

        with open_tallies(record) as tallies:
            rows, contract = record["rows"], find_task(record["task"])
            stated = {**record, **record["plan"]}
            assessment = cls(
                contract,
                contract.read_tally(tallies, stated),
                contract.read_settings(record["plan"], record.get("labels", ())),
                census=Census(**{part: rows[part] for part in ("read", "scored", "excluded", "unmatched")}),
                grouped=Grouped.from_json(tallies["groups"], lambda content: contract.read_tally(content, stated)),
                notes=tuple(record["notes"]),
                data=record["plan"]["data"],
                found_in=record["environment"],
                evidence=_evidence_of(record),
            )
            assessment._take_values(record.get("estimates", ()))
            if "fairness_asked" in record["plan"]:
                from assay.fairness.settings import FairnessSettings

                assessment._fairness = FairnessSettings.from_json(record["plan"]["fairness_asked"])
            assessment._accepted = restored(record, assessment)
            if "comparisons" in tallies:
                from assay.assess.decide.plan_results import restored_standing

                assessment._standing = restored_standing(record, assessment)
        return assessment


def _evidence_of(record: Record) -> dict[str, Any]:
    if record["plan"]["given"] != "plan":
        return {}
    ours = {"level", "intervals", "missing", "unknown", "unmatched", "undefined", "measures", "costs", "data",
            "accept", "digest", "comparisons", "not_compared", "claims", "options", "fairness_asked"}  # fmt: skip
    plan = {name: value for name, value in record["plan"].items() if name not in ours}
    kept = {name: record[name] for name in ("controls", "conformity", "ledger") if name in record}
    return {"plan": plan, **kept}
