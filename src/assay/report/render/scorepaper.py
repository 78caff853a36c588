# SPDX-License-Identifier: Apache-2.0
"""Scores and thresholds on paper: curves, reliability, decisions, and the declared operating points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.report import sentences_scores as scoresentences
from assay.report.assessment_document import Document
from assay.report.blocks.blocks import Block, heading, panels, says, table, text
from assay.report.blocks.calibration import Bin
from assay.report.blocks.curves import Curve, Row, Scoring
from assay.report.charts import score_charts as charts

CELLS = ("TP", "FP", "FN", "TN", "recall", "specificity", "precision")


def scores(document: Document) -> Iterator[Block]:
    """The blocks of the section; none where there are no scores."""
    found = document.scoring
    if found is None:
        return
    told = [found.said]
    told += [f"Shaded: {document.level} {found.band}."] if found.band else []
    told += (
        [scoresentences.curves_cut(sum(not one.pooled for one in found.curves), found.hidden)] if found.hidden else []
    )
    yield says(" ".join(told), soft=True)
    yield from _operating(found, weighted=document.weighted)
    for i, one in enumerate(found.curves):
        if one.label:
            yield heading(one.label if one.pooled else f"{one.label} against the rest")
        areas = [f"AUROC {one.area}"] if one.area else []
        areas += [f"average precision {one.precision_area}"] if one.precision_area else []
        areas += [f"equal error rate {one.equal_error}"] if one.equal_error else []
        if areas:
            yield says("; ".join(areas) + ".")
        yield panels(_charts(found, one, first=i == 0), alt="Curves of scores")
        yield {
            **table(
                "Some points of the curves; the Record has more",
                ["threshold", *CELLS],
                [[text(row.threshold), *map(text, _cells(row))] for row in one.rows],
                widths=["l 1.4fr", *(["r 1fr"] * len(CELLS))],
            ),
            "small": True,
        }
        yield table(
            scoresentences.ERRORS_TABLE,
            scoresentences.ERRORS_HEAD,
            [list(map(text, row)) for row in one.error_rows],
            widths=["l 1fr", "r 1fr", "r 1fr", "r 1fr"],
        )
        if len(found.curves) == 1 and one.gain_rows:
            yield table(
                scoresentences.GAINS_TABLE,
                scoresentences.GAINS_HEAD,
                [list(map(text, row)) for row in one.gain_rows],
                widths=["l 1fr", "r 1fr", "r 1fr"],
            )
    if found.top:
        yield heading(scoresentences.TOP_LABEL)
        yield panels([charts.top_label(found.top)], alt=scoresentences.RELIABILITY)
        yield _bins(found.top, f"Share that is right by bin of the largest probability ({found.binning})", document)
    yield from _numbers(found, document)


def _charts(found: Scoring, one: Curve, *, first: bool) -> Iterator[str]:
    """The charts of one class, or of the two there are."""
    place, cut = (found.now.place, found.now.value) if found.now is not None else (None, None)
    yield charts.roc(one, place)
    yield charts.precision_recall(one, place)
    if found.errors is not None:
        yield charts.det(one, found.errors, place)
    if first and found.histogram is not None:
        yield charts.histogram(found.histogram, cut)
    if len(found.curves) == 1:
        yield from [charts.gains(one), charts.lift(one)] if one.gains else []
        yield from [charts.reliability(found.bins)] if found.bins else []
        yield from [charts.decision(found.decision)] if found.decision is not None else []
    else:
        yield from [charts.reliability(one.bins)] if one.bins else []
        yield from [charts.decision(one.decision)] if one.decision is not None else []


def _operating(found: Scoring, *, weighted: bool) -> Iterator[Block]:
    if not found.operating:
        return
    several = any(row.label for row in found.operating)
    yield table(
        f"Operating points: {'weight' if weighted else 'rows'} by cell at each declared threshold, and rates with their"
        " intervals",
        [*(["class"] if several else []), "threshold", "chosen", *CELLS],
        [
            [
                *([text(row.label)] if several else []),
                text(row.threshold),
                text(row.chosen, below=f"△ {scoresentences.OPTIMISTIC}" if row.optimistic else "", warn=row.optimistic),
                *map(text, (row.tp, row.fp, row.fn, row.tn)),
                *(text(value, below=sure) for value, sure in row.rates),
            ]
            for row in found.operating
        ],
        widths=[*(["l auto"] if several else []), "l auto", "l 3fr", *(["r auto"] * len(CELLS))],
    )


def _cells(row: Row) -> tuple[str, ...]:
    return row.tp, row.fp, row.fn, row.tn, row.recall, row.specificity, row.precision


def _bins(bins: Sequence[Bin], said: str, document: Document) -> Block:
    return table(
        f"{said}, with {document.level} intervals",
        ["bin", "weight" if document.weighted else "rows", "mean probability", "share"],
        [
            [
                text(f"{one.low:.2g} to {one.high:.2g}"),
                text(one.shown),
                text(f"{one.score:.3f}"),
                text(f"{one.share:.3f}", below=_ends(one)),
            ]
            for one in bins
        ],
        widths=["l 1fr", "r 1fr", "r 1fr", "r 1fr"],
    )


def _numbers(found: Scoring, document: Document) -> Iterator[Block]:
    if found.bins:
        yield _bins(found.bins, f"Share of positives by bin of predicted probability ({found.binning})", document)
    if found.decision is not None:
        yield table(
            "Net benefit by threshold probability; calling none gives 0",
            ["threshold", "model", "all"],
            [list(map(text, row)) for row in found.decision.rows],
            widths=["l 1fr", "r 1fr", "r 1fr"],
        )


def _ends(one: Bin) -> str:
    return "" if one.share_low is None or one.share_high is None else f"{one.share_low:.3f}–{one.share_high:.3f}"
