# SPDX-License-Identifier: Apache-2.0
"""Reporting checklists of medicine, filled where a Record or its plan has the evidence and visibly empty elsewhere."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from assay.assess.record import Record
from assay.core.text import counted, listed, quoted
from assay.report import sentences
from assay.report.assessment_document import Document, read
from assay.report.estimate_rows import prose
from assay.report.render.markdown import prose as marked
from assay.report.render.markdown import table

JUDGE: Final = (
    "The others are for the authors. What is shown helps to answer an item; whether it does is for a reader to judge."
)
EMPTY: Final = "☐ *not in the Record*"
SILENT: Final = ("no-evidence", "n/a")
"""Verdicts of controls that found nothing to tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item, what it asks for, and where a Record answers it."""

    id: str
    part: str
    asks: str
    shown: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """A published checklist in our own words."""

    name: str
    about: str
    note: str
    items: tuple[Item, ...]


@cache
def checklist(name: str) -> Checklist:
    """A checklist by its short name.

    >>> checklist("claim").name, len(checklist("claim").items)
    ('CLAIM', 44)
    """
    text = files("assay.report.export").joinpath("checklists", f"{name}.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    items = (Item(**{**one, **{k: tuple(one.get(k, ())) for k in ("shown", "stated")}}) for one in content["items"])
    return Checklist(name=content["name"], about=content["about"], note=content["note"], items=tuple(items))


def render(record: Record, *, name: str) -> str:
    """A filled checklist as Markdown."""
    found, document = checklist(name), read(record)
    rows, filled = [], 0
    for item in found.items:
        answers = list(_answers(item, record, document))
        filled += bool(answers)
        rows.append([item.id, marked(item.part), marked(item.asks), "<br>".join(map(marked, answers)) or EMPTY])
    lines = [
        f"# {marked(found.name)}: {marked(document.title)}",
        "",
        f"{marked(found.about)}.",
        marked(found.note),
        "",
        f"A Record or its plan has something to show for {filled} of {counted(len(found.items), 'item')}. {JUDGE}",
        "",
        *table(["item", "part", "asks for", "what the Record shows"], rows, align="llll"),
    ]
    return "\n".join(lines) + "\n"


def tripod_ai(record: Record) -> str:
    """TRIPOD+AI, filled."""
    return render(record, name="tripod-ai")


def stard_ai(record: Record) -> str:
    """STARD-AI, filled."""
    return render(record, name="stard-ai")


def claim(record: Record) -> str:
    """CLAIM, filled."""
    return render(record, name="claim")


def _answers(item: Item, record: Record, document: Document) -> Iterator[str]:
    for name in item.shown:
        if text := EVIDENCE[name](record, document):
            yield prose(text)
    declared = record["plan"].get("declared", {})
    for place in item.stated:
        for where, value in _declared(declared, place.split("."), ""):
            yield prose(f"{where}: {value}")


def _declared(content: object, steps: list[str], where: str) -> Iterator[tuple[str, str]]:
    """What a plan says at a place, with `*` for every name."""
    if not steps:
        if content not in (None, "", [], {}):
            yield where, _said(content)
        return
    if isinstance(content, Mapping):
        names = list(content) if steps[0] == "*" else [steps[0]] if steps[0] in content else []
        for name in names:
            yield from _declared(content[name], steps[1:], f"{where}.{name}".lstrip("."))


def _said(content: object) -> str:
    if isinstance(content, Mapping):
        return "; ".join(f"{name}: {_said(one)}" for name, one in content.items())
    if isinstance(content, list):
        return ", ".join(map(_said, content))
    return str(content)


def _source(record: Record, document: Document) -> str:
    del document
    data = record["plan"].get("data", {})
    return f"data: {data['from']}" if data.get("format") else ""


def _classes(record: Record, document: Document) -> str:
    labels = f"classes {listed(record['labels'])}"
    return f"{labels}; positive class {document.positive}" if document.positive else labels


def _missing(record: Record, document: Document) -> str:
    return f"rows without a label: {record['plan'].get('missing', '')}; {document.rows}"


def _unknown(record: Record, document: Document) -> str:
    del document
    return f"predicted labels that are no class: {record['plan'].get('unknown', '')}"


def _shares(record: Record, document: Document) -> str:
    del record
    matrix = document.matrix
    pairs = list(zip(matrix.labels, matrix.totals, strict=True))
    shown = ", ".join(f"{label} {total}" for label, total in pairs[:8])
    return f"truly {shown}" + (f" and {len(pairs) - 8} more classes" if len(pairs) > 8 else "")  # noqa: PLR2004  as above


def _performance(record: Record, document: Document) -> str:
    del record
    told = [
        f"{one.about.name} {one.shown}" + (f" ({document.level} interval {one.interval})" if one.interval else "")
        for one in document.headline
        if one.defined
    ]
    return "; ".join(told)


def _measures(record: Record, document: Document) -> str:
    del record
    told = ", ".join(one.about.name for one in document.headline)
    return f"{told}; {sum(len(family.entries) for family in document.families)} measures in all" if told else ""


def _groups(record: Record, document: Document) -> str:
    del record
    told = [f"{factor.name} ({counted(len(factor.levels) + factor.hidden, 'level')})" for factor in document.factors]
    return f"assessed by {', '.join(told)}" if told else ""


def _sites(record: Record, document: Document) -> str:
    del record
    told = [f"{one.about.name} p = {one.p}" for factor in document.factors for one in factor.spreads]
    return f"differences between sites tested: {'; '.join(told)}" if told else ""


def _plan(record: Record, document: Document) -> str:
    del document
    plan = record["plan"]
    if plan.get("given") != "plan":
        return ""
    return f"plan {quoted(plan.get('name', ''))}, SHA-256 {plan.get('sha256', '')}, fixed {plan.get('frozen_at', '')}"


def _digests(record: Record, document: Document) -> str:
    del document
    found = record.get("digests", {}).get("files", {})
    return "; ".join(f"SHA-256 of {name}: {digest}" for name, digest in list(found.items())[:4])


def _software(record: Record, document: Document) -> str:
    del document
    found = record.get("environment", {})
    packages = ", ".join(f"{name} {version}" for name, version in found.get("packages", {}).items())
    python = f"Python {found['python']}" if "python" in found else ""
    told = ", ".join(filter(None, (python, packages)))
    return f"assessed with {told}" if told else ""


def _mistakes(record: Record, document: Document) -> str:
    del record
    told = [f"{one.truth} called {one.predicted}: {one.count} ({one.share})" for one in document.mistakes[:3]]
    return f"most frequent mistakes: {'; '.join(told)}" if told else ""


def _dates(record: Record, document: Document) -> str:
    del record
    told = [f"{one.name} {one.begins} to {one.ends}" for one in document.sources.splits if one.begins]
    return f"first and last sample: {'; '.join(told)}" if told else ""


def _splits(record: Record, document: Document) -> str:
    del record
    told = [f"{one.name} {one.rows} rows ({one.classes})" for one in document.sources.splits]
    return f"counted: {'; '.join(told)}" if told else ""


def _found(*checks: str) -> Callable[[Record, Document], str]:
    """What controls found, by their names."""

    def told(record: Record, document: Document) -> str:
        del record
        controls = document.statement.controls if document.statement is not None else ()
        ran = [one for one in controls if one.name.partition(":")[0] in checks and one.verdict not in SILENT]
        return "; ".join(f"{one.name} {one.verdict}: {one.says}" for one in ran)

    return told


def _findings(record: Record, document: Document) -> str:
    del record
    made = document.contests.made if document.contests is not None else ()
    return " ".join(one.sentence for part in made for one in part.findings[:4])


EVIDENCE: Final[Mapping[str, Callable[[Record, Document], str]]] = {
    "source": _source,
    "classes": _classes,
    "size": lambda record, _: f"{int(record['samples']):,} rows assessed",
    "missing": _missing,
    "unknown": _unknown,
    "flow": lambda _, document: document.rows,
    "shares": _shares,
    "matrix": lambda _, document: f"confusion matrix of {counted(document.k, 'class', 'classes')} in the report",
    "performance": _performance,
    "measures": _measures,
    "intervals": lambda _, document: sentences.joined([name for name, _ in document.methods]),
    "groups": _groups,
    "sites": _sites,
    "plan": _plan,
    "digests": _digests,
    "software": _software,
    "mistakes": _mistakes,
    "dates": _dates,
    "splits": _splits,
    "overlap": _found("CHK-OVERLAP", "CHK-GROUP"),
    "shifts": _found("CHK-CLASS-DIST", "CHK-RANGE"),
    "agreement": _found("CHK-ANNOTATOR"),
    "power": _found("CHK-POWER"),
    "findings": _findings,
    "remarks": lambda _, document: " ".join(one.sentence for one in document.remarks),
}
"""What a Record shows of itself; an empty text where it shows nothing."""
