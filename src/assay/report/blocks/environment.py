# SPDX-License-Identifier: Apache-2.0
"""What stands behind the numbers of a Record: subject, settings, readings of the sources, environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.assess.errata import errata
from assay.assess.record.record import Record
from assay.core.blocks import Block, Fold, Paragraph, Reach, Term, Terms, terms
from assay.core.blocks.estimate_rows import prose
from assay.core.text import counted, visible
from assay.report import sentences


def title(record: Record) -> str:
    """What the Record is about."""
    plan = record["plan"]
    if planned := plan.get("declared", {}).get("plan", {}).get("title"):
        model = visible(plan.get("model") or "")
        return f"{prose(planned).rstrip('.')}: model {model}" if model else prose(planned)
    data = plan.get("data", {})
    # Only a file has a name worth a title; "the given columns" would not tell two reports apart.
    return f"Assessment of {visible(data['from']) if data.get('format') else rows(record)}"


def rows(record: Record) -> str:
    """How many rows were assessed."""
    return counted(int(record["samples"]), "row")


def draws(record: Record, *, drawn: bool) -> Iterable[str]:
    """Where draws start, if there were any."""
    if drawn:
        seed = record["plan"].get("intervals", {}).get("seed")
        yield prose(f"Draws start from seed {seed}: the same on every machine.")


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
        yield Fold(
            title="Readings of the sources that were followed",
            more=str(len(readings)),
            blocks=(Paragraph(introduced, "soft"), Terms(readings, "list")),
            reach=Reach.FULL,
        )
        named = ", ".join(reading.name.partition(" ")[0] for reading in readings)
        yield Paragraph(f"Readings of the sources followed: {named}.", reach=Reach.TEXT)
    about = terms(environment(record))
    yield Fold(title="Environment", id="environment", blocks=(about,), reach=Reach.REPORT)
    checked = terms([*digests(record), *more], "code")
    yield Fold(title="Digests (SHA-256)", blocks=(checked,), reach=Reach.REPORT)


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
    kept = record.get("digests", {})
    yield "tallies", visible(kept.get("tallies", ""))
    yield "plan", visible(record["plan"].get("digest", ""))
    for name, digest in kept.get("files", {}).items():
        yield visible(name), visible(digest)
