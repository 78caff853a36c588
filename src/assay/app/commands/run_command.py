# SPDX-License-Identifier: Apache-2.0
"""Running an assessment of a file, or of a plan, from the command line, with a progress bar where it takes long."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import assay
import assay.report  # an assessment can draw itself once the report layer has introduced itself
from assay.app.option_types import named_values
from assay.app.options import door_arguments, refuse_typed
from assay.app.proposal import fill_roles, is_pattern, lacking
from assay.core.errors import AssayError, PlanError
from assay.core.progress import progress_bar
from assay.core.text import counted
from assay.rows.databases.database import is_database

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.assess.assessment import Assessment

LONG = 32 * 2**20
"""Bytes from which reading a file is worth a progress bar."""


def run_file(path: str | Path | Sequence[str], *, quiet: bool = False, **given: Any) -> Assessment:  # noqa: ANN401  options by name
    """Assess a file or several; labels typed as text are matched to the file's own type."""
    paths = [str(path)] if isinstance(path, (str, Path)) else list(path)
    data: str | list[str] = paths[0] if len(paths) == 1 else paths
    truth_files = list(given.pop("truth_files", ()))
    given |= {"truth_data": truth_files or None, "spelled": True, "id": list(given.pop("ids", ())) or None}
    given |= {"score": _scores(given.pop("score", ())), "threshold": _threshold(given.pop("threshold", None))}
    given["costs"] = typed_costs(given.pop("cost", ()), given.pop("costs", None))
    arguments = door_arguments(given)
    embedded = arguments.get("engine") in (None, "duckdb")
    if lacking(arguments) or is_pattern(arguments["score"]):
        arguments |= fill_roles(arguments, data, embedded=embedded, quiet=quiet)
    with reading_bar([*paths, *truth_files], quiet=quiet or not embedded) as progress:
        arguments["reading"] = replace(arguments["reading"], progress=progress)
        return assay.assess(data=data, **arguments)


def next_of_run(assessment: Assessment, out: str) -> str:
    """The command that somebody may want next."""
    record = shlex.quote(str(Path(out) / "record.json"))
    groups = "" if assessment.grouped.factors else "; add --group COLUMN to the run for groups"
    return f"assay report {record} -o report.pdf   # or .md, .csv, a model card{groups}"


def _scores(given: Sequence[str]) -> str | list[str] | dict[str, str] | None:
    """Score columns as typed: one name, several names, or LABEL=COLUMN for each class."""
    if not given:
        return None
    if not any("=" in text for text in given):
        return given[0] if len(given) == 1 else list(given)
    return named_values(given, "--score", "class", code="score-columns")


def typed_costs(given: Sequence[tuple[str, str, float]], path: str | None) -> dict[tuple[str, str], float] | str | None:
    """Costs as typed, pair by pair, or the file that holds them."""
    if given and path is not None:
        raise PlanError("role-clash", "costs are both typed and in a file", where="--costs", fix="give one of them")
    pairs = {(truth, called): cost for truth, called, cost in given}
    if len(pairs) < len(given):
        raise PlanError("role-clash", "a pair of classes has two costs", where="--cost", fix="state each pair once")
    return pairs or path


def _threshold(given: str | None) -> float | str | None:
    """A threshold as typed: a number if it is one, else a rule."""
    try:
        return None if given is None else float(given)
    except ValueError:
        return given


@contextmanager
def reading_bar(data: str | list[str], *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar for reading a large file, where somebody watches."""
    size, name = (0, "") if quiet else _size(data)
    if size < LONG or not sys.stderr.isatty():
        yield None
        return
    with progress_bar(f"reading {name}", of_bytes=True) as tell:
        yield tell


def _size(data: str | list[str]) -> tuple[int, str]:
    """The bytes to be read, and what to call them; what cannot be listed is told of when it is opened."""
    from assay.rows.files.file_list import list_files

    first = data if isinstance(data, str) else data[0]
    if is_database(first):
        return (Path(first).stat().st_size, Path(first).name) if Path(first).is_file() else (0, "")
    try:
        files = list_files(data)
        size = sum(Path(one.path).stat().st_size for one in files)
    except (AssayError, OSError):
        return 0, ""
    return size, files[0].name if len(files) == 1 else counted(len(files), "file")


def plan_bars(*, quiet: bool) -> dict[str, Any]:
    """What shows how far the run of a plan is: reading of files, and intervals of each model."""
    return {
        "watching": lambda data: reading_bar(data, quiet=quiet),
        "working": lambda name: progress_bar(f"intervals {name}".strip(), quiet=quiet),
    }


def refuse_options(given: dict[str, Any]) -> None:
    """What shapes the numbers is said in the plan, and nowhere else."""
    why = "a plan is run as it is: options about rows and measures are stated in it"
    fix = "write them into the plan, or give the file of predictions instead of the plan"
    free = ("out", "as_json", "quiet", "predictions", "ledger", "require", "allow_command")
    refuse_typed(given, why, fix, free)
