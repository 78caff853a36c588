# SPDX-License-Identifier: Apache-2.0
"""Roles that nobody named: the command that the columns of a file suggest, proposed, and at a terminal asked for."""

from __future__ import annotations

import fnmatch
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from assay.app.messages import say, say_line
from assay.core.errors import PlanError
from assay.core.text import fits_role, listed, visible
from assay.rows.databases.database import is_attached, is_database, shown
from assay.rows.databases.duckdb_tables import open_database

if TYPE_CHECKING:
    from assay.rows.files.formats import Reading
    from assay.rows.files.opened_file import OpenedFile

FEW: Final = 40
"""Distinct values up to which a column may hold classes."""
POSITIVE: Final = ("1", "true", "yes", "y", "t", "pos", "positive", "disease", "ill", "sick", "malignant", "case",
                   "event", "defect", "fraud", "spam", "abnormal", "bad", "churn", "default")  # fmt: skip
CLEAR: Final = ({"0", "1"}, {"false", "true"})
"""Labels of which nobody needs to say the positive one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a look at a column tells."""

    name: str
    values: tuple[str, ...]
    """Distinct values as text; cut above FEW."""
    number: bool
    share: bool
    """Whether every number lies between 0 and 1."""
    whole: bool

    @property
    def classes(self) -> bool:
        """Whether it may hold labels."""
        return 1 < len(self.values) <= FEW

    @property
    def measured(self) -> bool:
        """Whether it holds numbers that are not labels."""
        return self.number and (not self.classes or not self.whole)


def lacking(arguments: Mapping[str, Any]) -> list[str]:
    """Roles that nobody named a column for: truth, and predictions unless scores make them."""
    roles = ("truth",) if arguments.get("score") is not None else ("truth", "predicted")
    return [role for role in roles if arguments.get(role) is None]


def is_pattern(score: str | Iterable[str] | None) -> bool:
    """Whether score columns are given by a pattern."""
    return any("*" in name for name in ([score] if isinstance(score, str) else score or ()))


def fill_roles(arguments: Mapping[str, Any], data: str | list[str], *, embedded: bool, quiet: bool) -> dict[str, Any]:
    """Columns for roles: patterns of scores spelled out, and what is missing agreed upon at a terminal, or refused."""
    reading = arguments["reading"]
    missing = lacking(arguments)
    table = reading.truth_data if reading.truth_data and missing == ["truth"] else data
    columns, seen = _look(table, reading) if embedded else ([], [])
    filled = _spelled_out(arguments.get("score"), columns)
    if not missing:
        return filled
    words = _suggested(seen, arguments, missing) if reading.truth_data is None else None
    where = shown(data if isinstance(data, str) else data[0])
    what, known = f"missing option: the column of the {' and the '.join(missing)} labels", listed(columns, most=20)
    if words is None:
        fix = " ".join(f"--{role} COLUMN" for role in missing)
        raise PlanError("role-missing", what, where=visible(where), known=known, fix=fix)
    typed = [word for word in sys.argv[2:] if word] if len(sys.argv) > 1 and sys.argv[1] == "run" else [where]
    command = shlex.join(["assay", "run", *typed, *words])
    if quiet or "--task" in words or not _agreed(Path(where).name, seen, command):
        raise PlanError("role-missing", what, where=visible(where), found=known, fix=command)
    pairs = dict(zip(words[::2], words[1::2], strict=True))
    names = {"--truth": "truth", "--predicted": "predicted", "--positive": "positive"}
    filled |= {names[option]: value for option, value in pairs.items() if option in names}
    return filled | (_spelled_out(pairs["--score"], columns) if "--score" in pairs else {})


