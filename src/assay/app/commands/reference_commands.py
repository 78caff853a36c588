# SPDX-License-Identifier: Apache-2.0
"""The commands that look things up: measures, tests, errors, schemas, this installation, and words for shells."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from assay.app.option_types import Command, Word, measure_names
from assay.core import errors
from assay.core.errors import CODES, AssayError, PlanError
from assay.core.text import nearest, quoted

if TYPE_CHECKING:
    from assay.inference.declare import Significance

CORE: Final = ("numpy", "scipy", "narwhals", "duckdb", "click", "rich", "typst")
OPTIONAL: Final = {
    "pandas": "pandas frames as data=",
    "polars": "Polars frames as data=",
    "psycopg": "PostgreSQL tables: pip install 'assay[postgres]'",
    "pyarrow": "PyArrow tables, Arrow IPC files: pip install 'assay[arrow]'",
}
EXITS: Final = {
    0: "done, and what was decided passes",
    1: "a decision, gate or verification failed",
    2: "wrong usage: an option, a name or a path",
    3: "inconclusive: the data do not decide",
    4: "the data are unfit; nothing was written",
    5: "a fault of assay, of the machine, or of the engine that holds the data",
    130: "stopped by the user",
    141: "the reader of standard output went away",
}
"""What a command hands back to the shell."""
_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print the same as JSON.")


def _print(content: object) -> None:
    """Text as it is, anything else as JSON."""
    click.echo(content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False))


@click.command(cls=Command)
@click.argument("measure", type=Word(measure_names))
@_AS_JSON
def show(measure: str, *, as_json: bool) -> None:
    """Explain a measure: formula, range, sources, errata, other names."""
    from assay.app.commands.show_command import explain_name

    content, text = explain_name(measure)
    _print(content if as_json else text)


@click.command(cls=Command)
@click.option("--task", metavar="TASK", help="Only measures of a task, or of binary or multiclass.")
@click.option("--family", metavar="FAMILY", help="Only one family.")
@_AS_JSON
def measures(*, task: str | None, family: str | None, as_json: bool) -> None:
    """List the measures."""
    from assay.app.commands.show_command import declaration, listing
    from assay.measures.catalogue import measures as find

    matches = find(task=task, family=family)
    _print([declaration(one) for one in matches] if as_json else listing(matches))


@click.command(cls=Command)
@click.argument("name", required=False)
@_AS_JSON
def tests(name: str | None, *, as_json: bool) -> None:
    """List the tests of significance, or explain one: what it asks, assumes, and must never be used on."""
    from assay.inference.tests_catalogue import every_test, find_test

    matches = every_test() if name is None else [find_test(name)]
    if name is None:
        _print([declare_test(one) for one in matches] if as_json else list_tests(matches))
    else:
        _print(declare_test(matches[0]) if as_json else explain_test(matches[0]))


def declare_test(test: Significance) -> dict[str, object]:
    """Everything that is declared of a test, for machines."""
    plain = ("name", "family", "title", "asks", "null", "effect", "pairwise")
    lists = ("also", "assumes", "never", "errata")
    return {
        **{name: getattr(test, name) for name in plain},
        **{name: list(getattr(test, name)) for name in lists},
        "source": [str(source) for source in test.source],
        "specification": test.spec,
        "takes": test.takes.__name__,
    }


def explain_test(test: Significance) -> str:
    """A test on a few lines."""
    from assay.app.commands.show_command import show_row

    rows = [("asks", test.asks), ("null", test.null), ("effect", test.effect)]
    rows += [("assumes", text) for text in test.assumes] + [("never", text) for text in test.never]
    rows += [("source", str(source)) for source in test.source] + [("errata", ", ".join(test.errata))]
    return "\n".join([f"{test.name}   {test.title}", *(show_row(name, text) for name, text in rows if text)])


def list_tests(every: Sequence[Significance]) -> str:
    """One line a test."""
    lines = [f"{one.name:<26} {one.asks}" for one in every]
    return "\n".join([*lines, f"\n{len(lines)} tests; `assay tests NAME` explains one."])


@click.command(cls=Command)
@click.argument("code", required=False)
@_AS_JSON
def explain(code: str | None, *, as_json: bool) -> None:
    """Explain an error by its code, such as E-ROLE-MISSING; without one, list them all."""
    from assay.app.commands.show_command import show_row

    if code is None:
        _print(CODES if as_json else "\n".join(f"E-{name.upper():<32} {says}" for name, says in CODES.items()))
        return
    name = code.lower().removeprefix("error[").removesuffix("]").removeprefix("e-")
    if name not in CODES:
        close = nearest(name, CODES)
        fix = f"did you mean E-{close.upper()}?" if close else "`assay explain` lists every code"
        raise PlanError("option-unknown", f"there is no error {quoted(code)}", fix=fix)
    kinds = find_raisers(name)
    exits = {str(kind.exit_code): EXITS[kind.exit_code] for kind in kinds}
    if as_json:
        raised = [kind.__name__ for kind in kinds]
        _print({"code": name, "says": CODES[name], "raised as": raised, "exit codes": exits})
        return
    rows = [
        ("says", CODES[name]),
        ("raised as", ", ".join(f"assay.{kind.__name__}" for kind in kinds)),
        ("exit code", "; ".join(f"{number} ({meaning})" for number, meaning in exits.items())),
        ("mend", "the line `fix` of the message says what to type, from the data at hand"),
    ]
    click.echo("\n".join([f"E-{name.upper()}", *(show_row(head, text) for head, text in rows if text)]))


@click.command(cls=Command)
@click.option(
    "--kind", default="assessment", show_default=True, type=click.Choice(["assessment", "comparison", "tally", "plan"])
)
def schema(*, kind: str) -> None:
    """Print the JSON Schema of a Record of an assessment or comparison, of a site's tally, or of a plan."""
    if kind == "plan":
        from assay.assess.plan.checked_plan import plan_schema

        _print(plan_schema())
        return
    from assay.assess.record.record import schema as of_record

    _print(of_record(kind))


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell: commands, options, words, measures, and columns of the file typed.

    \b
    bash   assay completion bash > ~/.local/share/bash-completion/completions/assay
    zsh    assay completion zsh > ~/.zfunc/_assay        (with fpath+=~/.zfunc before compinit)
    fish   assay completion fish > ~/.config/fish/completions/assay.fish
    """  # noqa: D301  click reads the backspace as: keep these lines
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is not None:
        group = click.get_current_context().find_root().command
        script = kind(group, {}, "assay", "_ASSAY_COMPLETE")
        click.echo(script.source_template % script.source_vars())


@click.command(cls=Command)
@_AS_JSON
def doctor(*, as_json: bool) -> None:
    """Look at this installation: versions, optional parts, and whether the engine counts."""
    rows = list(_examined())
    if as_json:
        _print([{"part": part, "state": state, "detail": detail} for part, state, detail in rows])
    else:
        for part, state, detail in rows:
            click.echo(f"{part:<10} {state:<7} {detail}")
        states = [state for _, state, _ in rows]
        absent = f"; {states.count('absent')} optional parts are absent" if "absent" in states else ""
        click.echo(f"\n{'assay works here' if 'broken' not in states else 'assay is broken here'}{absent}.")
    if any(state == "broken" for _, state, _ in rows):
        raise SystemExit(5)


def _examined() -> Iterable[tuple[str, str, str]]:
    """Part, state (ok, absent, broken), detail."""
    yield "python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield from map(_package, ("assay", *CORE))
    yield from (_package(name) if find_spec(name) else (name, "absent", gives) for name, gives in OPTIONAL.items())
    yield _counted()


def _package(name: str) -> tuple[str, str, str]:
    try:
        return name, "ok", version(name)
    except PackageNotFoundError:
        return name, "broken", f"not installed: pip install {name}"


def _counted() -> tuple[str, str, str]:
    import duckdb

    import assay

    rows: dict[str, Any] = {"truth": [1, 1, 0, 0, 1], "predicted": [1, 0, 0, 1, 1]}
    by_arrays = assay.assess(**rows).confusion
    columns = ", ".join(f"unnest({values}) as {name}" for name, values in rows.items())
    relation = duckdb.connect().sql(f"select {columns}")
    by_engine = assay.assess(data=relation, truth="truth", predicted="predicted").confusion
    same = by_arrays == by_engine
    return "counting", "ok" if same else "broken", f"arrays and DuckDB {'give the same tally' if same else 'disagree'}"


def find_raisers(code: str) -> list[type[AssayError]]:
    """The classes that an error is raised as, read from the source of this installation.

    A code that arrives in a variable was handed to a function of the same module, or chosen there by a test.
    """
    kinds = {n: kind for n, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, AssayError)}
    call = rf"\b({'|'.join(kinds)})\(\s*"
    names: set[str] = set()
    for text in _sources():
        if re.search(rf'"{code}"(?!:)', text):
            names |= set(re.findall(rf'{call}"{code}"', text) or re.findall(rf"{call}[a-z]\w*,", text))
    return [kinds[name] for name in sorted(names)]


@cache
def _sources() -> tuple[str, ...]:
    root = Path(errors.__file__).parents[1]
    return tuple(path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py")))
