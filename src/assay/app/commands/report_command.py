# SPDX-License-Identifier: Apache-2.0
"""Writing reports from the command line: of a Record in a file, or beside the files of a run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import assay.report  # noqa: F401  it introduces the kinds
from assay.assess.record.record import Record
from assay.assess.record.report_formats import Result, kind_of, rendered, write_report
from assay.core.errors import PlanError, RecordError
from assay.core.text import visible
from assay.rows.temporary_files import write_together
from assay.tally.base import digest

STDOUT = "-"


def known_kinds(paths: Iterable[str]) -> None:
    """Refuse a path whose ending is no kind of report, before anything is read."""
    for path in paths:
        kind_of(path)


def beside(folder: Path, paths: Iterable[str]) -> list[str]:
    """Reports of one model among several: in its own folder, or each would replace the one before."""
    return [str(folder / Path(path).name) for path in paths]


def write_run(assessment: Result, folder: Path, more: Iterable[str] = ()) -> Path:
    """All files of a run; they are made before anything is written, so that a fault leaves nothing behind."""
    paths = [folder / "record.json", folder / "report.html", *map(Path, more)]
    made = {path: rendered(assessment.record, path) for path in paths}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PlanError(
            "out-exists",
            f"cannot make the folder {visible(folder)}",
            where=visible(folder),
            found=error.strerror,
            fix="give another --out",
        ) from error
    write_together(made)
    return folder


def report_file(record: str, out: str, kind: str | None) -> bytes | None:
    """Write a Record of a file in another form; for standard output hand the content back instead."""
    if out == STDOUT and kind is None:
        raise PlanError(
            "option-unknown", "standard output has no ending, so the kind must be named", fix="add --kind md, for one"
        )
    kind_of(out, kind)
    found = _loaded(record)
    try:
        if out == STDOUT:
            return rendered(found, "", kind)
        write_report(found, out, kind)
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        raise RecordError(
            "record-unreadable",
            f"a part of the Record is missing or malformed: {visible(error)}",
            where=visible(record),
            fix="restore the file from its source",
        ) from error
    return None


def _loaded(path: str) -> Record:
    """A Record whose tallies are the ones it was written with; a tally alone has nothing to report."""
    found = Record.load(path)
    if found.get("kind") == "tally":
        raise PlanError(
            "role-clash",
            "the file is the tally of a site, which has no estimates",
            where=visible(path),
            fix=f"assay merge {visible(path)} -o record.json, then report record.json",
        )
    digests = found.get("digests")
    signed = digests.get("tallies") if isinstance(digests, dict) else None
    if signed is not None and signed != digest(found["tallies"]):
        raise RecordError(
            "digest-mismatch",
            "the tallies are not the ones this Record was written with",
            where=visible(path),
            fix="restore the file from its source",
        )
    return found
