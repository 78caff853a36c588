# SPDX-License-Identifier: Apache-2.0
"""Controls of single columns: missing values, values new to training, age, and features that alone tell the label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from assay.assess.controls.control_declaration import Inquiry, Outcome, Verdict, control, no_evidence, settle
from assay.assess.controls.data.association import associated, flag, guessed_by, quantile_cells
from assay.core.text import counted, figure, listed, phrases
from assay.core.values import Undefined
from assay.fairness.feasibility import check_unawareness
from assay.inference.data_chance import outside_by_chance, unseen_by_chance
from assay.inference.intervals.auc import area_interval
from assay.tally.data.feature_counts import alone, described, missing_by, numbers_by, outside
from assay.tally.scores.score_tally import Scores
from assay.tasks.classification.measures.score_curves import auroc

if TYPE_CHECKING:
    from assay.assess.plan.fields import Thresholds
    from assay.core.labels import Label
    from assay.tally.data.split_counts import SplitRows

DAY: Final = 86_400


@control("CHK-MISSING")
def missing(q: Inquiry) -> Outcome:
    """Looks for missing values, and missing values that tell the class."""
    truth = q.plan.columns.truth
    there = {name: one for name, one in q.splits.items() if one.has(truth)}
    if truth is None or not there:
        return no_evidence("no data with true labels were counted")
    facts: dict[str, Any] = {}
    for name, split in there.items():
        columns = [one for one in q.plan.columns.features or split.columns if one != truth and split.has(one)]
        facts |= {f"{column} in {name}": told for column, told in _lacking(split, columns, truth)}
    limits = q.plan.checks
    bad = flag(facts, limits.alpha, lambda fact: fact["cramers_v"] >= limits.association)
    shown = phrases([f"{name} (V {figure(facts[name]['cramers_v'])})" for name in bad])
    most = max((one["share"] for one in facts.values()), default=0.0)
    return settle(
        (bad, "suspect", f"whether a value is missing tells the class: {shown}"),
        (facts, "pass", f"values are missing in {len(facts)} columns, at most {figure(most)}"),
        (True, "pass", "no value is missing"),
        facts=facts,
        thresholds={"alpha": limits.alpha, "cramers_v": limits.association},
        inputs=q.digests(*there),
    )


def _lacking(split: SplitRows, columns: list[str], truth: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Columns with missing values: how many by class, and whether they go with the class."""
    by_class = missing_by(split, columns, truth) if columns else {}
    rows = sum(n for n, _ in by_class.values())
    for column in columns:
        gone = sum(lacking[column] for _, lacking in by_class.values())
        if not gone:
            continue
        cells: dict[tuple[Any, ...], int] = {}
        for label, (n, lacking) in by_class.items():
            if label is not None:
                cells |= {(label, True): lacking[column], (label, False): n - lacking[column]}
        shares = {str(label): lacking[column] / n for label, (n, lacking) in by_class.items()}
        told = {"missing": gone, "share": gone / rows, "share_by_class": shares}
        association = associated({cell: n for cell, n in cells.items() if n})
        yield column, told | ({} if association is None else association.to_json())


@control("CHK-RANGE")
def ranges(q: Inquiry) -> Outcome:
    """Looks for test values outside what training saw, and categories it never met."""
    features, train, test = q.plan.columns.features or [], q.of_role("train"), q.of_role("test")
    every = (*train.values(), *test.values())
    if not features or not train or not test or not all(entry.has(*features) for entry in every):
        return no_evidence("no features are declared, or training or test data lack them")
    facts: dict[str, Any] = {}
    for name, split in test.items():
        facts |= _new_values(features, train, name, split)
    limits = q.plan.checks
    bad = flag(facts, limits.alpha, lambda fact: fact["share"] >= limits.outside)
    shown = phrases(
        [f"{name} ({counted(facts[name]['new'], 'value')}, {figure(facts[name]['share'])})" for name in bad]
    )
    left = [name for name, fact in facts.items() if "p" not in fact]
    tail = f"; not comparable: {phrases(left)}" if left else ""
    if len(left) == len(facts):
        return no_evidence(f"no feature can be compared{tail}", facts=facts)
    return settle(
        (bad, "fail", f"new to training: {shown}{tail}"),
        (True, "pass", f"{counted(len(facts) - len(left), 'feature')}, none with new values{tail}"),
        facts=facts,
        thresholds={"alpha": limits.alpha, "outside": limits.outside},
        inputs=q.digests(*train, *test),
    )


