# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: INP001  a script, not a package
"""Writes docs/reference from the declarations; nothing in that folder is written by hand.

python docs/generate.py            write every page
python docs/generate.py --check    list the pages that differ, and exit with 1 if there are any
"""

from __future__ import annotations

import ast
import inspect
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import click

import assay
from assay.app.cli import cli
from assay.assess.errata import Erratum, concerning, errata
from assay.assess.record import schema
from assay.core import errors
from assay.core.values import Undefined
from assay.measures import REGISTRY, Measure
from assay.measures.averages import POLICIES
from assay.measures.catalogue import grain
from assay.report.sentences import FAMILIES
from assay.tally.confusion import Confusion
from assay.tally.tables import Binary, Multiclass

HERE = Path(__file__).resolve().parent
REFERENCE = HERE / "reference"
SOURCES = HERE.parent / "src" / "assay"
MARK = "<!-- Written by docs/generate.py from the code; change the code, then run it. -->"
WIDTH = 100

BINARY = """\
a = assay.assess(
    confusion=[[130, 10], [20, 40]], orientation="rows=truth", labels=["no", "yes"], positive="yes"
)"""
CLASSES = """\
a = assay.assess(
    confusion=[[50, 8, 2], [6, 30, 4], [1, 3, 16]], orientation="rows=truth", labels=["cat", "dog", "bird"]
)"""

LETTERS = {
    "n": "all rows",
    "K": "the number of classes",
    "R": "for each class, the rows that truly belong to it",
    "C": "for each class, the rows called it",
    "classes": "the classes, counted from 0",
    "shares": "for each class, its true share `t` and its predicted share `p`",
    "w": "the declared weight of each class",
}
"""What the letters of a formula stand for, besides the four cells, which are measures themselves."""

PARAMETERS: dict[str, tuple[str, object]] = {
    "beta": ("how many times as much recall weighs as precision; 0 or above", 2),
    "w_precision": ("the weight of precision; 0 or above", 2),
    "w_recall": ("the weight of recall; 0 or above", 1),
    "weight": ("the weight of recall, from 0 to 1; specificity gets the rest", 0.7),
    "weights": ("a weight of 0 or above for each class, not all zero", {"cat": 1, "dog": 1, "bird": 2}),
    "reference": ('the accuracy of the reference, from 0 to 1, or "majority" or "stratified"', "majority"),
    "undefined": (f"what a class without a value does to the average: {', '.join(POLICIES)}", "skip"),
    "baseline": ('"limit" takes 1 - 1/e for chance, "finite-k" the expectation for the number of classes', "finite-k"),
}
"""What a parameter means, and the value the example gives it where it must be given."""

KINDS = {
    "wrong": "wrong (refuted by mathematics or by the source's own data)",
    "clash": "clash (two places disagree)",
    "open": "open (a choice is left to the reader)",
    "ocr": "scan (the text at hand is garbled and was reconstructed)",
    "fact": "fact (a quoted figure disagrees with the literature)",
}
SEVERITIES = {
    "A": "a reported number or verdict depends on it",
    "B": "wording, labels or defaults depend on it",
    "C": "cosmetic",
}
EXITS = {
    0: "done",
    1: "a decision, gate or verification failed; no command of this version decides anything",
    2: "wrong usage: an option, a name or a path",
    3: "inconclusive; no command of this version decides anything",
    4: "the data are unfit; nothing was written",
    5: "a fault of assay or of the engine that holds the data",
    130: "stopped by the user",
    141: "the reader of standard output went away",
}


