# SPDX-License-Identifier: Apache-2.0
"""Whether features are distributed alike: in two splits, or in a split and a reference sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.assess.controls.control_declaration import Outcome, Verdict
from assay.assess.controls.data.association import associated
from assay.core.text import counted, figure, phrases
from assay.inference.data.two_samples import kolmogorov_smirnov
from assay.inference.multiplicity import holm
from assay.inference.tests.contingency import chi_squared_fit
from assay.tally.contingency_tables import Table
from assay.tally.data.feature_counts import described, values_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.assess.controls.evidence import Inquiry
    from assay.tally.data.split_counts import SplitRows

PAIR: Final = 2
SCALE: Final = 10**9
"""Declared shares become reference counts of this total; only their ratios matter."""
CODES = 20
"""Different numbers up to which a feature is compared level by level."""


def alike(q: Inquiry, part: str, features: Sequence[str], pairs: Mapping[str, tuple[SplitRows, SplitRows]]) -> Outcome:
    """Each feature in each pair of data sets: the gap of distributions of numbers, the association of categories."""
    facts: dict[str, Any] = {}
    for name, (first_split, other) in pairs.items():
        for feature in features:
            if first_split.has(feature) and other.has(feature):
                facts[f"{feature}, {name}"] = _compared(first_split, other, feature)
    return _judged(q, part, facts)


def _judged(q: Inquiry, part: str, facts: dict[str, Any]) -> Outcome:
    judged = {name: comparison for name, comparison in facts.items() if "p" in comparison}
    limits, bad = q.plan.checks, []
    bounds = {"D": limits.distance, "V": limits.association, "total variation": limits.share_gap}
    if not judged:
        return Outcome(part=part, verdict="no-evidence", says="there is no feature to compare", facts=facts)
    for (name, comparison), p in zip(
        judged.items(), holm([comparison["p"] for comparison in judged.values()]), strict=True
    ):
        limit = bounds[comparison["statistic"]]
        comparison["p_adjusted"], comparison["flagged"] = p, p < limits.alpha and comparison["value"] >= limit
        if comparison["flagged"]:
            bad.append(f"{name} ({comparison['statistic']} {figure(comparison['value'])})")
    said = f"distributed otherwise: {phrases(bad)}" if bad else f"{counted(len(judged), 'comparison')}, all alike"
    thresholds = {"alpha": limits.alpha, "distance": limits.distance, "cramers_v": limits.association}
    thresholds |= {"total_variation": limits.share_gap} if part == "declared" else {}
    verdict: Verdict = "fail" if bad else "pass"
    return Outcome(part=part, verdict=verdict, says=said, facts=facts, thresholds=thresholds)


def as_declared(q: Inquiry, splits: Mapping[str, SplitRows]) -> Outcome | None:
    """Features against the quantiles and shares that the plan declares of the population; None if it declares none."""
    quantiles, levels = q.plan.population.quantiles or {}, q.plan.population.levels or {}
    if not quantiles and not levels:
        return None
    facts: dict[str, Any] = {}
    for name, split in splits.items():
        facts |= {f"{one}, {name}": _quantiles(split, one, quantiles[one]) for one in quantiles if split.has(one)}
        facts |= {f"{one}, {name}": _levels(split, one, levels[one]) for one in levels if split.has(one)}
    return _judged(q, "declared", facts)


def _quantiles(split: SplitRows, feature: str, below: Mapping[str, float]) -> dict[str, Any]:
    """The largest gap between the declared shares and those of the rows at the same values."""
    shares = sorted((float(share), value) for share, value in below.items())
    values = values_of(split, feature)
    if not len(values):
        return {"left_out": "there is no number"}
    counts = np.histogram(values, bins=[-np.inf, *(np.nextafter(value, np.inf) for _, value in shares), np.inf])[0]
    seen = np.cumsum(counts)[:-1] / len(values)
    wanted = np.array([share for share, _ in shares])
    p = _fits(counts.tolist(), np.diff([0.0, *wanted, 1.0]).tolist())
    return {"statistic": "D", "value": float(np.abs(seen - wanted).max()), "p": p, "rows": len(values)}


def _levels(split: SplitRows, feature: str, shares: Mapping[str, float]) -> dict[str, Any]:
    """Half the sum of the gaps between declared shares and those of the rows."""
    table = split.table(feature)
    if table is None:
        return {"left_out": "too many different values to be categories"}
    counts = {str(key[0]): n for key, n in table.items() if key[0] is not None}
    if not counts:
        return {"left_out": "there is no value"}
    return {"statistic": "total variation", **shares_apart(counts, shares)}


def shares_apart(counts: Mapping[str, int], shares: Mapping[str, float]) -> dict[str, Any]:
    """How far counts of levels lie from declared shares, and the chance of as much."""
    total = sum(counts.values())
    strange = sorted(level for level in counts if not shares.get(level))
    gap = sum(abs(counts.get(one, 0) / total - shares.get(one, 0.0)) for one in {**shares, **counts}) / 2
    known = [level for level, share in shares.items() if share]
    fits = not strange and len(known) >= PAIR
    p = _fits([counts.get(one, 0) for one in known], [shares[one] for one in known]) if fits else 0.0
    return {"value": gap, "p": p, "rows": total, "not_in_population": strange}


def _fits(counts: Sequence[int], shares: Sequence[float]) -> float:
    """The chance of counts as far from declared shares."""
    reference = tuple(max(1, round(share * SCALE)) for share in shares)
    return chi_squared_fit(Table(rows=(tuple(counts), reference))).p or 0.0


def _compared(first_split: SplitRows, other: SplitRows, feature: str) -> dict[str, Any]:
    short = [described(split, feature) for split in (first_split, other)]
    if all(summary.numeric for summary in short) and max(summary.distinct for summary in short) > CODES:
        gap, p = kolmogorov_smirnov(values_of(first_split, feature), values_of(other, feature))
        return {"statistic": "D", "value": gap, "p": p}
    tables = [split.table(feature) for split in (first_split, other)]
    if None in tables:
        return {"left_out": "too many different values to be categories"}
    cells = {
        (side, key[0]): n for side, table in enumerate(tables) for key, n in (table or {}).items() if key[0] is not None
    }
    summary = associated(cells) if cells else None
    if summary is None:
        return {"left_out": "there is one level only"}
    return {"statistic": "V", "value": summary.strength, "low": summary.low, "high": summary.high, "p": summary.p}
