# SPDX-License-Identifier: Apache-2.0
"""One page a measure, from its declaration, and the index of all."""

from __future__ import annotations

import inspect
import io
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from assay.assess.errata import concerning
from assay.core.values import Undefined
from assay.measures import REGISTRY, Measure
from assay.measures.averages import POLICIES
from assay.measures.catalogue import grain
from assay.report.sentences import FAMILIES
from assay.tally.labels.confusion import Confusion, Priced
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks
from generator.advice import advice
from generator.markdown import block, plain, sentences, slug, table
from generator.register import competing, heading

TWO = """\
a = assay.from_confusion_matrix([[130, 10], [20, 40]], orientation="rows=truth", labels=["no", "yes"], positive="yes")
""".rstrip()
THREE = """\
a = assay.from_confusion_matrix(
    [[50, 8, 2], [6, 30, 4], [1, 3, 16]], orientation="rows=truth", labels=["cat", "dog", "bird"]
)"""
PRICED = """\
a = assay.from_confusion_matrix(
    [[50, 8, 2], [6, 30, 4], [1, 3, 16]],
    orientation="rows=truth",
    labels=["cat", "dog", "bird"],
    costs={"cat": {"dog": 1, "bird": 2}, "dog": {"cat": 1, "bird": 2}, "bird": {"cat": 5, "dog": 5}},
)"""
LABELS = ("cat", "dog", "bird")
SCORED: dict[type[object], str] = {
    Ranked: """\
from assay.tally.scores.score_tally import Scores

scores, truth = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2], [1, 1, 0, 1, 0, 0, 1, 0]
table = Scores.binary(scores, truth).one_vs_rest(1)""",
    Scores: """\
from assay.tally.scores.score_tally import Scores

scores = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.5, 0.4, 0.1], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1], [0.3, 0.3, 0.4]]
table = Scores.per_class(np.array(scores), [0, 1, 1, 2, 0, 2], ["cat", "dog", "bird"])""",
    Ranks: """\
from assay.tally.scores.true_class_ranks import Ranks

scores = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.5, 0.4, 0.1], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1], [0.3, 0.3, 0.4]]
table = Ranks.of(scores, [0, 1, 1, 2, 0, 2])""",
    RowScores: """\
from assay.tally.scores.row_probabilities import RowScores

scores = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.5, 0.4, 0.1], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1], [0.3, 0.3, 0.4]]
table = RowScores.of(scores, [0, 1, 1, 2, 0, 2])""",
}
"""The tally that each kind of score measure reads, made from a few rows."""

LETTERS = {
    "n": "all rows",
    "K": "the number of classes",
    "R": "for each class, the rows that truly belong to it",
    "C": "for each class, the rows called it",
    "classes": "the classes, counted from 0",
    "shares": "for each class, its true share `t` and its predicted share `p`",
    "w": "the declared weight of each class",
    "costs": "each stated cost `c` with the rows `m` that carry it",
}
"""What the letters of a formula stand for, besides the four cells, which are measures themselves."""

SCORE_LETTERS = {
    "X": "the scores of the positives",
    "Y": "the scores of the negatives",
    "P": "the number of positives",
    "N": "the number of negatives",
    "T": "every threshold that makes a difference: each score, and one above all",
    "TP": "positives with a score of at least a threshold",
    "FP": "negatives with a score of at least a threshold",
    "roc": "the points (false positive rate, true positive rate) from the highest threshold to the lowest",
    "hull": "the upper convex hull of a curve",
    "integral": "the area under straight lines between points, from one place to another",
    "crossing": "the false positive rate where it equals the miss rate",
    "expected": "the mean over costs c, drawn from Beta(alpha, beta); by default 1 + P/n and 1 + N/n",
    "pr": "the points (recall, precision) from the highest score to the lowest, begun at recall 0",
    "counts": "true and false positives from the highest threshold to the lowest",
    "between": "the area between two points of the precision-recall curve, false positives growing evenly",
    "gains": "the points (share of rows called positive, share of positives found)",
    "at": "the height of a curve at a place, on the straight line between its points",
    "brier": "the Brier score of some probabilities",
    "recalibrated": "the rising step function of the scores that fits the truth best",
    "groups": "in each bin: positives, sum of probabilities, rows",
    "logistic": "intercept and slope of the logistic regression of the truth on ln(q / (1 - q))",
    "auroc": "AUROC of class i against the rest, of class i against class j, or of all scores pooled",
    "average_precision": "average precision of class i against the rest, or of all scores pooled",
    "expected_calibration_error": "the calibration error of class i against the rest",
    "top": "in each bin of the largest probability of a row: rows whose class it is, sum of it, rows",
    "directions": "for each row, the probability of its true class, and the sum of the squares of all",
    "size": "the rows that truly belong to each class",
    "own": "the score each row gave its true class",
    "others": "the scores rows gave to other classes than the true one",
    "ranks": "for each row, how many classes score above the true one, and how many more are tied with it",
    "n": "all rows",
    "K": "the number of classes",
    "classes": "the classes, counted from 0",
}
"""The same for formulas of scores."""

