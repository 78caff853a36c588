# SPDX-License-Identifier: Apache-2.0
"""The report as GitHub-flavoured Markdown; a name from outside can neither break a table nor become markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from assay.assess.record.record import Record
from assay.core import blocks as tree
from assay.report.report_document import report_of

MOST_ROWS: Final = 50
MOST_CELLS: Final = 15
PLAIN: Final = re.compile(r"[^\W_]+(?:[ -][^\W_]+)*")
"""Letters and digits with single spaces or hyphens between: nothing Markdown could take for markup."""
MARKUP: Final = re.compile(r"([\\`*_\[\]<>#|~$&])")


def render(record: Record) -> str:
    """The whole report."""
    report = report_of(record)
    parts = [
        [f"# {prose(report.title)}"],
        [f"- {verdict.sign} **{verdict.word}** {prose(verdict.says)}".rstrip() for verdict in report.verdicts],
        [prose(report.opening)],
        [f"- {remark.sign} {prose(remark.sentence)}" for remark in report.remarks],
        *(list(_section(section)) for section in report.plain(tree.Reach.TEXT)),
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


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, align: str = "lr") -> list[str]:
    """A table; one letter a column says whether it starts left or ends right, and the last letter serves the rest."""
    rule = [{"l": "---", "r": "---:"}[align[min(i, len(align) - 1)]] for i in range(len(head))]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]


def block_lines(blocks: Iterable[tree.Block]) -> Iterator[str]:
    """Blocks as lines, an empty one between them."""
    for block in blocks:
        lines = list(_lines(block))
        if lines:
            yield ""
            yield from lines


def _lines(block: tree.Block) -> Iterator[str]:
    """A block as lines; figures have none, because their numbers stand in tables."""
    match block:
        case tree.Paragraph(text=text, tone=tone):
            yield f"**{prose(text)}**" if tone in ("strong", "warn") else prose(text)
        case tree.Heading(text=text):
            yield f"### {prose(text)}"
        case tree.Bullets(items=items):
            for item in items:
                named = f"{name(item.name)}:" if item.name else ""
                yield " ".join(filter(None, ("-", item.sign, prose(item.word), named, prose(item.text))))
                yield from (f"  - {prose(text)}" for text in item.below)
        case tree.Terms(terms=terms, look=look):
            told = name if look == "code" else prose
            yield from (f"- {': '.join(map(told, filter(None, (term.name, term.text))))}" for term in terms)
        case tree.Table():
            yield from _table(block)
        case tree.Grid(labels=labels) if len(labels) <= MOST_CELLS:
            yield from _grid(block)


def _section(section: tree.Section) -> Iterator[str]:
    lines = list(block_lines(section.blocks))
    if not lines:
        return
    if section.folded:
        yield from ("<details>", f"<summary>{prose(section.title)}</summary>", *lines, "", "</details>")
    else:
        yield from (f"## {prose(section.title)}", *lines)


def _table(block: tree.Table) -> Iterator[str]:
    block = block.cut(MOST_ROWS)
    heads = [prose(column.name) for column in block.columns]
    align = "".join("r" if column.kind == "number" else "l" for column in block.columns)
    parts: list[tuple[str, list[list[str]]]] = [("", [])]
    for row in block.rows:
        if row.title:
            parts.append((row.title, []))
        else:
            parts[-1][1].append([_cell(*pair) for pair in zip(row.cells, block.columns, strict=True)])
    lines: list[str] = []
    for title, cells in parts:
        if cells:
            lines += [*([f"### {prose(title)}", ""] if title else []), *table(heads, cells, align=align), ""]
    if block.things and block.hidden:
        lines += [
            f"The {len(block.rows)} largest {block.things[1]} are shown; the Record has {block.hidden:,} more.",
            "",
        ]
    why = [f"- {name(column)} of {name(row)}: {prose(why)}" for column, row, why in block.reasons()]
    yield from [*lines, *why] if why else lines[:-1]


def _cell(cell: tree.Cell, column: tree.Column) -> str:
    if column.kind == "formula":
        return f"`{cell.text.replace('|', chr(92) + '|')}`"
    told = name if column.kind == "name" else prose
    text = name(cell.typed) if cell.typed else told(cell.text)
    text = f"{text} {cell.sign}" if column.kind == "name" and cell.sign else f"{cell.sign} {text}".strip()
    if not cell.below or (cell.sign and column.kind == "name"):
        return text
    return f"{text} ({prose(cell.below)})" if column.kind == "number" else f"{text}; {prose(cell.below)}"


def _grid(block: tree.Grid) -> Iterator[str]:
    rows = [
        [name(label), *(f"**{cell.text}**" if cell.right else cell.text for cell in cells), total]
        for label, cells, total in zip(block.labels, block.rows, block.sums, strict=True)
    ]
    head = [f"{block.down} ↓ {block.across} →", *map(name, block.labels), "all"]
    yield from table(head, [*rows, ["all", *block.totals, block.total]])