def main(arguments: list[str]) -> int:
    """Write the pages, or only say which ones differ."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write(__doc__ or "")
        return 2
    stale = differing()
    if arguments:
        sys.stdout.writelines(f"{name}\n" for name in stale)
        return 1 if stale else 0
    wanted = pages()
    for name in stale:
        path = REFERENCE / name
        if name in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[name], encoding="utf-8", newline="\n")
        else:
            path.unlink()
        sys.stdout.write(f"{'wrote' if name in wanted else 'removed'} {name}\n")
    return 0


def differing() -> list[str]:
    """The pages that are missing, differ from what the code says, or belong to nothing any more."""
    wanted = pages()
    there = {path.relative_to(REFERENCE).as_posix(): path for path in REFERENCE.rglob("*") if path.is_file()}
    current = {name: path.read_text(encoding="utf-8") for name, path in there.items()}
    return sorted(name for name in {*wanted, *current} if wanted.get(name) != current.get(name))


@cache
def pages() -> dict[str, str]:
    """Every page by its path below docs/reference."""
    out = {f"measures/{one.name}.md": _measure(one) for one in REGISTRY}
    out["measures/index.md"] = _index()
    out["errata.md"] = _errata()
    out["errors.md"] = _errors()
    out["cli.md"] = _commands()
    out["record.md"] = _record()
    return {name: f"{MARK}\n\n" + "\n".join(lines).strip() + "\n" for name, lines in out.items()}


# ---------------------------------------------------------------- measures


def _measure(one: Measure) -> list[str]:
    return [
        f"# {one.name}",
        "",
        f"{one.says[0].upper()}{one.says[1:]}.",
        "",
        *_block("text", one.formula),
        "",
        *_letters(one),
        "",
        *_table(("fact", "value"), _facts(one)),
        "",
        *_parameters(one),
        "## When it is undefined",
        "",
        *_undefined(one),
        "",
        "## Worked example",
        "",
        *_example(one),
        "",
        "## How to ask for it",
        "",
        *_asking(one),
        "",
        "## Sources",
        "",
        *(f"- {source}" for source in one.source),
        "",
        *_readings(one),
    ]


def _letters(one: Measure) -> list[str]:
    used = dict.fromkeys(re.findall(r"\b[A-Za-z_]+\b", one.formula))
    cells = {m.symbol: m.says for m in REGISTRY if m.family == "counts"}
    each = "" if one.takes is Binary else "for each class, "
    found = {name: f"{each}{cells[name]}" for name in ("TP", "FP", "FN", "TN") if name in used}
    found |= {name: text for name, text in LETTERS.items() if name in used}
    return [f"- `{name}`: {text}" for name, text in found.items()]


def _facts(one: Measure) -> Iterator[tuple[str, str]]:
    made = [m for m in REGISTRY if m.base == one.name]
    yield "symbol", one.symbol
    yield "speaks of", grain(one)
    yield "range", one.range_shown
    yield "direction", str(one.better)
    yield "chance gives", one.chance or ""
    yield "task", f"{one.only} only" if one.only else "binary and multi-class"
    yield "family", f"[{FAMILIES[one.family]}](index.md#{_slug(FAMILIES[one.family])})"
    yield "average of", f"[{one.base}]({one.base}.md), {one.average}" if one.base else ""
    yield "averages made from it", ", ".join(f"[{m.name}]({m.name}.md)" for m in made)
    yield "other names", ", ".join(one.also)
    yield "catalogue", ", ".join(one.spec)
    yield "declared in", f"`{_home(one)}`"


def _home(one: Measure) -> str:
    home = REGISTRY.find(one.base) if one.base else one
    return home.function.__module__


def _parameters(one: Measure) -> list[str]:
    if not one.parameters:
        return []
    rows = [
        (
            f"`{name}`",
            PARAMETERS[name][0],
            "must be given" if default is inspect.Parameter.empty else f"`{_typed(default)}`",
        )
        for name, default in one.parameters.items()
    ]
    return ["## Parameters", "", *_table(("name", "meaning", "default"), rows), ""]


def _undefined(one: Measure) -> list[str]:
    lines = [f"- {reason}" for reason in _reasons(one)] or ["It has a value on every table."]
    if one.base and "undefined" in one.parameters:
        lines = [
            "- there are no rows",
            f"- a class that counts has no value, because of what [{one.base}]({one.base}.md) needs",
            "",
            "The reason then gives both readings: the class counted as 0, and the class left out.",
            'State `undefined="skip"`, `"zero"` or `"one"` to decide for one of them;'
            " see [why undefined is not zero](../../why/undefined-is-not-zero.md).",
        ]
    if one.infinite:
        lines += ["", "It is plus infinity, and not undefined, where only the divisor is zero."]
    return lines


def _reasons(one: Measure) -> list[str]:
    """Every reason the measure gives on small tables, with the class names taken out."""
    ready = _ready(one)
    found: dict[str, None] = {}
    for table in _small_tables(one.takes):
        value = ready(table)
        if isinstance(value, Undefined):
            found |= dict.fromkeys(value.named(positive="the class", negative="outside the class").reason.split("; "))
    return list(dict.fromkeys(re.sub(r'"\w+"(, "\w+")*', "one class", reason) for reason in found))


def _small_tables(kind: type[Binary | Multiclass]) -> Iterator[Binary | Multiclass]:
    if kind is Binary:
        for tp, fp, fn, tn in product((0, 1), repeat=4):
            yield Binary.of(tp=tp, fp=fp, fn=fn, tn=tn)
        return
    for k in (1, 3):
        labels = ("cat", "dog", "bird")[:k]
        for cells in product((0, 1), repeat=k * k):
            pairs = dict(zip(product(labels, repeat=2), cells, strict=True))
            yield Confusion.from_cells(pairs, labels=labels).multiclass()


def _ready(one: Measure) -> Measure:
    """The measure with an example value for every parameter that must be given."""
    return one.with_(**{name: PARAMETERS[name][1] for name in one.needs}) if one.needs else one


def _example(one: Measure) -> list[str]:
    ready = _ready(one)
    start, asked = _asked(ready)
    names: dict[str, Any] = {"assay": assay}
    estimate = _run(f"{start}\nfound = {asked}", names)["found"]
    showing = 'print(f"{e.value:.4f}, {e.low:.4f} to {e.high:.4f}, {e.interval.method}")'
    if estimate.interval is None:
        showing = "print(e.value, e.no_interval, sep=', ')"
    code = f"import assay\n\n{start}\ne = {asked}\n{showing}"
    printed = io.StringIO()
    with redirect_stdout(printed):
        _run(code, {})
    return [
        *_by_hand(ready, names["a"]),
        *_block("python", code),
        "",
        *_block("text", printed.getvalue().rstrip()),
    ]


def _asked(ready: Measure) -> tuple[str, str]:
    """The lines that make the example's assessment, and the expression that asks it."""
    if ready.takes is Multiclass:
        return CLASSES, f"a[{_quoted(ready.title)}]"
    if ready.only == "multiclass":
        return CLASSES, f'a.by_class["cat"][{_quoted(ready.title)}]'
    return BINARY, f"a[{_quoted(ready.title)}]"


