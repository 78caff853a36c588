# SPDX-License-Identifier: Apache-2.0
"""Controls of what the data lack: missing values, values that training never met, and recent samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from assay.assess.controls.control_declaration import Outcome, Verdict, control, no_evidence
from assay.assess.controls.data.association import Association, adjusted, associated
from assay.assess.controls.evidence import Inquiry
from assay.core.text import counted, figure, listed, phrases
from assay.core.traits import TS4213
from assay.inference.data.two_samples import outside_by_chance, unseen_by_chance
from assay.inference.multiplicity import holm
from assay.tally.data.feature_counts import described, missing_by, outside

if TYPE_CHECKING:
    from assay.core.labels import Label
    from assay.tally.data.split_counts import SplitRows

DAY: Final = 86_400


@control(
    "CHK-MISSING",
    looks_for="missing values, and missing values that tell the class",
    clause=TS4213("5.3.2"),
    passes_when="in no split the lack of a value goes with the class, beyond chance and beyond V",
    lacks="features in columns",
    of_classes=True,
)
def missing(q: Inquiry) -> Outcome:
    """Missing values do not tell the class."""
    truth = q.plan.columns.truth
    there = {name: one for name, one in q.splits.items() if one.has(truth)}
    if truth is None or not there:
        return no_evidence("no data with true labels were counted")
    facts: dict[str, Any] = {}
    looked: list[tuple[str, Any]] = []
    for name, split in there.items():
        columns = [one for one in q.plan.columns.features or split.columns if one != truth and split.has(one)]
        for column, told, association in _lacking(split, columns, truth):
            facts[f"{column} in {name}"] = told
            looked += [] if association is None else [(f"{column} in {name}", association)]
    limits, bad = q.plan.checks, []
    for (name, association), p in zip(looked, adjusted([one for _, one in looked]), strict=True):
        flagged = p < limits.alpha and association.strength >= limits.association
        facts[name] |= {**association.to_json(p), "flagged": flagged}
        bad += [f"{name} (V {figure(association.strength)})"] if flagged else []
    most = max((one["share"] for one in facts.values()), default=0.0)
    said = "no value is missing" if not facts else f"values are missing in {len(facts)} columns, at most {figure(most)}"
    if bad:
        said = f"whether a value is missing tells the class: {phrases(bad)}"
    thresholds = {"alpha": limits.alpha, "cramers_v": limits.association}
    verdict: Verdict = "suspect" if bad else "pass"
    return Outcome(verdict, said, facts=facts, thresholds=thresholds, inputs=q.digests(*there))


def _lacking(
    split: SplitRows, columns: list[str], truth: str
) -> Iterator[tuple[str, dict[str, Any], Association | None]]:
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
        yield column, told, associated({cell: n for cell, n in cells.items() if n})


@control(
    "CHK-RANGE",
    looks_for="test values outside what training saw, and categories it never met",
    clause=TS4213("5.3.2"),
    passes_when="of no feature more test values are new than chance brings and than the threshold allows",
    lacks="features in columns",
)
def ranges(q: Inquiry) -> Outcome:
    """Test values lie within what training saw."""
    features, train, test = q.plan.columns.features or [], q.of_role("train"), q.of_role("test")
    every = (*train.values(), *test.values())
    if not features or not train or not test or not all(entry.has(*features) for entry in every):
        return no_evidence("no features are declared, or training or test data lack them")
    facts: dict[str, Any] = {}
    for name, split in test.items():
        facts |= _new_values(features, train, name, split)
    judged = {name: entry for name, entry in facts.items() if "p" in entry}
    limits, bad = q.plan.checks, []
    for (name, entry), p in zip(judged.items(), holm([entry["p"] for entry in judged.values()]), strict=True):
        entry["p_adjusted"], entry["flagged"] = p, p < limits.alpha and entry["share"] >= limits.outside
        if entry["flagged"]:
            bad.append(f"{name} ({counted(entry['new'], 'value')}, {figure(entry['share'])})")
    left = [name for name in facts if name not in judged]
    tail = f"; not comparable: {phrases(left)}" if left else ""
    if not judged:
        return no_evidence(f"no feature can be compared{tail}", facts=facts)
    said = f"new to training: {phrases(bad)}" if bad else f"{counted(len(judged), 'feature')}, none with new values"
    thresholds = {"alpha": limits.alpha, "outside": limits.outside}
    verdict: Verdict = "fail" if bad else "pass"
    inputs = q.digests(*train, *test)
    return Outcome(verdict, said + tail, facts=facts, thresholds=thresholds, inputs=inputs)


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


@control(
    "CHK-AGE",
    looks_for="data that are old when they are assessed, and dates in the future",
    clause=TS4213("5.3.2"),
    passes_when="the newest sample of every split is no older than the declared maximum",
    lacks="a time of the samples",
)
def age(q: Inquiry) -> Outcome:
    """The data are recent enough."""
    column, most = q.plan.columns.time, q.plan.use.maximum_age_days
    there = {name: one for name, one in q.splits.items() if one.has(column)}
    if column is None or not there or not q.frozen_at:
        return no_evidence("no time column is declared, or no split has it")
    spans = {name: one.span(column) for name, one in there.items()}
    unread = [name for name, span in spans.items() if span is None]
    if unread:
        return no_evidence(f"not every value is a time in {listed(unread)}")
    now = datetime.fromisoformat(q.frozen_at).replace(tzinfo=None)
    facts = {name: _ages(now, *span) for name, span in spans.items() if span is not None}
    verdict, said = _recent({name: one["newest_age_days"] for name, one in facts.items()}, most)
    thresholds = {} if most is None else {"maximum_age_days": most}
    return Outcome(verdict, said, facts=facts, thresholds=thresholds, inputs=q.digests(*there))


def _recent(newest: Mapping[str, float], most: float | None) -> tuple[Verdict, str]:
    """Whether the newest sample of every split is recent enough, and how old each is."""
    # A day of tolerance: times without a zone may be ahead of ours.
    ahead = [name for name, days in newest.items() if days < -1]
    old = [name for name, days in newest.items() if most is not None and days > most]
    said = "newest sample: " + ", ".join(f"{name} {days:.0f} days" for name, days in newest.items())
    verdict: Verdict = "fail" if old else "suspect" if ahead else "no-evidence" if most is None else "pass"
    if ahead:
        return verdict, f"{said}; dated after the assessment: {listed(ahead)}"
    if old:
        return verdict, f"{said}; older than {most:g} days: {listed(old)}"
    return verdict, said if most is not None else f"{said}; no maximum is declared"


def _ages(now: datetime, *span: str) -> dict[str, Any]:
    """The first and the last time of a span, and their age in days."""
    first, last = (datetime.fromisoformat(one).replace(tzinfo=None) for one in span)
    return {
        "first": first.isoformat(),
        "last": last.isoformat(),
        "newest_age_days": (now - last).total_seconds() / DAY,
        "oldest_age_days": (now - first).total_seconds() / DAY,
    }
