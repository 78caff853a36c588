# SPDX-License-Identifier: Apache-2.0
"""Sections of a report that only retrieval has: rank by rank, the worst queries, differences query by query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

import numpy as np

from assay.core.blocks import Block, Card, Chart, Figure, Paragraph, Section, chart, number_table, section, table
from assay.core.text import counted, figure, visible
from assay.measures.declare import Measure
from assay.tally.base import ModelTallies
from assay.tasks.retrieval.compare import query_pairs
from assay.tasks.retrieval.tally import Rankings

MOST: Final = 200
"""Points of a line over queries."""
LISTED: Final = 5
"""Queries that a comparison lists at either end."""


def run_sections(record: Mapping[str, Any]) -> Iterator[Section]:
    """The sections of one run."""
    figures = record.get("figures")
    if not figures:
        return
    yield section("ranks", "Rank by rank", _rank_blocks(figures))
    yield section("worst-queries", "Queries with the lowest values", _worst_blocks(figures))


def _rank_blocks(figures: Mapping[str, Any]) -> Iterator[Block]:
    last = figures["by_rank"][-1]
    unjudged = "" if last["judged"] is None else f" At rank {last['rank']}, {1 - last['judged']:.0%} are not judged."
    drawing = Figure(
        charts=tuple(_rank_charts(figures)),
        alt="nDCG by cut-off with its interval and the share of judged documents, precision by recall, "
        "and how the values of single queries are distributed.",
        note=f"Unjudged documents count as irrelevant.{unjudged}",
    )
    yield Card((drawing,))


def _rank_charts(figures: Mapping[str, Any]) -> Iterator[Chart]:
    rows = figures["by_rank"]
    points = [(row["rank"], row["ndcg"][0]) for row in rows if row["ndcg"][0] is not None]
    band = [(row["rank"], *row["ndcg"][1:]) for row in rows if row["ndcg"][1] is not None]
    judged = [(row["rank"], row["judged"]) for row in rows if row["judged"] is not None]
    if points:
        series: list[dict[str, object]] = [{"name": "ndcg", "points": points, **({"band": band} if band else {})}]
        if judged:
            series.append({"name": "judged", "points": judged, "dashed": True, "quiet": True})
        title = "nDCG and share judged, by cut-off"
        axes = {"x": "cut-off k", "y": "value", "y_range": [0, 1], "log_x": True}
        yield chart("lines", title=title, series=series, **axes)
    if figures["precision_by_recall"]:
        curve = [(step / 10, value) for step, value in enumerate(figures["precision_by_recall"])]
        axes = {"x": "recall", "y": "precision", "x_range": [0, 1], "y_range": [0, 1]}
        mean = {"name": "mean over queries", "points": curve}
        yield chart("lines", title="Interpolated precision by recall", series=[mean], **axes)
    name, bins = figures["by_query"]["measure"], {part: figures["by_query"][part] for part in ("edges", "counts")}
    yield chart("distribution", title=f"{name} of single queries", x=name, **bins)


def _worst_blocks(figures: Mapping[str, Any]) -> Iterator[Block]:
    rows = []
    for query in figures["worst"]:
        shown = ", ".join(
            f"{visible(name)} ({'not judged' if grade is None else f'{grade:g}'})" for name, grade in query["documents"]
        )
        first = query["first_relevant"]
        rows.append(
            (
                visible(query["query"]),
                figure(query["value"]),
                f"{query['relevant_found']} of {query['relevant']}",
                "none" if first is None else f"{first:,}",
                shown or ("nothing was returned" if not query["retrieved"] else "not kept"),
            )
        )
    if rows:
        heads = (
            ("query", "name", 2),
            (figures["by_query"]["measure"], "number", 1),
            ("relevant found", "number", 1),
            ("first relevant at", "number", 1),
            ("first documents (grade)", "prose", 5),
        )
        yield Card((table("worst-queries", "The queries that a reader should look at first.", heads, rows),))


def comparison_sections(record: Mapping[str, Any], measure: Measure) -> Iterator[Section]:
    """The sections of several runs."""
    paired = ModelTallies.read(Rankings, record["tallies"])
    yield section("query-differences", "Differences query by query", _difference_blocks(paired, measure))


def _difference_blocks(paired: ModelTallies[Rankings], measure: Measure) -> Iterator[Block]:
    for first, second in combinations(paired.models, 2):
        values = query_pairs(measure, paired, (first, second))
        gaps = values.sums[:, 0, 1] - values.sums[:, 1, 1]
        order = np.argsort(-gaps, kind="stable")
        better, worse = int((gaps > 0).sum()), int((gaps < 0).sum())
        yield Paragraph(
            f"{visible(first)} has the higher {measure.title} in {counted(better, 'query', 'queries')}, "
            f"{visible(second)} in {worse:,}; {len(gaps) - better - worse:,} are equal."
        )
        if not len(gaps):
            continue
        chosen = np.unique(np.linspace(0, len(order) - 1, min(MOST, len(order))).round().astype(int))
        points = [(int(place) + 1, float(gaps[order[place]])) for place in chosen]
        zero = {"name": "no difference", "points": [(1, 0.0), (len(gaps), 0.0)], "dashed": True, "quiet": True}
        series = [{"name": "difference", "points": points, "step": True}, zero]
        title, x = (
            f"{measure.title}: {visible(first)} minus {visible(second)}",
            "queries, from the largest gain to the largest loss",
        )
        drawn = chart("lines", title=title, x=x, y="difference", series=series)
        alt = f"Differences in {measure.title} of single queries between {first} and {second}, sorted."
        yield Figure(charts=(drawn,), alt=alt, look="wide")
        ids = values.ids or ()
        ends = [*order[:LISTED].tolist(), *order[max(LISTED, len(order) - LISTED) :].tolist()]
        rows = [
            (visible(ids[place]), *(figure(value) for value in values.sums[place, :, 1]), f"{gaps[place]:+.3f}")
            for place in ends
        ]
        yield number_table(
            f"query-differences-{visible(first)}-{visible(second)}",
            "The queries with the largest gains and losses.",
            ("query", visible(first), visible(second), "difference"),
            rows,
            small=True,
        )
