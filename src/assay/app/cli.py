# SPDX-License-Identifier: Apache-2.0
"""The command line; every command imports what it needs when it runs, so that help is instant."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

import click

from assay.app.commands.advise_command import advise
from assay.app.commands.compare_command import compare
from assay.app.commands.gate_command import gate
from assay.app.commands.plan_commands import init, plan, run_and_write
from assay.app.commands.reference_commands import completion, doctor, explain, measures, schema, show, tests
from assay.app.commands.tally_and_merge_commands import merge, tally
from assay.app.commands.trust_commands import keys, sign, verify
from assay.app.commands.trust_commands import ledger as ledger_group
from assay.app.messages import colour, say, say_line
from assay.app.option_types import Command, Group, Input, flag, row, spelled_for_command, with_options
from assay.app.options import QUIET, of_decisions, of_fairness, of_files, of_plans, of_rows
from assay.app.task_commands import TASK, TaskCommand, of_task, run_task
from assay.core.errors import AssayError, EngineError
from assay.core.progress import progress_bar
from assay.core.text import visible

LEAST_SPACE: Final = 384 * 2**20
"""Bytes of address space; with fewer, loading the embedded engine ends the process."""
HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(cls=Group, context_settings=HELP, invoke_without_command=True)
@click.option("--version", is_flag=True, help="Show the version and leave.")
@click.pass_context
def cli(ctx: click.Context, *, version: bool) -> None:
    """Assess machine-learning performance: every measure with its uncertainty.

    \b
    Try:  assay demo
          assay run predictions.csv --truth label --predicted guess --positive yes
          assay show recall
    """  # noqa: D301  click reads the backspace as: keep these lines
    if version:
        from importlib.metadata import version as of

        click.echo(f"assay {of('assay')}")
    elif ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@click.command(cls=TaskCommand)
@click.argument("predictions", type=Input(), nargs=-1, required=True)
@of_task
@of_rows
@of_decisions
@of_fairness
@of_plans
@of_files
def run(predictions: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401  options by name
    """Assess predictions: a file (CSV, Parquet, JSON lines, Arrow, DuckDB, SQLite) or postgresql://USER@HOST/DB.

    Several files, a folder or a quoted pattern such as 'preds/*.parquet' are read as one table.
    A plan (.toml, .json) is run as it describes, see `assay init`.
    """
    from assay.app.commands.report_command import Output
    from assay.app.criteria_options import decided_by, stated
    from assay.app.input_kind import columns_named, is_plan, refuse_records

    output = Output.taken_from(given)
    task = click.get_current_context().meta.get(TASK)
    wanted = stated(given, measures=None if task is None else task.registry)  # nor a mistyped criterion
    refuse_records(predictions)
    if task is None and len(predictions) == 1 and is_plan(predictions[0], columns=columns_named(given)):
        run_and_write(predictions[0], output, given=given, wanted=wanted)
        return
    from assay.app.commands.run_command import next_of_run, run_file

    require = [given.pop(name, None) for name in ("task", "ledger", "allow_command", "require")][-1]
    counted = (
        run_file(predictions, quiet=output.quiet, **given)
        if task is None
        else run_task(task, predictions, quiet=output.quiet, **given)
    )
    assessment = wanted.held_to(counted)
    with progress_bar("intervals", quiet=output.quiet) as progress:
        assessment.work_out(progress)
    output.finish({"": assessment}, next_of_run(assessment, output.out))
    decided_by([assessment], require=require)


@click.command(cls=Command)
@click.argument("record", type=click.Path())
@with_options(
    row("--out -o", "PATH", "The file to write, or - for standard output.", required=True, type=click.Path()),
    row("--kind", "KIND", "What to write, if the ending of the file does not say it."),
    QUIET,
)
def report(record: str, *, out: str, kind: str | None, quiet: bool) -> None:
    """Write a Record in another form.

    \b
    By ending: .html .pdf .md .json .csv .parquet .cdx.json (CycloneDX)
    By --kind: modelcard (a section of a README.md), tripod-ai, stard-ai, claim (checklists)
    """  # noqa: D301  click reads the backspace as: keep these lines
    from assay.app.commands.report_command import report_file

    content = report_file(record, out, kind)
    if content is not None:
        click.echo(content, nl=False)
    elif not quiet:
        say_line(f"report   {out}")


@click.command(cls=Command)
@click.argument("task", required=False)
@with_options(
    row("--out -o", "PATH", "Folder for the demo's reports.", default="assay-demo", type=click.Path()),
    flag("--open/--no-open opens", "Open the report in a browser [default: if there is a desktop]", default=None),
    flag("--json as_json", "Print the Records on standard output."),
    QUIET,
)
def demo(*, task: str | None, out: str, opens: bool | None, as_json: bool, quiet: bool) -> None:
    """Assess bundled examples; `assay demo TASK` those of a task."""
    from assay.app.commands.report_command import Output
    from assay.app.demo import demo_assessments

    assessments, command = demo_assessments(task, Path(out), quiet=quiet)
    Output(out=out, as_json=as_json, quiet=quiet).finish(assessments, f"{command}   # then with a file of your own")
    if opens or (opens is None and not quiet and _desktop()):
        click.launch(str(Path(out) / list(assessments)[-1].replace(" ", "-") / "report.html"))


def _desktop() -> bool:
    return sys.stderr.isatty() and bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("darwin", "win32")
    )


for member in (
    demo, run, compare, gate, report, show, measures, tests, advise, explain, init, plan, ledger_group, tally, merge,
    verify, sign, keys, doctor, schema, completion,
):  # fmt: skip
    cli.add_command(member)


def main() -> None:
    """Run the command line; every failure has its exit code and its message."""
    try:
        demand_address_space()
        status = cli.main(standalone_mode=False, complete_var="_ASSAY_COMPLETE")
        if sys.stdout is not None:
            sys.stdout.flush()
    except AssayError as error:
        _fail(error)
    except (click.exceptions.Abort, KeyboardInterrupt):
        say("stopped")
        raise SystemExit(130) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(2) from None
    except BrokenPipeError:
        sys.stdout = None
        raise SystemExit(141) from None
    except Exception as error:
        if os.environ.get("ASSAY_DEBUG"):
            raise
        _fail(unforeseen(error))
    raise SystemExit(status if isinstance(status, int) else 0)


def _fail(error: AssayError) -> None:
    error.fix = None if error.fix is None else spelled_for_command(error.typed or error.fix, cli)
    if {"--json", "--json-short"} & set(sys.argv) and sys.stdout is not None:
        click.echo(json.dumps(error.to_json(), ensure_ascii=False))
    head, _, rest = str(error).partition("\n")
    say((click.style(head, fg="red", bold=True) if colour(error=True) else head) + "\n" + rest)
    raise SystemExit(error.exit_code)


def demand_address_space() -> None:
    """Stop where the system grants so little that libraries die of it, before they are loaded."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    granted, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 < granted < LEAST_SPACE and not {"-h", "--help", "--version"} & set(sys.argv):
        what = "the system grants this process less memory than the libraries need"
        found = f"{granted // 2**20:,} MiB of address space (ulimit -v)"
        known = f"{LEAST_SPACE // 2**20:,} MiB at least"
        raise EngineError("memory-short", what, found=found, known=known, fix="raise the limit")


def unforeseen(error: Exception) -> AssayError:
    """What to say of a full disk, of too little memory, and of a fault of our own."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        # What could not be written would fail once more when Python ends.
        sys.stdout = None
        return EngineError("disk-full", "the disk is full, and the output is cut", fix="write to another place")
    if isinstance(error, MemoryError) or "can't start new thread" in str(error):
        fix = "give it more memory, or state a smaller --memory, beyond which it spills to disk"
        return EngineError("memory-short", "there is less memory than the work needs", fix=fix)
    what = f"a fault of assay itself: {type(error).__name__}: {visible(error)}"
    return AssayError("internal", what, fix="run again with ASSAY_DEBUG=1 to see where, and report it with that output")
