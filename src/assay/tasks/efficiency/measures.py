# SPDX-License-Identifier: Apache-2.0
"""Latency, throughput, efficiency, energy and cost (clauses 6.6.2 to 6.6.5 and 8), and the size of models (Annex C)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.traits import EXTENSION, HIGHER, LOWER, NEITHER, TS4213
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
NO_METER: Final = "no evidence: no meter"
NO_TRUTH: Final = "it is not known which answers are correct"
latency = partial(measure, range=POSITIVE, better=LOWER, family="latency", unit="s")
energy_use = partial(measure, range=POSITIVE, better=LOWER, source=TS4213("6.6.5"), family="energy")
model_fact = partial(measure, range=POSITIVE, better=LOWER, family="model")
cost = partial(measure, range=POSITIVE, better=LOWER, spec="M-CST-13", family="cost")


@latency(
    also=("classification latency",),
    says="seconds from a request to its answer, on average; waiting in a queue counts",
    formula="seconds / answered",
    source=TS4213("6.6.2"),
    spec="M-CST-01",
    errata=("E-TS-17",),
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


@latency(
    says="seconds within which a stated share of the requests was answered; a time that occurred, by nearest rank",
    formula="time of rank ceil(share * asked)",
    source=EXTENSION,
    spec="M-CST-04",
)
def latency_percentiles(t: Costs, *, share: float) -> Number:
    carried = math.ceil(round(1 / (1 - share), 6)) if share < 1 else 1
    return cast("Number", _percentile(t, share, carried))


def _declare_percentile(name: str, part: float) -> Measure:
    def percentile(t: Costs) -> Number:
        return cast("Number", _percentile(t, part, CARRIED.get(name, 1)))

    percentile.__name__ = name
    percent = "all" if part == 1 else f"{100 * part:g} %"
    return latency(
        also=("longest latency",) if part == 1 else (),
        says=f"seconds within which {percent} of the requests were answered, by nearest rank",
        formula=f"time of rank ceil({part:g} * asked)",
        source=EXTENSION,
        spec="M-CST-04",
    )(cast("Callable[..., Number]", percentile))


PERCENTILES: Final = {
    name: _declare_percentile(name, part)
    for name, part in {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "latency_max": 1.0}.items()
}
"""The percentiles that are listed unasked."""


def _objective(t: Costs) -> Amount:
    """What is achieved: answers, those in time, correct ones, or a declared value of each answer."""
    declared = t.facts.get("objective")
    if isinstance(declared, (int, float)):
        return declared * t.asked
    amounts = {"answers": t.answered, "in_time": t.asked - t.late, "correct": t.where_all(t.correct, t.judged)}
    return amounts.get(str(declared), t.asked * 0)


def _resource(t: Costs) -> Amount:
    """What it takes: amounts of the runs, or a size of the model for each request."""
    name = str(t.facts.get("resource"))
    sums = {
        "joules": t.where_all(t.joules, t.metered),
        "seconds": t.where_all(t.span, t.timed),
        "cost": _cost(t),
    }
    return sums[name] if name in sums else t.asked * t.fact(name)


@measure(
    also=("classification efficiency",),
    says="the declared objective achieved for each unit of the declared resource",
    formula="objective / resource",
    range=POSITIVE,
    better=HIGHER,
    source=TS4213("6.6.4"),
    spec="M-CST-05",
    family="efficiency",
)
def efficiency(t: Costs) -> Number:
    stated = bool(t.facts.get("objective")) and bool(t.facts.get("resource"))
    reason = "the declared resource was not measured" if stated else "no objective and resource are declared"
    over = _resource(t) * float(stated)
    return number(_objective(t), over=over, empty=reason)


@energy_use(
    also=("energy consumed",),
    symbol="E",
    says="joules that a run takes, idle power included",
    formula="joules / runs",
    spec="M-CST-06",
    errata=("E-TS-17",),
    unit="J",
)
def energy(t: Costs) -> Number:
    return number(t.joules, over=t.where_all(t.runs, t.metered), empty=_no_meter(t))


@measure(
    says="joules that a run takes beyond idle power",
    formula="(joules - idle_joules) / runs",
    range=(-math.inf, math.inf),
    better=LOWER,
    source=EXTENSION,
    family="energy",
    unit="J",
)
def energy_net(t: Costs) -> Number:
    return number(t.joules - t.idle_joules, over=t.where_all(t.runs, t.netted), empty="idle power was not measured")


@energy_use(
    also=("mean power",),
    symbol="E/T",
    says="watts while requests are answered",
    formula="joules / span",
    spec="M-CST-07",
    unit="W",
)
def average_power(t: Costs) -> Number:
    over = t.where_all(t.where_all(t.span, t.timed), t.metered)
    return number(t.joules, over=over, empty=_no_meter(t) if not _metered(t) else NO_SPAN)


@measure(
    also=("frames per joule",),
    symbol="F_PJ",
    says="answers for each joule",
    formula="answered / joules",
    range=POSITIVE,
    better=HIGHER,
    source=TS4213("6.6.5"),
    spec="M-CST-08",
    errata=("E-TS-17",),
    family="energy",
)
def performance_per_watt(t: Costs) -> Number:
    return number(t.answered, over=t.where_all(t.joules, t.metered), empty=_no_meter(t))


@energy_use(
    also=("joules per frame",),
    symbol="J_PF",
    says="joules for each answer",
    formula="joules / answered",
    spec="M-CST-09",
    errata=("E-TS-17",),
    unit="J",
)
def joules_per_inference(t: Costs) -> Number:
    over = t.where_all(t.answered, t.metered)
    return number(t.joules, over=over, empty=NO_ANSWER if _metered(t) else _no_meter(t))


@energy_use(
    symbol="J_PI",
    says="joules for each correct answer",
    formula="joules / correct",
    spec="M-CST-10",
    errata=("E-TS-17",),
    infinite=True,
    unit="J",
)
def joules_per_correct_inference(t: Costs) -> Number:
    both = t.where_all(t.where_all(t.joules, t.metered), t.judged)
    reason = _no_meter(t) if not _metered(t) else NO_TRUTH
    return number(both, over=t.where_all(t.where_all(t.correct, t.metered), t.judged), empty=reason, infinite=True)


@measure(
    also=("layers",),
    says="layers of the model: convolution, pooling and fully connected",
    formula="depth",
    range=POSITIVE,
    better=NEITHER,
    source=TS4213("Annex C"),
    spec="M-CST-11",
    family="model",
)
def model_depth(t: Costs) -> Number:
    return _known(t, "depth", "the number of layers is neither declared nor told by the file of the model")


@model_fact(
    also=("parameters",),
    says="numbers that training sets",
    formula="parameters",
    source=TS4213("Annex C"),
    spec="M-CST-12",
    errata=("E-TS-14",),
)
def parameter_count(t: Costs) -> Number:
    return _known(t, "parameters", "the number of parameters is neither declared nor told by the file of the model")


@cost(
    also=("wall time",),
    says="seconds that a run takes, from the first request to the last answer",
    formula="span / runs",
    source=TS4213("8"),
    unit="s",
)
def processing_time(t: Costs) -> Number:
    return number(t.span, over=t.where_all(t.runs, t.timed), empty=NO_SPAN)


@cost(
    also=("cost of a run",),
    says="what a run costs at the declared prices of a second, a joule and a run",
    formula="cost / runs",
    source=(TS4213("5.3.11"), TS4213("8")),
)
def processing_time_and_cost(t: Costs) -> Number:
    priced = bool(t.facts.get("price"))
    reason = "a resource that has a price was not measured" if priced else "no price is declared"
    known = np.where(_cost(t) > 0, t.runs, 0)[()]
    return number(_cost(t), over=cast("Amount", known), empty=reason)


@model_fact(
    says="joules that training took, as declared or metered",
    formula="training_joules",
    source=TS4213("6.6.5"),
    spec="M-CST-14",
    unit="J",
)
def training_energy(t: Costs) -> Number:
    return _known(t, "training_joules", "the energy of training is neither declared nor metered")


def _known(t: Costs, name: str, reason: str) -> Number:
    known = t.runs * 0 + (1 if name in t.facts else 0)
    return number(t.runs * 0 + t.fact(name), over=known, empty=reason)


def _cost(t: Costs) -> Amount:
    """The sum of amounts times prices; 0 where a priced amount was not measured."""
    prices = cast("dict[str, float]", t.facts.get("price") or {})
    amounts = {"second": t.where_all(t.span, t.timed), "joule": t.where_all(t.joules, t.metered), "run": t.runs}
    total = sum((amounts[name] * price for name, price in prices.items()), t.runs * 0)
    known = np.all([amounts[name] > 0 for name in prices], axis=0) if prices else False
    return cast("Amount", np.where(known, total, 0)[()])


def _metered(t: Costs) -> bool:
    return bool(np.all(t.metered == t.runs))


def _no_meter(t: Costs) -> str:
    return str(t.facts.get("no_meter") or NO_METER)
