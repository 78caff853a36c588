# SPDX-License-Identifier: Apache-2.0
"""The commands that write, check and run plans."""

from __future__ import annotations

import json
import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.app.messages import say_line
from assay.app.option_types import Group, flag, row, with_options
from assay.app.options import limits_of
from assay.core.errors import PlanError

if TYPE_CHECKING:
    from assay.app.commands.report_command import Output
    from assay.app.criteria_options import Stated

NEXT = 5
"""Open answers that are told first."""
WIDTH = 88
"""Characters of a line of row ids."""


@click.command()
@click.argument("predictions", type=click.Path(), required=False)
@with_options(
    row("--test", "FILE", "The test rows, if not named before the options."),
    row("--train", "FILE", "The training rows."),
    row("--validation", "FILE", "The rows that choices were made on."),
    row("--truth", "COLUMN", "Column with the true labels."),
    row("--predicted", "COLUMN", "Column with the predicted labels."),
    row("--score", "COLUMN", "Column with the score of the positive class."),
    row("--positive", "LABEL", "The positive class, if there are two."),
    row("--id", "COLUMN", "Column with the samples' ids."),
    row("--subject", "COLUMN", "Column that tells who or what a sample comes from."),
    row("--time", "COLUMN", "Column that tells when a sample was taken."),
    row("--group groups", "COLUMN", "Column that tells groups of people.", multiple=True),
    row("--channel channels", "COLUMN", "Column that tells a channel.", multiple=True),
    row("--measure measures", "NAME", "A measure or family to plan.", multiple=True),
    row(
        "--model models",
        "NAME[=FILE]",
        "A model; with its predictions by id, or its .onnx or .joblib file, which the plan then lets answer here.",
        multiple=True,
    ),
    row(
        "--estimator estimators",
        "[NAME=]FILE",
        "Hyperparameters of a model: a scikit-learn estimator (.joblib, which is loaded) or parameters (.json).",
        multiple=True,
    ),
    flag("--full", "Write every field of a plan, those that are open as comments."),
    row("--title", "TEXT", "What is assessed, in a few words."),
    row("--assessor", "TEXT", "Who answers for the plan."),
    row("--out -o", "PATH", "The plan file [default: standard output]", type=click.Path()),
)
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
    facts = checked(path)
    if as_json:
        click.echo(json.dumps(facts, indent=1, ensure_ascii=False))
        return
    for line in said_of_check(facts):
        say_line(line)
    say_line(f"next     assay run {path}")


def checked(path: str) -> dict[str, Any]:
    """Which requirement rows a plan without errors answers."""
    from assay.assess.conformity.clauses import profile
    from assay.assess.plan.checked_plan import load_plan
    from assay.assess.plan.plan_answers import answered_rows, open_answers

    loaded = load_plan(path)
    rows = profile(loaded.plan.plan.profile or profile().name).rows
    answers_by_row = answered_rows(loaded, rows)
    answered = [name for name, answers in answers_by_row.items() if all(answer.whole for answer in answers)]
    lacking: dict[str, list[str]] = {}
    for name, answers in answers_by_row.items():
        for answer in answers:
            if not answer.whole:
                lacking.setdefault(answer.path, []).append(name)
    left = open_answers(loaded, rows)
    return {
        "plan": loaded.path,
        "digest": loaded.digest,
        "signed": loaded.signed,
        "answered": answered,
        "lacking": lacking,
        "rows": len(rows),
        "wanting_statements": len(answers_by_row),
        "missing_for_conforming": [answer.path for answer in left if answer.shall],
        "next": [
            {"answer": answer.path, "write": written(answer.path), "rows": list(answer.rows)} for answer in left[:NEXT]
        ],
    }


def written(path: str) -> str:
    """A field with the example that its declaration gives, as it is written into a plan."""
    from assay.assess.plan.fields import Plan
    from assay.assess.plan.template import example, section_of, toml_value

    first = path.split("|", maxsplit=1)[0]
    *above, last = [{"*": "NAME"}.get(part, part.removeprefix("@")) for part in first.split(".")]
    node: Any = Plan
    for part in above:
        field = node.model_fields.get(part) if hasattr(node, "model_fields") else None
        node = section_of(field.annotation) if field is not None else node
    field = node.model_fields.get(last) if hasattr(node, "model_fields") else None
    return f"[{'.'.join(above)}] {last} = {toml_value(example(field)) if field is not None else '...'}"


def said_of_check(facts: dict[str, Any]) -> list[str]:
    """The result of a check, for people."""
    from assay.core.text import counted

    lines = [
        f"no errors   digest {facts['digest'][:16]}…",
        (
            f"answers     {len(facts['answered'])} of {facts['wanting_statements']} rows that want a statement"
            f" ({facts['rows']} rows in all; the others are computed or measured)"
        ),
    ]
    lines += [f"            {line}" for line in textwrap.wrap(", ".join(_runs(facts["answered"])), WIDTH)]
    missing = facts["missing_for_conforming"]
    said = f"{counted(len(missing), 'answer')} missing: {', '.join(missing)}" if missing else "no answer is missing"
    lines.append(f'conforming  {said}, for "conforming"')
    if not facts["signed"]:
        lines.append("unsigned    no statement counts before plan.assessor and plan.date are given")
    for place, one in enumerate(facts["next"], start=1):
        lines.append(f"  next {place}    {one['write']}  ({counted(len(one['rows']), 'row')})")
    for path, rows in facts["lacking"].items():
        lines.append(f"  open      {path:<58} {', '.join(rows)}")
    return lines


def _runs(ids: list[str]) -> list[str]:
    """Row ids, those that follow each other in one clause as one.

    >>> _runs(["R-5.1-1", "R-5.1-2", "R-5.1-3", "R-8-1"])
    ['R-5.1-1 to 3', 'R-8-1']
    """
    runs: list[list[str]] = []
    for row_id in ids:
        clause, _, number = row_id.rpartition("-")
        before, _, last = runs[-1][-1].rpartition("-") if runs else ("", "", "")
        if before == clause and last.isdigit() and number.isdigit() and int(number) == int(last) + 1:
            runs[-1].append(row_id)
        else:
            runs.append([row_id])
    return [run[0] if len(run) == 1 else f"{run[0]} to {run[-1].rpartition('-')[2]}" for run in runs]


def run_and_write(path: str, output: Output, *, given: dict[str, Any], wanted: Stated) -> None:
    """Run a plan, write a folder for each of its models, say what was found, and leave with what was decided."""
    import assay.report  # noqa: F401  an assessment can draw itself once the report layer has introduced itself
    from assay.app.commands.run_command import plan_bars, refuse_options
    from assay.app.criteria_options import decided_by
    from assay.assess.conformity.plan_run import run_planned
    from assay.assess.plan.checked_plan import load_plan

    require, ledger, allow = (given.pop(name) for name in ("require", "ledger", "allow_command"))
    refuse_options(given)
    bars = plan_bars(quiet=output.quiet)
    every = run_planned(load_plan(path), **bars, limits=limits_of(given), ledger=ledger, allow_command=allow)
    found = {name: wanted.held_to(one) for name, one in every}
    output.finish(found, f"assay plan check {shlex.quote(path)}   # what the plan still leaves open")
    decided_by(list(found.values()), require=require)
