# SPDX-License-Identifier: Apache-2.0
"""The commands that write and check plans, and what all groups of commands have in common."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from assay.app.messages import say_line


class Group(click.Group):
    """Commands in the order they are told, with a hint for a mistyped one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in order."""
        del ctx
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant, or the nearest one in a hint."""
        from assay.core.task import task_names
        from assay.core.text import nearest

        if args and args[0] not in self.commands and "run" in self.commands and args[0] in set(task_names()):
            args = ["run", "--task", *args]  # `assay efficiency TARGET` is `assay run --task efficiency TARGET`
        if args and args[0] not in self.commands and (close := nearest(args[0], self.commands)):
            ctx.fail(f"there is no command {args[0]!r}; did you mean {close!r}?")
        return super().resolve_command(ctx, args)


@click.command()
@click.argument("predictions", type=click.Path(), required=False)
@click.option("--test", metavar="FILE", type=click.Path(), help="The test rows, if not named before the options.")
@click.option("--train", metavar="FILE", type=click.Path(), help="The training rows.")
@click.option("--validation", metavar="FILE", type=click.Path(), help="The rows that choices were made on.")
@click.option("--truth", metavar="COLUMN", help="Column with the true labels.")
@click.option("--predicted", metavar="COLUMN", help="Column with the predicted labels.")
@click.option("--score", metavar="COLUMN", help="Column with the score of the positive class.")
@click.option("--positive", metavar="LABEL", help="The positive class, if there are two.")
@click.option("--id", metavar="COLUMN", help="Column with the samples' ids.")
@click.option("--subject", metavar="COLUMN", help="Column that tells who or what a sample comes from.")
@click.option("--time", metavar="COLUMN", help="Column that tells when a sample was taken.")
@click.option("--group", "groups", metavar="COLUMN", multiple=True, help="Column that tells groups of people.")
@click.option("--channel", "channels", metavar="COLUMN", multiple=True, help="Column that tells a channel.")
@click.option("--measure", "measures", metavar="NAME", multiple=True, help="A measure or family to plan.")
@click.option(
    "--model",
    "models",
    metavar="NAME[=FILE]",
    multiple=True,
    help="A model; with its predictions by id, or its .onnx or .joblib file, which the plan then lets answer here.",
)
@click.option(
    "--estimator",
    "estimators",
    metavar="[NAME=]FILE",
    multiple=True,
    help="Hyperparameters of a model: a scikit-learn estimator (.joblib, which is loaded) or parameters (.json).",
)
@click.option("--full", is_flag=True, help="Write every field of a plan, those that are open as comments.")
@click.option("--title", help="What is assessed, in a few words.")
@click.option("--assessor", help="Who answers for the plan.")
@click.option("--out", "-o", type=click.Path(), help="The plan file [default: standard output]")
def init(predictions: str | None, *, test: str | None, out: str | None, **given: Any) -> None:  # noqa: ANN401
    """Write a commented plan for a file of predictions."""
    from assay.app.commands.init_command import drafted

    if (predictions is None) == (test is None):
        msg = "name the test rows once: assay init FILE, or --test FILE"
        raise click.UsageError(msg)
    predictions = str(predictions or test)
    text = drafted(predictions, given)
    if out is None:
        click.echo(text, nl=False)
        return
    from assay.core.errors import PlanError
    from assay.rows.temporary_files import write_whole

    if Path(out).exists():
        raise PlanError("out-exists", f"there is already a file {out}", where=out, fix="give another --out")
    write_whole(out, text.encode("utf-8"))
    say_line(f"plan     {out}")
    say_line(f"next     fill in what applies, then: assay plan check {out}")


@click.group(cls=Group)
def plan() -> None:
    """Commands about plans."""


@plan.command("check")
@click.argument("path", metavar="PLAN", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def plan_check(path: str, *, as_json: bool) -> None:
    """List every error of a plan at once, with lines; or which requirement rows it answers."""
    from assay.app.commands.plan_checks import checked, said_of_check

    _, facts = checked(path)
    if as_json:
        click.echo(json.dumps(facts, indent=1, ensure_ascii=False))
        return
    for line in said_of_check(facts):
        say_line(line)
    say_line(f"next     assay run {path}")
