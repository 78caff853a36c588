# SPDX-License-Identifier: Apache-2.0
"""Compares models by their runs: paired where they were interleaved, so that slow minutes of a machine cancel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from assay.core.values import Undefined
from assay.inference.estimates import Interval
from assay.inference.findings import Effect, Finding
from assay.inference.tests.means import paired_t, welch_t
from assay.inference.unit_intervals import model_pairs
from assay.tally.real_values import Groups, Pairs

if TYPE_CHECKING:
    from assay.measures.declare import Measure
    from assay.tally.base import ModelTallies
    from assay.tasks.efficiency.tally import Measured

LEAST: Final = 2
"""Runs of each model."""


def compare_runs(
    measure: Measure, paired: ModelTallies[Measured], *, level: float, control: str | None = None
) -> Iterator[Finding]:
    """A finding for every two models: the ratio of a measure, or the difference of a share."""
    for a, b in model_pairs(tuple(paired.models), control):
        yield _compare_pair(measure, (a, paired.models[a]), (b, paired.models[b]), level)


def _compare_pair(measure: Measure, first: tuple[str, Measured], second: tuple[str, Measured], level: float) -> Finding:
    (a, left), (b, right) = first, second
    names = [[run.name for run in measured.durations.runs] for measured in (left, right)]
    share = measure.range == (0, 1)
    values = [_scaled(measured.run_values(measure), share=share) for measured in (left, right)]
    if any(column is None for column in values) or min(map(len, names)) < LEAST:
        reason = f"{measure.title} of a run is undefined" if min(map(len, names)) >= LEAST else "two runs are needed"
        none = Undefined(reason=reason, code="undefined")
        finding = Finding(chance=none, effect=Effect(name="", value=none), statistic=none, statistic_name="t")
        finding, chosen = replace(finding, test="paired_t", title="Paired t test"), ""
    elif names[0] == names[1] and len(set(names[0])) == len(names[0]):
        finding = paired_t(Pairs.of(values[0], values[1], models=(a, b), unit="run"), level=level)
        chosen = "runs of both models have the same names, so they are paired"
    else:
        finding = welch_t(Groups.of({a: values[0], b: values[1]}), level=level)
        chosen = "runs of the models are not paired"
    effect = replace(finding.effect, name=f"{a} minus {b}", share=True) if share else _as_ratio(finding.effect, a, b)
    scale = "shares of runs" if share else "logarithms of the values of runs"
    return replace(
        finding, effect=effect, least=None, chosen=chosen, more=(), about=measure.title, models=(a, b), level=level,
        notes=(*finding.notes, f"{scale}; {measure.title}: {measure.better}"),
    )  # fmt: skip


def _scaled(values: list[float | None], *, share: bool) -> Any:  # noqa: ANN401  floats, or None
    if any(value is None or not math.isfinite(value) or (value <= 0 and not share) for value in values):
        return None
    return [value if share else math.log(value) for value in values if value is not None]


def _as_ratio(effect: Effect, a: str, b: str) -> Effect:
    """A difference of logarithms as a ratio."""
    if isinstance(effect.value, Undefined):
        return replace(effect, name=f"{a} over {b}")
    interval = effect.interval
    if interval is not None:
        interval = Interval(
            low=math.exp(interval.low), high=math.exp(interval.high), level=interval.level,
            method=f"{interval.method} of logarithms",
        )  # fmt: skip
    return replace(effect, name=f"{a} over {b}", value=math.exp(effect.value), interval=interval)
