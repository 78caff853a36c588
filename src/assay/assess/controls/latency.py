# SPDX-License-Identifier: Apache-2.0
"""The control of time: whether answers keep the bound their use sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from assay.assess.controls.control_declaration import Outcome, Verdict, control
from assay.assess.controls.evidence import Inquiry
from assay.core.text import counted, figure, listed
from assay.core.traits import TS4213
from assay.inference.intervals.proportion import wilson
from assay.tally.durations import durations

if TYPE_CHECKING:
    from assay.tally.durations import Durations

COLUMN: Final = "milliseconds"
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
    passes_when="the share of answers within the bound lies above the declared one, by its interval, for every model",
    parts=("throughput", "efficiency"),
    lacks="times of answers",
)
def latency(q: Inquiry) -> Iterator[Outcome]:
    """Answers keep their time."""
    timed = {
        name: durations(table, COLUMN, skip=q.plan.cost.warm_up or 0)
        for name, table in q.latencies.items()
        if table.has(COLUMN)
    }
    yield from _rates(q, {name: found for name, found in timed.items() if found.n >= FEW and found.times.sum() > 0})
    bound, share = q.plan.cost.latency_ms, q.plan.cost.percentile or PERCENTILE
    if not q.latencies or bound is None:
        lacks = "no latency bound is declared" if q.latencies else "no time of an answer was measured"
        yield Outcome(verdict="no-evidence", says=lacks)
        return
    silent = [name for name, one in q.trained().items() if one.counted and name not in q.latencies]
    facts: dict[str, Any] = {}
    verdicts: list[Verdict] = []
    said: list[str] = []
    warm = q.plan.cost.warm_up
    for name in q.latencies:
        found = timed.get(name)
        if found is None or found.n < FEW:
            facts[name] = {"answers": 0 if found is None else found.n}
            verdicts.append("no-evidence")
            said.append(f"{name}: fewer than {FEW} answers with a time in column {COLUMN}")
            continue
        verdict, facts[name], words = _judged(found, bound, share, level=q.plan.intervals.level)
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
    yield Outcome(verdict=worst, says="; ".join(said), facts=facts, thresholds=thresholds, inputs=inputs)


def _rates(q: Inquiry, timed: Mapping[str, Durations]) -> Iterator[Outcome]:
    """Answers a second, and what the primary measure reaches for a millisecond."""
    bound = q.plan.cost.latency_ms
    under = "without a bound of latency" if bound is None else f"under a bound of {bound:g} ms"
    coarse = [name for name, found in timed.items() if found.resolution > RESOLUTION * found.median]
    verdict: Verdict = "suspect" if coarse else "pass" if timed else "no-evidence"
    rates = {name: 1000 * found.n / float(found.times.sum()) for name, found in timed.items()}
    said = "; ".join(f"{name}: {figure(rate)} answers a second, one at a time, {under}" for name, rate in rates.items())
    said += f"; the clock of {listed(coarse)} is too coarse" if coarse else ""
    lacks = f"fewer than {FEW} answers with a time"
    yield Outcome(part="throughput", verdict=verdict, says=said or lacks, facts={"per_second": rates})
    gains: dict[str, float] = {}
    for (name, split), found in q.assessments.items():
        value = None if q.plan.metrics.primary is None else found[q.plan.metrics.primary].value
        if name in timed and value is not None:
            gains[f"{name}, {split}"] = value / (float(timed[name].times.mean()))
    said = "; ".join(
        f"{name}: {figure(gain)} of {q.plan.metrics.primary} a millisecond" for name, gain in gains.items()
    )
    lacks = "no primary measure with a value, or no times of answers"
    verdict = verdict if gains else "no-evidence"
    yield Outcome(part="efficiency", verdict=verdict, says=said or lacks, facts={"per_millisecond": gains})


def _judged(found: Durations, bound: float, share: float, *, level: float) -> tuple[Verdict, dict[str, Any], str]:
    within = found.within(bound)
    low, high = wilson(within, found.n, level)
    ticks = found.resolution / found.median if found.median else 1.0
    facts = {
        "answers": found.n,
        "percentiles": {f"{100 * one:g}": found.at(one) for one in PERCENTILES},
        "longest": found.at(1.0),
        "within": within,
        "share_within": within / found.n,
        "low": low,
        "high": high,
        "clock_resolution": ticks,
    }
    words = (
        f"{figure(within / found.n)} of {counted(found.n, 'answer')} within {bound:g} ms"
        f" ({figure(low)} to {figure(high)}; {figure(share)} asked for)"
    )
    if high < share:
        return "fail", facts, words
    if ticks > RESOLUTION:
        return "suspect", facts, f"{words}; the clock ticks in steps of {figure(ticks)} of the median"
    return ("pass" if low >= share else "suspect"), facts, words
