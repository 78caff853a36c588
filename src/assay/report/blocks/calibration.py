# SPDX-License-Identifier: Apache-2.0
"""What a Record says of probabilities, ready to be drawn: bins of reliability, decision curves, histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.core.text import figure
from assay.report.estimate_rows import amount, real
from assay.tally.base import count_from_json

LISTED: Final = 19
"""Thresholds of a decision curve that its table lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Rows whose scores lie together: how large the scores are and how many rows are positive."""

    low: float
    high: float
    rows: float
    shown: str
    score: float
    share: float
    share_low: float | None
    share_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Net benefit by threshold probability."""

    threshold: tuple[float, ...]
    model: tuple[float, ...]
    everyone: tuple[float, ...]
    ceiling: float
    best_from: str
    best_to: str
    rows: tuple[tuple[str, str, str], ...]
    """Some thresholds with the net benefit of the model and of calling every row positive, as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How many positives and negatives have scores between neighbouring edges."""

    edges: tuple[float, ...]
    positives: tuple[float, ...]
    negatives: tuple[float, ...]
    shown_positives: str
    shown_negatives: str
    rows: tuple[tuple[str, str, str], ...]
    """Edges with the positives and negatives between them, as text."""


def count_of(content: object) -> float:
    """A count of a Record as a number to draw."""
    return float(count_from_json(content))


def reliability(content: Mapping[str, Any] | None) -> tuple[Bin, ...]:
    """The bins of a Record."""
    return tuple(_bin(one) for one in (content or {}).get("bins", ()))


def _bin(one: Sequence[Any]) -> Bin:
    low, high, rows, score, share, share_low, share_high = one
    return Bin(
        low=float(low),
        high=float(high),
        rows=count_of(rows),
        shown=amount(count_from_json(rows)),
        score=float(score),
        share=float(share),
        share_low=real(share_low),
        share_high=real(share_high),
    )


def decision(content: Sequence[Sequence[float]] | None) -> Decision | None:
    """The decision curve of a Record."""
    if not content:
        return None
    threshold, model, everyone = (tuple(float(row[i]) for row in content) for i in range(3))
    best = [t for t, a, b in zip(threshold, model, everyone, strict=True) if a > max(b, 0.0)]
    return Decision(
        threshold=threshold,
        model=model,
        everyone=everyone,
        ceiling=everyone[0],
        best_from=figure(best[0], digits=2) if best else "",
        best_to=figure(best[-1], digits=2) if best else "",
        rows=tuple(
            (f"{t:.3g}", figure(a), figure(b))
            for t, a, b in list(zip(threshold, model, everyone, strict=True))[:: max(1, len(threshold) // LISTED)]
        ),
    )


def histogram(content: Mapping[str, Any] | None) -> Histogram | None:
    """The histogram of a Record."""
    if not content:
        return None
    sides = {side: tuple(count_of(n) for n in content[side]) for side in ("positives", "negatives")}
    return Histogram(
        edges=tuple(float(x) for x in content["edges"]),
        positives=sides["positives"],
        negatives=sides["negatives"],
        shown_positives=_middle(content["edges"], sides["positives"]),
        shown_negatives=_middle(content["edges"], sides["negatives"]),
        rows=tuple(
            (f"{low:.4g} to {high:.4g}", amount(count_from_json(a)), amount(count_from_json(b)))
            for low, high, a, b in zip(
                content["edges"][:-1], content["edges"][1:], content["positives"], content["negatives"], strict=True
            )
        ),
    )


def _middle(edges: Sequence[float], counts: Sequence[float]) -> str:
    """Between which edges the middle row of a side stands."""
    seen, half = 0.0, sum(counts) / 2
    for i, n in enumerate(counts):
        seen += n
        if n and seen >= half:
            return f"{figure(float(edges[i]), digits=2)} to {figure(float(edges[i + 1]), digits=2)}"
    return ""
