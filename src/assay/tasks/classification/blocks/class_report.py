# SPDX-License-Identifier: Apache-2.0
"""What a report of classes says first, its sections, its charts by name, and what it shows reporting checklists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from assay.core.blocks import Block, Card, Cells, Chart, Paragraph, Reach, Section, chart, section, table
from assay.core.blocks.estimate_rows import Entry, about, amount, entry, no_interval, number_cell, prose, share
from assay.core.blocks.lead import Baseline, ClassSizes, Lead, Remark, Verdict
from assay.core.errors import PlanError
from assay.core.task import Drawn
from assay.core.text import counted, listed, percent, quoted, visible
from assay.tasks.classification.blocks.confusion_matrix import (
    MOST_CLASSES,
    ClassCounts,
    is_unbalanced,
    matrix,
    matrix_blocks,
    missed,
    mistakes,
    read_counts,
    worst_mistake,
)
from assay.tasks.classification.blocks.decision_point import OPTIMISTIC, Scoring, threshold_block
from assay.tasks.classification.blocks.score_figures import (
    Curve,
    count_of,
    precision_recall,
    read_bins,
    read_curves,
    roc,
)
from assay.tasks.classification.blocks.scores import reliability_chart, score_blocks

HEADLINE: Final = (
    "accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1", "f1_macro", "f1_weighted",
    "precision_macro", "recall_macro", "matthews_corrcoef", "cohen_kappa", "auroc", "average_precision", "brier_score",
    "expected_calibration_error", "auroc_macro", "log_loss_multiclass", "mean_cost",
)  # fmt: skip
UNBALANCED: Final = (
    "balanced_accuracy", "f1_macro", "matthews_corrcoef", "f1", "recall", "precision", "recall_macro",
    "precision_macro", "specificity", "cohen_kappa", "auroc", "auroc_macro", "average_precision", "accuracy",
)  # fmt: skip
"""Headlines where classes are not equally frequent: those that a large class cannot carry come first."""
NOT_BY_GROUP: Final = ("average_precision", "brier_score", "expected_calibration_error", "log_loss_multiclass")
"""Headlines that depend on how common a class is, which differs between groups by itself."""
NOT_CHARTED: Final = ("matthews_corrcoef", "cohen_kappa", "f1_weighted")
"""Headlines that say of a group what others say more plainly."""
BASELINE: Final = Baseline(measure="no_information_rate", of="accuracy", says="always the largest class")
OF_CLASS: Final = ("precision", "recall", "f1")
AVERAGED: Final = ("precision", "recall", "specificity", "f1", "jaccard")
AVERAGES: Final = {
    "macro": "every class counts the same",
    "weighted": "every class counts by its true size",
    "micro": "all classes pooled",
}
POLICIES: Final = {
    "propagate": "an average over classes is undefined when a class has no value",
    "skip": "a class without a value is left out of averages",
    "zero": "a class without a value counts as 0 in averages",
    "one": "a class without a value counts as 1 in averages",
}
"""What an undefined class value does to an average."""
WEIGHTED: Final = "Rows are weighted: counts are sums of weights, and intervals rest on how unequal the weights are."
DRAWN: Final = {"roc": roc, "precision_recall": precision_recall}
"""Charts of curves that are asked for by name."""
MOST_ROWS: Final = 200
MOST_COSTS: Final = 12
MOST_SHARES: Final = 8


class ClassRecord:
    """A Record of an assessment of classes, read once."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.record, self.task = record, str(record["task"])
        self.tally = read_counts(record["tallies"]["confusion"])
        self.level = percent(float(record["plan"]["level"]))
        self.scoring = Scoring(record, self.level, self.tally.unit) if record.get("scores") else None
        self.called = bool(record["plan"].get("scores", {}).get("decided") != "none")
        """Whether rows have predicted labels; scores alone make none."""
        self.positive = quoted(record["positive"]) if record.get("positive") is not None else ""
        estimates = (e for e in record["estimates"] if e.get("slice") is None and e.get("class") is None)
        self.whole: dict[str, Mapping[str, Any]] = {str(e["measure"]): e for e in estimates}
        base = self.entry(BASELINE.measure)
        self.baseline = base if base is not None and base.defined else None
        """What calling every row the largest class would reach."""

    def entry(self, measure: str) -> Entry | None:
        """An estimate of all rows and classes together, ready to be shown."""
        return entry(self.whole[measure], self.task) if measure in self.whole else None


