# SPDX-License-Identifier: Apache-2.0
"""Measures targets here: run after run, models in turn (A B A B), with a meter where there is one."""

from __future__ import annotations

import csv
import hashlib
import importlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.conduct.energy import (
    Meter,
    find_meter,
    is_estimate,
    measure_idle,
    meter_work,
    open_codecarbon,
    read_power_log,
)
from assay.conduct.onnx_graph import describe_model
from assay.conduct.request_driver import Pace, RunTimes, search_rate, time_run
from assay.conduct.targets import Target, open_target
from assay.core.errors import PlanError, RowsError
from assay.core.task import Counted, Request
from assay.core.text import counted, figure, visible
from assay.rows.files.file_list import are_paths
from assay.tally.census import Census
from assay.tally.data.durations import FAILED, NANOSECONDS, add_runs, count_run
from assay.tasks.efficiency.latency_tables import describe_runs, idle_amounts
from assay.tasks.efficiency.roles import declared_facts
from assay.tasks.efficiency.tally import Measured

if TYPE_CHECKING:
    from collections.abc import Sequence

LAG: Final = 0.001
"""Seconds of lag that a driver may have, at most."""
LAG_SHARE: Final = 0.05
"""Lag relative to the median latency, at most."""
STOLEN: Final = 0.02
DELAYED: Final = (0.038, 0.046)
"""Seconds of a delayed acknowledgement, which Nagle's algorithm of a server waits for."""
ESTIMATED: Final = "estimate="
FORMATS: Final = (".npy", ".csv", ".json", ".jsonl", ".txt")


@dataclass(kw_only=True)
class Model:
    """A target under measurement."""

    target: Target
    inputs: int
    expected: Sequence[Any] | None
    pace: Pace
    facts: dict[str, object]
    times: list[RunTimes] = field(default_factory=list)
    joules: list[float | None] = field(default_factory=list)


def measure_targets(models: Mapping[str, Mapping[str, object]], request: Request) -> dict[str, Counted]:
    """Measure every model, run by run in turn."""
    options = dict(request.options)
    runs = int(cast("int", options.get("runs") or 10))
    meter = _find_meter(options.get("energy"))
    with ExitStack() as stack:
        opened = {name: _open_model(given, request, stack) for name, given in models.items()}
        total = sum(runs * model.pace.requests for model in opened.values())
        done = 0

        def tell(now: int) -> None:
            if request.progress is not None:
                request.progress(done + now, total)
            if not isinstance(meter, str) and not is_estimate(meter.name):
                meter.joules()  # often enough for counters that wrap around

        for model in opened.values():
            _settle_rate(model, tell)
        for name, given in models.items():
            opened[name].facts |= _train(given.get("training", request.given.get("training")), meter)
        idle = [_idle(meter, options)]
        for run in range(runs):
            order = list(opened.values()) if run % 2 == 0 else list(opened.values())[::-1]
            for model in order:
                first = None if isinstance(meter, str) else meter.joules()
                model.times.append(time_run(model.target, model.inputs, model.pace, run, tell))
                model.joules.append(None if isinstance(meter, str) or first is None else meter.joules() - first)
                done += model.pace.requests
        idle.append(_idle(meter, options))
    stated = options.get("energy")
    power = stated if isinstance(stated, (str, os.PathLike)) and not str(stated).startswith(ESTIMATED) else None
    return {name: _count(model, meter, idle, power) for name, model in opened.items()}


def _find_meter(energy: object) -> Meter | str:
    if energy == "none":
        return "no evidence: no meter (none was asked for)"
    if str(energy).startswith(ESTIMATED):
        if energy != f"{ESTIMATED}codecarbon":
            raise PlanError(
                "option-unknown", f"energy={visible(repr(energy))} is not known", where="energy",
                known=f"{ESTIMATED}codecarbon, the file of a meter, none", fix=f'write energy="{ESTIMATED}codecarbon"',
            )  # fmt: skip
        return open_codecarbon()
    return find_meter() if energy is None else "no evidence: the file of the meter does not cover the runs"


def _train(training: object, meter: Meter | str) -> dict[str, object]:
    """Run what trains the model in front of the meter, once."""
    if training is None:
        return {}
    if isinstance(meter, str):
        raise PlanError(
            "role-missing", f"the energy of training cannot be metered: {meter}", where="training",
            fix="state training_energy=JOULES, or measure on a machine with a meter",
        )  # fmt: skip
    work = training
    if not callable(work):
        module, _, name = str(training).partition(":")
        work = getattr(importlib.import_module(module), name)
    return {"training_joules": meter_work(cast("Callable[[], object]", work), meter), "training_metered": True}


