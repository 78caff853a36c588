# SPDX-License-Identifier: Apache-2.0
"""Controls of what the data lack: missing values, values that training never met, and recent samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from assay.assess.controls.control_declaration import Inquiry, Outcome, control, no_evidence, settle
from assay.assess.controls.data.association import associated, flag
from assay.core.text import counted, figure, listed, phrases
from assay.inference.data_chance import outside_by_chance, unseen_by_chance
from assay.tally.data.feature_counts import described, missing_by, outside

if TYPE_CHECKING:
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
