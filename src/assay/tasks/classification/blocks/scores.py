# SPDX-License-Identifier: Apache-2.0
"""Scores and thresholds as blocks: curves, reliability, decision curves, and the declared operating points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from assay.core.blocks import (
    Block,
    Card,
    Cell,
    Chart,
    Column,
    Figure,
    Fold,
    Head,
    Heading,
    Paragraph,
    Reach,
    Table,
    number_table,
    table,
)
from assay.core.blocks.estimate_rows import amount, entry, prose, real
from assay.core.text import counted, figure, visible
from assay.tally.base import count_from_json
from assay.tasks.classification.blocks import score_figures as figures
from assay.tasks.classification.blocks.decision_point import OPTIMISTIC, Scoring, cell_texts, cells_at, rate_texts
from assay.tasks.classification.blocks.score_figures import Curve, Data, read_bins, threshold_text

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
ALL_THRESHOLDS: Final = "Curves over all thresholds"
GAINS_SAID: Final = (
    "Rows are called from the highest score down; lift is how many times as many positives as chance would find."
)


def score_blocks(scoring: Scoring) -> Iterator[Block]:
    """The whole section."""
    yield Paragraph(prose(_facts_said(scoring.record["scores"])))
    if scoring.alone is not None:
        yield _curves_of_one(scoring, scoring.alone)
        yield from _calibration(scoring, scoring.alone)
    elif scoring.curves:
        yield _curves_of_classes(scoring)
        yield from _top_bins(scoring)
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


def _card(drawn: Figure, more: str, tables: Sequence[Block], *, lead: str = "", reach: Reach = Reach.FULL) -> Card:
    """Charts, if there are any, and their numbers folded."""
    said = (Paragraph(lead, "areas"),) if lead else ()
    numbers = Fold(title="The numbers", more=more, blocks=tuple(tables), named=False)
    return Card((*said, *((drawn,) if drawn.charts else ()), numbers), reach=reach)


def _area(curve: Curve, measure: str) -> str:
    known = curve.areas.get(measure)
    return "" if known is None else f"{known.shown} ({known.short})" if known.interval else known.shown


def _curves_of_one(scoring: Scoring, curve: Curve) -> Card:
    """Precision-recall, gains and lift of the positive class; the ROC curve stands at the head of the report."""
    lead = "; ".join(f"{name} {_area(curve, key)}" for key, name in figures.AREAS.items() if key in curve.areas)
    step = max(1, -(-len(curve.cells) // LISTED))
    listed = [cells_at(curve, i) for i in sorted({*range(0, len(curve.cells), step), len(curve.cells) - 1})]
    rows = [(threshold_text(point["threshold"]), *cell_texts(point), *rate_texts(point)) for point in listed]
    caption = "Some points of the curves; the Record has more"
    tables = [number_table("Points of the curves", caption, ("threshold", *CELLS), rows, small=True)]
    caption = "Error rates at the last drawn point whose false positive rate is not above a limit"
    heads = ("at most", "false positive rate", "false negative rate", "threshold")
    tables.append(number_table("Error rates", caption, heads, _error_rows(curve)))
    charts, note = [figures.precision_recall([curve], scoring.place, scoring.level)], ""
    if curve.gains:
        charts += [figures.gains(curve), figures.lift(curve), *(() if curve.bins() else _spread(scoring, curve))]
        note, tables = GAINS_SAID, [*tables, *_gain_tables(scoring.unit, curve)]
    more = counted(len(listed), "threshold")
    return _card(Figure(charts=tuple(charts), alt=ALL_THRESHOLDS, note=note), more, tables, lead=lead)


def _spread(scoring: Scoring, curve: Curve) -> Iterator[Chart]:
    """How the scores of both classes are spread; it stands beside the decision curve where there is one."""
    histogram = figures.histogram(curve, real(scoring.cut["threshold"]) if scoring.cut is not None else None)
    yield from () if histogram is None else (histogram,)


def _gain_tables(unit: str, curve: Curve) -> Iterator[Table]:
    nearest = sorted({min(range(len(curve.gains)), key=lambda i: abs(curve.gains[i][0] - asked)) for asked in SHARES})
    rows = [tuple(map(figure, curve.gains[i])) for i in nearest if curve.gains[i][0]]
    caption = "Positives found when the rows with the highest scores are called"
    yield number_table("Gains and lift", caption, ("rows called", "positives found", "lift"), rows)
    if content := curve.content.get("histogram"):
        sides = zip(*(content[side] for side in ("positives", "negatives")), strict=True)
        counts = [tuple(amount(count_from_json(n)) for n in pair) for pair in sides]
        rows = [(f"{a:.4g} to {b:.4g}", *n) for (a, b), n in zip(pairwise(content["edges"]), counts, strict=True)]
        caption, heads = f"{unit.capitalize()} by score and true class", ("score", "positives", "negatives")
        yield number_table("Scores by true class", caption, heads, rows, small=True)


def _curves_of_classes(scoring: Scoring) -> Card:
    """Precision-recall of each class, its areas, and its misses by false positive rate."""
    curves = scoring.curves
    rows = [(curve.label, *(_area(curve, name) for name in figures.AREAS)) for curve in curves]
    caption = f"Areas with {scoring.level} intervals; the Record has the points of the curves"
    tables = [number_table("Areas under the curves", caption, ("class", *figures.AREAS.values()), rows)]
    misses = {curve.label: {row[0]: row[2] for row in _error_rows(curve)} for curve in curves}
    caption = "False negative rate of each class at the last drawn point whose false positive rate is not above a limit"
    tables.append(_side_by_side("Error rates of each class", caption, "at most", misses))
    charts = [figures.precision_recall(curves, scoring.place, scoring.level)]
    if binned := [curve for curve in curves if curve.bins()]:
        charts.append(figures.reliability_of_classes(binned))
        shares = {
            c.label: {_bin(b): f"{b['share']:.3f} ({amount(count_from_json(b['rows']))})" for b in c.bins()}
            for c in binned
        }
        caption = f"Share of rows that are of the class, by bin of its probability; in brackets the {scoring.unit}"
        tables.append(_side_by_side("Reliability of each class", caption, "bin", shares))
    if deciding := [curve for curve in binned if _benefits(curve)]:
        charts.append(figures.decision(deciding))
        benefits = {c.label: {f"{t:.3g}": figure(model) for t, model, _ in _benefits(c)} for c in deciding}
        caption = "Net benefit of calling the class by its probability, by threshold probability"
        tables.append(_side_by_side("Net benefit of each class", caption, "threshold", benefits))
    drawn = sum(not curve.pooled for curve in curves)
    hidden = int(scoring.record["scores"]["columns"]) - drawn
    note = f"The largest classes are drawn; the Record has no curve of {hidden:,} more." if hidden > 0 else ""
    figure_ = Figure(charts=tuple(charts), alt="Curves of each class", note=note)
    return _card(figure_, counted(drawn, "class", "classes"), tables)


def _error_rows(curve: Curve) -> Iterator[tuple[str, str, str, str]]:
    """For each rate people ask about the last point whose false positive rate is not above it."""
    for asked in LIMITS:
        i = max(i for i, (x, _, _) in enumerate(curve.rates) if x <= asked)
        x, y, _ = curve.rates[i]
        yield f"{asked:g}", figure(x), figure(1 - y), threshold_text(curve.content["points"][i][0])


def _side_by_side(name: str, caption: str, first: str, columns: Mapping[str, Mapping[str, str]]) -> Table:
    """The numbers of several classes, side by side."""
    keys = dict.fromkeys(key for column in columns.values() for key in column)
    rows = [(key, *(column.get(key, "–") for column in columns.values())) for key in keys]
    return number_table(name, caption, (first, *columns), rows, small=True)


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
    ends = ("" if b["share_low"] is None else f"{b['share_low']:.3f}–{b['share_high']:.3f}" for b in bins)
    rows = (
        (_bin(b), amount(count_from_json(b["rows"])), f"{b['score']:.3f}", Cell(f"{b['share']:.3f}", below=below))
        for b, below in zip(bins, ends, strict=True)
    )
    heads = ("predicted probability", unit, "mean probability", share_of)
    return number_table("Reliability by bin", caption, heads, rows)


def _bin(content: Data) -> str:
    return f"{content['low']:.2g} to {content['high']:.2g}"


def _benefits(curve: Curve) -> Sequence[tuple[float, float, float]]:
    """Some points of a decision curve: threshold, net benefit of the model, and of calling every row."""
    points: Sequence[tuple[float, float, float]] = curve.content.get("decision") or ()
    return points[:: max(1, len(points) // 19)]


def _calibration(scoring: Scoring, curve: Curve) -> Iterator[Block]:
    """Bins of reliability, whose chart stands at the head, how scores are spread, and the decision curve."""
    if not curve.bins():
        return
    caption = f"Share of positives by bin of predicted probability, with {scoring.level} intervals; {BINNED}"
    tables = [_bin_table(curve.bins(), caption, "share of positives", scoring.unit)]
    charts = [*_spread(scoring, curve)]
    if benefits := _benefits(curve):
        charts.append(figures.decision([curve]))
        rows = [(f"{t:.3g}", figure(model), figure(called)) for t, model, called in benefits]
        caption = "Net benefit by threshold probability; calling none gives 0"
        tables.append(number_table("Net benefit", caption, ("threshold", "net benefit", "of calling all"), rows))
    drawn = Figure(charts=tuple(charts), alt="Scores by true class, and decision curve")
    yield _card(drawn, counted(len(curve.bins()), "bin"), tables, reach=Reach.ALL)


def _top_bins(scoring: Scoring) -> Iterator[Block]:
    """How often the class with the largest probability is right; its chart stands at the head."""
    if top := scoring.record["scores"].get("top_label"):
        caption = f"Share of rows whose class with the largest probability is right, with {scoring.level} intervals"
        bins = _bin_table(read_bins(top), caption, "share that is right", scoring.unit)
        more, nothing = f"of the top class, {counted(len(bins.rows), 'bin')}", Figure(charts=(), alt="")
        yield _card(nothing, more, [bins], reach=Reach.REPORT)


def _operating(scoring: Scoring) -> Iterator[Block]:
    points = scoring.record.get("operating_points", ())
    if not points:
        return
    several = any(point.get("class") is not None for point in points)
    heads: tuple[Head, ...] = (
        *([("class", "name")] if several else []),
        "threshold",
        Column("chosen", "name", 3, reach=Reach.REPORT),
        *((name, "number") for name in CELLS),
    )
    rows = []
    for point in points:
        sure = {
            str(r["measure"]): entry(r, str(scoring.record["task"])).short
            for r in point.get("rates", ())
            if r.get("low") is not None
        }
        shown, optimistic = threshold_text(point["threshold"]), bool(point.get("optimistic"))
        rows.append(
            (
                *(("" if point.get("class") is None else visible(point["class"]),) if several else ()),
                Cell(shown, "△", tone="warn") if optimistic else shown,
                Cell(prose(point.get("from", "")), below=f"△ {OPTIMISTIC}" if optimistic else ""),
                *cell_texts(point),
                *(Cell(text, below=sure.get(name, "")) for name, text in zip(RATES, rate_texts(point), strict=True)),
            )
        )
    unit, level = scoring.unit.capitalize(), scoring.level
    caption = f"{unit} by cell at each declared threshold, and rates with their {level} intervals"
    listed = table("Operating points", caption, heads, rows, small=True)
    reasons = (f"{threshold_text(p['threshold'])}: {prose(p['from'])}" for p in points if p.get("from") != "stated")
    yield Card((Heading("Operating points"), listed, *(Paragraph(why, reach=Reach.BRIEF) for why in reasons)))
