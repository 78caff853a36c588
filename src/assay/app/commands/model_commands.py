# SPDX-License-Identifier: Apache-2.0
"""The commands that compare models and explain the tests they are compared by."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.app.messages import say_end, say_summary
from assay.app.options import of_files, of_models
from assay.app.task_commands import TASK, TaskCommand, compare_by_task

if TYPE_CHECKING:
    from assay.assess.record.report_formats import Result
    from assay.inference.declare import Significance


@click.command(cls=TaskCommand)
@click.argument("tables", type=click.Path(), nargs=-1, required=True, metavar="A B ...")
@click.option(
    "--task", metavar="TASK", help="What is compared, if not classifiers; --task TASK --help lists its options."
)
@of_models
@of_files
@click.option("--json", "as_json", is_flag=True, help="Print the Record on standard output.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing for people.")
def compare(
    tables: tuple[str, ...],
    *,
    out: str,
    reports: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401  options by name
) -> None:
    """Compare models on the same test data: one file a model, matched by --id, or one file with a column a model.

    \b
    Predictions:  assay compare old.csv new.csv --truth y --predicted p --id case --positive ill
    Values:       assay compare folds.csv --value A=acc_a --value B=acc_b --per fold --folds 10
                  assay compare runs.csv --value auc --model model --id dataset --per data-set
    """  # noqa: D301  click reads the backspace as: keep these lines
    from assay.app.commands.compare_command import compare_files
    from assay.app.commands.report_command import known_kinds, write_run

    known_kinds(reports)  # a mistyped ending must not cost a count
    task = click.get_current_context().meta.get(TASK)
    given.pop("task", None)
    found: Result = (
        compare_files(tables, **given) if task is None else compare_by_task(task, tables, quiet=quiet, **given)
    )
    where = write_run(found, Path(out), reports)
    if as_json:
        click.echo(found.record.to_text(), nl=False)
    if quiet:
        return
    say_summary(found)
    say_end([found], [where], "assay tests   (what every test asks, and when it must not be used)", reports)


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the declarations as JSON.")
def tests(name: str | None, *, as_json: bool) -> None:
    """List the tests of significance, or explain one: what it asks, assumes, and must never be used on."""
    from assay.inference.tests_catalogue import every_test, find_test

    if name is not None:
        one = find_test(name)
        click.echo(json.dumps(declaration(one), indent=1, ensure_ascii=False) if as_json else explained(one))
        return
    every = every_test()
    click.echo(json.dumps([declaration(t) for t in every], indent=1, ensure_ascii=False) if as_json else listing(every))


def declaration(one: Significance) -> dict[str, object]:
    """Everything that is declared of a test, for machines."""
    return {
        "name": one.name,
        "family": one.family,
        "title": one.title,
        "also": list(one.also),
        "asks": one.asks,
        "null": one.null,
        "effect": one.effect,
        "assumes": list(one.assumes),
        "never": list(one.never),
        "source": [str(source) for source in one.source],
        "specification": one.spec,
        "errata": list(one.errata),
        "takes": one.takes.__name__,
        "pairwise": one.pairwise,
    }


def explained(one: Significance) -> str:
    """A test on a few lines."""
    lines = [
        f"{one.name}   {one.title}",
        f"  asks     {one.asks}",
        f"  null     {one.null}",
        f"  effect   {one.effect}",
    ]
    lines += [f"  assumes  {text}" for text in one.assumes]
    lines += [f"  never    {text}" for text in one.never]
    lines += [f"  source   {source}" for source in one.source]
    lines += [f"  errata   {', '.join(one.errata)}"] if one.errata else []
    return "\n".join(lines)


def listing(every: Sequence[Significance]) -> str:
    """One line a test."""
    return "\n".join(f"{one.name:<26} {one.asks}" for one in every)