PARAMETERS: dict[str, tuple[str, object]] = {
    "beta": ("its square is the weight of recall, where that of precision is 1; 0 or above", 2),
    "w_precision": ("the weight of precision; 0 or above", 2),
    "w_recall": ("the weight of recall; 0 or above", 1),
    "weight": ("the weight of recall, from 0 to 1; specificity gets the rest", 0.7),
    "weights": ("a weight of 0 or above for each class, not all zero", {"cat": 1, "dog": 1, "bird": 5}),
    "reference": ('the accuracy of the reference, from 0 to 1, or "majority" or "stratified"', "majority"),
    "undefined": (f"what a class without a value does to the average: {', '.join(POLICIES)}", "skip"),
    "max_fpr": ("the false positive rate up to which the area is taken, above 0 and up to 1", 0.5),
    "share": ("the share of rows called positive, above 0 and up to 1", 0.25),
    "threshold": ("the probability from which on a row is called positive, above 0 and below 1", 0.5),
    "h_measure.alpha": ("first parameter of the Beta distribution of costs; by default 1 + P/n", None),
    "h_measure.beta": ("second parameter of the Beta distribution of costs; by default 1 + N/n", None),
    "clip": ("how far probabilities are kept from 0 and 1; by default not at all", 1e-15),
    "bins": ("the number of bins", 15),
    "binning": ('"width" cuts 0 to 1 evenly, "mass" so that bins hold equally many rows', "width"),
    "k": ("how many of the highest scores count; below the number of classes", 2),
    "ties": ('what ties at the cut count: "expected", "pessimistic" or "optimistic"', "expected"),
    "cost_fp": ("the cost of a false positive; 0 or above", 1),
    "cost_fn": ("the cost of a miss; 0 or above", 5),
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
        *block("formula", one.formula),
        "",
        *_letters(one),
        "",
        *advice(one),
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
    if one.from_scores:
        return [f"- `{name}`: {text}" for name, text in SCORE_LETTERS.items() if name in used]
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
        (
            f"`{name}`",
            _meaning(one, name)[0],
            "must be given" if default is inspect.Parameter.empty else _typed(default),
        )
        for name, default in one.parameters.items()
    ]
    return ["## Parameters", "", *table(("name", "meaning", "default"), rows), ""]


def _meaning(one: Measure, name: str) -> tuple[str, object]:
    return PARAMETERS[f"{one.name}.{name}"] if f"{one.name}.{name}" in PARAMETERS else PARAMETERS[name]


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
            'State `IntervalSettings(undefined="skip")`, `"zero"` or `"one"` to decide.',
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
            rows = small.rows if isinstance(small, (Scores, RowScores)) else small.n
            found |= dict.fromkeys(told if rows else told[:1])
    return list(dict.fromkeys(re.sub(r'"\w+"(, "\w+")*', "one class", reason) for reason in found))


@cache
def _small_tables(kind: type[Any]) -> list[Any]:
    """Every way in which cells, and so margins, can vanish."""
    rows = [*product((0.2, 0.7), (0, 1))]
    if kind is Ranked:
        held = [r for size in range(4) for r in combinations_with_replacement([*rows, (0.0, 1), (1.4, 0)], size)]
        return [Scores.binary([s for s, _ in r], [y for _, y in r]).one_vs_rest(1) for r in held]
    if kind is Scores:
        held = [truth for size in range(4) for truth in combinations_with_replacement(range(3), size)]
        return [Scores.per_class(np.full((len(y), 3), [0.2, 0.5, 0.3]), y, LABELS) for y in held]
    if kind in (Ranks, RowScores):
        return [kind.of(np.full((len(y), 3), [0.2, 0.5, 0.3]), y) for y in ([], [0, 2])]
    if kind is Priced:
        return [Priced(cost=(Fraction(0), Fraction(1)), count=count) for count in ((0, 0), (3, 1))]
    if kind is Binary:
        return [Binary.of(tp=tp, fp=fp, fn=fn, tn=tn) for tp, fp, fn, tn in product((0, 1), repeat=4)]
    tables = [
        Confusion.from_cells(dict(zip(product(labels, repeat=2), cells, strict=True)), labels=labels).multiclass()
        for labels in (LABELS[:1], LABELS)
        for cells in product((0, 1), repeat=len(labels) ** 2)
    ]
    return list({(t.labels, *t.hits, *t.actual, *t.called): t for t in reversed(tables)}.values())[::-1]  # each once


