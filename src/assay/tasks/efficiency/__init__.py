# SPDX-License-Identifier: Apache-2.0
"""Efficiency: latency, throughput and energy of a model, measured here or recorded elsewhere (clause 6.6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from assay.core.errors import PlanError
from assay.core.task import Counted, Example, Request
from assay.core.text import listed
from assay.measures.declare import parse
from assay.tally.base import ModelTallies
from assay.tally.census import Census
from assay.tasks.by_unit import UnitTask
from assay.tasks.efficiency import measures as _declared  # noqa: F401  declares the measures
from assay.tasks.efficiency.blocks import assessment_sections, comparison_sections, figure_data
from assay.tasks.efficiency.compare import compare_runs
from assay.tasks.efficiency.intervals import CostEstimates
from assay.tasks.efficiency.roles import OPTIONS, ROLES, declared_facts, is_table
from assay.tasks.efficiency.tally import Costs, Measured

if TYPE_CHECKING:
    from assay.core.blocks import Section
    from assay.inference.findings import Finding
    from assay.tasks.task_settings import TaskSettings


class Efficiency(UnitTask):
    """The task."""

    name = "efficiency"
    says = "how long answers take, how many come in time, and what they cost"
    roles = ROLES
    options = OPTIONS
    tally, paired, view = Measured, ModelTallies, CostEstimates
    unit = "run"
    sums = Costs
    headline = ("latency_mean", "p50", "p99", "latency_compliance", "throughput", "joules_per_inference")
    examples = (
        Example(
            name="recorded latencies",
            says="ten runs of 250 requests to a model behind a queue; one of the runs has a stall",
            given={"latencies": "latencies.csv"},
            options={"bound": "50ms", "scenario": "server", "objective": "correct", "resource": "seconds"},
        ),
    )

    def read(self, request: Request) -> Counted:
        """Measure the target, or read recorded times."""
        request = _place_table(request)
        if "target" in request.given:
            from assay.tasks.efficiency.driven import measure_targets

            return measure_targets({"": request.given}, request)[""]
        return _read_table(request)

    def read_models(self, request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
        """Measure several targets in turn, or read the recorded times of each."""
        requests = {
            model: _place_table(replace(request, given={**request.given, **own})) for model, own in models.items()
        }
        driven = {model: part for model, part in requests.items() if "target" in part.given}
        counted: dict[str, Counted] = {}
        if driven:
            from assay.tasks.efficiency.driven import measure_targets

            counted |= measure_targets({model: part.given for model, part in driven.items()}, request)
        counted |= {model: _read_table(part) for model, part in requests.items() if model not in driven}
        tallies = {model: cast("Measured", counted[model].tally) for model in models}
        census, files = Census(read=0, scored=0), dict[str, str]()
        for part in counted.values():
            census += part.census  # type: ignore[operator]
            files |= cast("Mapping[str, str]", part.data.get("files", {}))
        return Counted(
            tally=ModelTallies(models=tallies),
            census=census,
            notes=tuple(f"{model}: {note}" for model in models for note in counted[model].notes),
            data={
                "from": "recorded latencies" if not driven else "measured here",
                "columns": {},
                "pairing": "runs",
                "files": files,
            },
        )

    def unit_values(self, tally: Any) -> dict[str, dict[str, float | None]]:  # noqa: ANN401
        """The leading measures of every run."""
        names = [run.name or str(place + 1) for place, run in enumerate(tally.durations.runs)]
        columns = {name: tally.run_values(parse(name, self.registry)) for name in self.headline}
        return {run: {name: column[place] for name, column in columns.items()} for place, run in enumerate(names)}

    def sections(self, tally: Any, settings: TaskSettings) -> dict[str, object]:  # noqa: ANN401, ARG002
        """What figures need."""
        return {"figures": figure_data(tally)}

    def compare(self, paired: Any, settings: TaskSettings) -> Iterator[Finding]:  # noqa: ANN401
        """Every measure of every two models, by their runs."""
        if settings.margin is not None:
            raise PlanError(
                "test-refused",
                "efficiency compares ratios of runs, for which no margin is defined",
                fix='leave margin out; to gate a model use a.accept("p99 <= 0.02")',
            )
        for measure in self.compared_measures(settings):
            values = [self.estimates(measured, settings)[measure.title].value for measured in paired.models.values()]
            if settings.measures is None and all(value is None for value in values):
                continue  # such as energy without a meter
            yield from compare_runs(measure, paired, level=settings.wanted.level, control=settings.control)

    def blocks(self, record: Mapping[str, Any]) -> Iterator[Section]:
        """Distribution, time line and benchmark table."""
        return assessment_sections(record)

    def comparison_blocks(self, record: Mapping[str, Any]) -> Iterator[Section]:
        """The Pareto front."""
        return comparison_sections(record)

    def check_alike(self, new: Any, reference: Any) -> None:  # noqa: ANN401
        """The bounds must be the same."""
        if new.durations.bounds != reference.durations.bounds:
            raise PlanError(
                "tally-mismatch",
                "the reference was counted with another latency bound",
                fix="count both with the same bound",
            )

    check_mergeable = check_alike


def _place_table(request: Request) -> Request:
    """A target that is a table of latencies in its place."""
    target = request.given.get("target")
    if not is_table(target):
        return request
    given = {role: value for role, value in request.given.items() if role != "target"}
    return replace(request, given={**given, "latencies": target}, data=None, unit=None)


def _read_table(request: Request) -> Counted:
    from assay.conduct.energy import read_power_log
    from assay.tasks.efficiency.latency_tables import read_recorded

    if request.group:
        raise PlanError(
            "option-unknown",
            "efficiency has no groups",
            found=listed(request.group),
            fix="assess the latencies of each group alone",
        )
    if request.data is None and not {"latencies", "latency", "answered"} & set(request.given):
        raise PlanError(
            "role-missing",
            "nothing to measure is given",
            known="target and inputs; or latencies; or data and latency",
            fix='give target="model.onnx" and inputs, or latencies="latencies.csv"',
        )
    facts = declared_facts(request.options)
    meter = request.options.get("energy")
    if str(meter).startswith("estimate="):
        raise PlanError(
            "option-unknown", "energy of recorded times cannot be estimated", where="energy",
            fix="give the file of a meter, or measure the target here",
        )  # fmt: skip
    power = None if meter in (None, "none") else read_power_log(str(meter))
    if power is not None:
        facts["meter"] = "file of an external meter"
    else:
        facts["no_meter"] = "no evidence: no meter (times were recorded elsewhere)"
    return read_recorded(request, facts, power)


TASK = Efficiency()
