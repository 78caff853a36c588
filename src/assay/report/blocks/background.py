# SPDX-License-Identifier: Apache-2.0
"""What stands behind the numbers of a Record: its data and their truth, readings of the sources, the environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from assay.assess.errata import errata
from assay.assess.record.record import Record
from assay.core import blocks as tree
from assay.core.blocks import Block, Card, Figure, Heading, Paragraph, Reach, Term, Terms, table, terms
from assay.core.blocks.estimate_rows import prose
from assay.core.text import counted, figure, visible
from assay.report import sentences

OF_DATA: Final = ("data", "ground_truth", "population", "bias")
"""Parts of a plan that say where rows and truth come from; they stand with the data."""
DAYS: Final = 366
FEW_WORDS: Final = 24
"""A statement of at most so many characters does not stand alone."""
NAMES: Final = dict(zip(OF_DATA, ("Data sets, as declared", "Ground truth", "Population", "Bias"), strict=True))


class Split(NamedTuple):
    """One data set as it was counted."""

    name: str
    rows: str
    classes: str
    begins: str
    ends: str
    missing: str
    span: tuple[float, float] | None
    """First and last moment, in years."""


def title(record: Record, units: str = "") -> str:
    """What the Record is about: its plan, its file, or how many units or rows there are."""
    plan = record["plan"]
    if planned := plan.get("declared", {}).get("plan", {}).get("title"):
        model = visible(plan.get("model") or "")
        return f"{prose(planned).rstrip('.')}: model {model}" if model else prose(planned)
    data = plan.get("data", {})
    # Only a file has a name worth a title; "the given columns" would not tell two reports apart.
    return f"Assessment of {visible(data['from']) if data.get('format') else units or rows(record)}"


def rows(record: Record) -> str:
    """How many rows were assessed."""
    return counted(int(record["samples"]), "row")


def background_blocks(record: Record, more: Iterable[tuple[str, str]] = ()) -> Iterator[Block]:
    """Readings of the sources that were followed, the environment, and what the Record can be checked by."""
    used = set(map(str, record.get("errata", ())))
    readings = tuple(
        Term(name=f"{erratum.id} {erratum.title}", text=erratum.reading, more=f"{erratum.source}, {erratum.where}")
        for erratum in errata()
        if erratum.id in used
    )
    if readings:
        introduced = "Where a source errs, clashes or leaves a choice, this is the way taken."
        yield tree.Fold(
            title="Readings of the sources that were followed",
            more=str(len(readings)),
            blocks=(Paragraph(introduced, "soft"), Terms(readings, "list")),
            reach=Reach.FULL,
        )
        named = ", ".join(reading.name.partition(" ")[0] for reading in readings)
        yield Paragraph(f"Readings of the sources followed: {named}.", reach=Reach.TEXT)
    about = terms(environment(record))
    yield tree.Fold(title="Environment", id="environment", blocks=(about,), reach=Reach.REPORT)
    kept = record.get("digests", {})
    known = (("tallies", kept.get("tallies", "")), ("plan", record["plan"].get("digest", "")))
    pairs = (*known, *kept.get("files", {}).items(), *more)
    checked = terms(((visible(name), visible(digest)) for name, digest in pairs), "code")
    yield tree.Fold(title="Digests (SHA-256)", blocks=(checked,), reach=Reach.REPORT)


def environment(record: Record) -> Iterable[tuple[str, str]]:
    """Where and with what it was computed."""
    for name, value in record.get("environment", {}).items():
        if name in ("fingerprint", "digest", "build"):  # long, and for machines; it stands in the Record
            continue
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        yield visible(str(name).replace("_", " ")), prose(shown)
    overall = record.get("conformity", {}).get("overall")
    if overall:
        yield sentences.CONFORMITY, visible(overall).removeprefix("conformity ")


def data_title(record: Record) -> str:
    """What the section of the data is called."""
    return "Data and ground truth" if _declared(record) else "Data"


def data_blocks(record: Record) -> Iterator[Block]:
    """Row accounting, where the rows come from, each data set as it was counted, and the notes."""
    counted_sets = splits(record)
    parts: list[Block] = [Paragraph(prose(sentences.rows_equation(record["rows"])), "strong")]
    if given := tuple(_given(record["plan"].get("data", {}))):
        parts.append(terms(given, reach=Reach.REPORT))
    if sum(split.span is not None for split in counted_sets) > 1:
        spans = [
            {"label": s.name, "low": s.span[0], "high": s.span[1], "text": f"{s.begins[:10]} to {s.ends[:10]}"}
            for s in counted_sets
            if s.span is not None
        ]
        told = "; ".join(f"{span['label']} from {span['text']}" for span in spans)
        times = tree.chart("intervals", title="When the rows were made", x="year", rows=spans, described=f"{told}.")
        parts.append(Figure(charts=(times,), alt="When the rows of each data set were made", look="wide"))
    if counted_sets:
        heads = (
            ("data set", "name", 1.4), ("rows", "number"), ("classes", "prose", 3), ("from", "text", 1.3),
            ("to", "text", 1.3), ("missing", "name", 1),
        )  # fmt: skip
        rows = ((s.name, s.rows, s.classes, s.begins or "–", s.ends or "–", s.missing) for s in counted_sets)
        listed = table("Data sets", "Every data set as it was counted", heads, rows)
        many = counted(len(counted_sets), "data set")
        parts.append(
            tree.Fold(title="The numbers", more=many, blocks=(listed,), open=True, named=False, reach=Reach.REPORT)
        )
    yield Card(tuple(parts))
    for name, pairs in _declared(record).items():
        yield Card((Heading(name), terms(pairs)), reach=Reach.REPORT)
    if notes := record.get("notes", ()):
        yield Card((Heading("Notes"), tree.bullets(map(prose, notes))), id="notes")


def _declared(record: Record) -> dict[str, tuple[tuple[str, str], ...]]:
    declared = record["plan"].get("declared", {})
    return {
        name: tuple(stated_facts(declared[part]))
        for part, name in NAMES.items()
        if isinstance(declared.get(part), Mapping) and declared[part]
    }


def _given(data: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if data.get("from"):
        yield "from", visible(data["from"])
    if data.get("format"):
        yield "format", visible(data["format"])
    for role, column in data.get("columns", {}).items():
        yield f"{visible(role)} column", visible(column)
    for number, option in enumerate(data.get("reading", ())):
        yield "read with" if not number else "and", prose(option)


def splits(record: Record) -> tuple[Split, ...]:
    """Every data set that a control counted."""
    manifests = (c for c in record.get("controls", ()) if c["check"] == "CHK-MANIFEST" and c.get("part"))
    return tuple(_split(name, facts) for control in manifests for name, facts in control.get("facts", {}).items())


def _split(name: str, facts: Mapping[str, Any]) -> Split:
    span = [str(moment) for moment in facts.get("span") or ()]
    begins, ends = (visible(moment.removesuffix("T00:00:00").replace("T", " ")) for moment in span or ("", ""))
    classes, missing = (
        prose(", ".join(f"{name} {int(n):,}" for name, n in (facts.get(part) or {}).items()))
        for part in ("classes", "missing")
    )
    try:
        first, last = map(datetime.fromisoformat, span)
    except ValueError:  # no times, or times of a kind that a calendar does not know
        years = None
    else:
        days = first.timetuple().tm_yday - 1, last.timetuple().tm_yday
        years = first.year + days[0] / DAYS, last.year + days[1] / DAYS
    return Split(visible(name), f"{int(facts['rows']):,}", classes, begins, ends, missing or "none", years)


def stated_facts(content: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, str]]:
    """Every statement by the names that lead to it: a sentence by itself, a few words with those beside them."""
    for name, value in content.items():
        path = " ".join(filter(None, (before, visible(str(name).replace("_", " ")))))
        parts = value.values() if isinstance(value, Mapping) else ()
        if any(isinstance(part, Mapping) or len(fact_text(part)) > FEW_WORDS for part in parts):
            yield from stated_facts(value, path)
        else:
            yield path, fact_text(value)


def fact_text(value: object) -> str:
    """Anything that a plan or a control states, as people read it.

    >>> fact_text({"blind": True, "annotators": 3}), fact_text(None)
    ('blind yes; annotators 3', 'not known')
    """
    if isinstance(value, Mapping):
        parts = (f"{visible(str(name).replace('_', ' '))} {fact_text(part)}" for name, part in value.items())
        return "; ".join(parts) or "none"
    if isinstance(value, list):
        pairs = (part.items() if isinstance(part, Mapping) else () for part in value)
        texts = (" ".join(f"{name} {fact_text(part)}" for name, part in of_one) for of_one in pairs)
        return prose(", ".join(text or str(part) for text, part in zip(texts, value, strict=True))) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return figure(value)
    return "not known" if value is None else prose(value).removesuffix("T00:00:00")
