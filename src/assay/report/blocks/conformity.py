# SPDX-License-Identifier: Apache-2.0
"""The conformity statement of a Record: rows by clause with their evidence, controls with facts, and the plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from assay.assess.conformity.clauses import profile, profiles
from assay.assess.record.record import Record
from assay.core import blocks as tree
from assay.core.blocks import Block, Card, Cell, Fold, Item, Paragraph, Reach, Row, Table, table, terms
from assay.core.blocks.estimate_rows import prose
from assay.core.blocks.lead import Verdict
from assay.core.text import counted, visible
from assay.report import sentences
from assay.report.blocks.background import OF_DATA, stated_facts

VERDICTS: Final = ("pass", "fail", "suspect", "declared", "no-evidence", "n/a")
UNMET: Final = "What wants an answer"
MOST_FACTS: Final = 6
LONGEST_FACT: Final = 120
"""A fact that is longer is cut; the Record has it whole."""
ELSEWHERE: Final = ("assay", "plan", *OF_DATA)
BAD: Final = ("fail", "suspect")
STATED: Final = "stated in the plan: "
LEADS: Final = {"plan": "plan", "precondition": "plan", "record": "measures", "measure": "measures"}
"""Where evidence of a kind stands that has no place of its own."""
Anchors: TypeAlias = Mapping[tuple[str, str], str]


def is_stated(record: Record) -> bool:
    """Whether a Record holds a conformity statement: it does where a plan was followed."""
    return bool(record.get("conformity", {}).get("rows"))


def conformity_verdict(record: Record) -> Verdict:
    """The verdict on conformity."""
    judged = record["conformity"]
    sign, tone, _ = sentences.VERDICTS.get(judged["overall"], ("○", "open", ""))
    says = f"{visible(judged.get('document', ''))}: {prose(judged.get('says', ''))}."
    return Verdict(sign, visible(judged["overall"]), tone, says, "conformity", "clause by clause")


def conformity_blocks(record: Record) -> Iterator[Block]:
    """What wants an answer, every requirement row by clause, and the supplementary rules."""
    judged, rows = record["conformity"], record["conformity"]["rows"]
    document, overall = visible(judged.get("document", "")), visible(judged["overall"])
    yield Paragraph(f"{document}: {overall}. {prose(judged.get('says', ''))}.", "strong", reach=Reach.REPORT)
    yield Paragraph(f"Conformity with {document}: {overall}", "strong", reach=Reach.BRIEF)
    deviating = [row for row in rows if visible(row["id"]) in judged.get("deviations", ())]
    decisive = (*(row for row in rows if row["strength"] == "shall"), *deviating)
    yield tree.Bullets(tuple(_item(row, brief=True) for row in decisive), "signed", reach=Reach.BRIEF)
    known = [(name, *sentences.VERDICTS[name]) for name in VERDICTS]
    counts = [(sign, name, says, int(judged["counts"][name])) for name, sign, _, says in known]
    totals = ", ".join(f"{n} {name}" for _, name, _, n in counts if n)
    yield Paragraph(f"{sum(n for *_, n in counts)} rows: {totals}", reach=Reach.BRIEF)
    yield tree.Bullets(
        tuple(Item(sign=sign, word=f"{name}:", text=f"{n} ({what})") for sign, name, what, n in counts if n),
        "signed",
        reach=Reach.TEXT,
    )
    shall = {True: (*BAD, "no-evidence"), False: BAD}
    unmet = [row for row in rows if row["verdict"] in shall[row["strength"].startswith("shall")]]
    unmet.sort(key=lambda row: (not row["strength"].startswith("shall"), row["verdict"] not in BAD))
    if unmet:
        listed = tree.Bullets(tuple(_item(row, brief=False) for row in unmet), "verdicts")
        yield Card((tree.Heading(UNMET), listed), reach=Reach.REPORT)
    filters = tuple(
        tree.Filter(style=_style(name), sign=sign, name=name, more=f"{n}, {what}")
        for sign, name, what, n in counts
        if n
    )
    yield Card(tuple(_requirements(judged, _anchors(record), filters)), "judged", reach=Reach.REPORT)
    yield Paragraph(sentences.SAID["limits"], "soft", reach=Reach.REPORT)


def _requirements(judged: Mapping[str, Any], anchors: Anchors, filters: tuple[tree.Filter, ...]) -> Iterator[Block]:
    """Every row by clause, and the rules of other sources."""
    clauses: dict[str, list[Row]] = {}
    for row in judged["rows"]:
        clauses.setdefault(visible(row["clause"]), []).append(_row(row, anchors))
    rules = str(judged.get("profile", ""))
    headed = profile(rules).headed if rules in profiles() else str  # a clause stands alone where its profile is unknown
    by_clause = [line for name, lines in clauses.items() for line in (Row(title=headed(name)), *lines)]
    caption = "Every requirement row with its verdict, the reason, and links to each piece of evidence"
    demands = _judged_table("Requirements by clause", caption, "demand, in our words", by_clause)
    yield replace(demands, filters=filters)
    if supplement := judged.get("supplement", ()):
        name, lines = "Supplementary rules", [_row(row, anchors, named=False) for row in supplement]
        others = _judged_table(name, "Rules of other sources", "rule, in our words", lines)
        yield Fold(title=name, more=f"{len(lines)}, outside the verdict", blocks=(others,))


def _judged_table(name: str, caption: str, demand: str, rows: Iterable[Row]) -> Table:
    heads = ("row", "text", 1), ("verdict", "text", 1.3), (demand, "prose", 3.4), ("why", "prose", 3.4)
    return table(name, caption, heads, rows, look="judged", small=True)


def _item(row: Mapping[str, Any], *, brief: bool) -> Item:
    """A row that wants an answer: in a line of columns, or with its place and the reason below."""
    verdict, name, demand, says = str(row["verdict"]), visible(row["id"]), prose(row["demand"]), prose(row["says"])
    word, sign = visible(verdict), _sign(verdict)
    if brief:
        why = f" Found: {says}." if verdict in BAD else ""
        return Item(sign=sign, word=f"{word:<11}", text=f"{name:<11} {demand}{why}")
    text, place = f"{visible(row['strength'])}: {demand}", _place("r", str(row["id"]))
    return Item(sign=sign, word=word, name=name, anchor=place, text=text, below=(says,), style=_style(verdict))


def _sign(verdict: str) -> str:
    return sentences.VERDICTS[verdict][0] if verdict in VERDICTS else ""


def _row(row: Mapping[str, Any], anchors: Anchors, *, named: bool = True) -> Row:
    verdict, why = str(row["verdict"]), prose(row["says"])
    links = tuple(_link(part, verdict, why, anchors) for part in row.get("evidence", ()))
    alone = len(links) == 1 and prose(row["evidence"][0]["says"]) == why and row["evidence"][0]["kind"] != "check"
    answer = prose(row["answer"]) if row.get("answer") else ""
    return tree.row_of(
        Cell(visible(row["id"]), below=visible(row["strength"])),
        _verdict_cell(verdict),
        prose(row["demand"]),
        Cell(
            why,
            below=f"answer: {answer}" if answer else "",
            anchor=links[0].anchor if alone else "",
            links=() if alone else links,
        ),
        id=_place("r", str(row["id"])) if named else "",
        style=_style(verdict),
    )


def _verdict_cell(verdict: str) -> Cell:
    return Cell(visible(verdict), _sign(verdict), tone="warn" if verdict in BAD else "")


def _link(part: Mapping[str, Any], verdict: str, why: str, anchors: Anchors) -> tree.Link:
    """A piece of evidence: a control by its name, a statement by what it says, unless the reason says the same."""
    kind, name, says = str(part["kind"]), str(part["name"]), prose(part["says"]).removeprefix(STATED)
    place = name if kind == "check" else name.partition(".")[0]
    return tree.Link(
        text=visible(name) if kind == "check" else visible(kind) if says in why else says,
        anchor=anchors.get((kind, place), LEADS.get(kind, "")),
        style="" if str(part["verdict"]) == verdict else _style(str(part["verdict"])),
    )


def control_blocks(record: Record) -> Iterator[Block]:
    """What was looked for and what was found."""
    introduced = "What was looked for and what was found; the verdicts on conformity rest on these."
    yield Paragraph(introduced, "soft")
    facts = tree.Column("facts", "prose", 3, reach=Reach.FULL)
    heads = ("control", "text", 1.6), ("verdict", "text", 1.2), ("found", "prose", 3), facts
    rows = map(_control_row, record.get("controls", ()))
    caption = "Every control that ran, with its facts and thresholds"
    yield Card((table("Controls and their facts", caption, heads, rows, look="looked", small=True),), "judged")


def _control_row(control: Mapping[str, Any]) -> Row:
    name, verdict = control_name(control), str(control["verdict"])
    thresholds = (("threshold " + k, v) for k, v in stated_facts(control.get("thresholds", {})))
    facts = [
        (label, text if len(text) <= LONGEST_FACT else f"{text[:LONGEST_FACT]}…")
        for label, text in (*stated_facts(control.get("facts", {})), *thresholds)
    ]
    if len(facts) > MOST_FACTS:
        rest = f"{counted(len(facts) - MOST_FACTS, 'fact')} more in the Record"
        facts = [*facts[:MOST_FACTS], ("and", rest)]
    return tree.row_of(
        visible(name),
        _verdict_cell(verdict),
        prose(control["says"]),
        Cell("", facts=tuple(facts)),
        id=_place("c", name),
        style=_style(verdict),
    )


def plan_blocks(record: Record) -> Iterator[Block]:
    """What was declared before the first row was counted."""
    yield Paragraph("What was declared before the first row was counted.", "soft")
    yield Card((terms((*_plan(record["plan"]), *(_ledger(record["ledger"]) if record.get("ledger") else ()))),))
    folds = []
    for name, part in _folded(record):
        content = part if isinstance(part, Mapping) else {f"{place}.": one for place, one in enumerate(part, 1)}
        pairs = tuple(stated_facts(content))
        title, more = visible(name).replace("_", " "), counted(len(pairs), "statement")
        folds.append(Fold(title=title, more=more, blocks=(terms(pairs),), id=_place("p", name)))
    yield Card(tuple(folds), "folds", reach=Reach.FULL)


def _folded(record: Record) -> list[tuple[str, Any]]:
    """The parts of a plan that stand in folds of their own."""
    declared = record["plan"].get("declared", {}).items()
    return [(str(name), part) for name, part in declared if name not in ELSEWHERE and part not in (None, {}, [])]


def _style(verdict: str) -> str:
    return f"v-{re.sub(r'[^a-z]', '', verdict)}"


def _place(kind: str, name: str) -> str:
    """The place of a row, a control or a part of the plan on the page; short, for pages hold hundreds of links."""
    own = re.sub(r"[^A-Za-z0-9]+", "-", re.sub(r"^(?:CHK|R)-", "", name))
    return f"{kind}-{own.strip('-').lower()}"


def _anchors(record: Record) -> Anchors:
    """Where on the page a piece of evidence stands, by its kind and name: controls that ran, and parts of the plan."""
    names = map(control_name, record.get("controls", ()))
    return {
        ("record", "environment"): "environment",
        ("record", "tallies"): "matrix",
        **{("check", name): _place("c", name) for name in names},
        **{("plan", name): _place("p", name) for name, _ in _folded(record)},
        **{("plan", name): "data" for name in OF_DATA},
    }


def control_name(control: Mapping[str, Any]) -> str:
    """The name of a control with the part of the data that it looked at."""
    return f"{control['check']}:{control['part']}" if control.get("part") else str(control["check"])


def _plan(plan: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    declared = plan.get("declared", {}).get("plan", {})
    for name in ("title", "version", "assessor", "date", "scope"):
        if declared.get(name):
            yield name, prose(declared[name])
    for name in ("name", "model", "split", "frozen_at", "sha256", "declared_digest"):
        if plan.get(name):
            yield name.replace("_", " "), visible(plan[name])


def _ledger(ledger: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """How often the test data were looked at, and what earlier plans said otherwise."""
    if not ledger["entered"]:
        yield "ledger", prose(f"this run was not entered: {ledger['why_not']}")
    else:
        times = counted(int(ledger["looks"]), "time")
        yield "test data looked at", prose(f"{times}, first at {ledger['first_look']} ({ledger['name']})")
    if ledger["altered_lines"]:
        yield "ledger", prose(f"lines changed or taken out: {', '.join(map(str, ledger['altered_lines']))}")
    yield "plan registered", visible(ledger["plan_registered_at"])
    for one in ledger["earlier_plans"][-MOST_FACTS:]:
        said = f"{str(one['digest'])[:16]}… of {one['at']}; changed since: {', '.join(one['changed']) or 'nothing'}"
        yield "earlier plan", prose(said)
