# SPDX-License-Identifier: Apache-2.0
"""Reporting checklists of medicine, filled where a Record or its plan has the evidence and visibly empty elsewhere."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.blocks.estimate_rows import about, prose
from assay.core.text import chance_shown, counted, quoted, visible
from assay.report.blocks.background import fact_text, splits, stated_facts, title
from assay.report.blocks.comparison import contests
from assay.report.blocks.conformity import control_name, is_stated
from assay.report.render.markdown import prose as marked
from assay.report.render.markdown import table
from assay.report.report_document import Document
from assay.report.sentences import SAID, rows_equation

MOST_FILES: Final = 4
EMPTY: Final = "☐ *not in the Record*"
SILENT: Final = ("no-evidence", "n/a")
"""Verdicts of controls that found nothing to tell."""


@cache
def checklist(name: str) -> dict[str, Any]:
    """A published checklist in our own words: what each item asks for, and where a Record or a plan answers it.

    >>> checklist("claim")["name"], len(checklist("claim")["items"])
    ('CLAIM', 44)
    """
    text = files("assay.report.export").joinpath("checklists", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def render(record: Record, *, name: str) -> str:
    """A filled checklist as Markdown."""
    chosen, document = checklist(name), Document(record)
    rows, filled = [], 0
    for item in chosen["items"]:
        answers = list(_answers(item, document))
        filled += bool(answers)
        texts = (item["part"], item["asks"])
        rows.append([item["id"], *map(marked, texts), "<br>".join(map(marked, answers)) or EMPTY])
    lines = [
        f"# {marked(chosen['name'])}: {marked(title(record))}",
        "",
        f"{marked(chosen['about'])}.",
        marked(chosen["note"]),
        "",
        f"A Record or its plan has something to show for {filled} of {counted(len(rows), 'item')}. {SAID['checklist']}",
        "",
        *table(["item", "part", "asks for", "what the Record shows"], rows, align="llll"),
    ]
    return "\n".join(lines) + "\n"


def _answers(item: Mapping[str, Any], document: Document) -> Iterator[str]:
    for name in item.get("shown", ()):
        if text := EVIDENCE[name](document) if name in EVIDENCE else document.task.evidence(document.record, name):
            yield prose(text)
    declared = document.record["plan"].get("declared", {})
    for place in item.get("stated", ()):
        for where, value in _declared(declared, place.split("."), ""):
            yield prose(f"{where}: {value}")


def _declared(content: object, steps: list[str], where: str) -> Iterator[tuple[str, str]]:
    """What a plan says at a place, with `*` for every name."""
    if not steps:
        if content not in (None, "", [], {}):
            stated = stated_facts(content) if isinstance(content, Mapping) else ()
            yield where, "; ".join(map(": ".join, stated)) or fact_text(content)
        return
    if isinstance(content, Mapping):
        names = list(content) if steps[0] == "*" else [steps[0]] if steps[0] in content else []
        for name in names:
            yield from _declared(content[name], steps[1:], f"{where}.{name}".lstrip("."))


def _performance(a: Document) -> str:
    return "; ".join(
        f"{value.about.name} {value.shown}" + (f" ({a.level} interval {value.interval})" if value.interval else "")
        for value in a.headline
        if value.defined
    )


def _measures(a: Document) -> str:
    names = ", ".join(value.about.name for value in a.headline)
    return f"{names}; {len(a.estimates.whole)} measures in all" if names else ""


def _listed(opening: str, parts: Iterable[str], between: str = "; ") -> str:
    """A sentence about several things; nothing where there are none."""
    text = between.join(parts)
    return f"{opening}{text}" if text else ""


def _groups(a: Document) -> str:
    names = (f"{factor.name} ({counted(len(factor.levels) + factor.hidden, 'level')})" for factor in a.factors)
    return _listed("assessed by ", names, ", ")


def _sites(a: Document) -> str:
    task, leading = str(a.record["task"]), {value.about.measure for value in a.headline}
    tests = [test for test in a.record.get("heterogeneity", ()) if test["measure"] in leading]
    shown = (f"{about(test['measure'], task).name} p = {chance_shown(float(test['p']))}" for test in tests)
    return _listed("differences between sites tested: ", shown)


def _plan(a: Document) -> str:
    plan = a.record["plan"]
    if plan.get("given") != "plan":
        return ""
    return f"plan {quoted(plan.get('name', ''))}, SHA-256 {plan.get('sha256', '')}, fixed {plan.get('frozen_at', '')}"


def _software(a: Document) -> str:
    kept = a.record.get("environment", {})
    packages = ", ".join(f"{name} {version}" for name, version in kept.get("packages", {}).items())
    python = f"Python {kept['python']}" if "python" in kept else ""
    return _listed("assessed with ", filter(None, (python, packages)), ", ")


def _controls(*checks: str) -> Callable[[Document], str]:
    """What controls found, by their names."""

    def answer(a: Document) -> str:
        controls = a.record.get("controls", ()) if is_stated(a.record) else ()
        ran = [c for c in controls if c["check"] in checks and c["verdict"] not in SILENT]
        return "; ".join(f"{control_name(c)} {c['verdict']}: {c['says']}" for c in ran)

    return answer


def _findings(a: Document) -> str:
    return " ".join(finding.sentence for part in contests(a.record) for finding in part.findings[:4])


def _missing(a: Document) -> str:
    stated, counted_rows = a.record["plan"].get("missing"), rows_equation(a.record["rows"])
    return f"rows without a label: {stated}; {counted_rows}" if stated else counted_rows


EVIDENCE: Final[Mapping[str, Callable[[Any], str]]] = {
    "source": lambda a: f"data: {data['from']}" if (data := a.record["plan"].get("data", {})).get("format") else "",
    "size": lambda a: f"{int(a.record['samples']):,} rows assessed",
    "missing": _missing,
    "flow": lambda a: rows_equation(a.record["rows"]),
    "performance": _performance,
    "measures": _measures,
    "intervals": lambda a: ", ".join(map(visible, a.estimates.methods)),
    "groups": _groups,
    "sites": _sites,
    "plan": _plan,
    "digests": lambda a: "; ".join(
        f"SHA-256 of {name}: {digest}"
        for name, digest in islice(a.record.get("digests", {}).get("files", {}).items(), MOST_FILES)
    ),
    "software": _software,
    "dates": lambda a: _listed(
        "first and last sample: ", (f"{s.name} {s.begins} to {s.ends}" for s in splits(a.record) if s.begins)
    ),
    "splits": lambda a: _listed("counted: ", (f"{s.name} {s.rows} rows ({s.classes})" for s in splits(a.record))),
    "overlap": _controls("CHK-OVERLAP", "CHK-GROUP"),
    "shifts": _controls("CHK-CLASS-DIST", "CHK-RANGE"),
    "agreement": _controls("CHK-ANNOTATOR"),
    "power": _controls("CHK-POWER"),
    "findings": _findings,
    "remarks": lambda a: " ".join(remark.sentence for remark in a.remarks()),
}
"""What a Record shows of itself; an empty text where it shows nothing."""