def _run(code: str, names: dict[str, Any]) -> dict[str, Any]:
    exec(compile(code, "<example>", "exec"), names)  # noqa: S102  text of this file
    return names


def _by_hand(ready: Measure, a: assay.Assessment) -> list[str]:
    """The numbers that go into the formula."""
    if ready.takes is Binary:
        label = a.positive if a.positive is not None else "cat"
        cells = {m: round(a.by_class[label][m].value or 0) for m in ("TP", "FP", "FN", "TN")}
        shown = ", ".join(f"{name} = {count}" for name, count in cells.items())
        filled = re.sub(r"\b(TP|FP|FN|TN)\b", lambda cell: str(cells[cell.group()]), ready.formula)
        filled = re.sub(r"\bn\b", str(sum(cells.values())), filled)
        for name, value in ready.given.items():
            filled = re.sub(rf"\b{name}\b", str(value), filled)
        lines = [f'The class "{label}" has {shown}.']
        return [*lines, "", *_block("text", filled), ""] if filled != ready.formula else [*lines, ""]
    if ready.base and ready.average in ("macro", "weighted"):
        base = REGISTRY.find(ready.base)
        given = {name: value for name, value in ready.given.items() if name in base.parameters}
        title = base.with_(**given).title if given else base.title
        values = ((label, a.by_class[label][title].value) for label in a.labels)
        shown = ", ".join(f"{label} {value:.4f}" for label, value in values if value is not None)
        sizes = ", ".join(f"{label} {a.by_class[label]['P'].value:.0f}" for label in a.labels)
        weighing = f" The classes have these true sizes: {sizes}." if ready.average == "weighted" else ""
        return [*_sentences(f"The class values of {title} are: {shown}.{weighing}"), ""]
    table = a.confusion.multiclass()
    vectors = {"TP": table.hits, "R": table.actual, "C": table.called}
    shown = ", ".join(f"{name} = {[int(x) for x in cells]}" for name, cells in vectors.items())
    return [f"The {a.confusion.k} classes have {shown}, n = {a.confusion.rows}.", ""]


def _asking(one: Measure) -> list[str]:
    title = _ready(one).title
    task = "" if one.takes is Multiclass or one.only == "multiclass" else " --positive yes"
    lines = []
    if one.takes is Binary:
        only = "" if one.only == "binary" else f" For one of many classes: `a.by_class[label][{_quoted(title)}]`."
        whole = "" if one.only == "multiclass" else f" With two classes: `a[{_quoted(title)}]`."
        lines += _sentences(f"`a` is what `assay.assess` returns.{whole}{only}")
    else:
        lines += _sentences(f"`a` is what `assay.assess` returns. Ask `a[{_quoted(title)}]`.")
    typed = f"'{title}'" if re.search(r"\W", title) else title
    return [
        *lines,
        "",
        *_block("sh", f"assay show {one.name}\n{_command(typed, task)}"),
    ]


def _command(typed: str, task: str) -> str:
    return f"assay run predictions.csv --truth truth --predicted predicted{task} --measure {typed}"


