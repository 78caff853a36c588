# SPDX-License-Identifier: Apache-2.0
"""The control of computational cost: duration, throughput, efficiency and energy from the measured requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from assay.assess.controls.control_declaration import Outcome, Verdict, control, worst
from assay.assess.controls.evidence import Inquiry
from assay.core.task import Request, find_task
from assay.core.text import figure, listed
from assay.core.traits import TS4213
from assay.inference.intervals.interval_choice import Wanted
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.opened_file import number_column
from assay.tasks.task_settings import TaskSettings

if TYPE_CHECKING:
    from assay.inference.estimates import Estimate
    from assay.tally.data.split_counts import SplitRows

NUMBERS: Final = ("milliseconds", "scheduled", "correct", "joules")
PARTS: Final = {
    "latency": ("latency_mean", None),
    "throughput": ("throughput", "throughput"),
    "efficiency": ("efficiency", None),
    "energy": ("joules_per_inference", "joules"),
}
"""The measure of each part, and the field of the plan that bounds it."""
EXCUSES: Final = {"latency": "not_measured", "energy": "energy"}
"""Fields of a plan that say why there is no number."""
BOUNDED_ABOVE: Final = "energy"
MILLISECONDS: Final = 1_000


@control(
    "CHK-COST",
    looks_for="cost of computing that was not measured, or is out of its bounds",
    clause=TS4213("6.6"),
    passes_when="each amount in scope was measured for every model, and its interval keeps the declared bound",
    parts=("latency", "throughput", "efficiency", "energy"),
    lacks="times of answers",
)
def cost(q: Inquiry) -> Iterator[Outcome]:
    """Computational cost is measured."""
    silent = [name for name, model in q.trained().items() if model.counted and name not in q.latencies]
    estimates = {name: _estimates(table, q) for name, table in q.latencies.items() if table.has("milliseconds")}
    inputs = {table.name: table.sha256 for table in q.latencies.values()}
    for part, (measure, field) in PARTS.items():
        own = {name: estimate[measure] for name, estimate in estimates.items()}
        defined = {name: estimate for name, estimate in own.items() if estimate.value is not None}
        lacking = [*silent, *(name for name in q.latencies if name not in defined)]
        if lacking or not defined:
            reasons = dict.fromkeys(str(estimate.reason) for estimate in own.values() if estimate.value is None)
            yield _excuse(part, q, lacking, measured=bool(defined), reasons=tuple(reasons))
        else:
            yield _judge(part, defined, None if field is None else getattr(q.plan.cost, field), inputs)


def _excuse(part: str, q: Inquiry, lacking: list[str], *, measured: bool, reasons: tuple[str, ...]) -> Outcome:
    """What was not measured: declared where the plan says so, otherwise without evidence."""
    excuse = getattr(q.plan.cost, EXCUSES[part]) if part in EXCUSES else None
    models = f": {listed(lacking)}" if lacking else ""
    says = "; ".join([f"not measured{models}", *reasons, *([f"the plan says: {excuse}"] if excuse else [])])
    return Outcome(part=part, verdict="declared" if excuse and not measured else "no-evidence", says=says)


def _estimates(table: SplitRows, q: Inquiry) -> Mapping[str, Estimate]:
    """The measures of a file of requests, by the task that knows them."""
    task = find_task("efficiency")
    columns = [name for name in NUMBERS if table.has(name)]
    parts = [f"coalesce({number_column(table.opened, name)}, 'nan'::DOUBLE) AS {name}" for name in columns]
    parts += [f"CAST({quote_identifier('run')} AS VARCHAR) AS run"] if table.has("run") else []
    rows = table.opened.arrays(f"SELECT {', '.join(parts)} FROM rows")  # noqa: S608  quoted
    plan = q.plan.cost
    options: dict[str, Any] = {
        "bound": None if plan.latency_ms is None else plan.latency_ms / MILLISECONDS,
        "warm_up": plan.warm_up, "objective": plan.objective, "resource": plan.resource,
    }  # fmt: skip
    tally: Any = task.read(Request(given={"latencies": rows}, options=options)).tally
    estimates: Any = task.estimates(tally, TaskSettings(wanted=Wanted(level=q.plan.intervals.level)))
    return estimates  # type: ignore[no-any-return]


def _judge(part: str, defined: Mapping[str, Estimate], bound: float | None, inputs: Mapping[str, str]) -> Outcome:
    verdicts: list[Verdict] = []
    said: list[str] = []
    for name, estimate in defined.items():
        value, low, high = float(estimate.value or 0.0), estimate.low, estimate.high
        ends = "" if low is None or high is None else f" ({figure(low)} to {figure(high)})"
        asked = "" if bound is None else f"; {figure(bound)} asked for"
        said.append(f"{name}: {estimate.measure} {figure(value)}{ends}{asked}")
        verdicts.append("pass" if bound is None else _held_against(low, high, bound, above=part == BOUNDED_ABOVE))
    facts = {
        name: {"measure": estimate.measure, "value": estimate.value, "low": estimate.low, "high": estimate.high}
        for name, estimate in defined.items()
    }
    return Outcome(
        part=part, verdict=worst(verdicts), says="; ".join(said), facts=facts, inputs=inputs,
        thresholds={} if bound is None else {"bound": bound},
    )  # fmt: skip


def _held_against(low: float | None, high: float | None, bound: float, *, above: bool) -> Verdict:
    """Whether an interval keeps an upper or a lower bound; without an interval nobody knows."""
    if low is None or high is None:
        return "suspect"
    keeps, breaks = (high <= bound, low > bound) if above else (low >= bound, high < bound)
    return "pass" if keeps else "fail" if breaks else "suspect"
