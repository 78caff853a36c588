# SPDX-License-Identifier: Apache-2.0
"""A comparison of models as blocks, read from its Record and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from assay.assess.record.record import Record
from assay.core.blocks import (
    Block,
    Bullets,
    Card,
    Cell,
    Chart,
    Figure,
    Fold,
    Heading,
    Item,
    Paragraph,
    Reach,
    Section,
    Table,
    bullets,
    columns,
    row_of,
    section,
    terms,
)
from assay.core.task import find_task
from assay.core.text import counted, figure, visible
from assay.report import sentences
from assay.report.blocks.decisions import decision_blocks, verdicts
from assay.report.blocks.environment import background_blocks
from assay.report.blocks.findings import FindingText, Ranks, finding_text, mean_ranks
from assay.report.estimate_rows import prose, real
from assay.report.sections import Report

MOST_NAMED: Final = 3
COST: Final = "mean cost"
"""What a finding about stated costs is about, as it is spoken."""
RIGHT: Final = "both right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What the sections of a comparison share."""

    record: Record
    findings: tuple[FindingText, ...]
    ranking: tuple[tuple[str, str, str, str], ...]
    level: str

    @property
    def ranks(self) -> Ranks | None:
        """Mean ranks, where at least three models have them."""
        return mean_ranks(self.record)


def compared(record: Record) -> Compared:
    """What a Record of the kind comparison says."""
    return Compared(
        record=record,
        findings=tuple(finding_text(finding) for finding in record["findings"]),
        ranking=tuple(_ranking(record)),
        level=sentences.percent(float(record["plan"]["level"])),
    )


def comparison_report(record: Record) -> Report:
    """The report of a Record of the kind comparison."""
    made, decided = compared(record), verdicts(record)
    models = [visible(model) for model in record["models"]]
    more = f" and {len(models) - MOST_NAMED} more" if len(models) > MOST_NAMED else ""
    seen = [
        section("decisions", "Decisions", decision_blocks(decided) if decided is not None else ()),
        section("findings", "What was found", _finding_blocks(made)),
        section("ranks", "Mean ranks", _rank_blocks(made)),
        section("ranking", "Ranking", (Card(tuple(ranking_table(made.ranking))),) if made.ranking else ()),
        section("right", "Who is right where", _right_blocks(made.findings)),
        section("values", "Each model by itself", _value_blocks(made), reach=Reach.REPORT),
        section("details", "Every finding", _detail_blocks(made), reach=Reach.REPORT),
        section("choices", "Why these tests", (Card(tuple(question_folds(record)), "folds"),)),
        *_task_sections(record),
        section("rows", "Row accounting and notes", _row_blocks(record), listed="Row accounting"),
    ]
    return Report(
        title=f"{' against '.join(models[:MOST_NAMED])}{more}",
        kind=f"comparison of {counted(len(models), 'model')}",
        about="",
        level=made.level,
        verdicts=(decided.verdict,) if decided is not None else (),
        opening=made.findings[0].sentence if made.findings else _none(record),
        remarks=(),
        facts=tuple(_facts(record)),
        sections=tuple(part for part in seen if part.blocks),
    )


def _task_sections(record: Record) -> Iterator[Section]:
    """Sections of the task itself, where it is not classification."""
    if record["task"] not in ("binary", "multiclass", "values"):
        yield from find_task(str(record["task"])).comparison_blocks(record)


def finding_list(findings: Sequence[FindingText], *, powered: bool = False) -> Bullets:
    """One sentence a finding, with its warning and, where asked for, what could have been detected."""
    return Bullets(
        tuple(
            Item(
                sign=finding.mark,
                text=finding.sentence,
                label=finding.label,
                below=(finding.power,) if powered and finding.power else (),
            )
            for finding in findings
        ),
        "signed",
    )


def _finding_blocks(made: Compared) -> Iterator[Block]:
    if not made.findings:
        return
    yield Paragraph(sentences.MARKS_SAID, "soft", reach=Reach.FULL)
    yield Card((finding_list(made.findings),), reach=Reach.FULL)
    detailed = (
        Item(
            sign=finding.mark,
            text=finding.sentence,
            label=finding.label,
            below=tuple(filter(None, (finding.chosen, finding.power, *finding.notes))),
        )
        for finding in made.findings
    )
    yield Bullets(tuple(detailed), "signed", reach=Reach.DIGEST)
    # A margin tells the same difference once more, and costs have a scale on which shares would look like nothing.
    shown = [finding for finding in made.findings if not finding.margin and finding.bounded]
    parts = [tuple(finding for finding in shown if (finding.about == COST) is costs) for costs in (True, False)]
    charts = tuple(Chart("differences", (part, made.level)) for part in parts if part)
    if charts:
        note = "The numbers of the chart stand under every finding."
        yield Card((Figure(charts=charts, alt="Differences between models", look="wide", note=note),))


def _rank_blocks(made: Compared) -> Iterator[Block]:
    if made.ranks is None:
        return
    yield Paragraph("Best at the left; a bar joins models that cannot be told apart.", "soft", reach=Reach.REPORT)
    note = "The numbers of the chart stand under ranking."
    chart = Chart("critical_difference", (made.ranks,))
    yield Card((Figure(charts=(chart,), alt="Mean ranks", look="wide", note=note),))


def ranking_table(ranking: Sequence[tuple[str, str, str, str]]) -> Iterator[Table]:
    """The models from the best to the worst."""
    if ranking:
        heads = columns(("model", "name", 3), ("value", "number", 0), ("measure", "text", 2), ("ahead of", "prose", 3))
        yield Table(name="Ranking", caption="Ranking", columns=heads, rows=tuple(row_of(*place) for place in ranking))


