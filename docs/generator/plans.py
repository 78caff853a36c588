# SPDX-License-Identifier: Apache-2.0
"""The fields of a plan, and the requirements an assessment is judged by."""

from __future__ import annotations

from typing import get_origin

from assay.assess.conformity.clauses import SUPPLEMENT, Row, profile, profiles
from assay.assess.controls import CONTROLS
from assay.assess.plan.fields import Plan
from assay.assess.plan.section_fields import Section
from assay.assess.plan.template import choices, example, section_of, toml_value
from generator.markdown import plain, table

FIELD = ("field", "meaning", "example")


def plan_page() -> list[str]:
    """Every field of a plan."""
    lines = [
        "# Plan",
        "",
        "A plan is a TOML file; JSON is read into the same fields.",
        "Every field may be left out, and a key that is not listed here is an error.",
        "`assay init` writes a commented plan, `assay plan check` lists every error at once, and",
        "`assay schema --kind plan` prints the JSON Schema for editors.",
        'A statement counts only if it says something (not empty, no placeholder, not "unknown")',
        "and if the plan is signed with `plan.assessor` and `plan.date`.",
        "PF numbers are the plan fields that the [requirements](clauses.md) ask for.",
    ]
    for name, field in Plan.model_fields.items():
        section = section_of(field.annotation)
        if name == "assay":
            continue
        shown = f"[{name}.NAME]" if get_origin(field.annotation) is dict and section else f"[{name}]"
        shown = f"[{shown}]" if get_origin(field.annotation) is list else shown
        lines += ["", f"## {name}", "", f"`{shown}`: {field.description}"]
        if section is not None:
            lines += ["", *_section(section)]
            lines += _inner(section, name)
    return lines


def _section(section: type[Section]) -> list[str]:
    said = " ".join((section.__doc__ or "").split())
    tail = f" ({', '.join(section.answers)})" if section.answers else ""
    rows = []
    for name, field in section.model_fields.items():
        words = choices(field.annotation)
        meaning = f"{field.description}" + (f" One of: {', '.join(words)}." if words else "")
        inner = section_of(field.annotation)
        shown = "" if inner is not None and not field.examples else f"`{toml_value(example(field))}`"
        rows.append((f"`{name}`", plain(meaning), shown))
    return [said + tail, "", *table(FIELD, rows)]


def _inner(section: type[Section], before: str) -> list[str]:
    lines = []
    for name, field in section.model_fields.items():
        inner = section_of(field.annotation)
        if inner is not None:
            lines += ["", f"### {before}: {name}", "", *_section(inner), *_inner(inner, f"{before}: {name}")]
    return lines


def clauses_page() -> list[str]:
    """Every requirement row, by profile and clause."""
    lines = [
        "# Requirements",
        "",
        "An assessment that follows a plan is judged row by row, and every row has one of six verdicts:",
        "pass, fail, suspect (an indication that wants an answer), declared (only a statement exists),",
        "no-evidence, or n/a (what the row presupposes is ruled out, with the reason).",
        "A row is judged by all of its parts, and the worst one decides; missing evidence never improves a verdict.",
        "",
        *table(
            ("overall", "when"),
            [
                ("non-conforming", "a shall row fails"),
                ("conformity not demonstrated", "a shall row has no evidence, or a suspicion without an answer"),
                ("conforming by declaration", "some shall rows rest on a statement alone"),
                ("conforming", "every shall row passes or does not apply"),
            ],
        ),
        "",
        "Rows that are no shall make deviations when they fail; each wants a reason under `justifications`.",
        "The demands are in our own words; the document itself is the authority.",
    ]
    for name in (*profiles(), SUPPLEMENT):
        found = profile(name)
        lines += ["", f"## {found.document}", "", f"{found.title}: {len(found.rows)} rows."]
        clause = ""
        for row in found.rows:
            if name != SUPPLEMENT and row.clause != clause:
                clause = row.clause
                rows = [_row(r) for r in found.rows if r.clause == clause]
                lines += ["", f"### {found.headed(clause)}", "", *table(HEAD, rows)]
        if name == SUPPLEMENT:
            lines += ["", *table(HEAD, [_row(row) for row in found.rows])]
    return lines


def controls_page() -> list[str]:
    """Every control."""
    rows = [(one.id, plain(one.looks_for), plain(one.passes_when), str(one.clause)) for one in CONTROLS.values()]
    return [
        "# Controls",
        "",
        "A control looks for one thing in the plan, the data, the results or the machine, and says what it found.",
        "A difference counts only if it is beyond chance (Holm within the control) and as large as its threshold;",
        "the thresholds stand in the plan under [checks](plan.md#checks) and are printed with every result.",
        "[Requirements](clauses.md) name the controls they rest on.",
        "A control that is not listed here is not built yet, and a row that needs it has no evidence.",
        "",
        *table(("control", "looks for", "passes when", "clause"), sorted(rows)),
    ]


HEAD = ("row", "strength", "demand", "shown by")


def _row(row: Row) -> tuple[str, ...]:
    parts = [
        *(f"plan: `{one}`" for one in row.states),
        *(f"check: {one}" for one in row.checks),
        *(f"measure: `{'|'.join(one)}`" for one in row.measures),
        *([f"tests: {row.tests}"] if row.tests else []),
        *(f"Record: `{one}`" for one in row.record),
    ]
    applies = f" Applies to: {row.when}." if row.when else ""
    return row.id, row.strength, plain(row.says) + applies, "; ".join(parts) or "not built yet"
