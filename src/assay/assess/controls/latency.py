# SPDX-License-Identifier: Apache-2.0
"""The control of time: whether answers keep the bound their use sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from assay.assess.controls.control_declaration import Outcome, Verdict, control, no_evidence
from assay.assess.controls.evidence import Inquiry
from assay.core.text import counted, figure, listed
from assay.core.traits import TS4213
from assay.inference.units.run_intervals import find_units, share_interval
from assay.tally.data.duration_counts import read_durations
from assay.tally.data.durations import NANOSECONDS

if TYPE_CHECKING:
    from assay.tally.data.durations import Durations

COLUMN: Final = "milliseconds"
RUN: Final = "run"
"""The column that tells runs apart, where there is one."""
MILLISECONDS: Final = 1_000
FEW: Final = 30
"""Answers below which a percentile is a guess."""
RESOLUTION: Final = 0.01
"""Share of the median that one tick of the clock may be."""
PERCENTILE: Final = 0.95
PERCENTILES: Final = (0.5, 0.9, 0.95, 0.99)


@control(
    "CHK-LATENCY",
    looks_for="answers that take longer than their use allows",
    clause=TS4213("6.6.2"),
    passes_when="the share of answers within the bound lies above the declared one, by its interval over runs "
    "at half the stated error, for every model",
    lacks="times of answers",
)
def latency(q: Inquiry) -> Outcome:
    """Answers keep their time."""
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
        times = None
        if table.has(COLUMN):
            run = RUN if table.has(RUN) else None
            times = read_durations(table, COLUMN, run=run, bounds=[bound / MILLISECONDS], skip=warm or 0)
        if times is None or times.rows < FEW:
            facts[name] = {"answers": 0 if times is None else times.rows}
            verdicts.append("no-evidence")
            said.append(f"{name}: fewer than {FEW} answers with a time in column {COLUMN}")
            continue
        verdict, facts[name], words = _judge(times, bound, share, level=q.plan.intervals.level)
        verdicts.append(verdict)
        said.append(f"{name}: {words}")
    if silent:
        verdicts.append("no-evidence")
        said.append(f"not measured: {listed(silent)}")
    order: tuple[Verdict, ...] = ("fail", "suspect", "no-evidence", "pass")
    facts["warm_up_left_out"] = warm
    thresholds = {"latency_ms": bound, "share": share, "clock_resolution": RESOLUTION}
    inputs = {table.name: table.sha256 for table in q.latencies.values()}
    worst = min(verdicts, key=order.index)
    return Outcome(worst, "; ".join(said), facts=facts, thresholds=thresholds, inputs=inputs)


def _judge(times: Durations, bound: float, share: float, *, level: float) -> tuple[Verdict, dict[str, Any], str]:
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
