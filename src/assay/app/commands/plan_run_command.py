# SPDX-License-Identifier: Apache-2.0
"""Running a plan from the command line: every model counted, compared and judged, each in a folder of its own."""

from __future__ import annotations

from typing import Any

from assay.app.commands.plan_checks import refuse_options, run_plan
from assay.app.commands.report_command import Output
from assay.app.commands.run_command import limits_of
from assay.app.criteria_options import Stated, decided_by


def run_and_write(path: str, output: Output, *, given: dict[str, Any], wanted: Stated) -> None:
    """Run a plan, write a folder for each of its models, say what was found, and leave with what was decided."""
    require, ledger, allow = (given.pop(name) for name in ("require", "ledger", "allow_command"))
    refuse_options(given)
    every = run_plan(path, quiet=output.quiet, limits=limits_of(given), ledger=ledger, allow_command=allow)
    found = {name: wanted.held_to(one) for name, one in every}
    output.finish(found, f"assay plan check {path}   # what the plan still leaves open")
    decided_by(list(found.values()), require=require)
