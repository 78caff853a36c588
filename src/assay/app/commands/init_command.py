# SPDX-License-Identifier: Apache-2.0
"""A first plan for a file of predictions: what the file tells is filled in, the rest is asked for or left open."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from assay.app.messages import say_line
from assay.assess.plan.template import template
from assay.core.errors import PlanError
from assay.core.text import counted, listed, nearest, quoted, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.rows.files.opened_file import OpenedFile

FEW: Final = 40
"""Distinct labels up to which a column may hold classes."""
SHOWN: Final = 5
"""Values of a column that are shown to who is asked."""
OPTIONAL: Final = {
    "id": "Which column holds the samples' ids?",
    "subject": "Which column tells whom or what a sample comes from?",
    "time": "Which column tells when a sample was taken?",
}
SEVERAL: Final = {
    "groups": "Which columns tell groups of people?",
    "channels": "Which columns tell a channel, such as a site or a device?",
}


def somebody_asked() -> bool:
    """Whether a person is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def drafted(path: str, given: dict[str, Any]) -> str:
    """A commented plan for a file of predictions; what cannot be known is asked for, or taken from options."""
    from assay.rows.files.file import open_file

    opened = open_file(path)
    columns, asks = list(opened.columns), somebody_asked()
    given = dict(given)
    if asks:
        _introduced(path, opened)
    roles = {role: _column(role, given.get(role), columns, asks=asks) for role in ("truth", "predicted")}
    labels = _labels(opened, roles["truth"], roles["predicted"])
    positive = _positive(given.get("positive"), labels, asks=asks)
    if asks:
        _ask_further(given, columns)
    for name in OPTIONAL:
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


def asked_place(path: str) -> str | None:
    """Where somebody at a terminal wants the plan; None for the terminal itself."""
    beside = str(Path(path).with_name("plan.toml"))
    chosen = _prompt("Where shall the plan be written? (- for here)", default=beside, value_proc=_free)
    return None if chosen == "-" else str(chosen)


def _free(place: str) -> str:
    """A place where nothing lies yet; else it is asked again."""
    if Path(place).exists():
        msg = f"there is already a file {visible(place)}"
        raise click.UsageError(msg)
    return place


def _prompt(question: str, **given: Any) -> Any:  # noqa: ANN401  what is asked for
    return click.prompt(question, err=True, prompt_suffix=" ", **given)


def _introduced(path: str, opened: OpenedFile) -> None:
    """The columns of the file, with what may be chosen from."""
    from assay.rows.engines.duckdb_engine import quote_identifier

    rows = opened.fetch("SELECT count(*) FROM rows")[0][0]
    say_line(f"{visible(Path(path).name)}: {counted(int(rows), 'row')}")
    wide = max(map(len, map(visible, opened.columns)))
    for number, column in enumerate(opened.columns, start=1):
        name = quote_identifier(column)
        query = f"SELECT DISTINCT {name} FROM rows WHERE {name} IS NOT NULL LIMIT {FEW + 1}"  # noqa: S608  quoted
        found = [row[0] for row in opened.fetch(query)]
        many = f"more than {FEW} values" if len(found) > FEW else listed(sorted(map(str, found)), most=SHOWN)
        say_line(f"  {number:>2}  {visible(column):<{wide}}  {many}")
    click.echo("A column is named, or given by its number; Enter leaves out what is not there.", err=True)


def _ask_further(given: dict[str, Any], columns: Sequence[str]) -> None:
    """Roles that a file need not have."""
    for name, question in OPTIONAL.items():
        if given.get(name) is None:
            given[name] = next(iter(_chosen(question, columns)), None)
    for name, question in SEVERAL.items():
        if not given.get(name):
            given[name] = _chosen(question, columns)


def _chosen(question: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Columns that somebody names, or none."""
    found: tuple[str, ...] = _prompt(
        question,
        default="",
        show_default=False,
        value_proc=lambda text: tuple(_known(one, columns) for one in _parted(text, columns)),
    )
    return found


def _parted(text: str, columns: Sequence[str]) -> list[str]:
    """Several names; a name with spaces or commas in it is one."""
    return [text] if text in columns else text.replace(",", " ").split()


def _known(text: str, columns: Sequence[str]) -> str:
    """The column that was named, or given by its number; else the question is asked again."""
    name = text.strip()
    if name in columns:
        return name
    if name.isdigit() and 1 <= int(name) <= len(columns):
        return columns[int(name) - 1]
    close = nearest(name, columns)
    hint = f"did you mean {quoted(close)}?" if close else f"there are {listed(columns, most=20)}"
    msg = f"there is no column {quoted(name)}; {hint}"
    raise click.UsageError(msg)


def _column(role: str, name: str | None, columns: list[str], *, asks: bool) -> str:
    if name is None and asks:
        name = _prompt(f"Which column holds the {role} labels?", value_proc=lambda text: _known(text, columns))
    if name is None:
        raise PlanError(
            "role-missing",
            f"nobody said which column holds the {role} labels",
            known=listed(columns, most=20),
            fix=f"--{role} COLUMN",
        )
    from assay.rows.source import require

    return require(name, columns, role)


def _labels(opened: Any, *columns: str) -> list[Any]:  # noqa: ANN401  an opened file
    from assay.core.labels import in_order
    from assay.rows.engines.duckdb_engine import quote_identifier

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
        name = _prompt("Which class is the positive one?", type=click.Choice([str(x) for x in labels]))
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
    return str(_prompt(question, default="", show_default=False)) or None
