# SPDX-License-Identifier: Apache-2.0
"""How an option stands in help, is read, and is completed by a shell: by group, from words, columns or measures."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from click.formatting import HelpFormatter
    from click.shell_completion import CompletionItem

    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # before click 8.4 it takes no parameter

GROUPS: Final = (
    "Columns", "Scores", "Task", "Measures", "Models", "Tests", "Intervals", "Criteria", "Output", "Files",
    "Large data",
)  # fmt: skip
"""How help is parted, in this order; options without a group come last."""
OTHER: Final = "Other options"
STDIN: Final = "-"
MARKS: Final = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"{": ".jsonl", b"\x1f\x8b": ".csv.gz"}
"""How files begin, with the ending that tells their format."""
_KEYWORD: Final = re.compile(r"(?<![\w.])([a-z_]+)=(\"[^\"]*\"|'[^']*'|\[[^\]]*\]|\{[^}]*\}|[\w.]+)")
PLURALS: Final = {"labels": "label", "measures": "measure", "truth_data": "truth-file", "id": "id"}


class Option(click.Option):
    """An option that belongs to a group."""

    def __init__(self, *given: Any, group: str = OTHER, **more: Any) -> None:  # noqa: ANN401  what click takes
        super().__init__(*given, **more)
        self.group = group


class Command(click.Command):
    """A command whose help lists options by group, and where a role that has one column is given one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a second column for a role, because the first would be passed over."""
        before = args[: args.index("--")] if "--" in args else args
        for parameter in self.get_params(ctx):
            given = [word for word in before if word.partition("=")[0] in parameter.opts and word.startswith("--")]
            once = isinstance(parameter.type, Column) and not getattr(parameter, "multiple", False)
            if once and len(given) > 1 and not ctx.resilient_parsing:
                from assay.core.errors import PlanError

                one_hot = "; columns of 0 and 1, one a class, become one column of labels first"
                more = one_hot if parameter.name in ("truth", "predicted") else ""
                option = given[0].partition("=")[0]
                what = f"{option} is given {len(given)} times, and takes one"
                raise PlanError("role-clash", what, where=option, fix=f"give it once{more}")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: HelpFormatter) -> None:
        """Write every group that has options under its name."""
        rows: dict[str, list[tuple[str, str]]] = {name: [] for name in (*GROUPS, OTHER)}
        for parameter in self.get_params(ctx):
            if (row := parameter.get_help_record(ctx)) is not None:
                rows[getattr(parameter, "group", OTHER)].append(row)
        alone = not any(rows[name] for name in GROUPS)
        for name, members in rows.items():
            if members:
                with formatter.section("Options" if alone else name):
                    formatter.write_dl(members)


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


class Word(_Type):
    """A word that a shell completes; what is no such word is refused where it is used."""

    name = "word"
    after_equals = False
    """Whether what stands before an equals sign is kept, and the rest completed."""

    def __init__(self, offered: Callable[[click.Context], Iterable[str]]) -> None:
        self.offered = offered

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The words that begin so; none where what was typed cannot be read, because a shell can show no error."""
        del param
        from click.shell_completion import CompletionItem

        from assay.core.errors import AssayError

        head = "".join(incomplete.rpartition("=")[:2]) if self.after_equals else ""
        with suppress(AssayError, OSError):
            return [CompletionItem(head + word) for word in self.offered(ctx) if (head + word).startswith(incomplete)]
        return []


