# SPDX-License-Identifier: Apache-2.0
"""Scores and thresholds as blocks: curves, reliability, decision curves, and the declared operating points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

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
    number_table,
    row_of,
)
from assay.core.text import counted, figure, visible
from assay.report.blocks import score_figures as figures
from assay.report.blocks.decision_point import OPTIMISTIC, Scoring, cell_texts, cells_at, rate_texts
from assay.report.blocks.score_figures import Curve, Data, read_bins, threshold_text
from assay.report.estimate_rows import amount, entry, prose, real
from assay.tally.base import count_from_json

SHARES: Final = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
"""Shares of rows at which a table of gains has a row."""
LIMITS: Final = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)
"""False positive rates at which a table of error rates has a row."""
LISTED: Final = 21
"""Points of a curve that its table lists; the Record has the others."""
CELLS: Final = ("TP", "FP", "FN", "TN", "recall", "specificity", "precision")
RATES: Final = ("recall", "specificity", "precision")
BINNED: Final = "points on the dashed line are calibrated; blocks show how many rows each bin holds"
KINDS: Final = {
    "probability": "stated to be probabilities",
    "logit": "stated to be logits",
    "any": "not stated to be probabilities, so only their order counts",
}
LINKED: Final = {
    "logistic": "Probabilities of {rows} come from them by the logistic function; thresholds are logits.",
    "softmax": "Probabilities of {rows} come from them by the softmax of the classes; thresholds are log-odds of a"
    " class against the rest.",
}
DET_SAID: Final = (
    "Detection error tradeoff: both error rates on axes of normal deviates, where small rates have room; lower left is"
    " better."
)
GAINS_SAID: Final = (
    "Rows are called from the highest score down; lift is how many times as many positives as chance would find."
)


def score_blocks(scoring: Scoring) -> Iterator[Block]:
    """The whole section."""
    yield Paragraph(prose(_facts_said(scoring.record["scores"])))
    yield from _curves(scoring)
    if scoring.alone is not None:
        yield from _gains(scoring, scoring.alone)
        yield from _calibration(scoring, scoring.alone)
    else:
        yield from _classes(scoring)
    yield from _operating(scoring)


def _facts_said(facts: Mapping[str, Any]) -> str:
    """What the scores are, how they were stored, and what the plan had done to them."""
    said = f"The scores are {KINDS.get(str(facts.get('kind')), str(facts.get('kind')))}"
    said += f"; {int(facts.get('distinct') or 0):,} are distinct"
    if tied := facts.get("tied_pairs"):
        some = f"{float(tied) * 100:.2g} %" if float(tied) >= 1e-4 else "fewer than 0.01 %"  # noqa: PLR2004
        said += f", and {some} of pairs of a positive and a negative are tied"
    parts = [f"{said}."]
    if stored := facts.get("stored"):
        kinds = " and ".join(map(str, stored))
        parts.append(f"They were stored as {kinds}" + ("." if kinds == "float64" else " and widened to float64."))
    if last := facts.get("ranked_last"):
        parts.append(f"{counted(last, 'row')} without a score {'ranks' if last == 1 else 'rank'} below all others.")
    if linked := facts.get("linked"):
        parts.append(LINKED[linked["by"]].format(rows=counted(linked["rows"], "row")))
    if (mended := facts.get("rescaled")) and mended["rows"]:
        parts.append(
            f"The probabilities of {counted(mended['rows'], 'row')} did not add up to 1, off by"
            f" {mended['farthest']:.3g} at most, and were divided by their sum."
        )
    return " ".join(parts)


def _numbers(more: str, tables: Iterable[Block]) -> Fold:
    return Fold(title="The numbers", more=more, blocks=tuple(tables), named=False)


def _curves(scoring: Scoring) -> Iterator[Block]:
    """Precision-recall and error rates; the ROC curve stands at the head of the report."""
    curves, level = scoring.curves, scoring.level
    if not curves:
        return
    det = figures.det(curves, scoring.place, level)
    charts = [figures.precision_recall(curves, scoring.place, level), *([det] if det is not None else [])]
    alone = scoring.alone
    if alone is not None:
        named = (
            ("AUROC", "auroc"),
            ("average precision", "average_precision"),
            ("equal error rate", "equal_error_rate"),
        )
        known = ((name, alone.areas[key]) for name, key in named if key in alone.areas)
        areas = "; ".join(f"{name} {e.shown}{f' ({e.short})' if e.interval else ''}" for name, e in known)
        step = max(1, -(-len(alone.cells) // LISTED))
        listed = (cells_at(alone, i) for i in sorted({*range(0, len(alone.cells), step), len(alone.cells) - 1}))
        rows = [(threshold_text(point["threshold"]), *cell_texts(point), *rate_texts(point)) for point in listed]
        caption = "Some points of the curves; the Record has more"
        tables = [number_table("Points of the curves", caption, ("threshold", *CELLS), rows, small=True)]
        tables.append(_error_table(alone)) if det is not None else None
        more, lead = counted(len(rows), "threshold"), [Paragraph(areas, "areas")] if areas else []
    else:
        tables, lead = list(_class_tables(curves, level)), []
        more = counted(sum(not curve.pooled for curve in curves), "class", "classes")
    if hidden := int(scoring.record["scores"]["columns"]) - sum(not curve.pooled for curve in curves):
        hidden = hidden if alone is None else 0
        note = f"The largest classes are drawn; the Record has no curve of {hidden:,} more."
        lead += [Paragraph(note, "soft")] if hidden > 0 else []
    yield Card(
        (
            *lead,
            Figure(charts=tuple(charts), alt="Curves over all thresholds", note=DET_SAID if det is not None else ""),
            _numbers(more, tables),
        ),
        reach=Reach.FULL,
    )


def _error_rows(curve: Curve) -> Iterator[tuple[str, str, str, str]]:
    """For each rate people ask about the last point whose false positive rate is not above it."""
    for asked in LIMITS:
        i = max(i for i, (x, _, _) in enumerate(curve.rates) if x <= asked)
        x, y, _ = curve.rates[i]
        yield f"{asked:g}", figure(x), figure(1 - y), threshold_text(curve.content["points"][i][0])


def _error_table(curve: Curve) -> Table:
    caption = "Error rates at the last drawn point whose false positive rate is not above a limit"
    heads = ("at most", "false positive rate", "false negative rate", "threshold")
    return number_table("Error rates", caption, heads, _error_rows(curve))


def _class_tables(curves: Sequence[Curve], level: str) -> Iterator[Table]:
    """The areas of each class, and its misses by false positive rate."""

    def area(curve: Curve, name: str) -> str:
        known = curve.areas.get(name)
        return "" if known is None else f"{known.shown} ({known.short})" if known.interval else known.shown

    rows = [(curve.label, *(area(curve, name) for name in figures.MEASURES)) for curve in curves]
    caption = f"Areas with {level} intervals; the Record has the points of the curves"
    yield number_table(
        "Areas under the curves", caption, ("class", "AUROC", "average precision", "equal error rate"), rows
    )
    columns = {curve.label: {row[0]: row[2] for row in _error_rows(curve)} for curve in curves}
    caption = "False negative rate of each class at the last drawn point whose false positive rate is not above a limit"
    yield _side_by_side("Error rates of each class", caption, "at most", columns)


def _side_by_side(name: str, caption: str, first: str, columns: Mapping[str, Mapping[str, str]]) -> Table:
    """The numbers of several classes, side by side."""
    keys = dict.fromkeys(key for column in columns.values() for key in column)
    rows = [(key, *(column.get(key, "–") for column in columns.values())) for key in keys]
    return number_table(name, caption, (first, *columns), rows, small=True)


def _gains(scoring: Scoring, curve: Curve) -> Iterator[Block]:
    if not curve.gains:
        return
    cut = scoring.cut
    histogram = figures.histogram(curve, real(cut["threshold"]) if cut is not None else None)
    nearest = sorted({min(range(len(curve.gains)), key=lambda i: abs(curve.gains[i][0] - asked)) for asked in SHARES})
    rows = [tuple(map(figure, curve.gains[i])) for i in nearest if curve.gains[i][0]]
    caption = "Positives found when the rows with the highest scores are called"
    tables = [number_table("Gains and lift", caption, ("rows called", "positives found", "lift"), rows)]
    if histogram is not None:
        content = curve.content["histogram"]
        pairs = zip(
            content["edges"][:-1], content["edges"][1:], content["positives"], content["negatives"], strict=True
        )
        listed = [(f"{a:.4g} to {b:.4g}", *(amount(count_from_json(n)) for n in sides)) for a, b, *sides in pairs]
        caption, heads = f"{scoring.unit.capitalize()} by score and true class", ("score", "positives", "negatives")
        tables.append(number_table("Scores by true class", caption, heads, listed, small=True))
    charts = (*([histogram] if histogram is not None else []), figures.gains(curve), figures.lift(curve))
    drawn = Figure(charts=charts, alt="Scores by true class, gains and lift", note=GAINS_SAID)
    yield Card((drawn, _numbers(f"{counted(len(rows), 'share')} of rows", tables)), reach=Reach.FULL)


def reliability_chart(scoring: Scoring) -> Chart | None:
    """Reliability of the positive class, or of the class with the largest probability; None without probabilities."""
    alone = scoring.alone
    if alone is not None and alone.bins():
        said = scoring.binned(alone.content["reliability"], "expected_calibration_error")
        return figures.reliability(alone.bins(), said)
    top = scoring.record["scores"].get("top_label")
    if alone is None and top:
        said = scoring.binned(top, "top_label_calibration_error")
        return figures.reliability(read_bins(top), said, "Reliability of the top class", "share that is right")
    return None


def _bin_table(bins: Sequence[Data], caption: str, share_of: str, unit: str) -> Table:
    def ends(b: Data) -> str:
        return "" if b["share_low"] is None else f"{b['share_low']:.3f}–{b['share_high']:.3f}"

    rows = (
        row_of(
            f"{b['low']:.2g} to {b['high']:.2g}",
            amount(count_from_json(b["rows"])),
            f"{b['score']:.3f}",
            Cell(f"{b['share']:.3f}", below=ends(b)),
        )
        for b in bins
    )
    sides = number_table("", "", ("predicted probability", unit, "mean probability", share_of), ()).columns
    return Table(name="Reliability by bin", caption=caption, columns=sides, rows=tuple(rows))


def _calibration(scoring: Scoring, curve: Curve) -> Iterator[Block]:
    """Bins of reliability, whose chart stands at the head, and the decision curve."""
    bins, rows = curve.bins(), curve.content.get("decision")
    if not bins:
        return
    caption = f"Share of positives by bin of predicted probability, with {scoring.level} intervals; {BINNED}"
    parts: list[Block] = [_bin_table(bins, caption, "share of positives", scoring.unit)]
    more = counted(len(bins), "bin")
    if rows:
        chosen = rows[:: max(1, len(rows) // 19)]
        listed = [(f"{t:.3g}", figure(model), figure(every)) for t, model, every in chosen]
        caption, heads = "Net benefit by threshold probability; calling none gives 0", ("threshold", "model", "all")
        parts.append(number_table("Net benefit", caption, heads, listed))
        yield Card((Figure(charts=(figures.decision([curve]),), alt="Decision curve"), _numbers(more, parts)))
    else:
        yield Card((_numbers(more, parts),))


def _classes(scoring: Scoring) -> Iterator[Block]:
    """Reliability and net benefit class by class."""
    unit, top = scoring.unit, scoring.record["scores"].get("top_label")
    binned = [curve for curve in scoring.curves if curve.bins()]
    if top:
        caption = f"Share of rows whose class with the largest probability is right, with {scoring.level} intervals"
        table = _bin_table(read_bins(top), caption, "share that is right", unit)
        yield Card((_numbers(f"of the top class, {counted(len(table.rows), 'bin')}", [table]),), reach=Reach.REPORT)
    if not binned:
        return
    charts = [figures.reliability_of_classes(binned)]
    columns = {
        curve.label: {
            f"{b['low']:.2g} to {b['high']:.2g}": f"{b['share']:.3f} ({amount(count_from_json(b['rows']))})"
            for b in curve.bins()
        }
        for curve in binned
    }
    caption = f"Share of rows that are of the class, by bin of its probability; in brackets the {unit} there"
    tables = [_side_by_side("Reliability of each class", caption, "bin", columns)]
    deciding = [curve for curve in binned if curve.content.get("decision")]
    if deciding:
        charts.append(figures.decision(deciding))
        columns = {
            c.label: {
                f"{t:.3g}": figure(model)
                for t, model, _ in c.content["decision"][:: max(1, len(c.content["decision"]) // 19)]
            }
            for c in deciding
        }
        caption = "Net benefit of calling the class by its probability, by threshold probability"
        tables.append(_side_by_side("Net benefit of each class", caption, "threshold", columns))
    drawn = Figure(charts=tuple(charts), alt="Reliability and net benefit of each class")
    yield Card((drawn, _numbers(counted(len(binned), "class", "classes"), tables)), reach=Reach.FULL)


def _operating(scoring: Scoring) -> Iterator[Block]:
    points = scoring.record.get("operating_points", ())
    if not points:
        return
    several = any(point.get("class") is not None for point in points)
    heads = (
        *((Column("class", "name"),) if several else ()),
        Column("threshold"),
        Column("chosen", "name", 3, reach=Reach.REPORT),
        *(Column(name, "number") for name in CELLS),
    )
    rows = []
    for point in points:
        sure = {str(r["measure"]): entry(r).short for r in point.get("rates", ()) if r.get("low") is not None}
        shown, optimistic = threshold_text(point["threshold"]), bool(point.get("optimistic"))
        rows.append(
            row_of(
                *(("" if point.get("class") is None else visible(point["class"]),) if several else ()),
                Cell(shown, "△", tone="warn") if optimistic else shown,
                Cell(prose(point.get("from", "")), below=f"△ {OPTIMISTIC}" if optimistic else ""),
                *cell_texts(point),
                *(Cell(text, below=sure.get(name, "")) for name, text in zip(RATES, rate_texts(point), strict=True)),
            )
        )
    unit, level = scoring.unit.capitalize(), scoring.level
    caption = f"{unit} by cell at each declared threshold, and rates with their {level} intervals"
    table = Table(name="Operating points", caption=caption, columns=heads, rows=tuple(rows), small=True)
    reasons = (f"{threshold_text(p['threshold'])}: {prose(p['from'])}" for p in points if p.get("from") != "stated")
    yield Card((Heading("Operating points"), table, *(Paragraph(why, reach=Reach.BRIEF) for why in reasons)))
