# SPDX-License-Identifier: Apache-2.0
"""Latency and throughput (clauses 6.6.2 and 6.6.3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.traits import EXTENSION, HIGHER, LOWER, TS4213
from assay.core.values import Number, Share, Undefined, number, share
from assay.measures.declare import measure
from assay.tasks.efficiency.tally import Costs

if TYPE_CHECKING:
    from assay.core.values import Amount
    from assay.measures.declare import Measure

POSITIVE: Final = (0.0, math.inf)
NO_ANSWER: Final = "no request was answered"
NO_SPAN: Final = "the times at which requests were made and answered are not known"
CARRIED: Final = {"p90": 10, "p95": 20, "p99": 100}
"""Requests below which a percentile is the longest time or close to it."""


@measure(
    also=("classification latency",),
    says="seconds from a request to its answer, on average; waiting in a queue counts",
    formula="seconds / answered",
    range=POSITIVE,
    better=LOWER,
    source=TS4213("6.6.2"),
    spec="M-CST-01",
    errata=("E-TS-17",),
    family="latency",
    unit="s",
)
def latency_mean(t: Costs) -> Number:
    return number(t.seconds, over=t.answered, empty=NO_ANSWER)


@measure(
    also=("classification throughput",),
    says="answers within the latency bound, per second; without a bound all answers count",
    formula="(asked - late) / span",
    range=POSITIVE,
    better=HIGHER,
    source=TS4213("6.6.3"),
    spec="M-CST-02",
    family="throughput",
    unit="1/s",
)
def throughput(t: Costs) -> Number:
    return number(t.asked - t.late, over=t.where_all(t.span, t.timed), empty=NO_SPAN)


@measure(
    also=("share within the latency bound",),
    says="share of requests that were answered within the latency bound; failed ones were not",
    formula="(asked - late) / asked",
    range=(0, 1),
    better=HIGHER,
    source=TS4213("6.6.2"),
    spec="M-CST-03",
    family="latency",
)
def latency_compliance(t: Costs) -> Share:
    bounded = t.asked * float(bool(t.tally.durations.bounds))
    return share(_whole(t.asked - t.late), of=_whole(bounded), empty="no latency bound is declared")


def _whole(count: Amount) -> Amount:
    """A single count as a whole number, so that a Record writes it as one."""
    return count if isinstance(count, np.ndarray) else cast("Amount", int(count))


def _percentile(t: Costs, part: float, carried: int) -> Number | Undefined:
    asked = t.tally.rows
    if asked < carried:
        return Undefined(reason=f"{asked} answers do not carry it; it needs {carried}", code="too-few")
    time = t.tally.durations.at(part)
    if time is None:
        return Undefined(reason="so many requests failed that it falls among them", code="failed")
    return number(cast("Amount", time), empty=NO_ANSWER)


@measure(
    says="seconds within which a stated share of the requests was answered; a time that occurred, by nearest rank",
    formula="time of rank ceil(share * asked)",
    range=POSITIVE,
    better=LOWER,
    source=EXTENSION,
    spec="M-CST-04",
    family="latency",
    unit="s",
)
def latency_percentiles(t: Costs, *, share: float) -> Number:
    carried = math.ceil(round(1 / (1 - share), 6)) if share < 1 else 1
    return cast("Number", _percentile(t, share, carried))


def _declare_percentile(name: str, part: float) -> Measure:
    def percentile(t: Costs) -> Number:
        return cast("Number", _percentile(t, part, CARRIED.get(name, 1)))

    percentile.__name__ = name
    percent = "all" if part == 1 else f"{100 * part:g} %"
    return measure(
        also=("longest latency",) if part == 1 else (),
        says=f"seconds within which {percent} of the requests were answered, by nearest rank",
        formula=f"time of rank ceil({part:g} * asked)",
        range=POSITIVE,
        better=LOWER,
        source=EXTENSION,
        spec="M-CST-04",
        family="latency",
        unit="s",
    )(cast("Callable[..., Number]", percentile))


PERCENTILES: Final = {
    name: _declare_percentile(name, part)
    for name, part in {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "latency_max": 1.0}.items()
}
"""The percentiles that are listed unasked."""
