# SPDX-License-Identifier: Apache-2.0
"""Sections of a report that only clustering has: which classes a cluster holds, and where clusters lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.core.blocks import Block, Card, Figure, Paragraph, Section, chart, number_table, section
from assay.core.text import counted, visible
from assay.tasks.clustering.intervals import ANSWERS
from assay.tasks.clustering.tally import Contingency

MOST: Final = 25
"""Classes or clusters that are drawn."""


def describe_table(tally: Contingency) -> dict[str, object]:
    """Small parts of a Record that the report draws: the largest clusters by the largest classes."""
    clusters = sorted(range(len(tally.clusters)), key=lambda j: -int(tally.cluster_sizes[j]))[:MOST]
    classes = sorted(range(len(tally.classes)), key=lambda i: -int(tally.class_sizes[i]))[:MOST]
    counts = {(i, j): n for i, j, n in tally.cells.tolist()}
    return {
        "classes": [tally.classes[i] for i in classes],
        "clusters": [tally.clusters[j] for j in clusters],
        "sizes": [int(tally.cluster_sizes[j]) for j in clusters],
        "cells": [[counts.get((i, j), 0) for j in clusters] for i in classes],
        "hidden": [len(tally.classes) - len(classes), len(tally.clusters) - len(clusters)],
    }


def clustering_sections(record: Mapping[str, Any]) -> Iterator[Section]:
    """The sections of one clustering."""
    table = record.get("figures")
    if table and table["classes"]:
        yield section("clusters", "Clusters by class", _table_blocks(table))


def _table_blocks(table: Mapping[str, Any]) -> Iterator[Block]:
    yield Paragraph(f"{ANSWERS.capitalize()}. How stable clusters are is another question.")
    sizes = [max(size, 1) for size in table["sizes"]]
    cells = [
        [{"text": f"{n:,}" if n else "", "share": n / size} for n, size in zip(row, sizes, strict=True)]
        for row in table["cells"]
    ]
    names = [visible(name) for name in table["clusters"]]
    class_names = [visible(name) for name in table["classes"]]
    drawn = chart("matrix", title="Rows by class and cluster", rows=class_names, columns=names, cells=cells)
    alt = f"Rows by class and cluster: {counted(len(cells), 'class', 'classes')}, {counted(len(names), 'cluster')}."
    yield Card((Figure(charts=(drawn,), alt=alt, note="Shaded by the share of the cluster."),))
    rows = []
    for place, name in enumerate(names):
        column = [row[place] for row in table["cells"]]
        largest = max(range(len(column)), key=column.__getitem__)
        share = f"{column[largest] / sizes[place]:.0%}"
        rows.append((name, f"{table['sizes'][place]:,}", class_names[largest], share))
    heads = ("cluster", "rows", "most frequent class", "its share")
    yield Card((number_table("clusters", "What each cluster holds.", heads, rows, small=True),))
    if any(table["hidden"]):
        classes, clusters = table["hidden"]
        yield Paragraph(f"{counted(classes, 'smaller class', 'smaller classes')} and "
                        f"{counted(clusters, 'smaller cluster')} are not drawn.", tone="soft")  # fmt: skip
