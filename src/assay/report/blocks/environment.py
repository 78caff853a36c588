# SPDX-License-Identifier: Apache-2.0
"""What stands behind the numbers of a Record: subject, settings, readings of the sources, environment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.assess.errata import errata
from assay.assess.record import Record
from assay.core.text import counted, quoted, visible
from assay.report import sentences
from assay.report.blocks.confusion_matrix import Counts
from assay.report.estimate_rows import amount, prose


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A place where a source errs or leaves a choice, and the reading followed."""

    id: str
    title: str
    source: str
    reading: str


def title(record: Record) -> str:
    """What the Record is about."""
    plan = record["plan"]
    if planned := plan.get("declared", {}).get("plan", {}).get("title"):
        return sentences.planned_title(prose(planned), visible(plan.get("model") or ""))
    data = plan.get("data", {})
    # Only a file has a name worth a title; "the given columns" would not tell two reports apart.
    name = visible(data["from"]) if data.get("format") else None
    return sentences.title(name, rows(record))


def rows(record: Record) -> str:
    """How many rows were assessed."""
    return counted(int(record["samples"]), "row")


def facts(record: Record, tally: Counts) -> Iterable[tuple[str, str]]:
    """What a reader asks first."""
    plan = record["plan"]
    data = plan.get("data", {})
    if plan.get("given") == "plan" and data.get("format"):
        yield "data", visible(data["from"])
    yield "rows", f"{int(record['samples']):,}"
    if tally.weighted:
        yield "total weight", amount(tally.total)
    yield "classes", f"{len(tally.labels):,}"
    if record.get("positive") is not None:
        yield "positive class", visible(record["positive"])
    for role, column in data.get("columns", {}).items():
        yield f"{visible(role)} column", visible(column)
    yield "intervals", sentences.percent(float(plan["level"]))
    if plan.get("given") == "plan":
        yield "conformity", visible(record["conformity"]["overall"])
    if counted_at := record.get("environment", {}).get("counted_at"):
        yield "counted", visible(str(counted_at).replace("T", " ").replace("+00:00", " UTC"))


def settings(record: Record, tally: Counts, *, drawn: bool) -> Iterable[str]:
    """Choices that shape the numbers, as sentences."""
    plan = record["plan"]
    if drawn:
        yield prose(sentences.seeded(plan.get("intervals", {}).get("seed")))
    yield prose(sentences.policy(str(plan.get("undefined", ""))))
    if stated := plan.get("costs"):
        yield prose(sentences.costs([(quoted(truth), quoted(called), f"{cost:g}") for truth, called, cost in stated]))
    if tally.weighted:
        yield sentences.weighted_rows()


def choices(record: Record) -> Iterable[Choice]:
    """Places where a source errs or leaves a choice, and the readings followed."""
    used = set(map(str, record.get("errata", ())))
    for one in errata():
        if one.id in used:
            yield Choice(id=one.id, title=one.title, source=f"{one.source}, {one.where}", reading=one.reading)


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


def digests(record: Record) -> Iterable[tuple[str, str]]:
    """What the Record can be checked by."""
    digests = record.get("digests", {})
    yield "tallies", visible(digests.get("tallies", ""))
    yield "plan", visible(record["plan"].get("digest", ""))
    for name, found in digests.get("files", {}).items():
        yield visible(name), visible(found)
