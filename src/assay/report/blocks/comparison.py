# SPDX-License-Identifier: Apache-2.0
"""Comparisons of models as blocks, by themselves or of a plan, read from a Record and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from assay.assess.decide.plan_results import comparison_records
from assay.assess.record.record import Record
from assay.core import blocks as tree
from assay.core.blocks import Block, Card, Cell, Chart, Figure, Item, Paragraph, Reach, Table, section, table
from assay.core.blocks.estimate_rows import Entry, about, entry, prose, real, spoken
from assay.core.blocks.lead import Lead, Remark
from assay.core.task import find_task
from assay.core.text import counted, figure, percent, visible
from assay.report import sentences
from assay.report.blocks.background import background_blocks
from assay.report.blocks.decisions import decision_blocks, verdicts
from assay.report.blocks.findings import FindingText, is_margin
from assay.report.sections import Report

MOST_NAMED: Final = 3
COST: Final = "mean cost"
"""What a finding about stated costs is about, as it is spoken."""
RIGHT: Final = "both right"
VALUES: Final = "values"
"""What a Record of plain values of models has in place of a task."""
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


class Compared:
    """What the sections of a comparison share, from its Record."""

    def __init__(self, record: Record) -> None:
        self.record, self.findings = record, tuple(map(FindingText, record["findings"]))
        self.level = percent(float(record["plan"]["level"]))
        self.task = find_task(str(record["task"])) if record["task"] != VALUES else None
        self.lead = self.task.lead(record) if self.task is not None else Lead()


def comparison_report(record: Record) -> Report:
    """The report of a Record of the kind comparison."""
    made, decided = Compared(record), verdicts(record)
    models = [visible(model) for model in record["models"]]
    more = f" and {len(models) - MOST_NAMED} more" if len(models) > MOST_NAMED else ""
    labels = [sentences.sentence(prose(answer.get("label") or "")) for answer in record["answers"]]
    labels += [finding.label for finding in made.findings]
    seen = [
        section("glance", "At a glance", _glance_blocks(made), reach=Reach.FULL),
        section("decisions", "Decisions", decision_blocks(decided)),
        section("findings", "What was found", _finding_blocks(made)),
        section("ranks", "Mean ranks", _rank_blocks(record)),
        section("ranking", "Ranking", map(_card, ranking_table(record))),
        section("right", "Who is right where", _right_blocks(made.findings)),
        section("values", "Each model by itself", map(_card, _value_table(made)), reach=Reach.TEXT),
        section("details", "Every finding", _detail_blocks(made), reach=Reach.REPORT),
        section("choices", "Why these tests", (Card(tuple(question_folds(record)), "folds"),)),
        *(made.task.comparison_blocks(record) if made.task is not None else ()),
        section("rows", "Row accounting and notes", _row_blocks(record), listed="Row accounting"),
    ]
    return Report(
        title=f"{' against '.join(models[:MOST_NAMED])}{more}",
        kind=f"comparison of {counted(len(models), 'model')}",
        about="",
        verdicts=decided.verdict,
        opening=_verdict_sentence(made),
        remarks=tuple(Remark("△", "warning", label) for label in dict.fromkeys(labels) if label),
        facts=tuple(_facts(made)),
        sections=tuple(seen),
    )


def _card(block: Block) -> Card:
    return Card((block,))


def _verdict_sentence(made: Compared) -> str:
    """One sentence over all models: who is best, whom it is ahead of, and who cannot be told apart from it."""
    places = made.record["ranking"]
    if len(places) < 3 or any(place["value"] is None for place in places):  # noqa: PLR2004  two have one finding
        whys = "; ".join(str(answer["why"]) for answer in made.record["answers"])
        return made.findings[0].sentence if made.findings else prose(whys or "nothing was asked")
    best, *others = places
    measure = spoken(str(best["measure"]))
    ahead = [visible(model) for model in best["ahead_of"]]
    tied = [visible(place["model"]) for place in others if visible(place["model"]) not in ahead]
    lead = f"{visible(best['model'])} is best by {measure} ({figure(float(best['value']))})"
    if not ahead:
        return prose(f"{lead}, but no test shows it to be better than another of the {len(places)} models.")
    rest = f", and not shown to differ from {_joined(tied)}" if tied else ""
    return prose(f"{lead}: ahead of {_joined(ahead)} by more than chance{rest}.")


def _joined(names: Sequence[str]) -> str:
    shown = names if len(names) <= MOST_NAMED + 1 else [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _glance_blocks(made: Compared) -> Iterator[Block]:
    """The first screen: every model and measure, differences, and the ROC curves of all models."""
    yield from map(_card, _value_table(made))
    figures: list[Block] = [
        Figure(charts=(_forest(part, made.level),), alt="Differences between models") for part in _compared_parts(made)
    ]
    figures += [Figure(charts=(curves,), alt="ROC curves of all models") for curves in made.lead.charts or ()]
    if figures:
        yield Card(tuple(figures), "glance")


def _compared_parts(made: Compared) -> list[tuple[FindingText, ...]]:
    """Differences to draw; a margin tells the same one once more, and costs have a scale of their own."""
    shown = [finding for finding in made.findings if not finding.margin and finding.bounded]
    parts = [tuple(finding for finding in shown if (finding.about == COST) is costs) for costs in (True, False)]
    return [part for part in parts if part]


def forest_of_models(record: Record) -> tuple[Chart | None, tuple[FindingText, ...]]:
    """The chart of differences, and what it shows; None where no difference has an interval."""
    made = Compared(record)
    parts = _compared_parts(made)
    return (_forest(parts[-1], made.level), parts[-1]) if parts else (None, ())


def _forest(findings: Sequence[FindingText], level: str) -> Chart:
    """Point and interval of every difference between two models, around zero."""
    by = 100.0 if all(finding.share for finding in findings) else 1.0
    alone = len({finding.pair for finding in findings}) == 1
    rows = []
    for f in findings:
        name = {"label": f.about or f.pair} if alone else {"label": f.minus or f.pair, "group": f.about or None}
        ends = {key: None if x is None else by * x for key, x in (("value", f.value), ("low", f.low), ("high", f.high))}
        p = f.adjusted or f.p
        small = f"p {'<0.001' if 'e-' in p else p}"
        text = f.effect if by > 1 or f.value is None else figure(f.value)
        rows.append({**name, **ends, "text": text, "small": small, "hollow": not f.significant})
    what = findings[0].minus if alone and findings[0].minus else "first minus second"
    unit = "points" if by > 1 else "units of the measure"
    data = {
        "title": f"Differences with {level} intervals", "x": f"{what}, {unit}", "wide": 420, "rows": rows,
        "reference": {"x": 0, "text": ""}, "note": "Filled points are significant after correction, hollow ones not.",
    }  # fmt: skip
    return Chart("intervals", (data,))


def finding_list(
    findings: Sequence[FindingText], below: Callable[[FindingText], Iterable[str]], reach: Reach = Reach.ALL
) -> tree.Bullets:
    """One sentence a finding, with what there is to say below it."""
    items = (Item(sign=f.mark, text=f.sentence, below=tuple(filter(None, below(f)))) for f in findings)
    return tree.Bullets(tuple(items), "signed", reach=reach)


def _finding_blocks(made: Compared) -> Iterator[Block]:
    if not made.findings:
        return
    yield Paragraph(sentences.SAID["marks"], "soft", reach=Reach.FULL)
    yield Card((finding_list(made.findings, lambda _: ()),), reach=Reach.FULL)
    yield finding_list(made.findings, lambda f: (f.chosen, f.power, *f.notes), Reach.DIGEST)


def rank_chart(record: Record) -> Chart | None:
    """Mean ranks, half the critical difference to each side, and letters; None for fewer than three models."""
    places = [(str(p["model"]), real(p["value"])) for p in record["ranking"] if p["measure"] == "mean rank"]
    known = [(model, rank) for model, rank in places if rank is not None]
    if len(known) < 3:  # noqa: PLR2004  two models need no diagram
        return None
    pairs = [f for f in record["findings"] if f["test"] in ("nemenyi", "conover") and len(f["models"]) == 2]  # noqa: PLR2004
    spans = ((real(f["effect"].get("low")), real(f["effect"].get("high"))) for f in pairs if f["test"] == "nemenyi")
    critical = next(((high - low) / 2 for low, high in spans if low is not None and high is not None), None)
    letters = _letters([model for model, _ in known], pairs)
    rows = []
    for model, rank in known:
        ends = {} if critical is None else {"low": rank - critical / 2, "high": rank + critical / 2}
        text = {"text": figure(rank, digits=2), "small": letters[model]}
        rows.append({"label": visible(model), "value": rank, **ends, **text})
    x = "mean rank" if critical is None else f"mean rank; critical difference {figure(critical, digits=2)}"
    described = "; ".join(f"{row['label']} {row['text']} {row['small']}" for row in rows)
    described += f". {sentences.SAID['tied']}"
    return tree.chart("intervals", title="Mean ranks, 1 being best", x=x, wide=420, rows=rows, described=described)


def _rank_blocks(record: Record) -> Iterator[Block]:
    if (ranks := rank_chart(record)) is not None:
        yield Card((Figure(charts=(ranks,), alt="Mean ranks", note=sentences.SAID["tied"]),), reach=Reach.FULL)


def ranking_table(record: Record) -> Iterator[Table]:
    """The models from the best to the worst."""
    rows = []
    for place in record["ranking"]:
        value, ahead = real(place["value"]), ", ".join(visible(model) for model in place["ahead_of"])
        shown = "undefined" if value is None else figure(value)
        rows.append((visible(place["model"]), shown, visible(place["measure"]), ahead or "nobody by more than chance"))
    if rows:
        heads = ("model", "name", 3), ("value", "number"), ("measure", "text", 2), ("ahead of", "prose", 3)
        yield table("Ranking", "Ranking", heads, rows)


def _right_blocks(findings: Sequence[FindingText]) -> Iterator[Block]:
    pairs: dict[str, FindingText] = {}
    for finding in findings:
        if finding.counts and finding.counts[0][0] == RIGHT:
            pairs.setdefault(f"{finding.pair}, {finding.about}", finding)
    parts: list[Block] = []
    for name, finding in pairs.items():
        heads, counts = zip(*(((what, "number", 1), n) for what, n in finding.counts), strict=True)
        parts += [tree.Heading(name, reach=Reach.DIGEST), table(name, name, heads, [counts])]
    if parts:
        yield Card(tuple(parts))


def _value_table(made: Compared) -> Iterator[Table]:
    """Every model and measure: value, interval, the best bold, and letters for what tests cannot tell apart."""
    task, models = str(made.record["task"]), list(made.record["models"])
    values: dict[str, dict[str, Entry]] = {}
    for estimate in made.record["estimates"]:
        values.setdefault(str(estimate["measure"]), {})[str(estimate["model"])] = entry(estimate, task)
    if not values:
        return
    ranked = [str(place["model"]) for place in made.record["ranking"]]
    letters = {name: _letters_by(made.record, name, ranked or models) for name in values}
    rows: list[tree.Cells] = []
    for model in sorted(models, key=lambda m: ranked.index(m) if m in ranked else len(ranked)):
        cells = []
        for name, by_model in values.items():
            if model not in by_model:
                cells.append(Cell("–", tone="soft"))
                continue
            value, known = by_model[model], [e.value for e in by_model.values() if e.value is not None]
            best = min if value.about.better.startswith("lower") else max
            strong = len(known) > 1 and value.value == best(known)
            mark = f" {letters[name][model]}" if model in letters[name] else ""
            text = f"{value.shown}{mark}" if value.defined else f"∅ {value.shown}"
            cells.append(Cell(text, below=value.short, tone="strong" if strong else ""))
        rows.append((visible(model), *cells))
    heads = ("model", "name", 2), *((about(name, task).name, "number", 2) for name in values)
    said = "; models that share a letter cannot be told apart" if any(letters.values()) else ""
    caption = f"Every model and measure with {made.level} intervals, the best in bold{said}"
    yield table("Models and measures", caption, heads, rows, small=True)


def _letters_by(record: Record, measure: str, order: Sequence[str]) -> dict[str, str]:
    """Letters by model, from the tests of a measure; nothing where none was made."""
    tests = [f for f in record["findings"] if f["about"] == measure and len(f["models"]) == 2 and not is_margin(f)]  # noqa: PLR2004
    return _letters(order, tests) if tests else {}


def _letters(order: Sequence[str], tests: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Letters by model: two models share one where no test of them is significant (Piepho 2004).

    >>> _letters("ABC", [{"models": "AC", "significant": True}])
    {'A': 'a', 'B': 'ab', 'C': 'b'}
    """
    groups = [set(order)]
    for a, b in (test["models"] for test in tests if test.get("significant")):
        parted = [g - {out} for g in groups if {a, b} <= g for out in (a, b)] + [g for g in groups if not {a, b} <= g]
        groups = [g for i, g in enumerate(parted) if not any(g < h for h in parted) and g not in parted[:i]]
    groups.sort(key=lambda group: sorted(map(order.index, group)))  # those of the best model first
    return {m: "".join(letter for letter, g in zip(LETTERS, groups, strict=False) if m in g) for m in order}