def _idle(meter: Meter | str, options: Mapping[str, Any]) -> float | None:
    seconds = float(options.get("idle") or 0)
    return None if isinstance(meter, str) or seconds <= 0 else measure_idle(meter, seconds)


def _open_model(given: Mapping[str, object], request: Request, stack: ExitStack) -> Model:
    options = request.options
    if "inputs" not in given and "inputs" not in request.given:
        raise PlanError("role-missing", "inputs are missing", fix="give inputs: what the target is asked, one a row")
    inputs = read_inputs(given.get("inputs", request.given.get("inputs")))
    if not len(inputs):
        raise RowsError("no-rows", "there are no inputs", fix="give at least one input")
    expected = given.get("expected", request.given.get("expected"))
    answers = None if expected is None else list(read_inputs(expected))
    if answers is not None and len(answers) != len(inputs):
        raise RowsError(
            "rows-unmatched",
            "inputs and expected answers differ in number",
            found=f"{len(inputs):,} inputs, {len(answers):,} expected answers",
            fix="give one expected answer for each input",
        )
    facts = {"scenario": "single-stream", **declared_facts(options)}
    pace = Pace(
        scenario=str(facts["scenario"]),
        requests=_at_least(options, "requests", 1000),
        rate=cast("float | None", options.get("rate")),
        streams=_at_least(options, "streams", 8),
        workers=_at_least(options, "workers", 4),
        timeout=float(cast("float", options.get("timeout") or 10.0)),
        warm_up=cast("int | None", options.get("warm_up")),
        seed=int(cast("int", options.get("schedule_seed") or 4213)),
    )
    target = open_target(
        given["target"],
        inputs,
        template=cast("str | None", options.get("template")),
        threads=cast("int | None", options.get("threads")),
    )
    stack.callback(target.close)
    facts = {**describe_model(given["target"]), **facts, "batch": pace.batch, "schedule_seed": pace.seed}
    if options.get("threads"):
        facts["threads"] = options["threads"]
    if not target.one_at_a_time and pace.scenario in ("server", "offline"):
        facts["workers"] = pace.workers
    return Model(target=target, inputs=len(inputs), expected=answers, pace=pace, facts=facts)


def _at_least(options: Mapping[str, Any], name: str, default: int) -> int:
    value = int(options.get(name) or default)
    if value < 1:
        raise PlanError("option-unknown", f"{name}={value} is below 1", fix=f"give {name}=1 or more")
    return value


def _settle_rate(model: Model, tell: Callable[[int], None]) -> None:
    """Search the rate of a server where none is stated."""
    if model.pace.scenario != "server":
        return
    if model.pace.rate is None:
        bound = cast("float | None", model.facts.get("bound"))
        if bound is None:
            raise PlanError(
                "role-missing",
                "the server scenario needs a rate, or a bound to search one",
                fix='give rate=50 (requests a second), or bound="20ms"',
            )
        share = cast("float", model.facts["share"])
        rate = search_rate(model.target, model.inputs, model.pace, bound=bound, share=share, tell=lambda _: tell(0))
        model.pace = replace(model.pace, rate=rate)
        model.facts["searched"] = True
    model.facts["rate"] = float(f"{model.pace.rate:.6g}")


def _count(model: Model, meter: Meter | str, idle: list[float | None], power: object) -> Counted:
    bound = model.facts.get("bound")
    bounds = [] if bound is None else [round(cast("float", bound) * NANOSECONDS)]
    log = None if power in (None, "none") else read_power_log(str(power))
    facts = model.facts | ({"meter": meter.name} if not isinstance(meter, str) else {})
    facts |= {"meter": "file of an external meter"} if log is not None else {}
    facts |= {"no_meter": meter} if isinstance(meter, str) and log is None else {}
    tallies = []
    for run, times in enumerate(model.times):
        amounts = _amounts(model, run, idle)
        if log is not None:
            amounts |= log.amounts(times.began_at, times.began_at + times.span / NANOSECONDS)
        tallies.append(count_run(f"{run + 1:03}", times.latencies, bounds, span=times.span or None, amounts=amounts))
    tally = Measured(durations=add_runs(tallies, bounds), facts=facts)
    census = Census(read=tally.rows, scored=tally.rows)
    notes = [*describe_runs(tally), *_warnings(model, tally)]
    data = {"from": model.target.described, "columns": {}, "files": _digest(model.target)}
    return Counted(tally=tally, census=census, notes=tuple(notes), data=data)


