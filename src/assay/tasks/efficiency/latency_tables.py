# SPDX-License-Identifier: Apache-2.0
"""Reads times that were measured elsewhere: a table with one row for each request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import MissingColumn, OutOfRange, RowsError
from assay.core.task import Counted, Request
from assay.core.text import counted, listed
from assay.rows.engines.narwhals_frames import narwhals_of
from assay.rows.files.file_list import are_paths
from assay.rows.files.file_set import open_files
from assay.rows.files.formats import Reading
from assay.rows.limits import Limits
from assay.tally.batches import Column, open_batches
from assay.tally.census import Census
from assay.tally.data.durations import NANOSECONDS, add_runs, count_run, split_runs, to_nanoseconds
from assay.tasks.efficiency.tally import Measured

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.conduct.energy import PowerLog

    Columns = dict[str, NDArray[Any]]

ROLES: Final = ("run", "scheduled", "answered", "latency", "milliseconds", "correct", "joules")
"""What the columns of a table are called, unless their names are given."""
ALSO: Final = {"scheduled": "arrived"}
TIMES: Final = ("latency", "milliseconds", "answered")
WARM_UP: Final = "warm-up of a run"


def read_recorded(request: Request, facts: Mapping[str, object], power: PowerLog | None) -> Counted:
    """Count a table of requests."""
    table = request.given.get("latencies", request.data)
    names = {role: str(request.given[role]) for role in ROLES if role in request.given}
    names = names or _find_columns(table, request)
    _check_columns(names)
    columns = {
        role: Column(
            name if request.data is not None or "latencies" in request.given else request.given[role],
            kind="label" if role == "run" else "number",
            missing="keep" if role in TIMES else "error",
        )
        for role, name in names.items()
    }
    with open_batches(replace(request, data=table), columns) as batches:
        if batches.table.spark is not None:
            raise RowsError(
                "refused-format",
                "the order of requests is lost on Spark",
                fix="write the table to a file and give its path",
            )
        parts = list(batches)
        about, notes = batches.about, batches.notes
    if not parts:
        raise RowsError("no-rows", "the table of latencies holds no rows", fix="give one row for each request")
    rows: Columns = {role: np.concatenate([part[role] for part in parts]) for role in columns}
    tally, skipped = count_requests(
        rows, facts, skip=int(cast("int", request.options.get("warm_up") or 0)), power=power
    )
    census = Census(
        read=tally.rows + skipped, scored=tally.rows, excluded={WARM_UP: skipped} if skipped else {}
    )  # fmt: skip
    return Counted(tally=tally, census=census, notes=(*notes, *describe_runs(tally)), data=about)


def _find_columns(table: object, request: Request) -> dict[str, str]:
    """The columns that carry a known name."""
    if isinstance(table, Mapping):
        present = [str(name) for name in table]
    elif are_paths(table):
        reading = cast("Reading | None", request.reading) or Reading()
        opened = open_files(cast("Any", table), reading, limits=cast("Limits", request.limits or Limits()))
        present = list(opened.columns)
        opened.close()
    else:
        present = list(narwhals_of(table).collect_schema().names())
    return {role: name for role in ROLES for name in (ALSO.get(role), role) if name in present}


def _check_columns(names: Mapping[str, str]) -> None:
    if not any(role in names for role in TIMES) or ("answered" in names and "scheduled" not in names):
        raise MissingColumn(
            "missing-column",
            "the table does not say how long answers took",
            found=listed(names.values()) or "no known column",
            known="latency (seconds), or milliseconds, or scheduled and answered (seconds); run, correct, joules",
            fix='name the columns: latency="COLUMN", run="COLUMN"',
        )


def count_requests(
    rows: Columns, facts: Mapping[str, object], *, skip: int = 0, power: PowerLog | None = None
) -> tuple[Measured, int]:
    """The tally of requests by run, and how many belong to the warm-up."""
    seconds = _latencies(rows)
    runs = rows["run"].tolist() if "run" in rows else [""] * len(seconds)
    bound = facts.get("bound")
    bounds = [] if bound is None else [round(float(cast("float", bound)) * NANOSECONDS)]
    tallies, skipped = [], 0
    idle = None
    if power is not None and "scheduled" in rows:
        ends = rows["scheduled"] + np.nan_to_num(seconds)
        idle = power.idle_power(float(rows["scheduled"].min()), float(ends.max()))
    for name, places in split_runs(runs).items():
        order = places[np.argsort(rows["scheduled"][places], kind="stable")] if "scheduled" in rows else places
        kept = order[skip:]
        skipped += len(order) - len(kept)
        if len(kept):
            part = {role: column[kept] for role, column in rows.items()}
            span, amounts = _run_amounts(part, seconds[kept], power)
            if idle is not None and span is not None:
                amounts |= idle_amounts(idle, span / NANOSECONDS)
            tallies.append(count_run(name, to_nanoseconds(seconds[kept]), bounds, span=span, amounts=amounts))
    return Measured(durations=add_runs(tallies, bounds), facts=facts), skipped


def _latencies(rows: Columns) -> NDArray[np.float64]:
    if "latency" in rows:
        seconds = rows["latency"]
    elif "milliseconds" in rows:
        seconds = rows["milliseconds"] / 1000
    else:
        seconds = rows["answered"] - rows["scheduled"]
    early = np.flatnonzero(seconds < 0)
    if len(early):
        raise OutOfRange(
            "value-out-of-domain",
            f"{counted(len(early), 'answer')} came before the request",
            where="latency" if "latency" in rows else "answered",
            found=f"index {', '.join(map(str, early[:5].tolist()))}",
            fix="take both times from one clock that never goes back",
        )
    return cast("NDArray[np.float64]", seconds)


def _run_amounts(
    part: Columns, seconds: NDArray[np.float64], power: PowerLog | None
) -> tuple[int | None, dict[str, float]]:
    """How long a run took, and what was measured beside its times."""
    amounts: dict[str, float] = {}
    if "correct" in part:
        amounts["correct"] = math.fsum((part["correct"] * ~np.isnan(seconds)).tolist())
    if "joules" in part:
        amounts["joules"] = math.fsum(part["joules"].tolist())
    if "scheduled" not in part:
        return None, amounts
    begin = float(part["scheduled"].min())
    ends = part["scheduled"] - begin + seconds
    duration = float(np.nanmax(ends)) if not np.isnan(ends).all() else 0.0
    if power is not None:
        amounts |= power.amounts(begin, begin + duration)
    return round(duration * NANOSECONDS) or None, amounts


def idle_amounts(watts: tuple[float, float], seconds: float) -> dict[str, float]:
    """What idling takes for the length of a run, and how far two readings of idle power differ."""
    change = abs(watts[0] - watts[1]) / max(*watts, 1e-9)
    return {"idle_joules": sum(watts) / 2 * seconds, "idle_change": change}


def describe_runs(tally: Measured) -> list[str]:
    """What to know of the runs before trusting a number."""
    notes = [f"{counted(tally.rows, 'request')} in {counted(tally.units, 'run')}"]
    if tally.durations.failed:
        notes.append(f"{counted(tally.durations.failed, 'request')} failed and count as later than any bound")
    if "no_meter" in tally.facts:
        notes.append(f"energy: {tally.facts['no_meter']}; the file of an external meter is read by energy=METER.csv")
    idle = [run.amounts["idle_change"] for run in tally.durations.runs if "idle_change" in run.amounts]
    if idle and max(idle) > 0.1:  # noqa: PLR2004  a tenth
        notes.append("suspect: idle power before and after the runs differs by more than 10 %")
    return notes