def _new_values(
    features: list[str], train: Mapping[str, SplitRows], name: str, split: SplitRows
) -> dict[str, dict[str, Any]]:
    """What one test split holds that training did not: by feature, with the chance of as much."""
    facts: dict[str, dict[str, Any]] = {}
    limits: dict[str, tuple[float, float]] = {}
    sizes: dict[str, tuple[int, int]] = {}
    for feature in features:
        seen, here = [described(one, feature) for one in train.values()], described(split, feature)
        if all(one.numeric for one in (*seen, here)):
            limits[feature] = min(one.low for one in seen), max(one.high for one in seen)
            sizes[feature] = sum(one.values for one in seen), here.values
        else:
            facts[f"{feature} in {name}"] = _new_levels([one.table(feature) for one in train.values()], split, feature)
    if limits:
        found, rows = outside(split, limits)
        for feature, n in found.items():
            earlier, later = sizes[feature]
            facts[f"{feature} in {name}"] = {
                "new": n,
                "share": n / later,
                "range": list(limits[feature]),
                "p": outside_by_chance(n, later, earlier),
                "rows_with_any": rows,
            }
    return facts


def _new_levels(seen: list[Any], split: SplitRows, feature: str) -> dict[str, Any]:
    here = split.table(feature)
    if here is None or None in seen:
        return {"left_out": "too many different values to be categories"}
    earlier: dict[Label, int] = {}
    for table in seen:
        for (level,), n in table.items():
            if level is not None:
                earlier[level] = earlier.get(level, 0) + n
    later = {level: n for (level,), n in here.items() if level is not None}
    if not earlier or not later:
        return {"left_out": "there is no value"}
    new, p = unseen_by_chance(earlier, later)
    levels = sum(level not in earlier for level in later)
    return {"new": new, "share": new / sum(later.values()), "new_levels": levels, "p": p}


@control("CHK-AGE")
def age(q: Inquiry) -> Outcome:
    """Looks for data that are old when they are assessed, and dates in the future."""
    column = q.plan.columns.time
    there = {name: one for name, one in q.splits.items() if one.has(column)}
    if column is None or not there or not q.frozen_at:
        return no_evidence("no time column is declared, or no split has it")
    spans = {name: one.span(column) for name, one in there.items()}
    unread = [name for name, span in spans.items() if span is None]
    if unread:
        return no_evidence(f"not every value is a time in {listed(unread)}")
    now = datetime.fromisoformat(q.frozen_at).replace(tzinfo=None)
    facts = {name: _ages(now, *span) for name, span in spans.items() if span is not None}
    return replace(_recent(facts, q.plan.use.maximum_age_days), inputs=q.digests(*there))


def _recent(facts: Mapping[str, dict[str, Any]], most: float | None) -> Outcome:
    """Whether the newest sample of every split is recent enough, and how old each is."""
    newest = {name: fact["newest_age_days"] for name, fact in facts.items()}
    # A day of tolerance: times without a zone may be ahead of ours.
    ahead = [name for name, days in newest.items() if days < -1]
    old = [name for name, days in newest.items() if most is not None and days > most]
    said = "newest sample: " + ", ".join(f"{name} {days:.0f} days" for name, days in newest.items())
    return settle(
        (ahead, "fail" if old else "suspect", f"{said}; dated after the assessment: {listed(ahead)}"),
        (old, "fail", f"{said}; older than {most or 0:g} days: {listed(old)}"),
        (most is None, "no-evidence", f"{said}; no maximum is declared"),
        (True, "pass", said),
        facts=facts,
        thresholds={} if most is None else {"maximum_age_days": most},
    )


def _ages(now: datetime, *span: str) -> dict[str, Any]:
    """The first and the last time of a span, and their age in days."""
    first, last = (datetime.fromisoformat(one).replace(tzinfo=None) for one in span)
    return {
        "first": first.isoformat(),
        "last": last.isoformat(),
        "newest_age_days": (now - last).total_seconds() / DAY,
        "oldest_age_days": (now - first).total_seconds() / DAY,
    }


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
