# SPDX-License-Identifier: Apache-2.0
"""The commands about plans: write one, check one, run one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import assay
import assay.report  # an assessment can draw itself once the report layer has introduced itself
from assay.app.options import typed
from assay.assess.clauses import profile
from assay.assess.plan.answers import answered_rows
from assay.assess.plan.loading import LoadedPlan, load_plan
from assay.assess.plan.template import template
from assay.assess.planned import run_planned
from assay.core.errors import PlanError
from assay.core.text import counted, listed, quoted

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment

FEW = 40
"""Distinct labels up to which a column may hold classes."""


def checked(path: str) -> tuple[LoadedPlan, dict[str, Any]]:
    """A plan without errors, and which requirement rows it answers."""
    loaded = load_plan(path)
    rows = profile(loaded.plan.plan.profile or profile().name).rows
    found = answered_rows(loaded, rows)
    answered = [name for name, answers in found.items() if all(one.whole for one in answers)]
    lacking: dict[str, list[str]] = {}
    for name, answers in found.items():
        for one in answers:
            if not one.whole:
                lacking.setdefault(one.path, []).append(name)
    return loaded, {
        "plan": loaded.path,
        "digest": loaded.digest,
        "signed": loaded.signed,
        "answered": answered,
        "lacking": lacking,
        "rows": len(rows),
        "wanting_statements": len(found),
    }


def said_of_check(found: dict[str, Any]) -> list[str]:
    """The result of a check, for people."""
    lines = [
        f"no errors   digest {found['digest'][:16]}…",
        (
            f"answers     {len(found['answered'])} of {found['wanting_statements']} rows that want a statement"
            f" ({found['rows']} rows in all; the others are computed or measured)"
        ),
    ]
    if not found["signed"]:
        lines.append("unsigned    no statement counts before plan.assessor and plan.date are given")
    for path, rows in found["lacking"].items():
        lines.append(f"  open      {path:<58} {', '.join(rows)}")
    return lines


def run_plan(
    path: str, *, quiet: bool, limits: assay.Limits | None = None, ledger: bool = True
) -> list[tuple[str, Assessment]]:
    """Every assessment a plan describes, each with the name of its folder."""
    from assay.app.running import bar

    return run_planned(load_plan(path), limits=limits, watching=lambda data: bar(data, quiet=quiet), ledger=ledger)


def refuse_options(given: dict[str, Any]) -> None:
    """What shapes the numbers is said in the plan, and nowhere else."""
    if found := typed(given, free=("out", "as_json", "quiet", "predictions", "ledger")):
        raise PlanError(
            "role-clash",
            "a plan is run as it is: options about rows and measures are stated in it",
            found=", ".join(found),
            fix="write them into the plan, or give the file of predictions instead of the plan",
        )


def drafted(path: str, given: dict[str, Any]) -> str:
    """A commented plan for a file of predictions; what cannot be known is asked for, or taken from options."""
    from assay.rows.files import open_file

    opened = open_file(path)
    columns = list(opened.columns)
    asks = sys.stdin.isatty() and sys.stderr.isatty()
    roles = {role: _column(role, given.get(role), columns, asks=asks) for role in ("truth", "predicted")}
    labels = _labels(opened, roles["truth"], roles["predicted"])
    positive = _positive(given.get("positive"), labels, asks=asks)
    for name in ("id", "subject", "time"):
        if given.get(name) is not None:
            roles[name] = _column(name, given[name], columns, asks=False)
    identity = {name: given.get(name) or _asked(name, asks=asks) for name in ("title", "assessor")}
    filled: dict[str, Any] = {
        "plan": {name: value for name, value in identity.items() if value},
        "task": {"type": "binary" if len(labels) == 2 else "multiclass", "classes": labels},  # noqa: PLR2004
        "models": {given.get("model") or "model": {"predicted": roles.pop("predicted")}},
        "columns": roles,
        "data": {"test": {"path": Path(path).name, "sha256": opened.sha256}},
    }
    if positive is not None:
        filled["task"]["positive"] = positive
    for option, (section, key) in {"groups": ("fairness", "groups"), "measures": ("metrics", "measures")}.items():
        if given.get(option):
            filled[section] = {key: list(given[option])}
    if given.get("channels"):
        filled["channels"] = {"other": list(given["channels"])}
    return template(filled)


def _column(role: str, name: str | None, columns: list[str], *, asks: bool) -> str:
    if name is None and asks:
        name = click.prompt(f"Which column holds the {role} labels? ({', '.join(columns)})", err=True)
    if name is None:
        raise PlanError(
            "role-missing",
            f"nobody said which column holds the {role} labels",
            known=listed(columns, most=20),
            fix=f"--{role} COLUMN",
        )
    from assay.rows.opening import require

    return require(name, columns, role)


def _labels(opened: Any, *columns: str) -> list[Any]:  # noqa: ANN401  an opened file
    from assay.core.labels import in_order
    from assay.rows.engine import quote_identifier

    found: set[Any] = set()
    for column in columns:
        name = quote_identifier(column)
        query = f"SELECT DISTINCT {name} FROM rows WHERE {name} IS NOT NULL LIMIT {FEW + 1}"  # noqa: S608  quoted above
        found |= {row[0] for row in opened.fetch(query)}
        if len(found) > FEW:
            raise PlanError(
                "column-type",
                f"column {quoted(column)} holds more than {FEW} distinct values",
                where=column,
                fix="name the column with the labels; plans for more classes are written by hand",
            )
    return list(in_order(found))


def _positive(name: str | None, labels: list[Any], *, asks: bool) -> Any:  # noqa: ANN401  a label
    if len(labels) != 2:  # noqa: PLR2004
        if name is not None:
            raise PlanError(
                "positive-not-binary",
                f"there are {counted(len(labels), 'class', 'classes')}",
                fix="leave --positive out",
            )
        return None
    if name is None and asks:
        name = click.prompt("Which class is the positive one?", type=click.Choice([str(x) for x in labels]), err=True)
    found = {str(label): label for label in labels}
    if name not in found:
        raise PlanError(
            "positive-class-undeclared" if name is None else "unknown-positive",
            "which of the two classes is the positive one?",
            known=listed(labels),
            fix="--positive LABEL",
        )
    return found[name]


def _asked(what: str, *, asks: bool) -> str | None:
    if not asks:
        return None
    question = {"title": "What is assessed, in a few words?", "assessor": "Who answers for the plan?"}[what]
    return str(click.prompt(question, default="", show_default=False, err=True)) or None