def _amounts(model: Model, run: int, idle: list[float | None]) -> dict[str, float]:
    times, joules = model.times[run], model.joules[run]
    amounts: dict[str, float] = {"lag": times.lag, "warm_up": float(times.warm_up)}
    if times.peak_bytes is not None:
        amounts["peak_bytes"] = float(times.peak_bytes)
    if times.steal is not None:
        amounts["steal"] = times.steal
    if joules is not None:
        amounts["joules"] = joules
        if None not in idle:
            amounts |= idle_amounts(cast("tuple[float, float]", tuple(idle)), times.span / NANOSECONDS)
    if model.expected is not None:
        amounts["correct"] = float(_count_correct(times.answers, model.expected, model.pace.batch))
    return amounts


def _count_correct(answers: Sequence[Any], expected: Sequence[Any], batch: int) -> int:
    """Requests whose answers are all as expected."""
    right = 0
    for place, parts in enumerate(answers):
        if parts is not None and len(parts) == batch:
            wanted = [expected[(place * batch + part) % len(expected)] for part in range(batch)]
            right += all(same_answer(answer, want) for answer, want in zip(parts, wanted, strict=True))
    return right


def same_answer(answer: Any, wanted: Any) -> bool:  # noqa: ANN401
    """Whether an answer is the expected one: the same number, or the same text.

    >>> same_answer([1], 1), same_answer("cat", "cat"), same_answer("1.0", 1)
    (True, True, True)
    """
    while isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if str(answer).strip() == str(wanted).strip():
        return True
    try:
        return float(answer) == float(wanted)
    except (TypeError, ValueError):
        return False


def _warnings(model: Model, tally: Measured) -> list[str]:
    """What makes the numbers suspect."""
    notes: list[str] = []
    median = tally.durations.at(0.5) or 0.0
    lag = max((times.lag for times in model.times), default=0.0)
    if lag > LAG or (median and lag > LAG_SHARE * median):
        notes.append(
            f"suspect: the driver, not the model: requests went out up to {figure(lag * 1000)} ms late "
            f"(median latency {figure(median * 1000)} ms)"
        )
    stolen = max((times.steal or 0.0 for times in model.times), default=0.0)
    if stolen > STOLEN:
        notes.append(f"suspect: other machines took {100 * stolen:.1f} % of the processor time in a run")
    reasons: dict[str, int] = {}
    for times in model.times:
        for reason, number in times.reasons.items():
            reasons[reason] = reasons.get(reason, 0) + number
    notes += [
        f"{counted(number, 'request')} failed: {visible(reason)}" for reason, number in sorted(reasons.items())[:5]
    ]
    latencies = np.concatenate([times.latencies for times in model.times]) / NANOSECONDS
    delayed = (latencies > DELAYED[0]) & (latencies < DELAYED[1])
    if not model.target.one_at_a_time and delayed.mean() > 0.2:  # noqa: PLR2004  a mode, not a tail
        notes.append("suspect: many answers took 40 ms; the server seems to lack TCP_NODELAY")
    return notes


def _digest(target: Target) -> dict[str, str]:
    place = Path(target.file or "")
    if not place.is_file():
        return {}
    with place.open("rb") as file:
        return {place.name: hashlib.file_digest(file, "sha256").hexdigest()}


def read_inputs(inputs: object) -> Any:  # noqa: ANN401  an array or a list
    """Inputs, however they are given: arrays, lists, frames, or a file."""
    if not are_paths(inputs) or isinstance(inputs, (list, tuple)):
        return inputs if isinstance(inputs, (list, tuple)) else np.asarray(inputs)
    path = Path(str(inputs))
    if path.suffix not in FORMATS:
        raise RowsError(
            "refused-format",
            "inputs of this format cannot be read",
            where=visible(path.name),
            known=", ".join(FORMATS),
            fix="convert the file, or give an array in Python",
        )
    try:
        return _read_file(path)
    except OSError as error:
        raise PlanError(
            "no-file", "the inputs cannot be read", where=visible(path.name), fix="check the path"
        ) from error
    except ValueError as error:
        raise RowsError(
            "file-unreadable",
            f"the inputs cannot be read: {visible(error)}",
            where=visible(path.name),
            fix="correct it",
        ) from error


def _read_file(path: Path) -> Any:  # noqa: ANN401
    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        content = json.loads(text)
        if not isinstance(content, list):
            msg = "it is not a list"
            raise ValueError(msg)
        return content
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    if path.suffix == ".txt":
        return text.splitlines()
    rows = list(csv.reader(text.splitlines()))[1:]
    try:
        return np.array(rows, dtype=np.float64)
    except ValueError:
        return rows if any(len(row) > 1 for row in rows) else [row[0] for row in rows if row]


__all__ = ["FAILED", "measure_targets", "read_inputs", "same_answer"]
