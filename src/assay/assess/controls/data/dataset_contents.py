# SPDX-License-Identifier: Apache-2.0
"""Controls of the data sets: what they hold, how alike they are, the population they stand for, channel effects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from assay.assess.controls.control_declaration import Outcome, Verdict, control, no_evidence
from assay.assess.controls.data.association import (
    Association,
    adjusted,
    associated,
    associated_numbers,
    quantile_cells,
    tests_of,
)
from assay.assess.controls.data.distribution_shift import alike, as_declared, shares_apart
from assay.assess.controls.evidence import Inquiry
from assay.assess.plan.plan_answers import splits_of
from assay.core.text import counted, figure, listed, quoted
from assay.core.traits import TS4213
from assay.inference.multiplicity import holm
from assay.inference.tail_probabilities import shown
from assay.tally.data.feature_counts import described, numbers_by
from assay.tally.data.split_counts import SplitRows

MEASURED = 20
"""Different numbers from which a channel counts as measured, not as a code."""
Cells = Mapping[tuple[Any, ...], int]


@control(
    "CHK-MANIFEST",
    looks_for="size, composition, missing values, time span and digests of every data set",
    clause=TS4213("8"),
    passes_when="every split of the plan has a file that was counted, and a stated source",
    parts=("train", "validation", "test"),
)
def manifest(q: Inquiry) -> Iterator[Outcome]:
    """What the data sets hold."""
    verdicts: list[Verdict] = []
    for role in ("train", "validation", "test"):
        names = list(splits_of(q.loaded, role))
        facts = {name: _described(q, q.splits[name]) for name in names if name in q.splits}
        lacking = [name for name in names if name not in q.splits]
        unsaid = [name for name in names if not q.signed(q.plan.data[name].source)]
        verdict: Verdict = "no-evidence" if not names or lacking or unsaid else "pass"
        if not names:
            said = f"the plan names no {role} data"
        elif lacking:
            said = f"no file was counted for {listed(lacking)}"
        else:
            sizes = ", ".join(f"{name}: {counted(facts[name]['rows'], 'row')}" for name in names)
            said = sizes + (f"; no source is stated for {listed(unsaid)}" if unsaid else "")
        verdicts += [verdict] if names else []
        yield Outcome(part=role, verdict=verdict, says=said, facts=facts, inputs=q.digests(*names))
    whole: Verdict = "pass" if verdicts and set(verdicts) == {"pass"} else "no-evidence"
    count = counted(len(q.splits), "data set")
    yield Outcome(whole, f"{count} counted and described" if verdicts else "the plan names no data")


def _described(q: Inquiry, split: SplitRows) -> dict[str, Any]:
    facts: dict[str, Any] = {"rows": split.rows(), "columns": len(split.columns), "sha256": split.sha256}
    facts["missing"] = {name: n for name, n in split.missing().items() if n}
    if split.has(q.plan.columns.truth):
        classes = split.table(str(q.plan.columns.truth))
        facts["classes"] = None if classes is None else {str(key[0]): n for key, n in classes.items()}
    if split.has(q.plan.columns.time):
        facts["span"] = split.span(str(q.plan.columns.time))
    return facts


@control(
    "CHK-CLASS-DIST",
    looks_for="class shares that differ between splits",
    clause=TS4213("5.3.2"),
    passes_when="no class is missing in a split, and shares do not differ both beyond chance and beyond V or the gap",
    parts=("features",),
    of_classes=True,
)
def class_shares(q: Inquiry) -> Iterator[Outcome]:
    """Splits have similar class shares."""
    truth = q.plan.columns.truth
    there = {name: one for name, one in q.splits.items() if one.has(truth)}
    if truth is None or len(there) < 2:  # noqa: PLR2004
        yield no_evidence("fewer than two splits with true labels were counted")
        return
    tables = {name: split.table(truth) or {} for name, split in there.items()}
    cells: dict[tuple[Any, ...], int] = {
        (name, label): n for name, table in tables.items() for (label,), n in table.items() if label is not None
    }
    labels = {label for _, label in cells}
    missing = sorted(f"{label} in {name}" for name in there for label in labels if (name, label) not in cells)
    association, limits = associated(cells), q.plan.checks
    thresholds = {"alpha": limits.alpha, "cramers_v": limits.association, "share_gap": limits.share_gap}
    inputs = q.digests(*there)
    if association is None:
        yield no_evidence("there is only one class", inputs=inputs)
        return
    facts = {**association.to_json(association.p), "missing": missing, "tests": [association.test]}
    apart = association.p < limits.alpha and (
        association.strength >= limits.association or association.largest_gap >= limits.share_gap
    )
    if missing:
        said = f"classes without rows: {', '.join(missing[:8])}"
    else:
        gap, strength = figure(association.largest_gap), figure(association.strength)
        said = f"largest gap of a class share {gap}, V {strength}, p {shown(association.p)}"
    verdict: Verdict = "fail" if missing or apart else "pass"
    yield Outcome(verdict, said, facts=facts, thresholds=thresholds, inputs=inputs)
    yield from _features_of_splits(q)


def _features_of_splits(q: Inquiry) -> Iterator[Outcome]:
    """Features of the training data against those of the other splits."""
    train = q.of_role("train")
    others = {**q.of_role("validation"), **q.of_role("test")}
    pairs = {f"{a} and {b}": (train[a], others[b]) for a in train for b in others}
    if pairs and q.plan.columns.features:
        yield alike(q, "features", q.plan.columns.features, pairs)


@control(
    "CHK-POPULATION",
    looks_for="shares of classes, quantiles and levels of features that depart from the declared population",
    clause=TS4213("5.3.2"),
    passes_when="in test and training data class shares and features do not depart from it by chance and by size",
    parts=("features",),
    of_classes=True,
)
def population(q: Inquiry) -> Iterator[Outcome]:
    """Class shares against the declared population."""
    shares, truth = q.plan.population.classes, q.plan.columns.truth
    splits = {**q.of_role("test"), **q.of_role("train")}
    parts = list(_features_of_population(q, splits))
    yield from parts
    odd = "".join(f"; features {one.says}" for one in parts if one.verdict == "fail")
    if not shares:
        stated = q.signed(q.plan.population.absent)
        said = "stated: no reference is known" if stated else "no shares of the classes are declared"
        verdict: Verdict = "fail" if odd else "declared" if stated else "no-evidence"
        yield Outcome(verdict, said + odd)
        return
    there = {name: one for name, one in splits.items() if one.has(truth)}
    if not there or truth is None:
        yield no_evidence("no data with true labels were counted")
        return
    facts = {name: _class_gap(split, truth, shares) for name, split in there.items()}
    limits, corrected = q.plan.checks, holm([one["p"] for one in facts.values()])
    apart = [
        name
        for (name, one), p in zip(facts.items(), corrected, strict=True)
        if p < limits.alpha and one["total_variation"] >= limits.share_gap
    ]
    said = "; ".join(f"{name}: total variation {figure(one['total_variation'])}" for name, one in facts.items()) + odd
    thresholds = {"alpha": limits.alpha, "total_variation": limits.share_gap}
    verdict = "fail" if apart or odd else "pass"
    yield Outcome(verdict, said, facts=facts, thresholds=thresholds, inputs=q.digests(*there))


def _class_gap(split: SplitRows, truth: str, shares: Mapping[str, float]) -> dict[str, Any]:
    """How far the class shares of a split lie from declared ones."""
    sizes = {str(key[0]): n for key, n in (split.table(truth) or {}).items() if key[0] is not None}
    gap = shares_apart(sizes, shares)
    return {"total_variation": gap.pop("value"), **gap}


def _features_of_population(q: Inquiry, splits: Mapping[str, SplitRows]) -> Iterator[Outcome]:
    """Features against what is declared of the population, and against a reference."""
    if (declared := as_declared(q, splits)) is not None:
        yield declared
    if q.reference is not None:
        pairs = {f"{name} and reference": (one, q.reference) for name, one in splits.items()}
        yield alike(q, "features", q.plan.columns.features or [], pairs)


@control(
    "CHK-LABEL-CONFLICT",
    looks_for="samples alike in every feature that carry different labels",
    clause=TS4213("5.3.2"),
    passes_when="there are none, in any split",
    lacks="features in columns",
    of_classes=True,
)
def label_conflicts(q: Inquiry) -> Outcome:
    """Like samples carry like labels."""
    features, truth = q.plan.columns.features, q.plan.columns.truth
    there = {name: one for name, one in q.splits.items() if features and one.has(truth, *features)}
    if not features or truth is None or not there:
        return no_evidence("no features are declared, or no split has them")
    conflicts = {name: one.conflicts(features, truth) for name, one in there.items()}
    rows = sum(one.rows for one in conflicts.values())
    facts = {
        name: {"groups": one.groups, "rows": one.rows, "least_errors": one.least_errors}
        for name, one in conflicts.items()
    }
    least = sum(one.least_errors for one in conflicts.values())
    said = (
        f"{counted(rows, 'row')} with equal features and different labels; no model can be right on {least:,} of them"
        if rows
        else "rows with equal features carry equal labels"
    )
    return Outcome("suspect" if rows else "pass", said, facts=facts, inputs=q.digests(*there))


@control(
    "CHK-CHANNEL",
    looks_for="channels that tell the class",
    clause=TS4213("5.3.8"),
    passes_when="in no split a channel goes with the class beyond chance and size, or guesses it better than chance",
    parts=("reported",),
    lacks="channels",
    of_classes=True,
)
def channels(q: Inquiry) -> Iterator[Outcome]:
    """Channels do not tell the class."""
    truth, columns = q.plan.columns.truth, q.channels()
    looked: list[tuple[str, Association, float, float]] = []
    constant: list[str] = []
    for name, split in q.splits.items():
        for channel, column in columns.items():
            if truth is None or not split.has(truth, column):
                continue
            cells, association = _channel(split, column, truth)
            if association is None:
                constant.append(f"{channel} in {name}")
            else:
                looked.append((f"{channel} in {name}", association, *guessed_by(cells)))
    answered = [f for f in ("acquisition", "preprocessing", "person", "environment") if q.says(f"channels.{f}")]
    if not looked:
        if constant or (len(answered) == 4 and not columns):  # noqa: PLR2004
            yield Outcome("declared", "stated: every channel is constant", facts={"constant": constant})
        else:
            yield no_evidence("no channel column is declared, or no split has it")
        yield _reported(q, [])
        return
    limits, ps = q.plan.checks, adjusted([one[1] for one in looked])
    facts: dict[str, Any] = {}
    bad = []
    for (name, association, excess, low), p in zip(looked, ps, strict=True):
        strong = p < limits.alpha and (
            association.strength >= limits.association or (excess >= limits.excess and low > 0)
        )
        facts[name] = {**association.to_json(p), "guess_above_chance": excess, "guess_low": low, "flagged": strong}
        if strong:
            bad.append(f"{name} (V {figure(association.strength)}, guess {figure(excess)} above chance)")
    said = f"the class shows in {'; '.join(bad)}" if bad else f"{counted(len(looked), 'table')}, none tells the class"
    thresholds = {"alpha": limits.alpha, "cramers_v": limits.association, "excess": limits.excess}
    inputs = q.digests(*q.splits)
    facts["tests"] = tests_of(looked)
    yield Outcome("fail" if bad else "pass", said, facts=facts, thresholds=thresholds, inputs=inputs)
    yield _reported(q, bad)


def _channel(split: SplitRows, column: str, truth: str) -> tuple[Cells, Association | None]:
    """The table of a channel and the class with its association; a measured channel is cut into parts for the guess."""
    short = described(split, column)
    if short.numeric and short.distinct > MEASURED:
        values, codes, labels = numbers_by(split, column, truth)
        return quantile_cells(values, codes), associated_numbers(values, codes, len(labels))
    cells = {key: n for key, n in (split.table(column, truth) or {}).items() if None not in key}
    return cells, associated(cells) if cells else None


def _reported(q: Inquiry, bad: list[str]) -> Outcome:
    """Whether effects that were found are stated, and none is denied."""
    stated = str(q.plan.channels.known_effects or "")
    denied = stated.strip().casefold().startswith(("none", "no "))
    if not q.says("channels.known_effects"):
        return Outcome(part="reported", verdict="no-evidence", says="the plan does not speak of channel effects")
    if bad and denied:
        said = f"the plan states {quoted(stated)}; found: {'; '.join(bad)}"
        return Outcome(part="reported", verdict="fail", says=said)
    return Outcome(part="reported", verdict="pass", says=f"reported: {quoted(stated)}")


def guessed_by(cells: Cells) -> tuple[float, float]:
    """How far the guess "the class this channel holds most of" lies above chance, each row left out of its own vote.

    Classes vote by shares of their rows: by numbers, a frequent class would win everywhere and hide what the channel
    tells of a rare one. The second figure is the lower end of a 95 % interval.

    >>> [round(x, 2) for x in guessed_by({("a", 1): 50, ("b", 0): 50})]
    [0.5, 0.5]
    """
    levels: dict[Any, dict[Any, int]] = {}
    classes: dict[Any, int] = {}
    for (level, label), n in cells.items():
        levels.setdefault(level, {})[label] = n
        classes[label] = classes.get(label, 0) + n
    right: dict[Any, float] = dict.fromkeys(classes, 0.0)
    for votes in levels.values():
        for label, n in votes.items():
            own = (n - 1) / max(1, classes[label] - 1)
            others = [m / classes[other] for other, m in votes.items() if other != label]
            ties = sum(one == own for one in others)
            right[label] += n if own > max(others, default=0) else n / (1 + ties) if own and ties else 0
    recalls = {label: right[label] / n for label, n in classes.items()}
    k = len(classes)
    balanced = sum(recalls.values()) / k
    spread = math.sqrt(sum(r * (1 - r) / classes[label] for label, r in recalls.items())) / k
    return balanced - 1 / k, balanced - 1 / k - 1.96 * spread
