# SPDX-License-Identifier: Apache-2.0
"""Whether features are distributed alike: in two splits, or in a split and a reference sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.assess.controls.association import associated
from assay.assess.controls.declare import Outcome, Verdict
from assay.core.text import counted, figure, phrases
from assay.inference.distributions import kolmogorov_smirnov
from assay.inference.multiplicity import holm
from assay.tally.features import described, values_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.assess.controls.inquiry import Inquiry
    from assay.tally.splits import SplitRows

CODES = 20
"""Different numbers up to which a feature is compared level by level."""


def alike(q: Inquiry, part: str, features: Sequence[str], pairs: Mapping[str, tuple[SplitRows, SplitRows]]) -> Outcome:
    """Each feature in each pair of data sets: the gap of distributions of numbers, the association of categories."""
    facts: dict[str, Any] = {}
    for name, (one, other) in pairs.items():
        for feature in features:
            if one.has(feature) and other.has(feature):
                facts[f"{feature}, {name}"] = _compared(one, other, feature)
    judged = {name: one for name, one in facts.items() if "p" in one}
    limits, bad = q.plan.checks, []
    if not judged:
        return Outcome(part=part, verdict="no-evidence", says="there is no feature to compare", facts=facts)
    for (name, one), p in zip(judged.items(), holm([one["p"] for one in judged.values()]), strict=True):
        limit = limits.distance if one["statistic"] == "D" else limits.association
        one["p_adjusted"], one["flagged"] = p, p < limits.alpha and one["value"] >= limit
        if one["flagged"]:
            bad.append(f"{name} ({one['statistic']} {figure(one['value'])})")
    said = f"distributed otherwise: {phrases(bad)}" if bad else f"{counted(len(judged), 'comparison')}, all alike"
    thresholds = {"alpha": limits.alpha, "distance": limits.distance, "cramers_v": limits.association}
    verdict: Verdict = "fail" if bad else "pass"
    return Outcome(part=part, verdict=verdict, says=said, facts=facts, thresholds=thresholds)


def _compared(one: SplitRows, other: SplitRows, feature: str) -> dict[str, Any]:
    short = [described(split, feature) for split in (one, other)]
    if all(found.numeric for found in short) and max(found.distinct for found in short) > CODES:
        gap, p = kolmogorov_smirnov(values_of(one, feature), values_of(other, feature))
        return {"statistic": "D", "value": gap, "p": p}
    tables = [split.table(feature) for split in (one, other)]
    if None in tables:
        return {"left_out": "too many different values to be categories"}
    cells = {
        (side, key[0]): n for side, table in enumerate(tables) for key, n in (table or {}).items() if key[0] is not None
    }
    found = associated(cells) if cells else None
    if found is None:
        return {"left_out": "there is one level only"}
    return {"statistic": "V", "value": found.strength, "low": found.low, "high": found.high, "p": found.p}