def _detail_blocks(made: Compared) -> Iterator[Block]:
    if not made.findings:
        return
    heads = (
        ("models", "name", 2), ("about", "text", 1.6), ("test", "prose", 4), ("effect", "number", 1.5),
        (f"{made.level} interval", "number", 1.5), ("p", "number"), ("corrected", "number"),
    )  # fmt: skip
    rows = []
    for finding in made.findings:
        below = "; ".join(filter(None, (finding.chosen, *finding.notes, *finding.checks, finding.power)))
        ends, adjusted = finding.interval or "–", finding.adjusted or "–"
        test = Cell(finding.test, below=below)
        rows.append((finding.pair, finding.about, test, finding.effect, ends, finding.p, adjusted))
    caption = "Test, effect, interval and p value of each question"
    yield _card(table("Every finding", caption, heads, rows, small=True))


def question_folds(record: Record, opening: str = "") -> Iterator[tree.Fold]:
    """Every question, why its test was taken, and which tests were refused."""
    for answer in record["answers"]:
        family = [visible(name) for name in answer.get("family", ())]
        together = f"{len(family)} questions corrected together: {', '.join(family)}" if len(family) > 1 else ""
        refused = tree.terms(
            ((f"not {visible(r['test'])}", prose(r["why"])) for r in answer["refused"]), "list", reach=Reach.FULL
        )
        yield tree.Fold(
            title=f"{opening}{prose(answer['question'])}",
            lead=prose(answer["why"]),
            blocks=(
                *(Paragraph(text, "soft") for text in (together, *map(prose, answer.get("notes", ()))) if text),
                refused,
            ),
        )


