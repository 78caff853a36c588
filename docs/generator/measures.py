# SPDX-License-Identifier: Apache-2.0
"""One page a measure, from its declaration, and the index of all."""

from __future__ import annotations

import inspect
import io
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from functools import cache
from itertools import product
from typing import Any

from assay.assess.errata import concerning
from assay.core.values import Undefined
from assay.measures import REGISTRY, Measure
from assay.measures.averages import POLICIES
from assay.measures.catalogue import grain
from assay.report.sentences import FAMILIES
from assay.tally.confusion import Confusion
from assay.tally.tables import Binary, Multiclass
from generator.markdown import block, plain, sentences, slug, table
from generator.register import competing, heading

TWO = """\
a = assay.assess(confusion=[[130, 10], [20, 40]], orientation="rows=truth", labels=["no", "yes"], positive="yes")"""
THREE = """\
a = assay.assess(
    confusion=[[50, 8, 2], [6, 30, 4], [1, 3, 16]], orientation="rows=truth", labels=["cat", "dog", "bird"]
)"""
LABELS = ("cat", "dog", "bird")

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
    "beta": ("its square is the weight of recall, where that of precision is 1; 0 or above", 2),
    "w_precision": ("the weight of precision; 0 or above", 2),
    "w_recall": ("the weight of recall; 0 or above", 1),
    "weight": ("the weight of recall, from 0 to 1; specificity gets the rest", 0.7),
    "weights": ("a weight of 0 or above for each class, not all zero", {"cat": 1, "dog": 1, "bird": 5}),
    "reference": ('the accuracy of the reference, from 0 to 1, or "majority" or "stratified"', "majority"),
    "undefined": (f"what a class without a value does to the average: {', '.join(POLICIES)}", "skip"),
    "baseline": ('"limit" takes 1 - 1/e for chance, "finite-k" the expectation for the number of classes', "finite-k"),
}
"""What a parameter means, and the value the example gives it where it must be given."""


