# SPDX-License-Identifier: Apache-2.0
"""Running an assessment of a file from the command line, with a progress bar where it takes long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import assay
from assay.core.errors import PlanError
from assay.core.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.assess.assessment import Assessment

LONG = 32 * 2**20
"""Bytes from which reading a file is worth a progress bar."""


def run_file(path: str | Path, *, quiet: bool = False, **given: Any) -> Assessment:  # noqa: ANN401  options by name
    """Assess a file; labels typed as text are matched to the file's own type."""
    roles = {role: given.pop(role, None) for role in ("truth", "predicted")}
    reading = assay.Reading(
        delimiter=given.pop("delimiter", None),
        decimal=given.pop("decimal", "."),
        max_rows=given.pop("max_rows", None),
        sha256=given.pop("sha256", None),
    )
    allowed = {name: given.pop(name, None) for name in ("memory", "threads", "temp")}
    limits = assay.Limits(**allowed) if any(one is not None for one in allowed.values()) else None
    groups, labels, measures = (list(given.pop(name, ())) for name in ("groups", "labels", "measures"))
    embedded = given.get("engine") in (None, "duckdb")
    if missing := [role for role, column in roles.items() if column is None]:
        from assay.rows.files import open_file

        columns = list(open_file(path, reading).columns) if embedded else []
        raise PlanError(
            "role-missing",
            f"nobody said which column holds the {' and the '.join(missing)} labels",
            where=str(path),
            known=listed(columns, most=20),
            fix=" ".join(f"--{role} COLUMN" for role in missing),
        )
    with _bar(Path(path), quiet=quiet or not embedded) as progress:
        return assay.assess(
            data=str(path),
            **roles,
            group=groups or None,
            labels=labels or None,
            measures=measures or None,
            reading=reading,
            limits=limits,
            spelled=True,
            progress=progress,
            **given,
        )


@contextmanager
def _bar(path: Path, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    size = path.stat().st_size if path.is_file() else 0
    if quiet or size < LONG or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"reading {path.name}", total=size)

        def tell(done: int, total: int) -> None:
            bar.update(
                task, completed=done, total=total, description="counting" if done >= total else f"reading {path.name}"
            )

        yield tell


def demo_files() -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """The bundled examples: name, path, and how to read them."""
    roles = {
        "screening": {"truth": "truth", "predicted": "predicted", "positive": "disease", "groups": ("sex", "site")},
        "waste": {"truth": "material", "predicted": "sorted_as", "groups": ("camera",)},
    }
    for name, given in roles.items():
        with as_file(files("assay.app") / "examples" / f"{name}.csv") as path:
            yield name, path, given
