# SPDX-License-Identifier: Apache-2.0
"""The commands that compare models and explain the tests they are compared by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from assay.app.option_types import Input
from assay.app.options import of_files, of_models
from assay.app.task_commands import TASK, TaskCommand, compare_by_task, of_task

if TYPE_CHECKING:
    from assay.assess.record.report_formats import Result


@click.command(cls=TaskCommand)
@click.argument("tables", type=Input(), nargs=-1, required=True, metavar="A B ...")
@of_task
@of_models
@of_files
def compare(tables: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401  options by name
    """Compare models on the same test data: one file a model, matched by --id, or one file with a column a model.

    \b
    Predictions:  assay compare old.csv new.csv --truth y --predicted p --id case --positive ill
    Values:       assay compare folds.csv --value A=acc_a --value B=acc_b --per fold --folds 10
                  assay compare runs.csv --value auc --model model --id dataset --per data-set
    """  # noqa: D301  click reads the backspace as: keep these lines
    from assay.app.commands.compare_command import compare_files
    from assay.app.commands.report_command import Output

    output = Output.taken_from(given)
    task = click.get_current_context().meta.get(TASK)
    given.pop("task", None)
    comparison: Result = (
        compare_files(tables, **given) if task is None else compare_by_task(task, tables, quiet=output.quiet, **given)
    )
    output.finish({"": comparison}, "assay tests   # what every test asks, and when it must not be used")
