# SPDX-License-Identifier: Apache-2.0
"""Controls of computational cost: duration, throughput, efficiency, energy, and whether answers keep their bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from assay.assess.controls.control_declaration import Inquiry, Outcome, Verdict, control, no_evidence, worst
from assay.core.task import Request, find_task
from assay.core.text import counted, figure, listed
from assay.inference.intervals.interval_choice import Wanted
from assay.inference.units.run_intervals import find_units, share_interval
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.opened_file import number_column
from assay.tally.data.durations import NANOSECONDS
from assay.tasks.task_settings import TaskSettings

if TYPE_CHECKING:
    from assay.inference.estimates import Estimate
    from assay.tally.data.durations import Durations
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
FEW: Final = 30
"""Answers below which a percentile is a guess."""
RESOLUTION: Final = 0.01
"""Share of the median that one tick of the clock may be."""
PERCENTILE: Final = 0.95
PERCENTILES: Final = (0.5, 0.9, 0.95, 0.99)


@control("CHK-COST")
def cost(q: Inquiry) -> Iterator[Outcome]:
    """Looks for cost of computing that was not measured, or is out of its bounds."""
    silent = [name for name, model in q.trained().items() if model.counted and name not in q.latencies]
    task, settings = find_task("efficiency"), TaskSettings(wanted=Wanted(level=q.plan.intervals.level))
    tallies = {name: _read(table, q) for name, table in q.latencies.items() if table.has("milliseconds")}
    estimates: Any = {name: task.estimates(tally, settings) for name, tally in tallies.items()}
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


def _read(table: SplitRows, q: Inquiry) -> Any:  # noqa: ANN401  the tally of the task
    """The requests of a file, counted by the task that knows them."""
    columns = [name for name in NUMBERS if table.has(name)]
    parts = [f"coalesce({number_column(table.opened, name)}, 'nan'::DOUBLE) AS {name}" for name in columns]
    parts += [f"CAST({quote_identifier('run')} AS VARCHAR) AS run"] if table.has("run") else []
    rows = table.opened.arrays(f"SELECT {', '.join(parts)} FROM rows")  # noqa: S608  quoted
    plan = q.plan.cost
    options: dict[str, Any] = {
        "bound": None if plan.latency_ms is None else plan.latency_ms / MILLISECONDS,
        "warm_up": plan.warm_up, "objective": plan.objective, "resource": plan.resource,
    }  # fmt: skip
    return find_task("efficiency").read(Request(given={"latencies": rows}, options=options)).tally


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


@control("CHK-LATENCY")
def latency(q: Inquiry) -> Outcome:
    """Looks for answers that take longer than their use allows."""
    bound, share = q.plan.cost.latency_ms, q.plan.cost.percentile or PERCENTILE
    if not q.latencies or bound is None:
        lacks = "no latency bound is declared" if q.latencies else "no time of an answer was measured"
        return no_evidence(lacks)
    silent = [name for name, model in q.trained().items() if model.counted and name not in q.latencies]
    facts: dict[str, Any] = {}
    verdicts: list[Verdict] = []
    said: list[str] = []
    warm = q.plan.cost.warm_up
    for name, table in q.latencies.items():
        times: Durations | None = _read(table, q).durations if table.has("milliseconds") else None
        if times is None or times.rows < FEW:
            facts[name] = {"answers": 0 if times is None else times.rows}
            verdicts.append("no-evidence")
            said.append(f"{name}: fewer than {FEW} answers with a time in column milliseconds")
            continue
        verdict, facts[name], words = _judge_share(times, bound, share, level=q.plan.intervals.level)
        verdicts.append(verdict)
        said.append(f"{name}: {words}")
    if silent:
        verdicts.append("no-evidence")
        said.append(f"not measured: {listed(silent)}")
    facts["warm_up_left_out"] = warm
    thresholds = {"latency_ms": bound, "share": share, "clock_resolution": RESOLUTION}
    inputs = {table.name: table.sha256 for table in q.latencies.values()}
    return Outcome(worst(verdicts), "; ".join(said), facts=facts, thresholds=thresholds, inputs=inputs)


def _judge_share(times: Durations, bound: float, share: float, *, level: float) -> tuple[Verdict, dict[str, Any], str]:
    within, median = times.within(), times.at(0.5)
    ticks = times.step / NANOSECONDS / median if median else 1.0
    interval, units = share_interval(times, 0, level), find_units(times)
    percentiles = {part: times.at(part) for part in PERCENTILES}
    facts = {
        "answers": times.rows,
        "failed": times.failed,
        "runs": len(times.runs),
        "percentiles": {f"{100 * part:g}": _milliseconds(time) for part, time in percentiles.items()},
        "longest": _milliseconds(times.at(1.0)),
        "within": within,
        "share_within": within / times.rows,
        "late_stretches": times.episodes(),
        "independent_answers": round(times.rows / units.inflation),
        "clock_resolution": ticks,
    }
    words = f"{figure(within / times.rows)} of {counted(times.rows, 'answer')} within {bound:g} ms"
    if isinstance(interval, str):
        return "suspect", facts, f"{words} ({figure(share)} asked for); {interval}"
    facts |= {"low": interval.low, "high": interval.high, "interval": interval.method}
    words += f" ({figure(interval.low)} to {figure(interval.high)} by {units.described}; {figure(share)} asked for)"
    if interval.high < share:
        return "fail", facts, words
    if ticks > RESOLUTION:
        return "suspect", facts, f"{words}; the clock ticks in steps of {figure(ticks)} of the median"
    strict = share_interval(times, 0, pass_level(level))
    facts["low_for_pass"] = strict if isinstance(strict, str) else strict.low
    return ("pass" if not isinstance(strict, str) and strict.low >= share else "suspect"), facts, words


def pass_level(level: float) -> float:
    """The level at which a pass is judged: half the error, for a few stretches of late answers vary more than t says.

    >>> pass_level(0.95)
    0.975
    """
    return (1 + level) / 2


def _milliseconds(seconds: float | None) -> float | None:
    """Milliseconds without the last binary places; None where answers failed."""
    return None if seconds is None else round(seconds * MILLISECONDS, 6)