def class_lead(record: Mapping[str, Any]) -> Lead:
    """What a report of classes says first; of a comparison the curves of all models."""
    if record["kind"] == "comparison":
        curves = read_curves(record)
        return Lead(charts=(roc(curves),) if curves else (), facts=tuple(_positive_fact(record)))
    read = ClassRecord(record)
    tally, k = read.tally, len(read.tally.labels)
    first = (matrix(tally), Paragraph(worst_mistake(tally), "soft")) if read.called else ()
    return Lead(
        kind="binary" if record["task"] == "binary" else f"multi-class, {counted(k, 'class', 'classes')}",
        about=f"positive class {read.positive}" if read.positive else "",
        opening=_opening(read),
        badges=tuple(_badges(read)),
        remarks=tuple(_remarks(read)),
        facts=tuple(_facts(read)),
        choices=tuple(_choices(read)),
        headline=HEADLINE,
        order=UNBALANCED if is_unbalanced(tally) else (),
        baseline=BASELINE,
        of_class=OF_CLASS,
        classes=_sizes(tally),
        not_by_group=NOT_BY_GROUP,
        not_charted=NOT_CHARTED,
        first=first,
        charts=tuple(_first_charts(read)),
        opened=False,
    )


def _sizes(tally: ClassCounts) -> ClassSizes:
    counts = {tally.unit: tally.actual, "predicted": tally.called, "right": tally.hits}
    sizes = {name: [amount(n) for n in column] for name, column in counts.items()}
    listed, plotted = tally.largest(MOST_ROWS), tally.largest(MOST_CLASSES)
    return ClassSizes(labels=tally.labels, listed=listed, plotted=plotted, sizes=sizes)


def _first_charts(read: ClassRecord) -> Iterator[Chart]:
    """The ROC curve with the decision in force, and reliability."""
    scoring = read.scoring
    if scoring is not None and scoring.curves:
        yield roc(scoring.curves, scoring.place, read.level)
        if (reliability := reliability_chart(scoring)) is not None:
            yield reliability


def _facts(read: ClassRecord) -> Iterator[tuple[str, str]]:
    """The total weight where rows are weighted, the classes, and the positive one."""
    if read.tally.weighted:
        yield "total weight", amount(read.tally.total)
    yield "classes", f"{len(read.tally.labels):,}"
    yield from _positive_fact(read.record)