def _ready(one: Measure, labels: Iterable[object] = LABELS) -> Measure:
    """The measure with an example value for every parameter that must be given."""
    given = {name: _meaning(one, name)[1] for name in one.needs}
    for name, each in given.items():
        given[name] = {label: each[label] for label in labels} if isinstance(each, dict) else each
    return one.with_(**given) if given else one


def _example(one: Measure) -> list[str]:
    ready = _ready(one)
    if one.from_scores:
        return _score_example(ready)
    start = (
        PRICED if ready.takes is Priced else THREE if ready.takes is Multiclass or ready.only == "multiclass" else TWO
    )
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


def _score_example(ready: Measure) -> list[str]:
    tally = SCORED[ready.takes]
    first = "import numpy as np\n\nimport assay" if "np." in tally else "import assay"
    showing = f"print(round(assay.measure({_quoted(ready)})(table).value, 4))"
    code = f"{first}\n{tally}\n{showing}"
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, {})  # noqa: S102  text of this file
    return [*block("python", code), "", *block("text", printed.getvalue().rstrip())]


def _by_hand(ready: Measure, a: Any) -> list[str]:  # noqa: ANN401  an Assessment, whose name the package makes lazily
    """The numbers that go into the formula."""
    if ready.takes is Binary:
        label = "cat" if a.positive is None else a.positive
        cells = {cell: round(a.by_class[label][cell].value) for cell in ("TP", "FP", "FN", "TN")}
        shown = ", ".join(f"{name} = {count}" for name, count in cells.items())
        filled = ready.formula
        for name, value in {**cells, "n": sum(cells.values()), **ready.given}.items():
            filled = re.sub(rf"\b{name}\b", str(value), filled)
        return [f'The class "{label}" has {shown}.', "", *block("formula", filled)]
    if ready.base and ready.average in ("macro", "weighted") and not ready.from_scores:
        base = REGISTRY.find(ready.base)
        given = {name: value for name, value in ready.given.items() if name in base.parameters}
        title = base.with_(**given).title if given else base.title
        shown = ", ".join(f"{label} {a.by_class[label][title].value:.4f}" for label in a.labels)
        sizes = ", ".join(f"{label} {a.by_class[label]['P'].value:.0f}" for label in a.labels)
        lines = [f"The class values of {title} are: {shown}."]
        return [*lines, f"The true sizes of the classes are: {sizes}."] if ready.average == "weighted" else lines
    if ready.takes is Priced:
        rows = ", ".join(f"{count} at {float(cost):g}" for cost, count in a.settings.costs.of(a.confusion))
        return [f"The rows by what they cost: {rows}."]
    cells = a.confusion.multiclass()
    vectors = {"TP": cells.hits, "R": cells.actual, "C": cells.called}
    shown = ", ".join(f"{name} = {[int(x) for x in each]}" for name, each in vectors.items())
    return [f"The {a.confusion.k} classes have {shown}, n = {a.confusion.rows}."]


def _asking(one: Measure) -> list[str]:
    ready = _ready(one)
    if one.from_scores:
        return block("sh", f"assay show {one.name}")
    lines = ["`a` is what `assay.assess` or `assay.from_confusion_matrix` returns."]
    if one.takes in (Multiclass, Priced):
        lines.append(f"Ask `a[{_quoted(ready)}]`.")
    if one.takes is Binary and one.only != "multiclass":
        lines.append(f"With two classes ask `a[{_quoted(ready)}]`.")
    if one.takes is Binary and one.only != "binary":
        lines.append(f"For one of many classes ask `a.by_class[label][{_quoted(ready)}]`.")
    positive = " --positive yes" if one.takes is Binary and one.only != "multiclass" else ""
    mark = '"' if "'" in ready.title else "'"
    typed = f"{mark}{ready.title}{mark}" if re.search(r"\W", ready.title) else ready.title
    costs = " --costs costs.csv" if one.takes is Priced else ""
    command = f"assay run predictions.csv --truth truth --predicted predicted{positive}{costs} --measure {typed}"
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
