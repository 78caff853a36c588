# SPDX-License-Identifier: Apache-2.0
"""What efficiency reads: a thing that answers, or times that were recorded; and what users declare of the model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from assay.core.errors import PlanError
from assay.core.task import Option, Role
from assay.core.text import visible

SCENARIOS: Final = ("single-stream", "multi-stream", "server", "offline")
UNITS: Final = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}
DURATION: Final = re.compile(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([a-zµ]*)\s*")
TABLES: Final = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".arrow", ".feather", ".gz", ".zst")
PRICED: Final = ("second", "joule", "run")
OBJECTIVES: Final = ("answers", "in_time", "correct")
RESOURCES: Final = ("joules", "seconds", "cost", "parameters", "bytes", "macs", "depth", "training_joules")

ROLES: Final = (
    Role(
        name="target",
        holds="an ONNX file, module:function, a joblib file, a command, or an address on this machine",
        required=False,
        says="what answers: an ONNX file, module:function, a joblib estimator, a command that reads and writes lines, "
        "or http://127.0.0.1:PORT/PATH; or a table of recorded latencies",
        by_model=True,
    ),
    Role(name="inputs", holds="rows or lines", required=False, says="what is asked, one request a row or line"),
    Role(name="expected", holds="labels", required=False, says="the correct answer of each input"),
    Role(
        name="training", holds="a callable or module:function", required=False,
        says="what trains the model; it runs once, and the meter tells its energy", by_model=True,
    ),
    Role(
        name="latencies",
        holds="a table",
        required=False,
        says="times measured elsewhere: columns run, scheduled and answered or latency, correct, joules",
        by_model=True,
    ),
    Role(name="latency", holds="a number", required=False, kind="number", says="column of `data` with seconds"),
    Role(name="run", holds="a label", required=False, kind="label", says="column of `data` that tells runs apart"),
    Role(
        name="scheduled", holds="a number", required=False, kind="number",
        says="column of `data` with the time at which a request was due",
    ),
    Role(
        name="answered", holds="a number", required=False, kind="number",
        says="column of `data` with the time of the answer",
    ),
    Role(
        name="correct", holds="0 or 1", required=False, kind="number",
        says="column of `data` that tells correct answers",
    ),
)  # fmt: skip

DRIVEN: Final = (
    "runs", "requests", "rate", "streams", "workers", "threads", "timeout", "schedule_seed", "template", "idle",
)  # fmt: skip
"""Options that say nothing about recorded times."""
_STATED: Final = (
    Option(name="scenario", says="how requests come; single-stream unless stated", choices=SCENARIOS),
    Option(name="bound", says='latency bound, in seconds or as in "20ms"'),
    Option(name="share", says="share of answers that must keep the bound", default=0.99, kind=float),
    Option(name="runs", says="independent runs", default=10, kind=int),
    Option(name="requests", says="requests of a run", default=1000, kind=int),
    Option(name="rate", says="requests a second of the server scenario; searched where not stated", kind=float),
    Option(name="streams", says="requests that come at once in the multi-stream scenario", default=8, kind=int),
    Option(name="workers", says="requests that may be under way at once", default=4, kind=int),
    Option(name="threads", says="threads of a model in a child process", kind=int),
    Option(name="timeout", says="seconds after which a request has failed", default=10.0, kind=float),
    Option(name="warm_up", says="first answers of a run that do not count; until times are flat, unless stated",
           kind=int),
    Option(name="schedule_seed", says="seed of the times at which requests are due", default=4213, kind=int),
    Option(name="template", says="JSON body of a request to an address, with {input} where the input goes"),
    Option(name="energy", says='the file of a meter (time, watt), "none", or "estimate=codecarbon"; the counters '
           "of this machine otherwise"),
    Option(name="idle", says="seconds of idle power measured before and after", default=5.0, kind=float),
    Option(name="objective", says="what efficiency achieves: answers, in_time, correct, or a number for each answer"),
    Option(name="resource", says=f"what efficiency divides by: {', '.join(RESOURCES)}"),
    Option(
        name="price",
        says="price of a second, a joule or a run, as in second=0.0001",
        several=True,
        by_name=True,
        default=(),
    ),
    Option(name="parameters", says="parameters of the model", kind=int),
    Option(name="depth", says="layers of the model", kind=int),
    Option(name="training_energy", says="joules that training took", kind=float),
)  # fmt: skip
OPTIONS: Final = tuple(replace(option, only_with="target") if option.name in DRIVEN else option for option in _STATED)


def parse_duration(text: object) -> float:
    """Seconds from a number or a text.

    >>> parse_duration("20ms"), parse_duration(0.5), parse_duration("2 s")
    (0.02, 0.5, 2.0)
    """
    matched = DURATION.fullmatch(str(text))
    try:
        seconds = float(matched[1]) * UNITS[matched[2]] if matched else 0.0
    except (KeyError, ValueError):
        seconds = 0.0
    if seconds <= 0:
        raise PlanError(
            "option-unknown",
            f"bound={visible(repr(text))} is not a time",
            known="seconds above 0, or a number with s, ms or us",
            fix='write bound=0.02 or bound="20ms"',
        )
    return round(seconds, 12)


def is_table(target: object) -> bool:
    """Whether a target is a table of recorded latencies, not something that answers."""
    if not isinstance(target, (str, Path)) or not str(target).lower().endswith(TABLES):
        return False
    return " " not in str(target) or Path(target).is_file()


def declared_facts(options: Mapping[str, Any]) -> dict[str, object]:
    """What a user states of the model and of what is asked of it, checked."""
    share = options.get("share")
    facts: dict[str, object] = {"share": 0.99 if share is None else float(share)}
    if not 0 < cast("float", facts["share"]) < 1:
        raise PlanError(
            "option-unknown", f"share={facts['share']!r} is not a share", known="between 0 and 1", fix="state one"
        )
    if options.get("bound") is not None:
        facts["bound"] = parse_duration(options["bound"])
    named = {"scenario": "scenario", "parameters": "parameters", "depth": "depth", "training_energy": "training_joules"}
    facts |= {fact: options[name] for name, fact in named.items() if options.get(name) is not None}
    if options.get("objective") is not None:
        facts["objective"] = _objective(options["objective"])
    if options.get("resource") is not None:
        facts["resource"] = _choice("resource", options["resource"], RESOURCES)
    if options.get("price"):
        facts["price"] = dict(sorted(map(_price, options["price"])))
    return facts


def _objective(value: object) -> object:
    try:
        number = float(str(value))
    except ValueError:
        return _choice("objective", value, OBJECTIVES)
    if not 0 < number < float("inf"):
        raise PlanError("option-unknown", f"objective={number!r} is not above 0", fix="state a value above 0")
    return number


def _choice(name: str, value: object, known: tuple[str, ...]) -> str:
    if value not in known:
        raise PlanError(
            "option-unknown",
            f"{name}={visible(repr(value))} is not a choice",
            known=", ".join(known),
            fix="choose one of them",
        )
    return str(value)


def _price(text: object) -> tuple[str, float]:
    name, _, amount = str(text).partition("=")
    try:
        price = float(amount)
    except ValueError:
        price = -1.0
    if name not in PRICED or not 0 <= price < float("inf"):
        raise PlanError(
            "option-unknown",
            f"price={visible(repr(text))} is not a price",
            known=", ".join(f"{part}=..." for part in PRICED),
            fix='write price="second=0.0001"',
        )
    return name, price
