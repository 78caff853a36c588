# SPDX-License-Identifier: Apache-2.0
"""The report as GitHub-flavoured Markdown; a name from outside can neither break a table nor become markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from assay.assess.record import Record
from assay.report import sentences
from assay.report import sentences_scores as scoresentences
from assay.report.assessment_document import Document, Factor, read
from assay.report.blocks.calibration import Bin
from assay.report.blocks.claims import HEAD as CLAIM_HEAD
from assay.report.blocks.claims import INTRODUCED, Claims, Contests
from assay.report.blocks.conformity import LIMITS, UNMET, Demand, Statement
from assay.report.blocks.decisions import HEAD, Verdicts
from assay.report.estimate_rows import Entry

MOST_ROWS: Final = 50
MOST_CELLS: Final = 15
PLAIN: Final = re.compile(r"[^\W_]+(?:[ -][^\W_]+)*")
"""Letters and digits with single spaces or hyphens between: nothing Markdown could take for markup."""
MARKUP: Final = re.compile(r"([\\`*_\[\]<>#|~$&])")


def render(record: Record) -> str:
    """The whole report."""
    document = read(record)
    parts = [
        [f"# {prose(document.title)}"],
        [f"- {one.sign} **{one.word}** {prose(one.says)}".rstrip() for one in document.standing],
        [prose(document.opening)],
        [f"- {one.sign} {prose(one.sentence)}" for one in document.remarks],
        decided(document.verdicts),
        _claims(document.claims),
        _contests(document.contests),
        _headline(document),
        _matrix(document),
        _scores(document),
        _classes(document),
        _averages(document),
        *(_factor(factor, document) for factor in document.factors),
        _lost(document),
        _conformity(document.statement),
        _measures(document),
        _closing(document),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def name(text: str) -> str:
    r"""A name from outside, as code unless it is plain words.

    >>> name("cat"), name("a*b"), name("a|b"), name("@you")
    ('cat', '`a*b`', '<code>a&#124;b</code>', '`@you`')
    """
    if PLAIN.fullmatch(text):
        return text
    if not re.search(r"[`|\\]", text) and text == text.strip():
        return f"`{text}`"
    # A pipe cannot stand in a code span of a table, nor a backslash before it, so here every mark is spelled out.
    return "<code>" + "".join(c if c.isalnum() or not c.isascii() else f"&#{ord(c)};" for c in text) + "</code>"


def prose(text: str) -> str:
    r"""A sentence that may hold names from outside: marks are escaped, nothing links or calls anybody.

    >>> prose("see https://a.b and @you |")
    'see https&#58;//a.b and <code>@</code>you \\|'
    """
    escaped = MARKUP.sub(r"\\\1", text)
    escaped = escaped.replace("://", "&#58;//").replace("www.", "www&#46;").replace("@", "<code>@</code>")
    escaped = re.sub(r"\\#(?=\d)", "<code>#</code>", escaped)
    # At the start of a line these would begin a list, a rule or a heading.
    return re.sub(r"^(\d*)([-+=.)])(?=\s|[-=]|$)", r"\1\\\2", escaped)


def value(one: Entry | None) -> str:
    """A value and its interval in one cell."""
    if one is None:
        return "–"
    if not one.defined:
        return "∅ undefined"
    return f"{one.shown} ({one.interval})" if one.interval else one.shown


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, align: str = "lr") -> list[str]:
    """A table; one letter a column says whether it starts left or ends right, and the last letter serves the rest."""
    rule = [{"l": "---", "r": "---:"}[align[min(i, len(align) - 1)]] for i in range(len(head))]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]


def _headline(document: Document) -> list[str]:
    if not document.headline:
        return []
    rows = [
        (
            prose(one.about.name),
            one.shown if one.defined else "∅ undefined",
            prose(one.so if one.defined else one.reason),
        )
        for one in document.headline
    ]
    if document.baseline is not None and document.baseline.defined:
        rows.append((document.baseline.about.name, document.baseline.shown, document.baseline.so))
    notes = [f"- {prose(one.about.name)}: {prose(note)}" for one in document.headline for note in one.notes]
    head = ["measure", "value", f"{document.level} interval"]
    return [f"## {sentences.HEADLINE}", "", *table(head, rows, align="lrl"), *(["", *notes] if notes else [])]


def _matrix(document: Document) -> list[str]:
    matrix = document.matrix
    if len(matrix.labels) > MOST_CELLS:
        return []
    head = ["predicted ↓ true →", *map(name, matrix.labels), "all"]
    rows = [
        [name(row.label), *(f"**{cell.count}**" if cell.right else cell.count for cell in row.cells), row.total]
        for row in matrix.rows
    ]
    return ["## Confusion matrix", "", *table(head, [*rows, ["all", *matrix.totals, matrix.total]])]


def _scores(document: Document) -> list[str]:
    found = document.scoring
    if found is None:
        return []
    lines = ["## Scores and thresholds", "", prose(found.said)]
    if found.operating:
        several = any(one.label for one in found.operating)
        head = ["threshold", "TP", "FP", "FN", "TN", "recall", "specificity", "precision", "chosen"]
        head = ["class", *head] if several else head
        rows = [
            [
                *([name(one.label)] if several else []),
                one.threshold,
                *(one.tp, one.fp, one.fn, one.tn),
                *(f"{value} ({sure})" if sure else value for value, sure in one.rates),
                prose(one.chosen) + (f"; △ {scoresentences.OPTIMISTIC}" if one.optimistic else ""),
            ]
            for one in found.operating
        ]
        lines += ["", *table(head, rows, align="lrrrrrrrrl" if several else "rrrrrrrrl")]
    for bins, share_of in ((found.bins, "share of positives"), (found.top, "share that is right")):
        head = ["largest probability" if bins is found.top else "predicted probability", "rows", "mean"]
        head.append(f"{share_of} ({document.level} interval)")
        rows = [[f"{one.low:.2g} to {one.high:.2g}", one.shown, f"{one.score:.3f}", _reached(one)] for one in bins]
        lines += ["", *table(head, rows, align="lr")] if bins else []
    return lines


def _reached(one: Bin) -> str:
    if one.share_low is None or one.share_high is None:
        return f"{one.share:.3f}"
    return f"{one.share:.3f} ({one.share_low:.3f} to {one.share_high:.3f})"


def _classes(document: Document) -> list[str]:
    classes = document.classes
    if classes is None:
        return []
    size = "weight" if document.weighted else "rows"
    head = ["class", size, "predicted", "right", *(prose(column.name) for column in classes.columns)]
    rows = [
        [name(row.label), row.size, row.called, row.right, *map(value, row.entries)] for row in classes.rows[:MOST_ROWS]
    ]
    rest = classes.total - len(rows)
    more = ["", sentences.rows_cut(len(rows), rest)] if rest else []
    unlisted = [] if classes.columns else [sentences.unlisted(classes.total), ""]
    return ["## Class by class", "", *unlisted, *table(head, rows), *more]


def _averages(document: Document) -> list[str]:
    if not document.averages:
        return []
    rows = [[row.name, *map(value, row.entries)] for row in document.averages]
    return ["## Averages over classes", "", *table(["measure", *sentences.AVERAGES], rows)]


def _factor(factor: Factor, document: Document) -> list[str]:
    head = ["level", "rows", *(prose(column.name) for column in factor.columns)]
    rows = [
        [f"{name(level.label)}{' △' if level.small else ''}", f"{level.rows:,}", *map(value, level.entries)]
        for level in factor.levels[:MOST_ROWS]
    ]
    rest = len(factor.levels) + factor.hidden - len(rows)
    more = ["", sentences.rows_cut(len(rows), rest, "levels")] if rest else []
    if factor.spreads:
        lines = [
            [prose(one.about.name), name(one.lowest), name(one.highest), one.p, one.beyond_chance]
            for one in factor.spreads
        ]
        more += ["", prose(sentences.SPREAD), "", *table(sentences.SPREAD_HEAD, lines, align="lllrr")]
    return [f"## By {name(factor.name)}", "", f"Values with {document.level} intervals.", "", *table(head, rows), *more]


def _lost(document: Document) -> list[str]:
    lines = [
        f"- {name(one.about.measure)}: infinite; {prose(sentences.infinite(one.about.formula))}"
        for one in document.infinite
    ]
    for row in document.classes.rows[:MOST_ROWS] if document.classes is not None else ():
        lines += [
            f"- {name(one.about.measure)} of {name(row.label)}: {prose(one.reason)}"
            for one in row.entries
            if not one.defined
        ]
    lines += [f"- {name(one.about.measure)}: {prose(one.reason)}" for one in document.undefined]
    return ["## Undefined and infinite values", "", *lines] if lines else []


def decided(found: Verdicts | None, *, head: str = "##") -> list[str]:
    """The verdict, then the criteria as a table."""
    if found is None:
        return []
    rows = [
        (
            name(one.criterion),
            f"{one.sign} {one.verdict}",
            prose(one.value),
            prose(one.ends),
            one.risk,
            prose(f"{one.why}; {one.needed}" if one.needed else one.why),
        )
        for one in found.rows
    ]
    return [f"{head} {found.sign} {found.overall}: {prose(found.says)}", "", *table(list(HEAD), rows, align="l")]


def _claims(found: Claims | None) -> list[str]:
    if found is None:
        return []
    rows = [
        (
            name(one.claim),
            f"{one.sign} {one.answer}",
            prose(f"{one.value}; {one.beside}"),
            one.risk,
            prose(f"{one.why}; {one.needed}" if one.needed else one.why),
        )
        for one in found.rows
    ]
    return [
        "## Claims",
        "",
        prose(INTRODUCED),
        "",
        f"**{prose(found.says)}**",
        "",
        *table(list(CLAIM_HEAD), rows, align="l"),
    ]


def _contests(found: Contests | None) -> list[str]:
    if found is None:
        return []
    lines = ["## Against the other models", ""]
    lines += [f"No test was made: {prose(found.why_not)}."] if found.why_not else []
    for one in found.made:
        lines += [
            f"- {told.mark} {prose(' '.join(filter(None, (told.sentence, told.label))))}" for told in one.findings
        ]
        rows = [[name(m), value, prose(what), prose(ahead)] for m, value, what, ahead in one.ranking]
        lines += ["", *table(["model", "value", "measure", "ahead of"], rows, align="lrll"), "", "Why these tests:", ""]
        lines += [f"- {prose(f'{asked.question}: {asked.why}. {asked.label}'.rstrip())}" for asked in one.asked]
    return lines


def _conformity(statement: Statement | None) -> list[str]:
    if statement is None:
        return []
    head = ["row", "strength", "verdict", "demand", "why"]
    lines = [
        f"## Conformity with {prose(statement.document)}",
        "",
        f"**{statement.overall}**: {prose(statement.says)}.",
        "",
    ]
    lines += [f"- {sign} {name}: {n} ({says})" for sign, name, says, n in statement.counts if n]
    every = [
        *([(UNMET, statement.unmet)] if statement.unmet else []),
        *((clause.name, clause.rows) for clause in statement.clauses),
        ("Supplementary rules", statement.supplement),
    ]
    for name_, rows in every:
        cells = [
            (row.id, row.strength, f"{row.sign} {row.verdict}", prose(row.says), prose(_answered(row))) for row in rows
        ]
        lines += ["", f"### {prose(name_)}", "", *table(head, cells, align="l")]
    found = [(name(one.name), f"{one.sign} {one.verdict}", prose(one.says)) for one in statement.controls]
    lines += ["", "### Controls", "", *table(["control", "verdict", "found"], found, align="l"), "", prose(LIMITS)]
    return lines


def _answered(row: Demand) -> str:
    return f"{row.why}; answer: {row.answer}" if row.answer else row.why


def _measures(document: Document) -> list[str]:
    lines = ["<details>", "<summary>All measures</summary>"]
    for family in document.families:
        rows = [
            [
                name(one.about.measure),
                one.shown,
                prose(one.so),
                one.n,
                prose(one.method),
                f"`{_in_cell(one.about.formula)}`",
            ]
            for one in family.entries
        ]
        head = ["measure", "value", f"{document.level} interval", "n", "method", "formula"]
        lines += ["", f"### {family.name}", "", *table(head, rows, align="lrlrl")]
    return [*lines, "", "</details>"]


def _in_cell(code: str) -> str:
    return code.replace("|", "\\|")


def _closing(document: Document) -> list[str]:
    lines = ["## How it was computed", "", f"{prose(document.rows)}.", ""]
    lines += [f"- {prose(note)}" for note in document.notes]
    lines += [f"- {prose(method)}{': ' if says else ''}{prose(says)}." for method, says in document.methods]
    lines += [f"- {prose(one)}" for one in document.settings]
    if document.errata:
        lines.append(f"- Readings of the sources followed: {', '.join(one.id for one in document.errata)}.")
    lines += [f"- {prose(what)}: {prose(found)}" for what, found in document.environment]
    lines += [f"- SHA-256 of {name(what)}: {name(found)}" for what, found in document.digests]
    return lines
