# SPDX-License-Identifier: Apache-2.0
"""The command line; every command imports what it needs when it runs, so that help is instant."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from assay.app.commands.advise_command import advise
from assay.app.commands.gate_command import gate
from assay.app.commands.ledger_commands import ledger as ledger_group
from assay.app.commands.model_commands import compare, tests
from assay.app.commands.plan_commands import Group, init, plan
from assay.app.commands.verify_and_sign_commands import keys, sign, verify
from assay.app.failures import demand_address_space, unforeseen
from assay.app.messages import colour, say, say_end, say_line, say_summary
from assay.app.options import of_decisions, of_fairness, of_files, of_rows
from assay.app.task_commands import TASK, TaskCommand, run_task
from assay.core.errors import AssayError

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


@cli.command(cls=TaskCommand)
@click.argument("predictions", type=click.Path(), nargs=-1, required=True)
@click.option("--task", metavar="TASK", help="What is assessed, if not classes; --task TASK --help lists its options.")
@of_rows
@of_decisions
@of_fairness
@of_files
@click.option("--ledger/--no-ledger", default=True, help="Enter the run of a plan in its ledger [default: enter it]")
@click.option("--allow-command", is_flag=True, help="Let the plan run the command that makes its predictions.")
@click.option(
    "--require",
    type=click.Choice(["conforming", "declared"]),
    help="Leave with 3 unless the plan conforms: at all, or also by declaration.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the Record on standard output.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing for people.")
def run(
    predictions: tuple[str, ...],
    *,
    out: str,
    reports: tuple[str, ...],
    ledger: bool,
    require: str | None = None,
    allow_command: bool = False,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401  options by name
) -> None:
    """Assess predictions: a file (CSV, Parquet, JSON lines, Arrow, DuckDB, SQLite) or postgresql://USER@HOST/DB.

    Several files, a folder or a quoted pattern such as 'preds/*.parquet' are read as one table.
    A plan (.toml, .yaml, .json) is run as it describes, see `assay init`.
    """
    from assay.app.commands.report_command import known_kinds, write_run
    from assay.app.criteria_options import decided_by, stated
    from assay.app.input_kind import columns_named, is_plan, refuse_records

    known_kinds(reports)  # a mistyped ending must not cost a count
    task = click.get_current_context().meta.get(TASK)
    wanted = stated(given, measures=None if task is None else task.registry)  # nor a mistyped criterion
    refuse_records(predictions)
    if task is None and len(predictions) == 1 and is_plan(predictions[0], columns=columns_named(given)):
        from assay.app.commands.plan_run_command import run_and_write

        run_and_write(
            predictions[0],
            out,
            reports=reports,
            as_json=as_json,
            quiet=quiet,
            ledger=ledger,
            given=given,
            wanted=wanted,
            require=require,
            allow_command=allow_command,
        )
        return
    from assay.app.commands.run_command import run_file, working
    from assay.rows.databases.database import shown

    given.pop("task", None)
    counted = (
        run_file(predictions, quiet=quiet, **given)
        if task is None
        else run_task(task, predictions, quiet=quiet, **given)
    )
    assessment = wanted.held_to(counted)
    with working(quiet=quiet) as progress:
        assessment.work_out(progress)
    where = write_run(assessment, Path(out), reports)
    if as_json:
        click.echo(assessment.record.to_text(), nl=False)
    if not quiet:
        say_summary(assessment)
        grouped = (
            f"assay report {where / 'record.json'} -o report.pdf   (or .md, .csv, a model card: assay report --help)"
        )
        start = "assay run" if task is None else f"assay run --task {task.name}"
        first, more = shown(predictions[0]) if predictions else "", "weights" if task is None else "options"
        plain = f"{start} {first} ... --group COLUMN   ({start} --help: {more}, intervals)"
        say_end([assessment], [where], grouped if assessment.grouped.factors else plain, reports)
    decided_by([assessment], require=require)


cli.add_command(init)
cli.add_command(plan)
cli.add_command(ledger_group)


@cli.command()
@click.argument("predictions", type=click.Path())
@of_rows
@click.option("--site", metavar="NAME", help="What this site is called in the merged result [default: the file's name]")
@click.option(
    "--smallest-cell",
    default=10,
    show_default=True,
    help="Fewest rows a cell may hold; levels of groups with smaller ones are pooled, 1 lets every cell out.",
)
@click.option("--out", "-o", type=click.Path(), help="The tally file [default: NAME.tally.json]")
@click.option("--json", "as_json", is_flag=True, help="Print the tally on standard output, and write no file.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing for people.")
def tally(
    predictions: str,
    site: str | None,
    smallest_cell: int,
    out: str | None,
    *,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401
) -> None:
    """Count a file of predictions into a tally that may be shared: no rows, no ids, no small cells."""
    from assay.app.commands.tally_and_merge_commands import tally_file

    content, written = tally_file(
        predictions, site=site, smallest_cell=smallest_cell, out=None if as_json else out or "", quiet=quiet, **given
    )
    if as_json:
        click.echo(content.to_text(), nl=False)
    if not quiet:
        from assay.app.commands.tally_and_merge_commands import said

        for line in said(content, written):
            say_line(line)


@cli.command()
@click.argument("tallies", nargs=-1, required=True, type=click.Path())
@click.option(
    "--out", "-o", default="pooled.json", show_default=True, type=click.Path(), help="The Record of all rows together."
)
@click.option("--report", type=click.Path(), help="Also write a report; its ending says which kind.")
@click.option("--json", "as_json", is_flag=True, help="Print the Record on standard output.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing for people.")
def merge(tallies: tuple[str, ...], *, out: str, report: str | None, as_json: bool, quiet: bool) -> None:
    """Merge tallies or Records of several sites: exactly the Record of all their rows together."""
    from assay.app.commands.tally_and_merge_commands import merge_files

    merged = merge_files(tallies)
    if report is not None:
        merged.report(report)
    merged.save(out)
    if as_json:
        click.echo(merged.record.to_text(), nl=False)
    if not quiet:
        say_summary(merged)
        say("")
        say_line(f"record   {out}" + (f"   report   {report}" if report else ""))
        if report is None:
            say_line(f"next     assay merge {' '.join(tallies)} -o {out} --report pooled.html")


@cli.command()
@click.argument("record", type=click.Path())
@click.option("--out", "-o", required=True, type=click.Path(), help="The file to write, or - for standard output.")
@click.option("--kind", metavar="KIND", help="What to write, if the ending of the file does not say it.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing for people.")
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


cli.add_command(gate)
cli.add_command(verify)
cli.add_command(sign)
cli.add_command(keys)
cli.add_command(compare)
cli.add_command(tests)
cli.add_command(advise)


@cli.command()
@click.argument("measure")
@click.option("--json", "as_json", is_flag=True, help="Print the declaration as JSON.")
def show(measure: str, *, as_json: bool) -> None:
    """Explain a measure: formula, range, sources, errata, other names."""
    from assay.app.commands.show_command import explain_name

    content, text = explain_name(measure)
    click.echo(json.dumps(content, indent=1, ensure_ascii=False) if as_json else text)


@cli.command()
@click.option("--task", metavar="TASK", help="Only measures of a task, or of binary or multiclass.")
@click.option("--family", metavar="FAMILY", help="Only one family.")
@click.option("--json", "as_json", is_flag=True, help="Print the declarations as JSON.")
def measures(*, task: str | None, family: str | None, as_json: bool) -> None:
    """List the measures."""
    from assay.app.commands.show_command import declaration, listing
    from assay.measures.catalogue import measures as find

    found = find(task=task, family=family)
    click.echo(json.dumps([declaration(m) for m in found], indent=1, ensure_ascii=False) if as_json else listing(found))


@cli.command()
@click.argument("task", required=False)
@click.option(
    "--out", "-o", default="assay-demo", show_default=True, type=click.Path(), help="Folder for the demo's reports."
)
@click.option(
    "--open/--no-open", "opens", default=None, help="Open the report in a browser (default: if there is a desktop)."
)
@click.option("--json", "as_json", is_flag=True, help="Print the Records on standard output.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing for people.")
def demo(*, task: str | None, out: str, opens: bool | None, as_json: bool, quiet: bool) -> None:
    """Assess bundled examples; `assay demo TASK` those of a task."""
    from assay.app.commands.report_command import write_run
    from assay.app.task_commands import demo_assessments, next_after_demo

    records: dict[str, Any] = {}
    every, folders = [], []
    for name, assessment in demo_assessments(task, quiet=quiet):
        every.append(assessment)
        folders.append(write_run(assessment, Path(out) / name.replace(" ", "-")))
        records[name] = dict(assessment.record)
        if not quiet:
            say_line(click.style(f"── {name} " + "─" * (70 - len(name)), bold=True))
            say_summary(assessment)
    if as_json:
        click.echo(json.dumps(records, ensure_ascii=False, allow_nan=False))
    if not quiet:
        say_end(every, folders, next_after_demo(task))
    if opens or (opens is None and not quiet and _desktop()):
        click.launch(str(folders[-1] / "report.html"))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(*, as_json: bool) -> None:
    """Look at this installation: versions, optional parts, and whether the engine counts."""
    from assay.app.commands.doctor_command import examined

    rows = examined()
    if as_json:
        click.echo(json.dumps([{"part": a, "state": b, "detail": c} for a, b, c in rows], indent=1))
    else:
        for part, state, detail in rows:
            click.echo(f"{part:<14} {state:<8} {detail}")
    if any(state == "broken" for _, state, _ in rows):
        raise SystemExit(5)


@cli.command()
@click.option(
    "--kind", default="assessment", show_default=True, type=click.Choice(["assessment", "comparison", "tally", "plan"])
)
def schema(*, kind: str) -> None:
    """Print the JSON Schema of a Record of an assessment or comparison, of a site's tally, or of a plan."""
    if kind == "plan":
        from assay.assess.plan.checked_plan import plan_schema

        click.echo(json.dumps(plan_schema(), indent=1))
        return
    from assay.assess.record.record import schema as of_record

    click.echo(json.dumps(of_record(kind), indent=1))


def _desktop() -> bool:
    return sys.stderr.isatty() and bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("darwin", "win32")
    )


def main() -> None:
    """Run the command line; every failure has its exit code and its message."""
    try:
        demand_address_space()
        status = cli.main(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except AssayError as error:
        _fail(error)
    except click.exceptions.Abort:
        say("stopped")
        raise SystemExit(130) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        say("stopped")
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stdout = None
        raise SystemExit(141) from None
    except Exception as error:
        if os.environ.get("ASSAY_DEBUG"):
            raise
        _fail(unforeseen(error))
    raise SystemExit(status if isinstance(status, int) else 0)


def _fail(error: AssayError) -> None:
    if "--json" in sys.argv and sys.stdout is not None:
        click.echo(json.dumps(error.to_json(), ensure_ascii=False))
    text = str(error)
    if colour():
        head, _, rest = text.partition("\n")
        text = click.style(head, fg="red", bold=True) + "\n" + rest
    say(text)
    raise SystemExit(error.exit_code)
