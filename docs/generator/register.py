# SPDX-License-Identifier: Apache-2.0
"""The errata register and the table of errors."""

from __future__ import annotations

from assay.app.commands.reference_commands import EXITS, find_raisers
from assay.assess.errata import Erratum, errata
from assay.core import errors
from assay.measures import REGISTRY
from generator.markdown import block, plain, sentences, table

KINDS = {
    "wrong": "wrong (refuted by mathematics or by the source's own data)",
    "clash": "clash (two places disagree)",
    "open": "open (a choice is left to the reader)",
    "ocr": "scan (the text at hand is garbled and was reconstructed)",
    "fact": "fact (a quoted figure disagrees with the literature)",
}
SEVERITIES = {
    "A": "a reported number or verdict depends on it",
    "B": "wording, labels or defaults depend on it",
    "C": "cosmetic",
}


def errata_page() -> list[str]:
    """The register, by source."""
    lines = [
        "# Errata",
        "",
        f"The sources of the measures err, contradict each other or leave a choice in {len(errata())} places.",
        "This is the register of those places, with the reading that assay follows in each.",
        "A reading may speak of parts that are not built yet; `assay measures` lists what is.",
    ]
    source = ""
    for entry in errata():
        if entry.source != source:
            source = entry.source
            count = sum(other.source == source for other in errata())
            lines += ["", f"## {source}", "", f"{count} entries."]
        lines += ["", f"### {heading(entry)}", "", *_entry(entry)]
    return lines


def heading(entry: Erratum) -> str:
    """The heading an entry stands under."""
    return f"{entry.id}: {entry.title}".replace(" - ", " minus ")  # three hyphens are one to some renderers


def competing(entry: Erratum) -> list[str]:
    """What the competing readings give, as a table; nothing where there is nothing to compare."""
    if not entry.readings:
        return []
    return ["", *table(("reading", "value"), [(plain(one.name), plain(one.value)) for one in entry.readings])]


def _entry(entry: Erratum) -> list[str]:
    concerned = [m for m in REGISTRY if entry.id in m.errata]
    rows = [
        ("where", plain(entry.where)),
        ("kind", "; ".join(KINDS[kind] for kind in entry.kinds)),
        ("weight", SEVERITIES[entry.severity]),
        ("measures", ", ".join(f"[{m.name}](measures/{m.name}.md)" for m in concerned)),
    ]
    lines = table(("fact", "value"), rows)
    for name, text in {"Problem": entry.problem, "Proof": entry.proof, "Reading": entry.reading}.items():
        first, *rest = sentences(plain(text))
        lines += ["", f"**{name}.** {first}", *rest]
    return [*lines, *competing(entry)]


def errors_page() -> list[str]:
    """Every error code, with the classes that carry it in the source."""
    lines = [
        "# Errors",
        "",
        "Every error has a code and says what is wrong, where, what was found, what is known and how to mend it.",
        "All offending rows are gathered first, so one run tells everything.",
        "In Python the lines are fields of the exception: `error.code`, `.what`, `.where`, `.found`, `.known`, `.fix`.",
        "On the command line they go to standard error; with `--json` the same facts go to standard output as JSON.",
        "",
        *block("text", _tree()),
        "",
        "## Exit codes",
        "",
        *table(("code", "meaning"), [(str(code), said) for code, said in EXITS.items()]),
    ]
    for code, said in errors.CODES.items():
        raisers = find_raisers(code)
        shown = ", ".join(f"`assay.{kind.__name__}`" for kind in raisers) or "nothing yet"
        exits = ", ".join(sorted({str(kind.exit_code) for kind in raisers})) or "none"
        lines += ["", f"## {code}", "", said, "", f"- raised as: {shown}", f"- exit code: {exits}"]
    return lines


def _tree() -> str:
    return (errors.__doc__ or "").partition("\n\n")[2].strip()
