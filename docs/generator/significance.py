# SPDX-License-Identifier: Apache-2.0
"""The tests of significance and the table that chooses between them, from their declarations."""

from __future__ import annotations

from assay.assess.errata import errata
from assay.inference.decision_table import TABLE
from assay.inference.decision_words import MANY, Row
from assay.inference.tests_catalogue import every_test
from generator.markdown import plain, slug, table
from generator.register import heading


def tests_page() -> list[str]:
    """Every test, and the decision table."""
    every = every_test()
    lines = [
        "# Tests of significance",
        "",
        f"{len(every)} tests are declared; `assay tests NAME` explains one.",
        "Forms of one test are siblings with names of their own; no switch turns one into another.",
        "",
        "## Which test answers which question",
        "",
        "The first row that fits is taken, and the reason is printed with the result.",
        "The row numbers are those of the specification the table follows.",
        "",
    ]
    lines += table(["row", "values", "models", "question", "test, and when"], [_row(row) for row in TABLE])
    lines += ["", "## All tests"]
    for one in every:
        lines += ["", f"### {one.name}", "", f"{one.title}.", ""]
        lines += [
            f"- asks: {plain(one.asks)}",
            f"- null hypothesis: {plain(one.null)}",
            f"- effect: {plain(one.effect)}",
        ]
        lines += [f"- assumes: {plain(text)}" for text in one.assumes]
        lines += [f"- never: {plain(text)}" for text in one.never]
        lines += [f"- source: {plain(str(source))}" for source in one.source]
        if one.errata:
            known = {entry.id: slug(heading(entry)) for entry in errata()}
            lines.append("- errata: " + ", ".join(f"[{e}](errata.md#{known[e]})" for e in one.errata))
    return lines


def _row(row: Row) -> list[str]:
    low, high = row.models
    models = str(low) if low == high else f"{low} or more" if high == MANY else f"{low} to {high}"
    ways = "; ".join(f"{way.test or 'none'} ({way.when.name})" for way in row.ways)
    after = f"; then {row.after}" if row.after else ""
    beside = f"; beside it {', '.join(row.beside)}" if row.beside else ""
    return [
        str(row.number),
        plain("; ".join(row.kinds)),
        models,
        plain("; ".join(row.questions)),
        plain(ways + beside + after),
    ]