def _agreed(name: str, seen: Sequence[Seen], command: str) -> bool:
    """Whether somebody at a terminal wants the command that is proposed."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    say_line(f"{name} holds")
    wide = max(len(visible(column.name)) for column in seen)
    for column in seen:
        many = f"more than {FEW} values" if len(column.values) > FEW else listed(sorted(column.values), most=5)
        say_line(f"  {visible(column.name):<{wide}}  {many}")
    say("This command would assess it:")
    say_line(f"  {command}")
    return click.confirm("Run it?", default=True, err=True)


def _spelled_out(score: object, columns: Sequence[str]) -> dict[str, Any]:
    """Patterns among score columns replaced by the columns they fit."""
    given = [score] if isinstance(score, str) else list(score) if isinstance(score, list) else []
    names: list[str] = []
    for pattern in given:
        fits = fnmatch.filter(columns, pattern) if "*" in pattern and pattern not in columns else [pattern]
        if not fits:
            raise PlanError(
                "missing-column", "no column fits the pattern", where="--score", found=visible(pattern),
                known=listed(columns, most=20), fix="--score COLUMN, or a pattern that fits",
            )  # fmt: skip
        names += [name for name in fits if name not in names]
    return {"score": names[0] if len(names) == 1 else names} if names else {}


def _look(data: str | list[str], reading: Reading) -> tuple[list[str], list[Seen]]:
    """The columns of a table, and for a file what they hold."""
    from assay.rows.inputs import open_embedded

    if isinstance(data, str) and is_database(data):
        database = open_embedded(data, {}, reading) if is_attached(data) else open_database(data, reading)
        try:
            return list(database.columns), []
        finally:
            database.close()
    opened = open_embedded(data, {}, reading)
    return list(opened.columns), see_columns(opened)


def see_columns(opened: OpenedFile) -> list[Seen]:
    """What a look at every column of a file tells."""
    from assay.rows.engines.duckdb_engine import quote_identifier

    seen = []
    for column in opened.columns:
        name = quote_identifier(column)
        query = f"SELECT DISTINCT {name}::VARCHAR FROM rows WHERE {name} IS NOT NULL LIMIT {FEW + 1}"  # noqa: S608  quoted
        values = tuple(str(row[0]) for row in opened.fetch(query))
        number = f"TRY_CAST({name}::VARCHAR AS DOUBLE)"
        tests = (
            f"bool_and({number} IS NOT NULL), bool_and({number} BETWEEN 0 AND 1), bool_and({number} = floor({number}))"
        )
        found = opened.fetch(f"SELECT {tests} FROM rows WHERE {name} IS NOT NULL")[0]  # noqa: S608  quoted above
        seen.append(Seen(name=column, values=values, number=bool(found[0]), share=bool(found[1]), whole=bool(found[2])))
    return seen


def _suggested(seen: Sequence[Seen], arguments: Mapping[str, Any], missing: Sequence[str]) -> list[str] | None:
    """The options that the columns suggest; None where they suggest nothing."""
    by_name = {column.name: column for column in seen}
    free = [column for column in seen if column.name not in arguments.values()]
    truth = by_name.get(str(arguments.get("truth"))) or _first(free, "truth")
    if truth is None:
        return None
    free = [column for column in free if column is not truth]
    words = ["--truth", truth.name] if "truth" in missing else []
    if truth.measured:
        called, task = _first(free, "predicted"), _task_of_numbers()
        return ["--task", task, *words, "--predicted", called.name] if called and called.number and task else None
    answers = _answers(free, truth) if "predicted" in missing else []
    if answers is None:
        return None
    return [*words, *answers, *(_positive(truth) if arguments.get("positive") is None else [])]


def _answers(free: Sequence[Seen], truth: Seen) -> list[str] | None:
    """Options of the predicted labels, or of the scores; None where no column looks like either."""
    labels, called = set(truth.values), _first(free, "predicted")
    if called is not None and called.classes and set(called.values) <= labels:
        return ["--predicted", called.name]
    if scores := _scores_of(free, truth):
        return scores
    alike = [column.name for column in free if column.classes and set(column.values) == labels]
    return ["--predicted", alike[0]] if len(alike) == 1 else None


def _positive(truth: Seen) -> list[str]:
    """The option of the positive class, where two labels do not tell it themselves."""
    if len(truth.values) != 2 or {label.casefold() for label in truth.values} in CLEAR:  # noqa: PLR2004  two
        return []
    known = [label for label in truth.values if label.casefold() in POSITIVE]
    return ["--positive", known[0] if len(known) == 1 else max(truth.values)]


def _task_of_numbers() -> str:
    """The task that reads numbers as truth and as predictions."""
    from assay.core.task import load_task, task_names

    for name in task_names():
        kinds = {role.name: role.kind for role in load_task(name).roles}
        if kinds.get("truth") == kinds.get("predicted") == "number":
            return name
    return ""


def _first(columns: Sequence[Seen], role: str) -> Seen | None:
    return next((column for column in columns if fits_role(column.name, role)), None)


def _scores_of(columns: Sequence[Seen], truth: Seen) -> list[str]:
    """Options of scores: a column for each class that is named after it, or one for the positive class."""
    kind = ["--scores", "probability"]
    for head in sorted({column.name.rpartition("_")[0] for column in columns if column.number} - {""}):
        fits = {f"{head}_{label}" for label in truth.values}
        if fits == set(fnmatch.filter([column.name for column in columns], f"{head}_*")):
            share = all(column.share for column in columns if column.name in fits)
            return ["--score", f"{head}_*", *(kind if share else [])]
    score_column = next((column for column in columns if column.measured and fits_role(column.name, "score")), None)
    if score_column is None or len(truth.values) != 2:  # noqa: PLR2004  two classes
        return []
    return ["--score", score_column.name, *(kind if score_column.share else [])]
