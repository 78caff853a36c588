# SPDX-License-Identifier: Apache-2.0
"""The errata register and the table of errors."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

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
EXITS = {
    0: "done",
    1: "a decision, gate or verification failed",
    2: "wrong usage: an option, a name or a path",
    3: "inconclusive; no command of this version decides anything",
    4: "the data are unfit; nothing was written",
    5: "a fault of assay or of the engine that holds the data",
    130: "stopped by the user",
    141: "the reader of standard output went away",
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


def errors_page(sources: Path) -> list[str]:
    """Every error code, with the classes that carry it in the source."""
    kinds = _raised(sources)
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
        raisers = sorted(kinds.get(code, ()), key=lambda kind: kind.__name__)
        shown = ", ".join(f"`assay.{kind.__name__}`" for kind in raisers) or "nothing yet"
        exits = ", ".join(sorted({str(kind.exit_code) for kind in raisers})) or "none"
        lines += ["", f"## {code}", "", said, "", f"- raised as: {shown}", f"- exit code: {exits}"]
    return lines


def _tree() -> str:
    return (errors.__doc__ or "").partition("\n\n")[2].strip()


def _raised(sources: Path) -> dict[str, set[type[errors.AssayError]]]:
    """Code -> the classes it is raised with, read from the source."""
    kinds = {name: kind for name, kind in vars(errors).items() if _is_error(kind)}
    found: dict[str, set[type[errors.AssayError]]] = {}
    for path in sorted(sources.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
        raising = [call for call in calls if ast.unparse(call.func) in kinds]
        # A code that arrives in a variable was handed to a function of the same module, or chosen there by a test.
        handed = [arg for call in calls if call not in raising for arg in call.args]
        loose = _codes([*handed, *(node for node in nodes if isinstance(node, ast.IfExp))])
        for call in raising:
            for code in _codes([call.args[0]]) or loose:
                found.setdefault(code, set()).add(kinds[ast.unparse(call.func)])
    return found


def _codes(nodes: Iterable[ast.AST]) -> set[str]:
    inside = (leaf for node in nodes for leaf in (ast.walk(node) if isinstance(node, ast.IfExp) else [node]))
    return {str(leaf.value) for leaf in inside if isinstance(leaf, ast.Constant) and leaf.value in errors.CODES}


def _is_error(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, errors.AssayError)