def _row_blocks(record: Record) -> Iterator[Block]:
    notes = list(map(prose, record.get("notes", ())))
    generator = record["environment"].get("generator")
    if generator is not None and any("seed" in note for finding in record["findings"] for note in finding["notes"]):
        seed = record["plan"].get("seed") or record["plan"].get("intervals", {}).get("seed")
        start = f"random swaps and draws start from seed {seed} of the generator {generator}"
        notes.append(prose(f"{start}: the same on every machine"))
    counts = Paragraph(prose(sentences.rows_equation(record["rows"])), "strong")
    yield Card((counts, tree.bullets(notes)) if notes else (counts,))
    digest = record["test_data"].get("digest")
    same = [("ids and truth, the same for every model", visible(digest))] if digest else []
    yield Card(tuple(background_blocks(record, same)), "folds", reach=Reach.REPORT)


def _facts(made: Compared) -> Iterable[tuple[str, str]]:
    record = made.record
    yield "rows" if record["labels"] else "values a model", f"{int(record['samples']):,}"
    yield "models", ", ".join(visible(m) for m in record["models"])
    yield from made.lead.facts
    yield "pairing", prose(record["test_data"].get("pairing") or "not stated")
    yield "correction", visible(record["plan"]["correction"])
    yield "intervals", made.level


def contests(record: Record) -> tuple[Compared, ...]:
    """The comparisons that a plan asks for, each as a comparison by itself."""
    return tuple(map(Compared, comparison_records(record))) if record["plan"].get("comparisons") else ()


def contest_blocks(record: Record) -> Iterator[Block]:
    """What tests say of the models of a plan on the same rows; nothing where there is but one model."""
    if why_not := record["plan"].get("not_compared"):
        yield Paragraph(f"No test was made: {prose(why_not)}.")
    for made in contests(record):
        yield Paragraph(sentences.SAID["marks"], "soft", reach=Reach.FULL)
        tested = finding_list(made.findings, lambda f: (f.power,))
        yield Card((tested, *ranking_table(made.record)))
        folds = question_folds(made.record, opening="Why this test: ")
        yield Card(tuple(folds), "folds", reach=Reach.REPORT)