def _readings(one: Measure) -> list[str]:
    lines = ["## Errata readings", ""] if one.errata else []
    for entry in concerning(one):
        lines += [f"### {entry.title}", "", *_sentences(_prose(entry.reading)), *_competing(entry), ""]
        lines += [f"The whole entry: [{entry.id}](../errata.md#{_slug(_heading(entry))}).", ""]
    return lines


def _index() -> list[str]:
    families: dict[str, list[Measure]] = {}
    for one in REGISTRY:
        families.setdefault(one.family, []).append(one)
    lines = [
        "# Measures",
        "",
        f"{len(REGISTRY)} measures are declared.",
        "Every page has the same parts: meaning, formula, facts, where it is undefined, an example, sources and errata.",
        "A name, a symbol or any other name finds a measure: `assay show sensitivity`.",
    ]
    for family, members in families.items():
        rows = [(f"[{m.name}]({m.name}.md)", m.symbol, m.says) for m in members]
        lines += ["", f"## {FAMILIES[family]}", "", *_table(("name", "symbol", "says"), rows)]
    return lines


# ---------------------------------------------------------------- errata


def _errata() -> list[str]:
    lines = [
        "# Errata",
        "",
        f"The sources of the measures err, contradict each other or leave a choice in {len(errata())} places.",
        "This is the register of those places, with the reading that assay follows in each.",
    ]
    source = ""
    for entry in errata():
        if entry.source != source:
            source = entry.source
            count = sum(other.source == source for other in errata())
            lines += ["", f"## {source}", "", f"{count} entries."]
        lines += ["", f"### {_heading(entry)}", "", *_entry(entry)]
    return lines


def _heading(entry: Erratum) -> str:
    return f"{entry.id}: {entry.title}"


def _entry(entry: Erratum) -> list[str]:
    concerned = [m for m in REGISTRY if entry.id in m.errata]
    rows = [
        ("where", _prose(entry.where)),
        ("kind", "; ".join(KINDS[kind] for kind in entry.kinds)),
        ("weight", SEVERITIES[entry.severity]),
        ("measures", ", ".join(f"[{m.name}](measures/{m.name}.md)" for m in concerned)),
    ]
    told = {"Problem": entry.problem, "Proof": entry.proof, "Reading": entry.reading}
    lines = _table(("fact", "value"), rows)
    for name, text in told.items():
        first, *rest = _sentences(_prose(text))
        lines += ["", f"**{name}.** {first}", *rest]
    return [*lines, *_competing(entry)]


def _competing(entry: Erratum) -> list[str]:
    if not entry.readings:
        return []
    rows = [(_prose(one.name), _prose(one.value)) for one in entry.readings]
    return ["", *_table(("reading", "value"), rows)]


# ---------------------------------------------------------------- errors


def _errors() -> list[str]:
    kinds = _raised()
    lines = [
        "# Errors",
        "",
        "Every error has a code, says what is wrong, where, what was found, what is known and how to mend it.",
        "All offending rows are gathered first, so one run tells everything.",
        "In Python the lines are fields of the exception: `error.code`, `.what`, `.where`, `.found`, `.known`, `.fix`.",
        "On the command line they go to standard error; with `--json` the same facts go to standard output as JSON.",
        "",
        "## Exit codes",
        "",
        *_table(("code", "meaning"), [(str(code), said) for code, said in EXITS.items()]),
    ]
    for code, said in errors.CODES.items():
        raisers = sorted(kinds.get(code, ()), key=lambda kind: kind.__name__)
        shown = ", ".join(f"`assay.{kind.__name__}`" for kind in raisers) or "nothing yet"
        exits = ", ".join(sorted({str(kind.exit_code) for kind in raisers})) or "none"
        lines += ["", f"## {code}", "", said, "", f"- raised as: {shown}", f"- exit code: {exits}"]
    return lines


def _raised() -> dict[str, set[type[errors.AssayError]]]:
    """Code -> the classes it is raised with, read from the source."""
    kinds = {name: kind for name, kind in vars(errors).items() if _is_error(kind)}
    found: dict[str, set[type[errors.AssayError]]] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
        raising = [call for call in calls if ast.unparse(call.func) in kinds]
        # A code that arrives in a variable was handed to a function of the same module, or chosen there by a test.
        handed = [arg for call in calls if call not in raising for arg in call.args]
        loose = _codes([*handed, *(node for node in nodes if isinstance(node, ast.IfExp))])
        for call in raising:
            for code in _codes([call.args[0]]) or loose:
                found.setdefault(code, set()).add(kinds[ast.unparse(call.func)])
    return found