def page(one: Measure) -> list[str]:
    """The page of one measure."""
    return [
        f"# {one.name}",
        "",
        f"{one.says[0].upper()}{one.says[1:]}.",
        "",
        *block("text", one.formula),
        "",
        *_letters(one),
        "",
        *table(("fact", "value"), _facts(one)),
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


def index() -> list[str]:
    """All measures, by family."""
    families: dict[str, list[Measure]] = {}
    for one in REGISTRY:
        families.setdefault(one.family, []).append(one)
    lines = [
        "# Measures",
        "",
        f"{len(REGISTRY)} measures are declared.",
        "Every page has the same parts: meaning, formula, facts, where it is undefined, an example, sources, errata.",
        "A name, a symbol or any other name finds a measure: `assay show sensitivity`.",
    ]
    for family, members in families.items():
        rows = [(f"[{m.name}]({m.name}.md)", m.symbol, m.says) for m in members]
        lines += ["", f"## {FAMILIES[family]}", "", *table(("name", "symbol", "says"), rows)]
    return lines


def _letters(one: Measure) -> list[str]:
    used = re.findall(r"\b[A-Za-z_]+\b", one.formula)
    cells = {m.symbol: m.says for m in REGISTRY if m.family == "counts"}
    each = "" if one.takes is Binary else "for each class, "
    found = {name: f"{each}{cells[name]}" for name in ("TP", "FP", "FN", "TN") if name in used}
    found |= {name: text for name, text in LETTERS.items() if name in used}
    return [f"- `{name}`: {text}" for name, text in found.items()]


def _facts(one: Measure) -> Iterator[tuple[str, str]]:
    made = [m for m in REGISTRY if m.base == one.name]
    home = REGISTRY.find(one.base) if one.base else one
    yield "symbol", one.symbol
    yield "speaks of", grain(one)
    yield "range", one.range_shown
    yield "direction", str(one.better)
    yield "chance gives, for one class" if one.base else "chance gives", one.chance or ""
    yield "task", f"{one.only} only" if one.only else "binary and multi-class"
    yield "family", f"[{FAMILIES[one.family]}](index.md#{slug(FAMILIES[one.family])})"
    yield "average of", f"[{one.base}]({one.base}.md), {one.average}" if one.base else ""
    yield "averages made from it", ", ".join(f"[{m.name}]({m.name}.md)" for m in made)
    yield "other names", ", ".join(one.also)
    yield "catalogue", ", ".join(one.spec)
    yield "declared in", f"`{home.function.__module__}`"


def _parameters(one: Measure) -> list[str]:
    if not one.parameters:
        return []
    rows = [
        (f"`{name}`", PARAMETERS[name][0], "must be given" if default is inspect.Parameter.empty else _typed(default))
        for name, default in one.parameters.items()
    ]
    return ["## Parameters", "", *table(("name", "meaning", "default"), rows), ""]


def _typed(value: object) -> str:
    return f"`{json.dumps(value) if isinstance(value, str) else repr(value)}`"


def _undefined(one: Measure) -> list[str]:
    reasons = _reasons(one)
    lines = [f"- {reason}" for reason in reasons] or ["It has a value on every table."]
    if one.base and "undefined" in one.parameters and len(reasons) > 1:
        lines = [
            "- there are no rows",
            f"- a class that counts has no value, because of what [{one.base}]({one.base}.md) needs",
            "",
            "The reason then gives both readings: the class counted as 0, and the class left out.",
            'State `undefined="skip"`, `"zero"` or `"one"` to decide.',
            "See [why undefined is not zero](../../why/undefined-is-not-zero.md).",
        ]
    if one.infinite:
        lines += ["", "It is plus infinity, and not undefined, where only a divisor is zero."]
    return lines


def _reasons(one: Measure) -> list[str]:
    """Every reason the measure gives on small tables, with the class names taken out."""
    found: dict[str, None] = {}
    for small in _small_tables(one.takes):
        value = _ready(one, getattr(small, "labels", LABELS))(small)
        if isinstance(value, Undefined):
            told = value.named(positive="the class", negative="outside the class").reason.split("; ")
            found |= dict.fromkeys(told if small.n else told[:1])
    return list(dict.fromkeys(re.sub(r'"\w+"(, "\w+")*', "one class", reason) for reason in found))


@cache
def _small_tables(kind: type[Binary | Multiclass]) -> list[Binary | Multiclass]:
    """Every way in which cells, and so margins, can vanish."""
    if kind is Binary:
        return [Binary.of(tp=tp, fp=fp, fn=fn, tn=tn) for tp, fp, fn, tn in product((0, 1), repeat=4)]
    return [
        Confusion.from_cells(dict(zip(product(labels, repeat=2), cells, strict=True)), labels=labels).multiclass()
        for labels in (LABELS[:1], LABELS)
        for cells in product((0, 1), repeat=len(labels) ** 2)
    ]


def _ready(one: Measure, labels: Iterable[object] = LABELS) -> Measure:
    """The measure with an example value for every parameter that must be given."""
    given = {name: PARAMETERS[name][1] for name in one.needs}
    for name, each in given.items():
        given[name] = {label: each[label] for label in labels} if isinstance(each, dict) else each
    return one.with_(**given) if given else one


def _example(one: Measure) -> list[str]:
    ready = _ready(one)
    start = THREE if ready.takes is Multiclass or ready.only == "multiclass" else TWO
    asked = f'a.by_class["cat"][{_quoted(ready)}]' if ready.only == "multiclass" else f"a[{_quoted(ready)}]"
    code = f"import assay\n\n{start}\ne = {asked}"
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  text of this file
    showing = 'print(f"{e.value:.4f}, {e.low:.4f} to {e.high:.4f}, {e.interval.method}")'
    if names["e"].interval is None:
        showing = 'print(e.value, e.no_interval, sep=", ")'
    with redirect_stdout(io.StringIO()) as printed:
        exec(showing, names)  # noqa: S102
    return [
        *_by_hand(ready, names["a"]),
        "",
        *block("python", f"{code}\n{showing}"),
        "",
        *block("text", printed.getvalue().rstrip()),
    ]


def _by_hand(ready: Measure, a: Any) -> list[str]:  # noqa: ANN401  an Assessment, whose name the package makes lazily
    """The numbers that go into the formula."""
    if ready.takes is Binary:
        label = "cat" if a.positive is None else a.positive
        cells = {cell: round(a.by_class[label][cell].value) for cell in ("TP", "FP", "FN", "TN")}
        shown = ", ".join(f"{name} = {count}" for name, count in cells.items())
        filled = ready.formula
        for name, value in {**cells, "n": sum(cells.values()), **ready.given}.items():
            filled = re.sub(rf"\b{name}\b", str(value), filled)
        return [f'The class "{label}" has {shown}.', "", *block("text", filled)]
    if ready.base and ready.average in ("macro", "weighted"):
        base = REGISTRY.find(ready.base)
        given = {name: value for name, value in ready.given.items() if name in base.parameters}
        title = base.with_(**given).title if given else base.title
        shown = ", ".join(f"{label} {a.by_class[label][title].value:.4f}" for label in a.labels)
        sizes = ", ".join(f"{label} {a.by_class[label]['P'].value:.0f}" for label in a.labels)
        lines = [f"The class values of {title} are: {shown}."]
        return [*lines, f"The true sizes of the classes are: {sizes}."] if ready.average == "weighted" else lines
    cells = a.confusion.multiclass()
    vectors = {"TP": cells.hits, "R": cells.actual, "C": cells.called}
    shown = ", ".join(f"{name} = {[int(x) for x in each]}" for name, each in vectors.items())
    return [f"The {a.confusion.k} classes have {shown}, n = {a.confusion.rows}."]


def _asking(one: Measure) -> list[str]:
    ready = _ready(one)
    lines = ["`a` is what `assay.assess` returns."]
    if one.takes is Multiclass:
        lines.append(f"Ask `a[{_quoted(ready)}]`.")
    if one.takes is Binary and one.only != "multiclass":
        lines.append(f"With two classes ask `a[{_quoted(ready)}]`.")
    if one.takes is Binary and one.only != "binary":
        lines.append(f"For one of many classes ask `a.by_class[label][{_quoted(ready)}]`.")
    positive = " --positive yes" if one.takes is Binary and one.only != "multiclass" else ""
    mark = '"' if "'" in ready.title else "'"
    typed = f"{mark}{ready.title}{mark}" if re.search(r"\W", ready.title) else ready.title
    command = f"assay run predictions.csv --truth truth --predicted predicted{positive} --measure {typed}"
    return [*lines, "", *block("sh", f"assay show {one.name}\n{command}")]


def _quoted(ready: Measure) -> str:
    """A measure as it is typed in Python."""
    return f'"{ready.title}"' if '"' not in ready.title else repr(ready.title)


def _readings(one: Measure) -> list[str]:
    lines = ["## Errata readings", ""] if one.errata else []
    for entry in concerning(one):
        lines += [f"### {entry.title}", "", *sentences(plain(entry.reading)), *competing(entry), ""]
        lines += [f"The whole entry: [{entry.id}](../errata.md#{slug(heading(entry))}).", ""]
    return lines