class Words(Word):
    """One of a few words, which help lists, too."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        super().__init__(lambda _: self.words)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """The words, as help shows them."""
        del param, ctx
        return f"[{'|'.join(self.words)}]"


class Column(Word):
    """The name of a column of the first file that was typed; before an equals sign stands a class or a model."""

    after_equals = True

    def __init__(self) -> None:
        super().__init__(_header_of)


def measure_names(ctx: click.Context) -> Iterable[str]:
    """The measures of the task that was typed; a criterion begins with one, too."""
    from assay.measures.catalogue import measures

    return [one.name for one in measures(task=ctx.params.get("task"))]


def known_tasks(ctx: click.Context) -> Iterable[str]:
    """The tasks there are."""
    del ctx
    from assay.core.task import task_names

    return task_names()


class Input(click.Path):
    """A path, or `-`: what comes in on standard input is laid into a file that is gone when the command ends."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """The path as typed, or that of the file."""
        del param
        return value if value != STDIN or ctx is None or ctx.resilient_parsing else _spooled(ctx)


def _spooled(ctx: click.Context) -> str:
    import shutil

    from assay.core.errors import PlanError
    from assay.rows.temporary_files import Scratch

    if STDIN in ctx.meta:
        raise PlanError("role-clash", "standard input can be read once", found="- twice", fix="give a file for one")
    stream = sys.stdin.buffer
    if stream.isatty():
        raise PlanError("no-file", "nothing comes in on standard input", where=STDIN, fix="cat FILE | assay run - ...")
    scratch = Scratch()
    ctx.meta[STDIN] = scratch
    ctx.call_on_close(scratch.remove)
    head = stream.read(6)
    ending = next((ending for mark, ending in MARKS.items() if head.startswith(mark)), ".csv")
    path = Path(scratch.path) / f"stdin{ending}"
    with path.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file)
    return str(path)


def _header_of(ctx: click.Context) -> list[str]:
    """The columns of what was typed."""
    from assay.rows.files.file_set import open_files

    # Words before an option that still waits for its value are left over by click.
    typed = [*ctx.args, *(path for name in ("predictions", "tables", "paths") for path in _words(ctx.params.get(name)))]
    return next((list(open_files(path).columns) for path in typed if Path(path).exists()), [])


def _words(typed: str | Sequence[str] | None) -> Sequence[str]:
    return [typed] if isinstance(typed, str) else typed or ()


def give_options(table: Mapping[str, Sequence[tuple[str, str | None, str, dict[str, Any]]]]) -> Callable[..., Any]:
    """A decorator that gives a command the options of a table, by group, in the order of the table."""

    def give(command: Callable[..., Any]) -> Callable[..., Any]:
        for group, rows in reversed(list(table.items())):
            for names, takes, says, more in reversed(rows):
                shown = "default" in more and more["default"] not in (None, 0) and not more.get("is_flag")
                given = {"metavar": takes, "help": says, "cls": Option, "group": group, "show_default": shown}
                command = click.option(*names.split(), **(given | {"type": _type_of(takes)} | more))(command)
        return command

    return give


def with_options(*rows: tuple[str, str | None, str, dict[str, Any]]) -> Callable[..., Any]:
    """The same for the few options of a command that need no group."""
    return give_options({OTHER: rows})


def row(names: str, takes: str | None, says: str, **more: Any) -> tuple[str, str | None, str, dict[str, Any]]:  # noqa: ANN401
    """A row of a table of options: names, what stands behind them, help, and what else click is told."""
    return names, takes, says, more


def words(names: str, choices: str, says: str, **more: Any) -> tuple[str, None, str, dict[str, Any]]:  # noqa: ANN401
    """The same for an option that takes one of a few words."""
    return names, None, says, {"type": Words(choices.split()), **more}


def flag(names: str, says: str, **more: Any) -> tuple[str, None, str, dict[str, Any]]:  # noqa: ANN401
    """The same for an option that takes nothing."""
    return names, None, says, {"is_flag": True, **more} if "/" not in names else more


def _type_of(takes: str | None) -> _Type | None:
    kinds: dict[str, Callable[[], _Type]] = {
        "COLUMN": Column,
        "MEASURE": lambda: Word(measure_names),
        "CRITERION": lambda: Word(measure_names),
        "TASK": lambda: Word(known_tasks),
        "FILE": click.Path,
        "FOLDER": click.Path,
    }
    return next((kind() for word, kind in kinds.items() if (takes or "").endswith(word)), None)


def named_values(typed: Sequence[str], option: str, of: str, *, code: str = "role-clash") -> dict[str, str]:
    """Values that are typed NAME=VALUE, by the model, class or file that is named; each of them once.

    >>> named_values(["A=x", "B=y"], "--score", "model")
    {'A': 'x', 'B': 'y'}
    """
    from assay.core.errors import PlanError
    from assay.core.text import listed, quoted

    pairs = [text.rpartition("=") if of != "model" else text.partition("=") for text in typed]
    unnamed = [text for text, pair in zip(typed, pairs, strict=True) if not all(pair)]
    names = [name for name, _, _ in pairs]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if unnamed or twice:
        what = (
            f"does not say of which {of} {quoted(unnamed[0])} is" if unnamed else f"is given twice for {listed(twice)}"
        )
        fix = f"{option} NAME=... once for every {of}"
        raise PlanError(code, f"{option} {what}", where=option, found=listed(typed), fix=fix)
    return {name: value for name, _, value in pairs}


def spelled_for_command(text: str, cli: click.Group) -> str:
    """A remedy in the spelling of the command line: keywords of Python become the options of the same name."""
    known = {option for command in cli.commands.values() for parameter in command.params for option in parameter.opts}

    def spell(match: re.Match[str]) -> str:
        option = f"--{PLURALS.get(match[1], match[1]).replace('_', '-')}"
        value = match[2].strip("\"'")
        if option not in known:
            return match[0]
        return option if value == "True" else f"{option} {'...' if value[:1] in '[{' else value}"

    return _KEYWORD.sub(spell, text)