def _codes(nodes: Iterable[ast.AST]) -> set[str]:
    inside = (leaf for node in nodes for leaf in (ast.walk(node) if isinstance(node, ast.IfExp) else [node]))
    return {leaf.value for leaf in inside if isinstance(leaf, ast.Constant) and leaf.value in errors.CODES}


def _is_error(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, errors.AssayError)


# ---------------------------------------------------------------- command line and Record


def _commands() -> list[str]:
    lines = [
        "# Command line",
        "",
        "What people read goes to standard error, what machines read to standard output.",
        "`NO_COLOR` is honoured, and nothing is coloured that does not go to a terminal.",
        "The exit codes are listed with the [errors](errors.md#exit-codes).",
    ]
    for words, command in [("assay", cli), *((f"assay {name}", found) for name, found in cli.commands.items())]:
        context = click.Context(command, info_name=words, terminal_width=WIDTH, **cli.context_settings)
        lines += ["", f"## {words}", "", *_block("text", command.get_help(context).rstrip())]
    return lines


def _record() -> list[str]:
    whole = schema()
    rows = list(_fields(whole, whole, ""))
    small = assay.assess(
        truth=["cat", "cat", "dog"], predicted=["cat", "dog", "dog"], positive="cat", measures=["recall", "precision"]
    )
    cut_short = {"counted_at": "2026-01-31T12:00:00+00:00", "python": "3.11.0", "packages": {}}
    shown = {**small.record, "environment": cut_short}
    return [
        "# Record",
        "",
        *_sentences(f"{whole['description']}"),
        "`assay schema` prints the JSON Schema; `.save()` and `assay run` write Records that follow it.",
        "",
        "## Fields",
        "",
        "`[]` stands for each entry of a list, `*` for each name of an object.",
        "",
        *_table(("field", "type", "always there", "meaning"), rows),
        "",
        "## Example",
        "",
        "Three rows, two measures; the environment is cut short.",
        "",
        *_block("json", json.dumps(shown, indent=1, ensure_ascii=False)),
    ]


def _fields(whole: dict[str, Any], part: dict[str, Any], path: str) -> Iterator[tuple[str, str, str, str]]:
    part = _resolved(whole, part)
    needed = set(part.get("required", ()))
    for name, one in part.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        target = _resolved(whole, one)
        meaning = one.get("description") or target.get("description", "")
        yield f"`{here}`", _type(whole, one), "yes" if name in needed else "", _prose(meaning)
        yield from _inside(whole, target, here)


def _inside(whole: dict[str, Any], target: dict[str, Any], here: str) -> Iterator[tuple[str, str, str, str]]:
    yield from _fields(whole, target, here)
    for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(target.get(key), dict):
            yield from _inside(whole, _resolved(whole, target[key]), here + mark)


def _resolved(whole: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in part:
        return part
    found: dict[str, Any] = whole["$defs"][part["$ref"].rsplit("/", 1)[1]]
    return found


def _type(whole: dict[str, Any], part: dict[str, Any]) -> str:
    if "$ref" in part:
        name = part["$ref"].rsplit("/", 1)[1]
        return name if name in ("count", "label", "sha256", "real") else _type(whole, _resolved(whole, part))
    if "anyOf" in part:
        return " or ".join(_type(whole, one) for one in part["anyOf"])
    if "const" in part:
        return f"`{json.dumps(part['const'])}`"
    if "enum" in part:
        return ", ".join(f"`{json.dumps(value)}`" for value in part["enum"])
    kinds = part.get("type", "anything")
    shown = " or ".join(kinds) if isinstance(kinds, list) else kinds
    if shown == "array" and "items" in part:
        return f"list of {_type(whole, part['items'])}"
    return shown.replace("array", "list")


# ---------------------------------------------------------------- Markdown


def _block(language: str, text: str) -> list[str]:
    return [f"```{language}", *text.split("\n"), "```"]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """A table without the rows that say nothing."""
    shown = [[cell.replace("|", "\\|") for cell in row] for row in rows if any(row[1:])]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *shown)]


def _prose(text: str) -> str:
    """Text of the register, with the characters that Markdown would take for markup made plain outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*<])", r"\\\1", part) for part in parts)


def _sentences(text: str) -> list[str]:
    """One sentence a line."""
    return re.split(r"(?<=[a-z0-9)`%][.!?]) (?=[A-Z`])", text)


def _slug(heading: str) -> str:
    """The anchor a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _typed(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _quoted(title: str) -> str:
    """A measure as it is typed in Python."""
    return f'"{title}"' if '"' not in title else repr(title)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
