# SPDX-License-Identifier: Apache-2.0
"""The control of single features: one that alone tells the label is a suspect, for it may stand for the label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from assay.assess.controls.control_declaration import Inquiry, Outcome, Verdict, control, no_evidence
from assay.assess.controls.data.association import associated, guessed_by, quantile_cells
from assay.core.text import counted, figure, phrases
from assay.core.values import Undefined
from assay.fairness.feasibility import check_unawareness
from assay.inference.intervals.auc import area_interval
from assay.tally.data.feature_counts import alone, described, numbers_by
from assay.tally.scores.score_tally import Scores
from assay.tasks.classification.measures.score_curves import auroc

if TYPE_CHECKING:
    from assay.assess.plan.fields import Thresholds
    from assay.tally.data.split_counts import SplitRows

LEVEL: Final = 0.95
CLASSES: Final = 50
"""Classes up to which each is set against the rest."""
CODES: Final = 20
"""Different numbers up to which a numeric feature is also read as a category, since its order may mean nothing."""
PURE: Final = 0.99
REPEATED: Final = 30
"""Rows of levels that occur twice or more which a column like an id needs before its purity says anything."""


@control("CHK-PROXY")
def proxies(q: Inquiry) -> Outcome:
    """Looks for one feature that alone tells the label, or tells it as well as the model."""
    features, truth, train = q.plan.columns.features or [], q.plan.columns.truth, q.of_role("train")
    there = {name: one for name, one in train.items() if features and one.has(truth, *features)}
    if truth is None or not there:
        return no_evidence("no features are declared, or no training data have them")
    values = [model["balanced_accuracy"].value for model in q.assessments.values()]
    best = max((value for value in values if value is not None), default=None)
    limits = q.plan.checks
    facts: dict[str, Any] = {}
    bad: list[str] = []
    for name, split in there.items():
        for feature in features:
            screening = _screened(split, feature, str(truth))
            facts[f"{feature} in {name}"] = screening
            why = _strong(screening, limits)
            if screening.get("pure"):
                why.append("every value that occurs again has one class")
            if best is not None and screening.get("alone_low", 0) >= best:
                why.append(f"alone it guesses {figure(screening['alone'])}, the best model {figure(best)}")
            screening["flagged"] = bool(why)
            bad += [f"{feature} in {name}: {'; '.join(why)}"] if why else []
    said = phrases(bad) if bad else f"{counted(len(facts), 'feature')}, none tells the label alone"
    thresholds = {"auroc": limits.proxy_auroc, "cramers_v": limits.proxy_association, "best_model": best}
    return Outcome("suspect" if bad else "pass", said, facts=facts, thresholds=thresholds, inputs=q.digests(*there))


@control("CHK-UNAWARE")
def unaware(q: Inquiry) -> Outcome:
    """Looks for features that name a group of people, or stand for one."""
    features, factors = q.plan.columns.features, q.plan.fairness.groups or []
    if features is None or not factors:
        return no_evidence("no features, or no groups of people, are declared")
    limits, facts, bad = q.plan.checks, dict[str, Any](), list[str]()
    there = {name: one for name, one in q.splits.items() if one.has(*factors, *features)}
    for factor in factors:
        named = check_unawareness(factor, features).aware_by
        bad += [f"{feature} names {factor}" for feature in named]
        for name, split in there.items():
            for feature in (one for one in features if one not in (factor, *named)):
                screening = facts[f"{feature} and {factor} in {name}"] = _screened(split, feature, factor)
                bad += [f"{feature} tells {factor} in {name}: {why}" for why in _strong(screening, limits)[:1]]
    strongest = max((max(one.get("auroc", 0) * 2 - 1, one.get("cramers_v", 0)) for one in facts.values()), default=None)
    shown = "no data set has both" if strongest is None else f"strongest association {figure(strongest)}"
    said = phrases(bad) if bad else f"{counted(len(features), 'feature')}, none names or stands for a group; {shown}"
    thresholds = {"auroc": limits.proxy_auroc, "cramers_v": limits.proxy_association}
    verdict: Verdict = "suspect" if bad else "pass" if there else "no-evidence"
    return Outcome(verdict, said, facts=facts, thresholds=thresholds, inputs=q.digests(*there))


def _strong(screening: dict[str, Any], limits: Thresholds) -> list[str]:
    """By which measures a feature tells a label as a stand-in for it would."""
    bounds = {"auroc": ("AUROC", limits.proxy_auroc), "cramers_v": ("V", limits.proxy_association)}
    strong = {name: symbol for name, (symbol, limit) in bounds.items() if screening.get(name, 0) >= limit}
    ends = {name: [figure(screening[f"{name}{end}"]) for end in ("", "_low", "_high")] for name in strong}
    return [f"{strong[name]} {value} ({low} to {high})" for name, (value, low, high) in ends.items()]


def _screened(split: SplitRows, feature: str, truth: str) -> dict[str, Any]:
    column = described(split, feature)
    screening: dict[str, Any] = {"values": column.values, "different": column.distinct}
    if column.numeric:
        screening |= _by_numbers(split, feature, truth)
    if not column.numeric or column.distinct <= CODES:
        screening |= _by_levels(split, feature, truth)
    return screening


def _by_numbers(split: SplitRows, feature: str, truth: str) -> dict[str, Any]:
    """How well the order of a feature parts one class from the rest, either way up, and how well its parts guess."""
    x, y, labels = numbers_by(split, feature, truth)
    if len(labels) < 2:  # noqa: PLR2004  nothing to tell
        return {}
    strength: dict[str, Any] = {}
    for code in range(len(labels) if 2 < len(labels) <= CLASSES else 1):  # noqa: PLR2004  of two classes, one says it
        ranked = Scores.binary(x, y == code).one_vs_rest(1)
        area = auroc(ranked)
        if isinstance(area, Undefined):
            continue
        low, high, method = area_interval(ranked, area.value, LEVEL)
        ends = (area.value, low, high) if area.value >= 0.5 else (1 - area.value, 1 - high, 1 - low)  # noqa: PLR2004
        if ends[0] > strength.get("auroc", 0.0):
            strength = dict(zip(("auroc", "auroc_low", "auroc_high"), ends, strict=True))
            strength |= {"auroc_of": labels[code], "interval": method}
    cells = quantile_cells(x, y)
    return strength | _guess(cells, len(labels))


def _by_levels(split: SplitRows, feature: str, truth: str) -> dict[str, Any]:
    table = split.table(feature, truth)
    if table is None:
        repeated, pure, most = alone(split, feature, truth)
        rows = split.rows()
        told = repeated >= REPEATED and pure >= PURE * repeated and most < PURE * rows
        return {"repeated": repeated, "repeated_with_one_class": pure, "pure": told}
    cells = {key: n for key, n in table.items() if None not in key}
    association = associated(cells) if cells else None
    if association is None:
        return {}
    strength = {name: getattr(association, name) for name in ("cramers_v", "cramers_v_low", "cramers_v_high")}
    return strength | _guess(cells, len({label for _, label in cells}))


def _guess(cells: Mapping[tuple[Any, ...], int], classes: int) -> dict[str, float]:
    excess, low = guessed_by(cells)
    return {"alone": excess + 1 / classes, "alone_low": low + 1 / classes}