def _right_blocks(findings: Sequence[FindingText]) -> Iterator[Block]:
    pairs: dict[str, FindingText] = {}
    for finding in findings:
        if finding.counts and finding.counts[0][0] == RIGHT:
            pairs.setdefault(f"{finding.pair}, {finding.about}", finding)
    parts: list[Block] = []
    for name, finding in pairs.items():
        heads = columns(*((what, "number", 1) for what, _ in finding.counts))
        row = row_of(*(n for _, n in finding.counts))
        parts += [
            Heading(name, reach=Reach.DIGEST),
            Table(name=name, caption=name, columns=heads, rows=(row,)),
        ]
    if parts:
        yield Card(tuple(parts))


def _value_blocks(made: Compared) -> Iterator[Block]:
    by_model: dict[str, list[Cell]] = {}
    for estimate in made.record["estimates"]:
        value, low, high = (real(estimate.get(k)) for k in ("value", "low", "high"))
        text = "∅ undefined" if value is None else figure(value)
        ends = "" if low is None or high is None else f"{figure(low)}–{figure(high)}"
        by_model.setdefault(visible(estimate["model"]), []).append(Cell(text, below=ends))
    if not by_model:
        return
    yield Paragraph(
        f"Values with {made.level} intervals; two intervals that overlap do not show that models are equal.", "soft"
    )
    measures = dict.fromkeys(visible(estimate["measure"]) for estimate in made.record["estimates"])
    heads = columns(("model", "name", 2), *((name, "number", 2) for name in measures))
    rows = tuple(row_of(model, *cells) for model, cells in by_model.items())
    caption = "Every model and measure"
    yield Card((Table(name="Each model by itself", caption=caption, columns=heads, rows=rows, small=True),))


def _detail_blocks(made: Compared) -> Iterator[Block]:
    if not made.findings:
        return
    heads = columns(
        ("models", "name", 2), ("about", "text", 1.6), ("test", "prose", 4), ("effect", "number", 1.5),
        (f"{made.level} interval", "number", 1.5), ("p", "number", 0), ("corrected", "number", 0),
    )  # fmt: skip
    rows = []
    for finding in made.findings:
        below = "; ".join(filter(None, (finding.chosen, *finding.notes, *finding.checks, finding.power)))
        ends, adjusted = finding.interval or "–", finding.adjusted or "–"
        test = Cell(finding.test, below=below)
        rows.append(row_of(finding.pair, finding.about, test, finding.effect, ends, finding.p, adjusted))
    caption = "Test, effect, interval and p value of each question"
    yield Card((Table(name="Every finding", caption=caption, columns=heads, rows=tuple(rows), small=True),))


def question_folds(record: Record, opening: str = "") -> Iterator[Fold]:
    """Every question, why its test was taken, and which tests were refused."""
    for answer in record["answers"]:
        family = [visible(name) for name in answer.get("family", ())]
        together = f"{len(family)} questions corrected together: {', '.join(family)}" if len(family) > 1 else ""
        label = sentences.sentence(prose(answer.get("label") or ""))
        refused = terms(
            ((f"not {visible(r['test'])}", prose(r["why"])) for r in answer["refused"]), "list", reach=Reach.FULL
        )
        yield Fold(
            title=f"{opening}{prose(answer['question'])}",
            lead=prose(answer["why"]),
            blocks=(
                *((Paragraph(label, "warn"),) if label else ()),
                *(Paragraph(text, "soft") for text in (together, *map(prose, answer.get("notes", ()))) if text),
                refused,
            ),
        )


def _row_blocks(record: Record) -> Iterator[Block]:
    notes = tuple(prose(note) for note in (*record.get("notes", ()), *_chance(record)))
    counts = Paragraph(prose(sentences.rows_equation(record["rows"])), "strong")
    yield Card((counts, bullets(notes)) if notes else (counts,))
    digest = record["test_data"].get("digest")
    same = [("ids and truth, the same for every model", visible(digest))] if digest else []
    yield Card(tuple(background_blocks(record, same)), "folds", reach=Reach.REPORT)


def _facts(record: Record) -> Iterable[tuple[str, str]]:
    yield "rows" if record["labels"] else "values a model", f"{int(record['samples']):,}"
    yield "models", ", ".join(visible(m) for m in record["models"])
    if record.get("positive") is not None:
        yield "positive class", visible(record["positive"])
    yield "pairing", prose(record["test_data"].get("pairing") or "not stated")
    yield "correction", visible(record["plan"]["correction"])
    yield "intervals", sentences.percent(float(record["plan"]["level"]))


def _ranking(record: Record) -> Iterable[tuple[str, str, str, str]]:
    for place in record["ranking"]:
        value = real(place["value"])
        ahead = ", ".join(visible(m) for m in place["ahead_of"]) or "nobody by more than chance"
        yield visible(place["model"]), "undefined" if value is None else figure(value), visible(place["measure"]), ahead


def _none(record: Record) -> str:
    whys = [str(one["why"]) for one in record["answers"]]
    return prose("; ".join(whys) or "nothing was asked")


def _chance(record: Record) -> Iterator[str]:
    """The seed and the generator, where chance had a part and the Record names them."""
    generator = record["environment"].get("generator")
    if generator is not None and any("seed" in note for one in record["findings"] for note in one["notes"]):
        seed = record["plan"].get("seed") or record["plan"].get("intervals", {}).get("seed")
        yield f"random swaps and draws start from seed {seed} of the generator {generator}: the same on every machine"
