# SPDX-License-Identifier: Apache-2.0
"""Scores and thresholds as blocks: curves, reliability, decision curves, and the declared operating points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from assay.core.blocks import (
    Block,
    Card,
    Cell,
    Chart,
    Column,
    Figure,
    Fold,
    Heading,
    Paragraph,
    Reach,
    Table,
    Threshold,
    columns,
    number_table,
    row_of,
)
from assay.core.text import counted
from assay.report import sentences_scores as sentences
from assay.report.blocks.calibration import Bin
from assay.report.blocks.curves import Curve, Scoring, Side

CELLS: Final = ("TP", "FP", "FN", "TN", "recall", "specificity", "precision")
BINNED: Final = "points on the dashed line are calibrated; bars show how many rows each bin holds"


def score_blocks(scoring: Scoring, level: str, unit: str) -> Iterator[Block]:
    """The whole section; `unit` is what cells count."""
    yield Paragraph(scoring.said)
    shown = sum(not curve.pooled for curve in scoring.curves)
    more = [sentences.shaded(level)] if scoring.band else []
    if scoring.hidden:
        more.append(
            f"{counted(shown, 'class', 'classes')} shown; the Record has the curves of {scoring.hidden:,} more."
        )
    if more:
        yield Paragraph(" ".join(more), "soft", reach=Reach.FULL)
    yield from _threshold(scoring, unit)
    yield from _several(scoring, level, unit) if len(scoring.curves) > 1 else _single(scoring)
    yield from _gains(scoring, unit)
    yield from _calibration(scoring, level, unit)
    yield from _operating(scoring, level, unit)


def _threshold(scoring: Scoring, unit: str) -> Iterator[Block]:
    now = scoring.now
    if now is None:
        return
    first = scoring.curves[0] if scoring.curves else None
    yield Threshold(
        threshold=now.threshold,
        chosen=now.chosen,
        warning=f"△ {sentences.OPTIMISTIC}" if now.optimistic else "",
        unit=unit,
        positive=scoring.positive,
        cells=(now.row.tp, now.row.fp, now.row.fn, now.row.tn),
        rates=(
            ("recall", "recall", now.row.recall),
            ("spec", "specificity", now.row.specificity),
            ("prec", "precision", now.row.precision),
            ("npv", "negative predictive value", now.npv),
            ("f1", "F1", now.f1),
            ("acc", "accuracy", now.accuracy),
            ("call", "called positive", now.called),
        ),
        points=first.points if first is not None else "",
        at=first.default if first is not None else 0,
        reach=Reach.FULL,
    )


def _curve_charts(scoring: Scoring, kind: str) -> tuple[Chart, ...]:
    place = scoring.now.place if scoring.now is not None else None
    if kind == "det":
        return tuple(Chart("det", (curve, scoring.errors, place)) for curve in scoring.curves if scoring.errors)
    return tuple(Chart(kind, (curve, place)) for curve in scoring.curves)


def _single(scoring: Scoring) -> Iterator[Block]:
    """The curves of the one class that is called."""
    for curve in scoring.curves:
        charts = [chart for kind in ("roc", "precision_recall", "det") for chart in _curve_charts(scoring, kind)]
        points = number_table(
            "Points of the curves",
            "Some points of the curves; the Record has more",
            ("threshold", *CELLS),
            [(r.threshold, r.tp, r.fp, r.fn, r.tn, r.recall, r.specificity, r.precision) for r in curve.rows],
            small=True,
        )
        tables = [points]
        if scoring.errors is not None:
            tables.append(number_table("Error rates", sentences.ERRORS_TABLE, sentences.ERRORS_HEAD, curve.error_rows))
        yield Card(
            (
                *((Heading(curve.label, "against the rest"),) if curve.label else ()),
                Paragraph(_areas(curve), "areas"),
                Figure(
                    charts=tuple(charts),
                    alt="ROC and precision-recall curve, and error rates",
                    note=sentences.DET_SAID if scoring.errors is not None else "",
                ),
                _numbers(counted(len(curve.rows), "threshold"), tables),
            ),
            reach=Reach.FULL,
        )


def _areas(curve: Curve) -> str:
    named = (
        ("AUROC", curve.area),
        ("average precision", curve.precision_area),
        ("equal error rate", curve.equal_error),
    )
    return "; ".join(f"{name} {value}" for name, value in named if value)


def _numbers(more: str, tables: Sequence[Block]) -> Fold:
    return Fold(title="The numbers", more=more, blocks=tuple(tables), named=False)


def _several(scoring: Scoring, level: str, unit: str) -> Iterator[Block]:
    """The curves of several classes, one chart a class."""
    for name, kind, area in (
        (sentences.ROC, "roc", "area"),
        (sentences.PRECISION_RECALL, "precision_recall", "area"),
        (sentences.DET, "det", "equal error rate"),
    ):
        charts = _curve_charts(scoring, kind)
        if charts:
            note = sentences.DET_SAID if kind == "det" else ""
            heading = Heading(name, f"of each class against the rest, with its {area}")
            figure = Figure(charts=charts, alt=f"{name} of each class", look="many", note=note)
            yield Card((heading, figure), reach=Reach.FULL)
    areas = number_table(
        "Areas under the curves",
        f"Areas with {level} intervals; the Record has the points of the curves",
        ("class", "AUROC", "average precision", "equal error rate"),
        [(curve.label, curve.area, curve.precision_area, curve.equal_error) for curve in scoring.curves],
    )
    classes = counted(sum(not curve.pooled for curve in scoring.curves), "class", "classes")
    misses = _side("Error rates of each class", sentences.CLASS_ERRORS, scoring.misses)
    yield Card((_numbers(classes, (areas, misses)),), reach=Reach.FULL)
    if scoring.top:
        yield Card(tuple(_top(scoring, level, unit)), reach=Reach.REPORT)


def _side(name: str, caption: str, side: Side) -> Table:
    return number_table(name, caption, side.head, side.rows, small=True)


def _top(scoring: Scoring, level: str, unit: str) -> Iterator[Block]:
    """How often the class with the largest probability is the true one, then class by class."""
    note = f"How often the class with the largest probability is the true one: {BINNED} ({scoring.binning})."
    yield Figure(charts=(Chart("top_label", (scoring.top,)),), alt="Reliability of the largest probability", note=note)
    caption = f"Share of rows whose class with the largest probability is right, with {level} intervals"
    yield _numbers(counted(len(scoring.top), "bin"), (_bins(scoring.top, caption, "share that is right", unit),))
    binned = [curve for curve in scoring.curves if curve.bins]
    if binned:
        caption = f"Share of rows that are of the class, by bin of its probability; in brackets the {unit} there"
        yield Fold(
            title=sentences.RELIABILITY,
            more="of each class against the rest",
            blocks=(
                Figure(
                    charts=tuple(Chart("reliability", (curve.bins, curve.label)) for curve in binned),
                    alt="Reliability of each class",
                    look="many",
                ),
                _side("Reliability of each class", caption, scoring.shares),
            ),
            reach=Reach.FULL,
        )
    deciding = [curve for curve in scoring.curves if curve.decision is not None]
    if deciding:
        yield Fold(
            title=sentences.DECISION,
            more="of each class",
            blocks=(
                Figure(
                    charts=tuple(Chart("decision", (curve.decision, curve.label)) for curve in deciding),
                    alt="Decision curve of each class",
                    look="many",
                    note="Net benefit of calling the class by its probability, of calling all rows it, and none.",
                ),
                _side(
                    "Net benefit of each class",
                    "Net benefit of calling the class by its probability, by threshold probability",
                    scoring.benefits,
                ),
            ),
            reach=Reach.FULL,
        )


def _gains(scoring: Scoring, unit: str) -> Iterator[Block]:
    alone = scoring.curves[0] if len(scoring.curves) == 1 and scoring.curves[0].gains else None
    if alone is None:
        return
    cut = scoring.now.value if scoring.now is not None else None
    charts = [Chart("histogram", (scoring.histogram, cut))] if scoring.histogram is not None else []
    tables = [number_table("Gains and lift", sentences.GAINS_TABLE, sentences.GAINS_HEAD, alone.gain_rows)]
    if scoring.histogram is not None:
        caption = f"{unit.capitalize()} by score and true class"
        heads = ("score", "positives", "negatives")
        tables.append(number_table("Scores by true class", caption, heads, scoring.histogram.rows, small=True))
    yield Card(
        (
            Figure(
                charts=(*charts, Chart("gains", (alone,)), Chart("lift", (alone,))),
                alt="Scores by true class, gains and lift" if charts else "Gains and lift",
                note=sentences.GAINS_SAID,
            ),
            _numbers(f"{counted(len(alone.gain_rows), 'share', 'shares')} of rows", tables),
        ),
        reach=Reach.FULL,
    )


def _calibration(scoring: Scoring, level: str, unit: str) -> Iterator[Block]:
    if not scoring.bins:
        return
    charts = [Chart("reliability", (scoring.bins,))]
    note = f"Reliability: {BINNED} ({scoring.binning})."
    caption = f"Share of positives by bin of predicted probability, with {level} intervals"
    tables: list[Block] = [_bins(scoring.bins, caption, "share of positives", unit)]
    if scoring.decision is not None:
        charts.append(Chart("decision", (scoring.decision,)))
        note += " Decision curve: net benefit of the model, of calling all rows positive, and of calling none."
        caption = "Net benefit by threshold probability; calling none gives 0"
        benefit = number_table("Net benefit", caption, ("threshold", "model", "all"), scoring.decision.rows)
        tables.append(replace(benefit, reach=Reach.FULL))
    yield Card(
        (
            Figure(charts=tuple(charts), alt="Reliability and decision curve", note=note),
            _numbers(counted(len(scoring.bins), "bin"), tables),
        ),
        reach=Reach.REPORT,
    )


def _bins(bins: Sequence[Bin], caption: str, share_of: str, unit: str) -> Table:
    heads = ("predicted probability", unit, "mean probability", share_of)
    rows = (
        row_of(f"{b.low:.2g} to {b.high:.2g}", b.shown, f"{b.score:.3f}", Cell(f"{b.share:.3f}", below=_ends(b)))
        for b in bins
    )
    sides = columns(*((head, "number" if i else "text", 1) for i, head in enumerate(heads)))
    return Table(name="Reliability by bin", caption=caption, columns=sides, rows=tuple(rows))


def _ends(held: Bin) -> str:
    return "" if held.share_low is None or held.share_high is None else f"{held.share_low:.3f}–{held.share_high:.3f}"


def _operating(scoring: Scoring, level: str, unit: str) -> Iterator[Block]:
    if not scoring.operating:
        return
    several = any(point.label for point in scoring.operating)
    heads = (
        *((Column("class", "name"),) if several else ()),
        Column("threshold"),
        Column("chosen", "name", 3, reach=Reach.REPORT),
        *(Column(name, "number") for name in CELLS),
    )
    rows = (
        row_of(
            *((point.label,) if several else ()),
            Cell(point.threshold, "△", tone="warn") if point.optimistic else point.threshold,
            Cell(point.chosen, below=f"△ {sentences.OPTIMISTIC}" if point.optimistic else ""),
            *(point.tp, point.fp, point.fn, point.tn),
            *(Cell(value, below=ends) for value, ends in point.rates),
        )
        for point in scoring.operating
    )
    table = Table(
        name="Operating points",
        caption=f"{unit.capitalize()} by cell at each declared threshold, and rates with their {level} intervals",
        columns=heads,
        rows=tuple(rows),
        small=True,
    )
    reasons = (f"{point.threshold}: {point.chosen}" for point in scoring.operating if point.chosen != "stated")
    yield Card(
        (Heading("Operating points"), table, *(Paragraph(reason, reach=Reach.BRIEF) for reason in reasons)),
    )