def _positive_fact(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if record.get("positive") is not None:
        yield "positive class", visible(record["positive"])


def _badges(read: ClassRecord) -> Iterator[Verdict]:
    """Whether the baseline is beaten, and what is missed."""
    if not read.called:
        return
    accuracy, baseline = read.entry(BASELINE.of), read.baseline
    if accuracy is not None and accuracy.defined and baseline is not None:
        yield _against_baseline(accuracy, baseline)
    if (lost := missed(read.tally, read.record.get("positive"))) is not None:
        yield lost


def _against_baseline(accuracy: Entry, baseline: Entry) -> Verdict:
    """Whether accuracy is above what always calling the most frequent class would give, by its interval."""
    value, floor = accuracy.value or 0.0, baseline.value or 0.0
    low, high = (value if end is None else end for end in (accuracy.low, accuracy.high))
    if low > floor:
        return Verdict("✓", "beats the baseline", "good")
    return Verdict("✗", "worse than the baseline" if high < floor else "not shown to beat the baseline", "bad")


def _opening(read: ClassRecord) -> str:
    """The first sentence: how many rows were classified rightly, how sure that is, and against what."""
    rows = counted(int(read.record["samples"]), "row")
    accuracy, baseline = read.entry(BASELINE.of), read.baseline
    if accuracy is None:
        return f"{rows} were assessed on {counted(len(read.whole) or len(read.record['estimates']), 'measure')}."
    if not accuracy.defined:
        return f"{rows} were assessed; accuracy is undefined: {accuracy.reason}."
    of = f"a total weight of {amount(read.tally.total)} on {rows}" if read.tally.weighted else rows
    right = amount(sum(read.tally.hits))
    trivial = f"; always calling the most frequent class would give {baseline.shown}" if baseline is not None else ""
    sure = (
        f", {read.level} interval {accuracy.interval}" if accuracy.interval else f" ({no_interval(accuracy.missing)})"
    )
    verb = "was" if right == "1" else "were"
    return f"Of {of}, {right} {verb} classified rightly: accuracy {accuracy.shown}{sure}{trivial}."


def _remarks(read: ClassRecord) -> Iterator[Remark]:
    """Classes that never occur, thresholds that flatter, and weights."""
    tally = read.tally
    absences = (("never predicted", tally.called), ("never true", tally.actual)) if read.called else ()
    for word, margin in absences:
        absent = [label for label, n in zip(tally.labels, margin, strict=True) if not n]
        if absent:
            was = "was" if len(absent) == 1 else "were"
            verb = "never occurred in truth" if word == "never true" else f"{was} never predicted"
            said = f"{counted(len(absent), 'class', 'classes')} {verb}: {listed(absent)}."
            yield Remark(sign="∅", word=word, sentence=prose(said))
    for point in read.record.get("operating_points", ()):
        if point.get("optimistic"):
            said = f"The threshold {point['threshold']:.6g} was {OPTIMISTIC}."
            yield Remark(sign="△", word="optimistic threshold", sentence=said)
    if tally.weighted:
        yield Remark(sign="△", word="weighted", sentence=WEIGHTED)


def _choices(read: ClassRecord) -> Iterator[str]:
    """How averages take undefined values, stated costs, and weights."""
    plan = read.record["plan"]
    if policy := plan.get("undefined"):
        yield prose(f"{POLICIES.get(policy, policy).capitalize()}.")
    if stated := plan.get("costs"):
        some = ", ".join(
            f"{quoted(truth)} called {quoted(called)} {cost:g}" for truth, called, cost in stated[:MOST_COSTS]
        )
        rest = f" and {len(stated) - MOST_COSTS:,} more, in the Record" if len(stated) > MOST_COSTS else ""
        yield prose(f"Stated costs of a row: {some}{rest}; any other costs nothing.")
    if read.tally.weighted:
        yield WEIGHTED


def class_sections(record: Mapping[str, Any]) -> Iterator[Section]:
    """The threshold, the matrix as Schlosser draws it, averages, and scores with their curves."""
    read = ClassRecord(record)
    if read.scoring is not None:
        yield section("moving", "Move the threshold", threshold_block(read.scoring))
    if read.called:
        yield section("matrix", "Confusion matrix", matrix_blocks(read.tally))
    yield section("averages", "Averages over classes", _average_blocks(read), listed="Averages", after="classes")
    if read.scoring is not None:
        yield section("scores", "Scores and thresholds", score_blocks(read.scoring), after="groups")


def _average_blocks(read: ClassRecord) -> Iterator[Block]:
    """Measures averaged over classes in several ways, side by side."""
    rows: list[Cells] = []
    for base in AVERAGED:
        ways = {way: value for way in AVERAGES if (value := read.entry(f"{base}_{way}")) is not None}
        if len(ways) > 1:
            cells = (replace(number_cell(ways.get(way)), why="") for way in AVERAGES)
            rows.append((about(base, read.task).name, *cells))
    if rows:
        meant = "; ".join(f"{way}: {what}" for way, what in AVERAGES.items())
        yield Paragraph(f"{meant}.", "soft", reach=Reach.REPORT)
        heads = ("measure", "text", 3), *((way, "number", 2) for way in AVERAGES)
        caption = f"Averages over classes with {read.level} intervals"
        yield Card((table("Macro, weighted and micro averages", caption, heads, rows, look="flat"),))


def class_plot(record: Mapping[str, Any], name: str) -> Drawn | None:
    """The chart of a name; None where the Record has no such."""
    if record["kind"] == "comparison":
        curves = read_curves(record)
        return (roc(curves), _curve_rows(curves, "roc")) if name == "roc" and curves else None
    read = ClassRecord(record)
    if name == "confusion":
        return _confusion(read)
    if read.scoring is None or not read.scoring.curves:
        return None
    if name == "reliability":
        return _reliability(read.scoring)
    if name not in DRAWN:
        return None
    curves = read.scoring.curves
    return DRAWN[name](curves, read.scoring.place, read.level), _curve_rows(curves, name)


def _curve_rows(curves: Sequence[Curve], name: str) -> list[dict[str, Any]]:
    """Every point of every curve: the class or model, the threshold and the two rates."""
    rows: list[dict[str, Any]] = []
    for curve in curves:
        owner = {"model" if "model" in curve.content else "class": curve.label or None}
        for (t, tp, fp), (x, y, z) in zip(curve.cells, curve.rates, strict=True):
            if name == "roc":
                rows.append({**owner, "threshold": t, "tp": tp, "fp": fp, "fpr": x, "tpr": y})
            elif z is not None:
                rows.append({**owner, "threshold": t, "recall": y, "precision": z})
    return rows


def _reliability(scoring: Scoring) -> Drawn:
    """The share of positives by bin of predicted probability; of several classes, how often the top one is right."""
    alone = scoring.alone
    bins = alone.bins() if alone is not None else read_bins(scoring.record["scores"].get("top_label"))
    if not bins:
        raise PlanError(
            "measure-needs",
            "reliability needs probabilities, and the scores are not stated to be any",
            fix="give scores=assay.ScoreSettings(kind='probability')",
        )
    return reliability_chart(scoring), [{**one, "rows": count_of(one["rows"])} for one in bins]


def _confusion(read: ClassRecord) -> Drawn:
    """The confusion matrix: rows are what was predicted, columns what was true."""
    tally, grid = read.tally, matrix(read.tally)
    cells = {(t, p): n for t, p, n in tally.cells}
    names = [visible(label) for label in tally.labels]
    rows: list[dict[str, object]] = [
        {"truth": names[t], "predicted": names[p], "n": float(cells.get((t, p), 0)),
         "share_of_truth": share(cells.get((t, p), 0), tally.actual[t])}
        for t in range(len(names)) for p in range(len(names))
    ]  # fmt: skip
    drawn = [
        [{"text": cell.text, "share": cell.share, "tone": "" if cell.right or cell.empty else "bad"} for cell in row]
        for row in grid.rows
    ]
    title = "Confusion matrix: predicted down, true across"
    return chart("matrix", title=title, rows=grid.labels, columns=grid.labels, cells=drawn), rows


def class_evidence(record: Mapping[str, Any], item: str) -> str:
    """What a Record of classes shows of an item of a reporting checklist."""
    return EVIDENCE[item](ClassRecord(record)) if item in EVIDENCE else ""


def _classes(read: ClassRecord) -> str:
    labels = f"classes {listed(read.record['labels'])}"
    return f"{labels}; positive class {read.positive}" if read.positive else labels


def _shares(read: ClassRecord) -> str:
    grid = matrix(read.tally)
    pairs = list(zip(grid.labels, grid.totals, strict=True))
    shown = ", ".join(f"{label} {total}" for label, total in pairs[:MOST_SHARES])
    return f"truly {shown}" + (f" and {len(pairs) - MOST_SHARES} more classes" if len(pairs) > MOST_SHARES else "")


def _mistakes(read: ClassRecord) -> str:
    some = "; ".join(f"{m.truth} called {m.predicted}: {m.n} ({m.share})" for m in mistakes(read.tally)[:3])
    return f"most frequent mistakes: {some}" if some else ""


EVIDENCE: Final[Mapping[str, Callable[[ClassRecord], str]]] = {
    "classes": _classes,
    "unknown": lambda read: f"predicted labels that are not a class: {read.record['plan'].get('unknown', '')}",
    "shares": _shares,
    "matrix": lambda read: f"confusion matrix of {counted(len(read.tally.labels), 'class', 'classes')} in the report",
    "mistakes": _mistakes,
}
"""What checklists ask of classes."""
